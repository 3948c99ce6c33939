"""Searches by many workers, simulated: nothing is lost, and it is known where the time goes."""

from array import array
from pathlib import Path

import pytest
from click.testing import CliRunner

import benchmarks.__main__ as command_line
from benchmarks.estimates import others
from benchmarks.recordings import MARK, Recording, TaskCosts, recorded
from benchmarks.registry import parse
from benchmarks.simulation import CrewCosts, simulated

CHEAP = CrewCosts(start=0.5, hire=0.001, message=0.0001, listening=0.000001, delay=0.001)
TASKS = TaskCosts(listing=0.00001, sending=0.00001, beginning=0.0001, size=500)


def tree(levels: int) -> list[int]:
    """The depths of a tree: under each execution there are smaller and smaller ones."""
    found = [0]
    for level in reversed(range(levels)):
        found += [depth + 1 for depth in tree(level)]
    return found


def made_up(levels: int, seconds: float) -> Recording:
    """A search with as many executions as a binary tree has leaves."""
    depths = array("H", tree(levels))
    marks = [seconds * min(at, len(depths)) / len(depths) for at in range(0, len(depths), MARK)]
    return Recording("made up", depths, array("d", [*marks, seconds]), TASKS)


def test_a_recording_is_the_tree_of_the_search() -> None:
    found = recorded(parse("lastzero(5)"), False)
    assert len(found) == 64
    assert found.depths[0] == 0 and found.ends[0] == 64
    assert found.left(1, 64) == [at for at in range(64) if found.depths[at] == 1]
    assert found.when(64) == found.seconds > 0
    assert found.position_at(found.seconds) == 64


def test_many_workers_explore_all_of_it() -> None:
    recording = made_up(10, 10.0)
    assert len(recording) == 2**10
    few, more = [simulated(recording, workers, CHEAP, 1.0, lambda: 0.0) for workers in (2, 4)]
    assert few.efficiency > 0.85 and more.efficiency > 0.7
    assert few.seconds > more.seconds > 10.0 / 4
    assert few.worked * few.seconds * 2 < 10.0  # the first moments are nobody's
    assert simulated(recording, 2, CHEAP, 1.0, lambda: 0.0) == few


def test_a_driver_that_is_busy_bounds_it() -> None:
    recording = made_up(10, 20.0)
    slow = CrewCosts(start=0.5, hire=0.001, message=0.05, listening=0.0, delay=0.001)
    quick, late = [simulated(recording, 16, costs, 1.0, lambda: 0.0) for costs in (CHEAP, slow)]
    assert late.driving > 0.8 > quick.driving
    assert late.efficiency < 0.7 * quick.efficiency


def test_the_command_draws_what_it_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command_line, "measured_costs", lambda on_cluster: CHEAP)
    plot = tmp_path / "plot.svg"
    words = ["simulate", "lastzero(5)", "--workers", "2", "--workers", "4", "--kept", str(tmp_path)]
    said = CliRunner().invoke(command_line.main, [*words, "--stretch", "100", "--plot", str(plot)])
    assert said.exit_code == 0, said.output
    assert "lastzero(5): 64 executions" in said.output
    assert "lastzero(5)," in plot.read_text() and plot.read_text().endswith("</svg>\n")
    assert (tmp_path / "lastzero(5).pickle").exists()


def test_the_programs_with_estimates_are_there() -> None:
    assert len(others()) > 30

"""Searches in several processes, through the front door."""

import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import pytest

from mazurka import MazurkaError, Result, c_program, check, explore
from mazurka.scale.processes import Begun, Processes
from tests.conformance.front_ends import HAS_C
from tests.scale import programs

FIB = Path(__file__).parents[2] / "benchmarks" / "c" / "fib_bench.c"


@pytest.fixture(autouse=True)
def nothing_is_left_running(monkeypatch: pytest.MonkeyPatch) -> Any:
    """All workers have ended when the search has."""
    hired: list[int] = []
    begun = Processes.begun

    def noted(crew: Processes) -> Begun:
        made = begun(crew)
        hired.append(made.process.pid)
        return made

    monkeypatch.setattr(Processes, "begun", noted)
    yield hired
    for worker in hired:
        assert has_ended(worker)


def has_ended(group: int) -> bool:
    """Whether all processes of a group have ended: those that were killed may take a moment."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return True
    return False


def same(program: Callable[[], object], **options: Any) -> Result:
    """What two processes find, which is what one finds."""
    one = explore(program, **options)
    two = explore(program, jobs=2, **options)
    for name in ("verdict", "complete", "blocked", "redundant", "outcomes", "reason", "bound"):
        assert getattr(two, name) == getattr(one, name), name
    assert [each.schedule.steps for each in two.failures] == [
        each.schedule.steps for each in one.failures
    ]
    assert [(each.kind, each.message) for each in two.failures] == [
        (each.kind, each.message) for each in one.failures
    ]
    return two


@pytest.mark.parametrize("algorithm", ["pop", "trust"])
def test_two_processes_find_what_one_finds(
    algorithm: str, nothing_is_left_running: list[int]
) -> None:
    assert same(programs.three_increments, algorithm=algorithm).executions == 36
    assert nothing_is_left_running
    assert same(programs.failing, algorithm=algorithm, stop_on_failure=False).failures


@pytest.mark.parametrize("alone", [0.0, 60.0])
def test_processes_that_begin_early_are_hired_or_end(
    alone: float, nothing_is_left_running: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mazurka.scale.whole.ALONE", alone)
    monkeypatch.setattr("mazurka.in_jobs.EARLY", 0.0)
    assert same(programs.three_increments).executions == 36
    assert len(nothing_is_left_running) == 2


def test_they_stop_at_the_same_failure() -> None:
    assert len(same(programs.failing).failures) == 1


def test_data_races_are_told_once() -> None:
    result = same(programs.racing, granularity="sync", stop_on_failure=False)
    assert len(result.failures) == len({failure.race for failure in result.failures}) > 1


def test_a_bound_counts_for_all() -> None:
    assert same(programs.three_increments, algorithm="trust", preemptions=1).verdict == "bounded"
    assert same(programs.three_increments, preemptions="0..").verdict == "verified"


@pytest.mark.parametrize(
    "program",
    [programs.decorated, programs.as_coroutine, programs.Tests().test_increments],
    ids=["a checked test", "a coroutine", "a method"],
)
def test_programs_that_can_be_found(program: Callable[[], object]) -> None:
    assert explore(program, jobs=2).executions == 36


@pytest.mark.parametrize("program", [programs.waiting, programs.importing])
def test_what_is_found_out_late_begins_the_search_anew(program: Callable[[], object]) -> None:
    assert same(program).verdict == "verified"


def test_limits_hold_for_the_whole() -> None:
    result = explore(programs.three_increments, jobs=2, max_executions=30)
    assert (result.executions, result.verdict) == (30, "incomplete")
    assert result.reason == "stopped after max_executions=30"
    result = explore(programs.three_increments, jobs=2, time_limit=0.001)
    assert result.reason == "stopped after time_limit=0.001 seconds"


def test_workers_that_die_are_replaced(
    monkeypatch: pytest.MonkeyPatch, nothing_is_left_running: list[int]
) -> None:
    random = Random(1)
    receive = Processes.receive
    deaths: list[int] = []

    def deadly(crew: Processes, timeout: float) -> list[tuple[int, object]]:
        if len(deaths) < 5 and crew.workers and random.random() < 0.3:
            process = random.choice(list(crew.workers.values())).process
            os.killpg(process.pid, signal.SIGKILL)
            deaths.append(process.pid)
        return receive(crew, timeout)

    monkeypatch.setattr(Processes, "receive", deadly)
    one = explore(programs.ordered_by_locks)
    two = explore(programs.ordered_by_locks, jobs=2)
    assert deaths
    assert (two.verdict, two.complete, two.outcomes) == (one.verdict, one.complete, one.outcomes)


def interrupt(result: Result) -> None:
    if result.executions > 1:
        raise KeyboardInterrupt


def test_ctrl_c_ends_all_workers() -> None:
    with pytest.raises(KeyboardInterrupt):
        explore(programs.never_over, jobs=2, progress=interrupt)


@pytest.mark.skipif(not HAS_C, reason="needs a C compiler")
def test_c_programs_in_two_processes() -> None:
    program = c_program(FIB, ["-DN=2"])
    assert same(program).executions == explore(program).executions


def test_programs_that_others_cannot_find_are_refused() -> None:
    def inner() -> None:
        pass

    class Holder:
        def __init__(self) -> None:
            self.value = 1

        def method(self) -> None:
            pass

    for program in (inner, lambda: None, partial(programs.three_increments), Holder().method):
        with pytest.raises(MazurkaError, match="other processes cannot find"):
            explore(program, jobs=2)
    with pytest.raises(MazurkaError, match="setup or reset"):
        explore(programs.three_increments, jobs=2, setup=inner)


def test_searches_that_cannot_hand_over_work_say_so() -> None:
    for options in ({"algorithm": "source"}, {"timeouts": "last"}, {"algorithm": "random"}):
        with pytest.raises(MazurkaError, match="cannot hand over work"):
            explore(programs.three_increments, jobs=2, **options)  # type: ignore[arg-type]
    with pytest.raises(MazurkaError, match="jobs must be a whole number, at least 1, or 'auto'"):
        explore(programs.three_increments, jobs=0)


def test_checks_say_what_failed() -> None:
    with pytest.raises(AssertionError, match="AssertionError"):
        check(programs.failing, jobs=2)

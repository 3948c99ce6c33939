"""Searches that are written to files, and taken up again."""

import json
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import click.testing
import pytest
from click.testing import CliRunner

from mazurka import MazurkaError, Result, c_program, explore
from mazurka.cli.main import main
from mazurka.scale import whole
from mazurka.scale.checkpoint import plain_outcomes, value_in, value_out
from tests.conformance.front_ends import HAS_C
from tests.scale import programs
from tests.scale.test_jobs import FIB


def equal(found: Result, expected: Result) -> None:
    for name in ("verdict", "complete", "blocked", "redundant", "outcomes"):
        assert getattr(found, name) == getattr(expected, name), name
    assert [each.schedule.steps for each in found.failures] == [
        each.schedule.steps for each in expected.failures
    ]
    assert [(each.message, each.steps, each.details) for each in found.failures] == [
        (each.message, each.steps, each.details) for each in expected.failures
    ]


def test_a_search_goes_on_where_a_limit_has_ended_it(tmp_path: Path) -> None:
    """On one worker, on two, and again when nothing is left; its failures are in the file."""
    file = tmp_path / "search.json"
    options: dict[str, Any] = {"stop_on_failure": False, "checkpoint": file}
    expected = explore(programs.failing, stop_on_failure=False)
    first = explore(programs.failing, max_executions=10, **options)
    assert (first.executions, first.verdict) == (10, "failed")
    second = explore(programs.failing, max_executions=25, resume=file, jobs=2, **options)
    assert second.executions == 25
    equal(explore(programs.failing, resume=file, **options), expected)
    equal(explore(programs.failing, resume=str(file), stop_on_failure=False), expected)
    assert [part.name for part in tmp_path.iterdir()] == [file.name]


class Killed(Exception):
    pass


def test_a_search_that_was_killed_goes_on(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(whole, "SAVE_EVERY", 0.0)
    file = tmp_path / "search.json"

    def kill(result: Result) -> None:
        if result.executions > 100 and file.exists():
            raise Killed

    with pytest.raises(Killed):
        explore(programs.ordered_by_locks, jobs=2, checkpoint=file, progress=kill)
    assert json.loads(file.read_text())["tasks"]
    equal(
        explore(programs.ordered_by_locks, jobs=2, resume=file), explore(programs.ordered_by_locks)
    )


@pytest.mark.skipif(not HAS_C, reason="needs a C compiler")
def test_c_programs_go_on(tmp_path: Path) -> None:
    file = tmp_path / "search.json"
    program = c_program(FIB, ["-DN=2"])
    assert explore(program, checkpoint=file, max_executions=20).verdict == "incomplete"
    equal(explore(program, resume=file), explore(program))
    with pytest.raises(MazurkaError, match=r"flags is \['-DN=2'\] there, \['-DN=3'\] here"):
        explore(c_program(FIB, ["-DN=3"]), resume=file)


def test_ctrl_c_leaves_a_checkpoint(tmp_path: Path) -> None:
    file = tmp_path / "search.json"

    def interrupt(result: Result) -> None:
        if result.executions > 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(programs.ordered_by_locks, checkpoint=file, progress=interrupt)
    equal(explore(programs.ordered_by_locks, resume=file), explore(programs.ordered_by_locks))


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    file = tmp_path / "search.json"
    explore(programs.failing, stop_on_failure=False, checkpoint=file, max_executions=12)
    return file


def test_files_of_other_searches_are_refused(kept: Path) -> None:
    with pytest.raises(MazurkaError, match="name is 'failing' there, 'three_increments' here"):
        explore(programs.three_increments, stop_on_failure=False, resume=kept)
    with pytest.raises(MazurkaError, match="algorithm is 'pop' there, 'trust' here"):
        explore(programs.failing, algorithm="trust", stop_on_failure=False, resume=kept)
    with pytest.raises(MazurkaError, match="stop_on_failure is False there, True here"):
        explore(programs.failing, resume=kept)
    found = json.loads(kept.read_text())
    kept.write_text(json.dumps({**found, "search": {**found["search"], "sha256": "0"}}))
    with pytest.raises(MazurkaError, match="the program has changed since"):
        explore(programs.failing, stop_on_failure=False, resume=kept)
    kept.write_text(json.dumps({**found, "version": "0.0.1"}))
    with pytest.raises(MazurkaError, match="written by another version of Mazurka"):
        explore(programs.failing, stop_on_failure=False, resume=kept)


def places_in(thing: Any) -> list[tuple[Any, Any]]:
    """Each part of a document: what it is in, and at which place."""
    own: list[tuple[Any, Any]]
    if isinstance(thing, dict):
        own = [(thing, name) for name in thing]
    elif isinstance(thing, list):
        own = [(thing, place) for place in range(len(thing))][:3]
    else:
        return []
    return [*own, *[place for holder, name in own for place in places_in(holder[name])]]


def test_damaged_files_are_refused(kept: Path) -> None:
    """Whatever is put in the place of one of the parts: the file is read, or refused."""
    from mazurka.scale.checkpoint import load

    text = kept.read_text()
    found = json.loads(text)
    refused = 0
    for holder, name in places_in(found):
        before = holder[name]
        others: list[Any] = [None, -1, "x", [[]], {"tuple": 3}]
        for other in others:
            holder[name] = other
            kept.write_text(json.dumps(found))
            try:
                load(kept, json.loads(text)["search"], False)
            except MazurkaError:
                refused += 1
        holder[name] = before
    assert refused > 500
    for damaged in (text[:-20], "", "[]", "3", "[" * 100_000, "\0"):
        kept.write_text(damaged)
        with pytest.raises(MazurkaError, match="not a checkpoint that Mazurka wrote"):
            explore(programs.failing, stop_on_failure=False, resume=kept)
    with pytest.raises(MazurkaError, match="cannot read the checkpoint"):
        explore(programs.failing, resume=kept.with_name("missing"))
    with pytest.raises(MazurkaError, match="cannot write the checkpoint"):
        explore(programs.failing, checkpoint=kept / "inside")


def test_outcomes_are_data(tmp_path: Path) -> None:
    class Own:
        def __repr__(self) -> str:
            return "an object"

    for value in (1, 2.5, "x", None, True, (1, ("a", None))):
        assert value_in(json.loads(json.dumps(value_out(value)))) == value
    assert plain_outcomes(Counter({Own(): 2, (1, frozenset()): 1})) == {
        "an object": 2,
        (1, "frozenset()"): 1,
    }


def test_searches_without_one_bound_are_refused(tmp_path: Path) -> None:
    with pytest.raises(MazurkaError, match="bounds that go up cannot be kept"):
        explore(programs.failing, preemptions="0..", checkpoint=tmp_path / "file")
    assert os.listdir(tmp_path) == []


def test_the_command_says_how_to_go_on(tmp_path: Path) -> None:
    def run(*words: str) -> click.testing.Result:
        sys.modules.pop("programs", None)  # each command runs in a process of its own
        return CliRunner().invoke(main, ["check", target, *words])

    file = str(tmp_path / "search.json")
    target = f"{programs.__file__}::three_increments"
    cut = run("--checkpoint", file, "--max-executions", "9")
    assert (cut.exit_code, cut.output.splitlines()[-1]) == (
        3,
        f"To go on with this search, add --resume {file}",
    )
    done = run("--jobs", "2", "--resume", file)
    assert done.exit_code == 0
    assert "36 executions" in done.output
    wrong = run("--resume", file, "--algorithm", "trust")
    assert wrong.exit_code == 2
    assert "algorithm is 'pop' there, 'trust' here" in wrong.output

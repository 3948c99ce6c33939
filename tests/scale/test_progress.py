"""Who watches a search hears how far it is, and how much there is; that changes nothing."""

from collections.abc import Callable

import pytest

from mazurka import Result, c_program, explore
from mazurka.api import interrupted
from mazurka.engine.status import Estimate, Status
from mazurka.options import Options
from mazurka.report.progress import advice_lines
from mazurka.scale import estimate, whole
from tests.conformance.front_ends import HAS_C
from tests.scale import programs
from tests.scale.test_jobs import FIB


@pytest.fixture(autouse=True)
def looks_come_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """They take so many executions, not seconds."""
    step = estimate.Looks.look

    def look(looks: estimate.Looks, seconds: float) -> Estimate | None:
        return [step(looks, 0.0) for _ in range(STEPS)][-1]

    monkeypatch.setattr(estimate, "FIRST_LOOK", 0.0)
    monkeypatch.setattr(estimate.Looks, "look", look)


STEPS = 150


class Watcher:
    def __init__(self) -> None:
        self.statuses: list[Status] = []

    def __call__(self, result: Result) -> None:
        assert result.status is not None
        self.statuses.append(result.status)


@pytest.mark.parametrize("algorithm", ["pop", "trust"])
@pytest.mark.parametrize("program", [programs.three_increments, programs.failing])
def test_looking_ahead_changes_nothing(algorithm: str, program: Callable[[], object]) -> None:
    watcher = Watcher()
    alone = explore(program, algorithm=algorithm, stop_on_failure=False)
    watched = explore(program, algorithm=algorithm, stop_on_failure=False, progress=watcher)
    assert watched.status is not None and watched.status.estimate is not None
    assert watcher.statuses[-1].memory_mb > 0
    assert watcher.statuses[-1].depth > 0
    for name in ("verdict", "complete", "blocked", "redundant", "outcomes"):
        assert getattr(watched, name) == getattr(alone, name), name
    assert [each.schedule.steps for each in watched.failures] == [
        each.schedule.steps for each in alone.failures
    ]


@pytest.mark.skipif(not HAS_C, reason="needs a C compiler")
def test_c_programs_are_looked_at_too() -> None:
    program = c_program(FIB, ["-DN=2"])
    watched = explore(program, progress=Watcher())
    assert watched.executions == explore(program).executions
    assert watched.status is not None and watched.status.estimate is not None


@pytest.mark.parametrize("algorithm", ["source", "optimal", "qpor", "random"])
def test_others_are_only_watched(algorithm: str) -> None:
    watcher = Watcher()
    watched = explore(programs.three_increments, algorithm=algorithm, progress=watcher)
    assert watcher.statuses
    assert watched.status is not None and watched.status.estimate is None


def test_workers_tell_how_far_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "FIRST_LOOK", 0.0)
    watcher = Watcher()
    alone = explore(programs.ordered_by_locks)
    together = explore(programs.ordered_by_locks, jobs=2, progress=watcher)
    assert (together.executions, together.outcomes) == (alone.executions, alone.outcomes)
    assert any(status.rates for status in watcher.statuses)


def test_a_limit_on_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    result = explore(programs.ordered_by_locks, memory_limit=1)
    assert result.verdict == "incomplete"
    assert result.reason == "stopped after memory_limit=1 MB"
    assert explore(programs.three_increments, memory_limit=10**6).verdict == "verified"
    result = explore(programs.ordered_by_locks, memory_limit=1, jobs=2)
    assert result.reason == "stopped after memory_limit=1 MB"


# Advice


def advice_for(result: Result, **options: object) -> list[dict[str, object]]:
    given = Options(**options).checked()  # type: ignore[arg-type]
    return [one.options for one in interrupted(result, given.with_granularity(False)).advice]


def test_advice_is_for_what_was_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda process: range(8))
    usual = advice_for(Result(complete=100))
    assert usual[0] == {"jobs": "auto"}
    assert {"granularity": "sync"} in usual
    assert {"preemptions": 2} in usual
    assert advice_for(Result(complete=9, redundant=9), algorithm="source")[0] == {
        "algorithm": "pop"
    }
    assert {"jobs": "auto"} not in advice_for(Result(complete=100), jobs=8)
    assert {"checkpoint": "FILE"} not in advice_for(Result(complete=100), checkpoint="kept")
    assert {"granularity": "sync"} not in advice_for(Result(complete=100), granularity="sync")
    assert {} in advice_for(Result(complete=100, threads=6))
    assert advice_for(Result(complete=100), algorithm="pos") == []


def test_advice_in_words() -> None:
    result = Result(complete=100, seconds=10.0, status=Status(Estimate(1000, 500, 2000)))
    lines = advice_lines(interrupted(result, Options().checked()), str)
    assert lines[0] == (
        "In all there are about 1,000 executions (500 to 2,000): about 90 s (40 s to 3 min) left."
    )
    assert lines[1] == "What would help:"
    verified = explore(programs.three_increments)
    assert advice_lines(verified, str) == []

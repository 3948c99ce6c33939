"""Searches on a cluster: one of this machine, that Ray starts."""

import random
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mazurka import MazurkaError, Result, c_program, explore
from mazurka.scale import cluster
from mazurka.scale.cluster import Cluster, facts_of, refusal
from mazurka.scale.programs import named
from tests.conformance.front_ends import HAS_C
from tests.scale import programs
from tests.scale.test_jobs import FIB

ray = pytest.importorskip("ray")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", autouse=True)
def one_cluster() -> Iterator[None]:
    yield
    ray.shutdown()


def same(program: Callable[[], object], **options: Any) -> Result:
    one = explore(program, **options)
    many = explore(program, cluster="ray", jobs=2, **options)
    for name in ("verdict", "complete", "blocked", "redundant", "outcomes", "reason"):
        assert getattr(many, name) == getattr(one, name), name
    assert [each.schedule.steps for each in many.failures] == [
        each.schedule.steps for each in one.failures
    ]
    return many


def test_a_cluster_finds_what_one_process_finds() -> None:
    assert same(programs.three_increments).executions == 36
    assert len(same(programs.failing).failures) == 1
    assert same(programs.failing, stop_on_failure=False).failures


@pytest.mark.skipif(not HAS_C, reason="needs a C compiler")
def test_c_programs_on_a_cluster() -> None:
    assert same(c_program(FIB, ["-DN=2"])).verdict == "verified"


def test_what_is_found_out_late_begins_the_search_anew() -> None:
    assert same(programs.waiting).verdict == "verified"


def test_actors_that_die_are_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(1)
    receive = Cluster.receive
    deaths: list[int] = []

    def deadly(crew: Cluster, timeout: float) -> list[tuple[int, object]]:
        if len(deaths) < 3 and crew.relays and chance.random() < 0.2:
            worker = chance.choice(list(crew.relays))
            ray.kill(crew.relays[worker])
            deaths.append(worker)
        return receive(crew, timeout)

    monkeypatch.setattr(Cluster, "receive", deadly)
    assert same(programs.ordered_by_locks).verdict == "verified"
    assert deaths


def test_limits_hold_for_the_whole() -> None:
    result = explore(programs.three_increments, cluster="ray", jobs=2, max_executions=30)
    assert (result.executions, result.verdict) == (30, "incomplete")


# Refusals


def test_machines_with_something_else_are_refused() -> None:
    facts = facts_of(named(programs.failing))
    assert refusal(facts) == ""
    assert "has Mazurka" in refusal({**facts, "mazurka": "0.0"})
    assert "and the search is by PyPy 3.9" in refusal({**facts, "python": "PyPy 3.9"})
    assert "another version of" in refusal({**facts, "sha256": "0"})
    assert "ray job submit" in refusal({**facts, "file": "/nowhere/at_all.py"})


def test_a_refusal_ends_the_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster, "VERSION", "0.0")  # in this process, not where workers run
    with pytest.raises(MazurkaError, match=r"has Mazurka .*, and the search is by 0\.0"):
        explore(programs.three_increments, cluster="ray", jobs=2)


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MazurkaError, match="pip install 'mazurka"):
        explore(programs.three_increments, cluster="ray")


def test_a_cluster_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(*args: object, **options: object) -> None:
        raise ConnectionError("nobody answers")

    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", absent)
    monkeypatch.setattr(ray, "shutdown", lambda: None)
    with pytest.raises(MazurkaError, match=r"no cluster at '10\.0\.0\.1:6379': nobody answers"):
        explore(programs.three_increments, cluster="10.0.0.1:6379")
    with pytest.raises(MazurkaError, match="cluster must be 'ray' or an address, not 3"):
        explore(programs.three_increments, cluster=3)  # type: ignore[arg-type]

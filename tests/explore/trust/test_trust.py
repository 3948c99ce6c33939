"""TruSt: what it has and other searches have not. That it explores every trace once is tested with
the others, in test_oracle.py, test_symbolic.py and test_benchmarks.py."""

import pytest

from mazurka import Atomic, spawn
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.explore.trust.visit import Trust
from mazurka.python.program import PythonProgram
from tests.oracles.checks import check_by_hand
from tests.oracles.interleavings import Exploration, Program

PROGRAMS: dict[str, tuple[Program, int]] = {
    # Three operations come before the first one, and only two of them depend on each other: in the
    # canonical order, an event need not come after one that is not the last of its kind.
    "several predecessors": (
        (
            (("list pop",),),
            (("list append", 0),),
            (("list read", 0),),
            (("list read", 1),),
        ),
        15,
    ),
    # A compare-exchange that fails depends on the load only where it would have succeeded.
    "another outcome": (
        ((("load", 0),), (("store", 0, 1),), (("compare_exchange", 0, 0, 2),)),
        5,
    ),
    # An operation that never comes about revisits all the same.
    "blocked at the end": (
        ((("with", 0, (("event wait",),)),), (("with", 0, (("event set",),)),)),
        2,
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_trace_once(name: str) -> None:
    program, traces = PROGRAMS[name]
    found = Exploration("trust", program, True, 1000)
    assert found.finished
    assert set(found.traces) == set(Exploration("naive", program, True, 5000).traces)
    assert (len(found.traces), found.traces.total()) == (traces, traces)


def test_adds_that_disable_an_await() -> None:
    """Two ways lead to the execution in which the await is blocked; one is told to be redundant."""
    program: Program = ((("await", 0, 0),), (("add", 0, 1),), (("add", 0, 1),))
    found = Exploration("trust", program, True, 1000)
    assert (len(found.traces), found.traces.total(), found.result.redundant) == (2, 2, 1)


def test_selections_are_not_stored() -> None:
    """One thread writes what others read: before the write comes any selection of the reads."""
    readers = 8
    most = 0

    def program() -> None:
        x = Atomic(0)
        for _ in range(readers):
            spawn(x.load)
        spawn(x.store, 1)

    def look(program: EngineProgram) -> None:
        nonlocal most
        most = max(most, len(trust.revisits))

    with check_by_hand() as check:
        front_end = PythonProgram(check, program)
        search = Search(front_end, Result(), False, None, None, None, look)
        trust = Trust(search)
        assert trust.explore()
    assert search.result.complete == 2**readers
    assert most <= readers

"""The search up to reads-from equivalence: every relation, each once."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mazurka
from mazurka import Atomic, spawn
from mazurka.engine.errors import MazurkaError
from tests.explore.test_oracle import MEMORY, any_program, instruction, programs
from tests.oracles.generated import PROGRAMS, generated
from tests.oracles.interleavings import Program
from tests.oracles.reads_from import wrong_with_reads_from

PLAIN = MEMORY[:5]  # loads, stores, and what does both
plain_program = programs(
    *PLAIN, *PLAIN, instruction("if", st.lists(st.one_of(PLAIN), max_size=2).map(tuple))
)


@pytest.mark.slow
@generated(max(PROGRAMS // 4, 1))
@given(st.one_of(plain_program, plain_program, any_program), st.booleans())
def test_every_relation_is_explored_once(program: Program, independent_adds: bool) -> None:
    problem = wrong_with_reads_from(program, independent_adds)
    assume(problem != "")
    assert problem is None, f"{problem}: {program!r}, independent_adds={independent_adds}"


WRITERS = 4


def unread() -> None:
    """Nobody reads what the threads write."""
    x = Atomic(0)
    for number in range(WRITERS):
        spawn(x.store, number)


def read_once() -> Any:
    x = Atomic(0)
    for number in range(WRITERS):
        spawn(x.store, number + 1)
    return x.load()


def exchanged() -> None:
    """Which of the writes comes right before the exchange."""
    x = Atomic(0)
    spawn(x.store, 1)
    spawn(x.store, 2)
    spawn(x.exchange, 3)


def two_reads() -> Any:
    """The second read may not see an older write than the first, but any other one."""
    x = Atomic(0)
    spawn(x.store, 1)
    spawn(x.store, 2)
    return x.load(), x.load()


def store_buffering() -> Any:
    x, y = Atomic(0), Atomic(0)

    def other() -> Any:
        y.store(1)
        return x.load()

    thread = spawn(other)
    x.store(1)
    mine = y.load()
    return mine, thread.join()


@pytest.mark.parametrize(
    ("program", "relations", "traces"),
    [
        (unread, 1, 24),
        (read_once, 5, 120),
        (exchanged, 3, 6),
        # 00 01 02 11 12 21 22: a write that is overwritten before it is read does not come back.
        (two_reads, 7, 12),
        (store_buffering, 3, 3),
    ],
)
def test_fewer_executions_than_traces(program: Any, relations: int, traces: int) -> None:
    found = mazurka.explore(program, equivalence="reads-from")
    assert (found.verdict, found.executions, found.redundant) == ("verified", relations, 0)
    every = mazurka.explore(program)
    assert every.executions == traces
    assert set(found.outcomes) == set(every.outcomes)


def test_the_last_write_decides_whether_an_await_ends() -> None:
    """Both writes come before the await, in one order or the other; reads do not tell them apart
    when it is blocked."""

    def program() -> None:
        x = Atomic(0)
        spawn(x.store, 1)
        spawn(x.store, 2)
        spawn(x.await_value, lambda value: value == 1)

    found = mazurka.explore(program, equivalence="reads-from", stop_on_failure=False)
    assert [failure.kind for failure in found.failures] == ["livelock"]
    assert found.executions == mazurka.explore(program, stop_on_failure=False).executions


def test_a_location_that_is_awaited_late() -> None:
    """Whether a variable is awaited turns out when executions have been counted already."""

    def program() -> Any:
        x, y = Atomic(0), Atomic(0)
        spawn(x.store, 1)
        spawn(x.store, 2)
        spawn(y.store, 1)
        if y.load():
            return x.await_value(lambda value: value == 1)
        return None

    found = mazurka.explore(program, equivalence="reads-from", stop_on_failure=False)
    every = mazurka.explore(program, stop_on_failure=False)
    assert set(found.outcomes) == set(every.outcomes)
    assert {failure.kind for failure in found.failures} == {"livelock"}
    assert found.executions == found.complete + found.blocked == every.executions


def test_a_failure_can_be_replayed() -> None:
    def program() -> None:
        x = Atomic(0)
        spawn(x.store, 1)
        spawn(x.store, 2)
        assert x.load() != 1

    found = mazurka.explore(program, equivalence="reads-from")
    assert found.verdict == "failed"
    assert mazurka.replay(program, found.failures[0].schedule.to_json()).kind == "exception"


class Box:
    count = 0


def test_ordinary_code() -> None:
    def program() -> int:
        box = Box()

        def write(number: int) -> None:
            box.count = number

        for number in range(3):
            spawn(write, number + 1)
        return box.count

    found = mazurka.explore(program, equivalence="reads-from")
    assert (found.executions, sorted(found.outcomes)) == (4, [0, 1, 2, 3])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"equivalence": "coherence"}, "there is no equivalence 'coherence'"),
        ({"equivalence": "reads-from", "preemptions": 1}, "preemptions asks for the order"),
        ({"equivalence": "reads-from", "granularity": "sync"}, "granularity='sync' asks for"),
        ({"equivalence": "reads-from", "algorithm": "optimal"}, "use trust"),
    ],
)
def test_what_does_not_go_together(options: dict[str, Any], message: str) -> None:
    with pytest.raises(MazurkaError, match=message):
        mazurka.explore(unread, **options)


def test_atomic_blocks_are_refused() -> None:
    box = Box()

    def increase() -> None:
        with mazurka.atomic:
            box.count += 1

    def program() -> None:
        spawn(increase)
        increase()

    with pytest.raises(MazurkaError, match="atomic blocks"):
        mazurka.explore(program, equivalence="reads-from")

"""Atomic blocks: nothing comes between their steps, and nothing else is lost."""

import asyncio
import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mazurka
from mazurka.engine.result import DEADLOCK
from tests.oracles.generated import PROGRAMS, generated

# A program: for each thread, blocks of copies from one variable to another, plus one; a block of
# one thread is atomic, or it is not.
Copy = tuple[int, int]
Part = tuple[bool, tuple[Copy, ...]]
Program = tuple[tuple[Part, ...], ...]
VARIABLES = 2

copies = st.tuples(st.integers(0, VARIABLES - 1), st.integers(0, VARIABLES - 1))
copy = st.tuples(st.booleans(), st.tuples(copies))
two_copies = st.tuples(st.booleans(), st.tuples(copies, copies))
programs = st.one_of(
    st.tuples(*[st.one_of(st.tuples(copy), st.tuples(copy, copy), st.tuples(two_copies))] * 2),
    st.tuples(st.tuples(copy), st.tuples(copy), st.tuples(copy)),
    st.tuples(st.tuples(two_copies), st.tuples(copy), st.tuples(copy)),
)


def indivisible(thread: tuple[Part, ...]) -> list[list[tuple[str, int]]]:
    """What a thread does, in pieces that nothing comes between: loads and stores."""
    pieces: list[list[tuple[str, int]]] = []
    for is_atomic, block in thread:
        steps = [step for one, other in block for step in (("load", one), ("store", other))]
        pieces += [steps] if is_atomic else [[step] for step in steps]
    return pieces


def oracle(program: Program) -> set[tuple[int, ...]]:
    """The final values of all interleavings."""
    threads = [indivisible(thread) for thread in program]
    final: set[tuple[int, ...]] = set()
    start = (0,) * len(threads), (0,) * VARIABLES, (0,) * len(threads)
    seen = {start}
    todo = [start]
    while todo:
        places, values, held = todo.pop()
        if all(place == len(pieces) for place, pieces in zip(places, threads, strict=True)):
            final.add(values)
        for state in following(threads, places, values, held):
            if state not in seen:
                seen.add(state)
                todo.append(state)
    return final


State = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def following(
    threads: list[list[list[tuple[str, int]]]],
    places: tuple[int, ...],
    values: tuple[int, ...],
    held: tuple[int, ...],
) -> Iterator[State]:
    for thread, pieces in enumerate(threads):
        if places[thread] < len(pieces):
            new_values, new_held, new_places = list(values), list(held), list(places)
            for kind, variable in pieces[places[thread]]:
                if kind == "load":
                    new_held[thread] = new_values[variable]
                else:
                    new_values[variable] = new_held[thread] + 1
            new_places[thread] += 1
            yield tuple(new_places), tuple(new_values), tuple(new_held)


def written(program: Program) -> Callable[[], tuple[int, ...]]:
    def main() -> tuple[int, ...]:
        values = [0] * VARIABLES

        def copy(block: tuple[Copy, ...]) -> None:
            for one, other in block:
                values[other] = values[one] + 1

        atomic_copy = mazurka.atomic(copy)

        def work(thread: tuple[Part, ...]) -> None:
            for is_atomic, block in thread:
                (atomic_copy if is_atomic else copy)(block)

        threads = [threading.Thread(target=work, args=(thread,)) for thread in program]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tuple(values)

    return main


@pytest.mark.slow
@generated(max(PROGRAMS // 40, 1))
@given(programs)
def test_generated_programs(program: Program) -> None:
    expected = oracle(program)
    for algorithm in ("pop", "optimal", "qpor"):
        result = mazurka.explore(written(program), algorithm=algorithm)
        assert result.verdict == "verified"
        assert set(result.outcomes) == expected
        assert result.redundant == 0


class Pair:
    def __init__(self) -> None:
        self.left = 0
        self.right = 0


@pytest.mark.parametrize("granularity", ["access", "sync"])
@pytest.mark.parametrize("algorithm", ["pop", "optimal", "qpor", "source", "naive"])
def test_blocks_come_one_after_the_other(algorithm: str, granularity: str) -> None:
    def program() -> int:
        pair = Pair()

        def work() -> None:
            with mazurka.atomic:
                pair.left += 1
                with mazurka.atomic:  # nested: part of the outer one
                    pair.right += pair.left

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return pair.right

    result = mazurka.explore(program, algorithm=algorithm, granularity=granularity)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {3}


def test_one_execution_for_each_order_of_blocks() -> None:
    def program() -> None:
        count = mazurka.Atomic(0)

        def work() -> None:
            with mazurka.atomic:
                count.store(count.load() + 1)

        handles = [mazurka.spawn(work) for _ in range(3)]
        for handle in handles:
            handle.join()
        assert count.load() == 3

    result = mazurka.explore(program)
    assert result.verdict == "verified"
    assert result.complete == 6


def test_other_code_comes_before_or_after() -> None:
    def program() -> tuple[int, int]:
        pair = Pair()
        seen = (0, 0)

        def write() -> None:
            with mazurka.atomic:
                pair.left = 1
                pair.right = 1

        def read() -> None:
            nonlocal seen
            left = pair.left
            seen = left, pair.right

        threads = [threading.Thread(target=write), threading.Thread(target=read)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return seen

    assert set(mazurka.explore(program).outcomes) == {(0, 0), (0, 1), (1, 1)}


def test_a_failure_inside_a_block_is_found() -> None:
    lock = threading.Lock()

    def program() -> None:
        pair = Pair()

        def write() -> None:
            pair.left = 1
            pair.right = 1

        def check() -> None:
            with mazurka.atomic, lock:
                assert pair.left == pair.right

        threads = [threading.Thread(target=write), threading.Thread(target=check)]
        for thread in threads:
            thread.start()

    result = mazurka.explore(program)
    assert result.verdict == "failed"
    schedule = result.failures[0].schedule
    assert mazurka.replay(program, schedule).message == schedule.message


def test_a_block_that_cannot_end_is_a_deadlock() -> None:
    def program() -> None:
        lock = threading.Lock()
        lock.acquire()
        with mazurka.atomic:
            lock.acquire()

    assert mazurka.explore(program).failures[0].kind == DEADLOCK


def test_a_block_may_wait_for_what_could_have_come_before() -> None:
    def program() -> int:
        pair = Pair()
        lock = threading.Lock()
        lock.acquire()

        def work() -> None:
            with mazurka.atomic:
                pair.left += 1
                with lock:
                    pair.left += 1

        thread = threading.Thread(target=work)
        thread.start()
        lock.release()
        thread.join()
        return pair.left

    result = mazurka.explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {2})


def test_a_block_that_waits_for_what_follows_from_it_is_not_verified() -> None:
    def program() -> None:
        flag = mazurka.Atomic(0)
        event = threading.Event()

        def answer() -> None:
            flag.await_value(lambda value: value == 1)
            event.set()

        def ask() -> None:
            with mazurka.atomic:
                flag.store(1)
                event.wait()

        for function in (answer, ask):
            threading.Thread(target=function).start()

    result = mazurka.explore(program)
    assert result.verdict == "incomplete"
    assert "wait before the block" in result.reason


def test_outside_of_checks_nothing_happens() -> None:
    @mazurka.atomic
    def add(one: int, *, other: int) -> int:
        """Adds."""
        return one + other

    assert add(1, other=2) == 3
    assert (add.__name__, add.__doc__) == ("add", "Adds.")
    with mazurka.atomic:
        pass


def test_what_it_cannot_mark() -> None:
    async def coroutine() -> None:
        await asyncio.sleep(0)

    def generator() -> Iterator[int]:
        yield 1

    for function in (coroutine, generator):
        with pytest.raises(TypeError, match="inside, without an await"):
            mazurka.atomic(function)
    with pytest.raises(TypeError, match="takes a function"):
        mazurka.atomic(3)  # type: ignore[type-var]


class Ledger:
    def __init__(self) -> None:
        self.entries: list[int] = []

    @mazurka.atomic
    def note(self, others: list[int], value: int) -> None:
        self.entries.append(value)
        others.append(value)


def test_decorated_functions_are_seen() -> None:
    def program() -> object:
        ledger = Ledger()
        others: list[int] = []
        threads = [threading.Thread(target=ledger.note, args=(others, n)) for n in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return ledger.entries == others

    result = mazurka.explore(program)
    assert (result.warnings, result.complete) == ([], 2)
    assert set(result.outcomes) == {True}

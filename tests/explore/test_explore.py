"""Exploring programs: counts, outcomes, verdicts, limits."""

import contextvars
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import mazurka
from benchmarks.pop import lastzero
from mazurka import Atomic, assume, choose, explore, spawn

ALGORITHMS = ["pop", "optimal", "qpor", "source", "naive"]


def store_buffering() -> tuple[int, int]:
    x, y = Atomic(0), Atomic(0)

    def left() -> int:
        x.store(1)
        return int(y.load())

    def right() -> int:
        y.store(1)
        return int(x.load())

    one, two = spawn(left), spawn(right)
    return one.join(), two.join()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_outcomes_are_everything_that_can_happen(algorithm: str) -> None:
    result = explore(store_buffering, algorithm=algorithm)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {(0, 1), (1, 0), (1, 1)}


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "qpor"])
def test_optimal_searches_explore_every_trace_once(algorithm: str) -> None:
    result = explore(store_buffering, algorithm=algorithm)
    assert (result.executions, result.complete, result.blocked, result.redundant) == (3, 3, 0, 0)
    assert result.outcomes == Counter({(0, 1): 1, (1, 0): 1, (1, 1): 1})


def test_source_counts_redundant_executions() -> None:
    program = lastzero(5)
    source = explore(program, algorithm="source")
    optimal = explore(program)
    assert (optimal.complete, optimal.redundant) == (64, 0)
    assert source.complete == 64
    assert source.redundant > 0


def test_a_program_without_threads_has_one_execution() -> None:
    result = explore(lambda: 42)
    assert (result.verdict, result.executions, result.outcomes) == ("verified", 1, {42: 1})


def test_unhashable_outcomes_are_counted_by_what_they_print() -> None:
    assert explore(lambda: [1, 2]).outcomes == {"[1, 2]": 1}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_choose_takes_every_value(algorithm: str) -> None:
    result = explore(lambda: (choose("ab"), choose(range(3))), algorithm=algorithm)
    assert result.executions == 6
    assert set(result.outcomes) == {(a, b) for a in "ab" for b in range(3)}


def test_choose_takes_any_iterable_but_not_an_empty_one() -> None:
    assert set(explore(lambda: choose(n * n for n in range(3))).outcomes) == {0, 1, 4}
    failure = explore(lambda: choose([])).failures[0]
    assert "at least one value" in failure.message


def test_choose_of_many_values() -> None:
    assert explore(lambda: choose(range(1000))).executions == 1000


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_assume_blocks_the_execution(algorithm: str) -> None:
    def program() -> Any:
        value = choose(range(5))
        assume(value % 2 == 0)
        return value

    result = explore(program, algorithm=algorithm)
    assert result.verdict == "verified"
    assert (result.complete, result.blocked) == (3, 2)
    assert set(result.outcomes) == {0, 2, 4}


def test_a_failure_beside_a_blocked_thread_counts() -> None:
    def program() -> None:
        spawn(lambda: assume(False))
        raise ValueError("seen")

    assert explore(program).failures[0].message == "ValueError: seen"


def test_adds_commute_unless_told_otherwise() -> None:
    def program() -> Any:
        counter = Atomic(0)
        threads = [spawn(counter.add, n) for n in (1, 2, 3)]
        for thread in threads:
            thread.join()
        return counter.load()

    assert explore(program).executions == 1
    ordered = explore(program, independent_adds=False)
    assert ordered.executions == 6
    assert ordered.outcomes == {6: 6}


def test_fetch_adds_do_not_commute() -> None:
    def program() -> Any:
        counter = Atomic(0)
        threads = [spawn(counter.fetch_add, 1) for _ in range(3)]
        return tuple(thread.join() for thread in threads)

    assert len(explore(program).outcomes) == 6


class Saturating(Atomic[int]):
    def fetch_add(self, amount: int) -> int:
        while True:
            value = self.load()
            if self.compare_exchange(value, min(value + amount, 2)):
                return value


@pytest.mark.parametrize("independent_adds", [True, False])
def test_fetch_adds_commute_where_nobody_takes_what_they_give(independent_adds: bool) -> None:
    def program() -> Any:
        counter = Atomic(0)

        def add() -> None:
            counter.fetch_add(1)

        threads = [spawn(add) for _ in range(3)]
        for thread in threads:
            thread.join()
        return counter.load()

    result = explore(program, independent_adds=independent_adds)
    assert result.outcomes == {3: 1 if independent_adds else 6}


@pytest.mark.parametrize("start", [0.5, "", True])
def test_other_values_than_integers_are_added_in_every_order(start: object) -> None:
    def program() -> Any:
        counter: Atomic[Any] = Atomic(start)

        def add(amount: object) -> None:
            counter.fetch_add(amount)

        amounts = ["a", "b"] if start == "" else [1, 2]
        threads = [spawn(add, amount) for amount in amounts]
        for thread in threads:
            thread.join()
        return counter.load()

    assert explore(program).complete == 2


@pytest.mark.skipif(mazurka.COMPILED, reason="compiled classes have no subclasses of users")
def test_fetch_add_of_a_class_of_the_users_is_called() -> None:
    def program() -> Any:
        counter = Saturating(0)

        def add() -> None:
            counter.fetch_add(1)

        threads = [spawn(add) for _ in range(3)]
        for thread in threads:
            thread.join()
        return counter.load()

    assert set(explore(program).outcomes) == {2}


def test_a_failed_compare_exchange_only_reads() -> None:
    def program() -> None:
        x = Atomic(0)
        for _ in range(3):
            spawn(x.compare_exchange, 5, 6)

    assert explore(program).executions == 1


def test_objects_as_values() -> None:
    """Every execution makes its own nodes; compare-exchange tells them apart by identity."""

    class Node:
        def __init__(self, value: int) -> None:
            self.value = value
            self.next: Node | None = None

    def program() -> Any:
        top: Atomic[Node | None] = Atomic(None)

        def push(value: int) -> None:
            node = Node(value)
            while True:
                node.next = top.load()
                if top.compare_exchange(node.next, node):
                    return

        threads = [spawn(push, value) for value in range(3)]
        for thread in threads:
            thread.join()
        values = []
        node = top.load()
        while node is not None:
            values.append(node.value)
            node = node.next
        return tuple(values)

    result = explore(program)
    assert result.verdict == "verified"
    assert len(result.outcomes) == 6
    assert result.executions == explore(program, algorithm="source").complete


def test_max_executions_makes_the_search_incomplete() -> None:
    result = explore(store_buffering, max_executions=2)
    assert (result.verdict, result.executions) == ("incomplete", 2)
    assert "max_executions=2" in result.reason


def test_a_limit_that_is_not_reached_changes_nothing() -> None:
    assert explore(store_buffering, max_executions=3).verdict == "verified"


def test_time_limit_makes_the_search_incomplete() -> None:
    def program() -> None:
        x = Atomic(0)
        for _ in range(8):
            spawn(x.fetch_add, 1)

    result = explore(program, time_limit=0.01)
    assert result.verdict == "incomplete"
    assert "time_limit=0.01" in result.reason


def test_stop_on_failure() -> None:
    def program() -> None:
        assert choose(range(4)) in (0, 3)

    first = explore(program)
    assert (first.verdict, len(first.failures)) == ("failed", 1)
    every = explore(program, stop_on_failure=False)
    assert (every.verdict, len(every.failures), every.executions) == ("failed", 2, 4)
    assert every.outcomes == {None: 2}


def test_objects_made_outside_begin_every_execution_afresh() -> None:
    x = Atomic(1)
    lock = mazurka.Lock()
    condition = mazurka.Condition()

    def program() -> Any:
        before = x.load()
        with condition:
            condition.notify()
        lock.acquire()
        x.store(choose([5, 6]))
        return before

    assert explore(program).outcomes == {1: 2}


def test_threads_spawn_threads_and_give_results() -> None:
    def fibonacci(n: int) -> int:
        if n < 2:
            return n
        one, two = spawn(fibonacci, n - 1), spawn(fibonacci, n - 2)
        return int(one.join()) + int(two.join())

    result = explore(lambda: fibonacci(5))
    assert (result.executions, result.outcomes) == (1, {5: 1})


def test_join_raises_what_the_thread_raised() -> None:
    def program() -> str:
        def fails() -> None:
            raise KeyError("gone")

        try:
            spawn(fails).join()
        except KeyError:
            return "caught"
        return "missed"

    result = explore(program)
    assert result.verdict == "failed"  # an exception left a thread
    assert result.failures[0].message == "KeyError: 'gone'"


def test_clean_up_code_of_abandoned_threads_runs_and_may_even_resist() -> None:
    cleaned = []

    def program() -> None:
        lock = mazurka.Lock()

        def waits() -> None:
            try:
                lock.acquire()
            finally:
                cleaned.append(lock.locked)
                lock.release()

        def resists() -> None:
            while True:
                try:
                    lock.acquire()
                except BaseException:
                    continue

        lock.acquire()
        spawn(waits)
        spawn(resists)

    result = explore(program, stop_on_failure=False, instrument=None)
    assert result.failures[0].kind == "deadlock"
    assert cleaned


def test_progress_is_told() -> None:
    seen: list[int] = []
    explore(store_buffering, progress=lambda result: seen.append(result.executions))
    assert seen[0] == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"algorithm": "best"}, "no algorithm 'best'; choose one of pop, optimal, qpor, trust"),
        ({"granularity": "line"}, "no granularity 'line'; choose one of access, sync"),
        ({"max_executions": 0}, "max_executions must be a whole number, at least 1"),
        ({"max_executions": 2.5}, "max_executions must be a whole number, at least 1"),
        ({"time_limit": 0}, "time_limit must be more than 0"),
        ({"max_events": 0}, "max_events must be at least 1"),
        ({"step_limit": -1}, "step_limit must be more than 0"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(mazurka.MazurkaError, match=message):
        explore(store_buffering, **options)


def test_bad_programs() -> None:
    def generator() -> Iterator[int]:
        yield 1

    with pytest.raises(mazurka.MazurkaError, match="a program is a function, not 3"):
        explore(3)  # type: ignore[arg-type]
    with pytest.raises(mazurka.MazurkaError, match="cannot be called without arguments"):
        explore(lambda x: x)  # type: ignore[misc, arg-type]
    with pytest.raises(mazurka.MazurkaError, match="generator"):
        explore(generator)


def test_operations_outside_a_program() -> None:
    with pytest.raises(mazurka.MazurkaError, match="works only in a program that Mazurka runs"):
        Atomic(0).load()
    with pytest.raises(mazurka.MazurkaError, match="works only in a program that Mazurka runs"):
        choose([1])
    with pytest.raises(mazurka.MazurkaError, match="works only in a program that Mazurka runs"):
        assume(False)


def test_checks_cannot_be_nested() -> None:
    with pytest.raises(mazurka.MazurkaError, match="only one at a time"):
        explore(lambda: explore(store_buffering))


def test_an_object_kept_from_an_earlier_execution_is_refused() -> None:
    kept: list[Atomic[int]] = []

    def program() -> None:
        kept.append(Atomic(0))
        kept[0].load()

    assert explore(program).verdict == "verified"  # the list is put back
    with pytest.raises(mazurka.MazurkaError, match="made in one execution is used in another"):
        explore(program, instrument=None)


def test_a_predicate_must_not_perform_operations() -> None:
    def program() -> None:
        x, y = Atomic(0), Atomic(0)
        x.await_value(lambda value: y.load() == value)

    with pytest.raises(mazurka.MazurkaError, match="a function of the value alone"):
        explore(program)


def test_a_predicate_that_raises_fails_its_thread() -> None:
    def program() -> None:
        Atomic(0).await_value(lambda value: 1 / value)

    assert explore(program).failures[0].message == "ZeroDivisionError: division by zero"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_thread_that_swallows_its_cancellation_has_not_ended(algorithm: str) -> None:
    runs = []

    def program() -> None:
        one, two = mazurka.Lock(), mazurka.Lock()

        def both(first: mazurka.Lock, second: mazurka.Lock) -> None:
            runs.append(1)
            try:
                with first, second:
                    pass
            except BaseException:
                pass

        threads = [spawn(both, one, two), spawn(both, two, one)]
        for thread in threads:
            thread.join()

    result = explore(program, algorithm=algorithm, stop_on_failure=False)
    assert {failure.kind for failure in result.failures} == {"deadlock"}
    assert result.blocked == len(result.failures)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_an_operation_that_raises_is_an_event_like_any_other(algorithm: str) -> None:
    def program() -> Any:
        x = Atomic(0)

        def divide() -> str:
            try:
                x.await_value(lambda value: 1 / value)
            except ZeroDivisionError:
                return "raised"
            return "fine"

        thread = spawn(divide)
        x.store(1)
        return thread.join()

    assert set(explore(program, algorithm=algorithm).outcomes) == {"raised", "fine"}


def test_context_variables_begin_afresh() -> None:
    variable: contextvars.ContextVar[int] = contextvars.ContextVar("variable", default=0)

    def program() -> Any:
        x = Atomic(0)

        def set_once() -> None:
            if variable.get() == 0:
                variable.set(1)
                x.fetch_add(1)

        for thread in [spawn(set_once), spawn(set_once)]:
            thread.join()
        return x.load(), variable.get()

    variable.set(7)
    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {(2, 7)})


def test_adds_are_for_integers() -> None:
    def program(value: Any, amount: Any) -> Callable[[], object]:
        return lambda: Atomic(value).add(amount)

    for value, amount in ((0, 1.5), ("a", "b"), ("a", 1)):
        failure = explore(program(value, amount)).failures[0]
        assert failure.message.startswith("TypeError: add ")
        assert "use fetch_add" in failure.message


def test_keyboard_interrupt_ends_the_exploration() -> None:
    def program() -> None:
        spawn(lambda: None)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        explore(program)
    assert explore(store_buffering).verdict == "verified"

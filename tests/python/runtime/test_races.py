"""Granularity "sync": fewer executions, and data races instead of the interleavings they allow."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from math import factorial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from click.testing import CliRunner
from hypothesis import assume as accept
from hypothesis import given
from hypothesis import strategies as st

import mazurka
from mazurka import Atomic, Failure, Result, Schedule, assume, explore, replay, spawn
from mazurka.cli.main import main
from tests.oracles import race_programs
from tests.oracles.generated import PROGRAMS, generated

Program = Callable[[], object]
ALGORITHMS = ["pop", "optimal", "qpor", "source", "naive"]


def run_threads(*targets: Callable[[], object]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def verified(program: Program, **options: Any) -> Result:
    result = explore(program, granularity="sync", **options)
    assert result.failures == []
    assert result.verdict == "verified"
    return result


def race_in(program: Program, variable: str, **options: Any) -> Failure:
    """The data race that a program has, which a replay finds again."""
    result = explore(program, granularity="sync", **options)
    assert result.verdict == "failed"
    failure = result.failures[0]
    assert failure.kind == "data race"
    assert failure.message.startswith(f"{variable} is ")
    again = replay(program, Schedule.from_json(failure.schedule.to_json()))
    assert (again.kind, again.message) == (failure.kind, failure.message)
    assert (again.thread, again.details) == (failure.thread, failure.details)
    assert again.steps == failure.steps
    return failure


def lines_of(failure: Failure) -> set[str]:
    return {detail.rpartition(": ")[2] for detail in failure.details}


class Counter:
    def __init__(self) -> None:
        self.value = 0

    def increment(self) -> None:
        temp = self.value
        self.value = temp + 1


class Guarded:
    """Threads that count under some lock."""

    def __init__(self, lock: Any) -> None:
        self.lock = lock
        self.value = 0

    def increment(self) -> None:
        with self.lock:
            self.value += 1


def counting(make_lock: Callable[[], Any], threads: int) -> Program:
    def program() -> int:
        counter = Guarded(make_lock())
        run_threads(*[counter.increment] * threads)
        return counter.value

    return program


# What is reported


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_counter(algorithm: str) -> None:
    def program() -> None:
        counter = Counter()
        run_threads(counter.increment, counter.increment)
        assert counter.value == 2

    failure = race_in(program, "counter.value", algorithm=algorithm)
    assert lines_of(failure) == {"temp = self.value", "self.value = temp + 1"}
    first, second = "Thread-1 (increment)", "Thread-2 (increment)"
    assert failure.message.endswith("and nothing orders the two")
    assert {first, second} == {detail.partition(")")[0] + ")" for detail in failure.details}
    assert failure.thread in (first, second)
    assert [step.action for step in failure.steps] == [
        f"spawn {first}",
        "write counter.value",
        f"spawn {second}",
        "read counter.value",
    ]


def test_a_race_is_told_in_words() -> None:
    def program() -> None:
        counter = Counter()
        spawn(counter.increment)
        counter.value = 5

    with pytest.raises(mazurka.CheckFailed) as caught:
        mazurka.check(program, granularity="sync")
    text = str(caught.value)
    assert "data race: counter.value is written by" in text
    assert "program wrote it at tests/python/runtime/test_races.py" in text
    assert "increment read it at tests/python/runtime/test_races.py" in text


def test_each_race_is_told_once() -> None:
    def program() -> None:
        counter = Counter()
        other = [0]
        done = threading.Semaphore(0)

        def work() -> None:
            counter.increment()
            other[0] += 1
            done.release()

        run_threads(work, work, work)

    result = explore(program, granularity="sync", stop_on_failure=False)
    assert result.verdict == "failed"
    assert [failure.kind for failure in result.failures] == ["data race"] * len(result.failures)
    told = [frozenset(lines_of(failure)) for failure in result.failures]
    assert len(set(told)) == len(told)


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "qpor", "source"])
def test_a_search_goes_on_as_far_as_it_can(algorithm: str) -> None:
    """What a thread does next depends on a race, so equivalent executions are not the same."""

    def program() -> None:
        counter = Counter()
        locks = [threading.Lock(), threading.Lock()]

        def work(number: int) -> None:
            with locks[number]:
                counter.increment()
            with locks[counter.value % 2]:
                counter.value *= 3

        run_threads(lambda: work(0), lambda: work(1), lambda: work(0))

    result = explore(program, granularity="sync", stop_on_failure=False, algorithm=algorithm)
    assert result.verdict == "failed"
    assert {failure.kind for failure in result.failures} == {"data race"}


def test_a_race_comes_before_what_follows_from_it() -> None:
    def program() -> None:
        counter = Counter()
        run_threads(counter.increment, counter.increment)
        raise ValueError

    race_in(program, "counter.value")


# What is a race


def test_writers_of_one_attribute() -> None:
    def program() -> None:
        counter = Counter()

        def write() -> None:
            counter.value = 1

        run_threads(write, write)

    failure = race_in(program, "counter.value")
    assert "written by Thread-1 (write) and written by Thread-2 (write)" in failure.message


def test_double_checked_locking() -> None:
    class Lazy:
        instance: Any = None

    def program() -> None:
        lock = threading.Lock()
        lazy = Lazy()

        def get() -> Any:
            if lazy.instance is None:
                with lock:
                    if lazy.instance is None:
                        lazy.instance = object()
            return lazy.instance

        run_threads(get, get)

    failure = race_in(program, "lazy.instance")
    assert "lazy.instance = object()" in lines_of(failure)


def test_a_race_that_few_executions_have() -> None:
    def program() -> None:
        counter = Counter()
        turn = Atomic(0)

        def one() -> None:
            counter.increment()
            turn.store(1)

        def other() -> None:
            if turn.load() == 0:
                counter.increment()

        run_threads(one, other)

    race_in(program, "counter.value")


def test_two_locks_are_no_lock() -> None:
    def program() -> None:
        counter = Counter()

        def increment(lock: threading.Lock) -> None:
            with lock:
                counter.increment()

        run_threads(
            *[lambda lock=lock: increment(lock) for lock in [threading.Lock(), threading.Lock()]]
        )

    race_in(program, "counter.value")


def test_accesses_around_critical_sections() -> None:
    """In most executions the locks order them."""

    def program() -> None:
        lock = threading.Lock()
        counter = Counter()

        def before() -> None:
            counter.value = 1
            with lock:
                pass

        def after() -> None:
            with lock:
                pass
            counter.value = 2

        run_threads(before, after)

    race_in(program, "counter.value")


def test_insertion_while_another_thread_iterates() -> None:
    def program() -> None:
        scores = {"a": 1}

        def insert() -> None:
            scores["b"] = 2

        def total() -> int:
            found = 0
            for key in scores:
                found += len(key)
            return found

        run_threads(insert, total)

    failure = race_in(program, "scores")
    assert lines_of(failure) == {'scores["b"] = 2', "for key in scores:"}


def test_appending_and_the_length() -> None:
    def program() -> None:
        items: list[int] = []
        run_threads(lambda: items.append(1), lambda: len(items))

    race_in(program, "items")


def test_two_appends() -> None:
    def program() -> None:
        items: list[int] = []
        run_threads(lambda: items.append(1), lambda: items.append(2))

    race_in(program, "items")


def test_one_item_of_a_dict() -> None:
    def program() -> None:
        scores = {"a": 1, "b": 2}

        def write() -> None:
            scores["a"] = 3

        run_threads(write, lambda: scores.get("a"))

    failure = race_in(program, "scores['a']")
    assert failure.steps[-1].action.endswith(" scores['a']")


total = 0


def test_a_global_variable() -> None:
    def program() -> None:
        def add() -> None:
            global total
            total += 1

        run_threads(add, add)

    failure = race_in(program, "total")
    assert lines_of(failure) == {"total += 1"}
    assert total == 0  # put back


class Registry:
    names: ClassVar[list[str]] = []
    size = 0


def test_a_class_attribute() -> None:
    def program() -> None:
        def write() -> None:
            Registry.size = 1

        run_threads(write, lambda: Registry.size)

    race_in(program, "Registry.size")
    assert Registry.size == 0


def test_a_closure_variable() -> None:
    def program() -> int:
        count = 0

        def increment() -> None:
            nonlocal count
            count += 1

        run_threads(increment, increment)
        return count

    race_in(program, "count")


def test_a_parent_and_its_child() -> None:
    def program() -> None:
        counter = Counter()
        child = threading.Thread(target=counter.increment)
        child.start()
        counter.increment()
        child.join()

    race_in(program, "counter.value")


def test_a_child_that_nobody_joins() -> None:
    def program() -> int:
        counter = Counter()
        spawn(counter.increment)
        return counter.value

    race_in(program, "counter.value")


def test_a_join_that_timed_out_orders_nothing() -> None:
    def program() -> int:
        counter = Counter()
        child = threading.Thread(target=counter.increment)
        child.start()
        child.join(timeout=1)
        return counter.value

    race_in(program, "counter.value")


# What is none


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "qpor"])
@pytest.mark.parametrize(
    "make_lock", [threading.Lock, threading.RLock, threading.Semaphore, threading.Condition]
)
@pytest.mark.parametrize("threads", [2, 3, 4])
def test_a_counter_with_a_lock(threads: int, make_lock: Callable[[], Any], algorithm: str) -> None:
    result = verified(counting(make_lock, threads), algorithm=algorithm)
    assert result.outcomes == {threads: factorial(threads)}
    assert result.executions == factorial(threads)


def test_reading_only() -> None:
    def program() -> None:
        counter = Counter()
        run_threads(lambda: counter.value, lambda: counter.value)

    assert verified(program).executions == 1


def test_different_parts() -> None:
    def program() -> int:
        scores = {"a": 1, "b": 2}
        numbers = [0, 0]

        def write(key: str, index: int) -> None:
            scores[key] = 3
            numbers[index] = 1

        run_threads(lambda: write("a", 0), lambda: write("b", 1))
        return sum(numbers) + len(scores)

    assert verified(program).outcomes == {4: 1}


def test_publication_through_a_queue() -> None:
    def program() -> int:
        counters: queue.Queue[Counter] = queue.Queue()

        def produce() -> None:
            counter = Counter()
            counter.increment()
            counters.put(counter)

        threading.Thread(target=produce).start()
        counter = counters.get()
        counter.increment()
        return counter.value

    assert verified(program).outcomes == {2: 1}


def test_publication_through_an_event() -> None:
    def program() -> int:
        counter = Counter()
        ready = threading.Event()

        def produce() -> None:
            counter.increment()
            ready.set()

        threading.Thread(target=produce).start()
        ready.wait()
        counter.increment()
        return counter.value

    assert set(verified(program).outcomes) == {2}


def test_publication_through_an_atomic() -> None:
    def program() -> int:
        counter = Counter()
        ready = Atomic(False)

        def produce() -> None:
            counter.increment()
            ready.store(True)

        spawn(produce)
        assume(ready.load())
        return counter.value

    assert verified(program).outcomes == {1: 1}


def test_publication_through_an_add() -> None:
    def program() -> int:
        counters = [Counter(), Counter()]
        ready = Atomic(0)

        def produce(counter: Counter) -> None:
            counter.increment()
            ready.add(1)

        for counter in counters:
            spawn(produce, counter)
        ready.await_value(lambda value: value == 2)
        return counters[0].value + counters[1].value

    assert verified(program).outcomes == {2: 1}


def test_publication_by_a_join() -> None:
    def program() -> int:
        counter = Counter()
        for _ in range(2):
            spawn(counter.increment).join()
        counter.increment()
        return counter.value

    assert verified(program).outcomes == {3: 1}


def test_a_hand_over_with_a_condition() -> None:
    def program() -> list[int]:
        condition = threading.Condition()
        items: list[int] = []
        taken: list[int] = []

        def take() -> None:
            with condition:
                condition.wait_for(lambda: items)
                taken.append(items.pop())

        def put() -> None:
            with condition:
                items.append(1)
                condition.notify()

        run_threads(take, put)
        return taken

    assert set(verified(program).outcomes) == {"[1]"}


def test_phases_with_a_barrier() -> None:
    def program() -> tuple[int, ...]:
        barrier = threading.Barrier(2)
        numbers = [0, 0]
        sums = [0, 0]

        def work(index: int) -> None:
            numbers[index] = index + 1
            barrier.wait()
            sums[index] = numbers[0] + numbers[1]

        run_threads(lambda: work(0), lambda: work(1))
        return tuple(sums)

    assert set(verified(program).outcomes) == {(3, 3)}


def test_results_of_futures() -> None:
    def program() -> list[int]:
        def count(number: int) -> Counter:
            counter = Counter()
            for _ in range(number):
                counter.increment()
            return counter

        with ThreadPoolExecutor(2) as executor:
            futures = [executor.submit(count, number) for number in (1, 2)]
            return [future.result().value for future in futures]

    assert set(verified(program).outcomes) == {"[1, 2]"}


def test_classes_that_are_called_alike() -> None:
    def program() -> None:
        def work() -> None:
            class Local:
                value = 0

            Local.value = 1

        run_threads(work, work)

    verified(program)


def test_the_number_of_executions() -> None:
    """Accesses that synchronisation orders have no orders of their own."""

    def program() -> int:
        scores: dict[str, int] = {}
        lock = threading.Lock()

        def add(key: str) -> None:
            with lock:
                for _ in range(3):
                    scores[key] = scores.get(key, 0) + 1
            with lock:
                scores["all"] = sum(scores.values())

        run_threads(lambda: add("a"), lambda: add("b"))
        return scores["all"]

    result = verified(program)
    assert result.executions == explore(program).executions == 6
    assert result.outcomes == explore(program).outcomes


# Loops that wait for a variable

is_ready = False


def test_a_loop_that_polls_is_stuck() -> None:
    def program() -> None:
        def get_ready() -> None:
            global is_ready
            is_ready = True

        threading.Thread(target=get_ready).start()
        while not is_ready:
            pass

    failure = explore(program, granularity="sync", max_events=1000).failures[0]
    assert failure.kind == "stuck"
    assert "is_ready" in failure.message
    assert "max_events=1000" in failure.message
    assert lines_of(failure) == {"while not is_ready:"}
    assert replay(program, failure.schedule).message == failure.message


def test_a_thread_that_cleans_up_for_ever() -> None:
    def program() -> None:
        counter = Counter()
        lock = threading.Lock()

        def never() -> None:
            try:
                with lock, lock:
                    pass
            finally:
                while counter.value == 0:
                    pass

        run_threads(never)

    assert explore(program, granularity="sync").failures[0].kind == "deadlock"


# The other doors

PROGRAM = """
import threading

class Counter:
    value = 0

def count():
    counter = Counter()

    def increment():
        counter.value += 1

    threads = [threading.Thread(target=increment) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


def test_on_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("counting.py").write_text(PROGRAM, encoding="utf-8")
    command = ["check", "counting.py::count", "--granularity", "sync", "--save", "race.json"]
    checked = CliRunner().invoke(main, command)
    assert checked.exit_code == 1
    assert "data race: counter.value is" in checked.stdout
    assert "it at counting.py:11: counter.value += 1" in checked.stdout
    replayed = CliRunner().invoke(main, ["replay", "race.json"])
    assert replayed.exit_code == 1
    account = checked.stdout.partition("data race: ")[2].partition("\n\nTo run it again")[0]
    assert account in replayed.stdout
    assert "in another way" not in replayed.stdout
    assert CliRunner().invoke(main, ["check", "counting.py::count"]).exit_code == 0


def test_under_pytest(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_counting=PROGRAM + "\nimport mazurka\ntest_it = mazurka.check()(count)\n"
    )
    assert pytester.runpytest_subprocess().ret == pytest.ExitCode.OK
    result = pytester.runpytest_subprocess("--mazurka-granularity=sync")
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*data race: counter.value is *"])


# Generated programs

variables = st.sampled_from(["x", "y"])
keys = st.integers(0, 1)


def instruction(name: str, *operands: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(name), *operands)


ACCESSES = [
    instruction("read", variables),
    instruction("write", variables, st.integers(1, 3)),
    instruction("append"),
    instruction("length"),
    instruction("index"),
    instruction("set item", keys),
    instruction("get item", keys),
    instruction("items"),
]
SYNCHRONISATION = [instruction(name) for name in race_programs.SYNCHRONISATION]


def blocks(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    block = st.lists(inner, min_size=1, max_size=3).map(tuple)
    with_lock = instruction("with", st.integers(0, 1), block)
    return st.one_of(
        with_lock, with_lock, instruction("semaphore", block), instruction("if", block)
    )


single = st.one_of(st.one_of(ACCESSES), st.one_of(ACCESSES), st.one_of(SYNCHRONISATION))
mixed = st.one_of(blocks(single), blocks(single), single)
threads = st.lists(mixed, min_size=1, max_size=4).map(tuple)
programs = st.lists(threads, min_size=2, max_size=3).map(tuple)


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "qpor"])
@generated(max(PROGRAMS // 5, 10))
@given(program=programs)
def test_generated_programs(program: race_programs.Program, algorithm: str) -> None:
    problem = race_programs.disagreement(program, algorithm)
    accept(problem != "")
    assert problem is None, f"{problem}: {program!r}"

"""Unmodified Python code: the counts are exact, and nothing is missed."""

import queue
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from math import factorial
from typing import Any, ClassVar

import pytest

from mazurka import Result, check, explore

Program = Callable[[], object]
ALGORITHMS = ["pop", "optimal", "qpor"]


def run_threads(*targets: Callable[[], object]) -> None:
    threads = [threading.Thread(target=target) for target in targets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def explored(program: Program, **options: Any) -> Result:
    """All executions, of which none may be redundant, and the same ones when they are explored
    again."""
    result = explore(program, stop_on_failure=False, **options)
    again = explore(program, stop_on_failure=False, **options)
    assert result.redundant == 0
    assert (result.executions, result.outcomes) == (again.executions, again.outcomes)
    assert result.warnings == []
    return result


# Exact counts


class Counter:
    def __init__(self) -> None:
        self.value = 0

    def increment(self) -> None:
        temp = self.value
        self.value = temp + 1


def counting(threads: int) -> Program:
    def program() -> int:
        counter = Counter()
        run_threads(*[counter.increment] * threads)
        return counter.value

    return program


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("threads", "count"), [(2, 4), (3, 36)])
def test_a_counter(threads: int, count: int, algorithm: str) -> None:
    result = explored(counting(threads), algorithm=algorithm)
    assert result.executions == count
    assert set(result.outcomes) == set(range(1, threads + 1))


first = second = 1


def fibonacci(rounds: int) -> Program:
    def add_to_first() -> None:
        global first
        for _ in range(rounds):
            first += second

    def add_to_second() -> None:
        global second
        for _ in range(rounds):
            second += first

    return lambda: run_threads(add_to_first, add_to_second)


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("rounds", "count"), [(1, 3), (2, 19), (3, 141), (4, 1107)])
def test_fibonacci(rounds: int, count: int, algorithm: str) -> None:
    assert explored(fibonacci(rounds), algorithm=algorithm).executions == count
    assert (first, second) == (1, 1)  # put back


class Box:
    value = 0


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("writers", [3, 4, 5])
def test_writers_of_one_attribute(writers: int, algorithm: str) -> None:
    def program() -> int:
        box = Box()

        def write(value: int) -> None:
            box.value = value

        run_threads(*[lambda value=value: write(value) for value in range(writers)])
        return box.value

    result = explored(program, algorithm=algorithm)
    assert result.executions == factorial(writers)
    assert result.outcomes == {value: factorial(writers - 1) for value in range(writers)}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("size", "count"), [(3, 12), (4, 28), (5, 64), (6, 144)])
def test_last_zero_of_a_list(size: int, count: int, algorithm: str) -> None:
    def program() -> None:
        array = [0] * (size + 1)

        def search() -> None:
            index = size
            while array[index] != 0:
                index -= 1

        def write(index: int) -> None:
            array[index] = array[index - 1] + 1

        writers = [lambda index=index: write(index) for index in range(1, size + 1)]
        run_threads(search, *writers)

    assert explored(program, algorithm=algorithm).executions == count


# Nothing is missed


def test_the_last_one_to_have_the_lock() -> None:
    def program() -> str:
        lock = threading.Lock()
        last = ""

        def write(name: str) -> None:
            nonlocal last
            with lock:
                last = name

        run_threads(lambda: write("a"), lambda: write("b"))
        return last

    assert explored(program).outcomes == {"a": 1, "b": 1}


@pytest.mark.parametrize("order", list(permutations([0, 1])))
def test_a_lost_wake_up(order: tuple[int, int]) -> None:
    def program() -> None:
        condition = threading.Condition()

        def wait() -> None:
            with condition:
                condition.wait()

        def wake() -> None:
            with condition:
                condition.notify()

        roles = [wait, wake]
        run_threads(*[roles[place] for place in order])

    result = explored(program)
    assert [failure.kind for failure in result.failures] == ["deadlock"]
    assert result.complete == 1


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_if_instead_of_while_around_a_wait(order: tuple[int, ...]) -> None:
    def program() -> None:
        condition = threading.Condition()
        items: list[int] = []

        def take() -> None:
            with condition:
                if not items:
                    condition.wait()
                items.pop()

        def put() -> None:
            with condition:
                items.append(1)
                condition.notify()

        def put_two() -> None:
            put()
            put()

        roles = [take, take, put_two]
        run_threads(*[roles[place] for place in order])

    failures = explored(program).failures
    assert {failure.message for failure in failures} == {"IndexError: pop from empty list"}


def test_two_puts_and_a_get() -> None:
    def program() -> int:
        numbers: queue.Queue[int] = queue.Queue()
        for number in (1, 2):
            threading.Thread(target=numbers.put, args=(number,)).start()
        return numbers.get()

    assert set(explored(program).outcomes) == {1, 2}


def test_a_put_and_a_get_that_does_not_wait() -> None:
    def program() -> int | None:
        numbers: queue.Queue[int] = queue.Queue()
        threading.Thread(target=numbers.put, args=(1,)).start()
        try:
            return numbers.get_nowait()
        except queue.Empty:
            return None

    assert set(explored(program).outcomes) == {1, None}


def test_a_semaphore() -> None:
    def program() -> tuple[str, int]:
        semaphore = threading.Semaphore(1)
        counter = Counter()
        last = ""

        def enter(name: str) -> None:
            nonlocal last
            with semaphore:
                counter.increment()
                last = name

        run_threads(lambda: enter("a"), lambda: enter("b"))
        return last, counter.value

    assert explored(program).outcomes == {("a", 2): 1, ("b", 2): 1}


def test_check_then_act_on_a_dict() -> None:
    def program() -> str:
        owners: dict[str, str] = {}

        def claim(name: str) -> None:
            if "key" not in owners:
                owners["key"] = name

        run_threads(lambda: claim("a"), lambda: claim("b"))
        return owners["key"]

    assert set(explored(program).outcomes) == {"a", "b"}


def test_a_race_inside_an_executor() -> None:
    def program() -> int:
        total = [0]

        def add() -> None:
            total[0] += 1

        with ThreadPoolExecutor(2) as executor:
            for _ in range(2):
                executor.submit(add)
        return total[0]

    assert set(explored(program).outcomes) == {1, 2}


def test_a_race_with_a_thread_of_a_thread() -> None:
    def program() -> int:
        counter = Counter()

        def outer() -> None:
            inner = threading.Thread(target=counter.increment)
            inner.start()
            counter.increment()
            inner.join()

        run_threads(outer)
        return counter.value

    assert set(explored(program).outcomes) == {1, 2}


is_ready = False


def test_a_loop_that_polls_ends_with_an_answer() -> None:
    def program() -> None:
        def get_ready() -> None:
            global is_ready
            is_ready = True

        threading.Thread(target=get_ready).start()
        while not is_ready:
            pass

    result = explore(program)
    assert result.verdict == "verified"
    assert result.complete == 1


def test_a_search_that_was_cut_short_is_no_pass() -> None:
    assert explore(counting(3), max_executions=10).verdict == "incomplete"


# The state of modules, classes and objects from outside


class Registry:
    names: ClassVar[list[str]] = []
    total = 0


registry = {"a": 1}
lock_of_the_module = threading.Lock()


def test_each_execution_finds_the_same() -> None:
    def program() -> tuple[int, int, int]:
        found = len(Registry.names), Registry.total, len(registry)
        with lock_of_the_module:
            Registry.names.append("x")
            Registry.total += 1
            registry["b"] = 2
            del registry["a"]
        return found

    assert explored(program).outcomes == {(0, 0, 1): 1}
    assert (Registry.names, Registry.total, registry) == ([], 0, {"a": 1})


def test_a_lock_of_the_module_is_steered() -> None:
    def program() -> int:
        counter = Counter()

        def increment() -> None:
            with lock_of_the_module:
                counter.increment()

        run_threads(increment, increment)
        return counter.value

    result = explored(program)
    assert result.outcomes == {2: 2}


@check
def test_as_a_user_writes_it() -> None:
    counter = Counter()
    lock = threading.Lock()

    def increment() -> None:
        with lock:
            counter.increment()

    threads = [threading.Thread(target=increment) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counter.value == 2


def test_other_os_threads_may_run_the_same_code() -> None:
    counter = Counter()
    is_over = threading.Event()

    def count_on() -> None:
        while not is_over.is_set():
            counter.increment()

    beside = threading.Thread(target=count_on)
    beside.start()
    try:
        assert explored(counting(2)).executions == 4
    finally:
        is_over.set()
        beside.join()
    assert counter.value > 0

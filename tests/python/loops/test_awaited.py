"""Operations that wait in place of loops: on containers, in functions that a loop calls, and with
conditions that take more than one value to tell."""

import enum
import logging
import queue
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mazurka import Atomic, explore, replay, spawn

ALGORITHMS = ["pop", "optimal", "source", "trust", "qpor"]
Program = Callable[[], object]


class State(enum.Enum):
    BUSY = 1
    READY = 2


class Box:
    enough_items = 2  # no code stores an attribute of this name

    def __init__(self) -> None:
        self.ready = False
        self.state = State.BUSY
        self.items: list[int] = []
        self.wanted = 1
        self.asked = 0

    def is_ready(self) -> bool:
        return self.ready

    def has_enough(self) -> bool:
        if not self.items:
            return False
        return len(self.items) >= self.wanted

    @property
    def is_full(self) -> bool:
        return len(self.items) == 1

    def is_ready_now(self) -> bool:
        self.asked += 1
        return self.ready


def start(function: Callable[..., object], *arguments: object) -> threading.Thread:
    thread = threading.Thread(target=function, args=arguments)
    thread.start()
    return thread


# Correct ways to wait: each gives 42.


def index_of_list() -> object:
    flags = [False, False]
    start(flags.__setitem__, 0, True)
    start(flags.__setitem__, 1, True)
    for number in range(2):
        while not flags[number]:
            pass
    return 42


def item_of_dict() -> object:
    task = {"state": "new", "value": 0}

    def work() -> None:
        task["state"] = "busy"
        task["value"] = 42
        task["state"] = "ready"

    start(work)
    while task["state"] != "ready":
        time.sleep(0.1)
    return task["value"]


def key_of_dict() -> object:
    results: dict[str, int] = {}
    start(results.__setitem__, "value", 42)
    while "value" not in results:
        pass
    return results["value"]


def item_or_default() -> object:
    results: dict[str, int] = {}
    start(results.__setitem__, "value", 42)
    while results.get("value") is None:
        pass
    return results["value"]


def caught_key_error() -> object:
    results: dict[str, int] = {}
    start(results.__setitem__, "value", 42)
    while True:
        try:
            return results["value"]
        except KeyError:
            time.sleep(0.1)


def caught_index_error() -> object:
    results: list[int] = []
    start(results.append, 42)
    while True:
        try:
            return results[0]
        except IndexError:
            continue


def truth_of_list() -> object:
    items: list[int] = []
    start(items.append, 42)
    while not items:
        pass
    return items[0]


def length_of_deque() -> object:
    items: deque[int] = deque()
    start(items.append, 21)
    start(items.append, 21)
    while len(items) < 2:
        time.sleep(0.1)
    return sum(items)


def element_of_set() -> object:
    seen: set[int] = set()
    start(seen.add, 1)
    start(seen.add, 2)
    while 1 not in seen:
        pass
    return 42


def first_of_deque() -> object:
    items = deque([0])

    def work() -> None:
        items[0] = 42

    start(work)
    while items[0] == 0:
        pass
    return items[0]


def rotated() -> object:
    box = Box()

    def work() -> None:
        box.ready = True

    start(work)
    ready = box.ready
    while not ready:
        ready = box.ready
    return 42


def rotated_with_flag() -> object:
    value = Atomic(0)
    start(value.store, 1)
    done = False
    while not done:
        done = value.load() == 1
    return 42


def assigned_in_the_condition() -> object:
    value = Atomic(0)
    start(value.store, 42)
    while (found := value.load()) == 0:
        pass
    return found


def method_of_object() -> object:
    box = Box()

    def work() -> None:
        box.ready = True

    start(work)
    while not box.is_ready():
        time.sleep(0.1)
    return 42


def method_with_branches() -> object:
    box = Box()
    start(box.items.append, 42)
    while not box.has_enough():
        pass
    return box.items[0]


def property_of_object() -> object:
    box = Box()
    start(box.items.append, 42)
    while not box.is_full:
        pass
    return box.items[0]


def function_given() -> object:
    box = Box()

    def wait_until(condition: Callable[[], bool]) -> None:
        while not condition():
            time.sleep(0.01)

    def work() -> None:
        box.ready = True

    start(work)
    wait_until(lambda: box.ready)
    return 42


def several_values() -> object:
    one, other = Box(), Box()

    def work(box: Box) -> None:
        box.ready = True

    start(work, one)
    start(work, other)
    while not (one.ready and other.ready):
        pass
    return 42


def attribute_that_stays() -> object:
    box = Box()
    start(box.items.append, 42)
    while len(box.items) < box.wanted:
        time.sleep(0.1)
    return box.items[0]


def constant_of_class() -> object:
    box = Box()
    start(box.items.append, 21)
    start(box.items.append, 21)
    while len(box.items) < Box.enough_items:
        pass
    return sum(box.items)


def member_of_enum() -> object:
    box = Box()

    def work() -> None:
        box.state = State.READY

    start(work)
    while box.state is not State.READY:
        pass
    return 42


def end_of_thread() -> object:
    box = Box()

    def work() -> None:
        box.wanted = 42

    thread = start(work)
    while thread.is_alive():
        time.sleep(0.1)
    return box.wanted


def queue_with_timeout() -> object:
    line: queue.Queue[int] = queue.Queue()
    start(line.put, 42)
    while True:
        try:
            return line.get(timeout=0.5)
        except queue.Empty:
            continue


def logged() -> object:
    box = Box()
    logger = logging.getLogger(__name__)

    def work() -> None:
        box.ready = True

    start(work)
    while not box.ready:
        logger.debug("waiting for %s", "the box")
        logging.debug("still waiting")
    return 42


def hoisted_over_a_read() -> object:
    value, other = Atomic(0), Atomic(0)

    def work() -> None:
        other.store(1)
        value.store(1)

    start(work)
    while True:
        found = value.load()
        other.load()
        if found == 1:
            return 42


AWAITED = [
    index_of_list,
    item_of_dict,
    key_of_dict,
    item_or_default,
    caught_key_error,
    caught_index_error,
    truth_of_list,
    length_of_deque,
    element_of_set,
    first_of_deque,
    rotated,
    rotated_with_flag,
    assigned_in_the_condition,
    method_of_object,
    method_with_branches,
    property_of_object,
    function_given,
    several_values,
    attribute_that_stays,
    member_of_enum,
    end_of_thread,
    queue_with_timeout,
    hoisted_over_a_read,
]


@pytest.mark.parametrize("program", AWAITED)
def test_no_execution_waits_in_vain(program: Program) -> None:
    results = [explore(program, algorithm=algorithm) for algorithm in ALGORITHMS]
    assert {result.verdict for result in results} == {"verified"}
    assert all(set(result.outcomes) == {42} for result in results)
    assert {result.blocked for result in results} == {0}
    cut = explore(program, awaits=False)
    assert cut.blocked > 0
    assert {result.complete for result in results} == {cut.complete}


def test_a_constant_of_a_class() -> None:
    """In a process of its own: where some module of the project may store attributes by names that
    do not show, as those of other tests do, every attribute is one that may change."""
    code = (
        "from mazurka import explore; "
        "from tests.python.loops.test_awaited import constant_of_class as program; "
        "result = explore(program); "
        "assert (result.verdict, result.blocked) == ('verified', 0), result"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=Path(__file__).parents[3])


def test_a_round_may_write_to_the_log() -> None:
    result = explore(logged)
    assert result.verdict == "verified"
    assert (result.complete, result.blocked) == (1, 1)


# What must not wait


def outcomes(program: Program, **options: Any) -> set[object]:
    result = explore(program, **options)
    assert result.verdict == "verified"
    assert set(explore(program, awaits=False).outcomes) == set(result.outcomes)
    return set(result.outcomes)


def test_an_item_that_is_gone_is_missed() -> None:
    def key() -> str:
        table = {"n": 0}

        def work() -> None:
            del table["n"]
            table["n"] = 1

        start(work)
        try:
            while table["n"] == 0:
                pass
        except KeyError:
            return "gone"
        return "there"

    def index() -> str:
        items = [0]

        def work() -> None:
            items.pop()
            items.append(1)

        start(work)
        try:
            while items[0] == 0:
                pass
        except IndexError:
            return "gone"
        return "there"

    assert outcomes(key) == outcomes(index) == {"gone", "there"}


def test_a_function_that_counts_how_often_it_is_asked() -> None:
    def program() -> int:
        box = Box()

        def work() -> None:
            box.ready = True

        start(work)
        while not box.is_ready_now() and box.asked < 3:
            pass
        return box.asked

    assert outcomes(program) == {1, 2, 3}


def test_arguments_that_have_effects() -> None:
    def of_operation() -> int:
        word, count = Atomic(0), Atomic(0)
        start(word.store, 5)
        rounds = 0
        while word.exchange(0 * count.fetch_add(1)) == 0:
            rounds += 1
            if rounds == 3:
                break
        return count.load()

    def of_function() -> int:
        word, count = Atomic(0), Atomic(0)

        def is_over(number: int) -> bool:
            return word.load() == 1 or number >= 2

        start(word.store, 1)
        while not is_over(count.fetch_add(1)):
            pass
        return count.load()

    assert outcomes(of_operation) == outcomes(of_function) == {1, 2, 3}


def test_a_function_that_calls_itself() -> None:
    def program() -> int:
        box = Box()

        def is_over(depth: int) -> bool:
            if depth and is_over(depth - 1):
                return False
            return box.ready or depth == 1

        def work() -> None:
            box.ready = True

        start(work)
        rounds = 0
        while not is_over(1) and rounds < 2:
            rounds += 1
        return rounds

    assert outcomes(program) == {0, 2}


def test_an_attribute_that_changes_after_all() -> None:
    def program() -> tuple[int, int]:
        box = Box()
        box.wanted = 2

        def work() -> None:
            box.items.append(1)
            box.wanted = 1

        start(work)
        while len(box.items) < box.wanted:
            pass
        return len(box.items), box.wanted

    assert outcomes(program) == {(1, 1)}


def test_a_failure_is_replayed_with_what_was_learnt() -> None:
    def program() -> None:
        box = Box()
        box.wanted = 2

        def work() -> None:
            box.items.append(1)
            box.wanted = 1

        def check() -> None:
            while len(box.items) < box.wanted:
                pass
            assert not box.items

        start(work)
        start(check)

    for algorithm in ALGORITHMS:
        failure = explore(program, algorithm=algorithm).failures[0]
        assert failure.kind == "exception"
        assert replay(program, failure.schedule.to_json()).message == failure.message


def test_a_lambda_where_no_variable_can_be_added() -> None:
    def program() -> int:
        box = Box()
        return sum(value for value in map(lambda one: one.wanted, [box]))  # noqa: C417

    assert outcomes(program) == {1}


def test_changes_that_are_taken_along() -> None:
    """A search may move a change of a container to where other things have happened."""

    def program() -> None:
        items = {"x": 0, "y": 0}

        def write() -> None:
            items["x"] = 0
            items["y"] = 1

        def wait() -> None:
            while True:
                found = items.get("x")
                items.get("y")
                if found != 0:
                    break

        def look() -> None:
            items["y"] = 0
            items.get("x")

        start(write)
        start(wait)
        start(look)

    for algorithm in ALGORITHMS:
        result = explore(program, algorithm=algorithm, stop_on_failure=False)
        assert {failure.kind for failure in result.failures} == {"livelock"}
        assert result.complete == 0


# Taking from what is empty


def test_taking_from_what_is_empty_is_a_look() -> None:
    def from_list() -> int:
        items: list[int] = []
        start(items.append, 42)
        while True:
            try:
                return items.pop()
            except IndexError:
                pass

    def from_deque() -> int:
        items: deque[int] = deque()
        start(items.append, 42)
        while True:
            try:
                return items.popleft()
            except IndexError:
                time.sleep(0.1)

    assert outcomes(from_list) == outcomes(from_deque) == {42}


# Livelocks


def livelock(program: Program) -> list[str]:
    """What each search tells of it."""
    found = []
    for algorithm in ALGORITHMS:
        failure = explore(program, algorithm=algorithm).failures[0]
        assert failure.kind == "livelock"
        assert replay(program, failure.schedule).kind == "livelock"
        found.append(failure.details[0].rpartition(" (")[2])
    return found


def test_what_is_never_found_in_a_container() -> None:
    def item() -> None:
        task = {"state": "new"}

        def work() -> None:
            task["state"] = "ready"
            task["state"] = "done"

        start(work)
        while task["state"] != "ready":
            pass

    def key() -> None:
        results: dict[str, int] = {}

        def work() -> None:
            results["valeu"] = 1

        start(work)
        while "value" not in results:
            pass

    def length() -> None:
        items: list[int] = []

        def work() -> None:
            items.append(1)

        start(work)
        while len(items) < 2:
            pass

    def taken() -> None:
        items = [1]

        def work() -> None:
            while True:
                try:
                    items.pop()
                    break
                except IndexError:
                    pass

        start(work)
        start(work)

    assert set(livelock(item)) == {"task['state'] is 'done')"}
    assert set(livelock(key)) == {"'value' is not in results)"}
    assert set(livelock(length)) == {"length of items: 1)"}
    assert set(livelock(taken)) == {"take from items: empty)"}


def test_threads_that_give_way_with_items_of_a_list() -> None:
    def program() -> None:
        wants = [False, False]

        def run(me: int) -> None:
            while True:
                wants[me] = True
                if not wants[1 - me]:
                    break
                wants[me] = False
            wants[me] = False

        start(run, 0)
        start(run, 1)

    for told in livelock(program):
        assert "set wants[" in told and "read wants[" in told


def test_an_item_that_somebody_saw_changed_was_changed() -> None:
    """A round that puts an item back counts if another thread has looked meanwhile."""

    def program() -> bool:
        flags, over = [False], Atomic(0)
        seen = Atomic(False)

        def look() -> None:
            seen.store(flags[0])
            over.store(1)

        spawn(look)
        while over.load() == 0:
            flags[0] = True
            flags[0] = False
        return seen.load()

    assert outcomes(program) == {False, True}

"""What an execution changes is put back before the next one, wherever it is kept."""

import argparse
import copyreg
import decimal
import io
import itertools
import logging
import queue
import random
import sys
import threading
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary, WeakSet

import pytest

from mazurka import MazurkaError, explore
from tests.python.threads import both


class Pair(NamedTuple):
    left: list[int]
    right: list[int]


class Labelled(tuple[list[int], ...]):
    label = ""


def counted() -> None:
    pass


def with_default(*, seen: list[int] = []) -> list[int]:  # noqa: B006
    return seen


class Key:
    pass


KEY = Key()
PAIR = Pair([], [])
VARIABLE: ContextVar[list[int]] = ContextVar("VARIABLE", default=[])  # noqa: B039
OPTIONS = argparse.Namespace(total=0)
BY_KEY: WeakKeyDictionary[Key, int] = WeakKeyDictionary()
KEYS: WeakSet[Key] = WeakSet()
NUMBERS = iter(list(range(100)))
DICE = random.Random(5)
LOGGER = logging.getLogger("test_leaks")
LINE: queue.Queue[int] = queue.Queue()
ERROR = ValueError()
TEXT = io.StringIO()
VIEW = memoryview(bytearray(1))
PART = partial(int, base=10)
PROXY = MappingProxyType({"items": list[int]()})
CONTEXT = decimal.Context()
LABELLED = Labelled([[]])
SPACE = SimpleNamespace(items=[], total=0)


class Tool:
    def use(self) -> None:
        pass


def add_to_function() -> int:
    function: Any = counted
    function.total = getattr(function, "total", 0) + 1
    return int(function.total)


def add_to_method() -> int:
    function: Any = Tool.use
    function.total = getattr(function, "total", 0) + 1
    return int(function.total)


def add_to_default() -> int:
    with_default().append(1)
    return len(with_default())


def add_to_pair() -> int:
    PAIR.right.append(1)
    return len(PAIR.right)


def add_to_labelled() -> int:
    LABELLED[0].append(1)
    LABELLED.label += "x"
    return max(len(LABELLED[0]), len(LABELLED.label))


def add_to_space() -> int:
    SPACE.items.append(1)
    SPACE.total += 1
    return max(len(SPACE.items), int(SPACE.total))


def add_to_variable() -> int:
    VARIABLE.get().append(1)
    return len(VARIABLE.get())


def add_to_options() -> int:
    OPTIONS.total += 1
    return int(OPTIONS.total)


def add_by_key() -> int:
    BY_KEY[KEY] = BY_KEY.get(KEY, 0) + 1
    return BY_KEY[KEY]


def take_a_number() -> int:
    return next(NUMBERS) + 1


def add_to_logger() -> int:
    LOGGER.addHandler(logging.NullHandler())
    return len(LOGGER.handlers)


def add_to_queue() -> int:
    LINE.put(1)
    return LINE.qsize()


def add_to_error() -> int:
    error: Any = ERROR
    error.total = getattr(error, "total", 0) + 1
    return int(error.total)


def add_to_text() -> int:
    TEXT.write("x")
    return len(TEXT.getvalue())


def add_to_view() -> int:
    VIEW[0] += 1
    return VIEW[0]


def add_to_partial() -> int:
    call: Any = PART
    call.total = getattr(call, "total", 0) + 1
    return int(call.total)


def add_behind_a_proxy() -> int:
    PROXY["items"].append(1)
    return len(PROXY["items"])


def add_to_annotations() -> int:
    annotations = counted.__annotations__
    annotations[f"a{len(annotations)}"] = int
    return len(annotations) - 1  # it has one from the start


def add_to_precision() -> int:
    CONTEXT.prec += 1
    return CONTEXT.prec - 28


def add_to_path() -> int:
    sys.path.append("(test)")
    return sys.path.count("(test)")


def add_to_filters() -> int:
    warnings.filterwarnings("ignore", f"text {len(warnings.filters)}")
    return sum("text" in str(entry[1]) for entry in warnings.filters)


ADDERS = [
    add_to_function, add_to_method, add_to_default, add_to_pair, add_to_labelled, add_to_space,
    add_to_variable, add_to_options, add_by_key, take_a_number, add_to_logger, add_to_queue,
    add_to_error, add_to_text, add_to_view, add_to_partial, add_behind_a_proxy, add_to_annotations,
    add_to_precision, add_to_path, add_to_filters,
]  # fmt: skip


@pytest.mark.parametrize("add", ADDERS)
def test_every_execution_begins_with_the_same_state(add: Callable[[], int]) -> None:
    def program() -> int:
        first = add()
        thread = threading.Thread(target=add)
        thread.start()
        thread.join()
        assert first == 1
        return add()

    result = explore(program)
    assert not result.failures, result.failures[0].message
    assert set(result.outcomes) == {3}


@pytest.mark.parametrize("function", [counted, Tool.use])
def test_attributes_of_functions_are_shared(function: Any) -> None:
    def program() -> int:
        function.count = 0

        def add() -> None:
            function.count += 1

        threads = [threading.Thread(target=add) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return int(function.count)

    assert set(explore(program).outcomes) == {1, 2}
    assert not hasattr(function, "count")


def is_new_in_keys() -> bool:
    found = KEY not in KEYS
    KEYS.add(KEY)
    return found


def is_new_logger() -> bool:
    found = "test_leaks.new" not in logging.root.manager.loggerDict
    logging.getLogger("test_leaks.new")
    return found


def is_new_module() -> bool:
    found = "test_leaks.new" not in sys.modules
    sys.modules["test_leaks.new"] = sys
    return found


def is_new_reducer() -> bool:
    found = Key not in copyreg.dispatch_table
    copyreg.pickle(Key, lambda key: (Key, ()))
    return found


def is_new_limit() -> bool:
    found = sys.getrecursionlimit() != 12345
    sys.setrecursionlimit(12345)
    return found


def is_new_in_sys() -> bool:
    found = not hasattr(sys, "test_leaks")
    sys.test_leaks = True  # type: ignore[attr-defined]
    return found


FIRST_USES = [
    is_new_in_keys, is_new_logger, is_new_module, is_new_reducer, is_new_limit, is_new_in_sys,
]  # fmt: skip


@pytest.mark.parametrize("is_first", FIRST_USES)
def test_every_execution_has_its_first_use(is_first: Callable[[], bool]) -> None:
    def program() -> bool:
        box = SimpleNamespace(n=0)

        def add() -> None:
            box.n += 1

        both(add, add)
        return is_first()

    result = explore(program)
    assert result.executions > 1
    assert set(result.outcomes) == {True}


def test_random_numbers_begin_anew() -> None:
    drawn = DICE.getstate()

    def program() -> float:
        both(DICE.random, DICE.random)
        return DICE.random()

    assert len(explore(program).outcomes) == 1
    assert DICE.getstate() == drawn


PAIRS = zip(range(100), range(100), strict=True)
SQUARES = (number * number for number in range(100))


@pytest.mark.parametrize("iterator", [PAIRS, SQUARES, itertools.cycle("ab"), iter({1: 2, 3: 4})])
def test_what_cannot_be_put_back_is_named(iterator: Any) -> None:
    def program() -> None:
        both(lambda: next(iterator), lambda: next(iterator))

    with pytest.raises(MazurkaError, match="cannot be put back, being of type"):
        explore(program)


def test_what_is_met_late_and_only_read_is_no_reason_for_doubt() -> None:
    class Point:
        x = 0

    point = Point()

    def program() -> int:
        seen: list[int] = []
        both(lambda: setattr(point, "x", 1), lambda: seen.append(point.x))
        return seen[0]

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {0, 1})


def test_loggers_that_programs_make() -> None:
    class Pool:
        def __init__(self) -> None:
            self.logger = logging.getLogger(f"{__name__}.Pool")
            self.made = 0

        def make(self) -> None:
            self.made += 1
            self.logger.debug("made")

    def program() -> int:
        pool = Pool()
        both(pool.make, pool.make)
        return pool.made

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {1, 2})

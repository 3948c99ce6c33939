"""Corners of Python, each used by two threads: a verified program has exactly the outcomes that
CPython has, and what is not seen is told."""

import abc
import bisect
import collections
import contextlib
import contextvars
import copy
import csv
import ctypes
import dataclasses
import enum
import functools
import heapq
import io
import itertools
import multiprocessing
import operator
import os
import pickle
import string
import threading
import types
import typing
import weakref
from collections.abc import Callable
from typing import Any, cast

import pytest

from mazurka import explore
from tests.python.threads import both

ALGORITHMS = ("pop", "optimal", "source", "trust", "qpor")
LOST_UPDATE = {1, 2}  # of a counter that both threads increment
TORN = {(0, 0), (0, 1), (1, 0), (1, 1)}  # what one may see of two that are set in turn
PROGRAMS: dict[str, tuple[Callable[[], object], set[object]]] = {}
TOLD: dict[str, Callable[[], object]] = {}


def outcomes(*expected: object) -> Callable[[Callable[[], object]], Callable[[], object]]:
    def keep(program: Callable[[], object]) -> Callable[[], object]:
        PROGRAMS[program.__name__] = program, set(expected)
        return program

    return keep


def told(program: Callable[[], object]) -> Callable[[], object]:
    """What the program does is not all seen."""
    TOLD[program.__name__] = program
    return program


class Pair:
    def __init__(self) -> None:
        self.left = self.right = 0


@dataclasses.dataclass
class Point:
    left: int = 0
    right: int = 0


@dataclasses.dataclass(frozen=True)
class Key:
    name: str


def torn(look: Callable[[Any], object], pair: Any) -> object:
    """What one thread sees while another one sets both fields."""
    seen: list[object] = []

    def change() -> None:
        pair.left = 1
        pair.right = 1

    both(change, lambda: seen.append(look(pair)))
    return seen[0]


def counted(add: Callable[[], object], total: Callable[[], object]) -> object:
    both(add, add)
    return total()


def in_both(function: Callable[[], object]) -> object:
    """What two threads get of a function."""
    found: list[object] = [None, None]

    def first() -> None:
        found[0] = function()

    def second() -> None:
        found[1] = function()

    both(first, second)
    return tuple(found)


# Descriptors and attributes


class Kept:
    """A descriptor that keeps what it has computed in the instance, under its own name."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self.function = function
        self.name = function.__name__

    def __get__(self, instance: Any, owner: object = None) -> object:
        value = self.function(instance)
        instance.__dict__[self.name] = value
        return value


@outcomes(1, 2)
def a_descriptor_that_keeps_values() -> object:
    calls: list[int] = []

    class Lazy:
        @Kept
        def value(self) -> int:
            calls.append(1)
            return 1

    lazy = Lazy()
    both(lambda: lazy.value, lambda: lazy.value)
    return len(calls)


@outcomes(*LOST_UPDATE)
def attributes_through_the_base_class() -> object:
    pair = Pair()

    def add() -> None:
        object.__setattr__(pair, "left", object.__getattribute__(pair, "left") + 1)

    return counted(add, lambda: pair.left)


@outcomes(*LOST_UPDATE)
def attributes_of_a_class_through_type() -> object:
    class Owner:
        total = 0

    def add() -> None:
        type.__setattr__(Owner, "total", Owner.total + 1)

    return counted(add, lambda: Owner.total)


@outcomes(*LOST_UPDATE)
def attributes_by_their_names() -> object:
    pair = Pair()

    def add() -> None:
        setattr(pair, "left", operator.attrgetter("left")(pair) + 1)  # noqa: B010

    return counted(add, lambda: pair.left)


@outcomes(*LOST_UPDATE)
def attributes_in_vars() -> object:
    pair = Pair()

    def add() -> None:
        vars(pair)["left"] = pair.__dict__["left"] + 1

    return counted(add, lambda: pair.left)


@outcomes(*LOST_UPDATE)
def a_proxy() -> object:
    pair = Pair()
    proxy = weakref.proxy(pair)

    def add() -> None:
        proxy.left = proxy.left + 1

    return counted(add, lambda: pair.left)


@outcomes(*LOST_UPDATE)
def members_of_an_enumeration() -> object:
    class Colour(enum.Enum):
        RED = 1

    red: Any = Colour.RED
    red.total = 0

    def add() -> None:
        red.total += 1

    return counted(add, lambda: red.total)


@outcomes(*LOST_UPDATE)
def a_callable_attribute() -> object:
    pair: Any = Pair()

    def add() -> None:
        pair.left += 1

    pair.add = add
    return counted(lambda: pair.add(), lambda: pair.left)


@told
def a_common_dict() -> object:
    common = {"left": 0}

    def add() -> None:
        pair = Pair()
        pair.__dict__ = common
        pair.left += 1

    return counted(add, lambda: common["left"])


@told
def another_class() -> object:
    class Other(Pair):
        pass

    pair = Pair()

    def change() -> None:
        pair.__class__ = Other

    both(change, lambda: type(pair))
    return None


@told
def arguments_of_an_exception() -> object:
    error = ValueError(0)

    def add() -> None:
        error.args = (error.args[0] + 1,)

    return counted(add, lambda: error.args[0])


@outcomes("0", "1")
def the_name_of_a_thread() -> object:
    thread = threading.Thread(target=print, name="0")
    seen: list[str] = []

    def rename() -> None:
        thread.name = "1"

    both(rename, lambda: seen.append(thread.name))
    return seen[0]


# Functions that call back


@outcomes(*LOST_UPDATE)
def a_context() -> object:
    pair = Pair()
    contexts = [contextvars.copy_context(), contextvars.copy_context()]

    def add() -> None:
        pair.left += 1

    both(lambda: contexts[0].run(add), lambda: contexts[1].run(add))
    return pair.left


@outcomes("in turn", "RuntimeError")
def one_context_for_two() -> object:
    context = contextvars.copy_context()
    pair = Pair()
    errors: list[str] = []

    def enter() -> None:
        try:
            context.run(setattr, pair, "left", 1)
        except RuntimeError:
            errors.append("RuntimeError")

    both(enter, enter)
    return errors[0] if errors else "in turn"


@outcomes(*LOST_UPDATE)
def a_stack_of_exits() -> object:
    table = {"total": 0}

    def add() -> None:
        with contextlib.ExitStack() as stack:
            stack.callback(table.__setitem__, "total", table["total"] + 1)

    return counted(add, lambda: table["total"])


@outcomes(*LOST_UPDATE)
def a_called_method() -> object:
    table = {"total": 0}

    def add() -> None:
        total = operator.itemgetter("total")(table)
        operator.methodcaller("__setitem__", "total", total + 1)(table)

    return counted(add, lambda: table["total"])


@outcomes(*LOST_UPDATE)
def methods_of_the_class() -> object:
    table = {"total": 0}

    def add() -> None:
        dict.__setitem__(table, "total", dict.get(table, "total", 0) + 1)

    return counted(add, lambda: table["total"])


@outcomes(*LOST_UPDATE)
def keys_of_sorting() -> object:
    pair = Pair()

    def key(number: int) -> int:
        pair.left += 1
        return number

    both(lambda: [3].sort(key=key), lambda: bisect.insort([], 1, key=key) or sorted([1], key=key))
    return min(pair.left, 2)


class Counting:
    """Counts its comparisons, and how often its hash is asked for."""

    def __init__(self) -> None:
        self.total = 0

    def __eq__(self, other: object) -> bool:
        self.total += 1
        return False

    def __lt__(self, other: object) -> bool:
        self.total += 1
        return False

    def __hash__(self) -> int:
        return 7


@outcomes(*LOST_UPDATE)
def comparisons_in_a_list() -> object:
    item = Counting()
    items: list[object] = [item]
    both(lambda: 1 in items, lambda: items.count(1))
    return item.total


@outcomes(*LOST_UPDATE)
def comparisons_in_a_heap() -> object:
    item = Counting()
    both(lambda: heapq.heappush([Counting()], item), lambda: heapq.heappush([Counting()], item))
    return item.total


@outcomes(*LOST_UPDATE)
def special_methods() -> object:
    class Loud:
        def __init__(self) -> None:
            self.total = 0

        def __str__(self) -> str:
            self.total += 1
            return ""

    loud = Loud()
    both(lambda: str(loud), lambda: f"{loud}")
    return loud.total


@outcomes(*LOST_UPDATE)
def attributes_with_special_names() -> object:
    pair: Any = Pair()
    pair.__count__ = 0

    def add() -> None:
        pair.__count__ += 1

    return counted(add, lambda: pair.__count__)


@outcomes(*LOST_UPDATE)
def attributes_of_a_class_with_special_names() -> object:
    class Counted:
        __count__ = 0

    def add() -> None:
        Counted.__count__ += 1

    return counted(add, lambda: Counted.__count__)


@outcomes((1, (1, 1)), (2, (1, 2)), (2, (2, 2)))
def what_methods_of_a_local_class_have() -> object:
    log: list[int] = []

    class Logging:
        total = 0

        def add(self) -> None:
            self.total += 1
            log.append(self.total)

    logging = Logging()
    both(logging.add, logging.add)
    return logging.total, tuple(sorted(log))


@told
def a_special_method_that_is_replaced() -> object:
    class Sized:
        def __len__(self) -> int:
            return 1

    seen: list[int] = []
    both(lambda: setattr(Sized, "__len__", lambda _: 2), lambda: seen.append(len(Sized())))
    return seen[0]


@told
def a_special_method_that_is_deleted() -> object:
    class Sized:
        def __bool__(self) -> bool:
            return False

    seen: list[bool] = []
    both(lambda: delattr(Sized, "__bool__"), lambda: seen.append(bool(Sized())))
    return seen[0]


@told
def defaults_of_keywords() -> object:
    def total(*, so_far: int = 0) -> int:
        return so_far

    def add() -> None:
        cast(Any, total).__kwdefaults__["so_far"] = total() + 1

    return counted(add, total)


@told
def the_cause_of_an_exception() -> object:
    error = ValueError()
    seen: list[bool] = []
    both(
        lambda: setattr(error, "__cause__", KeyError()),
        lambda: seen.append(error.__cause__ is None),
    )
    return seen[0]


# Classes that look at others


@told
def a_class_that_is_registered() -> object:
    class Base(abc.ABC):
        @abc.abstractmethod
        def work(self) -> None: ...

    seen: list[bool] = []
    both(lambda: Base.register(Pair), lambda: seen.append(isinstance(Pair(), Base)))
    return seen[0]


@typing.runtime_checkable
class HasBoth(typing.Protocol):
    first: int
    second: int


@outcomes(True, False)
def a_protocol_of_attributes() -> object:
    pair: Any = Pair()
    seen: list[bool] = []

    def change() -> None:
        pair.first = 1
        pair.second = 1

    both(change, lambda: seen.append(isinstance(pair, (int, HasBoth))))
    return seen[0]


@typing.runtime_checkable
class Closes(typing.Protocol):
    def close(self) -> None: ...


class Door:
    def close(self) -> None:
        pass


@outcomes((True, True))
def a_protocol_of_methods() -> object:
    door = Door()
    return in_both(lambda: isinstance(door, Closes))


# Patterns


@outcomes("two", "three", "ValueError")
def a_pattern_for_a_list_that_grows() -> object:
    numbers = [1, 2]
    seen: list[str] = []

    def look() -> None:
        try:
            match numbers:
                case [_, b] if b:
                    seen.append("two")
                case [_, _, c]:
                    seen.append("three" if c else "")
        except ValueError:  # it has grown since its length was asked for
            seen.append("ValueError")

    both(lambda: numbers.append(3), look)
    return seen[0]


@outcomes((0, 0), (0, 1), (1, 0), (1, 1))
def a_pattern_that_takes_items_one_by_one() -> object:
    numbers = [0, 5, 0]
    seen: list[tuple[int, int]] = []

    def change() -> None:
        numbers[0] = 1
        numbers[-1] = 1

    def look() -> None:
        match numbers:
            case [a, *_, b]:
                seen.append((a, b))

    both(change, look)
    return seen[0]


@outcomes((0, 0), (0, 1), (1, 0), (1, 1))
def the_rest_of_a_mapping() -> object:
    table = {"a": 0}
    seen: list[tuple[int, int]] = []

    def change() -> None:
        table["a"] = 1
        table["c"] = 1

    def look() -> None:
        match table:
            case {"a": a, **rest}:
                seen.append((a, len(rest)))

    both(change, look)
    return seen[0]


# Counts


@outcomes((0, 1), (1, 0))
def a_method_of_a_count() -> object:
    return in_both(itertools.count().__next__)


@outcomes((0, 0), (0, 1), (1, 0))
def a_count_as_a_factory_of_items() -> object:
    table: Any = collections.defaultdict(itertools.count().__next__)
    return in_both(lambda: table["key"])


@outcomes((0, 0), (0, 1), (1, 0))
def a_count_that_a_factory_of_items_takes_from() -> object:
    numbers = itertools.count()
    table: Any = collections.defaultdict(lambda: next(numbers))
    return in_both(lambda: table["key"])


NUMBERS = itertools.count()


@dataclasses.dataclass
class Numbered:
    number: int = dataclasses.field(default_factory=NUMBERS.__next__)


@outcomes((0, 1), (1, 0))
def a_count_as_a_factory_of_a_field() -> object:
    return in_both(lambda: Numbered().number)


@outcomes((1, 2), (2, 1))
def a_list_that_the_values_of_a_field_are_taken_from() -> object:
    stock = [1, 2]

    @dataclasses.dataclass
    class Item:
        number: int = dataclasses.field(default_factory=stock.pop)

    return in_both(lambda: Item().number)


# Containers


@outcomes(frozenset(), frozenset({"a"}))
def operators_on_views() -> object:
    table = {"a": 1}
    seen: list[set[str]] = []
    both(table.clear, lambda: seen.append(table.keys() & {"a"}))
    return frozenset(seen[0])


@outcomes(True, False)
def methods_of_views() -> object:
    table = {"a": 1}
    seen: list[bool] = []
    both(table.clear, lambda: seen.append(table.keys().isdisjoint({"a"})))
    return seen[0]


@outcomes(0, 1)
def a_mapping_proxy() -> object:
    table = {"a": 0}
    shown = types.MappingProxyType(table)
    seen: list[int] = []
    both(lambda: table.__setitem__("a", 1), lambda: seen.append(shown["a"]))
    return seen[0]


@outcomes(0, 1, 2)
def a_list_that_grows_from_a_generator() -> object:
    items: list[int] = []
    seen: list[int] = []
    both(lambda: items.extend(n for n in range(2)), lambda: seen.append(len(items)))
    return seen[0]


@outcomes((0, 1), (1, 0))
def an_iterator() -> object:
    numbers = iter([0, 1, 2])
    got: dict[str, int] = {}
    both(lambda: got.update(a=next(numbers)), lambda: got.update(b=next(numbers)))
    return got["a"], got["b"]


@outcomes(((0, 1), ()), ((0,), (1,)), ((1,), (0,)), ((), (0, 1)))
def an_iterator_in_two_loops() -> object:
    numbers = iter(range(2))
    got: list[list[int]] = [[], []]

    def take(place: int) -> None:
        for number in numbers:
            got[place].append(number)

    both(lambda: take(0), lambda: take(1))
    return tuple(got[0]), tuple(got[1])


@outcomes(((0, 1), ()), ((0,), (1,)), ((1,), (0,)), ((), (0, 1)))  # without the global lock
def a_slice_of_an_iterator() -> object:
    numbers = iter(range(2))
    got: dict[str, tuple[int, ...]] = {}
    both(
        lambda: got.update(a=tuple(itertools.islice(numbers, 2))),
        lambda: got.update(b=tuple(itertools.islice(numbers, 2))),
    )
    return got["a"], got["b"]


@outcomes(*LOST_UPDATE)
def keys_with_methods_of_their_own() -> object:
    table = {Key("a"): 0}

    def add() -> None:
        table[Key("a")] = table[Key("a")] + 1

    return counted(add, lambda: table[Key("a")])


class Upper(dict[str, int]):
    def update(self, *arguments: Any, **named: int) -> None:
        for key, value in dict(*arguments, **named).items():
            self[key.upper()] = value

    def copy(self) -> "Upper":
        return Upper(self)


@outcomes((("A", 1),), (("A", 2),))
def a_dict_with_methods_of_its_own() -> object:
    table = Upper()
    both(lambda: table.update(a=1), lambda: table.update(a=2))
    return tuple(table.copy().items())


@outcomes(1, 2)
def a_counter() -> object:
    counter = collections.Counter(a=0)

    def add() -> None:
        counter.update({"a": 1})

    return counted(add, lambda: counter["a"])


@outcomes(-2, -1)
def a_counter_that_subtracts() -> object:
    counter = collections.Counter(a=0)
    return counted(lambda: counter.subtract("a"), lambda: counter["a"])


LEVEL = 0


@outcomes(0, 1)
def a_name_that_a_thread_imports() -> object:
    found: list[int] = []

    def look() -> None:
        from tests.python.test_corners import LEVEL

        found.append(LEVEL)

    def change() -> None:
        global LEVEL
        LEVEL = 1

    both(look, change)
    return found[0]


# Text and files


@outcomes(*((a, b) for a, b in TORN))
def fields_of_a_format() -> object:
    return torn(lambda pair: tuple(map(int, "{0.left}{0.right}".format(pair))), Pair())  # noqa: UP032


@outcomes("ab", "ba")
def a_file_in_memory() -> object:
    text = io.StringIO()
    both(lambda: print("a", end="", file=text), lambda: text.write("b"))
    return text.getvalue()


@outcomes("a;b", "ba;")
def rows_of_a_table() -> object:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator=";")
    both(lambda: writer.writerow("a"), lambda: text.write("b"))
    return text.getvalue()


@outcomes("x", "")
def a_template() -> object:
    table = {"a": ""}
    seen: list[str] = []
    both(
        lambda: table.update(a="x"),
        lambda: seen.append(string.Template("$a").substitute(table)),
    )
    return seen[0]


# Copies


@outcomes(*TORN)
def a_dataclass_as_a_dict() -> object:
    return torn(lambda point: tuple(dataclasses.asdict(point).values()), Point())


@outcomes(*TORN)
def a_dataclass_replaced() -> object:
    return torn(lambda point: dataclasses.astuple(dataclasses.replace(point)), Point())


@told
def a_copy() -> object:
    return torn(lambda pair: copy.copy(pair).left, Pair())


@told
def a_pickle() -> object:
    return torn(lambda pair: pickle.loads(pickle.dumps(pair)).left, Pair())


# The world


@outcomes(*LOST_UPDATE)
def the_environment() -> object:
    os.environ["MAZURKA_TEST"] = "0"

    def add() -> None:
        os.environ["MAZURKA_TEST"] = str(int(os.getenv("MAZURKA_TEST", "")) + 1)

    return counted(add, lambda: int(os.environ["MAZURKA_TEST"]))


@told
def memory_of_c() -> object:
    number = ctypes.c_int(0)

    def add() -> None:
        number.value += 1

    return counted(add, lambda: number.value)


@told
def a_value_that_processes_could_share() -> object:
    number = multiprocessing.Value("i", 0)

    def add() -> None:
        number.value += 1

    return counted(add, lambda: number.value)


@told
def code_as_text() -> object:
    pair = Pair()
    return counted(lambda: exec("pair.left += 1", {"pair": pair}), lambda: pair.left)


@outcomes(*LOST_UPDATE)
def a_partial() -> object:
    pair = Pair()

    def add(amount: int) -> None:
        pair.left += amount

    return counted(functools.partial(add, 1), lambda: pair.left)


@pytest.mark.parametrize("name", PROGRAMS)
def test_outcomes_are_those_of_python(name: str) -> None:
    program, expected = PROGRAMS[name]
    result = explore(program)
    assert not result.failures, result.failures[0].message
    assert not result.warnings
    assert set(result.outcomes) == expected
    assert result.verdict == "verified"


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_all_searches_agree(algorithm: str) -> None:
    for name, (program, expected) in PROGRAMS.items():
        result = explore(program, algorithm=algorithm)
        assert set(result.outcomes) == expected, name


@pytest.mark.parametrize("name", TOLD)
def test_what_is_not_seen_is_told(name: str) -> None:
    result = explore(TOLD[name])
    assert not result.failures, result.failures[0].message
    assert (result.verdict, result.reason) == ("incomplete", "not everything was seen")

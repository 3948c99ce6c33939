"""Two threads do something with one object: what CPython's own threads can come to, switched at
every instruction, is all found, and nothing else."""

import bisect
import collections
import contextlib
import copy
import functools
import heapq
import inspect
import operator
import sys
import threading
import types
import unittest
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from types import MemberDescriptorType
from typing import Any
from unittest import mock

import pytest

from mazurka import explore
from tests.oracles.preemptive import run_together, schedules

MOST_SCHEDULES = 100  # with two preemptions


@dataclass
class Case:
    """What two threads do with what `make` gives, and what can be seen then."""

    make: Callable[[], Any]
    first: Callable[[Any], object]
    second: Callable[[Any], object]
    shown: Callable[[Any], object] = repr
    is_exact: bool = True  # what more than two preemptions can do is not tried


CASES: dict[str, Case] = {}
TOLD: dict[str, Case] = {}


def attempt(action: Callable[[Any], object], thing: Any, got: list[object], place: int) -> None:
    try:
        got[place] = repr(action(thing))
    except Exception as error:
        got[place] = type(error).__name__


def program(case: Case) -> str:
    thing = case.make()
    got: list[object] = [None, None]
    actions = enumerate((case.first, case.second))
    threads = [
        threading.Thread(target=attempt, args=(action, thing, got, n)) for n, action in actions
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return f"{got} {case.shown(thing)}"


def outcomes_of_python(case: Case) -> set[str]:
    found: set[str] = set()

    def run(swapped: bool, switches: Sequence[int]) -> int:
        thing = case.make()
        got: list[object] = [None, None]
        actions = enumerate((case.first, case.second))
        targets = [partial(attempt, action, thing, got, place) for place, action in actions]
        steps = run_together(targets[::-1] if swapped else targets, switches)
        found.add(f"{got} {case.shown(thing)}")
        return steps

    for _ in schedules(run, MOST_SCHEDULES):
        pass
    return found


class Box:
    kept = 1

    def __init__(self) -> None:
        self.value = self.other = 0


def add(box: Any) -> None:
    box.value += 1


def value_of(box: Any) -> object:
    return box.value


# Lists that are kept in order


class Rank:
    def __init__(self, number: int) -> None:
        self.number = number

    def __lt__(self, other: "Rank") -> bool:
        return self.number < other.number

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rank) and self.number == other.number

    def __hash__(self) -> int:
        return self.number

    def __repr__(self) -> str:
        return str(self.number)


def ranks() -> list[Rank]:
    return [Rank(1), Rank(3), Rank(5)]


ORDERING: dict[str, Callable[[Any], object]] = {
    "heappush": lambda heap: heapq.heappush(heap, Rank(0)),
    "heappop": heapq.heappop,
    "heapreplace": lambda heap: heapq.heapreplace(heap, Rank(4)),
    "heappushpop": lambda heap: heapq.heappushpop(heap, Rank(4)),
    "heapify": heapq.heapify,
    "insort": lambda items: bisect.insort(items, Rank(2)),
    "insort_left": lambda items: bisect.insort_left(items, Rank(3)),
    "insort with a key": lambda items: bisect.insort(
        items, Rank(2), key=lambda rank: rank.number
    ),
    "bisect": lambda items: bisect.bisect(items, Rank(4)),
    "bisect_left": lambda items: bisect.bisect_left(items, Rank(3)),
    "index from": lambda items: items.index(Rank(5), -2, 9),
}  # fmt: skip
for name, order in ORDERING.items():
    CASES[f"{name} while the first one goes"] = Case(ranks, order, lambda items: items.pop(0))
    CASES[f"{name} while one comes"] = Case(ranks, order, lambda items: items.append(Rank(9)))
CASES["two on a heap"] = Case(
    ranks, heapq.heappop, lambda heap: heapq.heappush(heap, Rank(0)), is_exact=False
)
CASES["pairs on a heap"] = Case(
    lambda: [(1, Rank(1)), (1, Rank(3))],
    lambda heap: heapq.heappush(heap, (1, Rank(0))),
    heapq.heappop,
)
CASES["numbers on a heap"] = Case(
    lambda: [1, 3], lambda heap: heapq.heappush(heap, 0), heapq.heappop
)

# Counters

CASES["a counter and letters"] = Case(
    lambda: Counter("a"), lambda counter: counter.update("aab"), lambda counter: counter.update("b")
)
CASES["a counter and a generator"] = Case(
    lambda: Counter("a"),
    lambda counter: counter.update(letter for letter in "aab"),
    lambda counter: counter.update("b"),
)
CASES["a counter and keys with code of their own"] = Case(
    lambda: Counter([Rank(1)]),
    lambda counter: counter.update([Rank(1), Rank(2)]),
    lambda counter: counter.update([Rank(1)]),
    lambda counter: sorted(map(repr, counter.items())),
)
CASES["a sum of counters"] = Case(
    lambda: Counter("a"), lambda one: dict(one + Counter("a")), lambda one: one.update("ab")
)

# Copies, which Python code makes item by item


class Stack(list[Any]):
    pass


class Table(dict[str, Any]):
    pass


for make_copy in (copy.copy, copy.deepcopy):
    CASES[f"{make_copy.__name__} of a list"] = Case(
        lambda: Stack([1, 2]), make_copy, lambda items: items.pop(0)
    )
    CASES[f"{make_copy.__name__} of a dict"] = Case(
        lambda: Table(a=1, b=2), make_copy, lambda table: table.pop("a")
    )
CASES["deepcopy of a deque"] = Case(
    lambda: deque([1, 2]), copy.deepcopy, lambda line: line.append(0)
)
CASES["deepcopy of a dict with defaults"] = Case(
    lambda: defaultdict(lambda: 0, a=1),
    lambda table: list(copy.deepcopy(table).items()),
    lambda table: table.update(b=0),
    lambda table: sorted(table),
)

# Attributes, on other ways


class Slots:
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


SLOT: Any = vars(Slots)["value"]
assert type(SLOT) is MemberDescriptorType


def add_through_descriptor(box: Any) -> None:
    SLOT.__set__(box, SLOT.__get__(box) + 1)


def add_through_method(box: Any) -> None:
    operator.methodcaller("__setattr__", "value", box.value + 1)(box)


class Settled:
    """Like the cached properties of Django and Werkzeug: no descriptor once there is a value."""

    def __init__(self, function: Callable[[Any], object]) -> None:
        self.function = function
        self.name = function.__name__

    def __get__(self, thing: Any, kind: object = None) -> object:
        value = self.function(thing)
        setattr(thing, self.name, value)
        return value


class Lazy:
    made = 0

    @Settled
    def value(self) -> int:
        self.made += 1
        return self.made


def add_to_class(box: Any) -> None:
    type.__setattr__(box.kind, "kept", box.kind.kept + 1)


def box_with_class() -> Box:
    box = Box()
    vars(box).update(kind=type("Kind", (), {"kept": 1}))
    return box


CASES["the descriptor of a slot"] = Case(Slots, add_through_descriptor, add, value_of)
CASES["a method by its name"] = Case(Box, add_through_method, add, value_of)
CASES["a property that settles"] = Case(Lazy, value_of, value_of, lambda lazy: lazy.made)
CASES["a class that type makes"] = Case(
    box_with_class, add_to_class, add_to_class, lambda box: box.kind.kept
)

# Functions and their attributes


def counting(function: Callable[..., object]) -> Any:
    @functools.wraps(function)
    def wrapper() -> object:
        wrapper.calls += 1  # type: ignore[attr-defined]
        return function()

    wrapper.calls = 0  # type: ignore[attr-defined]
    return wrapper


def make_counting() -> Any:
    return counting(lambda: 1)


CASES["a decorator that counts calls"] = Case(
    make_counting, lambda each: each(), lambda each: each(), lambda each: each.calls
)
CASES["functions that are wrapped in threads"] = Case(
    list,
    lambda made: made.append(counting(add)),
    lambda made: len(made) and made[-1].__name__,
    len,
)


class Callable1:
    """A factory that changes when anybody asks for its hash."""

    def __init__(self) -> None:
        self.value = 0

    def __hash__(self) -> int:
        self.value += 1
        return 1

    def __call__(self) -> int:
        self.value += 1
        return 1


CASES["a factory with a hash of its own"] = Case(
    Callable1, lambda made: collections.defaultdict[str, int](made)["a"], add, value_of
)

# Tests that mock something


def patched(box: Any) -> object:
    with mock.patch.object(box, "value", 5):
        return box.value


def patched_item(table: Any) -> object:
    with mock.patch.dict(table, a=5):
        return table.get("a")


@contextlib.contextmanager
def redirected(box: Any) -> Iterator[None]:
    before, box.value = box.value, box.value + 1
    yield
    box.value = before


def in_context(box: Any) -> object:
    with redirected(box):
        return box.value


CASES["a patched attribute"] = Case(Box, patched, patched, value_of, is_exact=False)
CASES["a patched item"] = Case(lambda: {"a": 1}, patched_item, patched_item, repr, is_exact=False)
CASES["effects of a mock"] = Case(
    lambda: mock.Mock(side_effect=[1, 2]), lambda each: each(), lambda each: each(), bool
)
CASES["a context that is put back"] = Case(Box, in_context, in_context, value_of, is_exact=False)
CASES["an assertion about a list"] = Case(
    lambda: [0],
    lambda items: unittest.TestCase().assertEqual(items, [0]),
    lambda items: items.append(1),
)

# What is not seen, and told


def with_warnings(_: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")


def set_both(box: Any) -> None:
    box.value = 1
    box.other = 1


def other_code(function: Any) -> None:
    function.__code__ = (lambda: 2).__code__


TOLD["attributes that inspect looks up"] = Case(
    Box, lambda box: inspect.getattr_static(box, "value"), set_both, type
)
TOLD["members that inspect lists"] = Case(
    Box,
    lambda box: [each for each in inspect.getmembers(box) if each[0] == "value"],
    set_both,
    type,
)
TOLD["filters of warnings"] = Case(Box, with_warnings, with_warnings, type)
TOLD["functions that get other code"] = Case(
    lambda: lambda: 1, other_code, lambda function: function(), type
)


# Attributes that are kept elsewhere than in the instance


class Counts(threading.local):
    total = 0
    mine = 0

    def hit(self) -> int:
        Counts.total += 1
        self.mine += 1
        return self.mine


def counts() -> Counts:
    Counts.total = Counts.mine = 0
    return Counts()


class SlotForAll(threading.local):
    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0


class LocalNames(threading.local):
    def __getattr__(self, name: str) -> int:
        self.__dict__[name] = len(self.__dict__)
        return 9

    def __setattr__(self, name: str, value: int) -> None:
        super().__setattr__(name, value + 1)


def look_twice(names: Any) -> object:
    names.set = 1
    return names.a, names.a, names.b, names.b, names.set


class Looked:
    """Counts how often it is looked at."""

    def __init__(self) -> None:
        self.value = 0

    def __getattribute__(self, name: str) -> Any:
        value = object.__getattribute__(self, "value")
        if name != "value":
            object.__setattr__(self, "value", value + 1)
        return value


def new_class() -> Any:
    return types.new_class("New", (), {}, lambda names: names.update(value=0))


def add_through_dict(kind: Any) -> None:
    kind.value = vars(kind)["value"] + 1


def give_to_class(thing: Any) -> None:
    type(thing).given = 1


CASES["attributes of a local that its class has"] = Case(
    counts, Counts.hit, Counts.hit, lambda _: 0
)
CASES["a slot of a local"] = Case(SlotForAll, add, add, value_of)
CASES["special methods of a local"] = Case(LocalNames, look_twice, look_twice, lambda _: 0)
CASES["a __getattribute__ that stores"] = Case(
    Looked,
    lambda looked: looked.a,
    lambda looked: looked.b,
    value_of,
    is_exact=sys.version_info < (3, 13),  # there, the threads of this test never meet in it
)
CASES["a class that new_class makes"] = Case(new_class, add, add, value_of)
CASES["the dict of a class"] = Case(new_class, add_through_dict, add_through_dict, value_of)
CASES["an attribute that the class gets"] = Case(
    lambda: type("Given", (), {})(),
    give_to_class,
    lambda thing: getattr(thing, "given", 0),
    lambda _: 0,
)
CASES["truth by another name"] = Case(
    lambda: [[]], lambda lists: list(map(bool, lists)), lambda lists: lists[0].append(1)
)
TOLD["the length of a __dict__"] = Case(
    Box, lambda box: len(vars(box)), lambda box: setattr(box, "new", 1), type
)
TOLD["the names that dir gives"] = Case(Box, dir, lambda box: setattr(box, "new", 1), type)
TOLD["all attributes of a class"] = Case(
    new_class, lambda kind: list(vars(kind).items()), lambda kind: setattr(kind, "value", 1)
)


@pytest.mark.parametrize("name", CASES)
def test_outcomes_are_those_of_threads(name: str) -> None:
    case = CASES[name]
    expected = outcomes_of_python(case)
    result = explore(partial(program, case))
    assert not result.failures, result.failures[0].message
    assert (result.verdict, result.warnings) == ("verified", [])
    found = {str(each) for each in result.outcomes}
    assert not expected - found
    assert not case.is_exact or found == expected


@pytest.mark.parametrize("name", TOLD)
def test_what_is_not_seen_is_told(name: str) -> None:
    result = explore(partial(program, TOLD[name]))
    assert not result.failures, result.failures[0].message
    assert (result.verdict, result.reason) == ("incomplete", "not everything was seen")

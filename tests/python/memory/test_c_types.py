"""What types of C do to objects that threads share: known, or told."""

import copy
import csv
import functools
import io
import itertools
import operator
import threading
import types
import weakref
from array import array
from collections import OrderedDict, UserDict, defaultdict, deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest

from mazurka import explore
from mazurka.python.memory.containers import BY_KEY, CHANGING, READING, SPECIAL, TAKING, UNSEEN
from mazurka.python.memory.shapes import ATOMS, COARSE, INERT
from tests.python.threads import both


class Plain:
    def __init__(self, v: Any = 0) -> None:
        self.v = v
        self.call: Any = self.add

    def add(self) -> int:
        self.v += 1
        return int(self.v)


@dataclass(frozen=True)
class Point:
    x: int


class Rank:
    def __init__(self, v: int) -> None:
        self.v = v

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rank) and self.v == other.v

    def __lt__(self, other: "Rank") -> bool:
        return self.v < other.v

    def __hash__(self) -> int:
        return hash(self.v)


# Views of dicts


@pytest.mark.parametrize(
    "look",
    [
        lambda view: len(view & {"b"}),
        lambda view: len({"b"} & view),
        lambda view: len(view - {"a"}),
        lambda view: int(not view.isdisjoint({"b"})),
        lambda view: int("b" in view),
        lambda view: int(view.__contains__("b")),
        lambda view: int(view >= {"b"}),
        lambda view: view.__len__() - 1,
        lambda view: len(list(reversed(view))) - 1,
        lambda view: len(dict.fromkeys(view)) - 1,
        lambda view: int("b" in str(view)),
    ],
)
def test_views(look: Callable[[Any], int]) -> None:
    def program() -> int:
        table = {"a": 0}
        view = table.keys()
        seen: list[int] = []
        both(lambda: table.update(b=1), lambda: seen.append(look(view)))
        return seen[0]

    assert set(explore(program).outcomes) == {0, 1}


@pytest.mark.parametrize(
    "look",
    [
        lambda proxy: proxy["a"],
        lambda proxy: proxy.get("a"),
        lambda proxy: next(iter(proxy.values())),
        lambda proxy: (proxy | {})["a"],
        lambda proxy: dict(proxy)["a"],
        lambda proxy: int(repr(proxy)[-3]),
        lambda proxy: int(proxy != {"a": 0}),
        lambda proxy: sum(proxy[key] for key in proxy),
    ],
)
def test_mapping_proxies(look: Callable[[Any], int]) -> None:
    def program() -> int:
        table = {"a": 0}
        proxy = types.MappingProxyType(table)
        seen: list[int] = []
        both(lambda: table.update(a=1), lambda: seen.append(look(proxy)))
        return seen[0]

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {0, 1})


# Keys whose classes say in Python what is equal


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "trust"])
@pytest.mark.parametrize("make", [Point, Rank])
def test_keys_with_code_of_their_own(make: Callable[[int], Any], algorithm: str) -> None:
    def program() -> tuple[Any, ...]:
        table = {make(0): 0}
        seen: list[Any] = []

        def look() -> None:
            seen.append(table.get(make(1)))
            seen.append(make(1) in table)
            seen.append(table.setdefault(make(1), 2))

        def put() -> None:
            table[make(1)] = 1

        both(put, look)
        return (*seen, table[make(1)], len(table))

    result = explore(program, algorithm=algorithm)
    assert result.verdict == "verified", result.failures
    expected = {
        (1, True, 1, 1, 2),
        (None, True, 1, 1, 2),
        (None, False, 1, 1, 2),
        (None, False, 2, 1, 2),
    }
    assert set(result.outcomes) == expected


def test_sets_of_keys_with_code_of_their_own() -> None:
    def program() -> tuple[bool, int]:
        points = {Point(0)}
        seen: list[bool] = []
        both(lambda: points.add(Point(1)), lambda: seen.append(Point(1) in points))
        return seen[0], len(points)

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {(True, 2), (False, 2)})


def test_keys_that_change_are_told() -> None:
    def program() -> None:
        key = Rank(0)
        table = {key: 0}

        def change() -> None:
            key.v = 1

        both(change, lambda: table.get(Rank(0)))

    result = explore(program)
    assert result.verdict == "incomplete"
    assert any("comparison of keys" in each for each in result.warnings)


# Iterators that threads share


@pytest.mark.parametrize("items", [[1, 2], deque([1, 2]), {1: 1, 2: 2}, {1: 1, 2: 2}.keys()])
@pytest.mark.parametrize(
    "take",
    [
        list,
        lambda items: [each + 0 for each in items],
        lambda items: [each for each, _ in zip(items, "abc", strict=False)],
        lambda items: [each for _, each in enumerate(items)],
        lambda items: list(itertools.islice(items, 2)),
        lambda items: [*items],
        lambda items: sorted(items),
    ],
)
def test_iterators_that_threads_share(items: Any, take: Callable[[Any], list[int]]) -> None:
    def program() -> tuple[Any, ...]:
        iterator = iter(items)
        seen: list[Any] = []
        both(lambda: seen.append(next(iterator, 0)), lambda: seen.append(take(iterator)))
        return (len(seen), *sorted([str(each) for each in seen]))

    outcomes = set(explore(program).outcomes)
    assert outcomes >= {(2, "1", "[2]"), (2, "0", "[1, 2]")}


# Views of memory


def add_in(data: bytearray) -> None:
    with memoryview(data) as view:
        view[0] += 1


@pytest.mark.parametrize(
    ("look", "found"),
    [
        (lambda data: memoryview(data)[0], {0, 1}),
        (lambda data: operator.eq(memoryview(data), b"\0\0"), {True, False}),
        (lambda data: operator.eq(memoryview(data), b"\0\0"), {True, False}),
        (lambda data: bytes(memoryview(data)), {b"\0\0", b"\1\0"}),
        (lambda data: memoryview(data)[:1].tobytes(), {b"\0", b"\1"}),
        (lambda data: next(iter(memoryview(data))), {0, 1}),
        (lambda data: 1 in memoryview(data), {False, True}),
        (lambda data: next(each for each in memoryview(data)), {0, 1}),
    ],
)
def test_a_view_of_memory_is_what_it_shows(look: Callable[[Any], Any], found: set[Any]) -> None:
    def program() -> Any:
        data = bytearray(2)
        seen: list[Any] = []
        both(lambda: seen.append(look(data)), lambda: data.__setitem__(0, 1))
        return seen[0]

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == found


@pytest.mark.parametrize(
    "look",
    [
        lambda data: b"-".join([data, data]),
        lambda data: bytearray(b"-").join([b"", data]),
    ],
)
def test_bytes_that_are_joined_are_read(look: Callable[[Any], Any]) -> None:
    def program() -> str:
        data = bytearray(b"1")
        seen: list[Any] = []
        both(lambda: seen.append(look(data)), lambda: data.__setitem__(0, 50))
        return repr(seen[0])

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {repr(look(bytearray(b"1"))), repr(look(bytearray(b"2")))}


def test_views_of_memory_of_two_threads() -> None:
    def program() -> int:
        data = bytearray(1)
        both(lambda: add_in(data), lambda: add_in(data))
        return data[0]

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {1, 2}


# Methods that call code of the program's in their midst


def numbers() -> Iterator[int]:
    yield 1
    yield 2


@pytest.mark.parametrize("make", [list, set, deque, lambda: array("i")])
def test_items_that_a_generator_gives_come_one_by_one(make: Callable[[], Any]) -> None:
    def program() -> int:
        items = make()
        seen: list[int] = []
        fill = items.update if isinstance(items, set) else items.extend
        both(lambda: fill(numbers()), lambda: seen.append(len(items)))
        return seen[0]

    assert set(explore(program).outcomes) == {0, 1, 2}


def test_an_item_is_looked_for_one_by_one() -> None:
    """While a comparison runs, what is sought can go to where the search was already."""

    def program() -> bool:
        items: list[Any] = [Rank(0), Rank(1)]
        sought = items[1]
        seen: list[bool] = []
        both(items.reverse, lambda: seen.append(Rank(1) in items))
        return seen[0] and sought is not None

    assert set(explore(program).outcomes) == {True, False}


@pytest.mark.parametrize(
    "work",
    [
        lambda items: operator.countOf(items, Rank(1)),
        lambda items: operator.indexOf(items, Rank(2)),
    ],
)
def test_comparisons_in_functions_of_c_are_told(work: Callable[[Any], object]) -> None:
    def program() -> None:
        items: list[Any] = [Rank(1), Rank(3)]
        both(lambda: items.append(Rank(2)), lambda: work(items))

    assert explore(program, stop_on_failure=False).verdict != "verified"


# Attributes that C code reads


def test_fields_of_formatted_text() -> None:
    def program() -> str:
        box = Plain()
        seen: list[str] = []

        def change() -> None:
            box.v = 1

        both(change, lambda: seen.append("{0.v} {b.v}".format(box, b=box)))  # noqa: UP032
        return seen[0]

    assert set(explore(program).outcomes) == {"0 0", "0 1", "1 1"}


def test_weak_proxies() -> None:
    def program() -> Any:
        box = Plain()
        proxy = weakref.proxy(box)

        def add() -> None:
            proxy.v += 1

        both(add, add)
        return box.v

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {1, 2})


def test_names_of_threads() -> None:
    def program() -> str:
        thread = threading.Thread(name="a")
        seen: list[str] = []

        def change() -> None:
            thread.name = "b"

        both(change, lambda: seen.append(thread.name))
        return seen[0]

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {"a", "b"})


def test_methods_that_are_kept_in_attributes() -> None:
    def program() -> Any:
        box = Plain()
        both(lambda: box.call(), lambda: box.call())
        return box.v

    assert set(explore(program).outcomes) == {1, 2}


# Copies


def test_copies_that_a_class_makes_itself() -> None:
    def program() -> Any:
        table = UserDict(a=0)
        seen: list[Any] = []
        both(lambda: table.update(a=1), lambda: seen.append(copy.copy(table)["a"]))
        return seen[0]

    assert set(explore(program).outcomes) == {0, 1}


def test_copies_of_iterators_are_told() -> None:
    def program() -> None:
        numbers = iter([1, 2])
        both(lambda: next(numbers), lambda: copy.copy(numbers))

    assert explore(program).verdict == "incomplete"


def test_a_deep_copy_is_made_item_by_item() -> None:
    def program() -> tuple[int, ...]:
        items = [0, 0]
        seen: list[list[int]] = []

        def change() -> None:
            items[0] = 1
            items[1] = 1

        both(change, lambda: seen.append(copy.deepcopy(items)))
        return tuple(seen[0])

    assert set(explore(program).outcomes) == {(0, 0), (0, 1), (1, 0), (1, 1)}


# Files in memory


def print_to(file: Any) -> None:
    print("a", file=file)


def write_row(file: Any) -> None:
    csv.writer(file).writerow("a")


@pytest.mark.parametrize("write", [print_to, write_row])
def test_files_in_memory(write: Callable[[Any], None]) -> None:
    def program() -> str:
        file = io.StringIO()
        seen: list[str] = []
        both(lambda: write(file), lambda: seen.append(file.getvalue().strip()))
        return seen[0]

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {"", "a"})


# The table


@pytest.mark.parametrize(
    "kind", [list, dict, set, bytearray, array, deque, OrderedDict, defaultdict]
)
def test_every_method_of_a_container_is_listed(kind: type) -> None:
    """One that is not, in a new Python, counts as a change of the whole; say here what it is."""
    listed = READING | UNSEEN | {*BY_KEY} | {*SPECIAL} | TAKING | CHANGING
    methods = {name for name in dir(kind) if callable(getattr(kind, name))} - {*dir(object)}
    assert methods <= listed


def test_a_method_that_is_not_listed_changes_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def program() -> int:
        items = [2, 1]
        seen: list[int] = []
        both(items.reverse, lambda: seen.append(items[0]))
        return seen[0]

    assert "reverse" not in READING | UNSEEN | {*SPECIAL}
    monkeypatch.setattr("mazurka.python.memory.containers.CHANGING", set())
    assert set(explore(program).outcomes) == {1, 2}


def test_objects_of_unknown_types_are_told() -> None:
    """Every built-in type that is not known to be harmless: its methods may do anything."""
    unknown = [memoryview(bytearray(1)), zip("a"), map(str, "a"), filter(None, "a"), enumerate("a")]
    for thing in unknown:
        assert type(thing) not in ATOMS | INERT | COARSE

    def program() -> None:
        view = memoryview(bytearray(1))
        both(lambda: view.tobytes(), lambda: view.tolist())

    assert explore(program).verdict == "incomplete"


def test_the_text_of_an_object_of_c_by_its_method() -> None:
    """`object.__str__` asks for its `__repr__`."""

    def program() -> str:
        shared = SimpleNamespace(v=0)
        found: list[str] = []
        both(lambda: found.append(shared.__str__()), lambda: setattr(shared, "v", 9))
        return found[0]

    result = explore(program)
    assert (result.verdict, result.failures) == ("incomplete", [])
    assert "SimpleNamespace.__repr__" in result.warnings[0]


class Pair(NamedTuple):
    one: Any
    other: int


class ShownAsNamespace(SimpleNamespace):
    def __repr__(self) -> str:
        return "shown as " + super().__repr__()

    def __eq__(self, other: object) -> bool:
        return super().__eq__(other)


@pytest.mark.parametrize("kind", [SimpleNamespace, ShownAsNamespace])
@pytest.mark.parametrize(
    "look",
    [
        lambda namespace: namespace.__repr__(),
        lambda namespace: repr(namespace),
        lambda namespace: namespace == SimpleNamespace(v=0),
        lambda namespace: namespace.__eq__(SimpleNamespace(v=0)),
    ],
)
def test_attributes_of_a_namespace_that_is_looked_at_as_a_whole(
    kind: type[SimpleNamespace], look: Callable[[object], object]
) -> None:
    def program() -> object:
        shared = kind(v=0)
        found: list[object] = []

        both(lambda: setattr(shared, "v", 1), lambda: found.append(look(shared)))
        return found[0]

    result = explore(program)
    assert result.verdict == "incomplete" or len(result.outcomes) == 2


class Namespace(SimpleNamespace):
    pass


class Trouble(Exception):
    pass


@pytest.mark.parametrize(
    "look",
    [
        lambda data: repr(SimpleNamespace(v=data)),
        lambda data: f"{Namespace(v=data)}",
        lambda data: SimpleNamespace(v=data).__repr__(),
        lambda data: SimpleNamespace(v=data) == SimpleNamespace(v=[1]),
        lambda data: str(ValueError(data, 1)),
        lambda data: repr(Trouble(data)),
        lambda data: Trouble(data).__str__(),
        lambda data: str(OSError(1, data)),
        lambda data: functools.partial(len, data).__repr__(),
        lambda data: Pair(data, 1) == Pair([1], 1),
        lambda data: Pair(data, 1) < ([1], 0),
        lambda data: Pair(data, 1).count([1]),
        lambda data: [1] in Pair(data, 1),
        lambda data: [1] in (0, data),
        lambda data: (data,).__repr__(),
        lambda data: (data,).__eq__(([1],)),
        lambda data: (data,).__contains__([1]),
    ],
)
def test_what_an_object_of_c_holds_is_read_with_it(look: Callable[[Any], Any]) -> None:
    """The object itself is not shared."""

    def program() -> str:
        data = [0]
        seen: list[Any] = []
        both(lambda: seen.append(look(data)), lambda: data.__setitem__(0, 1))
        return repr(seen[0])

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {repr(look([0])), repr(look([1]))}


class Empty:
    v = 1


@pytest.mark.parametrize("make", [Empty, threading.Thread])
def test_a_copy_of_an_object_to_which_others_add_attributes_is_told(
    make: Callable[[], Any],
) -> None:
    def program() -> None:
        thing = make()
        both(lambda: copy.copy(thing), lambda: setattr(thing, "name", "u"))

    assert explore(program).verdict == "incomplete"


@pytest.mark.parametrize("is_made_before", [False, True])
def test_what_is_written_to_a_file_may_come_to_another_one(is_made_before: bool) -> None:
    def program() -> None:
        below = io.BytesIO()
        file = io.TextIOWrapper(below, write_through=True)
        made = csv.writer(file)
        both(
            lambda: (made if is_made_before else csv.writer(file)).writerow([1, 2]),
            lambda: below.getvalue(),
        )

    assert explore(program).verdict == "incomplete"

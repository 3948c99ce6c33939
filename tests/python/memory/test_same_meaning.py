"""Rewritten code does what the original does. What CPython's own tests found here once."""

import asyncio
import copy
import functools
import importlib
import io
import pickle
import sys
import types
import warnings
from collections import defaultdict, deque, namedtuple
from collections.abc import Callable, Iterator
from pathlib import Path
from random import choice
from typing import Any

import pytest

from mazurka import explore

PROGRAMS: list[Callable[[], object]] = []


def program(function: Callable[[], object]) -> Callable[[], object]:
    PROGRAMS.append(function)
    return function


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_the_same_as_plainly(program: Callable[[], object]) -> None:
    result = explore(lambda: repr(program()))
    assert not result.failures, result.failures[0].message
    assert dict(result.outcomes) == {repr(program()): 1}


def kind_of_error(function: Callable[[], object]) -> str:
    try:
        function()
    except Exception as error:
        return type(error).__name__
    return "none"


@program
def arguments_of_any_name() -> object:
    cached = functools.cache(lambda **named: tuple(named.items()))
    return dict(kind=1, function=2), copy.copy(x=4), cached(function=1, call=2)  # noqa: C408


@program
def containers_that_are_put_into_themselves() -> object:
    letters, more = deque("abc"), deque("abcd", 3)
    letters.extend(letters)
    letters += letters
    more.extend(more)
    itself: Any = deque([1])
    itself.append(itself)
    return letters, more, len(pickle.loads(pickle.dumps(itself)))


@program
def operators_of_views() -> object:
    table = {1: 1}
    found: Any = table.keys()
    return {2} | found, found - {1}, kind_of_error(lambda: [1] + found)  # noqa: RUF005


class Keeper:
    kept: Any = None

    def __add__(self, other: Any) -> "Keeper":
        self.kept = other
        return self

    def __radd__(self, other: Any) -> Any:
        return self + other


@program
def operators_get_the_operand_itself() -> object:
    items: Any = [1]
    return (Keeper() + items).kept is items, (items + Keeper()).kept is items


@program
def nothing_is_taken_from_an_iterator_that_does_not_fit() -> object:
    items: Any = iter([1])
    added = kind_of_error(lambda: [1] + items)  # noqa: RUF005
    return added, next(items), kind_of_error(lambda: reversed(items))


class Both(set[int]):
    def __and__(self, other: object) -> Any:
        return "both"


@program
def operators_that_a_class_overrides() -> object:
    return Both([1]) & {1}


@program
def containers_in_themselves() -> object:
    items: list[Any] = [1]
    items.append(items)
    table: dict[int, Any] = {1: items}
    table[2] = table
    return repr(items), repr(table), items == items, [items] == [items]


@program
def functions_that_look_at_their_caller() -> object:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        warnings.warn("here", stacklevel=1)
    kind = namedtuple("kind", "x")
    name = sys._getframe().f_code.co_name
    return Path(told[0].filename).name, kind.__module__, name


class Wrapped:
    def __init__(self) -> None:
        self.data: list[Any] = [1]

    def __repr__(self) -> str:
        return repr(self.data)


@program
def objects_that_show_what_they_are_in() -> object:
    wrapped = Wrapped()
    wrapped.data.append(wrapped)
    return repr(wrapped), repr(wrapped.data)


class OddMeta(type):
    @property
    def __module__(self) -> Any:  # type: ignore[override]
        return None


@program
def classes_that_name_no_module() -> object:
    kind: Any = OddMeta("kind", (), {})
    return kind().__class__ is kind, isinstance(kind(), kind)


class Named:
    name = "first"


@program
def attributes_of_classes_through_their_type() -> object:
    type.__setattr__(Named, "name", "second")
    found = type.__getattribute__(Named, "name"), Named().name
    type.__setattr__(Named, "name", "first")
    return found


class Table(dict[str, Any]):
    def __init__(self, label: str) -> None:
        self.label = label


@program
def copies_of_the_users_containers() -> object:
    table = Table("mine")
    table["self"] = table
    found = copy.deepcopy(table)
    return found.label, found["self"] is found, type(found) is Table


SEEN: dict[object, int] = {}


class Key:
    def __init__(self, number: int) -> None:
        self.number = number

    def __hash__(self) -> int:
        return self.number % 2

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.number == other.number


@program
def keys_that_are_made_anew() -> object:
    class Local:
        pass

    SEEN[Local] = 1
    for number in (1, 2, 3, 1):
        SEEN[Key(number)] = number
    found = len(SEEN), SEEN[Key(3)], SEEN.get(Local)
    SEEN.clear()
    return found


def test_random_numbers_that_were_imported_by_name() -> None:
    result = explore(lambda: [choice(range(1000)) for _ in range(5)])
    assert not result.failures


@program
def objects_nested_deeply() -> object:
    node: tuple[Any, ...] | None = None
    for _ in range(3000):
        node = (node,)
    SEEN["deep"] = [node]  # type: ignore[assignment]
    return len(SEEN.pop("deep"))  # type: ignore[arg-type]


@program
def what_leads_back_to_itself() -> object:
    def walk() -> Iterator[object]:
        mine = here
        yield mine

    here: list[Any] = []
    here.append(walk())
    next(here[0])
    walk.__defaults__ = (walk,)
    SEEN["here"], SEEN["walk"] = here, walk  # type: ignore[assignment]
    found = len(SEEN)
    SEEN.clear()
    here[0].close()
    return found


class Shouting(list[Any]):
    def __getitem__(self, key: Any) -> Any:
        return "!"

    def __len__(self) -> int:
        return 5


@program
def iterators_ask_the_list_itself() -> object:
    found = Shouting([1, 2])
    return [*iter(found)], list(reversed(list(found))), sum(1 for _ in found)


@program
def going_backwards_minds_changes() -> object:
    items = deque([1, 2, 3])
    backwards = reversed(items)
    first = next(backwards)
    items.append(4)
    return first, kind_of_error(lambda: next(backwards))


def count() -> int:
    return len([1, 2, 3])


@program
def a_builtin_that_becomes_a_global() -> object:
    before = count()
    globals()["len"] = lambda items: 7
    now = count()
    del globals()["len"]
    return before, now


class OddModule(types.ModuleType):
    def __getattribute__(self, name: str) -> Any:
        return name


@program
def modules_with_a_class_of_their_own() -> object:
    module: Any = OddModule("odd")
    module.x = 1
    return module.x, module.__dict__


class Classless:
    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        raise RuntimeError


@program
def nobody_asks_for_a_class_but_the_program() -> object:
    thing = Classless()
    SEEN["x"] = thing  # type: ignore[assignment]
    found = kind_of_error(lambda: list(thing)), kind_of_error(lambda: isinstance(thing, int))  # type: ignore[call-overload]
    SEEN.clear()
    return found


class Endless:
    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        raise StopIteration

    def __length_hint__(self) -> int:
        return sys.maxsize


@program
def lengths_that_are_only_hinted_at() -> object:
    items = [1]
    items.extend(Endless())
    return len(items)


@program
def the_usual_policy() -> object:
    asyncio.set_event_loop_policy(None)
    asyncio.set_event_loop_policy(asyncio.get_event_loop_policy())
    return 1


@program
def modules_that_are_there_already() -> object:
    class Mine:
        def name(self) -> str:
            return importlib.import_module("json").__name__

    return Mine().name()


@program
def methods_that_are_functions_of_c() -> object:
    thing = Wrapped()
    found: Any = types.MethodType(id, thing)
    return found() == id(thing)


LATER: list[list[int]] = [[]]


@program
def cancellations_that_are_swallowed() -> object:
    found = 0
    for _ in range(3):
        try:
            setattr(Named, "later", found)  # noqa: B010
            LATER[0].append(1)
            found += len(LATER)
        except BaseException:
            found += 10
    del Named.later  # type: ignore[attr-defined]
    LATER[0].clear()
    return found


STAR = """
from math import *

class Base:
    def value(self):
        return sorted(locals()), floor(2.5)

class Derived(Base):
    def value(self):
        return super().value()
"""


def test_super_in_a_module_with_a_star_import(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "module_with_a_star.py").write_text(STAR)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("module_with_a_star")
    result = explore(lambda: repr(module.Derived().value()))
    assert dict(result.outcomes) == {"(['self'], 2)": 1}


class Shown:
    def __repr__(self) -> str:
        return "repr"

    def __str__(self) -> str:
        return "str"


class Numbered(dict[str, int]):
    def __getitem__(self, key: str) -> int:
        return len(key)


Two = namedtuple("Two", "one other")


@program
def templates_choose_how_objects_are_shown() -> object:
    thing, by_name, in_place = Shown(), "%(a)s %(a)r", "%s %r %a"
    shown = in_place % (thing, thing, [thing]), by_name % {"a": thing}
    return shown, in_place[:5] % Two(thing, [thing]), by_name[:5] % Numbered()


@program
def of_what_is_no_pair_nothing_more_is_taken() -> object:
    lines, letters = io.StringIO("abc\nde\nf"), iter(["ab", "cde", "fg"])
    table: Any = {}
    errors = [
        kind_of_error(lambda: dict(lines)),  # type: ignore[arg-type]
        kind_of_error(lambda: defaultdict(list, lines)),  # type: ignore[arg-type]
        kind_of_error(lambda: table.update(letters)),
    ]
    return errors, lines.tell(), next(letters)


@program
def pickled_files_in_memory() -> object:
    named = io.BytesIO(b"b")
    named.name = "n"
    return pickle.dumps(io.StringIO("a")), pickle.loads(pickle.dumps(named)).name


class Element:
    value: Any = None

    def __repr__(self) -> str:
        return f"<{self.value!r}>"


class Elements(set[Any]):
    pass


@program
def sets_that_show_themselves() -> object:
    element, other = Element(), Element()
    element.value, other.value = {element}, Elements([other])
    return repr(element), repr(other), str({Element()}), f"{Elements()}"


@program
def items_of_sets_are_in_the_order_of_a_loop() -> object:
    letters = set("abcdefg")
    letters -= set("cd")
    looped, copied = [each for each in letters], [*dict.fromkeys(letters)]  # noqa: C416
    found = [list(letters), [*tuple(letters)], copied, list("".join(letters))]
    copied[:] = letters
    return [each == looped for each in (*found, copied, sorted(letters, key=bool))]

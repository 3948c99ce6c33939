"""What kinds of objects there are, and what they are made of, as their types tell."""

from array import array
from collections import deque
from functools import lru_cache
from threading import Thread
from types import (
    BuiltinFunctionType,
    CellType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
)
from typing import Any, Final, cast

from mazurka.python.check import RUNNING

# What kinds of containers there are.
NO_CONTAINER: Final = 0
INDEXED: Final = 1  # lists, and what is like them
KEYED: Final = 2  # dicts
ELEMENTS: Final = 3  # sets
WHOLE: Final = 4  # deques: their items move whenever one is taken or put in front
CONTAINERS: Final[tuple[Any, ...]] = (dict, list, set, deque, bytearray, array)

MISSING: Final = object()  # in place of what is not there
LruCache: Final = type(lru_cache(lambda: None))

# What has nothing in it that could change or be shared.
ATOMS: Final[set[type]] = {
    type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type,
    type(NotImplemented), BuiltinFunctionType, ModuleType, MemberDescriptorType,
    GetSetDescriptorType, property,
}  # fmt: skip

# Modules whose objects do not change, or nobody minds if they do.
HARMLESS: Final = {
    "builtins", "concurrent", "datetime", "decimal", "enum", "fractions", "functools", "inspect",
    "logging", "operator", "pathlib", "re", "types", "typing", "uuid", "warnings",
}  # fmt: skip

# Modules whose objects have models.
STEERED: Final = ("threading", "_thread", "queue", "_queue")


def shape_of(kind: type) -> int:
    """What kind of container the instances of a class are."""
    shapes = RUNNING.check.types.shapes
    shape = shapes.get(kind, -1)
    if shape < 0:
        shape = NO_CONTAINER
        if issubclass(kind, (list, bytearray, array)):
            shape = INDEXED
        elif issubclass(kind, dict):
            shape = KEYED
        elif issubclass(kind, set):
            shape = ELEMENTS
        elif issubclass(kind, deque):
            shape = WHOLE
        shapes[kind] = shape
    return shape


def slots_of(kind: type) -> tuple[str, ...]:
    """The slots that instances of a class have."""
    known = RUNNING.check.types.slots
    slots = known.get(kind)
    if slots is None:
        names = []
        for base in kind.__mro__:
            if base.__module__ != "builtins" and "__slots__" in base.__dict__:
                for name, member in base.__dict__.items():
                    if isinstance(member, MemberDescriptorType):
                        names.append(name)
        slots = tuple(names)
        known[kind] = slots
    return slots


def is_machinery(kind: type) -> bool:
    """Whether the instances of a class announce by themselves what is done to them."""
    module = kind.__module__
    return module.startswith("mazurka.") or (module in STEERED and kind is not Thread)


def is_memory(kind: type) -> bool:
    """Whether instances of a class have something in them that may change. Of a class that is
    written in C one cannot know."""
    known = RUNNING.check.types.memory
    found = known.get(kind)
    if found is None:
        found = not is_machinery(kind) and (
            shape_of(kind) != NO_CONTAINER
            or bool(kind.__dictoffset__)
            or bool(slots_of(kind))
            or not is_harmless(kind)
        )
        known[kind] = found
    return found


def is_harmless(kind: type) -> bool:
    return kind.__module__.partition(".")[0] in HARMLESS and kind is not memoryview


# What is in an object, without running any code of its class


def plain_length(container: object) -> int:
    """The length of a container, whatever its class says."""
    if isinstance(container, dict):
        return dict.__len__(container)
    if isinstance(container, list):
        return list.__len__(container)
    for kind in CONTAINERS:
        if isinstance(container, kind):
            length: int = kind.__len__(container)
            return length
    raise AssertionError("it is none of the containers")


def plain_items(container: object) -> list[object]:
    """The items of a container, or its keys, whatever its class says."""
    for kind in CONTAINERS:
        if isinstance(container, kind):
            return list(kind.__iter__(container))
    raise AssertionError("it is none of the containers")


def own_dict(thing: object) -> dict[str, object] | None:
    """The attributes of an object, not as its class may give them."""
    try:
        own = object.__getattribute__(thing, "__dict__")
    except AttributeError:
        return None
    return own if type(own) is dict else None


def value_of_slot(thing: object, name: str) -> object:
    try:
        return object.__getattribute__(thing, name)
    except AttributeError:
        return MISSING


def contents_of_cell(cell: CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def present_value(thing: object, name: str) -> object:
    """An attribute of the object itself as it is now, without running any code of its class."""
    if type(thing) is CellType:
        return contents_of_cell(thing)
    if type(thing) is dict:  # the globals of a module
        return cast(dict[str, object], thing).get(name, MISSING)
    if issubclass(type(thing), type):
        return cast(type, thing).__dict__.get(name, MISSING)
    own = own_dict(thing)
    if own is not None and name in own:
        return own[name]
    if name in slots_of(type(thing)):
        return value_of_slot(thing, name)
    return MISSING

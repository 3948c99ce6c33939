"""What kinds of objects there are, and what they are made of, as their types tell."""

import csv
import io
import types
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from contextvars import Context
from enum import Enum
from functools import lru_cache, partial
from gc import get_referents
from threading import Thread
from types import (
    BuiltinFunctionType,
    CellType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodWrapperType,
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
NUMBERS: Final[tuple[Any, ...]] = (bytearray, array)  # those in which there are no objects

MISSING: Final = object()  # in place of what is not there
CMethodType: Final = type(array("b").extend)  # of some methods of C, in some versions of Python
METHODS_OF_C: Final = (BuiltinFunctionType, CMethodType, MethodWrapperType)
FACTORY: Final[Any] = vars(defaultdict)["default_factory"]
LruCache: Final = type(lru_cache(lambda: None))
# Compiled code finds a constant at once, and looks a name from elsewhere up each time.
FUNCTION: Final = types.FunctionType
METHOD: Final = types.MethodType
BUILTIN_FUNCTION: Final = BuiltinFunctionType
GENERATOR: Final = types.GeneratorType
COROUTINE: Final = types.CoroutineType
CLOSURE_CELL: Final = CellType
MODULE: Final = ModuleType
PARTIAL: Final[type] = partial

# What has nothing in it that could change or be shared.
ATOMS: Final[set[type]] = {
    type(None), bool, int, float, complex, str, bytes, range, slice, type(Ellipsis), type,
    type(NotImplemented), BuiltinFunctionType, CMethodType, ModuleType, MemberDescriptorType,
    GetSetDescriptorType, property,
}  # fmt: skip

# Nothing hangs on these. (A method of C has the object that it is of.)
LEAVES: Final = ATOMS - {BuiltinFunctionType, CMethodType}

# Modules whose objects do not change, or nobody minds if they do.
HARMLESS: Final = {
    "_contextvars", "_struct", "concurrent", "datetime", "decimal", "enum", "fractions",
    "functools", "inspect", "logging", "operator", "pathlib", "re", "typing", "uuid", "warnings",
}  # fmt: skip

# Types of C whose objects do not change, belong to one thread, or only show or change others: a
# view is what its dict is. All other built-in types count as unknown.
INERT: Final[set[type]] = {
    *ATOMS, object, tuple, frozenset, staticmethod, classmethod, super, MappingProxyType,
    type(csv.writer(io.StringIO())),
    *[type(getattr(kind(), name)()) for kind in (dict, OrderedDict)
      for name in ("keys", "values", "items")],
    *[kind for kind in vars(types).values() if isinstance(kind, type)
      and kind not in (types.SimpleNamespace, types.GeneratorType)],
    type(Callable[[], None]),
}  # fmt: skip

# Types of C whose methods are one step each, on all of the object and on nothing else.
COARSE: Final[set[type]] = {
    each for each in vars(io).values() if isinstance(each, type) and each.__module__ == "_io"
} | {
    type(iter(())), type(iter("")), type(iter("\u00e9")),
    type(iter(b"")), type(iter(range(0))), type(iter(range(1 << 80))),
}  # fmt: skip

# Files in memory.
FILES: Final = (io.StringIO, io.BytesIO)

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


def module_of(kind: type) -> str:
    """The name of the module of a class, if it says one."""
    module: object = cast(Any, kind).__module__
    return module if isinstance(module, str) else ""


def slots_of(kind: type) -> tuple[str, ...]:
    """The slots that instances of a class have."""
    known = RUNNING.check.types.slots
    slots = known.get(kind)
    if slots is None:
        names = []
        for base in kind.__mro__:
            if module_of(base) != "builtins" and "__slots__" in base.__dict__:
                for name, member in base.__dict__.items():
                    if isinstance(member, MemberDescriptorType):
                        names.append(name)
        slots = tuple(names)
        known[kind] = slots
    return slots


def is_machinery(kind: type) -> bool:
    """Whether the instances of a class announce by themselves what is done to them."""
    module = module_of(kind)
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
    module = module_of(kind).partition(".")[0]
    if module == "builtins" or module == "types":
        return kind in INERT or issubclass(kind, BaseException)
    if kind in INERT or issubclass(kind, Enum):
        return True
    return module in HARMLESS and not hasattr(kind, "__next__") and kind is not Context


def is_coarse(kind: type) -> bool:
    return kind in COARSE


def is_known(kind: type) -> bool:
    """Whether objects of a class are models of something, and announce by themselves what they do
    and what they are given."""
    models = RUNNING.check.types.models
    known = models.get(kind)
    if known is None:
        known = any(
            module_of(base) in ("threading", "queue")
            or module_of(base).startswith(("mazurka.", "concurrent.futures."))
            or is_of_asyncio(module_of(base))
            for base in kind.__mro__
        )
        models[kind] = known
    return known


def is_of_asyncio(module: str | None) -> bool:
    """Its objects belong to one thread. The event loop announces what it gives to others."""
    return module is not None and module.partition(".")[0] in ("asyncio", "_asyncio")


# What is in an object, without running any code of its class


def plain_length(container: object) -> int:
    """The length of a container, whatever its class says."""
    if type(container) is list:  # as most are
        return len(container)
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


def has_atoms_only(container: object) -> bool:
    """Whether nothing can hang on the items of a container, which may be many."""
    if isinstance(container, NUMBERS):
        return True
    for kind in CONTAINERS:
        if isinstance(container, kind):
            return all_are_atoms(kind.__iter__(container))
    return False


def all_are_atoms(items: Iterable[object]) -> bool:
    kinds = set(map(type, items))
    return kinds <= ATOMS and BuiltinFunctionType not in kinds


def plain_item(container: object, index: int) -> object:
    """An item of a list, or of what is like one, whatever its class says."""
    if type(container) is list:  # as most are
        return cast(object, container[index])
    if isinstance(container, list):
        return cast(object, list.__getitem__(container, index))
    for kind in NUMBERS:
        if isinstance(container, kind):
            return cast(object, kind.__getitem__(container, index))
    raise AssertionError("it is none of these containers")


def own_dict(thing: object) -> dict[str, object] | None:
    """The attributes of an object, not as its class may give them."""
    if type(thing) in FILES:  # who pickles one sees whether somebody has asked for its dict
        held = [each for each in get_referents(thing) if type(each) is dict]
        return held[0] if held else None
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

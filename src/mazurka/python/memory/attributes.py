"""Accesses to attributes, global variables and closure variables, as rewritten code makes them.

Each of these waits for its turn, then does what Python would do, all in one step; or, if only
synchronisation is steps, is watched and done at once.
"""

import builtins
import collections.abc
import logging
import sys
import types
from collections.abc import Callable, Iterable
from functools import cached_property
from importlib.util import resolve_name
from threading import Thread
from types import (
    CellType,
    FunctionType,
    GetSetDescriptorType,
    MemberDescriptorType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, cast
from weakref import ProxyTypes

from mazurka.engine.operation import ALL, LOAD, NONE, READ, STORE, WRITE
from mazurka.python.check import RUNNING
from mazurka.python.memory.identities import VALUE
from mazurka.python.memory.shapes import MISSING, is_memory, module_of, own_dict, present_value
from mazurka.python.memory.uses import note_use
from mazurka.python.runtime.thread import Cell
from mazurka.python.source import callers_frame, here
from mazurka.python.words import show_found

# How an attribute of the instances of a class is found.
NATIVE: Final = 1  # nobody changes it, or its own code does
FIELD: Final = 2  # in the instance
CLASS_LEVEL: Final = 3  # in the class, unless the instance has one of its own
OF_CLASS: Final = 4  # the object is itself a class
OF_MODULE: Final = 5
OF_LOCAL: Final = 6  # of a threading.local
INSTANCE_DICT: Final = 8  # the __dict__ that all of them are in
CACHED: Final = 7  # in the instance, once a functools.cached_property has put it there
OF_PROXY: Final = 9  # of what a weak proxy stands for
OF_CALLS: Final = 10  # a dict that every call of a function looks at
OF_LOG: Final = 12  # of a logger, handler or the like: what decides what is logged
CLASS_DICT: Final = 11  # the __dict__ of a class, which shows its attributes


# What Python itself looks at in classes and modules: special methods, and what it keeps there.
SPECIAL: Final = {
    name
    for kind in [*vars(builtins).values(), *vars(types).values(), *vars(collections.abc).values()]
    if isinstance(kind, type)
    for name in [*dir(kind), *dir(type(kind))]
    if name.startswith("__")
} | {
    "__aenter__", "__aexit__", "__abstractmethods__", "__builtins__", "__bytes__", "__cached__",
    "__ceil__", "__class_getitem__", "__complex__", "__copy__", "__deepcopy__", "__enter__",
    "__exit__", "__file__", "__floor__", "__fspath__", "__getattr__", "__getinitargs__",
    "__getnewargs__", "__getnewargs_ex__", "__index__", "__init_subclass__", "__instancecheck__",
    "__iter__", "__length_hint__", "__match_args__", "__missing__", "__mro_entries__",
    "__orig_bases__", "__package__", "__path__", "__post_init__", "__prepare__", "__reversed__",
    "__round__", "__set_name__", "__setstate__", "__slots__", "__spec__", "__subclasscheck__",
    "__trunc__", "__weakref__",
}  # fmt: skip


class StandardLibrary:
    """What is known of objects of the standard library."""

    def __init__(
        self,
        namespace_of: Callable[[object], dict[str, Any] | None],
        steered: Callable[[Any], Any],
        steered_types: set[type],
        functions: dict[str, tuple[object, ...]],
        locals: tuple[type, ...],
    ) -> None:
        self.namespace_of = namespace_of  # where the values of a threading.local are
        self.locals = locals  # the classes of these: Python's, and what stands for it
        self.steered = steered  # the model of a lock, say
        self.steered_types = steered_types  # of objects that may have one
        # Those for sleeping and drawing that have models, by module and name.
        self.functions = functions


class ChangeableNames:
    """The names of the attributes and globals that anything may change."""

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.learnt: set[str] = set()  # those among them that do not show in the source
        self.ways: dict[type, dict[str, int]] = {}  # how attributes are found, by their names
        self.forgotten = 0  # how often these were

    def add(self, names: Iterable[str]) -> None:
        self.names.update(names)
        self.forget_ways()

    def forget_ways(self) -> None:
        self.ways.clear()
        self.forgotten += 1


# One setting of the process (process_state.py): logging looks at all of it where nobody sees.
LOG_SETTINGS: Final = "logging settings"
LOG_KINDS: Final = (logging.Filterer, logging.Manager)
LOG_ATTRIBUTES: Final = {"level", "disabled", "propagate", "parent", "disable", "formatter"}


def note_name(name: str) -> None:
    """An attribute is about to be stored. If its name does not show in the source, it was taken for
    one that nobody changes so far: the search has to begin anew."""
    check = RUNNING.check
    if name not in check.changeable.names and check.code is not None:
        check.changeable.learnt.add(name)
        check.changeable.add([name])
        check.objects.has_news = True


def way_to(kind: type, name: str) -> int:
    known = RUNNING.check.changeable.ways
    ways = known.get(kind)
    if ways is None:
        ways = {}
        known[kind] = ways
    way = ways.get(name, 0)
    if way == 0:
        way = find_way(kind, name)
        ways[name] = way
    return way


def find_way(kind: type, name: str) -> int:
    changeable = RUNNING.check.changeable
    if issubclass(kind, RUNNING.check.standard.locals):
        return OF_LOCAL
    if kind in ProxyTypes:
        return OF_PROXY
    if isinstance(class_attribute(kind, name), cached_property):
        return CACHED
    if name == "__dict__" and issubclass(kind, ModuleType):
        return OF_MODULE
    has_dict = kind is FunctionType or (is_memory(kind) and not issubclass(kind, type))
    if name == "__dict__" and has_dict:
        return INSTANCE_DICT
    if name == "__dict__" and issubclass(kind, type) and class_attribute(kind, name) is TYPE_DICT:
        return CLASS_DICT
    if name == "__kwdefaults__" and kind is FunctionType:
        return OF_CALLS
    if name not in changeable.names:
        return NATIVE
    if name in LOG_ATTRIBUTES and issubclass(kind, LOG_KINDS):
        return OF_LOG
    is_special = name in SPECIAL
    if is_special and kind is FunctionType:  # its text, say, that everybody copies who wraps it
        return NATIVE
    if issubclass(kind, ModuleType):
        return NATIVE if is_special else OF_MODULE
    if issubclass(kind, type):
        return NATIVE if is_special else OF_CLASS
    if module_of(kind).startswith("mazurka."):
        return NATIVE
    if not is_memory(kind) or not is_pythons_own(kind.__getattribute__):
        return NATIVE
    found = class_attribute(kind, name)
    if found is MISSING or isinstance(found, MemberDescriptorType):
        return FIELD
    if issubclass(kind, Thread) and found is Thread.__dict__.get(name):
        return FIELD  # its name, say: what the class keeps that in is its own business
    if hasattr(type(found), "__set__") or hasattr(type(found), "__delete__"):
        return NATIVE  # a property, say
    return CLASS_LEVEL


def is_pythons_own(method: object) -> bool:
    """Whether a class has got a special method from a class of C, not from the user's."""
    return type(method) is WrapperDescriptorType


def is_plain(way: int) -> bool:
    """Whether an attribute is kept in the instance."""
    return way == FIELD or way == CLASS_LEVEL or way == CACHED


def is_stored(kind: type, name: str, way: int) -> bool:
    """The same if it is stored, whatever the class does to read it."""
    if is_plain(way):
        return True
    reads_itself = way == NATIVE and not is_pythons_own(kind.__getattribute__) and is_memory(kind)
    return reads_itself and not hasattr(type(class_attribute(kind, name)), "__set__")


def class_attribute(kind: type, name: str) -> object:
    for base in kind.__mro__:
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


def read(thing: object, name: str) -> None:
    """A step that reads an attribute, unless that is the thread's own."""
    objects = RUNNING.check.objects
    cell = objects.field_of(thing, name)
    if cell is not None:
        read_cell(cell)
    elif objects.runtime.journal is not None:
        note_field("read", thing, name, present_value(thing, name))


def note_field(verb: str, thing: object, name: str, value: object) -> None:
    part = "" if name == VALUE else f".{name}"
    note_use(verb, thing, part, value, show_found(value))


def read_cell(cell: Cell) -> None:
    runtime = RUNNING.check.runtime
    watcher = runtime.race_detector
    if watcher is not None:
        runtime.watch(watcher, cell, (READ, NONE, ALL))
    elif not runtime.repeats(LOAD, cell):
        runtime.perform(LOAD, cell, None, None)


def write(thing: object, name: str, value: object) -> None:
    """A step that gives an attribute a new value, unless that is the thread's own."""
    check = RUNNING.check
    objects = check.objects
    record = objects.record_of(thing)
    cell = objects.field_in(record, thing, name)
    if cell is None:
        check.runtime.note_change()
        objects.save_own_field(thing, name)
        if check.runtime.journal is not None:
            note_field("write", thing, name, value)
    else:
        known = cell.known
        assert known is not None
        if not known.is_changed:
            if name != VALUE:
                note_name(name)
            objects.note_changed(known, thing)
        objects.share(value, known.label or "")
        write_cell(cell, value)
        objects.save_field(record, thing, name)


def write_cell(cell: Cell, value: object) -> None:
    runtime = RUNNING.check.runtime
    watcher = runtime.race_detector
    if watcher is not None:
        runtime.watch(watcher, cell, (WRITE, NONE, ALL))
    elif runtime.repeats(STORE, cell):
        cell.value = value
    else:
        runtime.perform(STORE, cell, value, None)


# Attributes


def load_attribute(thing: object, name: str) -> object:
    check = RUNNING.check
    if check.runtime.is_elsewhere():
        return getattr(thing, name)
    way = way_to(type(thing), name)
    if way == FIELD:
        changeable = check.changeable
        forgotten = changeable.forgotten
        read(thing, name)
        if changeable.forgotten != forgotten and way_to(type(thing), name) == CLASS_LEVEL:
            return found_at_class_level(thing, name)  # a class got it, before this step's turn
        try:
            return getattr(thing, name)
        except AttributeError:
            return load_late(thing, name)
    if way == CLASS_LEVEL:
        return load_class_level(thing, name)
    if way == OF_CLASS:
        return load_from_class(cast(type, thing), name)
    if way == OF_MODULE:
        if name == "__dict__":
            note_module(cast(ModuleType, thing), name)
        else:
            read_in_module(globals_of(thing), name)
    elif way == OF_LOCAL:
        return load_local(thing, name)
    elif way == CACHED:
        return load_cached(thing, name)
    elif way == INSTANCE_DICT:
        return check.objects.dict_of(thing)
    elif way == CLASS_DICT:
        check.objects.note_class_dict(cast(type, thing))
    elif way == OF_PROXY:
        return load_attribute(referent_of(thing), name)
    elif way == OF_LOG:
        if LOG_SETTINGS in check.changeable.learnt:
            read(check.calls.process, LOG_SETTINGS)
    elif way == OF_CALLS and len(check.runtime.live) > 1:
        check.objects.note_opaque(f"the use of {name}", thing)
    return getattr(thing, name)


def load_late(thing: object, name: str) -> object:
    """An attribute that neither the instance has nor its class; but that may get it."""
    if RUNNING.check.objects.is_changed_in_classes(name):
        read_in_classes(type(thing), name)
    return getattr(thing, name)


def referent_of(proxy: Any) -> object:
    """What a weak proxy stands for: all of its methods are those of that."""
    return proxy.__reduce_ex__.__self__


def attributes_of(thing: Any) -> object:
    """`vars(thing)`, which is a dict unless it is of a class."""
    if issubclass(type(thing), ModuleType):
        return load_attribute(thing, "__dict__")
    way = 0 if RUNNING.check.runtime.is_elsewhere() else way_to(type(thing), "__dict__")
    if way == OF_LOCAL:
        return load_local(thing, "__dict__")
    if way == CLASS_DICT:
        RUNNING.check.objects.note_class_dict(cast(type, thing))
    if way != INSTANCE_DICT:
        return vars(thing)
    return load_attribute(thing, "__dict__") if own_dict(thing) is not None else vars(thing)


def globals_of(module: object) -> dict[str, object]:
    """Of a module, whatever its class says."""
    found: dict[str, object] = MODULE_DICT.__get__(module)
    return found


TYPE_DICT: Final[Any] = vars(type)["__dict__"]
MODULE_DICT: Final[Any] = vars(ModuleType)["__dict__"]


def read_in_module(namespace: dict[str, object], name: str) -> None:
    if RUNNING.check.objects.is_namespace(namespace) and name != "__dict__":
        read(namespace, name)


def load_local(thing: object, name: str) -> object:
    """An attribute of a threading.local."""
    if is_of_locals(type(thing), "__getattribute__"):
        return load_own_of_local(thing, name)
    return getattr(thing, name)


def load_own_of_local(thing: object, name: str) -> object:
    """The running thread's, if the class has no other idea."""
    namespace = RUNNING.check.standard.namespace_of(thing)
    if namespace is None:
        return getattr(thing, name)
    kind = type(thing)
    if name == "__dict__":
        return namespace
    found = class_attribute(kind, name)
    if hasattr(type(found), "__set__"):
        if type(found) is MemberDescriptorType:  # a slot, which all threads share
            read(thing, name)
        return getattr(thing, name)
    if name in namespace:
        return namespace[name]
    if found is not MISSING:
        found = read_in_classes(kind, name)
        return found.__get__(thing, kind) if hasattr(found, "__get__") else found
    ask: Any = class_attribute(kind, "__getattr__")
    if ask is not MISSING:
        return ask.__get__(thing, kind)(name)
    raise no_attribute(thing, name)


def store_local(thing: object, name: str, value: object) -> None:
    """The same for a new value; or for none, which takes the attribute away."""
    namespace = RUNNING.check.standard.namespace_of(thing)
    kind = type(thing)
    found = class_attribute(kind, name)
    if namespace is None or hasattr(type(found), "__set__"):
        if type(found) is MemberDescriptorType:
            write(thing, name, value)
        set_or_delete(thing, name, value)
        return
    RUNNING.check.runtime.note_change()
    if value is not MISSING:
        namespace[name] = value
    elif name in namespace:
        del namespace[name]
    else:
        raise no_attribute(thing, name)


def delete_local(thing: object, name: str) -> None:
    store_local(thing, name, MISSING)


def set_or_delete(thing: object, name: str, value: object) -> None:
    if value is MISSING:
        delattr(thing, name)
    else:
        setattr(thing, name, value)


def no_attribute(thing: object, name: str) -> AttributeError:
    return AttributeError(f"{type(thing).__name__!r} object has no attribute {name!r}")


def is_of_locals(kind: type, name: str) -> bool:
    """Whether a class has a special method from threading.local itself."""
    found = class_attribute(kind, name)
    return any(vars(base).get(name) is found for base in RUNNING.check.standard.locals)


def load_cached(thing: object, name: str) -> object:
    """What a cached_property does: it looks whether the instance has a value. Before Python 3.12 it
    had a lock, and looked again once it had got that."""
    read(thing, name)
    own = present_value(thing, name)
    if own is not MISSING:
        return own
    attribute = cast(Any, class_attribute(type(thing), name))
    lock = RUNNING.check.standard.steered(getattr(attribute, "lock", None))
    if lock is None:
        return compute(thing, name, attribute.func)
    with lock:
        read(thing, name)
        own = present_value(thing, name)
        return own if own is not MISSING else compute(thing, name, attribute.func)


def compute(thing: Any, name: str, function: Callable[..., object]) -> object:
    value = function(thing)
    write(thing, name, value)
    thing.__dict__[name] = value
    return value


def load_class_level(thing: object, name: str) -> object:
    """Two reads: of the instance, and if it has no such attribute of its own, of the class."""
    read(thing, name)
    return found_at_class_level(thing, name)


def found_at_class_level(thing: object, name: str) -> object:
    own = present_value(thing, name)
    if own is not MISSING:
        return own
    kind = type(thing)
    found = read_in_classes(kind, name)
    if found is MISSING:
        return getattr(thing, name)
    return found.__get__(thing, kind) if hasattr(found, "__get__") else found


def load_from_class(kind: type, name: str) -> object:
    found = read_in_classes(kind, name)
    if found is MISSING or hasattr(found, "__get__"):
        return getattr(kind, name)
    return found


def read_in_classes(kind: type, name: str) -> Any:
    """What the first of the classes that has it says. The ones before may get it, too: they are
    read only if any attribute of this name is ever changed."""
    objects = RUNNING.check.objects
    for base in kind.__mro__ or ():  # it is None while it is being made
        is_seen = objects.is_seen(base)
        if is_seen and (name in base.__dict__ or name in objects.changed):
            read(base, name)
        elif is_seen:
            objects.trusted.add(name)
        elif is_changeable(base) and objects.is_changed_in_classes(name):
            read(base, name)
        if name in base.__dict__:
            return base.__dict__[name]
    return MISSING


HEAP_TYPE: Final = 1 << 9  # among the flags of a class: one whose attributes can be set


def is_changeable(kind: type) -> bool:
    return bool(kind.__flags__ & HEAP_TYPE) and not module_of(kind).startswith("mazurka.")


def store_attribute(thing: object, name: str, value: object) -> None:
    check = RUNNING.check
    runtime = check.runtime
    if runtime.is_elsewhere():
        setattr(thing, name, value)
        return
    kind = type(thing)
    way = way_to(kind, name)
    if way == NATIVE:
        note_name(name)
        way = way_to(kind, name)
    if way == OF_PROXY:
        store_attribute(referent_of(thing), name, value)
        return
    if way == OF_LOCAL and is_of_locals(kind, "__setattr__"):
        store_local(thing, name, value)
        return
    if way == OF_MODULE and check.objects.is_namespace(globals_of(thing)):
        write(globals_of(thing), name, value)
    elif way == OF_LOG:
        write(check.calls.process, LOG_SETTINGS, name)
    elif way == OF_CLASS or (is_stored(kind, name, way) and is_pythons_own(kind.__setattr__)):
        write(thing, name, value)
    else:
        runtime.note_change()
        if way == OF_MODULE:
            note_module(cast(ModuleType, thing), name)
        note_native(thing, name, value)
    setattr(thing, name, value)
    if way == OF_CLASS:
        RUNNING.check.changeable.forget_ways()  # instances may find it in another way now


def note_module(module: ModuleType, name: str) -> None:
    """The variables of modules that are not rewritten are not seen: `sys.stdout`, for one."""
    check = RUNNING.check
    if len(check.runtime.live) > 1 and not check.objects.is_namespace(globals_of(module)):
        check.objects.opaque.setdefault(f"the assignment of {name}", set()).add(module.__name__)


def note_import(module: str, level: int, name: str) -> None:
    """`from module import name` is about to look at an attribute of a module."""
    if RUNNING.check.runtime.is_elsewhere():
        return
    if level:
        package: str = callers_frame().f_globals.get("__package__") or ""
        try:
            module = resolve_name("." * level + module, package)
        except ImportError:  # which is raised next
            return
    found = sys.modules.get(module)
    if isinstance(found, ModuleType):
        read_in_module(globals_of(found), name)


# What every call of a function looks at.
WHAT_CALLS_USE: Final = {"__code__", "__defaults__", "__kwdefaults__"}

# Whoever raises an exception, or handles one, changes these without a step. (The cause, too, but
# there an assignment is somebody's word.)
WRITTEN_BY_RAISING: Final = {"__traceback__", "__context__"}


def note_native(thing: object, name: str, value: object) -> None:
    """What C keeps for an object, like the `args` of an exception or its class, is no step. Objects
    whose attributes are in one dict are taken for separate ones."""
    objects = RUNNING.check.objects
    kind = type(thing)
    found = class_attribute(kind, name)
    is_property = type(found) is property and not objects.is_seen(kind) and is_memory(kind)
    if issubclass(kind, type) and found is MISSING:
        note_special(cast(type, thing), name)
        return
    if type(found) not in (GetSetDescriptorType, MemberDescriptorType) and not is_property:
        return
    if name in WRITTEN_BY_RAISING:
        return
    is_common = name == "__dict__" and objects.is_known(value)
    is_called = name in WHAT_CALLS_USE and len(RUNNING.check.runtime.live) > 1
    if objects.record_of(thing).owner < 0 or is_common or (is_called and kind is FunctionType):
        objects.note_opaque(f"the assignment of {name}", thing)
    elif name == "__dict__":
        objects.record_of(value)
    objects.save_native(thing, name)


def note_special(kind: type, name: str) -> None:
    """Python calls the special methods of a class without a step that looks for them."""
    objects = RUNNING.check.objects
    if len(RUNNING.check.runtime.live) > 1 and objects.record_of(kind).owner < 0:
        objects.note_opaque(f"the assignment of {name}", kind)


def store_plainly(thing: object, name: str, value: object) -> None:
    """What object.__setattr__ does."""
    announce_plainly(thing, name, value)
    object.__setattr__(thing, name, value)


def delete_plainly(thing: object, name: str) -> None:
    announce_plainly(thing, name, MISSING)
    object.__delattr__(thing, name)


def announce_plainly(thing: object, name: str, value: object) -> None:
    if RUNNING.check.runtime.is_elsewhere():
        return
    note_name(name)
    way = way_to(type(thing), name)
    if way == OF_CLASS or is_stored(type(thing), name, way):
        write(thing, name, value)
    if way == OF_CLASS:
        RUNNING.check.changeable.forget_ways()
    elif issubclass(type(thing), type):
        note_special(cast(type, thing), name)
    elif way == OF_MODULE:
        note_module(cast(ModuleType, thing), name)
        if RUNNING.check.objects.is_namespace(globals_of(thing)):
            write(globals_of(thing), name, value)


def load_plainly(thing: object, name: str) -> object:
    """What object.__getattribute__ does."""
    if not RUNNING.check.runtime.is_elsewhere() and (
        present_value(thing, name) is not MISSING or class_attribute(type(thing), name) is MISSING
    ):
        read(thing, name)
    return object.__getattribute__(thing, name)


def store_in_class(kind: type, name: str, value: object) -> None:
    """What type.__setattr__ does."""
    announce_plainly(kind, name, value)
    type.__setattr__(kind, name, value)


def delete_in_class(kind: type, name: str) -> None:
    announce_plainly(kind, name, MISSING)
    type.__delattr__(kind, name)


def load_in_class(kind: type, name: str) -> object:
    """What type.__getattribute__ does."""
    if not RUNNING.check.runtime.is_elsewhere() and way_to(type(kind), name) == OF_CLASS:
        read_in_classes(kind, name)
    return type.__getattribute__(kind, name)


def load_by_descriptor(descriptor: Any, thing: object, kind: object = None) -> object:
    """What the descriptor of a slot does, or of another attribute that C keeps, when the program
    calls it itself."""
    name = descriptor.__name__
    if thing is None or RUNNING.check.runtime.is_elsewhere():
        return descriptor.__get__(thing, kind)
    if is_in_force(descriptor, thing):
        if name == "__dict__":
            return load_attribute(thing, name)
        read(thing, name)
    return descriptor.__get__(thing, kind)


def store_by_descriptor(descriptor: Any, thing: object, value: object) -> None:
    if not RUNNING.check.runtime.is_elsewhere() and is_in_force(descriptor, thing):
        announce_plainly(thing, descriptor.__name__, value)
        if type(descriptor) is GetSetDescriptorType:
            note_native(thing, descriptor.__name__, value)
    descriptor.__set__(thing, value)


def delete_by_descriptor(descriptor: Any, thing: object) -> None:
    if not RUNNING.check.runtime.is_elsewhere() and is_in_force(descriptor, thing):
        announce_plainly(thing, descriptor.__name__, MISSING)
    descriptor.__delete__(thing)


def is_in_force(descriptor: Any, thing: object) -> bool:
    """Whether an attribute of this name is what the descriptor is about: a subclass may have
    another one. Then it is told that what happens is not seen."""
    if class_attribute(type(thing), descriptor.__name__) is descriptor:
        return True
    objects = RUNNING.check.objects
    if objects.is_shared(thing):
        objects.note_opaque("a descriptor of a base class", thing)
    return False


def delete_attribute(thing: object, name: str) -> None:
    check = RUNNING.check
    runtime = check.runtime
    if not runtime.is_elsewhere():
        runtime.note_change()
        note_name(name)
        kind = type(thing)
        way = way_to(kind, name)
        if way == OF_PROXY:
            delete_attribute(referent_of(thing), name)
            return
        if way == OF_LOCAL and is_of_locals(kind, "__delattr__"):
            store_local(thing, name, MISSING)
            return
        if way == OF_MODULE and check.objects.is_namespace(globals_of(thing)):
            write(globals_of(thing), name, MISSING)
        elif way == OF_CLASS or (is_stored(kind, name, way) and is_pythons_own(kind.__delattr__)):
            write(thing, name, MISSING)
            RUNNING.check.changeable.forget_ways()
        elif way == OF_MODULE:
            note_module(cast(ModuleType, thing), name)
        elif issubclass(kind, type):
            note_special(cast(type, thing), name)
    delattr(thing, name)


# Global variables


class GlobalVariable:
    """A global variable of a module: a constant in the code that uses it."""

    def __init__(self, namespace: dict[str, object], name: str) -> None:
        self.namespace = namespace
        self.name = name
        self.cell: Cell | None = None
        self.epoch = 0

    def place(self) -> Cell:
        check = RUNNING.check
        runtime = check.runtime
        if self.cell is None or self.epoch != runtime.epoch:
            self.cell = check.objects.field_of(self.namespace, self.name)
            self.epoch = runtime.epoch
        assert self.cell is not None, "the globals of a module are shared"
        return self.cell


def global_cell(namespace: dict[str, object], name: str) -> GlobalVariable:
    return GlobalVariable(namespace, name)


def load_global(variable: GlobalVariable) -> object:
    if not RUNNING.check.runtime.is_elsewhere():
        read_cell(variable.place())
    value = variable.namespace.get(variable.name, MISSING)
    if value is MISSING:
        value = getattr(builtins, variable.name, MISSING)
        if value is MISSING:
            raise NameError(f"name '{variable.name}' is not defined", name=variable.name)
    return value


def store_global(variable: GlobalVariable, value: object) -> None:
    check = RUNNING.check
    objects = check.objects
    if not check.runtime.is_elsewhere():
        objects.share(value, variable.name)
        write_cell(variable.place(), value)
        record = objects.record_of(variable.namespace)
        objects.save_field(record, variable.namespace, variable.name)
    variable.namespace[variable.name] = value


def delete_global(variable: GlobalVariable) -> None:
    check = RUNNING.check
    if not check.runtime.is_elsewhere():
        write_cell(variable.place(), MISSING)
        record = check.objects.record_of(variable.namespace)
        check.objects.save_field(record, variable.namespace, variable.name)
    if variable.name not in variable.namespace:
        raise NameError(f"name '{variable.name}' is not defined", name=variable.name)
    del variable.namespace[variable.name]


# Closure variables


class ClosureVariable:
    """A closure variable, as one call of a function that uses it sees it."""

    def __init__(self, holder: CellType, name: str) -> None:
        self.holder = holder
        self.name = name


def closure_cell(function: FunctionType, name: str) -> ClosureVariable:
    assert function.__closure__ is not None
    return ClosureVariable(function.__closure__[0], name)


def load_closure(variable: ClosureVariable) -> object:
    if not RUNNING.check.runtime.is_elsewhere():
        note_name_of_closure(variable)
        read(variable.holder, VALUE)
    try:
        return variable.holder.cell_contents
    except ValueError:
        raise unbound(variable) from None


def store_closure(variable: ClosureVariable, value: object) -> None:
    if not RUNNING.check.runtime.is_elsewhere():
        note_name_of_closure(variable)
        write(variable.holder, VALUE, value)
    variable.holder.cell_contents = value


def note_name_of_closure(variable: ClosureVariable) -> None:
    journal = RUNNING.check.runtime.journal
    if journal is not None:
        journal.variables[id(variable.holder)] = variable.name


def delete_closure(variable: ClosureVariable) -> None:
    if not RUNNING.check.runtime.is_elsewhere():
        write(variable.holder, VALUE, MISSING)
    try:
        del variable.holder.cell_contents
    except ValueError:
        raise unbound(variable) from None


def unbound(variable: ClosureVariable) -> NameError:
    name = variable.name
    frame = here()
    if frame is not None and name in frame.f_code.co_cellvars:  # in the function that it is of
        return UnboundLocalError(
            f"cannot access local variable '{name}' where it is not associated with a value"
        )
    return NameError(
        f"cannot access free variable '{name}' where it is not associated with a value in "
        "enclosing scope",
        name=name,
    )

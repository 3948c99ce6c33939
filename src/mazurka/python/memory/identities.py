"""Ordinary Python objects as shared memory: who is who in every execution, and what is shared.

An object that an execution makes belongs to one thread until that puts it where others may find it:
in an attribute of a shared object, say, or in the arguments of a thread. Until then nobody looks.
From then on it is shared, with all that hangs on it, and known by the thread that gave it away and
that thread's count: this is the same whenever the thread does the same. An object that was there
before the execution, and outlives it, keeps its identity; undo.py puts back what was changed.
"""

from collections import defaultdict
from contextvars import ContextVar
from functools import partial
from gc import get_referents, is_tracked
from hashlib import blake2b
from sys import modules
from threading import Thread
from types import (
    CellType,
    CodeType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MethodType,
    SimpleNamespace,
)
from typing import Any, Final, cast

from mazurka.engine.errors import BeginsAnew, MazurkaError
from mazurka.python.check import RUNNING
from mazurka.python.memory.cells import Contents, Turn, Variable
from mazurka.python.memory.older_objects import newer_objects
from mazurka.python.memory.shapes import (
    BUILTIN_FUNCTION,
    CLOSURE_CELL,
    COROUTINE,
    ELEMENTS,
    FACTORY,
    FUNCTION,
    GENERATOR,
    KEYED,
    LEAVES,
    METHOD,
    METHODS_OF_C,
    NO_CONTAINER,
    PARTIAL,
    LruCache,
    all_are_atoms,
    contents_of_cell,
    has_atoms_only,
    is_harmless,
    is_memory,
    module_of,
    own_dict,
    plain_items,
    present_value,
    shape_of,
    slots_of,
    value_of_slot,
)
from mazurka.python.memory.states import has_state, is_iterator
from mazurka.python.memory.undo import Undo, fill_set
from mazurka.python.runtime.names import where_now
from mazurka.python.runtime.runtime import INTERRUPTED, Memory, Runtime
from mazurka.python.runtime.thread import Cell, Identity, Location
from mazurka.python.source import users_variable

FIRST_NUMBER: Final = 1 << 56  # what is given for an id is never an address
VALUE: Final = "="  # the one field of the cell of a closure variable, or of an iterator

SHARED_LATER: Final = "(shared later)"  # among the places where objects are shared

CACHE: Final = "(cache)"  # where a cached function keeps what stands for its cache
CALL_COUNT: Final = "(calls)"  # and how often it was called

# Classes of C whose instances show all that they have.
TRANSPARENT: Final = (LruCache, SimpleNamespace, partial)

# Objects of C that do not change themselves, but hold others.
HOLDERS: Final = (ContextVar, MappingProxyType, classmethod, staticmethod)

EARLY: Final = 2  # after so many executions of a search it is known what was there before them

# Modules of classes whose methods only call others.
ABSTRACT: Final = ("abc", "builtins", "collections.abc", "typing")


# What has other things in it, but no name.
LEADING_ON: Final = {FunctionType, partial, GeneratorType, CoroutineType, *HOLDERS}


def site_name(site: tuple[object, int]) -> str:
    """A place in the source, by a name that holds in every process."""
    code, instruction = site
    if not isinstance(code, CodeType):
        return f"nowhere:{instruction}"
    return f"{code.co_qualname}:{code.co_firstlineno}:{instruction}"


def all_of(kind: type) -> str:
    """What stands for all attributes of a class."""
    return f"(all of {name_of_class(kind)})"


class Misjudged(BeginsAnew):
    """What an object was taken for was wrong: begin the search anew, and take it for what it is."""


class Record:
    """An object of the program, in one execution."""

    def __init__(self, thing: object, owner: int) -> None:
        self.thing = thing  # kept alive: nothing else may get its address
        self.owner = owner  # the only thread that has it; SHARED or OUTSIDE if others may
        self.identity: Identity = PRIVATE
        self.fields: dict[str, Cell] = {}
        self.contents: Contents | None = None
        self.turn: Turn | None = None
        self.is_changed = False  # while others may use it
        self.sources: tuple[object, ...] | None = None  # from which an iterator takes, if known
        self.is_taken_from = False  # by who does not look whether it is shared meanwhile
        self.site: tuple[object, int] = (None, 0)  # where it was first used
        self.number = 0  # its id, if somebody has asked for that


SHARED: Final = -1
OUTSIDE: Final = -2
PRIVATE: Final = Identity("private", "")


class Objects(Memory):
    """All records."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.here: dict[int, Record] = {}  # by address: those used in this execution
        self.before: dict[int, Record] = {}  # in the execution before
        self.outside: dict[int, Record] = {}
        self.sites: set[tuple[object, int]] = set()  # what is first used there is shared
        self.learnt_sites: set[str] = set()  # the same, by names that hold in every process
        # By their names: classes made in executions, and what hangs on them.
        self.classes: dict[str, Identity] = {}
        self.in_class = ""  # the name of such a class, while what hangs on it is named,
        self.hanging: dict[str, int] = {}  # and how many of that have a label
        # By their names: whether the code of modules is rewritten when it is called.
        self.modules: dict[str, bool] = {}
        self.has_news = False  # whether something was named that a new search must know
        self.lasting: list[tuple[object, str]] = []  # what turned out to be outside, and its label
        # The dicts of objects that code got hold of, by address, with the objects; and the globals
        # of modules, which are objects themselves.
        self.dicts: dict[int, tuple[object, object]] = {}
        self.namespaces: dict[int, tuple[object, object]] = {}
        self.foreign: dict[int, object] = {}  # the globals of modules that are not rewritten
        self.opaque: dict[str, set[str]] = {}  # what was used, and which of it is not rewritten
        self.cached: list[Any] = []  # functions with functools.lru_cache that are outside
        # Attributes, by their names: those that some step has changed in this check, and those that
        # the search relies on not to be.
        self.changed: set[str] = set()
        self.trusted: set[str] = set()
        # The same for classes alone: attributes of those whose code is not rewritten, and any.
        self.changed_in_classes: set[str] = set()
        self.trusted_in_classes: set[str] = set()
        self.unsteady: set[str] = set()  # what keys are compared by, though it changes
        self.rooting = False  # whether what is found now is outside
        self.todo: list[tuple[object, str]] = []  # what is to be shared next, and its label
        self.showing: set[tuple[int, int]] = set()  # which thread shows which container
        self.undo = Undo()  # of what executions do to outside objects
        self.begun = 0  # executions of this search
        self.divided = 0  # how often objects were set apart before the first one
        self.early = Undo()  # of what the first ones do to all objects: some may be outside
        self.late: set[str] = set()  # what was found to be outside after these

    def forget(self) -> None:
        """A new search: its locations are numbered afresh, but what is outside stays known."""
        self.put_back()
        if self.begun > 0:
            self.find_older()
        self.begun = 0
        self.early.keep_untracked()
        self.here = {}
        self.before = {}
        self.classes = {}
        self.trusted = set()
        self.trusted_in_classes = set()
        for record in self.outside.values():
            record.identity = Identity(record.identity.name, record.identity.label)
            record.fields = {}
            record.contents = None
            record.turn = None

    def forget_outside(self) -> None:
        """What is outside is to be named anew."""
        self.put_back()
        self.let_go()
        self.cached = []
        self.here = {}
        self.before = {}
        self.outside = {}
        self.namespaces = {}

    def add_lasting(self) -> None:
        """Name what turned out to be outside in searches before this."""
        for thing, label in self.lasting:
            self.add_outside(thing, label)

    def let_go(self) -> None:
        """The check is over: its objects outlive it."""
        for function in self.cached:
            function.__dict__.pop(CACHE, None)
            function.__dict__.pop(CALL_COUNT, None)

    def begin(self) -> None:
        """A new execution."""
        if self.undo.changes or self.undo.natives:
            self.put_back()
        if self.begun == 1 and self.find_older():
            raise Misjudged
        if self.begun == 0:
            self.divided = RUNNING.check.heap.times
        self.begun += 1
        if self.begun == EARLY + 1:
            self.early = Undo()
        self.before = self.here
        self.here = {}
        if len(self.dicts) != len(self.namespaces):
            self.dicts = dict(self.namespaces)
        for function in self.cached:
            function.cache_clear()  # it may be called by code that is not rewritten

    def put_back(self) -> None:
        """All objects as they were before the execution. Patches that are not seen are undone
        first, as the objects that know of them are put back, too."""
        if RUNNING.undo_patches is not None:
            RUNNING.undo_patches()
        self.undo.put_back()
        if self.undo.lost:
            thing = self.undo.lost[0]
            self.undo.lost = []
            raise MazurkaError(
                f"the program has changed {self.record_of(thing).identity.label}, which was there "
                f"before it ran, and cannot be put back, being of type {type(thing).__name__}: "
                "every execution must begin with the same state; make it in the program"
            )

    def find_older(self) -> bool:
        """Name what the first execution has used, but not made, and put it back. (What holds
        nothing but numbers and the like is found when it is met again.)"""
        heap = RUNNING.check.heap
        if not heap.is_divided or self.divided != heap.times:
            return False  # what it has made does not stand out
        used = {
            address: record
            for address, record in self.here.items()
            if record.owner != OUTSIDE and is_tracked(record.thing)
        }
        if not used:
            return False
        for thing in newer_objects():
            used.pop(id(thing), None)
        found = list(used.values())
        for record in found:
            self.add_older(record.thing, record)
        return bool(found)

    def add_older(self, thing: object, record: Record) -> None:
        label = record.identity.label or type(thing).__name__
        if self.begun <= EARLY:
            self.early.put_back_one(thing)
        elif record.owner >= 0 or record.is_changed:
            self.late.add(f"{label}, a {type(thing).__name__}")
        self.lasting.append((thing, label))
        self.has_news = True

    # Who is who

    def record_of(self, thing: object) -> Record:
        address = id(thing)
        record = self.here.get(address)
        if record is None:
            record = self.outside.get(address)
            if record is None:
                return self.first_use(thing)
            self.here[address] = record
        elif record.owner >= 0:
            self.check_owner(record)
        return record

    def first_use(self, thing: object) -> Record:
        """An object that was not given away: it is its user's own, unless it was there before."""
        if issubclass(type(thing), type):
            return self.first_use_of_class(cast(type, thing))
        if type(thing) is FUNCTION:
            code = RUNNING.check.code
            if code is not None and code.was_there(thing):
                return self.add_function(thing)
        earlier = self.before.get(id(thing))
        if earlier is not None and earlier.thing is thing:
            return self.found_outside(thing, earlier)
        thread = self.runtime.current
        assert thread is not None, "an object is first used outside of the program"
        record = Record(thing, thread.id)
        record.site = where_now()
        self.here[id(thing)] = record
        # (To hash a code object takes longer than to see that there are none.)
        if (self.sites and record.site in self.sites) or (
            self.learnt_sites and self.is_learnt(record.site)
        ):
            self.publish(record, "")
        return record

    def check_owner(self, record: Record) -> None:
        """An object must not get from one thread to another unseen; if it did, objects that are
        first used at the same place are taken for shared from the start, in a new search."""
        thread = self.runtime.current
        if thread is not None and thread.id != record.owner:
            code, instruction = record.site
            # Python 3.11 calls with two instructions, but skips the second one when it is warm.
            for near in (instruction - 4, instruction, instruction + 4):
                self.sites.add((code, near))
                self.learnt_sites.add(site_name((code, near)))
            self.stop_search()

    def may_share_later(self) -> bool:
        """Whether threads are known to share iterators that one of them goes through already."""
        return SHARED_LATER in self.learnt_sites

    def is_learnt(self, site: tuple[object, int]) -> bool:
        """Whether others have found that objects are shared which are first used there."""
        return site_name(site) in self.learnt_sites

    def found_outside(self, thing: object, earlier: Record) -> Record:
        """An object of the execution before: it was there all the time."""
        self.add_older(thing, earlier)
        self.add_outside(*self.lasting[-1])
        self.stop_search()
        return self.outside[id(thing)]

    def stop_search(self) -> None:
        self.runtime.interrupt = Misjudged()
        self.runtime.stop(INTERRUPTED)

    def add_outside(self, thing: object, label: str) -> None:
        """Name an object that is there before all executions, whatever it is."""
        if id(thing) not in self.outside:
            self.rooting = True
            try:
                self.publish(Record(thing, OUTSIDE), label)
            finally:
                self.rooting = False

    def add_root(self, thing: object, label: str) -> None:
        """Name an object that is there before all executions, and what hangs on it."""
        self.rooting = True
        try:
            self.share(thing, label)
        finally:
            self.rooting = False

    def add_namespace(self, namespace: dict[str, object]) -> None:
        """Name the globals of a module, and what hangs on them."""
        if id(namespace) not in self.outside:
            record = Record(namespace, OUTSIDE)
            record.identity = Identity(f"outside@{name_of_module(namespace)}", "")
            self.outside[id(namespace)] = record
            self.namespaces[id(namespace)] = namespace, namespace
            self.dicts[id(namespace)] = namespace, namespace
        for name, value in list(namespace.items()):
            if issubclass(type(value), type) and self.is_seen(cast(type, value)):
                self.add_class(cast(type, value))
            elif not name.startswith("__"):
                self.add_root(value, name)

    def is_namespace(self, namespace: dict[str, object]) -> bool:
        """Whether something is the globals of a module whose code is rewritten. If nothing of the
        module was used so far, they are named now."""
        address = id(namespace)
        if address in self.namespaces:
            return True
        if address in self.foreign:
            return False
        code = RUNNING.check.code
        name = name_of_module(namespace)
        if code is None or not self.is_seen_module(name):
            self.foreign[address] = namespace
            return False
        code.meet_module(namespace)
        return True

    def named_modules(self) -> list[str]:
        return [name_of_module(cast(Any, namespace)) for namespace, _ in self.namespaces.values()]

    def is_seen_module(self, name: str) -> bool:
        known = self.modules.get(name)
        if known is None:
            code = RUNNING.check.code
            known = code is not None and code.is_wanted_module(name)
            self.modules[name] = known
        return known

    def first_use_of_class(self, kind: type) -> Record:
        """Either the execution has made it, or it belongs to a module that was not used so far."""
        module = modules.get(module_of(kind))
        if module is not None and self.is_namespace(module.__dict__):
            record = self.outside.get(id(kind))
            if record is not None:
                self.here[id(kind)] = record
                return record
        return self.add_local_class(kind)

    def add_class(self, kind: type) -> None:
        if id(kind) not in self.outside:
            record = Record(kind, OUTSIDE)
            record.identity = Identity(f"outside@{name_of_class(kind)}", kind.__name__)
            self.outside[id(kind)] = record
            for name, value in list(vars(kind).items()):
                self.add_root(value, f"{kind.__name__}.{name}")

    def add_function(self, function: FunctionType) -> Record:
        """A function that is there before all executions has attributes of its own."""
        record = Record(function, OUTSIDE)
        label = function.__qualname__
        record.identity = Identity(f"outside@{name_of_module(function.__globals__)}.{label}", label)
        self.outside[id(function)] = self.here[id(function)] = record
        for name, value in list(function.__dict__.items()):
            self.add_root(value, f"{label}.{name}")
        return record

    def add_local_class(self, kind: type) -> Record:
        """A class that the execution has made. Classes are known by their names: two that have the
        same one share their locations."""
        name = name_of_class(kind)
        record = Record(kind, SHARED)
        record.identity = self.class_identity(name, kind.__name__)
        self.here[id(kind)] = record
        outer = self.in_class, self.hanging
        self.in_class, self.hanging = name, {}
        try:
            for attribute, value in list(vars(kind).items()):
                self.share(value, f"{kind.__name__}.{attribute}")
        finally:
            self.in_class, self.hanging = outer
        return record

    def class_identity(self, name: str, label: str) -> Identity:
        if name not in self.classes:
            self.classes[name] = Identity(name, label)
        return self.classes[name]

    def publish(self, record: Record, label: str) -> None:
        """From now on other threads may use an object: name it, and what hangs on it."""
        outer, self.todo = self.todo, []
        try:
            self.name(record, label)
            self.todo.reverse()
            self.share_all()
        finally:
            self.todo = outer

    def name(self, record: Record, label: str) -> None:
        """Name an object, and have what hangs on it shared next."""
        thing = record.thing
        if record.is_taken_from:
            self.learnt_sites.add(SHARED_LATER)
            self.stop_search()
        is_root = not label
        label = label or type(thing).__name__
        if self.rooting:
            record.owner = OUTSIDE
            record.identity = Identity(f"outside@{label}#{len(self.outside) + 1}", label)
            self.outside[id(thing)] = record
            if type(thing) is LruCache:
                self.cached.append(thing)
            if shape_of(type(thing)) == ELEMENTS:  # as it will be when it is put back
                fill_set(cast(set[Any], thing), list(cast(set[Any], thing)))
        elif self.in_class:  # whichever thread happens to use the class first
            record.owner = SHARED
            self.hanging[label] = order = self.hanging.get(label, 0) + 1
            record.identity = self.class_identity(f"{self.in_class}:{label}#{order}", label)
            self.here[id(thing)] = record
        else:
            record.owner = SHARED
            thread = self.runtime.current
            assert thread is not None
            order = thread.named
            thread.named = order + 1
            if order == len(thread.identities):
                thread.identities.append(Identity(f"{thread.name}@{order + 1}", label))
            record.identity = thread.identities[order]
            if self.runtime.names.refreshing and record.identity.label != label:
                relabel(record.identity, label)
            if is_root and self.runtime.journal is not None:
                variable = users_variable(thing)
                self.runtime.journal.roots[record.identity.name] = label, variable
            self.here[id(thing)] = record
        self.share_parts(thing, label)

    # Giving objects away

    def share(self, thing: object, label: str) -> None:
        """An object is put where other threads may find it, with all that hangs on it: that may be
        nested more deeply than Python lets functions call each other."""
        kind = type(thing)
        if kind in LEAVES or (kind is tuple and not thing):
            return
        outer, self.todo = self.todo, [(thing, label)]
        try:
            self.share_all()
        finally:
            self.todo = outer

    def share_all(self) -> None:
        """Depth first. What is named is named once; other things may lead back to themselves."""
        todo = self.todo
        met: set[int] = set()
        while todo:
            thing, label = todo.pop()
            kind = type(thing)
            if kind is not tuple and kind is not BUILTIN_FUNCTION and kind in LEADING_ON:
                if id(thing) in met:
                    continue
                met.add(id(thing))
            size = len(todo)
            self.share_one(thing, label)
            if len(todo) > size + 1:
                parts = todo[size:]
                parts.reverse()
                todo[size:] = parts

    def share_next(self, thing: object, label: str) -> None:
        if type(thing) not in LEAVES:
            self.todo.append((thing, label))

    def share_one(self, thing: object, label: str) -> None:
        kind = type(thing)
        if kind is tuple or kind is frozenset:
            for part in cast(Any, thing):
                self.share_next(part, label)
        elif kind in METHODS_OF_C:  # maybe
            self.share_next(cast(Any, thing).__self__, "")
        elif kind is FUNCTION:
            self.share_closure(cast(FunctionType, thing))
            if id(thing) in self.here:  # it has attributes of its own
                self.share_memory(thing, label)
        elif kind is METHOD:
            self.share_next(cast(MethodType, thing).__self__, "")
            self.share_next(cast(MethodType, thing).__func__, "")
        elif kind is PARTIAL:
            call = cast("partial[object]", thing)
            self.share_next((call.func, call.args, tuple(call.keywords.values())), "")
            self.share_memory(thing, label)
        elif kind is GENERATOR:
            frame = cast(Any, thing).gi_frame
            if frame is not None:
                self.share_next(tuple(frame.f_locals.values()), "")
            self.share_memory(thing, label)
        elif kind is LruCache:
            cache_of(thing)
            self.share_memory(thing, label)
        elif kind is COROUTINE:
            frame = cast(Any, thing).cr_frame
            if frame is not None:
                self.share_next(tuple(frame.f_locals.values()), "")
        elif kind is CLOSURE_CELL:
            self.share_memory(thing, label)
        elif issubclass(kind, tuple):
            for part in list(tuple.__iter__(cast(Any, thing))):
                self.share_next(part, label)
            if kind.__dictoffset__:
                self.share_memory(thing, label)
        elif is_memory(kind):
            self.share_memory(thing, label)
        elif self.rooting and kind in HOLDERS:
            self.share_next(tuple(get_referents(thing)), label)

    def share_memory(self, thing: object, label: str) -> None:
        address = id(thing)
        if address in self.outside:
            return
        record = self.here.get(address)
        if record is None:
            earlier = self.before.get(address)
            if not self.rooting and earlier is not None and earlier.thing is thing:
                self.found_outside(thing, earlier)
                return
            record = Record(thing, SHARED)
        elif record.owner < 0:
            return
        self.name(record, label)

    def share_closure(self, function: FunctionType) -> None:
        closure = function.__closure__
        if closure is not None:
            # What our own functions call it is not the user's word. (A module may be None.)
            ours = name_of_module(function.__globals__).startswith("mazurka.")
            names = function.__code__.co_freevars
            if ours:
                self.share_arguments(closure)
            for number in range(len(closure)):
                self.share_next(closure[number], "" if ours else names[number])
        if function.__defaults__ is not None:
            self.share_next(function.__defaults__, "")
        if function.__kwdefaults__ is not None:
            self.share_next(tuple(function.__kwdefaults__.values()), "")

    def share_arguments(self, closure: tuple[CellType, ...]) -> None:
        """What a test is called with, as fixtures are: it has the names of the parameters."""
        for cell in closure:
            contents = contents_of_cell(cell)
            if type(contents) is dict:
                for name, value in list(contents.items()):
                    if type(name) is str:
                        self.share_next(value, name)

    def share_parts(self, thing: object, label: str) -> None:
        """What hangs on an object."""
        if type(thing) is CLOSURE_CELL:
            self.share_next(contents_of_cell(thing), label)
            return
        shape = shape_of(type(thing))
        if shape == KEYED:
            things = cast(dict[object, object], thing)
            if all_are_atoms(dict.values(things)) and all_are_atoms(dict.keys(things)):
                things = {}
            for key, value in list(dict.items(things)):
                self.share_next(key, "")
                self.share_next(value, label)
            if isinstance(thing, defaultdict):
                self.share_next(FACTORY.__get__(thing), "")
        elif shape != NO_CONTAINER and not has_atoms_only(thing):
            for value in plain_items(thing):
                self.share_next(value, label)
        if self.rooting and not (self.is_seen(type(thing)) or type(thing) in TRANSPARENT):
            return  # what hangs on it is found when it is used
        if module_of(type(thing)) == "logging":
            return  # from one logger one gets to all others
        self.share_class(type(thing))
        own = own_dict(thing)
        if own is not None:
            for name, value in list(own.items()):
                self.share_next(value, f"{label}.{name}")
        for name in slots_of(type(thing)):
            self.share_next(value_of_slot(thing, name), f"{label}.{name}")

    def share_class(self, kind: type) -> None:
        """Who has an instance of a class that the execution has made has what its methods have."""
        is_met = id(kind) in self.here or id(kind) in self.outside
        if not (is_met or self.rooting) and self.is_seen(kind):
            self.first_use_of_class(kind)

    def is_shared(self, thing: object) -> bool:
        record = self.here.get(id(thing)) or self.outside.get(id(thing))
        return record is not None and record.owner < 0

    def dict_of(self, thing: Any) -> object:
        own = thing.__dict__
        if type(thing) is FunctionType:
            self.record_of(thing)  # it has one only if its attributes are used
        if self.is_shared(thing):
            self.dicts[id(own)] = own, thing
        return own

    def note_class_dict(self, kind: type) -> None:
        """Somebody gets hold of the dict of a class: its items are the attributes."""
        own = cast(Any, kind).__dict__
        if type(own) is MappingProxyType:
            self.record_of(kind)
            owner = get_referents(own)[0]
            self.dicts[id(owner)] = owner, kind

    def is_changed_in_classes(self, name: str) -> bool:
        """Whether the program is known to set attributes of this name in classes, or any attribute
        of a class; if not, from now on the search relies on it."""
        if name in self.changed_in_classes:
            return True
        self.trusted_in_classes.add(name)
        return False

    def instance_with(self, container: object) -> object:
        """The object whose attributes are the items of a dict, if threads share it."""
        found = self.dicts.get(id(container))
        return None if found is None else found[1]

    def is_known(self, thing: object) -> bool:
        return id(thing) in self.here or id(thing) in self.outside

    def is_opaque(self, thing: object) -> bool:
        """Whether an object is shared, but what its class does to it is not seen."""
        kind = type(thing)
        return (
            self.is_shared(thing)
            and shape_of(kind) == NO_CONTAINER
            and kind is not LruCache
            and not is_harmless(kind)
            and not issubclass(kind, (type, Thread))
        )

    def note_opaque(self, name: str, thing: object) -> None:
        label = self.record_of(thing).identity.label or type(thing).__name__
        self.opaque.setdefault(name, set()).add(label)

    def number_of(self, thing: object) -> int:
        """The id of an object. Addresses differ from one execution to the next; this does not."""
        record = self.record_of(thing)
        if record.owner == OUTSIDE:
            return id(thing)
        if record.number == 0:
            name = record.identity.name
            if record.owner >= 0:
                thread = self.runtime.names.threads[record.owner]
                thread.numbered += 1
                name = f"{thread.name}!{thread.numbered}"
            record.number = FIRST_NUMBER + number_from(name)
        return record.number

    def is_seen(self, kind: type) -> bool:
        """Whether a class belongs to rewritten code."""
        return self.is_seen_module(module_of(kind))

    def is_all_seen(self, kind: type) -> bool:
        """The same for all that it inherits, too."""
        return all(self.is_seen(base) or module_of(base) in ABSTRACT for base in kind.__mro__)

    # Places

    def field_of(self, thing: object, name: str) -> Cell | None:
        """The location of an attribute; None if it is nobody else's business."""
        return self.field_in(self.record_of(thing), thing, name)

    def field_in(self, record: Record, thing: object, name: str) -> Cell | None:
        """The same, of an object whose record is at hand."""
        if record.owner >= 0:
            return None
        cell = record.fields.get(name)
        if cell is None:
            cell = Variable(None, None)
            cell.location = self.field_location(record.identity, name)
            cell.known = self.runtime.names.locations[cell.location]
            record.fields[name] = cell
        if cell.epoch != self.runtime.epoch:
            cell.epoch = self.runtime.epoch
            cell.value = present_value(thing, name)
        return cell

    def field_location(self, identity: Identity, name: str) -> int:
        location = identity.fields.get(name, -1)
        if location < 0:
            location = new_location(f"{identity.name}.{name}", identity, name, Variable)
            identity.fields[name] = location
        return location

    def turn_of(self, iterator: object) -> Turn | None:
        """The location of who takes from an iterator; None if it is nobody else's business."""
        record = self.record_of(iterator)
        if record.owner >= 0:
            return None
        turn = record.turn
        if turn is None:
            turn = Turn(None, None)
            identity = record.identity
            location = identity.fields.get(VALUE, -1)
            if location < 0:
                location = new_location(f"{identity.name}.{VALUE}", identity, VALUE, Turn)
                identity.fields[VALUE] = location
            turn.location = location
            turn.known = self.runtime.names.locations[location]
            record.turn = turn
        if turn.epoch != self.runtime.epoch:
            turn.epoch = self.runtime.epoch
            turn.value = None
        return turn

    def contents_of(self, container: object) -> Contents | None:
        """The location of the items of a container; None if it is nobody else's business."""
        record = self.record_of(container)
        if record.owner >= 0:
            return None
        contents = record.contents
        if contents is None:
            contents = Contents(container, shape_of(type(container)))
            identity = record.identity
            kind = type(container)
            if identity.contents < 0:
                identity.contents = new_location(identity.name, identity, "", Contents)
                self.runtime.names.locations[identity.contents].holds = kind
            contents.location = identity.contents
            contents.known = self.runtime.names.locations[contents.location]
            if contents.known.holds is not kind:
                contents.known.holds = None
            record.contents = contents
        contents.epoch = self.runtime.epoch
        return contents

    def note_changed(self, known: Location, thing: object) -> None:
        """A step changes an attribute for the first time."""
        known.is_changed = True
        code = RUNNING.check.code
        if id(thing) in self.namespaces and code is not None:
            namespace = cast(dict[str, object], thing)
            if code.note_stored(namespace, known.field):  # a global, by another file
                self.has_news = True
                self.stop_search()
        self.changed.add(known.field)
        if issubclass(type(thing), type):
            news = {known.field, all_of(cast(type, thing))} - self.changed_in_classes
            self.changed_in_classes.update(news)
            if not news.isdisjoint(self.trusted_in_classes):
                self.stop_search()
        is_news = known.is_relied_on and known.name not in self.unsteady
        if is_news:
            self.unsteady.add(known.name)
        if is_news or known.field in self.trusted:
            self.stop_search()

    def rely_on(self, cell: Cell) -> None:
        """Something was read that nobody changes, one would hope: a part of a key."""
        known = cell.known
        assert known is not None and known.owner is not None
        known.is_relied_on = True
        is_attribute = known.cell_type is Variable and known.owner.label != ""  # else a global
        if not is_attribute or known.is_changed or known.name in self.unsteady:
            label = known.label or known.name
            self.opaque.setdefault("the comparison of keys", set()).add(label)

    # What was there before

    def is_lasting(self, thing: object) -> bool:
        """Whether an object that is about to be changed was there before."""
        record = self.record_of(thing)
        record.is_changed = True
        return record.owner == OUTSIDE

    def save_field(self, record: Record, thing: object, name: str) -> None:
        """An attribute is about to be changed."""
        record.is_changed = True
        if record.owner == OUTSIDE:
            self.undo.save_field(thing, name)
        else:
            self.save_own_field(thing, name)

    def save_contents(self, container: object) -> None:
        """The items of a container are about to be changed, or the state of an object of C. If that
        cannot be seen, somebody has to be told."""
        if not self.is_lasting(container):
            self.save_own_contents(container)
            return
        kind = type(container)
        if shape_of(kind) != NO_CONTAINER or is_iterator(kind) or has_state(container):
            self.undo.save_contents(container)
        else:
            self.note_opaque(name_of_class(kind), container)

    def save_item(self, container: object, key: object) -> None:
        """An item of a list or dict is about to be set."""
        if self.is_lasting(container):
            self.undo.save_item(container, key)
        elif self.begun <= EARLY:
            self.early.save_item(container, key)

    def save_native(self, thing: object, name: str) -> None:
        """What C keeps for an object is about to be changed."""
        if self.is_lasting(thing):
            self.undo.save_native(thing, name)
        elif self.begun <= EARLY:
            self.early.save_native(thing, name)

    # The same for what seems to be an object of this execution

    def save_own_field(self, thing: object, name: str) -> None:
        if self.begun <= EARLY:
            self.early.save_field(thing, name)

    def save_own_contents(self, container: object) -> None:
        if self.begun <= EARLY:
            self.early.save_contents(container)


def label_of_field(identity: Identity, name: str) -> str:
    return identity.label if name == VALUE else f"{identity.label}.{name}".strip(".")


def relabel(identity: Identity, label: str) -> None:
    """What a thread gives away first, say, depends on the execution: call it what it is in this
    one."""
    runtime = RUNNING.check.runtime
    identity.label = label
    for name, location in identity.fields.items():
        runtime.names.locations[location].label = label_of_field(identity, name)
    if identity.contents >= 0:
        runtime.names.locations[identity.contents].label = label


def number_from(name: str) -> int:
    return int.from_bytes(blake2b(name.encode(), digest_size=6).digest(), "little")


def cache_of(function: Any) -> dict[object, object]:
    """What stands for the cache of a function with functools.lru_cache."""
    cache: dict[object, object] = function.__dict__.setdefault(CACHE, {})
    return cache


def name_of_module(namespace: dict[str, Any]) -> str:
    """The name under which a module can be imported: some say that they are another one."""
    name = str(namespace.get("__name__"))
    imported = getattr(namespace.get("__spec__"), "name", name)
    return imported if getattr(modules.get(imported), "__dict__", None) is namespace else name


def name_of_class(kind: type) -> str:
    return f"{module_of(kind)}.{kind.__qualname__}"


def new_location(name: str, owner: Identity, field: str, cell_type: type[Cell]) -> int:
    runtime = RUNNING.check.runtime
    location = Location(name, label_of_field(owner, field), cell_type, -1)
    location.owner = owner
    location.field = "" if field == VALUE else field  # a closure variable is what its field is
    runtime.names.locations.append(location)
    return len(runtime.names.locations) - 1

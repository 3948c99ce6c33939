"""The functions of the process, by the files that they come from.

Python keeps no list of them. To find them, one must go through all objects, which takes long in a
large process. But the garbage collector keeps young objects apart until it has made them old, and
counts how often it did. If it has not since the last look, all that is new is young.
"""

import gc
import inspect
import sys
import sysconfig
from collections.abc import Iterator, Set
from itertools import compress
from types import CodeType, FunctionType
from typing import Any
from weakref import ref

from mazurka.python.rewriting.entrances import Enter, entrance_to
from mazurka.python.rewriting.generated import FILES, generated_methods
from mazurka.python.rewriting.rewrite import is_helper
from mazurka.python.rewriting.whose_code import is_about_classes

# Whether the collector has three generations, of which the first two are young.
HAS_GENERATIONS = sys.version_info < (3, 14) and not sysconfig.get_config_var("Py_GIL_DISABLED")

MOST_NOTED = 10_000  # functions, until those are forgotten that are gone


class Group:
    """The functions that have the same code."""

    def __init__(self, original: CodeType) -> None:
        self.original = original
        self.entrance: CodeType | None = None
        self.references: set[ref[FunctionType]] = set()
        self.kind: ref[type] | None = None  # the dataclass that they were generated for
        self.is_rewritable = is_rewritable(original)

    def functions(self) -> list[FunctionType]:
        found = [reference() for reference in self.references]
        return [function for function in found if function is not None]


class KnownFunctions:
    def __init__(self) -> None:
        self.files: dict[str, dict[int, Group]] = {}  # and by the id of their code
        self.entrances: dict[int, CodeType] = {}  # by their ids: the code that they lead to
        self.collections: list[int] | None = None  # so far when all functions were noted
        self.noted = 0

    def look(self) -> None:
        """Note all functions that there are now."""
        if self.collections == collections_so_far() and not gc.get_freeze_count():
            # Not `[*young, *older]`: that list is young itself, and would find itself.
            things = gc.get_objects(generation=0) + gc.get_objects(generation=1)
        else:
            gc.unfreeze()
            things = gc.get_objects()
        self.note(things)

    def all_are_noted(self) -> None:
        """Now. What is found at the next look has come since."""
        self.collections = collections_so_far() if HAS_GENERATIONS else None

    def note(self, things: list[Any]) -> None:
        functions, classes = functions_and_classes(things)
        for function in functions:
            self.group_of(function).references.add(ref(function))
        for kind in classes:
            if "__dataclass_fields__" in vars(kind):
                self.note_dataclass(kind)
        self.noted += len(functions)
        if self.noted > MOST_NOTED:
            self.noted = 0
            self.forget_what_is_gone()

    def note_dataclass(self, kind: type) -> list[Group]:
        """Its generated methods have no file that could be read: they belong to the class."""
        groups: list[Group] = []
        for function in generated_methods(kind):
            group = self.group_of(function)
            group.references.add(ref(function))
            group.kind = ref(kind)
            groups.append(group)
        return groups

    def group_of(self, function: FunctionType) -> Group:
        code = function.__code__
        groups = self.files.setdefault(code.co_filename, {})
        group = groups.get(id(code))
        if group is None:
            group = groups[id(code)] = Group(code)
        return group

    def entrance_of(self, group: Group, enter: Enter) -> CodeType:
        if group.entrance is None:
            group.entrance = entrance_to(group.original, enter)
            self.entrances[id(group.entrance)] = group.original
        return group.entrance

    def forget_what_is_gone(self) -> None:
        for file, groups in list(self.files.items()):
            for address, group in list(groups.items()):
                group.references = {each for each in group.references if each() is not None}
                if not group.references:
                    del groups[address]
                    self.entrances.pop(id(group.entrance), None)
            if not groups:
                del self.files[file]


def collections_so_far() -> list[int]:
    """How often young objects were made old."""
    return [generation["collections"] for generation in gc.get_stats()[1:]]


def is_rewritable(code: CodeType) -> bool:
    """Whether code can be rewritten: it was neither made up here, nor left behind by an earlier
    check, nor made by Python to run the body of a module, nor is it about classes alone."""
    return (
        not code.co_filename.startswith(FILES)
        and not is_helper(code)
        and not is_about_classes(code)
        and bool(code.co_flags & inspect.CO_OPTIMIZED)
    )


def functions_and_classes(things: list[object]) -> tuple[list[FunctionType], list[type]]:
    """Those among the things."""
    kinds = set(metaclasses(type))
    found = of_types(things, {FunctionType, *kinds})
    return of_types(found, {FunctionType}), of_types(found, kinds)


def of_types(things: list[Any], types: Set[type]) -> list[Any]:
    """Things of exactly these types. There may be a million things: so this is no loop of Python's.
    (The `__class__` of a proxy may be anything, and looking at it may do anything.)"""
    return list(compress(things, map(types.__contains__, map(type, things))))


def metaclasses(kind: type[type]) -> Iterator[type[type]]:
    yield kind
    for subclass in type.__subclasses__(kind):
        yield from metaclasses(subclass)

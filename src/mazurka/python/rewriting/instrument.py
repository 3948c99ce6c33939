"""Swaps the code of the user's functions for code that calls hooks, and back."""

import ast
import dataclasses
import functools
import inspect
import linecache
import os
import site
import sys
import sysconfig
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from itertools import compress
from operator import attrgetter
from pathlib import PurePath
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from mazurka.engine.result import MazurkaError
from mazurka.python.check import RUNNING
from mazurka.python.memory.older_objects import (
    all_objects,
    newer_objects,
    older_objects_set_apart,
    set_apart,
)
from mazurka.python.rewriting.generated import (
    FILENAME,
    FILES,
    file_for,
    generated_methods,
    is_generated,
)
from mazurka.python.rewriting.rewrite import (
    bind,
    compiled,
    is_helper,
    parsed,
    rewritten,
)
from mazurka.python.rewriting.scopes import Scopes
from mazurka.python.source import PACKAGE

FILE_OF_FUNCTION = attrgetter("__code__.co_filename")
PYTEST = "@pytest_ar"  # in every module whose assertions pytest has rewritten

LIBRARIES = tuple(
    os.path.abspath(path) + os.sep
    for path in [
        *map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")),
        site.getusersitepackages(),
    ]
)
LIBRARY_FOLDERS = {"site-packages", "dist-packages"}

# What tells the functions of a file apart: name, line, closure; and of lambdas, which may share a
# line, the place.
Place: TypeAlias = tuple[int, int]
Key: TypeAlias = tuple[str, int, tuple[str, ...], Place, Place]
Functions: TypeAlias = dict[Key, list[CodeType]]


@contextmanager
def instrumented(
    hooks: Mapping[str, Any], extra_packages: Sequence[str] = ()
) -> "Iterator[Instrumentation]":
    """While the body runs, all functions of the project (and of some other packages) call hooks."""
    instrumentation = Instrumentation(hooks, extra_packages)
    make: Any = vars(dataclasses)["_process_class"]

    def make_and_swap(*arguments: Any) -> Any:
        kind = make(*arguments)
        instrumentation.swap_generated(kind)
        return kind

    setattr(dataclasses, "_process_class", make_and_swap)  # noqa: B010
    with older_objects_set_apart():
        try:
            instrumentation.again()
            yield instrumentation
        finally:
            setattr(dataclasses, "_process_class", make)  # noqa: B010
            instrumentation.undo()


class Instrumentation:
    """The functions whose code is swapped at the moment."""

    def __init__(self, hooks: Mapping[str, Any], extra_packages: Sequence[str]) -> None:
        self.hooks = hooks
        self.extra_packages = extra_packages
        self.codes: set[CodeType] = set()  # all code that calls hooks
        self.skipped: list[tuple[str, str]] = []  # functions that do not, and why
        self.skipped_codes: dict[
            int, tuple[CodeType, str]
        ] = {}  # the same, by the id of their code
        self.stored: set[str] = set()  # the attributes and globals that can change
        self.is_dynamic = False  # others may, too, as some code takes names of attributes as values
        self.functions: list[FunctionType] = []  # those that were found at the last look
        self.swapped: list[FunctionType] = []  # at any look
        self.last_look = 0
        self.namespaces: dict[int, dict[str, Any]] = {}  # and their globals
        self.twins: dict[tuple[int, SourceFile], Twins] = {}
        self.generated = RUNNING.kept.generated_by(hooks)  # the same for dataclasses
        # By the id of the code that calls hooks: that code, and the original.
        self.originals: dict[int, tuple[CodeType, CodeType]] = {}
        self.is_project_file = functools.cache(is_project_file)

    def again(self) -> None:
        """Swap the code of the functions that came into being since the last time."""
        file_of = functools.cache(source_file)
        found: list[tuple[FunctionType, SourceFile]] = []
        functions, classes = functions_and_classes(all_objects())
        self.last_look = set_apart()
        for function in self.wanted(functions):
            file = file_of(function.__code__.co_filename, PYTEST in function.__globals__)
            if isinstance(file, SourceFile):
                found.append((function, file))
            else:
                self.skip(function, file)
        files = {file for _, file in found}
        for file in files:
            self.stored |= file.stored
            self.is_dynamic = self.is_dynamic or file.is_dynamic
        tracked = {file: file.relevant(self.stored) for file in files}
        for function, file in found:
            self.swap(function, file, tracked[file])
            self.namespaces[id(function.__globals__)] = function.__globals__
        self.functions = [function for function, _ in found]
        for kind in classes:
            if "__dataclass_fields__" in vars(kind):
                self.swap_generated(kind)

    def undo(self) -> None:
        """Put the original code back, also into functions that were made meanwhile."""
        functions, _ = functions_and_classes(newer_objects(self.last_look))
        for function in [*self.swapped, *functions]:
            pair = self.originals.get(id(function.__code__))
            if pair is not None:
                function.__code__ = pair[1]
        RUNNING.kept.keep(self.hooks, self.twins, self.generated)

    def wanted(self, functions: list[FunctionType]) -> list[FunctionType]:
        """The functions of the project, and of the packages that were asked for."""
        # This is asked of all functions of the process: hence first of their files.
        files = list(map(FILE_OF_FUNCTION, functions))
        names = set(filter(self.is_project_file, set(files)))
        found = list(compress(functions, map(names.__contains__, files)))
        if self.extra_packages:
            found += [
                function
                for function, file in zip(functions, files, strict=True)
                if file not in names and self.is_extra(function.__globals__)
            ]
        return [function for function in found if is_users(function.__code__)]

    def is_extra(self, namespace: Mapping[str, Any]) -> bool:
        """Whether a module belongs to one of the packages that were asked for."""
        module = str(namespace.get("__name__"))
        return any(
            module == package or module.startswith(package + ".") for package in self.extra_packages
        )

    def swap(self, function: FunctionType, file: "SourceFile", tracked: frozenset[str]) -> None:
        code = function.__code__
        original = self.originals.get(id(code), (code, code))[1]
        try:
            twin = self.twins_for(function, file, tracked).twin(original)
        except MazurkaError as error:
            self.skip(function, str(error))
            return
        if twin is None:
            self.skip(function, "its source has changed since it was imported")
        elif twin is not code:
            self.originals[id(twin)] = twin, original
            self.swapped.append(function)
            function.__code__ = twin

    def twins_for(
        self, function: FunctionType, file: "SourceFile", tracked: frozenset[str]
    ) -> "Twins":
        """The code with hooks for the module that a function belongs to."""
        place = id(function.__globals__), file
        twins = self.twins.get(place)
        if twins is None or twins.tracked != tracked:
            twins = RUNNING.kept.find(self.hooks, place, tracked)
            if twins is None:
                code = file.rewritten(tracked)
                twins = Twins(file, tracked, code, self.hooks, function.__globals__)
            self.twins[place] = twins
            self.codes.update(twins.codes())
            self.originals.update(twins.originals)
        return twins

    def swap_generated(self, kind: type) -> None:
        """Swap the code of the methods that a dataclass has got."""
        module = sys.modules.get(kind.__module__)
        filename = str(getattr(module, "__file__", None) or FILENAME)
        if module is None or not (self.is_project_file(filename) or self.is_extra(vars(module))):
            return
        for function, source in generated_methods(kind):
            name = file_for(kind, function.__name__, source)
            key = id(vars(module)), name, source
            if key not in self.generated:
                code = bind(rewritten(parsed(source, name), name, set()), self.hooks, vars(module))
                (twin,) = next(iter(functions_of(code).values()))
                self.generated[key] = twin, vars(module)
            twin, _ = self.generated[key]
            self.codes.add(twin)
            self.originals[id(twin)] = twin, function.__code__
            self.swapped.append(function)
            function.__code__ = twin

    def skip(self, function: FunctionType, reason: str) -> None:
        if is_generated(function):
            return
        code = function.__code__
        entry = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})", reason
        self.skipped_codes[id(code)] = code, f"{entry[0]}: {reason}"
        if entry not in self.skipped:
            self.skipped.append(entry)


class SourceFile:
    """What is known of a source file, whichever modules it was loaded as."""

    def __init__(self, filename: str, text: str, pytest_asserts: bool) -> None:
        self.filename = filename
        self.text = text
        self.pytest_asserts = pytest_asserts
        tree, scopes = self.analysed()
        self.unused: tuple[ast.Module, Scopes] | None = (tree, scopes)
        self.functions = functions_of(compiled(tree, filename))
        self.stored = scopes.stored_attributes | scopes.stored_globals
        self.is_dynamic = scopes.is_dynamic()
        self.names = scopes.names()
        self.versions: dict[frozenset[str], CodeType | str] = {}  # or why there is none

    def analysed(self) -> tuple[ast.Module, Scopes]:
        tree = parsed(self.text, self.filename, self.pytest_asserts)
        return tree, Scopes(tree)

    def relevant(self, tracked: Set[str]) -> frozenset[str]:
        """The tracked globals that this file uses."""
        return frozenset(self.names & tracked)

    def rewritten(self, tracked: frozenset[str]) -> CodeType:
        if tracked not in self.versions:
            self.versions[tracked] = self.rewritten_anew(tracked)
        version = self.versions[tracked]
        if isinstance(version, str):
            raise MazurkaError(version)
        return version

    def rewritten_anew(self, tracked: frozenset[str]) -> CodeType | str:
        tree, scopes = self.unused or self.analysed()
        self.unused = None  # the rewriting changes the tree
        try:
            return rewritten(tree, self.filename, tracked, scopes)
        except RecursionError:
            return "its source is nested too deeply"


class Twins:
    """The functions of one module, with hooks."""

    def __init__(
        self,
        file: SourceFile,
        tracked: frozenset[str],
        code: CodeType,
        hooks: Mapping[str, Any],
        namespace: dict[str, Any],
    ) -> None:
        self.file = file
        self.tracked = tracked
        self.namespace = namespace  # kept, so that its id stays its own
        self.functions = functions_of(bind(code, hooks, namespace))
        # For functions that are made meanwhile: their code, and the code to put back.
        self.originals = {
            id(twin): (twin, source)
            for key, twins in self.functions.items()
            for source, twin in zip(file.functions.get(key, []), twins, strict=False)
        }
        self.found: dict[int, tuple[CodeType, CodeType | None]] = {}  # by the original's id

    def twin(self, original: CodeType) -> CodeType | None:
        """The code that does the same as the original; None if the source is not the original's."""
        known = self.found.get(id(original))
        if known is None:
            known = original, self.find_twin(original)
            self.found[id(original)] = known
        return known[1]

    def find_twin(self, original: CodeType) -> CodeType | None:
        key = key_of(original)
        sources, twins = self.file.functions.get(key, []), self.functions.get(key, [])
        # Without columns, lambdas in one line are told apart by their order.
        for source, twin in zip(sources, twins, strict=False):
            if source == original:
                return twin
        # Another version of pytest, or other settings, may have rewritten assertions otherwise.
        return twins[0] if twins and self.file.pytest_asserts else None

    def codes(self) -> Iterator[CodeType]:
        for codes in self.functions.values():
            yield from codes


# For the methods of dataclasses, by module, name and source: the code with hooks; and the namespace
# of the module, so that its id stays its own.
Generated: TypeAlias = dict[tuple[int, str, str], tuple[CodeType, dict[str, Any]]]


class KeptCode:
    """The code with hooks that the latest check has made, for the next one: most of its modules
    will be there as they were."""

    def __init__(self) -> None:
        self.hooks: Mapping[str, Any] = {}
        self.twins: dict[tuple[int, SourceFile], Twins] = {}
        self.generated: Generated = {}
        # By file name, and whether pytest has rewritten it: the source that Python has, and what is
        # known of it.
        self.files: dict[tuple[str, bool], tuple[list[str], SourceFile]] = {}

    def keep(
        self,
        hooks: Mapping[str, Any],
        twins: dict[tuple[int, SourceFile], Twins],
        generated: Generated,
    ) -> None:
        """Keep that of modules that are there anyway."""
        modules = tuple(sys.modules.values())
        namespaces = {id(getattr(module, "__dict__", None)) for module in modules}
        self.hooks = hooks
        self.twins = {place: twins[place] for place in twins if place[0] in namespaces}
        self.generated = {key: generated[key] for key in generated if key[0] in namespaces}

    def find(
        self, hooks: Mapping[str, Any], place: tuple[int, SourceFile], tracked: frozenset[str]
    ) -> Twins | None:
        twins = self.twins.get(place) if hooks is self.hooks else None
        return twins if twins is not None and twins.tracked == tracked else None

    def generated_by(self, hooks: Mapping[str, Any]) -> Generated:
        return self.generated if hooks is self.hooks else {}


def source_file(filename: str, pytest_asserts: bool) -> SourceFile | str:
    """A source file, or why there is none."""
    lines = linecache.getlines(filename)
    if not lines:
        return "its source is not available"
    files = RUNNING.kept.files
    known = files.get((filename, pytest_asserts))
    if known is not None and known[0] is lines:  # as long as the file has not changed
        return known[1]
    text = "".join(lines)
    if known is not None and known[1].text == text:  # it was only read again
        file = known[1]
    else:
        try:
            file = SourceFile(filename, text, pytest_asserts)
        except (SyntaxError, ValueError, RecursionError) as error:
            return f"its source cannot be read: {error}"
    files[filename, pytest_asserts] = lines, file
    return file


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


def is_users(code: CodeType) -> bool:
    """Whether code was neither made up here, nor left behind by an earlier check, nor made by
    Python to run the body of a module."""
    return (
        not code.co_filename.startswith(FILES)
        and not is_helper(code)
        and bool(code.co_flags & inspect.CO_OPTIMIZED)
    )


def is_project_file(filename: str) -> bool:
    """Whether a file belongs to the user, rather than to Python, a library, or Mazurka."""
    if filename.startswith(("<frozen ", "<string>")):
        return False
    is_cell = filename.startswith("<")  # the cells of notebooks have such names, and source
    if not is_cell and is_library(os.path.abspath(filename)):
        return False
    linecache.checkcache(filename)
    return not is_cell or bool(linecache.getlines(filename))


@functools.cache
def is_library(path: str) -> bool:
    folders = PurePath(path).parts
    return path.startswith((*LIBRARIES, PACKAGE)) or not LIBRARY_FOLDERS.isdisjoint(folders)


def functions_of(code: CodeType) -> Functions:
    """The code of everything inside a piece of code, but not of lambdas that were added."""
    functions: Functions = {}
    todo = [code]
    while todo:
        for constant in todo.pop().co_consts:
            if isinstance(constant, CodeType):
                todo.append(constant)
                if not is_helper(constant):
                    functions.setdefault(key_of(constant), []).append(constant)
    return functions


def key_of(code: CodeType) -> Key:
    start, end = extent(code) if code.co_name == "<lambda>" else ((0, 0), (0, 0))
    return code.co_qualname, code.co_firstlineno, code.co_freevars, start, end


def extent(code: CodeType) -> tuple[Place, Place]:
    """Where the source of some code begins and ends, if Python keeps columns."""
    starts: list[Place] = []
    ends: list[Place] = []
    for line, end_line, column, end_column in code.co_positions():
        if line and end_line and end_column and column is not None:
            starts.append((line, column))
            ends.append((end_line, end_column))
    return min(starts, default=(0, 0)), max(ends, default=(0, 0))

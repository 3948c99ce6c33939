"""Swaps the code of the user's functions for code that calls hooks, and back."""

import ast
import functools
import gc
import linecache
import os
import site
import sysconfig
from collections.abc import Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from pathlib import PurePath
from types import CodeType, FunctionType
from typing import Any, TypeAlias

from mazurka.core.result import MazurkaError
from mazurka.program.source import PACKAGE
from mazurka.rewriting.rewrite import (
    bind,
    compiled,
    is_helper,
    parsed,
    rewritten,
    stored_names,
    uses_dynamic_attributes,
)

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
    try:
        instrumentation.again()
        yield instrumentation
    finally:
        instrumentation.undo()


class Instrumentation:
    """The functions whose code is swapped at the moment."""

    def __init__(self, hooks: Mapping[str, Any], extra_packages: Sequence[str]) -> None:
        self.hooks = hooks
        self.extra_packages = extra_packages
        self.codes: set[CodeType] = set()  # all code that calls hooks
        self.skipped: list[tuple[str, str]] = []  # functions that do not, and why
        self.stored: set[str] = set()  # the attributes and globals that can change
        self.is_dynamic = False  # others may, too, as some code takes names of attributes as values
        self.functions: list[FunctionType] = []  # those that were found at the last look
        self.namespaces: dict[int, dict[str, Any]] = {}  # and their globals
        self.twins: dict[tuple[int, SourceFile], Twins] = {}
        # By the id of the code that calls hooks: that code, and the original.
        self.originals: dict[int, tuple[CodeType, CodeType]] = {}
        self.is_project_file = functools.cache(is_project_file)

    def again(self) -> None:
        """Swap the code of the functions that came into being since the last time."""
        file_of = functools.cache(source_file)
        found: list[tuple[FunctionType, SourceFile]] = []
        for function in filter(self.is_wanted, all_functions()):
            filename = function.__code__.co_filename
            file = file_of(filename, PYTEST in function.__globals__)
            if isinstance(file, SourceFile):
                found.append((function, file))
            elif not filename.startswith("<"):
                self.skip(function, file)
        for file in {file for _, file in found}:
            self.stored |= file.stored
            self.is_dynamic = self.is_dynamic or file.is_dynamic
        for function, file in found:
            self.swap(function, file)
            self.namespaces[id(function.__globals__)] = function.__globals__
        self.functions = [function for function, _ in found]

    def undo(self) -> None:
        """Put the original code back, also into functions that were made meanwhile."""
        for function in all_functions():
            pair = self.originals.get(id(function.__code__))
            if pair is not None:
                function.__code__ = pair[1]

    def is_wanted(self, function: FunctionType) -> bool:
        if function.__code__.co_name == "<module>":  # a module that is being imported
            return False
        if self.is_project_file(function.__code__.co_filename):
            return True
        module = str(function.__globals__.get("__name__"))
        return any(
            module == package or module.startswith(package + ".") for package in self.extra_packages
        )

    def swap(self, function: FunctionType, file: "SourceFile") -> None:
        code = function.__code__
        original = self.originals.get(id(code), (code, code))[1]
        try:
            twin = self.twins_for(function, file).twin(original)
        except MazurkaError as error:
            self.skip(function, str(error))
            return
        if twin is None:
            self.skip(function, "its source has changed since it was imported")
        elif twin is not code:
            self.originals[id(twin)] = twin, original
            function.__code__ = twin

    def twins_for(self, function: FunctionType, file: "SourceFile") -> "Twins":
        """The code with hooks for the module that a function belongs to."""
        tracked = file.relevant(self.stored)
        place = id(function.__globals__), file
        twins = self.twins.get(place)
        if twins is None or twins.tracked != tracked:
            bound = bind(file.rewritten(tracked), self.hooks, function.__globals__)
            twins = self.twins[place] = Twins(file, tracked, bound)
            self.codes.update(twins.codes())
            self.originals.update(twins.originals())
        return twins

    def skip(self, function: FunctionType, reason: str) -> None:
        code = function.__code__
        entry = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})", reason
        if entry not in self.skipped:
            self.skipped.append(entry)


class SourceFile:
    """What is known of a source file, whichever modules it was loaded as."""

    def __init__(self, filename: str, text: str, pytest_asserts: bool) -> None:
        self.filename = filename
        self.text = text
        self.pytest_asserts = pytest_asserts
        tree = parsed(text, filename, pytest_asserts)
        self.functions = functions_of(compiled(tree, filename))
        self.stored = stored_names(tree)
        self.is_dynamic = uses_dynamic_attributes(tree)
        self.names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        self.versions: dict[frozenset[str], CodeType] = {}

    def relevant(self, tracked: Set[str]) -> frozenset[str]:
        """The tracked globals that this file may use; of private names, the source shows a part."""
        return frozenset(name for name in tracked if name in self.names or "__" in name)

    def rewritten(self, tracked: frozenset[str]) -> CodeType:
        if tracked not in self.versions:
            tree = parsed(self.text, self.filename, self.pytest_asserts)
            self.versions[tracked] = rewritten(tree, self.filename, tracked)
        return self.versions[tracked]


class Twins:
    """The functions of one module, with hooks."""

    def __init__(self, file: SourceFile, tracked: frozenset[str], module: CodeType) -> None:
        self.file = file
        self.tracked = tracked
        self.functions = functions_of(module)

    def twin(self, original: CodeType) -> CodeType | None:
        """The code that does the same as the original; None if the source is not the original's."""
        key = key_of(original)
        sources = self.file.functions.get(key, [])
        # Another version of pytest, or other settings, may have rewritten assertions otherwise.
        if original not in sources and not self.file.pytest_asserts:
            return None
        return self.functions[key][0] if key in self.functions else None

    def codes(self) -> Iterator[CodeType]:
        for codes in self.functions.values():
            yield from codes

    def originals(self) -> Iterator[tuple[int, tuple[CodeType, CodeType]]]:
        """For functions that are made meanwhile: their code, and the code to put back."""
        for key, codes in self.functions.items():
            for code in codes:
                if key in self.file.functions:
                    yield id(code), (code, self.file.functions[key][0])


def source_file(filename: str, pytest_asserts: bool) -> SourceFile | str:
    """A source file, or why there is none."""
    text = "".join(linecache.getlines(filename))
    if not text:
        return "its source is not available"
    try:
        return analysed(filename, text, pytest_asserts)
    except (SyntaxError, ValueError) as error:
        return f"its source cannot be read: {error}"


@functools.cache
def analysed(filename: str, text: str, pytest_asserts: bool) -> SourceFile:
    return SourceFile(filename, text, pytest_asserts)


def all_functions() -> list[FunctionType]:
    gc.unfreeze()  # else those that were frozen would not be found
    return [thing for thing in gc.get_objects() if type(thing) is FunctionType]


def is_project_file(filename: str) -> bool:
    """Whether a file belongs to the user, rather than to Python, a library, or Mazurka."""
    if filename.startswith(("<frozen ", "<string>")):
        return False
    linecache.checkcache(filename)
    if filename.startswith("<"):  # the cells of notebooks have such names, and source
        return bool(linecache.getlines(filename))
    path = os.path.abspath(filename)
    if path.startswith((*LIBRARIES, PACKAGE)):
        return False
    return LIBRARY_FOLDERS.isdisjoint(PurePath(path).parts)


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

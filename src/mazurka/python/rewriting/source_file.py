"""Source files, and the code with hooks that their functions get: part by part, as it is needed."""

import ast
import copy
import linecache
from collections.abc import Iterable, Iterator, Mapping
from types import CodeType
from typing import Any, TypeAlias

from mazurka.engine.errors import MazurkaError
from mazurka.python.check import RUNNING
from mazurka.python.rewriting.rewrite import bind, compiled, is_helper, parsed, rewritten
from mazurka.python.rewriting.scopes import FunctionNode, Scopes
from mazurka.python.rewriting.whose_code import path_of

# What tells the functions of a file apart: name, line, closure; and of lambdas, which may share a
# line, the place.
Place: TypeAlias = tuple[int, int]
Key: TypeAlias = tuple[str, int, tuple[str, ...], Place, Place]
Functions: TypeAlias = dict[Key, list[CodeType]]

# How to find something in the statements of a module: the number of a class, of a class in that,
# and so on; in the end from which statement to before which.
Path: TypeAlias = tuple[int, ...]


class SourceFile:
    """What is known of a source file, whichever modules it was loaded as."""

    def __init__(self, filename: str, text: str, pytest_asserts: bool) -> None:
        self.filename = filename
        self.text = text
        self.pytest_asserts = pytest_asserts
        self.analysis: Analysis | None = None  # it is large, and may be forgotten
        self.taken: set[Path] = set()  # the parts of its tree that may have been changed
        tree, scopes = self.analysed()
        self.stored = scopes.stored_attributes | scopes.stored_globals
        self.names = scopes.names()
        self.lines = [Lines(statement) for statement in tree.body]
        self.parts: dict[Path, Part] = {}

    def analysed(self) -> "Analysis":
        if self.analysis is None:
            tree = parsed(self.text, self.filename, self.pytest_asserts)
            self.analysis = tree, Scopes(tree)
            self.taken = set()
        return self.analysis

    def part_with(self, code: CodeType) -> "Part":
        """The part that a function's code comes from."""
        path = path_to(self.lines, code.co_firstlineno)
        if path not in self.parts:
            self.parts[path] = Part(self, path)
        return self.parts[path]

    def take(self, path: Path) -> "Analysis":
        """A part of the tree, to be changed, and the scopes of the whole."""
        if any(overlap(path, other) for other in self.taken):
            self.analysis = None
        tree, scopes = self.analysed()
        self.taken.add(path)
        return reduced(tree, scopes, path), scopes


# A tree, and the scopes in it.
Analysis: TypeAlias = tuple[ast.Module, Scopes]


class Lines:
    """Where a statement begins and ends; the same for those in it if it is a class."""

    def __init__(self, statement: ast.stmt) -> None:
        decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
        self.first = min([statement.lineno, *(each.lineno for each in decorators)])
        self.last = statement.end_lineno or statement.lineno
        body = statement.body if isinstance(statement, ast.ClassDef) else []
        self.parts = [Lines(each) for each in body]


def path_to(statements: list[Lines], line: int) -> Path:
    """To the smallest part that holds a line. Only modules and classes are divided into parts."""
    found = [n for n, each in enumerate(statements) if each.first <= line <= each.last]
    if not found:
        return ()
    if len(found) == 1:
        inner = path_to(statements[found[0]].parts, line)
        if inner:
            return found[0], *inner
    return found[0], found[-1] + 1


def overlap(one: Path, other: Path) -> bool:
    if not one or not other:
        return False
    if one[:-2] == other[:-2]:
        return one[-2] < other[-1] and other[-2] < one[-1]
    outer, inner = sorted((one, other), key=len)
    depth = len(outer) - 2
    return outer[:-2] == inner[:depth] and outer[-2] <= inner[depth] < outer[-1]


def reduced(tree: ast.Module, scopes: Scopes, path: Path) -> ast.Module:
    """A module with nothing but a part, in its classes, and what says how it is compiled."""
    body = tree.body
    classes: list[ast.ClassDef] = []
    for number in path[:-2]:
        outer = body[number]
        assert isinstance(outer, ast.ClassDef)
        classes.append(outer)
        body = outer.body
    body = body[slice(*path[-2:])] if path else []
    for outer in reversed(classes):
        shell = copy.copy(outer)
        shell.bases, shell.keywords, shell.decorator_list, shell.body = [], [], [], body
        scopes.of[shell] = scopes.of[outer]
        body = [shell]
    return ast.Module(body=[*imports_in(tree.body), *body], type_ignores=[])


def imports_in(statements: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Those of a module itself, which decide how the methods of what is imported are called, and
    which features of future versions of Python there are."""
    for statement in statements:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            yield statement
        elif not isinstance(statement, FunctionNode | ast.ClassDef | ast.expr):
            yield from imports_in(ast.iter_child_nodes(statement))


class Part:
    """Some statements of a module or class, with the functions in them."""

    def __init__(self, file: SourceFile, path: Path) -> None:
        self.file = file
        self.path = path
        self.unused: Analysis | None = file.take(path)
        self.functions = functions_of(compiled(self.unused[0], file.filename))
        self.versions: dict[frozenset[str], CodeType | str] = {}  # or why there is none

    def rewritten(self, tracked: frozenset[str]) -> CodeType:
        """The code with hooks. `tracked` are globals that others store to."""
        if tracked not in self.versions:
            self.versions[tracked] = self.rewritten_anew(tracked)
        version = self.versions[tracked]
        if isinstance(version, str):
            raise MazurkaError(version)
        return version

    def rewritten_anew(self, tracked: frozenset[str]) -> CodeType | str:
        tree, scopes = self.unused or self.file.take(self.path)
        self.unused = None  # the rewriting changes the tree
        try:
            return rewritten(tree, self.file.filename, tracked, scopes)
        except RecursionError:
            return "its source is nested too deeply"


class Twins:
    """The functions of a part, with hooks, in one module."""

    def __init__(
        self,
        part: Part,
        tracked: frozenset[str],
        hooks: Mapping[str, Any],
        namespace: dict[str, Any],
    ) -> None:
        self.part = part
        self.tracked = tracked
        self.namespace = namespace  # kept, so that its id stays its own
        self.functions = functions_of(bind(part.rewritten(tracked), hooks, namespace))
        # For functions that are made meanwhile: their code, and the code to put back.
        self.originals = {
            id(twin): (twin, source)
            for key, twins in self.functions.items()
            for source, twin in zip(part.functions.get(key, []), twins, strict=False)
        }

    def twin(self, original: CodeType) -> CodeType | None:
        """The code that does the same as the original; None if the source is not the original's."""
        key = key_of(original)
        sources, twins = self.part.functions.get(key, []), self.functions.get(key, [])
        # Without columns, lambdas in one line are told apart by their order.
        for source, twin in zip(sources, twins, strict=False):
            if source == original:
                return twin
        # Another version of pytest, or other settings, may have rewritten assertions otherwise.
        return twins[0] if twins and self.part.file.pytest_asserts else None

    def codes(self) -> Iterator[CodeType]:
        for codes in self.functions.values():
            yield from codes


def source_file(filename: str, pytest_asserts: bool) -> SourceFile | str:
    """A source file, or why there is none."""
    lines = linecache.getlines(path_of(filename))
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

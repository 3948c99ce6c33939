"""Where in the user's source something happens."""

import ast
import functools
import linecache
import os
import queue
import sys
import threading
from concurrent import futures
from inspect import CO_OPTIMIZED
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, cast

PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
# Frames of these are not where a step happens, for users: it is the line that called them.
PLUMBING: Final = (
    PACKAGE,
    threading.__file__,
    queue.__file__,
    os.path.dirname(futures.__file__),
    os.path.join(os.path.dirname(threading.__file__), "asyncio") + os.sep,
)
LIBRARY: Final = os.path.dirname(os.__file__) + os.sep
NOT_USERS: Final = (PACKAGE, os.path.dirname(os.__file__), "<frozen ")
PACKAGES: Final = ("site-packages", "dist-packages")  # in the folder of the standard library
COMPILED: Final = not __file__.endswith(".py")

innermost_frame: Final = sys._getframe

OF_METHODS: Final = ("self", "cls")  # which say nothing to those who are elsewhere
COMPREHENSIONS: Final = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")


def here() -> FrameType | None:
    """The innermost frame that is the user's."""
    return users_frame(running_frame())


def running_frame() -> FrameType | None:
    """The innermost frame."""
    try:
        return innermost_frame()
    except ValueError:  # a thread whose function is itself compiled
        return None


def callers_frame() -> FrameType:
    """The frame of the rewritten code that has called a hook."""
    frame: FrameType | None = innermost_frame()
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    assert frame is not None
    return frame


def variables_of(names: tuple[str, ...]) -> dict[str, object]:
    """Variables of the function that is running, and global ones, by name; those without a value
    are left out."""
    if not names:
        return {}
    frame: Any = callers_frame()  # of which local variables are no dict from Python 3.13 on
    code: CodeType = frame.f_code
    found: dict[str, object] = {}
    if code.co_name in COMPREHENSIONS:  # which do not have all variables of their function
        return found
    local = {*code.co_varnames, *code.co_cellvars, *code.co_freevars}
    for name in names:
        variables = frame.f_locals if name in local else frame.f_globals
        if name in variables:
            found[name] = variables[name]
    return found


def users_variable(thing: object) -> str:
    """The local variable that has an object, in the outermost function that has one: that is
    nearest to what is checked."""
    found = ""
    frame: Any = running_frame()
    while frame is not None:
        code: CodeType = frame.f_code
        if code.co_flags & CO_OPTIMIZED and not code.co_filename.startswith(PLUMBING):
            found = local_variable(frame, thing) or found
        frame = frame.f_back
    return found


def local_variable(frame: Any, thing: object) -> str:
    for name, value in frame.f_locals.items():
        if value is thing and name.isidentifier() and name not in OF_METHODS:
            return str(name)
    return ""


def users_frame(frame: FrameType | None) -> FrameType | None:
    while frame is not None and frame.f_code.co_filename.startswith(PLUMBING):
        frame = frame.f_back
    return frame


def is_in_library(frame: FrameType) -> bool:
    """Whether code of the standard library runs, and of no package that was installed."""
    name = frame.f_code.co_filename
    if not name.startswith(LIBRARY):
        return name.startswith("<frozen ")
    return not name.removeprefix(LIBRARY).startswith(PACKAGES)


def caller_of_library() -> FrameType | None:
    """Whoever has called the standard library, if that runs now."""
    innermost = frame = here()
    while frame is not None and is_in_library(frame):
        frame = users_frame(frame.f_back)
    return None if frame is innermost else frame


def place_of_user() -> str:
    """Where the user's own code is now, for a message: not in the standard library."""
    frame = here()
    while frame is not None and frame.f_code.co_filename.startswith(NOT_USERS):
        frame = frame.f_back
    return "" if frame is None else f" at {frame.f_code.co_filename}:{frame.f_lineno}"


def place_of_line() -> str:
    """The user's line that runs now, by a name that holds in every process and on every machine."""
    frame = here()
    return "" if frame is None else f"{frame.f_globals.get('__name__')}:{frame.f_lineno}"


def place(code: object, instruction: int) -> tuple[str, int]:
    """File and line of an instruction."""
    if code is None:
        return "", 0
    code = cast(CodeType, code)
    line = 0
    for start, end, number in code.co_lines():
        if start <= instruction < end and number is not None:
            line = number
    return code.co_filename, line or code.co_firstlineno


def raised_at(error: BaseException) -> tuple[CodeType, int] | None:
    """The innermost instruction of the user's that an exception came through."""
    found = None
    traceback = error.__traceback__
    while traceback is not None:
        if not is_ours(traceback) and not is_of_test_framework(traceback):
            found = traceback.tb_frame.f_code, traceback.tb_lasti
        traceback = traceback.tb_next
    return found


def users_traceback(error: BaseException) -> TracebackType | None:
    """The traceback of an exception without what is Mazurka's own."""
    entries = []
    traceback = error.__traceback__
    while traceback is not None:
        if not is_ours(traceback) and not is_entrance(traceback.tb_frame.f_code):
            entries.append(traceback)
        traceback = traceback.tb_next
    kept: TracebackType | None = None
    for entry in reversed(entries):
        kept = TracebackType(kept, entry.tb_frame, entry.tb_lasti, entry.tb_lineno)
    return kept


def is_ours(traceback: TracebackType) -> bool:
    # The frames that compiled code leaves in a traceback have made-up file names.
    return str(traceback.tb_frame.f_globals.get("__name__")).startswith("mazurka.")


def is_entrance(code: CodeType) -> bool:
    """Whether a code object stands in for that of a function, which it has, and calls it. (What a
    function itself has are the functions in it, whose names are longer.)"""
    return any(
        isinstance(value, CodeType) and value.co_qualname == code.co_qualname
        for value in code.co_consts
    )


def is_of_test_framework(traceback: TracebackType) -> bool:
    """Whether an exception came through pytest.fail or TestCase.assertEqual, say."""
    variables = traceback.tb_frame.f_globals
    return "__unittest" in variables or str(variables.get("__name__")).startswith("_pytest.")


def source_line(file: str, line: int) -> str:
    return linecache.getline(file, line).strip()


def assigned_name(code: object, instruction: int) -> str | None:
    """The variable that the result of a call is assigned to, if the source shows it."""
    if code is None:
        return None
    code = cast(CodeType, code)
    positions = list(code.co_positions())
    line, _, column, _ = positions[min(instruction // 2, len(positions) - 1)]
    if line is None or column is None:
        return None
    for assignment in assignments("".join(linecache.getlines(code.co_filename))):
        if assignment.lineno <= line <= (assignment.end_lineno or 0):
            name = name_in(assignment, line, column)
            if name is not None:
                return name
    return None


@functools.lru_cache(maxsize=64)
def assignments(source: str) -> list[ast.Assign | ast.AnnAssign]:
    """The assignments in a source, the innermost last."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError):
        return []
    return [node for node in ast.walk(tree) if isinstance(node, ast.Assign | ast.AnnAssign)]


def name_in(assignment: ast.Assign | ast.AnnAssign, line: int, column: int) -> str | None:
    """What an assignment calls the object that is made at a place of the source."""
    targets = assignment.targets if isinstance(assignment, ast.Assign) else [assignment.target]
    target, value = targets[0], assignment.value
    if value is None:
        return None
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        for part, made in zip(target.elts, value.elts, strict=False):
            if makes(made, line, column):
                return ast.unparse(part)
    return ast.unparse(target) if makes(value, line, column) else None


def makes(node: ast.expr | None, line: int, column: int) -> bool:
    """Whether a value is the object that is made at a place of the source, or a collection of it
    (and not, say, an object that was given it)."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Call):
        if (node.lineno, node.col_offset) == (line, column):
            return True
        if ast.unparse(node.func).endswith("Condition"):  # Condition(Lock()): one thing to users
            parts = node.args
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        parts = node.elts
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        parts = [node.elt]
    elif isinstance(node, ast.Dict):
        parts = node.values
    elif isinstance(node, ast.DictComp):
        parts = [node.value]
    return any(makes(part, line, column) for part in parts)

"""Small edits of failing programs: whether the failing execution that is kept is still found in one
execution. The edits are mechanical, and leave the bug where it is."""

import ast
import contextlib
import importlib.util
import io
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from rich import box
from rich.table import Table

import mazurka
from mazurka.api import followed_again, learnt_by, runnable, session_of
from mazurka.engine.following import difference
from mazurka.engine.program import Program
from mazurka.options import Options

EXAMPLES = Path(__file__).parents[1] / "examples"
FAILING = {
    "bank_account.py": "check_then_act",
    "bounded_buffer.py": "wait_once wake_any_one",
    "bugs/races.py": (
        "lost_update check_then_act lazy_init double_checked_lock unsafe_publication torn_read "
        "changed_while_iterated iterator_shared queue_wrapper aba read_write_lock"
    ),
    "bugs/tasks.py": "interleaved_await cancelled_await",
    "bugs/waits.py": (
        "abba lost_wake_up if_instead_of_while notified_too_early semaphore_leaked "
        "executor_waits_for_itself livelock"
    ),
    "lost_update.py": "read_then_write",
    "message_passing.py": "flag_then_data flag_taken_back",
    "philosophers.py": "all_left_handed",
    "test_transfer.py": "test_transfer",
}
Functions = ast.FunctionDef | ast.AsyncFunctionDef

# How an edited program fares. "otherwise" is a failure, too, but another one.
AS_IT_WAS, FIRST, SECOND, OTHERWISE, MISSED, GONE = "as it was", "1", "2", "other", "-", "gone"
HOW = (AS_IT_WAS, FIRST, SECOND, OTHERWISE, MISSED, GONE)


class Example(NamedTuple):
    file: str
    function: str

    @property
    def name(self) -> str:
        return f"{self.file}::{self.function}"


def examples_called(part: str) -> list[Example]:
    """The failing examples with some text in their names."""
    found = [Example(file, name) for file, names in FAILING.items() for name in names.split()]
    return [example for example in found if part in example.name]


# The edits


def functions_of(tree: ast.Module) -> list[Functions]:
    return [node for node in ast.walk(tree) if isinstance(node, Functions)]


def begin_of(function: Functions) -> int:
    """Where the body begins, after a docstring."""
    return 1 if ast.get_docstring(function) is not None and len(function.body) > 1 else 0


def inserted(source: str, statement: str) -> str:
    """A statement at the beginning of every function."""
    tree = ast.parse(source)
    for function in functions_of(tree):
        function.body[begin_of(function) : begin_of(function)] = ast.parse(statement).body
    return ast.unparse(ast.fix_missing_locations(tree))


def blank_lines(source: str) -> str:
    """A blank line above every line that begins a statement in a function."""
    return with_lines_above(source, "")


def comments(source: str) -> str:
    return with_lines_above(source, "# It is as it was.")


def with_lines_above(source: str, line: str) -> str:
    lines = source.splitlines()
    starts = {
        statement.lineno: statement.col_offset
        for function in functions_of(ast.parse(source))
        for statement in function.body
    }
    for number in sorted(starts, reverse=True):
        lines.insert(number - 1, " " * starts[number] + line if line else "")
    return "\n".join(lines) + "\n"


class Renaming(ast.NodeTransformer):
    def __init__(self, names: set[str]) -> None:
        self.names = names

    def visit_Name(self, node: ast.Name) -> ast.Name:
        if node.id in self.names:
            node.id = f"{node.id}_now"
        return node


def renamed_locals(source: str) -> str:
    """All variables of functions have other names, but for parameters."""
    tree = ast.parse(source)
    for function in [node for node in tree.body if isinstance(node, Functions | ast.ClassDef)]:
        names: set[str] = set()
        others: set[str] = set()
        for node in ast.walk(function):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.arg):
                others.add(node.arg)
            elif isinstance(node, ast.Global | ast.Nonlocal):
                others.update(node.names)
        if isinstance(function, ast.ClassDef):  # its attributes keep their names
            others |= {name for statement in function.body for name in stored_in(statement)}
        Renaming(names - others).visit(function)
    return ast.unparse(tree)


def stored_in(statement: ast.stmt) -> set[str]:
    if isinstance(statement, Functions):
        return set()
    names = [node for node in ast.walk(statement) if isinstance(node, ast.Name)]
    return {node.id for node in names if isinstance(node.ctx, ast.Store)}


def unrelated_statement(source: str) -> str:
    return inserted(source, "unrelated = 1 + 1")


def own_computation(source: str) -> str:
    return inserted(source, "own = sorted({number: str(number) for number in range(5)}.values())")


def a_print(source: str) -> str:
    return inserted(source, "print('here')")


def docstrings(source: str) -> str:
    tree = ast.parse(source)
    for function in functions_of(tree):
        function.body[: begin_of(function)] = ast.parse("'''What it does now.'''").body
    return ast.unparse(ast.fix_missing_locations(tree))


def reordered(source: str) -> str:
    """The functions of the module in the opposite order, after its classes."""
    tree = ast.parse(source)
    functions = [node for node in tree.body if isinstance(node, Functions)]
    main = [node for node in tree.body if isinstance(node, ast.If)]
    rest = [node for node in tree.body if node not in functions and node not in main]
    tree.body = [*rest, *reversed(functions), *main]
    return ast.unparse(tree)


class ReadingBefore(ast.NodeTransformer):
    """What is assigned to an attribute or an item is read before that, too."""

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        return reading(node.targets[0], node)

    def visit_AugAssign(self, node: ast.AugAssign) -> list[ast.stmt]:
        return reading(node.target, node)


def reading(target: ast.expr, node: ast.stmt) -> list[ast.stmt]:
    if not isinstance(target, ast.Attribute):
        return [node]
    return [*ast.parse(f"getattr({ast.unparse(target.value)}, '{target.attr}', None)").body, node]


def extra_read(source: str) -> str:
    return ast.unparse(ast.fix_missing_locations(ReadingBefore().visit(ast.parse(source))))


def another_lock(source: str) -> str:
    """A lock that every function makes, and takes: the numbers of other objects change with it."""
    return inserted(source, "spare = __import__('threading').Lock()\nwith spare: pass")


EDITS: dict[str, Callable[[str], str]] = {
    "blank lines": blank_lines,
    "comments": comments,
    "renamed locals": renamed_locals,
    "unrelated statement": unrelated_statement,
    "own computation": own_computation,
    "print": a_print,
    "docstrings": docstrings,
    "reordered": reordered,
    "extra read": extra_read,
    "another lock": another_lock,
}


# Measuring


@contextlib.contextmanager
def program_of(example: Example, source: str) -> Iterator[Callable[[], object]]:
    """The function of an example, with this source."""
    name = f"edited_{Path(example.file).stem}"
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.py"
        file.write_text(source, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        try:
            spec.loader.exec_module(module)
            function = getattr(module, example.function)
            yield getattr(function, "__wrapped__", function)
        finally:
            del sys.modules[name]


def tried_after(example: Example) -> dict[str, str]:
    """How the failing execution of an example fares after each edit."""
    source = (EXAMPLES / example.file).read_text(encoding="utf-8")
    with program_of(example, source) as program, silence():
        (schedule,) = [failure.schedule for failure in mazurka.explore(program).failures]
    return {name: tried_with(example, edit(source), schedule) for name, edit in EDITS.items()}


def tried_with(example: Example, source: str, schedule: mazurka.Schedule) -> str:
    with program_of(example, source) as program, silence():
        session = session_of(runnable(program), Options().checked().with_granularity(False))

        def follow(program: Program) -> str:
            runs = followed_again(schedule, program)
            if not runs:
                return MISSED
            now = program.failure().schedule
            if not schedule.is_same_failure(now):
                return OTHERWISE
            return str(runs) if difference(schedule.steps, now.steps) else AS_IT_WAS

        found = session.run(follow, learnt_by(schedule))
        if found == MISSED and not mazurka.explore(program, max_executions=1000).failures:
            return GONE
        return found


@contextlib.contextmanager
def silence() -> Iterator[None]:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        yield


def render(found: dict[Example, dict[str, str]]) -> Table:
    """An edit a row: in how many examples the schedule fits as it was; in how many others it was
    followed as far as it fits, and the failure found in the first execution, or the second; in how
    many it led to another failure, or to none; and which these are."""
    table = Table(box=box.SIMPLE)
    for heading in ("edit", "fits", "1st", "2nd", "other", "missed", "no bug left"):
        table.add_column(heading, justify="left" if heading == "edit" else "right")
    table.add_column("which")
    for edit in EDITS:
        fared = [each[edit] for each in found.values()]
        missed = [
            f"{example.function} ({each[edit]})"
            for example, each in found.items()
            if each[edit] not in (AS_IT_WAS, FIRST)
        ]
        counts = [str(fared.count(how)) for how in HOW]
        table.add_row(edit, *counts, ", ".join(missed))
    return table

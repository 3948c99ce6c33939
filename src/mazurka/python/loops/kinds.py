"""What the source of a loop tells about it."""

import ast

from mazurka.python.loops.liveness import FUNCTIONS
from mazurka.python.loops.rounds import ANY_LOOP, POLLS, SUSPENDS
from mazurka.python.loops.sleeping_variables import time_slept

SUSPENDING = ast.Await | ast.Yield | ast.YieldFrom | ast.AsyncFor | ast.AsyncWith


def sort_of(loop: ast.While) -> int:
    if may_suspend(loop):
        return SUSPENDS
    return POLLS if only_polls(loop) else ANY_LOOP


def may_suspend(node: ast.AST) -> bool:
    """Whether other code of the same thread may run in between."""
    if isinstance(node, FUNCTIONS | ast.Lambda):
        return False
    if isinstance(node, SUSPENDING) or (isinstance(node, ast.comprehension) and node.is_async):
        return True
    return any(map(may_suspend, ast.iter_child_nodes(node)))


def only_polls(loop: ast.While) -> bool:
    """Whether a loop is nothing but a read and a test."""
    return all(map(does_nothing, loop.body)) and number_of_reads(loop.test) == 1


def number_of_reads(node: ast.expr) -> int:
    """A call of a method is one, with the attribute that it is found under."""
    parts = list(ast.walk(node))
    calls = [part for part in parts if isinstance(part, ast.Call)]
    called = [call.func for call in calls]
    others = [
        part
        for part in parts
        if isinstance(part, ast.Attribute | ast.Subscript) and part not in called
    ]
    names = [part for part in parts if isinstance(part, ast.Name)]
    return len(calls) + len(others) or len(names)


def does_nothing(statement: ast.stmt) -> bool:
    """`pass`, `...`, `continue`, and `time.sleep` for a time that is written there."""
    if isinstance(statement, ast.Pass | ast.Continue):
        return True
    if not isinstance(statement, ast.Expr):
        return False
    value = statement.value
    return isinstance(value, ast.Constant) or isinstance(time_slept(value), ast.Constant)

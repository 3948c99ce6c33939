"""Variables that are there for the sake of sleeping alone: delays, and counts of rounds.

    delay = 0.01
    while not box.ready:
        time.sleep(delay + random.uniform(0, 0.01))
        delay = min(2 * delay, 1)

How long a thread sleeps is no matter to anybody, so neither is `delay`, nor which random numbers
are drawn for it: such variables are called *faint*. They are used to compute faint variables and
how long to sleep, and to decide about that, and nowhere else. The arithmetic must be such that it
never fails for numbers that are not negative, and gives such numbers again. (To sleep for longer
than the world exists does fail; nobody gets there.) That `time.sleep` is what it seems to be is
found out when the program runs.
"""

import ast
import random
from collections.abc import Iterator, Sequence

Names = frozenset[str]

# Functions of `random` that give numbers which are not negative, if they are given such numbers;
# and those that fail for some, and so must be given such as are written there.
DRAWING = {"random", "uniform", "triangular"}
DRAWING_CAREFULLY = {"randint", "randrange", "expovariate"}
GROWING = ast.Add | ast.Mult
DIVIDING = ast.Mod | ast.FloorDiv | ast.Div
NESTED = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda


def faint_names(body: Sequence[ast.stmt], assigned: Names) -> Names:
    """Those of the variables that a function assigns which are faint."""
    faint = assigned
    while True:
        left = faint - {name for statement in body for name in strong_uses(statement, faint)}
        if left == faint:
            return faint
        faint = left


def strong_uses(node: ast.AST, faint: Names) -> Iterator[str]:
    """The names that are used for more than faint variables and sleeping; those that are declared
    to be of another function, too."""
    if isinstance(node, ast.stmt) and is_faint(node, faint):
        return
    if isinstance(node, NESTED):
        for part in ast.walk(node):
            yield from names_in(part)
        return
    if not (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)):
        yield from names_in(node)
    for child in ast.iter_child_nodes(node):
        yield from strong_uses(child, faint)


def names_in(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Global | ast.Nonlocal):
        yield from node.names
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.AugAssign):
        yield from names_in(node.target)


def is_faint(node: ast.stmt, faint: Names) -> bool:
    """Whether all that a statement does is to assign faint variables and to sleep."""
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.Expr):
        slept = time_slept(node.value)
        return isinstance(node.value, ast.Constant) or (slept is not None and is_harmless(slept))
    if isinstance(node, ast.Assign):
        targets = node.targets
        return all(is_one_of(target, faint) for target in targets) and is_harmless(node.value)
    if isinstance(node, ast.AugAssign):
        return is_one_of(node.target, faint) and is_arithmetic(node.op, node.value)
    if isinstance(node, ast.If):
        return is_harmless(node.test) and all(
            is_faint(statement, faint) for statement in (*node.body, *node.orelse)
        )
    return False


def is_one_of(target: ast.expr, names: Names) -> bool:
    return isinstance(target, ast.Name) and target.id in names


def time_slept(node: ast.expr) -> ast.expr | None:
    """How long `time.sleep` sleeps, if this is a call of it."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    function = node.func
    is_sleep = (isinstance(function, ast.Name) and function.id == "sleep") or (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and function.attr == "sleep"
    )
    return node.args[0] if is_sleep and not isinstance(node.args[0], ast.Starred) else None


def is_harmless(node: ast.expr) -> bool:
    """Whether an expression of numbers that are not negative gives such a number, or a truth
    value."""
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float, bool)
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Pow):
            return is_positive(node.left) and is_harmless(node.right)
        return is_harmless(node.left) and is_arithmetic(node.op, node.right)
    if isinstance(node, ast.Compare):
        return all(map(is_harmless, [node.left, *node.comparators])) and all(
            isinstance(operator, ast.Eq | ast.NotEq | ast.Lt | ast.LtE | ast.Gt | ast.GtE)
            for operator in node.ops
        )
    if isinstance(node, ast.BoolOp):
        return all(map(is_harmless, node.values))
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not) and is_harmless(node.operand)
    return isinstance(node, ast.Call) and is_harmless_call(node)


def is_arithmetic(operator: ast.operator, right: ast.expr) -> bool:
    if isinstance(operator, DIVIDING):
        return is_positive(right)
    return isinstance(operator, GROWING) and is_harmless(right)


def is_positive(node: ast.expr) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int | float) and value > 0


def is_harmless_call(node: ast.Call) -> bool:
    """`min(a, b)`, `max(a, b)`, `random.uniform(a, b)`."""
    if node.keywords or not all(map(is_harmless, node.args)):
        return False
    if isinstance(node.func, ast.Name):
        return node.func.id in ("min", "max") and len(node.args) > 1
    return is_draw(node)


def is_draw(node: ast.Call) -> bool:
    function = node.func
    if not isinstance(function, ast.Attribute) or not isinstance(function.value, ast.Name):
        return False
    return function.attr in DRAWING or (
        function.attr in DRAWING_CAREFULLY and can_be_drawn(function.attr, node.args)
    )


def can_be_drawn(name: str, arguments: list[ast.expr]) -> bool:
    try:
        values = [ast.literal_eval(argument) for argument in arguments]
        return bool(getattr(random.Random(), name)(*values) >= 0)
    except (ArithmeticError, TypeError, ValueError):
        return False


def called_in(node: ast.AST) -> Iterator[str]:
    """The functions that a faint statement calls: `time.sleep`, `random.uniform`, `min`."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call):
            yield ast.unparse(part.func)


def used_in(node: ast.AST) -> Iterator[str]:
    """The variables that a faint statement uses, but for the functions that it calls."""
    calls = [part for part in ast.walk(node) if isinstance(part, ast.Call)]
    called = {part for call in calls for part in ast.walk(call.func)}
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and part not in called:
            if not isinstance(part.ctx, ast.Store):
                yield part.id
        elif isinstance(part, ast.AugAssign) and isinstance(part.target, ast.Name):
            yield part.target.id

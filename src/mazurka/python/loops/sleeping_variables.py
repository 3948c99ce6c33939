"""Variables that are there for the sake of sleeping alone: delays, and counts of rounds.

    delay = 0.01
    while not box.ready:
        time.sleep(delay + random.uniform(0, 0.01))
        delay = min(2 * delay, 1)

How long a thread sleeps is no matter to anybody, so neither is `delay`, nor which random numbers
are drawn for it: such variables are called *faint*. They are used to compute faint variables and
how long to sleep, and to decide about that, and nowhere else. The arithmetic must be such that it
never fails for numbers that are not negative, and gives such numbers again, which do not grow
beyond all measure: what a round multiplies must be limited, too. That the variables are such
numbers, and that `time.sleep` is what it seems to be, is found out when the program runs.
"""

import ast
import random
from collections.abc import Iterator, Sequence
from copy import deepcopy

Names = frozenset[str]

# Functions of `random` that give numbers which are not negative, if they are given such numbers,
# and how many; and those that fail for some, and so must be given such as are written there.
DRAWING = {"random": 0, "uniform": 2, "triangular": 2}
DRAWING_CAREFULLY = {"randint", "randrange", "expovariate"}
LARGEST = 10**9  # what may be written there
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
    elif isinstance(node, ast.ExceptHandler) and node.name is not None:
        yield node.name  # which is deleted afterwards
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
        return all(is_one_of(target, faint) for target in targets) and is_limited(node.value, faint)
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        old = ast.Name(node.target.id, ast.Load())
        return old.id in faint and is_limited(ast.BinOp(old, node.op, node.value), faint)
    if isinstance(node, ast.If):
        return is_harmless(node.test) and all(
            is_faint(statement, faint) for statement in (*node.body, *node.orelse)
        )
    return False


def is_one_of(target: ast.expr, names: Names) -> bool:
    return isinstance(target, ast.Name) and target.id in names


def is_limited(node: ast.expr, faint: Names) -> bool:
    """Whether a harmless expression is at most the sum of a faint variable and something else: then
    that grows slowly if it is assigned again and again."""
    if not is_harmless(node):
        return False
    if faint.isdisjoint(used_in(node)) or isinstance(node, ast.Name | ast.Compare):
        return True
    if isinstance(node, ast.BinOp):
        if isinstance(node.op, ast.Add):
            parts = [node.left, node.right]
            return any(faint.isdisjoint(used_in(part)) for part in parts) and all(
                is_limited(part, faint) for part in parts
            )
        return isinstance(node.op, ast.Mod)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "min":
        return any(faint.isdisjoint(used_in(part)) for part in node.args)
    return False


def time_slept(node: ast.expr) -> ast.expr | None:
    """How long `time.sleep` sleeps, if this is a call of it."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or node.keywords:
        return None
    function = node.func
    is_sleep = (isinstance(function, ast.Name) and function.id == "sleep") or (
        isinstance(function, ast.Attribute)
        and isinstance(function.value, ast.Name)
        and not function.value.id.startswith("__")  # which would have another name
        and function.attr == "sleep"
    )
    return node.args[0] if is_sleep and not isinstance(node.args[0], ast.Starred) else None


def is_harmless(node: ast.expr) -> bool:
    """Whether an expression of numbers that are not negative gives such a number, or a truth
    value."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and 0 <= node.value <= LARGEST
    if isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.BinOp):
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
    if node.keywords or function.value.id.startswith("__"):
        return False
    if function.attr in DRAWING_CAREFULLY:
        return can_be_drawn(function.attr, node.args)
    return function.attr in DRAWING and len(node.args) == DRAWING[function.attr]


class LargestDraws(ast.NodeTransformer):
    def visit_Call(self, node: ast.Call) -> ast.expr:
        if not is_draw(node):
            self.generic_visit(node)
            return node
        largest: ast.expr = ast.Constant(1)
        for argument in node.args:
            largest = ast.BinOp(largest, ast.Add(), self.visit(argument))
        return largest


def with_largest_draws(node: ast.expr) -> ast.expr:
    """An expression with numbers that are not smaller in place of those that it draws."""
    return LargestDraws().visit(deepcopy(node))  # type: ignore[no-any-return]


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


def operands_of(counters: Names, statements: Sequence[ast.stmt]) -> Names:
    """All variables that faint statements use beside some counters, or what depends on these."""
    depending = counters
    while True:
        found = [part for part in statements if not depending.isdisjoint(used_in(part))]
        assigned = {name for part in found for name in assigned_in(part)}
        if assigned <= depending:
            return counters.union(*map(used_in, found))
        depending |= assigned


def assigned_in(node: ast.AST) -> Iterator[str]:
    for part in ast.walk(node):
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
            yield part.id

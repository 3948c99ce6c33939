"""Small pieces of syntax trees: making them, and telling what they are.

Hooks are constants of the rewritten code. Until it is bound to a module, strings that no user
writes stand for them.
"""

import ast
import builtins
import operator
from collections.abc import Callable
from typing import Any, TypeVar

PLACEHOLDER = "\0mazurka "
HOOK = PLACEHOLDER + "hook "
FUNCTION = PLACEHOLDER + "function "
GLOBAL = PLACEHOLDER + "global "

FINALIZER = "__del__"

# Begins the names of the variables that are added, which no user can write.
ADDED = "@mazurka "

BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.MatMult: "matmul",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.Pow: "pow",
}
IN_PLACE = {kind: "i" + name.rstrip("_") for kind, name in BINARY.items()}
COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
}


def without_added(variables: dict[str, Any]) -> dict[str, Any]:
    """What `locals()` gives, but for the variables that were added."""
    return {name: value for name, value in variables.items() if not name.startswith(ADDED)}


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name)
    for name in [*BINARY.values(), *IN_PLACE.values(), *COMPARISONS.values()]
} | {"len": len, "slice": slice, "without_added": without_added}

# Builtins that are called directly: they touch nothing that is shared, or look at their caller.
DIRECT_CALLS = {
    "super",
    "locals",
    "globals",
    "vars",
    "dir",
    "eval",
    "exec",
    "range",
    "isinstance",
    "issubclass",
    "callable",
    "type",
    "object",
    "property",
    "staticmethod",
    "classmethod",
    "int",
    "float",
    "bool",
    "complex",
    "abs",
    "round",
    "divmod",
    "pow",
    "chr",
    "ord",
    "bin",
    "hex",
    "oct",
    "breakpoint",
    "__import__",
} | {
    name
    for name, value in vars(builtins).items()
    if isinstance(value, type) and issubclass(value, BaseException)
}
# Those of them that look at their caller.
ABOUT_CALLERS = {"super", "locals", "globals", "vars", "dir", "eval", "exec"}
BUILTIN_CLASSES = {name for name, value in vars(builtins).items() if isinstance(value, type)}
BOOLEAN_CALLS = {"isinstance", "issubclass", "callable", "bool"}

Node = TypeVar("Node", bound=ast.AST)


def at(place: ast.AST, node: Node) -> Node:
    """The node, with the position of another."""
    return ast.copy_location(node, place)


def hook(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(HOOK + name), list(arguments), [])


def function(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Constant(FUNCTION + name), list(arguments), [])


def constant(value: Any) -> ast.Constant:
    return ast.Constant(value)


def load(name: str) -> ast.Name:
    return ast.Name(name, ast.Load())


def assign(name: str, value: ast.expr) -> ast.Assign:
    return ast.Assign([ast.Name(name, ast.Store())], value)


def delete(*names: str) -> ast.Delete:
    return ast.Delete([ast.Name(name, ast.Del()) for name in names])


def clear(names: list[str]) -> list[ast.stmt]:
    """Delete variables of which some may not be bound."""
    targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
    return [ast.Assign(targets, ast.Constant(None)), delete(*names)]


def walrus(name: str, value: ast.expr) -> ast.expr:
    """A value, which a variable holds from now on."""
    return ast.NamedExpr(ast.Name(name, ast.Store()), value)


def second(first: ast.expr, value: ast.expr) -> ast.expr:
    """Evaluates two expressions, and gives the second."""
    pair = ast.Tuple([first, value], ast.Load())
    return ast.Subscript(pair, ast.Constant(1), ast.Load())


def helper_lambda(parameter: str, body: ast.expr) -> ast.Lambda:
    """A lambda that is told from the user's by the name of its parameter."""
    return ast.Lambda(
        ast.arguments(
            posonlyargs=[], args=[ast.arg(parameter)], kwonlyargs=[], kw_defaults=[], defaults=[]
        ),
        body,
    )


def is_method(node: ast.expr, name: str) -> bool:
    """Whether an expression calls a method of this name."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
    )


def is_literal(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) or is_number(node)


def is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub | ast.UAdd):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex)


def is_fresh(node: ast.expr) -> bool:
    """Whether the value of an expression is new, or constant: no other thread can change it."""
    return isinstance(
        node,
        ast.Constant
        | ast.Tuple
        | ast.List
        | ast.Set
        | ast.Dict
        | ast.ListComp
        | ast.SetComp
        | ast.DictComp
        | ast.JoinedStr,
    )


def is_display_of_literals(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return all(map(is_literal, node.elts))
    return is_literal(node)


def compares_plainly(left: ast.expr, operation: ast.cmpop, right: ast.expr) -> bool:
    """Whether a comparison looks at nothing that another thread can change."""
    if isinstance(operation, ast.Is | ast.IsNot):
        return True
    if isinstance(operation, ast.In | ast.NotIn):
        return is_display_of_literals(right)
    return is_inert(left) or is_inert(right)


def is_inert(node: ast.expr) -> bool:
    """Whether something is a literal that containers are not compared with; text of bytes is."""
    return is_literal(node) and not (
        isinstance(node, ast.Constant) and isinstance(node.value, bytes)
    )


def operates_plainly(left: ast.expr, operation: ast.operator, right: ast.expr) -> bool:
    """Whether an operation looks at nothing that another thread can change.

    Nothing but numbers can be combined with a number; but a list can be multiplied by one.
    """
    if is_literal(left) and is_literal(right):
        return True
    if isinstance(operation, ast.Mult):
        return False
    return is_number(left) or is_number(right)


def placed(place: ast.AST, nodes: list[Node]) -> list[Node]:
    """The nodes; those without a position of their own get that of another."""
    return [node if hasattr(node, "lineno") else at(place, node) for node in nodes]


def stored(target: ast.AST, name: str, *arguments: ast.expr) -> ast.stmt:
    """The statement that stores to, or deletes, a target by a hook."""
    return at(target, ast.Expr(at(target, hook(name, *arguments))))


def compare(left: ast.expr, operation: ast.cmpop, right: ast.expr) -> ast.expr:
    if isinstance(operation, ast.In):
        return hook("contains", left, right)
    if isinstance(operation, ast.NotIn):
        return ast.UnaryOp(ast.Not(), hook("contains", left, right))
    return hook("compare", ast.Constant(FUNCTION + COMPARISONS[type(operation)]), left, right)


def once(target: ast.expr, value: ast.expr) -> ast.comprehension:
    """The loop of a comprehension that stores one value: `for target in (value,)`."""
    return ast.comprehension(target, ast.Tuple([value], ast.Load()), [], 0)


def parts_of(target: ast.Attribute | ast.Subscript) -> list[ast.expr]:
    """The object that is stored to, and the key of an item."""
    return [target.value] if isinstance(target, ast.Attribute) else [target.value, target.slice]


def elements_of(target: ast.Tuple | ast.List) -> list[ast.expr]:
    return [part.value if isinstance(part, ast.Starred) else part for part in target.elts]


def cell_variable(name: str) -> str:
    return f"{ADDED}cell {name}"


def find_cell(name: str) -> ast.expr:
    """The cell of a closure variable: that of a function which uses nothing else."""
    return hook("closure_cell", helper_lambda(ADDED, load(name)), ast.Constant(name))


def has_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def is_pytests_own(node: ast.expr) -> bool:
    """Whether an object is one that pytest's rewriting of assertions put there."""
    return isinstance(node, ast.Name) and node.id.startswith("@py")

"""Forward purity conditions: with which values of an operation a round of a loop will be pure.

Section III of "Awaiting for Godot". The condition at a point of a loop says when a thread that is
there will come back to the head, and change nothing on the way. The paper propagates conditions
backwards through the control-flow graph; here they are put together on the tree, from the branches
that follow an operation. A condition may use the operation's value, and variables of the function
as they are at that point; whatever follows that others can see, or that may fail, makes it False:
an operation must not wait for what would not have come about. (That the round was pure up to that
point is found out when the program runs.)
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass

from mazurka.rewriting.loops import does_nothing
from mazurka.rewriting.nodes import ADDED, load

VALUE = f"{ADDED}value"
VARIABLES = f"{ADDED}variables"

# Operations by the names of their methods: what they give is a function of what they find.
READING_METHODS = {"load", "is_set", "locked", "empty", "full", "qsize"}
TRYING_METHODS = {"exchange", "compare_exchange", "acquire", "wait"}
TAKING_TIME = {"acquire", "wait"}  # if they are given a timeout
QUEUE_METHODS = {
    "get_nowait": ("Empty", "queue.Empty"),
    "put_nowait": ("Full", "queue.Full"),
}

MOST_BRANCHES = 32

TRUE = ast.Constant(True)
FALSE = ast.Constant(False)
UNKNOWN = ast.Name("@mazurka unknown", ast.Load())

Blocks = tuple[Sequence[ast.stmt], ...]  # what follows: the rest of a block, that around it, ...
Values = dict[str, ast.expr]  # what variables have been assigned since the operation


class Visible(Exception):
    """Something that others can see, or that is not known."""


@dataclass(frozen=True)
class Condition:
    """When a round is pure from an operation on."""

    expression: ast.expr  # over VALUE and VARIABLES
    names: tuple[str, ...]  # the variables that it uses
    takes_time: bool  # whether a round does, though it is pure otherwise

    def function(self) -> ast.Lambda:
        parameters = [ast.arg(VALUE), ast.arg(VARIABLES)]
        arguments = ast.arguments(
            posonlyargs=[], args=parameters, kwonlyargs=[], kw_defaults=[], defaults=[]
        )
        return ast.Lambda(arguments, self.expression)


class ForwardConditions:
    """The conditions of the operations in one loop, but not in the loops inside it."""

    def __init__(
        self,
        loop: ast.While,
        changed: Sequence[str],
        is_own: Callable[[str], bool],
        is_shared: Callable[[str], bool],
    ) -> None:
        self.changed = set(changed)  # variables that must not be assigned in a pure round
        self.is_own = is_own  # whether a name is that of a local variable
        self.is_shared = is_shared  # whether it is that of one which threads share
        self.found: dict[ast.expr, Condition] = {}
        self.operation: ast.expr | None = None  # the one whose condition is being found
        self.branches = 0
        self.names: set[str] = set()
        self.takes_time = False
        self.branch(loop.test, (loop.body,), None)
        self.block(loop.body, ())

    # Every operation of the loop

    def block(self, statements: Sequence[ast.stmt], following: Blocks) -> None:
        for number, statement in enumerate(statements):
            self.statement(statement, (statements[number + 1 :], *following))

    def statement(self, node: ast.stmt, following: Blocks) -> None:
        if isinstance(node, ast.If):
            self.branch(node.test, (node.body, *following), (node.orelse, *following))
            self.block(node.body, following)
            self.block(node.orelse, following)
        elif isinstance(node, ast.Assign | ast.Expr):
            for operation in self.operations_in(node.value):
                self.add(operation, lambda: self.after_statement(node, following, {}))
        elif isinstance(node, ast.Try):
            self.attempt(node, following)

    def branch(self, test: ast.expr, if_true: Blocks, if_false: Blocks | None) -> None:
        for operation in self.operations_in(test):
            self.add(operation, lambda: self.after_test(test, if_true, if_false, {}))

    def attempt(self, node: ast.Try, following: Blocks) -> None:
        """`try: item = queue.get_nowait()` is pure if it raises Empty, and what follows is."""
        if len(node.handlers) != 1 or node.orelse or node.finalbody or not node.body:
            return
        first, handler = node.body[0], node.handlers[0]
        call = getattr(first, "value", None)
        if (
            handler.type is not None
            and handler.name is None
            and isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and not call.keywords
            and ast.unparse(handler.type) in QUEUE_METHODS.get(call.func.attr, ())
        ):
            self.add(call, lambda: self.after((handler.body, *following), {}))

    def add(self, operation: ast.expr, condition: Callable[[], ast.expr]) -> None:
        self.operation = operation
        self.branches = 0
        self.names = set()
        self.takes_time = method_of(operation) in TAKING_TIME
        try:
            expression = condition()
        except Visible:
            return
        if expression is not FALSE:
            names = tuple(sorted(self.names))
            self.found[operation] = Condition(expression, names, self.takes_time)

    def operations_in(self, node: ast.expr) -> Iterator[ast.expr]:
        for part in ast.walk(node):
            if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
                name = part.func.attr
                if name in TRYING_METHODS or (name in READING_METHODS and not part.args):
                    yield part
            elif isinstance(part, ast.Attribute) or (
                isinstance(part, ast.Name) and self.is_shared(part.id)
            ):
                yield part

    # What follows an operation

    def after(self, blocks: Blocks, values: Values) -> ast.expr:
        """The condition at the beginning of some statements."""
        blocks = tuple(block for block in blocks if block)
        if not blocks:  # the head
            return FALSE if self.changed & values.keys() else TRUE
        node, following = blocks[0][0], (blocks[0][1:], *blocks[1:])
        if isinstance(node, ast.Continue):
            return self.after((), values)
        if does_nothing(node):
            self.takes_time = self.takes_time or isinstance(node, ast.Expr)
            return self.after(following, values)
        if isinstance(node, ast.If):
            if_true, if_false = (node.body, *following), (node.orelse, *following)
            return self.after_test(node.test, if_true, if_false, values)
        return self.after_statement(node, following, values)

    def after_statement(self, node: ast.stmt, following: Blocks, values: Values) -> ast.expr:
        values = dict(values)
        try:
            if isinstance(node, ast.Expr):
                self.value(node.value, values)
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if not isinstance(target, ast.Name) or not self.is_own(target.id):
                    return FALSE
                values[target.id] = self.value(node.value, values)
            else:
                return FALSE
        except Visible:
            return FALSE
        return self.after(following, values)

    def after_test(
        self, test: ast.expr, if_true: Blocks, if_false: Blocks | None, values: Values
    ) -> ast.expr:
        """The condition before a branch; None is outside the loop."""
        self.branches += 1
        if self.branches > MOST_BRANCHES:
            return FALSE
        values = dict(values)
        try:
            value = self.value(test, values)
        except Visible:
            return FALSE
        then = both(surely(value), self.after(if_true, values))
        if if_false is None:
            return then
        return either(then, both(surely_not(value), self.after(if_false, values)))

    # Values

    def value(self, node: ast.expr, values: Values) -> ast.expr:
        """An expression in terms of the operation's value and of variables as they are there."""
        if node is self.operation:
            return load(VALUE)
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.Name):
            return self.variable(node, values)
        if isinstance(node, ast.NamedExpr):
            if not self.is_own(node.target.id):
                raise Visible
            values[node.target.id] = value = self.value(node.value, values)
            return value
        if isinstance(node, ast.BoolOp):
            return self.connection(node, values)
        new = copy(node)
        if isinstance(new, ast.UnaryOp):
            new.operand = self.value(new.operand, values)
        elif isinstance(new, ast.BinOp):
            new.left, new.right = self.value(new.left, values), self.value(new.right, values)
        elif isinstance(new, ast.Compare) and len(new.ops) == 1:
            new.left = self.value(new.left, values)
            new.comparators = [self.value(new.comparators[0], values)]
        elif isinstance(new, ast.Tuple):
            new.elts = [self.value(part, values) for part in new.elts]
        elif isinstance(new, ast.Subscript) and isinstance(new.slice, ast.Constant):
            new.value = self.value(new.value, values)
        else:
            raise Visible
        return new

    def variable(self, node: ast.Name, values: Values) -> ast.expr:
        if node.id in values:
            return values[node.id]
        if self.is_shared(node.id) or node.id.startswith("__"):
            raise Visible
        self.names.add(node.id)
        return ast.Subscript(load(VARIABLES), ast.Constant(node.id), ast.Load())

    def connection(self, node: ast.BoolOp, values: Values) -> ast.expr:
        """Of `a and b and c`, where b has the operation, a was true; c may be seen by others."""
        parts = list(node.values)
        for number, part in enumerate(parts):
            if self.operation in list(ast.walk(part)):
                parts = parts[number:]
                break
        new = [self.value(parts[0], values)]
        for part in parts[1:]:
            try:
                new.append(self.value_if_evaluated(part, values))
            except Visible:
                new.append(UNKNOWN)
                break
        return ast.BoolOp(node.op, new) if len(new) > 1 else new[0]

    def value_if_evaluated(self, node: ast.expr, values: Values) -> ast.expr:
        """The same for a part that may be left out: it must not assign."""
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            raise Visible
        return self.value(node, values)


def method_of(operation: ast.expr) -> str:
    is_method = isinstance(operation, ast.Call) and isinstance(operation.func, ast.Attribute)
    return operation.func.attr if is_method else ""  # type: ignore[attr-defined]


def surely(value: ast.expr) -> ast.expr:
    """When a value is true, as far as it is known."""
    if value is UNKNOWN:
        return FALSE
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return surely_not(value.operand)
    if isinstance(value, ast.BoolOp):
        if isinstance(value.op, ast.Or):
            return surely_not(negated_parts(value))
        condition: ast.expr = TRUE
        for part in value.values:
            condition = both(condition, surely(part))
        return condition
    return value


def surely_not(value: ast.expr) -> ast.expr:
    if value is UNKNOWN:
        return FALSE
    if isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        return surely(value.operand)
    if isinstance(value, ast.BoolOp):
        if isinstance(value.op, ast.Or):
            return surely(negated_parts(value))
        # The first that is false decides: those before it must be known to be true.
        condition: ast.expr = FALSE
        for part in reversed(value.values):
            condition = either(surely_not(part), both(surely(part), condition))
        return condition
    return ast.UnaryOp(ast.Not(), value)


def negated_parts(value: ast.BoolOp) -> ast.BoolOp:
    """`a or b` is the opposite of `not a and not b`."""
    parts: list[ast.expr] = [
        part if part is UNKNOWN else ast.UnaryOp(ast.Not(), part) for part in value.values
    ]
    return ast.BoolOp(ast.And(), parts)


def both(one: ast.expr, other: ast.expr) -> ast.expr:
    if one is FALSE or other is FALSE:
        return FALSE
    if one is TRUE:
        return other
    return one if other is TRUE else ast.BoolOp(ast.And(), [one, other])


def either(one: ast.expr, other: ast.expr) -> ast.expr:
    if one is TRUE or other is TRUE:
        return TRUE
    if one is FALSE:
        return other
    return one if other is FALSE else ast.BoolOp(ast.Or(), [one, other])

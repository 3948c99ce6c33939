"""Forward purity conditions: with which values of an operation a round of a loop will be pure.

Section III of "Awaiting for Godot". The condition at a point of a loop says when a thread that is
there will come back to the head, and change nothing on the way. The paper propagates conditions
backwards through the control-flow graph; here they are put together on the tree, from the branches
that follow an operation. A condition may use the operation's value, and variables of the function
as they are at that point, or as they were at the head; whatever follows that others can see, or
that may fail, makes it False: an operation must not wait for what would not have come about. (That
the round was pure up to that point is found out when the program runs.)

A function that a loop calls has such conditions, too: there they say what it will give, and the
condition of the call in the loop, whether the round is pure then.
"""

import ast
import builtins
from collections.abc import Callable, Iterable, Iterator, Sequence, Set
from copy import copy
from dataclasses import dataclass
from typing import Any, Protocol

from mazurka.python.loops.conditions import (
    FALSE,
    TRUE,
    UNKNOWN,
    both,
    either,
    is_known,
    outcomes,
    surely,
    surely_not,
)
from mazurka.python.loops.kinds import may_suspend
from mazurka.python.loops.liveness import assigned_names
from mazurka.python.loops.sleeping_variables import (
    called_in,
    time_slept,
    used_in,
    with_largest_draws,
)
from mazurka.python.loops.waiting import (
    ARE_CONSTANT,
    AT_HEAD,
    CALL,
    CATCHES,
    CONSTANT,
    MODEL,
    RAISES,
    RETURNS,
)
from mazurka.python.rewriting.nodes import ADDED, constant, hook, is_display_of_literals, load
from mazurka.python.rewriting.scopes import ComprehensionNode, FunctionNode

VALUE = f"{ADDED}value"
VARIABLES = f"{ADDED}variables"

# Operations of models by the names of their methods: what they give is a function of what they
# find. Other methods are the user's own, or those of containers.
READING_METHODS = {"load", "is_set", "locked", "empty", "full", "qsize"}
TAKING_TIME = {"acquire", "wait", "get", "put"}  # if they are given a timeout
QUEUE_METHODS = {"get", "get_nowait", "put", "put_nowait"}
# What a handler catches of the exceptions that say that there is no item, or no room for one.
CATCHING = {
    "KeyError": ("KeyError",),
    "IndexError": ("IndexError",),
    "LookupError": ("KeyError", "IndexError"),
    "Empty": ("Empty",),
    "queue.Empty": ("Empty",),
    "Full": ("Full",),
    "queue.Full": ("Full",),
    "Exception": ("KeyError", "IndexError", "Empty", "Full"),
}
# Functions that give the same for the same numbers and strings, and do nothing else.
PLAIN_FUNCTIONS = {"abs", "bool", "float", "int", "len", "max", "min", "round"}
ALL_BUILTINS = set(vars(builtins))

MOST_BRANCHES = 32
MOST_STATEMENTS = 12  # of a function that may be one which a loop asks whether to go on

Blocks = tuple[Sequence[ast.stmt], ...]  # what follows: the rest of a block, that around it, ...
Values = dict[str, ast.expr]  # what variables have been assigned since the operation


class Visible(Exception):
    """Something that others can see, or that is not known."""


class Names(Protocol):
    """What is known of the names in a function."""

    def is_own(self, name: str) -> bool:
        """Whether it is that of a local variable, which other threads do not change."""

    def is_shared(self, name: str) -> bool:
        """Whether it is that of a variable which threads share."""

    def is_builtin(self, node: ast.expr, names: Set[str]) -> bool:
        """Whether an expression is one of some builtins, under its own name."""

    def is_faint(self, node: ast.stmt) -> bool:
        """Whether a statement is of no consequence but for how long it takes."""


@dataclass(frozen=True)
class ForwardCondition:
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
    """The conditions of the operations in a loop or function, but not in the loops inside it."""

    def __init__(self, names: Names) -> None:
        self.known = names
        self.found: dict[ast.expr, ForwardCondition] = {}
        # The same of finding out whether a value is true.
        self.of_tests: dict[ast.expr, ForwardCondition] = {}
        self.operation: ast.expr | None = None  # the one whose condition is being found
        self.is_test = False  # whether that is a test
        self.branches = 0
        self.names: set[str] = set()
        self.takes_time = False
        self.trusts = True  # whether attributes are taken for constant
        self.leaves_out = False  # whether the latest value leaves out what others can see

    def finds_any(self) -> bool:
        return bool(self.found or self.of_tests)

    def at_end(self, values: Values) -> ast.expr:
        """The condition where nothing follows any more."""
        raise NotImplementedError

    def at_return(self, value: ast.expr) -> ast.expr:
        """The condition where the function gives a value."""
        raise NotImplementedError

    # Every operation

    def block(self, statements: Sequence[ast.stmt], following: Blocks) -> None:
        for number, statement in enumerate(statements):
            self.statement(statement, (statements[number + 1 :], *following))

    def statement(self, node: ast.stmt, following: Blocks) -> None:
        if isinstance(node, ast.If):
            self.branch(node.test, (node.body, *following), (node.orelse, *following))
            self.block(node.body, following)
            self.block(node.orelse, following)
        elif isinstance(node, ast.Assign | ast.Expr | ast.Return) and node.value is not None:
            self.operations_of(node.value, lambda: self.after_statement(node, following, {}))
        elif isinstance(node, ast.Try) and not node.finalbody:
            self.block(node.body, (node.orelse, *following))
            self.attempt(node, following)

    def branch(self, test: ast.expr, if_true: Blocks, if_false: Blocks | None) -> None:
        self.operations_of(
            test, lambda: self.after_test(test, if_true, if_false, {}), tested_in(test)
        )

    def operations_of(
        self,
        node: ast.expr,
        condition: Callable[[], ast.expr],
        tested: Iterable[ast.expr] = (),
    ) -> None:
        """All operations of an expression, and the tests in it: those that are known, and more."""
        for operation in self.operations_in(node):
            if assigns_nothing_before(node, operation):
                self.add(operation, condition)
        self.is_test = True
        for test in {*tested, *self.tests_in(node)}:
            if assigns_nothing_before(node, test):
                self.add(test, condition)
        self.is_test = False

    def attempt(self, node: ast.Try, following: Blocks) -> None:
        """`try: item = queue.get_nowait()` is pure if it raises Empty, and what follows is; so is a
        look for an item that is not there."""
        if len(node.handlers) != 1 or node.handlers[0].name is not None:
            return
        handler = node.handlers[0]
        caught = "Exception" if handler.type is None else ast.unparse(handler.type)
        for statement in node.body if caught in CATCHING else []:
            value: Any = getattr(statement, "value", None)
            for operation in [] if value is None else list(self.operations_in(value)):
                if assigns_nothing_before(value, operation) and (
                    isinstance(operation, ast.Subscript) or method_of(operation) in QUEUE_METHODS
                ):
                    self.add_failure(operation, caught, handler, following)

    def add_failure(
        self, item: ast.expr, caught: str, handler: ast.ExceptHandler, following: Blocks
    ) -> None:
        """Add what follows if an operation fails to the condition for when it does not."""
        otherwise = self.found.pop(item, None)
        after = (handler.body, *following)

        def condition() -> ast.expr:
            is_missing = hook("would_raise", load(VALUE), constant(CATCHING[caught]))
            if handler.type is not None:
                self.names.add(CATCHES + caught)
            if_missing = both(is_missing, self.after(after, {}))
            self.names.add(RAISES)
            if otherwise is None:
                return if_missing
            self.names.update(otherwise.names)
            self.takes_time = self.takes_time or otherwise.takes_time
            found = both(ast.UnaryOp(ast.Not(), is_missing), otherwise.expression)
            return either(if_missing, found)

        self.add(item, condition)

    def add(self, operation: ast.expr, condition: Callable[[], ast.expr]) -> None:
        self.operation = operation
        self.names = set()
        self.takes_time = method_of(operation) in TAKING_TIME
        self.trusts = True
        expression = self.condition_found(condition)
        if any(name.startswith(CONSTANT) for name in self.names):
            self.trusts = False
            otherwise = self.condition_found(condition)
            if not (expression is FALSE and otherwise is FALSE):
                are_constant = self.variable_called(ARE_CONSTANT)
                expression = ast.IfExp(are_constant, expression, otherwise)
        if expression is not FALSE:
            found = self.of_tests if self.is_test else self.found
            names = tuple(sorted(self.names))
            found[operation] = ForwardCondition(expression, names, self.takes_time)

    def condition_found(self, condition: Callable[[], ast.expr]) -> ast.expr:
        self.branches = 0
        try:
            return condition()
        except Visible:
            return FALSE

    def operations_in(self, node: ast.expr) -> Iterator[ast.expr]:
        for part in evaluated_in(node):
            if isinstance(part, ast.Call):
                if time_slept(part) is None and evaluates_plainly(part) and self.may_wait(part):
                    yield part
            elif isinstance(part, ast.Subscript):
                if not isinstance(part.slice, ast.Slice):
                    yield part
            elif isinstance(part, ast.Compare):
                if is_search(part):
                    yield part
            elif isinstance(part, ast.Attribute) or (
                isinstance(part, ast.Name) and self.known.is_shared(part.id)
            ):
                yield part

    def tests_in(self, node: ast.expr) -> Iterator[ast.expr]:
        """What the parts of an expression ask whether it is true."""
        for part in evaluated_in(node):
            if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
                yield from tested_in(part.operand)
            elif isinstance(part, ast.Call) and self.known.is_builtin(part.func, {"bool"}):
                for argument in part.args:
                    yield from tested_in(argument)

    def may_wait(self, call: ast.Call) -> bool:
        """Whether a call may perform operations: a method, a function of the user's, `len`."""
        if self.is_length(call) or isinstance(call.func, ast.Attribute):
            return True
        is_name = isinstance(call.func, ast.Name)
        return is_name and not self.known.is_builtin(call.func, ALL_BUILTINS)

    def is_length(self, call: ast.Call) -> bool:
        is_len = self.known.is_builtin(call.func, {"len"})
        return is_len and len(call.args) == 1 and not call.keywords

    # What follows an operation

    def after(self, blocks: Blocks, values: Values) -> ast.expr:
        """The condition at the beginning of some statements."""
        blocks = tuple(block for block in blocks if block)
        if not blocks:
            return self.at_end(values)
        node, following = blocks[0][0], (blocks[0][1:], *blocks[1:])
        if isinstance(node, ast.Continue):
            return self.after((), values)
        if self.known.is_faint(node) or (
            isinstance(node, ast.Expr) and time_slept(node.value) is not None
        ):
            return self.after_sleep(node, following, values)
        if isinstance(node, ast.If):
            if_true, if_false = (node.body, *following), (node.orelse, *following)
            return self.after_test(node.test, if_true, if_false, values)
        if isinstance(node, ast.Try) and not node.finalbody:
            return self.after((node.body, node.orelse, *following), values)
        return self.after_statement(node, following, values)

    def after_sleep(self, node: ast.stmt, following: Blocks, values: Values) -> ast.expr:
        """The condition before a statement that is faint, or sleeps for some other time: it must
        not fail."""
        values = dict(values)
        try:
            slept = time_slept(node.value) if isinstance(node, ast.Expr) else None
            names = used_in(node) if self.known.is_faint(node) else ()
            numbers = [self.variable(load(name), values) for name in names]
            if slept is not None:
                numbers.append(self.value(with_largest_draws(slept), values))
            numbers = [certain(number) for number in numbers]
        except Visible:
            return FALSE
        for path in called_in(node):
            if self.known.is_shared(path.partition(".")[0]):
                return FALSE
            self.names.add(CALL + path)
            self.takes_time = True
        for name in assigned_names(node):
            values[name] = ast.Constant(0)  # or whatever number: nobody looks at it
        condition = self.after(following, values)
        return both(hook("can_sleep", *numbers), condition) if numbers else condition

    def after_statement(self, node: ast.stmt, following: Blocks, values: Values) -> ast.expr:
        values = dict(values)
        self.leaves_out = False
        try:
            if isinstance(node, ast.Expr):
                value = self.value(node.value, values)
            elif isinstance(node, ast.Return):
                none = ast.Constant(None)
                return self.at_return(
                    none if node.value is None else self.value(node.value, values)
                )
            elif isinstance(node, ast.Assign) and len(node.targets) == 1:
                target = node.targets[0]
                if not isinstance(target, ast.Name) or not self.known.is_own(target.id):
                    return FALSE
                values[target.id] = value = self.value(node.value, values)
            else:
                return FALSE
        except Visible:
            return FALSE
        if self.leaves_out:  # `a and f()`: whether f is called decides
            return FALSE
        # It may fail, though nobody looks at what it gives. (What is not known does not fail.)
        succeeds = hook("evaluates", value) if is_known(value) else TRUE
        return both(succeeds, self.after(following, values))

    def after_test(
        self, test: ast.expr, if_true: Blocks, if_false: Blocks | None, values: Values
    ) -> ast.expr:
        """The condition before a branch; None is outside the loop."""
        self.branches += 1
        if self.branches > MOST_BRANCHES:
            return FALSE
        values = dict(values)
        try:
            value = self.tested(test, values)
        except Visible:
            return FALSE
        then = both(surely(value), self.after(if_true, values))
        if if_false is None:
            return then
        return either(then, both(surely_not(value), self.after(if_false, values)))

    # Values

    def tested(self, node: ast.expr, values: Values) -> ast.expr:
        """The same as `value`, if only its truth matters."""
        if self.is_test and node is self.operation:
            return load(VALUE)
        return self.value(node, values)

    def value(self, node: ast.expr, values: Values) -> ast.expr:
        """An expression in terms of the operation's value and of variables as they are there."""
        if node is self.operation and not self.is_test:
            is_negated = isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.NotIn)
            return ast.UnaryOp(ast.Not(), load(VALUE)) if is_negated else load(VALUE)
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.Name):
            return self.variable(node, values)
        if isinstance(node, ast.NamedExpr):
            if not self.known.is_own(node.target.id):
                raise Visible
            values[node.target.id] = value = self.value(node.value, values)
            return value
        if isinstance(node, ast.BoolOp):
            return self.connection(node, values)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return ast.UnaryOp(node.op, self.tested(node.operand, values))
        if isinstance(node, ast.Call):
            return self.call(node, values)
        if isinstance(node, ast.Attribute):
            return self.attribute(node, values)
        return self.combined(node, values)

    def combined(self, node: ast.expr, values: Values) -> ast.expr:
        """The value of something with parts, all of which are known."""
        new = copy(node)
        if isinstance(new, ast.UnaryOp):
            new.operand = certain(self.value(new.operand, values))
        elif isinstance(new, ast.BinOp):
            new.left, new.right = (
                certain(self.value(new.left, values)),
                certain(self.value(new.right, values)),
            )
        elif isinstance(new, ast.Compare) and not any(map(has_walrus, new.comparators[1:])):
            new.left = certain(self.value(new.left, values))
            new.comparators = [certain(self.value(part, values)) for part in new.comparators]
        elif isinstance(new, ast.Tuple):
            new.elts = [certain(self.value(part, values)) for part in new.elts]
        elif isinstance(new, ast.Subscript) and isinstance(new.slice, ast.Constant):
            new.value = certain(self.value(new.value, values))
        else:
            raise Visible
        return new

    def variable(self, node: ast.Name, values: Values) -> ast.expr:
        if node.id in values:
            return values[node.id]
        if self.known.is_shared(node.id) or node.id.startswith("__"):
            raise Visible
        return self.variable_called(node.id)

    def variable_called(self, name: str) -> ast.expr:
        self.names.add(name)
        return ast.Subscript(load(VARIABLES), ast.Constant(name), ast.Load())

    def attribute(self, node: ast.Attribute, values: Values) -> ast.expr:
        """An attribute of a variable, if nobody changes it."""
        path = ast.unparse(node)
        name, *attributes = path.split(".")
        is_path = all(part.isidentifier() for part in (name, *attributes))
        if name in values or self.known.is_shared(name) or "__" in path:
            raise Visible
        if not self.trusts or not is_path:
            raise Visible
        return self.variable_called(CONSTANT + path)

    def call(self, node: ast.Call, values: Values) -> ast.expr:
        """A function of numbers; or a read of a model: that never fails, so that conditions can be
        hoisted over it."""
        if self.known.is_builtin(node.func, PLAIN_FUNCTIONS) and not node.keywords:
            new = copy(node)
            is_bool = self.known.is_builtin(node.func, {"bool"})
            value = self.tested if is_bool else self.value
            new.args = [certain(value(argument, values)) for argument in node.args]
            return new
        function = node.func
        if (
            isinstance(function, ast.Attribute)
            and isinstance(function.value, ast.Name)
            and function.attr in READING_METHODS
            and function.value.id not in values
            and not self.known.is_shared(function.value.id)
            and not (node.args or node.keywords)
        ):
            self.names.add(f"{MODEL}{function.attr} {function.value.id}")
            return UNKNOWN
        raise Visible

    def connection(self, node: ast.BoolOp, values: Values) -> ast.expr:
        """Of `a and b and c`, where b has the operation, a was true; c may be seen by others."""
        parts = list(node.values)
        for number, part in enumerate(parts):
            if self.operation in list(ast.walk(part)):
                parts = parts[number:]
                break
        new = [self.tested(parts[0], values)]
        for part in parts[1:]:
            try:
                new.append(self.value_if_evaluated(part, values))
            except Visible:
                new.append(UNKNOWN)
                self.leaves_out = True
                break
        return ast.BoolOp(node.op, new) if len(new) > 1 else new[0]

    def value_if_evaluated(self, node: ast.expr, values: Values) -> ast.expr:
        """The same for a part that may be left out: it must not assign."""
        if has_walrus(node):
            raise Visible
        return self.tested(node, values)


class LoopConditions(ForwardConditions):
    def __init__(
        self,
        loop: ast.While,
        changed: Sequence[str],
        counters: Sequence[str],
        operands: Set[str],
        calls: Sequence[str],
        names: Names,
    ) -> None:
        super().__init__(names)
        self.changed = set(changed)  # variables that must be as they were at the head
        self.counters = set(counters)  # and those that must be numbers,
        self.operands = operands  # like these, which they are computed from,
        self.calls = calls  # if these are the standard functions
        self.branch(loop.test, (loop.body,), None)
        self.block(loop.body, ())

    def at_end(self, values: Values) -> ast.expr:
        """The head."""
        condition: ast.expr = TRUE
        for name in sorted(self.changed & values.keys()):
            if not is_known(values[name]):
                return FALSE
            at_head = self.variable_called(AT_HEAD + name)
            condition = both(condition, hook("same_constants", values[name], at_head))
        if self.counters & values.keys():
            numbers = [self.variable(load(name), values) for name in sorted(self.operands)]
            if not all(map(is_known, numbers)):
                return FALSE
            condition = both(condition, hook("can_sleep", *numbers))
            self.names.update(CALL + path for path in self.calls)
        return condition

    def at_return(self, value: ast.expr) -> ast.expr:
        return FALSE


class FunctionConditions(ForwardConditions):
    def __init__(self, function: FunctionNode | ast.Lambda, names: Names) -> None:
        super().__init__(names)
        if isinstance(function, ast.Lambda):
            body = function.body
            if not may_suspend(body):
                self.operations_of(body, lambda: self.at_return(self.value(body, {})))
        elif may_be_asked(function):
            self.block(function.body, ())

    def at_end(self, values: Values) -> ast.expr:
        return self.at_return(ast.Constant(None))

    def at_return(self, value: ast.expr) -> ast.expr:
        returns = ast.Subscript(load(VARIABLES), ast.Constant(RETURNS), ast.Load())
        condition: ast.expr = FALSE
        for when, given in outcomes(value):
            condition = either(condition, both(when, ast.Call(returns, [given], [])))
        return condition


def may_be_asked(function: FunctionNode) -> bool:
    """Whether a loop may ask a function whether to go on."""
    parts = list(ast.walk(function))
    return (
        isinstance(function, ast.FunctionDef)
        and any(isinstance(part, ast.Return) and part.value is not None for part in parts)
        and sum(isinstance(part, ast.stmt) for part in parts) <= MOST_STATEMENTS
        and not any(map(may_suspend, function.body))
    )


def method_of(operation: ast.expr) -> str:
    is_method = isinstance(operation, ast.Call) and isinstance(operation.func, ast.Attribute)
    return operation.func.attr if is_method else ""  # type: ignore[attr-defined]


def evaluated_in(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of an expression that are evaluated with it, once."""
    yield node
    if not isinstance(node, ast.Lambda | ComprehensionNode):
        for child in ast.iter_child_nodes(node):
            yield from evaluated_in(child)


def tested_in(test: ast.expr) -> Iterator[ast.expr]:
    """What in a condition is asked whether it is true, and may be a container."""
    if isinstance(test, ast.BoolOp):
        for part in test.values:
            yield from tested_in(part)
    elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        yield from tested_in(test.operand)
    elif isinstance(test, ast.Name | ast.Attribute | ast.Subscript):
        yield test


def is_search(node: ast.Compare) -> bool:
    """Whether it looks for something in a container."""
    return (
        len(node.ops) == 1
        and isinstance(node.ops[0], ast.In | ast.NotIn)
        and not is_display_of_literals(node.comparators[0])
    )


def evaluates_plainly(call: ast.Call) -> bool:
    """Whether evaluating the arguments assigns no variable."""
    return not any(map(has_walrus, [*call.args, *call.keywords]))


def assigns_nothing_before(node: ast.expr, operation: ast.expr) -> bool:
    """Whether an expression assigns no variable before an operation in it is performed, but after
    some of its parts were evaluated: which value these had is not known then."""
    end = operation.end_lineno, operation.end_col_offset
    return all(
        operation in ast.walk(part.value) or (part.lineno, part.col_offset) >= end
        for part in ast.walk(node)
        if isinstance(part, ast.NamedExpr)
    )


def has_walrus(node: ast.AST) -> bool:
    return any(isinstance(part, ast.NamedExpr) for part in ast.walk(node))


def certain(value: ast.expr) -> ast.expr:
    """A value that something is computed from: with what is not known, that may fail."""
    if not is_known(value):
        raise Visible
    return value

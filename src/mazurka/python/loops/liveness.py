"""Which variables of a function may still be used at the head of a loop.

A round of a loop that assigns other variables only has changed nothing: whoever uses them assigns
them before. (In SSA form, as the papers have it: these are the variables without a phi node in the
loop's header.)
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from mazurka.python.loops.sleeping_variables import (
    Names,
    called_in,
    faint_names,
    is_faint,
    operands_of,
)
from mazurka.python.rewriting.scopes import FunctionNode, bound_name

NO_NAMES: Names = frozenset()

# Calls of these may use any variable.
LOOKING_AROUND = {"locals", "vars", "eval", "exec", "dir"}

FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
NESTED = FUNCTIONS | ast.Lambda


@dataclass(frozen=True)
class Targets:
    """The variables that may be used where control may jump to."""

    on_break: Names = NO_NAMES
    on_continue: Names = NO_NAMES
    on_raise: Names = NO_NAMES  # in handlers and clean-up that an exception may lead to


class Liveness:
    """The variables that are live at the heads of the `while` loops of one function."""

    def __init__(self, node: FunctionNode) -> None:
        self.at_head: dict[ast.While, Names] = {}
        self.everything = any(
            isinstance(part, ast.Name) and part.id in LOOKING_AROUND for part in ast.walk(node)
        )
        assigned = [name for statement in node.body for name in assigned_names(statement)]
        self.faint = NO_NAMES if self.everything else faint_names(node.body, frozenset(assigned))
        if self.calls_may_change(node):
            self.faint = NO_NAMES
        statements = [part for part in ast.walk(node) if isinstance(part, ast.stmt)]
        self.faint_statements = [part for part in statements if self.is_faint(part)]
        calls = {name for statement in self.faint_statements for name in called_in(statement)}
        self.calls = tuple(sorted(calls))  # for the sake of faint variables
        self.block(node.body, NO_NAMES, Targets())

    def calls_may_change(self, node: FunctionNode) -> bool:
        """Whether the function assigns one of those that it calls to sleep, but by an import."""
        parts = list(ast.walk(node))
        called = {
            name.partition(".")[0]
            for part in parts
            if isinstance(part, ast.stmt) and self.is_faint(part)
            for name in called_in(part)
        }
        return any(
            isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Load) and part.id in called
            for part in parts
        )

    def operands(self, counters: Iterable[str]) -> Names:
        """What else must be numbers, so that these do not matter."""
        return operands_of(frozenset(counters), self.faint_statements)

    def is_faint(self, node: ast.stmt) -> bool:
        return is_faint(node, self.faint)

    def assigned_and_live(self, loop: ast.While) -> set[str]:
        """The variables that rounds of a loop assign, and later ones or what follows may use."""
        assigned = set(assigned_names(loop))
        return assigned if self.everything else assigned & self.at_head[loop]

    def block(self, statements: Iterable[ast.stmt], after: Names, targets: Targets) -> Names:
        """The variables that are live before some statements, from those that are live after."""
        for statement in reversed(list(statements)):
            after = self.before(statement, after, targets) | targets.on_raise
        return after

    def before(self, node: ast.stmt, after: Names, targets: Targets) -> Names:
        if isinstance(node, ast.While):
            return self.before_while(node, after, targets)
        if isinstance(node, ast.For | ast.AsyncFor):
            return self.before_for(node, after, targets)
        if isinstance(node, ast.If):
            branches = self.block(node.body, after, targets) | self.block(
                node.orelse, after, targets
            )
            return before_expression(node.test, branches)
        if isinstance(node, ast.Try) or type(node).__name__ == "TryStar":
            return self.before_try(node, after, targets)  # type: ignore[arg-type]
        if isinstance(node, ast.With | ast.AsyncWith):
            # The block may end early, by an exception that is swallowed.
            inside = replace(targets, on_raise=targets.on_raise | after)
            after = self.block(node.body, after, inside)
            for item in reversed(node.items):
                if item.optional_vars is not None:
                    after = before_target(item.optional_vars, after)
                after = before_expression(item.context_expr, after)
            return after
        if isinstance(node, ast.Match):
            return self.before_match(node, after, targets)
        if isinstance(node, ast.Break):
            return targets.on_break
        if isinstance(node, ast.Continue):
            return targets.on_continue
        if isinstance(node, ast.Return | ast.Raise):
            return uses_of(node) | targets.on_raise
        return before_simple(node, after)

    def before_while(self, node: ast.While, after: Names, targets: Targets) -> Names:
        beyond = targets.on_raise
        if not (isinstance(node.test, ast.Constant) and node.test.value):  # it may end by its test
            beyond |= self.block(node.orelse, after, targets)
        head = before_expression(node.test, beyond) | targets.on_raise
        while True:
            inside = replace(targets, on_break=after, on_continue=head)
            again = self.block(node.body, head, inside)
            new = before_expression(node.test, beyond | again)
            if new <= head:
                break
            head |= new
        self.at_head[node] = head
        return head

    def before_for(self, node: ast.For | ast.AsyncFor, after: Names, targets: Targets) -> Names:
        head = self.block(node.orelse, after, targets)
        while True:
            inside = replace(targets, on_break=after, on_continue=head)
            new = before_target(node.target, self.block(node.body, head, inside))
            if new <= head:
                break
            head |= new
        return before_expression(node.iter, head)

    def before_try(self, node: ast.Try, after: Names, targets: Targets) -> Names:
        final = self.block(node.finalbody, after | targets.on_raise, targets)
        if node.finalbody:  # whatever jumps out comes through it
            targets = Targets(
                targets.on_break | final, targets.on_continue | final, targets.on_raise | final
            )
        caught = targets.on_raise
        for handler in node.handlers:
            names = self.block(handler.body, final, targets)
            if handler.name is not None:
                names -= {handler.name}
            caught |= names
            if handler.type is not None:
                caught |= uses_of(handler.type)
        ended = self.block(node.orelse, final, targets)
        return self.block(node.body, ended, replace(targets, on_raise=caught))

    def before_match(self, node: ast.Match, after: Names, targets: Targets) -> Names:
        names = after  # none of the cases
        for case in node.cases:
            names |= self.block(case.body, after, targets) | uses_of(case.pattern)
            if case.guard is not None:
                names |= uses_of(case.guard)
        return before_expression(node.subject, names)


def before_simple(node: ast.stmt, after: Names) -> Names:
    """Statements without others in them."""
    if isinstance(node, ast.Assign):
        for target in reversed(node.targets):
            after = before_target(target, after)
        return before_expression(node.value, after)
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return before_expression(node.value, before_target(node.target, after))
    if isinstance(node, ast.Expr):
        return before_expression(node.value, after)
    if isinstance(node, ast.Import | ast.ImportFrom):
        return after - {bound_name(alias) for alias in node.names}
    if isinstance(node, ast.Delete):
        # That a variable was deleted can be told later: it counts as used.
        return after | uses_of(node) | set(assigned_names(node))
    if isinstance(node, ast.AugAssign):
        return after | uses_of(node) | set(assigned_names(node))
    return after | uses_of(node)


def before_target(target: ast.expr, after: Names) -> Names:
    if isinstance(target, ast.Name):
        return after - {target.id}
    if isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            after = before_target(element, after)
        return after
    if isinstance(target, ast.Starred):
        return before_target(target.value, after)
    return after | uses_of(target)


def before_expression(node: ast.expr, after: Names) -> Names:
    """What is live before an expression. It may assign: `(n := x.load()) == 0`."""
    for name, is_use in reversed(list(in_order(node))):
        after = after | {name} if is_use else after - {name}
    return after


def in_order(node: ast.AST) -> Iterator[tuple[str, bool]]:
    """The variables that an expression surely assigns (False), or uses (True), in that order."""
    if isinstance(node, ast.Name):
        yield node.id, True
    elif isinstance(node, ast.NamedExpr):
        yield from in_order(node.value)
        yield node.target.id, False
    elif isinstance(node, ast.BoolOp):
        yield from in_order(node.values[0])
        yield from only_uses(node.values[1:])
    elif isinstance(node, ast.IfExp):
        yield from in_order(node.test)
        yield from only_uses([node.body, node.orelse])
    elif isinstance(node, ast.Compare):
        yield from in_order(node.left)
        yield from in_order(node.comparators[0])
        yield from only_uses(node.comparators[1:])
    elif isinstance(node, NESTED | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        yield from only_uses([node])
    else:
        for child in ast.iter_child_nodes(node):
            yield from in_order(child)


def only_uses(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, bool]]:
    for node in nodes:
        for name in sorted(uses_of(node)):
            yield name, True


def uses_of(node: ast.AST) -> Names:
    """All names that something mentions but to assign them, also in functions inside it."""
    return frozenset(
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and not isinstance(part.ctx, ast.Store)
    )


def assigned_names(node: ast.AST) -> Iterator[str]:
    """The variables of a function that a part of it may assign."""
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest
    elif isinstance(node, ast.Import | ast.ImportFrom):
        for alias in node.names:
            yield bound_name(alias)
    elif isinstance(node, FUNCTIONS):
        yield node.name
        return
    elif isinstance(node, ast.Lambda):
        return
    elif isinstance(node, ast.comprehension):  # its own variables are not the function's
        for part in (node.iter, *node.ifs):
            yield from assigned_names(part)
        return
    for child in ast.iter_child_nodes(node):
        yield from assigned_names(child)

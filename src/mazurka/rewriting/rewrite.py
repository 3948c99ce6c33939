"""Gives the functions of a source file hooks where they access shared memory.

Every function of the file gets a twin that does the same, but calls a hook for each attribute,
item, changing global and shared closure variable that it touches, and around each operation of
Python's own that looks into an object: calls, comparisons, iteration, and so on. The module's own
statements stay as they are: they are never run again.
"""

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from contextlib import contextmanager
from types import CodeType
from typing import Any

from mazurka.core.result import MazurkaError
from mazurka.rewriting.nodes import (
    ADDED,
    BINARY,
    BOOLEAN_CALLS,
    COMPARISONS,
    DIRECT_CALLS,
    FUNCTION,
    FUNCTIONS,
    GLOBAL,
    HOOK,
    IN_PLACE,
    PLACEHOLDER,
    assign,
    at,
    compares_plainly,
    delete,
    function,
    helper_lambda,
    hook,
    is_fresh,
    is_literal,
    is_number,
    load,
    operates_plainly,
    second,
)
from mazurka.rewriting.scopes import (
    ComprehensionNode,
    FunctionNode,
    Kind,
    Scope,
    Scopes,
    bound_name,
)

DYNAMIC = {"setattr", "delattr", "vars", "__dict__", "__setattr__", "__delattr__"}


def parsed(source: str, filename: str, pytest_asserts: bool = False) -> ast.Module:
    """The tree of a source file, after pytest's own rewriting if the module went through that."""
    tree = ast.parse(source, filename)
    if not pytest_asserts:
        return tree
    try:
        from _pytest.assertion.rewrite import rewrite_asserts

        rewrite_asserts(tree, source.encode(), filename, None)
    except Exception:  # pytest's internals may change: then messages have fewer details
        return ast.parse(source, filename)
    for node in ast.walk(tree):
        # Some of pytest's nodes begin somewhere, but end nowhere.
        if isinstance(node, ast.expr | ast.stmt | ast.alias) and node.end_lineno is None:
            node.end_lineno, node.end_col_offset = node.lineno, node.col_offset
    return tree


def rewritten(tree: ast.Module, filename: str, tracked_globals: Set[str]) -> CodeType:
    """The code of a module whose functions call hooks; the tree is changed in place.

    `tracked_globals` are the names of the global variables that anything may store to, besides
    those that functions of this file declare global.
    """
    scopes = Scopes(tree)
    Rewriter(scopes, filename, tracked_globals | scopes.stored_globals).visit(tree)
    return compiled(ast.fix_missing_locations(tree), filename)


def compiled(tree: ast.Module, filename: str) -> CodeType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # placeholders are called, users' were shown
        code: CodeType = compile(tree, filename, "exec", dont_inherit=True)
    return code


def bind(code: CodeType, hooks: Mapping[str, Any], namespace: dict[str, Any]) -> CodeType:
    """Put hooks, and cells for the globals of a module, in the place of the placeholders."""
    cells: dict[str, Any] = {}

    def constant(value: Any) -> Any:
        if isinstance(value, CodeType):
            return value.replace(co_consts=tuple(map(constant, value.co_consts)))
        if not isinstance(value, str) or not value.startswith(PLACEHOLDER):
            return value
        if value.startswith(HOOK):
            return hooks[value.removeprefix(HOOK)]
        if value.startswith(FUNCTION):
            return FUNCTIONS[value.removeprefix(FUNCTION)]
        if value not in cells:
            cells[value] = hooks["global_cell"](namespace, value.removeprefix(GLOBAL))
        return cells[value]

    bound: CodeType = constant(code)
    return bound


def stored_names(tree: ast.Module) -> set[str]:
    """The attributes that a file stores or deletes, and the globals that its functions do."""
    scopes = Scopes(tree)
    names = set(scopes.stored_globals)
    for node, scope in attributes(tree, scopes):
        if not isinstance(node.ctx, ast.Load):
            names.add(scope.mangled(node.attr))
    return names


def attributes(tree: ast.Module, scopes: Scopes) -> Iterator[tuple[ast.Attribute, Scope]]:
    """Every attribute in a file, and the scope whose class makes it private."""
    todo: list[tuple[ast.AST, Scope]] = [(tree, scopes.module)]
    while todo:
        node, scope = todo.pop()
        scope = scopes.of.get(node, scope)
        if isinstance(node, ast.Attribute):
            yield node, scope
        todo.extend((child, scope) for child in ast.iter_child_nodes(node))


def uses_dynamic_attributes(tree: ast.Module) -> bool:
    """Whether a file may store attributes whose names do not show in it."""
    return any(
        (isinstance(node, ast.Name) and node.id in DYNAMIC)
        or (isinstance(node, ast.Attribute) and node.attr in DYNAMIC)
        for node in ast.walk(tree)
    )


class Rewriter(ast.NodeTransformer):
    """Changes the functions of a tree.

    Evaluation order and the number of evaluations stay the same. Values that are needed twice are
    kept in variables of the function; in class bodies, where such variables would be attributes,
    the few operations that need them stay as they are.
    """

    def __init__(self, scopes: Scopes, filename: str, tracked_globals: Set[str]) -> None:
        self.scopes = scopes
        self.filename = filename
        self.tracked_globals = tracked_globals
        self.scope = scopes.module
        self.in_function = False
        self.cells: set[str] = set()  # the closure variables whose cells the function needs
        self.in_iterable = 0  # the iterables of comprehensions around: no walrus is allowed there
        self.temporaries = 0

    def visit(self, node: ast.AST) -> Any:
        if self.in_function or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            return super().visit(node)
        return self.generic_visit(node)

    def block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for statement in statements:
            changed = self.visit(statement)
            if isinstance(changed, list):
                new.extend(changed)
            else:
                new.append(changed)
        return new

    @contextmanager
    def inside(self, node: ast.AST) -> Iterator[None]:
        outer, self.scope = self.scope, self.scopes.of[node]
        yield
        self.scope = outer

    @contextmanager
    def iterable(self) -> Iterator[None]:
        self.in_iterable += 1
        yield
        self.in_iterable -= 1

    # Temporaries.

    def temporary(self) -> str:
        self.temporaries += 1
        return f"{ADDED}{self.temporaries}"

    def has_temporaries(self) -> bool:
        return self.scope.kind is not Kind.CLASS

    def holding(self, value: ast.expr, use: Callable[[ast.expr], list[ast.stmt]]) -> list[ast.stmt]:
        """Statements that use a value which is evaluated first, and once."""
        name = self.temporary()
        return [assign(name, value), *use(load(name)), delete(name)]

    def is_stable(self, node: ast.expr) -> bool:
        """Whether an expression gives the same whenever it is evaluated in a statement."""
        if isinstance(node, ast.Constant):
            return True
        if not isinstance(node, ast.Name):
            return False
        if node.id.startswith(ADDED):
            return True
        name = self.scope.mangled(node.id)
        owner = self.scope.owner(name)
        return owner is not None and name not in owner.tracked | owner.walrus_names

    # Variables.

    def shared(self, name: str) -> tuple[str, ast.expr] | None:
        """For a variable that threads may share: "closure" or "global", and its cell."""
        name = self.scope.mangled(name)
        owner = self.scope.owner(name)
        if owner is None:
            if name in self.tracked_globals and name != "__class__":
                return "global", ast.Constant(GLOBAL + name)
        elif self.scope.kind is not Kind.CLASS and name in owner.tracked:
            return "closure", self.closure_cell(name)
        return None

    def closure_cell(self, name: str) -> ast.expr:
        if self.scope.host().kind is Kind.FUNCTION:
            self.cells.add(name)
            return load(cell_variable(name))
        return find_cell(name)

    def is_builtin(self, node: ast.expr, names: Set[str]) -> bool:
        """Whether an expression is one of some builtins, under its own name."""
        if not isinstance(node, ast.Name) or node.id not in names or self.scopes.star_import:
            return False
        return (
            self.scope.owner(node.id) is None
            and node.id not in self.scopes.module.bindings
            and node.id not in self.scopes.stored_globals
        )

    def visit_Name(self, node: ast.Name) -> ast.expr:
        variable = self.shared(node.id) if isinstance(node.ctx, ast.Load) else None
        if variable is None or self.is_builtin(node, DIRECT_CALLS):
            return node
        kind, cell = variable
        return at(node, hook("load_" + kind, cell))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.visit(node.value)
        variable = self.shared(node.target.id)
        if variable is None:
            return node
        kind, cell = variable
        name = self.temporary()
        held = ast.NamedExpr(ast.Name(name, ast.Store()), node.value)
        return at(node, second(hook("store_" + kind, cell, held), load(name)))

    # Loads, calls, and operations of Python's own.

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node.value = self.visit(node.value)
        if not isinstance(node.ctx, ast.Load) or is_pytests_own(node.value):
            return node
        return at(node, hook("load_attribute", node.value, self.attribute(node)))

    def attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Constant(self.scope.mangled(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        if not isinstance(node.ctx, ast.Load):
            return node
        return at(node, hook("load_item", node.value, node.slice))

    def visit_Slice(self, node: ast.Slice) -> ast.expr:
        bounds = [
            ast.Constant(None) if bound is None else self.visit(bound)
            for bound in (node.lower, node.upper, node.step)
        ]
        return at(node, function("slice", *bounds))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.func = self.called(node.func)
        node.args = [self.visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def called(self, node: ast.expr) -> ast.expr:
        """The function of a call."""
        if isinstance(node, ast.Attribute) and not is_pytests_own(node.value):
            owner = self.visit(node.value)
            return at(node, hook("method", owner, self.attribute(node)))
        if self.is_builtin(node, DIRECT_CALLS) or isinstance(node, ast.Attribute):
            return node
        return at(node, hook("callee", self.visit(node)))

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        node.value = self.visit(node.value) if node.arg is not None else self.unpacked(node.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            node.value = self.unpacked(node.value)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        for position, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if key is None:
                node.values[position] = self.unpacked(value)
            else:
                node.keys[position] = self.visit(key)
                node.values[position] = self.visit(value)
        return node

    def unpacked(self, node: ast.expr) -> ast.expr:
        new = self.visit(node)
        return new if is_fresh(node) else at(node, hook("unpack", new))

    def iterated(self, node: ast.expr) -> ast.expr:
        new = self.visit(node)
        if is_fresh(node) or (isinstance(node, ast.Call) and self.is_builtin(node.func, {"range"})):
            return new  # type: ignore[no-any-return]
        return at(node, hook("iterate", new))

    def visit_YieldFrom(self, node: ast.YieldFrom) -> ast.expr:
        node.value = self.iterated(node.value)
        return node

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        if not isinstance(node.value, ast.Constant):
            node.value = at(node.value, hook("text", self.visit(node.value)))
        if node.format_spec is not None:
            node.format_spec = self.visit(node.format_spec)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        plain = operates_plainly(node.left, node.op, node.right)
        node.left, node.right = self.visit(node.left), self.visit(node.right)
        if plain:
            return node
        operation = ast.Constant(FUNCTION + BINARY[type(node.op)])
        return at(node, hook("operate", operation, node.left, node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        is_not = isinstance(node.op, ast.Not)
        node.operand = self.condition(node.operand) if is_not else self.visit(node.operand)
        return node

    # Comparisons.

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        operands = [node.left, *node.comparators]
        plain = [
            compares_plainly(left, operation, right)
            for left, operation, right in zip(operands, node.ops, node.comparators, strict=False)
        ]
        if all(plain) or (len(plain) > 1 and not self.has_temporaries()):
            return self.generic_visit(node)  # type: ignore[return-value]
        if len(plain) == 1:
            return at(node, compare(self.visit(node.left), node.ops[0], self.visit(operands[1])))
        # A walrus that a user wrote cannot stand in the iterable of a comprehension.
        if self.scope is self.scope.host() and not self.in_iterable:
            return at(node, self.chain(node, plain, self.held_by_walrus))
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return at(node, self.chain(node, plain, self.held_by_walrus))
        with self.iterable():
            return at(node, self.chain(node, plain, self.held_by_comprehension))

    def chain(self, node: ast.Compare, plain: list[bool], hold: "Holder") -> ast.expr:
        """A chain of comparisons: each operand is evaluated once, and only if the ones before
        hold."""

        def rest(left: ast.expr, number: int) -> ast.expr:
            """The chain from an operand on, which is already held."""

            def compared(left: ast.expr, right: ast.expr) -> ast.expr:
                if plain[number]:
                    return ast.Compare(left, [node.ops[number]], [right])
                return compare(left, node.ops[number], right)

            operand = node.comparators[number]
            right = self.visit(operand)
            if number + 1 == len(plain):
                return compared(left, right)
            if self.is_stable(operand):
                parts = [compared(left, right), rest(right, number + 1)]
                return ast.BoolOp(ast.And(), parts)
            return hold(left, right, compared, lambda held: rest(held, number + 1))

        return rest(self.visit(node.left), 0)

    def held_by_walrus(
        self, left: ast.expr, right: ast.expr, compared: "Compared", rest: "Rest"
    ) -> ast.expr:
        name = self.temporary()
        held = ast.NamedExpr(ast.Name(name, ast.Store()), right)
        return ast.BoolOp(ast.And(), [compared(left, held), rest(load(name))])

    def held_by_comprehension(
        self, left: ast.expr, right: ast.expr, compared: "Compared", rest: "Rest"
    ) -> ast.expr:
        """For comprehensions, whose walruses bind outside: [... for a in (left,) for b in (right,)]
        evaluates `...` with its own a and b."""
        first, middle = self.temporary(), self.temporary()
        both = ast.BoolOp(ast.And(), [compared(load(first), load(middle)), rest(load(middle))])
        alone = ast.ListComp(both, [just(first, left), just(middle, right)])
        return ast.Subscript(alone, ast.Constant(0), ast.Load())

    # Conditions.

    def condition(self, node: ast.expr) -> ast.expr:
        """An expression of which nothing but its truth matters."""
        if isinstance(node, ast.BoolOp):
            node.values = [self.condition(value) for value in node.values]
            return node
        if isinstance(node, ast.IfExp):
            node.test = self.condition(node.test)
            node.body, node.orelse = self.condition(node.body), self.condition(node.orelse)
            return node
        boolean = self.is_boolean(node)
        new: ast.expr = self.visit(node)
        return new if boolean else at(node, hook("truth", new))

    def is_boolean(self, node: ast.expr) -> bool:
        if isinstance(node, ast.BoolOp):
            return all(map(self.is_boolean, node.values))
        if isinstance(node, ast.Call):
            return self.is_builtin(node.func, BOOLEAN_CALLS)
        is_not = isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not)
        return is_not or isinstance(node, ast.Compare) or is_literal(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        last = len(node.values) - 1
        for position, value in enumerate(node.values):
            boolean = self.is_boolean(value)
            new = self.visit(value)
            if position != last and not boolean:
                new = at(value, hook("operand", new))
            node.values[position] = new
        return node

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        node.test = self.condition(node.test)
        node.body, node.orelse = self.visit(node.body), self.visit(node.orelse)
        return node

    def visit_If(self, node: ast.If | ast.While) -> ast.stmt:
        node.test = self.condition(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> ast.stmt:
        return self.visit_If(node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        node.test = self.condition(node.test)
        if node.msg is not None:
            node.msg = self.visit(node.msg)
        return node

    # Assignments.

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        value, fresh = self.visit(node.value), is_fresh(node.value)
        if len(node.targets) == 1:
            return placed(node, self.store(node.targets[0], value, fresh))
        if not self.has_temporaries() or all(map(self.is_plain_name, node.targets)):
            node.value = value
            node.targets = [self.visit(target) for target in node.targets]
            return [node]

        def store_all(held: ast.expr) -> list[ast.stmt]:
            stores = [self.store(target, held, fresh) for target in node.targets]
            return [statement for store in stores for statement in store]

        return placed(node, self.holding(value, store_all))

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt | list[ast.stmt]:
        if node.value is None:
            return node
        value = self.visit(node.value)
        if not self.has_temporaries() or self.is_plain_name(node.target):
            node.value = value
            node.target = self.visit(node.target)
            return node
        # Functions do not evaluate the annotation, but the compiler looks for closures in it.
        annotation = ast.AnnAssign(
            ast.Name(self.temporary(), ast.Store()), node.annotation, None, 1
        )
        return placed(node, [annotation, *self.store(node.target, value)])

    def is_plain_name(self, target: ast.expr) -> bool:
        return isinstance(target, ast.Name) and self.shared(target.id) is None

    def store(self, target: ast.expr, value: ast.expr, fresh: bool = False) -> list[ast.stmt]:
        """The statements that store a value, which is evaluated before the target's parts."""
        if isinstance(target, ast.Tuple | ast.List):
            return self.store_unpacked(target, value, fresh)
        if isinstance(target, ast.Name):
            variable = self.shared(target.id)
            if variable is None:
                return [ast.Assign([target], value)]
            return [stored(target, "store_" + variable[0], variable[1], value)]
        if not isinstance(target, ast.Attribute | ast.Subscript):
            raise TypeError(target)
        parts = [target.value]
        if isinstance(target, ast.Subscript):
            parts.append(target.slice)
        if not self.is_stable(value) and not all(map(self.is_stable, parts)):
            if not self.has_temporaries():
                return [ast.Assign([self.visit(target)], value)]
            return self.holding(value, lambda held: self.store(target, held))
        return [self.store_part(target, [self.visit(part) for part in parts], value)]

    def store_part(
        self, target: ast.Attribute | ast.Subscript, parts: list[ast.expr], value: ast.expr
    ) -> ast.stmt:
        """Store an attribute or an item; `parts` are the object, and the key of an item."""
        if isinstance(target, ast.Attribute):
            return stored(target, "store_attribute", parts[0], self.attribute(target), value)
        return stored(target, "store_item", *parts, value)

    def store_unpacked(
        self, target: ast.Tuple | ast.List, value: ast.expr, fresh: bool
    ) -> list[ast.stmt]:
        if not fresh:
            value = at(value, hook("unpack", value))
        elements = [part.value if isinstance(part, ast.Starred) else part for part in target.elts]
        if not self.has_temporaries() or all(map(self.is_plain_name, elements)):
            return [ast.Assign([self.visit(target)], value)]
        names = [self.temporary() for _ in elements]
        for position, (part, name) in enumerate(zip(target.elts, names, strict=True)):
            new: ast.expr = ast.Name(name, ast.Store())
            if isinstance(part, ast.Starred):
                new = ast.Starred(new, ast.Store())
            target.elts[position] = new
        statements: list[ast.stmt] = [ast.Assign([target], value)]
        for element, name in zip(elements, names, strict=True):
            statements += self.store(element, load(name))
        return [*statements, delete(*names)]

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt | list[ast.stmt]:
        target = node.target
        variable = self.shared(target.id) if isinstance(target, ast.Name) else None
        if isinstance(target, ast.Name) and variable is None:
            if is_number(node.value) and not isinstance(node.op, ast.Mult):
                return node
            old: ast.expr = at(target, load(target.id))
            return placed(node, [ast.Assign([target], self.updated(node, old))])
        if variable is not None:
            kind, cell = variable
            new = self.updated(node, at(target, hook("load_" + kind, cell)))
            return placed(node, [stored(target, "store_" + kind, cell, new)])
        if not self.has_temporaries():
            return self.generic_visit(node)  # type: ignore[return-value]
        return placed(node, self.update_part(node))

    def updated(self, node: ast.AugAssign, old: ast.expr) -> ast.expr:
        """The new value of an augmented assignment."""
        name = IN_PLACE[type(node.op)]
        if is_number(node.value) and not isinstance(node.op, ast.Mult):
            return at(node, function(name, old, node.value))
        return at(node, hook("operate", ast.Constant(FUNCTION + name), old, self.visit(node.value)))

    def update_part(self, node: ast.AugAssign) -> list[ast.stmt]:
        """An augmented assignment to an attribute or an item."""
        target = node.target
        assert isinstance(target, ast.Attribute | ast.Subscript)
        parts = [target.value]
        if isinstance(target, ast.Subscript):
            parts.append(target.slice)
        statements: list[ast.stmt] = []
        names: list[str] = []
        for position, part in enumerate(parts):
            if not self.is_stable(part):
                names.append(self.temporary())
                statements.append(assign(names[-1], self.visit(part)))
                parts[position] = load(names[-1])
        if isinstance(target, ast.Attribute):
            old = hook("load_attribute", parts[0], self.attribute(target))
        else:
            old = hook("load_item", *parts)
        statements.append(self.store_part(target, parts, self.updated(node, at(target, old))))
        return [*statements, delete(*names)] if names else statements

    def visit_Delete(self, node: ast.Delete) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        todo = list(reversed(node.targets))
        while todo:
            target = todo.pop()
            if isinstance(target, ast.Tuple | ast.List):
                todo.extend(reversed(target.elts))
            else:
                statements.append(self.deleted(target))
        return placed(node, statements)

    def deleted(self, target: ast.expr) -> ast.stmt:
        if isinstance(target, ast.Attribute):
            return stored(
                target, "delete_attribute", self.visit(target.value), self.attribute(target)
            )
        if isinstance(target, ast.Subscript):
            value, key = self.visit(target.value), self.visit(target.slice)
            return stored(target, "delete_item", value, key)
        variable = self.shared(target.id) if isinstance(target, ast.Name) else None
        if variable is None:
            return ast.Delete([target])
        return stored(target, "delete_" + variable[0], variable[1])

    # Statements that bind names in other ways.

    def received(self, target: ast.expr) -> tuple[ast.expr, list[ast.stmt]]:
        """The target that a loop or `with` gets instead of its own, and the statements that store
        from there what it was given."""
        if self.is_plain_name(target) or not self.has_temporaries():
            return self.visit(target), []
        name = self.temporary()
        statements = [*self.store(target, at(target, load(name))), delete(name)]
        return at(target, ast.Name(name, ast.Store())), placed(target, statements)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> ast.stmt:
        plain = isinstance(node, ast.AsyncFor)
        node.iter = self.visit(node.iter) if plain else self.iterated(node.iter)
        node.target, stores = self.received(node.target)
        node.body = stores + self.block(node.body)
        node.orelse = self.block(node.orelse)
        return node

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.stmt:
        return self.visit_For(node)

    def visit_With(self, node: ast.With | ast.AsyncWith) -> ast.stmt:
        """The first item goes around the rest if its target needs statements of its own."""
        item, others = node.items[0], node.items[1:]
        item.context_expr = self.entered(node, item.context_expr)
        stores: list[ast.stmt] = []
        if item.optional_vars is not None:
            item.optional_vars, stores = self.received(item.optional_vars)
        if not others:
            node.body = stores + self.block(node.body)
            return node
        inner = self.visit_With(at(node, type(node)(others, node.body)))
        assert isinstance(inner, ast.With | ast.AsyncWith)
        if stores:
            node.items, node.body = [item], [*stores, inner]
        else:
            node.items, node.body = [item, *inner.items], inner.body
        return node

    def visit_AsyncWith(self, node: ast.AsyncWith) -> ast.stmt:
        return self.visit_With(node)

    def entered(self, node: ast.With | ast.AsyncWith, context: ast.expr) -> ast.expr:
        new: ast.expr = self.visit(context)
        return new if isinstance(node, ast.AsyncWith) else at(context, hook("entered", new))

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> ast.ExceptHandler:
        if node.type is not None:
            node.type = self.visit(node.type)
        node.body = self.block(node.body)
        variable = self.shared(node.name) if node.name is not None else None
        if variable is None:
            return node
        kind, cell = variable
        node.name = self.temporary()
        store = stored(node, "store_" + kind, cell, load(node.name))
        # Python, too, stores None before it deletes: the body may have deleted the variable.
        cleanup = [
            stored(node, "store_" + kind, cell, ast.Constant(None)),
            stored(node, "delete_" + kind, cell),
        ]
        node.body = placed(node, [store, ast.Try(node.body, [], [], cleanup)])
        return node

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        statements: list[ast.stmt] = []
        for alias in node.names:
            variable = self.shared(bound_name(alias))
            if variable is None:
                statements.append(ast.Import([alias]))
                continue
            name = self.temporary()
            statements.append(ast.Import([ast.alias(alias.name, name)]))
            if alias.asname is None:  # `import a.b` binds a
                statements.append(ast.Import([ast.alias(bound_name(alias), name)]))
            statements.append(stored(node, "store_" + variable[0], variable[1], load(name)))
            statements.append(delete(name))
        return placed(node, statements)

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        stores: list[ast.stmt] = []
        for alias in node.names:
            variable = self.shared(bound_name(alias))
            if variable is not None:
                alias.asname = self.temporary()
                stores.append(stored(node, "store_" + variable[0], variable[1], load(alias.asname)))
                stores.append(delete(alias.asname))
        return placed(node, [node, *stores])

    def visit_Match(self, node: ast.Match) -> ast.stmt:
        node.subject = at(node.subject, hook("matched", self.visit(node.subject)))
        for case in node.cases:
            stores = self.pattern_stores(case.pattern)
            guard = None if case.guard is None else self.condition(case.guard)
            body = self.block(case.body)
            if guard is None:
                body = placed(case.body[0], [ast.Expr(store) for store in stores]) + body
            else:
                for store in reversed(stores):
                    guard = second(store, guard)
                case.guard = at(case.pattern, guard)
            case.body = body
        return node

    def pattern_stores(self, pattern: ast.pattern) -> list[ast.expr]:
        """The stores to the shared variables that a pattern binds; it binds temporaries instead."""
        stores: list[ast.expr] = []
        for part in ast.walk(pattern):
            if isinstance(part, ast.MatchClass) and (part.patterns or part.kwd_patterns):
                raise MazurkaError(
                    "match with class patterns is not supported in checked code yet "
                    f"({self.filename}:{part.lineno}); use isinstance instead"
                )
            field = "rest" if isinstance(part, ast.MatchMapping) else "name"
            name = getattr(part, field, None)
            variable = self.shared(name) if name is not None else None
            if variable is not None:
                held = self.temporary()
                setattr(part, field, held)
                stores.append(hook("store_" + variable[0], variable[1], load(held)))
        return stores

    # Functions, classes, comprehensions.

    def visit_FunctionDef(self, node: FunctionNode) -> ast.stmt:
        self.decorate(node)
        self.visit_defaults(node.args)
        outer = self.in_function, self.cells
        self.in_function, self.cells = True, set()
        with self.inside(node):
            body = self.block(node.body)
            prologue = self.prologue(node)
        self.in_function, self.cells = outer
        node.body = body[: has_docstring(node)] + prologue + body[has_docstring(node) :]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self.visit_FunctionDef(node)

    def prologue(self, node: FunctionNode) -> list[ast.stmt]:
        """Statements that find the cells of shared closure variables."""
        statements: list[ast.stmt] = []
        for name in sorted(self.cells):
            if name in self.scope.bindings:
                # With all its stores replaced, this alone tells the compiler that it is local.
                declared = ast.Name(name, ast.Store())
                statements.append(ast.AnnAssign(declared, ast.Constant(None), None, 1))
            statements.append(assign(cell_variable(name), find_cell(name)))
        start = ast.Pass(lineno=node.lineno, col_offset=node.col_offset)
        start.end_lineno, start.end_col_offset = start.lineno, start.col_offset
        return placed(start, statements)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.visit_defaults(node.args)
        outer, self.in_function = self.in_function, True
        with self.inside(node):
            node.body = self.visit(node.body)
        self.in_function = outer
        return node

    def visit_defaults(self, node: ast.arguments) -> None:
        node.defaults = [self.visit(default) for default in node.defaults]
        node.kw_defaults = [
            None if default is None else self.visit(default) for default in node.kw_defaults
        ]

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        self.decorate(node)
        if not getattr(node, "type_params", []):  # else they are evaluated in a scope of their own
            node.bases = [self.visit(base) for base in node.bases]
            node.keywords = [self.visit(keyword) for keyword in node.keywords]
        with self.inside(node):
            node.body = self.block(node.body)
        return node

    def visit_TypeAlias(self, node: ast.stmt) -> ast.stmt:
        return node

    def decorate(self, node: FunctionNode | ast.ClassDef) -> None:
        """Rewrite the decorators; one more stores the function or class if its name is shared.

        Python then stores it again, in the same step. It cannot be given another name instead,
        which it would keep.
        """
        if not self.in_function:
            node.decorator_list = [self.visit(decorator) for decorator in node.decorator_list]
            return
        decorators = [self.called_decorator(decorator) for decorator in node.decorator_list]
        variable = self.shared(node.name)
        if variable is not None:
            name = self.temporary()
            store = hook("store_" + variable[0], variable[1], load(name))
            first = decorators[0] if decorators else node
            storing = helper_lambda(name, second(store, load(name)))
            decorators.insert(0, at(first, storing))
        node.decorator_list = decorators

    def called_decorator(self, node: ast.expr) -> ast.expr:
        if self.is_builtin(node, DIRECT_CALLS):
            return node
        return at(node, hook("callee", self.visit(node)))

    def visit_comprehension_node(self, node: ComprehensionNode) -> ast.expr:
        first = node.generators[0]
        with self.iterable():
            first.iter = self.loop_iterable(first)
        with self.inside(node):
            generators: list[ast.comprehension] = []
            for generator in node.generators:
                if generator is not first:
                    with self.iterable():
                        generator.iter = self.loop_iterable(generator)
                generator.target, unpackings = self.loop_target(generator.target)
                conditions = [self.condition(test) for test in generator.ifs]
                generator.ifs = []
                generators += [generator, *unpackings]
                generators[-1].ifs = conditions
            node.generators = generators
            if isinstance(node, ast.DictComp):
                node.key, node.value = self.visit(node.key), self.visit(node.value)
            else:
                node.elt = self.visit(node.elt)
        return node

    visit_ListComp = visit_comprehension_node
    visit_SetComp = visit_comprehension_node
    visit_DictComp = visit_comprehension_node
    visit_GeneratorExp = visit_comprehension_node

    def loop_iterable(self, generator: ast.comprehension) -> ast.expr:
        if generator.is_async:
            return self.visit(generator.iter)  # type: ignore[no-any-return]
        return self.iterated(generator.iter)

    def loop_target(self, target: ast.expr) -> tuple[ast.expr, list[ast.comprehension]]:
        """The target of a loop in a comprehension, and the loops of one round that go on from
        there: `for a, b in pairs` becomes `for pair in pairs for a, b in (unpack(pair),)`.

        The variables of comprehensions are never tracked, though each round binds them anew and
        functions may capture them: other threads hardly ever run such a function before the
        comprehension is over.
        """
        if isinstance(target, ast.Name):
            return target, []
        name = self.temporary()
        held = at(target, ast.Name(name, ast.Store()))
        if not isinstance(target, ast.Tuple | ast.List):
            [store] = self.store(target, load(name))
            assert isinstance(store, ast.Expr)
            return held, [just(self.temporary(), store.value)]
        unpackings = [ast.comprehension(target, alone(hook("unpack", load(name))), [], 0)]
        for position, element in enumerate(target.elts):
            if not isinstance(element, ast.Starred):
                target.elts[position], more = self.loop_target(element)
                unpackings += more
        return held, unpackings


Compared = Callable[[ast.expr, ast.expr], ast.expr]
Rest = Callable[[ast.expr], ast.expr]
Holder = Callable[[ast.expr, ast.expr, Compared, Rest], ast.expr]


def placed(place: ast.AST, statements: list[ast.stmt]) -> list[ast.stmt]:
    """The statements; those without a position of their own get that of another node."""
    return [
        statement if hasattr(statement, "lineno") else at(place, statement)
        for statement in statements
    ]


def stored(target: ast.AST, name: str, *arguments: ast.expr) -> ast.stmt:
    """The statement that stores to, or deletes, a target by a hook."""
    return at(target, ast.Expr(at(target, hook(name, *arguments))))


def compare(left: ast.expr, operation: ast.cmpop, right: ast.expr) -> ast.expr:
    if isinstance(operation, ast.In):
        return hook("contains", left, right)
    if isinstance(operation, ast.NotIn):
        return ast.UnaryOp(ast.Not(), hook("contains", left, right))
    return hook("compare", ast.Constant(FUNCTION + COMPARISONS[type(operation)]), left, right)


def alone(value: ast.expr) -> ast.expr:
    return ast.Tuple([value], ast.Load())


def just(name: str, value: ast.expr) -> ast.comprehension:
    """The loop of a comprehension that gives a name to a value."""
    return ast.comprehension(ast.Name(name, ast.Store()), alone(value), [], 0)


def cell_variable(name: str) -> str:
    return f"{ADDED}cell {name}"


def find_cell(name: str) -> ast.expr:
    """The cell of a closure variable: that of a function which uses nothing else."""
    return hook("closure_cell", helper_lambda(ADDED, load(name)), ast.Constant(name))


def is_helper(code: CodeType) -> bool:
    """Whether a code object is that of a lambda that the rewriting added."""
    return code.co_argcount > 0 and code.co_varnames[0].startswith(ADDED)


def has_docstring(node: FunctionNode) -> bool:
    return ast.get_docstring(node, clean=False) is not None


def is_pytests_own(node: ast.expr) -> bool:
    """Whether an object is one that pytest's rewriting of assertions put there."""
    return isinstance(node, ast.Name) and node.id.startswith("@py")

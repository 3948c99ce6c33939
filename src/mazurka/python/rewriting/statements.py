"""Rewrites the statements of functions."""

import ast
from collections.abc import Callable, Iterable

from mazurka.python.loops.forward_conditions import FunctionConditions, LoopConditions
from mazurka.python.loops.kinds import sort_of
from mazurka.python.loops.liveness import Liveness
from mazurka.python.rewriting.expressions import ExpressionRewriter
from mazurka.python.rewriting.nodes import (
    DIRECT_CALLS,
    FINALIZER,
    FUNCTION,
    IN_PLACE,
    assign,
    at,
    cell_variable,
    clear,
    constant,
    delete,
    elements_of,
    find_cell,
    function,
    has_docstring,
    helper_lambda,
    hook,
    is_fresh,
    is_method,
    is_number,
    load,
    parts_of,
    placed,
    second,
    stored,
)
from mazurka.python.rewriting.patterns import Patterns
from mazurka.python.rewriting.scopes import FunctionNode, bound_name


class Rewriter(ExpressionRewriter):
    """Changes the functions of a tree."""

    def block(self, statements: Iterable[ast.stmt]) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for statement in statements:
            self.in_faint = self.is_faint(statement)
            changed = self.visit(statement)
            self.in_faint = False
            if isinstance(changed, list):
                new.extend(changed)
            else:
                new.append(changed)
        return new

    def holding(self, value: ast.expr, use: Callable[[ast.expr], list[ast.stmt]]) -> list[ast.stmt]:
        """Statements that use a value which is evaluated first, and once."""
        name = self.temporary()
        return [assign(name, value), *use(load(name)), delete(name)]

    def visit_Expr(self, node: ast.Expr) -> ast.stmt:
        """A call of which nobody takes the result. (A fetch_add then is an add.)"""
        is_add = is_method(node.value, "fetch_add")
        node.value = self.visit(node.value)
        if is_add and isinstance(node.value, ast.Call):
            node.value.func = at(node.value.func, hook("unused", node.value.func))
        return node

    # Conditions.

    def visit_If(self, node: ast.If) -> ast.stmt:
        node.test = self.condition(node.test)
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return node

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        """`while test` becomes `while again(loop) and test`."""
        if self.liveness is None or not self.has_temporaries():
            return [self.visit_If(node)]  # type: ignore[arg-type]
        live = self.liveness.assigned_and_live(node)
        faint = live & self.liveness.faint
        operands = self.liveness.operands(faint)
        if any(name.startswith("__") or self.is_shared(name) for name in operands):
            faint = set()  # others may change what they are computed from
        names, counters = self.mangled(live - faint), self.mangled(faint)
        loop = self.temporary()
        calls = self.liveness.calls
        self.wait_with(LoopConditions(node, names, counters, operands, calls, self), loop)
        facts: list[object] = [node.lineno, names, sort_of(node)]
        if counters:
            facts += [counters, tuple(sorted(operands)), calls]
        entry = at(node, assign(loop, hook("enter_loop", *map(constant, facts))))
        test = self.condition(node.test)
        node.test = at(test, ast.BoolOp(ast.And(), [hook("again", load(loop)), test]))
        node.body, node.orelse = self.block(node.body), self.block(node.orelse)
        return [entry, node]

    def mangled(self, names: Iterable[str]) -> tuple[str, ...]:
        return tuple(map(self.scope.mangled, sorted(names)))

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        node.test = self.condition(node.test)
        if node.msg is not None:
            node.msg = self.visit(node.msg)
        return node

    # Assignments.

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        fresh = is_fresh(node.value)
        value = self.visit(node.value)
        if len(node.targets) == 1:
            return placed(node, self.store(node.targets[0], value, fresh))
        if not self.has_temporaries() or all(map(self.is_plain_name, node.targets)):
            node.value = value
            node.targets = [self.visit(target) for target in node.targets]
            return [node]

        def store_all(held: ast.expr) -> list[ast.stmt]:
            stores = [self.store(target, held) for target in node.targets]
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
        assert isinstance(target, ast.Attribute | ast.Subscript)
        parts = parts_of(target)
        if not self.is_stable(value) and not all(map(self.is_stable, parts)):
            if not self.has_temporaries():
                return [ast.Assign([self.visit(target)], value)]
            return self.holding(value, lambda held: self.store(target, held))
        parts = [self.visit(part) for part in parts]
        return [at(target, ast.Expr(self.part_stored(target, parts, value)))]

    def store_unpacked(
        self, target: ast.Tuple | ast.List, value: ast.expr, fresh: bool
    ) -> list[ast.stmt]:
        if not fresh:
            value = at(value, hook("unpack", value))
        if not self.has_temporaries() or all(map(self.is_plain_name, elements_of(target))):
            return [ast.Assign([self.visit(target)], value)]
        held = self.hold_elements(target)
        statements: list[ast.stmt] = [ast.Assign([target], value)]
        for element, name in held:
            statements += self.store(element, load(name))
        return [*statements, delete(*(name for _, name in held))]

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
        parts = parts_of(target)
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
        new = self.updated(node, at(target, old))
        statements.append(at(target, ast.Expr(self.part_stored(target, parts, new))))
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
        node.iter = self.visit(node.iter) if plain else self.iterated(node.iter, "iterate_in_loop")
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
        """Name by name: each is an attribute of the module, which is read."""
        statements: list[ast.stmt] = []
        stores: list[ast.stmt] = []
        for alias in node.names:
            variable = self.shared(bound_name(alias))
            wanted = [constant(each) for each in (node.module or "", node.level, alias.name)]
            statements.append(ast.Expr(hook("note_import", *wanted)))
            statements.append(ast.ImportFrom(node.module, [alias], node.level))
            if variable is not None:
                alias.asname = self.temporary()
                stores.append(stored(node, "store_" + variable[0], variable[1], load(alias.asname)))
                stores.append(delete(alias.asname))
        return placed(node, [*statements, *stores])

    def visit_Match(self, node: ast.Match) -> list[ast.stmt]:
        """A chain of `if`s does the same, and calls hooks for what patterns look at."""
        subject = self.temporary()
        start = at(node.subject, assign(subject, self.visit(node.subject)))
        patterns = Patterns(self)
        tests = [patterns.condition(case, load(subject)) for case in node.cases]
        temporaries = [subject, *patterns.temporaries]
        chain = placed(node, clear(temporaries))
        for case, test in reversed(list(zip(node.cases, tests, strict=True))):
            body = placed(case.pattern, clear(temporaries)) + self.block(case.body)
            chain = [at(case.pattern, ast.If(test, body, chain))]
        return [start, *chain]

    # Functions and classes.

    def visit_FunctionDef(self, node: FunctionNode) -> ast.stmt:
        self.decorate(node)
        self.visit_defaults(node.args)
        outer = self.in_function, self.cells, self.liveness
        self.in_function, self.cells, self.liveness = True, set(), Liveness(node)
        with self.inside(node):
            conditions = FunctionConditions(node, self)
            caller = self.temporary()
            self.wait_with(conditions, caller)
            body = self.block(node.body)
            prologue = self.prologue(node, caller if conditions.finds_any() else None)
            parameters = [*node.args.posonlyargs, *node.args.args]
            if node.name == FINALIZER and parameters:
                leave = ast.If(hook("is_let_go", load(parameters[0].arg)), [ast.Return()], [])
                prologue[:0] = placed(node.body[0], [leave])
        self.in_function, self.cells, self.liveness = outer
        node.body = body[: has_docstring(node)] + prologue + body[has_docstring(node) :]
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self.visit_FunctionDef(node)

    def prologue(self, node: FunctionNode, caller: str | None) -> list[ast.stmt]:
        """Statements that find the cells of shared closure variables, and whether the caller is a
        loop that waits for what the function gives."""
        statements: list[ast.stmt] = []
        for name in sorted(self.cells):
            if name in self.scope.bindings:
                # With all its stores replaced, this alone tells the compiler that it is local.
                declared = ast.Name(name, ast.Store())
                statements.append(ast.AnnAssign(declared, ast.Constant(None), None, 1))
            statements.append(assign(cell_variable(name), find_cell(name)))
        if caller is not None:
            statements.append(assign(caller, hook("called")))
        start = ast.Pass(lineno=node.lineno, col_offset=node.col_offset)
        start.end_lineno, start.end_col_offset = start.lineno, start.col_offset
        return placed(start, statements)

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

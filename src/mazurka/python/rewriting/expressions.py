"""Rewrites the expressions of functions."""

import ast
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from typing import Any, TypeAlias

from mazurka.python.loops.forward_conditions import (
    ForwardCondition,
    ForwardConditions,
    FunctionConditions,
)
from mazurka.python.loops.liveness import Liveness
from mazurka.python.loops.sleeping_variables import is_draw
from mazurka.python.rewriting.nodes import (
    ABOUT_CALLERS,
    ADDED,
    BINARY,
    BOOLEAN_CALLS,
    BUILTIN_CLASSES,
    DIRECT_CALLS,
    FUNCTION,
    GLOBAL,
    HOOK,
    at,
    cell_variable,
    compare,
    compares_plainly,
    constant,
    elements_of,
    find_cell,
    function,
    hook,
    is_fresh,
    is_literal,
    is_pytests_own,
    load,
    once,
    operates_plainly,
    parts_of,
    second,
    walrus,
)
from mazurka.python.rewriting.scopes import ComprehensionNode, Kind, Scopes

Compared: TypeAlias = Callable[[ast.expr, ast.expr], ast.expr]
Rest: TypeAlias = Callable[[ast.expr], ast.expr]
Holder: TypeAlias = Callable[[ast.expr, ast.expr, Compared, Rest], ast.expr]


class ExpressionRewriter(ast.NodeTransformer):
    """Changes the expressions in the functions of a tree.

    Evaluation order and the number of evaluations stay the same. Values that are needed twice are
    kept in variables of the function; in class bodies, where such variables would be attributes,
    the few operations that need them stay as they are.
    """

    def __init__(self, scopes: Scopes, tracked_globals: Set[str]) -> None:
        self.scopes = scopes
        self.tracked_globals = tracked_globals
        self.scope = scopes.module
        self.in_function = False
        self.cells: set[str] = set()  # the closure variables whose cells the function needs
        self.in_iterable = 0  # the iterables of comprehensions around: no walrus is allowed there
        self.temporaries = 0
        self.liveness: Liveness | None = None  # of the variables of the function
        self.in_faint = False  # whether the statement is faint
        # Operations with which a loop may be waiting: the loop, and when it goes on to do so.
        self.awaited: dict[ast.expr, tuple[ast.expr, ForwardCondition]] = {}
        # The same for tests whether something is true.
        self.awaited_tests: dict[ast.expr, tuple[ast.expr, ForwardCondition]] = {}

    def visit(self, node: ast.AST) -> Any:
        if self.in_function or isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
        ):
            return super().visit(node)
        return self.generic_visit(node)

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

    def is_shared(self, name: str) -> bool:
        return self.shared(name) is not None

    def is_own(self, name: str) -> bool:
        """Whether a name is that of a variable of the function, or of those around it, which
        other threads do not change."""
        return (
            not name.startswith("__")
            and self.scope.owner(name) is not None
            and not self.is_shared(name)
        )

    def is_faint(self, node: ast.stmt) -> bool:
        """Whether a statement is of no consequence but for how long it takes."""
        return self.liveness is not None and self.liveness.is_faint(node)

    def wait_with(self, conditions: ForwardConditions, place: str) -> None:
        """Let the operations of a loop or function wait; a variable has the loop, or the call."""
        for operation, condition in conditions.found.items():
            self.awaited[operation] = load(place), condition
        for tested, condition in conditions.of_tests.items():
            self.awaited_tests[tested] = load(place), condition

    def waiting_for(self, node: ast.expr) -> ast.expr:
        """What a hook needs to know to wait with an operation."""
        return waiting(*self.awaited[node])

    def closure_cell(self, name: str) -> ast.expr:
        if self.scope.host().kind is Kind.FUNCTION:
            self.cells.add(name)
            return load(cell_variable(name))
        return find_cell(name)

    def is_builtin(self, node: ast.expr, names: Set[str]) -> bool:
        """Whether an expression is one of some builtins, under its own name. (What a module has
        imported with a star may have any name.)"""
        if not isinstance(node, ast.Name) or node.id not in names:
            return False
        if self.scopes.star_import and node.id not in ABOUT_CALLERS:
            return False
        return (
            self.scope.owner(node.id) is None
            and node.id not in self.scopes.module.bindings
            and node.id not in self.tracked_globals
        )

    def visit_Name(self, node: ast.Name) -> ast.expr:
        variable = self.shared(node.id) if isinstance(node.ctx, ast.Load) else None
        if variable is None or self.is_builtin(node, DIRECT_CALLS):
            return node
        kind, cell = variable
        if node in self.awaited:
            return at(node, hook("awaited_" + kind, cell, self.waiting_for(node)))
        return at(node, hook("load_" + kind, cell))

    def visit_NamedExpr(self, node: ast.NamedExpr) -> ast.expr:
        node.value = self.visit(node.value)
        variable = self.shared(node.target.id)
        if variable is None:
            return node
        kind, cell = variable
        name = self.temporary()
        store = hook("store_" + kind, cell, walrus(name, node.value))
        return at(node, second(store, load(name)))

    # Loads, calls, and operations of Python's own.

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        node.value = self.visit(node.value)
        if not isinstance(node.ctx, ast.Load) or is_pytests_own(node.value):
            return node
        if node in self.awaited:
            waiting = self.waiting_for(node)
            return at(node, hook("awaited_attribute", node.value, self.attribute(node), waiting))
        return at(node, hook("load_attribute", node.value, self.attribute(node)))

    def attribute(self, node: ast.Attribute) -> ast.expr:
        return ast.Constant(self.scope.mangled(node.attr))

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        node.value = self.visit(node.value)
        node.slice = self.visit(node.slice)
        if not isinstance(node.ctx, ast.Load):
            return node
        if node in self.awaited:
            return at(node, hook("awaited_item", node.value, node.slice, self.waiting_for(node)))
        return at(node, hook("load_item", node.value, node.slice))

    def visit_Slice(self, node: ast.Slice) -> ast.expr:
        bounds = [
            ast.Constant(None) if bound is None else self.visit(bound)
            for bound in (node.lower, node.upper, node.step)
        ]
        return at(node, function("slice", *bounds))

    def visit_Call(self, node: ast.Call) -> ast.expr:
        if self.is_builtin(node.func, {"locals"}) and self.scope.kind is not Kind.CLASS:
            return at(node, function("without_added", node))
        if self.in_faint and is_draw(node):
            return self.drawn(node)
        if self.is_builtin(node.func, {"vars"}) and len(node.args) == 1 and not node.keywords:
            return at(node, hook("attributes_of", self.visit(node.args[0])))
        if self.is_builtin(node.func, {"exec", "eval"}):
            node.args = [self.visit(argument) for argument in node.args]
            return at(node, second(hook("runs_text"), node))
        visit = self.condition if self.is_builtin(node.func, {"bool"}) else self.visit
        if node in self.awaited:
            if self.is_builtin(node.func, {"len"}):
                waiting = self.waiting_for(node)
                return at(node, hook("awaited_length", self.visit(node.args[0]), waiting))
            node.func = self.awaited_function(node)
        else:
            special = self.called_on_generator(node) or self.asking_class(node)
            special = special or self.listing_names(node)
            node.func = special or self.called(node.func)
        if len(node.args) == 1 and isinstance(node.args[0], ast.Starred) and node.keywords:
            node.args[0].value = self.unpacked(node.args[0].value, "unpack_late")
        else:
            node.args = [visit(argument) for argument in node.args]
        node.keywords = [self.visit(keyword) for keyword in node.keywords]
        return node

    def drawn(self, node: ast.Call) -> ast.expr:
        """A random number that is drawn for the sake of sleeping."""
        assert self.liveness is not None
        self.in_faint = False
        call = self.visit(node)
        self.in_faint = True
        return at(node, hook("drawn", hook("drawing"), constant(self.liveness.calls), call))

    def awaited_function(self, node: ast.Call) -> ast.expr:
        """The function of a call that may wait."""
        waiting = self.waiting_for(node)
        function = node.func
        if isinstance(function, ast.Attribute):
            owner, name = self.visit(function.value), self.attribute(function)
            return at(function, hook("awaited_method", owner, name, waiting))
        return at(function, hook("awaited_callee", self.visit(function), waiting))

    def called(self, node: ast.expr) -> ast.expr:
        """The function of a call."""
        if isinstance(node, ast.Attribute) and not is_pytests_own(node.value):
            owner = self.visit(node.value)
            return at(node, hook("method", owner, self.attribute(node)))
        if self.is_builtin(node, DIRECT_CALLS) or isinstance(node, ast.Attribute):
            return node
        return at(node, hook("callee", self.visit(node)))

    def called_on_generator(self, node: ast.Call) -> ast.expr | None:
        """For `any` and `all` of a generator expression: nobody else has that."""
        if len(node.args) != 1 or not isinstance(node.args[0], ast.GeneratorExp) or node.keywords:
            return None
        for name in ("any", "all"):
            if self.is_builtin(node.func, {name}):
                return at(node.func, ast.Constant(f"{HOOK}{name}_of_new"))
        return None

    def asking_class(self, node: ast.Call) -> ast.expr | None:
        """For `isinstance`, whose class may be a protocol, unless it is seen to be a builtin."""
        if not self.is_builtin(node.func, {"isinstance"}) or len(node.args) != 2:
            return None
        kinds = node.args[1]
        names = kinds.elts if isinstance(kinds, ast.Tuple) else [kinds]
        if all(self.is_builtin(name, BUILTIN_CLASSES) for name in names):
            return None
        return at(node.func, ast.Constant(f"{HOOK}check_instance"))

    def listing_names(self, node: ast.Call) -> ast.expr | None:
        """For `dir` of an object. (Without one it looks at its caller.)"""
        if not self.is_builtin(node.func, {"dir"}) or not node.args:
            return None
        return at(node.func, ast.Constant(f"{HOOK}names_of"))

    def visit_keyword(self, node: ast.keyword) -> ast.keyword:
        node.value = self.visit(node.value) if node.arg is not None else self.unpacked(node.value)
        return node

    def visit_Starred(self, node: ast.Starred) -> ast.expr:
        if isinstance(node.ctx, ast.Load):
            node.value = self.unpacked(node.value)
        return node

    def visit_Set(self, node: ast.Set) -> ast.expr:
        for place, element in enumerate(node.elts):
            if isinstance(element, ast.Starred):
                element.value = self.unpacked(element.value, "unpack_hashed")
            else:
                node.elts[place] = self.visit(element)
        return node

    def visit_Dict(self, node: ast.Dict) -> ast.expr:
        for position, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if key is None:
                node.values[position] = self.unpacked(value)
            else:
                node.keys[position] = self.visit(key)
                node.values[position] = self.visit(value)
        return node

    def unpacked(self, node: ast.expr, by: str = "unpack") -> ast.expr:
        new = self.visit(node)
        return new if is_fresh(node) else at(node, hook(by, new))

    def iterated(self, node: ast.expr, by: str = "iterate") -> ast.expr:
        new = self.visit(node)
        if is_fresh(node) or (isinstance(node, ast.Call) and self.is_builtin(node.func, {"range"})):
            return new  # type: ignore[no-any-return]
        return at(node, hook(by, new))

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
            left, right = self.visit(node.left), self.visit(operands[1])
            if node in self.awaited:
                found = at(node, hook("awaited_contains", left, right, self.waiting_for(node)))
                is_in = isinstance(node.ops[0], ast.In)
                return found if is_in else at(node, ast.UnaryOp(ast.Not(), found))
            return at(node, compare(left, node.ops[0], right))
        # A walrus that a user wrote cannot stand in the iterable of a comprehension.
        if self.scope is self.scope.host() and not self.in_iterable:
            return at(node, self.chain(node, plain, self.held_by_walrus))
        if any(isinstance(part, ast.NamedExpr) for part in ast.walk(node)):
            return at(node, self.chain(node, plain, self.held_by_walrus))
        with self.iterable():
            return at(node, self.chain(node, plain, self.held_by_comprehension))

    def chain(self, node: ast.Compare, plain: list[bool], hold: Holder) -> ast.expr:
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
        self, left: ast.expr, right: ast.expr, compared: Compared, rest: Rest
    ) -> ast.expr:
        name = self.temporary()
        return ast.BoolOp(ast.And(), [compared(left, walrus(name, right)), rest(load(name))])

    def held_by_comprehension(
        self, left: ast.expr, right: ast.expr, compared: Compared, rest: Rest
    ) -> ast.expr:
        """For comprehensions, whose walruses bind outside: [... for a in (left,) for b in (right,)]
        evaluates `...` with its own a and b."""
        first, middle = self.temporary(), self.temporary()
        both = ast.BoolOp(ast.And(), [compared(load(first), load(middle)), rest(load(middle))])
        loops = [
            once(ast.Name(first, ast.Store()), left),
            once(ast.Name(middle, ast.Store()), right),
        ]
        return ast.Subscript(ast.ListComp(both, loops), ast.Constant(0), ast.Load())

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
        plain = self.is_boolean(node) or isinstance(node, ast.Starred)
        new: ast.expr = self.visit(node)
        if node in self.awaited_tests:
            return at(node, hook("awaited_truth", new, waiting(*self.awaited_tests[node])))
        return new if plain else at(node, hook("truth", new))

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

    # Lambdas and comprehensions.

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self.visit_defaults(node.args)
        outer, self.in_function = self.in_function, True
        with self.inside(node):
            node.body = self.lambda_body(node)
        self.in_function = outer
        return node

    def lambda_body(self, node: ast.Lambda) -> ast.expr:
        body = node.body
        if self.in_iterable:  # where no walrus may be, not even in a lambda
            return self.visit(body)  # type: ignore[no-any-return]
        conditions = FunctionConditions(node, self)
        caller = self.temporary()
        self.wait_with(conditions, caller)
        new = self.visit(body)
        if not conditions.finds_any():
            return new  # type: ignore[no-any-return]
        return at(body, second(walrus(caller, hook("called")), new))

    def visit_defaults(self, node: ast.arguments) -> None:
        node.defaults = [self.visit(default) for default in node.defaults]
        node.kw_defaults = [
            None if default is None else self.visit(default) for default in node.kw_defaults
        ]

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
        return at(target, ast.Name(name, ast.Store())), self.loops_from(target, name)

    def loops_from(self, target: ast.expr, name: str) -> list[ast.comprehension]:
        """Loops of one round that store in a target what a variable holds."""
        if isinstance(target, ast.Name):
            return [once(target, load(name))]
        if isinstance(target, ast.Attribute | ast.Subscript):
            with self.iterable():
                parts = [self.visit(part) for part in parts_of(target)]
            nowhere = ast.Name(self.temporary(), ast.Store())
            return [once(nowhere, self.part_stored(target, parts, load(name)))]
        assert isinstance(target, ast.Tuple | ast.List)
        unpacking = once(target, hook("unpack", load(name)))
        if all(isinstance(element, ast.Name) for element in elements_of(target)):
            return [unpacking]
        held = self.hold_elements(target)
        return [unpacking, *(loop for pair in held for loop in self.loops_from(*pair))]

    def hold_elements(self, target: ast.Tuple | ast.List) -> list[tuple[ast.expr, str]]:
        """Let a target unpack to temporaries; gives its elements, and the temporary of each."""
        held = [(element, self.temporary()) for element in elements_of(target)]
        for position, (_, name) in enumerate(held):
            new: ast.expr = ast.Name(name, ast.Store())
            if isinstance(target.elts[position], ast.Starred):
                new = ast.Starred(new, ast.Store())
            target.elts[position] = new
        return held

    def part_stored(
        self, target: ast.Attribute | ast.Subscript, parts: list[ast.expr], value: ast.expr
    ) -> ast.expr:
        """The store of an attribute or an item, with the parts of the target evaluated."""
        if isinstance(target, ast.Attribute):
            return at(target, hook("store_attribute", *parts, self.attribute(target), value))
        return at(target, hook("store_item", *parts, value))


def waiting(place: ast.expr, condition: ForwardCondition) -> ast.expr:
    """What a hook is told that may wait: where, and for what."""
    facts = [constant(condition.names), constant(condition.takes_time)]
    return hook("may_be_waiting", place, condition.function(), *facts)

"""Which variable a name of a source file stands for, and which variables threads can share."""

import ast
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

FunctionNode: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
ComprehensionNode: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

PARAMETER = -1  # parameters are bound before the first statement


class Kind(Enum):
    MODULE = "module"
    CLASS = "class"
    FUNCTION = "function"
    LAMBDA = "lambda"
    COMPREHENSION = "comprehension"  # of a list, set or dict: runs at once
    GENERATOR = "generator expression"
    TYPES = "type parameters or the value of a type alias"


# The kinds whose code may run after, and beside, the code around it. (That of type aliases may,
# too, but stays as it is.)
CAPTURING = {Kind.FUNCTION, Kind.LAMBDA, Kind.GENERATOR}
COMPREHENSIONS = {Kind.COMPREHENSION, Kind.GENERATOR}


@dataclass(frozen=True)
class Binding:
    """One of the places that give a variable a value."""

    # The statement of the function's body, by number, that binds the variable once and for all;
    # None if the binding may happen again or not at all.
    statement: int | None
    # Whether the value may mention the variable, as functions do that call themselves.
    recursive: bool = False


class Scope:
    """A part of the source with variables of its own."""

    def __init__(self, kind: Kind, parent: "Scope | None", class_name: str | None) -> None:
        self.kind = kind
        self.parent = parent
        self.class_name = class_name  # for private names
        # Statements, by number: the one of its parent that it is in, and the one of its own body
        # that is being looked at.
        self.position: int = parent.statement if parent is not None else 0
        self.statement: int = 0
        self.body_statement: ast.stmt | None = None
        self.bindings: dict[str, list[Binding]] = {}
        self.uses: set[str] = set()
        self.global_names: set[str] = set()
        self.nonlocal_names: set[str] = set()
        self.walrus_names: set[str] = set()
        self.captures: dict[str, list[int]] = {}  # the statements that capture a variable
        self.tracked: set[str] = set()  # the captured variables that may change afterwards

    def owner(self, name: str) -> "Scope | None":
        """The scope whose variable a name stands for here; None for globals and builtins."""
        scope: Scope | None = self
        while scope is not None and scope.kind is not Kind.MODULE:
            if name in scope.global_names:
                return None
            if name in scope.bindings and (scope.kind is not Kind.CLASS or scope is self):
                return scope
            scope = scope.parent
        return None

    def host(self) -> "Scope":
        """The innermost scope that is no comprehension: where a walrus binds."""
        scope = self
        while scope.kind in COMPREHENSIONS and scope.parent is not None:
            scope = scope.parent
        return scope

    def mangled(self, name: str) -> str:
        """A name as the compiler sees it: private names get the class in front."""
        if self.class_name is None or not name.startswith("__") or name.endswith("__"):
            return name
        stripped = self.class_name.lstrip("_")
        return f"_{stripped}{name}" if stripped else name

    def may_change_when_captured(self, name: str) -> bool:
        bindings = self.bindings[name]
        if len(bindings) != 1 or bindings[0].statement is None:
            return True
        bound = bindings[0].statement
        return any(
            position < bound or (position == bound and not bindings[0].recursive)
            for position in self.captures[name]
        )


class Scopes(ast.NodeVisitor):
    """The scopes of a source file."""

    def __init__(self, tree: ast.Module) -> None:
        self.module = Scope(Kind.MODULE, None, None)
        self.scope = self.module
        self.of: dict[ast.AST, Scope] = {}
        self.everything = [self.module]
        self.stored_globals: set[str] = set()  # by functions
        self.stored_attributes: set[str] = set()
        self.star_import = False
        self.settles: int | None = None  # the `statement` of the bindings that are met now
        self.block(tree.body)
        self.resolve()

    def resolve(self) -> None:
        """Find the owners of all names, now that all bindings are known."""
        for scope in self.everything:
            for name in scope.uses:
                owner = scope.owner(name)
                if owner is not None and owner is not scope:
                    note_capture(owner, scope, name)
            for name in scope.nonlocal_names:
                owner = scope.owner(name)
                if owner is not None:
                    owner.bindings[name].append(Binding(None))
        for scope in self.everything:
            if scope.kind is Kind.FUNCTION:
                scope.tracked = {
                    name for name in scope.captures if scope.may_change_when_captured(name)
                }

    def names(self) -> set[str]:
        """All names that the file uses for variables."""
        return set().union(*(scope.uses for scope in self.everything))

    @contextmanager
    def inside(self, kind: Kind, node: ast.AST, class_name: str | None = None) -> Iterator[Scope]:
        outer = self.scope
        scope = Scope(kind, outer, class_name or outer.class_name)
        self.everything.append(scope)
        if kind is not Kind.TYPES:
            self.of[node] = scope
        self.scope = scope
        yield scope
        self.scope = outer

    def block(self, statements: Iterable[ast.stmt]) -> None:
        for number, statement in enumerate(statements):
            self.scope.statement = number
            self.scope.body_statement = statement
            self.visit(statement)

    def visit_all(self, nodes: Iterable[ast.AST | None]) -> None:
        for node in nodes:
            if node is not None:
                self.visit(node)

    # Bindings.

    def bind(self, name: str, binding: Binding, scope: Scope | None = None) -> None:
        scope = scope or self.scope
        name = scope.mangled(name)
        scope.uses.add(name)
        if name in scope.global_names:
            if scope is not self.module:
                self.stored_globals.add(name)
        elif name not in scope.nonlocal_names:  # those are counted in `resolve`
            scope.bindings.setdefault(name, []).append(binding)

    def number(self, statement: ast.stmt) -> int | None:
        """The number of a statement directly in the body, else None."""
        return self.scope.statement if statement is self.scope.body_statement else None

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self.scope.uses.add(self.scope.mangled(node.id))
        else:
            self.bind(node.id, Binding(self.settles))

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self.scope.mangled(node.attr)
        if not isinstance(node.ctx, ast.Load):
            self.stored_attributes.add(name)
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        """`globals()["name"] = ...` stores a global variable."""
        name = text_of(node.slice)
        if name is not None and not isinstance(node.ctx, ast.Load) and gives_globals(node.value):
            self.stored_globals.add(name)
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        """`setattr(module, "name", ...)` may do so, too."""
        if isinstance(node.func, ast.Name) and node.func.id in ("setattr", "delattr"):
            name = text_of(node.args[1]) if len(node.args) > 1 else None
            if name is not None:
                self.stored_attributes.add(name)
        self.generic_visit(node)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        host = self.scope.host()
        host.walrus_names.add(host.mangled(node.target.id))
        self.scope.uses.add(host.mangled(node.target.id))
        self.bind(node.target.id, Binding(None), host)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        recursive = isinstance(node.value, ast.Lambda)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.bind(target.id, Binding(self.number(node), recursive))
            else:
                self.settles = self.number(node)
                self.visit(target)
                self.settles = None

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None:
            self.visit(node.value)
        if not isinstance(node.target, ast.Name):
            self.visit(node.target)
        elif node.value is not None:
            self.bind(node.target.id, Binding(self.number(node)))
        else:
            self.scope.bindings.setdefault(self.scope.mangled(node.target.id), [])

    def visit_Global(self, node: ast.Global) -> None:
        self.scope.global_names.update(map(self.scope.mangled, node.names))

    def visit_Nonlocal(self, node: ast.Nonlocal) -> None:
        names = [self.scope.mangled(name) for name in node.names]
        self.scope.nonlocal_names.update(names)
        self.scope.uses.update(names)

    def visit_Import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.star_import = True
            else:
                self.bind(bound_name(alias), Binding(self.number(node)))

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        self.visit_Import(node)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name is not None:
            self.bind(node.name, Binding(None))
        self.generic_visit(node)

    def visit_MatchAs(self, node: ast.MatchAs | ast.MatchStar) -> None:
        if node.name is not None:
            self.bind(node.name, Binding(None))
        self.generic_visit(node)

    def visit_MatchStar(self, node: ast.MatchStar) -> None:
        self.visit_MatchAs(node)

    def visit_MatchMapping(self, node: ast.MatchMapping) -> None:
        if node.rest is not None:
            self.bind(node.rest, Binding(None))
        self.generic_visit(node)

    # Scopes.

    def visit_FunctionDef(self, node: FunctionNode) -> None:
        self.visit_all(node.decorator_list)
        self.visit_defaults(node.args)
        self.bind(node.name, Binding(self.number(node), recursive=not node.decorator_list))
        with self.type_parameters(node):
            self.visit_all(argument.annotation for argument in arguments(node.args))
            self.visit_all([node.returns])
            with self.inside(Kind.FUNCTION, node):
                self.bind_parameters(node.args)
                self.block(node.body)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self.visit_defaults(node.args)
        with self.inside(Kind.LAMBDA, node):
            self.bind_parameters(node.args)
            self.visit(node.body)

    def visit_defaults(self, node: ast.arguments) -> None:
        self.visit_all(node.defaults)
        self.visit_all(node.kw_defaults)

    def bind_parameters(self, node: ast.arguments) -> None:
        for argument in arguments(node):
            self.bind(argument.arg, Binding(PARAMETER))

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self.visit_all(node.decorator_list)
        self.bind(node.name, Binding(self.number(node), recursive=not node.decorator_list))
        with self.type_parameters(node):
            self.visit_all(node.bases)
            self.visit_all(node.keywords)
            with self.inside(Kind.CLASS, node, node.name):
                self.block(node.body)

    @contextmanager
    def type_parameters(self, node: ast.AST) -> Iterator[None]:
        parameters = getattr(node, "type_params", [])
        if not parameters:
            yield
            return
        with self.inside(Kind.TYPES, node):
            for parameter in parameters:
                self.bind(parameter.name, Binding(PARAMETER))
                self.generic_visit(parameter)
            yield

    def visit_TypeAlias(self, node: ast.AST) -> None:
        name, value = node.name, node.value  # type: ignore[attr-defined]
        self.visit(name)
        with self.type_parameters(node), self.inside(Kind.TYPES, node):
            self.visit(value)

    def visit_comprehension_node(self, node: ComprehensionNode) -> None:
        first = node.generators[0]
        self.visit(first.iter)  # evaluated outside
        kind = Kind.GENERATOR if isinstance(node, ast.GeneratorExp) else Kind.COMPREHENSION
        with self.inside(kind, node):
            for generator in node.generators:
                self.visit(generator.target)
                if generator is not first:
                    self.visit(generator.iter)
                self.visit_all(generator.ifs)
            self.visit_all(results(node))

    visit_ListComp = visit_comprehension_node
    visit_SetComp = visit_comprehension_node
    visit_DictComp = visit_comprehension_node
    visit_GeneratorExp = visit_comprehension_node


def note_capture(owner: Scope, user: Scope, name: str) -> None:
    """Note that a scope inside of another uses its variable, and may do so later."""
    captured = False
    scope = user
    while scope.parent is not None:
        captured = captured or scope.kind in CAPTURING
        if scope.parent is owner:
            break
        scope = scope.parent
    if captured:
        owner.captures.setdefault(name, []).append(scope.position)


def arguments(node: ast.arguments) -> list[ast.arg]:
    starred = [argument for argument in (node.vararg, node.kwarg) if argument is not None]
    return [*node.posonlyargs, *node.args, *node.kwonlyargs, *starred]


def results(node: ComprehensionNode) -> list[ast.expr]:
    return [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]


def bound_name(alias: ast.alias) -> str:
    """The variable that an import binds."""
    return alias.asname or alias.name.partition(".")[0]


def text_of(node: ast.expr) -> str | None:
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
    return node.value if is_text else None  # type: ignore[attr-defined]


def gives_globals(node: ast.expr) -> bool:
    """`globals()`, or `function.__globals__`."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "globals"
    return isinstance(node, ast.Attribute) and node.attr == "__globals__"

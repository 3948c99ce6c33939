"""Gives the functions of a source file hooks where they access shared memory.

Every function of the file gets a twin that does the same, but calls a hook for each attribute,
item, changing global and shared closure variable that it touches, and around each operation of
Python's own that looks into an object: calls, comparisons, iteration, and so on. The module's own
statements stay as they are: they are never run again.
"""

import ast
import warnings
from collections.abc import Mapping, Set
from types import CodeType
from typing import Any

from mazurka.python.rewriting.nodes import ADDED, FUNCTION, FUNCTIONS, GLOBAL, HOOK, PLACEHOLDER
from mazurka.python.rewriting.scopes import Scopes
from mazurka.python.rewriting.statements import Rewriter


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


def rewritten(
    tree: ast.Module, filename: str, tracked_globals: Set[str], scopes: Scopes | None = None
) -> CodeType:
    """The code of a module whose functions call hooks; the tree is changed in place.

    `tracked_globals` are the names of the global variables that anything may store to, besides
    those that functions of this file declare global. `scopes` are those of the tree, if they are
    known already.
    """
    scopes = scopes or Scopes(tree)
    Rewriter(scopes, tracked_globals | scopes.stored_globals).visit(tree)
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
    return scopes.stored_attributes | scopes.stored_globals


def is_helper(code: CodeType) -> bool:
    """Whether a code object is that of a lambda that the rewriting added."""
    return code.co_argcount > 0 and code.co_varnames[0].startswith(ADDED)

"""Conditions as syntax trees, and what is known of a value that may be UNKNOWN."""

import ast
from collections.abc import Iterator

TRUE = ast.Constant(True)
FALSE = ast.Constant(False)
UNKNOWN = ast.Name("@mazurka unknown", ast.Load())


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


def is_known(value: ast.expr) -> bool:
    return not any(part is UNKNOWN for part in ast.walk(value))


def outcomes(value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What a value may turn out to be, and when it is sure to be that."""
    if is_known(value):
        yield TRUE, value
    elif isinstance(value, ast.UnaryOp) and isinstance(value.op, ast.Not):
        yield surely(value), TRUE
        yield surely_not(value), FALSE
    elif isinstance(value, ast.BoolOp):
        # The first part that is false (true, for `or`) is the value, else the last one.
        decides, goes_on = surely_not, surely
        if isinstance(value.op, ast.Or):
            decides, goes_on = surely, surely_not
        so_far: ast.expr = TRUE
        for part in value.values:
            if is_known(part):
                is_last = part is value.values[-1]
                yield both(so_far, TRUE if is_last else decides(part)), part
            so_far = both(so_far, goes_on(part))

"""Symbolic values: inputs that stand for all their values at once.

The idea is that of *Optimal Concolic Dynamic Partial Order Reduction*: an execution is kept apart
from another one by the outcomes of the conditions that it evaluates, not by values. Evaluating a
condition is a choice between true and false, of which those are explored that can be, given all
that was decided before in the execution, by whatever thread. That is a property of the set of these
decisions and not of their order, so that they commute, and every search can take them for choices.
"""

from typing import TYPE_CHECKING, Any

from mazurka.engine.errors import MazurkaError

if TYPE_CHECKING:
    from mazurka.python.symbolic.values import SymbolicBits, SymbolicBool, SymbolicInt


def symbolic_int(
    name: str | None = None, lo: int | None = None, hi: int | None = None
) -> "SymbolicInt":
    """Any whole number, of those from `lo` to `hi` if these are given."""
    return values_module().new_int(name, lo, hi)  # type: ignore[no-any-return]


def symbolic_bool(name: str | None = None) -> "SymbolicBool":
    """True or false."""
    return values_module().new_bool(name)  # type: ignore[no-any-return]


def symbolic_bits(width: int, name: str | None = None) -> "SymbolicBits":
    """Any number of so many bits, without a sign; arithmetic wraps around."""
    return values_module().new_bits(width, name)  # type: ignore[no-any-return]


def values_module() -> Any:
    """What needs the solver is loaded when it is needed."""
    try:
        import z3  # noqa: F401
    except ImportError as error:
        raise MazurkaError(
            "symbolic values need the Z3 solver, which is not installed: "
            "pip install 'mazurka[symbolic]'"
        ) from error
    from mazurka.python.symbolic import values

    return values

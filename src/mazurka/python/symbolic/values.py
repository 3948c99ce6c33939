"""Numbers and truth values that carry an expression."""

from collections.abc import Callable
from numbers import Number
from typing import Any, TypeVar

import z3
from z3.z3util import get_vars

from mazurka.engine.errors import MazurkaError
from mazurka.python.check import RUNNING
from mazurka.python.runtime.standard_thread import in_execution, own_state
from mazurka.python.symbolic.path import (
    TRUE,
    SymbolicCondition,
    decide,
    in_one_line,
    path_condition,
)

S = TypeVar("S", bound="Symbolic")

MOST_VALUES = 1000  # of a number that is used as an index


class Symbolic:
    """What all symbolic values can do.

    To build an expression takes the solver's library longer than most executions take, so results
    are kept: values never change, and the same operation on the same ones gives the same one.
    """

    __slots__ = ("expression", "number", "results")

    def __init__(self, expression: Any) -> None:
        self.expression = expression
        self.number: int = expression.get_id()  # no other has it while this one exists
        self.results: dict[tuple[str, type, int], tuple[object, Any]] = {}

    def result(self, operation: str, other: object, compute: Callable[[Any], Any]) -> Any:
        """What an operation gives; NotImplemented for operands that it does not take."""
        key: tuple[str, type, int]
        if type(other) is type(self):
            key = operation, Symbolic, other.number
        elif isinstance(other, int):
            key = operation, type(other), int(other)
        elif isinstance(other, (Symbolic, Number)):  # Python would take them for different
            kinds = f"{type(self).__name__} and {type(other).__name__}"
            raise TypeError(f"{kinds} do not mix")
        else:
            return NotImplemented
        found = self.results.get(key)
        if found is None:
            operand = self.lifted(other)
            found = other, NotImplemented if operand is None else compute(operand)
            self.results[key] = found  # with the operand, so that its number stays its own
        return found[1]

    def __repr__(self) -> str:
        return in_one_line(self.expression)

    def lifted(self, other: object) -> Any:
        """The expression of an operand; None if it is not one."""
        raise NotImplementedError

    def __eq__(self, other: object) -> Any:
        return self.result("==", other, lambda two: SymbolicBool(self.expression == two))

    def __ne__(self, other: object) -> Any:
        return self.result("!=", other, lambda two: SymbolicBool(self.expression != two))

    def __hash__(self) -> int:
        """As a key, a value must be a certain one."""
        runtime = RUNNING.check.runtime
        if in_execution():
            return hash(self.certain())
        if runtime.running:
            raise runtime.misused(f"{self!r} is a key where no thread can decide which one")
        return hash(repr(self))

    def certain(self) -> object:
        raise NotImplementedError


class SymbolicBool(Symbolic):
    """True or false."""

    __slots__ = ("condition",)

    def __init__(self, expression: Any) -> None:
        super().__init__(expression)
        self.condition = SymbolicCondition(expression)

    def lifted(self, other: object) -> Any:
        if isinstance(other, SymbolicBool):
            return other.expression
        return z3.BoolVal(bool(other)) if other == 0 or other == 1 else None

    def __bool__(self) -> bool:
        return decide(self.condition)

    def certain(self) -> bool:
        return bool(self)

    __eq__ = Symbolic.__eq__
    __hash__ = Symbolic.__hash__

    def __and__(self, other: object) -> Any:
        return self.result("&", other, lambda two: SymbolicBool(z3.And(self.expression, two)))

    def __or__(self, other: object) -> Any:
        return self.result("|", other, lambda two: SymbolicBool(z3.Or(self.expression, two)))

    def __xor__(self, other: object) -> Any:
        return self.result("^", other, lambda two: SymbolicBool(z3.Xor(self.expression, two)))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__


class SymbolicNumber(Symbolic):
    """What numbers of both kinds can do."""

    __slots__ = ()
    __eq__ = Symbolic.__eq__
    __hash__ = Symbolic.__hash__

    def made(self, expression: Any) -> Any:
        return type(self)(expression)

    def computed(self, operation: str, other: object, function: Any) -> Any:
        return self.result(
            operation, other, lambda operand: self.made(function(self.expression, operand))
        )

    def computed_from(self, operation: str, other: object, function: Any) -> Any:
        """The same with the operands the other way round."""
        return self.result(
            operation + " from",
            other,
            lambda operand: self.made(function(operand, self.expression)),
        )

    def compared(self, operation: str, other: object, function: Any) -> Any:
        return self.result(
            operation, other, lambda operand: SymbolicBool(function(self.expression, operand))
        )

    def __add__(self, other: object) -> Any:
        return self.computed("+", other, lambda one, two: one + two)

    def __sub__(self, other: object) -> Any:
        return self.computed("-", other, lambda one, two: one - two)

    def __rsub__(self, other: object) -> Any:
        return self.computed_from("-", other, lambda one, two: one - two)

    def __mul__(self, other: object) -> Any:
        return self.computed("*", other, lambda one, two: one * two)

    __radd__, __rmul__ = __add__, __mul__

    def __floordiv__(self, other: object) -> Any:
        self.refuse_zero(other)
        return self.computed("//", other, self.quotient)

    def __rfloordiv__(self, other: object) -> Any:
        self.refuse_zero(self)
        return self.computed_from("//", other, self.quotient)

    def __mod__(self, other: object) -> Any:
        self.refuse_zero(other)
        return self.computed("%", other, self.remainder)

    def __rmod__(self, other: object) -> Any:
        self.refuse_zero(self)
        return self.computed_from("%", other, self.remainder)

    def refuse_zero(self, divisor: object) -> None:
        if isinstance(divisor, (SymbolicNumber, int)) and divisor == 0:
            raise ZeroDivisionError("integer division or modulo by zero")

    def quotient(self, one: Any, two: Any) -> Any:
        raise NotImplementedError

    def remainder(self, one: Any, two: Any) -> Any:
        return one - two * self.quotient(one, two)

    def __neg__(self) -> Any:
        return self.made(-self.expression)

    def __pos__(self) -> Any:
        return self

    def __bool__(self) -> bool:
        return bool(self != 0)

    def __index__(self) -> int:
        return self.certain()

    __int__ = __index__

    def certain(self) -> int:
        """One of the values, which the number has from now on. They are tried in an order that
        depends on the number alone, and not on what was decided of it."""
        least, greatest = self.bounds()
        for value in range(least, greatest):
            if self == value:
                return value
        bool(self == greatest)  # no other is left, but the decision is to be seen by all
        return greatest

    def bounds(self) -> tuple[int, int]:
        raise NotImplementedError


class SymbolicInt(SymbolicNumber):
    """Any whole number."""

    __slots__ = ()
    __eq__ = Symbolic.__eq__
    __hash__ = Symbolic.__hash__

    def lifted(self, other: object) -> Any:
        if isinstance(other, SymbolicInt):
            return other.expression
        return z3.IntVal(int(other)) if isinstance(other, int) else None

    def __lt__(self, other: object) -> Any:
        return self.compared("<", other, lambda one, two: one < two)

    def __le__(self, other: object) -> Any:
        return self.compared("<=", other, lambda one, two: one <= two)

    def __gt__(self, other: object) -> Any:
        return self.compared(">", other, lambda one, two: one > two)

    def __ge__(self, other: object) -> Any:
        return self.compared(">=", other, lambda one, two: one >= two)

    def __abs__(self) -> Any:
        return self.made(z3.If(self.expression < 0, -self.expression, self.expression))

    def quotient(self, one: Any, two: Any) -> Any:
        """Rounded down, as Python does; the solver does so for positive divisors."""
        return z3.If(two > 0, one / two, (-one) / (-two))

    def bounds(self) -> tuple[int, int]:
        """The least and the greatest value, by the bounds of the inputs."""
        runtime = RUNNING.check.runtime
        found = []
        for minimum in (True, False):
            optimizer = z3.Optimize()
            for variable in get_vars(self.expression):
                optimizer.add(*path_condition().bounds.get(str(variable), ()))
            goal = (optimizer.minimize if minimum else optimizer.maximize)(self.expression)
            if optimizer.check() != z3.sat or not z3.is_int_value(goal.value()):
                raise runtime.misused(too_many(self))
            found.append(goal.value().as_long())
        least, greatest = found
        if greatest - least >= MOST_VALUES:
            raise runtime.misused(too_many(self))
        return least, greatest


class SymbolicBits(SymbolicNumber):
    """Any number of so many bits, without a sign."""

    __slots__ = ()
    __eq__ = Symbolic.__eq__
    __hash__ = Symbolic.__hash__

    @property
    def width(self) -> int:
        return int(self.expression.size())

    def lifted(self, other: object) -> Any:
        if isinstance(other, SymbolicBits):
            if other.width != self.width:
                raise TypeError(f"numbers of {self.width} and of {other.width} bits do not mix")
            return other.expression
        if not isinstance(other, int):
            return None
        if not 0 <= other < 1 << self.width:
            raise OverflowError(f"{other} does not fit into {self.width} bits without a sign")
        return z3.BitVecVal(int(other), self.width)

    def __lt__(self, other: object) -> Any:
        return self.compared("<", other, z3.ULT)

    def __le__(self, other: object) -> Any:
        return self.compared("<=", other, z3.ULE)

    def __gt__(self, other: object) -> Any:
        return self.compared(">", other, z3.UGT)

    def __ge__(self, other: object) -> Any:
        return self.compared(">=", other, z3.UGE)

    def __and__(self, other: object) -> Any:
        return self.computed("&", other, lambda one, two: one & two)

    def __or__(self, other: object) -> Any:
        return self.computed("|", other, lambda one, two: one | two)

    def __xor__(self, other: object) -> Any:
        return self.computed("^", other, lambda one, two: one ^ two)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Any:
        return self.made(~self.expression)

    def __lshift__(self, other: object) -> Any:
        return self.computed("<<", other, lambda one, two: one << two)

    def __rshift__(self, other: object) -> Any:
        return self.computed(">>", other, z3.LShR)

    def quotient(self, one: Any, two: Any) -> Any:
        return z3.UDiv(one, two)

    def bounds(self) -> tuple[int, int]:
        if 1 << self.width > MOST_VALUES:
            raise RUNNING.check.runtime.misused(too_many(self))
        return 0, (1 << self.width) - 1


def too_many(number: SymbolicNumber) -> str:
    return (
        f"{number!r} is used as an index, a key or a plain number, and may have more than "
        f"{MOST_VALUES} values: give its inputs bounds, as in symbolic_int(lo=0, hi=9)"
    )


# Inputs


def new_int(name: str | None, lo: int | None, hi: int | None) -> SymbolicInt:
    if lo is not None and hi is not None and lo > hi:
        raise ValueError(f"there is no number from {lo} to {hi}")
    chosen = new_name(name, "int")
    value = kept((chosen, "int"), lambda: SymbolicInt(z3.Int(chosen)))
    bounds = [] if lo is None else [value >= lo]
    if hi is not None:
        bounds.append(value <= hi)
    path = path_condition()
    path.bounds[chosen] = [bound.expression for bound in bounds]
    for bound in bounds:
        path.add(bound.condition.sides[TRUE])
    return value


def new_bool(name: str | None) -> SymbolicBool:
    chosen = new_name(name, "bool")
    return kept((chosen, "bool"), lambda: SymbolicBool(z3.Bool(chosen)))


def new_bits(width: int, name: str | None) -> SymbolicBits:
    if width < 1:
        raise ValueError("a number has at least one bit")
    chosen = new_name(name, "bits")
    return kept((chosen, width), lambda: SymbolicBits(z3.BitVec(chosen, width)))


def new_name(name: str | None, kind: str) -> str:
    """A name that an input has in every execution: the one that was given, or which of a thread's
    inputs it is."""
    runtime = RUNNING.check.runtime
    thread = runtime.current
    if thread is None or not in_execution():
        raise MazurkaError("symbolic values are made by the program, while Mazurka runs it")
    state = own_state()
    state.inputs += 1
    path = path_condition()
    path.begin()
    if name is None:
        return f"{kind} {thread.name}.{state.inputs}"
    if name in path.inputs:
        raise runtime.misused(f"there are two symbolic values called {name!r}: name them apart")
    return name


def kept(key: tuple[str, object], make: Callable[[], S]) -> S:
    """An input: the same object in every execution, with all the results that it keeps."""
    path = path_condition()
    value: S | None = path.values.get(key)
    if value is None:
        value = make()
        path.values[key] = value
    path.inputs[key[0]] = value.expression
    return value

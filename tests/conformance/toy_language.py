"""A language of toy programs: what its instructions do to values, and in which order they come.

A program is a tuple of threads, a thread a tuple of instructions, an instruction its name and some
numbers: a location, and one or two operands. Thread 0 is there from the start, the others are
spawned, each once at the most. Values have 8 bits, and wrap: 255 and 1 is 0.

    ("load", x), ("store", x, v), ("exchange", x, v), ("compare_exchange", x, expected, v)
    ("fetch_add", x, n)         gives the value found
    ("add", x, n)               gives nothing, so that adds commute
    ("await", x, v)             waits until x is v
    ("await_exchange", x, v, n) the same, and makes it n
    ("lock", x), ("try lock", x), ("unlock", x)
    ("spawn", t), ("join", t)
    ("choose", n)               gives a number below n, in all possible ways
    ("if", instructions)        unless the instruction before has given 0
    ("fail unless", v)          unless it has given v
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    ACQUIRE,
    ADD,
    ADD_TO,
    AWAIT,
    AWAIT_EXCHANGE,
    CHOOSE,
    COMPARE_EXCHANGE,
    DISABLED,
    EXCHANGE,
    FETCH_ADD,
    JOIN,
    LOAD,
    READ,
    RELEASE,
    SPAWN,
    STORE,
    TRY_ACQUIRE,
    WRITE,
)
from mazurka.engine.values import Values

Instruction = tuple[Any, ...]
Program = tuple[tuple[Instruction, ...], ...]

KINDS: Final = {
    "load": LOAD,
    "store": STORE,
    "exchange": EXCHANGE,
    "compare_exchange": COMPARE_EXCHANGE,
    "fetch_add": FETCH_ADD,
    "add": ADD_TO,
    "await": AWAIT,
    "await_exchange": AWAIT_EXCHANGE,
    "lock": ACQUIRE,
    "try lock": TRY_ACQUIRE,
    "unlock": RELEASE,
    "spawn": SPAWN,
    "join": JOIN,
    "choose": CHOOSE,
}
# For a value v and operands a and b: how an operation accesses its location, what it gives its
# thread, and what it leaves in the location.
EFFECTS: Final[dict[int, Callable[[Any, Any, Any], tuple[int, int, int]]]] = {
    LOAD: lambda v, a, b: (READ, v, v),
    STORE: lambda v, a, b: (WRITE, 0, a),
    EXCHANGE: lambda v, a, b: (WRITE, v, a),
    COMPARE_EXCHANGE: lambda v, a, b: (WRITE, 1, b) if v == a else (READ, 0, v),
    FETCH_ADD: lambda v, a, b: (WRITE, v, wrapped(v + a)),
    ADD_TO: lambda v, a, b: (ADD, 0, wrapped(v + a)),
    AWAIT: lambda v, a, b: (READ if v == a else DISABLED, v, v),
    AWAIT_EXCHANGE: lambda v, a, b: (WRITE if v == a else DISABLED, v, b),
    ACQUIRE: lambda v, a, b: (WRITE if v == 0 else DISABLED, 1, 1),
    TRY_ACQUIRE: lambda v, a, b: (WRITE, 1, 1) if v == 0 else (READ, 0, v),
    RELEASE: lambda v, a, b: (WRITE, 1, 0) if v else (READ, 0, v),
}


def wrapped(value: int) -> int:
    return value % 256


class ToyValues(Values):
    """The same for searches, which ask what would happen where they have not been."""

    def mode(self, operation: Event, value: object) -> int:
        return EFFECTS[operation.kind](value, operation.first, operation.second)[0]

    def apply(self, operation: Event, value: object) -> tuple[object, object]:
        return EFFECTS[operation.kind](value, operation.first, operation.second)[1:]

    def plus(self, value: Any, adds: Sequence[Any]) -> object:
        return wrapped(value + sum([add.first for add in adds]))

    def sums(self, adds: Sequence[Any]) -> object:
        sums = {0}
        for add in adds:
            sums |= {wrapped(total + add.first) for total in sums}
        return sums

    def some_sum_enables(self, operation: Event, value: Any, sums: Any) -> bool:
        return any(self.mode(operation, wrapped(value + total)) != DISABLED for total in sums)

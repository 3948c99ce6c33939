"""Operations that wait until a round of their loop would not be in vain.

The rewrite to awaits of "Awaiting for Godot": a read, exchange, compare-exchange or try does not
happen where its result would make the round pure. Rewritten code says when that is the case (see
rewriting/awaits.py); here the operation is told to wait.
"""

from collections.abc import Callable
from typing import Any, Final, cast

from mazurka.core import operation as core
from mazurka.core.operation import (
    ACQUIRE,
    AWAIT,
    AWAIT_EXCHANGE,
    COMPARE_EXCHANGE,
    EXCHANGE,
    LOAD,
    QUEUE_GET,
    QUEUE_PUT,
    QUEUE_TRY_GET,
    QUEUE_TRY_PUT,
    SEMAPHORE_ACQUIRE,
    SEMAPHORE_TRY_ACQUIRE,
    TIMED_WAIT,
    TRY_ACQUIRE,
)
from mazurka.program.loops import (
    SETTINGS,
    SUSPENDS,
    Loop,
    ignores_time,
    is_constant,
    is_pure,
    same,
)
from mazurka.program.objects import MISSING
from mazurka.program.runtime import RUNTIME
from mazurka.program.sync import Event, Lock, Queue, QueueState
from mazurka.program.thread import Cell, Thread, Until

Condition = Callable[[object, dict[str, object]], object]

# What waits until an operation that only tries would succeed.
WAITING: Final = {
    TRY_ACQUIRE: ACQUIRE,
    SEMAPHORE_TRY_ACQUIRE: SEMAPHORE_ACQUIRE,
    QUEUE_TRY_GET: QUEUE_GET,
    QUEUE_TRY_PUT: QUEUE_PUT,
}
# The operations of methods. One that begins with another operation has more of them.
OPERATIONS: Final = {
    "exchange": (EXCHANGE,),
    "compare_exchange": (COMPARE_EXCHANGE,),
    "acquire": (TRY_ACQUIRE, SEMAPHORE_TRY_ACQUIRE),
    "wait": (TIMED_WAIT,),
    "get_nowait": (QUEUE_TRY_GET,),
    "put_nowait": (QUEUE_TRY_PUT,),
}
READS: Final = (LOAD,)
# Modules of objects that are known to do so.
MODELS: Final = ("mazurka.program.atomic", "mazurka.program.sync", "threading", "queue", "_thread")


class Unless(Until):
    """Wait unless the round goes on as a condition of the loop says."""

    def __init__(
        self, loop: Loop, condition: Condition, variables: dict[str, object], method: str
    ) -> None:
        super().__init__(loop)
        self.condition = condition
        self.variables = variables
        self.method = method  # that performs the operation; none: the read of a variable

    def strengthen(self, thread: Thread) -> bool:
        """Make the operation that a thread stands before wait; False if it is another sort."""
        kind = thread.kind
        if kind not in OPERATIONS.get(self.method, READS):
            return False
        if kind == LOAD or kind == TIMED_WAIT:
            thread.kind = AWAIT
            thread.first = Read(self, thread.cell)
            return True
        if kind == EXCHANGE:
            thread.second = thread.first
            thread.kind = AWAIT_EXCHANGE
            thread.first = Exchanged(self, thread.second)
            return True
        if not self.is_pure(None if self.method.endswith("_nowait") else False):
            return False
        if kind == COMPARE_EXCHANGE:
            thread.kind = AWAIT_EXCHANGE
            thread.first = Equal(thread.first)
            return True
        thread.kind = WAITING[kind]
        return True

    def result(self, kind: int, result: object) -> object:
        """What the operation gives, now that it has waited."""
        return True if kind == COMPARE_EXCHANGE else result

    def is_pure(self, value: object) -> bool:
        """Whether the round comes to nothing if the operation gives this value."""
        try:
            return bool(self.condition(value, self.variables))
        except Exception:  # the code that follows raises it, too
            return False


class Read:
    """What a read waits for, as a function of what it finds."""

    def __init__(self, until: Unless, cell: Cell) -> None:
        self.until = until
        self.cell = cell

    def __call__(self, found: object) -> bool:
        value = seen_by(self.until.method, self.cell, found)
        return value is MISSING or not is_constant(value) or not self.until.is_pure(value)


def seen_by(method: str, cell: Cell, found: object) -> object:
    """What a method gives that finds this in an object."""
    if not method or method == "load":
        return found
    if isinstance(cell, Event):
        return bool(found)
    if isinstance(cell, Lock):
        return found is not None
    if not isinstance(cell, Queue):
        return MISSING
    length = len(cast(QueueState, found).items)
    if method == "qsize":
        return length
    return length == 0 if method == "empty" else 0 < cell.maxsize <= length


class Exchanged:
    """What an exchange waits for: if it finds what it stores, it changes nothing."""

    def __init__(self, until: Unless, new: object) -> None:
        self.until = until
        self.new = new

    def __call__(self, found: object) -> bool:
        return not same(found, self.new) or not self.until.is_pure(found)


class Equal:
    """What a compare-exchange waits for."""

    def __init__(self, expected: object) -> None:
        self.expected = expected

    def __call__(self, found: object) -> bool:
        return core.same(found, self.expected)


def until_for(
    loop: Loop,
    condition: Condition,
    variables: dict[str, object],
    method: str,
    takes_time: bool,
) -> Until | None:
    """What an operation in a loop is to wait for; None if the round has had effects already, or if
    what the condition depends on may change."""
    thread = RUNTIME.current
    if thread is None or not SETTINGS.awaits or loop.sort == SUSPENDS or loop.begin < 0:
        return None
    if not SETTINGS.purity or not all(is_constant(value) for value in variables.values()):
        return None
    if not is_pure(thread, loop) or (takes_time and not ignores_time(thread)):
        return None
    return Unless(loop, condition, variables, method)


def awaiting(
    until: Until, function: Callable[..., object], *arguments: Any, **named: Any
) -> object:
    """Call a method that performs one operation, which is to wait."""
    thread = RUNTIME.current
    assert thread is not None
    thread.until = until
    try:
        return function(*arguments, **named)
    finally:
        thread.until = None

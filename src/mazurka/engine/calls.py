"""Calls of an object's operations: what threads did, and what a sequential specification says.

An execution makes calls; a specification is a plain object that is called in one thread. Both may
return, raise, or wait.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from mazurka.engine.errors import MazurkaError

GIVES: Final = "gives"
RAISES: Final = "raises"
WAITS: Final = "waits"

PENDING: Final = -1


class MustWait(Exception):
    """Raised by a method of a specification: in this state, a caller has to wait."""


class Given(NamedTuple):
    """How a call ends."""

    how: str  # GIVES, RAISES or WAITS
    value: Any = None  # what it gives; of an exception, the name of its type
    remark: str = ""  # of an exception: what it says

    @property
    def text(self) -> str:
        if self.how == GIVES:
            return repr(self.value)
        if self.how == WAITS:
            return "waits"
        name = str(self.value).rpartition(".")[2]
        return f"raises {name}: {self.remark}" if self.remark else f"raises {name}"

    def agrees(self, other: "Given") -> bool:
        """Whether nobody could tell the two apart. (What an exception says may differ.)"""
        return self.how == other.how and bool(self.value == other.value)


def raised(error: BaseException) -> Given:
    kind = type(error)
    remark = (str(error).splitlines() or [""])[0]
    return Given(RAISES, f"{kind.__module__}.{kind.__qualname__}", remark)


class Call:
    """One call of an operation, by a thread of an execution."""

    def __init__(self, thread: int, name: str, arguments: tuple[Any, ...], begin: int) -> None:
        self.thread = thread
        self.name = name
        self.arguments = arguments
        self.begin = begin  # so many steps came before it, of all threads,
        self.end = PENDING  # and before it was over
        self.given = Given(WAITS)
        self.operation = f"{name}({', '.join([repr(argument) for argument in arguments])})"

    def ends(self, position: int, given: Given) -> None:
        self.end = position
        self.given = given

    @property
    def is_over(self) -> bool:
        return self.end != PENDING

    @property
    def text(self) -> str:
        return f"{self.operation}: {self.given.text}"


class State:
    """What a specification is after some calls, which are all there is to know of it."""

    def __init__(self, calls: tuple[Call, ...]) -> None:
        self.calls = calls
        self.following: dict[str, tuple[Given, State]] = {}  # by the operation that comes next


class Specification:
    """What calls give that come one after the other."""

    def __init__(self, make: Callable[[], object]) -> None:
        self.make = make
        self.start = State(())

    def after(self, state: State, call: Call) -> tuple[Given, State]:
        """How a call ends in some state, and the state after it."""
        known = state.following.get(call.operation)
        if known is None:
            calls = (*state.calls, call)
            known = self.end_of(calls), State(calls)
            state.following[call.operation] = known
        return known

    def end_of(self, calls: tuple[Call, ...]) -> Given:
        """How the last of some calls ends. (All are made anew, so that no specification has to be
        copied.)"""
        instance = self.make()
        given = Given(WAITS)
        for call in calls:
            given = self.performed(instance, call)
        return given

    def performed(self, instance: object, call: Call) -> Given:
        method = getattr(instance, call.name, None)
        if not callable(method):
            raise MazurkaError(
                f"the specification, {type(instance).__name__}, has no method {call.name}"
            )
        try:
            return Given(GIVES, method(*call.arguments))
        except MustWait:
            return Given(WAITS)
        except Exception as error:
            return raised(error)

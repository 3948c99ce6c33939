"""What a program is written with: threads, atomics, assumptions and choices."""

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar, cast

from mazurka.core.operation import (
    ADD_TO,
    AWAIT,
    AWAIT_EXCHANGE,
    CHOOSE,
    COMPARE_EXCHANGE,
    EXCHANGE,
    FETCH_ADD,
    JOIN,
    LOAD,
    SPAWN,
    STORE,
)
from mazurka.core.result import MazurkaError
from mazurka.program.runtime import RUNTIME, SharedObject
from mazurka.program.thread import NOWHERE, Thread

T = TypeVar("T")


class Handle:
    """A thread of the program, as the thread that spawned it sees it."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.epoch = RUNTIME.epoch

    def join(self) -> Any:
        """Wait until the thread has ended; gives what its function returned, or raises what it
        raised."""
        thread = self.thread
        if self.epoch != RUNTIME.epoch:
            raise RUNTIME.misused("a thread of an earlier execution is joined: the program kept it")
        waiter = RUNTIME.current
        if waiter is not None:
            waiter.choice = thread.id
        RUNTIME.perform(JOIN, NOWHERE, thread, None)
        if thread.exception is not None:
            raise thread.exception
        return thread.result


def spawn(function: Callable[..., object], *arguments: object) -> Handle:
    """Start a thread that calls `function(*arguments)`."""
    parent = RUNTIME.current
    if parent is not None and RUNTIME.repeats(SPAWN, NOWHERE):
        return Handle(RUNTIME.spawn(parent, function, arguments))
    if not callable(function):
        raise TypeError(f"spawn needs a function, not {function!r}")
    return Handle(cast(Thread, RUNTIME.perform(SPAWN, NOWHERE, function, arguments)))


def assume(condition: object) -> None:
    """Go on only if the condition holds; otherwise this execution is blocked here."""
    if not condition:
        RUNTIME.give_up()


def choose(values: Iterable[T]) -> T:
    """One of the values: an execution for each."""
    alternatives = list(values)
    if not alternatives:
        raise ValueError("choose needs at least one value")
    thread = RUNTIME.current
    if thread is None:
        raise MazurkaError("choose works only in a program that Mazurka runs")
    thread.alternatives = len(alternatives)
    return alternatives[cast(int, RUNTIME.perform(CHOOSE, NOWHERE, len(alternatives), None))]


class Atomic(SharedObject, Generic[T]):
    """A shared variable; every operation on it is atomic and visible to the search."""

    def __init__(self, value: T, name: str | None = None) -> None:
        super().__init__(value, name)

    def load(self) -> T:
        if RUNTIME.repeats(LOAD, self):
            return cast(T, self.value)
        return cast(T, RUNTIME.perform(LOAD, self, None, None))

    def store(self, value: T) -> None:
        if RUNTIME.repeats(STORE, self):
            self.value = value
        else:
            RUNTIME.perform(STORE, self, value, None)

    def exchange(self, value: T) -> T:
        """Store a value, and give the one that was there."""
        return cast(T, RUNTIME.perform(EXCHANGE, self, value, None))

    def compare_exchange(self, expected: T, new: T) -> bool:
        """Store `new` if the value equals `expected`; tells whether it did. Failing only reads."""
        return cast(bool, RUNTIME.perform(COMPARE_EXCHANGE, self, expected, new))

    def fetch_add(self, amount: T) -> T:
        """Add to the value, and give the value before."""
        return cast(T, RUNTIME.perform(FETCH_ADD, self, amount, None))

    def add(self, amount: T) -> None:
        """Add to an integer. Adds commute with one another: their order is not explored."""
        if not isinstance(amount, int):
            raise TypeError(f"add takes an integer, not {amount!r}: use fetch_add")
        RUNTIME.perform(ADD_TO, self, amount, None)

    def await_value(self, predicate: Callable[[T], object]) -> T:
        """Block until the predicate holds for the value; gives the value."""
        return cast(T, RUNTIME.perform(AWAIT, self, predicate, None))

    def await_exchange(self, predicate: Callable[[T], object], new: T) -> T:
        """Block until the predicate holds for the value, then store `new`; gives the old value."""
        return cast(T, RUNTIME.perform(AWAIT_EXCHANGE, self, predicate, new))

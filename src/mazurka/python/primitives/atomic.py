"""Atomics: the shared variables of a program.

Type checkers take atomic.pyi, where the class is generic: one that is generic here would have a
dictionary in every instance when compiled, which costs a few per cent of a search.
"""

from collections.abc import Callable
from typing import Any, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    ADD_TO,
    ADD_UNUSED,
    AWAIT,
    AWAIT_EXCHANGE,
    COMPARE_EXCHANGE,
    EXCHANGE,
    FETCH_ADD,
    LOAD,
    STORE,
    VERBS,
    WRITE,
)
from mazurka.python.check import RUNNING
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import ThreadNames
from mazurka.python.words import show, show_change


class Atomic(SharedObject):
    """A shared variable; every operation on it is atomic and visible to the search."""

    def __init__(self, value: object, name: str | None = None) -> None:
        super().__init__(value, name)

    @classmethod
    def __class_getitem__(cls, _: object) -> type:
        return cls

    def load(self) -> object:
        runtime = RUNNING.check.runtime
        if runtime.repeats(LOAD, self):
            return self.value
        return runtime.perform(LOAD, self, None, None)

    def store(self, value: object) -> None:
        runtime = RUNNING.check.runtime
        if runtime.memory is not None:
            runtime.give_away(value)
        if runtime.repeats(STORE, self):
            self.value = value
        else:
            runtime.perform(STORE, self, value, None)

    def exchange(self, value: object) -> object:
        """Store a value, and give the one that was there."""
        runtime = RUNNING.check.runtime
        if runtime.memory is not None:
            runtime.give_away(value)
        return runtime.perform(EXCHANGE, self, value, None)

    def compare_exchange(self, expected: object, new: object) -> bool:
        """Store `new` if the value equals `expected`; tells whether it did. Failing only reads."""
        runtime = RUNNING.check.runtime
        if runtime.memory is not None:
            runtime.give_away(new)
        return cast(bool, runtime.perform(COMPARE_EXCHANGE, self, expected, new))

    def compare_swap(self, expected: object, new: object) -> object:
        """The same, but gives the value that was there: if it equals `expected`, `new` is there."""
        stored = self.compare_exchange(expected, new)
        return expected if stored else self.value  # nobody has come since

    def fetch_add(self, amount: object) -> object:
        """Add to the value, and give the value before."""
        return RUNNING.check.runtime.perform(FETCH_ADD, self, amount, None)

    def fetch_add_unused(self, amount: object) -> None:
        """The same where nobody takes what it gives: such additions of integers commute."""
        RUNNING.check.runtime.perform(ADD_UNUSED, self, amount, None)

    def add(self, amount: object) -> None:
        """Add to an integer. Adds commute with one another: their order is not explored."""
        if not isinstance(amount, int):
            raise TypeError(f"add takes an integer, not {amount!r}: use fetch_add")
        RUNNING.check.runtime.perform(ADD_TO, self, amount, None)

    def await_value(self, predicate: Callable[[object], object]) -> object:
        """Block until the predicate holds for the value; gives the value."""
        return RUNNING.check.runtime.perform(AWAIT, self, predicate, None)

    def await_exchange(self, predicate: Callable[[object], object], new: object) -> object:
        """Block until the predicate holds for the value, then store `new`; gives the old value."""
        runtime = RUNNING.check.runtime
        if runtime.memory is not None:
            runtime.give_away(new)
        return runtime.perform(AWAIT_EXCHANGE, self, predicate, new)

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        kind = event.kind
        if kind == ADD_TO or kind == FETCH_ADD or kind == ADD_UNUSED:
            return f"{VERBS[kind]} {show(event.first)} to {name}: {show_change(event)}"
        if kind == COMPARE_EXCHANGE and event.mode != WRITE:
            found, expected = show(event.before), show(event.first)
            return f"compare_exchange {name}: fails, {found} is not {expected}"
        if kind == EXCHANGE or kind == COMPARE_EXCHANGE or kind == AWAIT_EXCHANGE:
            return f"{VERBS[kind]} {name}: {show_change(event)}"
        return SharedObject.step_words(event, name, threads)


def unused(method: Any) -> Any:
    """What a method is to be called as in a statement, where nobody takes what it gives."""
    owner = getattr(method, "__self__", None)
    if type(owner) is not Atomic or method != owner.fetch_add:
        return method
    return owner.fetch_add_unused if RUNNING.check.runtime.independent_adds else method

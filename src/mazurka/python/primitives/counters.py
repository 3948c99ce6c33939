"""Counters, as `itertools.count` makes them."""

import itertools

from mazurka.engine.event import Event
from mazurka.engine.operation import FETCH_ADD, LOAD
from mazurka.python.check import RUNNING
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import ThreadNames
from mazurka.python.words import show, show_change


class Count(SharedObject):
    """The model of a count: taking a number is one step."""

    def __init__(self, start: object, step: object, name: str | None) -> None:
        super().__init__(start, name)
        self.step = step

    def __iter__(self) -> "Count":
        return self

    def __next__(self) -> object:
        return RUNNING.check.runtime.perform(FETCH_ADD, self, self.step, None)

    def now(self) -> tuple[object, object]:
        """The next number, which stays, and the step to the one after it."""
        return RUNNING.check.runtime.perform(LOAD, self, None, None), self.step

    def __reduce_ex__(self, protocol: object) -> tuple[object, ...]:
        """A copy is a count of its own."""
        return itertools.count, self.now()

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        if event.kind == LOAD:
            return f"read {name}: {show(event.before)}"
        return f"fetch_add {show(event.first)} to {name}: {show_change(event)}"

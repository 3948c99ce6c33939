"""Numbered parts of an object, each of which is filled once."""

from collections.abc import Sequence

from mazurka.engine.event import Event
from mazurka.engine.operation import STORE
from mazurka.python.check import RUNNING
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import Cell, ThreadNames


class Slot(Cell):
    """One part. Whoever comes first makes it, so its name must not depend on that."""

    def __init__(self, whole: SharedObject, number: int, value: object) -> None:
        super().__init__(value, None, whole)
        RUNNING.check.runtime.names.register_part(self, whole, number)

    def store(self, value: object) -> None:
        RUNNING.check.runtime.perform(STORE, self, value, None)

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"put into {name}" if event.kind == STORE else f"get from {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return is_looked_at

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"to get from {name}, which is empty"


class Slots:
    """All parts of an object in the running execution."""

    def __init__(
        self, whole: SharedObject, kind: type[Slot] = Slot, initial: Sequence[object] = ()
    ) -> None:
        self.whole = whole
        self.kind = kind
        self.initial = initial  # what the first are filled with at the start
        self.epoch = 0
        self.made: dict[int, Slot] = {}

    def at(self, number: int) -> Slot:
        runtime = RUNNING.check.runtime
        if self.epoch != runtime.epoch:
            self.epoch = runtime.epoch
            self.made = {}
            if self.whole.epoch != runtime.epoch:
                runtime.adopt(self.whole)
        if number not in self.made:
            value = self.initial[number] if number < len(self.initial) else None
            self.made[number] = self.kind(self.whole, number, value)
        return self.made[number]


def is_filled(value: object) -> bool:
    return value is not None

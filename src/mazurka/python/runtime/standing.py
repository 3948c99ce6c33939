"""What the threads of an execution stand before, and who can go on."""

from collections.abc import Callable
from typing import Any, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    ACQUIRE,
    ADD,
    ALL,
    AWAIT_PART,
    DISABLED,
    FIRST_ON_PARTS,
    JOIN,
    NONE,
    WRITE,
    Footprint,
    may_block,
)
from mazurka.engine.turns import Stepper, Steppers
from mazurka.python.operations import PartAwaited, access_mode, footprint
from mazurka.python.runtime.thread import Thread, none_known


class Standing(Steppers):
    """The threads of the running execution. Each stands before its next operation, but for the one
    that runs."""

    def __init__(self) -> None:
        super().__init__()
        self.current: Thread | None = None  # the running thread; None outside an execution
        self.recent: Thread | None = None  # the one that stepped last
        self.asking: Thread | None = None  # the running one, while a watcher is asked
        self.live: list[Thread] = []  # those of this execution, in the order of their spawns
        self.independent_adds = True
        # Which outcomes (0: true, 1: false) a condition on symbolic values can have now.
        self.choices_at: Callable[[Any], list[int]] = none_known

    def latest(self) -> Stepper | None:
        return self.recent

    def begin_asking(self) -> None:
        self.asking = self.current
        self.current = None

    def end_asking(self) -> None:
        self.current = self.asking

    def enabled(self, stepper: Stepper) -> bool:
        thread = cast(Thread, stepper)
        if thread.finished or thread.gave_up:
            return False
        kind = thread.kind
        if kind == JOIN:
            return cast(Thread, thread.first).finished
        if not may_block(kind):
            return True
        if kind == ACQUIRE:
            return thread.cell.value is None
        running = self.current
        self.current = None  # the guard is the user's code, and must not perform operations
        disabled = access_mode(kind, thread.cell.value, thread.first, thread.second) == DISABLED
        self.current = running
        return not disabled

    def choices(self, stepper: Stepper) -> list[int]:
        thread = cast(Thread, stepper)
        if thread.alternatives:
            return list(range(thread.alternatives))
        return self.choices_at(thread.first)

    def standing(self, thread: Thread) -> Event:
        """The operation that a thread stands before, as the event that it would be now."""
        kind = thread.kind
        cell = thread.cell
        mode, structure, part = self.footprint_of(thread)
        event = Event(thread.id, kind, cell.location, mode, thread.first, thread.second)
        if kind >= FIRST_ON_PARTS:
            event.structure = structure
            event.part = part
            event.view = cell.look(kind, cast(int, thread.first), thread.second)
        elif kind == AWAIT_PART:
            event.structure = structure
            event.part = part
            event.view = cast(PartAwaited, thread.first).look(cell.value)
        return event

    def footprint_of(self, thread: Thread) -> Footprint:
        """How the operation that a thread stands before would access its location now."""
        kind = thread.kind
        if kind >= FIRST_ON_PARTS:
            item = cast(int, thread.first)
            return footprint(kind, item, thread.cell.look(kind, item, thread.second))
        mode = access_mode(kind, thread.cell.value, thread.first, thread.second)
        if kind == AWAIT_PART:
            _, structure, part = cast(PartAwaited, thread.first).footprint(thread.cell.value)
            return mode, structure, part
        return WRITE if mode == ADD and not self.independent_adds else mode, NONE, ALL

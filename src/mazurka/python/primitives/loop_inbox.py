"""What other threads hand over to an event loop of the program."""

from collections.abc import Callable
from typing import cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    LOAD,
    QUEUE_SHUTDOWN,
    QUEUE_TRY_PUT,
    STORE,
    TIMED_WAIT,
    WAIT,
    WRITE,
)
from mazurka.python.check import RUNNING
from mazurka.python.operations import FAILED
from mazurka.python.primitives.slots import Slot, Slots, is_filled
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import Operation, ThreadNames

# A task that waits: its name, and the code object and instruction where it does.
WaitingTask = tuple[str, object, int]


class Handed:
    """The value of an inbox; never changed, only replaced."""

    def __init__(self, handles: tuple[object, ...], what: str, closed: bool) -> None:
        self.handles = handles  # all that were ever handed over
        self.what = what  # the last of them, in words
        self.closed = closed


class Place(Slot):
    """A place of an inbox, which says that something was handed over there."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"wake {name}" if event.kind == STORE else f"wait in {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return is_looked_at and event.kind != STORE

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"in {name}, which has nothing to do"


class Inbox(SharedObject):
    """Where threads put what an event loop is to call. The loop itself only looks at it, and
    remembers how much it has seen: so its looks do not conflict with each other.

    What is handed over also fills a place, in the order of arrival. A loop that has nothing to do
    waits for the next place alone: what comes later is nothing that it could tell then."""

    def __init__(self, waiting_tasks: Callable[[], list[WaitingTask]]) -> None:
        super().__init__(Handed((), "", False), "the event loop")
        self.waiting_tasks = waiting_tasks
        self.seen = 0
        self.places = Slots(self, Place)

    def put(self, handle: object, what: str) -> bool:
        """Hand something over; whether the loop was still open."""

        def with_handle(state: Handed) -> tuple[Handed, int]:
            return Handed((*state.handles, handle), what, False), len(state.handles)

        place = RUNNING.check.runtime.perform(QUEUE_TRY_PUT, self, is_open, with_handle)
        if place is FAILED:
            return False
        self.places.at(cast(int, place)).store(handle)
        return True

    def take(self) -> tuple[object, ...]:
        """What is new."""
        return self.news(RUNNING.check.runtime.perform(LOAD, self, None, None))

    def wait(self) -> tuple[object, ...]:
        """Wait until there is something new, and take the first of it."""
        place = self.places.at(self.seen)
        self.seen += 1
        return (RUNNING.check.runtime.perform(WAIT, place, is_filled, None),)

    def wait_for(self, seconds: float) -> tuple[object, ...]:
        """Wait for so long at the most, where timeouts come last."""
        seen = self.seen

        def has_news(state: Handed) -> bool:
            return len(state.handles) > seen

        wait = Operation(WAIT, self, has_news, None)
        in_the_end = Operation(TIMED_WAIT, self, None, None)
        return self.news(RUNNING.check.runtime.perform_in_time(wait, in_the_end, seconds))

    def news(self, state: object) -> tuple[object, ...]:
        found = cast(Handed, state).handles[self.seen :]
        self.seen += len(found)
        return found

    def close(self) -> None:
        RUNNING.check.runtime.perform(QUEUE_SHUTDOWN, self, is_open, closed)

    def is_closed(self) -> bool:
        return cast(Handed, RUNNING.check.runtime.perform(LOAD, self, None, None)).closed

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        if event.kind == LOAD:
            return f"look at {name}"
        if event.kind == WAIT or event.kind == TIMED_WAIT:
            return f"wait in {name}"
        if event.kind == QUEUE_SHUTDOWN:
            return f"close {name}"
        if event.mode != WRITE:
            return f"hand something to {name}, which is closed"
        return f"hand {cast(Handed, event.after).what} to {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        """Not the looks of a loop, nor what it does alone."""
        return is_looked_at and event.kind != LOAD

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"in {name}, which has nothing to do"


def is_open(state: Handed) -> bool:
    return not state.closed


def closed(state: Handed) -> tuple[Handed, None]:
    return Handed(state.handles, "", True), None

"""What other threads hand over to an event loop of the program."""

from collections.abc import Callable
from typing import cast

from mazurka.engine.operation import LOAD, QUEUE_SHUTDOWN, QUEUE_TRY_PUT, WAIT
from mazurka.python.check import RUNNING
from mazurka.python.operations import FAILED
from mazurka.python.runtime.runtime import SharedObject

# A task that waits: its name, and the code object and instruction where it does.
WaitingTask = tuple[str, object, int]


class Handed:
    """The value of an inbox; never changed, only replaced."""

    def __init__(self, handles: tuple[object, ...], what: str, closed: bool) -> None:
        self.handles = handles  # all that were ever handed over
        self.what = what  # the last of them, in words
        self.closed = closed


class Inbox(SharedObject):
    """Where threads put what an event loop is to call. The loop itself only looks at it, and
    remembers how much it has seen: so its looks do not conflict with each other."""

    def __init__(self, waiting_tasks: Callable[[], list[WaitingTask]]) -> None:
        super().__init__(Handed((), "", False), "the event loop")
        self.waiting_tasks = waiting_tasks
        self.seen = 0

    def put(self, handle: object, what: str) -> bool:
        """Hand something over; whether the loop was still open."""

        def with_handle(state: Handed) -> tuple[Handed, None]:
            return Handed((*state.handles, handle), what, False), None

        return (
            RUNNING.check.runtime.perform(QUEUE_TRY_PUT, self, is_open, with_handle) is not FAILED
        )

    def take(self) -> tuple[object, ...]:
        """What is new."""
        return self.news(RUNNING.check.runtime.perform(LOAD, self, None, None))

    def wait(self) -> tuple[object, ...]:
        """Wait until there is something new."""
        seen = self.seen

        def has_news(state: Handed) -> bool:
            return len(state.handles) > seen

        return self.news(RUNNING.check.runtime.perform(WAIT, self, has_news, None))

    def news(self, state: object) -> tuple[object, ...]:
        found = cast(Handed, state).handles[self.seen :]
        self.seen += len(found)
        return found

    def close(self) -> None:
        RUNNING.check.runtime.perform(QUEUE_SHUTDOWN, self, is_open, closed)

    def is_closed(self) -> bool:
        return cast(Handed, RUNNING.check.runtime.perform(LOAD, self, None, None)).closed


def is_open(state: Handed) -> bool:
    return not state.closed


def closed(state: Handed) -> tuple[Handed, None]:
    return Handed(state.handles, "", True), None

"""Queues, as in `queue`."""

import queue
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any, cast

from mazurka.engine.errors import MazurkaError
from mazurka.engine.operation import (
    LOAD,
    QUEUE_GET,
    QUEUE_PUT,
    QUEUE_SHUTDOWN,
    QUEUE_TASK_DONE,
    QUEUE_TRY_GET,
    QUEUE_TRY_PUT,
    WAIT,
)
from mazurka.python.check import RUNNING
from mazurka.python.memory.quiet import quietly
from mazurka.python.operations import FAILED, always
from mazurka.python.primitives.timeouts import in_time
from mazurka.python.runtime.runtime import SharedObject


class QueueState:
    """The value of a queue; never changed, only replaced."""

    def __init__(self, items: tuple[object, ...], unfinished: int, shut_down: bool) -> None:
        self.items = items
        self.unfinished = unfinished
        self.shut_down = shut_down

    def __repr__(self) -> str:
        return f"{list(self.items)}" + (", shut down" if self.shut_down else "")


class ShutDownBefore313(Exception):
    """Raised by a queue that was shut down, where the standard library has no name for it."""


ShutDown: type[Exception] = getattr(queue, "ShutDown", ShutDownBefore313)
SHUT_DOWN = object()
Items = tuple[object, ...]


class Raised:
    """What comparing the items of a priority queue raised."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class Queue(SharedObject):
    """A first-in-first-out queue, bounded if maxsize is positive."""

    def __init__(self, maxsize: int = 0, name: str | None = None) -> None:
        super().__init__(QueueState((), 0, False), name)
        self.maxsize = maxsize

    @classmethod
    def __class_getitem__(cls, _: object) -> type:
        return cls

    def put(self, item: Any, block: int = True, timeout: float | None = None) -> None:
        runtime = RUNNING.check.runtime

        def appended(state: QueueState) -> tuple[QueueState, object]:
            if state.shut_down:
                return state, SHUT_DOWN
            return self.with_item(state, item)

        runtime.give_away(item)
        if block and not is_timed(timeout):
            result = runtime.perform(QUEUE_PUT, self, self.takes_items, appended)
        else:
            seconds = timeout if block and timeout is not None else 0
            result = runtime.perform_timed(
                QUEUE_TRY_PUT, QUEUE_PUT, self, self.takes_items, appended, seconds
            )
        if not in_time(result is not FAILED, timeout if block else None):
            raise queue.Full
        refuse_failure(result)

    def get(self, block: int = True, timeout: float | None = None) -> Any:
        runtime = RUNNING.check.runtime
        if block and not is_timed(timeout):
            result = runtime.perform(QUEUE_GET, self, gives_items, self.take)
        else:
            seconds = timeout if block and timeout is not None else 0
            result = runtime.perform_timed(
                QUEUE_TRY_GET, QUEUE_GET, self, gives_items, self.take, seconds
            )
        if not in_time(result is not FAILED, timeout if block else None):
            raise queue.Empty
        refuse_failure(result)
        return result

    def put_nowait(self, item: Any) -> None:
        self.put(item, False)

    def get_nowait(self) -> Any:
        return self.get(False)

    def task_done(self) -> None:
        if (
            RUNNING.check.runtime.perform(QUEUE_TASK_DONE, self, has_unfinished, one_finished)
            is FAILED
        ):
            raise ValueError("task_done() called too many times")

    def join(self) -> None:
        """Block until every item was put and marked as done."""
        RUNNING.check.runtime.perform(WAIT, self, all_finished, None)

    def shutdown(self, immediate: bool = False) -> None:
        change = shut_down_at_once if immediate else shut_down
        RUNNING.check.runtime.perform(QUEUE_SHUTDOWN, self, always, change)

    def qsize(self) -> int:
        return len(self.state().items)

    def state(self) -> QueueState:
        return cast(QueueState, RUNNING.check.runtime.perform(LOAD, self, None, None))

    def empty(self) -> bool:
        return self.qsize() == 0

    def full(self) -> bool:
        return 0 < self.maxsize <= self.qsize()

    def given(self, method: str, found: object) -> object:
        length = len(cast(QueueState, found).items)
        if method == "qsize":
            return length
        return length == 0 if method == "empty" else 0 < self.maxsize <= length

    def takes_items(self, state: QueueState) -> bool:
        return state.shut_down or self.maxsize <= 0 or len(state.items) < self.maxsize

    def with_item(self, state: QueueState, item: object) -> tuple[QueueState, object]:
        return QueueState((*state.items, item), state.unfinished + 1, False), None

    def take(self, state: QueueState) -> tuple[QueueState, object]:
        if not state.items:
            return state, SHUT_DOWN
        item, rest = self.split(state.items)
        return QueueState(rest, state.unfinished, state.shut_down), item

    def split(self, items: Items) -> tuple[object, Items]:
        """The item that comes next, and the others."""
        return items[0], items[1:]


class LifoQueue(Queue):
    """A queue that gives the latest item first."""

    def split(self, items: Items) -> tuple[object, Items]:
        return items[-1], items[:-1]


class PriorityQueue(Queue):
    """A queue that gives the least item first. Its items are a heap, as in `queue`, which decides
    between equals and is left as it is when comparing raises."""

    def with_item(self, state: QueueState, item: object) -> tuple[QueueState, object]:
        def push(heap: Any) -> None:
            heappush(heap, item)

        heap = list(state.items)
        result = comparing(push, heap)
        unfinished = state.unfinished + (0 if isinstance(result, Raised) else 1)
        return QueueState(tuple(heap), unfinished, False), result

    def split(self, items: Items) -> tuple[object, Items]:
        heap = list(items)
        return comparing(heappop, heap), tuple(heap)


def comparing(change: Callable[[Any], object], heap: list[object]) -> object:
    """Change a heap. Comparing items is the user's code, and must not perform operations. What it
    reads is told if somebody changes that."""
    runtime = RUNNING.check.runtime
    is_seen = RUNNING.check.code is not None and runtime.race_detector is None
    runtime.is_comparing = is_seen
    try:
        return quietly(change, heap) if is_seen else runtime.test(change, heap)
    except MazurkaError:
        raise
    except Exception as error:
        return Raised(error)
    finally:
        runtime.is_comparing = False


def refuse_failure(result: object) -> None:
    if result is SHUT_DOWN:
        raise ShutDown
    if isinstance(result, Raised):
        raise result.error


def is_timed(timeout: float | None) -> bool:
    if timeout is not None and timeout < 0:
        raise ValueError("'timeout' must be a non-negative number")
    return timeout is not None


def gives_items(state: QueueState) -> bool:
    return state.shut_down or bool(state.items)


def has_unfinished(state: QueueState) -> bool:
    return state.unfinished > 0


def one_finished(state: QueueState) -> tuple[QueueState, None]:
    return QueueState(state.items, state.unfinished - 1, state.shut_down), None


def all_finished(state: QueueState) -> bool:
    return state.unfinished == 0


def shut_down(state: QueueState) -> tuple[QueueState, None]:
    return QueueState(state.items, state.unfinished, True), None


def shut_down_at_once(state: QueueState) -> tuple[QueueState, None]:
    return QueueState((), max(0, state.unfinished - len(state.items)), True), None

"""Locks, conditions, semaphores, events, barriers and queues, as in `threading` and `queue`.

Time is virtual: a wait with a timeout is one step that is always enabled. Taken when the wait can
succeed, it does; taken before, it has timed out, and so much time has passed for its thread. The
search explores both.
"""

import queue
from collections.abc import Callable
from heapq import heappop, heappush
from threading import TIMEOUT_MAX, BrokenBarrierError
from typing import Any, cast

from mazurka.engine.operation import (
    ACQUIRE,
    BARRIER_CHANGE,
    BARRIER_ENTER,
    BARRIER_TIME_OUT,
    FETCH_ADD,
    LOAD,
    NOTIFY,
    QUEUE_GET,
    QUEUE_PUT,
    QUEUE_SHUTDOWN,
    QUEUE_TASK_DONE,
    QUEUE_TRY_GET,
    QUEUE_TRY_PUT,
    RELEASE,
    SEMAPHORE_ACQUIRE,
    SEMAPHORE_BOUNDED_RELEASE,
    SEMAPHORE_RELEASE,
    SEMAPHORE_TRY_ACQUIRE,
    STORE,
    TIMED_WAIT,
    TRY_ACQUIRE,
    WAIT,
)
from mazurka.python.check import RUNNING
from mazurka.python.operations import FAILED
from mazurka.python.runtime.runtime import SharedObject


class Lock(SharedObject):
    """A mutual exclusion lock; its value is the thread that holds it."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(None, name)

    def acquire(self, blocking: int = True, timeout: float = -1) -> bool:
        runtime = RUNNING.check.runtime
        if tries_only(blocking, timeout):
            return in_time(cast(bool, runtime.perform(TRY_ACQUIRE, self, None, None)), timeout)
        runtime.perform(ACQUIRE, self, None, None)
        return True

    def release(self) -> None:
        if not RUNNING.check.runtime.perform(RELEASE, self, None, None):
            raise RuntimeError("release unlocked lock")

    def locked(self) -> bool:
        return RUNNING.check.runtime.perform(LOAD, self, None, None) is not None

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    # What a condition needs of its lock.

    def is_owned(self) -> bool:
        """Whether somebody holds the lock, as in threading: any thread may release it."""
        return self.locked()

    def release_wholly(self) -> int:
        self.release()
        return 1

    def acquire_again(self, depth: int) -> None:
        self.acquire()


class RLock(Lock):
    """A lock that its holder may acquire again; only the outermost calls are visible to others."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(name)
        self.depth = 0

    def acquire(self, blocking: int = True, timeout: float = -1) -> bool:
        if self.is_owned():
            tries_only(blocking, timeout)  # refuses what it must refuse
            RUNNING.check.runtime.note_change()
            self.depth += 1
            return True
        if not super().acquire(blocking, timeout):
            return False
        self.depth = 1
        return True

    def release(self) -> None:
        if not self.is_owned():
            raise RuntimeError("cannot release un-acquired lock")
        if self.depth == 1:
            super().release()
        else:
            RUNNING.check.runtime.note_change()
            self.depth -= 1

    def is_owned(self) -> bool:
        """Whether the running thread holds the lock: no other thread can change that."""
        runtime = RUNNING.check.runtime
        thread = runtime.current
        return thread is not None and self.epoch == runtime.epoch and self.value == thread.id

    def release_wholly(self) -> int:
        depth = self.depth
        self.depth = 1
        self.release()
        return depth

    def acquire_again(self, depth: int) -> None:
        self.acquire()
        self.depth = depth

    # The names that `threading.RLock` has for these, which other conditions may use.

    def _is_owned(self) -> bool:
        return self.is_owned()

    def _release_save(self) -> int:
        if not self.is_owned():
            raise RuntimeError("cannot release un-acquired lock")
        return self.release_wholly()

    def _acquire_restore(self, depth: int) -> None:
        self.acquire_again(depth)


def tries_only(blocking: int, timeout: float) -> bool:
    """Whether an acquisition may fail; refuses what `threading` refuses."""
    if not blocking and timeout != -1:
        raise ValueError("can't specify a timeout for a non-blocking call")
    if timeout < 0 and timeout != -1:
        raise ValueError("timeout value must be a non-negative number")
    if timeout > TIMEOUT_MAX:
        raise OverflowError("timeout value is too large")
    return not blocking or timeout != -1


def in_time(succeeded: bool, timeout: float | None) -> bool:
    """Whether a wait succeeded; if it did not, its time has passed."""
    thread = RUNNING.check.runtime.current
    if not succeeded and timeout is not None and timeout > 0 and thread is not None:
        thread.clock += timeout
    return succeeded


class Waiter(SharedObject):
    """One wait on a condition; its value tells whether it was notified."""

    def __init__(self, lock: SharedObject) -> None:
        super().__init__(False, None, lock)


class Condition:
    """A condition variable.

    The queue of waiters needs no location of its own: it is only touched by holders of the lock.
    """

    def __init__(self, lock: Lock | None = None, name: str | None = None) -> None:
        self.lock: Lock = RLock(name) if lock is None else lock
        self.waiters: list[Waiter] = []
        self.epoch = RUNNING.check.runtime.epoch

    def acquire(self, blocking: int = True, timeout: float = -1) -> bool:
        return self.lock.acquire(blocking, timeout)

    def release(self) -> None:
        self.lock.release()

    def __enter__(self) -> bool:
        return self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()

    def wait(self, timeout: float | None = None) -> bool:
        runtime = RUNNING.check.runtime
        waiters = self.own_waiters("wait on")
        waiter = Waiter(self.lock)
        waiters.append(waiter)
        depth = self.lock.release_wholly()
        notified = False
        try:
            if timeout is None:
                runtime.perform(WAIT, waiter, is_true, None)
                notified = True
            else:
                notified = cast(bool, runtime.perform(TIMED_WAIT, waiter, None, None))
                in_time(notified, timeout)
        finally:
            self.lock.acquire_again(depth)
            # As in threading, a waiter that timed out stays in the queue until it has the lock
            # back, and may take a notification with it.
            if not notified and waiter in waiters:
                waiters.remove(waiter)
        return notified

    def wait_for(self, predicate: Callable[[], Any], timeout: float | None = None) -> Any:
        result = predicate()
        while not result:
            notified = self.wait(timeout)
            result = predicate()
            if not notified:
                break
        return result

    def notify(self, n: int = 1) -> None:
        waiters = self.own_waiters("notify on")
        for _ in range(min(n, len(waiters))):
            RUNNING.check.runtime.perform(NOTIFY, waiters.pop(0), True, None)

    def notify_all(self) -> None:
        self.notify(len(self.waiters))

    def own_waiters(self, action: str) -> list[Waiter]:
        """The queue, for the holder of the lock; empty at the start of every execution."""
        runtime = RUNNING.check.runtime
        if not self.lock.is_owned():
            raise RuntimeError(f"cannot {action} un-acquired lock")
        if self.epoch != runtime.epoch:
            self.epoch = runtime.epoch
            self.waiters = []
        return self.waiters


def is_true(value: object) -> bool:
    return bool(value)


class Semaphore(SharedObject):
    """A counter that cannot fall below zero. Releases commute: their order is not explored."""

    def __init__(self, value: int = 1, name: str | None = None) -> None:
        if value < 0:
            raise ValueError("semaphore initial value must be >= 0")
        super().__init__(value, name)

    def acquire(self, blocking: int = True, timeout: float | None = None) -> bool:
        runtime = RUNNING.check.runtime
        if not blocking and timeout is not None:
            raise ValueError("can't specify timeout for non-blocking acquire")
        if blocking and timeout is None:
            runtime.perform(SEMAPHORE_ACQUIRE, self, is_positive, decrement)
            return True
        result = runtime.perform(SEMAPHORE_TRY_ACQUIRE, self, is_positive, decrement)
        return in_time(result is not FAILED, timeout)

    def release(self, n: int = 1) -> None:
        if n < 1:
            raise ValueError("n must be one or more")
        RUNNING.check.runtime.perform(SEMAPHORE_RELEASE, self, n, None)

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class BoundedSemaphore(Semaphore):
    """A semaphore that must not be released more often than it was acquired."""

    def __init__(self, value: int = 1, name: str | None = None) -> None:
        super().__init__(value, name)
        self.bound = value

    def release(self, n: int = 1) -> None:
        if n < 1:
            raise ValueError("n must be one or more")
        bound = self.bound

        def has_room(value: int) -> bool:
            return value + n <= bound

        def increment(value: int) -> tuple[int, None]:
            return value + n, None

        if (
            RUNNING.check.runtime.perform(SEMAPHORE_BOUNDED_RELEASE, self, has_room, increment)
            is FAILED
        ):
            raise ValueError("Semaphore released too many times")


def is_positive(value: int) -> bool:
    return value > 0


def decrement(value: int) -> tuple[int, None]:
    return value - 1, None


class Event(SharedObject):
    """A flag that threads can wait for."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(False, name)

    def is_set(self) -> bool:
        return cast(bool, RUNNING.check.runtime.perform(LOAD, self, None, None))

    def set(self) -> None:
        RUNNING.check.runtime.perform(STORE, self, True, None)

    def clear(self) -> None:
        RUNNING.check.runtime.perform(STORE, self, False, None)

    def wait(self, timeout: float | None = None) -> bool:
        runtime = RUNNING.check.runtime
        if timeout is None:
            runtime.perform(WAIT, self, is_true, None)
            return True
        return in_time(cast(bool, runtime.perform(TIMED_WAIT, self, None, None)), timeout)


class Count(SharedObject):
    """The model of a count: taking a number is one step."""

    def __init__(self, start: object, step: object, name: str | None) -> None:
        super().__init__(start, name)
        self.step = step

    def __iter__(self) -> "Count":
        return self

    def __next__(self) -> object:
        return RUNNING.check.runtime.perform(FETCH_ADD, self, self.step, None)


# The states of a barrier, and of the gate that holds back the threads of one round.
FILLING = "filling"
ACTING = "acting"  # all have come; the last one runs the action
BROKEN = "broken"
CLOSED = "closed"
OPEN = "open"


class Gate(SharedObject):
    """Where the threads of one round of a barrier wait."""

    def __init__(self, barrier: SharedObject) -> None:
        super().__init__(CLOSED, None, barrier)


class BarrierState:
    """The value of a barrier; never changed, only replaced."""

    def __init__(self, count: int, phase: str, gate: Gate, opened: Gate | None) -> None:
        self.count = count
        self.phase = phase
        self.gate = gate
        self.opened = opened  # of the round before, until somebody comes for the next one

    def __repr__(self) -> str:
        return f"{self.phase}, {self.count} waiting"


class Barrier(SharedObject):
    """A meeting point of a fixed number of threads."""

    def __init__(
        self,
        parties: int,
        action: Callable[[], object] | None = None,
        timeout: float | None = None,
        name: str | None = None,
    ) -> None:
        if parties < 1:
            raise ValueError("parties must be > 0")
        super().__init__(None, name)
        self.value = self.initial = BarrierState(0, FILLING, Gate(self), None)
        self.parties = parties
        self.action = action
        self.timeout = timeout

    def wait(self, timeout: float | None = None) -> int:
        if timeout is None:
            timeout = self.timeout
        state = cast(
            BarrierState, RUNNING.check.runtime.perform(BARRIER_ENTER, self, is_settled, self.enter)
        )
        if state.phase == BROKEN:
            raise BrokenBarrierError
        if state.phase == ACTING:
            self.let_through()
        else:
            self.wait_at(state.gate, timeout)
        return state.count - 1

    def enter(self, state: BarrierState) -> tuple[BarrierState, BarrierState]:
        if state.phase == BROKEN:
            return state, state
        count = state.count + 1
        phase = ACTING if count == self.parties else FILLING
        state = BarrierState(count, phase, state.gate, None)
        return state, state

    def let_through(self) -> None:
        """All have come: run the action and open the gate."""
        try:
            if self.action is not None:
                self.action()
        except BaseException:
            self.change_to(BROKEN, always)
            raise
        self.change_to(FILLING, always)

    def wait_at(self, gate: Gate, timeout: float | None) -> None:
        runtime = RUNNING.check.runtime
        if timeout is not None:

            def still_closed(state: BarrierState) -> bool:
                return state.phase == FILLING and state.gate is gate

            def break_it(state: BarrierState) -> tuple[BarrierState, None]:
                return BarrierState(0, BROKEN, gate, None), None

            if runtime.perform(BARRIER_TIME_OUT, self, still_closed, break_it) is not FAILED:
                in_time(False, timeout)
                runtime.perform(NOTIFY, gate, BROKEN, None)
                raise BrokenBarrierError
        if runtime.perform(WAIT, gate, is_not_closed, None) == BROKEN:
            raise BrokenBarrierError

    def reset(self) -> None:
        """Begin a new round; threads that wait find the barrier broken."""
        self.change_to(FILLING, is_settled)

    def abort(self) -> None:
        """Break the barrier, for the threads that wait and for those to come."""
        self.change_to(BROKEN, is_settled)

    def change_to(self, phase: str, guard: Callable[[BarrierState], bool]) -> None:
        runtime = RUNNING.check.runtime
        gate = Gate(self)

        def change(state: BarrierState) -> tuple[BarrierState, BarrierState]:
            opened = state.gate if state.phase == ACTING else state.opened
            return BarrierState(0, phase, gate, opened), state

        old = cast(BarrierState, runtime.perform(BARRIER_CHANGE, self, guard, change))
        if old.count:
            succeeded = old.phase == ACTING and phase == FILLING
            runtime.perform(NOTIFY, old.gate, OPEN if succeeded else BROKEN, None)
        if phase == BROKEN and old.opened is not None:  # nor do those get away who have not left
            runtime.perform(NOTIFY, old.opened, BROKEN, None)

    @property
    def n_waiting(self) -> int:
        state = cast(BarrierState, RUNNING.check.runtime.perform(LOAD, self, None, None))
        return 0 if state.phase == BROKEN else state.count

    @property
    def broken(self) -> bool:
        return (
            cast(BarrierState, RUNNING.check.runtime.perform(LOAD, self, None, None)).phase
            == BROKEN
        )


def is_settled(state: BarrierState) -> bool:
    """While the action runs, nothing else happens to a barrier."""
    return state.phase != ACTING


def is_not_closed(value: object) -> bool:
    return value != CLOSED


def always(_: object) -> bool:
    return True


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

    def put(self, item: Any, block: int = True, timeout: float | None = None) -> None:
        runtime = RUNNING.check.runtime

        def appended(state: QueueState) -> tuple[QueueState, object]:
            if state.shut_down:
                return state, SHUT_DOWN
            return self.with_item(state, item)

        runtime.give_away(item)
        only_try = not block or is_timed(timeout)
        kind = QUEUE_TRY_PUT if only_try else QUEUE_PUT
        result = runtime.perform(kind, self, self.takes_items, appended)
        if not in_time(result is not FAILED, timeout if block else None):
            raise queue.Full
        refuse_failure(result)

    def get(self, block: int = True, timeout: float | None = None) -> Any:
        only_try = not block or is_timed(timeout)
        kind = QUEUE_TRY_GET if only_try else QUEUE_GET
        result = RUNNING.check.runtime.perform(kind, self, gives_items, self.take)
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
    """Change a heap. Comparing items is the user's code, and must not perform operations."""
    try:
        return RUNNING.check.runtime.test(change, heap)
    except Exception as error:
        return Raised(error)


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

"""Condition variables, as in `threading`."""

from collections.abc import Callable
from typing import Any, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import NOTIFY, TIMED_WAIT, WAIT
from mazurka.python.check import RUNNING
from mazurka.python.primitives.locks import Lock, RLock
from mazurka.python.primitives.timeouts import in_time
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import ThreadNames


class Waiter(SharedObject):
    """One wait on a condition; its value tells whether it was notified."""

    def __init__(self, lock: SharedObject) -> None:
        super().__init__(False, None, lock)

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        if event.kind == NOTIFY:
            return f"notify {threads(maker_of(event))} on {name}"
        return f"wait on {name}: {'notified' if event.before else 'timed out'}"

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"for a notification on {name}"


def maker_of(event: Event) -> int:
    """The thread that has made what an event works on: it waits there."""
    runtime = RUNNING.check.runtime
    return runtime.names.thread_called(
        runtime.names.locations[event.location].name.partition("#")[0]
    )


class Condition:
    """A condition variable.

    The queue of waiters needs no location of its own: it is only touched by holders of the lock,
    who hand it on.
    """

    def __init__(self, lock: Lock | None = None, name: str | None = None) -> None:
        self.lock: Lock = RLock(name) if lock is None else lock
        self.waiters: list[SharedObject] = []
        self.epoch = -1  # the execution that they belong to

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
                runtime.perform(WAIT, waiter, bool, None)
                notified = True
            else:
                found = runtime.perform_timed(TIMED_WAIT, WAIT, waiter, None, None, timeout)
                notified = cast(bool, found)
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
        if n > 0 and not waiters:
            RUNNING.check.runtime.remark("notify", self.lock, "nobody waits")
        for _ in range(min(n, len(waiters))):
            RUNNING.check.runtime.perform(NOTIFY, waiters.pop(0), True, None)

    def notify_all(self) -> None:
        self.notify(max(1, len(self.own_waiters("notify on"))))

    def own_waiters(self, action: str) -> list[SharedObject]:
        """The queue, for the holder of the lock; empty at the start of every execution."""
        runtime = RUNNING.check.runtime
        if not self.lock.is_owned():
            raise RuntimeError(f"cannot {action} un-acquired lock")
        thread = runtime.current
        if thread is None or self.lock.value != thread.id:
            runtime.hidden = "a thread uses a condition variable while another one has its lock"
        if self.epoch != runtime.epoch:
            self.epoch = runtime.epoch
            self.waiters = []
            self.lock.guard(self.waiters)
        return self.waiters

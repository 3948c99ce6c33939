"""Locks, as in `threading`."""

from threading import TIMEOUT_MAX
from typing import cast

from mazurka.engine.operation import ACQUIRE, LOAD, RELEASE, TRY_ACQUIRE
from mazurka.python.check import RUNNING
from mazurka.python.primitives.timeouts import in_time
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import ThreadNames


class Lock(SharedObject):
    """A mutual exclusion lock; its value is the thread that holds it."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(None, name)
        self.queues: list[list[SharedObject]] = []  # of waits on its conditions
        self.queues_epoch = 0

    def acquire(self, blocking: int = True, timeout: float = -1) -> bool:
        runtime = RUNNING.check.runtime
        if tries_only(blocking, timeout):
            taken = runtime.perform_timed(TRY_ACQUIRE, ACQUIRE, self, None, None, timeout)
            return in_time(cast(bool, taken), timeout)
        runtime.perform(ACQUIRE, self, None, None)
        return True

    def release(self) -> None:
        if not RUNNING.check.runtime.perform(RELEASE, self, self.handed_on(), None):
            raise RuntimeError("release unlocked lock")

    def locked(self) -> bool:
        return RUNNING.check.runtime.perform(LOAD, self, None, None) is not None

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def given(self, method: str, found: object) -> object:
        return found is not None

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        if kind != ACQUIRE:
            return super().waiting_words(kind, name, threads)
        return f"to acquire {name}, held by {threads(cast(int, self.value))}"

    # What a condition needs of its lock.

    def guard(self, queue: list[SharedObject]) -> None:
        """Only holders of the lock look at this queue, or change it."""
        epoch = RUNNING.check.runtime.epoch
        if self.queues_epoch != epoch:
            self.queues_epoch = epoch
            self.queues = []
        self.queues.append(queue)

    def handed_on(self) -> object:
        """What the next holder finds besides the lock: who waits on its conditions, and where."""
        if not self.queues or self.queues_epoch != RUNNING.check.runtime.epoch:
            return None
        waits = tuple([tuple([wait.location for wait in queue]) for queue in self.queues])
        return waits if any(waits) else None

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

"""Semaphores, as in `threading`."""

from mazurka.engine.operation import (
    SEMAPHORE_ACQUIRE,
    SEMAPHORE_BOUNDED_RELEASE,
    SEMAPHORE_RELEASE,
    SEMAPHORE_TRY_ACQUIRE,
)
from mazurka.python.check import RUNNING
from mazurka.python.operations import FAILED
from mazurka.python.primitives.timeouts import in_time
from mazurka.python.runtime.runtime import SharedObject


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
        result = runtime.perform_timed(
            SEMAPHORE_TRY_ACQUIRE, SEMAPHORE_ACQUIRE, self, is_positive, decrement, timeout or 0
        )
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

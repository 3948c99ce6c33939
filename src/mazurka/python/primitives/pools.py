"""Pools of workers, as `concurrent.futures` has: every task is a thread of its own.

A worker cannot be told from another one, unless a task looks at the thread that it runs in. So a
task starts as a thread, and waits only for what the workers would do before they come to it: of all
earlier tasks, all but the last few must have finished.
"""

from typing import cast

from mazurka.engine.event import Event
from mazurka.engine.operation import ADD_TO, POOL_CHANGE, WAIT
from mazurka.python.check import RUNNING
from mazurka.python.operations import FAILED, always
from mazurka.python.primitives.futures import at_least
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import ThreadNames


class PoolState:
    """The value of a pool; never changed, only replaced."""

    def __init__(self, submitted: int, shut_down: bool) -> None:
        self.submitted = submitted
        self.shut_down = shut_down


class Finished(SharedObject):
    """How many tasks of a pool have finished. Their order does not matter to it."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"finish a task of {name}" if event.kind == ADD_TO else f"wait for {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return is_looked_at

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"for a worker of {name}, or for its tasks to finish"


class Pool(SharedObject):
    """The tasks of an executor."""

    def __init__(self, workers: int, name: str | None = None, shut_down: bool = False) -> None:
        super().__init__(PoolState(0, shut_down), name)
        self.workers = workers
        self.finished = Finished(0, name, self)

    def submit(self) -> int | None:
        """The number of a new task; None if the pool is shut down."""
        number = RUNNING.check.runtime.perform(POOL_CHANGE, self, is_open, one_more)
        return None if number is FAILED else cast(int, number)

    def begin(self, number: int) -> None:
        """Wait for a worker."""
        if number >= self.workers:
            self.wait_for(number - self.workers + 1)

    def is_full(self) -> bool:
        """Whether more tasks were submitted than there are workers."""
        return cast(PoolState, self.value).submitted > self.workers

    def finish(self) -> None:
        RUNNING.check.runtime.perform(ADD_TO, self.finished, 1, None)

    def shut_down(self) -> int:
        """Take no more tasks; gives the number of those that were taken."""
        return cast(int, RUNNING.check.runtime.perform(POOL_CHANGE, self, always, shut_down))

    def wait_for(self, number: int) -> None:
        """Wait until so many tasks have finished."""
        if number:
            RUNNING.check.runtime.perform(WAIT, self.finished, at_least(number), None)

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        if cast(PoolState, event.after).shut_down:
            return f"shut down {name}"
        return f"submit a task to {name}"


def is_open(state: PoolState) -> bool:
    return not state.shut_down


def one_more(state: PoolState) -> tuple[PoolState, int]:
    return PoolState(state.submitted + 1, False), state.submitted


def shut_down(state: PoolState) -> tuple[PoolState, int]:
    return PoolState(state.submitted, True), state.submitted

"""`concurrent.futures` with threads: its own code, on modelled locks, queues and threads.

What is replaced are things that would make one execution differ from another.
"""

import logging
import weakref
from concurrent.futures import _base
from concurrent.futures import thread as pools
from contextlib import nullcontext
from queue import Empty
from types import SimpleNamespace
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library import queues
from mazurka.python.library.steering import MISSING, Patch
from mazurka.python.primitives.queues import Queue
from mazurka.python.runtime.standard_thread import in_execution, new_hash, own_state

HASH = "_mazurka_hash"

real_pools: Any = pools
original_submit = pools.ThreadPoolExecutor.submit
original_future_init = _base.Future.__init__
original_future_hash: Any = _base.Future.__hash__
original_counter: Any = real_pools.ThreadPoolExecutor._counter
AcquireFutures: Any = getattr(_base, "_AcquireFutures")  # noqa: B009


class WorkQueue:
    """The queue that the workers of an executor take their work from.

    A worker that waits here for ever is no deadlock: at its exit Python tells it to end.
    """

    def __init__(self) -> None:
        self.queue = Queue()
        self.put = self.queue.put
        self.get_nowait = self.queue.get_nowait

    def get(self, block: bool = True) -> Any:
        worker = RUNNING.check.runtime.current
        assert worker is not None
        worker.daemon = True
        item = self.queue.get(block)
        worker.daemon = False
        return item


class WorkersAtExit:
    """The workers that Python ends at its exit: those of an execution are not among them."""

    def __setitem__(self, worker: Any, queue: Any) -> None:
        if not in_execution():
            real_workers_at_exit[worker] = queue


real_workers_at_exit: Any = real_pools._threads_queues


def new_work_queue() -> Any:
    return WorkQueue() if in_execution() else queues.REAL_SIMPLE_QUEUE()


def reference(target: Any, callback: Any = None) -> Any:
    """A weak reference, but in an execution one that keeps its target: an executor that nobody
    needs any more would vanish, and wake its workers, at a moment that no operation announces."""
    return (lambda: target) if in_execution() else weakref.ref(target, callback)


def number() -> int:
    """The number of a new executor, for the names of its threads."""
    if not in_execution():
        return original_counter()  # type: ignore[no-any-return]
    state = own_state()
    state.executors += 1
    return state.executors - 1


def submit(self: Any, function: Any, /, *arguments: Any, **options: Any) -> Any:
    if in_execution():
        function = RUNNING.check.runtime.callee(function)
    return original_submit(self, function, *arguments, **options)


def initialise_future(self: Any) -> None:
    if in_execution():
        self.__dict__[HASH] = new_hash()
    original_future_init(self)


def stable_hash(self: Any) -> int:
    found = self.__dict__.get(HASH, MISSING)
    return original_future_hash(self) if found is MISSING else found  # type: ignore[no-any-return]


def initialise_acquisition(self: Any, futures: Any) -> None:
    """Futures are locked in the order of their addresses: take another that does not change."""
    self.futures = sorted(futures, key=hash)


class SilentWhenCancelled(logging.Filter):
    """Workers report what ends them. That an execution is over is nothing to report."""

    def filter(self, record: logging.LogRecord) -> bool:
        return not RUNNING.check.runtime.cancelling


PATCHES = [
    Patch(pools, "queue", SimpleNamespace(SimpleQueue=new_work_queue, Empty=Empty)),
    Patch(pools, "weakref", SimpleNamespace(ref=reference)),
    Patch(pools, "_threads_queues", WorkersAtExit()),
    # It guards against the exit of the interpreter, which is not part of an execution.
    Patch(pools, "_global_shutdown_lock", nullcontext()),
    Patch(pools.ThreadPoolExecutor, "_counter", staticmethod(number)),
    Patch(pools.ThreadPoolExecutor, "submit", submit),
    Patch(_base.Future, "__init__", initialise_future),
    Patch(_base.Future, "__hash__", stable_hash),
    Patch(AcquireFutures, "__init__", initialise_acquisition),
]

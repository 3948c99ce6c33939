"""`concurrent.futures.ThreadPoolExecutor`.

Tasks are threads (see primitives/pools.py), unless it matters which worker does what: then it is
the standard library's own code that runs, on modelled futures, locks, queues and threads. It
matters if a task looks at the thread that it runs in, or leaves something there for the next one;
then the search begins anew. It matters from the start if workers have something to do of their own.
"""

import logging
import weakref
from asyncio import wrap_future
from collections.abc import Iterator
from concurrent.futures import Future
from concurrent.futures import thread as pools
from contextlib import contextmanager, nullcontext
from contextvars import copy_context
from queue import Empty
from types import SimpleNamespace
from typing import Any

from mazurka.engine.errors import MazurkaError
from mazurka.python.check import RUNNING
from mazurka.python.library import queues
from mazurka.python.library.steering import MODEL, Patch, outside_model
from mazurka.python.primitives.pools import Pool
from mazurka.python.primitives.standard_queues import SimpleQueue
from mazurka.python.primitives.threads import started
from mazurka.python.runtime.runtime import Cancelled, Stuck
from mazurka.python.runtime.standard_thread import (
    ThreadState,
    in_execution,
    own_state,
    tell_workers_apart,
)

WORK_QUEUE = "_mazurka_work_queue"
DAEMONS = "_mazurka_daemons"  # whether the program does not wait for tasks when it ends

real_pools: Any = pools
executor_type: Any = pools.ThreadPoolExecutor
original_init = executor_type.__init__
original_submit = executor_type.submit
original_shutdown = executor_type.shutdown
original_adjust = executor_type._adjust_thread_count
original_counter: Any = executor_type._counter
work_item: Any = real_pools._WorkItem


# Tasks


class PoolTask:
    """What the thread of a task does."""

    def __init__(self, executor: Any, pool: Pool, number: int, item: Any) -> None:
        self.executor = executor
        self.pool = pool
        self.number = number
        self.item = item
        name = getattr(item.fn, "__name__", None)
        prefix = executor._thread_name_prefix
        self.__name__ = prefix if name is None else f"{prefix} ({name})"

    def __call__(self) -> None:
        self.pool.begin(self.number)
        try:
            self.item.run()
        except (Cancelled, Stuck, KeyboardInterrupt, MazurkaError):
            raise
        except BaseException:  # this ends a worker
            tell_workers_apart()
        if len(copy_context()) or own_state().event_loop is not None:
            tell_workers_apart()  # the next task would find it
        self.pool.finish()


def pool_of(executor: Any) -> Pool:
    found = executor.__dict__.get(MODEL)
    return found if found is not None else outside_model(executor, pool_from)  # type: ignore[no-any-return]


def pool_from(executor: Any, name: str | None) -> Pool:
    """The model of an executor that was made outside: its workers are, too, and must be idle."""
    state = executor.__dict__
    idle = state["_idle_semaphore"]._value >= len(state["_threads"])
    if not idle or state["_work_queue"].qsize() > state["_shutdown"]:
        raise RUNNING.check.runtime.misused(
            f"the program uses a {type(executor).__name__} that has something to do outside of it: "
            "make it in the program"
        )
    return Pool(executor._max_workers, name, state["_shutdown"])


def has_workers(executor: Any) -> bool:
    """Whether it matters which worker does what."""
    state = executor.__dict__
    is_special = (
        state["_initializer"] is not None
        or type(executor)._adjust_thread_count is not original_adjust
        or (MODEL in state and state["_work_queue"] is not state[WORK_QUEUE])
    )
    if not is_special and not RUNNING.check.models.workers:
        return False
    if MODEL not in state:
        raise RUNNING.check.runtime.misused(
            f"the program uses a {type(executor).__name__} that was made outside of it, and it "
            "matters which of its workers does what: make it in the program"
        )
    return True


def initialise(self: Any, *arguments: Any, **options: Any) -> None:
    original_init(self, *arguments, **options)
    if in_execution():
        self.__dict__[WORK_QUEUE] = self._work_queue
        self.__dict__[MODEL] = Pool(self._max_workers)


def submit(self: Any, fn: Any, /, *arguments: Any, **options: Any) -> Any:
    if not in_execution():
        return original_submit(self, fn, *arguments, **options)
    runtime = RUNNING.check.runtime
    runtime.give_away(fn)
    runtime.give_away(arguments)
    runtime.give_away(tuple(options.values()))
    function = runtime.callee(fn)
    if has_workers(self):
        return original_submit(self, function, *arguments, **options)
    pool = pool_of(self)
    number = pool.submit()
    if number is None:
        raise RuntimeError("cannot schedule new futures after shutdown")
    future: Any = Future()
    loop = own_state().submits_for
    told = future if loop is None else wrap_future(future, loop=loop)
    item = work_item(future, function, arguments, options)
    thread = started(PoolTask(self, pool, number, item), ()).thread
    thread.daemon = DAEMONS in self.__dict__
    thread.state = state = ThreadState()
    state.task_of = pool
    return told


@contextmanager
def submitting_for(loop: Any, executor: Any) -> Iterator[None]:
    """An event loop submits a task, and is to be told of its end.

    It asks for that before the task starts, and gets the future that `wrap_future` would make: if
    the task ended before the loop asked, the loop would be told at once, which is as if the task
    ended after that, before the loop looks.
    """
    state = own_state()
    if type(executor).submit is submit and "submit" not in vars(executor):
        state.submits_for = loop
    try:
        yield
    finally:
        state.submits_for = None


def is_full(executor: Any) -> bool:
    """Whether a task may have to wait for a worker."""
    pool = executor.__dict__.get(MODEL)
    return isinstance(pool, Pool) and pool.is_full()


def shutdown(self: Any, wait: bool = True, *, cancel_futures: bool = False) -> None:
    if not in_execution() or has_workers(self):
        original_shutdown(self, wait, cancel_futures=cancel_futures)
        return
    pool = pool_of(self)
    if cancel_futures or (wait and own_state().task_of is pool):
        tell_workers_apart()  # which of them has taken what, and which would join itself
    taken = pool.shut_down()
    if wait:
        pool.wait_for(taken)


# Workers


class WorkQueue:
    """The queue that the workers of an executor take their work from.

    A worker that waits here for ever is no deadlock: at its exit Python tells it to end.
    """

    def __init__(self) -> None:
        self.queue = SimpleQueue()
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
    Patch(executor_type, "_counter", staticmethod(number)),
    Patch(executor_type, "__init__", initialise),
    Patch(executor_type, "submit", submit),
    Patch(executor_type, "shutdown", shutdown),
]

"""The threads of `threading` in an execution: what each one has, and how it runs.

Here, and not with the rest of the standard library's models, since it is compiled here: it is done
for every thread of every execution.
"""

import threading
from _thread import get_ident
from collections.abc import Callable
from random import Random
from typing import Any, cast

from mazurka.engine.errors import MazurkaError
from mazurka.engine.event import Event
from mazurka.engine.operation import LOAD, STORE, TIMED_WAIT, WAIT
from mazurka.python.check import RUNNING
from mazurka.python.primitives.threads import Handle, started
from mazurka.python.primitives.timeouts import in_time
from mazurka.python.runtime.runtime import (
    Block,
    Cancelled,
    SharedObject,
    Stuck,
    leaves_debugger,
)
from mazurka.python.runtime.thread import ThreadNames

HANDLE = "_mazurka_handle"
HASH = "_mazurka_hash"
ORIGINAL_RUN: object = threading.Thread.run
WHAT_IT_RUNS = ("_target", "_args", "_kwargs")


def in_execution() -> bool:
    """Whether this is code of the program that is explored, and not of another OS thread."""
    runtime = RUNNING.check.runtime
    return runtime.current is not None and get_ident() == runtime.explorer


# What each thread has


Locals = dict[int, tuple[object, dict[str, Any]]]  # by the identity of the threading.local


class ThreadState:
    """What the standard library keeps for one thread, in one execution. All of it depends on what
    the thread itself did, and so is the same whenever it does the same."""

    def __init__(self) -> None:
        self.thread: Any = None  # its threading.Thread
        self.named_threads = 0
        self.executors = 0
        self.hashes = 0
        self.unseeded = 0
        self.draws = 0  # of random numbers
        self.random: Random | None = None
        self.locals: Locals | None = None
        self.event_loop: Any = None  # of asyncio
        self.event_loop_set = False
        self.submits_for: Any = None  # the event loop that is to be told of a task's end
        self.tasks = 0
        self.inputs = 0  # symbolic ones
        self.temporary: Any = None  # where a file is to be made, of which the name is to be drawn
        self.nesting = 0  # how many atomic blocks it is in,
        self.block: Block | None = None  # and the outermost one
        self.task_of: object = None  # the pool of an executor, if this is one of its tasks


def tell_workers_apart() -> None:
    """It matters which worker of an executor does what: the search begins anew, with workers."""
    check = RUNNING.check
    check.models.workers = True
    check.objects.stop_search()


def look_at_own_thread() -> None:
    """The program asks which thread this is. A task of an executor may not be any."""
    if own_state().task_of is not None:
        tell_workers_apart()


def own_locals() -> Locals:
    """The values that the running thread has in each `threading.local`."""
    look_at_own_thread()
    state = own_state()
    if state.locals is None:
        state.locals = {}
    return state.locals


def own_state() -> ThreadState:
    """That of the running thread."""
    thread = RUNNING.check.runtime.current
    assert thread is not None
    if thread.state is None:
        thread.state = ThreadState()
    return cast(ThreadState, thread.state)


def new_hash() -> int:
    """A hash for a new object that is the same in every execution, unlike an address: so are the
    orders of sets that it is in."""
    thread = RUNNING.check.runtime.current
    assert thread is not None
    state = own_state()
    state.hashes += 1
    return hash((*thread.lineage, state.hashes))


# How it runs


class Ended(SharedObject):
    """Whether a thread has ended: what `is_alive` and a join with a timeout look at."""

    def __init__(self, name: str) -> None:
        super().__init__(False, name)

    def given(self, method: str, found: object) -> object:
        return not found  # is_alive

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"{'end' if event.kind == STORE else 'look whether it has ended:'} {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return is_looked_at  # else nobody cares


class ThreadRun:
    """The one run of a `threading.Thread` in an execution."""

    def __init__(self, thread: Any, hook_takes: Callable[[BaseException, Any], bool]) -> None:
        self.thread = thread
        self.hook_takes = hook_takes  # whether the user's excepthook cares for an exception
        self.ended = Ended(thread._name)

    def __call__(self) -> None:
        own_state().thread = self.thread
        try:
            self.run()
        except SystemExit:
            pass
        except (Cancelled, Stuck, KeyboardInterrupt, MazurkaError):
            raise
        except BaseException as error:
            if leaves_debugger(error):
                raise
            if not self.hook_takes(error, self.thread):
                self.end()
                raise
        self.end()

    def run(self) -> None:
        attributes = self.thread.__dict__
        run: object = getattr(type(self.thread), "run")  # noqa: B009
        if run is not ORIGINAL_RUN or "run" in attributes:
            self.thread.run()
            return
        # The same, compiled.
        target, arguments, named = [attributes[name] for name in WHAT_IT_RUNS]
        try:
            if target is not None:
                target(*arguments, **named)
        finally:
            for name in WHAT_IT_RUNS:
                attributes.pop(name, None)

    def end(self) -> None:
        runtime = RUNNING.check.runtime
        if runtime.current is not None:
            runtime.current.has_left = True
        if runtime.repeats(STORE, self.ended):
            self.ended.value = True
        else:
            runtime.perform(STORE, self.ended, True, None)

    def is_over(self) -> bool:
        return bool(RUNNING.check.runtime.perform(LOAD, self.ended, None, None))

    def wait(self, timeout: float) -> None:
        runtime = RUNNING.check.runtime
        ended = runtime.perform_timed(TIMED_WAIT, WAIT, self.ended, None, None, timeout)
        in_time(bool(ended), timeout)


def handle_of(thread: Any) -> Handle | None:
    """The handle of a thread that was started in this execution."""
    handle: Handle | None = thread.__dict__.get(HANDLE)
    return handle if handle is not None and handle.epoch == RUNNING.check.runtime.epoch else None


def run_of(thread: Any) -> ThreadRun | None:
    """The run of a thread that was started in this execution."""
    handle = handle_of(thread)
    return None if handle is None else cast(ThreadRun, handle.thread.function)


def is_plain_new_thread(thread: Any) -> bool:
    """Whether a thread that is to be started needs nothing but that: most do not."""
    attributes = thread.__dict__
    return (
        type(thread) is threading.Thread
        and in_execution()
        and HASH in attributes  # it was made in this execution
        and HANDLE not in attributes
    )


def begin_run(thread: Any, hook_takes: Callable[[BaseException, Any], bool]) -> None:
    """Start a thread."""
    runtime = RUNNING.check.runtime
    attributes = thread.__dict__
    target = attributes["_target"]
    runtime.give_away(target)
    runtime.give_away(attributes["_args"])
    runtime.give_away(tuple(attributes["_kwargs"].values()))
    attributes["_target"] = runtime.callee(target)
    handle = started(ThreadRun(thread, hook_takes), ())
    handle.thread.daemon = attributes["_daemonic"]
    attributes[HANDLE] = handle


def make_thread(
    thread: Any, target: Any, name: str | None, args: Any, kwargs: Any, daemon: bool | None
) -> None:
    """What a `threading.Thread` has in an execution before it is started."""
    attributes = thread.__dict__
    attributes["_target"] = target
    attributes["_args"] = args
    attributes["_kwargs"] = {} if kwargs is None else kwargs
    attributes["_name"] = new_name(target) if name is None else str(name)
    attributes["_daemonic"] = is_daemon() if daemon is None else daemon
    attributes["_initialized"] = True
    attributes[HASH] = new_hash()


def is_daemon() -> bool:
    """Whether the running thread is a daemon, and so are those that it makes."""
    runtime = RUNNING.check.runtime
    state = own_state()
    if state.task_of is not None and runtime.current is not None:
        return runtime.current.daemon
    current = state.thread
    if current is not None:
        return bool(current._daemonic)
    return (
        runtime.current is not None and runtime.current.id != 0
    )  # one that threading has not made


def new_name(target: object) -> str:
    """`Thread-1 (function)`. Threads that are made by other threads than the main one are counted
    by their makers: `Thread-2.1`. So a thread has the same name in every execution."""
    thread = RUNNING.check.runtime.current
    assert thread is not None
    state = own_state()
    state.named_threads += 1
    name = f"Thread-{state.named_threads}"
    if thread.id:
        makers = ".".join([str(order) for order in thread.lineage[1:]])
        name = f"Thread-{makers}.{state.named_threads}"
    function = getattr(target, "__name__", None)
    return name if function is None else f"{name} ({function})"

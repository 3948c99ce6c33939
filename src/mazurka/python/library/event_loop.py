"""The event loop of `asyncio` in an execution: which task goes on next is up to the search.

Tasks that are ready may go on in any order. Callbacks keep their order among each other, as asyncio
promises. What asyncio itself schedules, to count those that are done and the like, runs at once:
it only makes other tasks ready. Time is virtual: timers fire in the order of their deadlines, also
while tasks are ready.
"""

import asyncio
import functools
import os
import sys
import threading
import weakref
from asyncio import futures, taskgroups, tasks
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context
from types import FrameType
from typing import Any, NamedTuple, cast

from mazurka.engine.operation import CHOOSE
from mazurka.python.check import RUNNING
from mazurka.python.early_timeouts import EARLY
from mazurka.python.library.clock import BOOT
from mazurka.python.library.executors import is_full, submitting_for
from mazurka.python.library.thread_calls import ThreadCalls, tell_calls_apart
from mazurka.python.primitives.loop_inbox import Inbox, WaitingTask
from mazurka.python.runtime.runtime import Cancelled, Stuck
from mazurka.python.runtime.standard_thread import in_execution, new_hash, own_state
from mazurka.python.runtime.thread import NOWHERE
from mazurka.python.source import PLUMBING, local_variable

# asyncio's own callbacks are functions of these modules.
BOOKKEEPING = {"asyncio.base_events", "asyncio.futures", "asyncio.taskgroups", "asyncio.tasks"}
STEPS = {"task_wakeup", "__step", "__wakeup"}  # the methods of tasks that the loop calls
# Timers with these callbacks only wake a task.
WAKING = {
    getattr(futures, "_set_result_unless_cancelled", None),
    getattr(tasks, "_release_waiter", None),
}
GROUP_CALLBACK = getattr(taskgroups.TaskGroup, "_on_task_done", None)
# asyncio says these when the garbage collector comes by, at any time.
OTHER_ORDER = (
    "tasks went on in another order than asyncio's own: asyncio_order='fifo' explores that alone"
)
LAST_WORDS = ("was never retrieved", "was destroyed but it is pending!")


class Task(asyncio.Task[Any]):
    """A task that is at the same place of sets in every execution."""

    def __init__(self, coroutine: Any, **options: Any) -> None:
        self.stable_hash = new_hash() if in_execution() else id(self)
        super().__init__(coroutine, **options)

    def __hash__(self) -> int:
        return self.stable_hash

    def cancel(self, *arguments: Any, **options: Any) -> bool:
        asked = super().cancel(*arguments, **options)
        if asked and in_execution():
            ending = f"it ends at its await{place_of_await(self)}"
            RUNNING.check.runtime.remark("cancel", None, ending, name_of_task(self))
        return asked


def place_of_await(task: Task) -> str:
    """Where a task is, of the coroutines that it has called in the innermost that is the user's."""
    found = ""
    coroutine: Any = task.get_coro()
    while coroutine is not None:
        if getattr(coroutine, "cr_suspended", False):
            frame = coroutine.cr_frame
            file = frame.f_code.co_filename
            if not file.startswith(PLUMBING):
                found = f" ({os.path.basename(file)}:{frame.f_lineno})"
        coroutine = getattr(coroutine, "cr_await", None)
    return found


class Future(asyncio.Future[Any]):
    """A future that is at the same place of sets in every execution."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.stable_hash = new_hash() if in_execution() else id(self)
        super().__init__(loop=loop)

    def __hash__(self) -> int:
        return self.stable_hash


class Ready(asyncio.Handle):
    """Something that the loop may call now."""

    __slots__ = ("order", "task", "ticks")

    def __init__(self, callback: Any, arguments: Any, loop: Any, context: Context | None) -> None:
        super().__init__(callback, arguments, loop, context)
        self.task = stepped_task(callback)
        self.order = 0  # among all that the loop was given
        self.ticks = 0  # how many timers had fired before


class Timer(asyncio.TimerHandle):
    """Something that the loop calls later."""

    __slots__ = ("order", "ticks")

    def __init__(
        self, when: float, callback: Any, arguments: Any, loop: Any, context: Context | None
    ) -> None:
        super().__init__(when, callback, arguments, loop, context)
        self._scheduled = True  # so that cancelling it tells the loop
        self.order = 0
        self.ticks = 0


class Way(NamedTuple):
    """One of the ways in which a loop can go on."""

    what: str
    task: Any  # the task that goes on, if it is one
    go: Callable[[], object]
    handle: Ready | None = None  # if something is called that is ready
    overtakes: bool = False  # whether it is late, and one that was due before comes after it


class EventLoop(asyncio.BaseEventLoop):
    """What `asyncio.new_event_loop()` gives in an execution."""

    _thread_id: int | None
    _stopping: bool
    _closed: bool
    _exception_handler: Any
    _check_closed: Callable[[], None]
    _check_default_executor: Callable[[], None]
    _default_executor: Any

    def __init__(self) -> None:
        super().__init__()
        self.steps: list[Ready] = []  # of tasks
        self.callbacks: deque[Ready] = deque()
        self.bookkeeping: deque[Ready] = deque()
        self.timers: dict[int, Timer] = {}
        self.timers_made = 0
        self.ticks = 0  # how many timers have fired
        self.numbers: dict[Any, int] = {}  # of the tasks that are not done
        # Those that are live on until the execution is over: when one goes, asyncio's own set of
        # all tasks changes, which would be seen as the program's doing.
        self.done: list[Any] = []
        self.tasks_seen = 0
        self.accepted = 0  # how much it was given to call
        self.stop_request: Ready | None = None
        self.calls = ThreadCalls()
        self.made_executor: Any = None  # for calls of `to_thread`
        self._asyncgens = Generators()
        self.inbox = Inbox(self.waiting_tasks)
        self.owner = threading.get_ident()  # the thread that closes it, as a rule
        RUNNING.check.event_loops.made.append(self)

    def __del__(self) -> None:
        """Nobody is told of a loop that is not closed: the execution may have been cut short."""

    # One step of the loop

    def run_forever(self) -> None:
        with RUNNING.check.event_loops.running(self):
            self.owner = threading.get_ident()
            self.calls.thread = RUNNING.check.runtime.current
            try:
                super().run_forever()
            finally:
                if self.stop_request is not None:
                    self.stop_request.cancel()
                    self.stop_request = None
                if self.calls.open and not RUNNING.check.runtime.cancelling:
                    tell_calls_apart()  # they might not have begun

    def _run_once(self) -> None:
        if RUNNING.check.runtime.cancelling:  # a task may have swallowed it
            raise Cancelled
        self.do_bookkeeping()
        ways = list(self.ways())
        if not ways and RUNNING.check.runtime.timeouts_last:
            self.fire(self.wait_for_timers(), None)
            return
        if not ways:  # so there is no need to look first
            self.accept_all(self.inbox.wait())
            return
        if not is_alone():
            self.hear_from_threads()
            ways = list(self.ways())
        if len(ways) == 1:
            ways[0].go()
        else:
            way = chosen_of(ways)
            self.note(way)
            way.go()

    def note(self, way: Way) -> None:
        """Say of a run that is to be told what asyncio itself would not have done."""
        journal = RUNNING.check.runtime.journal
        if journal is None:
            return
        ready = self.waiting_handles()
        first = min(ready, key=lambda handle: handle.order) if ready else None
        if way.overtakes or (way.handle is not None and way.handle is not first):
            journal.notes.append(OTHER_ORDER)
        elif way.handle is None and ready:
            journal.notes.append(EARLY)

    def hear_from_threads(self) -> None:
        """Accept what threads hand over; also what they do in answer to that."""
        runtime = RUNNING.check.runtime
        before = -1
        while before != runtime.position:
            self.accept_all(self.inbox.take())
            before = runtime.position
            self.do_bookkeeping()  # which may perform operations

    def do_bookkeeping(self) -> None:
        while self.bookkeeping:
            handle = self.bookkeeping.popleft()
            if handle.task is None:
                self.run(handle)
            elif not handle.cancelled():
                self.run_task(handle)

    def ways(self) -> Iterator[Way]:
        """All that can be done next."""
        self.steps = [step for step in self.steps if not step.cancelled()]
        while self.callbacks and self.callbacks[0].cancelled():
            self.callbacks.popleft()
        for step in sorted(self.steps, key=lambda step: self.numbers[step.task]):
            go = functools.partial(self.run_step, step)
            yield Way(f"run {name_of_task(step.task)}", step.task, go, step)
        if self.callbacks:
            first = self.callbacks[0]
            yield Way(f"call {name_of(first)}", None, self.run_callback, first)
        if self.timers and not RUNNING.check.runtime.timeouts_last:
            yield from self.ways_to_fire()

    def ways_to_fire(self) -> Iterator[Way]:
        """Timers fire in their order. One that wakes a task is worth firing, while others can do
        something, if that task goes on at once; so those before it fire with it."""
        due: list[Timer] = []
        for timer in self.timers_in_order():
            if not self.may_fire(timer):
                return
            due.append(timer)
            task = woken_task(timer)
            what = f"call {name_of(timer)}" if task is None else f"wake {name_of_task(task)}"
            go = functools.partial(self.fire, list(due), task)
            yield Way(what, task, go, overtakes=len(due) > 1)
            if task is None:
                return

    def timers_in_order(self) -> list[Timer]:
        return sorted(self.timers.values(), key=lambda timer: (timer.when(), timer.order))

    def wait_for_timers(self) -> list[Timer]:
        """Where timeouts come last: wait for threads, or until nobody can go on; gives the timers
        that are due then."""
        timers = self.timers_in_order()
        if not timers:
            self.accept_all(self.inbox.wait())
            return []
        if not is_alone():
            news = self.inbox.wait_for(max(0.0, timers[0].when() - self.time()))
            self.accept_all(news)
            if news:
                return []
        return [timer for timer in timers if timer.when() == timers[0].when()]

    def may_fire(self, timer: Timer) -> bool:
        """While something is ready, time may pass, but no timer fires that was set after that: else
        a task that sleeps again and again would keep others waiting for ever."""
        return all(timer.ticks <= handle.ticks for handle in self.waiting_handles())

    def waiting_handles(self) -> list[Any]:
        return [*self.steps, *self.callbacks]

    def fire(self, due: list[Timer], task: Any) -> None:
        for timer in due:
            self.let_pass([timer])
            self.run(timer)
        for step in self.steps:
            if step.task is task:
                self.run_step(step)
                return

    def let_pass(self, due: list[Timer]) -> None:
        """Let time pass until these timers are due."""
        runtime = RUNNING.check.runtime
        thread = runtime.current
        assert thread is not None
        for timer in due:
            self.timers.pop(timer.order, None)
            self.ticks += 1
            runtime.let_time_pass_until(thread, timer.when() - BOOT)

    def run_step(self, step: Ready) -> None:
        self.steps.remove(step)
        self.run_task(step)

    def run_task(self, step: Ready) -> None:
        task = step.task
        runtime = RUNNING.check.runtime
        if runtime.journal is None:
            self.run(step)
        else:
            runtime.note_turn(name_of_task(task))
            runtime.journal.variable_of_task = self.variable_of_task
            try:
                self.run(step)
            finally:
                runtime.note_turn("")
        if task.done():
            self.numbers.pop(task, None)
            self.done.append(task)
            self.calls.open.discard(task)
            if not task.cancelled() and isinstance(task._exception, Cancelled | Stuck):
                raise task._exception  # the program has no part in these

    def variable_of_task(self, thing: object) -> str:
        """The local variable of a task at an await that has an object; the first task's, if more
        than one has."""
        for task in self.numbers:
            coroutine: Any = task.get_coro()
            while coroutine is not None:
                frame = getattr(coroutine, "cr_frame", None)
                found = "" if frame is None else local_variable(frame, thing)
                if found:
                    return found
                coroutine = getattr(coroutine, "cr_await", None)
        return ""

    def run_callback(self) -> None:
        self.run(self.callbacks.popleft())

    def run(self, handle: Any) -> None:
        """Call what is to be called. An exception is a failure, unless the program handles it."""
        if handle.cancelled():
            return
        begin = RUNNING.check.runtime.position
        try:
            handle._context.run(handle._callback, *handle._args)
        except (SystemExit, KeyboardInterrupt, Cancelled, Stuck):
            raise
        except BaseException as error:
            if self._exception_handler is None:
                raise
            message = f"Exception in callback {name_of(handle)}"
            self.call_exception_handler({"message": message, "exception": error, "handle": handle})
        if self.calls.open:
            self.calls.look_at_steps(begin)

    # What is to be done

    def accept(self, handle: Ready) -> None:
        handle.ticks = self.ticks
        self.accepted += 1
        handle.order = self.accepted
        if handle.task is not None:
            self.number(handle.task)
            (self.bookkeeping if self.goes_on_at_once(handle.task) else self.steps).append(handle)
        elif is_bookkeeping(handle):
            self.bookkeeping.append(handle)
        else:
            self.callbacks.append(handle)

    def goes_on_at_once(self, task: Any) -> bool:
        has_own = self._default_executor is self.made_executor
        return has_own and "run_in_executor" not in vars(self) and self.calls.takes(task)

    def number(self, task: Any) -> None:
        if task not in self.numbers:
            self.tasks_seen += 1
            self.numbers[task] = self.tasks_seen

    def accept_all(self, handles: tuple[object, ...]) -> None:
        for handle in handles:
            assert isinstance(handle, Ready)
            self.accept(handle)

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Ready:  # type: ignore[override]
        self._check_closed()
        self.refuse_other_threads()
        handle = Ready(callback, args, self, context)
        self.accept(handle)
        return handle

    def call_soon_threadsafe(  # type: ignore[override]
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> Ready:
        if is_alone() or self.is_here():
            return self.call_soon(callback, *args, context=context)
        RUNNING.check.runtime.give_away((callback, args))
        handle = Ready(callback, args, self, context)
        if not self.inbox.put(handle, name_of(handle)) and not is_bookkeeping(handle):
            raise RuntimeError("Event loop is closed")
        return handle

    def call_later(  # type: ignore[override]
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Timer:
        if delay is None:
            raise TypeError("delay must not be None")
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> Timer:
        if when is None:
            raise TypeError("when cannot be None")
        self._check_closed()
        self.refuse_other_threads()
        timer = Timer(when, callback, args, self, context)
        self.timers_made += 1
        timer.order = self.timers_made
        timer.ticks = self.ticks
        self.timers[timer.order] = timer
        return timer

    def _timer_handle_cancelled(self, handle: Any) -> None:
        self.timers.pop(handle.order, None)

    def time(self) -> float:
        runtime = RUNNING.check.runtime
        thread = runtime.current
        return BOOT + (0 if thread is None else runtime.time_of(thread))

    def refuse_other_threads(self) -> None:
        """asyncio itself looks at this in its debug mode only."""
        if self._thread_id is not None and not self.is_here():
            raise RuntimeError(
                "Non-thread-safe operation invoked on an event loop other than the current one"
            )

    def is_here(self) -> bool:
        """Whether the loop runs in this thread."""
        return self._thread_id == threading.get_ident()

    # Its life

    def stop(self) -> None:
        """The loop stops after the callbacks that are there already; tasks may go on before."""
        if self.stop_request is None and not self._closed:
            self.stop_request = self.call_soon(self.stop_now)

    def stop_now(self) -> None:
        self._stopping = True

    def close(self) -> None:
        was_closed = self._closed
        super().close()
        self.steps.clear()
        self.callbacks.clear()
        self.bookkeeping.clear()
        self.timers.clear()
        if not was_closed and not is_alone():
            self.inbox.close()

    def is_closed(self) -> bool:
        if not in_execution() or is_alone() or threading.get_ident() == self.owner:
            return self._closed
        caller = str(sys._getframe(1).f_globals.get("__name__"))
        if caller.startswith("asyncio."):  # it is about to hand something over, which will tell
            return False
        return self.inbox.is_closed()

    def create_future(self) -> Any:
        return Future(self)

    def create_task(self, coro: Any, *, name: Any = None, **options: Any) -> Any:
        if name is None:
            name = new_task_name()
        if self.get_task_factory() is not None:
            return super().create_task(coro, name=name, **options)
        self._check_closed()
        return Task(coro, loop=self, name=name, **options)

    def run_in_executor(self, executor: Any, func: Any, *args: Any) -> Any:  # type: ignore[override]
        RUNNING.check.runtime.give_away((func, args))
        if executor is None:
            executor = self.own_executor()
        with submitting_for(self, executor):
            future = super().run_in_executor(executor, func, *args)
        if self.calls.open and is_full(executor):
            tell_calls_apart()
        return future

    def own_executor(self) -> Any:
        """The one that asyncio makes when it first needs one."""
        self._check_closed()
        self._check_default_executor()
        if self._default_executor is None:
            self.made_executor = ThreadPoolExecutor(thread_name_prefix="asyncio")
            self._default_executor = self.made_executor
        return self._default_executor

    def set_default_executor(self, executor: Any) -> None:
        if self.calls.open:
            tell_calls_apart()
        super().set_default_executor(executor)

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Without a timeout: the five minutes of `asyncio.run` are enough for any worker."""
        await super().shutdown_default_executor()

    def _asyncgen_finalizer_hook(self, generator: Any) -> None:
        self._asyncgens.discard(generator)
        if in_execution() and not RUNNING.check.runtime.cancelling and self.is_here():
            self.call_soon(self.create_task, generator.aclose())

    def call_exception_handler(self, context: Any) -> None:
        if not str(context.get("message", "")).endswith(LAST_WORDS):
            super().call_exception_handler(context)

    def default_exception_handler(self, context: Any) -> None:
        """Say nothing: it would be said in every execution."""

    # Tasks that are left

    def waiting_tasks(self) -> list[WaitingTask]:
        """The tasks that are not done, and where they stand."""
        return [(name_of_task(task), *position_of(task)) for task in self.numbers]

    def let_go(self) -> None:
        """The execution is over: end the coroutines that it left standing, now that they can do no
        harm. The garbage collector would do it in the middle of another execution."""
        for task in list(self.numbers):
            task._log_destroy_pending = False
            RUNNING.check.event_loops.end(task.get_coro())
        self.numbers.clear()


class Generators:
    """The async generators that a loop has begun, in their order."""

    def __init__(self) -> None:
        self.found: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.begun = 0

    def add(self, generator: Any) -> None:
        self.begun += 1
        self.found[self.begun] = generator

    def discard(self, generator: Any) -> None:
        for number, other in list(self.found.items()):
            if other is generator:
                del self.found[number]

    def clear(self) -> None:
        self.found.clear()

    def __iter__(self) -> Iterator[Any]:
        return iter(list(self.found.values()))

    def __len__(self) -> int:
        return len(self.found)


def chosen_of(ways: list[Way]) -> Way:
    """Let the search choose. The step shows where the task stands that goes on."""
    runtime = RUNNING.check.runtime
    thread = runtime.current
    assert thread is not None
    thread.alternatives = len(ways)
    names = tuple([way.what for way in ways])
    way = ways[cast(int, runtime.perform(CHOOSE, NOWHERE, len(ways), names))]
    if way.task is not None:
        event = runtime.events[runtime.position - 1]
        code, instruction = position_of(way.task)
        event.place = runtime.names.places.number(code, instruction)
    return way


def is_alone() -> bool:
    """Whether there can be no thread but this one. (That others have ended is not known to it.)"""
    thread = RUNNING.check.runtime.current
    return thread is None or (thread.id == 0 and thread.children == 0)


def stepped_task(callback: Any) -> Any:
    """The task that goes on when a callback is called; None if it does something else."""
    kind = type(callback).__name__
    if kind == "TaskStepMethWrapper" or getattr(callback, "__name__", "") in STEPS:
        task = getattr(callback, "__self__", None)
        return task if hasattr(task, "get_coro") else None
    return None


def woken_task(timer: Timer) -> Any:
    """The task that a timer wakes, if it does nothing else."""
    if timer._callback not in WAKING:  # type: ignore[attr-defined]
        return None
    waiting = getattr(timer._args[0], "_callbacks", None)
    return stepped_task(waiting[0][0]) if waiting and len(waiting) == 1 else None


def is_bookkeeping(handle: Any) -> bool:
    """Whether asyncio has scheduled something that only makes tasks ready."""
    function = handle._callback
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    if function is GROUP_CALLBACK:  # which cancels the other tasks if one has failed
        task = handle._args[0]
        return bool(task.cancelled() or task._exception is None)
    return getattr(function, "__module__", None) in BOOKKEEPING


def new_task_name() -> str:
    """`Task-1`; in other threads than the main one, `Task-2.1` for the first of the second."""
    thread = RUNNING.check.runtime.current
    if thread is None:
        return "Task"
    state = own_state()
    state.tasks += 1
    makers = "".join([f"{order}." for order in thread.lineage[1:]])
    return f"Task-{makers}{state.tasks}"


def name_of_task(task: Any) -> str:
    coroutine = task.get_coro()
    return f"{task.get_name()} ({getattr(coroutine, '__name__', type(coroutine).__name__)})"


def name_of(handle: Any) -> str:
    function = handle._callback
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__qualname__", None) or type(function).__name__)


def position_of(task: Any) -> tuple[object, int]:
    """Where a task stands: in the innermost code of the user's that awaits something."""
    found: tuple[object, int] = None, 0
    awaited = task.get_coro()
    while awaited is not None:
        frame = frame_of(awaited)
        if frame is not None and not frame.f_code.co_filename.startswith(PLUMBING):
            found = frame.f_code, max(frame.f_lasti, 0)
        awaited = next_awaited(awaited)
    return found


def frame_of(awaited: Any) -> FrameType | None:
    for name in ("cr_frame", "gi_frame", "ag_frame"):
        frame: FrameType | None = getattr(awaited, name, None)
        if frame is not None:
            return frame
    return None


def next_awaited(awaited: Any) -> Any:
    for name in ("cr_await", "gi_yieldfrom", "ag_await"):
        following = getattr(awaited, name, None)
        if following is not None:
            return following
    return None


# What is not modelled


def not_modelled(name: str) -> Callable[..., Any]:
    def refuse(self: EventLoop, *_: Any, **__: Any) -> Any:
        raise RUNNING.check.runtime.misused(
            f"the program calls {name} of its event loop: sockets, pipes, processes and names of "
            "the network are not modelled"
        )

    return refuse


NOT_MODELLED = [
    "add_reader", "add_writer", "remove_reader", "remove_writer", "connect_accepted_socket",
    "connect_read_pipe", "connect_write_pipe", "create_connection", "create_datagram_endpoint",
    "create_server", "create_unix_connection", "create_unix_server", "getaddrinfo", "getnameinfo",
    "sendfile", "sock_accept", "sock_connect", "sock_recv", "sock_recv_into", "sock_recvfrom",
    "sock_recvfrom_into", "sock_sendall", "sock_sendfile", "sock_sendto", "start_tls",
    "subprocess_exec", "subprocess_shell",
]  # fmt: skip

for unknown in NOT_MODELLED:
    setattr(EventLoop, unknown, not_modelled(unknown))

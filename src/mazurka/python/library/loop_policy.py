"""What else of `asyncio` is not the same in an execution: which loop belongs to which thread, the
order of sets of tasks, and signals."""

import asyncio
import functools
import signal
from asyncio import events, runners, selector_events, tasks
from collections.abc import Callable, Iterable
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.event_loop import EventLoop
from mazurka.python.library.fifo_loop import FifoLoop
from mazurka.python.library.steering import Patch
from mazurka.python.runtime.standard_thread import in_execution, own_state


class Policy(events.AbstractEventLoopPolicy):
    """Gives every thread of the program an event loop of its own; others go to the real policy."""

    def __init__(self, real: Any) -> None:
        self.known = real

    def real(self) -> Any:
        if self.known is None:
            self.known = asyncio.DefaultEventLoopPolicy()
        return self.known

    def get_event_loop(self) -> Any:
        if not in_execution():
            return self.real().get_event_loop()
        state = own_state()
        thread = RUNNING.check.runtime.current
        assert thread is not None
        if thread.id == 0 and not state.event_loop_set:
            self.set_event_loop(new_loop())
        if state.event_loop is None:
            raise RuntimeError("There is no current event loop in this thread.")
        return state.event_loop

    def set_event_loop(self, loop: Any) -> None:
        if not in_execution():
            self.real().set_event_loop(loop)
            return
        state = own_state()
        state.event_loop = loop
        state.event_loop_set = True

    def new_event_loop(self) -> Any:
        return new_loop() if in_execution() else self.real().new_event_loop()

    def get_child_watcher(self) -> Any:
        return self.real().get_child_watcher()

    def set_child_watcher(self, watcher: Any) -> None:
        self.real().set_child_watcher(watcher)


def new_loop() -> EventLoop:
    return FifoLoop() if RUNNING.check.event_loops.are_fifo else EventLoop()


def policy_patches() -> list[Patch]:
    """The policy that is there when a check begins is the one to go back to."""
    return [Patch(events, "_event_loop_policy", Policy(vars(events)["_event_loop_policy"]))]


original_set_policy: Callable[..., None] = asyncio.set_event_loop_policy
original_all_tasks: Callable[..., set[Any]] = asyncio.all_tasks
original_as_completed: Callable[..., Any] = asyncio.as_completed
original_loop_init: Callable[..., None] = vars(selector_events)["BaseSelectorEventLoop"].__init__


def set_event_loop_policy(policy: Any) -> None:
    if in_execution():
        if policy is None or isinstance(policy, Policy):  # the usual one, or the one that is there
            return
        raise RUNNING.check.runtime.misused(
            "the program sets an event loop policy: it can only be explored with Mazurka's own"
        )
    original_set_policy(policy)


@functools.wraps(original_loop_init)
def initialise_selector_loop(self: Any, *arguments: Any, **options: Any) -> None:
    if in_execution():
        self._closed = True  # asyncio looks at it when the loop is collected
        raise RUNNING.check.runtime.misused(
            f"the program makes a {type(self).__name__}: it can only be explored with the event "
            "loop that asyncio.run or asyncio.new_event_loop gives"
        )
    original_loop_init(self, *arguments, **options)


@functools.wraps(original_all_tasks)
def all_tasks(loop: Any = None) -> set[Any]:
    """In the order in which the loop came to know them."""
    if not in_execution():
        return original_all_tasks(loop)
    if loop is None:
        loop = asyncio.get_running_loop()
    return {task for task in loop.numbers if not task.done()}


@functools.wraps(original_as_completed)
def as_completed(awaitables: Iterable[Any], *, timeout: float | None = None) -> Any:
    """The original puts coroutines into a set, in whose order they become tasks."""
    if in_execution() and not asyncio.isfuture(awaitables) and not asyncio.iscoroutine(awaitables):
        awaitables = [asyncio.ensure_future(each) for each in dict.fromkeys(awaitables)]
    return original_as_completed(awaitables, timeout=timeout)


class Signals:
    """`signal`, as `asyncio.run` sees it: it shall not take the user's Ctrl-C for its own."""

    def __getattr__(self, name: str) -> Any:
        return getattr(signal, name)

    def getsignal(self, number: int) -> Any:
        return None if in_execution() else signal.getsignal(number)


PATCHES = [
    Patch(asyncio, "set_event_loop_policy", set_event_loop_policy),
    Patch(events, "set_event_loop_policy", set_event_loop_policy),
    Patch(selector_events.BaseSelectorEventLoop, "__init__", initialise_selector_loop),
    Patch(asyncio, "all_tasks", all_tasks),
    Patch(tasks, "all_tasks", all_tasks),
    Patch(asyncio, "as_completed", as_completed),
    Patch(tasks, "as_completed", as_completed),
    Patch(runners, "signal", Signals()),
]

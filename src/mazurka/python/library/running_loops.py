"""The event loops of an execution, and which of them runs in which thread.

asyncio keeps the running loop for each OS thread. The threads of a program share one, so what it
keeps is changed whenever they switch, as long as there is a loop that runs.
"""

import sys
from asyncio.events import _get_running_loop, _set_running_loop
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from greenlet import getcurrent, settrace

from mazurka.python.check import RUNNING
from mazurka.python.runtime.runtime import PATIENCE, Runtime


class EventLoops:
    """The event loops of the running execution."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.are_fifo = False  # whether they have asyncio's own order
        self.made: list[Any] = []
        self.by_greenlet: dict[Any, Any] = {}  # those that run

    @contextmanager
    def running(self, loop: Any) -> Iterator[None]:
        """While the body runs, a loop runs in this thread."""
        greenlet = getcurrent()
        nested = self.by_greenlet.get(greenlet)
        if nested is None:
            self.by_greenlet[greenlet] = loop
            settrace(self.switched)
        try:
            yield
        finally:
            if nested is None:
                self.by_greenlet.pop(greenlet, None)
            if not self.by_greenlet:
                settrace(None)

    def switched(self, event: str, greenlets: tuple[Any, Any]) -> None:
        """Another thread goes on."""
        loop = self.by_greenlet.get(greenlets[1])
        _set_running_loop(loop)
        if loop is None:
            sys.set_asyncgen_hooks(None, None)
        else:
            sys.set_asyncgen_hooks(loop._asyncgen_firstiter_hook, loop._asyncgen_finalizer_hook)

    def tell_calls_apart(self) -> bool:
        """Whether the execution that has just ended shows that calls of `to_thread` must be."""
        if not any(loop.calls.were_told() for loop in self.made):
            return False
        RUNNING.check.models.thread_calls = True
        return True

    def let_go(self) -> None:
        """The execution is over."""
        if not self.made:
            return
        self.by_greenlet.clear()
        settrace(None)
        _set_running_loop(None)
        sys.set_asyncgen_hooks(None, None)
        self.runtime.current = self.runtime.names.threads[0]
        self.runtime.cancelling = True  # no operation of theirs takes place
        for loop in self.made:
            loop.let_go()
        self.runtime.cancelling = False
        self.runtime.current = None
        for loop in self.made:
            loop.done.clear()
        self.made.clear()

    def end(self, coroutine: Any) -> None:
        """Unwind a coroutine. It may await something on its way, and stand again."""
        for _ in range(PATIENCE):
            with suppress(BaseException):
                coroutine.close()
                return
        RUNNING.abandoned.append(coroutine)


@contextmanager
def no_running_loop() -> Iterator[None]:
    """A check may itself run in an event loop, which is not the program's."""
    loop = _get_running_loop()
    hooks = sys.get_asyncgen_hooks()
    _set_running_loop(None)
    sys.set_asyncgen_hooks(None, None)
    try:
        yield
    finally:
        RUNNING.check.event_loops.let_go()
        _set_running_loop(loop)
        sys.set_asyncgen_hooks(*hooks)

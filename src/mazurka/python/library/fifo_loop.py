"""An event loop that calls what is ready in asyncio's own order: first come, first served.

As in asyncio, a round of the loop first takes in what threads have handed over, then the timers
that are due, and then calls all that was ready when it began.
"""

import functools
from collections import deque
from collections.abc import Iterator
from contextvars import Context
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.event_loop import (
    EventLoop,
    Ready,
    Timer,
    Way,
    chosen_of,
    is_alone,
    name_of,
)
from mazurka.python.runtime.runtime import Cancelled
from mazurka.python.runtime.thread import do_nothing


class FifoLoop(EventLoop):
    def __init__(self) -> None:
        super().__init__()
        self.queue: deque[Any] = deque()  # all that is ready

    def accept(self, handle: Ready) -> None:
        handle.ticks = self.ticks
        if handle.task is not None:
            self.number(handle.task)
        self.queue.append(handle)

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> Ready:  # type: ignore[override]
        if not is_alone():  # a thread may have been quicker
            self.accept_all(self.inbox.take())
        return super().call_soon(callback, *args, context=context)

    def _run_once(self) -> None:
        if RUNNING.check.runtime.cancelling:
            raise Cancelled
        if not is_alone():
            self.accept_all(self.inbox.take())
        self.let_time_pass()
        for _ in range(len(self.queue)):
            handle = self.queue.popleft()
            task = getattr(handle, "task", None)
            if task is None:
                self.run(handle)
            else:
                self.run_task(handle)

    def let_time_pass(self) -> None:
        """Timers may be due now."""
        is_ready = self._stopping or any(not handle.cancelled() for handle in self.queue)
        if RUNNING.check.runtime.timeouts_last:
            if not is_ready:
                self.make_due(self.wait_for_timers())
            return
        ways = list(self.ways_to_go_on(is_ready))
        if not ways:
            self.accept_all(self.inbox.wait())
        elif len(ways) == 1:
            ways[0].go()
        else:
            chosen_of(ways).go()

    def ways_to_go_on(self, is_ready: bool) -> Iterator[Way]:
        """Time may have passed until any of the deadlines."""
        if is_ready:
            yield Way("go on", None, do_nothing)
        due: list[Timer] = []
        for timer in self.timers_in_order():
            if not self.may_fire(timer):
                return
            due.append(timer)
            go = functools.partial(self.make_due, list(due))
            yield Way(f"wait until {name_of(timer)} is due", None, go)

    def waiting_handles(self) -> list[Any]:
        return [handle for handle in self.queue if isinstance(handle, Ready)]

    def make_due(self, due: list[Timer]) -> None:
        self.let_pass(due)
        self.queue.extend(due)

    def stop(self) -> None:
        """The loop stops after this round."""
        self._stopping = True

    def close(self) -> None:
        super().close()
        self.queue.clear()

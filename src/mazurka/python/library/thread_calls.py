"""Tasks that are nothing but a call of `asyncio.to_thread`.

Such a task hands a function to a thread, and later hands on what the thread has found. When its
loop comes to that can hardly be told: if it comes late, all looks as if the thread were slow. So
the loop does both at once, and their order among other tasks is not explored.

It can be told if the loop ends or blocks before, if threads are scarce, or if somebody looks at a
clock. Then the search begins anew, and these tasks are like all others.
Until somebody can tell, there is an execution here for every one there: so none is overlooked.
"""

import asyncio
from typing import Any

from mazurka.engine.operation import JOIN, may_block
from mazurka.python.check import RUNNING
from mazurka.python.primitives.loop_inbox import Inbox, Place
from mazurka.python.runtime.thread import Thread

CODE = asyncio.to_thread.__code__


class ThreadCalls:
    """Those of one loop."""

    def __init__(self) -> None:
        self.open: set[Any] = set()  # they are not done
        self.were_any = False
        self.thread: Thread | None = None  # in which the loop runs

    def takes(self, task: Any) -> bool:
        """Whether a task is such a call, and is to go on at once."""
        check = RUNNING.check
        if not is_call(task) or check.runtime.timeouts_last:
            return False
        if check.models.thread_calls or check.models.workers:
            return False
        self.open.add(task)
        self.were_any = check.runtime.calls_threads = True
        return True

    def look_at_steps(self, begin: int) -> None:
        """A call that had not begun would not have ended what the loop has waited for."""
        runtime = RUNNING.check.runtime
        here = runtime.current
        assert here is not None
        for event in runtime.events[begin : runtime.position]:
            if event.thread == here.id and (may_block(event.kind) or event.kind == JOIN):
                tell_calls_apart()

    def were_told(self) -> bool:
        """Whether somebody could tell, as the execution shows at its end."""
        runtime = RUNNING.check.runtime
        if self.were_any and runtime.has_looked:
            return True
        thread = self.thread
        if not self.open or thread is None or thread.finished:
            return False
        waits = thread.spin is not None or thread.gave_up or not runtime.enabled(thread)
        return waits and not isinstance(thread.cell, Inbox | Place)


def is_call(task: Any) -> bool:
    return getattr(task.get_coro(), "cr_code", None) is CODE


def tell_calls_apart() -> None:
    """The search begins anew."""
    check = RUNNING.check
    check.models.thread_calls = True
    check.objects.stop_search()

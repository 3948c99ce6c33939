"""`logging`: handlers of the program's own are exclusive, as their locks say, and what pytest has
captured is what this execution has written.

The order in which the standard handlers write is of no interest: their locks are left alone, so
that programs which write to the log have no more executions than others. But if they write to a
file in memory, the program may look at that.
"""

import functools
import io
import logging
from collections.abc import Callable
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.locks import modelled_lock
from mazurka.python.library.steering import Patch
from mazurka.python.memory.containers import change_all
from mazurka.python.memory.shapes import FILES
from mazurka.python.primitives.locks import Lock
from mazurka.python.runtime.standard_thread import in_execution

original_acquire: Callable[[Any], None] = logging.Handler.acquire
original_release: Callable[[Any], None] = logging.Handler.release
original_handle: Callable[..., Any] = logging.Handler.handle


def lock_of(handler: Any) -> Lock | None:
    """The model of a handler's lock, if it is one of the program's own."""
    if not in_execution() or handler.lock is None:
        return None
    is_own = RUNNING.check.code is not None and RUNNING.check.objects.is_seen(type(handler))
    return modelled_lock(handler.lock) if is_own else None


def announce_file(handler: Any) -> None:
    """A standard handler is about to write."""
    is_seen = RUNNING.check.code is not None and in_execution()
    if is_seen and type(handler) is logging.StreamHandler and type(handler.stream) in FILES:
        change_all(handler.stream)


@functools.wraps(original_acquire)
def acquire(self: Any) -> None:
    lock = lock_of(self)
    if lock is None:
        announce_file(self)
        original_acquire(self)
    else:
        lock.acquire()


@functools.wraps(original_release)
def release(self: Any) -> None:
    lock = lock_of(self)
    if lock is None:
        original_release(self)
    else:
        lock.release()


@functools.wraps(original_handle)
def handle(self: Any, record: Any) -> Any:
    """From Python 3.13 on this takes the lock itself."""
    lock = lock_of(self)
    if lock is None:
        announce_file(self)
        return original_handle(self, record)
    with lock:
        return original_handle(self, record)


class Captured:
    """What pytest had captured of the log when the check began (its fixture `caplog` shows it)."""

    def __init__(self) -> None:
        handlers: list[Any] = logging.getLogger().handlers
        self.handlers = [
            (handler, handler.records, handler.records.copy(), handler.stream.getvalue())
            for handler in handlers
            if type(handler).__module__ == "_pytest.logging" and hasattr(handler, "records")
        ]

    def put_back(self) -> None:
        for handler, records, saved, text in self.handlers:
            records[:] = saved
            handler.records = records
            handler.stream = io.StringIO()
            handler.stream.write(text)


PATCHES = [
    Patch(logging.Handler, "acquire", acquire),
    Patch(logging.Handler, "release", release),
]
if "acquire" not in original_handle.__code__.co_names:
    PATCHES.append(Patch(logging.Handler, "handle", handle))

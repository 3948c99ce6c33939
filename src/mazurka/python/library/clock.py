"""`time`, in virtual time (runtime/virtual_time.py says what time it is)."""

import functools
import math
import operator
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, tzinfo
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import Patch
from mazurka.python.loops.rounds import note_clock
from mazurka.python.runtime.standard_thread import in_execution

EPOCH = 1_700_000_000.0  # what the clocks show at the start of an execution
BOOT = 1_000.0

STARTS = {
    "time": EPOCH,
    "monotonic": BOOT,
    "perf_counter": BOOT,
    "process_time": 0.0,
    "thread_time": 0.0,
}
CONVERSIONS = {"localtime": 0, "gmtime": 0, "ctime": 0, "asctime": 0, "strftime": 1}


def elapsed() -> float:
    """How much time has passed for the running thread since the execution began."""
    runtime = RUNNING.check.runtime
    thread = runtime.current
    assert thread is not None
    note_clock()
    return runtime.look_at_clock(thread)


def clock(original: Callable[[], Any], start: float, unit: float) -> Callable[[], Any]:
    @functools.wraps(original)
    def read() -> Any:
        if not in_execution():
            return original()
        now = start + elapsed()
        return now if unit == 1 else round(now / unit)

    return read


def sleep(seconds: Any, /) -> None:
    if not in_execution():
        original_sleep(seconds)
        return
    if not isinstance(seconds, float):
        seconds = operator.index(seconds)
    elif math.isnan(seconds):
        raise ValueError("Invalid value NaN (not a number)")
    if seconds < 0:
        raise ValueError("sleep length must be non-negative")
    if seconds > threading.TIMEOUT_MAX:
        raise OverflowError("timestamp too large to convert to C PyTime_t")
    runtime = RUNNING.check.runtime
    assert runtime.current is not None
    runtime.let_time_pass(runtime.current, seconds)


original_sleep = time.sleep
# What programs know as `time.sleep`: what one gets that looks it up, and what it has got before.
SLEEPING = {"time.sleep": (sleep, original_sleep)}
real_perf_counter = time.perf_counter  # for our own use


def conversion(name: str, position: int) -> Callable[..., Any]:
    """A function that takes the time of now if it is given none."""
    original: Callable[..., Any] = getattr(time, name)

    @functools.wraps(original)
    def convert(*arguments: Any) -> Any:
        missing = len(arguments) == position or arguments[position:] == (None,)
        if not missing or not in_execution():
            return original(*arguments)
        now: Any = EPOCH + elapsed()
        if name in ("asctime", "strftime"):
            now = time.localtime(now)
        return original(*arguments[:position], now)

    return convert


def datetime_now(kind: Any, tz: tzinfo | None = None) -> Any:
    return kind.fromtimestamp(EPOCH + elapsed(), tz) if in_execution() else kind.now(tz)


def datetime_utcnow(kind: Any) -> Any:
    if not in_execution():
        return kind.utcnow()
    return datetime_now(kind, UTC).replace(tzinfo=None)


# Methods of classes of C, which cannot be replaced there: what to call instead, with the class.
# (`date.today` and `datetime.today` ask `time.time`.)
OF_CLASSES: dict[tuple[type, str], Callable[..., Any]] = {
    (datetime, "now"): datetime_now,
    (datetime, "utcnow"): datetime_utcnow,
}


def clock_patches() -> list[Patch]:
    patches = []
    for name, start in STARTS.items():
        if hasattr(time, name):  # not every platform has thread_time
            patches.append(Patch(time, name, clock(getattr(time, name), start, 1)))
            in_nanoseconds = f"{name}_ns"
            original = getattr(time, in_nanoseconds)
            patches.append(Patch(time, in_nanoseconds, clock(original, start, 1e-9)))
    return patches


PATCHES = [
    *clock_patches(),
    *[Patch(time, name, conversion(name, position)) for name, position in CONVERSIONS.items()],
    Patch(time, "sleep", sleep),
]
# The clocks of C, and those that take their places.
CLOCKS: list[tuple[Any, Any]] = [
    (getattr(owner, name), replacement) for owner, name, replacement in PATCHES
]

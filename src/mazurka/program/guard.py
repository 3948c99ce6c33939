"""Watches over a check from outside: no OS threads, and no thread that never comes to a step."""

import _thread
import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mazurka.program.runtime import RUNTIME, Stuck
from mazurka.program.source import here

# Every name under which this Python version starts OS threads.
STARTERS = [
    (module, name)
    for module in (_thread, threading)
    for name in (
        "start_new_thread",
        "start_new",
        "start_joinable_thread",
        "_start_new_thread",
        "_start_joinable_thread",
    )
    if hasattr(module, name)
]
LOOKS = 20  # how often the watchdog looks within a step limit


@contextmanager
def guarded(step_limit: float) -> Iterator[None]:
    """While a program is explored: refuse OS threads, and interrupt a step that takes too long."""
    originals = [(module, name, getattr(module, name)) for module, name in STARTERS]
    over = threading.Event()
    watchdog = threading.Thread(
        target=watch, args=(over, threading.get_ident(), step_limit), daemon=True
    )
    watchdog.start()
    for module, name, original in originals:
        setattr(module, name, refusing(original, threading.get_ident()))
    try:
        yield
    finally:
        for module, name, original in originals:
            setattr(module, name, original)
        over.set()


def refusing(original: Callable[..., Any], explorer: int) -> Callable[..., Any]:
    def start(*arguments: Any, **options: Any) -> Any:
        if RUNTIME.current is None or threading.get_ident() != explorer:
            return original(*arguments, **options)
        frame = here()
        while frame.f_code.co_filename == threading.__file__ and frame.f_back is not None:
            frame = frame.f_back
        raise RUNTIME.misused(
            "the program starts an OS thread, which Mazurka cannot steer, at "
            f"{frame.f_code.co_filename}:{frame.f_lineno}; start it with mazurka.spawn instead"
        )

    return start


def watch(over: threading.Event, explorer: int, step_limit: float) -> None:
    """The watchdog's life: raises Stuck in the explorer's thread when nothing moves in a run."""
    seen = (0, 0)
    quiet = 0
    while not over.wait(step_limit / LOOKS):
        now = (RUNTIME.epoch, RUNTIME.position)
        quiet = quiet + 1 if now == seen and RUNTIME.current is not None else 0
        seen = now
        if quiet > LOOKS:
            quiet = 0
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(explorer), ctypes.py_object(Stuck)
            )

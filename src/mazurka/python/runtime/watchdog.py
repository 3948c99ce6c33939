"""Watches over a check from outside: no OS threads, and no thread that never comes to a step."""

import _thread
import ctypes
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import get_ident  # now: programs that are checked find another one
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.runtime.runtime import Stuck
from mazurka.python.source import place_of_user

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
PATIENCE = 20  # so many times as long may a search think in the midst of a run


@contextmanager
def guarded(step_limit: float) -> Iterator[None]:
    """While a program is explored: refuse OS threads, and interrupt a step that takes too long."""
    explorer = get_ident()
    originals = [(module, name, getattr(module, name)) for module, name in STARTERS]
    over = threading.Event()
    with interruptible() as interrupt:
        watched = (over, interrupt, step_limit, explorer)
        threading.Thread(target=watch, args=watched, daemon=True).start()
        for module, name, original in originals:
            setattr(module, name, refusing(original, explorer))
        try:
            yield
        finally:
            for module, name, original in originals:
                setattr(module, name, original)
            over.set()


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Gives a function that raises Stuck in this thread when it is called from another.

    In the main thread a signal does it, which ends even a wait for a real lock. Elsewhere, and
    without such signals, Stuck comes when the thread next runs Python code.
    """
    explorer = get_ident()
    if threading.current_thread() is threading.main_thread() and hasattr(signal, "pthread_kill"):
        previous = signal.signal(signal.SIGUSR2, raise_stuck)
        try:
            yield lambda: signal.pthread_kill(explorer, signal.SIGUSR2)
        finally:
            signal.signal(signal.SIGUSR2, previous)
    else:
        yield lambda: raise_in(explorer)


def raise_stuck(*_: object) -> None:
    if RUNNING.check.runtime.running:  # else the execution ended just now
        raise Stuck


def raise_in(thread: int) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(Stuck))


def refusing(original: Callable[..., Any], explorer: int) -> Callable[..., Any]:
    def start(*arguments: Any, **options: Any) -> Any:
        runtime = RUNNING.check.runtime
        if runtime.current is None or get_ident() != explorer:
            return original(*arguments, **options)
        raise runtime.misused(
            f"the program starts an OS thread{place_of_user()}, which Mazurka cannot steer; start "
            "threads with threading.Thread or mazurka.spawn instead"
        )

    return start


def watch(
    over: threading.Event, interrupt: Callable[[], None], step_limit: float, explorer: int
) -> None:
    """The watchdog's life: interrupts the explorer when nothing moves in a run."""
    runtime = RUNNING.check.runtime
    seen = (0, 0)
    quiet = 0
    while not over.wait(step_limit / LOOKS):
        now = (runtime.epoch, runtime.position)
        quiet = quiet + 1 if now == seen and runtime.running else 0
        seen = now
        if quiet > (LOOKS if runtime.current is not None else LOOKS * PATIENCE):
            quiet = 0
            if not is_in_debugger(explorer):
                interrupt()


def is_in_debugger(thread: int) -> bool:
    """Whether somebody looks at a thread with pdb, and may take the time that they need."""
    frame = sys._current_frames().get(thread)
    while frame is not None:
        if frame.f_globals.get("__name__") in ("pdb", "bdb"):
            return True
        frame = frame.f_back
    return False

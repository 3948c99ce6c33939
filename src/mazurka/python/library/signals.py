"""`signal`: only the main thread of the program may set handlers, though all run in one. What it
has set is put back after each execution."""

import functools
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import Patch
from mazurka.python.memory.process_state import SIGNALS, change_setting
from mazurka.python.runtime.standard_thread import in_execution


def in_main_thread_only(name: str) -> Patch:
    original: Callable[..., Any] = getattr(signal, name)

    @functools.wraps(original)
    def call(*arguments: Any, **named: Any) -> Any:
        if not in_execution() or is_debugger(sys._getframe(1)):
            return original(*arguments, **named)
        thread = RUNNING.check.runtime.current
        if thread is not None and thread.id != 0:
            raise ValueError("signal only works in main thread of the main interpreter")
        if name == "signal":
            change_setting(SIGNALS, f"signal{arguments!r}")
        found = original(*arguments, **named)
        if name == "signal":
            RUNNING.check.models.signals.setdefault(arguments[0], found)
        return found

    return Patch(signal, name, call)


def is_debugger(frame: FrameType) -> bool:
    """Whether it is pdb that goes on, and wants to hear of Ctrl-C: no step of the program."""
    return frame.f_globals.get("__name__") == "pdb"


def put_back_signals() -> None:
    handlers = RUNNING.check.models.signals
    for number, handler in handlers.items():
        original_signal(number, handler)
    handlers.clear()


original_signal = signal.signal
PATCHES = [in_main_thread_only(name) for name in ("signal", "set_wakeup_fd")]

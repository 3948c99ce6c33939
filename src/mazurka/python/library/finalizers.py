"""`__del__` and other finalizers of the program's objects.

Objects live on until their execution is over, so what finalizers would do in it is not explored,
which must be told. Those that are rewritten are not called afterwards (see rewriting/hooks.py);
others may be, and fail, of which nobody need hear.
"""

import functools
import sys
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import BuiltinFunctionType
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import Patch
from mazurka.python.memory.calls import full_name_of
from mazurka.python.runtime.runtime import Cancelled
from mazurka.python.runtime.standard_thread import in_execution

original_init: Callable[..., None] = vars(weakref.finalize)["__init__"]


@functools.wraps(original_init)
def initialise(self: Any, *arguments: Any, **named: Any) -> None:
    original_init(self, *arguments, **named)
    if in_execution():
        RUNNING.check.models.finalizers.append(self)


def note_finalizers() -> None:
    """The execution is over: those that were not called would have been, or not. What is written
    in C is taken to work on files and the like."""
    check = RUNNING.check
    for finalizer in check.models.finalizers:
        found = finalizer.peek()
        if found is not None and type(found[1]) is not BuiltinFunctionType:
            check.calls.late.add(full_name_of(found[1]))
    check.models.finalizers.clear()


PATCHES = [Patch(weakref.finalize, "__init__", initialise)]


@contextmanager
def late_words_noted() -> Iterator[None]:
    """While the body runs, note the finalizers that fail outside of executions."""
    original = sys.unraisablehook

    def hear(unraisable: Any) -> None:
        if issubclass(unraisable.exc_type, Cancelled):
            return  # the execution was cut short
        if RUNNING.check.runtime.running:
            original(unraisable)
        else:
            RUNNING.check.calls.late.add(full_name_of(unraisable.object))

    sys.unraisablehook = hear
    try:
        yield
    finally:
        sys.unraisablehook = original

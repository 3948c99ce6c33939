"""Explores programs that are written with the standard library: `threading`, `asyncio`, `time`...

While a check runs, `steered_standard_library` replaces what they consist of by models. Three things
are for the code that rewrites the user's programs, since the names of C types that a module has
imported, and the objects of these types that it has made, cannot be replaced: REPLACEMENTS for
calls, `steered` for locks and simple queues, `local_namespace` for thread-local attributes.
"""

import logging
import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library import (
    clock,
    counters,
    executors,
    locks,
    loop_policy,
    queues,
    random_numbers,
    thread_locals,
    threads,
)
from mazurka.python.library.running_loops import no_running_loop
from mazurka.python.library.steering import (
    MODEL,
    Maker,
    Patch,
    kept_model,
    not_in_execution,
    patched,
    real_model,
)
from mazurka.python.library.thread_locals import local_namespace as local_namespace
from mazurka.python.memory.older_objects import older_objects_set_apart, set_apart
from mazurka.python.runtime.standard_thread import in_execution
from mazurka.python.runtime.thread import do_nothing

PATCHES: list[Patch] = [
    *locks.PATCHES,
    *queues.PATCHES,
    *threads.PATCHES,
    *thread_locals.PATCHES,
    *executors.PATCHES,
    *clock.PATCHES,
    *random_numbers.PATCHES,
    *loop_policy.PATCHES,
]

# The functions and types that modules may have imported by name, and the functions of bound methods
# that they may have kept, by identity -> what to call instead. The originals are listed too, so
# that nothing else gets their identity.
ORIGINALS: list[tuple[Any, Any]] = [
    (getattr(owner, name), replacement)
    for owner, name, replacement in PATCHES
    if callable(replacement) and hasattr(owner, name)
]
ORIGINALS.append((locks.REAL_LOCK, locks.Lock))
REPLACEMENTS: dict[int, Any] = {id(original): replacement for original, replacement in ORIGINALS}

# The types of C whose objects have models.
MAKERS: dict[type, Maker] = {
    locks.REAL_LOCK: locks.lock_from,
    locks.REAL_RLOCK: locks.rlock_from,
    queues.REAL_SIMPLE_QUEUE: queues.simple_queue_from,
    counters.REAL_COUNT: counters.count_from,
}


OUR_THREADS = 2  # the one that explores, and the watchdog
STEERED_TYPES: set[type] = {*MAKERS, threading.Condition}


def steered(instance: Any) -> Any:
    """The model of a real lock, simple queue or count in an execution; any other object itself."""
    kind = type(instance)
    make = MAKERS.get(kind)
    if make is not None:
        return real_model(instance, make) if in_execution() else instance
    if kind is threading.Condition and MODEL not in instance.__dict__ and in_execution():
        kept_model(instance, locks.condition_from)  # gives it other `acquire` and `release`
    return instance


@contextmanager
def steered_standard_library() -> Iterator[None]:
    """While a check runs, replace what the standard library's threads consist of by models."""
    check = RUNNING.check
    runtime = check.runtime
    silent = executors.SilentWhenCancelled()
    logger = logging.getLogger("concurrent.futures")
    logger.addFilter(silent)
    hook = threading.excepthook

    def begin() -> None:
        check.event_loops.let_go()
        check.models.fresh.clear()
        threading.excepthook = hook

    runtime.explorer = get_ident()
    runtime.crowded = len(sys._current_frames()) > OUR_THREADS
    runtime.at_begin = begin
    try:
        patches = [*PATCHES, *import_patches(), *loop_policy.policy_patches()]
        with older_objects_set_apart(), patched(patches), no_running_loop():
            yield
    finally:
        runtime.at_begin = do_nothing
        threading.excepthook = hook
        logger.removeFilter(silent)
        check.models.close()


def import_patches() -> list[Patch]:
    """A module that a program imports belongs to no execution, nor does what it makes: the next
    execution finds it imported."""
    bootstrap = sys.modules["_frozen_importlib"]
    original: Callable[..., Any] = vars(bootstrap)["_find_and_load"]

    def find_and_load(*arguments: Any) -> Any:
        if not in_execution():
            return original(*arguments)
        with not_in_execution():
            try:
                return original(*arguments)
            finally:
                set_apart()

    return [Patch(bootstrap, "_find_and_load", find_and_load)]

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
    finalizers,
    futures,
    locks,
    logging_handlers,
    loop_policy,
    processes,
    queues,
    random_numbers,
    signals,
    temporary_files,
    thread_locals,
    thread_pools,
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
from mazurka.python.library.whole_process import WholeProcess
from mazurka.python.memory.identities import Misjudged
from mazurka.python.memory.older_objects import older_objects_set_apart, set_apart
from mazurka.python.runtime.standard_thread import in_execution
from mazurka.python.runtime.thread import do_nothing

PATCHES: list[Patch] = [
    *locks.PATCHES,
    *queues.PATCHES,
    *threads.PATCHES,
    *thread_locals.PATCHES,
    *futures.PATCHES,
    *executors.PATCHES,
    *clock.PATCHES,
    *random_numbers.PATCHES,
    *loop_policy.PATCHES,
    *logging_handlers.PATCHES,
    *signals.PATCHES,
    *finalizers.PATCHES,
    *processes.PATCHES,
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


WITH_MODELS = (thread_pools.MODULE, temporary_files.MODULE)  # once they are imported

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
    models, event_loops = check.models, check.event_loops
    if models.log is None:
        models.log = logging_handlers.Captured()
    log = models.log
    process = check.process = WholeProcess()

    def begin() -> None:
        # Before each execution, and not compiled: most of them have nothing to put back.
        if check.changes_process:
            process.put_back()
        if event_loops.made:
            event_loops.let_go()
        if models.fresh:
            models.fresh.clear()
        models.seeded = None
        if models.signals:
            signals.put_back_signals()
        if models.finalizers:
            finalizers.note_finalizers()
        if models.temporary:
            temporary_files.remove()
        if log.handlers:
            log.put_back()
        threading.excepthook = hook

    runtime.explorer = get_ident()
    runtime.crowded = len(sys._current_frames()) > OUR_THREADS
    runtime.at_begin = begin
    try:
        patches = [
            *PATCHES,
            *thread_pools.pool_patches(),
            *temporary_files.patches(),
            *import_patches(),
            *loop_policy.policy_patches(),
        ]
        with older_objects_set_apart(), patched(patches), no_running_loop():
            yield
        if not process.is_as_it_was() and not check.changes_process and check.code is not None:
            raise Misjudged
    finally:
        check.changes_process = check.changes_process or not process.is_as_it_was()
        process.put_back()
        runtime.at_begin = do_nothing
        signals.put_back_signals()
        finalizers.note_finalizers()
        temporary_files.remove()
        threading.excepthook = hook
        logger.removeFilter(silent)
        check.models.close()


def take_in_imported() -> None:
    """What was imported is there before its functions are called."""
    check = RUNNING.check
    check.process.take_in_imported()
    if check.code is None:
        set_apart()
    elif check.code.look():
        check.objects.has_news = True


def import_patches() -> list[Patch]:
    """A module that a program imports belongs to no execution, nor does what it makes: the next
    execution finds it imported."""
    bootstrap = sys.modules["_frozen_importlib"]
    original: Callable[..., Any] = vars(bootstrap)["_find_and_load"]

    def find_and_load(*arguments: Any) -> Any:
        if not in_execution() or arguments[0] in sys.modules:
            return original(*arguments)
        known = [name for name in WITH_MODELS if name in sys.modules]
        with not_in_execution():
            try:
                found = original(*arguments)
            finally:
                take_in_imported()
        if len(known) < len([name for name in WITH_MODELS if name in sys.modules]):
            RUNNING.check.objects.stop_search()  # and begin anew, with a model of it
        return found

    return [Patch(bootstrap, "_find_and_load", find_and_load)]

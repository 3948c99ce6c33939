"""Where a check is put together from its parts: the one place that knows all of them."""

from collections.abc import Iterator
from contextlib import contextmanager

from mazurka.engine.errors import MazurkaError
from mazurka.python.check import RUNNING, Check, Types
from mazurka.python.library import REPLACEMENTS, STEERED_TYPES, local_namespace, steered
from mazurka.python.library.clock import OF_CLASSES, SLEEPING
from mazurka.python.library.random_numbers import DRAWING
from mazurka.python.library.running_loops import EventLoops
from mazurka.python.library.steering import Models
from mazurka.python.library.thread_locals import LOCALS
from mazurka.python.loops.rounds import LoopSettings
from mazurka.python.memory.attributes import ChangeableNames, StandardLibrary
from mazurka.python.memory.calls import Calls
from mazurka.python.memory.identities import Objects
from mazurka.python.memory.older_objects import Heap
from mazurka.python.primitives.locks import RLock
from mazurka.python.rewriting.instrument import KeptCode
from mazurka.python.runtime.runtime import Runtime


@contextmanager
def new_check(settings: LoopSettings | None = None) -> Iterator[Check]:
    """While the body runs, so does a new check."""
    refuse_second_check()
    check = put_together(settings or LoopSettings())
    try:
        RUNNING.check = check
        check.blocks_lock = RLock("atomic")  # as if the user had made it, before all executions
        yield check
    finally:
        RUNNING.check = RUNNING.idle


def refuse_second_check() -> None:
    if RUNNING.check is RUNNING.idle:
        return
    runtime = RUNNING.check.runtime
    message = "a check is under way already: there can be only one at a time in a process"
    raise runtime.misused(message) if runtime.current is not None else MazurkaError(message)


def put_together(settings: LoopSettings) -> Check:
    check = Check()
    check.runtime = Runtime()
    check.loop_settings = settings
    check.objects = Objects(check.runtime)
    check.types = Types()
    check.changes_process = False
    check.changeable = ChangeableNames()
    functions = {**SLEEPING, **DRAWING}
    check.standard = StandardLibrary(local_namespace, steered, STEERED_TYPES, functions, LOCALS)
    check.calls = Calls(REPLACEMENTS, OF_CLASSES)
    check.code = None
    check.models = Models()
    check.event_loops = EventLoops(check.runtime)
    check.heap = Heap()
    check.path = None
    check.history = []
    return check


RUNNING.idle = RUNNING.check = put_together(LoopSettings())
RUNNING.kept = KeptCode()

"""Which executions of Python programs can be computed (engine/remembered.py): those of which all is
known that may matter. Everything else is run."""

from collections import defaultdict, deque
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Final

from mazurka.engine.event import Event
from mazurka.engine.histories import NOT_KEPT, key_of
from mazurka.engine.operation import (
    AWAIT_PART,
    CHOOSE,
    FIRST_ON_PARTS,
    JOIN,
    SPAWN,
    STORE,
)
from mazurka.engine.program import NOBODY, NOT_KNOWN
from mazurka.python.check import Check
from mazurka.python.memory.cells import Contents, Variable
from mazurka.python.operations import ValueAwaited
from mazurka.python.primitives.atomic import Atomic
from mazurka.python.primitives.conditions import Waiter
from mazurka.python.primitives.counters import Count
from mazurka.python.primitives.events import Event as Flag
from mazurka.python.primitives.locks import Lock, RLock
from mazurka.python.primitives.semaphores import Semaphore
from mazurka.python.primitives.standard_queues import Gets, Place, Puts, Unfinished
from mazurka.python.runtime.names import Names
from mazurka.python.runtime.runtime import NOTHING
from mazurka.python.runtime.standard_thread import Ended
from mazurka.python.runtime.thread import Location

# Objects that have nothing but their value that threads could tell each other by.
SEEN_WHOLLY: Final = (
    Atomic, Count, Ended, Flag, Gets, Lock, Place, Puts, RLock, Semaphore, Unfinished, Variable,
    Waiter,
)  # fmt: skip

# Containers of which operations do what their kind says: no item is too large for them, say.
CONTAINERS: Final = (list, dict, set, deque, defaultdict)

TIMEOUTS_LAST: Final = "timeouts come last, which depends on all that the threads do"
SYNC: Final = "accesses are no steps with granularity='sync'"
SYMBOLIC: Final = "inputs stand for all their values"
CLOCK: Final = "a thread looks at a clock, which shows what other threads do"
BLOCKS: Final = "there are atomic blocks"
PUT_BACK: Final = "setup and reset are called for each execution"
OPAQUE: Final = "there is code that is not seen"
BROKEN_OFF: Final = "an execution was broken off"


def why_unremembered(check: Check, is_put_back: bool) -> str:
    """Why all executions must be run, as far as the latest one shows."""
    runtime = check.runtime
    reasons = (
        (is_put_back, PUT_BACK),
        (runtime.timeouts_last, TIMEOUTS_LAST),
        (runtime.race_detector is not None, SYNC),
        (check.path is not None, SYMBOLIC),
        (runtime.has_looked, CLOCK),
        (bool(runtime.blocks), BLOCKS),
        (bool(check.objects.opaque), OPAQUE),
        (runtime.stopped != NOTHING, BROKEN_OFF),
    )
    return next((why for holds, why in reasons if holds), runtime.hidden)


def is_seen_wholly(check: Check, location: Location) -> bool:
    """Whether the value of a location is all that there is. A setting of the process has no value:
    it is only known that it was changed."""
    if location.cell_type is Contents:
        return location.holds in CONTAINERS
    owner = location.owner
    if owner is not None and owner is check.objects.record_of(check.calls.process).identity:
        return False
    return location.cell_type in SEEN_WHOLLY


def has_plain_data(event: Event) -> bool:
    """Whether the data of an operation are the same whenever its thread comes to it."""
    kind = event.kind
    if kind == SPAWN or kind == JOIN:
        return True
    if kind == CHOOSE:
        return type(event.first) is int
    if kind == AWAIT_PART:
        return False
    if kind >= FIRST_ON_PARTS:
        return is_certain_key(event.second)
    if kind == STORE:  # of what, the thread's history decides
        return True
    return all(is_plain(part) for part in (event.first, event.second))


def is_certain_key(key: object) -> bool:
    """A key that equals no key of another type: a dict shows the one that came first."""
    if type(key) is tuple:
        return all(is_certain_key(part) for part in key)
    return key is None or type(key) in (int, str, bytes)


def is_plain(data: object) -> bool:
    """A value, or a function without any variables of its own."""
    if key_of(data) is not NOT_KEPT or data is bool:
        return True
    if isinstance(data, ValueAwaited):  # in the same place of the same history it is the same
        return True
    if isinstance(data, FunctionType):
        return data.__closure__ is None and key_of(data.__defaults__) is not NOT_KEPT
    return isinstance(data, BuiltinFunctionType) and isinstance(data.__self__, ModuleType | None)


def maker_of(names: Names, location: int) -> int:
    """The thread that made an object: it is in its name. Those from outside executions begin each
    of them in the same way."""
    name = names.locations[location].name
    if name.startswith("outside"):
        return NOBODY
    thread = name.partition("#")[0].partition("@")[0]
    for known in names.threads:
        if known.name == thread:
            return known.id
    return NOT_KNOWN

"""Mazurka: a stateless model checker for concurrent Python programs.

PYTEST_DONT_REWRITE: pytest would warn if this is imported before it runs, in a notebook say.
"""

from mazurka.api import (
    COMPILED,
    CheckFailed,
    NoLongerFails,
    UnseenWarning,
    check,
    explore,
    replay,
)
from mazurka.engine.result import Failure, MazurkaError, Result, Schedule, Step
from mazurka.python.primitives.atomic import Atomic
from mazurka.python.primitives.atomic_blocks import atomic
from mazurka.python.primitives.barriers import Barrier
from mazurka.python.primitives.conditions import Condition
from mazurka.python.primitives.events import Event
from mazurka.python.primitives.locks import Lock, RLock
from mazurka.python.primitives.queues import Queue, ShutDown
from mazurka.python.primitives.semaphores import BoundedSemaphore, Semaphore
from mazurka.python.primitives.threads import Handle, assume, choose, spawn
from mazurka.python.symbolic import symbolic_bits, symbolic_bool, symbolic_int
from mazurka.version import VERSION as __version__

__all__ = [
    "COMPILED",
    "Atomic",
    "Barrier",
    "BoundedSemaphore",
    "CheckFailed",
    "Condition",
    "Event",
    "Failure",
    "Handle",
    "Lock",
    "MazurkaError",
    "NoLongerFails",
    "Queue",
    "RLock",
    "Result",
    "Schedule",
    "Semaphore",
    "ShutDown",
    "Step",
    "UnseenWarning",
    "__version__",
    "assume",
    "atomic",
    "check",
    "choose",
    "explore",
    "replay",
    "spawn",
    "symbolic_bits",
    "symbolic_bool",
    "symbolic_int",
]

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
from mazurka.python.primitives.sync import (
    Barrier,
    BoundedSemaphore,
    Condition,
    Event,
    Lock,
    Queue,
    RLock,
    Semaphore,
    ShutDown,
)
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

"""Mazurka: a stateless model checker for concurrent Python programs.

PYTEST_DONT_REWRITE: pytest would warn if this is imported before it runs, in a notebook say.
"""

from mazurka.atomic_blocks import atomic
from mazurka.checking import (
    COMPILED,
    CheckFailed,
    NoLongerFails,
    UnseenWarning,
    check,
    explore,
    replay,
)
from mazurka.core.result import Failure, MazurkaError, Result, Schedule, Step
from mazurka.program.atomic import Atomic
from mazurka.program.primitives import Handle, assume, choose, spawn
from mazurka.program.sync import (
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
from mazurka.symbolic import symbolic_bits, symbolic_bool, symbolic_int
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

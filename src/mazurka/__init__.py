"""Mazurka: a stateless model checker for concurrent Python programs."""

from mazurka.checking import COMPILED, CheckFailed, check, explore, replay
from mazurka.core.result import Failure, MazurkaError, Result, Schedule
from mazurka.program.primitives import Atomic, assume, choose, spawn
from mazurka.version import VERSION as __version__

__all__ = [
    "COMPILED",
    "Atomic",
    "CheckFailed",
    "Failure",
    "MazurkaError",
    "Result",
    "Schedule",
    "__version__",
    "assume",
    "check",
    "choose",
    "explore",
    "replay",
    "spawn",
]

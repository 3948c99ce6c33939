"""Mazurka: a stateless model checker for concurrent Python programs.

PYTEST_DONT_REWRITE: pytest would warn if this is imported before it runs, in a notebook say.
"""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from mazurka.version import VERSION as __version__

if TYPE_CHECKING:
    from mazurka.api import (
        COMPILED,
        CheckFailed,
        DoesNotFit,
        NoLongerFails,
        check,
        check_replay,
        explore,
        replay,
        reproduce,
        write_html,
    )
    from mazurka.engine.calls import MustWait
    from mazurka.engine.errors import MazurkaError
    from mazurka.engine.result import Failure, Result, Step
    from mazurka.engine.schedule import Schedule
    from mazurka.engine.status import Estimate
    from mazurka.estimating import Forecast, estimate
    from mazurka.linearizability import linearizable, scenario
    from mazurka.native.c_program import c_program
    from mazurka.python.primitives.atomic import Atomic
    from mazurka.python.primitives.atomic_blocks import atomic
    from mazurka.python.primitives.barriers import Barrier
    from mazurka.python.primitives.conditions import Condition
    from mazurka.python.primitives.events import Event
    from mazurka.python.primitives.locks import Lock, RLock
    from mazurka.python.primitives.queues import ShutDown
    from mazurka.python.primitives.semaphores import BoundedSemaphore, Semaphore
    from mazurka.python.primitives.threads import Handle, assume, choose, spawn
    from mazurka.python.primitives.typed_queue import Queue
    from mazurka.python.symbolic import symbolic_bits, symbolic_bool, symbolic_int

__all__ = [
    "COMPILED",
    "Atomic",
    "Barrier",
    "BoundedSemaphore",
    "CheckFailed",
    "Condition",
    "DoesNotFit",
    "Estimate",
    "Event",
    "Failure",
    "Forecast",
    "Handle",
    "Lock",
    "MazurkaError",
    "MustWait",
    "NoLongerFails",
    "Queue",
    "RLock",
    "Result",
    "Schedule",
    "Semaphore",
    "ShutDown",
    "Step",
    "__version__",
    "assume",
    "atomic",
    "c_program",
    "check",
    "check_replay",
    "choose",
    "estimate",
    "explore",
    "linearizable",
    "replay",
    "reproduce",
    "scenario",
    "spawn",
    "symbolic_bits",
    "symbolic_bool",
    "symbolic_int",
    "write_html",
]

# The modules that they are in, of which the first one imports nearly all of Mazurka. That is done
# when one of the names is asked for: pytest imports this package into every run, for its plugin.
HOMES = {
    "api": (
        "COMPILED CheckFailed DoesNotFit NoLongerFails check check_replay explore replay reproduce "
        "write_html"
    ),
    "engine.calls": "MustWait",
    "engine.errors": "MazurkaError",
    "engine.result": "Failure Result Step",
    "engine.schedule": "Schedule",
    "engine.status": "Estimate",
    "native.c_program": "c_program",
    "python.primitives.atomic": "Atomic",
    "python.primitives.atomic_blocks": "atomic",
    "python.primitives.barriers": "Barrier",
    "python.primitives.conditions": "Condition",
    "python.primitives.events": "Event",
    "python.primitives.locks": "Lock RLock",
    "python.primitives.queues": "Queue ShutDown",
    "python.primitives.semaphores": "BoundedSemaphore Semaphore",
    "python.primitives.threads": "Handle assume choose spawn",
    "python.symbolic": "symbolic_bits symbolic_bool symbolic_int",
}
LATE = {  # most checks do without
    "estimating": "Forecast estimate",
    "linearizability": "linearizable scenario",
}

if not TYPE_CHECKING:  # type checkers would take it that there is any name

    def __getattr__(name: str) -> Any:
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        importlib.import_module("mazurka.api")
        if name not in globals():
            find_names(LATE)
        return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class Package(ModuleType):
    """This module. When one of its submodules was imported, Python makes it an attribute here."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "explore" and isinstance(value, ModuleType):
            return  # that is the name of a function, too, which users want
        super().__setattr__(name, value)
        if name == "api":
            find_names(HOMES)  # now, for nothing must be imported while a program is explored


def find_names(homes: dict[str, str]) -> None:
    for module, names in homes.items():
        home = importlib.import_module(f"mazurka.{module}")
        globals().update({name: getattr(home, name) for name in names.split()})


sys.modules[__name__].__class__ = Package

"""All that one check knows, and the one reference of the process to the check that runs now.

Rewritten code, the patched standard library and the primitives have nobody to ask but the process:
they find what they need in `RUNNING.check`. Everything else is given what it needs.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:  # the parts import this module: here their types are only named
    from mazurka.engine.calls import Call
    from mazurka.python.library.running_loops import EventLoops
    from mazurka.python.library.steering import Models
    from mazurka.python.library.whole_process import WholeProcess
    from mazurka.python.loops.rounds import LoopSettings
    from mazurka.python.memory.attributes import ChangeableNames, StandardLibrary
    from mazurka.python.memory.calls import Calls
    from mazurka.python.memory.identities import Objects
    from mazurka.python.memory.older_objects import Heap
    from mazurka.python.primitives.locks import RLock
    from mazurka.python.rewriting.instrument import Instrumentation, KeptCode
    from mazurka.python.runtime.runtime import Runtime
    from mazurka.python.symbolic.path import PathCondition


class Types:
    """What was found out about types: it does not change, and is looked up often."""

    def __init__(self) -> None:
        self.shapes: dict[type, int] = {}  # what kinds of containers their instances are
        self.slots: dict[type, tuple[str, ...]] = {}
        self.memory: dict[type, bool] = {}  # whether instances have something that may change
        self.models: dict[type, bool] = {}  # whether instances are models of something
        self.own: dict[type, dict[str, bool]] = {}  # whether a class has its own of a method


class Check:
    """All that one check knows; made when it begins, dropped when it ends (see new_check.py)."""

    runtime: "Runtime"
    loop_settings: "LoopSettings"  # what is done about loops
    objects: "Objects"  # the program's own
    types: Types
    changeable: "ChangeableNames"  # attributes and globals
    standard: "StandardLibrary"  # what has models in the standard library
    calls: "Calls"
    code: "Instrumentation | None"  # if ordinary code is rewritten
    models: "Models"  # of objects that were not made in the running execution
    event_loops: "EventLoops"
    process: "WholeProcess"  # as it was when the running search began
    changes_process: bool  # whether executions do
    heap: "Heap"
    blocks_lock: "RLock"  # gives atomic blocks an order, where accesses are no steps
    path: "PathCondition | None"  # if there are symbolic values
    history: "list[Call]"  # of a scenario, in the running execution


class Running:
    """What there is one of in a process."""

    check: Check  # the one that runs now; or one in which nothing ever runs,
    idle: Check  # which is this
    kept: "KeptCode"  # code that earlier checks have rewritten

    def __init__(self) -> None:
        self.executions = 0  # so many have begun
        self.made_outside = 0  # so many objects were made outside executions
        # Whoever runs checks (see api.py). The last one counts: a test runner may be under test.
        self.runners: list[Any] = []
        # Puts back what they have given to the program, before each execution.
        self.put_back: Callable[[], object] | None = None
        self.undo_patches: Callable[[], object] | None = None  # the same for patches
        # Variables that hold clocks, and how many references there were to these (kept_clocks.py).
        self.kept_clocks: list[Any] = []
        self.clock_references: list[int] = []
        # How many objects checks have left since all were looked through, and there were then.
        self.objects_left = 0
        self.objects_known = 0
        # What does not let itself be unwound: collecting it would resume its endless clean-up.
        self.abandoned: list[Any] = []


RUNNING: Final = Running()

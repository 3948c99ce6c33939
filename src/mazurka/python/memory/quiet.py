"""Code of the user's that runs in the midst of a step: the `__hash__` and `__eq__` of keys.

A dict or set calls them before it does what it was asked to, and the whole must stay one step. So
what they read is no step, as long as nobody changes it: that is so for keys that are worth their
name. If somebody does, the result says that it was not seen.
"""

from collections.abc import Callable, Iterable
from types import FunctionType
from typing import Any

from mazurka.engine.event import Event
from mazurka.engine.operation import Footprint
from mazurka.python.check import RUNNING
from mazurka.python.memory.shapes import ATOMS, NO_CONTAINER, plain_items, shape_of
from mazurka.python.runtime.race_detector import RaceDetector
from mazurka.python.runtime.thread import Cell


class QuietAccesses(RaceDetector):
    """Takes note of the accesses that are no steps."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[Cell] = []

    def accessed(self, thread: int, cell: Cell, accessed: Footprint, position: int) -> None:
        self.cells.append(cell)

    def stepped(self, event: Event) -> None:
        pass


def is_coded(key: Any) -> bool:
    """Whether the class of a key says in Python what is equal to it."""
    kind = type(key)
    if kind in ATOMS:
        return False
    if kind is tuple or kind is frozenset:
        return any(is_coded(part) for part in key)
    return type(kind.__hash__) is FunctionType or type(kind.__eq__) is FunctionType


def are_coded(arguments: Iterable[Any]) -> bool:
    """Whether there are such keys among the arguments of a method, or in containers there."""
    for argument in arguments:
        is_container = shape_of(type(argument)) != NO_CONTAINER
        if is_container and any(is_coded(item) for item in plain_items(argument)):
            return True
        if is_coded(argument):
            return True
    return False


def at_once(function: Callable[[Any, Any], Any], container: Any, key: Any) -> Any:
    """Do something with a key as part of the step which was announced last."""
    return quietly(function, container, key) if is_coded(key) else function(container, key)


def quietly(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call something that is part of the step which was announced last."""
    check = RUNNING.check
    runtime = check.runtime
    if runtime.race_detector is not None:
        return function(*arguments)
    accesses = QuietAccesses()
    runtime.race_detector = accesses
    try:
        return function(*arguments)
    finally:
        runtime.race_detector = None
        for cell in accesses.cells:
            check.objects.rely_on(cell)

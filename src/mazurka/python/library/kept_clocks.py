"""Clocks that modules have imported by name, and that functions close over.

Rewritten code gets the virtual clock whatever it calls (see `callee` in memory/calls.py). Other
code calls what it has: the variables that hold a clock of C get the virtual one while a check runs.
Those are the globals of modules and of generated code, and variables of closures: the factories of
dataclasses are among these.
"""

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from types import BuiltinFunctionType, CellType
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.clock import CLOCKS, OF_CLASSES


class Variable:
    """One that holds a clock."""

    def __init__(self, holder: Any, name: str, original: Any, virtual: Any) -> None:
        self.holder = holder  # a cell, or a namespace,
        self.name = name  # and the name in it
        self.original = original
        self.virtual = virtual

    def exchange(self, expected: object, value: object) -> None:
        """Give it a value, unless it has another one by now than is expected."""
        if isinstance(self.holder, CellType):
            if contents_of(self.holder) is expected:
                self.holder.cell_contents = value
        elif self.holder.get(self.name) is expected:
            self.holder[self.name] = value


@contextmanager
def virtual_clocks_everywhere() -> Iterator[None]:
    """While the body runs, whoever has kept a clock has a virtual one."""
    variables = all_variables()
    for variable in variables:
        variable.exchange(variable.original, variable.virtual)
    try:
        yield
    finally:
        for variable in variables:
            variable.exchange(variable.virtual, variable.original)


def all_variables() -> list[Variable]:
    """They are looked for among all objects, which takes time: only if there may be new ones."""
    if RUNNING.clock_references != references():
        RUNNING.kept_clocks = list(variables_with(virtual_clocks()))
        RUNNING.clock_references = references()
    return RUNNING.kept_clocks


def references() -> list[int]:
    """How many there are to each clock."""
    return [sys.getrefcount(original) for original, _ in CLOCKS] + [sys.getrefcount(datetime)]


def virtual_clocks() -> dict[int, tuple[Any, Any]]:
    """All clocks that somebody may have kept, by identity, each with the virtual one."""
    found = {id(original): (original, virtual) for original, virtual in CLOCKS}
    for method in gc.get_referrers(datetime):
        if type(method) is BuiltinFunctionType and method.__self__ is datetime:
            virtual = OF_CLASSES.get((datetime, method.__name__))
            if virtual is not None:
                found[id(method)] = method, partial(virtual, datetime)
    return found


def variables_with(clocks: dict[int, tuple[Any, Any]]) -> Iterator[Variable]:
    originals = [original for original, _ in clocks.values()]
    own = {id(cell) for _, virtual in CLOCKS for cell in virtual.__closure__ or ()}
    for holder in gc.get_referrers(*originals):
        if type(holder) is CellType:
            clock = clocks.get(id(contents_of(holder)))
            if clock is not None and id(holder) not in own:
                yield Variable(holder, "", *clock)
        elif type(holder) is dict and is_namespace(holder):
            for name, value in list(holder.items()):
                if id(value) in clocks:
                    yield Variable(holder, name, *clocks[id(value)])


def is_namespace(holder: dict[Any, Any]) -> bool:
    """Whether these are the globals of somebody's code; but not ours, nor those of `time`."""
    name = str(holder.get("__name__"))
    return "__builtins__" in holder and not name.startswith("mazurka.")


def contents_of(cell: CellType) -> object:
    try:
        found: object = cell.cell_contents
    except ValueError:  # it is empty
        return None
    return found

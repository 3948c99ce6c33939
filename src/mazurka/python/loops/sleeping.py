"""What is there for the sake of sleeping alone, while a program runs: see sleeping_variables.py."""

import queue
from types import ModuleType
from typing import Final

from mazurka.python.check import RUNNING
from mazurka.python.runtime.standard_thread import own_state
from mazurka.python.runtime.thread import Thread
from mazurka.python.source import variables_of


def are_standard(paths: tuple[str, ...]) -> bool:
    """Whether functions that the running code mentions are what they seem to be."""
    return all(is_standard(path) for path in paths)


def is_standard(path: str) -> bool:
    standard = RUNNING.check.standard
    first, _, name = path.partition(".")
    found = variables_of((first,)).get(first)
    if path == "min" or path == "max":
        return found is None  # no variable hides it
    if not name:
        return is_one_of(found, standard.functions["time.sleep"])
    if type(found) is not ModuleType:
        return False
    return is_one_of(vars(found).get(name), standard.functions.get(f"{found.__name__}.{name}", ()))


def is_standard_exception(path: str) -> bool:
    """Whether an exception that the running code catches is what it seems to be."""
    first, _, name = path.partition(".")
    found = variables_of((first,)).get(first)
    if name:
        return found is queue
    return found is (vars(queue).get(path) if path in ("Empty", "Full") else None)


def is_one_of(thing: object, others: tuple[object, ...]) -> bool:
    return any(thing is other for other in others)


def are_counters(values: list[object]) -> bool:
    """Whether variables are numbers with which the arithmetic of faint ones does not fail."""
    return all(type(value) in (int, float, bool) and 0 <= value <= MOST for value in values)  # type: ignore[operator]


MOST: Final = 1e9


class Drawing:
    """A thread that is about to draw a random number."""

    def __init__(self, thread: Thread) -> None:
        self.changes = thread.changes
        self.draws = own_state().draws
        generator = own_state().random
        self.state = None if generator is None else generator.getstate()


# What rewritten code calls


def drawing() -> Drawing | None:
    runtime = RUNNING.check.runtime
    return None if runtime.is_elsewhere() or runtime.current is None else Drawing(runtime.current)


def drawn(drawing: Drawing | None, paths: tuple[str, ...], number: object) -> object:
    """A random number that nothing depends on but how long a thread sleeps: it need not show that
    it was drawn."""
    thread = RUNNING.check.runtime.current
    if thread is None or drawing is None or not are_standard(paths):
        return number
    state = own_state()
    if thread.changes - drawing.changes == state.draws - drawing.draws:
        thread.changes = drawing.changes
        if drawing.state is None:
            state.random = None
        elif state.random is not None:
            state.random.setstate(drawing.state)
    return number


def can_sleep(*values: object) -> bool:
    return are_counters(list(values))

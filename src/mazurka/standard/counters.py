"""`itertools.count`, from which threads take numbers."""

import ast
import itertools
from typing import Any

from mazurka.core.operation import FETCH_ADD
from mazurka.program.runtime import RUNTIME, SharedObject

REAL_COUNT: Any = itertools.count


class Count(SharedObject):
    """The model of a count: taking a number is one step."""

    def __init__(self, start: object, step: object, name: str | None) -> None:
        super().__init__(start, name)
        self.step = step

    def __iter__(self) -> "Count":
        return self

    def __next__(self) -> object:
        return RUNTIME.perform(FETCH_ADD, self, self.step, None)


def count_from(real: Any, name: str | None) -> Any:
    """The model of a count, which shows its next number to nobody but `repr`; the count itself if
    its numbers are of a class that cannot be read from there."""
    try:
        shown = ast.literal_eval(repr(real).removeprefix("count"))
    except ValueError:
        return real
    start, step = shown if isinstance(shown, tuple) else (shown, 1)
    return Count(start, step, name)

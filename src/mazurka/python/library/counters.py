"""`itertools.count`, from which threads take numbers."""

import ast
import itertools
from typing import Any

from mazurka.python.primitives.counters import Count

REAL_COUNT: Any = itertools.count


def count_from(real: Any, name: str | None) -> Any:
    """The model of a count, which shows its next number to nobody but `repr`; the count itself if
    its numbers are of a class that cannot be read from there."""
    try:
        shown = ast.literal_eval(repr(real).removeprefix("count"))
    except ValueError:
        return real
    start, step = shown if isinstance(shown, tuple) else (shown, 1)
    return Count(start, step, name)

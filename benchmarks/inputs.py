"""The inputs of the concolic paper's programs: symbolic, or each of a few values in turn."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mazurka

VALUES = range(3)  # what the paper enumerates


class Inputs:
    are_enumerated = False


@contextmanager
def enumerated_inputs() -> Iterator[None]:
    """Let programs be explored with every value of their inputs, as if nothing were symbolic."""
    Inputs.are_enumerated = True
    try:
        yield
    finally:
        Inputs.are_enumerated = False


def an_input(lo: int | None = None, hi: int | None = None) -> Any:
    if Inputs.are_enumerated:
        bounded = [value for value in VALUES if (lo or 0) <= value]
        return mazurka.choose([value for value in bounded if hi is None or value <= hi])
    return mazurka.symbolic_int(lo=lo, hi=hi)

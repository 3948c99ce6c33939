"""Searching with bounds on preemptions, one after the other."""

import itertools
import time
from collections.abc import Callable, Iterable

from mazurka.engine.errors import MazurkaError
from mazurka.engine.result import Result
from mazurka.engine.task import Task

Found = tuple[Result, bool, list[Task]]  # what was found, whether that is all, and what is left


def search_with_bounds(
    bounds: Iterable[int],
    time_limit: float | None,
    search_by: Callable[[str, int, float | None], Found],
) -> Found:
    """Search with one bound on preemptions after the other, until there is a failure or nothing is
    left out. If a limit ends that, the last bound that was searched to its end counts."""
    started = time.monotonic()
    time_left = time_limit
    done: Result | None = None
    for bound in bounds:
        result, everything, left = search_by("trust", bound, time_left)
        if done is not None and not everything and not result.failures:
            done.bound += f"; with {bound}, it {result.reason}"
            return done, True, []
        note_bound(result, bound)
        if result.failures or not everything or not result.cut:
            return result, everything, left
        done = result
        if time_limit is not None:
            time_left = max(time_limit - (time.monotonic() - started), 0.001)
    assert done is not None
    return done, True, []


def note_bound(result: Result, bound: int) -> None:
    """Say what has bounded a search, if executions were left out for that."""
    preemptions = f"at most {bound} preemption{'' if bound == 1 else 's'}"
    if result.cut and preemptions not in result.bound:
        result.bound = f"{result.bound}, {preemptions}" if result.bound else preemptions


def bounds_of(preemptions: int | str | None) -> Iterable[int] | None:
    """The bounds to search with: 2 is that one, "2.." is 2 and upwards."""
    if preemptions is None:
        return None
    text = str(preemptions)
    if not isinstance(preemptions, bool):
        if text.isdecimal():
            return [int(text)]
        if text.endswith("..") and text[:-2].isdecimal():
            return itertools.count(int(text[:-2]))
    raise MazurkaError(
        f"preemptions must be a whole number, at least 0, or one with two dots like '0..': "
        f"{preemptions!r} is neither"
    )

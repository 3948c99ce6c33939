"""Vector clocks: for every thread, how many of its events are known."""

from typing import Final

NO_CLOCK: Final[list[int]] = []


def join(clock: list[int], other: list[int]) -> None:
    """Let a clock know what another one knows."""
    while len(clock) < len(other):
        clock.append(0)
    for thread in range(len(other)):
        if other[thread] > clock[thread]:
            clock[thread] = other[thread]


def joined(clock: list[int], other: list[int], thread: int, index: int) -> list[int]:
    """A clock that knows what two know, and the first `index` events of a thread."""
    if len(other) > len(clock):
        clock, other = other, clock
    result = clock.copy()
    for place in range(len(other)):
        if other[place] > result[place]:
            result[place] = other[place]
    while len(result) <= thread:
        result.append(0)
    if index > result[thread]:
        result[thread] = index
    return result

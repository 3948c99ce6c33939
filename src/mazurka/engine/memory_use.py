"""How much memory a search took, and how often Python looks for garbage in it."""

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager


def peak_memory_mb() -> float | None:
    """The most memory that this process has had, so far; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def memory_mb() -> float:
    """The memory that this process has now; where the system does not say, the most it has had."""
    try:
        with open("/proc/self/statm", "rb") as sizes:
            return int(sizes.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    except OSError:
        return peak_memory_mb() or 0.0


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the garbage collector run less often: a search keeps nearly all that it makes, and Python
    would look through it again and again."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)

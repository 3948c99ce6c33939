"""How much memory a search took."""

import sys


def peak_memory_mb() -> float | None:
    """The most memory that this process has had, so far; None where the system does not say."""
    if sys.platform == "win32":
        return None
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    # Linux counts kilobytes, macOS bytes.
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10

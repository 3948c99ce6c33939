"""Numbers that are not known exactly, and times, in few words."""

import math

from mazurka.engine.status import Estimate
from mazurka.report.text import plural

UNITS = ((365 * 86400.0, "years"), (86400.0, "days"), (3600.0, "h"), (60.0, "min"))
LARGE = 1e15


def rounded(number: float) -> str:
    """With two digits that count: more are not known."""
    if number < 100:
        return f"{number:.0f}"
    if number >= LARGE:
        return f"10^{math.log10(number):.0f}"
    unit = 10 ** (math.floor(math.log10(number)) - 1)
    return f"{round(number / unit) * unit:,}"


def duration(seconds: float) -> str:
    for unit, name in UNITS:
        if seconds >= 2 * unit:
            return f"{rounded(seconds / unit)} {name}"
    return f"{seconds:.0f} s" if seconds >= 2 else f"{seconds:.1f} s"


def executions_text(estimate: Estimate) -> str:
    """How many executions, and how sure that is."""
    if estimate.is_exact:
        return plural(int(estimate.executions), "execution")
    return (
        f"about {rounded(estimate.executions)} executions "
        f"({rounded(estimate.low)} to {rounded(estimate.high)})"
    )


def duration_text(estimate: Estimate) -> str:
    shown = [duration(seconds) for seconds in estimate.numbers]
    if shown[1] == shown[2]:
        return shown[0]
    return f"about {shown[0]} ({shown[1]} to {shown[2]})"

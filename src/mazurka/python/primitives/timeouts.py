"""Waits with a timeout.

Time is virtual: a wait with a timeout is one step that is always enabled. Taken when the wait can
succeed, it does; taken before, it has timed out, and so much time has passed for its thread. The
search explores both. Where timeouts come last, it waits, until nobody can go on.
"""

from mazurka.python.check import RUNNING


def in_time(succeeded: bool, timeout: float | None) -> bool:
    """Whether a wait succeeded; if it did not, its time has passed."""
    runtime = RUNNING.check.runtime
    thread = runtime.current
    if not succeeded and timeout is not None and timeout > 0 and thread is not None:
        runtime.let_time_pass(thread, timeout)
        if runtime.journal is not None:
            runtime.journal.timeouts.append(runtime.position - 1)
    return succeeded

"""Which waits of a failing execution timed out though other threads could go on."""

from typing import Final

from mazurka.engine.event import Event, copy_of
from mazurka.engine.operation import JOIN, may_block
from mazurka.engine.order import HappensBefore, is_or_happens_before
from mazurka.python.operations import PythonValues

EARLY: Final = "a wait timed out early, while others could go on: with timeouts='last' none does"


def times_out_early(events: list[Event], timeouts: list[int]) -> bool:
    """Whether some of the steps at these positions, in which waits timed out, had to come before
    what another thread could do: in every execution of the trace."""
    if not timeouts:
        return False
    order = HappensBefore(PythonValues())
    for event in events:
        order.extend(copy_of(event))
    return any(must_come_before_others(order, order.events[position]) for position in timeouts)


def must_come_before_others(order: HappensBefore, timeout: Event) -> bool:
    for event in order.events[timeout.position + 1 :]:
        previous = event.previous
        if (
            event.thread != timeout.thread
            and is_or_happens_before(timeout, event)
            and not (previous is not None and is_or_happens_before(timeout, previous))
            and (event.location == timeout.location or not waits(event.kind))
        ):
            return True
    return False


def waits(kind: int) -> bool:
    return kind == JOIN or may_block(kind)

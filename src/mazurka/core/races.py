"""Races, and the sequences that reverse them.

A reversal of a race between an earlier event e and a later e' is a sequence that branches off just
before e and performs e' without e: what does not happen after e, then e' (Optimal-DPOR-Await,
Algorithm 1, lines 3-22). Sequences are lists of events, *last event first*: the search removes
events from their front, and a Python list is quick at its end.
"""

from mazurka.core.event import Event, dependent
from mazurka.core.happens_before import HappensBefore, happens_before
from mazurka.core.operation import (
    ADD,
    BLOCKED,
    READ,
    WRITE,
    depends_on_value,
    may_block,
    outcome,
)


class Reversal:
    def __init__(self, position: int, backwards: list[Event]) -> None:
        self.position = position  # of e; the sequence branches off just before it
        self.backwards = backwards  # the sequence, last event first


def reversals(order: HappensBefore, event: Event, end: int) -> list[Reversal]:
    """How the races can be reversed in which `event` is the later one.

    Only the events before position `end` count as context.
    """
    if may_block(event.kind):
        return blocking_reversals(order, event, event.previous_access, event.previous, end)
    found: list[Reversal] = []
    for earlier in event.races:
        backwards = not_after(order, earlier, end)
        backwards.insert(0, moved_before(event, earlier, backwards))
        found.append(Reversal(earlier.position, backwards))
    return found


def waiting_reversals(order: HappensBefore, waiting: Event) -> list[Reversal]:
    """How an operation that is still blocked at the end of an execution could have gone through."""
    location = waiting.location
    if location < 0 or location >= len(order.last_access):
        return []
    last = order.last_of_thread[waiting.thread] if (
        waiting.thread < len(order.last_of_thread)
    ) else None
    if last is None:
        last = order.spawn_of_thread[waiting.thread]
    return blocking_reversals(order, waiting, order.last_access[location], last, len(order.events))


def not_after(order: HappensBefore, event: Event, end: int) -> list[Event]:
    """notdep(e, E): the events after `event` that do not happen after it, last event first."""
    events = order.events
    thread = event.thread
    index = event.index
    found: list[Event] = []
    position = end - 1
    while position > event.position:
        other = events[position]
        if other.thread != thread:
            clock = other.clock
            if thread >= len(clock) or clock[thread] < index:
                found.append(other)
        position -= 1
    return found


def moved_before(event: Event, earlier: Event, context: list[Event]) -> Event:
    """The event as it will be when it comes without `earlier`: a compare-exchange that failed
    may succeed there, and the other way round."""
    if earlier.mode == READ or not depends_on_value(event.kind):
        return event
    value = value_after(earlier.before, event.location, context)
    mode = outcome(event.kind, value, event.first, event.second)
    return event if mode == event.mode else with_mode(event, mode)


def with_mode(event: Event, mode: int) -> Event:
    return Event(event.thread, event.kind, event.location, mode, event.first, event.second)


def value_after(value: object, location: int, backwards: list[Event]) -> object:
    """The value of a location after a sequence, from its value before."""
    place = len(backwards) - 1
    while place >= 0:
        event = backwards[place]
        if event.location == location:
            if event.mode == WRITE:
                value = event.after
            elif event.mode == ADD:
                value = value + event.first  # type: ignore[operator]
        place -= 1
    return value


def blocking_reversals(
    order: HappensBefore, event: Event, latest: Event | None, previous: Event | None, end: int
) -> list[Reversal]:
    """Reversals for an operation that may block (lines 7-22), whose location was last accessed by
    `latest` and whose thread came from `previous`.

    The paper goes backwards through all events that may enable or disable e', and stops once e' was
    enabled before one that conflicts with all of those. Here every event that e' depends on is
    met, reads too (an exchange-await is in a race with a plain load); and where the paper stops,
    the events are left out that happen before one at which e' was enabled: their turn comes when
    that reversal is explored.
    """
    found: list[Reversal] = []
    reversed_at: list[Event] = []
    earlier = latest
    while earlier is not None:
        fixed = previous is not None and (
            earlier is previous or happens_before_or_is(earlier, previous)
        )
        if not fixed and dependent(earlier, event) and not before_any(earlier, reversed_at):
            sequences = enabling_sequences(order, event, earlier, previous, end)
            for backwards in sequences:
                backwards.insert(0, event)
                found.append(Reversal(earlier.position, backwards))
            if sequences:
                reversed_at.append(earlier)
                if earlier.mode == WRITE:
                    break
        if fixed and earlier.mode == WRITE:
            break
        earlier = earlier.previous_access
    return found


def happens_before_or_is(event: Event, other: Event) -> bool:
    return event.position <= other.position and happens_before(event, other)


def before_any(event: Event, others: list[Event]) -> bool:
    return any(happens_before(event, other) for other in others)


def enabling_sequences(
    order: HappensBefore, event: Event, earlier: Event, previous: Event | None, end: int
) -> list[list[Event]]:
    """The largest parts of notdep(earlier) after which `event` is enabled (lines 17-18).

    An access to the location that is in notdep(earlier) does not depend on `earlier`, so it is an
    add beside an add, or a read: only adds must be left out, each with what happens after it.
    """
    found: list[list[Event]] = []
    seen: set[tuple[int, ...]] = set()
    candidates = [not_after(order, earlier, end)]
    while candidates:
        candidate = candidates.pop()
        value = value_after(earlier.before, event.location, candidate)
        if outcome(event.kind, value, event.first, event.second) != BLOCKED:
            found.append(candidate)
            continue
        adds = [
            other for other in candidate if other.mode == ADD and other.location == event.location
        ]
        if not adds or not can_be_enabled(event, earlier.before, adds):
            continue
        for add in adds:
            if previous is not None and happens_before_or_is(add, previous):
                continue
            smaller = [other for other in candidate if not happens_before_or_is(add, other)]
            key = tuple([other.position for other in smaller])
            if key not in seen:
                seen.add(key)
                candidates.append(smaller)
    return found


def can_be_enabled(event: Event, value: object, adds: list[Event]) -> bool:
    """Whether some selection of the adds makes a value that enables the event: few distinct sums
    stand for many selections, so this spares trying all of those in vain."""
    sums: list[object] = [value]
    for add in adds:
        for start in sums.copy():
            total = start + add.first  # type: ignore[operator]
            if total not in sums:
                sums.append(total)
    return any(
        outcome(event.kind, total, event.first, event.second) != BLOCKED for total in sums
    )

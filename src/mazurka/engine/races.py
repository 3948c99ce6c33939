"""Races, and the sequences that reverse them.

A reversal of a race between an earlier event e and a later e' is a sequence v that branches off
just before e and performs e' without e: what does not happen after e, then e' (Optimal-DPOR-Await,
Algorithm 1, lines 3-22). Most reversals turn out to be redundant, and few steps tell that, so a
sequence is only written down when it is wanted.
"""

from bisect import bisect_right
from typing import Final

from mazurka.engine.event import Event, conflicts, copy_of, dependent
from mazurka.engine.lanes import position_of
from mazurka.engine.operation import (
    ADD,
    AWAIT_PART,
    CHOOSE,
    DISABLED,
    READ,
    WRITE,
    Footprint,
    has_parts,
    is_steady,
    may_block,
)
from mazurka.engine.order import HappensBefore, happens_before, is_or_happens_before
from mazurka.engine.values import Values

# How a step relates to a sequence.
NOT_FIRST: Final = 0  # it cannot come first
FIRST: Final = 1  # it is in the sequence, and could as well come first
BESIDE: Final = 2  # it is not in the sequence, and independent of all of it

NO_ADDS: Final[list[Event]] = []


class Reversal:
    """The sequence v = notdep(e, E).e', for the part of E before position `end`, less the adds that
    are left out, with all that happens after those."""

    def __init__(self, earlier: Event, event: Event, left_out: list[Event], end: int) -> None:
        self.position = earlier.position  # the sequence branches off just before it
        self.earlier = earlier
        self.event = event  # e' as it will be
        self.left_out = left_out
        self.end = end

    def includes(self, event: Event) -> bool:
        """Whether an event after `earlier` is in the sequence (e' itself apart)."""
        return event.position < self.end and self.takes(event)

    def takes(self, event: Event) -> bool:
        """Whether an event after `earlier` is in the sequence, as soon as that comes so far."""
        if happens_before(self.earlier, event):
            return False
        return not self.left_out or not after_any(event, self.left_out)

    def up_to(self, end: int) -> "Reversal":
        """The reversal of the same race, with more of the execution as context."""
        return Reversal(self.earlier, self.event, self.left_out, end)

    def backwards(self, order: HappensBefore) -> list[Event]:
        """The sequence as a list, last event first: it is consumed from its front, and lists are
        quick at their end."""
        sequence = [self.event]
        events = order.events
        earlier = self.earlier
        thread = earlier.thread
        index = earlier.index
        position = self.end - 1
        while position > earlier.position:
            other = events[position]
            if other.thread != thread:
                clock = other.clock
                if (thread >= len(clock) or clock[thread] < index) and (
                    not self.left_out or not after_any(other, self.left_out)
                ):
                    sequence.append(other)
            position -= 1
        return sequence

    def relation(self, order: HappensBefore, step: Event) -> int:
        """How a step that is possible just before `earlier` relates to the sequence.

        FIRST and BESIDE together are the weak initials (Definition 3 of the Awaiting paper).
        """
        own = self.place_of(order, step)
        if own == -1:
            return NOT_FIRST
        conflict = self.first_conflict(order, step)
        if own < 0:
            return BESIDE if conflict < 0 else NOT_FIRST
        return FIRST if conflict < 0 or own < conflict else NOT_FIRST

    def place_of(self, order: HappensBefore, step: Event) -> int:
        """The position of a step in the sequence; -2 if it is not there, -1 if its thread chooses
        another value there."""
        siblings = order.of_thread[step.thread]
        if step.index <= len(siblings):
            own = siblings[step.index - 1]
            if own.position > self.position and self.includes(own):
                return own.position if own.choice == step.choice else -1
        if self.event.thread == step.thread and self.event.index == step.index:
            return self.end if self.event.choice == step.choice else -1
        return -2

    def first_conflict(self, order: HappensBefore, step: Event) -> int:
        """The position of the first event in the sequence of another thread that depends on the
        step; -1 if there is none."""
        found = -1
        if self.event.thread != step.thread and dependent(self.event, step):
            found = self.end
        if step.location < 0:
            return found
        other = order.last_access[step.location]
        while other is not None and other.position > self.position:
            if other.thread != step.thread and dependent(other, step) and self.includes(other):
                found = other.position
            other = other.previous_access
        return found


NO_REVERSALS: Final[list[Reversal]] = []


def reversals(order: HappensBefore, event: Event, end: int) -> list[Reversal]:
    """How the races can be reversed in which `event` is the later one.

    Only the events before position `end` count as context.
    """
    if may_block(event.kind):
        return blocking_reversals(order, event, event.previous_access, event.previous, end)
    if not event.races:
        return NO_REVERSALS
    return [
        Reversal(earlier, moved_before(order, event, earlier, end), NO_ADDS, end)
        for earlier in event.races
    ]


def waiting_reversals(order: HappensBefore, waiting: Event) -> list[Reversal]:
    """How an operation that is still blocked at the end of an execution could have gone through."""
    location = waiting.location
    if location < 0 or location >= len(order.last_access):
        return []
    previous = order.stand(waiting)
    return blocking_reversals(
        order, waiting, order.last_access[location], previous, len(order.events)
    )


def moved_before(order: HappensBefore, event: Event, earlier: Event, end: int) -> Event:
    """The event as it will be when it comes without `earlier`: a compare-exchange that failed
    may succeed there, and the other way round."""
    if earlier.mode == READ or is_steady(event.kind):
        return event
    if has_parts(event.kind):
        return with_footprint(event, order.values.footprint_without(event, [earlier]))
    value = order.values.plus(earlier.before, adds_beside(order, earlier, end))
    return with_footprint(event, (order.values.mode(event, value), event.structure, event.part))


def with_footprint(event: Event, footprint: Footprint) -> Event:
    """The same operation, as it accesses its location in another way."""
    mode, structure, part = footprint
    if mode == event.mode and structure == event.structure and part == event.part:
        return event
    moved = copy_of(event)
    moved.mode = mode
    moved.structure = structure
    moved.part = part
    return moved


def chosen_otherwise(event: Event, choice: int) -> Event:
    """The same data choice, with another value."""
    other = Event(event.thread, CHOOSE, -1, event.mode, event.first, event.second)
    other.choice = choice
    other.index = event.index
    other.position = event.position
    return other


def adds_beside(order: HappensBefore, earlier: Event, end: int) -> list[Event]:
    """The later changes of a location that do not happen after an access to it, the latest first.

    They do not depend on it, so there are none unless it is an add, and then they are adds. Once a
    thread knows of it, all that the thread does happens after it.
    """
    lanes = order.lanes[earlier.location]
    if earlier.mode != ADD or lanes is None:
        return NO_ADDS
    found: list[Event] = []
    for adds in lanes.adds():
        place = bisect_right(adds, earlier.position, key=position_of)
        while place < len(adds) and adds[place].position < end:
            if happens_before(earlier, adds[place]):
                break
            found.append(adds[place])
            place += 1
    found.sort(key=position_of, reverse=True)
    return found


def blocking_reversals(
    order: HappensBefore, event: Event, latest: Event | None, previous: Event | None, end: int
) -> list[Reversal]:
    """Reversals for an operation that may block (lines 7-22), whose location was last accessed by
    `latest` and whose thread came from `previous`.

    The paper goes backwards through all events that may enable or disable e', and stops once e' was
    enabled before one that conflicts with all of those. Here every event that e' depends on is
    met, reads too (an exchange-await is in a race with a plain load); and where the paper stops,
    the events are passed over that happen before one without which, alone, e' was enabled: their
    turn comes when that reversal is explored.
    """
    found: list[Reversal] = []
    reversed_at: list[Event] = []
    earlier = latest
    while earlier is not None:
        if previous is not None and is_or_happens_before(earlier, previous):
            if changes_for(earlier, event):
                break  # all that is earlier happens before the thread got here, too
        elif dependent(earlier, event) and not before_any(earlier, reversed_at):
            event = without_change(order.values, event, earlier)
            ways = enabling_reversals(order, event, earlier, previous, end)
            found.extend(ways)
            if ways and ways[0].left_out is NO_ADDS:
                reversed_at.append(earlier)
                if earlier.mode == WRITE:
                    break
        earlier = earlier.previous_access
    return found


def changes_for(earlier: Event, event: Event) -> bool:
    """Whether a write changes what an operation that may block waits for. The earlier ones that do
    so, too, happen before it."""
    return earlier.mode == WRITE and (
        event.kind != AWAIT_PART or conflicts(READ, event.structure, event.part, earlier)
    )


def without_change(values: Values, event: Event, change: Event) -> Event:
    """An operation that may block as it is without the latest change of what it waits for: one on a
    container may access another part of that there."""
    if event.kind != AWAIT_PART or change.mode != WRITE:
        return event
    return with_footprint(event, values.footprint_without(event, [change]))


def before_any(event: Event, others: list[Event]) -> bool:
    return any(happens_before(event, other) for other in others)


def after_any(event: Event, others: list[Event]) -> bool:
    return any(is_or_happens_before(other, event) for other in others)


def enabling_reversals(
    order: HappensBefore, event: Event, earlier: Event, previous: Event | None, end: int
) -> list[Reversal]:
    """The largest parts of notdep(earlier) after which `event` is enabled (lines 17-18): all of it,
    or without some adds, which may have made a value that `event` does not wait for."""
    found: list[Reversal] = []
    values = order.values
    adds = adds_beside(order, earlier, end)
    seen: set[tuple[int, ...]] = set()
    candidates: list[list[Event]] = [NO_ADDS]
    while candidates:
        left_out = candidates.pop()
        kept = [add for add in adds if not after_any(add, left_out)] if left_out else adds
        if is_enabled(values, event, values.plus(earlier.before, kept)):
            found.append(Reversal(earlier, event, left_out, end))
        elif kept and values.some_sum_enables(event, earlier.before, values.sums(kept)):
            for add in kept:
                if previous is not None and is_or_happens_before(add, previous):
                    continue
                smaller = [*left_out, add]
                key = tuple([other.position for other in kept if not after_any(other, smaller)])
                if key not in seen:
                    seen.add(key)
                    candidates.append(smaller)
    return found


def is_enabled(values: Values, event: Event, value: object) -> bool:
    return values.mode(event, value) != DISABLED

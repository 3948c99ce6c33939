"""How the steps of one execution hang together, for reports: what happens right before what, where
values come from, and which steps nobody else can notice."""

from typing import NamedTuple

from mazurka.engine.event import Event, conflicts, copy_of
from mazurka.engine.operation import ADD, JOIN, NONE, READ, WRITE, is_blind
from mazurka.engine.order import HappensBefore
from mazurka.engine.result import Step
from mazurka.engine.values import Values

ACCESSES = {READ: "read", WRITE: "write", ADD: "add"}

# Groups of steps that are of no interest by themselves.
OWN = "own"  # what no other thread touches
CONSTANT = "constant"  # what nobody changes


class Links(NamedTuple):
    reads_from: int  # the position of the event that has left what an event finds; -1: none
    after: list[int]  # the positions of those right before it in happens-before order


def links_of(events: list[Event], values: Values) -> list[Links]:
    """How each event of an execution hangs together with earlier ones. The events themselves are
    left alone: a search may need them as they are."""
    order = HappensBefore(values)
    links: list[Links] = []
    for event in events:
        copy = copied(event)
        before: list[Event] = []
        if copy.kind == JOIN:
            before.append(order.latest_of(copy.choice))
        order.extend(copy)
        if copy.previous is not None:
            before.append(copy.previous)
        before.extend(copy.races)
        links.append(Links(source_of(copy), sorted({other.position for other in before})))
    return links


def copied(event: Event) -> Event:
    copy = copy_of(event)
    copy.index = 0
    copy.before = event.before
    copy.after = event.after
    return copy


def source_of(event: Event) -> int:
    """The position of the latest event that changed what an event looks at; -1 if it looks at
    nothing, or at what was there from the start."""
    if event.location < 0 or event.mode == NONE or is_blind(event.kind):
        return -1
    other = event.previous_change
    while other is not None:
        if conflicts(READ, event.structure, event.part, other):
            return other.position
        other = other.previous_change
    return -1


def last_change(steps: list[Step], events: list[Event], location: int) -> int:
    """Which of the steps of some events was the last to change a location; -1 if none was."""
    for place in range(len(steps) - 1, -1, -1):
        if steps[place].position >= 0:
            event = events[steps[place].position]
            if event.location == location >= 0 and event.mode != READ:
                return place
    return -1


def groups_of(events: list[Event]) -> list[str]:
    """For each event whether it is an access that no other thread can notice, and why."""
    threads: dict[int, set[int]] = {}
    changed: set[int] = set()
    for event in events:
        threads.setdefault(event.location, set()).add(event.thread)
        if event.mode != READ:
            changed.add(event.location)
    return [group_of(event, threads, changed) for event in events]


def group_of(event: Event, threads: dict[int, set[int]], changed: set[int]) -> str:
    if event.location < 0 or event.mode == NONE:
        return ""
    if len(threads[event.location]) == 1:
        return OWN
    return "" if event.location in changed else CONSTANT

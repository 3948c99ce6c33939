"""Execution graphs, and the claims that adds make on them."""

from typing import Final

from mazurka.engine.event import Event, conflicts
from mazurka.engine.order import happens_before


class Claim:
    """An operation that was revisited, until the adds that revisited it had disabled it."""

    def __init__(self, operation: Event, added: int, awaited: list[Event]) -> None:
        self.operation = operation
        self.added = added  # when it was
        self.awaited = awaited


NO_CLAIMS: Final[list[Claim]] = []


class Graph:
    """An execution graph, as a sequence of its events."""

    def __init__(
        self, events: list[Event], added: list[int], settled: list[bool], claims: list[Claim]
    ) -> None:
        self.events = events
        self.added = added  # the addition order: when each event was
        self.settled = settled  # whether a revisit rests on it: then it is never deleted
        self.claims = claims
        self.undeletable: list[int] = []  # where events are that are settled, or not maximal
        self.revisited: Event | None = None  # what is to come next, or at least its thread,
        self.revisited_added = 0  # and its place in the addition order
        self.renewed = -1  # the position of a revisited event that is there, and may revisit others


# Operations that adds have disabled


def all_hold(claims: list[Claim], events: list[Event], added: list[int]) -> bool:
    """Whether each operation was revisited first by what it awaits first: if others have come
    before that since, another graph was to lead here."""
    for claim in claims:
        operation = claim.operation
        own = None
        for event in events:
            if event.thread == operation.thread and event.index == operation.index:
                own = event
        awaited = accesses_before(operation, own, claim.added, events, added)
        for place in range(len(claim.awaited)):
            if not is_same(awaited[place], claim.awaited[place]):
                return False
    return True


def accesses_before(
    operation: Event, own: Event | None, added: int, events: list[Event], all_added: list[int]
) -> list[Event]:
    """The accesses that an operation comes after and depends on, of those added later than
    `added`, in the canonical order. All come before it unless it has happened, as `own`."""
    found: list[Event] = []
    for position in range(len(events)):
        event = events[position]
        if (
            event.location == operation.location
            and all_added[position] > added
            and depends(event, operation)
            and (own is None or comes_before(event, own))
        ):
            found.append(event)
    return in_canonical_order(found)


# The causal order


def in_canonical_order(events: list[Event]) -> list[Event]:
    """Events in an order that depends on nothing but the trace: always the leftmost thread of
    which one can come next."""
    remaining = events.copy()
    ordered: list[Event] = []
    while remaining:
        best: Event | None = None
        for event in remaining:
            is_first = not any(comes_before(other, event) for other in remaining)
            if is_first and (best is None or event.thread < best.thread):
                best = event
        assert best is not None
        remaining.remove(best)
        ordered.append(best)
    return ordered


def comes_before(event: Event, later: Event) -> bool:
    return event.position < later.position and happens_before(event, later)


def depends(one: Event, other: Event) -> bool:
    """Whether two accesses to one location depend on each other."""
    return one.thread != other.thread and conflicts(one.mode, one.structure, one.part, other)


def is_default(event: Event) -> bool:
    """Whether an event is the one that comes about if the program goes on by itself."""
    return event.alternatives == 1 or event.choice == 0


def is_same(one: Event, other: Event) -> bool:
    return one.thread == other.thread and one.index == other.index


def common_prefix(events: list[Event], path: list[Event]) -> int:
    """How many steps of a path the latest run has made."""
    length = 0
    most = min(len(events), len(path))
    while (
        length < most
        and events[length].thread == path[length].thread
        and events[length].choice == path[length].choice
    ):
        length += 1
    return length

"""Revisits: what an event makes of a graph if an earlier one happens after it.

What was added after the revisited event is deleted, but for the causal prefix of the revisiting one
(`kept_part`); that event may do something else after what is kept (`moved_to`).
"""

from typing import Final

from mazurka.engine.clock import join
from mazurka.engine.event import Event, changes_all, copy_of
from mazurka.engine.operation import ADD, AWAIT_PART, DISABLED, READ, has_parts, is_steady
from mazurka.engine.order import include, knows
from mazurka.engine.races import changes_for, is_enabled, without_change
from mazurka.engine.values import Values
from mazurka.explore.trust.graph import (
    Graph,
    all_hold,
    comes_before,
    depends,
    in_canonical_order,
)


class Accesses:
    """The accesses to the location of an event that come before it, in the order of the graph.

    To look at those that are beside a certain one does not mean to look at all: of those after it,
    all happen after it from the next write to the whole location on; those before it were mostly
    added before it, too.
    """

    def __init__(self, accesses: list[Event], added: list[int]) -> None:
        self.events = accesses
        self.latest: list[int] = []  # for each: when the last one up to there was added,
        self.earliest: list[int] = []  # and when the first one from there on was
        most = -1
        for place in range(len(accesses)):
            most = max(most, added[accesses[place].position])
            self.latest.append(most)
        least = most
        for place in range(len(accesses) - 1, -1, -1):
            least = min(least, added[accesses[place].position])
            self.earliest.append(least)
        self.earliest.reverse()

    def first_beside(self, place: int, added: int) -> int:
        """Where those begin that may have been added later than the one at a place, which was added
        then: it, or one before it."""
        while place > 0 and self.latest[place - 1] > added:
            place -= 1
        return place

    def end_beside(self, place: int, added: int) -> int:
        """Where those end that need not happen after the one at a place: all that come then were
        added after it, and do."""
        later = place + 1
        while later < len(self.events):
            if changes_all(self.events[later]) and self.earliest[later] > added:
                return later + 1
            later += 1
        return later


NO_ACCESSES: Final = Accesses([], [])


class Revisit:
    """An event that is new, or did not come about as it is blocked, and one that it may revisit. Or
    it is a choice with another value, and revisits nothing.

    There may be accesses that the event depends on and the revisited one does not: any selection of
    those candidates can be in its prefix, with all that happens before them.
    """

    def __init__(self, graph: Graph, end: int, event: Event, revisited: Event | None) -> None:
        self.graph = graph
        self.end = end  # the graph had so many events before this one
        self.event = event
        self.revisited = revisited
        self.past: list[int] = []  # a clock: what happens before the event in any case
        self.accesses = NO_ACCESSES  # of their location, before the event,
        self.place = 0  # and which of them is the revisited one
        self.candidates: list[Event] = []
        self.selected: list[bool] = []
        self.moved: Event | None = None  # the event as it then is, if that is always the same


def kept_by(revisit: Revisit, revisited: Event) -> list[int]:
    """A clock: what a revisit keeps of the events that were added after the revisited one."""
    kept = revisit.past.copy()
    join(kept, revisited.clock)
    for place in range(len(revisit.selected)):
        if revisit.selected[place]:
            include(kept, revisit.candidates[place])
    return kept


def kept_part(revisit: Revisit, revisited: Event, kept: list[int]) -> Graph:
    """What a revisit leaves of its graph."""
    graph = revisit.graph
    added = graph.added[revisited.position]
    part = Graph([], [], [], [claim for claim in graph.claims if claim.added < added])
    for position in range(revisit.end):
        event = graph.events[position]
        if graph.added[position] < added or knows(kept, event):
            part.events.append(event)
            part.added.append(graph.added[position])
            part.settled.append(graph.settled[position] or graph.added[position] > added)
    return part


def is_last(revisit: Revisit, revisited: Event, moved: Event, kept: list[int]) -> bool:
    """Whether the event, after what is kept, is the one to revisit: the selected accesses are in
    its prefix, and of all that revisited that event it comes last in the canonical order."""
    graph = revisit.graph
    added = graph.added[revisited.position]
    moved.position = revisit.end
    moved.clock = revisit.past.copy()
    awaited: list[Event] = []
    for access in revisit.accesses.events:
        if graph.added[access.position] < added or knows(kept, access):
            if depends(moved, access):
                include(moved.clock, access)
            if graph.added[access.position] > added and depends(access, revisited):
                awaited.append(access)
    for place in range(len(revisit.selected)):
        if revisit.selected[place] and not knows(moved.clock, revisit.candidates[place]):
            return False
    return not awaited or in_canonical_order([*awaited, moved])[-1] is moved


def select_less(revisit: Revisit) -> bool:
    """Go on to the next selection, in which nothing is left out that happens before something
    selected; False after the last one."""
    selected = revisit.selected
    candidates = revisit.candidates
    place = len(selected) - 1
    while place >= 0 and not selected[place]:
        place -= 1
    if place < 0:
        return False
    selected[place] = False
    for later in range(place + 1, len(selected)):
        selected[later] = True
        for earlier in range(later):
            if not selected[earlier] and comes_before(candidates[earlier], candidates[later]):
                selected[later] = False
    return True


def moved_to(values: Values, revisit: Revisit, revisited: Event, kept: list[int]) -> Event | None:
    """The event as it is after what is kept; None if it is blocked there.

    What it finds is what the first of the deleted changes has found: all kept ones on the same part
    happen before that, but for adds beside an add.
    """
    event = revisit.event
    added = revisit.graph.added
    moved = copy_of(event)
    deleted: list[Event] = []
    adds: list[Event] = []
    accesses = revisit.accesses
    begin = accesses.first_beside(revisit.place, added[revisited.position])
    end = len(accesses.events)
    if not has_parts(event.kind):  # the first of the deleted is all that counts
        end = accesses.end_beside(revisit.place, added[revisited.position])
    for place in range(begin, end):
        access = accesses.events[place]
        is_kept = knows(kept, access) or added[access.position] < added[revisited.position]
        if access.mode != READ and not is_kept:
            deleted.append(access)
        elif access.mode == ADD and deleted:
            adds.append(access)
    if not deleted:
        return None if event.mode == DISABLED else moved
    if event.kind == AWAIT_PART:
        return part_awaited(values, moved, event.mode != DISABLED, deleted)
    if has_parts(event.kind):
        changes = deleted[::-1]
        moved.mode, moved.structure, moved.part = values.footprint_without(event, changes)
    elif not is_steady(event.kind):
        moved.mode = values.mode(event, values.plus(deleted[0].before, adds))
        if moved.mode == DISABLED:
            return None
    return moved


def part_awaited(values: Values, event: Event, enabled: bool, deleted: list[Event]) -> Event | None:
    """A read of a container without some changes, if it need not wait there."""
    event.mode = READ
    for change in reversed(deleted):
        if changes_for(change, event):
            enabled = is_enabled(values, event, change.before)
            event = without_change(values, event, change)
    return event if enabled else None


def inner_claims_hold(revisit: Revisit, revisited: Event, after: Graph) -> bool:
    """Whether those claims still hold that a revisit ends."""
    graph = revisit.graph
    added = graph.added[revisited.position]
    inner = [claim for claim in graph.claims if claim.added > added]
    return all_hold(inner, after.events, after.added)

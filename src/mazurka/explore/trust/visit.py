"""TruSt: one execution for each trace, and no state beyond the graphs that are being visited.

As in "Truly Stateless, Optimal Dynamic Partial Order Reduction" and Algorithm 1 of "Reconciling
Preemption Bounding with DPOR", an execution graph grows by the next event of the leftmost thread.
An event that is new may revisit an earlier one, which then happens after it; what was added after
the revisited event is deleted, but for the causal prefix of the new one. Many graphs become the
same by such a revisit: it is made from the one in which all that it deletes was added maximally,
that is, as the program goes on by itself. Here every dependence is a causal edge, not reads-from
alone, so that one rule serves all operations: docs/trust.md has the argument.

A graph is kept as a sequence in which each event comes after its causal prefix. It is realised by
running the program along that sequence; what the run then goes on with is added maximally.
"""

from typing import Final

from mazurka.engine.clock import join
from mazurka.engine.event import NO_EVENTS, Event, conflicts, copy_of
from mazurka.engine.operation import (
    ADD,
    ALL,
    AWAIT_PART,
    CHOOSE,
    DISABLED,
    READ,
    UNKNOWN,
    WRITE,
    has_parts,
    is_steady,
)
from mazurka.engine.order import HappensBefore, happens_before, include, knows
from mazurka.engine.program import COMPLETE, CUT, LEFTMOST, NOBODY, REDUNDANT, Answer
from mazurka.engine.races import changes_for, chosen_otherwise, is_enabled, without_change
from mazurka.engine.search import Explorer, Search
from mazurka.engine.task import Task
from mazurka.engine.values import Values
from mazurka.explore.trust.preemptions import Bound


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
        self.accesses: list[Event] = []  # of their location, before the event
        self.candidates: list[Event] = []
        self.selected: list[bool] = []
        self.moved: Event | None = None  # the event as it then is, if that is always the same


class Trust(Explorer):
    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.request.policy = LEFTMOST
        self.order = HappensBefore(self.program.values)
        self.graphs: list[Graph] = []  # to be visited when nothing is left to be revisited
        self.revisits: list[Revisit] = []  # that may still be made
        self.graph = Graph([], [], [], NO_CLAIMS)  # that is being visited
        self.bounded = -1  # how many of its events the bound knows; -1: it was not asked yet
        self.is_cut = False  # whether it is left out
        self.bound: Bound | None = None
        if search.preemptions >= 0:
            self.bound = Bound(self.program, self.order, search.preemptions)
            self.request.watcher = self
            self.request.watches_steps = True

    def explore(self) -> bool:
        """Visit the empty graph, or those of the tasks, and all that revisits make of them; False
        when the search was ended before."""
        if not self.graphs:
            self.graphs.append(Graph([], [], [], NO_CLAIMS))
        graph = self.next_graph()
        while graph is not None:
            if not self.search.may_run():
                self.graphs.append(graph)
                return False
            length = len(graph.events)
            answer = self.run(graph)
            if not all_hold(graph.claims, graph.events, graph.added):
                answer.status = REDUNDANT
            going_on = self.count(answer)
            if not self.search.is_broken:
                self.find_revisits(graph, length)
            if not going_on:
                return False
            graph = self.next_graph()
        return True

    # Tasks: a graph that was not visited yet

    def take_up(self, task: Task) -> None:
        steps = self.program.path_of(task.steps)
        for step, mode in zip(steps, task.numbers("modes"), strict=True):
            step.mode = mode
        settled = [settled != 0 for settled in task.numbers("settled")]
        claims = [self.claim_from(words.split()) for words in task.names("claims")]
        graph = Graph(steps, task.numbers("added"), settled, claims)
        for words in task.names("revisited"):
            graph.revisited = self.event_named(words)
        graph.revisited_added = task.numbers("revisited_added")[0]
        self.graphs.append(graph)

    def split(self) -> list[Task]:
        """The graphs that were given and not visited, and those that revisits still make."""
        left = [self.task_of(graph) for graph in self.graphs]
        graph = self.next_revisited()
        while graph is not None:
            left.append(self.task_of(graph))
            graph = self.next_revisited()
        return left

    def task_of(self, graph: Graph) -> Task:
        revisited = [] if graph.revisited is None else [self.name_of(graph.revisited)]
        return Task(
            "trust",
            tuple(self.program.steps_of(graph.events)),
            {
                "modes": [event.mode for event in graph.events],
                "added": graph.added,
                "settled": [int(settled) for settled in graph.settled],
                "revisited": revisited,
                "revisited_added": [graph.revisited_added],
                "claims": [self.words_of(claim) for claim in graph.claims],
            },
        )

    def words_of(self, claim: Claim) -> str:
        awaited = [self.name_of(event) for event in claim.awaited]
        return " ".join([self.name_of(claim.operation), str(claim.added), *awaited])

    def claim_from(self, words: list[str]) -> Claim:
        awaited = [self.event_named(name) for name in words[2:]]
        return Claim(self.event_named(words[0]), int(words[1]), awaited)

    def name_of(self, event: Event) -> str:
        """An event by its thread, and which of its events it is."""
        return f"{self.program.thread_name(event.thread)}:{event.index}"

    def event_named(self, name: str) -> Event:
        """An event of which no more is known."""
        thread, index = name.split(":")
        event = self.program.path_of([(thread, "", 0)])[0]
        event.index = int(index)
        return event

    # Growing a graph

    def run(self, graph: Graph) -> Answer:
        """Realise a graph, and add to it maximally as long as there is something to add."""
        path = graph.events
        keep = common_prefix(self.events, path)
        self.graph = graph
        self.bounded = -1
        self.is_cut = False
        self.order.cut(keep)
        del self.events[keep:]
        self.request.path = path[keep:]
        self.request.first = NOBODY if graph.revisited is None else graph.revisited.thread
        answer = self.program.run(self.request)
        self.extend_order()
        events = self.events.copy()
        graph.events = events
        latest = max(graph.added, default=-1)
        for claim in graph.claims:
            claim.operation = met_again(claim.operation, events, answer.waiting)
        if graph.revisited is not None:
            revisited = met_again(graph.revisited, events, answer.waiting)
            add_revisited(graph, len(path), revisited)
        while len(graph.added) < len(events):
            latest += 1
            graph.added.append(latest)
            graph.settled.append(False)
        graph.undeletable = [
            position
            for position in range(len(events))
            if graph.settled[position] or not is_default(events[position])
        ]
        return answer

    def extend_order(self) -> None:
        events = self.events
        for position in range(len(self.order.events), len(events)):
            self.order.extend(events[position])

    def find_revisits(self, graph: Graph, begin: int) -> None:
        """Find what may be revisited by the events from position `begin` on, and by those that did
        not come about as their operations are blocked."""
        order = self.order
        for position in range(begin, len(graph.events)):
            event = graph.events[position]
            if event.location >= 0:
                self.revisit_accesses(graph, position, event, event.previous, event.previous_access)
            for choice in range(1, event.alternatives):
                other = chosen_otherwise(event, choice)
                self.revisits.append(Revisit(graph, position, other, None))
        if self.is_cut:
            return  # others could still go on
        for waiting in self.program.answer.waiting:
            location = waiting.location
            if 0 <= location < len(order.last_access):
                order.know_thread(waiting.thread)
                waiting.index = len(order.of_thread[waiting.thread]) + 1
                waiting.mode = DISABLED
                previous = order.latest_of(waiting.thread)
                latest = order.last_access[location]
                self.revisit_accesses(graph, len(graph.events), waiting, previous, latest)

    def revisit_accesses(
        self, graph: Graph, end: int, event: Event, previous: Event | None, latest: Event | None
    ) -> None:
        """Find the accesses to its location that an event may revisit, of which `latest` is the
        last one; the thread of the event came from `previous`."""
        past: list[int] = []
        if previous is not None:
            include(past, previous)
        accesses: list[Event] = []
        found: list[Event] = []
        while latest is not None:
            accesses.append(latest)
            if knows(past, latest):
                if latest.mode == WRITE and latest.part == ALL:
                    break  # all that is earlier happens before it
            elif not graph.settled[latest.position] and (
                depends(event, latest) or not is_steady(event.kind)
            ):
                found.append(latest)
            latest = latest.previous_access
        if found:
            accesses.reverse()
            found.reverse()
            for revisited in found:
                revisit = Revisit(graph, end, event, revisited)
                revisit.past = past
                revisit.accesses = accesses
                if self.is_possible(revisit, revisited):
                    self.revisits.append(revisit)

    def next_graph(self) -> Graph | None:
        """What is to be visited next; None at the end of the search."""
        graph = self.next_revisited()
        if graph is None and self.graphs:
            graph = self.graphs.pop()
        return graph

    def next_revisited(self) -> Graph | None:
        """What a revisit makes of a graph that was visited; None if there is none left."""
        while self.revisits:
            revisit = self.revisits[-1]
            graph = self.graph_after(revisit)
            if not select_less(revisit):
                self.revisits.pop()
            if graph is not None:
                return graph
        return None

    # Preemption bounding

    def ends_run(self) -> bool:
        """Whether the graph that is being visited is left out (line 5), with the events that were
        added last."""
        bound = self.bound
        assert bound is not None
        self.extend_order()
        events = self.order.events
        if self.bounded < 0:
            self.bounded = len(self.graph.events)
            self.is_cut = not self.begin_bound(bound, events[: self.bounded])
        while self.bounded < len(events) and not self.is_cut:
            self.is_cut = not bound.add(events[self.bounded])
            self.bounded += 1
        return self.is_cut

    def begin_bound(self, bound: Bound, events: list[Event]) -> bool:
        settled: list[int] = []
        for position in range(len(events)):
            if self.graph.settled[position]:
                include(settled, events[position])
        return bound.begin(events, settled)

    def count(self, answer: Answer) -> bool:
        """Count the latest execution; False when the search must end here."""
        bound = self.bound
        if bound is None:
            return self.search.count(answer)
        result = self.search.result
        if answer.status != REDUNDANT:
            self.is_cut = False  # nothing could be added anyway
        elif self.is_cut:
            answer.status = CUT
        waiting = NO_EVENTS if self.is_cut else answer.waiting
        if not bound.takes_more(waiting):
            return self.search.count(answer)
        if answer.failed and self.search.strict_bound:
            answer.failed = False
            answer.status = CUT  # it is left out, though it was run to its end
        if answer.status == COMPLETE:
            result.beyond += 1
        failures = len(result.failures)
        goes_on = self.search.count(answer)
        for failure in result.failures[failures:]:
            needed = bound.fewest(waiting)
            failure.details.append(
                f"preemptions that this takes: {needed}, more than the bound of {bound.most}"
            )
        return goes_on

    # Making a revisit

    def is_possible(self, revisit: Revisit, revisited: Event) -> bool:
        """Find the candidates of a revisit, and select them all; False if it can be made with none
        of its selections."""
        graph = revisit.graph
        event = revisit.event
        added = graph.added[revisited.position]
        kept = kept_by(revisit, revisited)
        revisit.candidates = [
            access
            for access in revisit.accesses
            if graph.added[access.position] > added
            and not knows(kept, access)
            and access is not revisited
            and not comes_before(revisited, access)
            and (depends(event, access) or not is_steady(event.kind))
        ]
        revisit.selected = [True] * len(revisit.candidates)
        kept = kept_by(revisit, revisited)
        if not self.deletes_maximal_only(revisit, revisited, kept):
            return False
        if any(access.mode != READ for access in revisit.candidates):
            return True
        # Values are to be looked at now: later they may be objects of another execution.
        revisit.moved = moved_to(self.program.values, revisit, revisited, kept)
        return revisit.moved is not None and depends(revisit.moved, revisited)

    def graph_after(self, revisit: Revisit) -> Graph | None:
        """What a revisit makes of its graph; None if it must not be made with this selection."""
        graph = revisit.graph
        revisited = revisit.revisited
        event = revisit.event
        latest = max(graph.added) + 1
        if revisited is None:
            return Graph(
                [*graph.events[: revisit.end], event],
                [*graph.added[: revisit.end], latest],
                [*graph.settled[: revisit.end], False],
                graph.claims,
            )
        kept = kept_by(revisit, revisited)
        if not self.deletes_maximal_only(revisit, revisited, kept):
            return None
        moved = (
            copy_of(revisit.moved)
            if revisit.moved is not None
            else moved_to(self.program.values, revisit, revisited, kept)
        )
        if (
            moved is None
            or not depends(moved, revisited)
            or not is_last(revisit, revisited, moved, kept)
        ):
            return None
        after = kept_part(revisit, revisited, kept)
        after.events.append(moved)
        after.added.append(latest)
        after.settled.append(True)
        after.revisited = revisited
        after.revisited_added = graph.added[revisited.position]
        return after if inner_claims_hold(revisit, revisited, after) else None

    def deletes_maximal_only(self, revisit: Revisit, revisited: Event, kept: list[int]) -> bool:
        """The maximality condition."""
        graph = revisit.graph
        added = graph.added[revisited.position]
        for position in graph.undeletable:
            is_deleted = (
                position < revisit.end
                and graph.added[position] > added
                and not knows(kept, graph.events[position])
            )
            if is_deleted and not self.has_to_be(graph, position, kept):
                return False
        return True

    def has_to_be(self, graph: Graph, position: int, kept: list[int]) -> bool:
        """Whether a choice that is not the first one is maximal even so: it is a condition on
        symbolic values, which cannot be true with what was added before and what is kept."""
        choice = graph.events[position]
        if graph.settled[position]:
            return False
        others = [
            other
            for other in graph.events
            if other.kind == CHOOSE
            and (graph.added[other.position] < graph.added[position] or knows(kept, other))
        ]
        return self.program.excludes(others, choice)


def met_again(operation: Event, events: list[Event], waiting: list[Event]) -> Event:
    """An operation of a task, of which only the name is known, as the run has met it."""
    if operation.kind != UNKNOWN:
        return operation
    thread = operation.thread
    for event in events:
        if event.thread == thread and event.index == operation.index:
            return event
    for event in waiting:
        if event.thread == thread:
            met = copy_of(event)
            met.index = operation.index
            return met
    return operation


def add_revisited(graph: Graph, length: int, revisited: Event) -> None:
    """After the `length` events that the run was to begin with, the revisited one comes first, and
    keeps its place in the addition order. If it is disabled, it is as if it had not been added."""
    events = graph.events
    added = graph.revisited_added
    if length < len(events) and events[length].thread == revisited.thread:
        graph.added.append(added)
        graph.settled.append(False)
    elif events[length - 1].mode == ADD:
        awaited = accesses_before(revisited, None, added, events[:length], graph.added)
        graph.claims = [*graph.claims, Claim(revisited, added, awaited)]


# What a revisit makes of events


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
    for access in revisit.accesses:
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
    for access in revisit.accesses:
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


def inner_claims_hold(revisit: Revisit, revisited: Event, after: Graph) -> bool:
    """Whether those claims still hold that a revisit ends."""
    graph = revisit.graph
    added = graph.added[revisited.position]
    inner = [claim for claim in graph.claims if claim.added > added]
    return all_hold(inner, after.events, after.added)


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

"""TruSt for reads-from equivalence: one execution for each way in which reads get their values.

Two executions are equivalent if their events are the same and read from the same writes; in which
order writes come that nobody tells apart (coherence) does not count. So a graph has many
linearisations that are no permutations of independent events, and one must be looked for: this is
what differs from visit.py. On locations that are not free (causality.py) everything is as there.
docs/proofs/trust.md has the argument.
"""

from mazurka.engine.event import Event, copy_of
from mazurka.engine.operation import DISABLED, is_steady
from mazurka.engine.order import include, knows
from mazurka.engine.program import Answer
from mazurka.engine.search import Branch, Search
from mazurka.engine.task import Task
from mazurka.engine.values import Values
from mazurka.explore.trust.causality import Causality, Linearisation, changes, observes, source_of
from mazurka.explore.trust.graph import NO_CLAIMS, Graph, comes_before, is_same
from mazurka.explore.trust.revisits import Revisit, inner_claims_hold, kept_by, kept_part
from mazurka.explore.trust.visit import Trust


class NewSource(Revisit):
    """An event with a source of its own, which may be another one than it was added with; and,
    unless that is all, an event that it revisits: this one then reads from it."""

    def __init__(
        self, graph: Graph, end: int, event: Event, revisited: Event | None, reader: Event | None
    ) -> None:
        super().__init__(graph, end, event, revisited)
        self.reader = reader  # the revisited event as it then is


class ReadsFrom(Trust):
    cannot_split = (
        "whether coherence counts for a location may turn out late, and then all begins anew; "
        "use equivalence='mazurkiewicz'"
    )

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.request.orders_writes = False
        self.causality = Causality(self.program.values)
        self.order = self.causality

    def explore(self) -> bool:
        """Explore the whole program, and again if a location turns out not to be free."""
        everything = super().explore()
        while self.causality.misjudged:
            self.causality.misjudged = False
            self.causality.cut(0)
            self.revisits.clear()
            self.following = None
            self.is_begun = False
            self.graph = Graph([], [], [], NO_CLAIMS)
            self.search.begin_anew()
            everything = super().explore()
        return everything

    def take_up(self, task: Task) -> None:
        raise self.refusal()

    def split(self) -> list[Task]:
        raise self.refusal()

    def below(self, branch: object) -> list[Branch]:
        raise self.refusal()

    def count(self, answer: Answer) -> bool:
        """Count the latest execution, unless a location was misjudged. What a thread waits for, and
        whether it waits for ever, depends on the last write: there coherence counts."""
        for waiting in answer.waiting:
            if waiting.location >= 0:
                self.causality.put_in_order(waiting.location)
        for location in answer.polled:
            self.causality.put_in_order(location)
        return not self.causality.misjudged and super().count(answer)

    # Sources

    def find_revisits(self, graph: Graph, begin: int) -> None:
        if graph.renewed >= 0:
            event = graph.events[graph.renewed]
            accesses = accesses_without(event, graph.events[:begin])
            renewed = reading(self.program.values, event, event.previous_change, event.before)
            self.revisit_readers(graph, begin, renewed, accesses, event.before)
        super().find_revisits(graph, begin)

    def revisit_accesses(
        self, graph: Graph, end: int, event: Event, previous: Event | None, latest: Event | None
    ) -> None:
        if not self.causality.is_free(event.location) or event.mode == DISABLED:
            super().revisit_accesses(graph, end, event, previous, latest)
            return
        accesses = accesses_without(event, graph.events[:end])
        sources: list[Event | None] = [None]
        values = [accesses[0].before if accesses else event.before]
        if observes(event):
            for place in range(len(accesses)):
                if changes(accesses[place]):
                    following = accesses[place + 1] if place + 1 < len(accesses) else event
                    sources.append(accesses[place])
                    values.append(following.before)
        for place in range(len(sources)):
            source = sources[place]
            if not is_hidden(event, source, sources):
                other = reading(self.program.values, event, source, values[place])
                if observes(event) and source is not event.previous_change:
                    self.revisits.append(NewSource(graph, end, other, None, None))
                self.revisit_readers(graph, end, other, accesses, values[place])

    def revisit_readers(
        self, graph: Graph, end: int, event: Event, accesses: list[Event], found: object
    ) -> None:
        """Find what an event may revisit that has found a value."""
        if not changes(event):
            return
        values = self.program.values
        _, written = values.apply(event, found)
        for revisited in accesses:
            if (
                observes(revisited)
                and not graph.settled[revisited.position]
                and not knows(event.clock, revisited)
            ):
                reader = reading(values, revisited, event, written)
                revisit = NewSource(graph, end, event, revisited, reader)
                if self.deletes_maximal_only(revisit, revisited, event.clock):
                    self.revisits.append(revisit)

    # Making a revisit

    def graph_after(self, revisit: Revisit) -> Graph | None:
        if isinstance(revisit, NewSource):
            return self.graph_with_source(revisit)
        after = super().graph_after(revisit)
        revisited = revisit.revisited
        if after is None or revisited is None:
            return after
        kept = kept_by(revisit, revisited)
        return after if self.reads_maximally(revisit, revisited, kept) else None

    def graph_with_source(self, revisit: NewSource) -> Graph | None:
        graph = revisit.graph
        event = revisit.event
        revisited = revisit.revisited
        reader = revisit.reader
        latest = max(graph.added) + 1
        if revisited is None or reader is None:
            end = revisit.end
            after = Graph(
                [*graph.events[:end], event],
                [*graph.added[:end], latest],
                [*graph.settled[:end], False],
                graph.claims,
            )
            return after if self.rearrange(after) else None
        if not self.reads_maximally(revisit, revisited, event.clock):
            return None
        after = kept_part(revisit, revisited, event.clock)
        after.events += [event, reader]
        after.added += [latest, graph.added[revisited.position]]
        after.settled += [True, False]
        if not self.rearrange(after) or not inner_claims_hold(revisit, revisited, after):
            return None
        if changes(reader):
            after.renewed = after.events.index(reader)
        return after

    def rearrange(self, graph: Graph) -> bool:
        """Put the events of a graph in an order in which they read from their sources; False if
        there is none: the graph is not consistent."""
        if self.is_in_order(graph.events):
            return True
        linearisation = Linearisation(graph.events, self.causality)
        if not linearisation.find():
            return False
        places = {graph.events[place]: place for place in range(len(graph.events))}
        order = [places[event] for event in linearisation.sequence]
        graph.events = linearisation.sequence
        graph.added = [graph.added[place] for place in order]
        graph.settled = [graph.settled[place] for place in order]
        return True

    def is_in_order(self, events: list[Event]) -> bool:
        latest: dict[int, Event | None] = {}
        for event in events:
            if self.causality.is_free(event.location):
                if observes(event) and event.previous_change is not latest.get(event.location):
                    return False
                if changes(event):
                    latest[event.location] = event
        return True

    def reads_maximally(self, revisit: Revisit, revisited: Event, kept: list[int]) -> bool:
        """The maximality condition for sources: a deleted event, and the revisited one, must read
        what they would find after the kept part, in its first linearisation, if all that is deleted
        came in the order in which it was added."""
        graph = revisit.graph
        added = graph.added[revisited.position]
        deleted: list[tuple[int, Event]] = []
        remaining: list[Event] = []
        for position in range(revisit.end):
            event = graph.events[position]
            if graph.added[position] < added or knows(kept, event):
                remaining.append(event)
            elif not is_same(event, revisit.event):
                deleted.append((graph.added[position], event))
        is_free = self.causality.is_free
        if not any(is_free(event.location) and observes(event) for _, event in deleted):
            return True
        linearisation = Linearisation(remaining, self.causality)
        found = linearisation.find()
        assert found, "a part of an execution"
        latest = linearisation.latest
        deleted.sort(key=lambda pair: pair[0])
        for _, event in deleted:
            if is_free(event.location):
                if observes(event) and source_of(event) is not latest.get(event.location):
                    return False
                if changes(event):
                    latest[event.location] = event
        return True


def accesses_without(event: Event, events: list[Event]) -> list[Event]:
    """The accesses to the location of an event among others."""
    return [
        other for other in events if other.location == event.location and not is_same(other, event)
    ]


def is_hidden(event: Event, source: Event | None, sources: list[Event | None]) -> bool:
    """Whether an event cannot read from a source, as its thread knows of a later one."""
    past = past_of(event)
    for other in sources:
        if (
            other is not None
            and other is not source
            and knows(past, other)
            and (source is None or comes_before(source, other))
        ):
            return True
    return False


def past_of(event: Event) -> list[int]:
    """A clock: what happens before an event in its thread."""
    past: list[int] = []
    if event.previous is not None:
        include(past, event.previous)
    return past


def reading(values: Values, event: Event, source: Event | None, value: object) -> Event:
    """An event as it is when it reads a value from a source."""
    other = copy_of(event)
    other.previous_change = source
    other.clock = past_of(event)
    if source is not None:
        include(other.clock, source)
    if not is_steady(other.kind):
        other.mode = values.mode(other, value)
    return other

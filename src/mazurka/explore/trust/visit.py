"""TruSt: one execution for each trace, and no state beyond the graphs that are being visited.

As in "Truly Stateless, Optimal Dynamic Partial Order Reduction" and Algorithm 1 of "Reconciling
Preemption Bounding with DPOR", an execution graph grows by the next event of the leftmost thread.
An event that is new may revisit an earlier one, which then happens after it; what was added after
the revisited event is deleted, but for the causal prefix of the new one. Many graphs become the
same by such a revisit: it is made from the one in which all that it deletes was added maximally,
that is, as the program goes on by itself. Here every dependence is a causal edge, not reads-from
alone, so that one rule serves all operations: docs/proofs/trust.md has the argument.

A graph is kept as a sequence in which each event comes after its causal prefix. It is realised by
running the program along that sequence; what the run then goes on with is added maximally.
"""

from mazurka.engine.errors import MazurkaError
from mazurka.engine.event import NO_EVENTS, Event, changes_all, copy_of
from mazurka.engine.operation import (
    ADD,
    ALL,
    CHOOSE,
    DISABLED,
    NONE,
    READ,
    UNKNOWN,
    WRITE,
    is_on_item,
    is_steady,
)
from mazurka.engine.order import HappensBefore, include, knows
from mazurka.engine.program import COMPLETE, CUT, LEFTMOST, NOBODY, REDUNDANT, Answer
from mazurka.engine.races import chosen_otherwise
from mazurka.engine.search import Branch, Explorer, Search
from mazurka.engine.task import THREAD, Task
from mazurka.explore.trust.graph import (
    NO_CLAIMS,
    Claim,
    Graph,
    accesses_before,
    all_hold,
    comes_before,
    common_prefix,
    depends,
    is_default,
)
from mazurka.explore.trust.preemptions import Bound
from mazurka.explore.trust.revisits import (
    Accesses,
    Revisit,
    inner_claims_hold,
    is_last,
    kept_by,
    kept_part,
    moved_to,
    select_less,
)


class Trust(Explorer):
    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.request.policy = LEFTMOST
        self.order = HappensBefore(self.program.values)
        self.tasks: list[Task] = []  # to be begun when nothing is left to be revisited
        self.is_begun = False
        self.following: Graph | None = None  # to be visited next, if the search was ended before
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
        if not self.tasks and not self.is_begun:
            self.tasks.append(Task("trust"))
        self.is_begun = True
        while True:
            graph = self.following
            if graph is None:
                graph = self.next_revisited()
            if graph is None and not self.tasks:
                return True
            self.following = graph
            if not self.search.may_run():
                return False
            self.following = None
            if graph is None:
                graph = self.graph_of(self.tasks.pop())
            if not self.visit(graph):
                return False

    def visit(self, graph: Graph) -> bool:
        """Visit a graph; False when the search must end here."""
        length = len(graph.events)
        answer = self.run(graph)
        if not all_hold(graph.claims, graph.events, graph.added):
            answer.status = REDUNDANT
        going_on = self.count(answer)
        if not self.search.is_broken:
            self.find_revisits(graph, length)
        return going_on

    def below(self, branch: object) -> list[Branch]:
        self.visit(branch if isinstance(branch, Graph) else Graph([], [], [], NO_CLAIMS))
        found: list[Branch] = []
        graph = self.next_revisited()
        while graph is not None:
            found.append((len(graph.events), graph))
            graph = self.next_revisited()
        return found

    # Tasks: a graph that was not visited yet

    def take_up(self, task: Task) -> None:
        if not task.is_whole:
            check_notes(task)
        self.tasks.append(task)

    def split(self) -> list[Task]:
        """The graphs that revisits still make, and the tasks that were not begun: all are tasks
        from now on."""
        left = []
        graph = self.following
        self.following = None
        if graph is None:
            graph = self.next_revisited()
        while graph is not None:
            left.append(self.task_of(graph))
            graph = self.next_revisited()
        left.reverse()
        self.tasks += left
        return self.tasks[::-1]

    def hand_over(self, count: int) -> None:
        del self.tasks[:count]

    def graph_of(self, task: Task) -> Graph:
        if task.is_whole:
            return Graph([], [], [], NO_CLAIMS)
        steps = self.program.path_of(task.steps)
        for step, mode in zip(steps, task.numbers("modes"), strict=True):
            step.mode = mode
        settled = [settled != 0 for settled in task.numbers("settled")]
        claims = [self.claim_from(words.split()) for words in task.names("claims")]
        graph = Graph(steps, task.numbers("added"), settled, claims)
        for words in task.names("revisited"):
            graph.revisited = self.event_named(words)
        graph.revisited_added = task.numbers("revisited_added")[0]
        return graph

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
        if graph.revisited is not None and len(events) >= len(path):  # else it broke off
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
                previous = order.stand(waiting)
                waiting.mode = DISABLED
                latest = order.last_access[location]
                self.revisit_accesses(graph, len(graph.events), waiting, previous, latest)

    def revisit_accesses(
        self, graph: Graph, end: int, event: Event, previous: Event | None, latest: Event | None
    ) -> None:
        """Find the accesses to its location that an event may revisit, of which `latest` is the
        last one; the thread of the event came from `previous`."""
        if self.is_alone(event):
            return
        past: list[int] = []
        if previous is not None:
            include(past, previous)
        if event.mode == READ and is_steady(event.kind) and not depends_on_any(event, latest, past):
            return  # as most reads
        accesses: list[Event] = []
        found: list[tuple[int, Event]] = []
        while latest is not None:
            if knows(past, latest):
                if latest.mode == WRITE and latest.part == ALL:
                    accesses.append(latest)
                    break  # all that is earlier happens before it
            elif not graph.settled[latest.position] and may_depend(event, latest):
                found.append((len(accesses), latest))
            accesses.append(latest)
            latest = latest.previous_access
        if found:
            accesses.reverse()
            found.reverse()
            shared = Accesses(accesses, graph.added)
            for place, revisited in found:
                revisit = Revisit(graph, end, event, revisited)
                revisit.past = past
                revisit.accesses = shared
                revisit.place = len(accesses) - 1 - place
                if self.is_possible(revisit, revisited):
                    self.revisits.append(revisit)

    def is_alone(self, event: Event) -> bool:
        """Whether no other thread does anything, early or late, that an event may depend on: as far
        as that is quickly told."""
        lanes = self.order.lanes[event.location]
        if lanes is None:
            return False
        if is_steady(event.kind):
            return not lanes.latest_before(event)
        return is_on_item(event.kind) and event.part >= 0 and not lanes.has_others(event)

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
        accesses = revisit.accesses
        begin = accesses.first_beside(revisit.place, added)
        end = accesses.end_beside(revisit.place, added)
        revisit.candidates = [
            access
            for access in accesses.events[begin:end]
            if graph.added[access.position] > added
            and not knows(kept, access)
            and access is not revisited
            and not comes_before(revisited, access)
            and may_depend(event, access)
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


def may_depend(event: Event, access: Event) -> bool:
    """Whether an event depends on an access, or might if it found something else."""
    if depends(event, access):
        return True
    if is_on_item(event.kind) and event.part >= 0 and access.structure == NONE:
        return access.part == event.part or access.part == ALL
    return not is_steady(event.kind)


def depends_on_any(event: Event, latest: Event | None, past: list[int]) -> bool:
    """Whether a read depends on a change, up to the access `latest`, that its thread does not know
    of."""
    change = latest if latest is None or latest.mode != READ else latest.previous_change
    while change is not None:
        if not knows(past, change) and depends(event, change):
            return True
        if changes_all(change):
            return False
        change = change.previous_change
    return False


def check_notes(task: Task) -> None:
    """Refuse a task whose notes do not fit its steps."""
    try:
        revisited = task.names("revisited")
        claims = [words.split() for words in task.names("claims")]
        names = [*revisited, *[words[0] for words in claims]]
        for words in claims:
            int(words[1])
            names += words[2:]
        fits = (
            len(task.numbers("modes")) == len(task.steps)
            and len(task.numbers("added")) == len(task.steps)
            and len(task.numbers("settled")) == len(task.steps)
            and len(task.numbers("revisited_added")) == 1
            and len(revisited) <= 1
            and all(is_event_name(name) for name in names)
        )
    except (KeyError, ValueError, IndexError):
        fits = False
    if not fits:
        raise MazurkaError("not a task that Mazurka wrote: its notes do not fit its steps")


def is_event_name(name: str) -> bool:
    thread, _, index = name.partition(":")
    return index.isdecimal() and THREAD.fullmatch(thread) is not None


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

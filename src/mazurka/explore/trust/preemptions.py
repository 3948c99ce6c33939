"""How many preemptions an execution graph takes, and which graphs are left out: Buster.

From "Reconciling Preemption Bounding with DPOR". A preemption is a switch from a thread that could
go on, and does so later, to another one; a graph takes as many as the linearisation with the
fewest. Whether that is at most k is found without finding the fewest. The paper leaves out graphs
that take more than k and some slack; here it is those that cannot lead to one that takes k.
docs/proofs/preemptions.md says why that is right.
"""

from mazurka.engine.event import Event
from mazurka.engine.operation import JOIN, may_block
from mazurka.engine.order import HappensBefore, include
from mazurka.engine.program import Program
from mazurka.explore.trust.linearisation import Part, can_come, could_go_on, is_enabled


class Bound:
    """Watches a graph grow, and says when it is of no use for finding executions that take at most
    `most` preemptions."""

    def __init__(self, program: Program, order: HappensBefore, most: int) -> None:
        self.program = program
        self.order = order
        self.most = most
        self.schedule = Schedule(order)
        self.waited: set[int] = set()  # the locations that operations wait for
        self.settled: list[int] = []  # a clock: what no revisit will delete
        self.is_exceeded = False
        self.hopeless: set[int] = set()  # threads that need not go on
        self.judged: Part | None = None  # what would be kept, as it was when it was looked at last
        self.was_of_use = False  # and what was found

    def begin(self, events: list[Event], settled: list[int]) -> bool:
        """Take up a graph, of which a part is settled; False if it is of no use."""
        self.note_waiting(events)
        self.schedule = self.schedule_of(events)
        self.settled = settled
        self.judged = None
        self.is_exceeded = False
        self.hopeless = set()
        return self.is_of_use()

    def add(self, event: Event) -> bool:
        """Take in an event that was added maximally; False if the graph is of no use any more."""
        if may_block(event.kind):
            self.waited.add(event.location)
        if not self.is_exceeded:
            self.schedule.add(event)
        return self.is_of_use()

    def note_waiting(self, operations: list[Event]) -> None:
        for operation in operations:
            if may_block(operation.kind):
                self.waited.add(operation.location)

    def schedule_of(self, events: list[Event]) -> "Schedule":
        schedule = Schedule(self.order)
        for event in events:
            schedule.add(event)
        return schedule

    def whole(self) -> "Part":
        ends = [len(events) for events in self.order.of_thread]
        return Part(self.order, ends, self.waited)

    def is_of_use(self) -> bool:
        """Whether the graph is within the bound, or something that is not settled may be deleted so
        that it is, since some thread goes on and revisits."""
        if not self.is_exceeded and self.schedule.preemptions > self.most:
            whole = self.whole()
            fewer = whole.linearisation_within(self.most)
            if fewer is None:
                self.is_exceeded = True
                self.judged, self.was_of_use = whole, False
            else:
                self.schedule = self.schedule_of(fewer)
        if not self.is_exceeded:
            return True
        unfinished = self.program.unfinished()
        for thread, joined in unfinished.items():
            # If a thread is to join another one, more is kept than if that one revisits.
            if thread not in self.hopeless and joined not in unfinished:
                if self.is_part_of_use(self.part_if_revisits(thread, unfinished)):
                    return True
                self.hopeless.add(thread)
        return False

    def is_part_of_use(self, part: "Part") -> bool:
        judged = self.judged
        if judged is None or part.ends != judged.ends or part.lengths != judged.lengths:
            self.judged = part
            self.was_of_use = part.linearisation_within(self.most) is not None
        return self.was_of_use

    def part_if_revisits(self, thread: int, unfinished: dict[int, int]) -> "Part":
        """What is kept for certain if the next revisit is by this thread: what is settled, and what
        happens before the next step of the thread."""
        order = self.order
        kept = self.settled.copy()
        while thread >= 0:
            if order.of_thread[thread] or order.spawn_of_thread[thread] is not None:
                include(kept, order.latest_of(thread))
            thread = unfinished.get(thread, -1)
        while len(kept) < len(order.of_thread):
            kept.append(0)
        part = Part(order, kept, self.waited)
        for events in order.of_thread:
            if events and len(events) > kept[events[0].thread]:
                part.add_next(events[kept[events[0].thread]])
        return part

    def takes_more(self, waiting: list[Event]) -> bool:
        """Whether the graph, to which nothing can be added, takes more than the bound."""
        if self.is_exceeded:
            return True
        taken = self.schedule.preemptions + self.schedule.left_enabled(waiting)
        return taken > self.most and not self.takes_at_most(self.most, waiting)

    def fewest(self, waiting: list[Event]) -> int:
        """How many preemptions the graph takes."""
        preemptions = 0
        while not self.takes_at_most(preemptions, waiting):
            preemptions += 1
        return preemptions

    def takes_at_most(self, preemptions: int, waiting: list[Event]) -> bool:
        """A thread that waits for good may have been left when it could still go on."""
        self.note_waiting(waiting)
        part = self.whole()
        part.waiting = {event.thread: event for event in waiting if event.kind != JOIN}
        return part.linearisation_within(preemptions) is not None


class Schedule:
    """A linearisation of a graph, and the preemptions in it."""

    def __init__(self, order: HappensBefore) -> None:
        self.order = order
        self.preemptions = 0
        self.latest = -1
        self.done: list[int] = []  # how many events of each thread have happened
        self.done_when_left: dict[int, list[int]] = {}

    def add(self, event: Event) -> None:
        """Add an event where its thread was left, if it could come there already, or at the end."""
        thread = event.thread
        done = self.done
        if thread != self.latest:
            self.all_done(done)
            when_left = self.done_when_left.get(thread)
            if when_left is not None:
                when_left = self.all_done(when_left)
                if can_come(event.clock, when_left):
                    self.add_where_left(thread)
                    return
                if could_go_on(self.order, event, when_left):
                    self.preemptions += 1
            if self.latest >= 0:
                self.done_when_left[self.latest] = done.copy()
            self.latest = thread
        done[thread] = done[thread] + 1  # compiled, this is quicker than +=

    def add_where_left(self, thread: int) -> None:
        """Add an event where its thread was left. Who waited for it, and went on since, would be
        before it: so it enables nobody of these."""
        before = self.done[thread]
        self.done[thread] = before + 1
        for done in self.done_when_left.values():
            if self.all_done(done)[thread] == before:  # left after this thread
                done[thread] = before + 1

    def left_enabled(self, waiting: list[Event]) -> int:
        """How many threads that wait for good were left when they could still go on."""
        left = 0
        for event in waiting:
            done = self.done_when_left.get(event.thread)
            if event.kind != JOIN and event.thread != self.latest and done is not None:
                left += is_enabled(self.order, event, self.all_done(done))
        return left

    def all_done(self, done: list[int]) -> list[int]:
        """With the threads that were spawned since."""
        while len(done) < len(self.order.of_thread):
            done.append(0)
        return done

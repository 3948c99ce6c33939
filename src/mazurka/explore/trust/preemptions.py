"""How many preemptions an execution graph takes, and which graphs are left out: Buster.

From "Reconciling Preemption Bounding with DPOR". A preemption is a switch from a thread that could
go on, and does so later, to another one; a graph takes as many as the linearisation with the
fewest. Whether that is at most k is found without finding the fewest. The paper leaves out graphs
that take more than k and some slack; here it is those that cannot lead to one that takes k.
docs/proofs/preemptions.md says why that is right.
"""

from typing import Final

from mazurka.engine.event import Event, conflicts
from mazurka.engine.operation import (
    ADD,
    AWAIT_PART,
    JOIN,
    READ,
    WRITE,
    is_steady,
    may_block,
)
from mazurka.engine.order import HappensBefore, include
from mazurka.engine.program import Program
from mazurka.engine.races import changes_for, without_change
from mazurka.engine.races import is_enabled as is_enabled_by
from mazurka.engine.values import Values

NO_CLOCKS: Final[dict[int, list[int]]] = {}
NO_OPERATIONS: Final[dict[int, Event]] = {}


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


class State:
    """What has happened in the beginning of a linearisation, and the thread that goes on."""

    def __init__(
        self, done: list[int], thread: int, preemptions: int, before: "State | None"
    ) -> None:
        self.done = done
        self.thread = thread
        self.preemptions = preemptions
        self.before = before


class Part:
    """The first `ends` events of each thread of a graph, with all that happens before them.
    Operations wait only for the locations in `waited`."""

    def __init__(self, order: HappensBefore, ends: list[int], waited: set[int]) -> None:
        self.order = order
        self.ends = ends
        self.waited = waited
        self.lengths = ends.copy()  # with the events that are certain to come
        self.next_clocks: dict[int, list[int]] = NO_CLOCKS  # and what happens before those
        self.waiting: dict[int, Event] = NO_OPERATIONS  # what threads come to, and never perform

    def add_next(self, event: Event) -> None:
        """The first event of a thread beyond this part. Whatever is deleted, the thread will do
        that, and after all of this part that it depends on."""
        if event.location < 0 or not is_steady(event.kind):
            return
        clock: list[int] = []
        access = event.previous_access
        while access is not None:
            if (
                access.index <= self.ends[access.thread]
                and access.thread != event.thread
                and conflicts(event.mode, event.structure, event.part, access)
            ):
                include(clock, access)
            access = access.previous_access
        if clock:
            self.next_clocks = {**self.next_clocks, event.thread: clock}
            self.lengths[event.thread] += 1

    def linearisation_within(self, bound: int) -> list[Event] | None:
        """A linearisation with at most `bound` preemptions; None if there is none."""
        lengths = self.lengths
        if not any(lengths):
            return []
        states = [State([0] * len(lengths), 0, 0, None)]
        fewest: dict[tuple[int, ...], int] = {}
        while states:
            state = states.pop()
            key = (state.thread, *state.done)
            if fewest.get(key, bound + 1) <= state.preemptions:
                continue
            fewest[key] = state.preemptions
            for done in self.ways_on(state.thread, state.done):
                if done == lengths:
                    return self.events_to(State(done, -1, 0, state))
                preemptions = state.preemptions + self.could_go_on(state.thread, done)
                if preemptions <= bound:
                    # The last state is taken up first: the longest step, to the leftmost thread.
                    for thread in range(len(lengths) - 1, -1, -1):
                        if thread != state.thread and self.can_come(thread, done):
                            states.append(State(done, thread, preemptions, state))
        return None

    def ways_on(self, thread: int, done: list[int]) -> list[list[int]]:
        """What has happened where a thread that goes on may be left, the shortest way first. To
        leave it before it is stopped pays only if its next event may enable another thread."""
        ways: list[list[int]] = []
        begin = place = done[thread]
        done = done.copy()
        while self.can_come(thread, done):
            if place > begin and self.may_enable(thread, place):
                ways.append(done.copy())
            place += 1
            done[thread] = place
        ways.append(done)
        return ways

    def may_enable(self, thread: int, place: int) -> bool:
        """Whether another thread may wait for an event: it may write what is waited for, or it is
        the end of a thread that is joined."""
        events = self.order.of_thread[thread]
        event = events[place]
        return place + 1 == len(events) or (event.mode != READ and event.location in self.waited)

    def can_come(self, thread: int, done: list[int]) -> bool:
        """Whether a thread has a next event, and all that happens before it has happened."""
        place = done[thread]
        if place == self.lengths[thread]:
            return False
        if place == self.ends[thread]:
            return can_come(self.next_clocks[thread], done)
        return can_come(self.order.of_thread[thread][place].clock, done)

    def could_go_on(self, thread: int, done: list[int]) -> bool:
        """Whether a thread is enabled, and goes on later."""
        place = done[thread]
        if place < self.ends[thread]:
            return could_go_on(self.order, self.order.of_thread[thread][place], done)
        if thread in self.waiting:
            return is_enabled(self.order, self.waiting[thread], done)
        return place < self.lengths[thread]

    def events_to(self, last: State) -> list[Event]:
        """The linearisation that leads to a state."""
        parts: list[list[Event]] = []
        state = last
        while state.before is not None:
            before = state.before
            thread = before.thread
            begin = before.done[thread]
            parts.append(self.order.of_thread[thread][begin : state.done[thread]])
            state = before
        return [event for part in reversed(parts) for event in part]


def can_come(clock: list[int], done: list[int]) -> bool:
    return all(clock[thread] <= done[thread] for thread in range(len(clock)))


def could_go_on(order: HappensBefore, event: Event, done: list[int]) -> bool:
    """Whether a thread was enabled when its next operation was still to become this event."""
    if event.kind == JOIN:
        return done[event.choice] == len(order.of_thread[event.choice])
    return (
        not may_block(event.kind) or can_come(event.clock, done) or is_enabled(order, event, done)
    )


def is_enabled(order: HappensBefore, operation: Event, done: list[int]) -> bool:
    """Whether an operation that may block is enabled when some events have happened; False if its
    location was never accessed, since then nothing has enabled it."""
    location = operation.location
    access = order.last_access[location] if location < len(order.last_access) else None
    if access is None:
        return False
    values = order.values
    if operation.kind == AWAIT_PART:
        return is_part_enabled(values, operation, access, done)
    adds: list[Event] = []
    value: object = None
    while access is not None:
        value = access.before
        if access.index <= done[access.thread]:
            if access.mode == WRITE:
                value = access.after
                break
            if access.mode == ADD:
                adds.append(access)
        access = access.previous_access
    return is_enabled_by(values, operation, values.plus(value, adds))


def is_part_enabled(values: Values, operation: Event, latest: Event, done: list[int]) -> bool:
    """The same for a read of a container. Unless all that it waits for has happened, some change is
    still to come; if it waits for ever, it is not enabled after all of them."""
    enabled = False
    access: Event | None = latest
    while access is not None:
        if access.index > done[access.thread] and changes_for(access, operation):
            enabled = is_enabled_by(values, operation, access.before)
            operation = without_change(values, operation, access)
        access = access.previous_access
    return enabled

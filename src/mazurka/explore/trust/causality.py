"""The causal order that reads-from equivalence leaves: what is read comes before what reads it.

Stores need not know of each other, nor of those that have read an earlier value: *coherence*, the
order of the writes to a location, does not count. That is so for *free* locations, on which nothing
but loads, stores and read-modify-writes happen. On all others every two accesses that depend on
each other are in order, as they are for traces.
"""

from typing import Final

from mazurka.engine.event import Event
from mazurka.engine.operation import READ, is_blind, is_memory_access
from mazurka.engine.order import HappensBefore, after
from mazurka.engine.values import Values


class Causality(HappensBefore):
    def __init__(self, values: Values) -> None:
        super().__init__(values)
        self.ordered: list[bool] = []  # by location: it is not free
        self.accessed: list[bool] = []  # by location: it was taken for one that is
        self.misjudged = False  # whether one was that is not: the clocks are wrong then

    def is_free(self, location: int) -> bool:
        return 0 <= location < len(self.ordered) and not self.ordered[location]

    def extend(self, event: Event) -> None:
        location = event.location
        if location >= 0:
            if not is_memory_access(event.kind):
                self.put_in_order(location)
            self.know_location(location)
            self.accessed[location] = True
        if not self.is_free(location):
            super().extend(event)
            return
        self.put_back(event)
        self.follow_thread(event)
        source = source_of(event)
        if source is not None:
            event.clock = after(event.clock, source)

    def put_in_order(self, location: int) -> None:
        """All accesses to a location are in order, from now on."""
        self.know_location(location)
        if not self.ordered[location]:
            self.ordered[location] = True
            self.misjudged = self.misjudged or self.accessed[location]

    def know_location(self, location: int) -> None:
        while len(self.ordered) <= location:
            self.ordered.append(False)
            self.accessed.append(False)


def source_of(event: Event) -> Event | None:
    """What an access to a free location reads from; None: the initial value, or nothing."""
    return event.previous_change if observes(event) else None


def observes(event: Event) -> bool:
    return not is_blind(event.kind)


def changes(event: Event) -> bool:
    return event.mode != READ


INITIAL: Final = None


class Linearisation:
    """Looks for a sequence of events in which each comes after what happens before it, and reads
    from its source: an execution that has this causal order.

    While a change is to be read by events that are still to come, there can be no other change of
    its location; nothing else stands in the way of an event. So only such changes need to be tried
    in different orders. After the same events of each thread the same can follow, however they were
    ordered: what failed is not tried again.
    """

    def __init__(self, events: list[Event], order: Causality) -> None:
        self.order = order
        self.total = len(events)
        self.of_thread: list[list[Event]] = []
        self.done: list[int] = []  # for each thread, how many of its events are in the sequence
        self.sequence: list[Event] = []
        self.latest: dict[int, Event | None] = {}  # change of each free location
        self.hidden: list[Event | None] = []  # for each event of the sequence, the latest before it
        self.readers: dict[Event, int] = {}  # how many are to read a change,
        self.first_readers: dict[int, int] = {}  # or the initial value of a location
        self.failed: set[tuple[int, ...]] = set()
        for event in events:
            while len(self.of_thread) <= event.thread:
                self.of_thread.append([])
                self.done.append(0)
            self.of_thread[event.thread].append(event)
            if order.is_free(event.location):
                self.latest[event.location] = INITIAL
                if observes(event):
                    self.expect(event, 1)
        for siblings in self.of_thread:
            siblings.sort(key=lambda event: event.index)

    def expect(self, event: Event, readers: int) -> None:
        source = event.previous_change
        if source is None:
            location = event.location
            self.first_readers[location] = self.first_readers.get(location, 0) + readers
        else:
            self.readers[source] = self.readers.get(source, 0) + readers

    def find(self) -> bool:
        """Find a sequence, always the same one; False if there is none."""
        choices: list[tuple[int, list[Event]]] = []  # how long the sequence was, and what to try
        while True:
            self.add_what_can_come()
            if len(self.sequence) == self.total:
                return True
            state = tuple(self.done)
            following: list[Event] = []
            if state not in self.failed:
                following = self.changes_that_can_come()
                self.failed.add(state)  # it is left for good when all of these have failed
            following.reverse()
            choices.append((len(self.sequence), following))
            while choices and not choices[-1][1]:
                choices.pop()
            if not choices:
                return False
            length, following = choices[-1]
            self.cut(length)
            self.append(following.pop())

    def add_what_can_come(self) -> None:
        """Add the events that stand in no other one's way."""
        added = True
        while added:
            added = False
            for thread in range(len(self.of_thread)):
                event = self.next_of(thread)
                while event is not None and self.can_come(event) and not self.is_awaited(event):
                    self.append(event)
                    added = True
                    event = self.next_of(thread)

    def changes_that_can_come(self) -> list[Event]:
        found: list[Event] = []
        for thread in range(len(self.of_thread)):
            event = self.next_of(thread)
            if event is not None and self.can_come(event):
                found.append(event)
        return found

    def next_of(self, thread: int) -> Event | None:
        siblings = self.of_thread[thread]
        done = self.done[thread]
        return siblings[done] if done < len(siblings) else None

    def can_come(self, event: Event) -> bool:
        clock = event.clock
        for thread in range(len(clock)):
            if thread != event.thread and clock[thread] > self.done[thread]:
                return False
        location = event.location
        if not self.order.is_free(location):
            return True
        latest = self.latest[location]
        if observes(event) and event.previous_change is not latest:
            return False
        if not changes(event):
            return True
        if latest is None:
            readers = self.first_readers.get(location, 0)
        else:
            readers = self.readers.get(latest, 0)
        return readers == (1 if observes(event) else 0)

    def is_awaited(self, event: Event) -> bool:
        """Whether an event changes a free location, and others are to read that."""
        return (
            self.order.is_free(event.location) and changes(event) and self.readers.get(event, 0) > 0
        )

    def append(self, event: Event) -> None:
        self.sequence.append(event)
        self.done[event.thread] += 1
        hidden: Event | None = None
        if self.order.is_free(event.location):
            hidden = self.latest[event.location]
            if observes(event):
                self.expect(event, -1)
            if changes(event):
                self.latest[event.location] = event
        self.hidden.append(hidden)

    def cut(self, length: int) -> None:
        while len(self.sequence) > length:
            event = self.sequence.pop()
            hidden = self.hidden.pop()
            self.done[event.thread] -= 1
            if self.order.is_free(event.location):
                if observes(event):
                    self.expect(event, 1)
                self.latest[event.location] = hidden

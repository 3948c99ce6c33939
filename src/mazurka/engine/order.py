"""The happens-before order of the current execution, extended and cut back with the search."""

from typing import Final

from mazurka.engine.clock import NO_CLOCK, join, joined
from mazurka.engine.event import NO_EVENTS, Event
from mazurka.engine.lanes import Lanes, are_needed_for
from mazurka.engine.operation import JOIN, READ, SPAWN, WRITE
from mazurka.engine.values import Values

MISSING: Final = None
NO_LANES: Final = None


class HappensBefore:
    """Vector clocks for the events of one execution.

    An event's clock says for every *other* thread how many of its events happen before; events of
    one thread that learn nothing new share one clock.
    """

    def __init__(self, values: Values) -> None:
        self.values = values  # asked where a race is reversed
        self.events: list[Event] = []
        self.of_thread: list[list[Event]] = []
        self.spawn_of_thread: list[Event | None] = []
        self.last_access: list[Event | None] = []
        self.last_change: list[Event | None] = []
        self.lanes: list[Lanes | None] = []  # by location, where they are needed

    def cut(self, length: int) -> None:
        """Forget the events from position `length` on."""
        events = self.events
        while len(events) > length:
            event = events.pop()
            self.of_thread[event.thread].pop()
            if event.kind == SPAWN:
                self.spawn_of_thread[event.choice] = None
            elif event.location >= 0:
                self.last_access[event.location] = event.previous_access
                self.last_change[event.location] = event.previous_change
                lanes = self.lanes[event.location]
                if lanes is not None:
                    lanes.pop(event)

    def extend(self, event: Event) -> None:
        """Add the next event: its clock, and the earlier events that it is in a race with."""
        self.put_back(event)
        self.follow_thread(event)
        if event.location >= 0:
            lanes = self.lanes[event.location]
            if lanes is None:
                find_order(event)
            else:
                find_order_among(event, lanes.latest_before(event))
        elif event.kind == JOIN:
            event.clock = after(event.clock, self.latest_of(event.choice))

    def follow_thread(self, event: Event) -> None:
        """Order an event after the previous one of its thread."""
        event.index = len(self.of_thread[event.thread])
        previous = event.previous
        if previous is None:
            event.clock = NO_CLOCK
        elif event.index > 1:
            event.clock = previous.clock
        else:
            event.clock = after(NO_CLOCK, previous)

    def put_back(self, event: Event) -> None:
        """Add the next event, of which it is known what happens before it."""
        thread = event.thread
        self.know_thread(thread)
        siblings = self.of_thread[thread]
        event.position = len(self.events)
        event.previous = siblings[-1] if siblings else self.spawn_of_thread[thread]
        siblings.append(event)
        location = event.location
        if location >= 0:
            grow(self.last_access, location)
            grow(self.last_change, location)
            while len(self.lanes) <= location:
                self.lanes.append(NO_LANES)
            event.previous_access = self.last_access[location]
            event.previous_change = self.last_change[location]
            self.last_access[location] = event
            if event.mode != READ:
                self.last_change[location] = event
            lanes = self.lanes[location]
            if lanes is not None:
                lanes.append(event)
            elif are_needed_for(event):
                self.lanes[location] = Lanes(event)
        elif event.kind == SPAWN:
            self.know_thread(event.choice)
            self.spawn_of_thread[event.choice] = event
        self.events.append(event)

    def latest_of(self, thread: int) -> Event:
        """The last event of a thread; the one that spawned it if it has none."""
        if thread < len(self.of_thread) and self.of_thread[thread]:
            return self.of_thread[thread][-1]
        spawn = self.spawn_of_thread[thread]
        assert spawn is not None, "a thread that was never spawned"
        return spawn

    def stand(self, operation: Event) -> Event:
        """Let an operation that has not happened be the next one of its thread; gives the event
        that the thread comes from."""
        self.know_thread(operation.thread)
        operation.index = len(self.of_thread[operation.thread]) + 1
        return self.latest_of(operation.thread)

    def know_thread(self, thread: int) -> None:
        while len(self.of_thread) <= thread:
            self.of_thread.append([])
            self.spawn_of_thread.append(MISSING)


def grow(items: list[Event | None], index: int) -> None:
    while len(items) <= index:
        items.append(MISSING)


def after(clock: list[int], event: Event) -> list[int]:
    """A clock that also knows `event` and all that happens before it."""
    return joined(clock, event.clock, event.thread, event.index)


def find_order(event: Event) -> None:
    """Order an access after the earlier ones that it depends on, where all are reads and writes of
    all of their location.

    Those are met from the latest to the earliest; one that is not yet in the clock is adjacent to
    the event, hence in a race with it. A write happens after all before it.
    """
    mode = event.mode
    thread = event.thread
    races = NO_EVENTS
    clock = event.clock
    other = event.previous_change if mode == READ else event.previous_access
    while other is not None:
        if other.thread != thread:
            known = clock[other.thread] if other.thread < len(clock) else 0
            if other.index > known:
                clock = joined(clock, other.clock, other.thread, other.index)
                if races is NO_EVENTS:
                    races = [other]
                else:
                    races.append(other)
        if other.mode == WRITE:
            break
        other = other.previous_access
    event.clock = clock
    event.races = races


def find_order_among(event: Event, latest: list[Event]) -> None:
    """The same for an access among others that it need not depend on, after the latest of those
    that it does depend on."""
    clock = event.clock
    races: list[Event] = []
    for other in latest:
        known = clock[other.thread] if other.thread < len(clock) else 0
        if other.index > known:
            clock = joined(clock, other.clock, other.thread, other.index)
            races.append(other)
    event.clock = clock
    event.races = races if races else NO_EVENTS


def happens_before(event: Event, later: Event) -> bool:
    """Whether `event` happens before an event that stands later in the same execution."""
    if event.thread == later.thread:
        return True
    clock = later.clock
    return event.thread < len(clock) and clock[event.thread] >= event.index


def is_or_happens_before(event: Event, other: Event) -> bool:
    """The same for two events of one execution in whatever order."""
    return event.position <= other.position and happens_before(event, other)


def knows(clock: list[int], event: Event) -> bool:
    """Whether a clock knows an event, of whatever thread."""
    return event.thread < len(clock) and clock[event.thread] >= event.index


def include(clock: list[int], event: Event) -> None:
    """Let a clock know an event and all that happens before it."""
    join(clock, event.clock)
    while len(clock) <= event.thread:
        clock.append(0)
    if event.index > clock[event.thread]:
        clock[event.thread] = event.index

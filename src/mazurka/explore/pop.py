"""POP: one execution for each trace, in polynomial memory.

"Parsimonious Optimal Dynamic Partial Order Reduction", for all operations. Explore(E) is a loop
over a stack of executions here, each with the races that are still to be reversed in it. A race of
e with a later e' gives a *schedule* (Definition 4): what happens before e', then e', in place of e.
It is reversed once in the whole search: e must not be in a schedule, and e' must be fresh
(Definitions 6 and 7), so nothing is to be remembered but which events are in schedules.

Two schedules that branch off for the same e may be part of one trace if their heads commute: both
read, or both add. The paper orders such schedules by how they were found, and describes those that
come before a given one by expressions (Proposition 1, Algorithm 2). Here they are ordered by the
threads of their heads, and no description is needed: below a schedule, a thread with a smaller
number does not make such an access until one comes that depends on it, unless it comes after one
that was made below the schedule. docs/pop.md has the proofs, and says what is different for
operations that may block.
"""

from typing import Final

from mazurka.core.event import Event
from mazurka.core.execution import Guide
from mazurka.core.happens_before import HappensBefore, is_or_happens_before
from mazurka.core.operation import ADD, BLOCKED, READ, WRITE, may_block, outcome
from mazurka.core.races import adds_beside, can_be_enabled, chosen_otherwise, moved_before, sum_of
from mazurka.explore.search import Search

# Whether an event is in a schedule.
FREE: Final = 0
SCHEDULED: Final = 1
HEAD: Final = 2

NO_COUNTS: Final[list[int]] = []
NO_ACCESS: Final = None


class Race:
    """A race to be reversed: of `earlier` with `head`, which will come without it.

    The events between the two that the schedule takes along are given by how many events of each
    thread it knows: all that happen before the head.
    """

    def __init__(
        self, earlier: Event, head: Event, previous: Event | None, known: list[int], end: int
    ) -> None:
        self.position = earlier.position
        self.head = head  # as it will be
        self.previous = previous  # the event that its thread comes from
        self.known = known
        self.end = end  # the schedule is made of events before this position
        self.latest: Event | None = None  # the access of its location before it

    def takes(self, event: Event) -> bool:
        """Whether the schedule takes along an event that is `earlier` or stands after it."""
        thread = event.thread
        return (
            thread < len(self.known)
            and event.index <= self.known[thread]
            and event.position != self.position
        )


class Explored:
    """An execution, and its races that are still to be reversed, the deepest last."""

    def __init__(self, events: list[Event], races: list[Race], heads: list[Event]) -> None:
        self.events = events
        self.races = races
        self.heads = heads
        self.in_place = len(events)  # so many of its events are those of the current execution
        self.lowest = len(events)  # the least that this has been since it was explored


class Pop(Guide):
    def __init__(self, search: Search) -> None:
        self.search = search
        self.execution = search.execution
        self.execution.guide = self
        self.order = HappensBefore()
        self.stack: list[Explored] = []
        self.path_end = 0

        self.races: list[Race] = []  # of the latest run
        self.heads: list[Event] = []
        self.first_node = 0

    def explore(self) -> bool:
        """Explore the whole program; False when the search was ended before."""
        if not self.run(0, []):
            return False
        while self.stack:
            explored = self.stack[-1]
            if not explored.races:
                self.leave()
                continue
            race = explored.races.pop()
            if self.is_avoided(race, explored):
                continue
            self.return_to(explored, race.position)
            if not self.run(race.position, schedule(race, explored.events)):
                return False
        return True

    def return_to(self, explored: Explored, length: int) -> None:
        """Make a prefix of an execution the current one again."""
        common = min(explored.in_place, length)
        current = self.execution.events
        del current[common:]
        self.order.cut(common)
        for position in range(common, length):
            current.append(explored.events[position])
            self.order.extend(explored.events[position])
        explored.in_place = length
        explored.lowest = min(explored.lowest, common)

    def leave(self) -> None:
        """All races of the execution on top of the stack are reversed: go on with the one below."""
        left = self.stack.pop()
        if self.stack:
            below = self.stack[-1]
            below.in_place = min(below.in_place, left.lowest)
            below.lowest = min(below.lowest, left.lowest)

    def run(self, keep: int, path: list[Event]) -> bool:
        """Explore(E.path): run it to its end, and note the races to reverse."""
        self.path_end = keep + len(path)
        if not self.search.run(keep, path, []):
            return False
        self.find_races(max(0, self.path_end - 1))
        if self.races:
            self.races.sort(key=branches_at)
            self.stack.append(Explored(self.execution.events.copy(), self.races, self.heads))
        return True

    # While the program runs

    def performed(self, event: Event) -> None:
        self.order.extend(event)
        position = event.position
        if position < self.path_end:
            event.mark = HEAD if position == self.path_end - 1 else SCHEDULED
        if event.mode == READ or event.mode == ADD:
            if event.mark == HEAD:
                event.group_head = event
            else:
                other = event.previous_access
                if other is not None and other.mode == event.mode:
                    event.group_head = other.group_head

    def asleep(self, thread: int, location: int, mode: int) -> bool:
        """Whether an access would complete a schedule that comes before one in E."""
        order = self.order
        if location >= len(order.last_access):
            return False
        latest = order.last_access[location]
        if latest is None or latest.mode != mode or latest.group_head is None:
            return False
        return comes_too_early(thread, mode, order.latest_of(thread), latest, None)

    def is_avoided(self, race: Race, explored: Explored) -> bool:
        """Whether a schedule contains one that comes before a schedule in E (line 7)."""
        if not explored.heads or explored.heads[0].position >= race.position:
            return False
        head = race.head
        if comes_too_early(head.thread, head.mode, race.previous, race.latest, race):
            return True
        for position in range(race.position + 1, race.end):
            event = explored.events[position]
            if race.takes(event) and comes_too_early(
                event.thread, event.mode, event.previous, event.previous_access, race
            ):
                return True
        return False

    # Parsimonious races

    def find_races(self, first_node: int) -> None:
        """Note the races to be reversed at the nodes of the latest run: the prefixes of E that end
        with an event at position `first_node` or later. Those before are in a schedule, or were
        nodes of an earlier run."""
        events = self.execution.events
        self.first_node = first_node
        self.races = []
        self.heads = [event for event in events if event.mark == HEAD]
        for position in range(first_node, len(events)):
            event = events[position]
            blocking = may_block(event.kind)
            for earlier in event.races:
                if earlier.mark == FREE and (not blocking or earlier.mode == READ):
                    self.note_race(earlier, event)
            if blocking:
                self.note_blocking(event, event.previous, event.previous_access, position)
            if event.alternatives > 1 and event.mark == FREE:
                self.note_alternatives(event)
        for waiting in self.execution.waiting + self.execution.sleeping:
            if may_block(waiting.kind) and waiting.location < len(self.order.last_access):
                self.order.know_thread(waiting.thread)
                waiting.index = len(self.order.of_thread[waiting.thread]) + 1
                latest = self.order.last_access[waiting.location]
                previous = self.order.latest_of(waiting.thread)
                self.note_blocking(waiting, previous, latest, len(events))

    def note_race(self, earlier: Event, event: Event) -> None:
        """A race with an event that has happened."""
        known = event.clock.copy()
        while len(known) <= event.thread:
            known.append(0)
        known[event.thread] = event.index - 1
        head = moved_before(self.order, event, earlier, event.position)
        race = Race(earlier, head, event.previous, known, event.position)
        race.latest = event.previous_access
        if self.is_fresh(race, event.position):
            self.races.append(race)

    def note_alternatives(self, event: Event) -> None:
        """A data choice is in a race with the same step that takes another value."""
        for choice in range(event.alternatives):
            if choice != event.choice:
                other = chosen_otherwise(event, choice)
                end = event.position + 1
                self.races.append(Race(event, other, event.previous, NO_COUNTS, end))

    def is_fresh(self, race: Race, end: int) -> bool:
        """Whether the schedule takes along all heads between `earlier` and position `end`."""
        place = len(self.heads) - 1
        while place >= 0 and self.heads[place].position > race.position:
            if self.heads[place].position < end and not race.takes(self.heads[place]):
                return False
            place -= 1
        return True

    # Races of operations that may block

    def note_blocking(
        self, event: Event, previous: Event | None, latest: Event | None, end: int
    ) -> None:
        """The races of an operation with the changes without which it would be enabled. Its thread
        stood before it from `previous` up to position `end`; it need not have been enabled there.

        Those belong to the node where all that the schedule takes along has happened.
        """
        earlier = latest
        while earlier is not None:
            if previous is not None and is_or_happens_before(earlier, previous):
                if earlier.mode == WRITE:
                    return  # all that is earlier happens before the thread got here, too
            elif earlier.mode == WRITE:
                if earlier.mark == FREE:
                    self.note_enabled(event, previous, latest, earlier, NO_COUNTS, [], end)
                if earlier.position < self.first_node and (
                    previous is None or previous.position < self.first_node
                ):
                    return  # an earlier run has seen all this
            elif earlier.mode == ADD and earlier.mark == FREE:
                adds = adds_beside(self.order, earlier, end)
                adds.reverse()
                if can_be_enabled(event, earlier.before, adds):
                    self.note_selections(event, previous, latest, earlier, adds, end)
            earlier = earlier.previous_access

    def note_selections(
        self,
        event: Event,
        previous: Event | None,
        latest: Event | None,
        earlier: Event,
        adds: list[Event],
        end: int,
    ) -> None:
        """The race with an add, with each selection of the other adds that may come before."""
        selections: list[list[Event]] = [[]]
        for add in adds:
            needed = previous is not None and is_or_happens_before(add, previous)
            before = [other for other in adds if other is not add and comes_before(other, add)]
            larger = [
                [*selection, add]
                for selection in selections
                if all(other in selection for other in before)
            ]
            selections = larger if needed else selections + larger
        for selection in selections:
            self.note_enabled(event, previous, latest, earlier, NO_COUNTS, selection, end)

    def note_enabled(
        self,
        event: Event,
        previous: Event | None,
        latest: Event | None,
        earlier: Event,
        known: list[int],
        adds: list[Event],
        end: int,
    ) -> None:
        """The race of an operation with a change, if it is enabled without, after some adds."""
        value = sum_of(earlier.before, adds)
        if outcome(event.kind, value, event.first, event.second) == BLOCKED:
            return
        node = earlier.position
        for other in adds if previous is None else [*adds, previous]:
            if other.position > earlier.position:
                known = with_all_before(known, other)
                node = max(node, other.position)
        race = Race(earlier, event, previous, known, node + 1)
        race.latest = latest
        if node >= self.first_node and self.is_fresh(race, node + 1):
            self.races.append(race)


def branches_at(race: Race) -> int:
    return race.position


def schedule(race: Race, events: list[Event]) -> list[Event]:
    """What the schedule takes along, and its head."""
    taken = [
        events[position]
        for position in range(race.position + 1, race.end)
        if race.takes(events[position])
    ]
    taken.append(race.head)
    return taken


def comes_too_early(
    thread: int, mode: int, previous: Event | None, latest: Event | None, race: Race | None
) -> bool:
    """Whether a thread that comes from `previous` must not make an access after `latest`: because
    of a head of a larger thread, unless it comes after that or one that was made since.

    For an access in a schedule, what the schedule does not take along is passed over.
    """
    if mode != READ and mode != ADD:
        return False
    access = latest
    while access is not None:
        if race is None or access.position < race.position or race.takes(access):
            if access.mode != mode:
                return False
            if previous is not None and is_or_happens_before(access, previous):
                return False
            if (
                access.mark == HEAD
                and access.thread > thread
                and (race is None or access.position < race.position)
            ):
                return True
        access = access.previous_access
    return False


def comes_before(event: Event, other: Event) -> bool:
    return event is not other and is_or_happens_before(event, other)


def with_all_before(known: list[int], event: Event) -> list[int]:
    """Counts that also know an event and all that happens before it."""
    counts = known.copy()
    clock = event.clock
    while len(counts) < max(len(clock), event.thread + 1):
        counts.append(0)
    for thread in range(len(clock)):
        if thread != event.thread and clock[thread] > counts[thread]:
            counts[thread] = clock[thread]
    if event.index > counts[event.thread]:
        counts[event.thread] = event.index
    return counts

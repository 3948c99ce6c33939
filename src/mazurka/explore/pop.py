"""POP: one execution for each trace, in polynomial memory.

"Parsimonious Optimal Dynamic Partial Order Reduction", for all operations. Explore(E) is a loop
over a stack of executions here, each with the races that are still to be reversed in it. A race of
e with a later e' gives a *schedule* (Definition 4): what happens before e', then e', in place of e.
It is reversed once in the whole search: e must not be in a schedule, and e' must be fresh
(Definitions 6 and 7), so nothing is to be remembered but which events are in schedules.

Two schedules that branch off for the same e may be part of one trace if their heads commute: both
read, or both add. The paper orders such schedules by how they were found, and describes those that
come before a given one by expressions (Proposition 1, Algorithm 2). Here they are ordered by the
threads of their heads, and no description is needed: below a schedule, until e comes, a thread that
precedes the head's does not make an access that conflicts with e, unless it happens after one that
does. docs/pop.md has the proofs, and says what is different for operations that may block.
"""

from collections.abc import Iterator
from typing import Final

from mazurka.engine.event import NO_CLOCK, NO_EVENTS, Event, conflicts, copy_of, footprint_of
from mazurka.engine.operation import ADD, ALL, READ, WRITE, Footprint, may_block
from mazurka.engine.order import HappensBefore, is_or_happens_before, joined
from mazurka.engine.program import Guide
from mazurka.engine.races import (
    adds_beside,
    changes_for,
    chosen_otherwise,
    is_enabled,
    moved_before,
    sum_of,
    sums_of,
    without_change,
)
from mazurka.engine.search import Search
from mazurka.engine.task import Part

# Whether an event is in a schedule.
FREE: Final = 0
SCHEDULED: Final = 1
HEAD: Final = 2


class Race:
    """A race to be reversed: of `earlier` with `head`, which will come without it.

    The schedule takes along what is in the clock: all that happens before the head.
    """

    def __init__(
        self, earlier: Event, head: Event, previous: Event | None, clock: list[int], end: int
    ) -> None:
        self.earlier = earlier
        self.position = earlier.position
        self.head = head  # as it will be
        self.previous = previous  # the event that its thread comes from
        self.clock = clock
        self.end = end  # the schedule is made of events before this position
        self.latest: Event | None = None  # the access of its location before it
        self.others: Selections | None = None  # the same race with other adds taken along
        self.taken: list[Event] | None = None  # what it takes along, once that was asked for

    def takes(self, event: Event) -> bool:
        """Whether the schedule takes along an event that is `earlier` or stands after it."""
        thread = event.thread
        if thread == self.head.thread:
            return event.index < self.head.index
        return (
            thread < len(self.clock)
            and event.index <= self.clock[thread]
            and event.position != self.position
        )


class Explored:
    """An execution, and its races that are still to be reversed, the deepest last."""

    def __init__(self, events: list[Event], races: list[Race]) -> None:
        self.events = events
        self.races = races
        self.in_place = len(events)  # so many of its events are those of the current execution
        self.lowest = len(events)  # the least that this has been since it was explored

    def taken_along(self, race: Race) -> list[Event]:
        """What the schedule of a race takes along, before its head."""
        taken = race.taken
        if taken is None:
            taken = []
            for position in range(race.position + 1, race.end):
                if race.takes(self.events[position]):
                    taken.append(self.events[position])
            race.taken = taken
        return taken


class Pop(Guide):
    """Explores parts of a program, one after the other."""

    def __init__(self, search: Search, parts: list[Part]) -> None:
        super().__init__()
        search.execution.takes_conditions = False
        self.search = search
        self.execution = search.execution
        self.execution.guide = self
        self.order = HappensBefore()
        self.parts = parts
        self.stack: list[Explored] = []

        # Of the latest run:
        self.keep = 0
        self.marks: list[int] = []  # of the events of its path
        self.latest_head: Event | None = None  # of the heads in the current execution
        self.rival: Event | None = None  # what the head that it begins with was reversed against
        self.rivals: dict[int, Event] = {}  # the same for each head of a part, by its position
        self.rivals_to_come: dict[int, list[tuple[int, int]]] = {}
        self.racing: list[Event] = []  # its new events that may be in a race
        self.first_node = 0
        self.races: list[Race] = []

    def explore(self) -> bool:
        """Explore the parts; False when the search was ended before."""
        self.learn()
        while self.parts:
            if not self.begin(self.parts[-1]):
                return False
            while self.stack:
                explored = self.stack[-1]
                if not explored.races:
                    self.leave()
                elif self.is_avoided(explored.races[-1], explored):
                    self.take_off(explored)
                elif not self.reverse(explored.races[-1], explored):
                    return False
        return True

    def learn(self) -> None:
        """See which threads race in the execution that was run before the search."""
        for event in self.execution.events:
            self.order.extend(event)
            for earlier in event.races:
                self.execution.bring_together(earlier.thread, event.thread)

    def begin(self, part: Part) -> bool:
        self.order.cut(0)
        path = self.execution.path_of(part.steps)
        for step, mode in zip(path, part.modes, strict=True):
            step.mode = mode
        self.latest_head = None
        self.rival = None
        self.rivals = {}
        for head, position, thread in part.rivals:
            rival = self.execution.path_of([(thread, "", 0)])[0]
            self.rivals_to_come.setdefault(position, []).append((head, rival.thread))
        counted = self.search.counted
        going_on = self.run(0, path, list(part.marks))
        self.rivals_to_come = {}
        if self.search.counted > counted:
            self.parts.pop()
            self.remember_races(going_on)
        return going_on

    def reverse(self, race: Race, explored: Explored) -> bool:
        """Explore(E1.s), for the schedule s of a race: run it to its end."""
        self.return_to(explored, race.position)
        current = self.execution.events
        for event in explored.taken_along(race):
            copy = copy_of(event)
            copy.mark = SCHEDULED
            current.append(copy)
            self.order.put_back(copy)
            self.note_heads(copy)
        self.rival = race.earlier
        counted = self.search.counted
        going_on = self.run(len(current), [race.head], [HEAD])
        if self.search.counted > counted:
            self.take_off(explored)
            self.remember_races(going_on)
        return going_on

    def run(self, keep: int, path: list[Event], marks: list[int]) -> bool:
        self.keep = keep
        self.marks = marks
        self.racing = []
        return self.search.run(keep, path, [])

    def remember_races(self, going_on: bool) -> None:
        if len(self.order.events) != len(self.execution.events):
            if going_on:
                raise RuntimeError("a run was broken off, and the search goes on: a bug in Mazurka")
            return  # the program did not repeat itself
        self.find_races(max(0, self.keep + len(self.marks) - 1))
        if self.races:
            self.stack.append(Explored(self.execution.events.copy(), self.races))

    def return_to(self, explored: Explored, length: int) -> None:
        """Make a prefix of an execution the current one again."""
        common = min(explored.in_place, length)
        current = self.execution.events
        del current[common:]
        self.order.cut(common)
        for position in range(common, length):
            event = explored.events[position]
            current.append(event)
            self.order.put_back(event)
        self.latest_head = None if length == 0 else head_up_to(current[length - 1])
        explored.in_place = length
        explored.lowest = min(explored.lowest, common)

    def leave(self) -> None:
        """All races of the execution on top of the stack are reversed: go on with the one below."""
        left = self.stack.pop()
        if self.stack:
            below = self.stack[-1]
            below.in_place = min(below.in_place, left.lowest)
            below.lowest = min(below.lowest, left.lowest)

    def take_off(self, explored: Explored) -> None:
        """The deepest race is done with; it may come again with other adds."""
        others = explored.races.pop().others
        following = None if others is None else others.next_race()
        if following is not None:
            explored.races.append(following)

    def remaining(self) -> list[Part]:
        """What is left to explore when the search was ended: it cannot go on itself then."""
        left = list(self.parts)
        for explored in self.stack:
            while explored.races:
                race = explored.races[-1]
                if not self.is_avoided(race, explored):
                    left.append(self.part_of(race, explored))
                self.take_off(explored)
        return left

    def part_of(self, race: Race, explored: Explored) -> Part:
        prefix = explored.events[: race.position]
        taken = explored.taken_along(race)
        steps = [*prefix, *taken, race.head]
        marks = [*[event.mark for event in prefix], *[SCHEDULED for _ in taken], HEAD]
        modes = [event.mode for event in steps]
        rivals = [(len(steps) - 1, race.position, self.thread_name(race.earlier))]
        for event in prefix:
            if event.mark == HEAD and event.instead_of is not None:
                rival = event.instead_of
                rivals.append((event.position, rival.position, self.thread_name(rival)))
        return Part(
            tuple(self.execution.steps_of(steps)), tuple(marks), tuple(modes), tuple(rivals)
        )

    def thread_name(self, event: Event) -> str:
        return self.execution.stable_names(event)[0]

    # While the program runs

    def performed(self, event: Event) -> None:
        self.order.extend(event)
        place = event.position - self.keep
        if place < len(self.marks):
            self.follow_path(event, self.marks[place])
        self.note_heads(event)
        if event.races is not NO_EVENTS or may_block(event.kind) or event.alternatives > 1:
            self.racing.append(event)

    def follow_path(self, event: Event, mark: int) -> None:
        """Mark an event of the path as the part or race says."""
        position = event.position
        if position in self.rivals_to_come:
            for head, thread in self.rivals_to_come[position]:
                rival = self.execution.standing(thread)
                rival.position = position
                rival.index = len(self.order.of_thread[thread]) + 1
                self.rivals[head] = rival
        event.mark = mark
        if mark == HEAD:
            event.instead_of = self.rivals[position] if self.rival is None else self.rival

    def note_heads(self, event: Event) -> None:
        """Keep the heads at hand that others might have to come after."""
        event.last_head = self.latest_head
        if self.watching and event.previous_access is not None:
            event.head_before = head_here(event.previous_access)
        if event.mark == HEAD:
            self.latest_head = event
            if event.location >= 0 and not changes_all(event):
                self.watching = True

    def watches(self, location: int) -> bool:
        last_access = self.order.last_access
        latest = last_access[location] if location < len(last_access) else None
        return latest is not None and head_here(latest) is not None and not changes_all(latest)

    def asleep(self, thread: int, location: int, footprint: Footprint) -> bool:
        """Whether an access would complete a schedule that comes before one in E."""
        latest = self.order.last_access[location]
        return self.comes_too_early(thread, footprint, self.order.latest_of(thread), latest, None)

    def is_avoided(self, race: Race, explored: Explored) -> bool:
        """Whether a schedule contains one that comes before a schedule in E1 (line 7)."""
        if race.earlier.last_head is None:
            return False
        head = race.head
        if self.comes_too_early(head.thread, footprint_of(head), race.previous, race.latest, race):
            return True
        return any(
            self.comes_too_early(
                event.thread, footprint_of(event), event.previous, event.previous_access, race
            )
            for event in explored.taken_along(race)
        )

    def comes_too_early(
        self,
        thread: int,
        footprint: Footprint,
        previous: Event | None,
        latest: Event | None,
        race: Race | None,
    ) -> bool:
        """Whether a thread that comes from `previous` must not make an access after `latest`:
        because it precedes the thread of a head, and could have come in its place.

        For an access in a schedule, what the schedule does not take along is passed over.
        """
        head = None if latest is None else head_here(latest)
        while head is not None:
            if (
                (race is None or head.position < race.position)
                and self.execution.precedes(thread, head.thread)
                and is_first(thread, footprint, previous, latest, head.instead_of, race)
            ):
                return True
            head = head.head_before
        return False

    # Parsimonious races

    def find_races(self, first_node: int) -> None:
        """Note the races to be reversed at the nodes of the latest run: the prefixes of E that end
        with an event at position `first_node` or later. Those before are in a schedule, or were
        nodes of an earlier run."""
        self.first_node = first_node
        self.races = []
        for event in self.racing:
            if event.position < first_node:
                continue
            if may_block(event.kind):
                self.note_blocking(event, event.previous, event.previous_access, event.position)
                for earlier in event.races:
                    if earlier.mark == FREE and earlier.mode == READ:
                        self.note_race(earlier, event)
            elif event.alternatives > 1:
                self.note_alternatives(event)
            else:
                for earlier in event.races:
                    if earlier.mark == FREE:
                        self.note_race(earlier, event)
        for waiting in self.execution.waiting:
            self.note_waiting(waiting)
        for sleeping in self.execution.sleeping:
            self.note_waiting(sleeping)

    def note_waiting(self, waiting: Event) -> None:
        """The races of an operation that has not happened."""
        order = self.order
        if may_block(waiting.kind) and waiting.location < len(order.last_access):
            order.know_thread(waiting.thread)
            waiting.index = len(order.of_thread[waiting.thread]) + 1
            latest = order.last_access[waiting.location]
            self.note_blocking(waiting, order.latest_of(waiting.thread), latest, len(order.events))

    def note_race(self, earlier: Event, event: Event) -> None:
        """A race with an event that has happened."""
        head = moved_before(self.order, event, earlier, event.position)
        race = Race(earlier, head, event.previous, event.clock, event.position)
        race.latest = event.previous_access
        if is_fresh(race, event.last_head):
            self.note(race)

    def note_alternatives(self, event: Event) -> None:
        """A data choice is in a race with the same step that takes another value."""
        if event.mark == FREE:
            for choice in range(event.alternatives - 1, -1, -1):  # the last one goes first
                if choice != event.choice:
                    other = chosen_otherwise(event, choice)
                    self.note(Race(event, other, event.previous, event.clock, event.position + 1))

    def note(self, race: Race) -> None:
        """Keep the races sorted by where they branch off."""
        self.execution.bring_together(race.earlier.thread, race.head.thread)
        races = self.races
        place = len(races)
        while place > 0 and races[place - 1].position > race.position:
            place -= 1
        races.insert(place, race)

    # Races of operations that may block

    def note_blocking(
        self, event: Event, previous: Event | None, latest: Event | None, end: int
    ) -> None:
        """The races of an operation with the changes without which it would be enabled. Its thread
        stood before it from `previous` up to position `end`; it need not have been enabled there.

        Those belong to the node where all that the schedule takes along has happened.
        """
        first_node = self.first_node
        earlier = latest if latest is None or latest.mode != READ else latest.previous_change
        stood_before = previous is None or previous.position < first_node
        while earlier is not None:
            if earlier.mode != ADD and not changes_for(earlier, event):
                earlier = earlier.previous_change
                continue
            if previous is not None and is_or_happens_before(earlier, previous):
                if earlier.mode == WRITE:
                    return  # all that is earlier happens before the thread got here, too
            else:
                event = without_change(event, earlier)
                if earlier.mark == FREE:
                    self.note_enabling(earlier, event, previous, latest, end)
            if earlier.mode == WRITE and earlier.position < first_node and stood_before:
                return  # an earlier run has seen all this
            earlier = earlier.previous_change

    def note_enabling(
        self, earlier: Event, event: Event, previous: Event | None, latest: Event | None, end: int
    ) -> None:
        """The race with one change, if the operation is enabled without it."""
        first_node = self.first_node
        if earlier.mode == WRITE:
            race = enabled_race(earlier, event, previous, [], first_node)
        else:
            adds = adds_beside(self.order, earlier, end)
            others = Selections(earlier, event, previous, latest, adds, first_node)
            race = others.next_race()
        if race is not None:
            race.latest = latest
            self.note(race)


def head_up_to(event: Event) -> Event | None:
    """The latest head of a schedule, up to an event."""
    return event if event.mark == HEAD else event.last_head


def head_here(event: Event) -> Event | None:
    """The latest head of a schedule, up to an event, that accesses its location: only those in
    whose place something else could come."""
    if event.mark == HEAD and not changes_all(event):
        return event
    return event.head_before


def changes_all(event: Event) -> bool:
    """Whether every later access to its location happens after an event."""
    return event.mode == WRITE and event.part == ALL


def is_first(
    thread: int,
    footprint: Footprint,
    previous: Event | None,
    latest: Event | None,
    rival: Event | None,
    race: Race | None,
) -> bool:
    """Whether an access conflicts with the event that a head was reversed against, which has not
    come yet, and happens after no other access that does since it could have come."""
    assert rival is not None
    mode, structure, part = footprint
    if thread == rival.thread or not conflicts(mode, structure, part, rival):
        return False
    past: list[Event] = [] if previous is None else [previous]
    access = latest
    while access is not None and access.position >= rival.position:
        if race is None or access.position < race.position or race.takes(access):
            if access.thread == rival.thread and access.index == rival.index:
                return False
            depends = conflicts(mode, structure, part, access)
            if conflicts(rival.mode, rival.structure, rival.part, access) and (
                depends or any(is_or_happens_before(access, other) for other in past)
            ):
                return False
            if depends:
                past.append(access)
        access = access.previous_access
    return True


class Selections:
    """The races of an add with an operation that comes without it, but after some of the other
    adds that are independent of it; one at a time."""

    def __init__(
        self,
        earlier: Event,
        head: Event,
        previous: Event | None,
        latest: Event | None,
        adds: list[Event],
        first_node: int,
    ) -> None:
        self.earlier = earlier
        self.head = head
        self.previous = previous
        self.latest = latest
        self.first_node = first_node
        self.selected = self.select(adds)

    def next_race(self) -> Race | None:
        for adds in self.selected:
            race = enabled_race(self.earlier, self.head, self.previous, adds, self.first_node)
            if race is not None:
                race.latest = self.latest
                race.others = self
                return race
        return None

    def select(self, adds: list[Event]) -> Iterator[list[Event]]:
        """The sets of adds, of which the latest are given first, that enable the head. Those that
        happen before one in the set, or before the head, are in it, too."""
        value = self.earlier.before
        rest = [sums_of(adds[place:]) for place in range(len(adds) + 1)]
        stack: list[tuple[int, list[Event]]] = [(0, [])]
        while stack:
            place, chosen = stack.pop()
            if not self.is_promising(sum_of(value, chosen), rest[place]):
                continue
            latest = chosen[0] if chosen else adds[place] if place < len(adds) else self.earlier
            if not self.is_new(latest):
                continue
            if place == len(adds):
                yield chosen
                continue
            add = adds[place]
            if not self.comes_before_head(add) and not any(
                is_or_happens_before(add, other) for other in chosen
            ):
                stack.append((place + 1, chosen))
            stack.append((place + 1, [*chosen, add]))

    def is_promising(self, value: object, sums: set[int]) -> bool:
        """Whether the head is enabled after some more adds."""
        if not isinstance(value, int):  # adds raise, and change nothing
            return is_enabled(self.head, value)
        return any(is_enabled(self.head, value + total) for total in sums)

    def is_new(self, latest: Event) -> bool:
        """Whether a set with that latest add belongs to a node of the latest run."""
        return (
            latest.position >= self.first_node
            or self.earlier.position >= self.first_node
            or (self.previous is not None and self.previous.position >= self.first_node)
        )

    def comes_before_head(self, add: Event) -> bool:
        return self.previous is not None and is_or_happens_before(add, self.previous)


def is_fresh(race: Race, head: Event | None) -> bool:
    """Whether a schedule takes along all heads after `earlier`: the one given is the latest."""
    while head is not None and head.position > race.position:
        if not race.takes(head):
            return False
        head = head.last_head
    return True


def enabled_race(
    earlier: Event, head: Event, previous: Event | None, adds: list[Event], first_node: int
) -> Race | None:
    """The race of a change with an operation, if that is enabled without it, after some adds. The
    node that it belongs to must be of the latest run, and the operation fresh there."""
    if not is_enabled(head, sum_of(earlier.before, adds)):
        return None
    latest = earlier  # of what has happened at the node
    clock = NO_CLOCK
    if previous is not None:
        latest = later_of(latest, previous)
        clock = previous.clock if head.index > 1 else joined(NO_CLOCK, previous)
    for add in adds:
        latest = later_of(latest, add)
        clock = joined(clock, add)
    if latest.position < first_node:
        return None
    race = Race(earlier, head, previous, clock, latest.position + 1)
    return race if is_fresh(race, head_up_to(latest)) else None


def later_of(one: Event, other: Event) -> Event:
    return one if one.position >= other.position else other

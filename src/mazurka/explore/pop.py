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
does. docs/proofs/pop.md has the proofs, and says what is different for operations that may block.
"""

from collections.abc import Iterator
from typing import Final

from mazurka.engine.clock import NO_CLOCK
from mazurka.engine.errors import MazurkaError
from mazurka.engine.event import NO_EVENTS, Event, changes_all, conflicts, copy_of, footprint_of
from mazurka.engine.operation import ADD, READ, WRITE, Footprint, may_block
from mazurka.engine.order import HappensBefore, after, is_or_happens_before
from mazurka.engine.program import NOBODY, Watch
from mazurka.engine.races import (
    adds_beside,
    changes_for,
    chosen_otherwise,
    is_enabled,
    moved_before,
    without_change,
)
from mazurka.engine.search import Branch, Explorer, Search
from mazurka.engine.task import THREAD, Task
from mazurka.engine.values import Values


class Head(Watch):
    """A schedule in the current execution, by its head: the last event of it. The rival is what it
    was reversed against, where the schedule begins. The location is where others might have come
    in its place: nowhere, if they all happen after it."""

    def __init__(
        self, event: Event, position: int, rival: Event, location: int, previous: "Head | None"
    ) -> None:
        super().__init__(location, event.thread)
        self.index = event.index
        self.position = position
        self.begin = rival.position
        self.rival = rival
        self.previous = previous  # the head of the schedule before it
        self.watches: int = 0 if previous is None else previous.watches  # up to it, and with it
        if self.location >= 0:
            self.watches += 1


NOWHERE: Final = -2


class Access:
    """An access that is to come: its thread comes from the event `previous`, and `latest` was the
    last access to its location."""

    def __init__(self, thread: int, footprint: Footprint) -> None:
        self.thread = thread
        self.footprint = footprint
        self.previous: Event | None = None
        self.latest: Event | None = None


def access_of(event: Event, previous: Event | None, latest: Event | None) -> Access:
    access = Access(event.thread, footprint_of(event))
    access.previous = previous
    access.latest = latest
    return access


class Nodes:
    """The nodes of a run: the prefixes of E that end with an event at position `first` or later.
    Those before are in a schedule, or were nodes of an earlier run."""

    def __init__(self, first: int, head: Head | None, values: Values) -> None:
        self.first = first
        self.head = head  # the latest one in E
        self.values = values


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
        return self.has(event.thread, event.index) and event.position != self.position

    def has(self, thread: int, index: int) -> bool:
        """Whether an event of a thread happens before the head."""
        if thread == self.head.thread:
            return index < self.head.index
        return thread < len(self.clock) and index <= self.clock[thread]


class Explored:
    """An execution, and its races that are still to be reversed, the deepest last."""

    def __init__(self, events: list[Event], head: Head | None, races: list[Race]) -> None:
        self.events = events
        self.head = head  # the latest one in it
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


class Pop(Explorer):
    """Explores tasks, one after the other; the whole program is one."""

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.request.takes_conditions = False
        self.request.watcher = self
        self.request.watched = []
        self.order = HappensBefore(self.program.values)
        self.tasks: list[Task] = []
        self.stack: list[Explored] = []
        self.is_begun = False

        # Of the latest run:
        self.head: Head | None = None  # the latest one in it
        self.racing: list[Event] = []  # its new events that may be in a race
        self.nodes = Nodes(0, None, self.program.values)
        self.races: list[Race] = []

    def explore(self) -> bool:
        """Explore the tasks; False when the search was ended before."""
        if not self.is_begun:
            self.is_begun = True
            self.learn()
            if not self.tasks:
                self.tasks.append(Task("pop"))
        while True:
            while self.stack:
                explored = self.stack[-1]
                if not explored.races:
                    self.leave()
                elif self.is_avoided(explored.races[-1], explored):
                    self.take_off(explored)
                elif not self.reverse(explored.races[-1], explored):
                    return False
            if not self.tasks:
                return True
            if not self.begin(self.tasks[-1]):
                return False

    def learn(self) -> None:
        """See which threads race in the execution that was run before the search: this is the same
        for all tasks, so that each is explored in one order, whoever takes it up."""
        for event in self.search.first:
            self.order.extend(event)
            for earlier in event.races:
                self.bring_together(earlier.thread, event.thread)

    def bring_together(self, thread: int, other: int) -> None:
        """Let two threads run late, and one after the other, where nothing says who comes next: if
        they race, little is left to be run again when the race is reversed."""
        partners = self.request.partners
        most = max(thread, other)
        if most < len(partners) and partners[thread] != NOBODY and partners[other] != NOBODY:
            return
        if thread == other:  # a data choice
            return
        partners = partners.copy()  # a list of its own for each change
        while len(partners) <= most:
            partners.append(NOBODY)
        if partners[thread] == NOBODY:
            partners[thread] = other
        if partners[other] == NOBODY:
            partners[other] = thread
        self.request.partners = partners

    def begin(self, task: Task) -> bool:
        """Explore(E1.s) for the schedule that a task ends with, or Explore of nothing."""
        self.head = None
        self.request.watched.clear()
        path: list[Event] = []
        if task.steps:
            path = self.path_of(task)
            self.head = self.head_of(task, path)
        self.events.clear()
        self.order.cut(0)
        counted = self.search.counted
        going_on = self.run(path)
        if self.search.counted > counted:
            self.tasks.pop()
            self.remember_races(max(0, len(path) - 1))
        return going_on

    def reverse(self, race: Race, explored: Explored) -> bool:
        """Explore(E1.s), for the schedule s of a race: run it to its end."""
        self.return_to(explored, race.position)
        for event in explored.taken_along(race):
            copy = copy_of(event)
            self.events.append(copy)
            self.order.put_back(copy)
        position = len(self.events)
        location = NOWHERE if changes_all(race.head) else race.earlier.location
        self.head = Head(race.head, position, race.earlier, location, head_before(race, explored))
        self.watch(self.head)
        counted = self.search.counted
        going_on = self.run([race.head])
        if self.search.counted > counted:
            self.take_off(explored)
            self.remember_races(position)
        return going_on

    def run(self, path: list[Event]) -> bool:
        self.racing = []
        self.request.path = path
        return self.search.run(self.request)

    def catch_up(self) -> None:
        """Take in the events that have come since."""
        for position in range(len(self.order.events), len(self.events)):
            event = self.events[position]
            self.order.extend(event)
            if event.races is not NO_EVENTS or may_block(event.kind) or event.alternatives > 1:
                self.racing.append(event)

    def remember_races(self, first_node: int) -> None:
        if self.search.is_broken:  # the program did not repeat itself
            return
        self.catch_up()
        self.find_races(first_node)
        if self.races:
            self.stack.append(Explored(self.events.copy(), self.head, self.races))

    def return_to(self, explored: Explored, length: int) -> None:
        """Make a prefix of an execution the current one again."""
        common = min(explored.in_place, length)
        current = self.events
        del current[common:]
        self.order.cut(common)
        for position in range(common, length):
            event = explored.events[position]
            current.append(event)
            self.order.put_back(event)
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

    def below(self, branch: object) -> list[Branch]:
        self.stack.clear()
        if isinstance(branch, Explored):
            branch.in_place = 0  # others were run since
            self.reverse(branch.races[0], branch)
        else:
            self.learn()
            self.tasks.append(Task("pop"))
            self.begin(self.tasks[-1])
        found: list[Branch] = []
        for explored in self.stack:
            self.settle(explored)
            for race in explored.races:
                race.others = None  # it has branches of its own
                alone = Explored(explored.events, explored.head, [race])
                found.append((race.position, alone))
        return found

    # Tasks: a race that was not reversed yet

    def take_up(self, task: Task) -> None:
        if task.steps:
            check_notes(task)
        self.tasks.append(task)

    def split(self) -> list[Task]:
        left = []
        for explored in reversed(self.stack):
            self.settle(explored)
            left += [self.task_of(race, explored) for race in reversed(explored.races)]
        return [*left, *reversed(self.tasks)]

    def settle(self, explored: Explored) -> None:
        """Leave in its races those that are to be reversed, and all of them."""
        settled = []
        while explored.races:
            race = explored.races[-1]
            self.take_off(explored)
            if not self.is_avoided(race, explored):
                settled.append(race)
        settled.reverse()
        explored.races = settled

    def hand_over(self, count: int) -> None:
        taken = min(count, len(self.tasks))
        del self.tasks[:taken]
        for explored in self.stack:
            more = min(count - taken, len(explored.races))
            del explored.races[:more]
            taken += more

    def task_of(self, race: Race, explored: Explored) -> Task:
        """Where the heads of schedules are, and what they were reversed against (where that was,
        and which thread was to step there), is all that a search must know of the others. How the
        steps access their locations shows whether the program has changed."""
        program = self.program
        taken = explored.taken_along(race)
        steps = [*explored.events[: race.position], *taken, race.head]
        heads = up_to(head_before(race, explored))
        watched = [*[head.location >= 0 for head in heads], not changes_all(race.head)]
        rivals = [*[head.rival for head in heads], race.earlier]
        return Task(
            "pop",
            tuple(program.steps_of(steps)),
            {
                "modes": [event.mode for event in steps],
                "heads": [*[head.position for head in heads], len(steps) - 1],
                "watched": [int(is_watched) for is_watched in watched],
                "rivals": [rival.position for rival in rivals],
                "rival_threads": [program.thread_name(rival.thread) for rival in rivals],
            },
        )

    def path_of(self, task: Task) -> list[Event]:
        path = self.program.path_of(task.steps)
        for step, mode in zip(path, task.numbers("modes"), strict=True):
            step.mode = mode
        return path

    def head_of(self, task: Task, path: list[Event]) -> Head | None:
        """The latest head in the schedules of a task. Each rival is seen by letting it come: these
        runs do not count."""
        count_events(path)
        found: Head | None = None
        for position, is_watched, rival, thread in zip(
            task.numbers("heads"),
            task.numbers("watched"),
            task.numbers("rivals"),
            task.names("rival_threads"),
            strict=True,
        ):
            event = self.rival_at(path[:rival], thread)
            location = event.location if is_watched else NOWHERE
            found = Head(path[position], position, event, location, found)
        self.watch(found)
        return found

    def rival_at(self, prefix: list[Event], name: str) -> Event:
        """What a thread does after a prefix."""
        step = self.program.path_of([(name, "", 0)])[0]
        self.events.clear()
        self.request.path = [*prefix, step]
        self.program.run(self.request)
        if len(self.events) <= len(prefix):
            raise MazurkaError("the program has changed since the task was left: begin anew")
        rival = self.events[len(prefix)]
        rival.position = len(prefix)
        rival.index = 1 + len([event for event in prefix if event.thread == rival.thread])
        return rival

    # While the program runs

    def watch(self, head: Head | None) -> None:
        """Something might come in the place of a head, or of one before it."""
        watched = self.request.watched
        del watched[0 if head is None else head.watches :]
        while head is not None:
            if head.location >= 0:
                place = head.watches - 1
                if place >= len(watched):
                    watched.extend([head] * (head.watches - len(watched)))
                elif watched[place] is head:  # and so are those before it
                    break
                watched[place] = head
            head = head.previous

    def keeps_asleep(self, thread: int, location: int) -> bool:
        """Whether an access would complete a schedule that comes before one in E."""
        head = self.head
        while head is not None:
            if head.location == location and self.program.precedes(thread, head.thread):
                self.catch_up()
                latest = self.order.last_access[location]
                if latest is None or changes_all(latest):
                    return False
                access = Access(thread, self.program.footprint(thread))
                access.previous = self.order.latest_of(thread)
                access.latest = latest
                if is_first(access, head.rival, None):
                    return True
            head = head.previous
        return False

    def is_avoided(self, race: Race, explored: Explored) -> bool:
        """Whether a schedule contains one that comes before a schedule in E1 (line 7)."""
        head = head_before(race, explored)
        if head is None:
            return False
        if self.comes_too_early(race.head, race.previous, race.latest, race, head):
            return True
        for event in explored.taken_along(race):
            if self.comes_too_early(event, event.previous, event.previous_access, race, head):
                return True
        return False

    def comes_too_early(
        self,
        event: Event,
        previous: Event | None,
        latest: Event | None,
        race: Race,
        head: Head | None,
    ) -> bool:
        """Whether an access in a schedule must not be made: because its thread precedes that of a
        head, and could have come in its place. What the schedule does not take along is passed
        over."""
        location = event.location
        if location < 0:
            return False
        while head is not None:
            if (
                head.location == location
                and self.program.precedes(event.thread, head.thread)
                and is_first(access_of(event, previous, latest), head.rival, race)
            ):
                return True
            head = head.previous
        return False

    # Parsimonious races

    def find_races(self, first_node: int) -> None:
        """Note the races to be reversed at the nodes of the latest run."""
        self.nodes = Nodes(first_node, self.head, self.program.values)
        self.races = []
        for event in self.racing:
            if event.position < first_node:
                continue
            if may_block(event.kind):
                self.note_blocking(event, event.previous, event.previous_access, event.position)
                for earlier in event.races:
                    if self.is_free(earlier) and earlier.mode == READ:
                        self.note_race(earlier, event)
            elif event.alternatives > 1:
                self.note_alternatives(event)
            else:
                for earlier in event.races:
                    if self.is_free(earlier):
                        self.note_race(earlier, event)
        answer = self.program.answer
        for waiting in answer.waiting:
            self.note_waiting(waiting)
        for sleeping in answer.sleeping:
            self.note_waiting(sleeping)
        if len(self.races) > 1:
            self.races.sort(key=position_of_race)

    def is_free(self, event: Event) -> bool:
        """Whether an event of the latest run is in no schedule."""
        head = self.head
        while head is not None and head.position >= event.position:
            if head.begin <= event.position:
                return False
            head = head.previous
        return True

    def note_waiting(self, waiting: Event) -> None:
        """The races of an operation that has not happened."""
        order = self.order
        if may_block(waiting.kind) and waiting.location < len(order.last_access):
            latest = order.last_access[waiting.location]
            self.note_blocking(waiting, order.stand(waiting), latest, len(order.events))

    def note_race(self, earlier: Event, event: Event) -> None:
        """A race with an event that has happened."""
        head = moved_before(self.order, event, earlier, event.position)
        race = Race(earlier, head, event.previous, event.clock, event.position)
        race.latest = event.previous_access
        if is_fresh(race, self.head):
            self.races.append(race)

    def note_alternatives(self, event: Event) -> None:
        """A data choice is in a race with the same step that takes another value."""
        if self.is_free(event):
            for choice in range(event.alternatives - 1, -1, -1):  # the last one goes first
                if choice != event.choice:
                    other = chosen_otherwise(event, choice)
                    self.races.append(
                        Race(event, other, event.previous, event.clock, event.position + 1)
                    )

    # Races of operations that may block

    def note_blocking(
        self, event: Event, previous: Event | None, latest: Event | None, end: int
    ) -> None:
        """The races of an operation with the changes without which it would be enabled. Its thread
        stood before it from `previous` up to position `end`; it need not have been enabled there.

        Those belong to the node where all that the schedule takes along has happened.
        """
        first_node = self.nodes.first
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
                event = without_change(self.program.values, event, earlier)
                if self.is_free(earlier):
                    self.note_enabling(earlier, event, previous, latest, end)
            if earlier.mode == WRITE and earlier.position < first_node and stood_before:
                return  # an earlier run has seen all this
            earlier = earlier.previous_change

    def note_enabling(
        self, earlier: Event, event: Event, previous: Event | None, latest: Event | None, end: int
    ) -> None:
        """The race with one change, if the operation is enabled without it."""
        if earlier.mode == WRITE:
            race = enabled_race(earlier, event, previous, NO_EVENTS, self.nodes)
        else:
            adds = adds_beside(self.order, earlier, end)
            race = Selections(earlier, event, previous, latest, adds, self.nodes).next_race()
        if race is not None:
            race.latest = latest
            self.races.append(race)


def position_of_race(race: Race) -> int:
    """Where it branches off."""
    return race.position


def head_before(race: Race, explored: Explored) -> Head | None:
    """The latest head that is left when a race is reversed."""
    head = explored.head
    while head is not None and head.position >= race.position:
        head = head.previous
    return head


def up_to(head: Head | None) -> list[Head]:
    """All heads, up to one."""
    heads: list[Head] = []
    while head is not None:
        heads.append(head)
        head = head.previous
    heads.reverse()
    return heads


def count_events(path: list[Event]) -> None:
    """Give the steps of a path their indices."""
    counts: dict[int, int] = {}
    for step in path:
        step.index = counts.get(step.thread, 0) + 1
        counts[step.thread] = step.index


def is_first(access: Access, rival: Event, race: Race | None) -> bool:
    """Whether an access conflicts with the event that a head was reversed against, which has not
    come yet, and happens after no other access that does since it could have come."""
    mode, structure, part = access.footprint
    if access.thread == rival.thread or not conflicts(mode, structure, part, rival):
        return False
    past: list[Event] = [] if access.previous is None else [access.previous]
    other = access.latest
    while other is not None and other.position >= rival.position:
        if race is None or other.position < race.position or race.takes(other):
            if other.thread == rival.thread and other.index == rival.index:
                return False
            depends = conflicts(mode, structure, part, other)
            if conflicts(rival.mode, rival.structure, rival.part, other) and (
                depends or any(is_or_happens_before(other, event) for event in past)
            ):
                return False
            if depends:
                past.append(other)
        other = other.previous_access
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
        nodes: Nodes,
    ) -> None:
        self.earlier = earlier
        self.head = head
        self.previous = previous
        self.latest = latest
        self.nodes = nodes
        self.selected = self.select(adds)

    def next_race(self) -> Race | None:
        for adds in self.selected:
            race = enabled_race(self.earlier, self.head, self.previous, adds, self.nodes)
            if race is not None:
                race.latest = self.latest
                race.others = self
                return race
        return None

    def select(self, adds: list[Event]) -> Iterator[list[Event]]:
        """The sets of adds, of which the latest are given first, that enable the head. Those that
        happen before one in the set, or before the head, are in it, too."""
        values = self.nodes.values
        value = self.earlier.before
        rest = [values.sums(adds[place:]) for place in range(len(adds) + 1)]
        stack: list[tuple[int, list[Event]]] = [(0, [])]
        while stack:
            place, chosen = stack.pop()
            if not values.some_sum_enables(self.head, values.plus(value, chosen), rest[place]):
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

    def is_new(self, latest: Event) -> bool:
        """Whether a set with that latest add belongs to a node of the latest run."""
        return (
            latest.position >= self.nodes.first
            or self.earlier.position >= self.nodes.first
            or (self.previous is not None and self.previous.position >= self.nodes.first)
        )

    def comes_before_head(self, add: Event) -> bool:
        return self.previous is not None and is_or_happens_before(add, self.previous)


def is_fresh(race: Race, head: Head | None) -> bool:
    """Whether a schedule takes along all heads after `earlier`, up to where it ends."""
    while head is not None and head.position > race.position:
        if head.position < race.end and not race.has(head.thread, head.index):
            return False
        head = head.previous
    return True


def enabled_race(
    earlier: Event, head: Event, previous: Event | None, adds: list[Event], nodes: Nodes
) -> Race | None:
    """The race of a change with an operation, if that is enabled without it, after some adds. The
    node that it belongs to must be of the latest run, and the operation fresh there."""
    values = nodes.values
    if not is_enabled(values, head, values.plus(earlier.before, adds)):
        return None
    latest = earlier  # of what has happened at the node
    clock = NO_CLOCK
    if previous is not None:
        latest = later_of(latest, previous)
        clock = previous.clock if head.index > 1 else after(NO_CLOCK, previous)
    for add in adds:
        latest = later_of(latest, add)
        clock = after(clock, add)
    if latest.position < nodes.first:
        return None
    race = Race(earlier, head, previous, clock, latest.position + 1)
    return race if is_fresh(race, nodes.head) else None


def later_of(one: Event, other: Event) -> Event:
    return one if one.position >= other.position else other


def check_notes(task: Task) -> None:
    """Refuse a task whose notes do not fit its steps."""
    try:
        heads = task.numbers("heads")
        watched = task.numbers("watched")
        rivals = task.numbers("rivals")
        threads = task.names("rival_threads")
        last = len(task.steps) - 1
        fits = (
            len(task.numbers("modes")) == len(task.steps)
            and len(heads) == len(watched) == len(rivals) == len(threads)
            and heads == sorted(set(heads))
            and heads[-1] == last
            and all(0 <= rival <= head for rival, head in zip(rivals, heads, strict=True))
            and all(THREAD.fullmatch(name) for name in threads)
        )
    except (KeyError, ValueError, IndexError):
        fits = False
    if not fits:
        raise MazurkaError("not a task that Mazurka wrote: its notes do not fit its steps")

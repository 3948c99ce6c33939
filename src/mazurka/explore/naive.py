"""Every interleaving of a program, one after the other: the oracle.

It shares nothing with the other searches but running the program, and tells which traces there are:
two interleavings belong to one trace when they have the same events, and order those that depend on
one another in the same way.
"""

from typing import cast

from mazurka.engine.event import Event, copy_of
from mazurka.engine.operation import ADD, ALL, ANY, CHOOSE, NONE, READ, UNKNOWN, WRITE
from mazurka.engine.program import REDUNDANT, Program
from mazurka.engine.search import Branch, Explorer, Search
from mazurka.engine.task import Task

Trace = tuple[object, ...]


class NaiveSearch(Explorer):
    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.request.all_stand = True
        self.request.lets_time_out = True
        self.traces: set[Trace] = set()
        self.tasks: list[Task] = []  # those that were taken up, and are not begun
        self.root = 0  # the position from which on steps may be untried
        self.untried: list[list[tuple[int, int]]] = []  # (thread, choice) for each position
        self.is_begun = False

    def explore(self) -> bool:
        """Run every interleaving; False when the search was ended before."""
        if not self.tasks and not self.is_begun:
            self.tasks.append(Task("naive"))
        self.is_begun = True
        going_on = True
        while going_on:
            keep = self.deepest_untried()
            if keep < self.root and not self.tasks:
                return True
            if not self.search.may_run():
                return False
            if keep >= self.root:
                going_on = self.run(keep, [step_of(self.untried[keep].pop())])
            else:
                going_on = self.begin(self.program.path_of(self.tasks.pop().steps))
        return False

    def begin(self, path: list[Event]) -> bool:
        """Run the first interleaving that begins with the steps of a task. The last of them is a
        step to begin with: if it is a data choice, those that come after it are explored, too."""
        self.root = max(0, len(path) - 1)
        self.untried = [[] for _ in path]
        return self.run(0, path)

    def run(self, keep: int, path: list[Event]) -> bool:
        """Run the interleaving that goes on with a path after `keep` steps of the latest one; False
        when the search must end here."""
        del self.events[keep:]
        self.request.path = path
        answer = self.program.run(self.request)
        self.note_untried(max(keep, self.root))
        if not self.search.count(answer):
            return False
        assert answer.status != REDUNDANT
        self.traces.add(trace_of(self.program))
        return True

    def deepest_untried(self) -> int:
        """The last position with a step that is untried; one before the root if there is none."""
        while len(self.untried) > self.root and not self.untried[-1]:
            self.untried.pop()
        return len(self.untried) - 1

    def note_untried(self, first: int) -> None:
        """Note what else could have come at the positions from the first one on."""
        untried = self.untried
        for position in range(first, len(self.events)):
            event = self.events[position]
            if position < len(untried):  # tried here before: only its own choices are new
                others = []
            else:
                others = [(other, ANY) for other in event.enabled or [] if other != event.thread]
                untried.append([])
            if event.choice + 1 < event.alternatives:
                others.append((event.thread, event.choice + 1))
            untried[position].extend(others)

    def below(self, branch: object) -> list[Branch]:
        path: list[Event] = [] if branch is None else cast("list[Event]", branch)
        self.begin(path)
        found: list[Branch] = []
        for position in range(self.root, len(self.untried)):
            before = [copy_of(event) for event in self.events[:position]]
            for untried in self.untried[position]:
                found.append((position, [*before, step_of(untried)]))
        return found

    def take_up(self, task: Task) -> None:
        self.tasks.append(task)

    def split(self) -> list[Task]:
        left = []
        for position in reversed(range(self.root, len(self.untried))):
            prefix = self.program.steps_of(self.events[:position])
            for thread, choice in reversed(self.untried[position]):
                step = (self.program.thread_name(thread), "", choice)
                left.append(Task("naive", (*prefix, step)))
        return [*left, *reversed(self.tasks)]

    def hand_over(self, count: int) -> None:
        taken = min(count, len(self.tasks))
        del self.tasks[:taken]
        for untried in self.untried[self.root :]:
            more = min(count - taken, len(untried))
            del untried[:more]
            taken += more


def step_of(untried: tuple[int, int]) -> Event:
    thread, choice = untried
    step = Event(thread, UNKNOWN, -1, NONE, None, None)
    step.choice = choice
    return step


def trace_of(program: Program) -> Trace:
    """The trace of the latest run: a value that is equal for equivalent executions only."""
    counts: dict[str, int] = {}
    accesses: dict[str, list[tuple[str, int, Event]]] = {}  # by place
    entries: list[tuple[object, ...]] = []
    for event in program.events:
        thread, place = program.stable_names(event)
        index = counts.get(thread, 0) + 1
        counts[thread] = index
        earlier: list[tuple[str, int]] = []
        if event.location >= 0:
            before = accesses.setdefault(place, [])
            for other, other_index, other_event in before:
                if ordered(event, other_event):
                    earlier.append((other, other_index))
            earlier.sort()
            before.append((thread, index, event))
        choice = event.choice if event.kind == CHOOSE else 0
        access = (place, program.part_name(event), event.mode, event.structure)
        entries.append((thread, index, event.kind, access, choice, tuple(earlier)))
    entries.sort(key=by_thread)
    return tuple(entries)


def by_thread(entry: tuple[object, ...]) -> tuple[object, ...]:
    return entry[:2]


def ordered(event: Event, other: Event) -> bool:
    """Whether the order of two accesses to one location can be told."""
    both_read = event.mode == READ and other.mode == READ
    both_add = event.mode == ADD and other.mode == ADD
    if both_read or both_add:
        return False
    if event.part == other.part or event.part == ALL or other.part == ALL:
        return True
    if event.structure == NONE or other.structure == NONE:
        return False
    return event.structure == WRITE or other.structure == WRITE

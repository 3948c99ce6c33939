"""Every interleaving of a program, one after the other: the oracle.

It shares nothing with the other searches but running the program, and tells which traces there are:
two interleavings belong to one trace when they have the same events, and order those that depend on
one another in the same way.
"""

from mazurka.engine.event import Event
from mazurka.engine.operation import ADD, ALL, ANY, CHOOSE, NONE, READ, UNKNOWN, WRITE
from mazurka.engine.program import REDUNDANT, Execution
from mazurka.engine.search import Search

Trace = tuple[object, ...]


class NaiveSearch:
    def __init__(self, search: Search) -> None:
        self.search = search
        self.traces: set[Trace] = set()

    def explore(self) -> bool:
        """Run every interleaving; False when the search was ended before."""
        execution = self.search.execution
        untried: list[list[tuple[int, int]]] = []  # (thread, choice) for each position
        keep = 0
        path: list[Event] = []
        while True:
            if not self.search.run(keep, path, []):
                return False
            assert execution.status != REDUNDANT
            self.traces.add(trace_of(execution))
            events = execution.events
            for position in range(keep, len(events)):
                event = events[position]
                if position < len(untried):  # tried here before: only its own choices are new
                    others = []
                else:
                    others = [
                        (other, ANY) for other in event.enabled or [] if other != event.thread
                    ]
                    untried.append([])
                if event.choice + 1 < event.alternatives:
                    others.append((event.thread, event.choice + 1))
                untried[position].extend(others)
            while untried and not untried[-1]:
                untried.pop()
            if not untried:
                return True
            keep = len(untried) - 1
            thread, choice = untried[keep].pop()
            step = Event(thread, UNKNOWN, -1, 0, None, None)
            step.choice = choice
            path = [step]


def trace_of(execution: Execution) -> Trace:
    """The trace of the latest run: a value that is equal for equivalent executions only."""
    counts: dict[str, int] = {}
    accesses: dict[str, list[tuple[str, int, Event]]] = {}  # by place
    entries: list[tuple[object, ...]] = []
    for event in execution.events:
        thread, place = execution.stable_names(event)
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
        access = (place, execution.part_name(event), event.mode, event.structure)
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

"""How many preemptions each trace of a program takes: two oracles for preemption bounding.

A preemption is a switch from one thread to another while the first could go on. A thread cannot go
on if it has ended, waits for a lock, another thread or a value, or has given up an assumption; it
can if it was spawned and has made no step yet. main is a thread like the others. A trace takes as
many preemptions as the interleaving of it that has the fewest.

The first oracle runs every interleaving. The second one takes the traces from POP, and finds the
best interleaving of each from the order of its events: this way goes further, but knows no other
operations that block than taking a lock and joining a thread.
"""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise

from mazurka.engine.event import Event, dependent
from mazurka.engine.operation import ACQUIRE, JOIN, RELEASE, SPAWN, may_block
from mazurka.engine.program import COMPLETE
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.explore.naive import NaiveSearch, Trace, trace_of
from mazurka.explore.pop import Pop
from mazurka.python.program import PythonProgram
from tests.oracles.checks import check_by_hand

MAX_EVENTS = 1000

Program = Callable[[], object]


class TooManyInterleavings(Exception):
    """The oracle has given up."""


@dataclass
class TracesByPreemptions:
    """The traces of a program, each with the preemptions that it takes."""

    complete: dict[Trace, int] = field(default_factory=dict)
    blocked: dict[Trace, int] = field(default_factory=dict)
    outcomes: dict[Trace, str] = field(default_factory=dict)  # of the complete ones

    def add(self, program: EngineProgram, preemptions: int) -> None:
        """One more interleaving, or one with the fewest preemptions."""
        trace = trace_of(program)
        complete = program.answer.status == COMPLETE
        traces = self.complete if complete else self.blocked
        traces[trace] = min(preemptions, traces.get(trace, preemptions))
        if complete:
            self.outcomes[trace] = repr(program.outcome())


def traces_by_preemptions(program: Program, most_interleavings: int) -> TracesByPreemptions:
    """Run every interleaving of the visible operations."""
    found = TracesByPreemptions()

    def explore(search: Search) -> None:
        if not NaiveSearch(search).explore():
            raise TooManyInterleavings

    observe(
        program,
        most_interleavings,
        explore,
        lambda program: found.add(program, preemptions_in(program.events)),
    )
    return found


def traces_by_order(program: Program, with_blocked: bool = True) -> TracesByPreemptions:
    """Run every trace, and look for its best interleaving."""
    found = TracesByPreemptions()

    def look(program: EngineProgram) -> None:
        if with_blocked or program.answer.status == COMPLETE:
            found.add(program, Order(program).fewest_preemptions())

    observe(program, None, lambda search: Pop(search).explore(), look)
    return found


def observe(
    program: Program,
    most: int | None,
    explore: Callable[[Search], object],
    look: Callable[[EngineProgram], None],
) -> None:
    with check_by_hand() as check:
        front_end = PythonProgram(check, program, max_events=MAX_EVENTS)
        explore(Search(front_end, Result(), False, most, None, None, look))


def counts_by_bound(traces: dict[Trace, int]) -> list[int]:
    """How many traces take at most 0, 1, 2, ... preemptions, up to the bound that they all keep."""
    taken = list(traces.values())
    return list(accumulate(taken.count(bound) for bound in range(max(taken, default=0) + 1)))


def preemptions_in(events: list[Event]) -> int:
    """How many preemptions an interleaving has; its events must know who was enabled."""
    return sum(
        last.thread != event.thread and last.thread in (event.enabled or ())
        for last, event in pairwise(events)
    )


Cut = tuple[int, ...]  # how many events each thread has performed
NOBODY = -1


class Order:
    """The events of an execution by their threads, and which of them must come before which.

    Threads are numbered as they come.
    """

    def __init__(self, program: EngineProgram) -> None:
        numbers: dict[int, int] = {}
        for event in [*program.events, *program.answer.waiting]:
            numbers.setdefault(event.thread, len(numbers))
        self.numbers = numbers
        self.steps: list[list[Event]] = [[] for _ in numbers]
        self.pasts: list[list[Cut]] = [[] for _ in numbers]  # of every event
        self.held: list[list[frozenset[int]]] = [[frozenset()] for _ in numbers]  # after so many
        self.spawned: list[Cut] = [(0,) * len(numbers) for _ in numbers]
        self.waiting = {numbers[event.thread]: event for event in program.answer.waiting}
        happened: list[tuple[Event, Cut]] = []
        for event in program.events:
            self.append(event, happened)
        self.end: Cut = tuple(len(steps) for steps in self.steps)

    def append(self, event: Event, happened: list[tuple[Event, Cut]]) -> None:
        """Take one more event in, after those that have happened, each with its own past."""
        thread = self.numbers[event.thread]
        past = list(self.spawned[thread])
        for other, others_past in reversed(happened):
            number = self.numbers[other.thread]
            if past[number] >= others_past[number]:
                continue  # in the past of one that was seen before
            joined = event.kind == JOIN and event.choice == other.thread
            if joined or dependent(event, other):
                past = [max(pair) for pair in zip(past, others_past, strict=True)]
        self.pasts[thread].append(tuple(past))
        self.steps[thread].append(event)
        past[thread] = len(self.steps[thread])
        happened.append((event, tuple(past)))
        if event.kind == SPAWN and event.choice in self.numbers:
            self.spawned[self.numbers[event.choice]] = tuple(past)
        held = self.held[thread][-1]
        if event.kind == ACQUIRE:
            held |= {event.location}
        elif event.kind == RELEASE:
            held -= {event.location}
        self.held[thread].append(held)

    def fewest_preemptions(self) -> int:
        """The shortest way from the beginning of the execution to its end, where a preemption is as
        long as one, and everything else takes nothing."""
        start = (0,) * len(self.end)
        ahead = deque([(0, start, NOBODY)])  # the nearest first
        seen: set[tuple[Cut, int]] = set()
        while True:
            preemptions, cut, last = ahead.popleft()
            if cut == self.end:
                return preemptions
            if (cut, last) in seen:
                continue
            seen.add((cut, last))
            is_able = last != NOBODY and self.can_go_on(cut, last)
            for thread in self.next_threads(cut):
                after = (*cut[:thread], cut[thread] + 1, *cut[thread + 1 :])
                if is_able and thread != last:
                    ahead.append((preemptions + 1, after, thread))
                else:
                    ahead.appendleft((preemptions, after, thread))

    def next_threads(self, cut: Cut) -> Iterator[int]:
        """Who may make the next step, if the execution is to have the same trace."""
        for thread, count in enumerate(cut):
            if count < self.end[thread] and includes(cut, self.pasts[thread][count]):
                # Nothing orders two acquisitions of a lock but the release between them.
                assert self.can_go_on(cut, thread)
                yield thread

    def can_go_on(self, cut: Cut, thread: int) -> bool:
        """Whether a thread is enabled, be it for a step that another trace has there."""
        if not includes(cut, self.spawned[thread]):
            return False
        if cut[thread] < self.end[thread]:
            event = self.steps[thread][cut[thread]]
            if event.kind == JOIN:
                return includes(cut, self.pasts[thread][cut[thread]])
        elif thread in self.waiting:
            event = self.waiting[thread]
            if event.kind == JOIN:
                return False  # the other thread never ends
        else:
            return False
        assert event.kind == ACQUIRE or not may_block(event.kind)
        return event.kind != ACQUIRE or not any(
            event.location in held[count] for held, count in zip(self.held, cut, strict=True)
        )


def includes(cut: Cut, past: Cut) -> bool:
    return all(count >= needed for count, needed in zip(cut, past, strict=True))

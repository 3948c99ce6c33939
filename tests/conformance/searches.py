"""What searches find in toy programs, with any front end, in the words of the oracle."""

import random
from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from mazurka.engine.event import Event
from mazurka.engine.operation import ADD, CHOOSE, NONE, READ, WRITE
from mazurka.engine.program import CUT, REDUNDANT
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import EXCEPTION, Result
from mazurka.engine.search import ALL_OF_THEM, Explorer, Search
from mazurka.engine.task import Task
from mazurka.explore.algorithms import ALGORITHMS
from tests.conformance import oracle
from tests.conformance.front_ends import FrontEnd
from tests.conformance.oracle import Trace
from tests.conformance.programs import LOCK
from tests.conformance.toy import KINDS

NAMES = {kind: name for name, kind in KINDS.items()}
MODES = {NONE: oracle.NONE, READ: oracle.READ, WRITE: oracle.WRITE, ADD: oracle.ADD}
OPTIONS: dict[str, dict[str, Any]] = {
    **{name: {} for name in ALGORITHMS if name != "qpor"},
    **{f"qpor {k}": {"k": k} for k in (1, 2, 3)},
    "qpor optimal": {"k": ALL_OF_THEM},
    **{f"trust within {bound}": {"preemptions": bound} for bound in (0, 1, 2)},
    "reads-from": {"reads_from": True},
}
ALGORITHM_OF = {name: name.split()[0] for name in OPTIONS} | {"reads-from": "trust"}


def trace_of(events: list[Event], threads: int) -> Trace:
    """The trace of an execution, as the oracle has it."""
    steps: list[list[oracle.Step]] = [[] for _ in range(threads)]
    for event in events:
        trace = tuple([tuple(own) for own in steps])
        mode = MODES[event.mode]
        earlier = oracle.depended_on(trace, event.location, mode, event.thread)
        choice = event.choice if event.kind == CHOOSE else 0
        steps[event.thread].append((NAMES[event.kind], event.location, mode, choice, earlier))
    return tuple([tuple(own) for own in steps])


class Found:
    """What a search has found. It may have been made in several parts."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self.traces: Counter[Trace] = Counter()
        self.memory: dict[Trace, dict[int, object]] = {}
        self.failures: dict[Trace, str] = {}
        self.told = 0  # failures, by the search itself
        self.executions = 0
        self.redundant = 0
        self.finished = False
        self.explorer: Explorer | None = None
        self.search: Search | None = None

    def explore(
        self, program: EngineProgram, name: str, most: int | None, tasks: Sequence[Task] = ()
    ) -> list[Task]:
        """Search the whole program, or some tasks; gives what is left if it is stopped."""
        explorer = self.explorer_for(program, name, most)
        for task in tasks:
            explorer.take_up(task)
        self.finished = explorer.explore()
        self.count(explorer.search)
        return [] if self.finished or explorer.cannot_split else explorer.split()

    def follow_branches(self, program: EngineProgram, name: str, chance: random.Random) -> None:
        """Follow all branches of the tree of a search, in any order."""
        explorer = self.explorer_for(program, name, None)
        branches = [branch for _, branch in explorer.below(None)]
        while branches:
            chosen = branches.pop(chance.randrange(len(branches)))
            branches += [branch for _, branch in explorer.below(chosen)]
        self.finished = True
        self.count(explorer.search)

    def explorer_for(self, program: EngineProgram, name: str, most: int | None) -> Explorer:
        result = Result(algorithm=ALGORITHM_OF[name])
        search = Search(program, result, False, most, None, None, self.observe)
        for option, value in OPTIONS[name].items():
            setattr(search, option, value)
        self.search = search
        self.explorer = ALGORITHMS[ALGORITHM_OF[name]](search)
        return self.explorer

    def count(self, search: Search) -> None:
        self.executions += search.counted
        self.redundant += search.result.redundant
        self.told += len(search.result.failures)
        assert not search.is_broken, search.result.failures[-1]

    def observe(self, program: EngineProgram) -> None:
        assert self.search is not None
        if self.search.reads_from and self.search.counted == 1:
            self.forget()  # it has begun anew
        answer = program.answer
        if answer.status == REDUNDANT or answer.status == CUT:
            return
        trace = trace_of(program.events, self.threads)
        self.traces[trace] += 1
        self.memory[trace] = {
            event.location: program.values.apply(event, event.before)[1]
            for event in program.events
            if 0 <= event.location < LOCK
        }
        if answer.failed:
            kind = program.failure().kind
            self.failures[trace] = "failed" if kind == EXCEPTION else "blocked"

    def forget(self) -> None:
        self.traces.clear()
        self.memory.clear()
        self.failures.clear()


def found_by(
    name: str, front_end: FrontEnd, program: oracle.Program, most: int | None = None
) -> Found:
    found = Found(len(program))
    with front_end.make(program) as subject:
        found.explore(subject, name, most)
    return found


def found_by_branches(name: str, front_end: FrontEnd, program: oracle.Program, seed: int) -> Found:
    found = Found(len(program))
    with front_end.make(program) as subject:
        found.follow_branches(subject, name, random.Random(seed))
    return found


def found_in_tasks(
    name: str, front_end: FrontEnd, program: oracle.Program, executions: int, at_a_time: int
) -> Found:
    """The same in parts: an explorer takes up a few tasks, runs a few executions, and leaves the
    rest to others, which know nothing but the texts of its tasks."""
    found = Found(len(program))
    texts = [Task(ALGORITHM_OF[name]).to_json()]
    while texts:
        tasks = [Task.from_json(text) for text in texts[:at_a_time]]
        del texts[:at_a_time]
        with front_end.make(program) as subject:
            left = found.explore(subject, name, executions, tasks)
        texts += [task.to_json() for task in left]
    return found


# Reads-from equivalence


def reads_from(trace: Trace, in_order: Collection[int]) -> Trace:
    """A trace without the order of writes that nobody tells apart, but for some locations."""
    return tuple(
        [
            tuple(
                [
                    (*step[:4], sources_of(trace, thread, place, in_order))
                    for place, step in enumerate(steps)
                ]
            )
            for thread, steps in enumerate(trace)
        ]
    )


def sources_of(trace: Trace, thread: int, place: int, in_order: Collection[int]) -> object:
    name, location, _, _, earlier = trace[thread][place]
    if location in in_order or location < 0:
        return earlier
    if name == "store":
        return ()
    writes = [
        *[(other, index) for other, index in earlier if trace[other][index][2] == oracle.WRITE],
        *writes_of(trace, thread, place, location),
    ]
    return max(writes, key=lambda write: number_of(trace, write), default=None)


def number_of(trace: Trace, write: tuple[int, int]) -> int:
    """How many accesses come before a write to their location."""
    thread, place = write
    location, earlier = trace[thread][place][1], trace[thread][place][4]
    own = [step for step in trace[thread][:place] if step[1] == location]
    return len(earlier) + len(own)


def writes_of(trace: Trace, thread: int, end: int, location: int) -> list[tuple[int, int]]:
    return [
        (thread, place)
        for place, step in enumerate(trace[thread][:end])
        if step[1] == location and step[2] == oracle.WRITE
    ]

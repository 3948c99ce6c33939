"""The reads-from relation of executions, computed from their events alone, for the oracle."""

from typing import Any, NamedTuple

from mazurka.engine.event import Event
from mazurka.engine.operation import CHOOSE, FETCH_ADD, LOAD, READ, STORE
from mazurka.engine.program import REDUNDANT
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.explore.naive import NaiveSearch, ordered
from mazurka.explore.trust.reads_from import ReadsFrom
from mazurka.python.program import PythonProgram
from tests.oracles.checks import check_of_objects
from tests.oracles.interleavings import Program, as_function


class Access(NamedTuple):
    thread: str
    number: int
    location: str
    part: str
    event: Event


class Run(NamedTuple):
    """One execution, and the locations on which coherence counts in it: what threads do there
    depends on the last write."""

    status: int
    accesses: list[Access]
    in_order: set[str]


def run_of(program: EngineProgram) -> Run:
    counts: dict[str, int] = {}
    accesses = []
    for event in program.events:
        thread, location = program.stable_names(event)
        counts[thread] = counts.get(thread, 0) + 1
        place = location if event.location >= 0 else ""
        accesses.append(Access(thread, counts[thread], place, program.part_name(event), event))
    in_order = {access.location for access in accesses if not is_plain(access.event)}
    in_order |= {program.stable_names(waiting)[1] for waiting in program.answer.waiting}
    return Run(program.answer.status, accesses, in_order)


def is_plain(event: Event) -> bool:
    return LOAD <= event.kind <= FETCH_ADD


def relation(run: Run, in_order: set[str]) -> Any:
    """What each event is, and what it reads from; where coherence counts, what it comes after."""
    found = []
    for place, access in enumerate(run.accesses):
        event = access.event
        before = [
            other
            for other in run.accesses[:place]
            if access.location and other.location == access.location
        ]
        if access.location in in_order:
            before = [other for other in before if ordered(event, other.event)]
        elif event.kind == STORE:
            before = []
        else:
            before = [other for other in before if other.event.mode != READ][-1:]
        choice = event.choice if event.kind == CHOOSE else 0
        what = (event.kind, access.location, access.part, event.mode, event.structure, choice)
        sources = frozenset((other.thread, other.number) for other in before)
        found.append((access.thread, access.number, what, sources))
    return run.status, frozenset(found)


class Explored:
    """What a search met, up to reads-from equivalence."""

    def __init__(
        self, program: Program, search_class: Any, independent_adds: bool, most: int
    ) -> None:
        self.runs: list[Run] = []
        self.result = Result()
        with check_of_objects() as check:
            front_end = PythonProgram(check, as_function(program), independent_adds)
            search = Search(front_end, self.result, False, most, None, None, self.observe)
            self.search = search
            self.finished: bool = search_class(search).explore()

    def observe(self, program: EngineProgram) -> None:
        if self.search.counted == 1:
            self.runs.clear()  # it has begun anew
        if program.answer.status != REDUNDANT:
            self.runs.append(run_of(program))


def wrong_with_reads_from(program: Program, independent_adds: bool, most: int = 500) -> str | None:
    """What is wrong with the search up to reads-from equivalence; None if nothing is, "" if the
    program is too large."""
    oracle = Explored(program, NaiveSearch, independent_adds, most)
    if not oracle.finished:
        return ""
    found = Explored(program, ReadsFrom, independent_adds, 10 * most)
    if not found.finished:
        return "it does not end"
    in_order = set().union(*(run.in_order for run in oracle.runs))
    expected = {relation(run, in_order) for run in oracle.runs}
    relations = [relation(run, in_order) for run in found.runs]
    missed = len(expected - set(relations))
    if missed:
        return f"it misses {missed} of {len(expected)} reads-from relations"
    if set(relations) - expected:
        return "it invents reads-from relations"
    if len(relations) > len(expected):
        return f"it has {len(relations)} executions for {len(expected)} reads-from relations"
    return None

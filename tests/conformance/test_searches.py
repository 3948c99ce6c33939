"""Every search on every front end, against the oracle, on generated programs."""

from collections import Counter

import pytest
from hypothesis import assume, example, given

from mazurka.engine.errors import MazurkaError
from mazurka.engine.program import Request
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.engine.task import CannotSplit, Task
from mazurka.explore.algorithms import ALGORITHMS, SAMPLERS
from mazurka.explore.naive import NaiveSearch
from tests.conformance.front_ends import FRONT_ENDS, FrontEnd
from tests.conformance.oracle import WRITE, Ending, Program, TooLarge, Trace, traces_of
from tests.conformance.programs import LOCK, any_program
from tests.conformance.searches import (
    ALGORITHM_OF,
    OPTIONS,
    Found,
    found_by,
    found_by_branches,
    found_in_tasks,
    reads_from,
)
from tests.oracles.generated import PROGRAMS, generated

MOST = 300  # traces
SPLITTING = ["naive", "pop", "trust"]
BOUNDED = ["trust within 0", "trust within 1", "trust within 2"]
OPTIMAL = ["optimal", "pop", "trust", "qpor optimal"]
EXHAUSTIVE = [*OPTIMAL, "source", "qpor 1", "qpor 2", "qpor 3"]

# A thread is left before another one is spawned which then enables it.
SPAWNED_LATE: Program = (
    (("spawn", 1), ("await", 0, 1), ("spawn", 2)),
    (("store", 0, 1), ("await", 1, 1)),
    (("store", 1, 1),),
)

every_front_end = pytest.mark.parametrize("name", FRONT_ENDS)


def expected_of(program: Program, front_end: FrontEnd) -> dict[Trace, Ending]:
    try:
        return traces_of(program, front_end.wraps, MOST)
    except TooLarge:
        assume(False)
        raise


def check(found: Found, expected: dict[Trace, Ending]) -> None:
    """A search has found the traces, with what is left in memory, and the failures."""
    assert found.finished
    assert set(found.traces) == set(expected)
    for trace, ending in expected.items():
        memory = {place: value for place, value in ending.state.memory if place < LOCK}
        assert found.memory[trace] == memory
        failure = "failed" if ending.state.failed else "blocked" if ending.state.blocked else None
        assert found.failures.get(trace) == failure


def may_be_redundant(search: str, program: Program) -> bool:
    """Only where adds can disable an await may POP and TruSt have redundant executions."""
    if search == "pop" or search == "trust":
        instructions = [instruction for thread in program for instruction in thread]
        added = {instruction[1] for instruction in instructions if instruction[0] == "add"}
        awaited = {instruction[1] for instruction in instructions if "await" in instruction[0]}
        return bool(added & awaited)
    return search not in OPTIMAL


@every_front_end
@given(program=any_program)
@generated(PROGRAMS // 8)
def test_every_search_finds_every_trace_once(name: str, program: Program) -> None:
    front_end = FRONT_ENDS[name]
    expected = expected_of(program, front_end)
    for search in EXHAUSTIVE:
        found = found_by(search, front_end, program)
        check(found, expected)
        assert max(found.traces.values()) == 1
        assert found.executions == len(expected) + found.redundant
        assert not found.redundant or may_be_redundant(search, program)
        if not found.redundant:
            assert found.told == len(found.failures)


@every_front_end
@given(program=any_program)
@generated(PROGRAMS // 8)
def test_the_naive_search_finds_every_interleaving(name: str, program: Program) -> None:
    front_end = FRONT_ENDS[name]
    expected = expected_of(program, front_end)
    interleavings = Counter({trace: ending.interleavings for trace, ending in expected.items()})
    assume(interleavings.total() <= 1000)
    found = found_by("naive", front_end, program)
    check(found, expected)
    assert found.traces == interleavings
    assert isinstance(found.explorer, NaiveSearch)
    assert len(found.explorer.traces) == len(expected)


@every_front_end
@given(program=any_program)
@generated(PROGRAMS // 8)
def test_reads_from_searches_find_every_source_once(name: str, program: Program) -> None:
    front_end = FRONT_ENDS[name]
    expected = expected_of(program, front_end)
    in_order = {place for trace in expected for place in places_in_order(trace)}
    for ending in expected.values():
        for thread in ending.state.threads:
            if thread is not None and thread.left and thread.left[0][0] != "join":
                in_order.add(thread.left[0][1])
    found = found_by("reads-from", front_end, program)
    relations = Counter([reads_from(trace, in_order) for trace in found.traces.elements()])
    assert set(relations) == {reads_from(trace, in_order) for trace in expected}
    assert max(relations.values()) == 1


def places_in_order(trace: Trace) -> set[int]:
    """The locations that were accessed by more than loads, stores and read-modify-writes."""
    plain = ("load", "store", "exchange", "compare_exchange", "fetch_add")
    return {step[1] for steps in trace for step in steps if step[0] not in plain}


# Bounds


@every_front_end
@given(program=any_program)
@example(program=SPAWNED_LATE)
@generated(PROGRAMS // 10)
def test_bounded_searches_find_what_takes_few_preemptions(name: str, program: Program) -> None:
    """They may find more, but nothing twice; and in tasks they find the same."""
    front_end = FRONT_ENDS[name]
    expected = expected_of(program, front_end)
    for bound, search in enumerate(BOUNDED):
        found = found_by(search, front_end, program)
        within = {
            trace for trace, ending in expected.items() if min(ending.preemptions.values()) <= bound
        }
        assert found.finished
        assert within <= set(found.traces) <= set(expected)
        assert max(found.traces.values(), default=0) <= 1
        parts = found_in_tasks(search, front_end, program, 1, 1)
        assert parts.traces == found.traces
        assert parts.executions == found.executions


# Tasks


@every_front_end
@given(program=any_program)
@generated(PROGRAMS // 10)
@pytest.mark.parametrize("search", SPLITTING)
def test_tasks_together_are_the_search(search: str, name: str, program: Program) -> None:
    """However few executions each of them runs, and whoever takes them up."""
    front_end = FRONT_ENDS[name]
    expected = expected_of(program, front_end)
    assume(search != "naive" or sum([end.interleavings for end in expected.values()]) < 100)
    whole = found_by(search, front_end, program)
    for executions, at_a_time in ((1, 1), (2, 3)):
        parts = found_in_tasks(search, front_end, program, executions, at_a_time)
        check(parts, expected)
        assert parts.traces == whole.traces
        counts = (whole.executions, whole.redundant, whole.told)
        assert (parts.executions, parts.redundant, parts.told) == counts


@every_front_end
@given(program=any_program)
@generated(PROGRAMS // 10)
@pytest.mark.parametrize("search", [*SPLITTING, "trust within 1"])
def test_branches_together_are_the_search(search: str, name: str, program: Program) -> None:
    """In whatever order they are followed."""
    front_end = FRONT_ENDS[name]
    expected = expected_of(program, front_end)
    assume(search != "naive" or sum([end.interleavings for end in expected.values()]) < 100)
    whole = found_by(search, front_end, program)
    for seed in range(2):
        followed = found_by_branches(search, front_end, program, seed)
        assert followed.traces == whole.traces
        counts = (whole.executions, whole.redundant, whole.told)
        assert (followed.executions, followed.redundant, followed.told) == counts


@every_front_end
def test_branches_have_an_end_where_a_thread_waits_for_another(name: str) -> None:
    """Computed executions once had the first thread wait for itself."""
    first = (("spawn", 1), ("spawn", 2), ("try acquire", 2), ("try acquire", 2), ("join", 1))
    program: Program = (first, (("release", 2),), (("try acquire", 2), ("release", 2)))
    whole = found_by("trust within 1", FRONT_ENDS[name], program)
    assert found_by_branches("trust within 1", FRONT_ENDS[name], program, 0).traces == whole.traces


@every_front_end
@pytest.mark.parametrize("search", [name for name in OPTIONS if name not in SPLITTING + BOUNDED])
def test_others_say_why_they_cannot_split(search: str, name: str) -> None:
    program: Program = ((("spawn", 1), ("store", 0, 1)), (("store", 0, 2),))
    found = Found(2)
    with FRONT_ENDS[name].make(program) as subject:
        assert found.explore(subject, search, 1) == []
        explorer = found.explorer
        assert explorer is not None
        assert explorer.cannot_split
        with pytest.raises(CannotSplit, match="cannot hand over work: ") as refusal:
            explorer.split()
        assert explorer.cannot_split in str(refusal.value)
        with pytest.raises(CannotSplit):
            explorer.take_up(Task(ALGORITHM_OF[search]))
        with pytest.raises(CannotSplit):
            explorer.below(None)


@pytest.mark.parametrize("search", ["pop", "trust"])
def test_tasks_that_do_not_fit_are_refused(search: str) -> None:
    program: Program = ((("spawn", 1), ("store", 0, 1)), (("store", 0, 2),))
    front_end = FRONT_ENDS["toy"]
    with front_end.make(program) as subject:
        task = Found(2).explore(subject, search, 1)[0]
        for word, note in task.notes.items():
            others = {other: task.notes[other] for other in task.notes if other != word}
            for notes in (others, {**others, word: [*note, *note, *note, "0:x"]}):
                wrong = Task(search, task.steps, notes)
                explorer = ALGORITHMS[search](Search(subject, Result(), False, 1, None, None))
                with pytest.raises(MazurkaError, match="not a task"):
                    explorer.take_up(wrong)


# Sampling


@every_front_end
@given(program=any_program)
@generated(PROGRAMS // 20)
@pytest.mark.parametrize("search", SAMPLERS)
def test_samplers_meet_traces(search: str, name: str, program: Program) -> None:
    """None that is not there, and the same ones again with the same seed."""
    front_end = FRONT_ENDS[name]
    expected = expected_of(program, front_end)
    found = found_by(search, front_end, program, 20)
    assert not found.finished
    assert found.executions == sum(found.traces.values()) == 20
    assert set(found.traces) <= set(expected)
    assert found.search is not None
    assert found.search.result.traces == len(found.traces)
    assert found_by(search, front_end, program, 20).traces == found.traces


@every_front_end
def test_samplers_meet_all_traces_in_the_end(name: str) -> None:
    program: Program = (
        (("spawn", 1), ("spawn", 2), ("store", 0, 1)),
        (("store", 0, 2), ("choose", 2)),
        (("load", 0),),
    )
    expected = traces_of(program)
    assert any(step[2] == WRITE for trace in expected for steps in trace for step in steps)
    for search in SAMPLERS:
        assert set(found_by(search, FRONT_ENDS[name], program, 400).traces) == set(expected)


@every_front_end
@given(program=any_program)
@generated(PROGRAMS // 20)
def test_programs_repeat_themselves(name: str, program: Program) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        search = Search(subject, Result(), False, None, None, None)
        assert search.repeats_itself()
        length = len(search.first)
        subject.run(Request(search.first))
        assert len(search.first) == length

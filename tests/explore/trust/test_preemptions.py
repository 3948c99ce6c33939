"""Bounding preemptions: every execution within the bound, each once."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mazurka
from benchmarks.bounds import explore_within
from benchmarks.paper import PaperRow, rows
from mazurka import Atomic, Lock, Semaphore, spawn
from mazurka.engine.event import copy_of
from mazurka.engine.order import HappensBefore
from mazurka.engine.program import BLOCKED, COMPLETE
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.explore.naive import NaiveSearch, Trace, trace_of
from mazurka.explore.sampling import PartialOrders
from mazurka.explore.trust.preemptions import Bound
from mazurka.explore.trust.visit import Trust
from mazurka.python.primitives.threads import Handle
from mazurka.python.program import PythonProgram
from tests.explore.test_oracle import any_program, instruction, programs, value, variable
from tests.oracles.checks import check_by_hand, check_of_objects
from tests.oracles.generated import PROGRAMS, generated
from tests.oracles.interleavings import Program, as_function
from tests.oracles.preemptions import Order, preemptions_in

BOUNDS = range(4)


class Exploration:
    """The traces that a search meets, how often, and the fewest preemptions of each, if every
    interleaving is run."""

    def __init__(self, program: Program, independent_adds: bool, bound: int | None, most: int):
        self.traces: Counter[Trace] = Counter()
        self.preemptions: dict[Trace, int] = {}
        self.complete: set[Trace] = set()
        self.result = Result()
        with check_of_objects() as check:
            front_end = PythonProgram(check, as_function(program), independent_adds)
            search = Search(front_end, self.result, False, most, None, None, self.observe)
            if bound is None:
                self.finished = NaiveSearch(search).explore()
            else:
                search.preemptions = bound
                self.finished = Trust(search).explore()

    def observe(self, program: EngineProgram) -> None:
        if program.answer.status in (COMPLETE, BLOCKED):
            trace = trace_of(program)
            self.traces[trace] += 1
            preemptions = preemptions_in(program.events)
            self.preemptions[trace] = min(preemptions, self.preemptions.get(trace, preemptions))
            if program.answer.status == COMPLETE:
                self.complete.add(trace)


def disagreement(program: Program, independent_adds: bool) -> str | None:
    """What is wrong with the bounds on a program; None if nothing is, "" if it is too large."""
    oracle = Exploration(program, independent_adds, None, 500)
    if not oracle.finished:
        return ""
    for bound in BOUNDS:
        found = Exploration(program, independent_adds, bound, 5000)
        within = {trace for trace, taken in oracle.preemptions.items() if taken <= bound}
        beyond = (found.complete & set(oracle.preemptions)) - within
        if not found.finished:
            return f"bound {bound}: does not end"
        if within - set(found.traces):
            return f"bound {bound}: misses {len(within - set(found.traces))} of {len(within)}"
        if set(found.traces) - set(oracle.preemptions):
            return f"bound {bound}: invents traces"
        if max(found.traces.values(), default=0) > 1:
            return f"bound {bound}: explores a trace twice"
        if found.result.beyond != len(beyond):
            return f"bound {bound}: {found.result.beyond} beyond it, not {len(beyond)}"
        if not found.result.cut and len(found.traces) < len(oracle.preemptions):
            return f"bound {bound}: does not say that something was left out"
    return None


lock = st.integers(0, 1)
accesses = st.one_of(instruction("load", variable), instruction("store", variable, value))
with_locks = programs(
    instruction("with", lock, st.lists(accesses, max_size=2).map(tuple)),
    instruction("load", variable),
    instruction("store", variable, value),
)


@pytest.mark.slow
@generated(max(PROGRAMS // 10, 1))
@given(
    st.one_of(
        any_program,
        with_locks,
        programs(instruction("load", variable), instruction("store", variable, value)),
    ),
    st.booleans(),
)
def test_bounds_agree_with_the_oracle(program: Program, independent_adds: bool) -> None:
    problem = disagreement(program, independent_adds)
    assume(problem != "")
    assert problem is None, f"{problem}: {program!r}, independent_adds={independent_adds}"


# Counting, on executions drawn at random: five threads with locks, of which some join others.

Step = tuple[str, int]


def run_steps(crews: list[list[Step]]) -> None:
    """main is the first thread, and spawns the others before its own steps."""
    variables = [Atomic(0) for _ in range(3)]
    locks = [Lock() for _ in range(2)]
    handles: list[Handle] = []

    def perform(number: int) -> None:
        for name, choice in crews[number]:
            if name == "load":
                variables[choice].load()
            elif name == "store":
                variables[choice].store(number)
            elif name == "lock":
                locks[choice % 2].acquire()
                variables[choice].load()
                locks[choice % 2].release()
            elif choice < number - 1 or number == 0:
                handles[choice].join()

    handles.extend(spawn(perform, number) for number in range(1, len(crews)))
    perform(0)


steps = st.lists(
    st.tuples(st.sampled_from(["load", "store", "lock", "join"]), st.integers(0, 2)),
    min_size=1,
    max_size=4,
)


@generated(6 * PROGRAMS)
@given(st.lists(steps, min_size=4, max_size=5))
def test_counts_agree_with_the_shortest_way(crews: list[list[Step]]) -> None:
    def look(program: EngineProgram) -> None:
        order = HappensBefore(program.values)
        for event in program.events:
            copied = copy_of(event)
            copied.before, copied.after = event.before, event.after
            order.extend(copied)
        expected = Order(program).fewest_preemptions()
        waiting = program.answer.waiting
        bound = Bound(program, order, 0)
        bound.note_waiting(order.events)
        assert bound.fewest(waiting) == expected, crews

    with check_by_hand() as check:
        front_end = PythonProgram(check, lambda: run_steps(crews))
        search = Search(front_end, Result(), False, 4, None, None, look)
        PartialOrders(search).explore()


COUNTER_EXAMPLES: dict[str, Program] = {
    # An execution that was at its end when it went beyond the bound was taken for one cut short.
    "a deadlock beyond the bound": (
        (("load", 0), ("barrier wait", None)),
        (("store", 0, None), ("store", 0, 0)),
    ),
    # An operation on what nobody accesses was taken for one that was enabled before.
    "waiting for what never happens": ((("event wait",),), (("load", 0),)),
}


@pytest.mark.parametrize("name", COUNTER_EXAMPLES)
def test_counter_examples(name: str) -> None:
    assert disagreement(COUNTER_EXAMPLES[name], False) is None


# The paper's programs

SMALL = 100
BOUNDED_ROWS = [
    row
    for name in ("buster-1", "buster-3", "buster-4")
    for row in rows(name)
    if row.by_bound and row.expected_complete is not None and row.expected_complete <= SMALL
]


@pytest.mark.parametrize("row", BOUNDED_ROWS, ids=str)
def test_programs_of_the_paper(row: PaperRow) -> None:
    for bound in BOUNDS:
        found = explore_within(row, bound, 20_000)
        assert found.reason == ""
        assert found.difference == ""


def test_the_paper_explores_more() -> None:
    """Three threads take a lock four times each: the paper's 21, 195 and 1041 are with slack."""
    row = next(row for row in rows("buster-3") if str(row) == "ttas-lock3(4)")
    for bound, exact in enumerate((6, 60, 402)):
        found = explore_within(row, bound, 20_000)
        assert (found.within, found.reason) == (exact, "")
        assert found.within + found.beyond <= int(row.paper_by_bound[bound])


def test_threads_that_wait_may_take_more_than_the_slack() -> None:
    """Among events that are deleted later, the first thread preempts the second at each permit:
    with the paper's slack of N-2, the execution in which the third one writes first is lost."""

    def program() -> object:
        permits = Semaphore(0)
        x, y = Atomic(0), Atomic(0)

        def reader() -> int:
            first = x.load()
            for _ in range(4):
                permits.acquire()
                y.load()
            return first

        def giver() -> None:
            for step in range(4):
                permits.release()
                y.store(step)

        children = [spawn(reader), spawn(giver), spawn(x.store, 1)]
        first, *_ = [child.join() for child in children]
        return first

    result = mazurka.explore(program, preemptions=0, instrument=None)
    assert set(result.outcomes) == {0, 1}


# What a user sees


def lost_update() -> None:
    counter = Atomic(0)

    def increment() -> None:
        counter.store(counter.load() + 1)

    for child in [spawn(increment) for _ in range(2)]:
        child.join()
    assert counter.load() == 2


def with_a_lock() -> None:
    counter = Atomic(0)
    lock = Lock()

    def increment() -> None:
        for _ in range(3):
            with lock:
                counter.store(counter.load() + 1)

    for child in [spawn(increment) for _ in range(2)]:
        child.join()
    assert counter.load() == 6


def explore(program: Any, **options: Any) -> Result:
    return mazurka.explore(program, instrument=None, **options)


def test_verdicts() -> None:
    none = explore(lost_update, preemptions=0)
    assert (none.verdict, none.bound) == ("bounded", "at most 0 preemptions")
    assert none.complete == 2 and none.cut
    assert explore(lost_update, preemptions=1).verdict == "failed"
    all_within = explore(with_a_lock, preemptions=5)
    assert (all_within.verdict, all_within.bound) == ("verified", "")
    assert all_within.complete == explore(with_a_lock).complete
    assert all_within.algorithm == "trust"


def test_bounds_go_up() -> None:
    failed = explore(lost_update, preemptions="0..")
    assert failed.verdict == "failed"
    verified = explore(with_a_lock, preemptions="0..")
    assert verified.verdict == "verified"
    assert verified.complete == explore(with_a_lock).complete


def test_a_limit_leaves_the_last_bound_that_was_reached() -> None:
    fewest = explore(with_a_lock, preemptions=0).executions
    result = explore(with_a_lock, preemptions="0..", max_executions=fewest)
    assert result.verdict == "bounded"
    assert result.bound.startswith("at most 0 preemptions; with 1, it stopped after max_executions")
    assert explore(with_a_lock, preemptions="0..", max_executions=1).verdict == "incomplete"


def beyond() -> None:
    """Fails in an execution that takes more preemptions than some that it leads to."""
    x = Atomic(0)

    def twice() -> None:
        x.store(1)
        x.store(2)

    def look() -> None:
        assert (x.load(), x.load()) != (0, 1)

    spawn(look)
    spawn(twice)


def test_failures_beyond_the_bound_are_told_as_such() -> None:
    results = [explore(beyond, preemptions=bound, stop_on_failure=False) for bound in (0, 1, 2)]
    for bound, result in enumerate(results):
        strict = explore(beyond, preemptions=bound, stop_on_failure=False, strict_bound=True)
        told = [
            failure
            for failure in result.failures
            if f"more than the bound of {bound}" in failure.details[-1]
        ]
        assert len(result.failures) - len(told) == len(strict.failures)
    assert results[2].failures


@pytest.mark.parametrize("preemptions", [-1, "x", "..", "1..2", 1.5, True])
def test_bad_bounds(preemptions: Any) -> None:
    with pytest.raises(mazurka.MazurkaError, match="preemptions must be a whole number"):
        explore(lost_update, preemptions=preemptions)


def test_other_algorithms_do_not_bound() -> None:
    with pytest.raises(mazurka.MazurkaError, match="optimal does not bound preemptions: use trust"):
        explore(lost_update, preemptions=1, algorithm="optimal")


def test_what_is_not_told_is_left_out() -> None:
    """The only execution that fails takes a preemption, and is run to its end all the same."""

    def program() -> None:
        tasks = mazurka.Queue()
        spawn(tasks.put, "never done")
        tasks.join()

    told = explore(program, preemptions=0)
    assert told.verdict == "failed" and not told.cut
    assert "more than the bound of 0" in told.failures[0].details[-1]
    assert explore(program, preemptions=0, strict_bound=True).verdict == "bounded"
    assert explore(program, preemptions="0..", strict_bound=True).verdict == "failed"

"""The programs of the paper on preemption bounding have the counts to expect, with and without a
bound, and fail where they should."""

import pytest

import mazurka
from benchmarks.buster import NOTHING_VIOLATED
from benchmarks.comparison import difference
from benchmarks.measure import measure
from benchmarks.paper import TABLES, PaperRow, rows
from benchmarks.registry import BENCHMARKS, COUNTED, parse
from tests.oracles.preemptions import (
    TooManyInterleavings,
    TracesByPreemptions,
    counts_by_bound,
    traces_by_order,
    traces_by_preemptions,
)

pytestmark = pytest.mark.papers

SMALL = 300  # complete executions
MEDIUM = 1300
LARGE = 5000

BUSTER_ROWS = [row for name in TABLES if name.startswith("buster-") for row in rows(name)]

TOO_LARGE = {"treiber(6,0)"}  # 720 complete executions, and 75,156 that are blocked

# So few interleavings that all of them can be run: up to 8,000, and
EVERY_INTERLEAVING = [
    "account-bad-counted",
    "bluetooth-driver-bad-counted",
    "circular-buffer-bad-counted(2)",
    "circular-buffer-bad-counted(3)",
    "din-phil-sat-counted(2)",
    "din-phil-sat-protected-counted(2)",
    "lazy01-bad-counted",
    "queue-bad-counted(2)",
    "queue-bad-counted(3)",
    "reorder-bad-counted(1,1)",
    "reorder-bad-counted(2,1)",
    "stack-bad-counted(2)",
    "stack-bad-counted(3)",
    "token-ring-bad-counted",
    "twostage-bad-counted(1,1)",
    "wronglock-bad-counted(1,1)",
    "sigma-unsafe-counted(1)",
    "sigma-unsafe-counted(2)",
    "singleton-unsafe-counted",
    "stateful01-unsafe-counted",
    "triangular-unsafe-counted(1)",
    "triangular-unsafe-counted(2)",
    "triangular-unsafe-counted(3)",
    "triangular-joined-counted(2)",
    "triangular-joined-counted(3)",
    "locked-stores(2,2)",
    "locked-stores(3,3)",
    "locked-stores(2,4)",
    "locked-stores(4,4)",
    "ttas-lock2(1)",
    "ttas-lock2(2)",
    "ttas-lock2(4)",
    "ttas-lock3(1)",
    "ttas-lock-reading(2,1)",
    "bstack(1)",
    "bstack(2)",
    "bstack2(1)",
    "bstack2(2)",
    "bstack2(3)",
    "bstack-opposed(1)",
    "bstack-opposed(2)",
    "bstack-opposed(3)",
    "treiber(2,0)",
    "treiber-retrying(2,0)",
    "ms-queue(1)",
    "ms-queue2(1)",
    "ms-queue-opposed(1)",
    "ms-queue-retrying-opposed(1)",
    "dglm-queue2(1)",
    "dglm-queue-checked(1)",
    "dglm-queue-checked-opposed(1)",
    "dglm-queue-retrying-opposed(1)",
]
# up to 20,000.
MORE_INTERLEAVINGS = [
    "circular-buffer-bad-counted(4)",
    "queue-bad-counted(4)",
    "sigma-unsafe-counted(3)",
    "stack-bad-counted(4)",
    "ms-queue-retrying2(1)",
]


def rows_between(least: int, most: int) -> list[PaperRow]:
    return [
        row
        for row in BUSTER_ROWS
        if least <= (row.expected_complete or 0) <= most and str(row) not in TOO_LARGE
    ]


def bounded_rows(least: int, most: int) -> list[PaperRow]:
    """Those of which it is known how many preemptions they take."""
    return [
        row
        for row in rows_between(least, most)
        if row.by_bound or row.least_preemptions is not None
    ]


def row_called(name: str) -> PaperRow:
    return next(row for row in BUSTER_ROWS if str(row) == name)


def check_row(row: PaperRow, algorithm: str) -> None:
    assert difference(row, measure(parse(str(row)), algorithm, None, None, True)) == ""


@pytest.mark.parametrize("algorithm", ["pop", "optimal"])
@pytest.mark.parametrize("row", rows_between(1, SMALL), ids=str)
def test_small_programs(row: PaperRow, algorithm: str) -> None:
    check_row(row, algorithm)


@pytest.mark.slow
@pytest.mark.parametrize("row", rows_between(SMALL + 1, LARGE), ids=str)
def test_larger_programs(row: PaperRow) -> None:
    check_row(row, "pop")


def test_every_program_is_tested_and_every_row_has_its_program() -> None:
    names = {name for name, benchmark in BENCHMARKS.items() if benchmark.table.startswith("buster")}
    tested = {row.benchmark for row in rows_between(1, SMALL)}
    assert tested | {name.removesuffix(COUNTED) for name in tested} == names
    unknown = {"stack-oe", "ms-oe", "dglm-oe", "dglm-fifo"}  # nobody knows their clients
    for row in BUSTER_ROWS:
        if row.benchmark not in unknown:
            assert parse(str(row)).parameter == row.parameter


# The errors


def explore_checked(row: PaperRow) -> mazurka.Result:
    """The same program with checks that raise."""
    name = str(row).replace(COUNTED, "")
    return mazurka.explore(parse(name).program(), instrument=None)


COUNTED_ROWS = [row for row in rows("buster-1") if row.expected_complete is not None]


@pytest.mark.parametrize(
    "row", [row for row in COUNTED_ROWS if row.expected_violating != 0], ids=str
)
def test_checks_fail(row: PaperRow) -> None:
    result = explore_checked(row)
    assert result.verdict == "failed"
    assert isinstance(result.failures[0].exception, AssertionError)


@pytest.mark.parametrize(
    "row", [row for row in COUNTED_ROWS if row.expected_violating == 0], ids=str
)
def test_checks_hold_if_nothing_violates_them(row: PaperRow) -> None:
    assert explore_checked(row).verdict == "verified"


# Preemptions


def check_bounds(row: PaperRow, found: TracesByPreemptions) -> None:
    counts = counts_by_bound(found.complete)
    assert counts[-1] == row.expected_complete
    for bound, expected in enumerate(row.by_bound):
        assert counts[min(bound, len(counts) - 1)] == expected
    if row.by_bound and row.by_bound[-1] == row.expected_complete:
        assert len(counts) <= len(row.by_bound)
    if parse(str(row)).benchmark.counts_violations:
        violating = violations_of(found)
        assert row.expected_violating in (None, len(violating))
        assert row.least_preemptions in (None, min(violating, default=None))


def violations_of(found: TracesByPreemptions) -> list[int]:
    """The preemptions of every trace that violates a check."""
    return [
        found.complete[trace]
        for trace, outcome in found.outcomes.items()
        if outcome != NOTHING_VIOLATED
    ]


def check_every_interleaving(name: str) -> None:
    row = row_called(name)
    program = parse(name).program()
    found = traces_by_preemptions(program, 20_000)
    check_bounds(row, found)
    assert found == traces_by_order(program)


@pytest.mark.parametrize("name", EVERY_INTERLEAVING)
def test_preemptions_of_every_interleaving(name: str) -> None:
    check_every_interleaving(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", MORE_INTERLEAVINGS)
def test_preemptions_of_more_interleavings(name: str) -> None:
    check_every_interleaving(name)


@pytest.mark.parametrize("row", bounded_rows(1, SMALL), ids=str)
def test_preemptions_of_every_trace(row: PaperRow) -> None:
    check_bounds(row, traces_by_order(parse(str(row)).program(), with_blocked=False))


@pytest.mark.slow
@pytest.mark.parametrize("row", bounded_rows(SMALL + 1, MEDIUM), ids=str)
def test_preemptions_of_more_traces(row: PaperRow) -> None:
    check_bounds(row, traces_by_order(parse(str(row)).program(), with_blocked=False))


def test_four_preemptions_of_the_read_write_lock() -> None:
    """GenMC has all executions of this program for bound 3. But in four of them the readers take
    turns: one enters, the other one enters and copies, the first copies and reads the count, the
    second finds its copy and reads the count, the first leaves, the second leaves. All but the last
    of these switches leave a thread that could go on."""
    found = traces_by_order(parse("read-write-lock-unsafe-counted").program(), with_blocked=False)
    assert counts_by_bound(found.complete) == [24, 72, 176, 216, 220]
    violating = violations_of(found)
    assert (len(violating), min(violating)) == (8, 2)


def test_what_counts_as_a_preemption() -> None:
    x = "x"

    def leave_main() -> None:
        variable = mazurka.Atomic(0, name=x)
        mazurka.spawn(variable.store, 1)
        variable.store(2)

    def join_first() -> None:
        variable = mazurka.Atomic(0, name=x)
        mazurka.spawn(variable.store, 1).join()
        variable.store(2)

    def give_up() -> None:
        variable = mazurka.Atomic(0, name=x)
        mazurka.spawn(lambda: mazurka.assume(variable.exchange(1) == 0))
        mazurka.assume(variable.exchange(1) == 0)
        variable.store(2)

    # Main is left after its spawn, though it could go on.
    assert counts_by_bound(traces_by_preemptions(leave_main, 100).complete) == [1, 2]
    assert counts_by_bound(traces_by_preemptions(join_first, 100).complete) == [1]
    # Once it has given up it could not; and whoever gives up makes the execution a blocked one.
    found = traces_by_preemptions(give_up, 100)
    assert (len(found.complete), counts_by_bound(found.blocked)) == (0, [1, 3])


def test_the_oracle_does_not_give_half_an_answer() -> None:
    with pytest.raises(TooManyInterleavings):
        traces_by_preemptions(parse("bstack(2)").program(), 100)

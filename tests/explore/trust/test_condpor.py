"""The programs of the paper on concolic DPOR have the counts to expect."""

import pytest

from benchmarks.comparison import difference
from benchmarks.gap import COUNTED_AGAIN, enumerated_rows, explore
from benchmarks.measure import measure
from benchmarks.paper import TABLES, PaperRow, rows
from benchmarks.registry import BENCHMARKS, parse

pytestmark = pytest.mark.papers

pytest.importorskip("z3")

ALGORITHMS = ("pop", "optimal", "qpor")
SMALL = 300  # executions
LARGE = 5000

# Complete executions of programs, or with parameters, that the paper has no figures for.
MORE = {
    "MSQueue(1,1)": 4,
    "MSQueue-textbook(1)": 1,
    "MSQueue-textbook(2)": 50,
    "FibBench1(1)": 7,
    "FibBench1(2)": 42,
    "FibBench2(2)": 42,
    "Sigma(1)": 1,
    "Sigma(2)": 14,
}

CONDPOR_ROWS = [row for name in TABLES if name.startswith("condpor-") for row in rows(name)]


def rows_between(least: int, most: int) -> list[PaperRow]:
    return [row for row in CONDPOR_ROWS if least <= (row.expected_executions or 0) <= most]


def check_row(row: PaperRow, algorithm: str) -> None:
    assert difference(row, measure(parse(str(row)), algorithm, None, None, True)) == ""


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("row", rows_between(1, SMALL), ids=str)
def test_small_programs(row: PaperRow, algorithm: str) -> None:
    check_row(row, algorithm)


@pytest.mark.slow
@pytest.mark.parametrize("row", rows_between(SMALL + 1, LARGE), ids=str)
def test_larger_programs(row: PaperRow) -> None:
    check_row(row, "pop")


@pytest.mark.parametrize(
    "row",
    [
        row
        for row in enumerated_rows()
        if (row.complete or SMALL + 1) <= SMALL and row.benchmark not in COUNTED_AGAIN
    ],
    ids=str,
)
def test_every_value_of_the_inputs(row: PaperRow) -> None:
    assert explore(row, True, 2 * SMALL)[0] == row.complete


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(("name", "count"), MORE.items())
def test_programs_without_figures(name: str, count: int, algorithm: str) -> None:
    measured = measure(parse(name), algorithm, None, None, True)
    assert (measured.complete, measured.blocked) == (count, 0)


def test_every_program_is_tested_and_every_row_has_its_program() -> None:
    names = {
        name for name, benchmark in BENCHMARKS.items() if benchmark.table.startswith("condpor")
    }
    tested = {parse(name).benchmark.name for name in MORE}
    tested |= {row.benchmark for row in rows_between(1, SMALL)}
    assert tested == names
    for row in CONDPOR_ROWS:
        assert parse(str(row)).parameter == row.parameter


def test_removers_may_be_left_out() -> None:
    assert parse("LBQueue(2)").values == (2,)
    assert parse("LBQueue(2,1)").values == (2, 1)
    for wrong in ("LBQueue", "LBQueue(1,1,1)"):
        with pytest.raises(ValueError, match=r"parameters of LBQueue\(inserters,removers\?\)"):
            parse(wrong)

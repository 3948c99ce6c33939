"""The papers' programs in C have the papers' counts."""

import pytest

from benchmarks.comparison import difference, why_skipped
from benchmarks.in_c import IN_C
from benchmarks.measure import measure_in_c
from benchmarks.paper import TABLES, PaperRow, rows
from benchmarks.registry import BENCHMARKS, parse

pytestmark = pytest.mark.papers
ALGORITHMS = ("pop", "optimal", "trust", "qpor-optimal")


def smallest_rows() -> list[PaperRow]:
    """The row of each program with the fewest executions."""
    found: dict[str, PaperRow] = {}
    for table in TABLES:
        for row in rows(table):
            benchmark = BENCHMARKS.get(row.benchmark)
            if row.benchmark not in IN_C or benchmark is None or benchmark.table != table:
                continue
            if benchmark.loops:  # these have settings: see below
                continue
            least = found.setdefault(row.benchmark, row)
            if 1 < (row.expected_complete or 0) < (least.expected_complete or 0):
                found[row.benchmark] = row
    return list(found.values())


ROWS = smallest_rows()
SMALL = [row for row in ROWS if (row.expected_complete or 0) <= 4000]
# Rows of the paper on awaits; where compilers differ, counts that depend on one are left out.
WAITING = [
    row
    for row in rows("awaiting-loops")
    if why_skipped(row, "awaiting-loops", 1200, True) == "" and row.c_complete is None
]


def test_all_are_there() -> None:
    waiting = {row.benchmark for row in rows("awaiting-loops")} & set(IN_C)
    assert {row.benchmark for row in ROWS} | waiting == set(IN_C) - {
        name for name in IN_C if f"{name}-counted" in IN_C
    }


@pytest.mark.parametrize("place", range(len(SMALL)), ids=[str(row) for row in SMALL])
def test_counts(place: int) -> None:
    row = SMALL[place]
    measured = measure_in_c(parse(str(row)), ALGORITHMS[place % len(ALGORITHMS)], 20_000, None)
    assert difference(row, measured) == ""


@pytest.mark.parametrize("name", sorted({row.benchmark for row in WAITING}))
def test_counts_of_loops_that_wait(name: str) -> None:
    for row in WAITING:
        if row.benchmark == name:
            instance, purity = parse(str(row)), row.loop_settings.get("loop_purity", True)
            measured = measure_in_c(instance, "pop", 20_000, None, False, purity, row.unroll)
            assert difference(row, measured) == "", row.setting

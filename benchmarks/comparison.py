"""A paper's table beside our own figures."""

from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.table import Table

from benchmarks.measure import Measurement, RunFailed, measure_apart
from benchmarks.paper import TABLES, PaperRow, paper_cost, rows
from benchmarks.registry import BENCHMARKS

Status = Literal["match", "DIFFERS", "FAILED", "skipped"]

STYLES: dict[Status, str] = {
    "match": "green",
    "DIFFERS": "bold red",
    "FAILED": "bold red",
    "skipped": "bold yellow",
}


@dataclass(frozen=True)
class Comparison:
    """A row of the paper, what became of it here, and why, where that needs saying."""

    row: PaperRow
    algorithm: str
    status: Status
    reason: str = ""
    measured: Measurement | None = None


def why_skipped(row: PaperRow, table_name: str, budget: int) -> str:
    """Why a row is not run; empty when it is."""
    benchmark = BENCHMARKS.get(row.benchmark)
    if benchmark is None or benchmark.table != table_name:
        return "no program for it yet"
    if row.expected_executions is None:
        return "there is no count to expect"
    if row.expected_executions > budget:
        return f"over the budget of {budget} executions"
    return ""


def compare(row: PaperRow, algorithm: str, budget: int) -> Comparison:
    """Run a row and hold it against the counts to expect."""
    try:
        measured = measure_apart(row, algorithm, budget)
    except RunFailed as failure:
        return Comparison(row, algorithm, "FAILED", str(failure))
    reason = difference(row, measured)
    return Comparison(row, algorithm, "DIFFERS" if reason else "match", reason, measured)


def difference(row: PaperRow, measured: Measurement) -> str:
    """What differs from what is to be expected; empty when nothing does."""
    complete, blocked = row.expected_complete, row.expected_blocked
    if (measured.complete, measured.blocked) != (complete, blocked):
        return f"{measured.complete}+{measured.blocked} instead of {complete}+{blocked}"
    if measured.algorithm in ("optimal", "pop") and measured.redundant:
        return f"redundant executions: {measured.redundant}"
    # An await that blocks for ever is a failure here, so a paper's blocked executions may fail.
    expected = row.expected_verdict or ("verified failed" if blocked else "verified")
    if row.unroll is not None:
        expected += " bounded"
    if measured.verdict not in expected.split():
        return f"the verdict is {measured.verdict}"
    return ""


def render(table_name: str, comparisons: list[Comparison]) -> Table:
    """The comparison as a table; the paper's time and memory are those of the same algorithm."""
    table = Table(title=TABLES[table_name].title, box=box.SIMPLE_HEAD)
    table.add_column("benchmark", no_wrap=True)
    if has_settings(table_name):
        table.add_column("paper\nsetting", no_wrap=True)
    table.add_column("algorithm", no_wrap=True)
    expected = ["expected"] if expects_other(table_name) else []
    for heading in ("paper", *expected, "ours"):
        table.add_column(f"{heading}\nexecutions", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for heading in ("redundant", "CPU s", "peak MB", "paper\ns", "paper\nMB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for comparison in comparisons:
        table.add_row(*cells(table_name, comparison))
    return table


def has_settings(table_name: str) -> bool:
    return len(TABLES[table_name].independent_adds) > 1


def expects_other(table_name: str) -> bool:
    """Whether other counts than the paper's are to be expected somewhere."""
    return any(row.executions != row.expected_executions for row in rows(table_name))


def cells(table_name: str, comparison: Comparison) -> list[str]:
    row, status, measured = comparison.row, comparison.status, comparison.measured
    ours = ["", "", "", ""]
    if measured is not None:
        ours = [
            counts(measured.complete, measured.blocked),
            str(measured.redundant),
            f"{measured.cpu_seconds:.2f}",
            f"{measured.peak_rss_mb:.0f}",
        ]
    cost = paper_cost(table_name, row, comparison.algorithm)
    return [
        str(row),
        *([row.setting] if has_settings(table_name) else []),
        comparison.algorithm,
        counts(row.complete, row.blocked),
        *(
            [counts(row.expected_complete, row.expected_blocked)]
            if expects_other(table_name)
            else []
        ),
        ours[0],
        f"[{STYLES[status]}]{status}[/]",
        *ours[1:],
        *("" if figure is None else f"{figure:g}" for figure in cost),
    ]


def counts(complete: int | None, blocked: int | None) -> str:
    """Complete and blocked executions the way the papers print them."""
    if complete is None:
        return "?"
    return f"{complete}+{blocked}" if blocked else str(complete)

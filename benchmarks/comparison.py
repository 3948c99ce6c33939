"""A paper's table beside our own figures."""

from dataclasses import dataclass
from typing import Literal

from rich import box
from rich.table import Table

from benchmarks.in_c import is_in_c
from benchmarks.measure import OPTIMAL, Measurement, RunFailed, measure_apart, most_executions
from benchmarks.paper import TABLES, PaperRow, all_rows, paper_row, rows
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
    is_c: bool = False

    @property
    def how(self) -> str:
        """The algorithm, and the language of the program."""
        return f"{self.algorithm}, C" if self.is_c else self.algorithm


def why_skipped(row: PaperRow, table_name: str, budget: int, is_c: bool = False) -> str:
    """Why a row is not run; empty when it is."""
    benchmark = BENCHMARKS.get(row.benchmark)
    if is_c and not is_in_c(row.benchmark):
        return "it is not written in C"
    if is_c and benchmark is not None and benchmark.loops and row.loop_settings.get("awaits", True):
        return "nothing awaits in C"
    if benchmark is None or benchmark.table != table_name:
        return "no program for it yet"
    if row.expected_complete is None:
        return "there is no count to expect"
    if row.expected_complete + (row.expected_blocked or 0) > budget:
        return over(budget)
    return ""


def over(budget: int) -> str:
    return f"over the budget of {budget} executions"


def compare(row: PaperRow, algorithm: str, budget: int, is_c: bool = False) -> Comparison:
    """Run a row and hold it against the counts to expect."""
    try:
        measured = measure_apart(row, algorithm, budget, is_c)
    except RunFailed as failure:
        return Comparison(row, algorithm, "FAILED", str(failure), None, is_c)
    may_have_more = row.expected_blocked is None or algorithm not in OPTIMAL
    if measured.verdict == "incomplete" and may_have_more:
        reason = over(most_executions(algorithm, budget))
        return Comparison(row, algorithm, "skipped", reason, None, is_c)
    reason = difference(row, measured)
    return Comparison(row, algorithm, "DIFFERS" if reason else "match", reason, measured, is_c)


def difference(row: PaperRow, measured: Measurement) -> str:
    """What differs from what is to be expected; empty when nothing does."""
    complete, blocked = row.expected_complete, row.expected_blocked
    if measured.language == "C" and row.c_complete is not None:
        complete, blocked = row.c_complete, row.c_blocked
    if blocked is None:  # it is not known how many there are
        blocked = measured.blocked
    if (measured.complete, measured.blocked) != (complete, blocked):
        return f"{measured.complete}+{measured.blocked} instead of {complete}+{blocked}"
    violating = row.expected_violating
    if violating is not None and measured.violating != violating:
        return f"violating executions: {measured.violating} instead of {violating}"
    if measured.algorithm in OPTIMAL and measured.redundant:
        return f"redundant executions: {measured.redundant}"
    # An await that blocks for ever is a failure here, so a paper's blocked executions may fail.
    expected = row.expected_verdict or ("verified failed" if row.expected_blocked else "verified")
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
    if counts_violations(table_name):
        table.add_column("violating", justify="right", no_wrap=True)
    paper = ["paper\nredundant"] if has_redundant(table_name) else []
    for heading in (*paper, "redundant", "CPU s", "peak MB", "paper\ns", "paper\nMB"):
        table.add_column(heading, justify="right", no_wrap=True)
    for comparison in comparisons:
        table.add_row(*cells(table_name, comparison))
    return table


def has_settings(table_name: str) -> bool:
    return len(TABLES[table_name].independent_adds) > 1


def counts_violations(table_name: str) -> bool:
    return any(row.expected_violating is not None for row in rows(table_name))


def expects_other(table_name: str) -> bool:
    """Whether other counts than the paper's are to be expected somewhere."""
    return any(row.executions != row.expected_executions for row in rows(table_name))


def has_redundant(table_name: str) -> bool:
    """Whether the paper says how many executions were redundant."""
    return any(row.redundant is not None for row in all_rows(table_name))


def cells(table_name: str, comparison: Comparison) -> list[str]:
    row, status, measured = comparison.row, comparison.status, comparison.measured
    ours = ["", "", "", "", ""]
    if measured is not None:
        ours = [
            counts(measured.complete, measured.blocked),
            "" if measured.violating is None else str(measured.violating),
            str(measured.redundant),
            f"{measured.cpu_seconds:.2f}",
            f"{measured.peak_rss_mb:.0f}",
        ]
    other = paper_row(table_name, row, comparison.algorithm)
    cost = (None, None) if other is None else (other.seconds, other.memory_mb)
    redundant = [figure(None if other is None else other.redundant)]
    return [
        str(row),
        *([row.setting] if has_settings(table_name) else []),
        comparison.how,
        counts(row.complete, row.blocked) if row.in_paper else "",
        *(
            [counts(row.expected_complete, row.expected_blocked)]
            if expects_other(table_name)
            else []
        ),
        ours[0],
        f"[{STYLES[status]}]{status}[/]",
        *(ours[1:2] if counts_violations(table_name) else []),
        *(redundant if has_redundant(table_name) else []),
        *ours[2:],
        *(figure(value) for value in cost),
    ]


def figure(value: float | None) -> str:
    return "" if value is None else f"{value:.10g}"


def counts(complete: int | None, blocked: int | None) -> str:
    """Complete and blocked executions the way the papers print them."""
    if complete is None:
        return "?"
    return f"{complete}+{blocked}" if blocked else str(complete)

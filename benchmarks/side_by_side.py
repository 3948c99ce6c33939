"""The programs of the paper on quasi-optimality, with a column for each algorithm."""

from itertools import pairwise

from rich import box
from rich.table import Table

from benchmarks.comparison import STYLES, Comparison, figure
from benchmarks.measure import QPOR
from benchmarks.paper import TABLES, paper_row

COLUMNS = (*QPOR, "source", "optimal", "pop")
# Where other figures for a table come from.
ORIGINS = {"qpor-1": "  in the paper", "qpor-small": "  by Nidhugg"}


def render(table_name: str, programs: list[list[Comparison]]) -> Table:
    """One row for each program, with its comparisons in the order of the columns."""
    table = Table(title=TABLES[table_name].title, box=box.SIMPLE_HEAD, show_lines=True)
    table.add_column("program", no_wrap=True)
    table.add_column("traces", justify="right", no_wrap=True)
    table.add_column("")
    for algorithm in COLUMNS:
        table.add_column(algorithm, justify="right", no_wrap=True)
    origin = ORIGINS[table_name]
    lines = ("executions", "redundant", origin, "CPU s", origin, "peak MB")
    for comparisons in programs:
        row = comparisons[0].row
        cells = [column(table_name, comparison) for comparison in comparisons]
        wanted = [line for line in range(len(lines)) if any(cell[line] for cell in cells)]
        table.add_row(
            str(row),
            str(row.expected_executions),
            "\n".join(lines[line] for line in wanted),
            *("\n".join(cell[line] for line in wanted) for cell in cells),
        )
    return table


def column(table_name: str, comparison: Comparison) -> list[str]:
    """What an algorithm took for a program, line by line."""
    measured = comparison.measured
    other = paper_row(table_name, comparison.row, comparison.algorithm)
    paper = ("", "")
    if other is not None:
        paper = (figure(other.redundant), "timeout" if other.timed_out else figure(other.seconds))
    if measured is None:
        status = comparison.status
        ours = [f"[{STYLES[status]}]{'over' if status == 'skipped' else status}[/]", "", "", ""]
    else:
        executions = str(measured.executions)
        if comparison.status != "match":
            executions = f"[{STYLES[comparison.status]}]{executions}[/]"
        ours = [
            executions,
            str(measured.redundant),
            f"{measured.cpu_seconds:.2f}",
            f"{measured.peak_rss_mb:.0f}",
        ]
    return [ours[0], ours[1], paper[0], ours[2], paper[1], ours[3]]


def growing(programs: list[list[Comparison]]) -> list[str]:
    """Programs that have more redundant executions with a larger k."""
    found = []
    for comparisons in programs:
        redundant = [
            comparison.measured.redundant
            for comparison in comparisons
            if comparison.measured is not None and comparison.algorithm in QPOR
        ]
        if any(later > earlier for earlier, later in pairwise(redundant)):
            found.append(str(comparisons[0].row))
    return found

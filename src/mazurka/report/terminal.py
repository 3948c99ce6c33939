"""Results and failures in colour: the content of the plain text, laid out for a terminal."""

from collections.abc import Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from mazurka.core.result import Failure, Result
from mazurka.report.text import (
    Row,
    explanation,
    headline,
    outcomes_text,
    result_parts,
    step_rows,
    steps_title,
    summary,
)

VERDICT_STYLES = {
    "verified": "bold green",
    "failed": "bold red",
    "bounded": "bold yellow",
    "incomplete": "bold yellow",
}
THREAD_STYLES = ("cyan", "yellow", "magenta", "green", "blue", "bright_red")


def print_result(console: Console, title: str, result: Result) -> None:
    """Everything there is to say about a search."""
    line = Text(f"{title}: ", style="bold")
    line.append(summary(result), style=VERDICT_STYLES[result.verdict])
    console.print(line, soft_wrap=True)
    for part in result_parts(result):
        console.print()
        console.print(part if isinstance(part, str) else failure_view(part), markup=False)


def print_outcomes(console: Console, result: Result) -> None:
    console.print(outcomes_text(result), markup=False, soft_wrap=True)


def failure_view(failure: Failure) -> RenderableType:
    """The account of one failing execution."""
    parts: list[RenderableType] = [Text(headline(failure), style="bold red")]
    parts += [Text(line) for line in explanation(failure)]
    rows = step_rows(failure)
    if rows:
        parts += [Text(), Text(steps_title(failure), style="bold"), steps_view(rows)]
    return Group(*parts)


def steps_view(rows: Sequence[Row]) -> RenderableType:
    """The rows in columns, a colour for each thread."""
    threads = list(dict.fromkeys(row.thread for row in rows if row.thread))
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(justify="right", no_wrap=True, style="dim")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(no_wrap=True, style="dim")
    table.add_column(no_wrap=True, overflow="ellipsis", ratio=1)
    for row in rows:
        style = "dim"
        if row.thread:
            style = THREAD_STYLES[threads.index(row.thread) % len(THREAD_STYLES)]
        table.add_row(
            Text(f"  {row.number}"),
            Text(row.name, style=f"bold {style}"),
            Text(row.action, style=style),
            Text(row.where),
            Text(row.source),
        )
    return table

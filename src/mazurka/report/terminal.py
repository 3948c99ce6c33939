"""Results and failures in colour: the content of the plain text, laid out for a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from mazurka.engine.result import Failure, Result
from mazurka.report.columns import table_of
from mazurka.report.compare import comparison
from mazurka.report.layout import Piece, lines_of
from mazurka.report.text import (
    explanation,
    headlines,
    remarks,
    result_parts,
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


def print_result(
    console: Console, title: str, result: Result, full: bool = False, explain: bool = False
) -> None:
    """Everything there is to say about a search."""
    line = Text(f"{title}: " if title else "", style="bold")
    line.append(summary(result), style=VERDICT_STYLES[result.verdict])
    console.print(line, soft_wrap=True)
    for part in result_parts(result):
        console.print()
        if isinstance(part, str):
            console.print(Text(part), soft_wrap=True)
        else:
            print_failure(console, part, full, explain)


def print_failure(
    console: Console, failure: Failure, full: bool = False, explain: bool = False
) -> None:
    """The account of one failing execution."""
    width = console.width
    for line in headlines(failure, width):
        console.print(Text(line, style="bold red"), soft_wrap=True)
    for line in explanation(failure):
        console.print(Text(line), soft_wrap=True)
    if failure.steps or failure.waiting:
        print_table(console, failure, full)
    if explain:
        console.print()
        for line in comparison(failure, console.width):
            console.print(Text(line), soft_wrap=True)


def print_table(console: Console, failure: Failure, full: bool) -> None:
    """The steps that decide, or all of them."""
    width = console.width
    console.print()
    console.print(Text(steps_title(failure, full), style="bold"))
    table = table_of(failure, full)
    for pieces in lines_of(table, width):
        console.print(line_text(pieces, table.threads), soft_wrap=True)
    for line in remarks(failure, table):
        console.print(Text(line, style="dim"), soft_wrap=True)


def line_text(pieces: Sequence[Piece], threads: Sequence[str]) -> Text:
    """A line of the table: a colour for each thread, what decides in bold."""
    text = Text()
    for piece in pieces:
        style = "dim"
        if piece.thread:
            style = THREAD_STYLES[threads.index(piece.thread) % len(THREAD_STYLES)]
        text.append(piece.text, f"bold {style}" if piece.is_strong else style)
    text.rstrip()
    return text

"""Results and failures in colour: the content of the plain text, laid out for a terminal."""

from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from mazurka.engine.result import Failure, Result
from mazurka.report.text import (
    Row,
    columns,
    cut,
    explanation,
    headline,
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
NARROWEST_SOURCE = 12


def print_result(console: Console, title: str, result: Result) -> None:
    """Everything there is to say about a search."""
    line = Text(f"{title}: ", style="bold")
    line.append(summary(result), style=VERDICT_STYLES[result.verdict])
    console.print(line, soft_wrap=True)
    for part in result_parts(result):
        console.print()
        if isinstance(part, str):
            console.print(Text(part), soft_wrap=True)
        else:
            print_failure(console, part)


def print_failure(console: Console, failure: Failure) -> None:
    """The account of one failing execution."""
    console.print(Text(headline(failure), style="bold red"), soft_wrap=True)
    for line in explanation(failure):
        console.print(Text(line), soft_wrap=True)
    rows = step_rows(failure)
    if rows:
        console.print()
        console.print(Text(steps_title(failure), style="bold"))
        for text in row_texts(rows, console.width):
            console.print(text, soft_wrap=True)


def row_texts(rows: Sequence[Row], width: int) -> list[Text]:
    """The rows as lines, a colour for each thread. Sources are cut to fit, or left out."""
    threads = list(dict.fromkeys(row.thread for row in rows if row.thread))
    texts = []
    for row, (number, name, action, where, source) in zip(rows, columns(rows), strict=True):
        style = "dim"
        if row.thread:
            style = THREAD_STYLES[threads.index(row.thread) % len(THREAD_STYLES)]
        text = Text.assemble(
            (f"  {number}  ", "dim"),
            (f"{name}  ", f"bold {style}"),
            (f"{action}  ", style),
            (where, "dim"),
        )
        room = width - text.cell_len - 2
        if room >= NARROWEST_SOURCE:
            text.append(f"  {cut(source, room)}")
        text.rstrip()
        texts.append(text)
    return texts

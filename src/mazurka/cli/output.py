"""What the command prints."""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mazurka.cli.exits import WrongUse
from mazurka.engine.following import difference
from mazurka.engine.result import NONDETERMINISM, OUTCOME, Failure, Result
from mazurka.engine.schedule import Schedule
from mazurka.report.annotations import annotations, wants_annotations
from mazurka.report.sarif import sarif_document
from mazurka.report.saved_test import saved_test
from mazurka.report.text import failure_text, outcomes_text, result_text

if TYPE_CHECKING:
    from rich.console import Console

ASK_FOR_COLOUR = ("FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")  # where there is no terminal


def terminal() -> "Console | None":
    """What to print to in colour, if that is to be. To import it takes a third as long as to check
    a small program."""
    if not sys.stdout.isatty() and not any(name in os.environ for name in ASK_FOR_COLOUR):
        return None
    from rich.console import Console

    console = Console(highlight=False)
    return console if console.is_terminal else None


def show_result(
    target: str, result: Result, outcomes: bool, full: bool = False, explain: bool = False
) -> None:
    console = terminal()
    if console is not None:
        from mazurka.report.terminal import print_result

        print_result(console, target, result, full, explain)
    else:
        click.echo(result_text(target, result, full=full, explain=explain))
    if outcomes:
        click.echo(f"\n{outcomes_text(result)}")


def show_replayed(target: str, schedule: Schedule, failure: Failure, full: bool) -> None:
    verdict = "complete" if failure.kind == OUTCOME else "FAILED"
    click.echo(f"{target}: {verdict}; the execution of the schedule, run again")
    change = difference(schedule.steps, failure.schedule.steps)
    if change:
        click.echo(f"The program has changed since: {change}. It was followed as far as it fits.")
    if schedule.failure == OUTCOME and failure.message != schedule.message:
        click.echo(f"It ends in another way than recorded, which was: {schedule.message}")
    elif (failure.kind, failure.message) != (schedule.failure, schedule.message):
        click.echo(f"It fails in another way than recorded, which was: {schedule.message}")
    click.echo()
    console = terminal()
    if console is not None:
        from mazurka.report.terminal import print_failure

        print_failure(console, failure, full)
    else:
        click.echo(failure_text(failure, full=full))


def annotate(results: Sequence[tuple[str, Result]], to_stderr: bool) -> None:
    """Tell GitHub Actions of failures, where it runs this."""
    if wants_annotations():
        for target, result in results:
            for line in annotations(target, result):
                click.echo(line, err=to_stderr)


# Files


def write(file: Path, text: str) -> None:
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise WrongUse(f"cannot write {file}: {error.strerror}") from error


def write_test(file: Path, schedule: Schedule) -> str:
    """Write a test for pytest that replays an execution; tells where."""
    if schedule.failure == NONDETERMINISM:
        raise WrongUse(f"nondeterminism cannot be replayed: nothing was written to {file}")
    if schedule.failure == OUTCOME:
        raise WrongUse(f"this execution does not fail: nothing was written to {file}")
    write(file, saved_test(schedule, file))
    return f"A test that replays it is in {file}; run it with: pytest {file}"


def write_trace(file: Path, target: str, failure: Failure) -> str:
    """Write an execution as a trace; tells where."""
    from mazurka.report.trace_events import trace_document

    write(file, json.dumps(trace_document(target, failure)) + "\n")
    return f"The failing execution is in {file}, for ui.perfetto.dev or chrome://tracing."


def write_sarif(
    file: Path, results: Sequence[tuple[str, Result]], unchecked: Sequence[tuple[str, str]]
) -> str:
    """Write what was found for tools that read SARIF; tells where."""

    write(file, json.dumps(sarif_document(results, unchecked, Path.cwd()), indent=2) + "\n")
    return f"The findings are in {file}, as SARIF."

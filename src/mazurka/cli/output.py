"""What the command prints."""

import json
from collections.abc import Sequence
from pathlib import Path

import click
from rich.console import Console

from mazurka.cli.exits import WrongUse
from mazurka.engine.result import Failure, Result
from mazurka.engine.schedule import Schedule
from mazurka.report.annotations import annotations, wants_annotations
from mazurka.report.sarif import sarif_document
from mazurka.report.terminal import print_failure, print_result
from mazurka.report.text import failure_text, outcomes_text, result_text
from mazurka.report.trace_events import trace_document


def show_result(
    target: str, result: Result, outcomes: bool, full: bool = False, explain: bool = False
) -> None:
    console = Console(highlight=False)
    if console.is_terminal:
        print_result(console, target, result, full, explain)
    else:
        click.echo(result_text(target, result, full=full, explain=explain))
    if outcomes:
        click.echo(f"\n{outcomes_text(result)}")


def show_replayed(target: str, schedule: Schedule, failure: Failure, full: bool) -> None:
    click.echo(f"{target}: FAILED; the execution of the schedule, run again")
    if (failure.kind, failure.message) != (schedule.failure, schedule.message):
        click.echo(f"It fails in another way than recorded, which was: {schedule.message}")
    click.echo()
    console = Console(highlight=False)
    if console.is_terminal:
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


def write_trace(file: Path, target: str, failure: Failure) -> str:
    """Write an execution as a trace; tells where."""
    write(file, json.dumps(trace_document(target, failure)) + "\n")
    return f"The failing execution is in {file}, for ui.perfetto.dev or chrome://tracing."


def write_sarif(
    file: Path, results: Sequence[tuple[str, Result]], unchecked: Sequence[tuple[str, str]]
) -> str:
    """Write what was found for tools that read SARIF; tells where."""
    write(file, json.dumps(sarif_document(results, unchecked, Path.cwd()), indent=2) + "\n")
    return f"The findings are in {file}, as SARIF."

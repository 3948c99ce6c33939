"""What the command prints."""

import click
from rich.console import Console

from mazurka.engine.result import Failure, Result
from mazurka.engine.schedule import Schedule
from mazurka.report.terminal import print_failure, print_result
from mazurka.report.text import failure_text, outcomes_text, result_text


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

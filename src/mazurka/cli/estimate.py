"""`mazurka estimate`: how long a check will take."""

import contextlib
import json
import shlex
import sys
from typing import Any

import click

from mazurka import estimating
from mazurka.cli.check import options_for
from mazurka.cli.exits import INTERRUPTED, WrongUse, clean_exit
from mazurka.cli.options import as_flags, profile_option, search_options, typed
from mazurka.cli.targets import loaded
from mazurka.engine.errors import MazurkaError
from mazurka.engine.status import Estimate
from mazurka.estimating import SECONDS, Forecast, Remedy
from mazurka.report.amounts import duration_text, executions_text, rounded
from mazurka.report.text import plural

NO_EFFECT = ("max_executions", "time_limit", "checkpoint", "resume", "memory_limit")


@click.command
@click.argument("target")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
@search_options
@profile_option
@click.option("--args", default="", metavar="TEXT", help="What the main of a C program gets.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0, min_open=True),
    default=SECONDS,
    show_default=True,
    help="How long to look at the program.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else.")
def estimate(
    target: str,
    flags: tuple[str, ...],
    profile: str | None,
    args: str,
    seconds: float,
    as_json: bool,
    **options: Any,
) -> None:
    """Say how many executions a check will have, how long it will take, and what would help.

    TARGET and options are those of 'mazurka check'. Some executions are run, for a few seconds.

    \b
    Exit codes:
      0    the estimate was made
      2    wrong use: there was nothing to check, or it cannot be checked
      130  interrupted by Ctrl-C
    """
    given = {name: value for name, value in typed(options).items() if name not in NO_EFFECT}
    with clean_exit():
        output = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
        with output, loaded(target, flags, shlex.split(args)) as (program, folder):
            known = options_for(program, folder, given, profile)
            kept = {name: value for name, value in known.items() if name not in NO_EFFECT}
            try:
                forecast = estimating.estimate(program, seconds=seconds, **kept)
            except MazurkaError as error:
                raise WrongUse(str(error)) from error
            except KeyboardInterrupt:
                click.echo("interrupted", err=True)
                sys.exit(INTERRUPTED)
        if as_json:
            click.echo(json.dumps(document(target, forecast)))
        else:
            click.echo("\n".join([*lines_of(target, forecast), *advice_of(forecast)]))


def lines_of(target: str, forecast: Forecast) -> list[str]:
    """How much there is, how long it takes, and how that is known."""
    if forecast.executions is None:
        lines = [
            f"{target}: how many executions there are cannot be said yet: give it more --seconds"
        ]
    else:
        lines = [f"{target}: {executions_text(forecast.executions)}"]
    if forecast.seconds is not None:
        workers = "1 process" if forecast.jobs == 1 else f"{forecast.jobs} processes"
        lines.append(
            f"A check takes {duration_text(forecast.seconds)} with {workers}, at "
            f"{rounded(forecast.rate)} executions a second for each ({forecast.algorithm})."
        )
    if forecast.executions is not None and forecast.executions.is_exact:
        lines.append("This is exact: all of them were run.")
    else:
        lines.append(
            f"{plural(forecast.runs, 'execution')} were run to find that out. Large parts are "
            "easily missed: there may be more than the estimate says, rather than fewer."
        )
    if forecast.failure:
        lines.append(
            f"One of the first {plural(forecast.searched, 'execution')} fails: {forecast.failure}"
        )
        lines.append("A check ends there, unless it is to show all failures.")
    return lines + [f"Note: {note}." for note in forecast.notes]


def advice_of(forecast: Forecast) -> list[str]:
    if not forecast.remedies:
        return []
    lines = ["", "What would help:"]
    return lines + [line for remedy in forecast.remedies for line in remedy_lines(remedy)]


def remedy_lines(remedy: Remedy) -> list[str]:
    if not remedy.options:
        return [f"  {remedy.sentence}"]
    lines = [f"  {as_flags(remedy.options)}: {remedy.sentence}"]
    if remedy.executions is not None and remedy.seconds is not None:
        found = f"{executions_text(remedy.executions)}, {duration_text(remedy.seconds)}"
        lines.append(f"      {found}")
    return lines


def document(target: str, forecast: Forecast) -> dict[str, Any]:
    return {
        "program": target,
        "algorithm": forecast.algorithm,
        "executions": shown(forecast.executions),
        "seconds": shown(forecast.seconds),
        "jobs": forecast.jobs,
        "executions_per_second": round(forecast.rate, 1),
        "runs": forecast.runs,
        "failure": forecast.failure or None,
        "threads": forecast.threads,
        "notes": forecast.notes,
        "advice": [
            {
                "options": remedy.options,
                "sentence": remedy.sentence,
                "executions": shown(remedy.executions),
                "seconds": shown(remedy.seconds),
            }
            for remedy in forecast.remedies
        ],
    }


def shown(estimate: Estimate | None) -> dict[str, Any] | None:
    if estimate is None:
        return None
    about, low, high = estimate.numbers
    return {"about": about, "low": low, "high": high, "exact": estimate.is_exact}

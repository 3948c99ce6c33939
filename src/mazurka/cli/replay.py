"""`mazurka replay`: run a failing execution again."""

import sys
from pathlib import Path

import click

from mazurka import api
from mazurka.cli.exits import FAILED, WrongUse, clean_exit
from mazurka.cli.output import show_replayed, write, write_trace
from mazurka.cli.targets import TARGET_FORMS, loaded
from mazurka.engine.errors import MazurkaError
from mazurka.engine.result import Failure
from mazurka.engine.schedule import Schedule
from mazurka.report.page import page_of_failure


@click.command
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("target", required=False)
@click.option("--full", is_flag=True, help="Show all steps of the execution.")
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a page to look at in a browser.",
)
@click.option(
    "--trace-json",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the steps to a file, for Perfetto.",
)
def replay(
    file: Path, target: str | None, full: bool, html: Path | None, trace_json: Path | None
) -> None:
    """Run a failing execution again.

    FILE is what 'mazurka check --save FILE' wrote. TARGET, as for 'mazurka check', is needed only
    if the program is not where it was.

    \b
    Exit codes:
      0    the execution does not fail any more
      1    it fails again
      2    it cannot be run: FILE is no schedule, or the program has changed
      130  interrupted by Ctrl-C
    """
    with clean_exit():
        schedule = read_schedule(file)
        target = target or schedule.program
        if not target:
            raise WrongUse(f"{file} does not say which program it is for: add {TARGET_FORMS}")
        of_c = [schedule.options.get(name) or [] for name in ("flags", "args")]
        with loaded(target, *of_c) as (program, _):
            try:
                failure = api.replay(program, schedule)
            except api.NoLongerFails as passed:
                click.echo(f"{target}: {passed}")
                return
            except MazurkaError as error:
                raise WrongUse(f"{target}: {error}") from error
        show_replayed(target, schedule, failure, full)
        for line in written_pages(target, failure, html, trace_json):
            click.echo(f"\n{line}")
    sys.exit(FAILED)


def written_pages(
    target: str, failure: Failure, html: Path | None, trace_json: Path | None
) -> list[str]:
    """Write what was asked for; tells where."""
    lines = []
    if html is not None:
        write(html, page_of_failure(target, failure))
        lines.append(f"The execution is in {html}: open it in a browser.")
    if trace_json is not None:
        lines.append(write_trace(trace_json, target, failure))
    return lines


def read_schedule(file: Path) -> Schedule:
    try:
        return Schedule.from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongUse(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WrongUse(f"{file} is not a schedule that Mazurka wrote: it is not text") from error
    except MazurkaError as error:
        raise WrongUse(f"{file} is {error}") from error

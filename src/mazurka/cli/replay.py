"""`mazurka replay`: run a failing execution again."""

import sys
from pathlib import Path

import click

from mazurka import api
from mazurka.cli.exits import FAILED, WrongUse, clean_exit
from mazurka.cli.output import show_replayed
from mazurka.cli.targets import TARGET_FORMS, loaded
from mazurka.engine.errors import MazurkaError
from mazurka.engine.schedule import Schedule


@click.command
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("target", required=False)
@click.option("--full", is_flag=True, help="Show all steps of the execution.")
def replay(file: Path, target: str | None, full: bool) -> None:
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
    sys.exit(FAILED)


def read_schedule(file: Path) -> Schedule:
    try:
        return Schedule.from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongUse(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WrongUse(f"{file} is not a schedule that Mazurka wrote: it is not text") from error
    except MazurkaError as error:
        raise WrongUse(f"{file} is {error}") from error

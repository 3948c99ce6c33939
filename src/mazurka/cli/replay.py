"""`mazurka replay`: run a failing execution again."""

import dataclasses
import re
import sys
from pathlib import Path

import click

from mazurka import api
from mazurka.cli.debugger import Debugger
from mazurka.cli.exits import FAILED, VERIFIED, WRONG_USE, WrongUse, clean_exit
from mazurka.cli.output import show_replayed, write, write_test, write_trace
from mazurka.cli.targets import TARGET_FORMS, loaded, target_from
from mazurka.engine.errors import MazurkaError
from mazurka.engine.result import OUTCOME, Failure
from mazurka.engine.schedule import Schedule
from mazurka.kept import base_of_kept
from mazurka.report.page import page_of_failure

NO_STOP = "It does not fail in a thread where a debugger could stop."


@click.command
@click.argument("file")
@click.argument("target", required=False)
@click.option("--full", is_flag=True, help="Show all steps of the execution.")
@click.option("--pdb", is_flag=True, help="Stop at the failure, in Python's debugger.")
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
@click.option(
    "--save-test",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a test for pytest that replays it.",
)
def replay(
    file: str,
    target: str | None,
    full: bool,
    pdb: bool,
    html: Path | None,
    trace_json: Path | None,
    save_test: Path | None,
) -> None:
    """Run a failing execution again.

    FILE is what 'mazurka check --save FILE' or '--save-outcomes FOLDER' wrote, or one of those that
    are kept in .mazurka, or the text of a @mazurka.reproduce. TARGET, as for 'mazurka check', is
    needed only if the program is not where it was. What needs pytest is run by pytest.

    \b
    Exit codes:
      0    the execution does not fail any more, or has its outcome
      1    it fails again, or has another outcome
      2    it cannot be run: FILE is no schedule, or the program has changed, and does not fail so
      130  interrupted by Ctrl-C
    """
    with clean_exit():
        schedule = named(read_schedule(file), file, target)
        if schedule.runner == "pytest" and target is None:
            if full or html or trace_json or save_test:
                raise WrongUse(
                    "this needs pytest, which has options of its own: --mazurka-full, "
                    "--mazurka-html DIR"
                )
            sys.exit(replay_in_pytest(schedule, file, pdb))
        failure = replayed(schedule, Debugger() if pdb else None)
        if failure is None:
            return
        show_replayed(schedule.program, schedule, failure, full)
        for line in written_files(schedule, failure, html, trace_json, save_test):
            click.echo(f"\n{line}")
    has_outcome = failure.kind == OUTCOME and failure.message == schedule.message
    sys.exit(0 if has_outcome else FAILED)


def replayed(schedule: Schedule, debugger: Debugger | None) -> Failure | None:
    """The failure that a schedule leads to; if it does not, that is told."""
    target = schedule.program
    of_c = [schedule.options.get(name) or [] for name in ("flags", "args")]
    with loaded(target, *of_c) as (program, _):
        try:
            failure = api.replay(
                program, schedule, at_failure=None if debugger is None else debugger.look
            )
        except api.DoesNotFit as changed:
            raise WrongUse(f"{target}: {changed}") from changed
        except api.NoLongerFails as passed:
            click.echo(f"{target}: {passed}")
            return None
        except MazurkaError as error:
            raise WrongUse(f"{target}: {error}") from error
    if debugger is not None and not debugger.stops:
        click.echo(NO_STOP)
    return failure


def replay_in_pytest(schedule: Schedule, file: str, pdb: bool) -> int:
    """Have pytest run a test that needs it, along the schedule; gives the exit code."""
    try:
        import pytest
    except ImportError as error:
        raise WrongUse(f"{schedule.program} needs pytest, which is not installed") from error
    test = re.sub(r"#\d+$", "", schedule.program)
    arguments = [test, f"--mazurka-replay={file}", *(["--pdb"] if pdb else [])]
    ended = pytest.main(arguments)
    return {pytest.ExitCode.OK: VERIFIED, pytest.ExitCode.TESTS_FAILED: FAILED}.get(
        pytest.ExitCode(ended), WRONG_USE
    )


def written_files(
    schedule: Schedule,
    failure: Failure,
    html: Path | None,
    trace_json: Path | None,
    save_test: Path | None,
) -> list[str]:
    """Write what was asked for; tells where."""
    lines = []
    target = schedule.program
    if html is not None:
        write(html, page_of_failure(target, failure))
        lines.append(f"The execution is in {html}: open it in a browser.")
    if trace_json is not None:
        lines.append(write_trace(trace_json, target, failure))
    if save_test is not None:
        lines.append(write_test(save_test, schedule))
    return lines


# Schedules


def read_schedule(text: str) -> Schedule:
    """The schedule in a file, or the one that a text is."""
    file = Path(text)
    try:
        return Schedule.from_json(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, OSError) as error:
        try:
            return Schedule.from_text(text)
        except MazurkaError:
            raise WrongUse(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WrongUse(f"{file} is not a schedule that Mazurka wrote: it is not text") from error
    except MazurkaError as error:
        raise WrongUse(f"{file} is {error}") from error


def named(schedule: Schedule, file: str, target: str | None) -> Schedule:
    """A schedule that says how its program is called from here."""
    program = target or schedule.program
    if not program:
        raise WrongUse(f"{file} does not say which program it is for: add {TARGET_FORMS}")
    base = base_of_kept(Path(file))
    if target is None and base is not None:
        program = target_from(base, program)
    return dataclasses.replace(schedule, program=program)

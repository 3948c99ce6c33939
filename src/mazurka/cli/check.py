"""`mazurka check`: explore a program, and give a verdict."""

import contextlib
import dataclasses
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import click

from mazurka import api
from mazurka.cli.exits import EXIT_CODES, EXIT_CODES_HELP, INTERRUPTED, WrongUse, clean_exit
from mazurka.cli.options import as_flags, profile_option, search_options, typed
from mazurka.cli.output import (
    annotate,
    show_result,
    write,
    write_sarif,
    write_test,
    write_trace,
)
from mazurka.cli.several import View, check_each, refuse_for_several, targets_of
from mazurka.cli.targets import Program, Skipped, loaded, names_of_target
from mazurka.engine.errors import MazurkaError
from mazurka.engine.result import Result
from mazurka.kept import Memory, base_of, memory_of
from mazurka.options import OPTIONS, Options
from mazurka.pyproject import project_options
from mazurka.report.document import result_document
from mazurka.report.progress import Progress, advice_lines, view_for_stderr
from mazurka.report.text import sorted_outcomes


@click.command(epilog=EXIT_CODES_HELP)
@click.argument("target")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
@search_options
@profile_option
@click.option("--args", default="", metavar="TEXT", help="What the main of a C program gets.")
@click.option("--outcomes", is_flag=True, help="Show what the program returned, and how often.")
@click.option(
    "--save-outcomes",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Write a schedule for each outcome to a folder, for 'mazurka replay'.",
)
@click.option("--full", is_flag=True, help="Show all steps of a failing execution.")
@click.option(
    "--explain", is_flag=True, help="Show an execution that passes beside the one that fails."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else.")
@click.option("--quiet", is_flag=True, help="Do not show how far the search is.")
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a page to look at in a browser: executions step by step, and the search.",
)
@click.option(
    "--trace-json",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the steps of the first failure to a file, for Perfetto.",
)
@click.option(
    "--sarif",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write what was found to a file, for tools that read SARIF.",
)
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the schedule of the first failure to a file, for 'mazurka replay'.",
)
@click.option(
    "--save-test",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a test for pytest that replays the first failure.",
)
def check(
    target: str,
    flags: tuple[str, ...],
    profile: str | None,
    args: str,
    outcomes: bool,
    save_outcomes: Path | None,
    full: bool,
    explain: bool,
    as_json: bool,
    quiet: bool,
    html: Path | None,
    trace_json: Path | None,
    sarif: Path | None,
    save: Path | None,
    save_test: Path | None,
    **options: Any,
) -> None:
    """Check a function: run it once for every behaviour that differs.

    TARGET is path/to/file.py::function, path/to/file.py::Class::method or
    package.module:function; the function takes no arguments. Options of its @mazurka.check count
    unless they are given here, and those of [tool.mazurka] in pyproject.toml unless either says
    otherwise. Or TARGET is a Python file or a folder: all that is marked with @mazurka.check there
    is checked, or else the function main of the file. Or TARGET is path/to/file.c, a C program;
    FLAGS, after two dashes, are for its compiler, as in: mazurka check queue.c -- -DN=3
    """
    given = typed(options)
    # What the program prints must not get into the JSON document.
    output = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()

    outcomes = outcomes or save_outcomes is not None
    records = html is not None or outcomes

    def checked(target: str) -> tuple[Result, bool]:
        with output, loaded(target, flags, shlex.split(args)) as (program, folder):
            wanted = options_for(program, folder, given, profile)
            memory = memory_for(target, program, folder) if keeps(wanted) else None
            own = wanted["try_first"]
            wanted["try_first"] = [*own, *(memory.schedules if memory else ())]
            wanted["record"] = records
            result, interrupted = explored(program, wanted, quiet)
            refuse_called_off(target, result)
        name_program(result, target)
        if any(schedule in result.outdated for schedule in own):
            result.remarks.append(f"{target}: {api.OUTDATED}")
        if memory is not None:
            memory.take_over(result)
        elif result.failures and save is None:
            result.remarks.append("To keep this execution for 'mazurka replay', add --save FILE.")
        return result, interrupted

    with clean_exit():
        for file in (html, trace_json, sarif, save, save_test):
            if file is not None:
                require_writable(file)
        with output:
            targets = targets_of(target)
        if len(targets) != 1:
            files = {"html": html, "trace_json": trace_json, "save": save, **given}
            files["save_test"] = save_test
            files["save_outcomes"] = save_outcomes
            refuse_for_several(target, targets, files)
            view = View(outcomes, full, explain, as_json)
            sys.exit(check_each(targets, checked, view, sarif))
        (target,) = targets
        result, interrupted = checked(target)
        written = []
        if html is not None:
            from mazurka.report.page import page_of

            write(html, page_of(target, result))
            written.append(f"The report is in {html}: open it in a browser.")
        if trace_json is not None and not result.failures:
            written.append(f"No failure: nothing was written to {trace_json}.")
        elif trace_json is not None:
            written.append(write_trace(trace_json, target, result.failures[0]))
        if save is not None:
            written.append(save_failure(save, result))
        if save_outcomes is not None:
            written.append(write_outcomes(save_outcomes, result))
        if sarif is not None:
            written.append(write_sarif(sarif, [(target, result)], []))
        if save_test is not None:
            written.append(save_as_test(save_test, result))
        if as_json:
            click.echo(json.dumps(result_document(target, result)))
        else:
            show_result(target, result, outcomes, full, explain)
            for line in advice_lines(result, as_flags):
                click.echo(line)
            if result.verdict == "incomplete" and given.get("checkpoint"):
                click.echo(f"\nTo go on with this search, add --resume {given['checkpoint']}")
        annotate([(target, result)], as_json)
        if written:
            click.echo("\n" + "\n".join(written), err=as_json)
    sys.exit(INTERRUPTED if interrupted else EXIT_CODES[result.verdict])


def options_for(
    program: Program, folder: Path, given: dict[str, Any], profile: str | None
) -> dict[str, Any]:
    """What the command line says wins over the decorator `mazurka.check` of the program, and that
    over the file of the project."""
    try:
        project = project_options(folder, profile)
    except ValueError as error:
        raise WrongUse(str(error)) from error
    own = {"try_first": api.schedules_on(program), **getattr(program, "mazurka_options", {})}
    return {**project, **own, **given}


def keeps(options: dict[str, Any]) -> bool:
    keep: bool = options.get("keep_failures", OPTIONS["keep_failures"].default)
    return keep


def memory_for(target: str, program: Program, folder: Path) -> Memory:
    """The failures of a program that are kept."""
    base = base_of(folder.absolute())
    memory = memory_of(base, *names_of_target(target, program, base))
    for remark in memory.remarks:
        click.echo(remark, err=True)
    return memory


def explored(program: Program, options: dict[str, Any], quiet: bool) -> tuple[Result, bool]:
    """The result of a search, or what there is of it if the user interrupts it."""
    with Progress(None if quiet else view_for_stderr()) as progress:
        try:
            return api.explore(program, **{**options, "progress": progress}), False
        except KeyboardInterrupt:
            return api.interrupted(progress.result, Options(**options)), True
        except MazurkaError as error:
            raise WrongUse(str(error)) from error


def refuse_called_off(target: str, result: Result) -> None:
    outcome = api.called_off(result)
    if outcome is not None:
        raise Skipped(f"{target} cannot be checked here: {result.failures[0].message}")


# Schedules


def require_writable(file: Path) -> None:
    """Find out before the search whether a file can be written, without changing anything."""
    is_new = not file.exists()
    try:
        file.open("a").close()
        if is_new:
            file.unlink()
    except OSError as error:
        raise WrongUse(f"cannot write {file}: {error.strerror}") from error


def name_program(result: Result, target: str) -> None:
    """Say in the schedules which program they are for, so that a replay need not be told."""
    for failure in result.failures:
        failure.schedule = dataclasses.replace(failure.schedule, program=target)
    schedules = result.recording.schedules if result.recording is not None else {}
    for outcome, schedule in schedules.items():
        schedules[outcome] = dataclasses.replace(schedule, program=target)


def save_as_test(file: Path, result: Result) -> str:
    """Write a test that replays the first failure; tells what was done."""
    if not result.failures:
        return f"No failure: nothing was written to {file}."
    return write_test(file, result.failures[0].schedule)


def save_failure(file: Path, result: Result) -> str:
    """Write the first failure's schedule; tells what was done."""
    if not result.failures:
        return f"No failure: nothing was written to {file}."
    write(file, result.failures[0].schedule.to_json() + "\n")
    return f"The failing execution is in {file}; run it again with: mazurka replay {file}"


def write_outcomes(folder: Path, result: Result) -> str:
    """Write a schedule for each outcome, by the numbers that the table has; tells what was done."""
    schedules = result.recording.schedules if result.recording is not None else {}
    if not schedules:
        why = result.recording.cut if result.recording is not None else ""
        return f"No outcomes: nothing was written to {folder}." + (f" ({why})" if why else "")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"cannot write to {folder}: {error.strerror}") from error
    numbers = []
    for number, (outcome, _) in enumerate(sorted_outcomes(result), 1):
        if outcome in schedules:
            write(folder / f"{number}.json", schedules[outcome].to_json() + "\n")
            numbers.append(number)
    written = f"Executions for {len(numbers)} of {len(result.outcomes)} outcomes are in {folder}"
    return f"{written}; run one again with: mazurka replay {folder / f'{numbers[0]}.json'}"

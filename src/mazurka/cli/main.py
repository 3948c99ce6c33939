"""The door for the command line: check a program, replay a failure."""

import contextlib
import dataclasses
import importlib
import inspect
import io
import json
import os
import platform
import sys
import traceback
import unittest
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

import click
from click.core import ParameterSource
from rich.console import Console

from mazurka import api
from mazurka.engine.result import Failure, MazurkaError, Result, Schedule
from mazurka.engine.search import DEFAULT_DEPTH, DEFAULT_K
from mazurka.explore.algorithms import ALGORITHMS
from mazurka.options import DEFAULT_MAX_EVENTS, DEFAULT_STEP_LIMIT, EQUIVALENCES, GRANULARITIES
from mazurka.python.source import COMPILED
from mazurka.report.document import result_document
from mazurka.report.progress import Progress
from mazurka.report.terminal import print_failure, print_result
from mazurka.report.text import failure_text, outcomes_text, result_text
from mazurka.version import VERSION

Program = Callable[[], object]

VERIFIED, FAILED, WRONG_USE, INCOMPLETE, BUG, INTERRUPTED = 0, 1, 2, 3, 70, 130
EXIT_CODES = {
    "verified": VERIFIED,
    "bounded": VERIFIED,
    "failed": FAILED,
    "incomplete": INCOMPLETE,
}
EXIT_CODES_HELP = """\b
Exit codes:
  0    verified: every execution was looked at, and none fails; or bounded: the same within a bound
  1    failed: there is an execution that fails
  2    wrong use: there was nothing to check, or it cannot be checked
  3    incomplete: no failure, but the search was cut short by a limit
  70   a bug in Mazurka itself
  130  interrupted by Ctrl-C
"""
TARGET_FORMS = "path/to/file.py::function or package.module:function"
# What a test runner calls before and after the methods of a class of tests.
SETUP_METHODS = ("setUp", "setUpClass", "tearDown", "setup_method", "setup_class")


class WrongUse(click.ClickException):
    """What was asked for cannot be done; the message says why, and what to do."""

    exit_code = WRONG_USE


@click.group(epilog=EXIT_CODES_HELP)
@click.version_option(
    VERSION,
    prog_name="mazurka",
    message="%(prog)s %(version)s "
    f"({'compiled by mypyc' if COMPILED else 'plain Python'}, Python {platform.python_version()})",
)
def main() -> None:
    """Mazurka checks concurrent Python programs: it runs a program once for every behaviour that
    differs, and shows an execution that fails or proves that there is none."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # sources may have any character


def number_or_optimal(context: click.Context, parameter: click.Parameter, text: str) -> int | str:
    """The value of --k."""
    if text == "optimal":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither a whole number, at least 1, nor 'optimal'.")
    return int(text)


@main.command(epilog=EXIT_CODES_HELP)
@click.argument("target")
@click.option(
    "--algorithm",
    type=click.Choice(list(ALGORITHMS)),
    default="pop",
    show_default=True,
    help="How to explore: one execution for each behaviour (pop, trust, and optimal, which takes "
    "more memory), the same with some redundant ones (source, and qpor, which has few), every "
    "interleaving (naive), or some at random (random, pct, pos).",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Which ones at random.")
@click.option(
    "--depth",
    type=click.IntRange(min=1),
    default=DEFAULT_DEPTH,
    show_default=True,
    help="How many orderings a failure may take that pct is to find.",
)
@click.option(
    "--k",
    default=str(DEFAULT_K),
    callback=number_or_optimal,
    metavar="K",
    show_default=True,
    help="With how many events alternatives conflict for qpor, or 'optimal': all.",
)
@click.option(
    "--preemptions",
    metavar="K",
    help="Leave out executions with more than K preemptions (algorithm trust); with 0.. those with "
    "more than 0 at first, then those with more than 1, and so on.",
)
@click.option(
    "--strict-bound",
    is_flag=True,
    help="Do not tell failures that take more preemptions than K, though some are met.",
)
@click.option(
    "--equivalence",
    type=click.Choice(EQUIVALENCES),
    default="mazurkiewicz",
    show_default=True,
    help="Which executions count as one: those that differ in the order of independent steps only, "
    "or all in which reads get their values from the same writes (algorithm trust).",
)
@click.option(
    "--max-executions", type=click.IntRange(min=1), help="Stop after this many executions."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    help="Stop after this many seconds.",
)
@click.option(
    "--max-events",
    type=click.IntRange(min=1),
    default=DEFAULT_MAX_EVENTS,
    show_default=True,
    help="Steps after which an execution counts as endless, which is a failure.",
)
@click.option(
    "--step-limit",
    type=click.FloatRange(min=0, min_open=True),
    default=DEFAULT_STEP_LIMIT,
    show_default=True,
    help="Seconds that a thread may take from one step to the next.",
)
@click.option(
    "--granularity",
    type=click.Choice(GRANULARITIES),
    default="access",
    show_default=True,
    help="Where threads can be switched: at each access to what they share, or at synchronisation "
    "only (sync), with data races as failures.",
)
@click.option(
    "--unroll",
    type=click.IntRange(min=1),
    help="Rounds that a loop with steps may have; executions with more are blocked. Loops that "
    "only wait need no bound.",
)
@click.option(
    "--no-loop-purity",
    is_flag=True,
    help="Do not cut threads that go round in a loop and change nothing (but for loops that only "
    "poll one variable).",
)
@click.option(
    "--no-awaits",
    is_flag=True,
    help="Do not let operations wait in place of the loops around them.",
)
@click.option("--all-failures", is_flag=True, help="Go on after the first failure, and show all.")
@click.option(
    "--no-independent-adds",
    is_flag=True,
    help="Explore the orders of Atomic.add too, though adds commute.",
)
@click.option(
    "--instrument",
    multiple=True,
    metavar="PACKAGE",
    help="See what the code of this package does, too, and not only that of your project; may be "
    "given several times.",
)
@click.option("--outcomes", is_flag=True, help="Show what the program returned, and how often.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document, and nothing else.")
@click.option(
    "--save",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write the schedule of the first failure to a file, for 'mazurka replay'.",
)
def check(
    target: str,
    all_failures: bool,
    no_independent_adds: bool,
    no_loop_purity: bool,
    no_awaits: bool,
    outcomes: bool,
    as_json: bool,
    save: Path | None,
    **limits: Any,
) -> None:
    """Check a function: run it once for every behaviour that differs.

    TARGET is path/to/file.py::function, path/to/file.py::Class::method or
    package.module:function; the function takes no arguments. Options of its @mazurka.check count
    unless they are given here.
    """
    options = given(limits)
    if all_failures:
        options["stop_on_failure"] = False
    if no_independent_adds:
        options["independent_adds"] = False
    if no_loop_purity:
        options["loop_purity"] = False
    if no_awaits:
        options["awaits"] = False
    with clean_exit():
        if save is not None:
            require_writable(save)
        # What the program prints must not get into the JSON document.
        output = contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext()
        with output, loaded(target) as program:
            result, interrupted = explored(program, {**options_of(program), **options})
            refuse_called_off(target, result)
        name_program(result, target)
        saved = save_failure(save, result) if save is not None else ""
        if as_json:
            click.echo(json.dumps(result_document(target, result)))
        else:
            show_result(target, result, outcomes)
            if result.failures and save is None:
                click.echo("\nTo keep this execution for 'mazurka replay', add --save FILE.")
        if saved:
            click.echo(f"\n{saved}", err=as_json)
    sys.exit(INTERRUPTED if interrupted else EXIT_CODES[result.verdict])


@main.command()
@click.argument("file", type=click.Path(path_type=Path))
@click.argument("target", required=False)
def replay(file: Path, target: str | None) -> None:
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
        with loaded(target) as program:
            try:
                failure = api.replay(program, schedule)
            except api.NoLongerFails as passed:
                click.echo(f"{target}: {passed}")
                return
            except MazurkaError as error:
                raise WrongUse(f"{target}: {error}") from error
        show_replayed(target, schedule, failure)
    sys.exit(FAILED)


# Running


def given(limits: dict[str, Any]) -> dict[str, Any]:
    """Those options that the user typed: the others are left to the decorator of the program."""
    source = click.get_current_context().get_parameter_source
    return {
        name: value for name, value in limits.items() if source(name) != ParameterSource.DEFAULT
    }


def options_of(program: Program) -> dict[str, Any]:
    """The options of the decorator `mazurka.check`, if there is one."""
    options: dict[str, Any] = getattr(program, "mazurka_options", {})
    return options


def explored(program: Program, options: dict[str, Any]) -> tuple[Result, bool]:
    """The result of a search, or what there is of it if the user interrupts it."""
    with Progress() as progress:
        try:
            return api.explore(program, **{**options, "progress": progress}), False
        except KeyboardInterrupt:
            result = progress.result
            result.algorithm = options.get("algorithm", "pop")
            result.reason = "interrupted"
            result.verdict = "failed" if result.failures else "incomplete"
            return result, True
        except MazurkaError as error:
            raise WrongUse(str(error)) from error


def refuse_called_off(target: str, result: Result) -> None:
    outcome = api.called_off(result)
    if outcome is not None:
        raise WrongUse(f"{target} cannot be checked here: {result.failures[0].message}")


@contextlib.contextmanager
def clean_exit() -> Iterator[None]:
    """Ctrl-C outside of a search, and faults of our own: neither must look like a verdict.

    If nobody reads the output to its end, that changes nothing about the verdict.
    """
    try:
        yield
    except click.ClickException:
        raise
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        sys.exit(INTERRUPTED)
    except Exception:
        traceback.print_exc()
        click.echo("\nThis is a bug in Mazurka, not in the program: please report it.", err=True)
        sys.exit(BUG)


# Showing


def show_result(target: str, result: Result, outcomes: bool) -> None:
    console = Console(highlight=False)
    if console.is_terminal:
        print_result(console, target, result)
    else:
        click.echo(result_text(target, result))
    if outcomes:
        click.echo(f"\n{outcomes_text(result)}")


def show_replayed(target: str, schedule: Schedule, failure: Failure) -> None:
    click.echo(f"{target}: FAILED; the execution of the schedule, run again")
    if (failure.kind, failure.message) != (schedule.failure, schedule.message):
        click.echo(f"It fails in another way than recorded, which was: {schedule.message}")
    click.echo()
    console = Console(highlight=False)
    if console.is_terminal:
        print_failure(console, failure)
    else:
        click.echo(failure_text(failure))


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


def save_failure(file: Path, result: Result) -> str:
    """Write the first failure's schedule; tells what was done."""
    if not result.failures:
        return f"No failure: nothing was written to {file}."
    try:
        file.write_text(result.failures[0].schedule.to_json() + "\n", encoding="utf-8")
    except OSError as error:
        raise WrongUse(f"cannot write {file}: {error.strerror}") from error
    return f"The failing execution is in {file}; run it again with: mazurka replay {file}"


def read_schedule(file: Path) -> Schedule:
    try:
        return Schedule.from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise WrongUse(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise WrongUse(f"{file} is not a schedule that Mazurka wrote: it is not text") from error
    except MazurkaError as error:
        raise WrongUse(f"{file} is {error}") from error


# Finding the program


@contextlib.contextmanager
def loaded(target: str) -> Iterator[Program]:
    """The function that a target names. Its directory can be imported from until the end."""
    file, colons, function = target.partition("::")
    if colons:
        folder = os.path.dirname(os.path.abspath(file))
    else:
        file, colons, function = target.rpartition(":")
        folder = os.getcwd()
        if file.endswith(".py"):
            raise WrongUse(f"{target}: a file takes two colons: {file}::{function}")
    if not file or not function:
        raise WrongUse(f"{target!r} does not name a function to check: write {TARGET_FORMS}")
    path = list(sys.path)
    sys.path.insert(0, folder)
    try:
        module = module_of_file(file) if colons == "::" else module_called(file)
        yield program_of(module, file, function)
    finally:
        sys.path[:] = path


def module_of_file(file: str) -> ModuleType:
    """Run a file as a module, like an import, but never from a cache that may be stale."""
    if not os.path.isfile(file):
        what = "is a directory" if os.path.isdir(file) else "does not exist"
        raise WrongUse(f"{file} {what}: give the path of a Python file")
    if not file.endswith(".py"):
        raise WrongUse(f"{file} is not a Python file: its name does not end in .py")
    name = os.path.basename(file).removesuffix(".py")
    if name in sys.modules:
        name = f"{name} (checked)"  # it must not take the place of a module of the same name
    module = ModuleType(name)
    module.__file__ = os.path.abspath(file)
    sys.modules[name] = module
    with importing(file):
        code = compile(Path(file).read_bytes(), module.__file__, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    return module


def module_called(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise WrongUse(f"{name!r} is not the name of a module: write {TARGET_FORMS}")
    with importing(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise  # a module that it imports is missing
            raise WrongUse(
                f"there is no module {error.name}, neither in {os.getcwd()} nor where Python looks"
            ) from error


@contextlib.contextmanager
def importing(what: str) -> Iterator[None]:
    """Turns whatever goes wrong in the import of the user's code into a message."""
    try:
        yield
    except WrongUse:
        raise
    except SystemExit as error:
        own = own_part(error.__traceback__)
        line = f", from line {own.tb_lineno} on" if own else ""
        raise WrongUse(
            f"{what} exits when it is imported{line}: put that under if __name__ == '__main__'"
        ) from error
    except Exception as error:
        own = own_part(error.__traceback__)
        lines = traceback.TracebackException(type(error), error, own).format()
        hint = ""
        if isinstance(error, ImportError) and "relative import" in str(error):
            hint = "\nName a module of a package with its package: package.module:function"
        raise WrongUse(f"{what} cannot be imported:\n\n{''.join(lines)}{hint}".rstrip()) from error


def own_part(trace: TracebackType | None) -> TracebackType | None:
    """A traceback from the user's code on, without what led there."""
    ours = (__file__, importlib.__file__)
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file not in ours and not file.startswith("<frozen importlib"):
            break
        trace = trace.tb_next
    return trace


def program_of(module: ModuleType, file: str, name: str) -> Program:
    """The function of a module, or the method of a class there."""
    class_name, colons, method = name.rpartition("::")
    if not colons:
        program = function_of(module, file, name)
    else:
        program = method_of(class_of(module, file, class_name), file, method)
    if api.is_checked(program) and not needs_nothing(program):
        parameters = ", ".join(inspect.signature(program).parameters)
        raise WrongUse(
            f"{name} in {file} takes {parameters}, which only pytest can give it: run it with "
            f"'pytest {file}::{name}'"
        )
    return program


def class_of(module: ModuleType, file: str, name: str) -> type:
    """The class of a module, or one in another class of it."""
    found: Any = module
    for part in name.split("::"):
        found = vars(found).get(part)
        if not inspect.isclass(found):
            raise WrongUse(f"{file} has no class {name}")
    setup = setup_of(found)
    if setup:
        raise WrongUse(
            f"{name} in {file} has a {setup} method, which only a test runner calls: run it with "
            f"'pytest {file}::{name}'"
        )
    tests: type = found
    return tests


def method_of(tests: type, file: str, name: str) -> Program:
    """The method of a new instance, made as pytest makes it: once for all executions."""
    if not callable(getattr(tests, name, None)):
        raise WrongUse(f"{tests.__qualname__} in {file} has no method {name}")
    try:
        instance = tests(name) if issubclass(tests, unittest.TestCase) else tests()
    except Exception as error:
        raise WrongUse(f"{tests.__qualname__} in {file} cannot be made: {error!r}") from error
    program: Program = getattr(instance, name)
    return program


def setup_of(tests: type) -> str:
    """The method of a class of tests that must be called before or after each, if it has one."""
    own = [parent for parent in tests.__mro__ if parent.__module__ != unittest.TestCase.__module__]
    found = [name for name in SETUP_METHODS for parent in own if name in vars(parent)]
    return found[0] if found else ""


def function_of(module: ModuleType, file: str, name: str) -> Program:
    if name not in vars(module):
        programs = ", ".join(programs_of(module))
        others = f"it has: {programs}" if programs else "nor any other that takes no arguments"
        raise WrongUse(f"{file} has no function {name}; {others}")
    function: Any = vars(module)[name]
    if not callable(function):
        kind = type(function).__name__
        raise WrongUse(f"{name} in {file} is not a function, but an object of type {kind}")
    if inspect.isclass(function):
        raise WrongUse(
            f"{name} in {file} is a class: name a method of it, as {file}::{name}::method"
        )
    program: Program = function
    return program


def programs_of(module: ModuleType) -> list[str]:
    """The names of the functions of a module that can be checked."""
    return [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and needs_nothing(value)
    ]


def needs_nothing(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind()
    except TypeError:
        return False
    return True

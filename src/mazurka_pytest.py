"""The pytest plugin: options, a summary and readable failures for the tests that Mazurka checks.

It lies beside the package, not in it: pytest loads it into every run, and to import any part of the
package is to import the engine.
"""

import argparse
import dataclasses
import hashlib
import inspect
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest._code.code import (
    ExceptionChainRepr,
    ExceptionRepr,
    ReprFileLocation,
    ReprTraceback,
    ReprTracebackNative,
)
from _pytest._io import TerminalWriter

if TYPE_CHECKING:
    from mazurka.api import CheckFailed
    from mazurka.engine.result import Failure, Result

    Chain = list[tuple[ReprTraceback, ReprFileLocation | None, str | None]]

VERDICTS = ("verified", "bounded", "incomplete", "failed")  # the worst last
LONGEST_FILE_NAME = 120
NO_TRACEBACK = ReprTracebackNative([])


# Options


@dataclasses.dataclass(frozen=True)
class Settings:
    """How this pytest run is to check."""

    defaults: dict[str, Any]  # from the configuration file
    overrides: dict[str, Any]  # from the command line
    save: Path | None


SETTINGS = pytest.StashKey[Settings]()


def whole_number(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number, at least 1")
    return number


def number_or_optimal(text: str) -> int | str:
    return text if text == "optimal" else whole_number(text)


def any_number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def seconds(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds, more than 0")
    return number


def one_of(what: str, constant: str) -> Callable[[str], str]:
    """Takes one of the names that `mazurka.options` has in a constant."""

    def take(text: str) -> str:
        from mazurka import options

        known = getattr(options, constant)
        if text not in known:
            raise argparse.ArgumentTypeError(
                f"there is no {what} {text!r}; choose one of {', '.join(known)}"
            )
        return text

    return take


# Options of mazurka.check that can be set for a whole run.
CHECK_OPTIONS: dict[str, tuple[Callable[[str], Any], str, str]] = {
    "algorithm": (
        one_of("algorithm", "ALGORITHMS"),
        "NAME",
        "How tests that Mazurka checks are explored.",
    ),
    "max_executions": (whole_number, "N", "Give up a test after this many executions."),
    "time_limit": (seconds, "SECONDS", "Give up a test after this many seconds."),
    "seed": (any_number, "N", "Which executions are taken at random, if they are."),
    "depth": (whole_number, "N", "How many orderings a failure may take that pct is to find."),
    "k": (number_or_optimal, "K", "With how many events alternatives conflict for qpor."),
    "preemptions": (str, "K", "Leave out executions with more than K preemptions."),
    "equivalence": (
        one_of("equivalence", "EQUIVALENCES"),
        "NAME",
        "Which executions count as one: 'reads-from' goes by the values that are read.",
    ),
    "granularity": (
        one_of("granularity", "GRANULARITIES"),
        "NAME",
        "Where threads are switched: at each access, or at sync only, with data races as failures.",
    ),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mazurka", "tests that are decorated with @mazurka.check")
    for name, (kind, placeholder, help) in CHECK_OPTIONS.items():
        flag = f"--mazurka-{name.replace('_', '-')}"
        group.addoption(flag, type=kind, metavar=placeholder, help=help)
        parser.addini(f"mazurka_{name}", f"{help} A test's decorator may say otherwise.")
    group.addoption(
        "--mazurka-all-failures",
        action="store_true",
        help="Go on after the first failing execution of a test, and show all.",
    )
    group.addoption(
        "--mazurka-save",
        metavar="DIR",
        help="Write a failing execution of every test that fails to a file, for 'mazurka replay'.",
    )


def pytest_configure(config: pytest.Config) -> None:
    given = {name: config.getoption(f"mazurka_{name}") for name in CHECK_OPTIONS}
    overrides = {name: value for name, value in given.items() if value is not None}
    if config.getoption("mazurka_all_failures"):
        overrides["stop_on_failure"] = False
    save = config.getoption("mazurka_save")
    config.stash[SETTINGS] = Settings(
        ini_options(config), overrides, folder_for_schedules(save) if save else None
    )


def ini_options(config: pytest.Config) -> dict[str, Any]:
    options = {}
    for name, (kind, _, _) in CHECK_OPTIONS.items():
        text = config.getini(f"mazurka_{name}")
        if text:
            try:
                options[name] = kind(text)
            except argparse.ArgumentTypeError as error:
                raise pytest.UsageError(f"mazurka_{name}: {error}") from error
    return options


def folder_for_schedules(name: str) -> Path:
    folder = Path(name).absolute()  # a test may change the directory
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"--mazurka-save: cannot make {name}: {error.strerror}") from error
    return folder


# Running a test


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hand the options to the checks of a test, and keep what they found."""
    settings = item.config.stash[SETTINGS]
    if "mazurka" not in sys.modules and not settings.defaults and not settings.overrides:
        return (yield)
    from mazurka.api import Runner, checks_run_by

    results: list[Result] = []
    try:
        with checks_run_by(Runner(settings.defaults, settings.overrides, results.append)):
            return (yield)
    finally:
        if results:
            item.user_properties += properties_of(results)


def properties_of(results: "list[Result]") -> list[tuple[str, object]]:
    """What goes into the report of a test, and so to the main process of xdist and to JUnit XML."""
    return [
        ("mazurka_verdict", max((result.verdict for result in results), key=VERDICTS.index)),
        ("mazurka_executions", sum(result.executions for result in results)),
        ("mazurka_seconds", round(sum(result.seconds for result in results), 6)),
    ]


# Failures


@pytest.hookimpl(wrapper=True, tryfirst=True)  # the outermost: expected failures are known then
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the account of a failing execution, instead of a traceback through Mazurka."""
    report = yield
    error = check_failed(call)
    if error is not None:
        remark = ""
        folder = item.config.stash[SETTINGS].save
        if folder is not None and report.failed and error.result.failures:
            remark = save_schedule(item, error.result.failures[0], folder)
        report.longrepr = failure_repr(item, error, remark)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_exception_interact(call: pytest.CallInfo[object]) -> None:
    """Let --pdb look at the program where it failed, not at the check."""
    error = check_failed(call)
    if error is not None and error.__cause__ is not None:
        call.excinfo = pytest.ExceptionInfo.from_exception(error.__cause__)


def check_failed(call: pytest.CallInfo[Any]) -> "CheckFailed | None":
    """The exception that ended a test, if it is that of a check."""
    if call.excinfo is None or "mazurka" not in sys.modules:
        return None
    from mazurka.api import CheckFailed

    error = call.excinfo.value
    return error if isinstance(error, CheckFailed) else None


def failure_repr(item: pytest.Item, error: "CheckFailed", remark: str) -> ExceptionChainRepr:
    """The account of the failing execution, then pytest's of the exception that it raised."""
    in_one_line = item.config.getoption("tbstyle") == "line"
    account = NO_TRACEBACK if in_one_line else Account(item.nodeid, error.result, remark)
    exception = error.__cause__
    if exception is not None:
        shown = item.repr_failure(pytest.ExceptionInfo.from_exception(exception))
        if isinstance(shown, ExceptionRepr):
            title = None if in_one_line else "What it raised:"
            return ExceptionChainRepr([(account, None, title), *chain_of(shown)])
    line = (item.location[1] or 0) + 1
    crash = ReprFileLocation(str(item.path), line, message_of(error.result))
    return ExceptionChainRepr([(account, crash, None)])


def chain_of(shown: ExceptionRepr) -> "Chain":
    if isinstance(shown, ExceptionChainRepr):
        return list(shown.chain)
    return [(shown.reprtraceback, shown.reprcrash, None)]


def message_of(result: "Result") -> str:
    """One line for pytest's own summary."""
    from mazurka.report.text import headline, summary

    return headline(result.failures[0]) if result.failures else summary(result)


class Account(ReprTracebackNative):
    """What 'mazurka check' prints of a failure: in colour if pytest's terminal is, else plain.

    Only the plain text goes to the main process of xdist.
    """

    def __init__(self, title: str, result: "Result", remark: str) -> None:
        from rich.console import Console

        from mazurka.report.terminal import print_result
        from mazurka.report.text import result_text

        ending = f"\n{remark}\n" if remark else ""
        super().__init__([result_text(title, result) + "\n" + ending])
        buffer = io.StringIO()
        print_result(Console(file=buffer, force_terminal=True, highlight=False), title, result)
        self.coloured = buffer.getvalue() + ending

    def toterminal(self, tw: TerminalWriter) -> None:
        if tw.hasmarkup:
            tw.write(self.coloured)
        else:
            super().toterminal(tw)


# Schedules


def save_schedule(item: pytest.Item, failure: "Failure", folder: Path) -> str:
    """Write down how a test failed; tells where."""
    schedule = dataclasses.replace(
        failure.schedule, program=target_of(item), message=plain_message(failure.message)
    )
    file = folder / file_name(item.nodeid)
    try:
        file.write_text(schedule.to_json() + "\n", encoding="utf-8")
    except OSError as error:
        return f"The failing execution could not be written to {file}: {error.strerror}"
    shown = os.path.relpath(file, item.config.invocation_params.dir)
    where = f"The failing execution is in {shown}"
    if schedule.program and is_replayable(item):
        where += f"; run it again with: mazurka replay {shown}"
    return where


def plain_message(message: str) -> str:
    """A message without what pytest adds to failing asserts: a replay does not run under pytest."""
    if not message.startswith("AssertionError"):
        return message
    return re.sub(r"(: |\n)assert .*", "", message, flags=re.DOTALL)


def target_of(item: pytest.Item) -> str:
    """What 'mazurka replay' calls a test; nothing if it is not the test itself that is checked."""
    function = function_of(item)
    if not hasattr(function, "mazurka_options"):
        return ""
    file = os.path.relpath(item.path, item.config.invocation_params.dir)
    classes = [node.name for node in item.listchain() if isinstance(node, pytest.Class)]
    return "::".join([file, *classes, function.__name__])


def is_replayable(item: pytest.Item) -> bool:
    """Whether a test needs nothing that only pytest can give it."""
    from mazurka.cli.main import setup_of

    tests = getattr(item, "cls", None)
    has_setup = tests is not None and setup_of(tests)
    return not has_setup and not inspect.signature(function_of(item)).parameters


def function_of(item: pytest.Item) -> Any:
    return item.obj if isinstance(item, pytest.Function) else None


def file_name(nodeid: str) -> str:
    """A name for the file of a test that no other test has."""
    name = re.sub(r"[^\w.-]+", "-", nodeid, flags=re.ASCII).strip("-")
    if "[" in nodeid or len(name) > LONGEST_FILE_NAME:  # parameters may be any text
        name = f"{name[:LONGEST_FILE_NAME]}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}"
    return f"{name}.json"


# The summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    checked = [
        (report.nodeid, dict(report.user_properties))
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
    ]
    checked = [(test, found) for test, found in checked if "mazurka_verdict" in found]
    if not checked or terminalreporter.config.get_verbosity() < 0:
        return
    terminalreporter.ensure_newline()
    terminalreporter.write_line("")
    terminalreporter.write_line(summary_line([found for _, found in checked]))
    if terminalreporter.config.get_verbosity() > 0:
        for test, found in checked:
            terminalreporter.write_line(f"  {test}: {found['mazurka_verdict']}; {counts(found)}")


def summary_line(found: list[dict[str, Any]]) -> str:
    verdicts = Counter(check["mazurka_verdict"] for check in found)
    total = {
        name: sum(check[name] for check in found)
        for name in ("mazurka_executions", "mazurka_seconds")
    }
    tests = "1 test" if len(found) == 1 else f"{len(found):,} tests"
    parts = [f"{verdicts[verdict]:,} {verdict}" for verdict in VERDICTS if verdicts[verdict]]
    return f"mazurka: {tests} checked, {counts(total)}: {', '.join(parts)}"


def counts(found: dict[str, Any]) -> str:
    executions = found["mazurka_executions"]
    noun = "execution" if executions == 1 else "executions"
    return f"{executions:,} {noun} in {found['mazurka_seconds']:.2f} s"

"""The pytest plugin: options, a summary and readable failures for the tests that Mazurka checks.

pytest loads it into every run, also of suites that do not use Mazurka: nothing here imports the
engine before a test does.
"""

import argparse
import contextlib
import dataclasses
import hashlib
import inspect
import io
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from _pytest._code.code import (
    ExceptionChainRepr,
    ExceptionRepr,
    ReprFileLocation,
    ReprTraceback,
    ReprTracebackNative,
)
from _pytest._io import TerminalWriter

from mazurka.options import OPTIONS, SWITCH, TEST_TIME_LIMIT, Option, jobs_wanted
from mazurka.pyproject import profile_options, project_file, project_options

if TYPE_CHECKING:
    from mazurka.api import CheckFailed
    from mazurka.engine.result import Failure, Result
    from mazurka.engine.schedule import Schedule
    from mazurka.kept import Memory
    from mazurka.report.progress import Progress

    Chain = list[tuple[ReprTraceback, ReprFileLocation | None, str | None]]

LONGEST_FILE_NAME = 120
NO_TRACEBACK = ReprTracebackNative([])


# Options


class Settings(NamedTuple):
    """How this pytest run is to check."""

    defaults: dict[str, Any]  # from the configuration files
    overrides: dict[str, Any]  # from the command line
    save: Path | None
    html: Path | None
    base: Path  # the folder of the project
    replays: "Schedule | None" = None  # the execution to run, and no other


SETTINGS = pytest.StashKey[Settings]()
CHANGED = pytest.StashKey[list[str]]()  # which fixtures of a test were not put back, in words
CHECKS = pytest.StashKey["Checks"]()
INTERRUPTED = pytest.StashKey[tuple[str, "Result"]]()
IN_PYTEST = [option for option in OPTIONS.values() if option.in_pytest]
SETTABLE = [option for option in IN_PYTEST if option.kind is not SWITCH]  # in configuration files


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("mazurka", "tests that are decorated with @mazurka.check")
    for option in IN_PYTEST:
        add_option(group, option)
    for option in SETTABLE:
        parser.addini(f"mazurka_{option.name}", f"{option.help} A decorator may say otherwise.")
    group.addoption(
        "--mazurka-profile",
        metavar="NAME",
        help="Take the options of [tool.mazurka.profiles.NAME] in pyproject.toml, too.",
    )
    group.addoption(
        "--mazurka-full",
        action="store_true",
        help="Show all steps of failing executions.",
    )
    group.addoption(
        "--mazurka-explain",
        action="store_true",
        help="Show an execution that passes beside each that fails.",
    )
    group.addoption(
        "--mazurka-html",
        metavar="DIR",
        help="Write a page for every test that fails, to look at in a browser.",
    )
    group.addoption(
        "--mazurka-save",
        metavar="DIR",
        help="Write a failing execution of every test that fails to a file, for 'mazurka replay'.",
    )
    group.addoption(
        "--mazurka-replay",
        metavar="FILE",
        help="Run the execution of a file, and no other: for one test, as 'mazurka replay' does.",
    )


def add_option(group: pytest.OptionGroup, option: Option) -> None:
    def read(text: str) -> Any:
        try:
            return option.read(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error

    flag = flag_of(option)
    if option.kind is SWITCH:
        group.addoption(flag, action="store_true", help=option.help)
    elif option.kind is not None:
        group.addoption(flag, type=read, metavar=option.kind.metavar, help=option.help)


def flag_of(option: Option) -> str:
    return f"--mazurka-{option.flag or option.name.replace('_', '-')}"


def pytest_configure(config: pytest.Config) -> None:
    save, html = [config.getoption(f"mazurka_{name}") for name in ("save", "html")]
    project, profile = pyproject_options(config)
    defaults = {**project, **ini_options(config), **profile}
    if "jobs" in defaults and hasattr(config, "workerinput"):  # one of the processes of xdist
        defaults["jobs"] = min(jobs_wanted(defaults["jobs"]), jobs_wanted("auto"))
    config.stash[SETTINGS] = Settings(
        defaults,
        {**command_line_options(config), **({"record": True} if html else {})},
        folder_called(save, "--mazurka-save") if save else None,
        folder_called(html, "--mazurka-html") if html else None,
        base_folder(config),
        schedule_in(config),
    )


def base_folder(config: pytest.Config) -> Path:
    file = project_file(config.rootpath)
    return config.rootpath if file is None else file.parent


def schedule_in(config: pytest.Config) -> "Schedule | None":
    """The schedule that is to be replayed."""
    file = config.getoption("mazurka_replay")
    if file is None:
        return None
    from mazurka.engine.errors import MazurkaError
    from mazurka.engine.schedule import Schedule

    path = Path(config.invocation_params.dir, file)
    try:
        return Schedule.from_text(path.read_text(encoding="utf-8") if path.is_file() else file)
    except (OSError, UnicodeDecodeError, MazurkaError) as error:
        raise pytest.UsageError(f"--mazurka-replay: {file}: {error}") from error


def command_line_options(config: pytest.Config) -> dict[str, Any]:
    options = {}
    for option in IN_PYTEST:
        value = config.getoption(flag_of(option))
        if option.kind is SWITCH:
            value = not option.default if value else None
        if value is not None:
            options[option.name] = value
    return options


def pyproject_options(config: pytest.Config) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the project, and those of the profile that is asked for."""
    profile = config.getoption("mazurka_profile")
    try:
        project = project_options(config.rootpath)
        return project, profile_options(config.rootpath, profile) if profile else {}
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def ini_options(config: pytest.Config) -> dict[str, Any]:
    options = {}
    for option in SETTABLE:
        text = config.getini(f"mazurka_{option.name}")
        if text:
            try:
                options[option.name] = option.read(text)
            except ValueError as error:
                raise pytest.UsageError(f"mazurka_{option.name}: {error}") from error
    return options


def folder_called(name: str, flag: str) -> Path:
    folder = Path(name).absolute()  # a test may change the directory
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise pytest.UsageError(f"{flag}: cannot make {name}: {error.strerror}") from error
    return folder


# Running a test


def pytest_collection_finish() -> None:
    """Load what tests have imported, though they have not asked for any of its names so far: their
    checks count from the first on."""
    package = sys.modules["mazurka"]
    modules = list(sys.modules.values())
    if any(getattr(module, "__dict__", {}).get("mazurka") is package for module in modules):
        import mazurka.api  # noqa: F401


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Hand the options to the checks of a test, and keep what they found."""
    settings = item.config.stash[SETTINGS]
    if "mazurka.api" not in sys.modules and not settings.defaults and not settings.overrides:
        return (yield)
    from mazurka.api import Runner, checks_run_by
    from mazurka.pytest_fixtures import PytestSurroundings, fresh_fixtures

    changed = item.stash[CHANGED] = []
    checks = item.stash[CHECKS] = Checks(item, settings)
    runner = Runner(
        settings.defaults,
        settings.overrides,
        TEST_TIME_LIMIT,
        checks.finished,
        partial(PytestSurroundings, item, changed),
        partial(fresh_fixtures, item),
        checks.known,
        checks.to_replay,
    )
    runner.needs = needs_of(item)
    runner.watch = watcher_of(item.config)
    runner.interrupted = checks.end
    try:
        with checks_run_by(runner):
            return (yield)
    except KeyboardInterrupt:
        if checks.interrupted is not None:  # there will be no report of this test
            item.config.stash[INTERRUPTED] = (item.nodeid, checks.interrupted)
        raise
    finally:
        if checks.results:
            item.user_properties += properties_of(checks.results)


class Checks:
    """The checks of one test: mostly one, which is the test itself."""

    def __init__(self, item: pytest.Item, settings: Settings) -> None:
        self.item = item
        self.settings = settings
        self.begun = 0
        self.memory: Memory | None = None  # of the one that runs
        self.results: list[Result] = []
        self.interrupted: Result | None = None

    def to_replay(self) -> "Schedule | None":
        """A check begins: which execution it is to run, and no other."""
        self.begun += 1
        self.memory = None
        schedule = self.settings.replays
        if schedule is None or check_number(schedule.program) != self.begun:
            return None
        return schedule

    def known(self, options: dict[str, Any], own: "list[Schedule]") -> "list[Schedule]":
        """What the check that begins is to try first: what was put on it, but for what is there
        for other parameters, and what is kept of it."""
        from mazurka.kept import memory_of

        parameters = parameters_in(self.item.nodeid)
        own = [one for one in own if parameters_in(one.program) in ("", parameters)]
        if self.settings.replays is not None or not options.get("keep_failures", True):
            return own
        name = name_of_check(self.item, self.settings.base, self.begun)
        self.memory = memory_of(self.settings.base, name, runner=runner_for(self.item, self.begun))
        for remark in self.memory.remarks:
            self.item.warn(pytest.PytestWarning(remark))
        return [*own, *self.memory.schedules]

    def end(self, result: "Result") -> None:
        """The user has ended it: this is what was found until then."""
        self.interrupted = result

    def finished(self, result: "Result") -> None:
        self.results.append(result)
        if self.memory is not None:
            self.memory.take_over(result)


def name_of_check(item: pytest.Item, base: Path, number: int) -> str:
    """What a check is called from the folder of the project: a test with its parameters, and which
    one of its checks if that is not the first."""
    file = os.path.relpath(item.path, base)
    _, colons, test = item.nodeid.partition("::")
    return f"{file}{colons}{test}" + (f"#{number}" if number > 1 else "")


def parameters_in(name: str) -> str:
    found = re.search(r"\[.*\]", name)
    return found[0] if found else ""


def check_number(name: str) -> int:
    """Which check of a test is meant."""
    found = re.search(r"#(\d+)$", name)
    return int(found[1]) if found else 1


def runner_for(item: pytest.Item, number: int) -> str:
    """Who can run a check: nobody but pytest, if it is not the test itself, or needs something."""
    is_plain = hasattr(function_of(item), "mazurka_options") and is_replayable(item)
    return "" if is_plain and number == 1 else "pytest"


def watcher_of(config: pytest.Config) -> "Callable[[], Progress] | None":
    """Tells how far long checks are, on pytest's terminal, if there is one and it is not quiet; and
    keeps what they have found."""
    from mazurka.report.progress import Lines, Progress

    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return None
    if config.get_verbosity() < 0:
        return Progress
    capture = config.pluginmanager.get_plugin("capturemanager")

    def write(line: str) -> None:
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            reporter.ensure_newline()
            reporter.write_line(f"mazurka: {line}")

    return lambda: Progress(Lines(write))


def properties_of(results: "list[Result]") -> list[tuple[str, object]]:
    """What goes into the report of a test, and so to the main process of xdist and to JUnit XML."""
    from mazurka.report.text import BY_WEIGHT

    properties: list[tuple[str, object]] = [
        ("mazurka_verdict", max((result.verdict for result in results), key=BY_WEIGHT.index)),
        ("mazurka_executions", sum(result.executions for result in results)),
        ("mazurka_seconds", round(sum(result.waited for result in results), 6)),
    ]
    failures = [failure for result in results for failure in result.failures]
    told = failures[0].explanation if failures else None
    if told is not None and told.sentence:
        properties += [("mazurka_bug", told.bug), ("mazurka_sentence", told.sentence)]
    reasons = [result.reason for result in results if result.verdict == "incomplete"]
    return properties + ([("mazurka_reason", reasons[0])] if reasons else [])


# Failures


@pytest.hookimpl(wrapper=True, tryfirst=True)  # the outermost: expected failures are known then
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Give the account of a failing execution, instead of a traceback through Mazurka."""
    report = yield
    error = check_failed(call)
    if error is not None:
        from mazurka.report.progress import advice_lines

        remarks = []
        settings = item.config.stash[SETTINGS]
        if settings.save is not None and report.failed and error.result.failures:
            remarks.append(save_schedule(item, error.result.failures[0], settings.save))
        if report.failed:
            remarks += [f"{told}." for told in item.stash[CHANGED] if told != error.result.reason]
        if report.failed and error.result.reason.startswith("stopped after time_limit"):
            remarks.append(advice_on_time(item))
        if report.failed and error.result.advice:
            remarks.append("\n".join(advice_lines(error.result, as_pytest_flags)))
        if settings.html is not None and report.failed:
            remarks.append(save_page(item, error.result, settings.html))
        report.longrepr = failure_repr(item, error, "\n".join(remarks))
        if report.failed:
            vars(report)["mazurka_annotations"] = annotations_of(item, error.result)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_exception_interact(call: pytest.CallInfo[object]) -> None:
    """Let --pdb look at the program where it failed, not at the check."""
    error = check_failed(call)
    if error is not None and error.__cause__ is not None:
        call.excinfo = pytest.ExceptionInfo.from_exception(error.__cause__)


def check_failed(call: pytest.CallInfo[Any]) -> "CheckFailed | None":
    """The exception that ended a test, if it is that of a check."""
    if call.excinfo is None or "mazurka.api" not in sys.modules:
        return None
    from mazurka.api import CheckFailed

    error = call.excinfo.value
    return error if isinstance(error, CheckFailed) else None


def annotations_of(item: pytest.Item, result: "Result") -> list[str]:
    """What GitHub Actions is told, where it runs this: by the main process, if xdist has others."""
    from mazurka.report.annotations import annotations, wants_annotations

    return annotations(item.nodeid, result) if wants_annotations() else []


def advice_on_time(item: pytest.Item) -> str:
    """What to do about a test that takes too long."""
    advice = (
        f"Tests have {TEST_TIME_LIMIT:g} seconds if nothing else is said. For more: "
        "@mazurka.check(time_limit=600),\n--mazurka-time-limit 600, or time_limit = 600 under "
        "[tool.mazurka] in pyproject.toml; inf is no limit."
    )
    if runner_for(item, 1) != "pytest":
        target = name_of_check(item, item.config.invocation_params.dir, 1)
        advice += f"\nHow long it takes, and what would help: mazurka estimate {target}"
    return advice


def failure_repr(item: pytest.Item, error: "CheckFailed", remark: str) -> ExceptionChainRepr:
    """The account of the failing execution, then pytest's of the exception that it raised."""
    in_one_line = item.config.getoption("tbstyle") == "line"
    shows = [item.config.getoption(f"mazurka_{name}") for name in ("full", "explain")]
    account = NO_TRACEBACK if in_one_line else Account(item.nodeid, error.result, remark, *shows)
    exception = error.__cause__
    if exception is not None:
        shown = item.repr_failure(pytest.ExceptionInfo.from_exception(exception))
        if isinstance(shown, ExceptionRepr):
            title = None if in_one_line else "What it raised:"
            *causes, (trace, crash, remarks) = chain_of(shown)
            crash = with_bug(crash, error.result)
            return ExceptionChainRepr([(account, None, title), *causes, (trace, crash, remarks)])
    from mazurka.report.text import message_of

    line = (item.location[1] or 0) + 1
    crash = ReprFileLocation(str(item.path), line, message_of(error.result))
    return ExceptionChainRepr([(account, crash, None)])


def with_bug(crash: ReprFileLocation | None, result: "Result") -> ReprFileLocation | None:
    """Where it was raised, and what: short summaries are to name the kind of bug, too."""
    told = result.failures[0].explanation if result.failures else None
    if crash is None or told is None or not told.bug:
        return crash
    return ReprFileLocation(crash.path, crash.lineno, f"{told.bug}: {crash.message}")


def chain_of(shown: ExceptionRepr) -> "Chain":
    if isinstance(shown, ExceptionChainRepr):
        return list(shown.chain)
    return [(shown.reprtraceback, shown.reprcrash, None)]


class Account(ReprTracebackNative):
    """What 'mazurka check' prints of a failure: in colour if pytest's terminal is, else plain.

    Only the plain text goes to the main process of xdist.
    """

    def __init__(
        self, title: str, result: "Result", remark: str, full: bool, explain: bool
    ) -> None:
        from rich.console import Console

        from mazurka.report.terminal import print_result
        from mazurka.report.text import result_text

        ending = f"\n{remark}\n" if remark else ""
        text = result_text(title, result, full=full, explain=explain)
        super().__init__([text + "\n" + ending])
        buffer = io.StringIO()
        console = Console(file=buffer, force_terminal=True, highlight=False)
        print_result(console, title, result, full, explain)
        self.coloured = buffer.getvalue() + ending

    def toterminal(self, tw: TerminalWriter) -> None:
        if tw.hasmarkup:
            tw.write(self.coloured)
        else:
            super().toterminal(tw)


# Files


def save_schedule(item: pytest.Item, failure: "Failure", folder: Path) -> str:
    """Write down how a test failed; tells where."""
    here = item.config.invocation_params.dir
    number = item.stash[CHECKS].begun if CHECKS in item.stash else 1
    runner = runner_for(item, number)
    program = name_of_check(item, here, number)
    schedule = dataclasses.replace(
        failure.schedule, program=program, message=message_for(runner, failure), runner=runner
    )
    file = folder / file_name(item.nodeid)
    try:
        file.write_text(schedule.to_json() + "\n", encoding="utf-8")
    except OSError as error:
        return f"The failing execution could not be written to {file}: {error.strerror}"
    shown = os.path.relpath(file, here)
    return f"The failing execution is in {shown}; run it again with: mazurka replay {shown}"


def message_for(runner: str, failure: "Failure") -> str:
    from mazurka.engine.schedule import plain_message

    return failure.message if runner else plain_message(failure.message)


def save_page(item: pytest.Item, result: "Result", folder: Path) -> str:
    """Write a page on a test that failed; tells where."""
    from mazurka.report.page import page_of

    file = folder / file_name(item.nodeid, "html")
    try:
        file.write_text(page_of(item.nodeid, result), encoding="utf-8")
    except OSError as error:
        return f"The page could not be written to {file}: {error.strerror}"
    shown = os.path.relpath(file, item.config.invocation_params.dir)
    return f"A page to look at in a browser is in {shown}"


def is_replayable(item: pytest.Item) -> bool:
    """Whether a test needs nothing that only pytest can give it."""
    from mazurka.cli.targets import setup_of

    tests = getattr(item, "cls", None)
    has_setup = tests is not None and setup_of(tests)
    return not has_setup and not inspect.signature(function_of(item)).parameters


def needs_of(item: pytest.Item) -> str:
    """What pytest does for a test before it runs, whatever asks for it."""
    from mazurka.cli.targets import setup_of

    tests = getattr(item, "cls", None)
    setup = setup_of(tests) if tests is not None else ""
    if setup:
        return setup
    names = [name for name in getattr(item, "fixturenames", ()) if name != "request"]
    names = [name for name in names if not name.startswith("_unittest_")]  # all such tests have it
    if any(name.startswith("_xunit_") for name in names):
        return "the setup functions of its module or class"
    return f"fixtures of pytest ({', '.join(names)})" if names else ""


def function_of(item: pytest.Item) -> Any:
    return item.obj if isinstance(item, pytest.Function) else None


def file_name(nodeid: str, ending: str = "json") -> str:
    """A name for the file of a test that no other test has."""
    name = re.sub(r"[^\w.-]+", "-", nodeid, flags=re.ASCII).strip("-")
    if "[" in nodeid or len(name) > LONGEST_FILE_NAME:  # parameters may be any text
        name = f"{name[:LONGEST_FILE_NAME]}-{hashlib.sha256(nodeid.encode()).hexdigest()[:8]}"
    return f"{name}.{ending}"


# The summary


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    calls = [
        report
        for reports in terminalreporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport) and report.when == "call"
    ]
    if INTERRUPTED in terminalreporter.config.stash:
        tell_interrupted(terminalreporter, *terminalreporter.config.stash[INTERRUPTED])
    for report in calls:
        for line in getattr(report, "mazurka_annotations", []):
            terminalreporter.ensure_newline()
            terminalreporter.write_line(line)
    checked = [(report.nodeid, dict(report.user_properties)) for report in calls]
    checked = [(test, found) for test, found in checked if "mazurka_verdict" in found]
    if not checked or terminalreporter.config.get_verbosity() < 0:
        return
    terminalreporter.ensure_newline()
    terminalreporter.write_line("")
    terminalreporter.write_line(summary_line([found for _, found in checked]))
    if terminalreporter.config.get_verbosity() > 0:
        for test, found in checked:
            terminalreporter.write_line(f"  {test}: {found['mazurka_verdict']}; {counts(found)}")


def tell_interrupted(reporter: pytest.TerminalReporter, test: str, result: "Result") -> None:
    """What a check had found when the user ended it, and what would help."""
    from mazurka.report.progress import advice_lines
    from mazurka.report.text import summary

    reporter.ensure_newline()
    reporter.write_line(f"mazurka: {test}: {summary(result)}")
    for line in advice_lines(result, as_pytest_flags):
        reporter.write_line(line)


def as_pytest_flags(options: dict[str, Any]) -> str:
    """Options as pytest's command line or a decorator takes them."""
    if all(OPTIONS[name].in_pytest for name in options):
        return " ".join([f"{flag_of(OPTIONS[name])} {value}" for name, value in options.items()])
    given = ", ".join([f"{name}={value!r}" for name, value in options.items()])
    return f"@mazurka.check({given})"


def summary_line(found: list[dict[str, Any]]) -> str:
    from mazurka.report.text import BY_WEIGHT

    verdicts = Counter(check["mazurka_verdict"] for check in found)
    total = {
        name: sum(check[name] for check in found)
        for name in ("mazurka_executions", "mazurka_seconds")
    }
    tests = "1 test" if len(found) == 1 else f"{len(found):,} tests"
    parts = [f"{verdicts[verdict]:,} {verdict}" for verdict in BY_WEIGHT if verdicts[verdict]]
    return f"mazurka: {tests} checked, {counts(total)}: {', '.join(parts)}"


def counts(found: dict[str, Any]) -> str:
    executions = found["mazurka_executions"]
    noun = "execution" if executions == 1 else "executions"
    return f"{executions:,} {noun} in {found['mazurka_seconds']:.2f} s"

"""Results and failures as plain text."""

import os
import textwrap
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from mazurka.engine.result import (
    DATA_RACE,
    DEADLOCK,
    EXCEPTION,
    LIVELOCK,
    TOO_LONG,
    Failure,
    Result,
    Step,
)
from mazurka.engine.trace import CONSTANT, OWN

VERDICTS = {
    "verified": "verified: no execution fails",
    "failed": "FAILED",
    "bounded": "bounded: no execution within the bound fails",
    "incomplete": "INCOMPLETE: the search was cut short",
}

# Of an execution with more steps than this, the first and the last are shown.
MOST_STEPS = 60
FIRST_STEPS = 20
LAST_STEPS = 35
LAST_STEPS_OF_A_LOOP = 10

MOST_WAYS = 10
MOST_WARNINGS = 10
WORTH_TELLING = 0.5  # seconds of preparation
LINE_WIDTH = 100
WIDEST_ACTION = 48
WIDEST_SOURCE = 60


@dataclass(frozen=True)
class Row:
    """A line in the account of an execution."""

    number: str
    thread: str
    action: str
    where: str = ""
    source: str = ""
    switched: bool = True  # whether another thread did the step before

    @property
    def name(self) -> str:
        """The thread, named only where it takes over: so that switches catch the eye."""
        return self.thread if self.switched else ""


def result_text(title: str, result: Result) -> str:
    """Everything there is to say about a search."""
    parts = [f"{title}: {summary(result)}"]
    for part in result_parts(result):
        parts.append(part if isinstance(part, str) else failure_text(part))
    return "\n\n".join(parts)


def result_parts(result: Result) -> list[Failure | str]:
    """What follows the summary: a failure for each way to fail, and remarks."""
    parts: list[Failure | str] = []
    ways = failure_groups(result.failures)
    for way in ways[:MOST_WAYS]:
        parts.append(way[0])
        if len(way) > 1:
            parts.append(f"({len(way):,} executions fail like this; the first is shown.)")
    if len(ways) > MOST_WAYS:
        more = plural(len(ways) - MOST_WAYS, "more way")
        parts.append(f"({more} to fail not shown.)")
    if result.warnings:
        parts.append(warnings_text(result.warnings))
    return parts


def warnings_text(warnings: list[str]) -> str:
    """What was not seen, and so might have been missed."""
    lines = ["Not everything was seen, and so a failure may have been missed:"]
    for warning in warnings[:MOST_WARNINGS]:
        lines += textwrap.wrap(warning, LINE_WIDTH, initial_indent="  ", subsequent_indent="    ")
    if len(warnings) > MOST_WARNINGS:
        lines.append(f"  ({len(warnings) - MOST_WARNINGS} more not shown.)")
    lines.append(
        "If you know that it does no harm, name its package: --opaque PACKAGE, or opaque=[...]."
    )
    return "\n".join(lines)


def summary(result: Result) -> str:
    """One line: the verdict, and how much was looked at."""
    headline = VERDICTS[result.verdict]
    if result.verdict == "bounded":
        headline += f" ({result.bound})"
    if result.verdict == "incomplete" and result.doubt and result.reason == result.doubt:
        headline = f"INCOMPLETE: {result.reason}"
    elif result.verdict == "incomplete" and result.reason:
        headline += f" ({result.reason})"
    if result.verdict == "failed" and result.reason.startswith("stopped after"):
        headline += f", and there may be more ({result.reason})"
    if result.verdict == "verified" and not result.complete:
        headline += ", but none runs to its end: look at the assumptions"
    if result.verdict == "verified" and result.threads == 1 and result.executions == 1:
        headline += ", but only one thread ever ran"
    how = result.algorithm
    if result.equivalence != "mazurkiewicz":
        how += f", {result.equivalence}"
    cost = f"{result.seconds:.2f} s"
    if result.preparation > WORTH_TELLING:
        cost += f", after {result.preparation:.1f} s of preparation"
    if result.unfolding is not None and result.memory_mb is not None:  # a search that may take much
        cost += f", {result.memory_mb:.0f} MB"
    if result.assuming:
        how += f"; assuming {', '.join(result.assuming)}"
    if result.opaque:
        how += f"; not looked at: {', '.join(result.opaque)}"
    return f"{headline}; {counts(result)} in {cost} ({how})"


def counts(result: Result) -> str:
    """How many executions there were, and of which sorts if not all were complete."""
    sorts = [
        f"{count:,} {sort}"
        for sort, count in (
            ("complete", result.complete),
            ("blocked", result.blocked),
            ("redundant", result.redundant),
            ("cut at the bound", result.cut),
        )
        if count
    ]
    text = plural(result.executions, "execution")
    if result.complete < result.executions:
        text += f" ({', '.join(sorts)})"
    if result.beyond:
        text += f", {result.beyond:,} of which beyond the bound"
    if result.traces is not None:
        text += f" of {plural(result.traces, 'trace')}"
    if result.unfolding is not None:
        text += f" with {plural(result.unfolding, 'event')} (at most {result.known:,} at a time)"
    if len(result.failures) > 1:
        # A data race is told once, however many executions have it.
        races = any(failure.kind == DATA_RACE for failure in result.failures)
        text += f", {len(result.failures):,} {'failures' if races else 'of which fail'},"
    return text


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def failure_groups(failures: Sequence[Failure]) -> list[list[Failure]]:
    """Failures that say the same, together: many executions may fail in one way."""
    groups: dict[tuple[str, ...], list[Failure]] = {}
    for failure in failures:
        account = (failure.kind, failure.message, failure.thread, *failure.details)
        groups.setdefault(account, []).append(failure)
    return list(groups.values())


def failure_text(failure: Failure) -> str:
    """The account of one failing execution."""
    lines = [headline(failure), *explanation(failure)]
    rows = step_rows(failure)
    if rows:
        lines += ["", steps_title(failure)]
        lines += [("  " + "  ".join(cells)).rstrip() for cells in columns(rows)]
    return "\n".join(lines)


def headline(failure: Failure) -> str:
    """What went wrong."""
    if failure.kind == DEADLOCK:
        return "deadlock: no thread can go on"
    if failure.kind == LIVELOCK:
        return f"livelock: {failure.message}"
    if failure.kind == EXCEPTION:
        return failure.message.replace("\n", "\n    ")
    return textwrap.fill(f"{failure.kind}: {failure.message}", LINE_WIDTH, break_long_words=False)


def explanation(failure: Failure) -> list[str]:
    """Who failed, and what is known beyond the headline."""
    here = os.getcwd() + os.sep
    lines = [f"  in thread {failure.thread}"] if failure.thread else []
    return lines + [f"  {detail.replace(here, '')}" for detail in failure.details]


def steps_title(failure: Failure) -> str:
    told = told_steps(failure)
    threads = len({step.thread for step in told})
    steps = plural(len(told), "step")
    return f"The execution, {steps} by {plural(threads, 'thread')}:"


def told_steps(failure: Failure) -> list[Step]:
    """Without the insides of what the program uses."""
    return [step for step in failure.steps if step.group in ("", OWN, CONSTANT)]


def step_rows(failure: Failure) -> list[Row]:
    """The steps that are worth showing."""
    files = file_names(failure)
    told = told_steps(failure)
    rows: list[Row] = []
    before = -1
    thread = ""
    for number in shown_steps(failure):
        step = told[number]
        if number > before + 1:
            left_out = plural(number - before - 1, "step")
            rows.append(Row("", "", f"... {left_out} left out ..."))
            thread = ""
        where = f"{files[step.file]}:{step.line}" if step.file else ""
        source = cut(step.source, WIDEST_SOURCE)
        action = " ".join(step.action.splitlines())
        switched = step.thread != thread
        rows.append(Row(str(number + 1), step.thread, action, where, source, switched))
        before, thread = number, step.thread
    if rows and failure.kind == EXCEPTION:
        raises = cut("raises " + failure.message.partition("\n")[0], LINE_WIDTH)
        rows.append(Row("", failure.thread, raises, switched=failure.thread != thread))
    return rows


def shown_steps(failure: Failure) -> list[int]:
    """Which steps to show of an execution that may be very long."""
    total = len(told_steps(failure))
    if total <= MOST_STEPS and failure.kind != TOO_LONG:
        return list(range(total))
    last = LAST_STEPS_OF_A_LOOP if failure.kind == TOO_LONG else LAST_STEPS
    return [number for number in range(total) if number < FIRST_STEPS or number >= total - last]


def columns(rows: Sequence[Row]) -> list[tuple[str, str, str, str, str]]:
    """The cells of the rows, padded to the width of their columns: number, thread, action, where
    and source. An action that is too long for its column pushes the rest of its row aside."""
    number = max(len(row.number) for row in rows)
    name = max(len(row.thread) for row in rows)
    where = max(len(row.where) for row in rows)
    actions = [len(row.action) for row in rows if row.where]
    action = min(WIDEST_ACTION, max(actions, default=0))
    return [
        (
            f"{row.number:>{number}}",
            f"{row.name:<{name}}",
            f"{row.action:<{action}}",
            f"{row.where:<{where}}",
            row.source,
        )
        for row in rows
    ]


def outcomes_text(result: Result) -> str:
    """How often each outcome came about."""
    if not result.outcomes:
        return "No outcomes: no execution ran to its end without failing."
    width = len(f"{max(result.outcomes.values()):,}")
    lines = [f"  {count:>{width},} x  {text}" for text, count in sorted_outcomes(result)]
    return "\n".join(["Outcomes:", *lines])


def sorted_outcomes(result: Result) -> list[tuple[str, int]]:
    """The outcomes as text with their counts, in their own order if they have one."""
    outcomes: list[Any] = list(result.outcomes)
    try:
        outcomes.sort()
    except Exception:  # they have none
        outcomes.sort(key=text_of)
    return [(text_of(outcome), result.outcomes[outcome]) for outcome in outcomes]


def text_of(value: object) -> str:
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} whose repr raises {type(error).__name__}>"


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


def file_names(failure: Failure) -> dict[str, str]:
    """How to call the files of the steps: without their folders, unless that is ambiguous."""
    files = {step.file for step in failure.steps}
    names = Counter(os.path.basename(file) for file in files)
    return {
        file: os.path.basename(file) if names[os.path.basename(file)] == 1 else short(file)
        for file in files
    }


def short(file: str) -> str:
    """A path as short as it can be said from here."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if relative.startswith("..") else relative

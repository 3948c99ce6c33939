"""Results and failures as plain text."""

import os
import textwrap
from collections.abc import Sequence
from itertools import groupby
from typing import Any

from mazurka.engine.recording import text_of
from mazurka.engine.result import (
    DATA_RACE,
    DEADLOCK,
    EXCEPTION,
    LIVELOCK,
    TRIED_FIRST,
    Failure,
    Result,
    Step,
)
from mazurka.report.columns import Table, table_of
from mazurka.report.compare import comparison
from mazurka.report.layout import file_of, lines_of

VERDICTS = {
    "verified": "verified: no execution fails",
    "failed": "FAILED",
    "bounded": "bounded: no execution within the bound fails",
    "incomplete": "INCOMPLETE: the search was cut short",
}

BY_WEIGHT = ("verified", "bounded", "incomplete", "failed")  # the worst last

MOST_WAYS = 10
MOST_WARNINGS = 10
MOST_OF_OUTCOME = 60  # letters that others leave room for
MOST_TURNS = 8
WORTH_TELLING = 0.5  # seconds that are not the search itself
LINE_WIDTH = 100


def result_text(
    title: str,
    result: Result,
    width: int = LINE_WIDTH,
    full: bool = False,
    explain: bool = False,
) -> str:
    """Everything there is to say about a search."""
    parts = [f"{title}: {summary(result)}" if title else summary(result)]
    for part in result_parts(result):
        if isinstance(part, str):
            parts.append(part)
        else:
            parts.append(failure_text(part, width, full, explain))
    return "\n\n".join(parts)


def result_parts(result: Result) -> list[Failure | str]:
    """What follows the summary: a failure for each way to fail, and remarks."""
    parts: list[Failure | str] = []
    ways = failure_groups(result.failures)
    if is_known(result) and not result.again[0].is_same_failure(result.failures[0].schedule):
        parts.append(f"It fails in another way than before, which was: {result.again[0].message}")
    for way in ways[:MOST_WAYS]:
        parts.append(way[0])
        if len(way) > 1:
            parts.append(f"({len(way):,} executions fail like this; the first is shown.)")
    if len(ways) > MOST_WAYS:
        more = plural(len(ways) - MOST_WAYS, "more way")
        parts.append(f"({more} to fail not shown.)")
    if result.warnings:
        parts.append(warnings_text(result))
    return [*parts, *result.remarks]


def warnings_text(result: Result) -> str:
    """What was not seen, and so might have been missed."""
    warnings = result.warnings
    lines = ["Not everything was seen, and so a failure may have been missed:"]
    for warning in warnings[:MOST_WARNINGS]:
        lines += textwrap.wrap(warning, LINE_WIDTH, initial_indent="  ", subsequent_indent="    ")
    if len(warnings) > MOST_WARNINGS:
        lines.append(f"  ({len(warnings) - MOST_WARNINGS} more not shown.)")
    if result.mending:
        lines.append(result.mending)
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
    how = "tried first, as it had failed before" if is_known(result) else result.algorithm
    if result.equivalence != "mazurkiewicz":
        how += f", {result.equivalence}"
    cost = f"{result.waited:.2f} s"
    others = (result.preparation, "to prepare it"), (result.explaining, "to explain it")
    told = [f"{seconds:.1f} s {what}" for seconds, what in others if seconds > WORTH_TELLING]
    if told:
        cost += f", of these {' and '.join(told)}"
    if result.unfolding is not None and result.memory_mb is not None:  # a search that may take much
        cost += f", {result.memory_mb:.0f} MB"
    if result.assuming:
        how += f"; assuming {', '.join(result.assuming)}"
    if result.opaque:
        how += f"; not looked at: {', '.join(result.opaque)}"
    return f"{headline}; {counts(result)} in {cost} ({how})"


def is_known(result: Result) -> bool:
    """Whether there was no search, as an execution failed that had failed before."""
    return result.reason == TRIED_FIRST


def message_of(result: Result) -> str:
    """One line for a summary of many results."""
    return in_a_line(result.failures[0]) if result.failures else summary(result)


def in_a_line(failure: Failure) -> str:
    """The kind of bug, and what came of it."""
    told = failure.explanation
    bug = told.bug if told is not None else ""
    first = headline(failure).partition("\n")[0]
    return f"{bug}: {first}" if bug and bug != failure.kind else first


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


def failure_text(
    failure: Failure, width: int = LINE_WIDTH, full: bool = False, explain: bool = False
) -> str:
    """The account of one failing execution."""
    lines = [*headlines(failure, width), *explanation(failure)]
    if failure.steps or failure.waiting:
        lines += ["", steps_title(failure, full)]
        table = table_of(failure, full)
        lines += ["".join(piece.text for piece in line).rstrip() for line in lines_of(table, width)]
        lines += remarks(failure, table)
    if explain:
        lines += ["", *comparison(failure, width)]
    return "\n".join(lines)


def headlines(failure: Failure, width: int) -> list[str]:
    """What went wrong: the kind of bug, if it is known, and what came of it."""
    lines = []
    told = failure.explanation
    if told is not None and told.sentence:
        lines += textwrap.wrap(told.sentence, width, break_long_words=False, break_on_hyphens=False)
        if told.sentence.startswith(failure.kind):
            return lines
        lines.append("")
    return [*lines, headline(failure)]


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
    details = failure.details
    if failure.kind == DEADLOCK and failure.explanation is not None:  # the table has them
        waiting = tuple([f"{step.thread} waits " for step in failure.waiting])
        details = [detail for detail in details if not detail.startswith(waiting)]
    if failure.explanation is not None and failure.explanation.locks:
        lines.append(f"  {failure.explanation.locks}")
    return lines + [f"  {detail.replace(here, '')}" for detail in details]


def steps_title(failure: Failure, full: bool = False) -> str:
    threads = len({step.thread for step in [*failure.steps, *failure.waiting]})
    count = len(failure.schedule.steps) or len(failure.steps)
    file = file_of(table_of(failure, full))
    return (
        f"The execution, {plural(count, 'step')} by {plural(threads, 'thread')}"
        + (f", in {file}" if file else "")
        + ":"
    )


def remarks(failure: Failure, table: Table) -> list[str]:
    """What else there is to say of the execution that is shown."""
    told = failure.explanation
    lines = []
    if any(row.deciding for row in table.rows):
        lines.append("* decides whether it fails")
    if told is not None and told.cut:
        lines.append(f"({told.cut})")
    return ["", *lines] if lines else []


def outcomes_text(result: Result) -> str:
    """How often each outcome came about."""
    if not result.outcomes:
        return "No outcomes: no execution ran to its end without failing."
    width = len(f"{max(result.outcomes.values()):,}")
    rows = sorted_outcomes(result)
    lines = [f"  {count:>{width},} x  {text}" for text, count in rows]
    recording = result.recording
    if recording is None or not recording.schedules:
        return "\n".join(["Outcomes:", *lines])
    orders = [turns_of(recording.outcomes.get(text, [])) for text, _ in rows]
    longest = max([len(line) for line in lines if len(line) <= MOST_OF_OUTCOME], default=0)
    numbers = len(str(len(lines)))
    told = [
        f"{number:>{numbers + 2}}{line:<{longest}}" + (f"   {order}" if order else "")
        for number, (line, order) in enumerate(zip(lines, orders, strict=True), 1)
    ]
    return "\n".join(
        ["Outcomes, each with an execution that has it, in turns of so many steps:", *told]
    )


def turns_of(steps: Sequence[Step]) -> str:
    """Who makes how many steps, one turn after the other."""
    made = [step.thread for step in steps if step.position >= 0]
    turns = [f"{thread} {len(list(run))}" for thread, run in groupby(made)]
    shown = ", ".join(turns[:MOST_TURNS])
    return f"{shown}, ..." if len(turns) > MOST_TURNS else shown


def sorted_outcomes(result: Result) -> list[tuple[str, int]]:
    """The outcomes as text with their counts, in their own order if they have one."""
    outcomes: list[Any] = list(result.outcomes)
    try:
        outcomes.sort()
    except Exception:  # they have none
        outcomes.sort(key=text_of)
    return [(text_of(outcome), result.outcomes[outcome]) for outcome in outcomes]

"""What a page shows, as data. Texts are kept once, and steps are lists of numbers: an execution of
10,000 steps is to open at once."""

from collections.abc import Iterable, Sequence
from dataclasses import astuple
from typing import Any, Final

from mazurka.engine.result import EXCEPTION, Failure, Recording, Result, Step
from mazurka.report.case import label_of
from mazurka.report.columns import ending, row_of_waiting, table_of
from mazurka.report.layout import file_names
from mazurka.report.text import (
    MOST_WAYS,
    explanation,
    failure_groups,
    headline,
    in_a_line,
    sorted_outcomes,
    summary,
    warnings_text,
)

MOST_ALIKE: Final = 5  # executions of one way to fail
MOST_STEPS: Final = 60_000  # of all executions but the first
WHOLE_FILE: Final = 2_000  # lines; of longer ones what lies around the steps is shown
AROUND: Final = 60


def page_data(title: str, result: Result) -> dict[str, Any]:
    book = Book()
    failures = [
        failure_data(book, way, len(failures))
        for failures in failure_groups(result.failures)[:MOST_WAYS]
        for way in failures[:MOST_ALIKE]
    ]
    recording = result.recording or Recording()
    outcomes = [
        [text, count, book.execution(text, recording.outcomes.get(text, ()))]
        for text, count in sorted_outcomes(result)
    ]
    return {
        "title": title,
        "verdict": result.verdict,
        "summary": summary(result),
        "warnings": warnings_text(result) if result.warnings else "",
        "figures": figures(result),
        "failures": failures,
        "outcomes": outcomes,
        "tree": tree_data(book, recording) if recording.leaves else None,
        "why": recording.cut if result.recording else "The search was not recorded.",
        "samples": [list(astuple(sample)) for sample in recording.samples],
        "executions": book.executions,
        "strings": list(book.strings),
        "files": book.files(),
    }


def figures(result: Result) -> list[list[object]]:
    """What is worth a row of the table of the search."""
    rows: list[list[object]] = [
        ["algorithm", result.algorithm],
        ["equivalence", result.equivalence],
        ["executions", result.executions],
        ["complete", result.complete],
        ["blocked", result.blocked],
        ["redundant", result.redundant],
        ["cut at the bound", result.cut],
        ["computed, not run", result.computed],
        ["failures", len(result.failures)],
        ["threads", result.threads],
        ["seconds", round(result.seconds, 3)],
        ["seconds to prepare", round(result.preparation, 3)],
        ["seconds to explain", round(result.explaining, 3)],
        ["memory, MB", None if result.memory_mb is None else round(result.memory_mb)],
    ]
    return [row for row in rows if row[1] not in (None, 0, "")]


def failure_data(book: "Book", failure: Failure, alike: int) -> dict[str, Any]:
    told = failure.explanation
    passing = -1
    execution = book.execution_of(failure)
    if told is not None and told.passing and execution >= 0:
        passing = book.execution("passes", told.passing)
    return {
        "name": in_a_line(failure),
        "headline": headline(failure),
        "sentence": told.sentence if told is not None else "",
        "details": explanation(failure),
        "remark": told.cut if told is not None else "",
        "alike": alike,
        "execution": execution,
        "passing": passing,
        "schedule": failure.schedule.to_json(),
    }


def tree_data(book: "Book", recording: Recording) -> dict[str, Any]:
    return {
        "branches": [
            [branch.parent, book.string(branch.thread), book.string(branch.words)]
            for branch in recording.branches
        ],
        "leaves": [
            [
                leaf.branch,
                leaf.how,
                book.string(leaf.outcome),
                book.execution(leaf.how, leaf.steps),
            ]
            for leaf in recording.leaves
        ],
    }


class Book:
    """The texts, files and executions of a page, each of them once."""

    def __init__(self) -> None:
        self.strings: dict[str, int] = {}
        self.lines: dict[str, dict[int, str]] = {}  # those that steps are in
        self.executions: list[dict[str, Any]] = []
        self.steps = 0

    def string(self, text: str) -> int:
        return self.strings.setdefault(text, len(self.strings))

    def execution_of(self, failure: Failure) -> int:
        """The number of an execution that fails; -1 if there is no room for it."""
        if not failure.steps and not failure.waiting:
            return -1
        number = self.execution("fails", failure.steps, failure.waiting)
        if number < 0:
            return number
        table = table_of(failure)
        told = failure.explanation
        shown = self.executions[number]
        shown["shown"] = [row.step for row in table.rows if row.step >= 0]
        shown["pairs"] = [list(pair) for pair in told.deciding] if told is not None else []
        if failure.kind == EXCEPTION:
            end = ending(failure)
            shown["ending"] = [self.string(end.thread), self.string(end.text)]
        return number

    def execution(self, what: str, steps: Sequence[Step], waiting: Sequence[Step] = ()) -> int:
        """The number of an execution; -1 if it is not known, or there is no room for it."""
        if not steps and not waiting:
            return -1
        if self.executions and self.steps + len(steps) > MOST_STEPS:
            return -1
        self.steps += len(steps) if self.executions else 0
        self.executions.append(
            {
                "what": what,
                "steps": [self.step(step) for step in steps],
                "waiting": [self.waiting_step(step) for step in waiting],
                "shown": None,
                "pairs": [],
                "ending": None,
            }
        )
        return len(self.executions) - 1

    def step(self, step: Step) -> list[Any]:
        """Where a step is, and what it does; the page knows the order of these."""
        string = self.string
        return [
            *self.place(step),
            string(" ".join(step.action.split())),
            string(step.operation),
            string(step.access),
            string(label_of(step)),
            -1 if step.found is None else string(step.found),
            -1 if step.left is None else string(step.left),
            string(step.outcome),
            step.reads_from,
            list(step.after),
            string(step.group),
            int(step.deciding),
        ]

    def waiting_step(self, step: Step) -> list[Any]:
        row = row_of_waiting(step)
        texts = [self.string(row.text), self.string(label_of(step))]
        return [*self.place(step), *texts, step.reads_from, int(row.deciding)]

    def place(self, step: Step) -> list[int]:
        if step.file:
            self.lines.setdefault(step.file, {})[step.line] = step.source
        return [self.string(step.thread), self.string(step.file), step.line]

    def files(self) -> list[list[Any]]:
        """The files that steps are in: path, name, and blocks of lines, each with its first."""
        names = file_names(list(self.lines))
        return [
            [self.string(path), names[path], blocks_of(path, lines)]
            for path, lines in self.lines.items()
        ]


def blocks_of(path: str, used: dict[int, str]) -> list[list[Any]]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except (OSError, ValueError):
        return [[line, [text]] for line, text in sorted(used.items())]
    if len(lines) <= WHOLE_FILE:
        return [[1, lines]]
    return [[first, lines[first - 1 : last]] for first, last in regions(sorted(used), len(lines))]


def regions(used: Iterable[int], count: int) -> list[tuple[int, int]]:
    """What lies around some lines, as far as it does not overlap."""
    found: list[tuple[int, int]] = []
    for line in used:
        first, last = max(1, line - AROUND), min(count, line + AROUND)
        if found and first <= found[-1][1] + 1:
            found[-1] = (found[-1][0], last)
        else:
            found.append((first, last))
    return found

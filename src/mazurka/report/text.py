"""Results and failures as plain text."""

import os

from mazurka.core.result import Failure, Result, Step
from mazurka.program.source import source_line

HEADLINES = {
    "verified": "verified: no execution fails",
    "failed": "FAILED",
    "bounded": "bounded: no execution within the bound fails",
    "incomplete": "INCOMPLETE: the search was cut short",
}


def summary(result: Result) -> str:
    """One line: the verdict, and how much was looked at."""
    headline = HEADLINES[result.verdict]
    if result.verdict == "incomplete" and result.reason:
        headline += f" ({result.reason})"
    parts = [f"{result.complete} complete"]
    if result.blocked:
        parts.append(f"{result.blocked} blocked")
    if result.redundant:
        parts.append(f"{result.redundant} redundant")
    plural = "" if result.executions == 1 else "s"
    return (
        f"{headline}; {result.executions} execution{plural} ({', '.join(parts)}) "
        f"in {result.seconds:.2f} s by {result.algorithm}"
    )


def failure_text(failure: Failure) -> str:
    """The account of one failing execution."""
    who = f" in {failure.thread}" if failure.thread else ""
    lines = [f"{failure.kind}{who}: {failure.message}"]
    lines += [f"  {detail}" for detail in failure.details]
    if failure.steps:
        lines.append("")
        lines.append("The execution, step by step:")
        lines += step_lines(failure.steps)
    return "\n".join(lines)


def step_lines(steps: list[Step]) -> list[str]:
    """One line a step: number, thread, what it did, where."""
    thread_width = max(len(step.thread) for step in steps)
    action_width = min(48, max(len(step.action) for step in steps))
    number_width = len(str(len(steps)))
    lines = []
    for number, step in enumerate(steps, 1):
        where = f"{short(step.file)}:{step.line}" if step.file else ""
        source = source_line(step.file, step.line) if step.file else ""
        lines.append(
            f"  {number:>{number_width}}  {step.thread:<{thread_width}}  "
            f"{step.action:<{action_width}}  {where}  {source}".rstrip()
        )
    return lines


def short(file: str) -> str:
    """A path as short as it can be said from here."""
    try:
        relative = os.path.relpath(file)
    except ValueError:  # another drive
        return file
    return file if relative.startswith("..") else relative

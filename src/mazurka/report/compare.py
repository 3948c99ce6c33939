"""A failing execution beside one that passes and differs little from it."""

from collections import Counter
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Final

from mazurka.engine.result import Failure, Step
from mazurka.report.layout import cut

CONTEXT: Final = 1  # steps that are shown before and after a difference

NOTHING: Final = (
    "No passing execution was found by reversing one race or choice: the order of steps alone may "
    "not decide."
)


def comparison(failure: Failure, width: int) -> list[str]:
    """Both executions, the failing one on the left; what is the same on both sides is folded."""
    told = failure.explanation
    if told is None or not told.passing:
        return [NOTHING]
    failing = [step for step in failure.steps if is_compared(step)]
    passing = [step for step in told.passing if is_compared(step)]
    half = (width - 5) // 2
    names = short_names([*failing, *passing])
    failing = [replace(step, thread=names[step.thread]) for step in failing]
    passing = [replace(step, thread=names[step.thread]) for step in passing]
    lines = ["The failing execution, and one that passes:"]
    matcher = SequenceMatcher(None, keys(failing), keys(passing), autojunk=False)
    for kind, left, left_end, right, right_end in matcher.get_opcodes():
        if kind == "equal":
            lines += alike(failing[left:left_end], half)
        else:
            lines += side_by_side(failing[left:left_end], passing[right:right_end], half)
    return lines


def short_names(steps: list[Step]) -> dict[str, str]:
    """Threads without their functions, unless that is ambiguous: there is little room."""
    threads = {step.thread for step in steps}
    counts = Counter(thread.partition(" (")[0] for thread in threads)
    return {
        thread: thread.partition(" (")[0] if counts[thread.partition(" (")[0]] == 1 else thread
        for thread in threads
    }


def is_compared(step: Step) -> bool:
    return step.group == "" and step.operation not in ("spawn", "join")


def keys(steps: list[Step]) -> list[tuple[str, ...]]:
    return [(step.thread, step.operation, step.name, step.part, str(step.line)) for step in steps]


def alike(steps: list[Step], half: int) -> list[str]:
    """Steps that both executions make, of which only the outermost are shown."""
    if len(steps) <= 2 * CONTEXT + 1:
        return side_by_side(steps, steps, half)
    begin, end = steps[:CONTEXT], steps[-CONTEXT:]
    folded = f"  ... {len(steps) - 2 * CONTEXT:,} steps alike ..."
    return [*side_by_side(begin, begin, half), folded, *side_by_side(end, end, half)]


def side_by_side(left: list[Step], right: list[Step], half: int) -> list[str]:
    lines = []
    for place in range(max(len(left), len(right))):
        texts = [words(steps[place]) if place < len(steps) else "" for steps in (left, right)]
        mark = " " if texts[0] == texts[1] else "|"
        lines.append(f"  {cut(texts[0], half):<{half}} {mark} {cut(texts[1], half)}".rstrip())
    return lines


def words(step: Step) -> str:
    return f"{step.line:>4}  {step.thread}: {' '.join(step.action.split())}"

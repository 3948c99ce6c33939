"""Which steps of a failure to show: a column for each thread or task, a row for each step that
matters. The rest is folded; what decides never is."""

from dataclasses import dataclass
from typing import Final

from mazurka.engine.result import EXCEPTION, Failure, Step
from mazurka.engine.trace import CONSTANT, OWN

MOST_ROWS: Final = 12
MOST_LOOKED_AT: Final = 200  # steps of a sort that may get a row

# How much a step tells, from what decides on: rows are given to these in turn.
DECIDES, SAME, LAST, ACCESS, WAITING, THREADS, FOLDED = range(7)

REMARKS: Final = ("notify", "cancel")
SYNCHRONISATION: Final = ("acquire", "release", "try acquire", "wait", "notify", "timed wait")


@dataclass(frozen=True)
class Row:
    """A step, or some that are folded."""

    thread: str = ""  # in whose column it is; "": in none
    text: str = ""
    file: str = ""
    line: int = 0
    source: str = ""
    step: int = -1  # its place among the steps; -1: none
    deciding: bool = False
    folded: int = 0  # how many steps it stands for


@dataclass(frozen=True)
class Table:
    threads: tuple[str, ...]  # those with a column
    rows: tuple[Row, ...]


def table_of(failure: Failure, full: bool = False) -> Table:
    """The rows that tell how it fails; with `full` all there are."""
    steps = failure.steps
    shown = set(range(len(steps))) if full else shown_steps(failure)
    rows = rows_of(failure, shown)
    order = [step.thread for step in [*steps, *failure.waiting]] + [failure.thread]
    used = {row.thread for row in rows if row.thread}
    return Table(tuple([thread for thread in dict.fromkeys(order) if thread in used]), tuple(rows))


def rows_of(failure: Failure, shown: set[int]) -> list[Row]:
    rows: list[Row] = []
    folded: list[Step] = []
    ended = failure.kind != EXCEPTION
    for place, step in enumerate(failure.steps):
        if step.outcome == "too late" and not ended:
            close(rows, folded)
            rows.append(ending(failure))
            ended = True
        if place in shown:
            close(rows, folded)
            rows.append(row_of(step, place))
        else:
            folded.append(step)
    close(rows, folded)
    if not ended and failure.steps:
        rows.append(ending(failure))
    rows += [row_of_waiting(step) for step in failure.waiting if step.file]
    return rows


def close(rows: list[Row], folded: list[Step]) -> None:
    """Put what is folded into one row."""
    if folded:
        count = len(folded)
        groups = {step.group for step in folded} - {"", OWN, CONSTANT}
        whose = f"{', '.join(sorted(groups))}: " if groups else ""
        noun = "step" if count == 1 else "steps"
        rows.append(Row(text=f"... {whose}{count:,} {noun} ...", folded=count))
        folded.clear()


def row_of(step: Step, place: int) -> Row:
    text = " ".join(step.action.splitlines())
    if step.outcome == "too late":
        text = f"(later) {text}"
    return Row(step.thread, text, step.file, step.line, step.source, place, step.deciding)


def row_of_waiting(step: Step) -> Row:
    what = f"{step.name}[{step.part}]" if step.part else step.name
    text = {"wait": f"waits for {what}", "await": f"awaits {what}"}.get(
        step.operation, f"waits to {step.operation} {what}"
    )
    return Row(step.thread, text, step.file, step.line, step.source, -1, step.operation != "join")


def ending(failure: Failure) -> Row:
    message = failure.message.partition("\n")[0]
    is_exception = message[:1].isupper() or failure.exception is not None  # else a sentence, of C
    return Row(failure.thread, f"raises {message}" if is_exception else message)


# What to show


def shown_steps(failure: Failure) -> set[int]:
    """The steps that are shown: those that tell most, as long as there is room."""
    steps = failure.steps
    ranks = ranks_of(failure)
    shown = {place for place, rank in enumerate(ranks) if rank == DECIDES}
    others = len(failure.waiting) + (failure.kind == EXCEPTION)
    last = max(shown, default=len(steps) - 1)
    for rank in (SAME, LAST, ACCESS, WAITING, THREADS):
        near = [place for place, each in enumerate(ranks) if each == rank]
        near.sort(key=lambda place: (steps[place].access == "read", abs(place - last), place))
        for place in near[:MOST_LOOKED_AT]:
            if count_rows(len(steps), shown | {place}) + others <= MOST_ROWS:
                shown.add(place)
    if not shown and not failure.waiting:  # nothing matters to others: how it ended, then
        shown.update(range(max(0, len(steps) - MOST_ROWS + 2), len(steps)))
    return shown


def ranks_of(failure: Failure) -> list[int]:
    """How much each step tells."""
    steps = failure.steps
    deciding = [step for step in steps if step.deciding]
    accesses = [step for step in deciding if step.operation not in SYNCHRONISATION]
    names = {(step.name, step.part) for step in accesses or deciding}
    latest = {step.thread: place for place, step in enumerate(steps) if is_told(step)}
    return [
        rank_of(step, names, latest.get(failure.thread) == place)
        for place, step in enumerate(steps)
    ]


def rank_of(step: Step, names: set[tuple[str, str]], is_last: bool) -> int:
    if step.deciding or (step.position < 0 and step.operation in REMARKS):
        return DECIDES
    if not is_told(step):
        return FOLDED
    if step.operation in ("spawn", "join"):
        return THREADS
    if is_among(step, names):
        return SAME
    if is_last:
        return LAST
    return WAITING if step.operation in SYNCHRONISATION else ACCESS


def is_among(step: Step, names: set[tuple[str, str]]) -> bool:
    """Whether a step accesses one of these: a part of a container, or all of it."""
    if step.part:
        return (step.name, step.part) in names or (step.name, "") in names
    return any(step.name == name for name, _ in names)


def is_told(step: Step) -> bool:
    """Whether a step is of interest by itself."""
    return step.group == ""


def count_rows(total: int, shown: set[int]) -> int:
    """How many rows there are if these steps are shown: gaps between them are rows, too."""
    rows = len(shown)
    before = -1
    for place in [*sorted(shown), total]:
        rows += place > before + 1
        before = place
    return rows

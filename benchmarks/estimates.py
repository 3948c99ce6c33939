"""What estimates say after a part of a search, and how many executions there are."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from rich import box
from rich.table import Table

from benchmarks.measure import MAX_EVENTS
from benchmarks.registry import Instance, parse
from mazurka.api import estimator_of, new_search, runnable, session_of
from mazurka.engine.errors import ConditionMet
from mazurka.engine.program import Program
from mazurka.engine.status import Estimate
from mazurka.explore.algorithms import ALGORITHMS
from mazurka.options import Options
from mazurka.report.amounts import rounded
from mazurka.scale.estimate import estimate_of

PARTS = (Fraction(1, 100), Fraction(5, 100), Fraction(20, 100))
CLOSE = 3.0

# Beside the rows of POP's table: programs of the other papers' tables.
OTHERS = [
    "mcslock(4)",
    "twalock(4)",
    "mutex-musl(3)",
    "mutex(3)",
    "ttaslock(4)",
    "seqlock(2,2,0)",
    "mpmc-queue(1,1,1)",
    "sortnet(5)",
    "safestack(3,2)",
    "safestack(3,1,1)",
    "rwlocks(1,1,1)",
    "ms-queue-loops(1,1,1)",
    "Counter1(4)",
    "LBQueue(6)",
    "HWQueue(3,2)",
    "UBQueue(4,3)",
    "MSQueue(3)",
    "AGMStack(4)",
    "TreiStack(4)",
    "CoarseList(5)",
    "FineList(4)",
    "OptList(3)",
    "LPQueue(4)",
    "EBStack(3)",
    "Disp(5,4)",
    "Mpat(6)",
    "MPC(4,4)",
    "Pi(7)",
    "Pol(6,4)",
    "bstack2(9)",
    "ttas-lock3(4)",
]


@dataclass(frozen=True)
class Row:
    name: str
    executions: int
    estimates: tuple[Estimate | None, ...]  # after each of the parts
    seconds: float


def row_of(instance: Instance, known: int | None) -> Row:
    """Estimates of one program; its search is run to the end if it is not known how many executions
    that has."""
    options = Options(
        stop_on_failure=False,
        max_events=MAX_EVENTS,
        instrument=() if instance.benchmark.loops else None,
    )
    options = options.checked().with_granularity(False)
    program = runnable(instance.program())

    def with_program(work: Callable[[Program], Any]) -> Any:
        return session_of(program, options).run(work, {})

    begun = time.process_time()
    algorithm, executions = with_program(lambda running: counted(running, options, known))
    found = with_program(lambda running: estimated(running, options, algorithm, executions))
    return Row(str(instance), executions, found, time.process_time() - begun)


def counted(program: Program, options: Options, known: int | None) -> tuple[str, int]:
    if known is not None:
        return options.algorithm, known
    for algorithm in (options.algorithm, "trust"):
        search = new_search(program, options, algorithm, None)
        try:
            assert search.repeats_itself() and ALGORITHMS[algorithm](search).explore()
        except ConditionMet:
            continue
        return algorithm, search.counted
    raise AssertionError


def estimated(
    program: Program, options: Options, algorithm: str, executions: int
) -> tuple[Estimate | None, ...]:
    estimator = estimator_of(program, replace(options, algorithm=algorithm), algorithm, -1)
    steps = estimator.steps()
    found: list[Estimate | None] = []
    for part in PARTS:
        for _ in steps:
            if estimator.runs >= part * executions:
                break
        found.append(estimate_of(estimator.rounds))
    return tuple(found)


def render(rows: list[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("program", no_wrap=True)
    table.add_column("executions", justify="right")
    for part in PARTS:
        table.add_column(f"after {float(part):.0%}", justify="right")
    table.add_column("CPU s", justify="right")
    for row in rows:
        shown = [told(found, row.executions) for found in row.estimates]
        table.add_row(row.name, f"{row.executions:,}", *shown, f"{row.seconds:.0f}")
    return table


def told(found: Estimate | None, executions: int) -> str:
    """The estimate as a part of what there is, and its spread, with a mark if that is wrong."""
    if found is None:
        return "not known yet"
    about, low, high = [number / executions for number in found.numbers]
    wrong = "" if low <= 1 <= high else " !"
    most = f"{high:.2f}" if high < 10 else rounded(high)
    return f"{about:.2f} ({low:.2f} to {most}){wrong}"


def summary(rows: list[Row]) -> list[str]:
    lines = []
    for place, part in enumerate(PARTS):
        found = [(row.estimates[place], row.executions) for row in rows]
        told = [(one, count) for one, count in found if one is not None]
        close = sum([1 / CLOSE <= one.executions / count <= CLOSE for one, count in told])
        covered = sum([one.low <= count <= one.high for one, count in told])
        lines.append(
            f"after {float(part):.0%}: {close} of {len(rows)} within a factor of {CLOSE:g}, the "
            f"spread holds {covered}, {len(rows) - len(told)} not known yet"
        )
    return lines


def others() -> list[Instance]:
    return [parse(name) for name in OTHERS]

"""Symbolic inputs against every value of them: what the concolic paper's Table 1 shows."""

import time
from contextlib import nullcontext
from dataclasses import dataclass

from rich import box
from rich.table import Table

import mazurka
from benchmarks.inputs import enumerated_inputs
from benchmarks.paper import PaperRow, all_rows
from benchmarks.registry import parse

ENUMERATED = "ExEn"  # the paper's name for that

# The paper fixes all inputs beforehand. Some executions of these do not come to all of them, and
# are counted for each value of the others.
COUNTED_AGAIN = {"SVQueue3"}


@dataclass(frozen=True)
class Gap:
    """The complete executions of a program and the seconds they took, with every value of the
    inputs and with symbolic ones; None where they are too many."""

    row: PaperRow  # of the paper, with every value
    enumerated: int | None
    enumerated_seconds: float
    symbolic: int | None
    symbolic_seconds: float

    @property
    def differs(self) -> bool:
        if self.enumerated is None or self.row.complete is None:
            return False
        if self.row.benchmark in COUNTED_AGAIN:
            return self.enumerated > self.row.complete
        return self.enumerated != self.row.complete


def gaps(max_executions: int) -> list[Gap]:
    found = []
    for row in enumerated_rows():
        enumerated, enumerated_seconds = explore(row, True, max_executions)
        symbolic, symbolic_seconds = explore(row, False, max_executions)
        found.append(Gap(row, enumerated, enumerated_seconds, symbolic, symbolic_seconds))
    return found


def enumerated_rows() -> list[PaperRow]:
    """The paper's figures with every value of the inputs."""
    return [
        row
        for table in ("condpor-2", "condpor-5")
        for row in all_rows(table)
        if row.setting == ENUMERATED
    ]


def explore(row: PaperRow, enumerate_inputs: bool, most: int) -> tuple[int | None, float]:
    started = time.process_time()
    with enumerated_inputs() if enumerate_inputs else nullcontext():
        result = mazurka.explore(
            parse(str(row)).program(),
            algorithm="pop" if enumerate_inputs else "trust",
            max_executions=most,
            stop_on_failure=False,
            instrument=None,
        )
    ended = not result.reason
    return result.complete if ended else None, time.process_time() - started


def render(found: list[Gap], max_executions: int) -> Table:
    table = Table(
        title="Complete executions: inputs from {0, 1, 2}, and symbolic", box=box.SIMPLE_HEAD
    )
    table.add_column("benchmark", no_wrap=True)
    for heading in ("paper\nenumerated", "ours\nenumerated", "CPU s", "ours\nsymbolic", "CPU s"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for gap in found:
        table.add_row(
            str(gap.row),
            "timeout" if gap.row.complete is None else str(gap.row.complete),
            figure(gap.enumerated, max_executions),
            f"{gap.enumerated_seconds:.2f}",
            figure(gap.symbolic, max_executions),
            f"{gap.symbolic_seconds:.2f}",
            "[bold red]DIFFERS[/]" if gap.differs else "",
        )
    return table


def figure(complete: int | None, max_executions: int) -> str:
    return f"over {max_executions}" if complete is None else str(complete)

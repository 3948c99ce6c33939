"""Executions by how many preemptions they take: the paper's figures, the exact ones, and ours."""

import time
from dataclasses import dataclass

from rich import box
from rich.table import Table

import mazurka
from benchmarks.measure import MAX_EVENTS
from benchmarks.paper import TABLES, PaperRow
from benchmarks.registry import BENCHMARKS, COUNTED, parse


@dataclass(frozen=True)
class Bounded:
    """What a search with a bound on preemptions met."""

    row: PaperRow
    bound: int
    within: int  # complete executions that take as many preemptions, or fewer
    beyond: int
    cut: int
    error: str  # after how many executions a check failed within the bound; empty if there is none
    seconds: float
    reason: str  # why the search did not come to its end

    @property
    def exact(self) -> int | None:
        """How many executions there are within the bound, if that is known."""
        by_bound = self.row.by_bound
        if self.bound < len(by_bound):
            return by_bound[self.bound]
        complete = self.row.expected_complete
        return complete if by_bound and by_bound[-1] == complete else None

    @property
    def difference(self) -> str:
        """What differs from what is to be expected; empty when nothing does."""
        if self.reason:
            return ""
        if self.exact is not None and self.within != self.exact:
            return f"{self.within} executions within the bound instead of {self.exact}"
        least = self.row.least_preemptions
        if least is not None and bool(self.error) != (least <= self.bound):
            return f"a violation takes {least} preemptions, and there is {self.error or 'none'}"
        return ""


def explore_within(row: PaperRow, bound: int, max_executions: int) -> Bounded:
    """Explore a program with a bound; if it has checks, once more until one of them fails."""
    started = time.process_time()
    result = mazurka.explore(
        parse(str(row)).program(),
        preemptions=bound,
        max_executions=max_executions,
        stop_on_failure=False,
        max_events=MAX_EVENTS,
        instrument=None,
    )
    seconds = time.process_time() - started
    return Bounded(
        row,
        bound,
        result.complete - result.beyond,
        result.beyond,
        result.cut,
        first_error(row, bound, max_executions),
        seconds,
        result.reason,
    )


def first_error(row: PaperRow, bound: int, max_executions: int) -> str:
    name = str(row).replace(COUNTED, "")
    if name == str(row) or row.benchmark.replace(COUNTED, "") not in BENCHMARKS:
        return ""
    result = mazurka.explore(
        parse(name).program(),
        preemptions=bound,
        strict_bound=True,
        max_executions=max_executions,
        max_events=MAX_EVENTS,
        instrument=None,
    )
    return f"after {result.executions}" if result.failures else ""


def render(table_name: str, found: list[Bounded]) -> Table:
    table = Table(title=TABLES[table_name].title, box=box.SIMPLE_HEAD)
    table.add_column("benchmark", no_wrap=True)
    for heading in ("bound", "paper", "exact", "ours", "beyond", "cut", "error", "CPU s"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for bounded in found:
        table.add_row(*cells(bounded))
    return table


def cells(bounded: Bounded) -> list[str]:
    paper = bounded.row.paper_by_bound
    status = "[green]match[/]"
    if bounded.reason:
        status = f"[bold yellow]{bounded.reason}[/]"
    elif bounded.difference:
        status = f"[bold red]DIFFERS: {bounded.difference}[/]"
    return [
        str(bounded.row) if bounded.bound == 0 else "",
        str(bounded.bound),
        paper[bounded.bound] if bounded.bound < len(paper) else "",
        "" if bounded.exact is None else str(bounded.exact),
        str(bounded.within),
        str(bounded.beyond),
        str(bounded.cut),
        bounded.error,
        f"{bounded.seconds:.2f}",
        status,
    ]

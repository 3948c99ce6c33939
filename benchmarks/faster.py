"""Up to which bound on preemptions a search is faster than without: ours, and the paper's."""

import time
from dataclasses import dataclass

from rich import box
from rich.table import Table

import mazurka
from benchmarks.measure import MAX_EVENTS
from benchmarks.registry import parse

# The largest bound with which the paper's tool is faster than GenMC (Table 3).
PAPER = {
    "bstack(5)": 8,
    "bstack(6)": 8,
    "bstack2(8)": 9,
    "bstack2(9)": 8,
    "dglm-queue(6)": 7,
    "dglm-queue(7)": 8,
    "ms-queue(6)": 8,
    "ttas-lock2(7)": 7,
    "ttas-lock2(8)": 8,
    "ttas-lock3(4)": 5,
}
BEYOND_ALL = 1000  # preemptions: no execution takes so many


@dataclass(frozen=True)
class Faster:
    name: str
    seconds: float  # of the search without a bound
    largest: int | None  # the largest bound with which it is faster; None if none is
    at_papers: float  # how many times as long it takes with the paper's largest bound
    cut: int  # what is cut at that bound
    nothing_cut: float  # how many times as long it takes if a bound leaves nothing out


def compared(name: str, repeats: int) -> Faster:
    seconds = seconds_with(name, None, repeats)
    paper = PAPER[name]
    taken = {bound: seconds_with(name, bound, repeats) for bound in range(paper + 1)}
    return Faster(
        name,
        seconds,
        max((bound for bound in taken if taken[bound] < seconds), default=None),
        taken[paper] / seconds,
        explored(name, paper).cut,
        seconds_with(name, BEYOND_ALL, repeats) / seconds,
    )


def seconds_with(name: str, bound: int | None, repeats: int) -> float:
    """The CPU time of the quickest of some searches."""
    found = []
    for _ in range(repeats):
        begun = time.process_time()
        explored(name, bound)
        found.append(time.process_time() - begun)
    return min(found)


def explored(name: str, bound: int | None) -> mazurka.Result:
    return mazurka.explore(
        parse(name).program(),
        algorithm="trust",
        preemptions=bound,
        stop_on_failure=False,
        max_events=MAX_EVENTS,
        instrument=None,
    )


def render(rows: list[Faster]) -> Table:
    table = Table(title="The largest bound with which a search is faster", box=box.SIMPLE_HEAD)
    table.add_column("benchmark", no_wrap=True)
    for heading in ("full, CPU s", "ours, at least", "paper's", "time at paper's", "cut there"):
        table.add_column(heading, justify="right")
    table.add_column("time if nothing is cut", justify="right")
    for row in rows:
        table.add_row(
            row.name,
            f"{row.seconds:.2f}",
            "none" if row.largest is None else str(row.largest),
            str(PAPER[row.name]),
            f"{row.at_papers:.2f}",
            str(row.cut),
            f"{row.nothing_cut:.2f}",
        )
    return table

"""What the papers measured: their tables, from the CSV files in ``data``."""

import csv
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from benchmarks.registry import Benchmark, Instance, spell

DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class PaperTable:
    """A table, and which of its rows hold the counts of an optimal search.

    ``column`` is the CSV column that tells those rows from the others. ``independent_adds`` maps
    its values to the setting of the search that they stand for, None where it makes no difference.
    ``tools`` names the rows with the costs of an algorithm, where those are others.
    """

    title: str
    file: str
    column: str
    independent_adds: dict[str, bool | None]
    tools: dict[str, str] = field(default_factory=dict)
    loop_settings: dict[str, dict[str, bool]] = field(default_factory=dict)  # others, by column


AWAIT_SETTINGS: dict[str, bool | None] = {"PLP+Await": False, "PLP+Await+IFAA": True}


def condpor(tables: str, file: str, *other_tools: str) -> PaperTable:
    """A table of the paper on concolic DPOR, whose own tool is set against others."""
    return PaperTable(
        f'{tables} of "Optimal Concolic Dynamic Partial Order Reduction"',
        file,
        "tool",
        {"ConDpor": None, **dict.fromkeys(other_tools)},
    )


# The rows with what an algorithm took in the paper on quasi-optimality.
QPOR_TOOLS = {
    "qpor-1": "k=1",
    "qpor-2": "k=2",
    "qpor-3": "k=3",
    "qpor-optimal": "optimal",
    "source": "SDPOR",
}


def qpor(part: str, file: str) -> PaperTable:
    """A table of that paper."""
    title = f'{part} "Quasi-Optimal Partial Order Reduction"'
    return PaperTable(title, file, "configuration", {"optimal": None}, QPOR_TOOLS)


def buster(table: str, file: str) -> PaperTable:
    """A table of the paper on preemption bounding; GenMC is its tool without a bound."""
    title = f'{table} of "Reconciling Preemption Bounding with DPOR"'
    return PaperTable(title, file, "tool", {"GenMC": None}, {"trust": "GenMC"})


TABLES = {
    "pop-1": PaperTable(
        'Table 1 of "Parsimonious Optimal Dynamic Partial Order Reduction"',
        "pop_table1.csv",
        "tool",
        {"Optimal": None},
        tools={"optimal": "Optimal", "pop": "POP"},
    ),
    "awaiting-1": PaperTable(
        'Table I of "Awaiting for Godot"', "awaiting_table1.csv", "configuration", AWAIT_SETTINGS
    ),
    "awaiting-figures": PaperTable(
        'the figures of "Awaiting for Godot"',
        "awaiting_figures.csv",
        "configuration",
        AWAIT_SETTINGS,
    ),
    "awaiting-loops": PaperTable(
        'Tables I and II of "Awaiting for Godot", with loops as they are',
        "awaiting_loops.csv",
        "configuration",
        {"baseline": False, "PLP": False, **AWAIT_SETTINGS},
        loop_settings={
            "baseline": {"loop_purity": False, "awaits": False},
            "PLP": {"awaits": False},
        },
    ),
    "condpor-text": condpor("the text", "condpor_text.csv", "DPOR"),
    "condpor-2": condpor("Tables 1 and 2", "condpor_table2.csv"),
    "condpor-3": condpor("Tables 3 and 4", "condpor_tables3_4.csv"),
    "condpor-5": condpor("Tables 5 and 6", "condpor_table5.csv"),
    "condpor-7": condpor("Table 7", "condpor_table7.csv", "DPOR"),
    "condpor-8": condpor("Table 8", "condpor_table8.csv"),
    "condpor-9": condpor("Table 9", "condpor_table9.csv"),
    "qpor-1": qpor("Table 1, and its smaller instances, of", "qpor_table1.csv"),
    "qpor-small": qpor("the figures of, and small programs beside,", "qpor_small.csv"),
    "buster-1": buster("Table 1", "buster_table1.csv"),
    "buster-3": buster("Table 3", "buster_table3.csv"),
    "buster-4": buster("Table 4", "buster_table4.csv"),
}


@dataclass(frozen=True)
class PaperRow:
    """One program under one setting, with the paper's figures; None where the paper has none.

    What is expected is the same, unless the table has columns for it: the tool of a paper may also
    count executions that do not exist here, such as failed attempts to take a lock. ``c_complete``
    and ``c_blocked`` are the counts to expect of the C version where these are others. ``by_bound``
    has the complete executions with at most 0, 1, 2, ... preemptions, as far as they are known, and
    ``paper_by_bound`` those that the paper's tool explored, some of which may take more;
    ``least_preemptions`` is how many a violation of the program's checks takes.
    """

    benchmark: str
    parameter: str
    setting: str
    independent_adds: bool | None
    in_paper: bool  # or is it a smaller program, of which only the counts to expect are known?
    complete: int | None
    blocked: int | None
    expected_complete: int | None
    expected_blocked: int | None
    c_complete: int | None
    c_blocked: int | None
    expected_violating: int | None
    expected_verdict: str  # empty where it is not said
    redundant: int | None
    by_bound: tuple[int, ...]
    paper_by_bound: tuple[str, ...]
    least_preemptions: int | None
    loop_settings: dict[str, bool]
    unroll: int | None
    seconds: float | None
    timed_out: bool
    memory_mb: float | None

    def __str__(self) -> str:
        return spell(self.benchmark, self.parameter)

    @property
    def executions(self) -> int | None:
        return total(self.complete, self.blocked)

    @property
    def expected_executions(self) -> int | None:
        return total(self.expected_complete, self.expected_blocked)


def total(complete: int | None, blocked: int | None) -> int | None:
    return None if complete is None or blocked is None else complete + blocked


@cache
def rows(table_name: str) -> tuple[PaperRow, ...]:
    """The rows of a table that an optimal search can be compared with, in the paper's order."""
    table = TABLES[table_name]
    return tuple(row for row in all_rows(table_name) if row.setting in table.independent_adds)


@cache
def all_rows(table_name: str) -> tuple[PaperRow, ...]:
    table = TABLES[table_name]
    with (DATA / table.file).open(newline="") as file:
        return tuple(read_row(table, cells) for cells in csv.DictReader(file))


def read_row(table: PaperTable, cells: dict[str, str]) -> PaperRow:
    complete = cells["complete"] if "complete" in cells else cells["executions"]
    blocked = cells.get("blocked", "0")
    return PaperRow(
        benchmark=cells["benchmark"],
        parameter=cells["parameter"],
        setting=cells[table.column],
        independent_adds=table.independent_adds.get(cells[table.column]),
        in_paper=any(cells.get(column) for column in ("executions", "complete", "time_s")),
        complete=whole(complete),
        blocked=whole(blocked),
        expected_complete=whole(cells.get("expected_complete", complete)),
        expected_blocked=whole(cells.get("expected_blocked", blocked)),
        c_complete=whole(cells.get("c_complete")),
        c_blocked=whole(cells.get("c_blocked")),
        expected_violating=whole(cells.get("violating")),
        expected_verdict=cells.get("expected_verdict", ""),
        redundant=whole(cells.get("redundant")),
        by_bound=tuple(int(count) for count in cells.get("by_bound", "").split()),
        paper_by_bound=tuple(cells.get("paper_by_bound", "").split()),
        least_preemptions=whole(cells.get("least_preemptions")),
        loop_settings=table.loop_settings.get(cells[table.column], {}),
        unroll=whole(cells.get("unroll")),
        seconds=number(cells.get("time_s")),
        timed_out=cells.get("time_s") == "timeout",
        memory_mb=number(cells.get("memory_mb")),
    )


def paper_row(table_name: str, row: PaperRow, algorithm: str) -> PaperRow | None:
    """The row with what the paper's implementation of an algorithm took for the same program."""
    tools = TABLES[table_name].tools or {"optimal": row.setting}
    tool = tools.get(algorithm, "")
    for other in all_rows(table_name):
        if (other.benchmark, other.parameter, other.setting) == (
            row.benchmark,
            row.parameter,
            tool,
        ):
            return other
    return None


def number(cell: str | None) -> float | None:
    """A figure; None for an empty cell, or one that says ``timeout`` or ``crash``."""
    return None if cell in (None, "", "timeout", "crash") else float(cell)


def whole(cell: str | None) -> int | None:
    figure = number(cell)
    return None if figure is None else int(figure)


def measured_parameters(benchmark: Benchmark) -> list[str]:
    """The parameters for which the paper has figures."""
    found = [
        row.parameter
        for row in rows(benchmark.table)
        if row.benchmark == benchmark.name and row.in_paper
    ]
    return list(dict.fromkeys(found))


def paper_executions(instance: Instance, independent_adds: bool) -> int | None:
    """The paper's complete and blocked executions of a program, if it has them. (For those that
    wait in loops, it depends on more than adds.)"""
    if instance.benchmark.loops:
        return None
    for row in rows(instance.benchmark.table):
        if (row.benchmark, row.parameter) == (instance.benchmark.name, instance.parameter) and (
            row.independent_adds in (None, independent_adds)
        ):
            return row.executions
    return None

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


AWAIT_SETTINGS: dict[str, bool | None] = {"PLP+Await": False, "PLP+Await+IFAA": True}

TABLES = {
    "pop-1": PaperTable(
        'Table 1 of "Parsimonious Optimal Dynamic Partial Order Reduction"',
        "pop_table1.csv",
        "tool",
        {"Optimal": None},
        {"optimal": "Optimal", "pop": "POP"},
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
}


@dataclass(frozen=True)
class PaperRow:
    """One program under one setting, with the paper's figures; None where the paper has none."""

    benchmark: str
    parameter: str
    setting: str
    independent_adds: bool | None
    complete: int | None
    blocked: int | None
    seconds: float | None
    memory_mb: float | None

    def __str__(self) -> str:
        return spell(self.benchmark, self.parameter)

    @property
    def executions(self) -> int | None:
        if self.complete is None or self.blocked is None:
            return None
        return self.complete + self.blocked


@cache
def rows(table_name: str) -> tuple[PaperRow, ...]:
    """The rows of a table that an optimal search can be compared with, in the paper's order."""
    table = TABLES[table_name]
    return tuple(row for row in all_rows(table_name) if row.setting in table.independent_adds)


@cache
def all_rows(table_name: str) -> tuple[PaperRow, ...]:
    table = TABLES[table_name]
    with (DATA / table.file).open(newline="") as file:
        return tuple(
            PaperRow(
                benchmark=cells["benchmark"],
                parameter=cells["parameter"],
                setting=cells[table.column],
                independent_adds=table.independent_adds.get(cells[table.column]),
                complete=whole(cells.get("complete", cells["executions"])),
                blocked=whole(cells.get("blocked", "0")),
                seconds=number(cells.get("time_s")),
                memory_mb=number(cells.get("memory_mb")),
            )
            for cells in csv.DictReader(file)
        )


def paper_cost(table_name: str, row: PaperRow, algorithm: str) -> tuple[float | None, float | None]:
    """The seconds and megabytes that the paper's implementation of an algorithm took for a row."""
    tool = TABLES[table_name].tools.get(algorithm, row.setting if algorithm == "optimal" else "")
    for other in all_rows(table_name):
        if (other.benchmark, other.parameter, other.setting) == (
            row.benchmark,
            row.parameter,
            tool,
        ):
            return other.seconds, other.memory_mb
    return None, None


def number(cell: str | None) -> float | None:
    """A figure; None for an empty cell, or one that says ``timeout`` or ``crash``."""
    return None if cell in (None, "", "timeout", "crash") else float(cell)


def whole(cell: str | None) -> int | None:
    figure = number(cell)
    return None if figure is None else int(figure)


def measured_parameters(benchmark: Benchmark) -> list[str]:
    """The parameters for which the paper has figures."""
    found = (row.parameter for row in rows(benchmark.table) if row.benchmark == benchmark.name)
    return list(dict.fromkeys(found))


def paper_executions(instance: Instance, independent_adds: bool) -> int | None:
    """The paper's complete and blocked executions of a program, if it has them."""
    for row in rows(instance.benchmark.table):
        if (row.benchmark, row.parameter) == (instance.benchmark.name, instance.parameter) and (
            row.independent_adds in (None, independent_adds)
        ):
            return row.executions
    return None

"""What becomes of the failing executions of the examples before they are told: how many steps and
preemptions they have as they are found, and when they are minimised; and the least bound on
preemptions with which a search finds the failure at all."""

from typing import NamedTuple

from rich import box
from rich.table import Table

import mazurka
from benchmarks.edits import EXAMPLES, Example, program_of, silence
from mazurka.report.columns import table_of

HEADINGS = (
    "example",
    "kind of bug",
    "steps found",
    "steps told",
    "rows",
    "preemptions found",
    "preemptions told",
    "least bound",
    "executions",
)


class Told(NamedTuple):
    example: Example
    bug: str
    steps_found: int
    steps: int
    rows: int
    preemptions_found: int
    preemptions: int
    least_bound: int
    executions: int

    @property
    def cells(self) -> list[str]:
        return [self.example.name, *[str(value) for value in self[1:]]]


def told(example: Example) -> Told:
    source = (EXAMPLES / example.file).read_text(encoding="utf-8")
    with program_of(example, source) as program, silence():
        failure = mazurka.explore(program).failures[0]
        explanation = failure.explanation
        assert explanation is not None
        bound = 0
        while not mazurka.explore(
            program, algorithm="trust", preemptions=bound, strict_bound=True
        ).failures:
            bound += 1
    return Told(
        example,
        explanation.bug,
        explanation.found_steps,
        len(failure.schedule.steps),
        len(table_of(failure).rows),
        explanation.found_with,
        explanation.preemptions,
        bound,
        explanation.runs,
    )


def render(rows: list[Told]) -> Table:
    table = Table(box=box.SIMPLE)
    for heading in HEADINGS:
        table.add_column(heading, justify="left" if heading in HEADINGS[:2] else "right")
    for row in rows:
        table.add_row(*row.cells)
    return table


def markdown(rows: list[Told]) -> str:
    cells = [[f"`{name}`", *rest] for name, *rest in (row.cells for row in rows)]
    lines = [HEADINGS, ["---"] * len(HEADINGS), *cells]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)

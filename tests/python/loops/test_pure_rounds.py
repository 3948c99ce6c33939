"""What is left once pure rounds are cut: the executions that have none.

Some counts of the paper's programs are our own, since a round is found pure that the paper's tools
do not know for one. Here nothing is cut: the executions with a pure round are counted instead.
"""

from typing import Any

import pytest

import mazurka
from benchmarks.registry import parse
from mazurka.engine.program import COMPLETE, Answer, Request
from mazurka.engine.search import Search
from mazurka.python.loops import rounds as loops
from mazurka.python.program import PythonProgram


@pytest.mark.skipif(mazurka.COMPILED, reason="compiled code cannot be patched")
@pytest.mark.parametrize(
    ("program", "unroll", "complete"),
    [
        ("ttaslock(2)", 3, 4),
        ("mcslock(2)", 3, 6),
        ("mutex(2)", 3, 12),
        ("seqlock(1,1,0)", 2, 2),
        ("treiber-stack(0,0,2)", 4, 22),
        ("ms-queue-loops(1,1,0)", 4, 3),
        ("ms-queue-loops(2,1,0)", 4, 94),
        ("ms-queue-loops(0,0,2)", 4, 50),
        ("safestack(2,1)", 4, 34),
    ],
)
def test_complete_executions_are_those_without_pure_rounds(
    monkeypatch: pytest.MonkeyPatch, program: str, unroll: int, complete: int
) -> None:
    pure_rounds: list[object] = []  # of the running execution
    without: list[int] = []
    monkeypatch.setattr(loops, "cut", lambda thread, loop: pure_rounds.append(loop))
    monkeypatch.setattr(loops, "look_for_circle", lambda thread, loop: None)
    count, repeats_itself = Search.count, Search.repeats_itself
    plain_run = PythonProgram.run

    def run(program: PythonProgram, request: Request) -> Answer:
        pure_rounds.clear()
        return plain_run(program, request)

    def begin(search: Search) -> bool:
        without.clear()  # the search before may have been given up
        return repeats_itself(search)

    def count_pure_rounds(search: Search, answer: Answer) -> bool:
        if answer.status == COMPLETE and not pure_rounds:
            without.append(len(search.program.events))
        return count(search, answer)

    monkeypatch.setattr(Search, "count", count_pure_rounds)
    monkeypatch.setattr(Search, "repeats_itself", begin)
    monkeypatch.setattr(PythonProgram, "run", run)
    settings: dict[str, Any] = {"awaits": False, "independent_adds": False, "unroll": unroll}
    explore = mazurka.explore
    explore(parse(program).program(), instrument=(), stop_on_failure=False, **settings)
    assert len(without) == complete
    monkeypatch.undo()
    cut = explore(parse(program).program(), instrument=(), stop_on_failure=False, **settings)
    assert cut.complete == complete

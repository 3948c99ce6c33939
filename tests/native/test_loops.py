"""Loops that wait, in C: a thread that only goes round is left there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mazurka.engine.result import LIVELOCK
from mazurka.native.compiling import Compiled
from tests.native.in_process import compiled_text, explored

WAITING = (
    *("flag", "plain", "in turn", "by call", "test and set", "look then set", "compare and set"),
    *("ticket", "trylock"),
)
ALGORITHMS = ("pop", "optimal", "trust")


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def made(request: pytest.FixtureRequest) -> Iterator[Compiled]:
    text = Path(__file__).with_name("loops.c").read_text()
    with compiled_text(text, request.param) as made:
        yield made


@pytest.mark.parametrize("name", WAITING)
def test_loops_that_wait_are_verified(made: Compiled, name: str) -> None:
    complete = set()
    for algorithm in ALGORITHMS:
        result = explored(made, [name], algorithm)
        assert result.verdict == "verified", (algorithm, result.failures[0].message)
        assert result.executions < 500
        complete.add(result.complete)
    assert len(complete) == 1, complete
    assert complete != {0}


def test_what_never_comes_is_told(made: Compiled) -> None:
    result = explored(made, ["never"], "pop")
    assert [failure.kind for failure in result.failures] == [LIVELOCK]
    assert "while (!flag) {}" in result.failures[0].details[-1]


@pytest.mark.parametrize(("name", "outcomes"), [("thrice", "0123"), ("on stack", "0123")])
def test_loops_that_count_are_run_to_their_end(made: Compiled, name: str, outcomes: str) -> None:
    for algorithm in ALGORITHMS:
        result = explored(made, [name], algorithm)
        assert result.verdict == "verified", result.failures[0].message
        assert set(result.outcomes) == set(outcomes)

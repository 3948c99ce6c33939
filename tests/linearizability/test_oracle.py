"""Verdicts on small random objects, against brute force."""

import random
from typing import Any, NamedTuple

import pytest

import mazurka
from mazurka.explore.algorithms import ALGORITHMS
from tests.linearizability.oracle import (
    Bodies,
    Checked,
    Specified,
    all_linearizable,
    random_bodies,
    with_other_variable,
)
from tests.oracles.generated import PROGRAMS

COUNT = PROGRAMS // 2
EXHAUSTIVE = ("pop", "optimal", "source", "trust", "qpor", "naive")
SHAPES = ((2, 1), (1, 1), (2, 2), (1, 1, 1))

Threads = list[list[str]]


class Case(NamedTuple):
    bodies: Bodies
    specified: Bodies
    threads: Threads

    def program(self) -> Any:
        return mazurka.scenario(
            lambda: Specified(self.specified), lambda: Checked(self.bodies), self.threads
        )

    def explored(self, algorithm: str = "pop") -> mazurka.Result:
        return mazurka.explore(self.program(), algorithm=algorithm, instrument=None)


def drawn(seed: int) -> Case:
    drawing = random.Random(seed)
    bodies = random_bodies(drawing, waits=seed % 3 == 0)
    specified = with_other_variable(drawing, bodies) if seed % 2 else bodies
    shape = drawing.choice(SHAPES)
    return Case(bodies, specified, [drawing.choices(("one", "two"), k=length) for length in shape])


@pytest.mark.parametrize("part", range(4))
def test_verdicts_are_those_of_brute_force(part: int) -> None:
    verdicts = set()
    for seed in range(part, COUNT, 4):
        case = drawn(seed)
        expected = "verified" if all_linearizable(*case) else "failed"
        result = case.explored()
        assert result.verdict == expected, (seed, case)
        verdicts.add((expected, result.blocked > 0))
    assert COUNT < 200 or len(verdicts) >= 3  # there are both, and some that wait


@pytest.mark.parametrize("algorithm", [name for name in EXHAUSTIVE if name != "pop"])
def test_every_search_says_the_same(algorithm: str) -> None:
    assert set(EXHAUSTIVE) <= set(ALGORITHMS)
    for seed in range(COUNT // 10):
        case = drawn(seed)
        assert case.explored(algorithm).verdict == case.explored().verdict, (seed, case)


def test_failures_can_be_replayed() -> None:
    replayed = 0
    for seed in range(COUNT // 2):
        case = drawn(seed)
        for failure in case.explored().failures:
            again = mazurka.replay(case.program(), failure.schedule)
            assert (again.kind, again.message) == (failure.kind, failure.message), seed
            replayed += 1
    assert replayed

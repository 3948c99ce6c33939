"""Generated programs with executors and queues: the models give all that the standard library's own
code can give, and nothing else."""

import logging
import random
from collections.abc import Iterator

import pytest

from mazurka.python.library import futures
from tests.oracles.executor_programs import (
    all_outcomes,
    executor_program,
    modelled,
    order,
    queue_program,
    reference,
)

MAKERS = {"executor": executor_program, "queue": queue_program}
REFERENCE = reference()
MODELLED = modelled()


@pytest.fixture(autouse=True)
def same_hashes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(futures, "new_hash", order)
    logging.disable(logging.CRITICAL)  # of what goes wrong in workers
    yield
    logging.disable(logging.NOTSET)


def compare(kind: str, seed: int, most: int) -> bool:
    """Whether a program was small enough to be compared."""
    program = MAKERS[kind](random.Random(seed))
    expected = all_outcomes(program, REFERENCE, most)
    if expected is None:
        return False
    assert all_outcomes(program, MODELLED, most * 2) == expected, program
    return True


@pytest.mark.parametrize("kind", MAKERS)
def test_a_sample(kind: str) -> None:
    assert sum(compare(kind, seed, 150) for seed in range(20)) >= 5


@pytest.mark.slow
@pytest.mark.parametrize("kind", MAKERS)
def test_more(kind: str) -> None:
    assert sum(compare(kind, seed, 400) for seed in range(20, 60)) >= 10

"""The programs of POP's Table 1 in C: as many executions as the paper has, and as in Python."""

from pathlib import Path
from typing import Any

import pytest

import mazurka
from benchmarks import pop

PROGRAMS = Path(__file__).parents[2] / "benchmarks" / "c"

SMALL = {
    "circular_buffer": (pop.circular_buffer, 4),
    "fib_bench": (pop.fib_bench, 2),
    "linuxrwlocks": (pop.linuxrwlocks, 2),
    "filesystem": (pop.filesystem, 14),
    "indexer": (pop.indexer, 12),
    "lastzero": (pop.lastzero, 4),
    "exp_mem3": (pop.exp_mem3, 3),
    "dispatcher": (pop.dispatcher, 2),
    "poke": (pop.poke, 2),
}
ALGORITHMS: dict[str, dict[str, Any]] = {
    "pop": {},
    "optimal": {},
    "trust": {},
    "qpor": {"k": "optimal"},
}
TABLE = {
    ("circular_buffer", 7): 3432,
    ("fib_bench", 4): 19605,
    ("filesystem", 22): 512,
    ("indexer", 14): 512,
    ("lastzero", 10): 3328,
    ("exp_mem3", 7): 10080,
    ("dispatcher", 4): 6854,
}


def counts_in_c(name: str, size: int, **options: Any) -> tuple[str, int, int, int]:
    flags = [f"-DN={size}", "-DLENGTH=50"]
    program = mazurka.c_program(PROGRAMS / f"{name}.c", flags)
    result = mazurka.explore(program, granularity="access", **options)
    return result.verdict, result.complete, result.blocked, result.redundant


@pytest.mark.parametrize("name", SMALL)
def test_c_and_python_have_the_same_executions(name: str) -> None:
    factory, size = SMALL[name]
    for algorithm, options in ALGORITHMS.items():
        result = mazurka.explore(factory(size), algorithm=algorithm, **options)
        expected = (result.verdict, result.complete, result.blocked, result.redundant)
        assert counts_in_c(name, size, algorithm=algorithm, **options) == expected


@pytest.mark.parametrize("name", ["circular_buffer", "linuxrwlocks", "lastzero"])
def test_c_and_python_have_the_same_executions_within_bounds(name: str) -> None:
    factory, size = SMALL[name]
    for bound in (0, 1, 2):
        result = mazurka.explore(factory(size), preemptions=bound)
        expected = (result.verdict, result.complete, result.blocked, result.redundant)
        assert counts_in_c(name, size, preemptions=bound) == expected


def test_long_executions() -> None:
    assert counts_in_c("length_param", 2) == ("verified", 4, 0, 0)


@pytest.mark.papers
@pytest.mark.parametrize(("name", "size"), TABLE)
def test_the_paper_has_the_same_executions(name: str, size: int) -> None:
    assert counts_in_c(name, size) == ("verified", TABLE[name, size], 0, 0)

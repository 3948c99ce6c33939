"""What C programs can do, all of it: programs of which every outcome is known."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mazurka.native.compiling import Compiled
from tests.native.in_process import compiled_text, explored

OUTCOMES = {
    "store buffering": {"01", "10", "11"},
    "parts": {"01010101", "02020101"},
    "structures": {"00", "11"},
    "bytes": {"00", "01", "10", "11"},  # byte by byte
    "fields": {"0", "1"},
    "woken": {"0", "1", "2"},
    "in time": {"0", "1"},
    "stack": {"1", "2"},
    "semaphore": {"1"},
    "bits": {"1", "3"},
    "keys": {"0", "1"},
    "volatile": {"0", "1", "2"},
    "static": {"1", "2"},
    "heap": {"0", "42"},
    "unjoined": {"0", "1"},
}


@pytest.fixture(scope="module")
def made() -> Iterator[Compiled]:
    with compiled_text(Path(__file__).with_name("outcomes.c").read_text()) as made:
        yield made


@pytest.mark.parametrize("name", OUTCOMES)
def test_every_outcome_is_found(made: Compiled, name: str) -> None:
    for algorithm in ("pop", "optimal", "trust"):
        result = explored(made, [name], algorithm)
        assert result.verdict == "verified", result.failures[0].message
        assert set(result.outcomes) == OUTCOMES[name], algorithm

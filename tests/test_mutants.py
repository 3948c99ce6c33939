"""The list of deliberate mistakes fits the code as it is. (`python -m tests.mutants` runs it.)"""

import pytest

from tests.mutants.__main__ import mutated
from tests.mutants.mutants import MUTANTS, Mutant


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.file)
def test_each_mistake_can_be_made(mutant: Mutant) -> None:
    text = mutated(mutant)
    if mutant.file.endswith(".py"):
        compile(text, mutant.file, "exec")


def test_there_are_enough() -> None:
    assert len(MUTANTS) >= 60
    assert len({(mutant.file, mutant.right) for mutant in MUTANTS}) == len(MUTANTS)

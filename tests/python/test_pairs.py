"""Two threads, two calls, one object: what CPython does is found, or the result tells what was not
seen. `python -m tests.oracles.pairs` compares all calls."""

import sys

import pytest

from tests.oracles.generated import PROGRAMS
from tests.oracles.order import BOX, all_pairs
from tests.oracles.pairs import Programs
from tests.oracles.shared_types import TYPES, Pair, SharedType, pairs_on

WRONG = {"missed", "failed"}


def wrong_answers(kind: SharedType, pairs: list[Pair]) -> list[str]:
    compared = Programs(kind, pairs, 40).compare_all()
    return [str(each) for each in compared if each.answer in WRONG]


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_some_calls_agree_with_python(kind: SharedType) -> None:
    assert not wrong_answers(kind, [(kind.probes[0], kind.probes[-1])])


@pytest.mark.slow
@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="looked through on Python 3.11 so far")
@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.name)
def test_more_calls_agree_with_python(kind: SharedType) -> None:
    pairs = pairs_on(kind)
    step = max(40, 8000 // PROGRAMS)
    assert not wrong_answers(kind, pairs[len(kind.name) % step :: step])


def test_parts_are_evaluated_in_the_order_of_python() -> None:
    assert not wrong_answers(BOX, all_pairs()[:: max(1, 2600 // PROGRAMS)])

"""Workers together are one search: whatever comes in whichever order, and whoever dies."""

import json
from itertools import count

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mazurka.engine.result import Failure, Result
from mazurka.scale.checkpoint import document, read_ledger
from mazurka.scale.driver import Driver
from tests.conformance.oracle import Program
from tests.conformance.programs import any_program
from tests.oracles.generated import PROGRAMS, generated
from tests.scale.simulated import by_workers, in_one_process

SPLITTING = ["pop", "trust", "naive"]
MOST = 400
seeds = st.integers(0, 10_000)


def counts(result: Result) -> tuple[int, ...]:
    return (result.complete, result.blocked, result.redundant, result.cut)


def told(failures: list[Failure]) -> list[object]:
    return [(failure.kind, failure.message, failure.schedule.steps) for failure in failures]


def alone(program: Program, algorithm: str, stops: bool) -> Result:
    result = in_one_process(program, algorithm, stops)
    assume(result.executions <= MOST)
    return result


@pytest.mark.parametrize("algorithm", SPLITTING)
@given(program=any_program, seed=seeds)
@generated(PROGRAMS // 10)
def test_they_find_what_one_process_finds(algorithm: str, program: Program, seed: int) -> None:
    """Failures come in the same order, too."""
    expected = alone(program, algorithm, False)
    found = by_workers(program, algorithm, False, seed)
    assert not found.entries()
    total = found.total()
    assert counts(total) == counts(expected)
    assert total.outcomes == expected.outcomes
    assert told(total.failures) == told(expected.failures)


@pytest.mark.parametrize("algorithm", SPLITTING)
@given(program=any_program, seed=seeds)
@generated(PROGRAMS // 10)
def test_they_stop_at_the_failure_of_one_process(
    algorithm: str, program: Program, seed: int
) -> None:
    expected = alone(program, algorithm, True)
    assume(expected.failures)
    total = by_workers(program, algorithm, True, seed).total()
    assert told(total.failures) == told(expected.failures)
    assert counts(total) == counts(expected)
    assert total.outcomes == expected.outcomes


@pytest.mark.parametrize("algorithm", SPLITTING)
@given(program=any_program, seed=seeds, share=st.floats(0, 1))
@generated(PROGRAMS // 10)
def test_a_limit_holds_for_all_of_them(
    algorithm: str, program: Program, seed: int, share: float
) -> None:
    """What is left can be taken up later, by more or fewer workers."""
    expected = alone(program, algorithm, False)
    most = max(1, int(share * expected.executions))
    ledger = by_workers(program, algorithm, False, seed, most)
    assert ledger.total().executions == most
    assert bool(ledger.entries()) == (most < expected.executions)
    ledger.most = -1
    total = by_workers(program, algorithm, False, seed + 1, first=ledger).total()
    assert counts(total) == counts(expected)
    assert total.outcomes == expected.outcomes
    assert told(total.failures) == told(expected.failures)


@pytest.mark.parametrize("algorithm", SPLITTING)
@given(program=any_program, seed=seeds, stops=st.booleans())
@generated(PROGRAMS // 10)
def test_a_search_that_was_stopped_goes_on(
    algorithm: str, program: Program, seed: int, stops: bool
) -> None:
    expected = alone(program, algorithm, stops)
    turns = count()

    def watch(driver: Driver) -> str:
        return "stopped" if next(turns) == seed % 50 else ""

    ledger = by_workers(program, algorithm, stops, seed, watch=watch)
    text = json.dumps(document(ledger, {}, 0.0))
    ledger = read_ledger(json.loads(text), stops)
    total = by_workers(program, algorithm, stops, seed + 1, first=ledger).total()
    assert counts(total) == counts(expected)
    assert total.outcomes == expected.outcomes
    assert told(total.failures) == told(expected.failures)

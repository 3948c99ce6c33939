"""pybreaker: "Threadsafe pure-Python implementation of the Circuit Breaker pattern". half_open
"lets the following call pass through and opens the circuit if the call fails (or closes the circuit
if the call succeeds)".

`call` holds the breaker's lock while the guarded function runs, so this is true. `calling` holds it
until the `with` block begins, and no longer: in a half-open circuit, any number of blocks may run
at the same time, and a service that is just recovering gets all of them.
"""

from pathlib import Path

import pytest

import mazurka
from examples.libraries.threads import together

pybreaker = pytest.importorskip("pybreaker")

SCHEDULE = Path(__file__).with_name("pybreaker_trials.json")


@mazurka.check
def test_failures_are_counted() -> None:
    breaker = pybreaker.CircuitBreaker(fail_max=2)

    def fail() -> None:
        raise ValueError

    def use() -> None:
        with pytest.raises((ValueError, pybreaker.CircuitBreakerError)):
            breaker.call(fail)

    together(use, use)
    assert breaker.current_state == "open"


@mazurka.check
def test_one_trial_call_at_a_time() -> None:
    breaker = pybreaker.CircuitBreaker()
    breaker.half_open()
    running = []

    def trial() -> None:
        running.append(breaker.current_state)
        assert len(running) == 1 or breaker.current_state == "closed"
        running.pop()

    together(lambda: breaker.call(trial), lambda: breaker.call(trial))
    assert breaker.current_state == "closed"


def trials_in_blocks() -> None:
    breaker = pybreaker.CircuitBreaker()
    breaker.half_open()
    running = []

    def trial() -> None:
        with breaker.calling():
            running.append(breaker.current_state)
            assert running != ["half-open", "half-open"], "two trial calls at the same time"
            running.pop()

    together(trial, trial)


def test_blocks_are_not_tried_one_at_a_time() -> None:
    with pytest.raises(mazurka.CheckFailed, match="two trial calls"):
        mazurka.check(trials_in_blocks)


def test_the_saved_execution() -> None:
    assert mazurka.replay(trials_in_blocks, SCHEDULE.read_text()).kind == "exception"

"""Executions at random: repeatable, counted by trace, and never a proof."""

import json
import threading
from collections.abc import Callable

import pytest

import mazurka
from mazurka.explore.algorithms import SAMPLERS
from tests.cli.test_cli import run


def lost_update() -> int:
    counter = [0]

    def work() -> None:
        counter[0] += 1

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return counter[0]


def locks_and_choices() -> tuple[int, ...]:
    lock = mazurka.Lock()
    order: list[int] = []

    def work(name: int) -> None:
        chosen = mazurka.choose([0, 10])
        with lock:
            order.append(name + chosen)

    handles = [mazurka.spawn(work, name) for name in range(2)]
    for handle in handles:
        handle.join()
    return tuple(order)


def writers_and_a_reader() -> object:
    x = mazurka.Atomic(0)
    y = mazurka.Atomic(0)

    def one() -> None:
        x.store(1)
        y.store(1)

    def other() -> None:
        y.store(2)
        x.add(2)

    handles = [mazurka.spawn(one), mazurka.spawn(other)]
    seen = x.load(), y.load()
    for handle in handles:
        handle.join()
    return seen


PROGRAMS = [lost_update, locks_and_choices, writers_and_a_reader]


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_enough_samples_meet_every_trace(algorithm: str, program: Callable[[], object]) -> None:
    every = mazurka.explore(program, algorithm="pop")
    some = mazurka.explore(program, algorithm=algorithm, max_executions=2000, depth=6)
    assert some.verdict == "incomplete"
    assert some.executions == 2000
    assert set(some.outcomes) == set(every.outcomes)
    assert some.traces == every.executions


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_a_seed_says_which(algorithm: str) -> None:
    def sampled(seed: int) -> object:
        result = mazurka.explore(
            writers_and_a_reader, algorithm=algorithm, seed=seed, max_executions=30
        )
        return result.outcomes, result.traces

    assert sampled(1) == sampled(1)
    assert len({str(sampled(seed)) for seed in range(5)}) > 1


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_failures_are_found_and_replayed(algorithm: str) -> None:
    def program() -> None:
        assert lost_update() == 2

    result = mazurka.explore(program, algorithm=algorithm)
    assert result.verdict == "failed"
    failure = mazurka.replay(program, result.failures[0].schedule)
    assert failure.message == result.failures[0].message


def test_all_failures_are_collected() -> None:
    def program() -> None:
        assert lost_update() == 2

    result = mazurka.explore(program, algorithm="pos", stop_on_failure=False, max_executions=50)
    assert result.executions == 50
    assert 0 < len(result.failures) < 50


def test_without_a_change_of_priorities_no_thread_is_interrupted() -> None:
    assert set(mazurka.explore(lost_update, algorithm="pct", depth=1).outcomes) == {2}
    assert set(mazurka.explore(lost_update, algorithm="pct", depth=2).outcomes) == {1, 2}


def test_a_thousand_executions_unless_a_limit_says_otherwise() -> None:
    assert mazurka.explore(lost_update, algorithm="random").executions == 1000
    assert mazurka.explore(lost_update, algorithm="random", max_executions=7).executions == 7
    timed = mazurka.explore(lost_update, algorithm="random", time_limit=0.2)
    assert "time_limit" in timed.reason


def test_a_check_that_samples_does_not_pass() -> None:
    with pytest.raises(mazurka.CheckFailed, match="INCOMPLETE"):
        mazurka.check(locks_and_choices, algorithm="random")


def test_depth_is_a_positive_number() -> None:
    with pytest.raises(mazurka.MazurkaError, match="depth"):
        mazurka.explore(lost_update, algorithm="pct", depth=0)


def test_on_the_command_line() -> None:
    target = "tests.explore.test_sampling:lost_update"
    shown = run("check", target, "--algorithm", "pos", "--seed", "3")
    assert shown.exit_code == 3
    assert "1,000 executions of 4 traces" in shown.stdout
    document = json.loads(
        run("check", target, "--algorithm", "pct", "--depth", "4", "--json").stdout
    )
    assert (document["verdict"], document["traces"]) == ("incomplete", 4)

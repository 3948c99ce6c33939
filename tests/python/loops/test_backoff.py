"""Loops that sleep between their rounds: how long, and why so long, is of no consequence. And loops
that look at a clock: time may pass quickly."""

import random
import threading
import time
from collections.abc import Callable
from unittest import mock

import pytest

from mazurka import explore

ALGORITHMS = ["pop", "optimal", "source", "trust", "qpor"]
Program = Callable[[], object]


class Box:
    interval = 0.5

    def __init__(self) -> None:
        self.ready = False
        self.slept = 0


def set_later(box: Box) -> None:
    def work() -> None:
        box.ready = True

    threading.Thread(target=work).start()


# Correct ways to wait, in which a thread reads once


def a_time_from_elsewhere() -> None:
    box = Box()
    set_later(box)
    while not box.ready:
        time.sleep(box.interval)


def a_random_time() -> None:
    box = Box()
    set_later(box)
    while not box.ready:
        time.sleep(random.uniform(0.001, 0.01))


def a_random_time_that_has_a_name() -> None:
    box = Box()
    set_later(box)
    pause = 0.0
    while not box.ready:
        pause = 0.1 * random.random()
        time.sleep(pause)


def a_time_that_grows() -> None:
    box = Box()
    set_later(box)
    delay = 0.001
    while not box.ready:
        time.sleep(delay)
        delay = min(2 * delay, 10)


def a_time_with_a_limit() -> None:
    box = Box()
    set_later(box)
    delay, attempt = 1.0, 0
    while not box.ready:
        time.sleep(min(delay * attempt, 60) + random.random())
        attempt += 1


def a_pause_now_and_then() -> None:
    box = Box()
    set_later(box)
    spins = 0
    while not box.ready:
        spins += 1
        if spins % 100 == 0:
            time.sleep(0)


def a_count_that_nobody_reads() -> None:
    box = Box()
    set_later(box)
    rounds = 0
    while True:
        if box.ready:
            break
        rounds += 1


def a_lock_that_is_tried() -> None:
    lock = threading.Lock()

    def work(delay: float) -> None:
        while not lock.acquire(blocking=False):
            time.sleep(random.randint(1, 10) * delay + random.uniform(0, delay))
            delay = min(delay * 2, 1.0)
        lock.release()

    for thread in [threading.Thread(target=work, args=(0.01,)) for _ in range(2)]:
        thread.start()


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("program", "executions"),
    [
        (a_time_from_elsewhere, 1),
        (a_random_time, 1),
        (a_random_time_that_has_a_name, 1),
        (a_time_that_grows, 1),
        (a_time_with_a_limit, 1),
        (a_pause_now_and_then, 1),
        (a_count_that_nobody_reads, 1),
        (a_lock_that_is_tried, 2),
    ],
)
def test_how_long_a_thread_sleeps_makes_no_difference(
    program: Program, executions: int, algorithm: str
) -> None:
    result = explore(program, algorithm=algorithm)
    assert result.verdict == "verified"
    assert result.complete == result.executions == executions


def test_without_awaits_the_rounds_are_cut() -> None:
    for program in (a_random_time_that_has_a_name, a_time_with_a_limit, a_pause_now_and_then):
        result = explore(program, awaits=False)
        assert result.verdict == "verified"
        assert (result.complete, result.blocked) == (1, 1)


def test_nobody_waits_for_ages() -> None:
    """Such a delay would be too large for a number in the end, after more than a lifetime."""

    def program() -> None:
        box = Box()
        set_later(box)
        delay = 0.001
        while not box.ready:
            time.sleep(delay)
            delay *= 2

    result = explore(program)
    assert result.verdict == "verified"
    assert result.executions < 50


# What makes a difference


def a_sleep_of_its_own() -> None:
    box = Box()
    set_later(box)

    def sleep(_: float) -> None:
        box.slept += 1

    while not box.ready:
        sleep(0.1)
    assert box.slept == 0


class Bed:
    def __init__(self) -> None:
        self.slept = 0
        self.delay = 0.0

    def sleep(self, delay: float) -> None:
        self.slept += 1
        self.delay = delay


def a_method_called_sleep() -> None:
    box = Box()
    set_later(box)
    bed = Bed()
    while not box.ready:
        bed.sleep(0.1)
    assert bed.slept == 0


def a_sleep_of_its_own_that_takes_a_delay() -> None:
    """The delay is set in one round, and used in another one."""
    box = Box()
    set_later(box)
    bed = Bed()
    delay = 0
    while True:
        if box.ready:
            bed.sleep(delay)
            break
        delay = 1
    assert bed.delay == 0


def a_sleep_that_another_thread_replaces() -> None:
    box = Box()
    sleep: Callable[[float], None] = time.sleep

    def oversleep(_: float) -> None:
        box.slept += 1

    def work() -> None:
        nonlocal sleep
        sleep = oversleep
        box.ready = True

    threading.Thread(target=work).start()
    while not box.ready:
        sleep(0.1)
    assert box.slept == 0


def a_count_that_is_read() -> None:
    box = Box()
    set_later(box)
    rounds = 0
    while not box.ready:
        time.sleep(0.1)
        rounds += 1
    assert rounds == 0


def a_count_that_another_function_reads() -> None:
    box = Box()
    set_later(box)
    rounds = 0
    while not box.ready:
        time.sleep(0.1)
        rounds += 1
    assert (lambda: rounds)() == 0


def a_time_that_becomes_negative() -> None:
    box = Box()
    set_later(box)
    delay = 0.2
    while not box.ready:
        time.sleep(delay)
        delay = delay - 0.1


def a_range_that_becomes_empty() -> None:
    box = Box()
    set_later(box)
    delay = 1
    while not box.ready:
        time.sleep(random.randint(1, delay))
        delay = delay % 1


def a_time_that_is_none_in_the_end() -> None:
    box = Box()
    set_later(box)
    delay = 1
    while not box.ready:
        time.sleep(delay)
        delay = None  # type: ignore[assignment]


def a_random_number_that_decides() -> None:
    """The thread leaves its loop after some rounds, though the box is not ready."""
    box = Box()

    def work() -> None:
        while not box.ready:
            if random.random() < 0.3:
                break
        assert box.ready

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


@pytest.mark.parametrize(
    ("program", "exception"),
    [
        (a_sleep_of_its_own, "AssertionError"),
        (a_method_called_sleep, "AssertionError"),
        (a_sleep_of_its_own_that_takes_a_delay, "AssertionError"),
        (a_sleep_that_another_thread_replaces, "AssertionError"),
        (a_count_that_is_read, "AssertionError"),
        (a_count_that_another_function_reads, "AssertionError"),
        (a_time_that_becomes_negative, "ValueError"),
        (a_range_that_becomes_empty, "ValueError"),
        (a_time_that_is_none_in_the_end, "TypeError"),
        (a_random_number_that_decides, "AssertionError"),
    ],
)
def test_what_the_program_can_tell_is_explored(program: Program, exception: str) -> None:
    result = explore(program, unroll=5)
    assert result.verdict == "failed"
    assert result.failures[0].message.startswith(exception)


def test_a_sleep_that_is_replaced_counts() -> None:
    def program() -> None:
        box = Box()
        set_later(box)

        def oversleep(_: float) -> None:
            box.slept += 1

        with mock.patch("time.sleep", oversleep):
            while not box.ready:
                time.sleep(0.1)
        assert box.slept == 0

    result = explore(program, unroll=5)
    assert result.failures[0].message.startswith("AssertionError")


def test_random_numbers_beside_those_for_sleeping_stay_the_same() -> None:
    """A number that is drawn for sleeping is none of the stream that the program sees."""

    def program() -> float:
        time.sleep(random.random())
        return random.random()

    def without() -> float:
        return random.random()

    assert explore(program).outcomes == explore(without).outcomes


def test_a_sleep_of_the_program_that_only_sleeps_is_no_hindrance() -> None:
    """Then delays are compared: they must come to an end."""

    def sleep(seconds: float) -> None:
        time.sleep(seconds)

    def program() -> None:
        box = Box()
        set_later(box)
        delay = 0.25
        while not box.ready:
            sleep(delay)
            delay = min(2 * delay, 1)

    assert explore(program).verdict == "verified"


def test_a_delay_that_another_thread_uses() -> None:
    def program() -> None:
        box = Box()
        delay = 0.5

        def work() -> None:
            time.sleep(delay)
            box.ready = True

        threading.Thread(target=work).start()
        while not box.ready:
            time.sleep(delay)
            delay = min(2 * delay, 1)

    assert explore(program).verdict == "verified"


# Clocks


def a_deadline() -> bool:
    box = Box()
    set_later(box)
    end = time.monotonic() + 60
    while not box.ready:
        if time.monotonic() > end:
            return False
    return True


def a_deadline_and_naps() -> bool:
    box = Box()
    set_later(box)
    end = time.time() + 3600
    while not box.ready and time.time() < end:
        time.sleep(0.01)
    return box.ready


def a_deadline_for_nothing() -> bool:
    end = time.perf_counter() + 60
    while time.perf_counter() < end:
        pass
    return True


def a_look_without_deadline() -> bool:
    box = Box()
    set_later(box)
    while not box.ready:
        time.localtime()
    return True


@pytest.mark.parametrize(
    ("program", "most"),
    [
        (a_deadline, 20),
        (a_deadline_and_naps, 50),
        (a_deadline_for_nothing, 1),
        (a_look_without_deadline, 50),
    ],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_deadline_is_reached_soon(program: Program, most: int, algorithm: str) -> None:
    result = explore(program, algorithm=algorithm)
    assert result.verdict == "verified"
    assert result.executions <= most
    assert set(result.outcomes) <= {True, False}
    assert True in result.outcomes


def test_time_passes_in_steps_that_meet_every_stage_of_a_wait() -> None:
    def program() -> list[str]:
        box = Box()
        set_later(box)
        start = time.monotonic()
        stages: list[str] = []
        while not box.ready:
            passed = time.monotonic() - start
            if passed > 2:
                return [*stages, "late"]
            if passed > 1 and not stages:
                stages.append("soon")
        return stages

    outcomes = explore(program).outcomes
    assert set(outcomes) == {"[]", "['soon']", "['soon', 'late']"}


def test_a_missed_deadline_is_a_failure() -> None:
    def program() -> None:
        box = Box()
        set_later(box)
        end = time.monotonic() + 60
        while not box.ready:
            assert time.monotonic() < end, "it takes too long"
            time.sleep(1)

    (failure,) = explore(program).failures
    assert failure.message.startswith("AssertionError: it takes too long")
    assert len(failure.schedule.steps) < 40


def test_a_look_at_the_clock_is_no_progress() -> None:
    def program() -> None:
        box = Box()
        while not box.ready:
            time.localtime()

    (failure,) = explore(program).failures
    assert failure.kind == "livelock"

"""Loops that only wait: they are cut or become awaits, and livelocks are told from cuts."""

import itertools
import queue
import random
import threading
import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from mazurka import (
    Atomic,
    Condition,
    Lock,
    MazurkaError,
    Result,
    check,
    explore,
    replay,
    spawn,
)
from tests.oracles.generated import PROGRAMS
from tests.oracles.waiting_programs import WaitingProgram, difference

ALGORITHMS = ["pop", "optimal", "source", "naive"]
Program = Callable[[], object]


class Box:
    def __init__(self) -> None:
        self.ready = False
        self.value = 0


is_ready = False

# Correct ways to wait: each gives what the other thread has stored before.


def polled_atomic() -> object:
    data, ready = Atomic(0), Atomic(0)

    def send() -> None:
        data.store(42)
        ready.store(1)

    spawn(send)
    while ready.load() != 1:
        pass
    return data.load()


def polled_attribute() -> object:
    box = Box()

    def send() -> None:
        box.value = 42
        box.ready = True

    threading.Thread(target=send).start()
    while not box.ready:
        time.sleep(0.1)
    return box.value


def polled_item() -> object:
    found: dict[str, int] = {}

    def send() -> None:
        found["value"] = 42

    threading.Thread(target=send).start()
    while "value" not in found:
        time.sleep(0.1)
    return found["value"]


def polled_index() -> object:
    cells = [0]

    def send() -> None:
        cells[0] = 42

    threading.Thread(target=send).start()
    while cells[0] == 0:
        pass
    return cells[0]


def polled_global() -> object:
    data = Atomic(0)

    def send() -> None:
        global is_ready
        data.store(42)
        is_ready = True

    threading.Thread(target=send).start()
    while not is_ready:
        pass
    return data.load()


def polled_closure() -> object:
    ready = False

    def send() -> None:
        nonlocal ready
        ready = True

    threading.Thread(target=send).start()
    while not ready:
        pass
    return 42


def polled_event() -> object:
    ready = threading.Event()
    box = Box()

    def send() -> None:
        box.value = 42
        ready.set()

    threading.Thread(target=send).start()
    while not ready.is_set():
        time.sleep(0.01)
    return box.value


def polled_with_timeout() -> object:
    ready = threading.Event()
    threading.Thread(target=ready.set).start()
    while not ready.wait(timeout=0.5):
        pass
    return 42


def polled_events() -> object:
    events = (threading.Event(), threading.Event())
    for event in events:
        threading.Thread(target=event.set).start()
    while not all(event.is_set() for event in events):
        pass
    return 42


def polled_queue() -> object:
    line: queue.Queue[int] = queue.Queue()
    threading.Thread(target=line.put, args=(42,)).start()
    while line.empty():
        pass
    return line.get()


def tried_queue() -> object:
    line: queue.Queue[int] = queue.Queue()
    threading.Thread(target=line.put, args=(42,)).start()
    while True:
        try:
            return line.get_nowait()
        except queue.Empty:
            time.sleep(0.1)


def tried_lock() -> object:
    lock = threading.Lock()
    box = Box()

    def add() -> None:
        while not lock.acquire(blocking=False):
            pass
        box.value += 21
        lock.release()

    thread = threading.Thread(target=add)
    thread.start()
    add()
    thread.join()
    return box.value


def looked_at_lock() -> object:
    lock = threading.Lock()
    lock.acquire()
    threading.Thread(target=lock.release).start()
    while lock.locked():
        pass
    return 42


def polled_under_a_lock() -> object:
    lock = threading.Lock()
    box = Box()

    def send() -> None:
        with lock:
            box.value = 42
            box.ready = True

    threading.Thread(target=send).start()
    while True:
        with lock:
            if box.ready:
                return box.value
        time.sleep(0.1)


def condition_with_timeout() -> object:
    condition = threading.Condition()
    box = Box()

    def send() -> None:
        with condition:
            box.value = 42
            condition.notify()

    threading.Thread(target=send).start()
    with condition:
        while box.value == 0:
            condition.wait(timeout=1)
    return box.value


def condition_on_a_lock() -> object:
    """Its wait begins by looking at the lock, which must not become an await."""
    condition = Condition(Lock())
    value = Atomic(0)

    def send() -> None:
        with condition:
            value.store(42)
            condition.notify()

    spawn(send)
    with condition:
        while value.load() == 0:
            condition.wait()
    return value.load()


def spinlock() -> object:
    lock, count = Atomic(0), Atomic(0)

    def add() -> None:
        while True:
            while lock.load() != 0:
                pass
            if lock.exchange(1) == 0:
                break
        count.store(count.load() + 21)
        lock.store(0)

    threads = [spawn(add), spawn(add)]
    for thread in threads:
        thread.join()
    return count.load()


def compare_exchange_loop() -> object:
    count = Atomic(0)

    def add() -> None:
        while True:
            old = count.load()
            if count.compare_exchange(old, old + 21):
                break

    threads = [spawn(add), spawn(add)]
    for thread in threads:
        thread.join()
    return count.load()


CORRECT = [
    polled_atomic,
    polled_attribute,
    polled_item,
    polled_index,
    polled_global,
    polled_closure,
    polled_event,
    polled_with_timeout,
    polled_events,
    polled_queue,
    tried_queue,
    tried_lock,
    looked_at_lock,
    polled_under_a_lock,
    condition_with_timeout,
    condition_on_a_lock,
    spinlock,
    compare_exchange_loop,
]
SETTINGS = [{}, {"awaits": False}]


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("program", CORRECT)
def test_a_correct_wait_ends_and_is_no_livelock(
    program: Program, algorithm: str, options: dict[str, Any]
) -> None:
    result = explore(program, algorithm=algorithm, max_executions=20_000, **options)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {42}


AWAITED = [
    polled_atomic,
    polled_attribute,
    polled_global,
    polled_closure,
    polled_event,
    polled_with_timeout,
    polled_queue,
    tried_queue,
    tried_lock,
    looked_at_lock,
    spinlock,
]


@pytest.mark.parametrize("program", AWAITED)
def test_awaits_leave_no_execution_that_waits_in_vain(program: Program) -> None:
    assert explore(program).blocked == 0
    cut = explore(program, awaits=False)
    assert cut.blocked > 0
    assert cut.complete == explore(program).complete


def test_granularity_sync() -> None:
    for program in (polled_under_a_lock, polled_event, tried_queue, condition_with_timeout):
        result = explore(program, granularity="sync")
        assert result.verdict == "verified"
        assert set(result.outcomes) == {42}


# What must not be cut


def outcomes(program: Program, **options: Any) -> set[object]:
    result = explore(program, **options)
    assert result.verdict == "verified"
    return set(result.outcomes)


def test_a_variable_that_is_used_later_makes_a_round_count() -> None:
    def program() -> int:
        flag = Atomic(0)
        spawn(flag.store, 1)
        rounds = 0
        while flag.load() == 0 and rounds < 3:
            rounds += 1
        return rounds

    assert outcomes(program) == {0, 1, 2, 3}


def test_an_object_of_the_threads_own_may_have_changed() -> None:
    def program() -> int:
        flag = Atomic(0)
        spawn(flag.store, 1)
        seen: list[int] = []
        while flag.load() == 0 and len(seen) < 3:
            seen.append(1)
        return len(seen)

    assert outcomes(program) == {0, 1, 2, 3}


def test_an_attribute_of_an_own_object_may_have_changed() -> None:
    def program() -> int:
        flag = Atomic(0)
        spawn(flag.store, 1)
        box = Box()
        while flag.load() == 0 and box.value < 2:
            box.value += 1
        return box.value

    assert outcomes(program) == {0, 1, 2}


def test_an_iterator_moves_on() -> None:
    def program() -> int:
        flag = Atomic(0)
        spawn(flag.store, 1)
        numbers = iter([1, 2, 3])
        while flag.load() == 0 and next(numbers) < 3:
            pass
        return next(numbers, 4)

    assert outcomes(program) == {1, 2, 3, 4}


def test_a_generator_that_is_kept_is_used_up() -> None:
    def program() -> bool:
        flag = Atomic(0)
        spawn(flag.store, 1)
        kept = (number for number in (1, 0, 0))
        while flag.load() == 0 and any(kept):
            pass
        return any(kept)

    assert outcomes(program) == {True, False}


def test_a_deadline_is_met() -> None:
    def program() -> bool:
        ready = threading.Event()
        threading.Thread(target=ready.set).start()
        end = time.monotonic() + 3
        while not ready.is_set() and time.monotonic() < end:
            time.sleep(1)
        return ready.is_set()

    assert outcomes(program) == {True, False}


def test_time_that_is_looked_at_after_the_loop_has_passed() -> None:
    def program() -> bool:
        ready = Atomic(0)
        spawn(ready.store, 1)
        rounds = 0
        start = time.monotonic()
        while ready.load() == 0 and rounds < 3:
            rounds = rounds + 1 if time.monotonic() > start + 1 else 0
            time.sleep(1)
        return time.monotonic() > start + 1

    assert outcomes(program) == {True, False}


def test_a_clock_that_only_the_end_looks_at() -> None:
    def program() -> bool:
        ready = Atomic(0)
        threading.Thread(target=ready.store, args=(1,)).start()
        while ready.load() == 0:
            time.sleep(1)
        return time.monotonic() < 1003

    result = explore(program, unroll=5)
    assert result.verdict == "bounded"
    assert set(result.outcomes) == {True, False}


def test_chance_is_not_the_same_again() -> None:
    def program() -> int:
        flag = Atomic(0)
        spawn(flag.store, 1)
        rounds = 0
        while flag.load() == 0:
            if random.randrange(4) == 0:
                rounds = -1
                break
        return rounds

    assert outcomes(program) == {0, -1}


def test_a_store_of_what_is_there_is_a_store() -> None:
    def program() -> int:
        x, y = Atomic(0), Atomic(0)

        def other() -> int:
            y.store(1)
            return x.load()

        handle = spawn(other)
        while y.load() == 0:
            x.store(1)
        return int(handle.join())

    result = explore(program, unroll=3)
    assert set(result.outcomes) == {0, 1}


def test_a_lock_that_somebody_saw_held_was_held() -> None:
    def program() -> int:
        lock, done = threading.Lock(), Atomic(0)

        def look() -> int:
            seen = int(lock.locked()) + int(lock.locked())
            done.store(1)
            return seen

        handle = spawn(look)
        while True:
            with lock:
                if done.load():
                    break
        return int(handle.join())

    assert outcomes(program) == {0, 1, 2}


def test_conditions_that_may_raise_do_so() -> None:
    def program() -> None:
        x: Atomic[Any] = Atomic(0)
        spawn(x.store, None)
        while x.load() < 1:
            pass

    result = explore(program)
    assert [failure.kind for failure in result.failures] == ["exception"]
    assert "TypeError" in result.failures[0].message


def test_a_property_runs_its_own_code() -> None:
    class Door:
        def __init__(self) -> None:
            self.first = 0
            self.second = 0

        @property
        def is_open(self) -> bool:
            return self.first == 1 and self.second == 1

    def program() -> int:
        door = Door()

        def open_it() -> None:
            door.first = 1
            door.second = 1

        threading.Thread(target=open_it).start()
        while not door.is_open:
            pass
        return 42

    for awaits in (True, False):
        assert outcomes(program, awaits=awaits) == {42}


def test_values_that_change_in_place_are_not_awaited() -> None:
    def program() -> int:
        box = Box()
        box.found = []  # type: ignore[attr-defined]

        def find() -> None:
            box.found.append(1)  # type: ignore[attr-defined]

        threading.Thread(target=find).start()
        while box.found == []:  # type: ignore[attr-defined]
            pass
        return 42

    assert outcomes(program) == {42}


# Livelocks


def livelock_of(program: Program, **options: Any) -> Result:
    result = explore(program, **options)
    assert result.verdict == "failed"
    assert result.failures[0].kind == "livelock"
    again = replay(program, result.failures[0].schedule.to_json())
    assert again.kind == "livelock"
    assert again.details == result.failures[0].details
    return result


@pytest.mark.parametrize("awaits", [True, False])
def test_a_spinlock_that_is_not_released(awaits: bool) -> None:
    def program() -> None:
        lock = Atomic(0, name="lock")

        def worker() -> None:
            while lock.exchange(1) == 1:
                pass

        spawn(worker)
        spawn(worker)

    details = livelock_of(program, awaits=awaits).failures[0].details
    assert len(details) == 1
    assert "goes round for ever at" in details[0]
    assert "while lock.exchange(1) == 1:" in details[0]
    assert "lock" in details[0].split("(")[-1]


@pytest.mark.parametrize("awaits", [True, False])
def test_threads_that_give_way_in_lock_step(awaits: bool) -> None:
    """Each changes its own variable back before the other one looks: so they may go on for ever,
    though either would get on if it looked in the midst of the other's round."""

    def program() -> None:
        wants = SimpleNamespace(first=False, second=False)

        def run(me: str, other: str) -> None:
            setattr(wants, me, True)
            while getattr(wants, other):
                setattr(wants, me, False)
                setattr(wants, me, True)
            setattr(wants, me, False)

        threading.Thread(target=run, args=("first", "second")).start()
        threading.Thread(target=run, args=("second", "first")).start()

    details = livelock_of(program, awaits=awaits).failures[0].details
    assert sum("goes round for ever at" in line for line in details) == 2


@pytest.mark.parametrize("awaits", [True, False])
def test_a_thread_that_looks_only_between_the_rounds_of_another(awaits: bool) -> None:
    def program() -> None:
        lamp = SimpleNamespace(on=True, done=False)

        def blink() -> None:
            while not lamp.done:
                lamp.on = False
                lamp.on = True

        threading.Thread(target=blink).start()
        while lamp.on:
            pass
        lamp.done = True

    livelock_of(program, awaits=awaits)


@pytest.mark.parametrize("awaits", [True, False])
def test_a_lock_that_is_released_in_every_round_is_taken_some_time(awaits: bool) -> None:
    def program() -> bool:
        lock = threading.Lock()
        lamp = SimpleNamespace(done=False)

        def poll() -> None:
            lock.acquire()
            while not lamp.done:
                lock.release()
                lock.acquire()
            lock.release()

        threading.Thread(target=poll).start()
        while not lock.acquire(blocking=False):
            pass
        lamp.done = True
        lock.release()
        return bool(lamp.done)

    result = explore(program, awaits=awaits)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {True}


@pytest.mark.parametrize("awaits", [True, False])
def test_a_lost_signal(awaits: bool) -> None:
    def program() -> None:
        ready = threading.Event()

        def signal() -> None:
            ready.set()
            ready.clear()

        threading.Thread(target=signal).start()
        while not ready.is_set():
            time.sleep(0.1)

    details = livelock_of(program, awaits=awaits).failures[0].details
    assert "while not ready.is_set():" in details[0]
    assert "False" in details[0]


def waits_for_an_item() -> None:
    answers: dict[str, int] = {}

    def wait() -> None:
        while True:
            try:
                answers["ready"]
                return
            except KeyError:
                pass

    thread = threading.Thread(target=wait)
    thread.start()
    answers["steady"] = 1
    thread.join()


def waits_for_an_index() -> None:
    answers: list[int] = []

    def wait() -> None:
        while True:
            try:
                answers[1]
                return
            except IndexError:
                pass

    thread = threading.Thread(target=wait)
    thread.start()
    answers.append(1)
    thread.join()


@pytest.mark.parametrize(
    ("program", "found"),
    [
        (waits_for_an_item, "answers['ready'] is not there"),
        (waits_for_an_index, "answers[1] is not there"),
    ],
)
def test_the_account_says_that_an_item_is_not_there(program: Program, found: str) -> None:
    (failure,) = livelock_of(program).failures
    assert any(f"{found})" in detail for detail in failure.details)


def test_the_account_says_that_an_awaited_item_was_taken_away() -> None:
    def program() -> None:
        answers = {"ready": 0}

        def wait() -> None:
            while answers["ready"] == 0:
                pass

        thread = threading.Thread(target=wait)
        thread.start()
        del answers["ready"]
        thread.join()

    (failure,) = explore(program).failures
    assert failure.message == "KeyError: 'ready'"
    assert "read answers['ready']: not there" in [step.action for step in failure.steps]


def test_threads_that_retry_politely() -> None:
    def program() -> None:
        one, two = threading.Lock(), threading.Lock()

        def both(first: Any, second: Any) -> None:
            while True:
                first.acquire()
                if second.acquire(blocking=False):
                    break
                first.release()
            second.release()
            first.release()

        thread = threading.Thread(target=both, args=(one, two))
        thread.start()
        both(two, one)
        thread.join()

    failure = livelock_of(program).failures[0]
    assert len(failure.details) == 2
    assert failure.message == "threads go round in loops for ever, and none gets anywhere"


def test_threads_that_give_way_to_each_other() -> None:
    """Each alone would go round for ever as well; but that is not fair."""

    def program() -> None:
        wishes = (Atomic(0), Atomic(0))

        def enter(mine: Atomic[int], other: Atomic[int]) -> None:
            while True:
                mine.store(1)
                if other.load() == 0:
                    break
                mine.store(0)
            mine.store(0)

        spawn(enter, wishes[0], wishes[1])
        spawn(enter, wishes[1], wishes[0])

    assert len(livelock_of(program).failures[0].details) == 2


def test_a_loop_on_what_nobody_shares() -> None:
    def program() -> None:
        box = Box()
        while not box.ready:
            time.sleep(1)

    assert "without any step" in livelock_of(program).failures[0].details[0]


def test_waiting_for_a_thread_that_waits_in_a_loop() -> None:
    def program() -> None:
        flag = Atomic(0, name="flag")

        def wait() -> None:
            while flag.load() == 0:
                pass

        spawn(wait).join()

    details = livelock_of(program).failures[0].details
    assert len(details) == 2
    assert "waits to join" in details[0]


def test_a_daemon_may_wait_for_ever() -> None:
    def program() -> None:
        flag = Atomic(0)

        def wait() -> None:
            while flag.load() == 0:
                pass

        threading.Thread(target=wait, daemon=True).start()

    for awaits in (True, False):
        result = explore(program, awaits=awaits)
        assert (result.verdict, result.complete, result.blocked) == ("verified", 1, 0)


def test_a_thread_that_finished_meanwhile_is_no_circle() -> None:
    """Found by qspinlock: the word had the same values again, but others were done by then."""

    def program() -> None:
        word = Atomic(0)

        def worker() -> None:
            value = word.load()
            while True:
                found = word.compare_swap(value, value + 1)
                if found == value:
                    break
                value = found
            word.add(-1)

        for _ in range(3):
            spawn(worker)

    assert explore(program).verdict == "verified"


# Bounds


def counting(rounds: int) -> Program:
    def program() -> None:
        x = Atomic(0)
        while x.fetch_add(1) < rounds:
            pass

    return program


def test_unroll_bounds_rounds() -> None:
    result = explore(counting(2), unroll=2)
    assert (result.verdict, result.complete, result.blocked) == ("bounded", 0, 1)
    assert result.bound == "unroll=2"
    result = explore(counting(2), unroll=3)
    assert (result.verdict, result.complete, result.bound) == ("verified", 1, "")


def test_unroll_bounds_loops_over_iterators_but_not_over_what_has_a_length() -> None:
    def endless() -> None:
        x = Atomic(0)
        for _ in itertools.count():
            x.add(1)

    def short() -> None:
        x = Atomic(0)
        for number in [1, 2, 3]:
            x.add(number)
        for number in range(3):
            x.add(number)

    assert explore(endless, unroll=3).verdict == "bounded"
    assert explore(short, unroll=2).verdict == "verified"


def test_unroll_counts_rounds_with_steps_only() -> None:
    def program() -> int:
        x = Atomic(0)
        number = 0
        while number < 10:
            number += 1
        return x.load()

    assert explore(program, unroll=2).verdict == "verified"


def test_a_failure_within_the_bound() -> None:
    def program() -> None:
        x = Atomic(0)
        while True:
            assert x.fetch_add(1) < 2

    assert explore(program, unroll=2).verdict == "bounded"
    result = explore(program, unroll=3)
    assert result.verdict == "failed"
    assert replay(program, result.failures[0].schedule.to_json()).kind == "exception"


def test_a_bounded_check_passes() -> None:
    assert check(counting(5), unroll=2).verdict == "bounded"


@pytest.mark.parametrize("bound", [0, -1, 2.5, True])
def test_bounds_that_are_none(bound: Any) -> None:
    with pytest.raises(MazurkaError, match="unroll must be a whole number, at least 1"):
        explore(counting(1), unroll=bound)


def test_unroll_needs_the_loops() -> None:
    with pytest.raises(MazurkaError, match="leave out instrument=None"):
        explore(counting(1), unroll=2, instrument=None)


def test_an_async_loop_is_bounded_but_never_cut() -> None:
    import asyncio

    async def program() -> None:
        flag = Atomic(0)
        while flag.load() == 0:
            await asyncio.sleep(0)

    assert explore(program, unroll=3).verdict == "bounded"


# Generated programs


@pytest.mark.slow
@pytest.mark.parametrize("batch", range(max(PROGRAMS // 100, 1)))
def test_generated_programs_keep_their_behaviour(batch: int) -> None:
    """50 programs each; those that are too large for the oracle do not count."""
    compared = 0
    for seed in range(1000 * batch, 1000 * batch + 80):
        algorithm = ("pop", "optimal", "source", "trust", "qpor")[seed % 5]
        found = difference(WaitingProgram(seed), algorithm, most=150)
        assert not found, f"program {seed}, {algorithm}: {found}"
        compared += found is None
        if compared == 50:
            return
    raise AssertionError("too many programs are too large")

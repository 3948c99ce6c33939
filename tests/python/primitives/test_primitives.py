"""Synchronisation objects: like their namesakes in one thread, and right between threads."""

import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka import Atomic, explore, spawn
from mazurka.engine.operation import NOTIFY
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.explore.optimal import OptimalDpor
from mazurka.python.program import PythonProgram
from tests.oracles.checks import check_by_hand

# Scripts for one thread: each gives what it saw. They run with `threading`'s objects and with ours.


def lock_script(module: Any) -> Any:
    lock = module.Lock()
    seen = [lock.acquire(), lock.locked(), lock.acquire(False), lock.acquire(timeout=0)]
    lock.release()
    seen.append(lock.locked())
    with lock:
        seen.append(lock.locked())
    seen += [error(lock.release), error(lock.acquire, False, 1), error(lock.acquire, True, -2)]
    return seen


def rlock_script(module: Any) -> Any:
    lock = module.RLock()
    seen = [lock.acquire(), lock.acquire(), lock.acquire(blocking=False), lock.acquire(timeout=1)]
    for _ in range(4):
        lock.release()
    return [*seen, error(lock.release), error(lock.acquire, False, 1)]


def condition_script(module: Any) -> Any:
    condition = module.Condition()
    seen = [error(condition.wait), error(condition.notify), error(condition.notify_all)]
    with condition:
        condition.notify()
        condition.notify_all()
        seen += [condition.wait(0.001), condition.wait(0)]
        seen += [condition.wait_for(lambda: 7), condition.wait_for(lambda: 0, timeout=0.001)]
    plain = module.Condition(module.Lock())
    with plain:
        seen.append(plain.wait(0.001))
    return seen


def semaphore_script(module: Any) -> Any:
    semaphore = module.Semaphore(2)
    seen = [semaphore.acquire(), semaphore.acquire(False), semaphore.acquire(False)]
    semaphore.release(2)
    with semaphore:
        seen.append(semaphore.acquire(timeout=0.001))
        seen.append(semaphore.acquire(timeout=0.001))
    seen += [error(semaphore.release, 0), error(module.Semaphore, -1)]
    return [*seen, error(semaphore.acquire, False, 1)]


def bounded_semaphore_script(module: Any) -> Any:
    semaphore = module.BoundedSemaphore()
    with semaphore:
        seen: list[Any] = [semaphore.acquire(False)]
    return [*seen, error(semaphore.release), error(semaphore.release, 0)]


def event_script(module: Any) -> Any:
    event = module.Event()
    seen = [event.is_set(), event.wait(0.001)]
    event.set()
    seen += [event.is_set(), event.wait(), event.wait(1)]
    event.clear()
    return [*seen, event.is_set()]


def barrier_script(module: Any) -> Any:
    barrier = module.Barrier(1, action=lambda: None)
    seen = [barrier.wait(), barrier.n_waiting, barrier.parties, barrier.broken]
    barrier.abort()
    seen += [barrier.broken, error(barrier.wait)]
    barrier.reset()
    seen += [barrier.broken, barrier.wait()]
    lonely = module.Barrier(2)
    seen += [error(lonely.wait, 0.001), lonely.broken]
    failing = module.Barrier(1, lambda: 1 // 0)
    return [*seen, error(failing.wait), failing.broken]


def queue_script(module: Any) -> Any:
    items = module.Queue(2)
    seen = [items.empty(), items.full(), error(items.get_nowait), error(items.get, True, 0.001)]
    items.put("a")
    items.put_nowait("b")
    seen += [items.qsize(), items.full(), error(items.put_nowait, 1), error(items.put, 1, True, 0)]
    seen += [items.get(), items.get_nowait(), items.qsize()]
    seen += [error(items.put, 1, True, -1), error(items.get, True, -1)]
    items.task_done()
    items.task_done()
    seen.append(error(items.task_done))
    items.join()
    return seen


def error(function: Callable[..., Any], *arguments: Any) -> Any:
    """The type of what a call raises, and the text where it says something."""
    try:
        return function(*arguments)
    except (ValueError, RuntimeError, queue.Empty, queue.Full, ZeroDivisionError) as problem:
        return type(problem).__name__


@pytest.mark.parametrize(
    "script",
    [
        lock_script,
        rlock_script,
        condition_script,
        semaphore_script,
        bounded_semaphore_script,
        event_script,
        barrier_script,
    ],
)
def test_like_its_namesake(script: Callable[[Any], Any]) -> None:
    result = explore(lambda: script(mazurka))
    assert list(result.outcomes) == [repr(script(threading))], result.failures


def test_queue_like_its_namesake() -> None:
    result = explore(lambda: queue_script(mazurka))
    assert list(result.outcomes) == [repr(queue_script(queue))], result.failures


def test_mutual_exclusion() -> None:
    def program(lock_type: Any) -> Callable[[], Any]:
        def run() -> Any:
            lock, counter = lock_type(), Atomic(0)

            def increment() -> None:
                with lock:
                    counter.store(counter.load() + 1)

            threads = [spawn(increment) for _ in range(3)]
            for thread in threads:
                thread.join()
            return counter.load()

        return run

    for lock_type in (mazurka.Lock, mazurka.RLock, mazurka.Semaphore, mazurka.BoundedSemaphore):
        result = explore(program(lock_type))
        assert (result.verdict, result.executions) == ("verified", 6)
        assert result.outcomes == {3: 6}


def test_only_the_outermost_calls_of_an_rlock_are_visible() -> None:
    def program() -> None:
        lock = mazurka.RLock()

        def nested() -> None:
            with lock, lock, lock:
                pass

        spawn(nested)
        lock.acquire(blocking=False)

    result = explore(program, stop_on_failure=False)
    assert result.executions == 3  # the attempt comes before, while or after it is held


def test_a_timed_acquisition_explores_both_ends() -> None:
    def program() -> Any:
        lock = mazurka.Lock()

        def holder() -> None:
            with lock:
                pass

        spawn(holder)
        return lock.acquire(timeout=5)

    result = explore(program, stop_on_failure=False)
    assert set(result.outcomes) == {True, False}


def test_condition_hand_over() -> None:
    def program() -> Any:
        condition = mazurka.Condition()
        box: list[int] = []

        def producer() -> None:
            with condition:
                box.append(1)
                condition.notify()

        spawn(producer)
        with condition:
            while not box:
                condition.wait()
            return box.pop()

    result = explore(program)
    assert (result.verdict, result.executions, result.outcomes) == ("verified", 2, {1: 2})


def test_lost_notification_is_a_deadlock() -> None:
    def program() -> None:
        condition = mazurka.Condition()

        def notifier() -> None:
            with condition:
                condition.notify()

        spawn(notifier)
        with condition:
            condition.wait()

    failure = explore(program).failures[0]
    assert failure.kind == "deadlock"
    assert "waits for a notification on condition" in failure.details[0]


def test_notifications_wake_in_order() -> None:
    def program() -> Any:
        condition = mazurka.Condition()
        order: list[int] = []
        arrived = [mazurka.Event(), mazurka.Event()]

        def waiter(number: int) -> None:
            with condition:
                arrived[number].set()
                condition.wait()
                order.append(number)

        threads = []
        for number in range(2):
            threads.append(spawn(waiter, number))
            arrived[number].wait()
        for _ in range(2):
            with condition:
                condition.notify()
        for thread in threads:
            thread.join()
        return tuple(sorted(order))

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {(0, 1)}


def test_a_timed_out_waiter_can_take_a_notification_along() -> None:
    """As in CPython: it leaves the queue only after it has got the lock back."""

    def program() -> Any:
        condition = mazurka.Condition()
        notified = mazurka.Atomic(0)

        def notifier() -> None:
            with condition:
                condition.notify()
                notified.store(1)

        with condition:
            spawn(notifier)
            woken = condition.wait(1)
            return woken, notified.load()

    assert set(explore(program).outcomes) == {(True, 1), (False, 1), (False, 0)}


def test_event_and_semaphore_signal() -> None:
    def program() -> Any:
        event, semaphore, data = mazurka.Event(), mazurka.Semaphore(0), Atomic(0)

        def first() -> None:
            data.store(1)
            event.set()

        def second() -> None:
            event.wait()
            data.store(data.load() + 1)
            semaphore.release()

        spawn(first)
        spawn(second)
        semaphore.acquire()
        return data.load()

    result = explore(program)
    assert (result.verdict, result.executions, result.outcomes) == ("verified", 1, {2: 1})


def test_releases_of_a_semaphore_commute() -> None:
    def program() -> None:
        semaphore = mazurka.Semaphore(0)
        for _ in range(3):
            spawn(semaphore.release)
        for _ in range(3):
            semaphore.acquire()

    result = explore(program)
    assert result.verdict == "verified"
    assert explore(program, independent_adds=False).executions > result.executions


def test_barrier_rounds() -> None:
    def program() -> Any:
        log: list[str] = []
        barrier = mazurka.Barrier(2, action=lambda: log.append("together"))

        def walker() -> int:
            return barrier.wait() + barrier.wait()

        thread = spawn(walker)
        mine = walker()
        return mine + thread.join(), tuple(log)

    result = explore(program)
    assert result.verdict == "verified"
    assert result.executions == 4  # who comes last in each of the rounds
    assert set(result.outcomes) == {(2, ("together", "together"))}


def test_values_of_a_barrier_are_functions_of_what_was_done_to_it() -> None:
    """Nothing in them belongs to one execution: so executions can be computed."""

    def program() -> None:
        barrier = mazurka.Barrier(2)
        spawn(error, barrier.wait, 1)
        thread = spawn(error, barrier.wait)
        barrier.reset()
        barrier.abort()
        thread.join()

    latest: dict[tuple[Any, ...], object] = {}  # by the location and all that was done to it

    def observe(program: EngineProgram) -> None:
        done: dict[int, tuple[Any, ...]] = {}
        for event in program.events:
            if event.location < 0:
                continue
            step = event.thread, event.kind, event.first if event.kind == NOTIFY else None
            done[event.location] = (*done.get(event.location, ()), step)
            key = event.location, done[event.location]
            assert latest.setdefault(key, event.after) == event.after
            assert program.values.apply(event, event.before)[1] == event.after

    with check_by_hand() as check:
        front_end = PythonProgram(check, program)
        assert OptimalDpor(Search(front_end, Result(), True, None, None, None, observe)).explore()
    assert len(latest) > 20


def test_barrier_that_times_out_breaks_for_all() -> None:
    def program() -> Any:
        barrier = mazurka.Barrier(2)

        def come(timeout: float | None) -> Any:
            return error(barrier.wait, timeout)

        thread = spawn(come, None)
        mine = come(1)
        return mine, thread.join()

    assert set(explore(program).outcomes) == {
        (0, 1),
        (1, 0),
        ("BrokenBarrierError", "BrokenBarrierError"),
    }


def test_barrier_aborted_before_all_have_left() -> None:
    def program() -> Any:
        barrier = mazurka.Barrier(2)
        thread = spawn(error, barrier.wait)
        mine = error(barrier.wait)
        barrier.abort()
        return mine, thread.join()

    # Whoever comes last lets the other one through, and does not wait.
    assert set(explore(program).outcomes) == {(0, 1), (1, 0), (1, "BrokenBarrierError")}


def test_barrier_made_outside() -> None:
    barrier = mazurka.Barrier(2)

    def program() -> None:
        barrier.reset()
        barrier.wait()

    for _ in range(2):
        assert explore(program).failures[0].details[0].startswith("program waits at barrier, at")


def test_a_condition_asks_whether_its_lock_is_held_by_anyone() -> None:
    def program() -> Any:
        lock = mazurka.Lock()
        condition = mazurka.Condition(lock)
        lock.acquire()
        thread = spawn(lock.release)
        result = error(condition.notify)
        thread.join()
        return result

    assert set(explore(program).outcomes) == {None, "RuntimeError"}


def test_numbers_as_flags() -> None:
    def program() -> Any:
        lock, semaphore = mazurka.Lock(), mazurka.Semaphore(0)
        return lock.acquire(1), lock.acquire(0), semaphore.acquire(0), error(mazurka.Queue().get, 0)

    assert set(explore(program).outcomes) == {(True, False, False, "Empty")}


def test_bounded_queue() -> None:
    def program() -> Any:
        items = mazurka.Queue(1)

        def producer() -> None:
            for number in range(3):
                items.put(number)

        spawn(producer)
        return tuple(items.get() for _ in range(3))

    result = explore(program)
    assert (result.verdict, result.outcomes) == ("verified", {(0, 1, 2): result.executions})


def test_queue_join_waits_for_the_work() -> None:
    def program() -> Any:
        items, done = mazurka.Queue(), Atomic(0)

        def worker() -> None:
            while items.get() is not None:
                done.fetch_add(1)
                items.task_done()

        items.put("a")
        items.put("b")
        spawn(worker)
        spawn(worker)
        items.join()
        finished = done.load()
        items.put(None)
        items.put(None)
        return finished

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {2})


def test_queue_shutdown_wakes_everybody() -> None:
    def program() -> Any:
        full, empty = mazurka.Queue(1), mazurka.Queue()
        full.put(1)

        def shut_down(function: Callable[[], Any]) -> bool:
            try:
                function()
            except mazurka.ShutDown:
                return True
            return False

        threads = [spawn(shut_down, lambda: full.put(2)), spawn(shut_down, empty.get)]
        full.shutdown()
        empty.shutdown(immediate=True)
        seen = [thread.join() for thread in threads]
        return (*seen, full.get(), shut_down(full.get), shut_down(lambda: full.put(3)))

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {(True, True, 1, True, True)})


def test_a_queue_may_say_what_its_items_are() -> None:
    def program() -> int:
        items = mazurka.Queue[int]()
        spawn(items.put, 3)
        return items.get()

    assert explore(program).outcomes == {3: 1}

"""Programs that use the standard library's threads, locks, queues, executors, clocks and chance."""

import _thread
import itertools
import os
import queue
import random
import secrets
import sys
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable
from concurrent import futures
from contextlib import suppress
from itertools import permutations
from random import randrange, shuffle
from typing import Any

import pytest

import mazurka
from mazurka import Atomic, explore
from mazurka.python.library import REPLACEMENTS, local_namespace, steered
from tests.python.threads import both

ALGORITHMS = ("pop", "optimal", "qpor", "source", "naive")


def outcomes(program: Callable[[], object], **options: Any) -> set[Any]:
    """All that a program can return; twice, since a check must leave nothing behind."""
    first = explore(program, **options)
    assert first.verdict == "verified", first.failures[0].message if first.failures else first
    second = explore(program, **options)
    assert (first.executions, first.outcomes) == (second.executions, second.outcomes)
    return set(first.outcomes)


def executions(program: Callable[[], object]) -> int:
    outcomes(program)
    return explore(program).executions


def only_failure(program: Callable[[], object], **options: Any) -> mazurka.Failure:
    result = explore(program, **options)
    assert result.verdict == "failed"
    failure = result.failures[0]
    again = mazurka.replay(program, failure.schedule)
    assert (again.kind, again.message) == (failure.kind, failure.message)
    return failure


def run(*functions: Callable[[], object]) -> None:
    """Run functions in threads, to their end."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def drained(results: Any) -> tuple[Any, ...]:
    return tuple(results.get() for _ in range(results.qsize()))


# Threads


def test_starts_and_joins() -> None:
    def program() -> object:
        results: queue.Queue[int] = queue.Queue()
        run(lambda: results.put(1), lambda: results.put(2))
        return drained(results)

    assert outcomes(program) == {(1, 2), (2, 1)}
    assert executions(program) == 2  # the ends of threads are nobody's business


def test_subclass_of_thread() -> None:
    class Adder(threading.Thread):
        def __init__(self, total: Atomic[int], amount: int) -> None:
            super().__init__(name=f"adds {amount}")
            self.total = total
            self.amount = amount

        def run(self) -> None:
            self.total.store(self.total.load() + self.amount)

    def program() -> object:
        total = Atomic(0)
        adders = [Adder(total, 1), Adder(total, 10)]
        for adder in adders:
            adder.start()
        for adder in adders:
            adder.join()
        return total.load(), adders[0].name

    assert outcomes(program) == {(11, "adds 1"), (1, "adds 1"), (10, "adds 1")}


def test_names_and_identities() -> None:
    def program() -> object:
        seen: queue.Queue[Any] = queue.Queue()

        def look() -> None:
            thread = threading.current_thread()
            assert thread.ident == threading.get_ident() == _thread.get_ident()
            assert thread.native_id == threading.get_native_id()
            seen.put((thread.name, thread.ident))

        def nested() -> None:
            run(look)
            look()

        threads = [threading.Thread(target=nested), threading.Thread(target=look, name="mine")]
        assert threads[0].ident is None
        for thread in threads:
            thread.start()
        assert threads[0].ident != threads[1].ident
        for thread in threads:
            thread.join()
        main = threading.main_thread()
        assert threading.current_thread() is main
        assert main.ident == threading.get_ident()
        identities = {identity for _, identity in list(seen.queue)}
        assert len(identities) == 3
        return frozenset(name for name, _ in drained(seen))

    expected = frozenset({"Thread-1 (nested)", "Thread-1.1 (look)", "mine"})
    assert outcomes(program) == {expected}


def test_wrong_uses_of_threads() -> None:
    def program() -> object:
        thread = threading.Thread(target=lambda: None)
        with pytest.raises(RuntimeError, match="before it is started"):
            thread.join()
        thread.start()
        with pytest.raises(RuntimeError, match="only be started once"):
            thread.start()
        with pytest.raises(RuntimeError, match="daemon status"):
            thread.daemon = True
        thread.join()
        with pytest.raises(RuntimeError, match="join current thread"):
            threading.current_thread().join()
        assert "stopped" in repr(thread)

        class Unready(threading.Thread):
            def __init__(self) -> None:
                pass

        with pytest.raises(RuntimeError, match="not called"):
            Unready().start()
        return "done"

    assert outcomes(program) == {"done"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_is_alive(algorithm: str) -> None:
    def program() -> object:
        cell = Atomic(0)
        thread = threading.Thread(target=cell.store, args=(1,))
        seen: list[int] = [thread.is_alive()]
        thread.start()
        seen += [thread.is_alive(), cell.load()]
        thread.join()
        return (*seen, thread.is_alive())

    # Once the thread is over, its store is seen.
    assert outcomes(program, algorithm=algorithm) == {
        (False, True, 0, False),
        (False, True, 1, False),
        (False, False, 1, False),
    }


def test_join_with_a_timeout() -> None:
    def program() -> object:
        cell = Atomic(0)
        thread = threading.Thread(target=cell.store, args=(1,))
        thread.start()
        thread.join(0.5)
        return cell.load(), thread.is_alive()

    # After a time-out, it may still do any of its steps before the two questions.
    assert outcomes(program) == {(1, False), (0, True), (1, True), (0, False)}


def test_threads_started_by_threads() -> None:
    def program() -> object:
        results: queue.Queue[str] = queue.Queue()

        def parent() -> None:
            child = threading.Thread(target=results.put, args=("child",))
            child.start()
            results.put("parent")
            child.join()

        run(parent)
        return drained(results)

    assert outcomes(program) == {("parent", "child"), ("child", "parent")}


def test_enumerate() -> None:
    def program() -> object:
        gate = threading.Event()
        thread = threading.Thread(target=gate.wait, name="waits")
        before = threading.active_count()
        thread.start()
        names = [thread.name for thread in threading.enumerate()]
        gate.set()
        thread.join()
        return before, tuple(names[1:]), threading.active_count()

    assert outcomes(program) == {(1, ("waits",), 1)}


def test_start_new_thread() -> None:
    def program() -> object:
        results: queue.Queue[Any] = queue.Queue()

        def put(value: int, *, last: bool) -> None:
            results.put((value, last, threading.current_thread().daemon))
            sys.exit()

        identity = _thread.start_new_thread(put, (1,), {"last": True})
        assert identity != threading.get_ident()
        return results.get()

    assert outcomes(program) == {(1, True, True)}


def test_an_exception_in_a_thread() -> None:
    def breaks() -> None:
        raise KeyError("lost")

    def program() -> None:
        run(breaks)

    failure = only_failure(program)
    assert failure.kind == "exception"
    assert failure.message == "KeyError: 'lost'"
    assert failure.thread == "Thread-1 (breaks)"
    assert 'raise KeyError("lost")' in failure.details[0]


def test_the_users_excepthook() -> None:
    before = threading.excepthook

    def program() -> object:
        caught: queue.Queue[str] = queue.Queue()

        def hook(arguments: Any) -> None:
            caught.put(f"{arguments.exc_type.__name__} in {arguments.thread.name}")

        def breaks() -> None:
            raise KeyError("lost")

        threading.excepthook = hook
        run(breaks, lambda: sys.exit(3))
        return drained(caught)

    assert outcomes(program) == {("KeyError in Thread-1 (breaks)",)}
    assert threading.excepthook is before


def test_daemon_threads_may_wait_for_ever() -> None:
    def serve(requests: queue.Queue[int], answers: queue.Queue[int]) -> None:
        while True:
            answers.put(requests.get() + 1)

    def program(daemon: bool) -> object:
        requests: queue.Queue[int] = queue.Queue()
        answers: queue.Queue[int] = queue.Queue()
        threading.Thread(target=serve, args=(requests, answers), daemon=daemon).start()
        requests.put(1)
        return answers.get()

    assert outcomes(lambda: program(True)) == {2}
    assert only_failure(lambda: program(False)).kind == "deadlock"


def test_a_daemon_thread_is_still_explored() -> None:
    """Whether it gets the lock first matters, though it waits for ever in the end."""

    def program() -> object:
        lock = threading.Lock()
        results: queue.Queue[str] = queue.Queue()

        def first() -> None:
            with lock:
                results.put("daemon")
                threading.Event().wait()

        threading.Thread(target=first, daemon=True).start()
        if lock.acquire(timeout=1):
            return "main", results.qsize()
        return results.get(), 0

    assert outcomes(program) == {("main", 0), ("daemon", 0)}


def test_a_thread_made_outside() -> None:
    done: queue.Queue[int] = queue.Queue()
    thread = threading.Thread(target=lambda: done.put(5))

    def program() -> object:
        assert not thread.is_alive()
        thread.start()
        thread.join()
        return done.get()

    assert outcomes(program) == {5}
    thread.start()
    thread.join()
    assert done.get() == 5


def test_timer() -> None:
    def program() -> object:
        fired: queue.Queue[str] = queue.Queue()
        timer = threading.Timer(5, fired.put, ("fired",))
        timer.start()
        fired.put("before")
        timer.cancel()
        timer.join()
        return drained(fired)

    assert outcomes(program) == {("before",), ("before", "fired"), ("fired", "before")}


# Locks


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("name", ["Lock", "RLock", "Semaphore", "Condition"])
def test_mutual_exclusion(name: str, algorithm: str) -> None:
    def program() -> object:
        lock = getattr(threading, name)()
        total = Atomic(0)

        def add(amount: int) -> None:
            with lock:
                total.store(total.load() * 2 + amount)

        run(lambda: add(1), lambda: add(2))
        return total.load()

    assert outcomes(program, algorithm=algorithm) == {4, 5}
    assert explore(program, algorithm="pop").executions == 2


def test_deadlock_by_the_order_of_locks() -> None:
    def program() -> None:
        first = threading.Lock()
        second = threading.Lock()

        def forwards() -> None:
            with first, second:
                pass

        def backwards() -> None:
            with second, first:
                pass

        run(forwards, backwards)

    failure = only_failure(program)
    assert failure.kind == "deadlock"
    text = "\n".join(failure.details)
    assert "Thread-1 (forwards) waits to acquire second, held by Thread-2 (backwards)" in text
    assert "Thread-2 (backwards) waits to acquire first, held by Thread-1 (forwards)" in text
    assert "with second, first:" in text


def test_lock_with_a_timeout() -> None:
    def program() -> object:
        lock = threading.Lock()
        holding = threading.Event()

        def hold() -> None:
            with lock:
                holding.set()

        threading.Thread(target=hold).start()
        holding.wait()
        return lock.acquire(timeout=3), lock.locked()

    assert outcomes(program) == {(True, True), (False, True), (False, False)}


def test_instances_of_lock() -> None:
    outer = threading.Lock()

    def program() -> object:
        lock = threading.Lock()
        assert isinstance(lock, threading.Lock)
        assert isinstance(outer, threading.Lock)
        assert not isinstance(threading.RLock(), threading.Lock)
        return isinstance(threading.Event(), threading.Event)

    assert outcomes(program) == {True}


def test_reentrant_lock_and_its_private_methods() -> None:
    def program() -> object:
        lock: Any = threading.RLock()
        lock.acquire()
        lock.acquire()
        owned = lock._is_owned()
        saved = lock._release_save()
        free = lock._is_owned()
        lock._acquire_restore(saved)
        lock.release()
        lock.release()
        with pytest.raises(RuntimeError):
            lock.release()
        return owned, free

    assert outcomes(program) == {(True, False)}


# Conditions


@pytest.mark.parametrize("waiter_first", [True, False])
def test_lost_wake_up(waiter_first: bool) -> None:
    def program() -> None:
        condition = threading.Condition()

        def wait() -> None:
            with condition:
                condition.wait()

        def notify() -> None:
            with condition:
                condition.notify()

        run(*((wait, notify) if waiter_first else (notify, wait)))

    failure = only_failure(program)
    assert failure.kind == "deadlock"
    assert any("(wait) waits for a notification on condition" in line for line in failure.details)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("guard", ["if", "while"])
def test_if_instead_of_while_around_wait(guard: str, order: tuple[int, ...]) -> None:
    def program() -> None:
        condition = threading.Condition(threading.Lock())
        items: queue.Queue[int] = queue.Queue()

        def take() -> None:
            with condition:
                if guard == "if":
                    if items.empty():
                        condition.wait()
                else:
                    while items.empty():
                        condition.wait()
                items.get_nowait()

        def give() -> None:
            for item in range(2):
                with condition:
                    items.put(item)
                    condition.notify()

        functions = [take, take, give]
        run(*[functions[place] for place in order])

    if guard == "while":
        assert outcomes(program) == {None}
    else:
        failure = only_failure(program)
        assert failure.kind == "exception"
        assert failure.message.startswith("Empty")


def test_wait_with_a_timeout_and_wait_for() -> None:
    def program() -> object:
        condition = threading.Condition()
        ready = Atomic(False)

        def make_ready() -> None:
            with condition:
                ready.store(True)
                condition.notify_all()

        threading.Thread(target=make_ready).start()
        with condition:
            return condition.wait_for(ready.load, timeout=5), condition.wait(0)

    # The last one: it is notified only after the first wait has timed out.
    assert outcomes(program) == {(True, False), (False, False), (False, True)}


def test_condition_on_a_lock_of_the_users() -> None:
    class Logged:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def acquire(self, *arguments: Any) -> bool:
            return self.lock.acquire(*arguments)

        def release(self) -> None:
            self.lock.release()

        def __enter__(self) -> bool:
            return self.acquire()

        def __exit__(self, *_: object) -> None:
            self.release()

    def program() -> object:
        lock: Any = Logged()
        condition = threading.Condition(lock)
        ready = Atomic(False)

        def make_ready() -> None:
            with condition:
                ready.store(True)
                condition.notify()

        threading.Thread(target=make_ready).start()
        with condition:
            return condition.wait_for(ready.load)

    assert outcomes(program) == {True}


# Semaphores, events, barriers


def test_semaphore() -> None:
    def program() -> object:
        semaphore = threading.BoundedSemaphore(2)
        inside = Atomic(0)
        most: queue.Queue[int] = queue.Queue()

        def visit() -> None:
            with semaphore:
                most.put(inside.fetch_add(1) + 1)
                inside.add(-1)

        run(visit, visit, visit)
        with pytest.raises(ValueError, match="too many times"):
            semaphore.release()
        return max(drained(most))

    assert outcomes(program) == {1, 2}


def test_event() -> None:
    class Flag(threading.Event):
        pass

    def program() -> object:
        flag = Flag()
        run_later = threading.Thread(target=flag.set)
        run_later.start()
        seen = flag.is_set(), flag.wait(timeout=1)
        flag.wait()
        assert repr(flag).endswith(": set>")
        return seen

    assert outcomes(program) == {(False, False), (False, True), (True, True)}


def test_barrier() -> None:
    def program() -> object:
        acted: queue.Queue[str] = queue.Queue()
        barrier = threading.Barrier(2, action=lambda: acted.put("action"))
        places: queue.Queue[int] = queue.Queue()

        def meet() -> None:
            places.put(barrier.wait())

        run(meet, meet)
        assert (barrier.parties, barrier.n_waiting, barrier.broken) == (2, 0, False)
        assert drained(acted) == ("action",)
        return drained(places)

    assert outcomes(program) == {(0, 1), (1, 0)}


# Queues


def test_put_put_get() -> None:
    def program() -> object:
        items: queue.Queue[int] = queue.Queue(1)
        putters = [threading.Thread(target=items.put, args=(item,)) for item in (1, 2)]
        for putter in putters:
            putter.start()
        got = items.get(), items.get()
        items.task_done()
        items.task_done()
        items.join()
        return got

    assert outcomes(program) == {(1, 2), (2, 1)}


def test_get_nowait() -> None:
    def program() -> object:
        items: queue.Queue[int] = queue.Queue()
        threading.Thread(target=items.put, args=(1,)).start()
        try:
            return items.get_nowait()
        except queue.Empty:
            return "empty", items.qsize()

    assert outcomes(program) == {1, ("empty", 0), ("empty", 1)}


def test_queue_with_a_timeout() -> None:
    def program() -> object:
        items: queue.Queue[int] = queue.Queue(1)
        items.put(1)
        threading.Thread(target=items.get).start()
        try:
            items.put(2, timeout=10)
        except queue.Full:
            return "full"
        return "put"

    assert outcomes(program) == {"full", "put"}


def test_last_in_first_out() -> None:
    def program() -> object:
        items: queue.LifoQueue[int] = queue.LifoQueue()
        run(lambda: items.put(1), lambda: items.put(2))
        assert items.queue[-1] in (1, 2)
        return items.get(), items.get()

    assert outcomes(program) == {(1, 2), (2, 1)}


class Job:
    """Compares by its priority alone."""

    def __init__(self, priority: int, name: str) -> None:
        self.priority = priority
        self.name = name

    def __lt__(self, other: "Job") -> bool:
        return self.priority < other.priority


def test_priorities() -> None:
    jobs = [(1, "a"), (0, "b"), (1, "c"), (0, "d"), (1, "e"), (0, "f")]

    def script() -> object:
        items: queue.PriorityQueue[Job] = queue.PriorityQueue()
        for priority, name in jobs:
            items.put(Job(priority, name))
        return tuple(items.get().name for _ in jobs)

    assert outcomes(script) == {script()}


def test_priorities_that_cannot_be_compared() -> None:
    def script() -> object:
        items: queue.PriorityQueue[Any] = queue.PriorityQueue()
        items.put(1)
        with pytest.raises(TypeError):
            items.put("one")
        return items.qsize(), items.unfinished_tasks

    assert outcomes(script) == {script()}


@pytest.mark.skipif(not hasattr(queue.Queue, "shutdown"), reason="queues cannot be shut down yet")
def test_shutdown() -> None:
    def program() -> object:
        items: queue.Queue[int] = queue.Queue()
        seen: queue.Queue[Any] = queue.Queue()

        def consume() -> None:
            try:
                while True:
                    seen.put(items.get())
            except mazurka.ShutDown:
                seen.put("over")

        thread = threading.Thread(target=consume)
        thread.start()
        items.put(1)
        shut_down: Any = items
        shut_down.shutdown()
        assert shut_down.is_shutdown
        thread.join()
        return drained(seen)

    assert outcomes(program) == {(1, "over")}


def test_a_queue_with_hooks_of_its_own() -> None:
    class Unique(queue.Queue[int]):
        """Holds each item once, in order."""

        def _init(self, maxsize: int) -> None:
            self.items: list[int] = []

        def _qsize(self) -> int:
            return len(self.items)

        def _put(self, item: int) -> None:
            if item not in self.items:
                self.items.append(item)

        def _get(self) -> int:
            return self.items.pop(0)

    def program() -> object:
        items = Unique()
        threads = [threading.Thread(target=items.put, args=(item,)) for item in (1, 2)]
        for thread in threads:
            thread.start()
        got = items.get(), items.get()
        return got, items.empty()

    assert outcomes(program) == {((1, 2), True), ((2, 1), True)}


def test_the_mutex_of_a_queue_is_refused() -> None:
    def program() -> None:
        with queue.Queue().mutex:
            pass

    with pytest.raises(mazurka.MazurkaError, match="the mutex of a queue"):
        explore(program)


def test_simple_queue() -> None:
    def program() -> object:
        items: queue.SimpleQueue[int] = queue.SimpleQueue()
        run(lambda: items.put(1), lambda: items.put(2))
        assert isinstance(items, queue.SimpleQueue)
        return items.get(), items.get_nowait(), items.empty()

    assert outcomes(program) == {(1, 2, True), (2, 1, True)}


# Executors


def square(number: int) -> int:
    return number * number


def test_submit_and_results() -> None:
    def program() -> object:
        with futures.ThreadPoolExecutor(2) as executor:
            submitted = [executor.submit(square, number) for number in (2, 3)]
            return tuple(future.result() for future in submitted)

    assert outcomes(program) == {(4, 9)}


def test_map() -> None:
    def program() -> object:
        with futures.ThreadPoolExecutor(1) as executor:
            return tuple(executor.map(square, [1, 2]))

    assert outcomes(program) == {(1, 4)}


def test_as_completed() -> None:
    def program() -> object:
        with futures.ThreadPoolExecutor(2) as executor:
            submitted = [executor.submit(square, number) for number in (2, 3)]
            return tuple(future.result() for future in futures.as_completed(submitted))

    assert outcomes(program) == {(4, 9), (9, 4)}


def test_wait_for_the_first() -> None:
    def program() -> object:
        with futures.ThreadPoolExecutor(2) as executor:
            submitted = [executor.submit(square, number) for number in (2, 3)]
            done, _ = futures.wait(submitted, return_when=futures.FIRST_COMPLETED)
            return frozenset(future.result() for future in done)

    assert outcomes(program) == {frozenset({4}), frozenset({9}), frozenset({4, 9})}


def test_callbacks_and_exceptions() -> None:
    def program() -> object:
        called: queue.Queue[Any] = queue.Queue()

        def divide() -> float:
            return 1 / 0

        with futures.ThreadPoolExecutor(1) as executor:
            future = executor.submit(divide)
            future.add_done_callback(
                lambda future: called.put((future.done(), threading.current_thread().name))
            )
        assert isinstance(future.exception(), ZeroDivisionError)
        return drained(called)

    assert outcomes(program) == {
        ((True, "ThreadPoolExecutor-0_0"),),
        ((True, "MainThread"),),  # it was done already
    }


def test_result_with_a_timeout() -> None:
    def program() -> object:
        with futures.ThreadPoolExecutor(1) as executor:
            try:
                return executor.submit(square, 3).result(timeout=1)
            except futures.TimeoutError:
                return "late"

    assert outcomes(program) == {9, "late"}


def test_a_forgotten_shutdown_is_no_deadlock() -> None:
    def program() -> object:
        return futures.ThreadPoolExecutor(1).submit(square, 3).result()

    assert outcomes(program) == {9}


def test_a_worker_that_waits_for_its_own_executor() -> None:
    def program() -> None:
        executor = futures.ThreadPoolExecutor(1)

        def outer() -> int:
            return executor.submit(square, 3).result()

        executor.submit(outer)

    assert only_failure(program).kind == "deadlock"


def test_cancelled_futures() -> None:
    def program() -> object:
        with futures.ThreadPoolExecutor(1) as executor:
            executor.submit(square, 1)
            second = executor.submit(square, 2)
            return second.cancel()

    assert outcomes(program) == {True, False}


# Thread-local data


def test_local() -> None:
    def program() -> object:
        class Counted(threading.local):
            kind = "class attribute"

            def __init__(self, start: int) -> None:
                self.count = start

        local = Counted(5)
        local.count += 1
        seen: queue.Queue[Any] = queue.Queue()

        def look() -> None:
            seen.put((local.count, local.kind, sorted(vars(local))))
            local.count = 7
            del local.count
            seen.put(hasattr(local, "count"))

        run(look)
        plain = threading.local()
        plain.x = 1
        return (*drained(seen), local.count, plain.x) == (
            (5, "class attribute", ["count"]),
            False,
            6,
            1,
        )

    assert outcomes(program) == {True}


class RealLocal(threading.local):
    def __init__(self, start: int, *, step: int) -> None:
        self.count = start + step


def test_real_locals() -> None:
    real = RealLocal(1, step=2)
    real.other = "outside"

    def program() -> object:
        seen: queue.Queue[Any] = queue.Queue()

        def namespace() -> dict[str, Any]:
            found = local_namespace(real)
            assert found is not None
            return found

        def look() -> None:
            seen.put(dict(namespace()))

        namespace()["count"] = 9
        run(look)
        assert local_namespace(object()) is None
        return (*drained(seen), dict(namespace())) == (
            {"count": 3},
            {"count": 9, "other": "outside"},
        )

    assert outcomes(program) == {True}
    assert vars(real) == {"count": 3, "other": "outside"}
    assert local_namespace(real) is None


NUMBERS = itertools.count(7)


def test_a_number_is_taken_in_one_step() -> None:
    def program() -> object:
        taken: list[int] = []
        first = threading.Thread(target=lambda: taken.append(next(NUMBERS)))
        first.start()
        mine = next(NUMBERS)
        first.join()
        return mine, taken[0]

    result = mazurka.explore(program)
    assert set(result.outcomes) == {(7, 8), (8, 7)}
    assert result.executions == 2


# Time and chance


def test_sleeps_take_no_time() -> None:
    def program() -> object:
        begin = time.monotonic()
        time.sleep(1000)
        assert time.monotonic() - begin == pytest.approx(1000, abs=0.01)
        with pytest.raises(ValueError):
            time.sleep(-1)
        threading.Event().wait(50)
        assert time.monotonic() - begin == pytest.approx(1050, abs=0.01)
        assert time.monotonic_ns() / 1e9 == pytest.approx(time.monotonic(), abs=0.01)
        assert time.time() == pytest.approx(time.time_ns() / 1e9, abs=0.01)
        return (
            time.time(),
            time.perf_counter(),
            time.ctime(),
            time.strftime("%Y"),
            time.gmtime()[:5],
        )

    assert len(outcomes(program)) == 1


def test_a_deadline_is_met() -> None:
    """A loop that waits for the rest of its time ends: waits that time out let time pass."""

    def program() -> object:
        event = threading.Event()
        deadline = time.monotonic() + 10
        rounds = 0
        while (left := deadline - time.monotonic()) > 0 and not event.wait(left):
            rounds += 1
        return rounds

    assert outcomes(program) == {1}


def test_chance() -> None:
    def program() -> object:
        seen: queue.Queue[Any] = queue.Queue()

        def draw() -> None:
            seen.put(random.random())

        run(draw, draw)
        one, other = drained(seen)
        assert one != other
        generator = random.Random()
        assert generator.random() != random.Random().random()
        drawn = [random.randint(1, 1000), generator.random(), random.sample(range(99), 3)]
        random.seed(5)
        assert random.random() == random.Random(5).random()
        return repr([*drawn, uuid.uuid4(), os.urandom(4), secrets.token_hex(4)])

    state = random.getstate()
    assert len(outcomes(program)) == 1
    assert random.getstate() == state


def test_chance_by_a_name_that_was_imported() -> None:
    def program() -> object:
        return (randrange(1000), shuffle([]), random.random())

    state = random.getstate()
    assert len(outcomes(program)) == 1
    assert random.getstate() == state


# Names that were imported, and objects that were made, before a check


def replaced(function: Any) -> Any:
    return REPLACEMENTS[id(function)]


def test_replacements() -> None:
    names: list[Any] = [
        *(threading.Lock, threading.RLock, _thread.allocate_lock, threading.local),
        *(queue.SimpleQueue, threading.current_thread, threading.get_ident),
        *(_thread.start_new_thread, threading.enumerate, threading.active_count),
        *(time.time, time.monotonic, time.sleep, time.perf_counter_ns, time.localtime),
        *(random.random, random.randint, random.seed, random.shuffle, os.urandom),
    ]
    for name in names:
        assert replaced(name) is not name
    make_lock, wait = replaced(threading.Lock), replaced(time.sleep)
    assert isinstance(make_lock(), type(_thread.allocate_lock()))  # outside executions

    def program() -> object:
        wait(100)
        return isinstance(make_lock(), mazurka.Lock)

    assert outcomes(program) == {True}


LOCK = threading.Lock()
RLOCK = threading.RLock()
SIMPLE: "queue.SimpleQueue[int]" = queue.SimpleQueue()
CONDITION = threading.Condition()
EVENT = threading.Event()
SEMAPHORE = threading.BoundedSemaphore(1)
BARRIER = threading.Barrier(2)
QUEUE: "queue.Queue[int]" = queue.Queue()


@pytest.mark.parametrize("lock", [LOCK, RLOCK])
def test_a_real_lock_from_outside(lock: Any) -> None:
    def program() -> object:
        total = Atomic(0)

        def add(amount: int) -> None:
            with steered(lock):
                total.store(total.load() * 2 + amount)

        run(lambda: add(1), lambda: add(2))
        return total.load()

    assert outcomes(program) == {4, 5}
    assert steered(lock) is lock
    assert lock.acquire(blocking=False)
    lock.release()


def test_a_real_lock_made_in_an_execution() -> None:
    make = threading.Lock

    def program() -> object:
        lock = make()
        total = Atomic(0)
        assert steered(lock) is steered(lock) is not lock

        def add(amount: int) -> None:
            with steered(lock):
                total.store(total.load() * 2 + amount)

        run(lambda: add(1), lambda: add(2))
        return total.load()

    assert outcomes(program, instrument=None) == {4, 5}


def test_objects_from_outside_begin_afresh() -> None:
    SIMPLE.put(3)
    QUEUE.put(4)

    def program() -> object:
        simple = steered(SIMPLE)
        assert (simple.get(), QUEUE.get()) == (3, 4)
        assert not EVENT.is_set()
        assert SEMAPHORE.acquire(blocking=False)
        steered(CONDITION).acquire()
        order: queue.Queue[int] = queue.Queue()

        def signal(number: int) -> None:
            with CONDITION:
                order.put(number)
                CONDITION.notify()
            EVENT.set()
            BARRIER.wait()

        threads = [threading.Thread(target=signal, args=(number,)) for number in (1, 2)]
        for thread in threads:
            thread.start()
        while order.qsize() < 2:
            CONDITION.wait()
        CONDITION.release()
        for thread in threads:
            thread.join()
        QUEUE.put(5)
        return drained(order)

    assert outcomes(program) == {(1, 2), (2, 1)}
    assert (SIMPLE.get(), QUEUE.get(), QUEUE.qsize(), EVENT.is_set()) == (3, 4, 0, False)
    assert CONDITION.acquire(blocking=False)
    CONDITION.release()
    with SEMAPHORE:
        pass


def test_names_of_objects_from_outside() -> None:
    def program() -> None:
        EVENT.wait()

    failure = only_failure(program)
    assert "waits for EVENT" in failure.details[0]


def test_an_object_kept_between_executions() -> None:
    kept: list[threading.Event] = []

    def program() -> None:
        if not kept:
            kept.append(threading.Event())
        kept[0].set()

    assert explore(program).verdict == "verified"  # the list is put back
    with pytest.raises(mazurka.MazurkaError, match="made in one execution is used in another"):
        explore(program, instrument=None)


def test_modules_imported_by_a_program(tmp_path: Any, monkeypatch: Any) -> None:
    """What they make belongs to no execution."""
    (tmp_path / "has_an_event.py").write_text(
        "import threading\nevent = threading.Event()\nlock = threading.Lock()\nwith lock: pass\n"
    )
    monkeypatch.syspath_prepend(tmp_path)

    def program() -> object:
        import has_an_event  # type: ignore[import-not-found]

        threading.Thread(target=has_an_event.event.set).start()
        with steered(has_an_event.lock):
            return has_an_event.event.is_set()

    assert outcomes(program) == {True, False}


def test_other_os_threads_are_left_alone() -> None:
    """Threads that run beside a check use the real things all along."""
    stop = threading.Event()
    counted: Counter[str] = Counter()
    items: queue.Queue[int] = queue.Queue()

    def beside() -> None:
        while not stop.wait(0.001):
            items.put(1)
            counted["got"] += items.get()
            assert isinstance(threading.Lock(), type(LOCK))
            assert threading.current_thread().name == "beside"
            time.sleep(0.001)

    def program() -> object:
        total = Atomic(0)
        run(*[lambda: total.store(total.load() + 1)] * 3)
        return total.load()

    thread = threading.Thread(target=beside, name="beside")
    thread.start()
    assert outcomes(program) == {1, 2, 3}
    while counted["got"] < 5:
        time.sleep(0.01)
    stop.set()
    thread.join()


def test_everything_is_put_back() -> None:
    modules: list[Any] = [threading, _thread, queue, time, random, os]
    classes: list[Any] = [threading.Thread, threading.Condition, threading.Event]
    classes += [queue.Queue, futures.Future, futures.ThreadPoolExecutor, random.Random]
    before = [dict(vars(owner)) for owner in [*modules, *classes]]
    explore(lambda: threading.Event().set())
    assert [dict(vars(owner)) for owner in [*modules, *classes]] == before


@pytest.mark.parametrize(
    ("look", "change", "found"),
    [
        (repr, lambda thread: setattr(thread, "name", "u"), {"(t, initial)", "(u, initial)"}),
        (repr, lambda thread: thread.setName("u"), {"(t, initial)", "(u, initial)"}),
        (lambda thread: thread.getName(), lambda thread: setattr(thread, "name", "u"), {"t", "u"}),
        (
            lambda thread: thread.isDaemon(),
            lambda thread: setattr(thread, "daemon", True),
            {"False", "True"},
        ),
        (
            lambda thread: thread.setDaemon(True),
            lambda thread: setattr(thread, "daemon", False),
            {"None True", "None False"},
        ),
    ],
)
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_the_name_of_a_thread_is_read_by_its_methods(
    look: Callable[[Any], Any], change: Callable[[Any], Any], found: set[str]
) -> None:
    def program() -> str:
        thread = threading.Thread(name="t")
        seen: list[Any] = []
        both(lambda: seen.append(look(thread)), lambda: change(thread))
        after = f" {thread.daemon}" if seen[0] is None else ""
        return str(seen[0]).removeprefix("<Thread").removesuffix(">") + after

    assert set(explore(program).outcomes) == found


def test_whether_a_thread_is_a_daemon_counts_when_it_is_started() -> None:
    def program() -> bool:
        thread = threading.Thread(target=int)

        def become_daemon() -> None:
            with suppress(RuntimeError):
                thread.daemon = True

        both(thread.start, become_daemon)
        return thread.daemon

    assert set(explore(program).outcomes) == {False, True}

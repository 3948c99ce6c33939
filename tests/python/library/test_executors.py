"""Executors, futures, queues and pools: what nobody can tell apart is not explored apart, and what
somebody can is."""

import asyncio
import contextvars
import queue
import threading
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

import mazurka
from mazurka import explore, replay
from tests.python.library.test_standard import only_failure, outcomes


def square(number: int) -> int:
    return number * number


def executions(program: Callable[[], object], **options: Any) -> int:
    result = explore(program, **options)
    assert result.verdict == "verified", result.failures or result.reason
    return result.executions


# How many executions there are


@pytest.mark.parametrize(
    ("tasks", "workers", "expected"),
    [(1, 1, 1), (4, 1, 1), (2, 2, 1), (4, 4, 1), (3, 2, 3), (4, 2, 9)],
)
def test_independent_tasks(tasks: int, workers: int, expected: int) -> None:
    def program() -> object:
        with ThreadPoolExecutor(workers) as executor:
            return tuple(executor.map(square, range(tasks)))

    assert executions(program) == expected


@pytest.mark.parametrize("size", [0, 1])
def test_one_producer_and_one_consumer(size: int) -> None:
    def program() -> None:
        jobs: queue.Queue[int] = queue.Queue(size)

        def consume() -> None:
            for expected in range(3):
                assert jobs.get() == expected
                jobs.task_done()

        threading.Thread(target=consume).start()
        for number in range(3):
            jobs.put(number)
        jobs.join()

    assert executions(program) == 1


def test_calls_to_threads() -> None:
    async def program() -> object:
        return tuple(await asyncio.gather(*[asyncio.to_thread(square, n) for n in range(2)]))

    assert executions(program) < 100


# What must be found all the same


class Account:
    balance = 0


def test_tasks_that_race() -> None:
    def program() -> int:
        account = Account()

        def deposit() -> None:
            account.balance += 1

        with ThreadPoolExecutor(2) as executor:
            executor.submit(deposit)
            executor.submit(deposit)
        return account.balance

    assert outcomes(program) == {1, 2}


def test_one_worker_runs_one_task_at_a_time() -> None:
    def program() -> int:
        account = Account()

        def deposit() -> None:
            account.balance += 1

        with ThreadPoolExecutor(1) as executor:
            for _ in range(3):
                executor.submit(deposit)
        return account.balance

    assert outcomes(program) == {3}


def test_which_task_frees_a_worker() -> None:
    def program() -> tuple[int, ...]:
        order: queue.SimpleQueue[int] = queue.SimpleQueue()
        with ThreadPoolExecutor(2) as executor:
            for number in range(3):
                executor.submit(order.put, number)
        return tuple(order.get() for _ in range(3))

    # The third begins when one of the others has finished.
    assert outcomes(program) == {(0, 1, 2), (1, 0, 2), (0, 2, 1), (1, 2, 0)}


def test_a_task_that_waits_for_one_behind_it() -> None:
    def program() -> None:
        with ThreadPoolExecutor(1) as executor:
            later: list[Future[int]] = []
            submitted = threading.Event()

            def wait() -> int:
                submitted.wait()
                return later[0].result()

            executor.submit(wait)
            later.append(executor.submit(square, 2))
            submitted.set()

    failure = only_failure(program)
    assert failure.kind == "deadlock"
    assert any("a worker of" in detail for detail in failure.details)


def test_a_thread_that_a_task_starts_is_waited_for() -> None:
    def program() -> None:
        never = threading.Event()
        with ThreadPoolExecutor(1) as executor:
            executor.submit(lambda: threading.Thread(target=never.wait).start())

    assert only_failure(program).kind == "deadlock"


def test_workers_are_counted() -> None:
    def program() -> int:
        with ThreadPoolExecutor(1) as executor:
            executor.submit(square, 1)
            return threading.active_count()

    assert outcomes(program) == {2}


def test_submitting_to_an_executor_that_is_shut_down() -> None:
    def program() -> str:
        executor = ThreadPoolExecutor(1)
        thread = threading.Thread(target=executor.shutdown)
        thread.start()
        try:
            return str(executor.submit(square, 2).result())
        except RuntimeError as error:
            return str(error)
        finally:
            thread.join()

    assert outcomes(program) == {"4", "cannot schedule new futures after shutdown"}


def test_a_task_that_is_cancelled_on_the_way() -> None:
    def program() -> tuple[object, ...]:
        with ThreadPoolExecutor(1) as executor:
            future = executor.submit(square, 2)
            cancelled = future.cancel()
            done, left = futures.wait([future])
            assert done and not left
        return cancelled, future.cancelled(), future.done()

    assert outcomes(program) == {(True, True, True), (False, False, True)}


def test_cancelling_what_was_not_begun() -> None:
    def program() -> tuple[bool, ...]:
        executor = ThreadPoolExecutor(1)
        submitted = [executor.submit(square, number) for number in range(2)]
        executor.shutdown(cancel_futures=True)
        return tuple(future.cancelled() for future in submitted)

    # A worker may take the second while the first is taken away.
    assert outcomes(program) == {(False, False), (False, True), (True, False), (True, True)}


def test_where_callbacks_are_called() -> None:
    def program() -> tuple[bool, ...]:
        called: queue.SimpleQueue[bool] = queue.SimpleQueue()

        def call(future: Future[int]) -> None:
            assert future.done()
            called.put(threading.current_thread() is threading.main_thread())

        with ThreadPoolExecutor(1) as executor:
            future = executor.submit(square, 2)
            future.add_done_callback(call)
            future.add_done_callback(call)
        return called.get(), called.get()

    assert outcomes(program) == {(True, True), (True, False), (False, True), (False, False)}


def test_completed_in_the_order_of_their_ends() -> None:
    def program() -> tuple[int, ...]:
        with ThreadPoolExecutor(2) as executor:
            first = executor.submit(square, 1)
            second = executor.submit(lambda: first.result() + 1)
            ready = futures.as_completed([first, second])
            assert not second.done() or first.done()
            return tuple(future.result() for future in ready)

    assert (1, 2) in outcomes(program)


def test_the_same_futures_completed_twice() -> None:
    def program() -> tuple[object, ...]:
        with ThreadPoolExecutor(2) as executor:
            submitted = [executor.submit(square, number) for number in range(2)]
            first = next(futures.as_completed(submitted)).result()
            return first, tuple(sorted(f.result() for f in futures.as_completed(submitted)))

    assert outcomes(program) == {(0, (0, 1)), (1, (0, 1))}


def test_completed_in_time_or_not() -> None:
    def program() -> object:
        with ThreadPoolExecutor(1) as executor:
            found = []
            try:
                for future in futures.as_completed([executor.submit(square, 2)], timeout=1):
                    found.append(future.result())
            except futures.TimeoutError:
                found.append(-1)
            return tuple(found)

    assert outcomes(program) == {(4,), (-1,)}


def test_a_future_of_ones_own() -> None:
    def program() -> tuple[object, ...]:
        future: Future[int] = Future()

        def finish() -> None:
            with suppress(futures.InvalidStateError):
                future.set_result(1)

        threads = [threading.Thread(target=call) for call in (finish, future.cancel)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return future.cancelled(), None if future.cancelled() else future.result()

    assert outcomes(program) == {(True, None), (False, 1)}


# Workers that can be told apart


local = threading.local()
variable = contextvars.ContextVar("variable", default=0)


def test_what_a_task_leaves_in_its_thread() -> None:
    def count(_: object) -> int:
        local.count = getattr(local, "count", 0) + 1
        return int(local.count)

    def program() -> object:
        with ThreadPoolExecutor(2) as executor:
            return tuple(executor.map(count, range(2)))

    assert outcomes(program) == {(1, 1), (1, 2)}


def test_what_a_task_leaves_in_its_context() -> None:
    def count(_: object) -> int:
        variable.set(variable.get() + 1)
        return variable.get()

    def program() -> object:
        with ThreadPoolExecutor(2) as executor:
            return tuple(executor.map(count, range(2)))

    assert outcomes(program) == {(1, 1), (1, 2)}


def test_names_of_workers() -> None:
    def program() -> object:
        with ThreadPoolExecutor(2, "worker") as executor:
            names = executor.map(lambda _: threading.current_thread().name, range(2))
            return tuple(names)

    first, second = "worker_0", "worker_1"
    assert outcomes(program, instrument=None) == {
        (first, first), (first, second), (second, first), (second, second)
    }  # fmt: skip


def test_the_schedule_of_a_failure_knows_of_workers() -> None:
    def program() -> None:
        with ThreadPoolExecutor(2) as executor:
            names = list(executor.map(lambda _: threading.get_ident(), range(2)))
        assert names[0] != names[1]

    failure = only_failure(program)
    assert "workers" in failure.schedule.options["apart"]


def test_an_initializer_that_fails() -> None:
    def program() -> str:
        with ThreadPoolExecutor(1, initializer=lambda: 1 // 0) as executor:
            try:
                return str(executor.submit(square, 2).result())
            except futures.BrokenExecutor as error:
                return type(error).__name__

    assert outcomes(program) == {"BrokenThreadPool"}


# Made before the check


POOL = ThreadPoolExecutor(2)
JOBS: queue.Queue[int] = queue.Queue()


def test_an_executor_of_a_module() -> None:
    POOL.submit(square, 1).result()  # so that it has a worker

    def program() -> object:
        return tuple(POOL.map(square, range(2)))

    assert outcomes(program) == {(0, 1)}
    assert POOL.submit(square, 3).result() == 9

    def tasks_that_look() -> object:
        return POOL.submit(threading.get_ident).result()

    with pytest.raises(mazurka.MazurkaError, match="made outside of it, and it matters which"):
        explore(tasks_that_look)


def test_an_executor_that_is_busy_outside() -> None:
    release = threading.Event()
    executor = ThreadPoolExecutor(1)
    running = executor.submit(release.wait)
    try:
        with pytest.raises(mazurka.MazurkaError, match="something to do outside of it"):
            explore(lambda: executor.submit(square, 2).result())
        with pytest.raises(mazurka.MazurkaError, match="belongs to a thread outside"):
            explore(lambda: running.result())
    finally:
        release.set()
        executor.shutdown()


def test_a_queue_of_a_module() -> None:
    JOBS.put(1)

    def program() -> tuple[int, int]:
        thread = threading.Thread(target=JOBS.put, args=(2,))
        thread.start()
        found = JOBS.get(), JOBS.get()
        JOBS.task_done()
        thread.join()
        return found

    assert outcomes(program) == {(1, 2)}
    assert JOBS.get() == 1


# multiprocessing


def test_a_thread_pool() -> None:
    def program() -> object:
        from multiprocessing.pool import ThreadPool

        with ThreadPool(2) as pool:
            later = pool.apply_async(square, (3,))
            return later.get(), tuple(pool.map(square, range(2))), tuple(pool.imap(square, [4]))

    assert outcomes(program) == {(9, (0, 1), (16,))}


def test_errors_in_a_thread_pool() -> None:
    def program() -> int:
        from multiprocessing.dummy import Pool

        def fail(number: int) -> None:
            raise ValueError(number)

        pool = Pool(2)
        result = pool.map_async(fail, [1, 2])
        pool.close()
        pool.join()
        with pytest.raises(ValueError) as found:
            result.get()
        return int(found.value.args[0])

    assert outcomes(program) == {1, 2}


def test_a_thread_pool_that_is_terminated() -> None:
    def program() -> bool:
        from multiprocessing.pool import ThreadPool

        pool = ThreadPool(1)
        result = pool.apply_async(square, (3,))
        pool.terminate()
        pool.join()
        return result.ready()

    assert outcomes(program) == {False, True}


def test_schedules_hold_on_other_machines() -> None:
    def program() -> None:
        jobs: queue.Queue[int] = queue.Queue()
        thread = threading.Thread(target=jobs.put, args=(1,))
        thread.start()
        assert jobs.qsize() == 0
        thread.join()

    failure = explore(program).failures[0]
    assert failure.schedule.options["apart"]
    assert __file__ not in failure.schedule.to_json()
    assert replay(program, failure.schedule.to_json()).kind == "exception"

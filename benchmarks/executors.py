"""Executors and queues whose tasks have nothing to do with each other: how many executions that
takes. Ordinary Python programs, explored as they are."""

import asyncio
import functools
import queue
import threading
import time
from collections.abc import Callable
from concurrent import futures
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.dummy import Process
from multiprocessing.pool import ThreadPool

from rich import box
from rich.table import Table

import mazurka

Program = Callable[[], object]


def square(number: int) -> int:
    return number * number


def mapped(tasks: int, workers: int) -> None:
    with futures.ThreadPoolExecutor(workers) as executor:
        assert list(executor.map(square, range(tasks))) == [n * n for n in range(tasks)]


def submitted(tasks: int, workers: int) -> None:
    with futures.ThreadPoolExecutor(workers) as executor:
        begun = [executor.submit(square, number) for number in range(tasks)]
        assert [future.result() for future in begun] == [n * n for n in range(tasks)]


def completed(tasks: int, workers: int) -> None:
    with futures.ThreadPoolExecutor(workers) as executor:
        begun = [executor.submit(square, number) for number in range(tasks)]
        found = [future.result() for future in futures.as_completed(begun)]
        assert sorted(found) == [n * n for n in range(tasks)]


def waited(tasks: int, workers: int, return_when: str = futures.ALL_COMPLETED) -> None:
    with futures.ThreadPoolExecutor(workers) as executor:
        begun = [executor.submit(square, number) for number in range(tasks)]
        done, left = futures.wait(begun, return_when=return_when)
        assert done and done | left == set(begun)


def cancelled(tasks: int) -> None:
    with futures.ThreadPoolExecutor(1) as executor:
        begun = [executor.submit(square, number) for number in range(tasks)]
        assert begun[-1].cancel() == begun[-1].cancelled()


def shut_down(tasks: int) -> None:
    executor = futures.ThreadPoolExecutor(2)
    begun = [executor.submit(square, number) for number in range(tasks)]
    executor.shutdown(cancel_futures=True)
    assert all(future.done() for future in begun)


def with_timeout(tasks: int) -> None:
    with futures.ThreadPoolExecutor(2) as executor:
        for future in [executor.submit(square, number) for number in range(tasks)]:
            with suppress(TimeoutError):
                future.result(timeout=1)


def called_back(tasks: int) -> None:
    with futures.ThreadPoolExecutor(2) as executor:
        begun = [executor.submit(square, number) for number in range(tasks)]
        for future in begun:
            future.add_done_callback(futures.Future.result)


def to_thread(tasks: int) -> None:
    async def main() -> None:
        calls = [asyncio.to_thread(square, number) for number in range(tasks)]
        assert await asyncio.gather(*calls) == [n * n for n in range(tasks)]

    asyncio.run(main())


def in_executor(tasks: int) -> None:
    async def main() -> None:
        loop = asyncio.get_running_loop()
        with futures.ThreadPoolExecutor(2) as executor:
            calls = [loop.run_in_executor(executor, square, number) for number in range(tasks)]
            assert await asyncio.gather(*calls) == [n * n for n in range(tasks)]

    asyncio.run(main())


def worker(jobs: "queue.Queue[int | None]", results: dict[int, int]) -> None:
    while True:
        job = jobs.get()
        if job is not None:
            results[job] = job * job
        jobs.task_done()
        if job is None:
            return


def started(
    count: int, target: Callable[..., object], *arguments: object
) -> list[threading.Thread]:
    threads = [threading.Thread(target=target, args=arguments, daemon=True) for _ in range(count)]
    for thread in threads:
        thread.start()
    return threads


def joined_queue(workers: int, jobs: int) -> None:
    todo: queue.Queue[int | None] = queue.Queue()
    results: dict[int, int] = {}
    started(workers, worker, todo, results)
    for job in range(jobs):
        todo.put(job)
    todo.join()
    assert len(results) == jobs


def sentinels(workers: int, jobs: int, new: Callable[[], "queue.Queue[int | None]"]) -> None:
    todo = new()
    results: dict[int, int] = {}
    threads = started(workers, worker, todo, results)
    for job in range(jobs):
        todo.put(job)
    for _ in threads:
        todo.put(None)
    for thread in threads:
        thread.join()
    assert len(results) == jobs


def filled(workers: int, jobs: int, new: Callable[[], "queue.Queue[int]"]) -> None:
    todo = new()
    for job in range(jobs):
        todo.put(job)
    started(workers, endless, todo)
    todo.join()


def endless(todo: "queue.Queue[int]") -> None:
    while True:
        todo.get()
        todo.task_done()


def simple(workers: int, jobs: int) -> None:
    todo: queue.SimpleQueue[int | None] = queue.SimpleQueue()

    def work() -> None:
        while todo.get() is not None:
            pass

    threads = started(workers, work)
    for job in range(jobs):
        todo.put(job)
    for _ in threads:
        todo.put(None)
    for thread in threads:
        thread.join()


def pooled(tasks: int, workers: int) -> None:
    with ThreadPool(workers) as pool:
        assert pool.map(square, range(tasks)) == [n * n for n in range(tasks)]


def dummy_processes(count: int) -> None:
    processes = [Process(target=square, args=(number,)) for number in range(count)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def grid(kind: Callable[[int, int], None], name: str) -> dict[str, Program]:
    return {
        f"{name}, {tasks} tasks on {workers}": functools.partial(kind, tasks, workers)
        for tasks, workers in ((1, 1), (2, 1), (4, 1), (2, 2), (3, 2), (4, 2), (4, 4))
    }


FIRST = functools.partial(waited, return_when=futures.FIRST_COMPLETED)
PROGRAMS: dict[str, Program] = {
    **grid(mapped, "map"),
    **grid(submitted, "submit, result"),
    **grid(completed, "as_completed"),
    **grid(waited, "wait for all"),
    **grid(FIRST, "wait for one"),
    "cancel the last of 2": functools.partial(cancelled, 2),
    "shutdown(cancel_futures=True), 2 tasks": functools.partial(shut_down, 2),
    "result(timeout), 2 tasks": functools.partial(with_timeout, 2),
    "add_done_callback, 2 tasks": functools.partial(called_back, 2),
    "to_thread, 1 call": functools.partial(to_thread, 1),
    "to_thread, 2 calls": functools.partial(to_thread, 2),
    "to_thread, 3 calls": functools.partial(to_thread, 3),
    "run_in_executor, 2 calls": functools.partial(in_executor, 2),
    "Queue, 1 worker, 3 jobs, join": functools.partial(joined_queue, 1, 3),
    "Queue, 2 workers, 2 jobs, join": functools.partial(joined_queue, 2, 2),
    "Queue, 2 workers, 3 jobs, join": functools.partial(joined_queue, 2, 3),
    "Queue, 2 workers, 3 jobs, sentinels": functools.partial(sentinels, 2, 3, queue.Queue),
    "Queue(1), 1 worker, 3 jobs, sentinels": functools.partial(
        sentinels, 1, 3, functools.partial(queue.Queue, 1)
    ),
    "Queue(1), 2 workers, 2 jobs, sentinels": functools.partial(
        sentinels, 2, 2, functools.partial(queue.Queue, 1)
    ),
    "LifoQueue, 2 workers, 3 jobs, join": functools.partial(filled, 2, 3, queue.LifoQueue),
    "PriorityQueue, 2 workers, 3 jobs, join": functools.partial(filled, 2, 3, queue.PriorityQueue),
    "SimpleQueue, 2 workers, 3 jobs": functools.partial(simple, 2, 3),
    "multiprocessing.dummy, 3 processes": functools.partial(dummy_processes, 3),
    "ThreadPool.map, 2 tasks on 2": functools.partial(pooled, 2, 2),
    "ThreadPool.map, 4 tasks on 2": functools.partial(pooled, 4, 2),
}


@dataclass(frozen=True)
class Row:
    """What one program took."""

    name: str
    verdict: str
    executions: int
    seconds: float


def measured(name: str, max_executions: int, time_limit: float) -> Row:
    begin = time.perf_counter()
    verdict, executions = "", 0
    try:
        result = mazurka.explore(
            PROGRAMS[name], max_executions=max_executions, time_limit=time_limit, max_events=5000
        )
        verdict, executions = result.verdict, result.executions
    except mazurka.MazurkaError as error:
        verdict = str(error)[:60]
    return Row(name, verdict, executions, time.perf_counter() - begin)


def render(rows: list[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("program", "verdict"):
        table.add_column(heading)
    for heading in ("executions", "seconds"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(row.name, row.verdict, f"{row.executions:,}", f"{row.seconds:.2f}")
    return table

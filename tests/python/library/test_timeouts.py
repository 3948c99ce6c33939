"""When waits time out, and in which order asyncio goes on: the options, and what reports say."""

import asyncio
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka.engine.errors import MazurkaError
from mazurka.report.text import summary
from tests.python.threads import in_threads

ALGORITHMS = ["pop", "optimal", "source", "trust", "qpor", "naive"]
EARLY = "timeouts='last'"


def outcomes(program: Callable[[], object], **options: Any) -> set[object]:
    result = mazurka.explore(program, **options)
    assert result.verdict == "verified", result.failures
    return set(result.outcomes)


def waiting_for(wait: Callable[[Any], object], answer: Callable[[Any], object]) -> Any:
    """A program in which one thread waits with a timeout for what another one does."""

    def program() -> object:
        shared: dict[str, Any] = {
            "event": threading.Event(),
            "queue": queue.Queue(1),
            "semaphore": threading.Semaphore(0),
            "condition": threading.Condition(),
            "barrier": threading.Barrier(2),
            "said": False,
        }
        found: list[object] = []
        in_threads(lambda: found.append(wait(shared)), lambda: answer(shared))
        return found[0]

    return program


def get(shared: Any) -> object:
    try:
        return shared["queue"].get(timeout=1)
    except queue.Empty:
        return "empty"


def wait_on_condition(shared: Any) -> object:
    with shared["condition"]:
        return shared["condition"].wait_for(lambda: shared["said"], timeout=1)


def notify(shared: Any) -> None:
    with shared["condition"]:
        shared["said"] = True
        shared["condition"].notify()


def meet(shared: Any) -> object:
    try:
        return shared["barrier"].wait(1) in (0, 1)
    except threading.BrokenBarrierError:
        return "broken"


WAITS: dict[str, tuple[Any, Any, object]] = {
    "event": (lambda s: s["event"].wait(1), lambda s: s["event"].set(), True),
    "queue": (get, lambda s: s["queue"].put(7), 7),
    "semaphore": (
        lambda s: s["semaphore"].acquire(timeout=1),
        lambda s: s["semaphore"].release(),
        True,
    ),
    "condition": (wait_on_condition, notify, True),
    "barrier": (meet, meet, True),
}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("way", WAITS)
def test_what_comes_at_last_is_waited_for(way: str, algorithm: str) -> None:
    wait, answer, found = WAITS[way]
    program = waiting_for(wait, answer)
    assert outcomes(program, timeouts="last", algorithm=algorithm) == {found}
    assert len(outcomes(program)) == 2


@pytest.mark.parametrize("algorithm", [*ALGORITHMS, "random"])
@pytest.mark.parametrize("way", WAITS)
def test_what_never_comes_is_not(way: str, algorithm: str) -> None:
    wait, _, _ = WAITS[way]
    program = waiting_for(wait, lambda shared: None)
    expected = {"queue": "empty", "barrier": "broken"}.get(way, False)
    result = mazurka.explore(program, timeouts="last", algorithm=algorithm, max_executions=20)
    assert set(result.outcomes) == {expected}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_timeouts_come_in_the_order_of_their_deadlines(algorithm: str) -> None:
    def program() -> tuple[object, ...]:
        order: list[object] = []
        lock = threading.Lock()

        def wait(seconds: float) -> None:
            threading.Event().wait(seconds)
            with lock:
                order.append(seconds)

        in_threads(lambda: wait(3), lambda: wait(1), lambda: wait(1), lambda: wait(2))
        return tuple(order)

    assert outcomes(program, timeouts="last", algorithm=algorithm) == {(1, 1, 2, 3)}


def test_a_lock_that_is_held_for_long() -> None:
    def program() -> bool:
        lock = threading.Lock()
        found: list[bool] = []

        def hold() -> None:
            with lock:
                threading.Event().wait(5)

        def want() -> None:
            taken = lock.acquire(timeout=1)
            found.append(taken)
            if taken:
                lock.release()

        in_threads(hold, want)
        return found[0]

    assert outcomes(program, timeouts="last") == {True, False}


def test_a_failure_that_takes_an_early_timeout_says_so() -> None:
    def program() -> None:
        jobs: queue.Queue[int] = queue.Queue()
        thread = threading.Thread(target=jobs.put, args=(1,))
        thread.start()
        assert jobs.get(timeout=1) == 1
        thread.join()

    for algorithm in ALGORITHMS:
        failed = mazurka.explore(program, algorithm=algorithm)
        assert any(EARLY in line for line in failed.failures[0].details)
    held = mazurka.explore(program, timeouts="last")
    assert held.verdict == "verified"
    assert "assuming timeouts='last'" in summary(held)


def test_a_failure_that_comes_with_any_timeout_does_not() -> None:
    def program() -> None:
        jobs: queue.Queue[int] = queue.Queue()
        assert jobs.get(timeout=1) == 1

    for options in ({}, {"timeouts": "last"}):
        result = mazurka.explore(program, **options)  # type: ignore[arg-type]
        assert result.verdict == "failed"
        assert not any(EARLY in line for line in result.failures[0].details)


def test_a_pool_of_connections_whose_test_does_not_expect_a_timeout() -> None:
    """As SQLAlchemy's QueuePool: a connection is given back before anybody needs to wait long."""

    class Pool:
        def __init__(self, size: int) -> None:
            self.free: queue.Queue[object] = queue.Queue(size)
            for _ in range(size):
                self.free.put(object())

        def take(self) -> object:
            try:
                return self.free.get(timeout=30)
            except queue.Empty:
                raise TimeoutError("no connection is free") from None

        def give_back(self, connection: object) -> None:
            self.free.put(connection)

    def program() -> None:
        pool = Pool(1)

        def use() -> None:
            pool.give_back(pool.take())

        in_threads(use, use)

    failed = mazurka.explore(program)
    assert "no connection" in failed.failures[0].message
    assert any(EARLY in line for line in failed.failures[0].details)
    assert mazurka.explore(program, timeouts="last").verdict == "verified"


def test_schedules_are_replayed_with_their_rule() -> None:
    def program() -> None:
        event = threading.Event()
        other = threading.Thread(target=lambda: event.wait(3))
        other.start()
        assert event.wait(1)

    failure = mazurka.explore(program, timeouts="last").failures[0]
    again = mazurka.replay(program, failure.schedule.to_json())
    assert again.message == failure.message


def test_a_deadlock_is_one_when_no_timeout_is_left() -> None:
    def program() -> None:
        event = threading.Event()
        in_threads(lambda: event.wait(1), event.wait)

    failure = mazurka.explore(program, timeouts="last").failures[0]
    assert failure.kind == "deadlock"


def test_a_loop_that_polls_with_timeouts() -> None:
    def program() -> int:
        stop = threading.Event()
        done = []

        def work() -> None:
            while not stop.wait(0.5):
                pass
            done.append(1)

        thread = threading.Thread(target=work)
        thread.start()
        threading.Event().wait(3)
        stop.set()
        thread.join()
        return len(done)

    assert outcomes(program, timeouts="last") == {1}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_data_races_before_and_after_a_timeout(algorithm: str) -> None:
    class Shared:
        value = 0

    def program(before: bool) -> None:
        shared = Shared()

        def wait() -> None:
            if before:
                shared.value += 1
            threading.Event().wait(1)
            if not before:
                shared.value += 1

        in_threads(wait, wait)

    for before in (True, False):
        result = mazurka.explore(
            lambda before=before: program(before),  # type: ignore[misc]
            timeouts="last",
            granularity="sync",
            algorithm=algorithm,
        )
        # Two threads that time out at the same moment go on one after the other.
        assert (result.failures[0].kind if result.failures else "") == "data race"


@pytest.mark.parametrize("algorithm", ["trust", "source", "naive"])
def test_symbolic_values_that_were_decided_before_a_timeout(algorithm: str) -> None:
    pytest.importorskip("z3")

    def program() -> tuple[bool, bool]:
        value = mazurka.symbolic_int("value", 0, 3)
        small = bool(value < 2)
        in_threads(lambda: threading.Event().wait(1), lambda: threading.Event().wait(1))
        return small, bool(value < 1)

    found = outcomes(program, timeouts="last", algorithm=algorithm)
    assert found == {(True, True), (True, False), (False, False)}


def test_what_does_not_go_together_is_refused() -> None:
    for other in ({"equivalence": "reads-from"}, {"preemptions": 1}):
        with pytest.raises(MazurkaError, match="leave one of them out"):
            mazurka.explore(lambda: None, timeouts="last", **other)


# asyncio


async def note(order: list[str], name: str, rounds: int = 2) -> None:
    for _ in range(rounds):
        order.append(name)
        await asyncio.sleep(0)


def real(program: Callable[[], Any]) -> object:
    """What asyncio itself makes of it."""
    return asyncio.run(program())


def the_order_of_tasks() -> Any:
    async def program() -> str:
        order: list[str] = []
        loop = asyncio.get_running_loop()
        loop.call_soon(order.append, "callback")
        tasks = [asyncio.create_task(note(order, name)) for name in "ab"]
        await asyncio.gather(*tasks)
        return " ".join(order)

    return program


def a_queue() -> Any:
    async def program() -> str:
        order: list[str] = []
        jobs: asyncio.Queue[int] = asyncio.Queue()

        async def work(name: str) -> None:
            order.append(f"{name}{await jobs.get()}")

        async with asyncio.TaskGroup() as group:
            for name in "ab":
                group.create_task(work(name))
            await asyncio.sleep(0)
            for job in range(2):
                jobs.put_nowait(job)
        return " ".join(order)

    return program


def sleeps() -> Any:
    async def program() -> str:
        order: list[str] = []

        async def sleep(seconds: float) -> None:
            await asyncio.sleep(seconds)
            order.append(str(seconds))

        await asyncio.gather(*[sleep(seconds) for seconds in (0.02, 0.01, 0)])
        return " ".join(order)

    return program


def a_lock_and_a_timeout() -> Any:
    async def program() -> str:
        lock = asyncio.Lock()
        order: list[str] = []

        async def use(name: str) -> None:
            try:
                async with asyncio.timeout(5), lock:
                    order.append(name)
                    await asyncio.sleep(0)
            except TimeoutError:
                order.append(f"{name} timed out")

        await asyncio.gather(use("a"), use("b"), use("c"))
        return " ".join(order)

    return program


def a_cancelled_task() -> Any:
    async def program() -> str:
        order: list[str] = []
        task = asyncio.create_task(note(order, "a", 5))
        await note(order, "main")
        task.cancel()
        done, _ = await asyncio.wait([task])
        return " ".join(order) + str(len(done))

    return program


PROGRAMS = [the_order_of_tasks, a_queue, sleeps, a_lock_and_a_timeout, a_cancelled_task]


@pytest.mark.parametrize("make", PROGRAMS)
def test_asyncios_own_order(make: Callable[[], Any]) -> None:
    """One execution, and what asyncio does."""
    result = mazurka.explore(make(), asyncio_order="fifo", timeouts="last")
    assert result.verdict == "verified"
    assert result.executions == 1
    assert set(result.outcomes) == {real(make())}
    assert "assuming timeouts='last', asyncio_order='fifo'" in summary(result)


@pytest.mark.parametrize("make", PROGRAMS)
def test_that_order_is_among_all(make: Callable[[], Any]) -> None:
    found = {
        (timeouts, order): set(
            mazurka.explore(make(), asyncio_order=order, timeouts=timeouts).outcomes
        )
        for timeouts in ("any", "last")
        for order in ("any", "fifo")
    }
    assert found["last", "fifo"] <= found["last", "any"] <= found["any", "any"]
    assert found["last", "fifo"] <= found["any", "fifo"]


def test_threads_may_hand_over_at_any_moment() -> None:
    async def program() -> str:
        order: list[str] = []
        loop = asyncio.get_running_loop()
        thread = threading.Thread(target=loop.call_soon_threadsafe, args=(order.append, "thread"))
        thread.start()
        loop.call_soon(order.append, "a")
        loop.call_soon(order.append, "b")
        await asyncio.to_thread(thread.join)
        return " ".join(order)

    expected = {"thread a b", "a thread b", "a b thread"}
    assert outcomes(program, asyncio_order="fifo", timeouts="last") == expected


def test_a_failure_that_takes_another_order_says_so() -> None:
    async def program() -> None:
        order: list[str] = []
        await asyncio.gather(note(order, "a"), note(order, "b"))
        assert order[0] == "a"

    failed = mazurka.explore(program)
    assert any("asyncio_order='fifo'" in line for line in failed.failures[0].details)
    assert mazurka.explore(program, asyncio_order="fifo").verdict == "verified"


def test_a_loop_that_is_late_is_told() -> None:
    """Two timers are due, and the task of the second one goes on first."""

    async def program() -> None:
        async def later() -> None:
            await asyncio.sleep(1)
            calls.append(1)

        calls: list[int] = []
        task = asyncio.create_task(later())
        await asyncio.sleep(0.5)
        task.cancel()
        assert not calls

    failed = mazurka.explore(lambda: asyncio.run(program()))
    assert any("asyncio_order='fifo'" in line for line in failed.failures[0].details)
    found = mazurka.explore(lambda: asyncio.run(program()), asyncio_order="fifo")
    assert found.verdict == "verified"


def test_a_failure_that_takes_an_early_timer_says_so() -> None:
    async def program() -> None:
        async with asyncio.timeout(10):
            for _ in range(2):
                await asyncio.sleep(0)

    failed = mazurka.explore(program)
    assert any(EARLY in line for line in failed.failures[0].details)
    assert mazurka.explore(program, timeouts="last").verdict == "verified"


def test_timers_and_threads_in_the_order_of_their_deadlines() -> None:
    async def program() -> str:
        order: list[str] = []

        def in_thread() -> None:
            threading.Event().wait(2)
            order.append("thread")

        async def sleep(seconds: float) -> None:
            await asyncio.sleep(seconds)
            order.append(str(seconds))

        await asyncio.gather(sleep(3), sleep(1), asyncio.to_thread(in_thread))
        return " ".join(order)

    assert outcomes(program, timeouts="last", asyncio_order="fifo") == {"1 thread 3"}


def test_time_that_passes_when_timeouts_come_last() -> None:
    def program() -> int:
        begin = time.monotonic()
        threading.Event().wait(5)
        return round(time.monotonic() - begin)

    assert outcomes(program, timeouts="last") == {5}

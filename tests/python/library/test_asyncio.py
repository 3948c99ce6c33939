"""Programs that use asyncio: the order in which tasks that are ready run is what is explored."""

import asyncio
import contextvars
import gc
import sys
import threading
import time
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from itertools import permutations
from math import comb
from typing import Any

import pytest

import mazurka
from mazurka import Atomic, explore

Program = Callable[[], Any]
ALGORITHMS = ("pop", "optimal", "qpor", "source", "naive")


@pytest.fixture(autouse=True)
def no_warnings(recwarn: pytest.WarningsRecorder, capfd: Any) -> Iterator[None]:
    """Nothing is said of tasks and coroutines that executions left standing."""
    yield
    said = [str(warning.message) for warning in recwarn] + [capfd.readouterr().err]
    assert [text for text in said if "Task" in text or "coroutine" in text] == []


def explored(program: Program, **options: Any) -> mazurka.Result:
    """All executions; twice, since a check must leave nothing behind."""
    first = explore(program, stop_on_failure=False, **options)
    second = explore(program, stop_on_failure=False, **options)
    assert (first.executions, first.outcomes) == (second.executions, second.outcomes)
    assert [warning for warning in first.warnings if "is not seen" in warning] == []
    return first


def outcomes(program: Program, **options: Any) -> set[Any]:
    result = explored(program, **options)
    assert result.verdict == "verified", result.failures[0].message if result.failures else result
    return set(result.outcomes)


def only_failure(program: Program) -> mazurka.Failure:
    result = explore(program)
    assert result.verdict == "failed"
    failure = result.failures[0]
    again = mazurka.replay(program, failure.schedule)
    assert (again.kind, again.message, again.details) == (
        failure.kind,
        failure.message,
        failure.details,
    )
    return failure


# Which task runs next


def interleaved(tasks: int, awaits: int) -> Program:
    async def program() -> str:
        log: list[str] = []

        async def work(number: int) -> None:
            for _ in range(awaits):
                log.append(str(number))
                await asyncio.sleep(0)
            log.append(str(number))

        await asyncio.gather(*[work(number) for number in range(tasks)])
        return "".join(log)

    return program


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("tasks", "awaits", "count"), [(1, 5, 1), (2, 1, 6), (2, 2, 20), (3, 0, 6), (3, 1, 90)]
)
def test_interleavings(tasks: int, awaits: int, count: int, algorithm: str) -> None:
    result = explored(interleaved(tasks, awaits), algorithm=algorithm)
    assert result.verdict == "verified"
    assert result.executions == len(result.outcomes) == count


def test_independent_tasks_are_not_reduced() -> None:
    assert explored(interleaved(2, 3)).executions == comb(8, 4)


def test_one_task_has_one_execution() -> None:
    async def program() -> str:
        async with asyncio.Lock():
            await asyncio.sleep(1)
        return asyncio.current_task().get_name()  # type: ignore[union-attr]

    result = explored(program)
    assert (result.executions, dict(result.outcomes)) == (1, {"Task-1": 1})


class Account:
    def __init__(self) -> None:
        self.balance = 0


def depositing(locked: bool) -> Program:
    async def program() -> int:
        account = Account()
        lock = asyncio.Lock()

        async def deposit() -> None:
            balance = account.balance
            await asyncio.sleep(0)
            account.balance = balance + 1

        async def deposit_locked() -> None:
            async with lock:
                await deposit()

        await asyncio.gather(*[deposit_locked() if locked else deposit() for _ in range(2)])
        return account.balance

    return program


def test_lost_update_across_an_await() -> None:
    result = explored(depositing(locked=False))
    assert dict(result.outcomes) == {1: 4, 2: 2}


def test_lock_prevents_it() -> None:
    assert outcomes(depositing(locked=True)) == {2}


def test_ways_to_run_a_loop() -> None:
    async def work() -> int:
        await asyncio.sleep(0)
        return 1

    def with_runner() -> int:
        with asyncio.Runner() as runner:
            return runner.run(work()) + runner.run(work())

    def by_hand() -> int:
        loop = asyncio.new_event_loop()
        try:
            return loop.run_until_complete(work())
        finally:
            loop.close()

    def with_current_loop() -> int:
        asyncio.set_event_loop(asyncio.new_event_loop())
        return asyncio.get_event_loop().run_until_complete(work())

    assert outcomes(with_runner) == {2}
    assert outcomes(by_hand) == {1}
    assert outcomes(with_current_loop) == {1}


def test_group_cancels_the_others() -> None:
    async def program() -> str:
        log = ""

        async def fail() -> None:
            nonlocal log
            log += "f"
            raise ValueError

        async def work() -> None:
            nonlocal log
            try:
                await asyncio.sleep(0)
                log += "w"
            except asyncio.CancelledError:
                log += "c"
                raise

        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(fail())
                group.create_task(work())
        except* ValueError:
            log += "e"
        return log

    # The group hears of the failure when others may have gone on; a task may end before it began.
    assert outcomes(program) == {"wfe", "fwe", "fce", "fe"}


def test_wait_for_the_first() -> None:
    async def program() -> object:
        async def work(number: int) -> int:
            return number

        tasks = [asyncio.create_task(work(number)) for number in range(2)]
        done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in pending:
            task.cancel()
        return sorted(task.result() for task in done), len(pending)

    found = {str(outcome) for outcome in outcomes(lambda: str(asyncio.run(program())))}
    assert found == {"([0], 1)", "([1], 1)", "([0, 1], 0)"}


def test_as_completed() -> None:
    async def program() -> object:
        async def work(number: int) -> int:
            return number

        return tuple([await each for each in asyncio.as_completed([work(1), work(2), work(3)])])

    assert outcomes(program) == set(permutations((1, 2, 3)))


def test_event() -> None:
    async def program() -> str:
        event = asyncio.Event()
        log = []

        async def wait() -> None:
            log.append("before")
            await event.wait()
            log.append("after")

        async def set_event() -> None:
            log.append("set")
            event.set()

        await asyncio.gather(wait(), set_event())
        return " ".join(log)

    assert outcomes(program) == {"before set after", "set before after"}


def test_condition() -> None:
    async def program() -> object:
        condition = asyncio.Condition()
        items: list[int] = []

        async def consume() -> int:
            async with condition:
                await condition.wait_for(lambda: bool(items))
                return items.pop()

        async def produce() -> None:
            async with condition:
                items.append(7)
                condition.notify()

        return tuple(await asyncio.gather(consume(), produce()))

    assert outcomes(program) == {(7, None)}


def test_semaphore() -> None:
    async def program() -> int:
        semaphore = asyncio.Semaphore(2)
        inside = most = 0

        async def work() -> None:
            nonlocal inside, most
            async with semaphore:
                inside += 1
                most = max(most, inside)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(work(), work(), work())
        return most

    assert outcomes(program) == {1, 2}


def test_queue() -> None:
    async def program() -> object:
        queue: asyncio.Queue[int] = asyncio.Queue(1)
        received = []

        async def produce() -> None:
            for number in (1, 2, 3, 0):
                await queue.put(number)

        async def consume() -> None:
            while number := await queue.get():
                received.append(number)

        await asyncio.gather(produce(), consume())
        return tuple(received)

    assert outcomes(program) == {(1, 2, 3)}


def test_two_producers() -> None:
    async def program() -> object:
        queue: asyncio.Queue[int] = asyncio.Queue()

        async def produce(number: int) -> None:
            await queue.put(number)

        await asyncio.gather(produce(1), produce(2))
        return queue.get_nowait(), queue.get_nowait()

    assert outcomes(program) == {(1, 2), (2, 1)}


def test_context_variables() -> None:
    variable = contextvars.ContextVar("variable", default=0)

    async def program() -> object:
        async def work(number: int) -> int:
            variable.set(number)
            await asyncio.sleep(0)
            return variable.get()

        return tuple(await asyncio.gather(work(1), work(2))), variable.get()

    assert outcomes(program) == {((1, 2), 0)}


# Cancellation


def test_cancellation_in_every_phase() -> None:
    async def program() -> str:
        log = ""

        async def work() -> None:
            nonlocal log
            log += "1"
            try:
                await asyncio.sleep(0)
                log += "2"
            except asyncio.CancelledError:
                log += "x"
                raise

        task = asyncio.create_task(work())
        await asyncio.sleep(0)
        task.cancel()
        try:
            await task
        except asyncio.CancelledError:
            log += "c"
        return log

    assert outcomes(program) == {"c", "1xc", "12"}


def test_shield() -> None:
    async def program() -> str:
        log = ""

        async def work() -> None:
            nonlocal log
            await asyncio.sleep(0)
            log += "w"

        async def wait() -> None:
            await asyncio.shield(inner)

        inner = asyncio.create_task(work())
        outer = asyncio.create_task(wait())
        await asyncio.sleep(0)
        outer.cancel()
        try:
            await outer
        except asyncio.CancelledError:
            log += "c"
        await inner
        return log

    assert outcomes(program) == {"cw", "wc", "w"}


def test_tasks_that_are_left_are_cancelled() -> None:
    def program() -> object:
        log = []

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                log.append("cancelled")

        async def main() -> None:
            asyncio.create_task(work())  # noqa: RUF006
            await asyncio.sleep(0)

        asyncio.run(main())
        return tuple(log)

    assert outcomes(program) == {("cancelled",), ()}  # or never begun


# Time


def test_sleeps_end_in_any_order() -> None:
    async def program() -> object:
        log = []

        async def sleep(seconds: int) -> None:
            await asyncio.sleep(seconds)
            log.append(seconds)

        await asyncio.gather(sleep(1), sleep(2), sleep(3))
        return tuple(log)

    assert outcomes(program) == set(permutations((1, 2, 3)))


def test_clocks_agree() -> None:
    async def program() -> float:
        loop = asyncio.get_running_loop()
        start, monotonic = loop.time(), time.monotonic()
        await asyncio.sleep(5)
        assert round(time.monotonic() - monotonic) == 5
        return round(loop.time() - start, 3)  # looking takes a little time

    assert outcomes(program) == {5.0}


def timing_out(wait: Callable[[asyncio.Event], Awaitable[object]]) -> Program:
    async def program() -> str:
        event = asyncio.Event()

        async def set_event() -> None:
            event.set()

        task = asyncio.create_task(set_event())
        try:
            await wait(event)
            result = "in time"
        except TimeoutError:
            result = "too late"
        await task
        return result

    return program


def test_timeouts_go_both_ways() -> None:
    async def with_timeout(event: asyncio.Event) -> None:
        async with asyncio.timeout(1):
            await event.wait()

    async def with_wait_for(event: asyncio.Event) -> None:
        await asyncio.wait_for(event.wait(), 1)

    assert outcomes(timing_out(with_timeout)) == {"in time", "too late"}
    assert outcomes(timing_out(with_wait_for)) == {"in time", "too late"}


def test_call_later_keeps_the_order_of_deadlines() -> None:
    async def program() -> object:
        log: list[int] = []
        loop = asyncio.get_running_loop()
        loop.call_later(2, log.append, 2)
        loop.call_later(1, log.append, 1)
        loop.call_later(3, log.append, 3).cancel()
        await asyncio.sleep(4)
        return tuple(log)

    result = explored(program)
    assert (result.executions, set(result.outcomes)) == (1, {(1, 2)})


def test_call_soon_keeps_its_order() -> None:
    async def program() -> object:
        log: list[int] = []
        loop = asyncio.get_running_loop()
        loop.call_soon(log.append, 1)
        loop.call_soon(log.append, 2)
        await asyncio.sleep(0)
        log.append(0)
        while len(log) < 3:
            await asyncio.sleep(1)
        return tuple(log)

    assert outcomes(program) == {(1, 2, 0), (1, 0, 2), (0, 1, 2)}


def test_a_task_that_sleeps_for_ever_does_not_keep_others_from_running() -> None:
    async def program() -> int:
        beats = 0

        async def beat() -> None:
            nonlocal beats
            while True:
                await asyncio.sleep(1)
                beats += 1

        task = asyncio.create_task(beat())
        await asyncio.sleep(2)
        task.cancel()
        return beats

    assert outcomes(program) == {0, 1, 2}


# Async generators


def test_async_generators() -> None:
    def program() -> object:
        closed = 0

        async def count() -> AsyncIterator[int]:
            nonlocal closed
            try:
                for number in range(2):
                    await asyncio.sleep(0)
                    yield number
            finally:
                closed += 1

        async def take(most: int) -> int:
            total = 0
            async for number in count():
                total += number
                if number == most:
                    break
            return total

        async def main() -> tuple[int, ...]:
            return tuple(await asyncio.gather(take(0), take(5)))

        return asyncio.run(main()), closed

    assert outcomes(program) == {((0, 1), 2)}


# Failures


async def cross(first: asyncio.Lock, second: asyncio.Lock) -> None:
    async with first:
        await asyncio.sleep(0)
        async with second:
            pass


async def crossing() -> None:
    first, second = asyncio.Lock(), asyncio.Lock()
    await asyncio.gather(cross(first, second), cross(second, first))


def test_deadlock_of_locks() -> None:
    failure = only_failure(crossing)
    assert failure.kind == "deadlock"
    assert failure.details[0] == "crossing waits in the event loop, which has nothing to do"
    assert failure.details[1].startswith("Task-1 (crossing) waits at ")
    assert failure.details[1].endswith("gather(cross(first, second), cross(second, first))")
    assert [detail.partition(" waits")[0] for detail in failure.details[2:]] == [
        "Task-2 (cross)",
        "Task-3 (cross)",
    ]
    assert failure.details[2].endswith("async with second:")
    assert [step.action for step in failure.steps[:2]] == [
        "run Task-2 (cross)",
        "run Task-3 (cross)",
    ]
    assert failure.steps[2].source == "await asyncio.sleep(0)"


def test_exception_of_a_task() -> None:
    async def program() -> None:
        log: list[int] = []

        async def work(number: int) -> None:
            log.append(number)

        await asyncio.gather(work(1), work(2))
        assert log == [1, 2]

    failure = only_failure(program)
    assert failure.kind == "exception"
    assert failure.details[0].endswith("assert log == [1, 2]")


def test_exceptions_of_callbacks() -> None:
    async def program(handled: bool) -> int:
        loop = asyncio.get_running_loop()
        seen: list[Any] = []
        if handled:
            loop.set_exception_handler(lambda _, context: seen.append(context["exception"]))
        loop.call_soon(lambda: 1 // 0)
        await asyncio.sleep(1)
        return len(seen)

    assert "ZeroDivisionError" in only_failure(lambda: asyncio.run(program(False))).message
    assert outcomes(lambda: asyncio.run(program(True))) <= {0, 1}


def test_exceptions_that_nobody_retrieves_are_no_failures() -> None:
    async def program() -> None:
        async def fail() -> None:
            raise ValueError

        task = asyncio.create_task(fail())
        await asyncio.wait([task])

    assert outcomes(program) == {None}


def test_what_is_not_modelled() -> None:
    async def connect() -> None:
        await asyncio.open_connection("localhost", 1)

    with pytest.raises(mazurka.MazurkaError, match="calls create_connection of its event loop"):
        explore(connect)
    with pytest.raises(mazurka.MazurkaError, match="SelectorEventLoop"):
        explore(lambda: asyncio.SelectorEventLoop())


def test_a_refused_loop_is_collected_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    ignored: list[str] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda found: ignored.append(str(found.exc_value)))
    with pytest.raises(mazurka.MazurkaError):
        explore(lambda: asyncio.SelectorEventLoop())
    gc.collect()
    assert not ignored


def test_cut_executions_leave_nothing() -> None:
    """Coroutines whose clean-up awaits, and performs operations."""

    async def program() -> None:
        done = Atomic(0)

        async def work() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                done.add(1)

        await asyncio.gather(work(), work())

    assert only_failure(program).kind == "deadlock"


# Threads


def test_to_thread_races_with_a_task() -> None:
    async def program() -> int:
        account = Account()

        def deposit() -> None:
            account.balance += 1

        async def deposit_here() -> None:
            account.balance += 1

        await asyncio.gather(asyncio.to_thread(deposit), deposit_here())
        return account.balance

    assert outcomes(program) == {1, 2}


def test_to_thread_gives_results_and_exceptions() -> None:
    async def program() -> object:
        loop = asyncio.get_running_loop()
        with pytest.raises(ZeroDivisionError):
            await loop.run_in_executor(None, lambda: 1 // 0)
        return await asyncio.to_thread(lambda: threading.current_thread() is not main)

    main = threading.main_thread()
    assert outcomes(program) == {True}


def test_run_coroutine_threadsafe() -> None:
    def program() -> object:
        log: list[str] = []

        async def work(name: str) -> str:
            log.append(name)
            return name

        def submit() -> None:
            assert asyncio.run_coroutine_threadsafe(work("a"), loop).result() == "a"
            loop.call_soon_threadsafe(loop.stop)

        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=submit)
        thread.start()
        other = loop.create_task(work("b"))
        loop.run_forever()
        assert other.done() or len(log) == 1
        thread.join()
        loop.close()
        return "".join(log)

    assert outcomes(program) == {"ab", "ba", "a"}  # it may stop before the other begins


def test_closed_loops_take_nothing() -> None:
    def program() -> str:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.close)
        thread.start()
        try:
            loop.call_soon_threadsafe(print)
            result = "taken"
        except RuntimeError:
            result = "closed"
        thread.join()
        return result

    assert outcomes(program) == {"taken", "closed"}


def test_call_soon_from_another_thread_is_a_mistake() -> None:
    async def program() -> None:
        future = asyncio.get_running_loop().create_future()
        thread = threading.Thread(target=lambda: future.set_result(1))
        thread.start()
        await future
        thread.join()

    assert "Non-thread-safe operation" in only_failure(program).message


def test_loops_in_two_threads() -> None:
    def program() -> str:
        lock = threading.Lock()
        log: list[str] = []

        async def work(name: str) -> None:
            loop = asyncio.get_running_loop()
            await asyncio.sleep(0)
            with lock:
                log.append(name)
            assert asyncio.get_running_loop() is loop
            task = asyncio.current_task()
            assert task is not None
            assert task.get_loop() is loop

        def run() -> None:
            asyncio.run(work("b"))

        thread = threading.Thread(target=run)
        thread.start()
        asyncio.run(work("a"))
        thread.join()
        return "".join(log)

    result = explored(program)
    assert (result.executions, set(result.outcomes)) == (2, {"ab", "ba"})


def test_a_thread_without_a_loop_sees_none() -> None:
    async def program() -> bool:
        def look() -> bool:
            with pytest.raises(RuntimeError, match="no running event loop"):
                asyncio.get_running_loop()
            return True

        return await asyncio.to_thread(look)

    assert outcomes(program) == {True}


def test_a_loop_that_waits_for_nobody_is_a_deadlock() -> None:
    def program() -> None:
        loop = asyncio.new_event_loop()
        threading.Thread(target=loop.run_forever).start()

    failure = only_failure(program)
    assert failure.kind == "deadlock"
    assert "waits in the event loop, which has nothing to do" in failure.details[0]


def test_handing_over_reads_well() -> None:
    async def program() -> None:
        loop = asyncio.get_running_loop()
        event = asyncio.Event()

        def wake() -> None:
            loop.call_soon_threadsafe(event.set)

        thread = threading.Thread(target=wake)
        thread.start()
        await event.wait()
        thread.join()
        raise AssertionError

    steps = only_failure(program).steps
    assert "hand Event.set to the event loop" in [step.action for step in steps]
    assert all(step.group for step in steps if step.action.startswith("look at"))
    assert {step.thread for step in steps} == {"Task-1 (program)", "Thread-1 (wake)", "program"}


# Checks of coroutine functions


def test_check_of_a_coroutine_function() -> None:
    @mazurka.check
    async def test_fine(value: int) -> None:
        await asyncio.sleep(1)
        assert value == 1

    assert not asyncio.iscoroutinefunction(test_fine)
    test_fine(1)
    with pytest.raises(mazurka.CheckFailed):
        test_fine(2)
    assert mazurka.check(interleaved(2, 1)).executions == 6


def test_check_inside_a_running_loop() -> None:
    async def outside() -> int:
        loop = asyncio.get_running_loop()
        executions = explore(interleaved(2, 1)).executions
        assert asyncio.get_running_loop() is loop
        await asyncio.sleep(0)
        return executions

    assert asyncio.run(outside()) == 6


def test_the_real_asyncio_is_back() -> None:
    explored(interleaved(2, 1))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        loop = asyncio.new_event_loop()
    assert isinstance(loop, asyncio.SelectorEventLoop)
    loop.close()


def test_tasks_that_are_forgotten_when_they_are_done() -> None:
    """One of them has ended when its variable gets another one."""

    async def later() -> None:
        await asyncio.sleep(1)

    async def program() -> None:
        task = asyncio.create_task(later())
        await asyncio.sleep(0.5)
        task.cancel()
        task = asyncio.create_task(later())
        await task

    result = explore(lambda: asyncio.run(program()))
    assert result.verdict == "verified", result.warnings
    assert result.executions > 1

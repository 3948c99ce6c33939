"""Calls of `asyncio.to_thread`: when they go on is not explored, unless somebody can tell."""

import asyncio
import functools
import random
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import mazurka
from mazurka.python.library import event_loop
from mazurka.python.library.clock import BOOT
from tests.oracles.thread_call_programs import all_outcomes, generated, reference


def square(number: int) -> int:
    return number * number


@pytest.mark.parametrize(("calls", "expected"), [(1, 1), (2, 2), (3, 6)])
def test_independent_calls(calls: int, expected: int) -> None:
    """What is left is the order in which they end."""

    async def main() -> None:
        found = await asyncio.gather(*[asyncio.to_thread(square, n) for n in range(calls)])
        assert found == [n * n for n in range(calls)]

    result = mazurka.explore(lambda: asyncio.run(main()))
    assert result.verdict == "verified"
    assert result.executions == expected


def outcomes(main: Callable[[list[Any]], Any]) -> set[Any]:
    def program() -> object:
        seen: list[Any] = []
        asyncio.run(main(seen))
        return tuple(seen)

    result = mazurka.explore(program, stop_on_failure=False)
    return set(result.outcomes) | {failure.kind for failure in result.failures}


def test_one_that_is_cancelled_before_it_begins() -> None:
    async def main(seen: list[Any]) -> None:
        call = asyncio.create_task(asyncio.to_thread(seen.append, 1))
        other = asyncio.create_task(cancel(call))
        await asyncio.wait([call, other])

    async def cancel(call: Any) -> None:
        call.cancel()

    assert outcomes(main) == {(), (1,)}


@pytest.mark.parametrize("spins", [False, True])
def test_a_loop_that_blocks_before_it_begins(spins: bool) -> None:
    async def main(seen: list[Any]) -> None:
        event = threading.Event()
        await asyncio.gather(asyncio.to_thread(event.set), wait(event))

    async def wait(event: threading.Event) -> None:
        if spins:
            while not event.is_set():
                pass
        else:
            event.wait()

    assert outcomes(main) == {(), "livelock" if spins else "deadlock"}


def test_a_loop_that_blocks_for_ever_before_it_begins() -> None:
    def program() -> None:
        event = threading.Event()
        threading.Thread(target=lambda: asyncio.run(main(event)), daemon=True).start()
        event.wait()

    async def main(event: threading.Event) -> None:
        await asyncio.gather(asyncio.to_thread(event.set), block())

    async def block() -> None:
        threading.Event().wait()

    result = mazurka.explore(program)
    assert [failure.kind for failure in result.failures] == ["deadlock"]


def test_the_time_when_it_begins() -> None:
    async def main(seen: list[Any]) -> None:
        await asyncio.gather(asyncio.to_thread(look, seen), sleep())

    def look(seen: list[Any]) -> None:
        seen.append(time.monotonic() > BOOT + 4)

    async def sleep() -> None:
        time.sleep(5)

    assert outcomes(main) == {(False,), (True,)}


def test_a_loop_that_ends_before_it_begins() -> None:
    def program() -> object:
        seen: list[int] = []
        loop = asyncio.new_event_loop()
        loop.run_until_complete(main(seen))
        return tuple(seen)

    async def main(seen: list[int]) -> None:
        asyncio.get_running_loop().create_task(asyncio.to_thread(seen.append, 1))

    assert set(mazurka.explore(program).outcomes) == {(), (1,)}


def test_a_loop_that_pauses_before_it_begins() -> None:
    def program() -> None:
        event = threading.Event()
        loop = asyncio.new_event_loop()
        call = loop.create_task(asyncio.to_thread(event.set))
        loop.run_until_complete(asyncio.sleep(0))
        event.wait()
        loop.run_until_complete(call)

    result = mazurka.explore(program)
    assert [failure.kind for failure in result.failures] == ["deadlock"]


def test_an_executor_that_is_put_in_place_before_it_begins() -> None:
    async def main(seen: list[Any]) -> None:
        call = asyncio.create_task(asyncio.to_thread(lambda: None))
        await asyncio.gather(call, change(seen))

    async def change(seen: list[Any]) -> None:
        asyncio.get_running_loop().set_default_executor(Counting(seen))

    class Counting(ThreadPoolExecutor):
        def __init__(self, seen: list[Any]) -> None:
            super().__init__()
            self.seen = seen

        def submit(self, *arguments: Any, **options: Any) -> Any:
            self.seen.append(1)
            return super().submit(*arguments, **options)

    assert outcomes(main) == {(), (1,)}


def test_threads_that_are_scarce(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "ThreadPoolExecutor", functools.partial(ThreadPoolExecutor, 1))

    async def main(seen: list[Any]) -> None:
        event = threading.Event()
        await asyncio.gather(asyncio.to_thread(event.set), asyncio.to_thread(event.wait))

    assert outcomes(main) == {(), "deadlock"}


def test_generated_programs() -> None:
    assert sum(compare(seed, 40) for seed in range(20)) >= 5


@pytest.mark.slow
def test_more_generated_programs() -> None:
    assert sum(compare(seed, 600) for seed in range(20, 120)) >= 50


def compare(seed: int, most: int) -> bool:
    """Whether a program was small enough to be compared."""
    program = generated(random.Random(seed))
    with reference():
        expected = all_outcomes(program, most)
    if expected is None:
        return False
    assert all_outcomes(program, most * 2) == expected, program
    return True

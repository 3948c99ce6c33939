"""Small random programs of asyncio that call functions in threads, and the event loop without what
saves executions there.

The reference tells a loop of the end of a function as asyncio does, after the function may have
begun; its loop takes in all that was handed over whenever it looks; and tasks that are only a call
of `to_thread` go on like others.
"""

import asyncio
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import mazurka
from mazurka.engine.operation import WAIT
from mazurka.python.check import RUNNING
from mazurka.python.library import event_loop
from mazurka.python.library.thread_calls import ThreadCalls
from mazurka.python.primitives.loop_inbox import Inbox

# What a function does in its thread, and what a task does; some steps block the loop.
IN_THREAD = ["note", "note", "set", "wait", "raise", "time", "tell loop", "look"]
IN_TASK = [
    "note", "note", "yield", "yield", "look", "cancel", "set", "wait", "time", "sleep", "nested",
    "in executor", "lock", "raise", "callback", "executor",
]  # fmt: skip
ENDS = ["gather", "gather", "gather all", "first", "completed", "one by one", "leave", "timeout"]


@dataclass(frozen=True)
class Generated:
    """What each function does that is called in a thread, each other task, and the main task."""

    functions: tuple[tuple[str, ...], ...]
    tasks: tuple[tuple[str, ...], ...]
    mixed: bool  # whether the other tasks come first
    end: str


def generated(chance: random.Random) -> Generated:
    def steps(kinds: list[str], counts: list[int]) -> tuple[str, ...]:
        return tuple(chance.choice(kinds) for _ in range(chance.choice(counts)))

    functions = tuple(steps(IN_THREAD, [0, 1, 1]) for _ in range(chance.choice([1, 1, 2])))
    tasks = tuple(steps(IN_TASK, [1, 1, 2]) for _ in range(chance.choice([0, 1, 1])))
    return Generated(functions, tasks, chance.random() < 0.5, chance.choice(ENDS))


class World:
    """What the tasks and threads of one execution share."""

    def __init__(self) -> None:
        self.notes: Any = mazurka.Atomic(())
        self.event = threading.Event()
        self.lock = threading.Lock()
        self.calls: list[Any] = []
        self.loop: Any = None

    def note(self, what: object) -> None:
        self.notes.store((*self.notes.load(), what))

    def function(self, name: str, steps: tuple[str, ...]) -> str:
        for step in steps:
            if step == "set":
                self.event.set()
            elif step == "wait":
                self.event.wait()
            elif step == "raise":
                raise ValueError(name)
            elif step == "time":
                self.note((name, int(time.monotonic())))
            elif step == "tell loop":
                self.loop.call_soon_threadsafe(self.note, f"{name} told")
            elif step == "look":
                self.note((name, self.event.is_set()))
            else:
                self.note(name)
        return name

    async def task(self, name: str, steps: tuple[str, ...]) -> str:
        for step in steps:
            await self.step(name, step)
        return name

    async def step(self, name: str, step: str) -> None:
        if step == "yield":
            await asyncio.sleep(0)
        elif step == "look":
            self.note((name, [call.done() for call in self.calls], self.event.is_set()))
        elif step == "cancel":
            self.note((name, self.calls[0].cancel()))
        elif step == "sleep":
            await asyncio.sleep(5)
        elif step == "nested":
            self.note(await asyncio.to_thread(self.function, f"{name}+", ("note",)))
        elif step == "in executor":
            call = asyncio.get_running_loop().run_in_executor(None, self.function, f"{name}*", ())
            self.note((name, call.done()))
            self.note(await call)
        elif step == "lock":
            with self.lock:
                self.note(name)
        elif step == "callback":
            self.calls[0].add_done_callback(lambda call: self.note("done"))
        elif step == "executor":
            asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
        else:
            self.function(name, (step,))

    async def end(self, how: str, everything: list[Any]) -> object:
        if how == "gather":
            return await asyncio.gather(*everything)
        if how == "gather all":
            return [str(end) for end in await asyncio.gather(*everything, return_exceptions=True)]
        if how == "first":
            done, left = await asyncio.wait(everything, return_when=asyncio.FIRST_COMPLETED)
            return sorted(everything.index(task) for task in done), len(left)
        if how == "completed":
            return [await task for task in asyncio.as_completed(everything)]
        if how == "one by one":
            return [await task for task in everything]
        if how == "timeout":
            return await asyncio.wait_for(everything[0], 3)
        await asyncio.sleep(0)
        return None


def runnable(program: Generated) -> Callable[[], object]:
    async def main(world: World) -> object:
        world.loop = asyncio.get_running_loop()
        if not program.mixed:
            begin_calls(world)
        tasks = [
            asyncio.create_task(world.task(f"t{number}", steps))
            for number, steps in enumerate(program.tasks)
        ]
        if program.mixed:
            begin_calls(world)
        return await world.end(program.end, [*world.calls, *tasks])

    def begin_calls(world: World) -> None:
        for number, steps in enumerate(program.functions):
            call = asyncio.to_thread(world.function, f"f{number}", steps)
            world.calls.append(asyncio.create_task(call))

    def run() -> object:
        world = World()
        try:
            found: object = asyncio.run(main(world))
        except (ValueError, TimeoutError, asyncio.CancelledError, RuntimeError) as error:
            found = type(error).__name__
        return found, world.notes.load()

    return run


@contextmanager
def reference() -> Iterator[None]:
    def wait(inbox: Any) -> tuple[object, ...]:
        seen = inbox.seen

        def has_news(state: Any) -> bool:
            return bool(len(state.handles) > seen)

        state = RUNNING.check.runtime.perform(WAIT, inbox, has_news, None)
        return inbox.news(state)  # type: ignore[no-any-return]

    with (
        patch.object(Inbox, "wait", wait),
        patch.object(event_loop, "submitting_for", lambda loop, executor: nullcontext()),
        patch.object(ThreadCalls, "takes", lambda calls, task: False),
    ):
        yield


def all_outcomes(program: Generated, most: int) -> set[Any] | None:
    """What a program can give; None if there are too many executions."""
    result = mazurka.explore(
        runnable(program),
        instrument=None,
        max_executions=most,
        stop_on_failure=False,
        max_events=2000,
    )
    if result.executions >= most:
        return None
    kinds = {failure.kind for failure in result.failures}
    return set(map(repr, result.outcomes)) | kinds

"""Small random programs with executors and queues, and the standard library's own code for them.

The reference is a copy of the source of `queue` and `concurrent.futures` as Python has them.
Nothing in it is modelled but the locks, conditions, semaphores and threads that it consists of.
"""

import queue
import random
import sys
import threading
import time
from collections.abc import Callable
from concurrent import futures
from concurrent.futures import _base
from concurrent.futures import thread as pool_module
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import mazurka
from mazurka.python.check import RUNNING
from mazurka.python.runtime.standard_thread import own_state

MOST = 4000  # executions of the reference


# The reference


def copy_of(module: ModuleType, name: str, changes: dict[str, str]) -> Any:
    """A second module from the source of another, with some of it changed."""
    path = str(module.__file__)
    source = Path(path).read_text()
    for before, after in changes.items():
        assert before in source, before
        source = source.replace(before, after)
    made: Any = ModuleType(name)
    sys.modules[name] = made
    exec(compile(source, path, "exec"), vars(made))
    return made


def order() -> int:
    """Which of its maker's futures this is: so sets of them have the same order in both."""
    if RUNNING.check.runtime.current is None:
        return 0
    state = own_state()
    state.unseeded += 1  # a counter that these programs have no other use for
    return state.unseeded


def reference() -> SimpleNamespace:
    queues = copy_of(queue, "reference_queue", {})
    queues.time = lambda: time.monotonic()  # of whoever runs it
    base = copy_of(_base, "reference_base", {"key=id": "key=hash"})

    class Future(base.Future):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.order = order()

        def __hash__(self) -> int:
            return self.order

    base.Future = Future
    changes = {
        "from concurrent.futures import _base": "import reference_base as _base",
        "threading._register_atexit(_python_exit)": "",
        "hasattr(os, 'register_at_fork')": "False",
    }
    pools = copy_of(pool_module, "reference_thread", changes)
    pools._global_shutdown_lock = nullcontext()
    pools._threads_queues = {}
    pools.queue = SimpleNamespace(SimpleQueue=queues.Queue, Empty=queues.Empty)
    pools.weakref = SimpleNamespace(ref=lambda target, callback=None: lambda: target)
    return SimpleNamespace(
        Queue=queues.Queue,
        LifoQueue=queues.LifoQueue,
        PriorityQueue=queues.PriorityQueue,
        SimpleQueue=queues.Queue,  # what the one in C does is one step
        Empty=queues.Empty,
        Full=queues.Full,
        ThreadPoolExecutor=pools.ThreadPoolExecutor,
        Future=Future,
        wait=base.wait,
        as_completed=base.as_completed,
        errors=(base.CancelledError, base.TimeoutError, base.InvalidStateError),
    )


def modelled() -> SimpleNamespace:
    return SimpleNamespace(
        Queue=queue.Queue,
        LifoQueue=queue.LifoQueue,
        PriorityQueue=queue.PriorityQueue,
        SimpleQueue=lambda: queue.SimpleQueue(),
        Empty=queue.Empty,
        Full=queue.Full,
        ThreadPoolExecutor=futures.ThreadPoolExecutor,
        Future=futures.Future,
        wait=lambda *arguments, **options: futures.wait(*arguments, **options),
        as_completed=lambda *arguments: futures.as_completed(*arguments),
        errors=(futures.CancelledError, futures.TimeoutError, futures.InvalidStateError),
    )


# What a program does

Step = tuple[Any, ...]


@dataclass(frozen=True)
class Generated:
    """A program: what its threads do, one after the other."""

    kind: str
    size: int  # workers of the executor, or the size of the queue
    begin: tuple[Step, ...]  # what the main thread does before it starts the others
    threads: tuple[tuple[Step, ...], ...]  # the first is the main thread


def task(number: int, kind: str, world: Any) -> Any:
    """What a task of an executor does."""
    if kind == "count":
        return number, world.counter.fetch_add(1)
    if kind == "raise":
        raise ZeroDivisionError(number)
    if kind == "set":
        world.event.set()
    elif kind == "wait":
        world.event.wait()
    elif kind == "nested":
        return world.pool.submit(task, number + 10, "plain", world)
    elif kind == "ask" and world.asked.load() is not None:
        return world.asked.load().result()
    return number


class World:
    """What the threads of one execution share."""

    def __init__(self, library: Any, program: Generated) -> None:
        self.library = library
        self.counter = mazurka.Atomic(0)
        self.called: Any = mazurka.Atomic(())
        self.event = threading.Event()
        self.asked: Any = mazurka.Atomic(None)  # the future that tasks wait for
        if program.kind == "executor":
            self.pool = library.ThreadPoolExecutor(program.size)
        else:
            new = getattr(library, program.kind)
            self.queue = new() if program.kind == "SimpleQueue" else new(program.size)


class Actor:
    """One thread of a program."""

    def __init__(self, world: World, own: list[Any]) -> None:
        self.world = world
        self.own = own  # its futures
        self.seen: list[Any] = []

    def run(self, steps: tuple[Step, ...]) -> None:
        for name, *arguments in steps:
            self.seen.append(self.attempt(getattr(self, name), arguments))

    def attempt(self, method: Callable[..., Any], arguments: list[Any]) -> Any:
        library = self.world.library
        try:
            return plain(method(*arguments), library)
        except library.errors as error:
            return type(error).__name__
        except (ZeroDivisionError, RuntimeError, ValueError) as error:
            return type(error).__name__
        except library.Empty:
            return "Empty"
        except library.Full:
            return "Full"

    # Executors

    def submit(self, kind: str) -> None:
        world = self.world
        future = world.pool.submit(task, len(self.own), kind, world)
        self.own.append(future)
        if kind == "plain" and world.asked.load() is None:
            world.asked.store(future)

    def on(self, place: int, method: str, *arguments: Any) -> Any:
        if place >= len(self.own):
            return None
        return getattr(self.own[place], method)(*arguments)

    def call_back(self, place: int) -> Any:
        if place < len(self.own):
            self.own[place].add_done_callback(self.called)

    def called(self, future: Any) -> None:
        here = RUNNING.check.runtime.current
        assert here is not None
        before = self.world.called.load()
        self.world.called.store((*before, ("main" if here.id == 0 else "other", future.done())))

    def wait_for(self, when: str, timeout: float | None) -> Any:
        done, left = self.world.library.wait(self.own, timeout, when)
        return numbers(done, self.own), numbers(left, self.own)

    def complete(self, timeout: float | None, most: int) -> Any:
        found = []
        for future in self.world.library.as_completed(self.own, timeout):
            found.append(self.own.index(future))
            if len(found) == most:
                break
        return tuple(found)

    def map(self, count: int) -> Any:
        return tuple(
            self.world.pool.map(task, range(count), ["count"] * count, [self.world] * count)
        )

    def shutdown(self, wait: bool, cancels: bool) -> None:
        self.world.pool.shutdown(wait, cancel_futures=cancels)

    # Queues

    def q(self, method: str, *arguments: Any) -> Any:
        return getattr(self.world.queue, method)(*arguments)


def numbers(some: Any, futures: list[Any]) -> tuple[int, ...]:
    return tuple(place for place, future in enumerate(futures) if future in some)


def plain(value: Any, library: Any) -> Any:
    if isinstance(value, BaseException):
        return type(value).__name__
    return "future" if isinstance(value, library.Future) else value


def runnable(program: Generated, library: Any) -> Callable[[], object]:
    def run() -> object:
        world = World(library, program)
        kept.append(world)
        main = Actor(world, [])
        main.run(program.begin)
        actors = [Actor(world, list(main.own)) for _ in program.threads[1:]]
        threads = [
            threading.Thread(target=actor.run, args=(steps,))
            for actor, steps in zip(actors, program.threads[1:], strict=True)
        ]
        for thread in threads:
            thread.start()
        main.run(program.threads[0])
        for thread in threads:
            thread.join()
        if program.kind == "executor":
            world.pool.shutdown()
        return tuple(tuple(actor.seen) for actor in [main, *actors]), world.called.load()

    kept: list[Any] = []  # an executor must not vanish
    return run


# How programs are made

TASKS = ["plain", "plain", "count", "raise", "set", "wait", "nested", "ask"]
LOOKS = [
    ("result",), ("result",), ("result", 1), ("exception",), ("cancel",), ("cancel",), ("done",),
    ("running",), ("cancelled",),
]  # fmt: skip
WHEN = ["ALL_COMPLETED", "FIRST_COMPLETED", "FIRST_EXCEPTION"]


def executor_step(chance: random.Random, tasks: int) -> Step:
    place = chance.randrange(max(tasks, 1))
    dice = chance.random()
    if dice < 0.5:
        return ("on", place, *chance.choice(LOOKS))
    if dice < 0.62:
        return ("call_back", place)
    if dice < 0.78:
        return ("wait_for", chance.choice(WHEN), chance.choice([None, None, 1]))
    if dice < 0.92:
        return ("complete", chance.choice([None, None, 1]), chance.choice([1, 9]))
    return ("shutdown", chance.random() < 0.5, chance.random() < 0.5)


def executor_program(chance: random.Random) -> Generated:
    tasks = chance.choice([1, 2, 2])
    main: list[Step] = [("submit", chance.choice(TASKS)) for _ in range(tasks)]
    if chance.random() < 0.1:
        main = [("map", tasks)]
    looks = [executor_step(chance, tasks) for _ in range(chance.choice([1, 2]))]
    looks = [("submit", "plain") if chance.random() < 0.1 else step for step in looks]
    threads = [tuple(looks)]
    if chance.random() < 0.3:
        threads.append((executor_step(chance, tasks),))
    return Generated("executor", chance.choice([1, 1, 2]), tuple(main), tuple(threads))


QUEUE_STEPS = [
    ("put", 1), ("put", 2), ("put", 3), ("get",), ("get",), ("get", False), ("put", 4, False),
    ("get", True, 1), ("qsize",), ("empty",),
]  # fmt: skip
COUNTED_STEPS = [("task_done",), ("task_done",), ("join",)]


def queue_program(chance: random.Random) -> Generated:
    kind = chance.choice(["Queue", "Queue", "Queue", "LifoQueue", "PriorityQueue", "SimpleQueue"])
    steps = QUEUE_STEPS if kind == "SimpleQueue" else [*QUEUE_STEPS, *COUNTED_STEPS]
    if chance.random() < 0.6:  # nothing that looks at all of it
        steps = [("put", 1), ("put", 2), ("get",), ("get",)]
        steps += [] if kind == "SimpleQueue" else COUNTED_STEPS
    threads = tuple(
        tuple(("q", *chance.choice(steps)) for _ in range(chance.choice([1, 2, 2, 3])))
        for _ in range(chance.choice([2, 3]))
    )
    return Generated(kind, chance.choice([0, 0, 1, 2]), (), threads)


# Comparing


def all_outcomes(program: Generated, library: Any, most: int) -> set[Any] | None:
    """What a program can give, deadlock among it; None if there are too many executions."""
    result = mazurka.explore(
        runnable(program, library),
        instrument=None,
        max_executions=most,
        stop_on_failure=False,
        max_events=3000,
    )
    if result.executions >= most:
        return None
    kinds = {failure.kind for failure in result.failures}
    return set(result.outcomes) | kinds

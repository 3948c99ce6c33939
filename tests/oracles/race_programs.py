"""Small programs with plain variables and synchronisation, explored at both granularities.

A program is a tuple of threads, a thread a tuple of instructions, an instruction a tuple that
begins with its name. Every thread logs what it reads, and `if` tests what it read last.
"""

from collections import deque
from typing import Any

import mazurka
from mazurka.engine.event import Event
from mazurka.engine.order import HappensBefore
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.explore.algorithms import ALGORITHMS
from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import read, write
from mazurka.python.memory.containers import call_method, length, load_item, store_item
from mazurka.python.program import PythonProgram
from tests.oracles.checks import check_of_objects

Thread = tuple[tuple[Any, ...], ...]
Program = tuple[Thread, ...]


class Shared:
    """What the threads of a generated program share."""

    def __init__(self) -> None:
        self.x = 0
        self.y = 0
        self.locks: list[Any] = [mazurka.Lock(), mazurka.RLock()]
        self.semaphore = mazurka.Semaphore(1)
        self.event = mazurka.Event()
        self.atomic = mazurka.Atomic(0)
        self.queue = mazurka.Queue()
        self.list: list[Any] = [0]
        self.dict: dict[Any, Any] = {0: 0}
        RUNNING.check.objects.share(self, "shared")


def run_program(program: Program) -> object:
    """Main starts all threads but the first, which it runs itself, and joins them."""
    shared = Shared()
    handles = [mazurka.spawn(run_thread, shared, thread) for thread in program[1:]]
    logs = [run_thread(shared, program[0])]
    logs += [handle.join() for handle in handles]
    read(shared, "x")
    length(shared.list)
    return (tuple(logs), shared.x, shared.y, tuple(shared.list), tuple(shared.dict.items()))


def run_thread(shared: Shared, thread: Thread) -> tuple[object, ...]:
    log: deque[object] = deque([0])
    run_block(shared, thread, log)
    return tuple(log)


def run_block(shared: Shared, block: Thread, log: "deque[object]") -> None:
    for name, *rest in block:
        if name == "if":
            if log[-1]:
                run_block(shared, rest[0], log)
        elif name == "with":
            with shared.locks[rest[0]]:
                run_block(shared, rest[1], log)
        elif name == "semaphore":
            with shared.semaphore:
                run_block(shared, rest[0], log)
        elif name == "read":
            read(shared, rest[0])
            log.append(getattr(shared, rest[0]))
        elif name == "write":
            write(shared, *rest)
            setattr(shared, *rest)
        elif name in SYNCHRONISATION:
            synchronise(shared, name, log)
        else:
            access_container(shared, name, rest, log)


SYNCHRONISATION = ("set", "wait", "store", "load", "add", "put", "get")


def synchronise(shared: Shared, name: str, log: "deque[object]") -> None:
    if name == "set":
        shared.event.set()
    elif name == "wait":
        shared.event.wait()
    elif name == "store":
        shared.atomic.store(1)
    elif name == "load":
        log.append(shared.atomic.load())
    elif name == "add":
        shared.atomic.add(1)
    elif name == "put":
        shared.queue.put(1)
    else:
        log.append(shared.queue.get())


def access_container(shared: Shared, name: str, rest: list[Any], log: "deque[object]") -> None:
    if name == "append":
        call_method(shared.list.append, 1)
    elif name == "length":
        log.append(length(shared.list))
    elif name == "index":
        log.append(load_item(shared.list, 0))
    elif name == "set item":
        store_item(shared.dict, rest[0], 1)
    elif name == "items":
        log.append(length(shared.dict))
    else:
        log.append(call_method(shared.dict.get, rest[0]))


class Exploration:
    """A program at one granularity."""

    def __init__(self, program: Program, granularity: str, algorithm: str, most: int) -> None:
        self.has_race = False  # as the happens-before order of all accesses shows it
        self.result = Result(algorithm=algorithm)
        with check_of_objects() as check:
            is_coarse = granularity == "sync"
            front_end = PythonProgram(check, lambda: run_program(program), watches_races=is_coarse)
            search = Search(front_end, self.result, False, most, None, None, self.observe)
            self.finished = ALGORITHMS[algorithm](search).explore()
        self.outcomes = set(search.outcomes)
        self.failures = {failure.kind for failure in self.result.failures}

    def observe(self, program: EngineProgram) -> None:
        order = HappensBefore(program.values)
        for event in program.events:
            order.extend(event)
            self.has_race |= any(is_ordinary(earlier) for earlier in event.races)


def is_ordinary(event: Event) -> bool:
    """Whether an event is an access to an ordinary object."""
    if event.location < 0:
        return False
    return RUNNING.check.runtime.names.locations[event.location].owner is not None


def disagreement(program: Program, algorithm: str, most: int = 1000) -> str | None:
    """What is wrong with the granularity of synchronisation on a program; None if nothing is, "" if
    the program is too large."""
    every = Exploration(program, "access", "pop", most)  # which orders events as they come
    if not every.finished:
        return ""
    coarse = Exploration(program, "sync", algorithm, most)
    told = "data race" in coarse.failures
    if told != every.has_race:
        return f"data race: {every.has_race}, told: {told}"
    if told:
        return None
    # Accesses that are all ordered have no orders of their own: there are as many traces.
    if coarse.result.executions != every.result.executions:
        return f"{coarse.result.executions} executions instead of {every.result.executions}"
    if (coarse.outcomes, coarse.failures) != (every.outcomes, every.failures):
        missing, extra = every.outcomes - coarse.outcomes, coarse.outcomes - every.outcomes
        return f"misses {missing}, invents {extra}, fails with {coarse.failures}"
    return None

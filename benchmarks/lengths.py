"""What an event costs, by how many there are in an execution: for every operation, in programs of
2 and of 8 threads, with every search. The cost should not grow with the length."""

import csv
import queue
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from rich import box
from rich.table import Table

import mazurka
from benchmarks.measure import MAX_EVENTS

Program = Callable[[], object]
Work = Callable[[int, int], object]  # of one thread: its number, and how often

LENGTHS: Final = (1_000, 10_000, 100_000)
THREADS: Final = (2, 8)
FEW: Final = 10  # operations, of a program that shows what everything else takes
REPEATS: Final = 3
EXECUTIONS: Final = 2  # the second one shows what it takes to find races and to reverse one

SEARCHES: Final[dict[str, dict[str, object]]] = {
    "pop": {},
    "optimal": {},
    "source": {},
    "trust": {},
    "reads-from": {"algorithm": "trust", "equivalence": "reads-from"},
    "preemptions": {"algorithm": "trust", "preemptions": 1},
    "qpor": {},
    "naive": {},
    "random": {},
    "pct": {},
    "pos": {},
}


@dataclass(frozen=True)
class Operation:
    """An operation, by programs that do little else."""

    name: str
    events: int  # for each round
    make: Callable[[int], Work]  # what the threads share, for so many of them
    is_ordinary: bool = False  # whether it shows in rewritten code alone


def rounds_of(step: Callable[[], object]) -> Work:
    """The same step in every round."""

    def work(_: int, rounds: int) -> None:
        for _ in range(rounds):
            step()

    return work


def loads(_: int) -> Work:
    return rounds_of(mazurka.Atomic(0).load)


def stores(_: int) -> Work:
    shared = mazurka.Atomic(0)
    return rounds_of(lambda: shared.store(1))


def own_stores(threads: int) -> Work:
    shared = [mazurka.Atomic(0) for _ in range(threads)]

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared[thread].store(1)

    return work


def exchanges(_: int) -> Work:
    shared = mazurka.Atomic(0)
    return rounds_of(lambda: shared.exchange(1))


def failing_exchanges(_: int) -> Work:
    shared = mazurka.Atomic(0)
    return rounds_of(lambda: shared.compare_exchange(1, 2))


def succeeding_exchanges(_: int) -> Work:
    shared = mazurka.Atomic(0)
    return rounds_of(lambda: shared.compare_exchange(0, 0))


def fetch_adds(_: int) -> Work:
    shared = mazurka.Atomic(0)
    return rounds_of(lambda: shared.fetch_add(1))


def adds(_: int) -> Work:
    shared = mazurka.Atomic(0)
    return rounds_of(lambda: shared.add(1))


def awaits(_: int) -> Work:
    shared = mazurka.Atomic(0)
    return rounds_of(lambda: shared.await_value(lambda value: value == 0))


def locked(_: int) -> Work:
    lock = mazurka.Lock()

    def step() -> None:
        with lock:
            pass

    return rounds_of(step)


def lock_tries(_: int) -> Work:
    lock = mazurka.Lock()

    def step() -> None:
        if lock.acquire(blocking=False):
            lock.release()

    return rounds_of(step)


def semaphore(value: int) -> Callable[[int], Work]:
    def make(_: int) -> Work:
        shared = mazurka.Semaphore(value)

        def step() -> None:
            shared.acquire()
            shared.release()

        return rounds_of(step)

    return make


def flags(_: int) -> Work:
    flag = mazurka.Event()

    def step() -> None:
        flag.set()
        flag.wait()

    return rounds_of(step)


def notified(_: int) -> Work:
    condition = mazurka.Condition()

    def step() -> None:
        with condition:
            condition.notify()

    return rounds_of(step)


def queued(_: int) -> Work:
    shared: mazurka.Queue[int] = mazurka.Queue()

    def step() -> None:
        shared.put(1)
        shared.get()

    return rounds_of(step)


def simply_queued(_: int) -> Work:
    shared: queue.SimpleQueue[int] = queue.SimpleQueue()

    def step() -> None:
        shared.put(1)
        shared.get()

    return rounds_of(step)


def barriers(threads: int) -> Work:
    return rounds_of(mazurka.Barrier(threads).wait)


def choices(_: int) -> Work:
    return rounds_of(lambda: mazurka.choose([0, 1]))


def spawns(_: int) -> Work:
    def step() -> None:
        mazurka.spawn(int).join()

    return rounds_of(step)


class Box:
    def __init__(self) -> None:
        self.item = 0


def attribute_reads(_: int) -> Work:
    shared = Box()
    shared.item = 1

    def work(thread: int, rounds: int) -> None:
        shared.item = thread
        for _ in range(rounds):
            shared.item  # noqa: B018

    return work


def attribute_writes(_: int) -> Work:
    shared = Box()

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared.item = thread

    return work


def standard_locks(_: int) -> Work:
    lock = threading.Lock()

    def work(_: int, rounds: int) -> None:
        for _ in range(rounds):
            with lock:
                pass

    return work


def index_reads(_: int) -> Work:
    shared = [0] * 8

    def work(thread: int, rounds: int) -> None:
        shared[thread] = 1
        for _ in range(rounds):
            shared[thread]

    return work


def index_writes(_: int) -> Work:
    shared = [0] * 8

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared[thread] = 1

    return work


def same_index_writes(_: int) -> Work:
    shared = [0] * 8

    def work(_: int, rounds: int) -> None:
        for _ in range(rounds):
            shared[0] = 1

    return work


def lengths(_: int) -> Work:
    shared = [0]

    def work(thread: int, rounds: int) -> None:
        shared.append(thread)
        for _ in range(rounds):
            len(shared)

    return work


def appends(_: int) -> Work:
    shared: list[int] = []

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared.append(thread)

    return work


def key_reads(_: int) -> Work:
    shared = dict.fromkeys(range(8), 0)

    def work(thread: int, rounds: int) -> None:
        shared[thread] = 1
        for _ in range(rounds):
            shared[thread]

    return work


def key_writes(_: int) -> Work:
    shared = dict.fromkeys(range(8), 0)

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared[thread] = 1

    return work


def keys_put_and_taken(_: int) -> Work:
    shared: dict[int, int] = {}

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared[thread] = 1
            del shared[thread]

    return work


def new_keys(_: int) -> Work:
    shared: dict[tuple[int, int], int] = {}

    def work(thread: int, rounds: int) -> None:
        for key in range(rounds):
            shared[thread, key] = 1

    return work


def elements(_: int) -> Work:
    shared: set[int] = set()

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared.add(thread)
            shared.discard(thread)

    return work


def deques(_: int) -> Work:
    shared: deque[int] = deque()

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared.append(thread)
            shared.popleft()

    return work


def large_items(_: int) -> Work:
    """Steps on items of an object of many megabytes."""
    shared = bytearray(20_000_000)

    def work(thread: int, rounds: int) -> None:
        for _ in range(rounds):
            shared[thread] = 1

    return work


OPERATIONS: Final = (
    Operation("load", 1, loads),
    Operation("store", 1, stores),
    Operation("store to one's own", 1, own_stores),
    Operation("exchange", 1, exchanges),
    Operation("compare_exchange that fails", 1, failing_exchanges),
    Operation("compare_exchange", 1, succeeding_exchanges),
    Operation("fetch_add", 1, fetch_adds),
    Operation("add", 1, adds),
    Operation("await", 1, awaits),
    Operation("lock", 2, locked),
    Operation("lock, tried", 2, lock_tries),
    Operation("Semaphore(1)", 2, semaphore(1)),
    Operation("Semaphore(8)", 2, semaphore(8)),
    Operation("Event", 2, flags),
    Operation("Condition, notify", 3, notified),
    Operation("Queue", 2, queued),
    Operation("SimpleQueue", 2, simply_queued, True),
    Operation("Barrier", 3, barriers),
    Operation("choose", 1, choices),
    Operation("spawn, join", 2, spawns),
    Operation("attribute, read", 1, attribute_reads, True),
    Operation("attribute, written", 1, attribute_writes, True),
    Operation("threading.Lock", 2, standard_locks, True),
    Operation("list item, read", 1, index_reads, True),
    Operation("list item, own, written", 1, index_writes, True),
    Operation("list item, same, written", 1, same_index_writes, True),
    Operation("list, length", 1, lengths, True),
    Operation("list, append", 1, appends, True),
    Operation("dict item, read", 1, key_reads, True),
    Operation("dict item, written", 1, key_writes, True),
    Operation("dict item, put and taken", 2, keys_put_and_taken, True),
    Operation("dict item, new", 1, new_keys, True),
    Operation("set, add and discard", 2, elements, True),
    Operation("deque, append and popleft", 2, deques, True),
    Operation("bytearray of 20 MB, item", 1, large_items, True),
)


@dataclass(frozen=True)
class Cost:
    """What an event of one operation costs in executions of several lengths."""

    operation: str
    search: str
    threads: int
    microseconds: tuple[float, ...]  # for each length; shorter if it took too long

    @property
    def growth(self) -> float:
        """How many times as much an event costs in the longest execution as in the shortest."""
        return self.microseconds[-1] / max(self.microseconds[0], 1e-9)


def program_of(operation: Operation, threads: int, events: int) -> Program:
    rounds = max(1, events // (operation.events * threads))

    def program() -> None:
        work = operation.make(threads)
        handles = [mazurka.spawn(work, thread, rounds) for thread in range(threads)]
        for handle in handles:
            handle.join()

    return program


def seconds_for(operation: Operation, search: str, threads: int, events: int) -> float:
    """CPU time for each execution. (Every check runs its first one twice more.)"""
    options: dict[str, object] = {"algorithm": search, **SEARCHES[search]}
    begin = time.process_time()
    result = mazurka.explore(
        program_of(operation, threads, events),
        max_executions=EXECUTIONS,
        max_events=MAX_EVENTS,
        instrument=() if operation.is_ordinary else None,
        **options,  # type: ignore[arg-type]
    )
    assert not result.failures, result.failures
    return (time.process_time() - begin) / result.executions


def cost_of(
    operation: Operation, search: str, threads: int, lengths: tuple[int, ...], patience: float
) -> Cost:
    """Longer executions are left out when they would take longer than `patience` seconds, if the
    cost of an event went on growing as it does."""
    few = FEW * threads
    least = min(seconds_for(operation, search, threads, few) for _ in range(REPEATS))
    costs: list[float] = []
    for place, length in enumerate(lengths):
        repeats = REPEATS if length == lengths[0] else 1  # short ones are soon disturbed
        seconds = min(seconds_for(operation, search, threads, length) for _ in range(repeats))
        seconds -= least
        costs.append(max(seconds, 0.0) / (length - few) * 1e6)
        growth = max(1.0, costs[-1] / max(costs[-2], 1e-9)) if len(costs) > 1 else 1.0
        following = lengths[min(place + 1, len(lengths) - 1)]
        if seconds * growth * following / length > patience:
            break
    return Cost(operation.name, search, threads, tuple(costs))


def render(costs: list[Cost], lengths: tuple[int, ...]) -> Table:
    table = Table(title="microseconds for each event", box=box.SIMPLE_HEAD)
    table.add_column("operation", no_wrap=True)
    table.add_column("search", no_wrap=True)
    table.add_column("threads", justify="right")
    for length in lengths:
        table.add_column(f"{length:,}", justify="right")
    table.add_column("grows", justify="right")
    for cost in costs:
        figures = [f"{figure:.1f}" for figure in cost.microseconds]
        figures += ["-"] * (len(lengths) - len(figures))
        table.add_row(
            cost.operation, cost.search, str(cost.threads), *figures, f"{cost.growth:.1f}"
        )
    return table


def written(costs: list[Cost], lengths: tuple[int, ...], path: str) -> None:
    """Write the figures to a file from which they can be plotted."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(("operation", "search", "threads", "events", "microseconds per event"))
        for cost in costs:
            for length, figure in zip(lengths, cost.microseconds, strict=False):
                row = (cost.operation, cost.search, cost.threads, length, f"{figure:.2f}")
                writer.writerow(row)

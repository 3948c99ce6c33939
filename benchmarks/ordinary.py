"""Programs as one writes them, with attributes, lists, dicts and `threading`, some of them from the
papers; and what it takes to run all of their executions, or to compute most."""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from rich import box
from rich.table import Table

import mazurka

Program = Callable[[], object]


def in_threads(works: list[Callable[[], object]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Numbers:
    def __init__(self) -> None:
        self.one = 1
        self.other = 1


def fibonacci(rounds: int) -> tuple[int, int]:
    """Two threads that add to two variables."""
    numbers = Numbers()

    def add_to_one() -> None:
        for _ in range(rounds):
            numbers.one = numbers.one + numbers.other

    def add_to_other() -> None:
        for _ in range(rounds):
            numbers.other = numbers.other + numbers.one

    in_threads([add_to_one, add_to_other])
    return numbers.one, numbers.other


def lastzero(writers: int) -> None:
    """Writers fill a list from the left, while a reader looks from the right for a zero."""
    cells = [0] * (writers + 1)

    def read() -> None:
        position = writers
        while cells[position] != 0:
            position -= 1

    def write(position: int) -> None:
        cells[position] = cells[position - 1] + 1

    in_threads([read, *[partial(write, position) for position in range(1, writers + 1)]])


def filesystem(thread_count: int) -> None:
    """Each thread allocates a disk block for its inode; thread t collides with thread t + 13."""
    inodes, busy = [0] * 32, [0] * 26
    inode_locks = [threading.Lock() for _ in inodes]
    block_locks = [threading.Lock() for _ in busy]

    def work(inode: int) -> None:
        with inode_locks[inode]:
            if inodes[inode] == 0:
                block = 2 * inode % len(busy)
                for _ in range(10):
                    with block_locks[block]:
                        if not busy[block]:
                            busy[block] = 1
                            inodes[inode] = block + 1
                            break
                    block = (block + 1) % len(busy)

    in_threads([partial(work, number) for number in range(thread_count)])


class Buffer:
    """A bounded buffer, as a monitor."""

    def __init__(self, room: int) -> None:
        self.items: list[int] = []
        self.room = room
        self.changed = threading.Condition()

    def put(self, item: int) -> None:
        with self.changed:
            while len(self.items) >= self.room:
                self.changed.wait()
            self.items.append(item)
            self.changed.notify_all()

    def get(self) -> int:
        with self.changed:
            while not self.items:
                self.changed.wait()
            item = self.items.pop(0)
            self.changed.notify_all()
            return item


def bounded_buffer(producers: int) -> None:
    """As many consumers; the buffer has room for one item."""
    buffer = Buffer(1)
    puts = [partial(buffer.put, number) for number in range(producers)]
    in_threads([*puts, *[buffer.get for _ in range(producers)]])


class Cache:
    """Values are made once, under a lock."""

    def __init__(self) -> None:
        self.values: dict[int, list[int]] = {}
        self.lock = threading.Lock()
        self.hits = 0

    def get(self, key: int) -> list[int]:
        value = self.values.get(key)
        if value is None:
            with self.lock:
                value = self.values.setdefault(key, [key])
        else:
            self.hits += 1
        return value


def cache(keys: int) -> None:
    """Three threads that ask for the same keys."""
    values = Cache()

    def ask() -> None:
        for key in range(keys):
            values.get(key)

    in_threads([ask] * 3)


PROGRAMS: dict[str, Program] = {
    "fibonacci(5)": partial(fibonacci, 5),
    "fibonacci(6)": partial(fibonacci, 6),
    "lastzero(12)": partial(lastzero, 12),
    "filesystem(22)": partial(filesystem, 22),
    "bounded-buffer(3)": partial(bounded_buffer, 3),
    "cache(2)": partial(cache, 2),
    "cache(3)": partial(cache, 3),
}


@dataclass(frozen=True)
class Compared:
    """A search that ran every execution, and one that computed those that it could."""

    name: str
    run: mazurka.Result
    run_seconds: float
    computed: mazurka.Result
    computed_seconds: float

    @property
    def is_equal(self) -> bool:
        return self.found(self.run) == self.found(self.computed)

    def found(self, result: mazurka.Result) -> tuple[object, ...]:
        return result.verdict, result.complete, result.blocked, result.outcomes


def compared(name: str, max_executions: int) -> Compared:
    run, run_seconds = explored(PROGRAMS[name], max_executions, remember=False)
    computed, computed_seconds = explored(PROGRAMS[name], max_executions, remember=True)
    return Compared(name, run, run_seconds, computed, computed_seconds)


def explored(program: Program, max_executions: int, remember: bool) -> tuple[mazurka.Result, float]:
    begun = time.process_time()
    result = mazurka.explore(
        program, remember=remember, max_executions=max_executions, stop_on_failure=False
    )
    return result, time.process_time() - begun


def render(rows: list[Compared]) -> Table:
    table = Table(title="Ordinary programs: every execution run, or most computed", box=box.SIMPLE)
    table.add_column("program", no_wrap=True)
    for heading in ("executions", "run, CPU s", "computed", "CPU s", "times as fast"):
        table.add_column(heading, justify="right")
    for row in rows:
        executions = row.run.executions
        table.add_row(
            row.name if row.is_equal else f"[red]{row.name}: differs[/]",
            f"{executions:,}",
            f"{row.run_seconds:.2f}",
            f"{100 * row.computed.computed / executions:.0f} %",
            f"{row.computed_seconds:.2f}",
            f"{row.run_seconds / row.computed_seconds:.1f}",
        )
    return table

"""Classic bugs: threads that wait for ever, or go on too early. Each fails.

mazurka check examples/bugs/waits.py::lost_wake_up
"""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress


def run(*functions: Callable[[], object]) -> None:
    """Run functions in threads of their own, and wait for all of them."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


class Transfers:
    def __init__(self) -> None:
        self.savings = threading.Lock()
        self.checking = threading.Lock()

    def save(self) -> None:
        with self.checking, self.savings:
            pass

    def spend(self) -> None:
        with self.savings, self.checking:
            pass


def abba() -> None:
    """Two locks, taken in two orders."""
    transfers = Transfers()
    run(transfers.save, transfers.spend)


def lost_wake_up() -> None:
    """The notification may come before the wait: nobody looks whether it is over."""
    ready = threading.Condition()

    def wait() -> None:
        with ready:
            ready.wait()

    def wake() -> None:
        with ready:
            ready.notify()

    run(wait, wake)


class Box:
    """Room for one item, or none."""

    def __init__(self) -> None:
        self.changed = threading.Condition()
        self.items: list[str] = []

    def put(self, item: str) -> None:
        with self.changed:
            self.items.append(item)
            self.changed.notify_all()

    def get(self) -> str:
        with self.changed:
            if not self.items:
                self.changed.wait()
            return self.items.pop()


def if_instead_of_while() -> None:
    """Two consumers are woken for one item, and the second one does not look again."""
    box = Box()

    def produce() -> None:
        box.put("tea")
        box.put("cake")

    run(box.get, box.get, produce)


class Door:
    def __init__(self) -> None:
        self.moved = threading.Condition()
        self.is_open = False

    def wait(self) -> None:
        with self.moved:
            while not self.is_open:
                self.moved.wait()

    def open(self) -> None:
        with self.moved:
            self.moved.notify_all()
        self.is_open = True


def notified_too_early() -> None:
    """The notification comes before what it tells of."""
    door = Door()
    run(door.wait, door.open)


class Pool:
    def __init__(self) -> None:
        self.slots = threading.Semaphore(1)

    def work(self, job: str) -> None:
        self.slots.acquire()
        if not job:
            raise ValueError("no job")
        self.slots.release()


def semaphore_leaked() -> None:
    """An exception leaves a slot taken."""
    pool = Pool()

    def try_nothing() -> None:
        with suppress(ValueError):
            pool.work("")

    run(try_nothing, lambda: pool.work("sweep"))


def executor_waits_for_itself() -> None:
    """The only worker waits for a task that only it could run."""
    with ThreadPoolExecutor(max_workers=1) as pool:

        def outer() -> int:
            return pool.submit(inner).result()

        def inner() -> int:
            return 1

        assert pool.submit(outer).result() == 1


class Polite:
    """Two threads that put back what they have for each other."""

    def __init__(self) -> None:
        self.fork = threading.Lock()
        self.spoon = threading.Lock()

    def eat(self, first: threading.Lock, second: threading.Lock) -> None:
        while True:
            first.acquire()
            if second.acquire(blocking=False):
                break
            first.release()
        second.release()
        first.release()


def livelock() -> None:
    table = Polite()
    run(
        lambda: table.eat(table.fork, table.spoon),
        lambda: table.eat(table.spoon, table.fork),
    )

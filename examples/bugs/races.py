"""Classic bugs: what threads do in between. Each fails; the report names the kind of bug.

mazurka check examples/bugs/races.py::lost_update
"""

import threading
from collections.abc import Callable

from mazurka import Atomic


def run(*functions: Callable[[], object]) -> None:
    """Run functions in threads of their own, and wait for all of them."""
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def lost_update() -> None:
    """Reading and writing back are two steps."""
    stats = {"hits": 0}

    def hit() -> None:
        stats["hits"] += 1

    run(hit, hit)
    assert stats["hits"] == 2


class Account:
    def __init__(self) -> None:
        self.balance = 100

    def withdraw(self, amount: int) -> None:
        if self.balance >= amount:
            self.balance -= amount


def check_then_act() -> None:
    """Both find enough money."""
    account = Account()
    run(lambda: account.withdraw(70), lambda: account.withdraw(70))
    assert account.balance >= 0


class Connection:
    pass


class Lazy:
    """Makes its connection when it is first asked for."""

    def __init__(self) -> None:
        self.connection: Connection | None = None

    def get(self) -> Connection:
        if self.connection is None:
            self.connection = Connection()
        return self.connection


def lazy_init() -> None:
    """Two threads that are both the first."""
    lazy = Lazy()
    found: list[Connection] = []
    run(lambda: found.append(lazy.get()), lambda: found.append(lazy.get()))
    assert found[0] is found[1]


class Settings:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.values: dict[str, int] | None = None

    def load(self) -> dict[str, int]:
        """Double-checked locking that publishes the dictionary before it is filled."""
        if self.values is None:
            with self.lock:
                if self.values is None:
                    self.values = {}
                    self.values["port"] = 80
        return self.values


def double_checked_lock() -> None:
    settings = Settings()
    run(lambda: settings.load()["port"], lambda: settings.load()["port"])


class Message:
    def __init__(self) -> None:
        self.text = ""
        self.ready = False


def unsafe_publication() -> None:
    """The flag is raised before the data is there."""
    message = Message()

    def send() -> None:
        message.ready = True
        message.text = "hello"

    def receive() -> None:
        if message.ready:
            assert message.text == "hello"

    run(send, receive)


class Span:
    """Two fields that belong together: the end is 10 after the begin."""

    def __init__(self) -> None:
        self.begin = 0
        self.end = 10

    def move(self) -> None:
        self.begin += 5
        self.end += 5


def torn_read() -> None:
    span = Span()

    def look() -> None:
        begin, end = span.begin, span.end
        assert end - begin == 10

    run(span.move, look)


def changed_while_iterated() -> None:
    """One thread goes through a dictionary, another one adds to it."""
    sessions = {"ann": 1, "bob": 2}

    def count() -> int:
        total = 0
        for name in sessions:
            total += sessions[name]
        return total

    def add() -> None:
        sessions["eve"] = 3

    run(count, add)


class Numbers:
    """An iterator that hands out numbers, to whoever asks."""

    def __init__(self) -> None:
        self.next_number = 0

    def __iter__(self) -> "Numbers":
        return self

    def __next__(self) -> int:
        number = self.next_number
        if number == 2:
            raise StopIteration
        self.next_number = number + 1
        return number


def iterator_shared() -> None:
    """Two threads take from one iterator."""
    numbers = Numbers()
    taken: list[int] = []

    def take() -> None:
        for number in numbers:
            taken.append(number)

    run(take, take)
    assert sorted(taken) == [0, 1]


class Jobs:
    """A list as a queue."""

    def __init__(self) -> None:
        self.waiting = ["job"]

    def take(self) -> str | None:
        if len(self.waiting) > 0:
            return self.waiting.pop()
        return None


def queue_wrapper() -> None:
    """Looking whether there is a job, and taking it, are two steps."""
    jobs = Jobs()
    run(jobs.take, jobs.take)


class Node:
    def __init__(self, name: str, below: "Node | None") -> None:
        self.name = name
        self.below = below

    def __repr__(self) -> str:
        return self.name


class Stack:
    """A stack without locks, which compares the top alone."""

    def __init__(self) -> None:
        self.b = Node("b", None)
        self.a = Node("a", self.b)
        self.top: Atomic[Node | None] = Atomic(self.a)

    def pop(self) -> Node | None:
        while True:
            top = self.top.load()
            if top is None:
                return None
            below = top.below
            if self.top.compare_exchange(top, below):
                return top

    def push(self, node: Node) -> None:
        node.below = self.top.load()
        self.top.store(node)


def aba() -> None:
    """While one thread is about to pop a, another one pops a and b, and puts a back."""
    stack = Stack()

    def reuse() -> None:
        first = stack.pop()
        stack.pop()
        if first is stack.a:
            stack.push(first)

    run(stack.pop, reuse)
    assert stack.top.load() is not stack.b, "b was popped, and is there again"


class ReadWriteLock:
    """Readers count themselves without a lock."""

    def __init__(self) -> None:
        self.readers = 0
        self.writing = threading.Lock()

    def begin_to_read(self) -> None:
        self.readers += 1
        if self.readers == 1:
            self.writing.acquire()

    def end_reading(self) -> None:
        self.readers -= 1
        if self.readers == 0:
            self.writing.release()


def read_write_lock() -> None:
    lock = ReadWriteLock()

    def read() -> None:
        lock.begin_to_read()
        lock.end_reading()

    run(read, read)
    assert not lock.writing.locked()

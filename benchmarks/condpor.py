"""Programs of "Optimal Concolic Dynamic Partial Order Reduction": the small ones of its text, the
synthetic ones of Tables 1 and 2, and those of SV-COMP in Table 9.

What a lock protects is plain data here, which Mazurka does not see. ``an_input`` stands for an
input. A lock that is held makes others wait, while the paper's tool has a blocked execution for
every attempt to take it: only the complete executions are the same, and the real deadlocks.
"""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from benchmarks.inputs import an_input
from benchmarks.pop import fibonacci
from mazurka import Atomic, Lock, assume, spawn

if TYPE_CHECKING:
    from mazurka.python.symbolic.values import SymbolicInt

Program = Callable[[], object]
T = TypeVar("T")


class Exclusive(Generic[T]):
    """An atomic object as in the paper's tool: any two operations on it conflict, even two gets.

    Every operation is one step, the next turn of the object, and a plain access right after it.
    """

    def __init__(self, value: T) -> None:
        self.turn = Atomic(0)
        self.value = value

    def take_turn(self) -> int:
        return self.turn.fetch_add(1)  # which gives its number: so turns do not commute

    def get(self) -> T:
        self.take_turn()
        return self.value

    def set(self, value: T) -> None:
        self.take_turn()
        self.value = value

    def swap(self, value: T) -> T:
        """Set the value, and give the one that was there."""
        old = self.get()
        self.value = value
        return old

    def replace(self, expected: T, new: T) -> bool:
        """Set the value if it is the expected one; tells whether it was."""
        if self.get() != expected:
            return False
        self.value = new
        return True


class Counter(Exclusive[int]):
    def increment(self) -> int:
        """Add one, and give the value before."""
        old = self.get()
        self.value = old + 1
        return old


class Unshared(Generic[T]):
    """A variable whose accesses need not be seen, with the methods of an Atomic."""

    def __init__(self, value: T) -> None:
        self.value = value

    def load(self) -> T:
        return self.value

    def store(self, value: T) -> None:
        self.value = value


def run_all(*bodies: Callable[[], object]) -> None:
    """Run threads, and wait for them."""
    threads = [spawn(body) for body in bodies]
    for thread in threads:
        thread.join()


def run_each(
    inserters: int,
    insert: Callable[[int], object],
    removers: int,
    remove: Callable[[int], object],
) -> None:
    """Run threads that insert and threads that remove, and wait for them; they are numbered."""
    threads = [spawn(insert, index) for index in range(inserters)]
    threads += [spawn(remove, index) for index in range(removers)]
    for thread in threads:
        thread.join()


# Programs in the text


def written_input() -> Program:
    """W+SW+R+R: whether a reader's check is about the input depends on what it reads."""

    def program() -> None:
        x = Atomic(0)
        y: Atomic[Any] = Atomic(0)

        def check() -> None:
            bool(y.load() == 42)

        run_all(lambda: x.store(1), lambda: y.store(an_input()), check, x.load)

    return program


def checked_input() -> Program:
    """RS+W: an error that takes both a schedule and an input."""

    def program() -> None:
        x = Atomic(0)

        def check() -> None:
            a = x.load()
            other = bool(an_input() != 42)  # asked whatever was read
            assert a == 0 or other

        run_all(check, lambda: x.store(1))

    return program


def assumed_input() -> Program:
    """The example of section 4.1: one thread assumes more of an input than another one asks."""

    def program() -> None:
        x = Atomic(0)
        a = an_input()

        def branch() -> None:
            if a > 0:
                x.store(1)

        spawn(x.load)
        spawn(lambda: assume(a > 42))
        spawn(branch)

    return program


def symbolic_pushes(pushes: int) -> Program:
    """Threads stamp elements with symbolic times; then the youngest element is looked for."""

    def program() -> None:
        youngest(pushes, an_input)

    return program


def counted_pushes(pushes: int) -> Program:
    """The same with times from a counter."""

    def program() -> None:
        youngest(pushes, Counter(0).increment)

    return program


def youngest(pushes: int, stamp: Callable[[], "int | SymbolicInt"]) -> None:
    times: list[Any] = [None] * pushes

    def push(position: int) -> None:
        times[position] = stamp()

    threads = [spawn(push, position) for position in range(pushes)]
    for thread in threads:
        thread.join()
    latest = times[0]
    for time in times[1:]:
        if latest < time:
            latest = time


# Synthetic programs


class CheckedQueue:
    """A queue of limited size with a record of what was put into it, all under one lock.

    It looks empty also when it is full.
    """

    def __init__(self, size: int) -> None:
        self.lock = Lock()
        self.elements: list[Any] = [None] * size
        self.record: list[Any] = [None] * size
        self.head = 0
        self.tail = 0
        self.may_put = True
        self.may_take = False

    def put(self, position: int) -> None:
        """Put an input into the queue and into the record."""
        element = an_input()
        self.elements[self.tail] = element
        self.tail = (self.tail + 1) % len(self.elements)
        self.record[position] = element

    def take(self) -> Any:
        element = self.elements[self.head]
        self.head = (self.head + 1) % len(self.elements)
        return element

    def is_empty(self) -> bool:
        return self.head == self.tail

    def next_to_take(self) -> None:
        self.may_put, self.may_take = False, True

    def next_to_put(self) -> None:
        self.may_put, self.may_take = True, False

    def fill(self) -> None:
        """Put as many elements as there is room for, if that is allowed."""
        if self.may_put:
            for position in range(len(self.elements)):
                self.put(position)
            self.next_to_take()

    def drain(self) -> bool:
        """Take all elements, if that is allowed; False if one of them is wrong."""
        if self.may_take:
            for expected in self.record:
                if not self.is_empty():
                    if self.take() != expected:
                        return False
                    self.next_to_put()
        return True


def sv_queue_1(size: int) -> Program:
    """One thread fills a queue, another drains it."""

    def program() -> None:
        queue = CheckedQueue(size)

        def producer() -> None:
            with queue.lock:
                queue.fill()

        def consumer() -> None:
            queue.lock.acquire()
            if queue.drain():  # a wrong element would leave it locked
                queue.lock.release()

        run_all(producer, consumer)

    return program


def sv_queue_2(size: int) -> Program:
    """The same, as many times as there is room in the queue."""

    def program() -> None:
        queue = CheckedQueue(size)

        def producer() -> None:
            for _ in range(size):
                with queue.lock:
                    queue.fill()

        def consumer() -> None:
            for _ in range(size):
                with queue.lock:
                    if not queue.drain():
                        return

        run_all(producer, consumer)

    return program


def sv_queue_3(size: int) -> Program:
    """Elements are put and taken one by one; the consumer may leave with the lock."""

    def program() -> None:
        queue = CheckedQueue(size)

        def producer() -> None:
            with queue.lock:
                queue.put(0)
                empty = queue.is_empty()
            if empty:
                return
            for position in range(1, size):
                with queue.lock:
                    if queue.may_put:
                        queue.put(position)
                        queue.next_to_take()

        def consumer() -> None:
            for expected in range(size):
                queue.lock.acquire()
                if queue.may_take:
                    element = queue.take()
                    if element is None or queue.record[expected] is None:
                        return
                    if element != queue.record[expected]:
                        queue.lock.release()
                        return
                    queue.next_to_put()
                queue.lock.release()

        run_all(producer, consumer)

    return program


def sv_stack_1(size: int) -> Program:
    """One thread pushes to a stack, another pops from it if it can."""

    def program() -> None:
        lock = Lock()
        stack: list[SymbolicInt] = []

        def producer() -> None:
            for _ in range(size):
                with lock:
                    push_small(stack, size)

        def consumer() -> None:
            for _ in range(size):
                with lock:
                    if stack:
                        stack.pop()

        run_all(producer, consumer)

    return program


def sv_stack_2(size: int) -> Program:
    """The same with a flag for the first push; the consumer may leave with the lock."""

    def program() -> None:
        lock = Lock()
        stack: list[SymbolicInt] = []
        pushed = False

        def producer() -> None:
            nonlocal pushed
            for _ in range(size):
                with lock:
                    push_small(stack, size)
                    pushed = True

        def consumer() -> None:
            for _ in range(size):
                lock.acquire()
                if pushed:
                    if not stack:
                        return
                    stack.pop()
                lock.release()

        run_all(producer, consumer)

    return program


def push_small(stack: list["SymbolicInt"], size: int) -> None:
    """Push an input, which is smaller than the stack, if that is not full."""
    element = an_input(hi=size - 1)
    if len(stack) != size:
        stack.append(element)


def counter_1(threads: int) -> Program:
    """Threads change one of two counters that one lock protects: which one is an input."""
    return lambda: count_by_parity(threads, [Lock()] * 2)


def counter_2(threads: int) -> Program:
    """The same with a lock for each counter."""
    return lambda: count_by_parity(threads, [Lock(), Lock()])


def count_by_parity(threads: int, locks: list[Lock]) -> None:
    counters = [0, 0]

    def change(amount: int) -> None:
        parity = 0 if an_input() % 2 == 0 else 1
        with locks[parity]:
            counters[parity] += amount

    started = [spawn(change, 1 if index % 2 == 0 else -1) for index in range(threads)]
    for thread in started:
        thread.join()


# Programs of SV-COMP


def big_shot_s() -> Program:
    """A string is cleared, then written unless it is clear."""

    def program() -> None:
        value = shoot(one_by_one)
        assert value == "" or value.startswith("b")

    return program


def big_shot_s2() -> Program:
    """The same, taken to be written."""

    def program() -> None:
        assert shoot(one_by_one).startswith("b")

    return program


def big_shot_p() -> Program:
    """The same with both threads at once."""

    def program() -> None:
        value = shoot(run_all)
        assert value == "" or value.startswith("b")

    return program


def one_by_one(*bodies: Callable[[], object]) -> None:
    for body in bodies:
        run_all(body)


def shoot(run: Callable[..., None]) -> str:
    value: Atomic[str | None] = Atomic(None)

    def write() -> None:
        if value.load() != "":
            value.store("bigshot")

    run(lambda: value.store(""), write)
    return value.load() or ""


def lazy_01() -> Program:
    """Two threads add to a number, and a third one finds it too large if it comes last."""

    def program() -> None:
        lock = Lock()
        data = 0

        def add(amount: int) -> None:
            nonlocal data
            with lock:
                data += amount

        def check() -> None:
            with lock:
                assert data < 3

        run_all(lambda: add(1), lambda: add(2), check)

    return program


def fib_bench_1(rounds: int) -> Program:
    """Two threads add two variables into each other under a lock, which main reads without."""
    bound = fibonacci(2 * rounds + 2)

    def program() -> None:
        assert max(fibonacci_race(rounds)) <= bound

    return program


def fib_bench_2(rounds: int) -> Program:
    """The same with a bound that can be reached."""
    bound = fibonacci(2 * rounds + 2)

    def program() -> None:
        assert max(fibonacci_race(rounds)) < bound

    return program


def fibonacci_race(rounds: int) -> tuple[int, int]:
    i = Atomic(1)
    j = Atomic(1)
    lock = Lock()

    def add(source: Atomic[int], target: Atomic[int]) -> None:
        for _ in range(rounds):
            with lock:
                target.store(target.load() + source.load())

    spawn(add, i, j)
    spawn(add, j, i)
    return i.load(), j.load()


def sigma(threads: int) -> Program:
    """Threads take the next place of an array, and some of them the same."""

    def program() -> None:
        last = Atomic(-1)
        places = [Atomic(0) for _ in range(threads)]

        def take() -> None:
            last.store(last.load() + 1)
            places[last.load()].store(1)

        run_all(*[take] * threads)
        assert sum(place.load() for place in places) == threads

    return program


def singleton() -> Program:
    """Four threads write a letter, and it need not be the one that three of them write."""

    def program() -> None:
        assert last_letter() == "X"

    return program


def singleton_wup() -> Program:
    """The same, content with either letter."""

    def program() -> None:
        assert last_letter() in ("X", "Y")

    return program


def last_letter() -> str:
    letter = Unshared("")
    lock = Lock()

    def write(text: str) -> None:
        with lock:
            letter.store(text)

    def starter() -> None:
        run_all(lambda: letter.store("0"))
        run_all(*(partial(write, text) for text in "XYXX"))

    run_all(starter)
    return letter.load()

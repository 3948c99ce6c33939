"""The locks of "Awaiting for Godot", with the loops that they wait in as they are.

A thread that waits does so in a loop that polls: what becomes of it is up to the search. Arrays are
tuples, so that looking an element up is no step.
"""

from collections.abc import Callable

from mazurka import Atomic, Lock, spawn

Program = Callable[[], object]


def start(thread_count: int, worker: Callable[[int], object], first: int = 0) -> None:
    for me in range(first, first + thread_count):
        spawn(worker, me)


def ttaslock(thread_count: int) -> Program:
    """Test and test-and-set: poll until the lock is free, then try to take it."""

    def program() -> None:
        lock = Atomic(0)
        data = Atomic(0)

        def worker(me: int) -> None:
            while True:
                while lock.load() != 0:
                    pass
                if lock.exchange(1) == 0:
                    break
            data.store(me)
            assert data.load() == me
            lock.store(0)

        start(thread_count, worker)

    return program


def twalock(thread_count: int) -> Program:
    """A ticket lock whose threads wait in an array as long as it is not nearly their turn."""
    slot_count = thread_count + 2

    def program() -> None:
        ticket = Atomic(0)
        grant = Atomic(0)
        slots = tuple(Atomic(0) for _ in range(slot_count))
        data = Atomic(0)

        def worker(me: int) -> None:
            mine = ticket.fetch_add(1)
            distance = mine - grant.load()
            if distance != 0:
                if distance > 1:
                    slot = slots[mine % slot_count]
                    seen = slot.load()
                    while mine - grant.load() > 1:
                        while (value := slot.load()) == seen:
                            pass
                        seen = value
                while grant.load() != mine:
                    pass
            data.store(me)
            assert data.load() == me
            following = grant.load() + 1
            grant.store(following)
            slots[(following + 1) % slot_count].add(1)

        start(thread_count, worker)

    return program


def mcslock(thread_count: int) -> Program:
    """A queue of threads, each of which waits for its predecessor to hand the lock over.

    The loop at the end is one that the paper's tools do not know for pure.
    """

    def program() -> None:
        tail = Atomic(0)
        following = tuple(Atomic(0) for _ in range(thread_count + 1))
        go = tuple(Atomic(0) for _ in range(thread_count + 1))

        def worker(me: int) -> None:
            my_turn, my_successor = go[me], following[me]
            my_turn.store(0)
            my_successor.store(0)
            predecessor = tail.exchange(me)
            if predecessor != 0:
                following[predecessor].store(me)
                while my_turn.load() == 0:
                    pass
            successor = my_successor.load()
            if successor == 0:
                if tail.compare_exchange(me, 0):
                    return
                while True:
                    successor = my_successor.load()
                    if successor != 0:
                        break
            go[successor].store(1)

        start(thread_count, worker, first=1)

    return program


PENDING = 0x100
LOCKED_OR_PENDING = 0x1FF
TAIL_SHIFT = 11


def qspinlock(thread_count: int) -> Program:
    """The queued spinlock of Linux: one word for the lock, a pending waiter and a queue."""

    def program() -> None:
        word = Atomic(0)
        following = tuple(Atomic(0) for _ in range(thread_count + 1))
        go = tuple(Atomic(0) for _ in range(thread_count + 1))

        def worker(me: int) -> None:
            acquire(me)
            word.add(-1)

        def acquire(me: int) -> None:
            value = word.compare_swap(0, 1)
            if value == 0:
                return
            if value == PENDING:
                while (value := word.load()) == PENDING:
                    pass
            while True:
                if value & ~0xFF:
                    queue_up(me)
                    return
                new = 1 if value == 0 else 1 | PENDING
                old = word.compare_swap(value, new)
                if old == value:
                    break
                value = old
            if new == 1:
                return
            while word.load() & 0xFF:
                pass
            word.add(1 - PENDING)

        def queue_up(me: int) -> None:
            tail = me << TAIL_SHIFT
            my_turn, my_successor = go[me], following[me]
            my_turn.store(0)
            my_successor.store(0)
            if word.load() == 0 and word.compare_exchange(0, 1):
                return
            value = word.load()
            while True:
                old = word.compare_swap(value, (value & LOCKED_OR_PENDING) | tail)
                if old == value:
                    break
                value = old
            successor = 0
            if old & ~LOCKED_OR_PENDING:
                following[old >> TAIL_SHIFT].store(me)
                while my_turn.load() == 0:
                    pass
                successor = my_successor.load()
            while (value := word.load()) & LOCKED_OR_PENDING != 0:
                pass
            while True:
                if value & ~LOCKED_OR_PENDING != tail:
                    word.fetch_add(1)  # the byte store of the original: nobody has the lock
                    break
                old = word.compare_swap(value, 1)
                if old == value:
                    return
                value = old
            if successor == 0:
                while (successor := my_successor.load()) == 0:
                    pass
            go[successor].store(1)

        start(thread_count, worker, first=1)

    return program


def mutex(thread_count: int) -> Program:
    """A mutex on a futex, whose sleepers wait for a signal."""

    def program() -> None:
        word = Atomic(0)  # 0: free, 1: held, 2: held, with waiters
        signal = Atomic(0)
        data = Atomic(0)

        def worker(me: int) -> None:
            if not word.compare_exchange(0, 1):
                while True:
                    word.compare_exchange(1, 2)
                    seen = signal.load()
                    if word.load() == 2:
                        while signal.load() == seen:
                            pass
                    if word.compare_exchange(0, 2):
                        break
            data.store(me)
            assert data.load() == me
            if not word.compare_exchange(1, 0):
                word.store(0)
                signal.add(1)

        start(thread_count, worker)

    return program


def mutex_musl(thread_count: int) -> Program:
    """The same as the musl library has it: with a count of those that wait."""

    def program() -> None:
        word = Atomic(0)
        waiters = Atomic(0)
        signal = Atomic(0)
        data = Atomic(0)

        def worker(me: int) -> None:
            if not word.compare_exchange(0, 1):
                while not word.compare_exchange(0, 1):
                    waiters.add(1)
                    word.compare_exchange(1, 2)
                    seen = signal.load()
                    if word.load() == 2:
                        while signal.load() == seen:
                            pass
                    waiters.add(-1)
            data.store(me)
            assert data.load() == me
            old = word.exchange(0)
            if waiters.load() > 0 or old != 1:
                signal.add(1)

        start(thread_count, worker)

    return program


FREE = 0x100000


def linuxrwlocks(writers: int, readers: int, both: int) -> Program:
    """Readers take one from a number, writers all of it; they put it back if that was not there."""

    def program() -> None:
        lock = Atomic(FREE)
        data = Atomic(0)

        def read_lock() -> None:
            found = lock.fetch_add(-1)
            while found <= 0:
                lock.add(1)
                while lock.load() <= 0:
                    pass
                found = lock.fetch_add(-1)

        def write_lock() -> None:
            found = lock.fetch_add(-FREE)
            while found != FREE:
                lock.add(FREE)
                while lock.load() != FREE:
                    pass
                found = lock.fetch_add(-FREE)

        def write(_: int) -> None:
            write_lock()
            data.store(42)
            lock.add(FREE)

        def read(_: int) -> None:
            read_lock()
            data.load()
            lock.add(1)

        def read_and_write(me: int) -> None:
            read(me)
            write(me)

        start(writers, write)
        start(readers, read)
        start(both, read_and_write)

    return program


def seqlock(writers: int, readers: int, both: int) -> Program:
    """Readers look at a sequence number before and after, and try again if it has changed."""

    def program() -> None:
        mutex = Lock()
        sequence = Atomic(0)
        data = Atomic(0)

        def read() -> int:
            while True:
                while (begin := sequence.load()) % 2 != 0:
                    pass
                value = data.load()
                if sequence.load() == begin:
                    return value

        def write(value: int) -> None:
            mutex.acquire()
            sequence.store(sequence.load() + 1)
            data.store(value)
            sequence.store(sequence.load() + 1)
            mutex.release()

        def read_and_write(_: int) -> None:
            write(read() + 1)

        start(readers, lambda _: read())
        start(writers, write, first=42)
        start(both, read_and_write)

    return program

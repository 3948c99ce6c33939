"""The programs of Table 1 in "Parsimonious Optimal Dynamic Partial Order Reduction".

Every function here takes the parameters that the table prints in parentheses and returns a program
for ``mazurka.explore``. All shared objects are created before the first spawn, so that nothing can
race with an initial value. A load whose value only feeds an assertion, or nothing at all, is there
because it counts as an event. Where ``main`` does not join its threads, neither does the original.
"""

from collections.abc import Callable

from mazurka import Atomic, Lock, spawn

Program = Callable[[], object]


def circular_buffer(rounds: int) -> Program:
    """A producer and a consumer try ``rounds`` times each to move one item through a buffer."""
    size = 10

    def program() -> None:
        slots = [Atomic(0) for _ in range(size)]
        write_position = Atomic(0)
        read_position = Atomic(0)
        last_sent = Atomic(0)
        may_send = Atomic(1)
        may_receive = Atomic(0)
        mutex = Lock()

        def producer() -> None:
            for item in range(rounds):
                with mutex:
                    if may_send.load():
                        position = write_position.load()
                        slots[position].store(item)
                        write_position.store((position + 1) % size)
                        last_sent.store(item)
                        may_send.store(0)
                        may_receive.store(1)

        def consumer() -> None:
            for _ in range(rounds):
                with mutex:
                    if may_receive.load():
                        # Never wrapped, which is what limits the rounds to the buffer's size.
                        position = read_position.load()
                        read_position.store(position + 1)
                        item = slots[position].load()
                        assert item == last_sent.load()
                        may_receive.store(0)
                        may_send.store(1)

        threads = [spawn(producer), spawn(consumer)]
        for thread in threads:
            thread.join()

    return program


def fib_bench(rounds: int) -> Program:
    """Two threads add two variables into each other, while ``main`` reads both."""
    bound = fibonacci(2 * rounds + 2)

    def program() -> None:
        p = Atomic(1)
        q = Atomic(1)

        def add_to_p() -> None:
            for _ in range(rounds):
                u = p.load()
                v = q.load()
                p.store(u + v)

        def add_to_q() -> None:
            for _ in range(rounds):
                u = q.load()
                v = p.load()
                q.store(u + v)

        spawn(add_to_p)
        spawn(add_to_q)
        # No join: these two loads race with every store.
        assert p.load() <= bound
        assert q.load() <= bound

    return program


def fibonacci(n: int) -> int:
    """The n-th Fibonacci number, counted from 1: 1, 1, 2, 3, 5, ..."""
    previous, current = 0, 1
    for _ in range(n - 1):
        previous, current = current, previous + current
    return current


def linuxrwlocks(rounds: int) -> Program:
    """Two threads try ``rounds`` times each to take a lock, and do not insist when it is held.

    In spite of its name this is a plain try-lock, not a lock for readers and writers.
    """

    def program() -> None:
        lock = Atomic(0)
        data = Atomic(0)

        def worker(me: int) -> None:
            for _ in range(rounds):
                if lock.compare_exchange(0, 1):
                    data.store(me)
                    assert data.load() == me
                    lock.store(0)

        threads = [spawn(worker, 1), spawn(worker, 2)]
        for thread in threads:
            thread.join()

    return program


def filesystem(thread_count: int) -> Program:
    """Each thread allocates a disk block for its inode; thread t collides with thread t + 13."""
    inode_count = 32
    block_count = 26
    tries = 10

    def program() -> None:
        inodes = [Atomic(0) for _ in range(inode_count)]
        busy = [Atomic(0) for _ in range(block_count)]
        inode_locks = [Lock() for _ in range(inode_count)]
        block_locks = [Lock() for _ in range(block_count)]

        def worker(me: int) -> None:
            inode = me % inode_count
            with inode_locks[inode]:
                if inodes[inode].load() == 0:
                    block = 2 * inode % block_count
                    for _ in range(tries):
                        with block_locks[block]:
                            if busy[block].load() == 0:
                                busy[block].store(1)
                                inodes[inode].store(block + 1)
                                break
                        block = (block + 1) % block_count

        threads = [spawn(worker, me) for me in range(thread_count)]
        for thread in threads:
            thread.join()

    return program


def indexer(thread_count: int) -> Program:
    """Each thread inserts four keys into a hash table; thread t shares keys with thread t + 11."""
    size = 128
    insertions = 4

    def program() -> None:
        cells = [Atomic(0) for _ in range(size)]
        locks = [Lock() for _ in range(size)]

        def worker(me: int) -> None:
            for insertion in range(1, insertions + 1):
                key = 11 * insertion + me
                position = 7 * key % size
                while True:
                    cell = cells[position]
                    with locks[position]:
                        found = cell.load()
                        if found == 0:
                            cell.store(key)
                    if found == 0:
                        break
                    position = (position + 1) % size

        threads = [spawn(worker, me) for me in range(thread_count)]
        for thread in threads:
            thread.join()

    return program


def lastzero(writer_count: int) -> Program:
    """Writers fill an array from the left, while a reader looks from the right for a zero."""

    def program() -> None:
        cells = [Atomic(0) for _ in range(writer_count + 1)]

        def reader() -> None:
            position = writer_count
            while cells[position].load() != 0:  # the first cell stays 0, so this ends
                position -= 1

        def writer(position: int) -> None:
            value = cells[position - 1].load()
            cells[position].store(value + 1)

        spawn(reader)
        for position in range(1, writer_count + 1):
            spawn(writer, position)

    return program


def exp_mem3(leaf_count: int) -> Program:
    """Leaves all store the same value: the order of the stores counts although nobody reads it."""

    def program() -> None:
        once = Atomic(0)
        many = Atomic(0)

        def leaf() -> None:
            many.store(1)

        def first() -> None:
            once.store(1)

        def second() -> None:
            leaves = [spawn(leaf) for _ in range(leaf_count)]
            for thread in leaves:
                thread.join()
            once.load()

        spawn(first)
        spawn(second)

    return program


def dispatcher(server_count: int) -> Program:
    """``main`` sends as many requests as there are servers, each to the server picked just then."""

    def program() -> None:
        picked = Atomic(0)
        inboxes = [Atomic(0) for _ in range(server_count)]
        outboxes = [Atomic(0) for _ in range(server_count)]
        picked_lock = Lock()
        server_locks = [Lock() for _ in range(server_count)]

        def picker() -> None:
            for choice in range(server_count):
                with picked_lock:
                    picked.store(choice)

        def server(me: int) -> None:
            inbox = inboxes[me]
            with server_locks[me]:
                if inbox.load() > 0:
                    outboxes[me].store(inbox.load())

        for me in range(server_count):
            spawn(server, me)
        for _ in range(server_count):
            picking = spawn(picker)
            with picked_lock:
                destination = picked.load()
            with server_locks[destination]:
                requests = inboxes[destination].load()
                inboxes[destination].store(requests + 1)
            picking.join()

    return program


def poke(worker_count: int, poke_count: int = 4) -> Program:
    """Again and again a worker is chosen and poked; each worker counts once in the end."""

    def program() -> None:
        free = [Atomic(0) for _ in range(worker_count)]
        chosen = Atomic(0)
        counter = Atomic(0)
        chosen_lock = Lock()
        worker_locks = [Lock() for _ in range(worker_count)]

        def worker(me: int) -> None:
            with worker_locks[me]:
                free[me].store(1)

        def chooser() -> None:
            for choice in range(1, worker_count):
                with chosen_lock:
                    chosen.store(choice)

        def poker() -> None:
            with chosen_lock:
                target = chosen.load()
            with worker_locks[target]:
                if free[target].load() == 1:
                    # No lock for the counter: two pokers never overlap.
                    counter.store(counter.load() + 1)
                    free[target].store(0)

        workers = [spawn(worker, me) for me in range(worker_count)]
        for _ in range(poke_count):
            choosing = spawn(chooser)
            poking = spawn(poker)
            choosing.join()
            poking.join()
        assert 0 <= counter.load() <= worker_count
        for thread in workers:
            thread.join()
        for flag in free:
            if flag.load():
                counter.store(counter.load() + 1)
        assert counter.load() == worker_count

    return program


def length_param(thread_count: int, length: int) -> Program:
    """The length of the thread-local part makes the executions longer, but not more of them."""

    def program() -> None:
        shared = Atomic(0)
        owned = [Atomic(0) for _ in range(thread_count)]

        def worker(me: int) -> None:
            own = owned[me]
            for i in range(length):
                own.store(i)
                own.load()
            shared.store(me)
            shared.load()

        for me in range(thread_count):
            spawn(worker, me)

    return program

"""The programs of "Quasi-Optimal Partial Order Reduction".

The five families of Table 1, the programs of Figures 1 and 2, and the small ones that the authors
keep beside their benchmarks. Every function takes the parameters that the table prints in
parentheses and returns a program for ``mazurka.explore``. Dispatcher and poke are those of
`benchmarks.pop`, with a second parameter. Where ``main`` does not join its threads, neither does
the original.
"""

from collections.abc import Callable
from contextlib import ExitStack

from mazurka import Atomic, Lock, spawn

Program = Callable[[], object]


def dispatcher(server_count: int, request_count: int) -> Program:
    """``main`` sends requests, each to the server that is picked just then."""

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
        for _ in range(request_count):
            picking = spawn(picker)
            with picked_lock:
                destination = picked.load()
            with server_locks[destination]:
                requests = inboxes[destination].load()
                inboxes[destination].store(requests + 1)
            picking.join()

    return program


def mutex_pattern(pair_count: int) -> Program:
    """Pairs of threads: one takes the pair's mutex, the other one the same inside a common one."""

    def program() -> None:
        common = Lock()
        own = [Lock() for _ in range(pair_count)]

        def single(pair: int) -> None:
            with own[pair]:
                pass

        def double(pair: int) -> None:
            with common, own[pair]:
                pass

        for pair in range(pair_count):
            spawn(single, pair)
            spawn(double, pair)

    return program


def producers_and_consumers(producer_count: int, worker_count: int) -> Program:
    """Producers append digits to a number; what it is then tells them to which worker to send."""
    rounds = 2

    def program() -> None:
        number = Atomic(0)
        requests = [Atomic(0) for _ in range(worker_count)]
        done = [Atomic(0) for _ in range(worker_count)]
        number_lock = Lock()
        worker_locks = [Lock() for _ in range(worker_count)]

        def worker(me: int) -> None:
            for _ in range(rounds):
                with worker_locks[me]:
                    waiting = requests[me].load()
                    if waiting > 0:
                        requests[me].store(waiting - 1)
                if waiting > 0:
                    done[me].store(done[me].load() + 1)

        def producer(me: int) -> None:
            appended = 0
            for _ in range(rounds):
                with number_lock:
                    appended = number.load() * producer_count + me
                    number.store(appended)
            destination = appended % worker_count
            with worker_locks[destination]:
                requests[destination].store(requests[destination].load() + 1)

        for me in range(worker_count):
            spawn(worker, me)
        for me in range(producer_count):
            spawn(producer, me)

    return program


def pi(thread_count: int) -> Program:
    """Threads add their parts of a series, which are their own business, to one sum."""

    def program() -> None:
        total = Atomic(0)
        mutex = Lock()

        def adder(part: int) -> None:
            with mutex:
                total.store(total.load() + part)

        threads = [spawn(adder, me) for me in range(thread_count)]
        for thread in threads:
            thread.join()
        total.load()

    return program


def figure_1(writer_count: int) -> Program:
    """Which writer the master interferes with depends on when it reads the counter."""

    def program() -> None:
        counter = Atomic(0)
        cells = [Atomic(0) for _ in range(writer_count)]

        def count() -> None:
            for value in range(1, writer_count):
                counter.store(value)

        def master() -> None:
            cells[counter.load()].store(0)

        for me in range(writer_count):
            spawn(cells[me].store, 7 + me)
        spawn(count)
        spawn(master)

    return program


def figure_1_with_mutexes(writer_count: int) -> Program:
    """The same, with each access in a critical section of its variable."""

    def program() -> None:
        counter = Atomic(0)
        counter_lock = Lock()
        cells = [Atomic(0) for _ in range(writer_count)]
        cell_locks = [Lock() for _ in range(writer_count)]

        def write(cell: int, value: int) -> None:
            with cell_locks[cell]:
                cells[cell].store(value)

        def count() -> None:
            for value in range(1, writer_count):
                with counter_lock:
                    counter.store(value)

        def master() -> None:
            with counter_lock:
                cell = counter.load()
            write(cell, 0)

        for me in range(writer_count):
            spawn(write, me, 7 + me)
        spawn(count)
        spawn(master)

    return program


def figure_2() -> Program:
    """Three executions; in one of them a thread waits for a mutex that is never released."""

    def program() -> None:
        flag = Atomic(0)
        first_lock = Lock()
        second_lock = Lock()

        def reader() -> None:
            with first_lock:
                if flag.load() != 0:
                    second_lock.acquire()

        def writer() -> None:
            with first_lock:
                flag.store(1)

        def other() -> None:
            with second_lock:
                pass

        spawn(reader)
        spawn(writer)
        spawn(other)

    return program


def simple_ssb() -> Program:
    """Three threads, for which source sets take one redundant execution."""

    def program() -> None:
        flag = Atomic(0)
        flag_lock = Lock()
        second_lock = Lock()
        third_lock = Lock()

        def setter() -> None:
            with flag_lock:
                flag.store(1)
            with third_lock:
                pass

        def reader() -> None:
            with flag_lock:
                if flag.load():
                    with second_lock:
                        pass

        def other() -> None:
            with second_lock, third_lock:
                pass

        spawn(other)
        spawn(reader)
        spawn(setter)

    return program


def exponential_ssb(writer_count: int) -> Program:
    """Figure 1 with ``main`` as the master."""

    def program() -> None:
        selected = Atomic(0)
        selected_lock = Lock()
        cell_locks = [Lock() for _ in range(writer_count)]

        def touch(cell: int) -> None:
            with cell_locks[cell]:
                pass

        def count() -> None:
            for value in range(1, writer_count):
                with selected_lock:
                    selected.store(value)

        threads = [spawn(touch, me) for me in range(writer_count)]
        threads.append(spawn(count))
        with selected_lock:
            cell = selected.load()
        touch(cell)
        for thread in threads:
            thread.join()

    return program


def ssb_behind_branch(writer_count: int, length: int) -> Program:
    """Figure 1 behind a branch, whose other way has ``length`` conflicts on each side."""

    def program() -> None:
        flag = Atomic(0)
        counter = Atomic(0)
        shared = Atomic(0)
        cells = [Atomic(0) for _ in range(writer_count)]
        flag_lock = Lock()
        counter_lock = Lock()
        shared_lock = Lock()
        cell_locks = [Lock() for _ in range(writer_count)]

        def write(cell: int, value: int) -> None:
            with cell_locks[cell]:
                cells[cell].store(value)

        def count() -> None:
            with flag_lock:
                flag.store(1)
            for value in range(1, writer_count):
                with counter_lock:
                    counter.store(value)

        def repeat(value: int) -> None:
            for _ in range(length):
                with shared_lock:
                    shared.store(value)

        def branch() -> None:
            with flag_lock:
                is_set = flag.load()
            if is_set:
                with counter_lock:
                    cell = counter.load()
                write(cell, 8899)
            else:
                helper = spawn(repeat, 10)
                repeat(20)
                helper.join()

        threads = [spawn(write, me, 123) for me in range(writer_count)]
        counting = spawn(count)
        threads += [spawn(branch), counting]
        for thread in threads:
            thread.join()

    return program


def staircase(thread_count: int, mutex_count: int) -> Program:
    """Each thread takes up to three mutexes, one inside the other."""

    def program() -> None:
        locks = [Lock() for _ in range(mutex_count)]

        def climb(me: int) -> None:
            with ExitStack() as held:
                for step in (me, me + 1, me + 3):
                    if step >= mutex_count:
                        break
                    held.enter_context(locks[step])

        threads = [spawn(climb, me) for me in range(thread_count)]
        for thread in threads:
            thread.join()

    return program

"""Programs of "Reconciling Preemption Bounding with DPOR": those of Table 1 that come from the SCT
benchmarks. All of them are buggy.

What such a program may violate is a check. Where the checks are counted, one that fails is only
noted, and the program returns what was noted. The paper's figures are those until the first error,
and depend on the order of the search; with all checks counted there is a number of executions, and
of those that violate a check, which does not.

An atomic block of the originals is a lock here, the same for all. Where ``main`` does not join its
threads, neither does the original.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any

from benchmarks.condpor import run_all
from mazurka import Atomic, Lock, spawn

Program = Callable[[], object]

NOTHING_VIOLATED = repr([])


class Checks:
    """The checks of a program: each of them raises or, if they are counted, is noted."""

    def __init__(self, counted: bool) -> None:
        self.counted = counted
        self.violations: list[str] = []  # threads may still add to it when main has returned it

    def __call__(self, holds: bool) -> None:
        if self.counted:
            if not holds:
                self.violations.append("violated")
        else:
            assert holds


def violating(outcomes: Counter[Any]) -> int:
    """How many executions of a program with counted checks have violated one. What they return is a
    list, and outcomes that are lists are told apart by how they print."""
    return outcomes.total() - outcomes[NOTHING_VIOLATED]


def account_bad(counted: bool = False) -> Program:
    """A deposit and a withdrawal, and a checker that expects another balance."""

    def program() -> object:
        check = Checks(counted)
        balance = Atomic(1)
        deposited = Atomic(False)
        withdrawn = Atomic(False)
        mutex = Lock()

        def checker() -> None:
            with mutex:
                if deposited.load() and withdrawn.load():
                    check(balance.load() == -5)

        def deposit() -> None:
            with mutex:
                balance.store(balance.load() + 2)
                deposited.store(True)

        def withdraw() -> None:
            with mutex:
                balance.store(balance.load() - 4)
                withdrawn.store(True)

        spawn(checker)
        spawn(deposit)
        spawn(withdraw)
        return check.violations

    return program


def bluetooth_driver_bad(counted: bool = False) -> Program:
    """A driver is stopped while ``main`` goes in, which has seen before that it was not."""

    def program() -> object:
        check = Checks(counted)
        pending = Atomic(1)
        stopping = Atomic(False)
        event = Atomic(False)
        stopped = Atomic(False)
        block = Lock()

        def add_to_pending(amount: int) -> int:
            with block:
                count = pending.load() + amount
                pending.store(count)
            return count

        def leave() -> None:
            if add_to_pending(-1) == 0:
                event.store(True)

        def stop() -> None:
            stopping.store(True)
            leave()
            if event.load():
                stopped.store(True)

        stopper = spawn(stop)
        if not stopping.load():
            add_to_pending(1)
            check(not stopped.load())
        leave()  # also if it did not go in
        stopper.join()
        return check.violations

    return program


def circular_buffer_bad(rounds: int, counted: bool = False) -> Program:
    """As circular-buffer, but the consumer expects that it finds an item in every round."""
    size = 10

    def program() -> object:
        check = Checks(counted)
        slots = [Atomic(0) for _ in range(size)]
        write_position = Atomic(0)
        read_position = Atomic(0)
        may_send = Atomic(True)
        may_receive = Atomic(False)
        mutex = Lock()

        def producer() -> None:
            for item in range(rounds):
                with mutex:
                    if may_send.load():
                        position = write_position.load()
                        slots[position].store(item)
                        write_position.store((position + 1) % size)
                        may_send.store(False)
                        may_receive.store(True)

        def consumer() -> None:
            for expected in range(rounds):
                with mutex:
                    if may_receive.load():
                        position = read_position.load()
                        read_position.store(position + 1)
                        check(slots[position].load() == expected)
                        may_receive.store(False)
                        may_send.store(True)

        run_all(producer, consumer)
        return check.violations

    return program


def din_phil_sat(philosophers: int, counted: bool = False) -> Program:
    """Dining philosophers that count themselves when they are done; the last one sees it."""
    return dining(philosophers, False, counted)


def din_phil_sat_protected(philosophers: int, counted: bool = False) -> Program:
    """The same with the counter in an atomic block, as in the largest of the files."""
    return dining(philosophers, True, counted)


def dining(philosophers: int, protected: bool, counted: bool) -> Program:
    def program() -> object:
        check = Checks(counted)
        done = Atomic(0)
        forks = [Lock() for _ in range(philosophers)]
        block = Lock()

        def count() -> None:
            done.store(done.load() + 1)
            check(done.load() != philosophers)

        def philosopher(me: int) -> None:
            with block, forks[(me + 1) % philosophers], forks[me]:
                pass
            if protected:
                with block:
                    count()
            else:
                count()

        threads = [spawn(philosopher, me) for me in range(philosophers)]
        for thread in threads:
            thread.join()
        return check.violations

    return program


def fsbench_bad(thread_count: int, counted: bool = False) -> Program:
    """As filesystem, but with more inodes than locks for them: there is none for thread 26."""
    inode_count = 32
    block_count = 26
    tries = 13

    def program() -> object:
        check = Checks(counted)
        inodes = [Atomic(0) for _ in range(inode_count)]
        busy = [Atomic(False) for _ in range(block_count)]
        inode_locks = [Lock() for _ in range(block_count)]
        block_locks = [Lock() for _ in range(block_count)]

        def allocate(inode: int) -> None:
            block = 2 * inode % block_count
            for _ in range(tries):
                with block_locks[block]:
                    if not busy[block].load():
                        busy[block].store(True)
                        inodes[inode].store(block + 1)
                        return
                block = (block + 1) % block_count

        def worker(me: int) -> None:
            inode = me % inode_count
            check(inode < len(inode_locks))
            if inode >= len(inode_locks):  # only noted: there is nothing that it could lock
                return
            with inode_locks[inode]:
                if inodes[inode].load() == 0:
                    allocate(inode)
                check(inode < len(inode_locks))

        threads = [spawn(worker, me) for me in range(thread_count)]
        for thread in threads:
            thread.join()
        return check.violations

    return program


def lazy01_bad(counted: bool = False) -> Program:
    """Two threads add to a variable, and a third one expects not to see both."""

    def program() -> object:
        check = Checks(counted)
        data = Atomic(0)
        mutex = Lock()

        def add(amount: int) -> None:
            with mutex:
                data.store(data.load() + amount)

        def look() -> None:
            with mutex:
                check(data.load() < 3)

        run_all(lambda: add(1), lambda: add(2), look)
        return check.violations

    return program


def queue_bad(size: int, counted: bool = False) -> Program:
    """A producer and a consumer that do not notice when they lose step with each other."""

    def program() -> object:
        check = Checks(counted)
        elements = [Atomic(0) for _ in range(size + 1)]
        copies = [Atomic(0) for _ in range(size)]
        head = Atomic(0)
        tail = Atomic(0)
        amount = Atomic(0)
        may_enqueue = Atomic(True)
        may_dequeue = Atomic(False)
        mutex = Lock()

        def after(position: int) -> int:
            return 1 if position == size else position + 1

        def enqueue(value: int) -> None:
            position = tail.load()
            elements[position].store(value)
            amount.store(amount.load() + 1)
            tail.store(after(position))

        def dequeue() -> int:
            position = head.load()
            value = elements[position].load()
            amount.store(amount.load() - 1)
            head.store(after(position))
            return value

        def producer() -> None:
            value = 0
            with mutex:
                enqueue(value)
                copies[0].store(value)
                check(head.load() != tail.load())
            for i in range(size - 1):
                with mutex:
                    if may_enqueue.load():
                        value += 1
                        enqueue(value)
                        copies[i + 1].store(value)
                        may_enqueue.store(False)
                        may_dequeue.store(True)

        def consumer() -> None:
            for i in range(size):
                with mutex:
                    if may_dequeue.load():
                        check(dequeue() == copies[i].load())
                        may_dequeue.store(False)
                        may_enqueue.store(True)

        run_all(producer, consumer)
        return check.violations

    return program


def reorder_bad(setters: int, checkers: int, counted: bool = False) -> Program:
    """Checkers expect to see both of two variables set, or none; reorder-20-bad has ten setters and
    ten checkers, reorder-2 two and two."""

    def program() -> object:
        check = Checks(counted)
        first = Atomic(0)
        second = Atomic(0)

        def setter() -> None:
            first.store(1)
            second.store(-1)

        def checker() -> None:
            # How many loads there are depends on what they find.
            none_set = first.load() == 0 and second.load() == 0
            check(none_set or (first.load() == 1 and second.load() == -1))

        run_all(*[setter] * setters, *[checker] * checkers)
        return check.violations

    return program


def stack_bad(rounds: int, counted: bool = False) -> Program:
    """A thread pops from a stack once it was not empty, whether or not it is empty now. With five
    rounds this is stack-2-unsafe of SV-COMP."""

    def program() -> object:
        check = Checks(counted)
        top = Atomic(0)
        elements = [Atomic(0) for _ in range(rounds)]
        was_filled = Atomic(False)
        mutex = Lock()

        def pusher() -> None:
            for i in range(rounds):
                with mutex:
                    position = top.load()
                    check(position != rounds)
                    elements[position].store(i)
                    top.store(position + 1)
                    was_filled.store(True)

        def popper() -> None:
            for _ in range(rounds):
                with mutex:
                    if was_filled.load():
                        position = top.load()
                        check(position != 0)
                        if position != 0:
                            top.store(position - 1)
                            elements[position - 1].load()

        run_all(pusher, popper)
        return check.violations

    return program


def token_ring_bad(counted: bool = False) -> Program:
    """Three threads copy a token from the one before, the first of them adds one."""

    def program() -> object:
        check = Checks(counted)
        tokens = [Atomic(1), Atomic(2), Atomic(1)]
        done = [Atomic(False) for _ in tokens]
        block = Lock()

        def copy(me: int) -> None:
            with block:
                token = tokens[me - 1].load()
                tokens[me].store((token + 1) % 4 if me == 0 else token)
                done[me].store(True)

        def checker() -> None:
            with block:
                if all(flag.load() for flag in done):
                    values = [token.load() for token in tokens]
                    check(len(set(values)) == 1)

        for me in range(3):
            spawn(copy, me)
        spawn(checker)
        return check.violations

    return program


def twostage_bad(writers: int, readers: int, counted: bool = False) -> Program:
    """A writer sets two variables in two critical sections; a reader may come between. In the
    second one the writer reads the first variable, whose lock it has not got."""

    def program() -> object:
        check = Checks(counted)
        first = Atomic(0)
        second = Atomic(0)
        first_lock, second_lock = Lock(), Lock()

        def writer() -> None:
            with first_lock:
                first.store(1)
            with second_lock:
                second.store(first.load() + 1)

        def reader() -> None:
            with first_lock:
                if first.load() == 0:
                    return
                expected = first.load() + 1
            with second_lock:
                found = second.load()
            check(found == expected)

        run_all(*[writer] * writers, *[reader] * readers)
        return check.violations

    return program


def wronglock_bad(first_kind: int, second_kind: int, counted: bool = False) -> Program:
    """Two kinds of threads add one to the same variable, under different locks."""

    def program() -> object:
        check = Checks(counted)
        variable = Atomic(0)
        first_lock, second_lock = Lock(), Lock()

        def first() -> None:
            with first_lock:
                before = variable.load()
                variable.store(variable.load() + 1)
                check(variable.load() == before + 1)

        def second() -> None:
            with second_lock:
                variable.store(variable.load() + 1)

        run_all(*[first] * first_kind, *[second] * second_kind)
        return check.violations

    return program

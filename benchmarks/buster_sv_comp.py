"""Programs of "Reconciling Preemption Bounding with DPOR": those of Table 1 that come from SV-COMP,
but for lazy01, reorder and stack, which are among those of SCT. All of them are buggy.
"""

from benchmarks.buster import Checks, Program
from benchmarks.condpor import run_all
from mazurka import Atomic, Lock, assume, spawn


def sigma_unsafe(workers: int, counted: bool = False) -> Program:
    """``main`` gives each worker an index in one variable, and does not wait until it is read."""

    def program() -> object:
        check = Checks(counted)
        index = Atomic(-1)
        cells = [Atomic(0) for _ in range(workers)]

        def worker() -> None:
            cells[index.load()].store(1)

        threads = []
        for _ in range(workers):
            index.store(index.load() + 1)
            threads.append(spawn(worker))
        for thread in threads:
            thread.join()
        check(sum([cell.load() for cell in cells]) == workers)
        return check.violations

    return program


def singleton_unsafe(counted: bool = False) -> Program:
    """Four threads store to a variable, one of them another value than the others."""

    def program() -> object:
        check = Checks(counted)
        cell = Atomic("")

        def boss() -> None:
            run_all(lambda: cell.store(""))
            run_all(*[lambda letter=letter: cell.store(letter) for letter in "XYXX"])

        run_all(boss)
        check(cell.load() == "X")
        return check.violations

    return program


def stateful01_unsafe(counted: bool = False) -> Program:
    """Two threads change two variables in turn: the sums are the same in any order."""

    def program() -> object:
        check = Checks(counted)
        first = Atomic(10)
        second = Atomic(10)
        mutex = Lock()

        def change(to_first: int, to_second: int) -> None:
            with mutex:
                first.store(first.load() + to_first)
            with mutex:
                second.store(second.load() + to_second)

        run_all(lambda: change(1, 1), lambda: change(5, -6))
        check(not (first.load() == 16 and second.load() == 5))
        return check.violations

    return program


def triangular_unsafe(rounds: int, counted: bool = False) -> Program:
    """Two threads raise two variables above each other: only if they take turns, and nobody else
    comes between, they get as high as ``main`` checks for."""
    return triangular(rounds, False, counted)


def triangular_joined(rounds: int, counted: bool = False) -> Program:
    """The same with a ``main`` that waits for the two threads before it looks."""
    return triangular(rounds, True, counted)


def triangular(rounds: int, joined: bool, counted: bool) -> Program:
    limit = 2 * rounds + 6

    def program() -> object:
        check = Checks(counted)
        low = Atomic(3)
        high = Atomic(6)
        block = Lock()

        def load(variable: Atomic[int]) -> int:
            with block:
                return variable.load()

        def raise_above(variable: Atomic[int], other: Atomic[int]) -> None:
            for _ in range(rounds):
                with block:
                    variable.store(other.load() + 1)

        threads = [spawn(raise_above, low, high), spawn(raise_above, high, low)]
        if joined:
            for thread in threads:
                thread.join()
        values = [load(low), load(high)]
        check(max(values) < limit)
        return check.violations

    return program


def read_write_lock_unsafe(counted: bool = False) -> Program:
    """Two writers and two readers with a lock of their own; readers do not leave it atomically."""
    return read_write_lock(False, counted)


def read_write_lock_unsafe_protected(counted: bool = False) -> Program:
    """The same with writers that leave it in an atomic block."""
    return read_write_lock(True, counted)


def read_write_lock(protected: bool, counted: bool) -> Program:
    def program() -> object:
        check = Checks(counted)
        writing = Atomic(False)
        reading = Atomic(0)
        value = Atomic(0)
        copy = Atomic(0)
        block = Lock()

        def writer() -> None:
            with block:
                # Whoever gives up here has the lock for good.
                assume(not writing.load() and reading.load() == 0)
                writing.store(True)
            value.store(3)
            if protected:
                with block:
                    writing.store(False)
            else:
                writing.store(False)

        def reader() -> None:
            with block:
                assume(not writing.load())
                reading.store(reading.load() + 1)
            copy.store(value.load())
            check(copy.load() == value.load())
            reading.store(reading.load() - 1)

        for body in (writer, reader, writer, reader):
            spawn(body)
        return check.violations

    return program

"""A litmus test: everything that a small program can do, counted.

    mazurka check examples/store_buffering.py::store_buffering --outcomes

It is verified, with three outcomes: (0, 1), (1, 0) and (1, 1). Both threads never read 0, as
operations on an `Atomic` are seen by all threads in one order.
"""

from mazurka import Atomic, spawn


def store_buffering() -> tuple[int, int]:
    x = Atomic(0)
    y = Atomic(0)

    def left() -> int:
        x.store(1)
        return y.load()

    def right() -> int:
        y.store(1)
        return x.load()

    first, second = spawn(left), spawn(right)
    return first.join(), second.join()

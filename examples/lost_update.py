"""A counter that two threads increment.

mazurka check examples/lost_update.py::read_then_write    fails: an increment gets lost
mazurka check examples/lost_update.py::fetch_and_add      verified
"""

from mazurka import Atomic, spawn


def read_then_write() -> None:
    """Reading and writing are two steps: both threads may read before either writes."""
    counter = Atomic(0)

    def increment() -> None:
        value = counter.load()
        counter.store(value + 1)

    threads = [spawn(increment), spawn(increment)]
    for thread in threads:
        thread.join()
    total = counter.load()
    assert total == 2, f"2 increments gave {total}"


def fetch_and_add() -> None:
    """One atomic step. Adds commute, so that one execution shows all there is to see."""
    counter = Atomic(0)

    def increment() -> None:
        counter.add(1)

    threads = [spawn(increment), spawn(increment)]
    for thread in threads:
        thread.join()
    assert counter.load() == 2

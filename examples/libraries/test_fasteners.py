"""fasteners: ReaderWriterLock is "an inter-thread readers writer lock", and reentrant. write_lock:
"Will wait until no active readers. Blocks readers after acquiring."
"""

import pytest

import mazurka
from examples.libraries.threads import together

fasteners = pytest.importorskip("fasteners")


@mazurka.check
def test_writers_are_alone() -> None:
    lock = fasteners.ReaderWriterLock()
    pair = [0, 0]

    def write() -> None:
        with lock.write_lock():
            pair[0] += 1
            pair[1] += 1

    def read() -> None:
        with lock.read_lock():
            assert pair[0] == pair[1]

    together(write, read, write)
    assert pair == [2, 2]


@mazurka.check
def test_a_writer_may_lock_again() -> None:
    lock = fasteners.ReaderWriterLock()
    pair = [0, 0]

    def write() -> None:
        with lock.write_lock():
            pair[0] += 1
            with lock.write_lock(), lock.read_lock():
                pair[1] += 1

    def read() -> None:
        with lock.read_lock(), lock.read_lock():
            assert pair[0] == pair[1]

    together(write, read)

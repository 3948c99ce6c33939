"""readerwriterlock implements "the reader-writer problems": writers are alone, readers may be
several. "Downgradable feature allows the locks to be atomically downgraded from being locked in
write-mode to locked in read-mode."
"""

import pytest

import mazurka
from examples.libraries.threads import together

rwlock = pytest.importorskip("readerwriterlock.rwlock")

KINDS = ["RWLockRead", "RWLockWrite", "RWLockFair"]
DOWNGRADABLE = [f"{kind}D" for kind in KINDS]


class Document:
    """Two fields that only a writer sees unequal."""

    def __init__(self) -> None:
        self.title = self.heading = 0

    def write(self) -> None:
        self.title += 1
        self.heading += 1

    def check(self) -> None:
        assert self.title == self.heading


@pytest.mark.parametrize("kind", KINDS + DOWNGRADABLE)
@mazurka.check
def test_writers_are_alone(kind: str) -> None:
    lock = getattr(rwlock, kind)()
    document = Document()

    def write() -> None:
        with lock.gen_wlock():
            document.write()

    def read() -> None:
        with lock.gen_rlock():
            document.check()

    together(write, write, read)
    assert document.title == 2


# (RWLockReadD polls a variable when it is downgraded, which has no end if nobody else gets a turn.)
@pytest.mark.parametrize("kind", ["RWLockWriteD", "RWLockFairD"])
@mazurka.check
def test_a_writer_becomes_a_reader(kind: str) -> None:
    lock = getattr(rwlock, kind)()
    document = Document()

    def write_and_read() -> None:
        writer = lock.gen_wlock()
        assert writer.acquire()
        document.write()
        mine = document.title
        reader = writer.downgrade()
        assert document.title == mine, "nobody has written in between"
        reader.release()

    together(write_and_read, write_and_read)

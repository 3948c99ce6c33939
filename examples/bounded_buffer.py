"""A buffer with room for one item, between producers and consumers.

mazurka check examples/bounded_buffer.py::wait_in_a_loop      verified
mazurka check examples/bounded_buffer.py::wait_once           fails: takes from an empty buffer
mazurka check examples/bounded_buffer.py::wake_any_one        fails: a deadlock
"""

from collections.abc import Callable

from mazurka import Atomic, Condition, Lock, spawn


class Buffer:
    """One condition for everyone who waits; whoever changes the buffer wakes everyone."""

    def __init__(self) -> None:
        self.changed = Condition(Lock())
        self.items: Atomic[tuple[str, ...]] = Atomic(())

    def put(self, item: str) -> None:
        with self.changed:
            while self.items.load():
                self.changed.wait()
            self.items.store((item,))
            self.changed.notify_all()

    def get(self) -> str:
        with self.changed:
            while not self.items.load():
                self.changed.wait()
            return self.take()

    def take(self) -> str:
        (item,) = self.items.load()
        self.items.store(())
        self.changed.notify_all()
        return item


class WaitsOnce(Buffer):
    """Does not look again after waiting, though another consumer may have been faster."""

    def get(self) -> str:
        with self.changed:
            if not self.items.load():
                self.changed.wait()
            return self.take()


class WakesAnyOne(Buffer):
    """Wakes one thread only, which may be one that waits for the opposite."""

    def put(self, item: str) -> None:
        with self.changed:
            while self.items.load():
                self.changed.wait()
            self.items.store((item,))
            self.changed.notify()

    def take(self) -> str:
        (item,) = self.items.load()
        self.items.store(())
        self.changed.notify()
        return item


def pass_on(make_buffer: Callable[[], Buffer]) -> None:
    """Two producers, two consumers: whatever was put in comes out, once."""
    buffer = make_buffer()
    producers = [spawn(buffer.put, "tea"), spawn(buffer.put, "cake")]
    consumers = [spawn(buffer.get), spawn(buffer.get)]
    for producer in producers:
        producer.join()
    assert sorted(consumer.join() for consumer in consumers) == ["cake", "tea"]


def wait_in_a_loop() -> None:
    pass_on(Buffer)


def wait_once() -> None:
    pass_on(WaitsOnce)


def wake_any_one() -> None:
    pass_on(WakesAnyOne)

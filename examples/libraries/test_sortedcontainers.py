"""sortedcontainers promises nothing about threads (its issue 105 asks for it): with a lock around
every use it works, without one it does not.
"""

import threading

import pytest

import mazurka
from examples.libraries.threads import together

sortedcontainers = pytest.importorskip("sortedcontainers")


@mazurka.check
def test_with_a_lock() -> None:
    numbers = sortedcontainers.SortedList([2])
    lock = threading.Lock()

    def add(number: int) -> None:
        with lock:
            numbers.add(number)

    together(lambda: add(1), lambda: add(3))
    assert list(numbers) == [1, 2, 3]
    assert len(numbers) == 3


def without_a_lock() -> None:
    numbers = sortedcontainers.SortedList([2])
    together(lambda: numbers.add(1), lambda: numbers.add(3))
    assert list(numbers) == [1, 2, 3]
    assert len(numbers) == 3


def test_without_a_lock() -> None:
    with pytest.raises(mazurka.CheckFailed, match="numbers"):
        mazurka.check(without_a_lock)

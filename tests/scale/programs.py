"""Programs that worker processes can find."""

import threading
from collections.abc import Callable

import mazurka


class Counter:
    def __init__(self) -> None:
        self.value = 0

    def increment(self) -> None:
        value = self.value
        self.value = value + 1


def run(*functions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def three_increments() -> int:
    counter = Counter()
    run(counter.increment, counter.increment, counter.increment)
    return counter.value


def failing() -> None:
    assert three_increments() > 1


@mazurka.check(jobs=2)
def decorated() -> None:
    three_increments()


async def as_coroutine() -> int:
    return three_increments()


class Tests:
    def test_increments(self) -> None:
        three_increments()


def racing() -> None:
    """Data races on two attributes, in several executions."""
    lock, first, second = threading.Lock(), Counter(), Counter()

    def work() -> None:
        with lock:
            pass
        first.increment()
        with lock:
            pass
        second.increment()

    run(work, work)


class Box:
    def __init__(self) -> None:
        self.is_told = False
        self.least = 1
        self.items: list[int] = []

    def wait(self) -> None:
        while len(self.items) < self.least:
            pass

    def fill(self) -> None:
        if self.is_told:
            self.least = 0
        self.items.append(1)

    def tell(self) -> None:
        self.is_told = True


def waiting() -> None:
    """That `least` changes is met in some executions only."""
    box = Box()
    run(box.fill, box.wait, box.tell)


def importing() -> int:
    counter = Counter()

    def late() -> None:
        from tests.scale.imported_late import increment

        increment(counter)

    run(counter.increment, late)
    return counter.value


def ordered_by_locks() -> int:
    """Some 1,700 executions."""
    return by_threads(3)


def never_over() -> int:
    """As many executions as take minutes."""
    return by_threads(5)


def by_threads(count: int) -> int:
    lock, counter = threading.Lock(), Counter()

    def work() -> None:
        with lock:
            counter.increment()
        counter.increment()

    run(*[work] * count)
    return counter.value

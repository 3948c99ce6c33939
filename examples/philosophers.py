"""Dining philosophers: everyone needs the forks on both sides of the plate.

mazurka check examples/philosophers.py::all_left_handed    fails: a deadlock
mazurka check examples/philosophers.py::one_right_handed   verified
"""

from mazurka import Lock, spawn

SEATS = 3


def eat(first: Lock, second: Lock) -> None:
    with first, second:
        pass  # eating


def all_left_handed() -> None:
    """Everyone takes the left fork, then waits for the right one."""
    forks = [Lock() for _ in range(SEATS)]
    philosophers = [spawn(eat, forks[i], forks[(i + 1) % SEATS]) for i in range(SEATS)]
    for philosopher in philosophers:
        philosopher.join()


def one_right_handed() -> None:
    """Everyone takes the fork with the lower number first: no circle can close."""
    forks = [Lock() for _ in range(SEATS)]
    philosophers = []
    for i in range(SEATS):
        low, high = sorted((i, (i + 1) % SEATS))
        philosophers.append(spawn(eat, forks[low], forks[high]))
    for philosopher in philosophers:
        philosopher.join()

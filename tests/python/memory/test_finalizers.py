"""What an execution has made is let go of after it: that must not change the next one."""

import gc
import queue
import threading
from contextlib import suppress
from typing import Any

import pytest

from mazurka import MazurkaError, explore
from tests.python.threads import both


class Counted:
    alive = 0

    def __init__(self, in_cycle: bool) -> None:
        Counted.alive += 1
        self.uses = 0
        self.itself = self if in_cycle else None

    def __del__(self) -> None:
        Counted.alive -= 1


@pytest.mark.parametrize("in_cycle", [False, True])
def test_finalizers_change_nothing_between_executions(in_cycle: bool) -> None:
    def program() -> int:
        counted = Counted(in_cycle)

        def use() -> None:
            counted.uses += 1

        both(use, use)
        return Counted.alive

    assert set(explore(program).outcomes) == {1}


def test_nor_in_the_midst_of_one() -> None:
    def program() -> int:
        counted = Counted(in_cycle=True)

        def use() -> None:
            counted.uses += 1

        both(use, use)
        gc.collect()
        return Counted.alive

    result = explore(program)
    assert not result.failures
    assert set(result.outcomes) == {1}


class Pool:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.queue: queue.Queue[Any] = queue.Queue()

    def __del__(self) -> None:
        with suppress(MazurkaError), self.lock:  # it may be called when the check is over
            self.queue.put("done")


def test_finalizers_that_use_locks_and_queues_are_told() -> None:
    def program() -> None:
        pool = Pool()

        def use() -> None:
            with pool.lock:
                pool.queue.put("used")

        both(use, use)

    result = explore(program)
    assert result.verdict == "incomplete"
    name = f"{__name__}.Pool.__del__"
    assert result.warnings == [
        f"what {name} does is not seen: it comes after the execution is over"
    ]


def test_a_check_keeps_nothing_of_the_one_before() -> None:
    """A list of all young objects, built in place, has itself in it: so it lived on, with all that
    earlier checks had left, and finalizers were called in the midst of later ones."""
    gc.collect()
    for _ in range(3):  # the first one looks through all objects, the others through young ones
        explore(lambda: None)
    assert not [
        len(things)
        for things in gc.get_objects()
        if type(things) is list and any(each is things for each in things)
    ]

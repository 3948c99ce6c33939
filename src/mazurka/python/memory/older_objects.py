"""The objects of the process. Those that are older than a check are set apart while it runs: what
came since is quickly found, and the garbage collector need not look through the rest."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager

from mazurka.python.check import RUNNING


class Heap:
    def __init__(self) -> None:
        self.is_divided = False
        self.times = 0  # that objects were set apart


@contextmanager
def older_objects_set_apart() -> Iterator[None]:
    """While the body runs, `newer_objects` gives those that were made in it. In the midst of
    another such body, it gives those that were made in that one."""
    heap = RUNNING.check.heap
    if heap.is_divided:
        yield
        return
    heap.is_divided = True
    collect_what_checks_left()
    set_apart()
    try:
        yield
    finally:
        heap.is_divided = False
        RUNNING.objects_left += len(gc.get_objects())
        gc.unfreeze()


def collect_what_checks_left() -> None:
    """Python does not count what was set apart once, and would hardly ever look through all objects
    again: so we do, by its own rule, when those of earlier checks are a quarter of the rest."""
    if RUNNING.objects_left > RUNNING.objects_known // 4:
        gc.collect()
        RUNNING.objects_left = 0
        RUNNING.objects_known = len(gc.get_objects())


def set_apart() -> int:
    """Set all objects apart that are there now; gives a number for `newer_objects`."""
    heap = RUNNING.check.heap
    gc.freeze()
    heap.times += 1
    return heap.times


def all_objects() -> list[object]:
    """Everything; then nothing is set apart any more."""
    gc.unfreeze()
    return gc.get_objects()


def newer_objects(since: int = 0) -> list[object]:
    """The objects that were not set apart: by the latest call of `set_apart`, or by that one which
    gave a number. (If there was a later one, all objects are given.)"""
    return gc.get_objects() if since in (0, RUNNING.check.heap.times) else all_objects()

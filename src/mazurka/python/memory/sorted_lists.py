"""What heapq and bisect do to a list that threads share, where Python code compares its items.

Between two comparisons, these functions of C go on without a stop; while one runs, other threads
may change the list. So there is a step for each stretch in between.
"""

import bisect
import heapq
import operator
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from mazurka.python.memory.containers import (
    call_method,
    change_all,
    compare,
    give,
    length,
    load_item,
    truth,
)

Heap: TypeAlias = list[Any]


def is_less(one: object, other: object) -> bool:
    return truth(compare(operator.lt, one, other))


# Heaps


def push(heap: Heap, item: object) -> None:
    give(heap, (item,))
    change_all(heap)
    heap.append(item)
    sift_down(heap, 0, len(heap) - 1)


def pop(heap: Heap) -> object:
    change_all(heap)
    if not heap:
        raise IndexError("index out of range")
    last = heap.pop()
    if not heap:
        return last
    first, heap[0] = heap[0], last
    sift_up(heap, 0)
    return first


def replace(heap: Heap, item: object) -> object:
    give(heap, (item,))
    change_all(heap)
    if not heap:
        raise IndexError("index out of range")
    first, heap[0] = heap[0], item
    sift_up(heap, 0)
    return first


def push_and_pop(heap: Heap, item: object) -> object:
    give(heap, (item,))
    change_all(heap)
    if not heap or not is_less(heap[0], item):
        return item
    change_all(heap)
    if not heap:
        raise IndexError("index out of range")
    first, heap[0] = heap[0], item
    sift_up(heap, 0)
    return first


def make_heap(heap: Heap) -> None:
    change_all(heap)
    for place in reversed(range(len(heap) // 2)):
        sift_up(heap, place)


def sift_down(heap: Heap, start: int, place: int) -> None:
    """Move an item towards the beginning, for as long as it is smaller than the one above it."""
    size = len(heap)
    if place >= size:
        raise IndexError("index out of range")
    while place > start:
        above = (place - 1) >> 1
        smaller = is_less(heap[place], heap[above])
        go_on(heap, size)
        if not smaller:
            return
        heap[above], heap[place] = heap[place], heap[above]
        place = above


def sift_up(heap: Heap, place: int) -> None:
    """Move an item to the end, smaller ones in its place, and back to where it belongs."""
    size, start = len(heap), place
    if place >= size:
        raise IndexError("index out of range")
    while place < size >> 1:
        below = 2 * place + 1
        if below + 1 < size:
            smaller = is_less(heap[below], heap[below + 1])
            go_on(heap, size)
            below += not smaller
        heap[below], heap[place] = heap[place], heap[below]
        place = below
    sift_down(heap, start, place)


def go_on(heap: Heap, size: int) -> None:
    """After a comparison, before the next stretch."""
    change_all(heap)
    if len(heap) != size:
        raise RuntimeError("list changed size during iteration")


# Sorted lists


def place_for(
    is_left: bool, items: Any, item: Any, low: int = 0, high: Any = None, key: Any = None
) -> int:
    """Where an item, or what its key is, belongs: before or after those that are equal."""
    if low < 0:
        raise ValueError("lo must be non-negative")
    high = length(items) if high is None else high
    while low < high:
        middle = (low + high) // 2
        other = load_item(items, middle)
        other = other if key is None else key(other)
        if is_less(other, item) if is_left else not is_less(item, other):
            low = middle + 1
        else:
            high = middle
    return low


def insert(
    is_left: bool, items: Any, item: Any, low: int = 0, high: Any = None, key: Any = None
) -> None:
    wanted = item if key is None else key(item)
    place = place_for(is_left, items, wanted, low, high, key)
    call_method(items.insert, place, item)


def find_left(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> int:
    return place_for(True, a, x, lo, hi, key)


def find_right(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> int:
    return place_for(False, a, x, lo, hi, key)


def insert_left(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    insert(True, a, x, lo, hi, key)


def insert_right(a: Any, x: Any, lo: int = 0, hi: Any = None, *, key: Any = None) -> None:
    insert(False, a, x, lo, hi, key)


STEPWISE: Final[dict[Callable[..., Any], Callable[..., Any]]] = {
    heapq.heappush: push,
    heapq.heappop: pop,
    heapq.heapreplace: replace,
    heapq.heappushpop: push_and_pop,
    heapq.heapify: make_heap,
    bisect.bisect_left: find_left,
    bisect.bisect_right: find_right,
    bisect.insort_left: insert_left,
    bisect.insort_right: insert_right,
}

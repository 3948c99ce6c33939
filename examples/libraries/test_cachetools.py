"""cachetools: "Please be aware that all these classes are not thread-safe. Access to a shared cache
from multiple threads must be properly synchronized, e.g. by using one of the memoizing decorators
with a suitable lock object." A lock "is used only to guard access to the cache object"; "using a
condition variable will prevent concurrent execution of the wrapped function with identical
parameters".
"""

import threading

import pytest

import mazurka
from examples.libraries.threads import together

cachetools = pytest.importorskip("cachetools")


@mazurka.check
def test_a_lock_keeps_a_small_cache_small() -> None:
    cache = cachetools.LRUCache(1)
    lock = threading.Lock()

    def put(key: int) -> None:
        with lock:
            cache[key] = key

    together(lambda: put(1), lambda: put(2))
    assert len(cache) == cache.currsize == 1


def unlocked() -> None:
    cache = cachetools.LRUCache(1)

    def put(key: int) -> None:
        cache[key] = key

    together(lambda: put(1), lambda: put(2))


def test_a_cache_alone_is_not_safe() -> None:
    with pytest.raises(mazurka.CheckFailed, match="KeyError"):
        mazurka.check(unlocked)


@mazurka.check
def test_callers_of_a_locked_function_get_the_same_value() -> None:
    @cachetools.cached(cachetools.LRUCache(2), lock=threading.Lock())
    def make(key: int) -> object:
        return object()

    made = []
    together(lambda: made.append(make(1)), lambda: made.append(make(1)))
    assert made[0] is made[1]


def computing_twice() -> None:
    calls = []

    @cachetools.cached(cachetools.LRUCache(2), lock=threading.Lock())
    def make(key: int) -> int:
        calls.append(key)
        return key

    together(lambda: make(1), lambda: make(1))
    assert len(calls) == 1


def test_a_lock_does_not_stop_others_from_computing() -> None:
    """The function "will be called outside the with statement to allow concurrent execution"."""
    with pytest.raises(mazurka.CheckFailed, match="len"):
        mazurka.check(computing_twice)


@mazurka.check
def test_a_condition_lets_one_thread_compute() -> None:
    calls = []

    @cachetools.cached(cachetools.LRUCache(2), condition=threading.Condition())
    def make(key: int) -> int:
        calls.append(key)
        return key

    together(lambda: make(1), lambda: make(1), lambda: make(2))
    assert sorted(calls) == [1, 2]

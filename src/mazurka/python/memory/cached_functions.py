"""Calls of functions with functools.lru_cache, as rewritten code makes them.

Their caches are Python's own, in C, and know nothing of executions. So a cached function gets a
dict in the place of its cache, which begins every execution empty and is seen like any other.
"""

import functools
from collections.abc import Callable
from typing import Any, Final

from mazurka.engine.operation import ITEM_SET
from mazurka.python.check import RUNNING
from mazurka.python.memory.containers import change_all, change_item, give, read_all, read_item
from mazurka.python.memory.identities import CALL_COUNT, cache_of
from mazurka.python.memory.shapes import MISSING

# A cache with room for more items than this counts as one that never drops any, until one is full:
# then the search begins anew.
SMALL: Final = 16


class CountedCalls:
    """How often a cached function was called in this execution."""

    def __init__(self) -> None:
        self.epoch = RUNNING.check.runtime.epoch
        self.hits = 0
        self.misses = 0

    def count(self, is_hit: bool) -> None:
        if is_hit:
            self.hits += 1
        else:
            self.misses += 1


def calls_of(function: Any) -> CountedCalls:
    calls: CountedCalls | None = function.__dict__.get(CALL_COUNT)
    if calls is None or calls.epoch != RUNNING.check.runtime.epoch:
        calls = CountedCalls()
        function.__dict__[CALL_COUNT] = calls
    return calls


def call_cached(
    our_call: Callable[..., Any], our_function: Any, /, *arguments: Any, **named: Any
) -> object:
    """Look into the cache; if there is nothing, call what is cached, and then put it in."""
    cache = cache_of(our_function)
    parameters = our_function.cache_parameters()
    room: int | None = parameters["maxsize"]
    key = key_for(arguments, named, parameters["typed"])
    read_item(cache, key)
    found = cache.get(key, MISSING)
    calls_of(our_function).count(found is not MISSING)
    if found is not MISSING:
        if room is not None and drops_items(our_function, room):
            use_again(cache, key)
        return found
    value = our_call(*arguments, **named)
    if room is None or not drops_items(our_function, room):
        change_item(ITEM_SET, cache, key, value)
        cache[key] = value
        if room is not None and len(cache) > room:
            RUNNING.check.calls.full_caches.add(our_function.__qualname__)
            RUNNING.check.objects.stop_search()
    elif room > 0:
        put_in(cache, key, value, room)
    return value


def drops_items(function: Any, room: int) -> bool:
    return room <= SMALL or function.__qualname__ in RUNNING.check.calls.full_caches


def key_for(arguments: tuple[Any, ...], named: dict[str, Any], typed: bool) -> object:
    values = (*arguments, *named.values())
    kinds = tuple([type(value) for value in values]) if typed else ()
    return (arguments, tuple(named.items()), kinds)


def use_again(cache: dict[object, object], key: object) -> None:
    """The item that was used last is dropped last."""
    change_all(cache)
    if key in cache:
        cache[key] = cache.pop(key)


def put_in(cache: dict[object, object], key: object, value: object, room: int) -> None:
    give(cache, (key, value))
    change_all(cache)
    if key not in cache:
        if len(cache) >= room:
            del cache[next(iter(cache))]
        cache[key] = value


def cache_method(function: Any, name: str) -> Callable[..., Any] | None:
    """The method of a cached function of that name, if it has to do with the cache."""
    if name == "cache_clear":
        return functools.partial(clear, function)
    return functools.partial(describe, function) if name == "cache_info" else None


def clear(function: Any) -> None:
    cache = cache_of(function)
    change_all(cache)
    cache.clear()
    function.cache_clear()  # code that is not rewritten uses the real one
    function.__dict__[CALL_COUNT] = CountedCalls()


def describe(function: Any) -> object:
    cache = cache_of(function)
    read_all(cache)
    real = function.cache_info()
    calls = calls_of(function)
    return type(real)(calls.hits, calls.misses, real.maxsize, len(cache))

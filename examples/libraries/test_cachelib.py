"""cachelib: "All operations are protected by a threading.RLock, making a cache instance safe to use
from multiple threads within the same process" (SimpleCache).
"""

import pytest

import mazurka
from examples.libraries.threads import together

cachelib = pytest.importorskip("cachelib")


@mazurka.check
def test_increments_are_not_lost() -> None:
    cache = cachelib.SimpleCache()
    cache.set("visits", 0)
    together(lambda: cache.inc("visits"), lambda: cache.inc("visits"))
    assert cache.get("visits") == 2


@mazurka.check
def test_one_of_two_adds_succeeds() -> None:
    cache = cachelib.SimpleCache()
    added = []
    together(lambda: added.append(cache.add("key", 1)), lambda: added.append(cache.add("key", 2)))
    assert sorted(added) == [False, True]


@mazurka.check
def test_the_threshold_is_kept() -> None:
    cache = cachelib.SimpleCache(threshold=1)
    together(lambda: cache.set("a", 1), lambda: cache.set("b", 2), lambda: cache.get("a"))
    assert cache.get("a") or cache.get("b")

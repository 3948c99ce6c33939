"""zict: "almost completely thread-safe" mappings (since 3.0). An LRU keeps what was used last.

`pop` with a default raises KeyError all the same if another thread takes the key meanwhile: it is
the one of `collections.abc`, which looks the key up, then deletes it. (With real threads and a
short switch interval, 2 of 3000 pairs of calls did.)
"""

from pathlib import Path

import pytest

import mazurka
from examples.libraries.threads import together

zict = pytest.importorskip("zict")

SCHEDULE = Path(__file__).with_name("zict_pop.json")


# What is done when an object is let go of is not explored.
FINALIZERS = ["zict.common.ZictBase.__del__"]


@mazurka.check(opaque=FINALIZERS)
def test_what_threads_put_is_there() -> None:
    cache = zict.LRU(2, {})

    def put(key: str) -> None:
        cache[key] = key

    together(lambda: put("a"), lambda: put("b"))
    assert sorted(cache) == ["a", "b"]
    assert cache.total_weight == 2


def two_pops() -> None:
    cache = zict.LRU(2, {})
    cache["key"] = 1
    together(lambda: cache.pop("key", None), lambda: cache.pop("key", None))


def test_pop_with_a_default() -> None:
    with pytest.raises(mazurka.CheckFailed, match="KeyError"):
        mazurka.check(two_pops, opaque=FINALIZERS)


def test_the_saved_execution() -> None:
    assert mazurka.replay(two_pops, SCHEDULE.read_text()).kind == "exception"


@mazurka.check(opaque=FINALIZERS)
def test_a_cache_never_keeps_an_old_value() -> None:
    """Cache: "could another thread have called __setitem__ in the meantime?" """
    slow: dict[str, int] = {}
    cache = zict.Cache(slow, {})
    cache["key"] = 1

    def put(value: int) -> None:
        cache["key"] = value

    together(lambda: put(2), lambda: put(3))
    assert cache["key"] == slow["key"]

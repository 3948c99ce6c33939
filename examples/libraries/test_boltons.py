"""boltons: cacheutils.LRU and LRI: "thread-safe" caches, "max_size" entries at most."""

import pytest

import mazurka
from examples.libraries.threads import together

cacheutils = pytest.importorskip("boltons.cacheutils")


@mazurka.check
@pytest.mark.parametrize("kind", ["LRI", "LRU"])
def test_no_more_than_max_size(kind: str) -> None:
    cache = getattr(cacheutils, kind)(max_size=1)

    def put(key: str) -> None:
        cache[key] = key

    together(lambda: put("a"), lambda: put("b"))
    assert len(cache) == 1


@mazurka.check
def test_a_key_is_popped_once() -> None:
    cache = cacheutils.LRU(max_size=2)
    cache["key"] = 1
    popped = []
    together(
        lambda: popped.append(cache.pop("key", None)),
        lambda: popped.append(cache.pop("key", None)),
    )
    assert sorted(popped, key=str) == [1, None]


@mazurka.check
def test_hits_and_misses_are_counted() -> None:
    cache = cacheutils.LRU(max_size=2, values={"a": 1})
    together(lambda: cache["a"], lambda: cache.get("b"))
    assert (cache.hit_count, cache.miss_count) == (1, 1)

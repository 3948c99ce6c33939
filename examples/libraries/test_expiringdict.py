"""expiringdict: "an ordered dictionary with auto-expiring values for caching purposes. Expiration
happens on any access, object is locked during cleanup from expired values."
"""

import pytest

import mazurka
from examples.libraries.threads import together

expiringdict = pytest.importorskip("expiringdict")


@mazurka.check
def test_no_more_than_max_len() -> None:
    cache = expiringdict.ExpiringDict(max_len=1, max_age_seconds=10)

    def put(key: str) -> None:
        cache[key] = key

    together(lambda: put("a"), lambda: put("b"))
    assert len(cache) == 1


@mazurka.check
def test_one_thread_pops() -> None:
    cache = expiringdict.ExpiringDict(max_len=2, max_age_seconds=10)
    cache["key"] = "value"
    popped = []
    together(lambda: popped.append(cache.pop("key")), lambda: popped.append(cache.pop("key")))
    assert sorted(popped, key=str) == [None, "value"]


@mazurka.check
def test_reading_while_another_writes() -> None:
    cache = expiringdict.ExpiringDict(max_len=2, max_age_seconds=10)
    cache["a"] = 1

    def put() -> None:
        cache["b"] = 2

    def read() -> None:
        assert cache.get("a") == 1
        assert cache.items() in ([("a", 1)], [("a", 1), ("b", 2)])

    together(put, read)

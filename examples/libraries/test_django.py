"""django: the local-memory cache "is per-process and thread-safe"; a Signal's receivers are kept
with a lock.
"""

import pytest

import mazurka
from examples.libraries.threads import together

locmem = pytest.importorskip("django.core.cache.backends.locmem")
dispatch = pytest.importorskip("django.dispatch")
conf = pytest.importorskip("django.conf")

if not conf.settings.configured:
    conf.settings.configure()


# What is done when an object is let go of is not explored.
FINALIZERS = ["django.dispatch.dispatcher.Signal._remove_receiver"]


@mazurka.check(opaque=FINALIZERS)
def test_no_increment_is_lost() -> None:
    cache = locmem.LocMemCache("counts", {})
    cache.set("hits", 0)
    together(lambda: cache.incr("hits"), lambda: cache.incr("hits"))
    assert cache.get("hits") == 2


@mazurka.check(opaque=FINALIZERS)
def test_one_of_two_adds_succeeds() -> None:
    cache = locmem.LocMemCache("added", {})
    added = []
    together(lambda: added.append(cache.add("key", 1)), lambda: added.append(cache.add("key", 2)))
    assert sorted(added) == [False, True]


@mazurka.check(opaque=FINALIZERS)
def test_all_receivers_are_connected() -> None:
    signal = dispatch.Signal()
    calls = []

    def first(**named: object) -> None:
        calls.append("first")

    def second(**named: object) -> None:
        calls.append("second")

    together(lambda: signal.connect(first), lambda: signal.connect(second))
    signal.send(sender=None)
    assert sorted(calls) == ["first", "second"]

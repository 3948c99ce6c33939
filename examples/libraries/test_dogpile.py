"""dogpile.cache: get_or_create: "only one thread ... calls creation function" for a key at a time;
the others wait for its value.
"""

import pytest

import mazurka
from examples.libraries.threads import together

dogpile = pytest.importorskip("dogpile.cache")


@mazurka.check
def test_one_thread_creates() -> None:
    region = dogpile.make_region().configure("dogpile.cache.memory")
    created = []
    values = []

    def create() -> str:
        created.append("value")
        return "value"

    def ask() -> None:
        values.append(region.get_or_create("key", create))

    together(ask, ask)
    assert created == ["value"]
    assert values == ["value", "value"]

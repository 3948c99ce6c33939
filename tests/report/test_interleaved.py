"""What tasks of asyncio do to the same things between awaits, though no other thread has these."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

import mazurka

Program = Callable[[], Coroutine[Any, Any, None]]


class Pool:
    def __init__(self) -> None:
        self.cache: dict[str, object] = {}

    async def get(self, key: str) -> object:
        if key not in self.cache:
            await asyncio.sleep(0)
            self.cache[key] = object()
        return self.cache[key]


async def an_item() -> None:
    pool = Pool()
    one, other = await asyncio.gather(pool.get("k"), pool.get("k"))
    assert one is other


async def a_list() -> None:
    items: list[int] = []

    async def fill(number: int) -> None:
        if not items:
            await asyncio.sleep(0)
            items.append(number)

    await asyncio.gather(fill(1), fill(2))
    assert len(items) == 1


async def a_closure() -> None:
    count = 0

    async def add() -> None:
        nonlocal count
        found = count
        await asyncio.sleep(0)
        count = found + 1

    await asyncio.gather(add(), add())
    assert count == 2


total = 0


async def a_global() -> None:
    async def add() -> None:
        global total
        found = total
        await asyncio.sleep(0)
        total = found + 1

    await asyncio.gather(add(), add())
    assert total == 2


@pytest.mark.parametrize(
    ("program", "name"),
    [
        (an_item, "pool.cache['k']"),
        (a_list, "items"),
        (a_closure, "count"),
        (a_global, "total"),
    ],
    ids=lambda value: getattr(value, "__name__", value),
)
def test_what_was_written_in_between_is_named(program: Program, name: str) -> None:
    [failure] = mazurka.explore(program).failures[:1]
    assert failure.explanation is not None
    sentence = failure.explanation.sentence
    assert sentence.startswith("interleaved await: Task-")
    assert f"read `{name}`" in sentence
    assert "wrote it after an await" in sentence and "had written it in between" in sentence


async def reads() -> None:
    """Nothing is written: then there is nothing to tell of what tasks read."""
    pool = Pool()

    async def look() -> int:
        await asyncio.sleep(0)
        return len(pool.cache)

    await asyncio.gather(look(), look())
    raise ValueError


def test_what_nobody_writes_is_not_told() -> None:
    [failure] = mazurka.explore(reads).failures[:1]
    assert not [step for step in failure.steps if "cache" in step.name]

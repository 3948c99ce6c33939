"""async_lru: "@alru_cache ... wraps a function ... with an LRU cache"; concurrent calls with the
same arguments share one call; a caller that is cancelled does not take it from the others.
"""

import asyncio

import pytest

import mazurka

async_lru = pytest.importorskip("async_lru")


@mazurka.check
def test_callers_share_one_call() -> None:
    calls = []

    @async_lru.alru_cache(maxsize=2)
    async def make(key: str) -> str:
        calls.append(key)
        await asyncio.sleep(0)
        return key

    async def main() -> None:
        first, second = await asyncio.gather(make("a"), make("a"))
        assert first == second == "a"

    asyncio.run(main())
    assert calls == ["a"]


@mazurka.check
def test_a_cancelled_caller_leaves_the_others() -> None:
    @async_lru.alru_cache(maxsize=2)
    async def make(key: str) -> str:
        await asyncio.sleep(0)
        return key

    async def main() -> None:
        first = asyncio.create_task(make("a"))
        second = asyncio.create_task(make("a"))
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert await second == "a"

    asyncio.run(main())

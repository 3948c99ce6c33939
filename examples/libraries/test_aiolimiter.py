"""aiolimiter: "allow up to max_rate / time_period acquisitions before blocking"."""

import asyncio

import pytest

import mazurka

aiolimiter = pytest.importorskip("aiolimiter")


@mazurka.check
def test_one_of_two_tasks_waits() -> None:
    async def main() -> None:
        limiter = aiolimiter.AsyncLimiter(1, time_period=10)
        loop = asyncio.get_running_loop()
        times = []

        async def work() -> None:
            async with limiter:
                times.append(loop.time())

        await asyncio.gather(work(), work())
        assert times[1] - times[0] >= 9.9

    asyncio.run(main())

"""janus: a queue with a synchronous and an asynchronous side: "thread-safe asyncio-aware queue"."""

import asyncio
import threading

import pytest

import mazurka

janus = pytest.importorskip("janus")


@mazurka.check
def test_a_thread_feeds_a_task() -> None:
    async def main() -> list[int]:
        queue = janus.Queue()

        def feed() -> None:
            queue.sync_q.put(1)
            queue.sync_q.put(2)

        thread = threading.Thread(target=feed)
        thread.start()
        got = [await queue.async_q.get(), await queue.async_q.get()]
        thread.join()
        await queue.aclose()
        return got

    assert asyncio.run(main()) == [1, 2]


@mazurka.check
def test_a_task_feeds_a_thread() -> None:
    got = []

    async def main() -> None:
        queue = janus.Queue(maxsize=1)

        def drain() -> None:
            got.extend([queue.sync_q.get(), queue.sync_q.get()])

        thread = threading.Thread(target=drain)
        thread.start()
        await queue.async_q.put(1)
        await queue.async_q.put(2)
        await asyncio.to_thread(thread.join)
        await queue.aclose()

    asyncio.run(main())
    assert got == [1, 2]

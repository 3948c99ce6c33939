"""Classic bugs with tasks of asyncio. Each fails.

mazurka check examples/bugs/tasks.py::interleaved_await
"""

import asyncio


class Account:
    def __init__(self) -> None:
        self.balance = 100

    async def withdraw(self, amount: int) -> None:
        if self.balance >= amount:
            await asyncio.sleep(0)  # another task may run here
            self.balance -= amount


async def interleaved_await() -> None:
    """Both tasks find enough money."""
    account = Account()
    await asyncio.gather(account.withdraw(70), account.withdraw(70))
    assert account.balance >= 0


async def cancelled_await() -> None:
    """A consumer is cancelled when it has taken an item, and before it has handled it."""
    queue: asyncio.Queue[str] = asyncio.Queue()
    handled: list[str] = []

    async def consume() -> None:
        item = await queue.get()
        await asyncio.sleep(0)
        handled.append(item)

    async def produce() -> None:
        await queue.put("order")

    async def stop(task: "asyncio.Task[None]") -> None:
        task.cancel()

    consumer = asyncio.create_task(consume())
    producer = asyncio.create_task(produce())
    stopper = asyncio.create_task(stop(consumer))
    await asyncio.gather(consumer, producer, stopper, return_exceptions=True)
    assert handled or not queue.empty(), "the order is lost"

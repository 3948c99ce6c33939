"""werkzeug: a Local is "a namespace of context-local data"; a LocalStack "a stack of context-local
data"; a LocalProxy works on what is bound to the context that uses it.
"""

import asyncio

import pytest

import mazurka
from examples.libraries.threads import together

local = pytest.importorskip("werkzeug.local")


@mazurka.check
def test_each_thread_has_its_own_values() -> None:
    here = local.Local()
    user = here("user")

    def work(name: str) -> None:
        here.user = name
        assert user.upper() == name.upper()
        local.release_local(here)
        assert not hasattr(here, "user")

    together(lambda: work("first"), lambda: work("second"))


@mazurka.check
def test_each_task_has_its_own_stack() -> None:
    stack = local.LocalStack()

    async def work(name: str) -> None:
        stack.push(name)
        await asyncio.sleep(0)
        assert stack.pop() == name
        assert stack.top is None

    async def main() -> None:
        await asyncio.gather(work("first"), work("second"))

    asyncio.run(main())

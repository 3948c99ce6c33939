"""asgiref: Local is "similar to threading.local", where "data is also local to the current async
task"; "unlike plain contextvars objects, this utility is threadsafe".

Up to 3.9.0, a thread that deleted an attribute took it from all the others.
"""

import asyncio

import pytest

import mazurka
from examples.libraries.threads import together

local = pytest.importorskip("asgiref.local")


@mazurka.check
def test_each_thread_has_its_own_values() -> None:
    here = local.Local()

    def work(name: str) -> None:
        here.name = name
        assert here.name == name
        del here.name
        assert not hasattr(here, "name")

    together(lambda: work("first"), lambda: work("second"))


@mazurka.check
def test_each_task_has_its_own_values() -> None:
    here = local.Local()

    async def work(name: str) -> None:
        here.name = name
        await asyncio.sleep(0)
        assert here.name == name

    async def main() -> None:
        here.name = "main"
        await asyncio.gather(work("first"), work("second"))
        assert here.name == "main"

    asyncio.run(main())


@mazurka.check
def test_a_thread_critical_local() -> None:
    here = local.Local(thread_critical=True)
    here.name = "main"

    def work(name: str) -> None:
        assert not hasattr(here, "name")
        here.name = name
        assert here.name == name

    together(lambda: work("first"), lambda: work("second"))
    assert here.name == "main"

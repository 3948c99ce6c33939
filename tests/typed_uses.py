# pyright: strict, reportUnnecessaryTypeIgnoreComment=true, reportUnusedFunction=false
"""What type checkers are to take and to refuse. Nobody runs this file: test_options.py has it
checked. Each `type: ignore` stands for an error that must be there, and there is no other."""

from collections.abc import Callable
from typing import Any, assert_type

import mazurka
from mazurka import Atomic, Queue, Result


def program() -> int:
    return 3


# Options

assert_type(mazurka.explore(program), Result)
assert_type(mazurka.explore(program, algorithm="qpor", k="optimal", time_limit=60), Result)
assert_type(mazurka.explore(program, instrument=None, preemptions="0..", unroll=None), Result)
mazurka.explore(program, time_limt=60)  # type: ignore[call-arg]
mazurka.explore(program, time_limit="60")  # type: ignore[arg-type]
mazurka.explore(program, progress=program)  # type: ignore[arg-type]

assert_type(mazurka.check(program, time_limit=60), Result)
assert_type(mazurka.check(program).executions, int)
mazurka.check(program, time_limt=60)  # type: ignore[call-overload]
mazurka.check(program, time_limit="60")  # type: ignore[call-overload]


# Tests


@mazurka.check
def test_bare() -> None:
    pass


@mazurka.check
def test_with_parameters(value: int, name: str = "") -> None:
    pass


@mazurka.check
async def test_coroutine(value: int) -> None:
    pass


@mazurka.check(time_limit=60, max_executions=5)
def test_with_options() -> None:
    pass


@mazurka.check(seed=3)
async def test_coroutine_with_options(value: int) -> None:
    pass


@mazurka.check(time_limt=60)  # type: ignore[call-overload, untyped-decorator]
def test_misspelt() -> None:
    pass


class TestMethods:
    @mazurka.check
    def test_bare(self) -> None:
        pass

    @mazurka.check(granularity="sync")
    async def test_with_options(self, value: int) -> None:
        pass


def calls() -> None:
    test_bare()
    test_with_parameters(3, name="x")
    test_with_parameters("3")  # type: ignore[arg-type]
    test_coroutine(3)
    test_coroutine()  # type: ignore[call-arg]
    TestMethods().test_bare()
    TestMethods().test_with_options(3)
    TestMethods().test_with_options()  # type: ignore[call-arg]
    assert_type(mazurka.explore(test_bare), Result)
    functions: list[Callable[[], None]] = [test_bare, test_with_options]
    coroutines: list[Callable[[int], None]] = [test_coroutine, test_coroutine_with_options]
    assert functions and coroutines


# Names and values


def values() -> None:
    queue: Queue[int] = Queue(2)
    assert_type(queue.get(), int)
    assert_type(queue.qsize(), int)
    queue.put("x")  # type: ignore[arg-type]
    assert_type(Queue().get(), Any)
    assert_type(Atomic(3).load(), int)
    mazurka.Atmic(3)  # type: ignore[attr-defined]

"""Entrances look like the functions that they lead to, and are gone through once."""

import asyncio
import inspect
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from types import CodeType, FunctionType
from typing import Any

import pytest

from mazurka.python.rewriting.entrances import entrance_to

ENTERED: list[str] = []


def enter(code: CodeType, closure: Any) -> FunctionType:
    ENTERED.append(code.co_name)
    return FunctionType(code, sys._getframe(1).f_globals, code.co_name, None, closure)


def plain(a: int, /, b: int = 2, *rest: int, c: int, d: int = 4, **others: int) -> object:
    return a, b, rest, c, d, others


def only_named(*, first: int, second: int = 2) -> object:
    return first, second


def counter() -> Callable[[int], object]:
    zero, total, step = 0, 10, 1

    def count(by: int) -> object:
        nonlocal total
        total += by * step
        return (lambda: (by, total, zero))()

    return count


def numbers(most: int) -> Iterator[int]:
    yield from range(most)


async def later(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def all_later(most: int) -> AsyncIterator[int]:
    for value in range(most):
        yield value


async def gathered(most: int) -> list[int]:
    return [value async for value in all_later(most)]


class Base:
    def name(self) -> str:
        return "base"


class Derived(Base):
    def name(self) -> str:
        return f"{__class__.__name__} of {super().name()}"  # type: ignore[name-defined]


CALLS: list[tuple[Any, Callable[[], object], object]] = [
    (plain, lambda: plain(1, c=3), (1, 2, (), 3, 4, {})),
    (plain, lambda: plain(1, 5, 6, 7, c=3, e=8), (1, 5, (6, 7), 3, 4, {"e": 8})),
    (only_named, lambda: only_named(first=1), (1, 2)),
    (numbers, lambda: list(numbers(3)), [0, 1, 2]),
    (later, lambda: asyncio.run(later(5)), 5),
    (all_later, lambda: asyncio.run(gathered(2)), [0, 1]),
    (Derived.name, lambda: Derived().name(), "Derived of base"),
]


@pytest.mark.parametrize(("function", "call", "expected"), CALLS)
def test_calls(
    function: Any, call: Callable[[], object], expected: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    signature, kinds = inspect.signature(function), kinds_of(function)
    original = function.__code__
    entrance = entrance_to(original, enter)
    monkeypatch.setattr(function, "__code__", entrance)
    assert (inspect.signature(function), kinds_of(function)) == (signature, kinds)
    assert entrance.co_qualname == original.co_qualname
    assert entrance.co_firstlineno == original.co_firstlineno
    ENTERED.clear()
    for _ in range(20):  # Python adapts code that runs often
        assert call() == expected
    assert [original.co_name] * 20 == ENTERED


def kinds_of(function: Any) -> tuple[bool, bool, bool]:
    return (
        inspect.isgeneratorfunction(function),
        inspect.iscoroutinefunction(function),
        inspect.isasyncgenfunction(function),
    )


def test_closures() -> None:
    first: Any = counter()
    second: Any = counter()
    for count in (first, second):
        assert isinstance(count, FunctionType)
        count.__code__ = entrance_to(count.__code__, enter)
    assert first(1) == (1, 11, 0)
    assert first(by=2) == (2, 13, 0)
    assert second(5) == (5, 15, 0)


def test_wrong_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(only_named, "__code__", entrance_to(only_named.__code__, enter))
    wrong: Any = only_named
    with pytest.raises(TypeError, match=r"only_named\(\) takes 0 positional arguments"):
        wrong(1)

"""Objects that stand for others: to look at them must not run their code."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mazurka import explore
from tests.python.threads import both


class Lazy:
    """As Django's: whatever is asked for, even its class, is that of another object."""

    wrapped: Any = None

    def __getattribute__(self, name: str) -> Any:
        if name == "wrapped":
            return super().__getattribute__(name)
        if super().__getattribute__("wrapped") is None:
            self.wrapped = []
        return getattr(self.wrapped, name)


def test_a_lazy_object_is_made_when_the_program_asks() -> None:
    def program() -> int:
        lazy: Any = Lazy()
        assert not lazy.wrapped
        both(lambda: lazy.append(1), lambda: lazy.append(2))
        return len(lazy.wrapped)

    result = explore(program)
    assert not result.failures, result.failures[0].message
    assert set(result.outcomes) == {1, 2}


class Empty:
    def __getattr__(self, name: str) -> Any:
        with self.manager():
            raise AttributeError(name)

    @contextmanager
    def manager(self) -> Iterator[None]:
        yield


def test_a_generator_that_holds_an_object_does_not_ask_it() -> None:
    def program() -> None:
        empty = Empty()
        both(lambda: hasattr(empty, "one"), lambda: hasattr(empty, "other"))

    result = explore(program)
    assert not result.failures, result.failures[0].message

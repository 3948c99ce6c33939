"""`mazurka.atomic`, a context and a decorator."""

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from mazurka.python.primitives.undivided import enter_block, leave_block

F = TypeVar("F", bound=Callable[..., Any])


class AtomicBlocks:
    """Marks code that must not be interleaved with other threads: `with mazurka.atomic:` or
    `@mazurka.atomic`. Outside of checks it does nothing."""

    def __enter__(self) -> None:
        enter_block()

    def __exit__(self, *_: object) -> None:
        leave_block()

    def __call__(self, function: F) -> F:
        if not callable(function):
            raise TypeError(
                f"mazurka.atomic takes a function, not {function!r}: "
                "write `@mazurka.atomic` or `with mazurka.atomic:`"
            )
        if any(
            kind(function)
            for kind in (
                inspect.iscoroutinefunction,
                inspect.isgeneratorfunction,
                inspect.isasyncgenfunction,
            )
        ):
            raise TypeError(
                f"mazurka.atomic does not take coroutines and generators like {function!r}: their "
                "bodies run after the call; write `with mazurka.atomic:` inside, without an await "
                "or a yield in it"
            )

        @functools.wraps(function)
        def wrapper(*arguments: Any, **named: Any) -> Any:
            with self:
                return function(*arguments, **named)

        return wrapper  # type: ignore[return-value]


atomic = AtomicBlocks()

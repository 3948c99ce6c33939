"""`random` and `os.urandom`: a stream of numbers for each thread, the same in every execution."""

import functools
import os
import random
from collections.abc import Callable
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import Patch
from mazurka.python.runtime.standard_thread import in_execution, own_state

original_seed = random.Random.seed
original_urandom = os.urandom


def stream() -> random.Random:
    """The stream of the running thread."""
    RUNNING.check.runtime.note_change()
    state = own_state()
    state.draws += 1
    if state.random is None:
        state.random = random.Random(seed_for("stream"))
    return state.random


def seed_for(purpose: str) -> str:
    runtime = RUNNING.check.runtime
    assert runtime.current is not None
    return f"{purpose} of thread {runtime.current.name}"


def seed(self: random.Random, a: Any = None, version: int = 2) -> None:
    if a is None and in_execution():
        RUNNING.check.runtime.note_change()
        state = own_state()
        state.unseeded += 1
        a = seed_for(f"generator {state.unseeded}")
    original_seed(self, a, version)


def urandom(size: int, /) -> bytes:
    return stream().randbytes(size) if in_execution() else original_urandom(size)


def on_own_stream(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def call(*arguments: Any, **options: Any) -> Any:
        method = getattr(stream(), name) if in_execution() else original
        return method(*arguments, **options)

    return call


def functions_of_random() -> list[Patch]:
    """The functions of the module: methods of one hidden generator."""
    hidden = getattr(random.random, "__self__", None)
    return [
        Patch(random, name, on_own_stream(name, function))
        for name, function in vars(random).items()
        if hidden is not None and getattr(function, "__self__", None) is hidden
    ]


FUNCTIONS = functions_of_random()
DRAWING = {f"random.{name}": (function,) for _, name, function in FUNCTIONS}

PATCHES = [
    *FUNCTIONS,
    Patch(random.Random, "seed", seed),
    Patch(random, "_urandom", urandom),
    Patch(os, "urandom", urandom),
]

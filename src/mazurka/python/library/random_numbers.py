"""`random` and `os.urandom`: a stream of numbers for each thread, the same in every execution; or
one for all, once the program has seeded it."""

import functools
import os
import random
from collections.abc import Callable
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import Patch
from mazurka.python.memory.process_state import RANDOM, change_setting
from mazurka.python.runtime.standard_thread import in_execution, own_state

original_seed = random.Random.seed
original_seed_all = random.seed
original_set_state = random.setstate
original_urandom = os.urandom


def stream() -> random.Random:
    """The stream of the running thread, or the one that the program has seeded."""
    check = RUNNING.check
    if RANDOM in check.changeable.learnt:
        change_setting(RANDOM, "after drawing")
    return own_stream() if check.models.seeded is None else check.models.seeded


def own_stream() -> random.Random:
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


def seed_all(a: Any = None, version: int = 2) -> None:
    """`random.seed`: from now on all threads draw from one stream. (What None gives differs each
    time: then there is no need of that.)"""
    if not in_execution():
        original_seed_all(a, version)
        return
    seeded = random.Random()
    original_seed(seeded, a, version)
    set_stream(None if a is None else seeded)


def set_state(state: Any) -> None:
    """`random.setstate`."""
    if not in_execution():
        original_set_state(state)
        return
    seeded = random.Random()
    seeded.setstate(state)
    set_stream(seeded)


def set_stream(seeded: random.Random | None) -> None:
    change_setting(RANDOM, "after seeding")
    RUNNING.check.models.seeded = seeded


def urandom(size: int, /) -> bytes:
    return own_stream().randbytes(size) if in_execution() else original_urandom(size)


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
        if hidden is not None
        and getattr(function, "__self__", None) is hidden
        and name not in ("seed", "setstate")
    ]


FUNCTIONS = functions_of_random()
DRAWING = {f"random.{name}": (function,) for _, name, function in FUNCTIONS}

PATCHES = [
    *FUNCTIONS,
    Patch(random, "seed", seed_all),
    Patch(random, "setstate", set_state),
    Patch(random.Random, "seed", seed),
    Patch(random, "_urandom", urandom),
    Patch(os, "urandom", urandom),
]

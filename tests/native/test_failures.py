"""Small programs that fail, each in its own way, and the same ones mended."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mazurka.engine.result import (
    DATA_RACE,
    DEADLOCK,
    EXCEPTION,
    LIVELOCK,
    NONDETERMINISM,
    Failure,
)
from mazurka.native.compiling import Compiled
from mazurka.native.program import Manner
from tests.native.in_process import compiled_text, explored

SOURCE = Path(__file__).with_name("faults.c")

# What is said, and the comment of the line that is told.
FAULTS = {
    "assertion": ("assertion failed: counter == 2", "assertion"),
    "abort": ("the program calls abort", "abort"),
    "exit code": ("the program exits with code 1", "exit code"),
    "exit in a thread": ("the program exits with code 3", "exit"),
    "use after free": ("use after free: block", "use after free"),
    "double free": ("double free: block", "double free"),
    "invalid free": ("free of what is no block", "invalid free"),
    "overflow": ("access outside of a block", "overflow"),
    "null": ("segmentation fault: a null pointer", "null"),
    "null atomic": ("segmentation fault: a null pointer", "null atomic"),
    "null lock": ("segmentation fault: a null pointer", "null lock"),
    "wild": ("segmentation fault: a wild pointer, 0x1234567890", "wild"),
    "division": ("arithmetic error", "division"),
    "stack overflow": ("stack overflow", "stack overflow"),
    "not held": ("unlock of a lock that the thread does not hold", "not held"),
    "destroyed": ("destruction of a lock that is held", "destroyed"),
    "recursive": ("assertion failed", "recursive"),
    "ended stack": ("access to the stack of a thread that has ended", "ended stack"),
    "unmade mutex": ("use of a mutex that is not initialised", "unmade mutex"),
    "unmade condition": ("use of a condition that is not initialised", "unmade condition"),
    "unmade semaphore": ("use of a semaphore that is not initialised", "unmade semaphore"),
    "unmade rwlock": ("use of a lock for readers and writers that is not", "unmade rwlock"),
    "unmade spinlock": ("use of a spinlock that is not initialised", "unmade spinlock"),
    "unmade barrier": ("use of a barrier that is not initialised", "unmade barrier"),
    "unmade on the stack": ("use of a mutex that is not initialised", "unmade on the stack"),
    "destroyed and used": ("use of a mutex that is not initialised", "destroyed and used"),
    "joins a detached one": ("the thread is detached", "joins a detached one"),
    "joined twice": ("the thread was joined before", "joined twice"),
    "joins itself": ("a thread joins itself", "joins itself"),
    "once": ("assertion failed: counter == 1", "once"),
    "own": ("assertion failed", "own"),
    "halfway": ("assertion failed: found != 1", "halfway"),
    "c11": ("assertion failed", "c11"),
    "torn": ("assertion failed", "torn"),
    "spinlock": ("assertion failed", "spinlock"),
    "longjmp": ("assertion failed", "longjmp"),
    "too much memory": ("assertion failed", "too much memory"),
    "arguments": ("assertion failed", "arguments"),
    "printed": ("assertion failed", "printed"),
    "signal": ("Terminated", "signal"),
    "unhandled": ("User defined signal 1", "unhandled"),
    "overflow by copying": ("access outside of a block", "overflow by copying"),
    "overflow by reading": ("access outside of a block", "overflow by reading"),
    "rwlock destroyed": ("destruction of a lock that is held", "rwlock destroyed"),
}
# Who waits, in a comment of the line.
DEADLOCKS = {
    "deadlock": "deadlock",
    "lost signal": "lost signal",
    "barrier": "barrier",
    "semaphore": "semaphore",
}


# What is told of those that fail in another way: the kind, the message, and the line.
OTHERS = {
    "relocked": (DEADLOCK, "lock of what the thread holds already", "relocked"),
    "spinlock relocked": (DEADLOCK, "lock of what the thread holds", "spinlock relocked"),
    "write lock relocked": (DEADLOCK, "lock of what the thread holds", "write lock relocked"),
    "livelock": (LIVELOCK, "a thread waits in a loop for what never comes", "livelock"),
    "data race": (DATA_RACE, "counter is written by", "data race"),
    "leak": (EXCEPTION, "memory is allocated and never freed", "leak"),
    "unwritten": (NONDETERMINISM, "what the program does depends on memory that it reads", ""),
    "unwritten branch": (NONDETERMINISM, "what the program does depends on memory that it", ""),
    "real clock": (NONDETERMINISM, "the program does not repeat itself", ""),
    "printed address": (
        NONDETERMINISM,
        "the program makes a text of an address",
        "printed address",
    ),
}


@pytest.fixture(scope="module")
def programs() -> Iterator[tuple[Compiled, Compiled]]:
    """The faulty ones, and those that are mended."""
    text = SOURCE.read_text()
    with ExitStack() as stack:
        faulty = stack.enter_context(compiled_text(text, "-DFAULTY=1"))
        yield faulty, stack.enter_context(compiled_text(text, "-DFAULTY=0"))


def failures_of(made: Compiled, name: str) -> list[Failure]:
    granularity = "sync" if name == "data race" else "access"
    result = explored(made, [name], "pop", Manner(10_000, granularity, name == "leak"))
    assert result.complete + result.blocked == result.executions
    return result.failures


@pytest.mark.parametrize("name", FAULTS)
def test_failures_are_named(programs: tuple[Compiled, Compiled], name: str) -> None:
    message, comment = FAULTS[name]
    failures = failures_of(programs[0], name)
    assert {failure.kind for failure in failures} == {EXCEPTION}
    found = [failure for failure in failures if failure.message.startswith(message)]
    assert found, failures[0].message
    if comment:
        assert any(f"/* {comment} */" in detail for detail in found[0].details), found[0].details


@pytest.mark.parametrize("name", DEADLOCKS)
def test_deadlocks_are_told(programs: tuple[Compiled, Compiled], name: str) -> None:
    failures = failures_of(programs[0], name)
    assert {failure.kind for failure in failures} == {DEADLOCK}
    if DEADLOCKS[name]:
        waiting = failures[0].details
        assert any(f"/* {DEADLOCKS[name]} */" in detail for detail in waiting), waiting


@pytest.mark.parametrize("name", OTHERS)
def test_other_failures_are_told(programs: tuple[Compiled, Compiled], name: str) -> None:
    kind, message, comment = OTHERS[name]
    failures = failures_of(programs[0], name)
    assert {failure.kind for failure in failures} == {kind}, failures[0].message
    assert failures[0].message.startswith(message)
    if comment:
        assert any(f"/* {comment} */" in detail for detail in failures[0].details)


@pytest.mark.parametrize(
    "name", [*FAULTS, *OTHERS, "deadlock", "lost signal", "barrier", "semaphore"]
)
def test_what_is_mended_is_verified(programs: tuple[Compiled, Compiled], name: str) -> None:
    for granularity in ("access", "sync"):
        manner = Manner(10_000, granularity, name == "leak")
        result = explored(programs[1], [name], "optimal", manner)
        assert result.verdict == "verified", result.failures[0].message

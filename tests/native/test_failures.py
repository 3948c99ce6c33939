"""Small programs that fail, each in its own way, and the same ones mended."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mazurka.engine.result import DEADLOCK, EXCEPTION, Failure
from mazurka.native.compiling import Compiled
from tests.native.in_process import compiled_text, explored

SOURCE = Path(__file__).with_name("faults.c")

# What is said, and the comment of the line that is told.
FAULTS = {
    "assertion": ("assertion failed: counter == 2", "assertion"),
    "abort": ("the program calls abort", "abort"),
    "exit code": ("the program exits with code 1", ""),
    "exit in a thread": ("the program exits with code 3", "exit"),
    "use after free": ("use after free: block", "use after free"),
    "double free": ("double free: block", "double free"),
    "invalid free": ("free of what is no block", "invalid free"),
    "overflow": ("access outside of a block", "overflow"),
    "null": ("segmentation fault: a null pointer", "null"),
    "null atomic": ("segmentation fault: a null pointer", "null atomic"),
    "null lock": ("segmentation fault: a null pointer", "null lock"),
    "wild": ("segmentation fault: the address 0x1234567890", "wild"),
    "division": ("arithmetic error", "division"),
    "stack overflow": ("stack overflow", ""),
    "not held": ("unlock of a lock that the thread does not hold", "not held"),
    "destroyed": ("destruction of a lock that is held", "destroyed"),
    "recursive": ("assertion failed", "recursive"),
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
}
# Who waits, in a comment of the line.
DEADLOCKS = {
    "deadlock": "deadlock",
    "lost signal": "lost signal",
    "relocked": "relocked",
    "barrier": "",
    "semaphore": "semaphore",
}


@pytest.fixture(scope="module")
def programs() -> Iterator[tuple[Compiled, Compiled]]:
    """The faulty ones, and those that are mended."""
    text = SOURCE.read_text()
    with ExitStack() as stack:
        faulty = stack.enter_context(compiled_text(text, "-DFAULTY=1"))
        yield faulty, stack.enter_context(compiled_text(text, "-DFAULTY=0"))


def failures_of(made: Compiled, name: str) -> list[Failure]:
    result = explored(made, [name], "pop")
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


@pytest.mark.parametrize("name", [*FAULTS, "deadlock", "lost signal", "barrier", "semaphore"])
def test_what_is_mended_is_verified(programs: tuple[Compiled, Compiled], name: str) -> None:
    result = explored(programs[1], [name], "optimal")
    assert result.verdict == "verified", result.failures[0].message

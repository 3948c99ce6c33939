"""Programs that hide their fault: none of them may be verified."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mazurka.native.compiling import Compiled
from mazurka.native.program import Manner
from tests.native.in_process import compiled_text, explored

# Loops that seem to wait, but end with a fault: what they count in is no variable of theirs.
LOOPS = (
    *("tls_tries", "key_tries", "rand_tries", "malloc_tries", "double_tries"),
    *("locked_tries", "depth_tries", "errno_tries"),
)
# Two accesses that seem to be ordered: what is told of them.
RACES = {
    "text": "text[0] is ",
    "realloc": "block is ",
    "under_read": "data is ",
    "trylock": "data is ",
    "other lock": "data is ",
    "relaxed publish": "block (allocated at ",
    "lend": "a local variable of lend is freed by lend and read by borrow",
    "late free": "block (allocated at ",
    "pair": "pair.a is ",
    "in place": "from_here[0] is ",
}
# The same where accesses are steps: of memory that is gone.
GONE = {
    "realloc": "use after free",
    "lend": "access to the stack of a thread that has ended",
    "late free": "use after free",
}


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def made(request: pytest.FixtureRequest) -> Iterator[Compiled]:
    with compiled_text(Path(__file__).with_name("hidden.c").read_text(), request.param) as made:
        yield made


def messages(made: Compiled, name: str, granularity: str) -> set[str]:
    result = explored(made, [name], "pop", Manner(2000, granularity))
    assert result.verdict == "failed"
    return {failure.message for failure in result.failures}


@pytest.mark.parametrize("name", LOOPS)
def test_loops_that_count_elsewhere(made: Compiled, name: str) -> None:
    for granularity in ("access", "sync"):
        found = messages(made, name, granularity)
        assert all(message.startswith("assertion failed") for message in found)


@pytest.mark.parametrize("name", RACES)
def test_accesses_that_seem_ordered(made: Compiled, name: str) -> None:
    found = messages(made, name, "sync")
    assert any(message.startswith(RACES[name]) for message in found), found


@pytest.mark.parametrize("name", GONE)
def test_memory_that_is_gone(made: Compiled, name: str) -> None:
    found = messages(made, name, "access")
    assert any(message.startswith(GONE[name]) for message in found), found


def test_bytes_of_one_word_are_no_race(made: Compiled) -> None:
    assert explored(made, ["ok bytes"], "pop", Manner(2000, "sync")).verdict == "verified"

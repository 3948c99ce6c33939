"""Loops that wait, in C: a thread that only goes round is left there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mazurka.engine.result import LIVELOCK
from mazurka.native.compiling import Compiled
from mazurka.native.program import Manner
from tests.native.in_process import compiled_text, explored

WAITING = (
    *("flag", "plain", "in turn", "by call", "test and set", "look then set", "compare and set"),
    *("ticket", "trylock", "locked"),
)
ALGORITHMS = ("pop", "optimal", "trust")


@pytest.fixture(scope="module", params=["-O0", "-O2"])
def made(request: pytest.FixtureRequest) -> Iterator[Compiled]:
    text = Path(__file__).with_name("loops.c").read_text()
    with compiled_text(text, request.param) as made:
        yield made


@pytest.mark.parametrize("name", WAITING)
def test_loops_that_wait_are_verified(made: Compiled, name: str) -> None:
    complete = set()
    for algorithm in ALGORITHMS:
        result = explored(made, [name], algorithm)
        assert result.verdict == "verified", (algorithm, result.failures[0].message)
        assert result.executions < 500
        complete.add(result.complete)
    assert len(complete) == 1, complete
    assert complete != {0}


def test_what_never_comes_is_told(made: Compiled) -> None:
    result = explored(made, ["never"], "pop")
    assert [failure.kind for failure in result.failures] == [LIVELOCK]
    assert "while (!flag) {}" in result.failures[0].details[-1]


def test_what_never_comes_under_a_lock_is_told(made: Compiled) -> None:
    for granularity in ("access", "sync"):
        manner = Manner(10_000, granularity)
        result = explored(made, ["locked, twice"], "pop", manner)
        assert {failure.kind for failure in result.failures} == {LIVELOCK}


@pytest.mark.parametrize("name", WAITING)
def test_loops_that_wait_at_the_granularity_of_synchronisation(made: Compiled, name: str) -> None:
    result = explored(made, [name], "pop", Manner(10_000, "sync"))
    if name == "plain":  # and so no way to wait
        assert [failure.kind for failure in result.failures] == ["data race"]
    else:
        assert result.verdict == "verified", result.failures[0].message


# Complete and blocked executions, with only polling loops cut and with all pure rounds, as the
# paper has them: which loop, how many threads, how many rounds.
PAPER = {
    ("ttaslock", 2, 3): ((6, 4), (4, 4)),
    ("ttaslock", 3, 4): ((162, 183), (36, 81)),
    ("twalock", 2, 3): ((4, 2), (4, 2)),
    ("mutex", 2, 3): ((12, 2), (12, 2)),
    ("rwlock", 2, 4): ((6, 2), (6, 2)),
    ("rwlock", 3, 4): ((582, 456), (582, 456)),
}


def test_the_awaiting_paper_has_the_same_executions() -> None:
    text = Path(__file__).with_name("awaiting.c").read_text()
    with compiled_text(text, "-O1") as made:
        for (name, threads, rounds), expected in PAPER.items():
            for purity, counts in zip((False, True), expected, strict=True):
                manner = Manner(10_000, "sync", unroll=rounds, loop_purity=purity)
                result = explored(made, [name, str(threads)], "pop", manner)
                assert (result.complete, result.blocked) == counts, (name, threads, purity)


def test_rounds_beyond_a_bound_are_left_out() -> None:
    text = """
        #include <stdatomic.h>
        atomic_int number;
        int main(void) { while (number < 10) number++; return 0; }
    """
    with compiled_text(text) as made:
        result = explored(made, [], "pop", Manner(10_000, unroll=5))
        assert (result.blocked, result.bound, result.verdict) == (1, "unroll=5", "bounded")
        assert explored(made, [], "pop", Manner(10_000, unroll=11)).verdict == "verified"


@pytest.mark.parametrize("flag", ["-O0", "-O2"])
def test_loops_that_start_threads_are_bounded_unless_they_count(flag: str) -> None:
    text = """
        #include <pthread.h>
        #include <stdatomic.h>
        atomic_int number;
        void *add(void *unused) { for (;;) number++; return unused; }
        void *once(void *unused) { return unused; }
        int main(int count, char **unused) {
            pthread_t threads[4], thread;
            for (int place = 0; place < 4; place++) pthread_create(&threads[place], 0, once, 0);
            while (count > 1) pthread_create(&thread, 0, add, 0);
            return 0;
        }
    """
    with compiled_text(text, flag) as made:
        result = explored(made, ["forever"], "pop", Manner(10_000, "sync", unroll=2))
        assert (result.bound, result.verdict) == ("unroll=2", "bounded")
        assert explored(made, [], "pop", Manner(10_000, "sync", unroll=2)).verdict == "verified"


@pytest.mark.parametrize(("name", "outcomes"), [("thrice", "0123"), ("on stack", "0123")])
def test_loops_that_count_are_run_to_their_end(made: Compiled, name: str, outcomes: str) -> None:
    for algorithm in ALGORITHMS:
        result = explored(made, [name], algorithm)
        assert result.verdict == "verified", result.failures[0].message
        assert set(result.outcomes) == set(outcomes)


TICKETS = """
#include <pthread.h>
volatile unsigned served, next;
unsigned inside;
void __VERIFIER_atomic_take(unsigned *ticket) { *ticket = next; next = next + 1; }
void *enter(void *unused) {
    unsigned ticket;
    __VERIFIER_atomic_take(&ticket);
    while (ticket != served) {}
    inside = 1;
    inside = 0;
    served++;
    return unused;
}
int main(void) {
    pthread_t thread;
    for (int i = 0; i < 2; i++) pthread_create(&thread, 0, enter, 0);
    enter(0);
    return 0;
}
"""


def test_what_others_have_done_does_not_show_in_the_state_of_a_loop() -> None:
    with compiled_text(TICKETS) as made:
        found = [explored(made, [], algorithm) for algorithm in ALGORITHMS]
    assert {(result.executions, result.complete) for result in found} == {(30, 6)}

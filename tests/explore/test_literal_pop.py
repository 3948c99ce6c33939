"""The paper's POP against the brute-force oracle, and Mazurka's POP against the paper's."""

from collections import Counter
from random import Random
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mazurka
from tests.oracles import interleavings as oracle
from tests.oracles.generated import PROGRAMS, generated
from tests.oracles.interleavings import Exploration, Instruction, Program
from tests.oracles.literal_pop import (
    READ,
    WRITE,
    Arrange,
    Event,
    Execution,
    SchedChar,
    Trace,
    all_traces,
    explore,
    in_order_of_threads,
    mk_sched_char,
    schedule_of,
    trace_of,
    upd_seq,
)

pytestmark = pytest.mark.papers

X, Y, Z, G = range(4)


class Shared(oracle.Shared):
    """The paper's programs have more variables than the others."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.atomics = [mazurka.Atomic(0) for _ in (X, Y, Z, G)]


def check(program: Program, expected: set[Trace] | None, arranges: list[Arrange]) -> None:
    """The paper's POP explores the expected traces, each once, whatever is tried first; and
    Mazurka's, which has spawns among its events, as many."""
    assert expected is not None
    for arrange in arranges:
        explored = Counter(trace_of(events) for events in explore(program, arrange))
        assert set(explored) == expected
        assert max(explored.values()) == 1

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(oracle, "Shared", Shared)
        pop = Exploration("pop", program, True, 100_000)
    assert pop.finished
    assert pop.result.redundant == 0
    assert sum(pop.traces.values()) == len(pop.traces) == len(expected)


def threads_of(
    instruction: st.SearchStrategy[Any], shapes: list[tuple[int, int]]
) -> st.SearchStrategy[Program]:
    """Programs of so many threads, with so many instructions each at the most."""

    def of_shape(shape: tuple[int, int]) -> st.SearchStrategy[Program]:
        threads, longest = shape
        thread = st.lists(instruction, min_size=1, max_size=longest).map(tuple)
        return st.tuples(*[thread] * threads)

    return st.sampled_from(shapes).flatmap(of_shape)


variable = st.integers(0, 2)
value = st.integers(0, 2)
read = st.tuples(st.just("load"), variable)
write = st.tuples(st.sampled_from(["store", "exchange", "fetch_add"]), variable, value)
access = st.one_of(read, write)
conditional = st.tuples(st.just("if"), st.lists(access, min_size=1, max_size=2).map(tuple))


@st.composite
def writers_and_readers(draw: st.DrawFn) -> Program:
    """A program whose threads read the variables in the order opposite to that of the writes, more
    or less: there schedules contain schedules, and expressions others."""
    variables = draw(st.permutations(range(3)))
    writers: list[list[Instruction]] = [[], []]
    for x in variables:
        draw(st.sampled_from(writers)).append(("store", x, 1))
    readers: list[list[Instruction]] = [
        [("load", x) for x in reversed(variables)] for _ in range(2)
    ]
    for reader in readers:
        if draw(st.booleans()):
            reader[draw(st.integers(0, 2))] = draw(access)
    more = draw(st.lists(access, max_size=2))
    threads = [thread for thread in (*writers, *readers, more) if thread]
    return tuple(tuple(thread) for thread in draw(st.permutations(threads)))


any_program = st.one_of(
    threads_of(st.one_of(access, access, access, conditional), [(2, 4), (3, 4), (4, 3)]),
    threads_of(st.one_of(read, read, write), [(3, 4), (4, 3), (5, 2)]),
    writers_and_readers(),
)


@pytest.mark.slow
@generated(PROGRAMS // 14)
@given(any_program, st.integers(0, 1000))
def test_generated_programs(program: Program, seed: int) -> None:
    expected = all_traces(program, 300)
    assume(expected is not None)
    check(program, expected, [in_order_of_threads, Random(seed).shuffle])


def load(x: int) -> Instruction:
    return ("load", x)


def store(x: int) -> Instruction:
    return ("store", x, 1)


# What the paper's text gets wrong shows on these programs, all but the last with threads in order.
COUNTER_EXAMPLES: dict[str, Program] = {
    # Lines 18, 23 and 38 as printed: a trace twice.
    "no read before": ((store(X),), (load(X),), (load(X),)),
    # An empty R at first: a trace is missed.
    "a read after the head": ((store(X), store(Y)), (load(X), store(Y), load(X))),
    # No addition to R for a read that is independent of P: a trace is missed.
    "a read after an independent one": (
        (store(X),),
        (store(Y),),
        (load(X),),
        (load(X), store(Y), load(X)),
    ),
    # No sigma_m for e' that is its head, or P_i in place of P_(i-1): a trace twice.
    "a read before two writes": ((store(X), store(X)), (load(X),), (load(X),)),
    # P_i in place of P_(i-1), with different variables: a trace twice.
    "two reads before two writes": (
        (store(X), store(Y)),
        (load(Y), load(X)),
        (load(Y), load(X)),
    ),
    # phi_i as it was made for sigma_i: a trace is missed.
    "a schedule that goes on after another": (
        (store(X), store(Y)),
        (store(Z),),
        (load(Y), load(Z), load(X)),
        (load(Z), load(Y), load(X)),
    ),
    # The same: a trace twice. And line 11 as printed: a trace twice.
    "a write after a head": (
        (store(X), store(Z), store(Y)),
        (load(Y), load(Z), load(X)),
        (load(Y), load(Z), store(Y), load(X)),
    ),
    # Expressions in expressions in expressions are needed.
    "three reads before three writes": (
        (store(X), store(Z)),
        (store(Y),),
        (load(Y), load(Z), load(X)),
        (load(Y), load(Z), load(X)),
    ),
    # Line 11 as printed: a trace twice in some orders of the steps.
    "a write after a head, smaller": (
        (store(Y),),
        (load(Y), load(X)),
        (store(X),),
        (load(Y), load(X)),
    ),
}


def many_arranges() -> list[Arrange]:
    return [in_order_of_threads, *(Random(seed).shuffle for seed in range(20))]


@pytest.mark.parametrize("name", COUNTER_EXAMPLES)
def test_counter_examples(name: str) -> None:
    program = COUNTER_EXAMPLES[name]
    check(program, all_traces(program, 1000), many_arranges())


# Fig. 1 of the paper, recovered from the text: threads p, r, q and s. Fig. 2 is its exploration.
FIGURE_1: Program = (
    (store(X),),
    (store(Y), store(Z)),
    (store(G), load(Y), load(X)),
    (load(Y), load(Z), load(X)),
)
WRITE_X = Event(0, 1, WRITE, X)
WRITE_Y, WRITE_Z = Event(1, 1, WRITE, Y), Event(1, 2, WRITE, Z)
WRITE_G, A, B = Event(2, 1, WRITE, G), Event(2, 2, READ, Y), Event(2, 3, READ, X)
C, D, E = Event(3, 1, READ, Y), Event(3, 2, READ, Z), Event(3, 3, READ, X)


def test_figure_1() -> None:
    check(FIGURE_1, all_traces(FIGURE_1, 1000), many_arranges())


def test_the_examples_of_proposition_1() -> None:
    """What must not be explored after the schedules sigma_4 and sigma_2 in Fig. 2."""
    sched_char: SchedChar = {}
    first = Execution((WRITE_X, WRITE_Y, WRITE_Z, WRITE_G, A, B, C), ())
    sched_char[first.up_to(1), (C,)] = mk_sched_char(sched_char, (C,), first, 1)

    third = Execution((WRITE_X, C, WRITE_Y, WRITE_Z, D, E, WRITE_G, A, B), ((1, 2),))
    sigma_4 = schedule_of(third, 0)
    assert sigma_4 == (C, WRITE_Y, WRITE_G, A, B)
    after_4 = mk_sched_char(sched_char, sigma_4, third, 0)
    assert upd_seq(sigma_4, (WRITE_Z, D, E), after_4) is None  # (A)
    assert upd_seq(sigma_4, (D, E), after_4) is None  # (B)
    assert upd_seq(sigma_4, (WRITE_X, D, E), after_4) is not None

    sched_char[third.up_to(3), (D,)] = mk_sched_char(sched_char, (D,), third.up_to(5), 3)
    fifth = third.up_to(3).then_schedule((D,)).then(E)
    sigma_2 = schedule_of(fifth, 0)
    assert sigma_2 == (C, D, E)
    after_2 = mk_sched_char(sched_char, sigma_2, fifth, 0)
    assert upd_seq(sigma_2, (WRITE_G, A, B), after_2) is None  # (C)
    assert upd_seq(sigma_2, (WRITE_Y, WRITE_G, A, B), after_2) is not None

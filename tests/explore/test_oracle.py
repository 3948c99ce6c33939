"""Every search against the brute-force oracle, on generated programs."""

from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.oracles.generated import PROGRAMS, generated
from tests.oracles.interleavings import Program, disagreement, disagreement_on_last_timeouts

variable = st.integers(0, 1)
value = st.integers(0, 2)
stored = st.one_of(value, value, st.none())  # to which nothing can be added
amount = st.sampled_from([1, 2, 3, -1])
lock = st.integers(0, 1)


def instruction(name: str, *operands: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(name), *operands)


MEMORY = [
    instruction("load", variable),
    instruction("store", variable, stored),
    instruction("exchange", variable, value),
    instruction("compare_exchange", variable, value, value),
    instruction("fetch_add", variable, amount),
    instruction("fetch_add unused", variable, amount),
    instruction("add", variable, amount),
    instruction("await", variable, value),
    instruction("await at least", variable, value),
    instruction("await_exchange", variable, value, value),
]
SYNCHRONISATION = [
    instruction("release", lock),
    instruction("locked"),
    instruction("semaphore acquire"),
    instruction("semaphore try"),
    instruction("semaphore release", st.integers(1, 2)),
    instruction("bounded acquire"),
    instruction("bounded release"),
    instruction("event set"),
    instruction("event clear"),
    instruction("event wait"),
    instruction("event timed wait"),
    instruction("put", value),
    instruction("get"),
    instruction("try put", value),
    instruction("try get"),
    instruction("qsize"),
    instruction("task_done"),
    instruction("queue join"),
    instruction("barrier wait", st.sampled_from([None, 1])),
    instruction("barrier abort"),
    instruction("barrier reset"),
    instruction("choose", st.integers(1, 3)),
    instruction("assume", value),
    instruction("assert", value),
    instruction("join"),
]
simple = st.one_of(st.one_of(MEMORY), st.one_of(MEMORY), st.one_of(SYNCHRONISATION))
raising = instruction("await raising", variable)
body = st.lists(simple, max_size=2).map(tuple)
conditional = st.lists(
    st.one_of(
        instruction("condition wait"),
        instruction("condition timed wait"),
        instruction("notify"),
        instruction("notify_all"),
        st.one_of(MEMORY),
    ),
    min_size=1,
    max_size=2,
).map(tuple)
compound = st.one_of(
    instruction("if", body),
    instruction("with", lock, body),
    instruction("try lock", lock, body),
    instruction("condition", conditional),
    instruction("spawn", body),
    instruction("swallow", st.lists(st.one_of(simple, raising), min_size=1, max_size=2).map(tuple)),
)
anything = st.one_of(simple, simple, compound)
key = st.integers(0, 2)
CONTAINERS = [
    instruction("list read", key),
    instruction("list set", key, value),
    instruction("list append", value),
    instruction("list pop"),
    instruction("list length"),
    instruction("list items"),
    instruction("list loop"),
    instruction("dict read", key),
    instruction("dict set", key, value),
    instruction("dict delete", key),
    instruction("dict default", key, value),
    instruction("dict pop", key),
    instruction("dict in", key),
    instruction("dict length"),
    instruction("dict clear"),
    instruction("dict items"),
    instruction("dict update", key),
    instruction("set add", key),
    instruction("set discard", key),
    instruction("set in", key),
    instruction("set pop"),
]
on_list = CONTAINERS[:7]
on_dict = CONTAINERS[7:17]
# How many threads, and how many instructions each has at the most.
SHAPES = st.sampled_from([(2, 5), (3, 3), (4, 2)])


def programs(
    *instructions: st.SearchStrategy[Any],
    shapes: st.SearchStrategy[tuple[int, int]] = SHAPES,
) -> st.SearchStrategy[Program]:
    def of_shape(shape: tuple[int, int]) -> st.SearchStrategy[Program]:
        threads, longest = shape
        thread = st.lists(st.one_of(instructions), min_size=1, max_size=longest).map(tuple)
        return st.tuples(*[thread] * threads)

    return shapes.flatmap(of_shape)


# Anything, and what is more likely to interfere: one variable with adds and awaits, data choices,
# locks with little in them.
one_variable = st.just(0)
any_program = st.one_of(
    programs(anything),
    programs(anything),
    programs(*MEMORY),
    programs(
        *CONTAINERS, instruction("if", st.lists(st.one_of(CONTAINERS), max_size=2).map(tuple))
    ),
    programs(*on_list, instruction("if", st.lists(st.one_of(on_list), max_size=1).map(tuple))),
    programs(*on_dict, instruction("if", st.lists(st.one_of(on_dict), max_size=1).map(tuple))),
    programs(
        instruction("add", one_variable, amount),
        instruction("fetch_add unused", one_variable, amount),
        instruction("await", one_variable, value),
        instruction("await at least", one_variable, amount),
        instruction("await_exchange", one_variable, stored, value),
        instruction("store", one_variable, stored),
        instruction("load", one_variable),
    ),
    programs(
        instruction("choose", st.integers(2, 3)),
        instruction("if", body),
        instruction("load", one_variable),
        instruction("store", one_variable, value),
        instruction("compare_exchange", one_variable, value, value),
    ),
    programs(
        instruction("with", lock, st.lists(st.one_of(MEMORY), max_size=1).map(tuple)),
        instruction("try lock", lock, st.just(())),
        instruction("load", one_variable),
        instruction("store", one_variable, value),
    ),
    # Five threads can have conflicts that have nothing to do with each other.
    programs(
        instruction("load", variable),
        instruction("store", variable, value),
        instruction("fetch_add unused", variable, amount),
        instruction("with", lock, st.lists(st.one_of(MEMORY[:2]), max_size=1).map(tuple)),
        instruction("try lock", lock, st.just(())),
        instruction("release", lock),
        shapes=st.sampled_from([(5, 1), (5, 1), (5, 2)]),
    ),
)


def check(program: Program, independent_adds: bool) -> None:
    problem = disagreement(program, independent_adds)
    assume(problem != "")
    assert problem is None, f"{problem}: {program!r}, independent_adds={independent_adds}"


@pytest.mark.slow
@generated(5 * PROGRAMS)
@given(any_program, st.booleans())
def test_searches_agree_with_the_oracle(program: Program, independent_adds: bool) -> None:
    check(program, independent_adds)


CLOCKS = [
    instruction("look"),
    instruction("post", variable),
    instruction("is late", variable),
    instruction("sleep", st.sampled_from([0.4, 2])),
]
with_clocks = st.one_of(
    programs(
        st.one_of(CLOCKS),
        st.one_of(CLOCKS),
        instruction("if", st.lists(st.one_of(*MEMORY, *CLOCKS), max_size=2).map(tuple)),
        anything,
        st.one_of(CONTAINERS),
    ),
    programs(
        instruction("look"),
        instruction("post", one_variable),
        instruction("is late", one_variable),
        instruction("sleep", st.just(2)),
        instruction("add", one_variable, amount),
        instruction("await at least", one_variable, amount),
        instruction("if", st.just((("store", 0, 1),))),
        instruction("with", lock, st.just((("look",),))),
    ),
)


@generated(PROGRAMS // 4)
@given(with_clocks, st.booleans())
def test_clocks_show_the_same_in_every_execution_of_a_trace(
    program: Program, independent_adds: bool
) -> None:
    check(program, independent_adds)


TIMED = [
    instruction("event timed wait"),
    instruction("event set"),
    instruction("event clear"),
    instruction("try put", value),
    instruction("timed get"),
    instruction("barrier wait", st.sampled_from([None, 1])),
    instruction("try lock", lock, st.lists(st.one_of(MEMORY), max_size=1).map(tuple)),
    instruction("condition", st.sampled_from([(("condition timed wait",),), (("notify",),)])),
]
with_timeouts = programs(
    st.one_of(TIMED),
    st.one_of(TIMED),
    instruction("if", st.lists(st.one_of(*MEMORY, *TIMED), max_size=2).map(tuple)),
    anything,
)


@generated(PROGRAMS // 4)
@given(with_timeouts)
def test_searches_agree_where_timeouts_come_last(program: Program) -> None:
    problem = disagreement_on_last_timeouts(program)
    assume(problem != "")
    assert problem is None, f"{problem}: {program!r}"


@pytest.mark.parametrize(
    "program",
    [
        # A thread that swallows its cancellation waits again: that is not part of the execution.
        ((("swallow", (("event wait",),)), ("event timed wait",)), (("load", 0),)),
        # After a failure nobody waits for timeouts.
        ((("event timed wait",),), (("assert", 1),)),
    ],
)
def test_counter_examples_where_timeouts_come_last(program: Program) -> None:
    assert disagreement_on_last_timeouts(program) is None


# Programs that once showed a fault, shrunk.
COUNTER_EXAMPLES: dict[str, Program] = {
    # A race whose events were both old had to be reversed again: what came after them had woken
    # the thread that made its reversal redundant before.
    "an old race in a new context": (
        (("condition", (("condition wait",),)),),
        (("load", 0),),
        (("barrier wait", 1), ("condition", (("load", 0),))),
        (("store", 0, 0), ("barrier abort",)),
    ),
    # An await that was enabled without one add, with another left out, made the search pass over
    # an earlier add of the same thread.
    "adds before an await": (
        (("add", 1, 1), ("add", 1, 1)),
        (("add", 1, 1),),
        (("await", 1, 1),),
    ),
    # What an operation would do was asked of values from another execution, with other objects.
    "objects as values": (
        (("barrier wait", None), ("barrier wait", 1)),
        (("barrier wait", 1), ("barrier wait", None)),
    ),
    # An add that raises, as there is no number to add to, leaves an await enabled.
    "an add to nothing": (
        (("store", 0, None), ("await", 0, None), ("store", 0, 0)),
        (("swallow", (("add", 0, 1),)),),
    ),
    # The account of a deadlock depended on the order in which threads were first met.
    "who waits": ((("load", 0),), (("spawn", (("event wait",),)),), (("event wait",),)),
    # A task does not say how much of a container a head has changed: it was taken for all of it.
    "tasks with containers": (
        (("list read", 0), ("list pop",)),
        (("list read", 0), ("list read", 0)),
        (("list append", 0),),
    ),
    # A reversal that was put off, as its first event was in doubt, must be considered once more.
    "three conflicts of five threads": (
        (("store", 0, 1),),
        (("store", 1, 1),),
        (("with", 0, ()), ("load", 0)),
        (("load", 1),),
        (("try lock", 0, ()),),
    ),
    # An addition whose result nobody takes is an add only where it finds a number.
    "a fetch_add to nothing": (
        (("store", 0, None), ("await", 0, None), ("store", 0, 0)),
        (("swallow", (("fetch_add unused", 0, 1),)),),
        (("fetch_add unused", 0, 1),),
    ),
    # The names in an account depended on objects that other executions had made.
    "objects of other executions": (
        (("bounded acquire",), ("condition", (("condition wait",),))),
        (("load", 0), ("bounded acquire",), ("condition", (("condition wait",),))),
    ),
}


@pytest.mark.parametrize("independent_adds", [True, False])
@pytest.mark.parametrize("name", COUNTER_EXAMPLES)
def test_counter_examples(name: str, independent_adds: bool) -> None:
    assert disagreement(COUNTER_EXAMPLES[name], independent_adds) is None

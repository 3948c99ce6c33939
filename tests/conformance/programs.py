"""Toy programs by chance. The first thread spawns the others, in their order."""

from itertools import chain
from typing import Any

from hypothesis import strategies as st

from tests.conformance.oracle import Instruction, Program

LOCK = 2  # the location that is used as a lock; those below it are variables

variable = st.integers(0, LOCK - 1)
one_variable = st.just(0)
lock = st.just(LOCK)
value = st.integers(0, 2)
amount = st.sampled_from([1, 2, 255])


def instruction(name: str, *operands: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.tuples(st.just(name), *operands)


def memory(place: st.SearchStrategy[int]) -> list[st.SearchStrategy[Any]]:
    return [
        instruction("load", place),
        instruction("store", place, value),
        instruction("exchange", place, value),
        instruction("compare_exchange", place, value, value),
        instruction("fetch_add", place, amount),
    ]


def waiting(place: st.SearchStrategy[int]) -> list[st.SearchStrategy[Any]]:
    return [
        instruction("add", place, amount),
        instruction("await", place, value),
        instruction("await_exchange", place, value, value),
    ]


LOCKS = [
    instruction("acquire", lock),
    instruction("release", lock),
    instruction("try acquire", lock),
]
OTHERS = [instruction("choose", st.integers(1, 3)), instruction("fail")]
# How many threads, and how many instructions each has at the most.
SHAPES = st.sampled_from([(2, 5), (3, 3), (3, 2), (4, 2)])


def parts(
    instructions: list[st.SearchStrategy[Any]], fewest: int, most: int
) -> st.SearchStrategy[list[list[Instruction]]]:
    """Of a thread: single instructions, and some that are skipped together."""
    simple = st.one_of(instructions)
    single = simple.map(lambda one: [one])
    skipped = st.lists(simple, min_size=1, max_size=2).map(lambda some: [("if", len(some)), *some])
    return st.lists(st.one_of(single, single, single, skipped), min_size=fewest, max_size=most)


@st.composite
def programs(draw: st.DrawFn, instructions: list[st.SearchStrategy[Any]]) -> Program:
    threads, longest = draw(SHAPES)
    main = draw(parts(instructions, 0, longest))
    others = [draw(parts(instructions, 1, longest)) for _ in range(threads - 1)]
    place = 0
    for number in range(1, threads):
        place = draw(st.sampled_from([place, place, place, len(main)]))
        main.insert(place, [("spawn", number)])
        place += 1
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(place, len(main)))
        main.insert(place, [("join", draw(st.integers(1, threads - 1)))])
    return tuple([tuple(chain.from_iterable(thread)) for thread in [main, *others]])


# Anything, and what is more likely to interfere: one variable with adds and awaits, or with
# compare-exchanges, and locks with little in them.
any_program = st.one_of(
    programs([*memory(variable), *waiting(variable), *LOCKS, *OTHERS]),
    programs(memory(variable)),
    programs([*waiting(one_variable), *waiting(one_variable), *memory(one_variable)]),
    programs([*LOCKS, *memory(one_variable)[:2], *OTHERS]),
)

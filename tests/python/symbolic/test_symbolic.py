"""Symbolic values: every outcome of their conditions that is possible, once."""

import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import mazurka
from mazurka.api import explore_tasks
from mazurka.engine.task import Task
from mazurka.explore.algorithms import SAMPLERS
from tests.explore.test_oracle import instruction, programs
from tests.oracles.generated import PROGRAMS, generated
from tests.oracles.interleavings import Program, disagreement

ALGORITHMS = ["pop", "optimal", "qpor"]  # for which another one takes over

# Against the oracle

number = st.integers(0, 1)
limit = st.integers(0, 3)
SIMPLE = [
    instruction("load", number),
    instruction("store", number, st.integers(0, 2)),
    instruction("store input", number, number),
    instruction("fetch_add", number, st.just(1)),
    instruction("input is less", number, limit),
    instruction("inputs are equal"),
    instruction("inputs in order"),
    instruction("assume input", number, limit),
    instruction("choose", st.just(2)),
]
body = st.lists(st.one_of(SIMPLE), max_size=2).map(tuple)
symbolic_programs = st.one_of(
    programs(*SIMPLE, instruction("if", body), instruction("with", number, body)),
    programs(*SIMPLE[4:7], instruction("if", body), instruction("load", st.just(0))),
)


@pytest.mark.slow
@generated(max(PROGRAMS // 10, 1))
@given(symbolic_programs)
def test_searches_agree_with_the_oracle(program: Program) -> None:
    problem = disagreement(program, most=200)
    assume(problem != "")
    assert problem is None, f"{problem}: {program!r}"


# Against all values

Condition = tuple[
    str, int, int
]  # how to compare which input with what: a number, or minus an input
conditions = st.tuples(st.sampled_from(["<", "==", "%", "//"]), number, st.integers(-2, 3))
steps = st.lists(st.one_of(conditions, st.sampled_from(["read", "write"])), min_size=1, max_size=3)


def holds(condition: Condition, inputs: list[Any]) -> bool:
    comparison, which, other = condition
    value = inputs[which]
    operand = inputs[-other - 1] if other < 0 else other
    if comparison == "<":
        return bool(value * 2 < operand + 1)
    if comparison == "==":
        return bool(value == operand)
    if comparison == "%":
        return bool((value - 5) % 3 == operand)
    return bool((1 - value) // -2 != operand)


def program_with(inputs: Callable[[], list[Any]], threads: list[list[Any]]) -> Callable[[], Any]:
    def main() -> Any:
        values = inputs()
        shared = mazurka.Atomic(values[0])
        seen: list[list[bool]] = [[] for _ in threads]

        def work(thread: int) -> None:
            for step in threads[thread]:
                if step == "read":
                    seen[thread].append(bool(shared.load() > 1))
                elif step == "write":
                    shared.store(values[1])
                else:
                    seen[thread].append(holds(step, values))

        for handle in [mazurka.spawn(work, thread) for thread in range(len(threads))]:
            handle.join()
        return tuple([tuple(each) for each in seen])

    return main


@pytest.mark.slow
@generated(max(PROGRAMS // 20, 1))
@given(st.lists(steps, min_size=2, max_size=2))
def test_the_outcomes_are_those_of_all_values(threads: list[list[Any]]) -> None:
    symbolic = program_with(
        lambda: [mazurka.symbolic_int(name, 0, 2) for name in ("one", "two")], threads
    )
    every_value = program_with(lambda: [mazurka.choose(range(3)) for _ in range(2)], threads)
    expected = set(mazurka.explore(every_value, instrument=None).outcomes)
    for algorithm in ALGORITHMS:
        result = mazurka.explore(symbolic, algorithm=algorithm, instrument=None)
        assert set(result.outcomes) == expected


# The programs in the text of the paper


def symbolic_write() -> None:
    x, y = mazurka.Atomic[Any](0), mazurka.Atomic[Any](0)

    def check() -> None:
        bool(y.load() == 42)

    mazurka.spawn(x.store, 1)
    mazurka.spawn(lambda: y.store(mazurka.symbolic_int()))
    mazurka.spawn(check)
    mazurka.spawn(x.load)


def read_and_condition() -> None:
    x = mazurka.Atomic(0)

    def check() -> None:
        read = x.load()
        b = mazurka.symbolic_int("b")
        is_other = bool(b != 42)
        assert read == 0 or is_other

    mazurka.spawn(check)
    mazurka.spawn(x.store, 1)


def shared_between_threads() -> None:
    a = mazurka.symbolic_int("a")
    x = mazurka.Atomic(0)

    def write() -> None:
        if a > 0:
            x.store(1)

    mazurka.spawn(x.load)
    mazurka.spawn(lambda: mazurka.assume(a > 42))
    mazurka.spawn(write)


def stores_and_conditions() -> None:
    """The order of the stores in which neither condition holds is found only where the first one
    was decided so."""
    x = mazurka.Atomic(0)
    a = mazurka.symbolic_int("a")

    def one() -> None:
        x.store(1)
        bool(a > 0)

    def other() -> None:
        bool(a > 0)
        x.store(2)

    mazurka.spawn(one)
    mazurka.spawn(other)


def a_store_on_condition() -> None:
    """The conditions of two threads contradict each other, though neither comes first."""
    y = mazurka.Atomic(0)
    a = mazurka.symbolic_int("a")

    def store() -> None:
        if a > 0:
            y.store(2)

    mazurka.spawn(y.store, 1)
    mazurka.spawn(lambda: bool(a > 0))
    mazurka.spawn(store)


def pushes_and_pop(count: int) -> Callable[[], None]:
    def main() -> None:
        stamps: list[Any] = [None] * count

        def push(number: int) -> None:
            stamps[number] = mazurka.symbolic_int()

        threads = [threading.Thread(target=push, args=(number,)) for number in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        latest = stamps[0]
        for stamp in stamps[1:]:
            if latest < stamp:
                latest = stamp

    return main


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize(
    ("program", "complete", "blocked", "failing"),
    [
        (symbolic_write, 6, 0, 0),
        (read_and_condition, 4, 0, 1),
        (shared_between_threads, 2, 3, 0),
        (stores_and_conditions, 4, 0, 0),
        (a_store_on_condition, 3, 0, 0),
        (pushes_and_pop(2), 2, 0, 0),
        (pushes_and_pop(3), 4, 0, 0),
        (pushes_and_pop(4), 8, 0, 0),
    ],
)
def test_counts(
    algorithm: str, program: Callable[[], None], complete: int, blocked: int, failing: int
) -> None:
    result = mazurka.explore(program, algorithm=algorithm, stop_on_failure=False)
    counts = result.complete, result.blocked, len(result.failures)
    assert counts == (complete, blocked, failing)


# What a user sees


def test_a_failure_shows_its_inputs_and_is_replayed() -> None:
    failure = mazurka.explore(read_and_condition).failures[0]
    assert "input b = 42" in failure.details
    assert any("is false" in step.action for step in failure.steps)
    assert mazurka.replay(read_and_condition, failure.schedule).details == failure.details


def outcomes(program: Callable[[], object]) -> set[Any]:
    result = mazurka.explore(program)
    assert result.verdict == "verified"
    return set(result.outcomes)


def test_what_is_always_so_is_no_choice() -> None:
    def program() -> object:
        x = mazurka.symbolic_int(lo=1)
        return bool(x == x), bool(x > 0), bool(x + 1 == 1), bool(x)

    result = mazurka.explore(program)
    assert result.executions == 1
    assert set(result.outcomes) == {(True, True, False, True)}


def test_arithmetic_is_pythons() -> None:
    def program() -> object:
        x = mazurka.symbolic_int(lo=-4, hi=4)
        y = mazurka.symbolic_int(lo=-2, hi=2)
        mazurka.assume(y != 0)
        quotient, remainder, product = x // y, x % y, x * y
        a, b = int(x), int(y)
        assert (quotient, remainder, product) == (a // b, a % b, a * b)
        assert (7 // y, 7 % y, 3 - x, -x, abs(x)) == (7 // b, 7 % b, 3 - a, -a, abs(a))
        return a, b

    result = mazurka.explore(program, algorithm="pop")
    assert result.verdict == "verified"
    assert len(result.outcomes) == 9 * 4


def test_division_by_zero_is_found() -> None:
    def program() -> object:
        return 1 // mazurka.symbolic_int("x")

    failure = mazurka.explore(program).failures[0]
    assert failure.message.startswith("ZeroDivisionError")
    assert "input x = 0" in failure.details


def test_as_an_index_and_as_a_key() -> None:
    def program() -> object:
        x = mazurka.symbolic_int(lo=0, hi=2)
        mazurka.assume(x != 1)
        names: dict[Any, str] = {0: "zero", 2: "two"}
        return "abc"[x], ["a", "b", "c"][x], names[x], list(range(x))

    assert outcomes(program) == {"('a', 'a', 'zero', [])", "('c', 'c', 'two', [0, 1])"}


def test_keys_of_what_threads_share() -> None:
    def program() -> object:
        x = mazurka.symbolic_int("x", 0, 1)
        table: dict[Any, str] = {}
        items: list[Any] = [x, 2]

        def put(key: Any, value: str) -> None:
            table[key] = value
            if key in table:
                items.append(table.get(key))

        threads = [
            threading.Thread(target=put, args=(x, "a")),
            threading.Thread(target=put, args=(1, "b")),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return int(x), tuple(sorted(table.items())), items.index(1) if x == 1 else None

    found = outcomes(program)
    assert found == {
        (0, ((0, "a"), (1, "b")), None),
        (1, ((1, "a"),), 0),
        (1, ((1, "b"),), 0),
    }


def test_what_does_not_mix() -> None:
    mixtures: list[Callable[[], object]] = [
        lambda: mazurka.symbolic_int() == 2.0,
        lambda: mazurka.symbolic_int() == mazurka.symbolic_bool(),
        lambda: mazurka.symbolic_bits(8) < 300,
        lambda: mazurka.symbolic_bits(8) == mazurka.symbolic_int(),
        lambda: mazurka.symbolic_bits(8) + mazurka.symbolic_bits(4),
        lambda: mazurka.symbolic_bits(8) == -1,
    ]
    for mixture in mixtures:
        message = mazurka.explore(mixture).failures[0].message
        assert message.startswith(("TypeError", "OverflowError"))


def test_a_truth_value_is_a_number_to_python() -> None:
    def program() -> object:
        p = mazurka.symbolic_bool()
        return bool(p == 1), bool(p == 0), bool(p == 2)

    assert outcomes(program) == {(True, False, False), (False, True, False)}


def test_truth_values() -> None:
    def program() -> object:
        p, q = mazurka.symbolic_bool("p"), mazurka.symbolic_bool()
        if p & q:
            return "both"
        if p | q:
            return "one" if p ^ q else "never"
        return "none" if p == q else "never"

    assert outcomes(program) == {"both", "one", "none"}


def test_bits_wrap_around() -> None:
    def program() -> object:
        x = mazurka.symbolic_bits(4, "x")
        small = bool(x + 1 < x)
        if x & 12:
            return small, "high", int(~x >> 2)
        return small, "low", int(x)

    found = outcomes(program)
    assert (True, "high", 0) in found and (False, "low", 3) in found
    assert {value for _, where, value in found if where == "low"} == {0, 1, 2, 3}
    assert not any(small for small, where, _ in found if where == "low")


def test_the_algorithm_that_takes_conditions_takes_over() -> None:
    for algorithm in ALGORITHMS:
        assert mazurka.explore(symbolic_write, algorithm=algorithm).algorithm == "trust"
    whole = mazurka.explore(symbolic_write, stop_on_failure=False)
    total, tasks = mazurka.Result(), [Task("pop")]
    while tasks:
        result, left = explore_tasks(
            symbolic_write, [tasks.pop()], max_executions=1, stop_on_failure=False
        )
        total += result
        tasks += left
    assert total.executions == whole.executions


@pytest.mark.parametrize("algorithm", SAMPLERS)
def test_conditions_are_sampled(algorithm: str) -> None:
    every = mazurka.explore(read_and_condition, stop_on_failure=False)
    some = mazurka.explore(read_and_condition, algorithm=algorithm, stop_on_failure=False, depth=5)
    assert some.traces == every.complete
    assert some.failures


def test_what_cannot_be_done_is_said() -> None:
    def unbounded() -> object:
        return [1, 2][mazurka.symbolic_int("x")]

    def twice() -> object:
        return mazurka.symbolic_int("x"), mazurka.symbolic_int("x")

    def in_a_predicate() -> object:
        x = mazurka.symbolic_int()
        return mazurka.Atomic(0).await_value(lambda value: value < x)

    for program, message in (
        (unbounded, "give its inputs bounds"),
        (twice, "name them apart"),
        (in_a_predicate, "not in a predicate"),
    ):
        with pytest.raises(mazurka.MazurkaError, match=message):
            mazurka.explore(program)
    with pytest.raises(mazurka.MazurkaError, match="while Mazurka runs it"):
        mazurka.symbolic_int()


def test_without_the_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "z3", None)
    with pytest.raises(mazurka.MazurkaError, match=r"mazurka\[symbolic\]"):
        mazurka.symbolic_int()

"""POP: its memory, its parts, and where it may meet a redundant execution."""

import json

import pytest

import mazurka
from benchmarks.halves import explore_in_halves
from benchmarks.pop import exp_mem3, fib_bench, lastzero
from benchmarks.registry import parse
from mazurka import Atomic, MazurkaError, explore, spawn
from mazurka.api import explore_parts
from mazurka.engine.program import Execution
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.engine.task import WHOLE, Part
from mazurka.explore.pop import SCHEDULED, Pop
from mazurka.python.program import PythonExecution
from tests.oracles.checks import check_by_hand
from tests.oracles.interleavings import Exploration, Program


def largest_stack(leaf_count: int) -> tuple[int, int, int]:
    """The most executions and races that POP keeps at a time for exp-mem3, where explicit sleep
    sets or wakeup trees would have a factorial number of schedules; and the longest execution."""
    executions, races, length = 0, 0, 0

    def observe(execution: Execution) -> None:
        nonlocal executions, races, length
        executions = max(executions, len(pop.stack))
        races = max(races, sum(len(explored.races) for explored in pop.stack))
        length = max(length, len(execution.events))

    with check_by_hand():
        execution = PythonExecution(exp_mem3(leaf_count), True, 1000, False)
        pop = Pop(Search(execution, Result(), True, None, None, None, observe), [WHOLE])
        assert pop.explore()
    return executions, races, length


def test_memory_does_not_grow_with_the_number_of_schedules() -> None:
    for leaf_count in (3, 4, 5, 6):
        executions, races, length = largest_stack(leaf_count)
        assert executions <= 1 + leaf_count * (leaf_count - 1) // 2  # the bound of Lemma 1
        assert races <= leaf_count**2
        assert length == 3 * leaf_count + 4


def test_what_races_comes_late_and_nothing_is_taken_along() -> None:
    """The first run shows which threads race: each waits until the other one has come as far."""
    taken_along = 0

    def observe(execution: Execution) -> None:
        nonlocal taken_along
        taken_along += sum(event.mark == SCHEDULED for event in execution.events)

    with check_by_hand():
        execution = PythonExecution(exp_mem3(4), True, 1000, False)
        search = Search(execution, Result(), True, None, None, None, observe)
        assert search.repeats_itself()
        assert Pop(search, [WHOLE]).explore()
    assert (search.result.executions, taken_along) == (48, 0)


def adders(count: int, enough: int) -> None:
    total = Atomic(0)
    for _ in range(count):
        spawn(total.add, 1)
    total.await_value(lambda value: value >= enough)


def test_an_await_after_every_selection_of_adds() -> None:
    for algorithm in ("pop", "optimal", "qpor"):
        result = explore(lambda: adders(6, 4), algorithm=algorithm)
        assert (result.executions, result.redundant) == (22, 0)  # 6 over 4, 5 and 6


def test_few_selections_of_many_adds_are_found_at_once() -> None:
    result = explore(lambda: adders(24, 23), max_executions=100)
    assert (result.verdict, result.executions) == ("verified", 25)


# Without the first thread's await, both orders of the adds are one trace; see docs/pop.md.
ADDS_AFTER_AWAITS: Program = (
    (("await", 0, 0),),
    (("await", 1, 0), ("add", 0, 1)),
    (("await", 1, 0), ("add", 0, 1)),
)


def test_adds_that_disable_an_await_may_make_an_execution_redundant() -> None:
    pop = Exploration("pop", ADDS_AFTER_AWAITS, True, 100)
    optimal = Exploration("optimal", ADDS_AFTER_AWAITS, True, 100)
    assert pop.traces == optimal.traces
    assert (optimal.result.redundant, pop.result.redundant) == (0, 1)


# Parts


@pytest.mark.parametrize("name", ["exp-mem3(4)", "fib-bench(2)", "dispatcher(2)"])
def test_two_processes_explore_half_of_a_program_each(name: str) -> None:
    instance = parse(name)
    halves = explore_in_halves(instance)
    assert halves.parts > 1
    assert halves.total == explore(instance.program()).executions


def test_what_a_limit_leaves_can_be_explored_later() -> None:
    result, left = explore_parts(lastzero(4), [WHOLE], max_executions=10)
    assert (result.executions, result.verdict) == (10, "incomplete")
    rest, nothing = explore_parts(lastzero(4), left)
    assert (rest.executions, nothing) == (28 - 10, [])
    assert result.outcomes + rest.outcomes == explore(lastzero(4)).outcomes


def test_parts_are_never_verified_by_themselves() -> None:
    result, left = explore_parts(fib_bench(1), [WHOLE])
    assert (result.verdict, left) == ("incomplete", [])
    assert "parts" in result.reason


def two_stores(second: int = 2) -> None:
    shared = Atomic(0)
    spawn(shared.store, 1)
    spawn(shared.store, second)
    assert shared.load() != 1


def test_a_failure_leaves_the_rest_of_the_work() -> None:
    whole = explore(two_stores, stop_on_failure=False)
    executions, failures, parts = 0, 0, [WHOLE]
    while parts:
        result, parts = explore_parts(two_stores, parts)
        executions += result.executions
        failures += len(result.failures)
    assert (executions, failures) == (whole.executions, len(whole.failures))
    assert failures > 0


def test_a_part_of_another_program_is_reported() -> None:
    _, left = explore_parts(two_stores, [WHOLE], max_executions=1, stop_on_failure=False)

    def other() -> None:
        shared = Atomic(0)
        spawn(shared.load)
        spawn(shared.load)
        shared.load()

    result, _ = explore_parts(other, left)
    assert result.verdict == "failed"
    assert "does not repeat itself" in result.failures[0].message


def part_text(**changes: object) -> str:
    part = {"mazurka-part": 2, "steps": [["0", "load x", 0]], "marks": [0], "modes": [1]}
    return json.dumps({**part, "rivals": [], "independent_adds": True, **changes})


def test_parts_survive_json() -> None:
    _, left = explore_parts(lastzero(3), [WHOLE], max_executions=3)
    assert left
    assert [Part.from_json(part.to_json()) for part in left] == left


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "not a part"),
        ("{}", "not a part"),
        ('{"mazurka-part": 9, "steps": [], "marks": []}', "format 9"),
        (part_text(marks=[]), "1 steps, 0 marks, 1 modes"),
        (part_text(marks=[9]), "the marks are"),
        (part_text(marks=[2]), "the heads are"),
        (part_text(rivals=[[0, 0, "x"]]), "no thread 'x'"),
        (part_text(steps=[["0.x", "load x", 0]]), "no thread '0.x'"),
        (part_text(steps=[["foo", "load x", 0]]), "no thread 'foo'"),
    ],
)
def test_a_text_that_is_no_part_is_refused(text: str, message: str) -> None:
    with pytest.raises(MazurkaError, match=message):
        Part.from_json(text)


def test_parts_are_explored_with_the_setting_that_left_them() -> None:
    def program() -> None:
        shared = Atomic(0)
        spawn(shared.add, 1)
        spawn(shared.add, 2)

    _, left = explore_parts(program, [WHOLE], max_executions=1, independent_adds=False)
    assert left
    with pytest.raises(MazurkaError, match="independent_adds=False"):
        explore_parts(program, left)


def test_a_program_with_other_outcomes_is_not_taken_for_the_same() -> None:
    def program(expected: int) -> None:
        shared = Atomic(0)
        spawn(shared.compare_exchange, expected, 1)
        spawn(shared.load)
        shared.load()

    _, left = explore_parts(lambda: program(0), [WHOLE], max_executions=1)
    result, _ = explore_parts(lambda: program(5), left)
    assert result.verdict == "failed"
    assert "another outcome" in " ".join(result.failures[0].details)


def test_nothing_is_lost_when_a_program_does_not_repeat_itself() -> None:
    calls: list[int] = []

    def program() -> None:
        calls.append(1)
        shared = Atomic(0)
        for _ in calls:
            shared.load()

    result, left = explore_parts(program, [WHOLE])
    assert (result.verdict, left) == ("failed", [WHOLE])


def test_pop_is_the_default() -> None:
    assert mazurka.explore(two_stores, stop_on_failure=False).algorithm == "pop"

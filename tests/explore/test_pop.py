"""POP: its memory, its tasks, and where it may meet a redundant execution."""

import json
from dataclasses import replace
from typing import Any

import pytest

import mazurka
from benchmarks.halves import explore_in_halves
from benchmarks.pop import exp_mem3, lastzero
from benchmarks.registry import parse
from mazurka import Atomic, MazurkaError, explore, spawn
from mazurka.api import explore_tasks
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import Result
from mazurka.engine.search import Search
from mazurka.engine.task import Task
from mazurka.explore.pop import Pop, up_to
from mazurka.python.program import PythonProgram
from tests.oracles.checks import check_by_hand
from tests.oracles.interleavings import Exploration, Program


def largest_stack(leaf_count: int) -> tuple[int, int, int]:
    """The most executions and races that POP keeps at a time for exp-mem3, where explicit sleep
    sets or wakeup trees would have a factorial number of schedules; and the longest execution."""
    executions, races, length = 0, 0, 0

    def observe(program: EngineProgram) -> None:
        nonlocal executions, races, length
        executions = max(executions, len(pop.stack))
        races = max(races, sum(len(explored.races) for explored in pop.stack))
        length = max(length, len(program.events))

    with check_by_hand() as check:
        front_end = PythonProgram(check, exp_mem3(leaf_count))
        pop = Pop(Search(front_end, Result(), True, None, None, None, observe))
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

    def observe(program: EngineProgram) -> None:
        nonlocal taken_along
        taken_along += sum(head.position - head.begin for head in up_to(pop.head))

    with check_by_hand() as check:
        front_end = PythonProgram(check, exp_mem3(4))
        search = Search(front_end, Result(), True, None, None, None, observe)
        assert search.repeats_itself()
        pop = Pop(search)
        assert pop.explore()
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


# Without the first thread's await, both orders of the adds are one trace; see docs/proofs/pop.md.
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


# Tasks

WHOLE = Task("pop")


@pytest.mark.parametrize("name", ["exp-mem3(4)", "fib-bench(2)", "dispatcher(2)"])
def test_two_processes_explore_half_of_a_program_each(name: str) -> None:
    instance = parse(name)
    halves = explore_in_halves(instance)
    assert halves.tasks > 1
    assert halves.total == explore(instance.program()).executions


def test_what_a_limit_leaves_can_be_explored_later() -> None:
    result, left = explore_tasks(lastzero(4), [WHOLE], max_executions=10)
    assert (result.executions, result.verdict) == (10, "incomplete")
    rest, nothing = explore_tasks(lastzero(4), left)
    assert (rest.executions, nothing) == (28 - 10, [])
    assert result.outcomes + rest.outcomes == explore(lastzero(4)).outcomes


def test_tasks_are_not_verified_by_themselves_and_results_add_up() -> None:
    whole, nothing = explore_tasks(lastzero(4), [WHOLE])
    assert (whole.verdict, nothing) == ("verified", [])
    first, left = explore_tasks(lastzero(4), [WHOLE], max_executions=10)
    rest, _ = explore_tasks(lastzero(4), left)
    assert (rest.verdict, rest.reason) == ("incomplete", "only some tasks were explored")
    total = first + rest
    total.conclude(everything=True)
    assert (total.verdict, total.reason, total.executions) == ("verified", "", whole.executions)
    assert total.outcomes == whole.outcomes


def two_stores(second: int = 2) -> None:
    shared = Atomic(0)
    spawn(shared.store, 1)
    spawn(shared.store, second)
    assert shared.load() != 1


def test_a_failure_leaves_the_rest_of_the_work() -> None:
    whole = explore(two_stores, stop_on_failure=False)
    executions, failures, tasks = 0, 0, [WHOLE]
    while tasks:
        result, tasks = explore_tasks(two_stores, tasks)
        executions += result.executions
        failures += len(result.failures)
    assert (executions, failures) == (whole.executions, len(whole.failures))
    assert failures > 0


def test_a_task_of_another_program_is_reported() -> None:
    _, left = explore_tasks(two_stores, [WHOLE], max_executions=1, stop_on_failure=False)

    def other() -> None:
        shared = Atomic(0)
        spawn(shared.load)
        spawn(shared.load)
        shared.load()

    result, _ = explore_tasks(other, left)
    assert result.verdict == "failed"
    assert "does not repeat itself" in result.failures[0].message


def test_tasks_survive_json() -> None:
    _, left = explore_tasks(lastzero(3), [WHOLE], max_executions=3)
    assert left
    assert [Task.from_json(task.to_json()) for task in left] == left


def task_text(**changes: object) -> str:
    task = {"mazurka-task": 4, "algorithm": "pop", "steps": [["0", "load x", 0]]}
    return json.dumps({**task, "notes": {}, "options": {}, "learnt": {}, **changes})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("nonsense", "not a task"),
        ("{}", "not a task"),
        ("[]", "not a task"),
        ('{"mazurka-task": 9}', "format 9"),
        (task_text(notes={"marks": ["0", 1]}), "a note"),
        (task_text(notes={"marks": 1}), "not a task"),
        (task_text(steps=[["0.x", "load x", 0]]), "no thread '0.x'"),
        (task_text(steps=[["foo", "load x", 0]]), "no thread 'foo'"),
    ],
)
def test_a_text_that_is_no_task_is_refused(text: str, message: str) -> None:
    with pytest.raises(MazurkaError, match=message):
        Task.from_json(text)


@pytest.mark.parametrize(
    "notes",
    [
        {},
        {"heads": []},
        {"heads": [9], "watched": [1], "rivals": [0], "rival_threads": ["0"]},
        {"heads": [0]},
        {"heads": [0], "watched": [1], "rivals": [5], "rival_threads": ["0"]},
        {"heads": [0], "watched": [1], "rivals": [0], "rival_threads": ["x"]},
        {"heads": [0], "rivals": [0], "rival_threads": ["0"]},
    ],
)
def test_notes_that_do_not_fit_are_refused(notes: dict[str, Any]) -> None:
    _, left = explore_tasks(two_stores, [WHOLE], max_executions=1)
    task = replace(left[0], steps=left[0].steps[:1], notes={"modes": [1], **notes})
    with pytest.raises(MazurkaError, match="its notes do not fit its steps"):
        explore_tasks(two_stores, [task])


def test_tasks_are_explored_with_the_setting_that_left_them() -> None:
    def program() -> None:
        shared = Atomic(0)
        spawn(shared.add, 1)
        spawn(shared.add, 2)

    _, left = explore_tasks(program, [WHOLE], max_executions=1, independent_adds=False)
    assert left
    with pytest.raises(MazurkaError, match="independent_adds=False"):
        explore_tasks(program, left)


def test_a_program_with_other_outcomes_is_not_taken_for_the_same() -> None:
    def program(expected: int) -> None:
        shared = Atomic(0)
        spawn(shared.compare_exchange, expected, 1)
        spawn(shared.load)
        shared.load()

    _, left = explore_tasks(lambda: program(0), [WHOLE], max_executions=1)
    result, _ = explore_tasks(lambda: program(5), left)
    assert result.verdict == "failed"
    assert "another outcome" in " ".join(result.failures[0].details)


def test_nothing_is_lost_when_a_program_does_not_repeat_itself() -> None:
    calls: list[int] = []

    def program() -> None:
        calls.append(1)
        shared = Atomic(0)
        for _ in calls:
            shared.load()

    result, left = explore_tasks(program, [WHOLE], instrument=None)
    assert (result.verdict, left) == ("failed", [WHOLE])


def test_pop_is_the_default() -> None:
    assert mazurka.explore(two_stores, stop_on_failure=False).algorithm == "pop"


def test_tasks_with_containers() -> None:
    """A task does not say how much of a container the heads of its schedules change."""
    program: Program = (
        (("list read", 0), ("list pop",)),
        (("list read", 0), ("list read", 0)),
        (("list append", 0),),
    )
    whole = Exploration("pop", program, False, 100)
    assert Exploration("pop in tasks", program, False, 100).traces == whole.traces

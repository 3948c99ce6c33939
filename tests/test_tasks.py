"""Tasks of ordinary programs: they go through the same door as whole searches."""

import pickle
import threading
from collections.abc import Callable

import pytest

from mazurka import Result, explore
from mazurka.api import explore_tasks
from mazurka.engine.task import CannotSplit, Outdated, Task
from tests.scale.programs import waiting


class Counter:
    def __init__(self) -> None:
        self.value = 0

    def increment(self) -> None:
        value = self.value
        self.value = value + 1


def run(*functions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def three_increments() -> int:
    counter = Counter()
    run(counter.increment, counter.increment, counter.increment)
    return counter.value


def failing() -> None:
    assert three_increments() == 3


def in_tasks(program: Callable[[], object], whole: Task) -> Result:
    """A search in tasks of one execution each, every one in a session of its own."""
    total = Result(algorithm=whole.algorithm)
    tasks = [whole]
    while tasks:
        task = Task.from_json(tasks.pop().to_json())
        result, left = explore_tasks(
            program,
            [task],
            algorithm=whole.algorithm,
            max_executions=1,
            stop_on_failure=False,
        )
        total += result
        tasks += left
    total.conclude(everything=True)
    return total


@pytest.mark.parametrize("algorithm", ["pop", "trust"])
@pytest.mark.parametrize("program", [three_increments, failing])
def test_ordinary_code_is_seen_in_tasks(algorithm: str, program: Callable[[], object]) -> None:
    whole = explore(program, algorithm=algorithm, stop_on_failure=False)
    tasks = in_tasks(program, Task(algorithm))
    assert whole.executions == 36
    assert (tasks.verdict, tasks.executions) == (whole.verdict, whole.executions)
    assert tasks.outcomes == whole.outcomes
    assert len(tasks.failures) == len(whole.failures)


@pytest.mark.parametrize("algorithm", ["optimal", "source", "qpor", "random", "pct", "pos"])
def test_searches_that_cannot_hand_over_work_say_so(algorithm: str) -> None:
    with pytest.raises(CannotSplit, match=f"{algorithm} cannot hand over work: .*; use"):
        explore_tasks(three_increments, [Task(algorithm)], algorithm=algorithm)


def test_what_a_task_finds_out_late_begins_the_search_anew() -> None:
    """That `least` changes is met in some executions only; until then it is taken for constant."""
    with pytest.raises(Outdated) as outdated:
        in_tasks(waiting, Task("pop"))
    assert "least" in outdated.value.learnt["changing"]
    whole = explore(waiting)
    tasks = in_tasks(waiting, Task("pop", learnt=outdated.value.learnt))
    assert (tasks.verdict, tasks.executions) == (whole.verdict, whole.executions)


def test_a_process_can_tell_another_what_it_has_found_out() -> None:
    learnt = {"shared": ["slots+32:4"]}
    assert pickle.loads(pickle.dumps(Outdated(learnt))).learnt == learnt


def test_tasks_of_other_searches_are_refused() -> None:
    _, left = explore_tasks(three_increments, [Task("pop")], max_executions=1)
    with pytest.raises(Exception, match="left by a search with instrument="):
        explore_tasks(three_increments, left, instrument=None)
    with pytest.raises(Exception, match="left by a search with algorithm="):
        explore_tasks(three_increments, left, algorithm="trust")
    with pytest.raises(Exception, match="no tasks were given"):
        explore_tasks(three_increments, [])

"""Explore a program in two halves, in two processes that know nothing of each other."""

import multiprocessing
from dataclasses import dataclass

from benchmarks.measure import MAX_EVENTS
from benchmarks.registry import Instance, parse
from mazurka.api import explore_tasks
from mazurka.engine.task import Task


@dataclass(frozen=True)
class Halves:
    """The executions before the search was split, and those of the two halves."""

    first: int
    halves: list[int]
    tasks: int

    @property
    def total(self) -> int:
        return self.first + sum(self.halves)


def explore_in_halves(instance: Instance) -> Halves:
    """Search until there are tasks to deal out, then give every other one to each process."""
    executions = 0
    tasks = [Task("pop")]
    while len(tasks) == 1:
        count, left = explore_some(instance, [tasks.pop(0)], 1)
        executions += count
        tasks += left
    texts = [task.to_json() for task in tasks]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        halves = pool.starmap(
            explore_half, [(str(instance), texts[0::2]), (str(instance), texts[1::2])], 1
        )
    return Halves(executions, halves, len(tasks))


def explore_half(program: str, texts: list[str]) -> int:
    """What one of the processes does."""
    count, left = explore_some(parse(program), [Task.from_json(text) for text in texts], None)
    if left:
        raise RuntimeError(f"{program}: the search ended early")
    return count


def explore_some(
    instance: Instance, tasks: list[Task], max_executions: int | None
) -> tuple[int, list[Task]]:
    result, left = explore_tasks(
        instance.program(),
        tasks,
        max_executions=max_executions,
        stop_on_failure=False,
        max_events=MAX_EVENTS,
    )
    return result.executions, left

"""Searches that are recorded: the tree of their executions, and how long these take."""

import pickle
import time
from array import array
from bisect import bisect_right
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from benchmarks.jobs import options_of, program_of
from benchmarks.registry import Instance
from mazurka.api import explorer_of, remembering, runnable, session_of
from mazurka.engine.event import copy_of
from mazurka.engine.program import Program
from mazurka.engine.task import Task
from mazurka.options import Options

MARK = 256  # the time is noted after so many executions
SAMPLED_AFTER = 2.0  # seconds of a search: what is left then are tasks to look at,
SAMPLE = 100  # so many of them


@dataclass(frozen=True)
class TaskCosts:
    """What tasks of a search take, on average: seconds, and bytes."""

    listing: float  # to say what is left, for each task
    sending: float  # to make a message of a task, or a task of a message
    beginning: float  # to take it up: steps are run that were run before
    size: int


@dataclass
class Recording:
    """Executions in the order of their search. Those below one come right after it, so that a task
    is a range of them."""

    name: str
    depths: "array[int]"  # of each in the tree
    marks: "array[float]"  # when each MARK of them was over, in seconds of CPU time
    costs: TaskCosts

    def __post_init__(self) -> None:
        self.ends = ends_of(self.depths)

    def __len__(self) -> int:
        return len(self.depths)

    @property
    def seconds(self) -> float:
        return self.marks[-1]

    def when(self, position: int) -> float:
        """When so many executions were over."""
        mark = min(position // MARK, len(self.marks) - 2)
        begin, end = self.marks[mark : mark + 2]
        return begin + (end - begin) * (position - mark * MARK) / self.between(mark)

    def position_at(self, seconds: float) -> int:
        """How many executions were over then."""
        mark = bisect_right(self.marks, seconds) - 1
        if mark + 1 >= len(self.marks):
            return len(self)
        begin, end = self.marks[mark : mark + 2]
        return mark * MARK + int(self.between(mark) * (seconds - begin) / (end - begin))

    def between(self, mark: int) -> int:
        """How many executions there are from a mark to the next one."""
        return min(MARK, len(self) - mark * MARK)

    def left(self, position: int, end: int) -> list[int]:
        """Where the tasks begin that are left of a task, in the order in which it would go on."""
        found = []
        while position < end:
            found.append(position)
            position = self.ends[position]
        return found

    def save(self, file: Path) -> None:
        """Recordings are for whoever made them: nobody else's are read."""
        kept = (self.name, self.depths, self.marks, self.costs)
        file.write_bytes(pickle.dumps(kept))

    @classmethod
    def load(cls, file: Path) -> Self:
        return cls(*pickle.loads(file.read_bytes()))


def ends_of(depths: "array[int]") -> "array[int]":
    """Where the executions end that are below each."""
    ends = array("i", [len(depths)]) * len(depths)
    above: list[int] = []
    for position, depth in enumerate(depths):
        while len(above) > depth:
            ends[above.pop()] = position
        above.append(position)
    return ends


def recorded(instance: Instance, is_c: bool) -> Recording:
    """Explore a program to its end by POP, and note its tree."""
    options = Options(**options_of(instance, is_c)).checked().with_granularity(is_c)
    program = runnable(program_of(instance, is_c))
    name = f"{instance} in C" if is_c else str(instance)

    def work(running: Program) -> Any:  # a C program has a process of its own
        return recorded_in(running, options)

    return Recording(name, *session_of(program, options).run(work, {}))


def recorded_in(
    program: Program, options: Options
) -> tuple["array[int]", "array[float]", TaskCosts]:
    program = remembering(program, options)
    explorer: Any = explorer_of(program, options, Task("pop"), None)
    search = explorer.search
    stack: list[object] = explorer.stack  # the executions above the one that runs
    depths, marks = array("H"), array("d", [0.0])
    begun = time.process_time()

    def note(running: Program) -> None:
        depths.append(len(stack))
        if len(depths) % MARK == 0:
            marks.append(time.process_time() - begun)

    search.observe = note
    search.pause_after = SAMPLED_AFTER
    listing, tasks = 0.0, [Task("pop")]
    if not explorer.explore():
        assert search.is_paused, search.result.reason
        before = time.process_time()
        tasks = explorer.split()
        listing = (time.process_time() - before) / len(tasks)
        search.is_paused = False
        search.pause_after = -1.0
        assert explorer.explore(), search.result.reason
    if len(depths) % MARK:
        marks.append(time.process_time() - begun)
    chosen = tasks[:: max(1, len(tasks) // SAMPLE)]
    execution = marks[-1] / len(depths)

    def begin(task: Task) -> None:
        first = [copy_of(event) for event in search.first]
        one = explorer_of(program, options, task, first)
        one.search.max_executions = 1
        one.explore()

    beginning = mean_seconds([lambda task=task: begin(task) for task in chosen])
    packed = [pickle.dumps(task) for task in chosen]
    sending = mean_seconds([lambda task=task: pickle.dumps(task) for task in chosen])
    receiving = mean_seconds([lambda text=text: pickle.loads(text) for text in packed])
    size = sum([len(text) for text in packed]) // len(packed)
    costs = TaskCosts(listing, max(sending, receiving), max(0.0, beginning - execution), size)
    return depths, marks, costs


def mean_seconds(calls: list[Any]) -> float:
    before = time.process_time()
    for call in calls:
        call()
    return (time.process_time() - before) / len(calls)

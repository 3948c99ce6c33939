"""A whole search, by several workers.

It begins in the process that was asked for it. So searches that are over soon need no workers, and
what must be known of the program before all others is found out once. What is then left is a list
of tasks.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

from mazurka.engine.errors import ConditionMet, MazurkaError
from mazurka.engine.result import Result
from mazurka.engine.task import Outdated, Task
from mazurka.scale.driver import Crew, Driver
from mazurka.scale.ledger import Ledger
from mazurka.scale.messages import FIRST, portable_outcomes

ALONE = 0.3  # seconds of search before others are called
MOST_SEARCHES = 100

Learnt = dict[str, list[str]]


@dataclass
class WholeSearch:
    algorithm: str
    # Explores a task for some seconds; what was found, and what is left.
    begin: Callable[[Task, float], tuple[Result, list[Task]]]
    # Workers that know what was learnt, and have imported some modules.
    crew_of: Callable[[Learnt, list[str]], Crew]
    jobs: int
    stops: bool  # whether it ends with its first failure
    max_executions: int | None
    time_limit: float | None
    begun: float  # when it began, for that limit
    progress: Callable[[Result], None] | None
    interrupted: bool = False
    preparation: float = 0.0

    def explore(self) -> tuple[Result, bool]:
        """What was found, and whether that is all."""
        task = Task(self.algorithm)
        for _ in range(MOST_SEARCHES):
            try:
                return self.attempt(task)
            except Outdated as outdated:
                task = Task(task.algorithm, learnt=both(task.learnt, outdated.learnt))
            except ConditionMet:  # this one takes them, and is as thorough
                task = Task("trust", learnt=task.learnt)
        raise MazurkaError(
            f"the program was begun anew {MOST_SEARCHES} times, and still something in it is not "
            "what it was: look for objects that it keeps from one execution to the next"
        )

    def attempt(self, task: Task) -> tuple[Result, bool]:
        modules = set(sys.modules)
        result, left = self.begin(task, ALONE)
        result.outcomes = portable_outcomes(result.outcomes)
        self.preparation = result.preparation
        if not left or result.reason:
            result.seconds = self.seconds()
            return result, not left
        most = -1
        if self.max_executions is not None:
            most = self.max_executions - result.executions
        ledger = Ledger(self.stops, most)
        ledger.results[FIRST] = result
        ledger.add(((place,), part) for place, part in enumerate(left))
        crew = self.crew_of(left[0].learnt, sorted(set(sys.modules) - modules))
        driver = Driver(ledger, crew, self.jobs, self.watch)
        reason = driver.run()
        return self.concluded(driver, reason)

    def concluded(self, driver: Driver, reason: str) -> tuple[Result, bool]:
        ledger = driver.ledger
        total = ledger.total()
        total.warnings = list(dict.fromkeys([*total.warnings, *driver.warnings]))
        total.threads = max(total.threads or 0, driver.threads) or None
        total.seconds = self.seconds()
        total.preparation = self.preparation
        left = ledger.entries()
        if ledger.end is not None:
            reason = total.reason
        elif not reason and left:
            reason = f"stopped after max_executions={self.max_executions}"
        total.reason = reason
        if self.interrupted and self.progress is not None:
            self.progress(total)  # which ends this
        return total, not left and ledger.end is None

    def seconds(self) -> float:
        return time.perf_counter() - self.begun - self.preparation

    def watch(self, driver: Driver) -> str:
        """Tell how far the search is; gives why it must stop, if it must."""
        if self.progress is not None:
            so_far = driver.ledger.so_far()
            so_far.seconds = self.seconds()
            told = [hand.told for hand in driver.hands.values() if hand.told is not None]
            so_far.complete += sum([word.executions for word in told])
            try:
                self.progress(so_far)
            except KeyboardInterrupt:
                self.interrupted = True
                return "interrupted"
        if self.time_limit is not None and time.perf_counter() - self.begun >= self.time_limit:
            return f"stopped after time_limit={self.time_limit:g} seconds"
        return ""


def both(learnt: Learnt, more: Learnt) -> Learnt:
    return {word: sorted({*learnt.get(word, ()), *more.get(word, ())}) for word in {*learnt, *more}}

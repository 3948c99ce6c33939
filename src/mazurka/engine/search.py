"""What all searches share: counting executions, collecting failures, knowing when to stop."""

import time
from collections.abc import Callable
from typing import Any

from mazurka.engine.event import Event
from mazurka.engine.program import BLOCKED, COMPLETE, CUT, Execution
from mazurka.engine.result import NONDETERMINISM, STUCK, Failure, Result

DEFAULT_DEPTH = 3
DEFAULT_K = 3  # enough for nearly all programs of its paper
ALL_OF_THEM = 0

Progress = Callable[[Result], None]


class Search:
    """The book-keeping of one exploration."""

    def __init__(
        self,
        execution: Execution,
        result: Result,
        stop_on_failure: bool,
        max_executions: int | None,
        time_limit: float | None,
        progress: Progress | None,
        observe: Callable[[Execution], None] | None = None,
    ) -> None:
        self.execution = execution
        self.result = result
        self.stop_on_failure = stop_on_failure
        self.max_executions = -1 if max_executions is None else max_executions
        self.time_limit = -1.0 if time_limit is None else time_limit
        self.progress = progress
        self.observe = observe
        self.started = time.monotonic()
        self.outcomes: dict[Any, int] = {}  # quicker than a Counter
        self.until_clock = 1
        self.counted = 0
        self.seed = 0  # of searches that go by chance
        self.depth = DEFAULT_DEPTH  # how many orderings a failure may take, for `pct`
        self.k = DEFAULT_K  # with how many events an alternative conflicts, for `qpor`
        self.preemptions = -1  # how many an execution may take; -1: any number
        self.strict_bound = False  # whether failures that take more do not count
        self.reads_from = False  # whether the order of writes does not count
        self.races: set[str] = set()  # the data races that were met
        self.doubt = ""  # why it may have missed something though it ran to its end

    def begin_anew(self) -> None:
        """Forget what was found, but not how long it took."""
        result = self.result
        result.complete = result.blocked = result.redundant = result.cut = result.beyond = 0
        result.failures.clear()
        self.outcomes.clear()
        self.races.clear()
        self.counted = 0

    def seconds(self) -> float:
        return time.monotonic() - self.started

    def repeats_itself(self) -> bool:
        """Run the first execution twice, uncounted: a program that goes by clocks or chance shows
        it here even if it has but one execution. False if it does."""
        execution = self.execution
        endings: list[str] = []
        length = 0
        for _ in range(2):
            length = len(execution.events)
            execution.run(length, [], [])
            endings.append(execution.ending())
            if execution.failed:
                failure = execution.failure()
                if ends_search(failure):
                    self.end_with(failure)
                    return False
        if len(execution.events) > length:
            endings[1] += ", after more steps"
        if endings[0] != endings[1]:
            self.end_with(execution.changed(endings[0], endings[1]))
            return False
        return True

    def end_with(self, failure: Failure) -> None:
        """The program cannot be explored: count the run that shows it, and no other."""
        self.result.failures.append(failure)
        self.result.blocked += 1
        self.result.reason = "stopped at a failure"

    def run(self, keep: int, path: list[Event], sleep: list[Event]) -> bool:
        """Run one execution and count it; False when the search must end here."""
        if not self.may_run():
            return False
        self.execution.run(keep, path, sleep)
        return self.count()

    def may_run(self) -> bool:
        """Whether there may be one more execution."""
        if self.counted == self.max_executions:
            self.result.reason = f"stopped after max_executions={self.max_executions}"
            return False
        return True

    def count(self) -> bool:
        """Count the latest execution; False when the search must end here."""
        execution = self.execution
        result = self.result
        self.counted += 1
        if execution.doubt:
            self.doubt = execution.doubt
        if execution.bound:
            result.bound = execution.bound
        if self.observe is not None:
            self.observe(execution)
        if execution.status == COMPLETE:
            result.complete += 1
            if not execution.failed:
                tally(self.outcomes, execution.outcome())
        elif execution.status == BLOCKED:
            result.blocked += 1
        elif execution.status == CUT:
            result.cut += 1
        else:
            result.redundant += 1
        if execution.failed and not self.add_failure():
            return False
        self.until_clock -= 1
        return self.until_clock > 0 or self.look_at_clock()

    def add_failure(self) -> bool:
        """Collect a failure; False when the search must end with it."""
        execution = self.execution
        result = self.result
        failure = execution.failure()
        race = execution.race
        if race is not None and race in self.races:
            return True
        if self.races and failure.kind == NONDETERMINISM:
            # Which of two accesses comes first may be another one in an equivalent execution.
            result.reason = "stopped after the order of a data race changed what threads do"
            return False
        result.failures.append(failure)
        if race is not None:
            self.races.add(race)
        if self.stop_on_failure or ends_search(failure):
            result.reason = "stopped at a failure"
            return False
        return True

    def look_at_clock(self) -> bool:
        """Every now and then: is time up? Tell how far the search is."""
        seconds = self.seconds()
        self.result.seconds = seconds
        rate = self.counted / max(seconds, 1e-6)
        self.until_clock = max(1, int(rate / 20))  # about 20 times a second
        if self.progress is not None:
            self.progress(self.result)
        if 0.0 <= self.time_limit <= seconds:
            self.result.reason = f"stopped after time_limit={self.time_limit:g} seconds"
            return False
        return True


def ends_search(failure: Failure) -> bool:
    """What does not repeat itself, or hangs, cannot be explored any further."""
    return failure.kind == NONDETERMINISM or failure.kind == STUCK


def tally(outcomes: dict[Any, int], outcome: object) -> None:
    """Count an outcome: under itself, or under how it prints if it cannot be a key."""
    try:
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    except Exception:
        outcomes[repr(outcome)] = outcomes.get(repr(outcome), 0) + 1

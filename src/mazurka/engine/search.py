"""What all searches share: counting executions, collecting failures, knowing when to stop, and the
base of the algorithms."""

import time
from collections.abc import Callable
from typing import Any

from mazurka.engine.event import NO_EVENTS, Event
from mazurka.engine.memory_use import memory_mb
from mazurka.engine.operation import NONE, SPAWN, UNKNOWN
from mazurka.engine.program import BLOCKED, COMPLETE, CUT, Answer, Program, Request, Watcher
from mazurka.engine.result import NONDETERMINISM, STUCK, Failure, Result
from mazurka.engine.status import Status
from mazurka.engine.task import CannotSplit, Task

DEFAULT_DEPTH = 3
DEFAULT_K = 3  # enough for nearly all programs of its paper
ALL_OF_THEM = 0

CHANGED_BY_RACE = "stopped after the order of a data race changed what threads do"

# Of the tree of executions: after how many steps it goes off, and what its explorer knows it by.
Branch = tuple[int, object]

Progress = Callable[[Result], None]


class Search:
    """The book-keeping of one exploration."""

    def __init__(
        self,
        program: Program,
        result: Result,
        stop_on_failure: bool,
        max_executions: int | None,
        time_limit: float | None,
        progress: Progress | None,
        observe: Callable[[Program], None] | None = None,
    ) -> None:
        self.program = program
        self.first: list[Event] = []  # the execution that was run before the search
        self.result = result
        self.stop_on_failure = stop_on_failure
        self.max_executions = -1 if max_executions is None else max_executions
        self.time_limit = -1.0 if time_limit is None else time_limit
        self.memory_limit = -1.0  # megabytes; -1: none
        self.late = 0.0  # so many seconds of that were over when the search began
        self.progress = progress
        self.observe = observe
        self.started = time.monotonic()
        self.outcomes: dict[Any, int] = {}  # quicker than a Counter
        self.until_clock = 1
        self.counted = 0
        self.is_broken = False  # whether the program cannot be explored: nothing is left to do
        self.is_paused = False  # whether the search is to end here, and may go on later
        self.pause_after = -1.0  # seconds; -1: it goes on
        self.seed = 0  # of searches that go by chance
        self.depth = DEFAULT_DEPTH  # how many orderings a failure may take, for `pct`
        self.k = DEFAULT_K  # with how many events an alternative conflicts, for `qpor`
        self.preemptions = -1  # how many an execution may take; -1: any number
        self.strict_bound = False  # whether failures that take more do not count
        self.reads_from = False  # whether the order of writes does not count
        self.races: set[str] = set()  # the data races that were met
        # Where timeouts come last, a search ends where nobody can go on. What comes after a timeout
        # there is a search of its own: those that are still to be made,
        self.later: list[Timeout] = []
        self.prefix: list[Event] = NO_EVENTS  # and the steps before the one that is being made

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
        program = self.program
        request = Request(self.first)
        endings: list[str] = []
        length = 0
        for _ in range(2):
            length = len(self.first)
            answer = program.run(request)
            endings.append(program.ending())
            if answer.failed:
                failure = program.failure()
                if ends_search(failure):
                    self.end_with(failure)
                    return False
        if len(self.first) > length:
            endings[1] += ", after more steps"
        if endings[0] != endings[1]:
            self.end_with(program.changed(endings[0], endings[1]))
            return False
        return True

    def end_with(self, failure: Failure) -> None:
        """The program cannot be explored: count the run that shows it, and no other."""
        self.is_broken = True
        self.result.failures.append(failure)
        self.result.blocked += 1
        self.result.reason = "stopped at a failure"

    def run(self, request: Request) -> bool:
        """Run one execution and count it; False when the search must end here."""
        if not self.may_run():
            return False
        return self.count(self.program.run(request))

    def may_run(self) -> bool:
        """Whether there may be one more execution."""
        if self.is_paused:
            return False
        if self.counted == self.max_executions:
            self.result.reason = f"stopped after max_executions={self.max_executions}"
            return False
        return True

    def count(self, answer: Answer) -> bool:
        """Count the latest execution; False when the search must end here."""
        self.counted += 1
        self.until_clock -= 1
        if answer.timing_out and answer.status == BLOCKED and not answer.failed:
            events = self.program.events.copy()
            self.later += [Timeout(events, thread) for thread in answer.timing_out]
            return self.until_clock > 0 or self.look_at_clock()
        result = self.result
        if answer.doubt:
            result.doubt = answer.doubt
        if answer.bound:
            result.bound = answer.bound
        if self.observe is not None:
            self.observe(self.program)
        if answer.status == COMPLETE:
            result.complete += 1
            if not answer.failed:
                tally(self.outcomes, self.program.outcome())
        elif answer.status == BLOCKED:
            result.blocked += 1
        elif answer.status == CUT:
            result.cut += 1
        else:
            result.redundant += 1
        if answer.failed and not self.add_failure():
            return False
        return self.until_clock > 0 or self.look_at_clock()

    def add_failure(self) -> bool:
        """Collect a failure; False when the search must end with it."""
        result = self.result
        failure = self.program.failure()
        race = self.program.answer.race
        if race is not None and race in self.races:
            return True
        if self.races and failure.kind == NONDETERMINISM:
            # Which of two accesses comes first may be another one in an equivalent execution.
            result.reason = CHANGED_BY_RACE
            self.is_broken = True
            return False
        result.failures.append(failure)
        if race is not None:
            self.races.add(race)
            failure.race = race
        self.is_broken = ends_search(failure)
        if self.stop_on_failure or self.is_broken:
            result.reason = "stopped at a failure"
            return False
        return True

    def look_at_clock(self) -> bool:
        """Every now and then: is time up? Tell how far the search is."""
        seconds = self.seconds()
        self.result.seconds = seconds
        rate = self.counted / max(seconds, 1e-6)
        self.until_clock = max(1, int(rate / 20))  # about 20 times a second
        if self.progress is not None or self.memory_limit >= 0.0:
            self.note_status()
        if self.progress is not None:
            self.progress(self.result)
        if 0.0 <= self.pause_after <= seconds:
            self.is_paused = True
        if 0.0 <= self.time_limit <= seconds + self.late:
            self.result.reason = f"stopped after time_limit={self.time_limit:g} seconds"
            return False
        status = self.result.status
        if status is not None and 0.0 <= self.memory_limit <= status.memory_mb:
            self.result.reason = f"stopped after memory_limit={self.memory_limit:g} MB"
            return False
        return True

    def note_status(self) -> None:
        if self.result.status is None:
            self.result.status = Status()
        self.result.status.depth = len(self.program.events)
        self.result.status.memory_mb = memory_mb()


class Timeout:
    """A place in an execution where a thread is to time out."""

    def __init__(self, events: list[Event], thread: int) -> None:
        self.events = events  # those before
        self.thread = thread


def explore_in_parts(search: Search, explorer: Callable[[Search], "Explorer"]) -> bool:
    """Explore what comes after timeouts, too; False when the search was ended before."""
    while search.later:
        begin_after(search, search.later.pop())
        if not explorer(search).explore():
            return False
    return True


def begin_after(search: Search, timeout: Timeout) -> None:
    """Let the search begin after a timeout."""
    events = timeout.events.copy()
    length = len(events) + 1
    request = Request(events)
    request.path = [Event(timeout.thread, UNKNOWN, -1, NONE, None, None)]
    search.program.run(request)
    search.prefix = events[:length]


def root_for(thread: int) -> Event:
    """What stands for the spawn of a thread that is there when a search begins."""
    root = Event(0, SPAWN, -1, NONE, None, None)
    root.choice = thread
    root.enabled = [0]
    return root


class Explorer(Watcher):
    """An algorithm at work on one search."""

    cannot_split = ""  # why it cannot hand over work, if it cannot

    def __init__(self, search: Search) -> None:
        self.search = search
        self.program = search.program
        self.events: list[Event] = []  # E: the current execution
        self.request = Request(self.events)
        self.request.prefix = search.prefix
        self.request.roots = [
            root_for(event.choice) for event in search.prefix if event.kind == SPAWN
        ]

    def explore(self) -> bool:
        """Explore the whole program, or the tasks that were taken up; False when the search was
        ended before. Those that can hand over work go on from there when this is called again."""
        raise NotImplementedError

    def take_up(self, task: Task) -> None:
        """Explore a task, too, in place of the whole program."""
        raise self.refusal()

    def split(self) -> list[Task]:
        """What is left to explore when the search was ended, in the order in which it would go on.
        It can still do that."""
        raise self.refusal()

    def hand_over(self, count: int) -> None:
        """Leave the last ones of what `split` has just given to others."""
        raise self.refusal()

    # For estimates, which look at parts of the tree of executions

    def below(self, branch: object) -> list[Branch]:
        """Run the first execution of a branch (None: of the whole program); gives the branches that
        go off below it. In whatever order they are followed, they are the executions of a search.
        """
        raise self.refusal()

    def refusal(self) -> CannotSplit:
        return CannotSplit(
            f"{self.search.result.algorithm} cannot hand over work: {self.cannot_split}"
        )


def ends_search(failure: Failure) -> bool:
    """What does not repeat itself, or hangs, cannot be explored any further."""
    return failure.kind == NONDETERMINISM or failure.kind == STUCK


def tally(outcomes: dict[Any, int], outcome: object) -> None:
    """Count an outcome: under itself, or under how it prints if it cannot be a key."""
    try:
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    except Exception:
        outcomes[repr(outcome)] = outcomes.get(repr(outcome), 0) + 1

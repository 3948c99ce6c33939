"""A whole search, by several workers.

It begins in the process that was asked for it. So searches that are over soon need no workers, and
what must be known of the program before all others is found out once. What is then left is a list
of tasks.
"""

import math
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from mazurka.engine.errors import ConditionMet, MazurkaError
from mazurka.engine.memory_use import memory_mb
from mazurka.engine.result import Result
from mazurka.engine.status import Status
from mazurka.engine.task import Outdated, Task
from mazurka.scale.checkpoint import Identity, load, plain_outcomes, save
from mazurka.scale.driver import Crew, Driver
from mazurka.scale.estimate import FIRST_LOOK, SHARE
from mazurka.scale.ledger import Ledger
from mazurka.scale.messages import FIRST, portable_outcomes

ALONE = 0.3  # seconds of search before others are called
MOST_SEARCHES = 100
FIRST_SAVE = 1.0  # seconds until a checkpoint is written again: then twice as many,
SAVE_EVERY = 60.0  # up to this
LONGEST_LOOK = 1.0  # seconds that a worker may look ahead
LIMITS = tuple([f"stopped after {limit}" for limit in ("max_executions", "time_", "memory_")])

Learnt = dict[str, list[str]]


@dataclass(frozen=True)
class Files:
    """Where a search is kept, and what it goes on from; and what tells it from other searches."""

    checkpoint: Path | None = None
    resume: Path | None = None
    identity: Identity = field(default_factory=dict)


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
    memory_limit: int | None
    begun: float  # when it began, for that limit
    progress: Callable[[Result], None] | None
    files: "Files"
    latest: Status | None = None  # how far it was when last looked at
    is_anew: bool = False  # whether the program turned out to be another one than was known
    interrupted: bool = False
    stopped: str = ""  # why, if it was stopped before workers were called
    preparation: float = 0.0
    earlier: float = 0.0  # the seconds that it took before it was resumed
    save_every: float = FIRST_SAVE
    next_save: float = math.inf
    next_look: float = FIRST_LOOK

    def explore(self) -> tuple[Result, bool]:
        """What was found, and whether that is all."""
        task = Task(self.algorithm)
        for number in range(MOST_SEARCHES):
            self.is_anew = number > 0
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
        """Explore the whole program, knowing what its task says."""
        modules = set(sys.modules)
        if self.files.resume is not None and not self.is_anew:
            ledger, self.earlier = load(self.files.resume, self.files.identity, self.stops)
        else:
            ledger = self.begun_here(task)
        if self.max_executions is not None:
            ledger.most = max(0, self.max_executions - ledger.so_far().executions)
        learnt = ledger.waiting[0][1].learnt if ledger.waiting else {}
        crew = self.crew_of(learnt, sorted(set(sys.modules) - modules))
        driver = Driver(ledger, crew, self.jobs, self.watch)
        reason = self.stopped
        if not reason and not ledger.is_over:
            with self.interrupts_noted():
                self.save_and_wait(ledger)
                reason = driver.run()
        return self.concluded(driver, reason)

    def begun_here(self, task: Task) -> Ledger:
        """Explore for a while in this process: what was found, and what is left."""
        result, left = self.begin(task, ALONE)
        result.outcomes = portable_outcomes(result.outcomes)
        self.preparation = result.preparation
        ledger = Ledger(self.stops)
        ledger.results[FIRST] = result
        if result.reason.startswith(LIMITS):
            self.stopped = result.reason
        elif left and result.reason:  # it has ended with a failure
            ledger.end_at(FIRST)
        ledger.add(((place,), part) for place, part in enumerate(left))
        return ledger

    def concluded(self, driver: Driver, reason: str) -> tuple[Result, bool]:
        ledger = driver.ledger
        ledger.warnings.update(dict.fromkeys(driver.warnings))
        self.save(ledger)
        total = ledger.total()
        if self.files.identity:
            total.outcomes = plain_outcomes(total.outcomes)
        total.threads = max(total.threads or 0, driver.threads) or None
        total.seconds = self.seconds()
        total.preparation = self.preparation
        total.status = self.latest
        left = ledger.entries()
        if ledger.end is not None:
            reason = total.reason
        elif not reason and left:
            reason = f"stopped after max_executions={self.max_executions}"
        total.reason = reason
        if self.interrupted:
            if self.progress is not None:
                self.progress(total)
            raise KeyboardInterrupt
        return total, not left and ledger.end is None

    def save(self, ledger: Ledger) -> None:
        if self.files.checkpoint is not None:
            save(self.files.checkpoint, ledger, self.files.identity, self.seconds())

    def save_and_wait(self, ledger: Ledger) -> None:
        """Save, and longer and longer not: a search that is killed again and again gets on."""
        self.save(ledger)
        self.next_save = time.perf_counter() + self.save_every
        self.save_every = min(2 * self.save_every, SAVE_EVERY)

    @contextmanager
    def interrupts_noted(self) -> Iterator[None]:
        """Let Ctrl-C end the search cleanly; a second one ends it at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def note(number: int, frame: FrameType | None) -> None:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True

        before = signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def seconds(self) -> float:
        return self.earlier + time.perf_counter() - self.begun - self.preparation

    def watch(self, driver: Driver) -> str:
        """Tell how far the search is; gives why it must stop, if it must."""
        status = driver.status()
        status.memory_mb += memory_mb()
        self.latest = status
        if self.progress is not None:
            so_far = driver.ledger.so_far()
            so_far.seconds = self.seconds()
            told = [hand.told for hand in driver.hands.values() if hand.told is not None]
            so_far.complete += sum([word.executions for word in told])
            so_far.status = status
            if so_far.seconds >= self.next_look:
                self.next_look = 1.5 * so_far.seconds
                driver.look_ahead(min(SHARE * so_far.seconds, LONGEST_LOOK))
            try:
                self.progress(so_far)
            except KeyboardInterrupt:
                self.interrupted = True
        if self.interrupted:
            return "interrupted"
        if time.perf_counter() >= self.next_save:
            self.save_and_wait(driver.ledger)
        if self.time_limit is not None and time.perf_counter() - self.begun >= self.time_limit:
            return f"stopped after time_limit={self.time_limit:g} seconds"
        if self.memory_limit is not None and status.memory_mb >= self.memory_limit:
            return f"stopped after memory_limit={self.memory_limit} MB"
        return ""


def both(learnt: Learnt, more: Learnt) -> Learnt:
    return {word: sorted({*learnt.get(word, ()), *more.get(word, ())}) for word in {*learnt, *more}}

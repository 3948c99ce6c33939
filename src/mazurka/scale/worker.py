"""A worker: explores tasks, one after the other, and hands over results and what it leaves.

It keeps its program over all tasks. Between two executions, a few times a second, it looks whether
others want something. What it reports is always whole: the executions that were counted, and all
that is left of its tasks, fit together. So if it dies, what it has not reported is done again.
"""

import time
from collections.abc import Callable

from mazurka.engine.memory_use import memory_mb, peak_memory_mb
from mazurka.engine.remembered import Remembered
from mazurka.engine.result import Result
from mazurka.engine.search import Explorer
from mazurka.engine.status import Estimate
from mazurka.engine.task import Task
from mazurka.scale.messages import (
    Channel,
    Cut,
    Entry,
    Finish,
    Give,
    Here,
    Key,
    Look,
    Report,
    Stop,
    Take,
    Told,
    portable_outcomes,
)

FIRST_REPORT = 0.25  # seconds until a worker reports, then twice as many,
REPORT_EVERY = 2.0  # up to this; but no more often than costs allow:
WORK_FOR_REPORT = 50  # to say what is left must take that much less than the work between
TELL_EVERY = 0.25


class Current:
    """The task that is being explored."""

    def __init__(self, key: Key, explorer: Explorer) -> None:
        self.key = key
        self.explorer = explorer
        self.search = explorer.search
        self.gifts = 0  # how often parts of it were handed over


class Worker:
    def __init__(
        self,
        channel: Channel,
        explorer_of: Callable[[Task], Explorer] | None,
        warned: Callable[[], list[str]] = list,
        check_known: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.channel = channel
        self.explorer_of = explorer_of
        self.warned = warned
        self.check_known = check_known  # raises an error if the search must begin anew
        self.clock = clock
        self.estimate: Callable[[float], Estimate | None] | None = None
        self.look_ahead = 0.0  # for so many seconds, if somebody wants to know how far it is
        self.is_here = False
        self.is_finished = False
        self.has_reported = False
        self.taken: Take | None = None  # what it works on
        self.entries: list[Entry] = []  # not begun
        self.current: Current | None = None
        self.results: list[tuple[Key, Result]] = []  # not reported
        self.left = -1  # how many more executions there may be; -1: any number
        self.wanted = 0  # how many tasks others want
        self.cut: Key | None = None
        self.must_stop = False
        self.report_every = FIRST_REPORT
        self.next_report = 0.0
        self.next_word = 0.0

    def serve(self) -> None:
        """Work until there is nothing left to explore; when this is called again, as the search of
        the program has begun anew here, from what was taken last."""
        if not self.is_here:
            self.is_here = True
            self.channel.send(Here())
        if self.taken is not None:
            self.results = []
            self.obey(self.taken)
            self.work()
        while not self.is_finished:
            self.obey(self.channel.receive())
            if self.entries:
                self.work()

    def obey(self, message: object) -> None:
        if isinstance(message, Take):
            self.taken = message
            self.entries = list(message.entries)
            self.left = message.most
            self.next_report = self.clock() + self.report_every
            self.must_stop = False
            self.wanted = 0
        elif isinstance(message, Give):
            self.wanted = message.count
        elif isinstance(message, Cut):
            self.cut = message.key
            self.entries = [entry for entry in self.entries if entry[0] <= message.key]
        elif isinstance(message, Stop):
            self.must_stop = True
        elif isinstance(message, Look):
            self.look_ahead = message.seconds
        elif isinstance(message, Finish):
            self.is_finished = True

    # Exploring

    def work(self) -> None:
        """Explore the tasks that were taken."""
        while self.entries:
            key, task = self.entries.pop(0)
            assert self.explorer_of is not None
            self.current = Current(key, self.explorer_of(task))
            self.current.search.progress = self.look
            if not self.explore(self.current):
                return
            self.current = None
        self.report(Report([], is_over=True))

    def explore(self, current: Current) -> bool:
        """Explore a task; False if that has ended the work."""
        search = current.search
        while True:
            search.max_executions = -1 if self.left < 0 else search.counted + self.left
            everything = not search.is_broken and current.explorer.explore()
            self.take_result(current)
            if everything:
                return True
            if search.is_broken or (
                not search.is_paused and search.counted != search.max_executions
            ):
                self.entries.clear()  # what comes after a failure
                self.report(Report([], is_over=True, is_broken=search.is_broken))
                return False
            self.must_stop = self.must_stop or not search.is_paused
            search.is_paused = False
            if self.is_beyond_cut(current.key):
                return True
            if not self.pause(current):
                return False

    def take_result(self, current: Current) -> None:
        """Set apart what was found since the last time."""
        search = current.search
        result = search.result
        if self.left >= 0:
            self.left -= result.executions
        result.outcomes.update(search.outcomes)
        result.outcomes = portable_outcomes(result.outcomes)
        result.memory_mb = peak_memory_mb()
        if isinstance(search.program, Remembered):
            result.computed = search.program.newly_computed()
            result.unremembered = search.program.why_not
        if search.counted == search.max_executions:
            result.reason = ""  # that limit is of this worker alone
        self.results.append((current.key, result))
        search.outcomes = {}
        search.result = Result(algorithm=result.algorithm, equivalence=result.equivalence)

    def look(self, result: Result) -> None:
        """Called between two executions, a few times a second."""
        assert self.current is not None
        while self.channel.poll():
            self.obey(self.channel.receive())
        now = self.clock()
        is_due = now >= self.next_report or self.is_beyond_cut(self.current.key)
        if self.wanted or self.must_stop or self.look_ahead or is_due:
            self.current.search.is_paused = True
        if now >= self.next_word:
            self.next_word = now + TELL_EVERY
            executions = result.executions + sum([found.executions for _, found in self.results])
            depth = len(self.current.search.program.events)
            self.channel.send(Told(executions, depth, memory_mb()))

    def is_beyond_cut(self, key: Key) -> bool:
        return self.cut is not None and key > self.cut

    # Handing over

    def pause(self, current: Current) -> bool:
        """Report, and hand over what others want; False if that is all."""
        begun = self.clock()
        tasks = current.explorer.split()
        count = len(tasks) + len(self.entries) if self.must_stop else self.gift(len(tasks))
        self.wanted = 0
        later = self.entries[max(0, len(self.entries) - count) :]
        del self.entries[len(self.entries) - len(later) :]
        parts = tasks[max(0, len(tasks) - (count - len(later))) :]
        if parts:
            current.explorer.hand_over(len(parts))
            current.gifts += 1
            later = [*keyed(current, parts), *later]
        kept = tasks[: len(tasks) - len(parts)]
        current.gifts += 1  # others may have to take up what is kept now, as if it had been given
        report = Report([], [*keyed(current, kept), *self.entries], later, self.must_stop)
        self.report(report)
        now = self.clock()
        self.report_every = min(2 * self.report_every, REPORT_EVERY)
        self.next_report = now + max(self.report_every, (now - begun) * WORK_FOR_REPORT)
        if self.look_ahead and self.estimate is not None and not self.must_stop:
            found = self.estimate(self.look_ahead)
            self.channel.send(Told(0, 0, memory_mb(), found))
        self.look_ahead = 0.0
        return not self.must_stop

    def gift(self, tasks: int) -> int:
        """How many tasks to hand over of those that are left: at the most half of them."""
        return min(self.wanted, (tasks + len(self.entries)) // 2)

    def report(self, report: Report) -> None:
        self.check_known()
        report.results = self.results
        report.warnings = self.warned()
        self.results = []
        self.has_reported = True
        self.channel.send(report)
        if report.is_over:
            self.taken = None
            self.entries = []
            self.current = None


def keyed(current: Current, tasks: list[Task]) -> list[Entry]:
    """Parts of a task, with their keys: all come after what is explored of it until then, and
    before all that was handed over earlier."""
    return [((*current.key, -current.gifts, place), task) for place, task in enumerate(tasks)]

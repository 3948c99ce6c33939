"""What many workers would take for a search: the driver, the ledger and the workers are Mazurka's
own, so that nothing of how work is given out and split is a model. What stands for machines is

- the search, by its recording: a worker waits for as long as the executions of its task took;
- a clock for each worker, which goes on by that, and by what tasks and messages cost;
- the clock of the driver, which goes on by the CPU time that it really takes, and by what the
  messages of its crew cost.

All costs were measured. What a network adds, and workers that disturb each other, is not in it.
"""

import heapq
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, cast

from greenlet import getcurrent, greenlet
from rich import box
from rich.table import Table

from benchmarks.recordings import Recording
from mazurka.engine.result import Result
from mazurka.engine.search import Explorer
from mazurka.engine.task import Task
from mazurka.scale.driver import Driver
from mazurka.scale.messages import Closed, Report, Take, Told
from mazurka.scale.whole import ALONE, Files, WholeSearch
from mazurka.scale.worker import Worker

STEP = ("0", "", 0)
LOOK_EVERY = 0.05  # seconds: how often a search looks whether others want something


@dataclass(frozen=True)
class CrewCosts:
    """What workers cost, wherever they are: in seconds."""

    start: float  # until a worker is ready
    hire: float  # of the driver, for each worker
    message: float  # of the driver, for each message
    listening: float  # of the driver, whenever it waits for messages, for each worker
    delay: float  # of a message on its way
    telling: float = 0.0  # how often it is passed on at the most how far a worker is


@dataclass(frozen=True)
class Simulated:
    name: str
    alone: float  # what one process takes
    workers: int
    seconds: float
    begun: float  # the part of all workers' time until they have begun,
    worked: float  # in which they explored,
    handled: float  # and in which they took up tasks, and handed them over
    driving: float  # the part of the time in which the driver was busy

    @property
    def efficiency(self) -> float:
        return self.alone / self.seconds / self.workers


@dataclass
class Clocks:
    """What happens when."""

    recording: Recording
    costs: CrewCosts
    stretch: float  # so many times as long does each execution take
    measure: Callable[[], float]  # what the driver's own time goes by
    now: float = 0.0  # of what happens outside of the driver
    driver: float = 0.0
    driving: float = 0.0
    worked: float = 0.0
    handled: float = 0.0
    started: float = 0.0
    due: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    number: int = 0

    def at(self, when: float, happens: Callable[[], None]) -> None:
        self.number += 1
        heapq.heappush(self.due, (when, self.number, happens))

    def next_until(self, until: float) -> bool:
        """Let happen what comes next, if it does so by then."""
        if not self.due or self.due[0][0] > until:
            return False
        self.now, _, happens = heapq.heappop(self.due)
        happens()
        return True

    def sleep(self, seconds: float) -> None:
        """Called by a worker: go on later."""
        self.at(self.now + seconds, getcurrent().switch)
        self.hub().switch()

    def hub(self) -> greenlet:
        hub = getcurrent().parent
        assert hub is not None
        return hub

    def packing(self, message: object) -> float:
        """What its tasks cost whoever sends or receives a message."""
        tasks = 0
        if isinstance(message, Take):
            tasks = len(message.entries)
        elif isinstance(message, Report):
            tasks = len(message.kept) + len(message.given)
        return tasks * self.recording.costs.sending


class Replayed:
    """In place of an explorer, and of its search: takes the time that a part of a recording took,
    and can split it."""

    def __init__(self, clocks: Clocks, task: Task) -> None:
        self.clocks = clocks
        self.recording = clocks.recording
        self.search = self
        self.position = 0 if task.is_whole else task.numbers("from")[0]
        self.end = self.recording.ends[self.position]
        self.is_begun = False
        # What a worker knows of a search:
        self.program = self
        self.events: list[object] = []
        self.result = Result(algorithm="pop")
        self.outcomes: dict[object, int] = {}
        self.counted = 0
        self.max_executions = -1
        self.is_broken = self.is_paused = False
        self.progress: Callable[[Result], None] = lambda result: None

    def explore(self) -> bool:
        clocks, recording = self.clocks, self.recording
        if not self.is_begun:
            clocks.handled += recording.costs.beginning
            clocks.sleep(recording.costs.beginning)
        while self.position < self.end:
            if self.is_paused:
                return False
            begin = recording.when(self.position)
            then = recording.position_at(begin + LOOK_EVERY / clocks.stretch)
            then = self.position + 1 if not self.is_begun else max(self.position + 1, then)
            self.is_begun = True
            then = min(then, self.end)
            seconds = (recording.when(then) - begin) * clocks.stretch
            clocks.worked += seconds
            clocks.sleep(seconds)
            self.counted += then - self.position
            self.result.complete += then - self.position
            self.position = then
            self.progress(self.result)
        return True

    def split(self) -> list[Task]:
        found = self.recording.left(self.position, self.end)
        seconds = len(found) * self.recording.costs.listing
        self.clocks.handled += seconds
        self.clocks.sleep(seconds)
        return [task_from(self.recording, position) for position in found]

    def hand_over(self, count: int) -> None:
        self.end = self.recording.left(self.position, self.end)[-count]


def task_from(recording: Recording, position: int) -> Task:
    """It has a step for each level of the tree: a real one has more, but in much the same order."""
    steps = (STEP,) * recording.depths[position]
    return Task("pop", steps, notes={"from": [position]})


class Line:
    """The channel of a simulated worker."""

    def __init__(self, clocks: Clocks, heard: Callable[[object], None]) -> None:
        self.clocks = clocks
        self.heard = heard  # by the driver
        self.inbox: deque[object] = deque()
        self.waiting: greenlet | None = None
        self.next_told = 0.0

    def send(self, message: object) -> None:
        if isinstance(message, Told):
            if self.clocks.now < self.next_told:
                return
            self.next_told = self.clocks.now + self.clocks.costs.telling
        seconds = self.clocks.packing(message)
        if seconds:
            self.clocks.handled += seconds
            self.clocks.sleep(seconds)
        self.clocks.at(self.clocks.now + self.clocks.costs.delay, lambda: self.heard(message))

    def deliver(self, message: object) -> None:
        self.inbox.append(message)
        if self.waiting is not None:
            waiting, self.waiting = self.waiting, None
            waiting.switch()

    def receive(self) -> Any:
        if not self.inbox:
            self.waiting = getcurrent()
            self.clocks.hub().switch()
        message = self.inbox.popleft()
        seconds = self.clocks.packing(message)
        if seconds:
            self.clocks.handled += seconds
            self.clocks.sleep(seconds)
        return message

    def poll(self) -> bool:
        return bool(self.inbox)


class SimulatedCrew:
    def __init__(self, clocks: Clocks) -> None:
        self.clocks = clocks
        self.lines: dict[int, Line] = {}
        self.hired = 0
        self.inbox: list[tuple[int, object]] = []
        self.since = clocks.measure()

    def charge(self, seconds: float = 0.0) -> None:
        """Let the clock of the driver go on by what it has done since, and by some seconds."""
        measured = self.clocks.measure()
        seconds += measured - self.since
        self.since = measured
        self.clocks.driver += seconds
        self.clocks.driving += seconds

    def clock(self) -> float:
        self.charge()
        return self.clocks.driver

    def hire(self) -> int:
        self.charge(self.clocks.costs.hire)
        self.hired += 1
        number = self.hired
        line = Line(self.clocks, lambda message: self.inbox.append((number, message)))
        self.lines[number] = line
        hired = self.clocks.driver
        explorer_of = cast(Callable[[Task], Explorer], lambda task: Replayed(self.clocks, task))
        worker = Worker(line, explorer_of, clock=lambda: self.clocks.now)

        def live() -> None:
            self.clocks.started += self.clocks.now - hired
            worker.serve()
            line.send(Closed([], 0))

        self.clocks.at(hired + self.clocks.costs.start, greenlet(live).switch)
        return number

    def send(self, worker: int, message: object) -> None:
        self.charge(self.clocks.costs.message + self.clocks.packing(message))
        line = self.lines[worker]
        when = self.clocks.driver + self.clocks.costs.delay
        self.clocks.at(when, lambda: line.deliver(message))

    def receive(self, timeout: float) -> list[tuple[int, object]]:
        clocks = self.clocks
        self.charge(clocks.costs.listening * len(self.lines))
        while clocks.next_until(clocks.driver):  # what has come while the driver was busy
            pass
        until = clocks.driver + timeout
        while not self.inbox and clocks.next_until(until):
            pass
        clocks.driver = max(clocks.driver, clocks.now if self.inbox else until)
        found, self.inbox = self.inbox, []
        self.since = clocks.measure()
        for _, message in found:
            self.charge(clocks.costs.message + clocks.packing(message))
        return found

    def dismiss(self, worker: int) -> None:
        del self.lines[worker]


def simulated(
    recording: Recording,
    workers: int,
    costs: CrewCosts,
    stretch: float = 1.0,
    measure: Callable[[], float] = time.thread_time,
) -> Simulated:
    """What a search would take if each execution took so many times as long as it did."""
    clocks = Clocks(recording, costs, stretch, measure)

    def begin(task: Task, seconds: float) -> tuple[Result, list[Task]]:
        position = recording.position_at(seconds / stretch)
        clocks.driver = recording.when(position) * stretch
        left = recording.left(position, len(recording))
        return Result(algorithm="pop", complete=position), [
            task_from(recording, start) for start in left
        ]

    crew = SimulatedCrew(clocks)
    whole = WholeSearch(
        "pop",
        begin,
        lambda learnt, modules: crew,
        jobs=workers,
        stops=False,
        max_executions=None,
        time_limit=None,
        memory_limit=None,
        begun=time.perf_counter(),
        progress=lambda result: None,
        files=Files(),
    )
    ledger = whole.begun_here(Task("pop"))
    crew.since = measure()
    reason = Driver(ledger, crew, workers, whole.watch, crew.clock).run()
    assert not reason and ledger.total().executions == len(recording)
    everyone = workers * clocks.driver
    alone = recording.seconds * stretch
    return Simulated(
        recording.name,
        alone,
        workers,
        clocks.driver,
        (workers * min(ALONE, alone) + clocks.started) / everyone,
        clocks.worked / everyone,
        clocks.handled / everyone,
        clocks.driving / clocks.driver,
    )


def render(found: list[Simulated]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("search", no_wrap=True)
    titles = "s alone,workers,s together,efficiency,beginning,exploring,tasks,idle,driver busy"
    for title in titles.split(","):
        table.add_column(title, justify="right")
    for one in found:
        idle = max(0.0, 1 - one.begun - one.worked - one.handled)
        parts = (one.begun, one.worked, one.handled, idle, one.driving)
        table.add_row(
            one.name,
            f"{one.alone:,.0f}",
            f"{one.workers:,}",
            f"{one.seconds:,.2f}",
            f"{one.efficiency:.2f}",
            *[f"{part:.0%}" for part in parts],
        )
    return table

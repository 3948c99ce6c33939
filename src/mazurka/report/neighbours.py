"""Runs executions that differ little from one that failed: on the engine's contract alone."""

from time import process_time
from typing import Final, NamedTuple

from mazurka.engine.event import Event
from mazurka.engine.program import COMPLETE, NOBODY, PICKED, Answer, Program, Request, Watcher

# A bound on the effort, in steps rather than seconds: so that it is the same on every machine.
MOST_RUNS: Final = 400
MOST_STEPS: Final = 12_000
LEAST_RUNS: Final = 120  # of an execution that is long, though they take more steps
MOST_SECONDS: Final = 5.0  # of the processor: for programs that take long from step to step

Wish = list[tuple[int, int]]  # threads in the order of their steps, each with what it chooses


class Point(NamedTuple):
    """A moment of a run: who could make the next step, and who did."""

    able: list[int]
    picked: int


class Run(NamedTuple):
    """An execution that was made."""

    wish: Wish  # that makes it again
    points: list[Point]  # one before each step
    key: str  # in which way it fails; "" if it does not
    passes: bool  # it ran to its end, and all is well
    events: list[Event]
    waiting: set[int]  # the threads that wait at its end

    @property
    def preemptions(self) -> int:
        """How many there are, by the count of searches with bounds: leaving a thread counts if it
        goes on later, or comes to wait. Another one may have been left for good."""
        last = {point.picked: place for place, point in enumerate(self.points)}
        return sum(
            is_preemption(self.points, place)
            and (last[left := self.points[place - 1].picked] > place or left in self.waiting)
            for place in range(len(self.points))
        )

    @property
    def cost(self) -> tuple[int, int, int]:
        """The less, the easier to read: preemptions, steps, switches."""
        switches = sum(
            one.picked != other.picked
            for one, other in zip(self.points, self.points[1:], strict=False)
        )
        return self.preemptions, len(self.points), switches


def is_preemption(points: list[Point], place: int) -> bool:
    """Whether a thread stopped before a step that could have gone on."""
    if place == 0:
        return False
    before = points[place - 1].picked
    return points[place].picked != before and before in points[place].able


class Guide(Watcher):
    """Lets threads step in the order of a wish, as far as they can; after that every thread goes on
    as long as it can."""

    def __init__(self, wish: Wish, events: list[Event]) -> None:
        self.wish = wish
        self.events = events
        self.next = 0  # the first step of the wish that was not made
        self.made: set[int] = set()  # those after it that were
        self.choice = 0
        self.recent = NOBODY
        self.points: list[Point] = []

    def keeps_asleep(self, thread: int, location: int) -> bool:
        return False

    def ends_run(self) -> bool:
        return False

    def pick(self, threads: list[int]) -> int:
        picked = self.wished(threads)
        if picked == NOBODY:
            self.choice = 0
            picked = self.recent if self.recent in threads else min(threads)
        del self.points[len(self.events) :]  # nobody could go on, and somebody is to time out
        self.points.append(Point(threads, picked))
        self.recent = picked
        return picked

    def wished(self, threads: list[int]) -> int:
        """The first thread of the wish that can step."""
        while self.next in self.made:
            self.made.discard(self.next)
            self.next += 1
        passed: set[int] = set()
        for place in range(self.next, len(self.wish)):
            thread, choice = self.wish[place]
            if place in self.made or thread in passed:
                continue
            if thread in threads:
                self.made.add(place)
                self.choice = choice
                return thread
            passed.add(thread)
        return NOBODY

    def choose(self, alternatives: int) -> int:
        return self.choice if self.choice < alternatives else 0


class Neighbours:
    """Runs neighbours of a failing execution, as many as may be."""

    def __init__(self, program: Program, orders_writes: bool, length: int) -> None:
        self.program = program
        self.orders_writes = orders_writes
        self.runs = 0
        self.steps = 0
        self.most_runs = MOST_RUNS
        self.most_steps = max(MOST_STEPS, LEAST_RUNS * length)
        self.until = process_time() + MOST_SECONDS
        self.answer = Answer()  # of the latest run

    def is_spent(self) -> bool:
        return (
            self.runs >= self.most_runs
            or self.steps >= self.most_steps
            or process_time() >= self.until
        )

    def run(self, wish: Wish) -> Run:
        events: list[Event] = []
        guide = Guide(wish, events)
        request = Request(events)
        request.policy = PICKED
        request.watcher = guide
        request.all_stand = True
        request.lets_time_out = True
        request.orders_writes = self.orders_writes
        answer = self.program.run(request)
        self.answer = answer
        self.runs += 1
        self.steps += len(events)
        points = guide.points[: len(events)]
        made = [(event.thread, event.choice) for event in events]
        key = f"{self.program.ending()}; {answer.race}" if answer.failed else ""
        passes = answer.status == COMPLETE and not answer.failed
        waiting = {event.thread for event in answer.waiting}
        return Run(made, points, key, passes, events, waiting)

"""Data races: two threads access an ordinary variable, one of them writes, and nothing orders them.

Used when ordinary accesses are no steps of the search. What happens before what is known from the
steps of the running execution, as vector clocks: a thread that makes a step learns all that was
known at the earlier steps that it depends on. Of each variable is kept who last wrote it, and who
has read it since. The first race of an execution is noted; what comes after it is not looked at.
"""

from mazurka.engine.clock import joined
from mazurka.engine.event import Event
from mazurka.engine.operation import ADD, ALL, JOIN, NONE, NOTHING, READ, SPAWN, WRITE, Footprint
from mazurka.python.runtime.names import where_now
from mazurka.python.runtime.thread import Cell

Clock = list[int]  # for each other thread, how many of its steps are known; never changed


class Step:
    """A step of a thread, and what that knew then."""

    def __init__(self, thread: int, number: int, clock: Clock) -> None:
        self.thread = thread
        self.number = number
        self.clock = clock


class Synchronisation:
    """The steps on one location that later steps there may depend on."""

    def __init__(self) -> None:
        self.write: Step | None = None
        self.reads: list[Step] = []  # after that, the latest of each thread
        self.adds: list[Step] = []

    def learnt(self, mode: int, thread: int, clock: Clock) -> Clock:
        """What a thread knows when it makes a step."""
        if self.write is not None:
            clock = learnt(clock, thread, self.write)
        if mode != READ:
            for step in self.reads:
                clock = learnt(clock, thread, step)
        if mode != ADD:
            for step in self.adds:
                clock = learnt(clock, thread, step)
        return clock

    def keep(self, mode: int, step: Step) -> None:
        if mode == READ:
            self.reads = [*steps_of_others(self.reads, step), step]
        elif mode == ADD:
            self.adds = [*steps_of_others(self.adds, step), step]
        else:
            self.write = step
            if self.reads:
                self.reads = []
            if self.adds:
                self.adds = []


class Access:
    """An access to an ordinary variable."""

    def __init__(self, thread: int, after: int, position: int, mode: int, part: int) -> None:
        self.thread = thread
        self.after = after  # so many steps of its thread
        self.position = position  # and of all threads
        self.mode = mode
        self.part = part
        self.code: object = None
        self.instruction = 0


class Race:
    """Two accesses to a location that nothing orders."""

    def __init__(self, location: int, first: Access, second: Access) -> None:
        self.location = location
        self.first = first
        self.second = second


class History:
    """The accesses that a later one may be in a race with: the last write, and reads after it."""

    def __init__(self) -> None:
        self.write: Access | None = None
        self.reads: list[Access] = []

    def knows(self, thread: int, after: int, mode: int) -> bool:
        """Whether the thread has done the same since its latest step."""
        write = self.write
        if write is not None and write.thread == thread and write.after == after:
            return True
        if mode == WRITE:
            return False
        return any(read.thread == thread and read.after == after for read in self.reads)

    def unordered(self, access: Access, clock: Clock) -> Access | None:
        """An earlier access that is in a race with this one."""
        write = self.write
        if write is not None and not is_known(write, access.thread, clock):
            return write
        if access.mode == WRITE:
            for read in self.reads:
                if not is_known(read, access.thread, clock):
                    return read
        return None

    def add(self, access: Access, clock: Clock) -> None:
        """Add an access that is in no race; later ones need not look at those that it knows."""
        if access.mode == WRITE:
            self.write = access
            self.reads = []
        else:
            self.reads = [read for read in self.reads if not is_known(read, access.thread, clock)]
            self.reads.append(access)


class Place:
    """An attribute or variable, or the items of a container: by their numbers, and its structure
    under NOTHING."""

    def __init__(self) -> None:
        self.whole = History()
        self.parts: dict[int, History] = {}

    def history_of(self, part: int) -> History:
        if part == ALL:
            return self.whole
        history = self.parts.get(part)
        if history is None:
            history = History()
            self.parts[part] = history
        return history

    def unordered(self, part: int, history: History, access: Access, clock: Clock) -> Access | None:
        """An earlier access in a race with this one, to a part with this history or to one that
        it overlaps with."""
        found = history.unordered(access, clock)
        if part != ALL:
            return found or self.whole.unordered(access, clock)
        for other in self.parts.values():
            found = found or other.unordered(access, clock)
        return found


class RaceDetector:
    """Watches the running execution."""

    def __init__(self) -> None:
        self.begin(False)

    def begin(self, notes_lines: bool) -> None:
        """A new execution."""
        self.notes_lines = notes_lines  # it takes time to find them
        self.numbers: list[int] = [0]  # of the latest steps of the threads
        self.clocks: list[Clock] = [[]]
        self.steps: dict[int, Synchronisation] = {}  # by location
        self.places: dict[Cell, Place] = {}
        self.race: Race | None = None
        self.running = 0  # the thread that made the latest access,
        self.latest = -1  # the location of that,
        self.accesses = 0  # and how many it has made since the latest step

    def stepped(self, event: Event) -> None:
        """A thread makes a step."""
        self.accesses = 0
        thread = event.thread
        number = self.numbers[thread] + 1
        self.numbers[thread] = number
        clock = self.clocks[thread]
        location = event.location
        if location >= 0:
            steps = self.steps.get(location)
            if steps is None:
                steps = Synchronisation()
                self.steps[location] = steps
            clock = steps.learnt(event.mode, thread, clock)
            self.clocks[thread] = clock
            steps.keep(event.mode, Step(thread, number, clock))
        elif event.kind == SPAWN:
            self.begin_thread(event.choice, Step(thread, number, clock))
        elif event.kind == JOIN:
            other = event.choice
            end = Step(other, self.numbers[other] + 1, self.clocks[other])
            self.clocks[thread] = learnt(clock, thread, end)

    def begin_thread(self, thread: int, spawn: Step) -> None:
        while len(self.clocks) <= thread:
            self.clocks.append([])
            self.numbers.append(0)
        self.clocks[thread] = learnt([], thread, spawn)

    def accessed(self, thread: int, cell: Cell, footprint: Footprint, position: int) -> None:
        """A thread accesses an ordinary variable or container."""
        if thread != self.running:
            self.running = thread
            self.accesses = 0
        self.accesses += 1
        self.latest = cell.location
        if self.race is not None:
            return
        place = self.places.get(cell)
        if place is None:
            place = Place()
            self.places[cell] = place
        mode, structure, part = footprint
        after = self.numbers[thread]
        history = place.history_of(part)
        if not history.knows(thread, after, mode):
            access = Access(thread, after, position, mode, part)
            self.look(place, part, history, access, cell.location)
        if structure != NONE and part >= 0:
            history = place.history_of(NOTHING)
            if not history.knows(thread, after, mode):
                access = Access(thread, after, position, mode, part)
                self.look(place, NOTHING, history, access, cell.location)

    def look(
        self, place: Place, part: int, history: History, access: Access, location: int
    ) -> None:
        """Look for a race of an access to a part; keep the access if there is none."""
        if self.notes_lines:
            access.code, access.instruction = where_now()
        clock = self.clocks[access.thread]
        earlier = place.unordered(part, history, access, clock)
        if earlier is not None:
            self.race = Race(location, earlier, access)
            return
        history.add(access, clock)
        if part == ALL and access.mode == WRITE and place.parts:
            place.parts = {}


def steps_of_others(steps: list[Step], latest: Step) -> list[Step]:
    """Those that the latest step of a thread does not stand for."""
    return [step for step in steps if step.thread != latest.thread]


def is_known(access: Access, thread: int, clock: Clock) -> bool:
    """Whether an access happens before what a thread with this clock does now."""
    other = access.thread
    return other == thread or (other < len(clock) and clock[other] > access.after)


def learnt(clock: Clock, thread: int, step: Step) -> Clock:
    """What a thread with this clock knows after a step of any thread."""
    other = step.thread
    if other == thread or (other < len(clock) and clock[other] >= step.number):
        return clock
    return joined(clock, step.clock, other, step.number)

"""Data races: two threads access an ordinary variable, one of them writes, and nothing orders them.

Used when ordinary accesses are no steps of the search. What happens before what is known from the
steps of the running execution, as vector clocks: a thread that makes a step learns all that was
known at the earlier steps that it depends on. Of each variable is kept who last wrote it, and who
has read it since. The first race of an execution is noted; what comes after it is not looked at.
"""

from mazurka.core.event import Event
from mazurka.core.operation import ADD, ALL, JOIN, NONE, NOTHING, READ, SPAWN, WRITE, Footprint
from mazurka.program.registry import where_now
from mazurka.program.thread import Cell

Clock = list[int]  # for each thread, how many of its steps are known


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

    def knows(self, access: Access) -> bool:
        """Whether the thread has done the same since its latest step."""
        write = self.write
        if write is not None and write.thread == access.thread and write.after == access.after:
            return True
        if access.mode == WRITE:
            return False
        for read in self.reads:
            if read.thread == access.thread and read.after == access.after:
                return True
        return False

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

    def unordered(self, part: int, access: Access, clock: Clock) -> Access | None:
        """An earlier access to a part, or to one that it overlaps with, in a race with this one."""
        found = self.whole.unordered(access, clock)
        if part != ALL:
            return found or self.history_of(part).unordered(access, clock)
        for history in self.parts.values():
            found = found or history.unordered(access, clock)
        return found


class Synchronisation:
    """What was known at the steps on one location that later steps there may depend on."""

    def __init__(self) -> None:
        self.writes: Clock = []
        self.reads: Clock = []
        self.adds: Clock = []

    def order(self, mode: int, clock: Clock) -> None:
        """A thread makes a step: it learns, and others will learn from it."""
        learn(clock, self.writes)
        if mode != READ:
            learn(clock, self.reads)
        if mode != ADD:
            learn(clock, self.adds)
        if mode == READ:
            learn(self.reads, clock)
        elif mode == ADD:
            learn(self.adds, clock)
        else:
            self.writes = clock.copy()
            self.reads = []
            self.adds = []


class RaceDetector:
    """Watches the running execution."""

    def __init__(self) -> None:
        self.begin()

    def begin(self) -> None:
        """A new execution."""
        self.clocks: list[Clock] = []
        self.steps: dict[int, Synchronisation] = {}  # by location
        self.places: dict[Cell, Place] = {}
        self.race: Race | None = None
        self.running = 0  # the thread that made the latest access,
        self.latest = -1  # the location of that,
        self.accesses = 0  # and how many it has made since the latest step

    def clock_of(self, thread: int) -> Clock:
        clocks = self.clocks
        while len(clocks) <= thread:
            clocks.append([0] * (len(clocks) + 1))
        return clocks[thread]

    def stepped(self, event: Event) -> None:
        """A thread makes a step."""
        self.accesses = 0
        thread = event.thread
        clock = self.clock_of(thread)
        clock[thread] += 1
        if event.location >= 0:
            steps = self.steps.get(event.location)
            if steps is None:
                steps = Synchronisation()
                self.steps[event.location] = steps
            steps.order(event.mode, clock)
        elif event.kind == SPAWN:
            learn(self.clock_of(event.choice), clock)
        elif event.kind == JOIN:
            learn(clock, self.clock_of(event.choice))
            clock[event.choice] += 1  # what it did after its last step is known, too

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
        clock = self.clock_of(thread)
        access = Access(thread, clock[thread], position, mode, part)
        self.look(place, part, access, cell.location)
        if structure != NONE and part >= 0:
            self.look(place, NOTHING, access, cell.location)

    def look(self, place: Place, part: int, access: Access, location: int) -> None:
        """Look for a race of an access to a part; keep the access if there is none."""
        history = place.history_of(part)
        if history.knows(access):
            return
        access.code, access.instruction = where_now()
        clock = self.clocks[access.thread]
        earlier = place.unordered(part, access, clock)
        if earlier is not None:
            self.race = Race(location, earlier, access)
            return
        history.add(access, clock)
        if part == ALL and access.mode == WRITE:
            place.parts = {}


def is_known(access: Access, thread: int, clock: Clock) -> bool:
    """Whether an access happens before what a thread with this clock does now."""
    other = access.thread
    return other == thread or (other < len(clock) and clock[other] > access.after)


def learn(clock: Clock, other: Clock) -> None:
    """Add to a clock what another one knows."""
    while len(clock) < len(other):
        clock.append(0)
    for thread in range(len(other)):
        if other[thread] > clock[thread]:
            clock[thread] = other[thread]

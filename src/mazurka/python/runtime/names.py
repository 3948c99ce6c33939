"""Who is who: names of threads and objects that are the same in every execution.

A thread is its parent and which child it is; an object is the thread that made it and that thread's
count. Searches compare events of different executions, so an address or the order of arrival would
not do.
"""

from bisect import bisect_right
from types import CodeType

from mazurka.engine.event import NO_PLACE, Event
from mazurka.engine.operation import CHOOSE, SPAWN, VERBS
from mazurka.python.check import RUNNING
from mazurka.python.runtime.thread import Cell, Location, Thread
from mazurka.python.source import here


def where_now() -> tuple[object, int]:
    """The user's code object that is running, and the instruction in it."""
    frame = here()
    return (None, 0) if frame is None else (frame.f_code, frame.f_lasti)


def lineage_of(thread: Thread) -> list[int]:
    return thread.lineage


class Places:
    """Places in the source that steps were made at, by number: every code object has as many as its
    instructions have bytes."""

    def __init__(self) -> None:
        self.codes: list[CodeType] = []
        self.first: list[int] = []  # for each code, the number of its first instruction
        self.known: dict[int, int] = {}  # the same by the id of the code
        self.end = 0

    def first_in(self, code: CodeType) -> int:
        """The number of the first instruction of a code object."""
        first = self.known.get(id(code), -1)
        if first < 0:
            first = self.end
            self.known[id(code)] = first
            self.first.append(first)
            self.codes.append(code)  # kept, so that ids are unique
            self.end = first + len(code.co_code)
        return first

    def number(self, code: object, instruction: int) -> int:
        """The number of a place; NO_PLACE if there is no code."""
        if not isinstance(code, CodeType):
            return NO_PLACE
        return self.first_in(code) + instruction

    def at(self, number: int) -> tuple[object, int]:
        """The code object and instruction with a number; none if there is no place."""
        if number < 0:
            return None, 0
        place = bisect_right(self.first, number) - 1
        return self.codes[place], number - self.first[place]


class Names:
    def __init__(self) -> None:
        self.places = Places()
        self.threads: list[Thread] = []
        self.ranked = False  # whether their ranks are known
        self.locations: list[Location] = []
        self.outside: dict[int, int] = {}  # serial of an object made outside -> its location
        self.parts: dict[tuple[int, int], int] = {}  # the locations of numbered parts of objects
        self.refreshing = False  # whether to look again at objects that are known

    def forget(self) -> None:
        """Begin with a new program, whose main thread is number 0."""
        self.threads[:] = [Thread(0, "0")]
        self.ranked = False
        self.locations = []
        self.outside = {}
        self.parts = {}

    # Objects

    def register_outside(self, cell: Cell) -> None:
        """An object that is made outside executions gets its location when it is first used."""
        RUNNING.made_outside += 1  # no two have the same, as several checks may use them
        cell.serial = RUNNING.made_outside
        cell.made_at = where_now()

    def register(self, cell: Cell, thread: Thread) -> None:
        """Give a new object its location."""
        order = thread.objects
        thread.objects = order + 1
        cell.epoch = thread.epoch
        if order == len(thread.object_ids):
            name = f"{thread.name}#{order + 1}"
            thread.object_ids.append(self.new_location(name, cell))
        elif self.refreshing:
            self.locations[thread.object_ids[order]] = self.locations.pop(
                self.new_location(f"{thread.name}#{order + 1}", cell)
            )
        cell.location = thread.object_ids[order]
        cell.known = self.locations[cell.location]

    def adopt_from_outside(self, cell: Cell, epoch: int) -> None:
        """First use in an execution of an object that was made outside: begin afresh with it."""
        if cell.serial not in self.outside:
            self.outside[cell.serial] = self.new_location(f"outside#{cell.serial}", cell)
        cell.location = self.outside[cell.serial]
        cell.known = self.locations[cell.location]
        cell.value = cell.initial
        cell.epoch = epoch

    def register_part(self, cell: Cell, whole: Cell, number: int) -> None:
        """Give a numbered part of an object its location: the same, whichever thread makes it."""
        key = (whole.location, number)
        if key not in self.parts:
            known = self.locations[whole.location]
            self.parts[key] = self.new_location(f"{known.name}[{number}]", cell)
        cell.location = self.parts[key]
        cell.known = self.locations[cell.location]
        cell.epoch = whole.epoch

    def new_location(self, name: str, cell: Cell) -> int:
        part_of = -1 if cell.part_of is None else cell.part_of.location
        location = Location(name, cell.name, type(cell), part_of)
        if cell.serial:
            location.code, location.instruction = cell.made_at
        else:
            location.code, location.instruction = where_now()
        self.locations.append(location)
        return len(self.locations) - 1

    # Threads

    def next_child(self, parent: Thread) -> int:
        """The id of the child that a thread is about to spawn."""
        if parent.children == len(parent.child_ids):
            self.new_child(parent)
        return parent.child_ids[parent.children]

    def new_child(self, parent: Thread) -> None:
        """Give an id and a name to the next child that was never seen before."""
        parent.child_ids.append(len(self.threads))
        name = f"{parent.name}.{len(parent.child_ids)}"
        self.threads.append(Thread(len(self.threads), name))
        self.ranked = False

    def precedes(self, thread: int, other: int) -> bool:
        """Whether a thread comes before another one by their lineages."""
        if not self.ranked:
            for rank, known in enumerate(sorted(self.threads, key=lineage_of)):
                known.rank = rank
            self.ranked = True
        return self.threads[thread].rank < self.threads[other].rank

    def thread_called(self, name: str) -> int:
        """The id of a thread by its name, which may be known before it is ever spawned."""
        thread = self.threads[0]
        for order in name.split(".")[1:]:
            while len(thread.child_ids) < int(order):
                self.new_child(thread)
            thread = self.threads[thread.child_ids[int(order) - 1]]
        return thread.id

    # Events

    def place_name(self, event: Event) -> str:
        """What an event works on: an object, or a thread."""
        if event.location >= 0:
            return self.locations[event.location].name
        return "" if event.kind == CHOOSE else self.threads[event.choice].name

    def part_name(self, event: Event) -> str:
        """Which item of a container an event works on, if on one."""
        if event.part < 0 or event.location < 0:
            return ""
        keys = self.locations[event.location].keys
        return repr(keys[event.part]) if keys is not None else str(event.part)

    def operation_name(self, event: Event) -> str:
        """An operation as schedules name it."""
        place = "" if event.kind == SPAWN else self.place_name(event)
        if event.location >= 0 and self.locations[event.location].owner is not None:
            place = self.locations[event.location].label or ""  # an ordinary object
        if place.startswith("outside"):
            place = "outside"  # its number depends on what else the process made
        return f"{VERBS[event.kind]} {place}".strip()

"""Events: operations that happened, or that are known to happen next."""

from typing import Final

from mazurka.engine.clock import NO_CLOCK
from mazurka.engine.operation import ALL, NONE, WRITE, Footprint


class Event:
    """One step of one thread.

    The first group of fields names the step and is known before it happens; the second is what the
    run found; the third is filled in by the happens-before order.
    """

    def __init__(
        self, thread: int, kind: int, location: int, mode: int, first: object, second: object
    ) -> None:
        self.thread = thread
        self.kind = kind
        self.location = location  # -1: none
        self.mode = mode
        self.structure = NONE  # how it accesses the structure of a container
        self.part = ALL
        self.first = first
        self.second = second
        self.choice = 0  # the alternative taken; for spawn and join, the other thread
        self.alternatives = 1

        self.before: object = None
        self.after: object = None
        self.view: object = None  # what it found of a container, for the front end
        self.is_vague = False  # whether its data are placeholders, until it is run
        self.place = NO_PLACE  # where in the source: a number that the front end can name
        self.sleep: list[Event] = NO_EVENTS
        self.enabled: list[int] | None = None

        self.position = 0  # in the execution
        self.index = 0  # in the thread, from 1
        self.clock: list[int] = NO_CLOCK  # for every other thread, how many events came before
        self.races: list[Event] = NO_EVENTS
        self.previous: Event | None = None  # of the same thread, else the event that spawned it
        self.previous_access: Event | None = None
        self.previous_change: Event | None = None


NO_PLACE: Final = -1
NO_EVENTS: Final[list[Event]] = []


def dependent(one: Event, other: Event) -> bool:
    """The dependence relation, for every algorithm: writes against anything, reads and adds
    against each other; two reads commute, and so do two adds, and accesses to different parts."""
    if one.thread == other.thread:
        return True
    return (
        one.location == other.location
        and one.mode != NONE
        and conflicts(one.mode, one.structure, one.part, other)
    )


def conflicts(mode: int, structure: int, part: int, other: Event) -> bool:
    """Whether an access to the location of another one depends on it."""
    if mode == other.mode and mode != WRITE:
        return False
    if part == other.part or part == ALL or other.part == ALL:
        return True
    return (structure == WRITE and other.structure != NONE) or (
        structure != NONE and other.structure == WRITE
    )


def changes_all(event: Event) -> bool:
    """Whether every later access to its location happens after an event."""
    return event.mode == WRITE and event.part == ALL


def footprint_of(event: Event) -> Footprint:
    return event.mode, event.structure, event.part


def copy_of(event: Event) -> Event:
    """The same step in another execution that begins with all that happens before it."""
    copy = Event(event.thread, event.kind, event.location, event.mode, event.first, event.second)
    copy.structure = event.structure
    copy.part = event.part
    copy.view = event.view
    copy.is_vague = event.is_vague
    copy.choice = event.choice
    copy.alternatives = event.alternatives
    copy.place = event.place
    copy.index = event.index
    copy.clock = event.clock
    return copy


def weak_initial(event: Event, backwards: list[Event]) -> int:
    """Whether `event` could as well come first in a sequence, which is given last event first.

    Gives its place in the list, -1 when it cannot come first, and the list's length when it is not
    in the sequence but independent of all of it (Definition 3 of the Awaiting paper).
    """
    place = len(backwards) - 1
    while place >= 0:
        other = backwards[place]
        if other.thread == event.thread:
            return place if other.choice == event.choice else -1
        if dependent(event, other):
            return -1
        place -= 1
    return len(backwards)

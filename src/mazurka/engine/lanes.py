"""The accesses to one location, by what they access and by whom.

Where all accesses are to all of a location, those that an event depends on are the last ones: a
write is ordered with everything. Where they are to different parts, or are adds, there may be any
number of others in between. So these are kept apart: a *lane* for each part, one for the structure,
one for accesses to all parts; and there a stack for each thread and each way to access.
"""

from typing import Final

from mazurka.engine.event import Event
from mazurka.engine.operation import ADD, ALL, NONE, NOTHING, WRITE

STRUCTURE: Final = NOTHING  # the lane of those that access it
EVERYTHING: Final = -3  # the lane of all accesses
MODES: Final = 4  # there are so many

Lane = dict[int, list[Event]]  # by thread and mode


class Lanes:
    """The accesses to one location in the current execution."""

    def __init__(self, latest: Event | None) -> None:
        self.lanes: dict[int, Lane] = {}
        earlier: list[Event] = []
        while latest is not None:
            earlier.append(latest)
            latest = latest.previous_access
        earlier.reverse()
        for event in earlier:
            self.append(event)

    def append(self, event: Event) -> None:
        """The next access."""
        self.put(EVERYTHING, event, event.mode)
        if event.part != NOTHING:
            self.put(event.part, event, event.mode)
        if event.structure != NONE:
            self.put(STRUCTURE, event, event.structure)

    def put(self, lane: int, event: Event, mode: int) -> None:
        stacks = self.lanes.get(lane)
        if stacks is None:
            stacks = {}
            self.lanes[lane] = stacks
        key = event.thread * MODES + mode
        stack = stacks.get(key)
        if stack is None:
            stacks[key] = [event]
        else:
            stack.append(event)

    def pop(self, event: Event) -> None:
        """Take the last access off."""
        key = event.thread * MODES
        self.lanes[EVERYTHING][key + event.mode].pop()
        if event.part != NOTHING:
            self.lanes[event.part][key + event.mode].pop()
        if event.structure != NONE:
            self.lanes[STRUCTURE][key + event.structure].pop()

    def latest_before(self, event: Event) -> list[Event]:
        """Of each other thread the last accesses that an event conflicts with, the latest first:
        all other ones that it conflicts with happen before these."""
        found: list[Event] = []
        if event.part == ALL:
            self.look_in(EVERYTHING, event, event.mode, found)
        else:
            self.look_in(ALL, event, event.mode, found)
            if event.part != NOTHING:
                self.look_in(event.part, event, event.mode, found)
            if event.structure != NONE:
                self.look_in(STRUCTURE, event, event.structure, found)
        if len(found) > 1:
            found.sort(key=position_of, reverse=True)
        return found

    def look_in(self, lane: int, event: Event, mode: int, found: list[Event]) -> None:
        stacks = self.lanes.get(lane)
        if stacks is not None:
            for key, stack in stacks.items():
                conflicts = mode == WRITE or key % MODES != mode
                if conflicts and stack and key // MODES != event.thread:
                    found.append(stack[-1])

    def has_others(self, event: Event) -> bool:
        """Whether other threads access the item that an event accesses, or more than an item."""
        for lane in (event.part, ALL, STRUCTURE):
            for key, stack in self.lanes.get(lane, {}).items():
                if stack and key // MODES != event.thread:
                    return True
        return False

    def adds(self) -> list[list[Event]]:
        """All adds, thread by thread."""
        lane = self.lanes[EVERYTHING]
        return [stack for key, stack in lane.items() if key % MODES == ADD and stack]


def are_needed_for(event: Event) -> bool:
    """Whether there may be accesses to the location of an event that it does not conflict with,
    though it changes that."""
    return event.mode == ADD or event.part != ALL or event.structure != NONE


def position_of(event: Event) -> int:
    return event.position

"""The boundary between a search and the program that it steers: one call an execution."""

from collections.abc import Sequence
from typing import Final

from mazurka.engine.event import Event
from mazurka.engine.operation import Footprint
from mazurka.engine.result import Failure, NamedStep

# How an execution ended.
COMPLETE: Final = 0  # every thread ran to its end
BLOCKED: Final = 1  # some thread can never go on
REDUNDANT: Final = 2  # only threads in the sleep set could go on: explored before
CUT: Final = 3  # broken off, as it goes beyond a bound


class Guide:
    """Watches a run while it goes on, and may keep threads from making their next step, or pick the
    one that does."""

    def __init__(self) -> None:
        self.picks = False  # whether it does that
        self.leftmost = False  # whether the thread with the lowest number goes on, always,
        self.first = -1  # but for the first step, which this one makes if it can
        self.may_stop = False  # whether it may break off a run
        self.watching = False  # whether any location is to be watched

    def performed(self, event: Event) -> None:
        """A new event has come."""
        raise NotImplementedError

    def watches(self, location: int) -> bool:
        """Whether some thread might have to sleep rather than access a location now."""
        raise NotImplementedError

    def asleep(self, thread: int, location: int, footprint: Footprint) -> bool:
        """Whether a thread must not access a location that is watched in this way now."""
        raise NotImplementedError

    def stops(self) -> bool:
        """Whether the run ends here."""
        raise NotImplementedError

    def pick(self, threads: list[int]) -> int:
        """Which of the threads that can makes the next step."""
        raise NotImplementedError

    def choose(self, alternatives: int) -> int:
        """Which alternative the thread that was picked takes."""
        raise NotImplementedError


class Execution:
    """A program that can be run again and again from its initial state, and steered."""

    def __init__(self) -> None:
        self.events: list[Event] = []  # of the latest run
        self.status = COMPLETE
        self.waiting: list[Event] = []  # the operations that its blocked threads stand before
        self.sleeping: list[Event] = []  # and those of its sleeping threads
        self.polled: list[int] = []  # the locations that threads look at which wait in loops
        self.failed = False
        self.doubt = ""  # why something may be missed where the execution was left out
        self.bound = ""  # the bound that has cut it short, if one has
        self.race: str | None = (
            None  # a data race in it: its variable; after `failure`, also both lines
        )
        self.guide: Guide | None = None
        self.takes_conditions = True  # whether the search does: see ConditionMet

    def run(self, keep: int, path: list[Event], sleep: list[Event]) -> None:
        """Run the program once more.

        The first `keep` events of the latest run are repeated; then come the steps of `path`; from
        there on the program goes its own way, but for the threads in the sleep set, which is
        `sleep` just before the first step of `path`, and those that the guide keeps asleep. Events
        are replaced from `keep` on.
        """
        raise NotImplementedError

    def failure(self) -> Failure:
        """The account of what went wrong in the latest run (only when `failed`)."""
        raise NotImplementedError

    def ending(self) -> str:
        """How the latest run ended, in words that are the same if the program repeats itself."""
        raise NotImplementedError

    def changed(self, first: str, second: str) -> Failure:
        """The account of a program that ended in two ways under one schedule."""
        raise NotImplementedError

    def outcome(self) -> object:
        """What the program returned in the latest run."""
        raise NotImplementedError

    def steps_of(self, events: list[Event]) -> list[NamedStep]:
        """Events as steps that are named alike in every process."""
        raise NotImplementedError

    def path_of(self, steps: Sequence[NamedStep]) -> list[Event]:
        """The path that makes these steps."""
        raise NotImplementedError

    def standing(self, thread: int) -> Event:
        """The operation that a thread stands before in the running execution, as it is now."""
        raise NotImplementedError

    def unfinished(self) -> dict[int, int]:
        """The threads that have not ended, each with the one that it is about to join, or -1."""
        raise NotImplementedError

    def excludes(self, events: list[Event], condition: Event) -> bool:
        """Whether a condition on symbolic values cannot be true, given what some events decided."""
        raise NotImplementedError

    def precedes(self, thread: int, other: int) -> bool:
        """An order of the threads that is the same in every process."""
        raise NotImplementedError

    def bring_together(self, thread: int, other: int) -> None:
        """Let two threads run late, and one after the other, where the search does not say who
        comes next: if they race, little is left to be run again when the race is reversed."""
        raise NotImplementedError

    def stable_names(self, event: Event) -> tuple[str, str]:
        """Names of an event's thread and location that are the same in every search."""
        raise NotImplementedError

    def part_name(self, event: Event) -> str:
        """The part of its location that an event accesses, named alike in every search."""
        raise NotImplementedError

"""An execution that failed, with what is known of it: what the names of bugs are found by."""

import os
import re
from dataclasses import dataclass, field
from typing import Final

from mazurka.engine.event import Event
from mazurka.engine.operation import ACQUIRE, ADD, ALL, NONE, READ, RELEASE, TRY_ACQUIRE, WRITE
from mazurka.engine.result import Failure, Step
from mazurka.engine.trace import CONSTANT, OWN

DISTANT: Final = 1000  # of a pair of steps: much else is the other way round, too
CHECK: Final = re.compile(
    r"^\s*(\}?\s*else\s+)?(if|elif|while|assert|until|for)\b|\bif\b.*\belse\b|\?"
)


@dataclass
class Found:
    """What the search for a name has found."""

    bug: str
    sentence: str
    steps: tuple[int, ...]  # those that decide
    pair: tuple[int, int] | None = None  # the race that best shows it


@dataclass
class Case:
    failure: Failure
    events: list[Event]
    # Steps in conflict that come the other way round in an execution that passes, each with how
    # much else is the other way round there.
    pairs: dict[tuple[int, int], int]
    choices: list[int] = field(default_factory=list)  # taken otherwise, it passes
    missed: list[int] = field(default_factory=list)  # had who waits come before these, it passes

    @property
    def steps(self) -> list[Step]:
        return self.failure.steps

    def event(self, place: int) -> Event | None:
        position = self.steps[place].position
        return self.events[position] if 0 <= position < len(self.events) else None

    def accesses(self, place: int) -> bool:
        """Whether a step is an access to something, and not a lock or the like."""
        event = self.event(place)
        if event is None or event.location < 0 or not self.steps[place].access:
            return False
        return not self.is_lock(place) and self.steps[place].group in ("", OWN, CONSTANT)

    def is_lock(self, place: int) -> bool:
        event = self.event(place)
        return event is not None and event.kind in (ACQUIRE, TRY_ACQUIRE, RELEASE)

    def same(self, one: int, other: int) -> bool:
        """Whether two steps access the same."""
        first, second = self.event(one), self.event(other)
        if first is None or second is None or first.location < 0:
            return False
        if first.location != second.location:
            return False
        if first.part == second.part or ALL in (first.part, second.part):
            return True
        return WRITE in (first.structure, second.structure) and NONE not in (
            first.structure,
            second.structure,
        )

    def reads(self, place: int) -> bool:
        event = self.event(place)
        return event is not None and event.mode == READ

    def writes(self, place: int) -> bool:
        event = self.event(place)
        return event is not None and event.mode in (WRITE, ADD)

    def reads_and_writes(self, place: int) -> bool:
        return self.writes(place) and self.steps[place].found is not None

    def is_check(self, place: int) -> bool:
        return CHECK.search(self.steps[place].source) is not None

    # Words

    def what(self, place: int) -> str:
        """What a step accesses."""
        step = self.steps[place]
        return f"`{label_of(step)}`"

    def where(self, place: int) -> str:
        return where(self.steps[place])

    def who(self, place: int) -> str:
        return self.steps[place].thread


def label_of(step: Step) -> str:
    return f"{step.name}[{step.part}]" if step.part else step.name


def where(step: Step) -> str:
    return f"({os.path.basename(step.file)}:{step.line})" if step.file else ""


def without_gaps(sentence: str) -> str:
    """What a sentence has when some of its places are not known: they leave spaces behind."""
    return re.sub(r" +(?=[ ,;]|$)", "", sentence)


DONE = {
    "read": "read", "load": "read", "length of": "read", "read all of": "read", "await": "read",
    "store": "written", "write": "written", "set": "written", "delete": "deleted",
    "insert": "inserted into", "append": "appended to", "change": "changed",
    "take from": "taken from", "exchange": "exchanged", "compare_exchange": "exchanged",
    "fetch_add": "added to", "add": "added to", "put": "put into", "get": "taken from",
    "try get": "taken from", "try put": "put into",
}  # fmt: skip

PAST = {"written": "wrote", "taken from": "took from"}


def done(step: Step) -> str:
    """What a step has done, such as "written"."""
    if step.access == "read":
        return "read"
    return DONE.get(step.operation, "changed")


def past(step: Step) -> str:
    return PAST.get(done(step), done(step))


def acted(step: Step) -> str:
    words = {"acquire": "acquired", "release": "released", "try acquire": "tried to acquire"}
    if step.operation in words:
        return words[step.operation]
    return past(step) if step.access else step.operation


def in_order(case: Case, first: int, second: int) -> str:
    """Which of two steps has come first, in words."""
    one, other = case.steps[first], case.steps[second]
    return (
        f"{one.thread} {acted(one)} {case.what(first)} {case.where(first)} before "
        f"{other.thread} {acted(other)} it {case.where(second)}"
    )


def acquires(event: Event) -> bool:
    """Whether a thread holds a lock from this on."""
    return event.kind == ACQUIRE or (event.kind == TRY_ACQUIRE and event.mode == WRITE)


def held_before(case: Case) -> list[tuple[str, ...]]:
    """For each step, the locks that its thread holds then."""
    holds: dict[int, dict[int, str]] = {}
    found = []
    threads = {step.thread: 0 for step in case.steps}
    for place, step in enumerate(case.steps):
        event = case.event(place)
        number = event.thread if event is not None else threads[step.thread]
        own = holds.setdefault(number, {})
        found.append(tuple(own.values()))
        if event is None:
            continue
        threads[step.thread] = number
        if acquires(event):
            own[event.location] = step.name
        elif event.kind == RELEASE:
            own.pop(event.location, None)
    return found

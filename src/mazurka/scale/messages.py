"""What workers and whoever gives them tasks say to each other."""

import pickle
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Protocol

from mazurka.engine.result import Result
from mazurka.engine.status import Estimate
from mazurka.engine.task import Task

# Where the executions of a task come in the order of the whole search: keys are compared like
# words. A task is explored before all that it has handed over, which gets longer keys.
Key = tuple[int, ...]
Entry = tuple[Key, Task]

FIRST: Key = ()


class Channel(Protocol):
    """A way to send messages, and to receive them in their order."""

    def send(self, message: object) -> None: ...

    def receive(self) -> Any:
        """The next message; an EOFError if nobody is there any more."""

    def poll(self) -> bool:
        """Whether there is a message."""


# To a worker


@dataclass(frozen=True)
class Take:
    """Explore these tasks, in this order, with so many executions at the most (-1: any number)."""

    entries: list[Entry]
    most: int = -1


@dataclass(frozen=True)
class Give:
    """Others are idle: hand over so many of your tasks."""

    count: int


@dataclass(frozen=True)
class Cut:
    """What comes after this key does not count any more."""

    key: Key


@dataclass(frozen=True)
class Stop:
    """Hand over all that is left."""


@dataclass(frozen=True)
class Look:
    """Look at the tree of the whole search for so many seconds, and tell how large it is."""

    seconds: float


@dataclass(frozen=True)
class Finish:
    """There is nothing left to explore."""


# From a worker


@dataclass(frozen=True)
class Here:
    """A worker is ready for its first tasks."""


@dataclass
class Report:
    """What was found since the last report, and what is left: both count, or neither does."""

    results: list[tuple[Key, Result]]
    kept: list[Entry] = field(default_factory=list)  # to be done again if the worker dies now
    given: list[Entry] = field(default_factory=list)  # for others
    is_over: bool = False  # whether it asks for more
    is_broken: bool = False  # whether the program cannot be explored
    warnings: list[str] = field(default_factory=list)  # what was not seen, so far


@dataclass(frozen=True)
class Told:
    """How far a worker is since its last report: for people, nothing counts on it."""

    executions: int
    depth: int = 0
    memory_mb: float = 0.0
    estimate: Estimate | None = None  # if it was asked for one


@dataclass(frozen=True)
class Closed:
    """A worker has come to a good end."""

    warnings: list[str]
    threads: int


@dataclass(frozen=True)
class Anew:
    """The program is another one than was known: the whole search must begin anew."""

    learnt: dict[str, list[str]]


@dataclass(frozen=True)
class Raised:
    """Something went wrong that ends the search."""

    error: Exception


def portable_outcomes(outcomes: Counter[Any]) -> Counter[Any]:
    """Outcomes that can be sent; those that cannot are counted under how they print."""
    found: Counter[Any] = Counter()
    for outcome, count in outcomes.items():
        try:
            pickle.dumps(outcome)
            found[outcome] += count
        except Exception:
            found[repr(outcome)] += count
    return found

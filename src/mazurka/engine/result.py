"""What a search found: results and failures."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final, Literal

from mazurka.engine.schedule import Schedule, field_values
from mazurka.engine.status import Advice, Status

Verdict = Literal["verified", "failed", "bounded", "incomplete"]

# The kinds of failure.
EXCEPTION = "exception"
DEADLOCK = "deadlock"
LIVELOCK = "livelock"
NONDETERMINISM = "nondeterminism"
TOO_LONG = "too long"
STUCK = "stuck"
DATA_RACE = "data race"

TRIED_FIRST = "stopped at a failure that was tried first"  # a reason to end: there was no search
NOT_LINEARIZABLE = "not linearizable"
OUTCOME = "outcome"  # none at all: of an execution that is replayed to see what it gives


@dataclass(frozen=True)
class Step:
    """One event of an execution, for people to read: in words, and as data.

    Other steps are meant by their places in the list of steps. A step of which the position is -1
    is none of the schedule: a `notify` that nobody was waiting for, an access that is no event.
    """

    thread: str  # what people call it; of an event loop, the task that runs
    action: str  # such as "store 5 to x"
    file: str = ""
    line: int = 0
    source: str = ""  # that line
    operation: str = ""  # such as "store": a verb of engine/operation.py
    access: str = ""  # how it accesses what it names: "read", "write" or "add"
    name: str = ""  # of what it accesses, or of the thread that it spawns or joins
    part: str = ""  # the item of a container that it accesses, if it is one
    found: str | None = None  # the value that it read, if there is one to show
    left: str | None = None  # the value that it wrote
    outcome: str = ""  # "waits": it never happened; "fails": an attempt without effect
    reads_from: int = -1  # the step that wrote what it found; -1: it was there from the start
    after: tuple[int, ...] = ()  # the steps right before it in happens-before order
    position: int = -1  # in the schedule
    group: str = ""  # what it is part of, if by itself it is of no interest to people
    deciding: bool = False  # whether it is one of those that make the execution fail

    def __reduce__(self) -> tuple[Any, ...]:
        # Compiled, a frozen class cannot be pickled as others are.
        return Step, field_values(self)


@dataclass(frozen=True)
class Explanation:
    """Why an execution fails. Steps are meant by their places in the list of its steps."""

    bug: str  # the kind of bug, such as "lost update"; "" if it is not known
    sentence: str  # names it, and the accesses that decide it
    deciding: tuple[tuple[int, int], ...] = ()  # pairs of steps: the other way round, it passes
    choices: tuple[int, ...] = ()  # choices: taken otherwise, it passes
    passing: tuple[Step, ...] = ()  # an execution that passes, and differs little
    locks: str = ""  # which lock other accesses of the same hold, if one did not
    preemptions: int = 0  # switches from a thread that could have gone on
    found_with: int = 0  # how many the search has found it with,
    found_steps: int = 0  # and in how many steps
    runs: int = 0  # how many executions were made to find all that out
    cut: str = ""  # why there may be a shorter execution, or other deciding steps

    def __reduce__(self) -> tuple[Any, ...]:
        return Explanation, field_values(self)


@dataclass
class Failure:
    """One failing execution."""

    kind: str
    message: str
    schedule: Schedule
    steps: list[Step] = field(default_factory=list)  # all of them
    thread: str = ""
    details: list[str] = field(default_factory=list)  # who waits for what, both operations, ...
    exception: BaseException | None = None
    waiting: list[Step] = field(default_factory=list)  # what threads wait for that can never go on
    explanation: Explanation | None = None
    race: str = ""  # of a data race: its lines, the same for all races of these

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled without the exception: that may be anything, and its message is kept."""
        values = field_values(self)
        return Failure, tuple([None if value is self.exception else value for value in values])


@dataclass
class Branch:
    """A step of the tree of executions: what comes after it lies below it."""

    parent: int  # which branch it is below; -1: none
    thread: str
    words: str  # what it did
    is_named: bool = False  # whether these are the words that people have for it


@dataclass
class Leaf:
    """Where an execution of the tree ends."""

    branch: int
    how: str  # "complete", "failed", "blocked", "cut" or "redundant"
    outcome: str  # what the program returned
    steps: list[Step] = field(default_factory=list)  # if they were put into words


@dataclass
class Sample:
    """How far a search was at some moment."""

    seconds: float
    complete: int
    blocked: int
    redundant: int
    cut: int
    failures: int


@dataclass
class Recording:
    """What a search has done, for those who want to look at it."""

    branches: list[Branch] = field(default_factory=list)  # parents first; the first is the root
    leaves: list[Leaf] = field(default_factory=list)  # in the order in which they were met
    samples: list[Sample] = field(default_factory=list)
    cut: str = ""  # why the tree has not all executions
    outcomes: dict[str, list[Step]] = field(default_factory=dict)  # an execution for each,
    schedules: dict[str, Schedule] = field(default_factory=dict)  # and what makes it again


def escaped_repr(result: "Result") -> str:
    return escape(repr(result))


# How a result shows itself. The engine has few words: whoever has better ones puts them here.
SHOWN_BY: Final[dict[str, Callable[["Result"], str]]] = {"text": repr, "html": escaped_repr}


@dataclass
class Result:
    """What a search found, and how much it looked at."""

    verdict: Verdict = "incomplete"
    algorithm: str = ""
    equivalence: str = "mazurkiewicz"
    complete: int = 0
    blocked: int = 0
    redundant: int = 0
    cut: int = 0  # broken off, as they went beyond a bound
    beyond: int = 0  # of the complete ones, how many take more preemptions than the bound
    traces: int | None = None  # how many different ones were met, if executions are sampled
    unfolding: int | None = None  # how many events it was given, if the search has one,
    known: int | None = None  # and how many it had at a time, at the most
    failures: list[Failure] = field(default_factory=list)
    outcomes: Counter[Any] = field(default_factory=Counter)
    seconds: float = 0.0
    preparation: float = 0.0  # seconds before the search began: code was rewritten, names given
    explaining: float = 0.0  # seconds after it, to explain the failures
    memory_mb: float | None = None  # the most that the process has had, if the system says
    reason: str = ""  # why the search is incomplete
    doubt: str = ""  # why it may have missed something even if it ran to its end
    bound: str = ""  # what bounded it, if executions were cut short by that
    warnings: list[str] = field(default_factory=list)  # what was not seen
    mending: str = ""  # what can be done about all of that, if they do not say so themselves
    threads: int | None = None  # how many there were in all executions together, if that is known
    computed: int = 0  # how many executions were computed, not run, as their threads were known
    unremembered: str = ""  # why no more of them were
    opaque: list[str] = field(default_factory=list)  # what the user has said to be harmless
    assuming: list[str] = field(default_factory=list)  # options that leave executions out
    recording: Recording | None = None  # if it was asked for
    again: list[Schedule] = field(default_factory=list)  # tried first, and they failed again
    remarks: list[str] = field(default_factory=list)  # of whoever has asked for it
    outdated: list[Schedule] = field(default_factory=list)  # tried first, and they do not fail now
    status: Status | None = None  # while it runs, or if it was stopped
    advice: list[Advice] = field(default_factory=list)  # for a search that was stopped

    def __str__(self) -> str:
        return SHOWN_BY["text"](self)

    def _repr_html_(self) -> str:
        """What notebooks show."""
        return SHOWN_BY["html"](self)

    @property
    def executions(self) -> int:
        return self.complete + self.blocked + self.redundant + self.cut

    @property
    def waited(self) -> float:
        """The seconds that all of it took: who waits for it does not ask what for."""
        return self.preparation + self.seconds + self.explaining

    def conclude(self, everything: bool) -> None:
        """Give the verdict, once it is known whether everything was explored."""
        if self.failures:
            self.verdict = "failed"
        elif everything and not self.doubt:
            self.verdict = "bounded" if self.bound else "verified"
            self.reason = ""
        else:
            self.verdict = "incomplete"
            self.reason = self.doubt if everything else self.reason

    def __add__(self, other: "Result") -> "Result":
        """What two searches found that explored different tasks of a program. The verdict is still
        to be concluded: whether anything is left is not theirs to say."""
        total = Result("incomplete", self.algorithm, self.equivalence)
        times = ("seconds", "preparation", "explaining")
        for name in ("complete", "blocked", "redundant", "cut", "beyond", "computed", *times):
            setattr(total, name, getattr(self, name) + getattr(other, name))
        for name in ("reason", "doubt", "bound", "unremembered"):
            setattr(total, name, getattr(self, name) or getattr(other, name))
        total.threads = max((each.threads or 0 for each in (self, other)), default=0) or None
        peaks = [result.memory_mb for result in (self, other) if result.memory_mb is not None]
        total.memory_mb = max(peaks, default=None)
        total.failures = [*self.failures, *other.failures]
        total.outcomes = self.outcomes + other.outcomes
        total.warnings = list(dict.fromkeys([*self.warnings, *other.warnings]))
        total.mending = self.mending or other.mending
        total.again = [*self.again, *other.again]
        total.outdated = [*self.outdated, *other.outdated]
        total.opaque = list(dict.fromkeys([*self.opaque, *other.opaque]))
        total.assuming = list(dict.fromkeys([*self.assuming, *other.assuming]))
        if total.failures:
            total.verdict = "failed"
        return total

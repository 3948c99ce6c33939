"""THE CONTRACT between searches and front ends. Read this first.

A front end offers a **Program**: something that can be run again and again from the same initial
state, one step of one thread after the other. A search makes a **Request** for an execution: what
to repeat, which steps to take then, who sleeps, and how the rest is to go, as data. The program
runs, adds the events that are new to the search's list, and gives an **Answer**: how it ended, who
waits, who sleeps. That is one call an execution. A search never sees how a program is run, and a
program never knows which search steers it. Where a search must decide in the midst of a run, the
request names what it watches, and the program asks its **Watcher** there, and nowhere else.

Whoever writes a front end owes the searches this (tests/conformance checks it, and toy.py there is
a front end of 150 lines); what has a body here need not be written where that will do:

- A thread always stands before its next operation: which one that is depends on nothing but the
  thread's own steps and what they gave.
- Thread 0 is there from the start. Every other one is spawned, by an event, before it steps.
- An operation accesses one location, or none; locations, threads and places in the source are
  numbers from 0 on, the same in every execution of a program. What two processes must name alike
  has names, too.
- What an operation does is a function of the value at its location (`values`), but for spawns,
  joins and data choices.
- A program that does not repeat itself is told from one that does: a step that is to be repeated
  and turns out to be another operation ends the run, as a failure.
"""

from collections.abc import Sequence
from typing import Final

from mazurka.engine.event import NO_EVENTS, Event, footprint_of
from mazurka.engine.operation import CHOOSE, NONE, UNKNOWN, VERBS, Footprint
from mazurka.engine.result import NONDETERMINISM, Failure, Step
from mazurka.engine.schedule import NamedStep, Schedule
from mazurka.engine.subclassing import mypyc_attr
from mazurka.engine.values import Values

# How an execution ended.
COMPLETE: Final = 0  # every thread ran to its end
BLOCKED: Final = 1  # some thread can never go on
REDUNDANT: Final = 2  # only threads in the sleep set could go on: explored before
CUT: Final = 3  # broken off, as it goes beyond a bound

# Policies: which thread makes the next step where the request does not say. With GO_ON, awaits had
# better come late, as what comes later might have disabled them; no search relies on that.
GO_ON: Final = 0  # the thread that stepped last as long as it can, then its partner, then the first
LEFTMOST: Final = 1  # the one with the lowest number that can, but for the first step
PICKED: Final = 2  # the one that the watcher picks

NOBODY: Final = -1  # no thread
NOT_KNOWN: Final = -2  # which thread
UNFINISHED: Final = object()  # in place of what a thread gives
NO_PARTNERS: Final[list[int]] = []
NO_POLLS: Final[list[int]] = []


class Watch:
    """A search must be asked before a thread accesses a location that precedes a certain one. It
    need not be asked where nothing has accessed the location yet, or where the latest access to it
    has changed all of it."""

    def __init__(self, location: int, thread: int) -> None:
        self.location = location
        self.thread = thread


NO_WATCHES: Final[list[Watch]] = []


@mypyc_attr(allow_interpreted_subclasses=True)
class Watcher:
    """What a search decides while a program runs."""

    def keeps_asleep(self, thread: int, location: int) -> bool:
        """Whether a thread must not access now, in the free part of a run, the location that it
        stands before. Asked where a watch says so; where that location has a watch, it may be asked
        in any case."""
        raise NotImplementedError

    def ends_run(self) -> bool:
        """Whether the run is broken off here. Asked before every free step, and when nobody can go
        on, if steps are watched."""
        raise NotImplementedError

    def pick(self, threads: list[int]) -> int:
        """Which of the threads that can makes the next free step. Asked with the policy PICKED."""
        raise NotImplementedError

    def choose(self, alternatives: int) -> int:
        """Which alternative the thread that was picked takes."""
        raise NotImplementedError


class Request:
    """What a search wants to be run. It keeps one, and changes it from execution to execution."""

    def __init__(self, events: list[Event]) -> None:
        self.events = events  # these are repeated, and those that are new are added to them
        self.path: list[Event] = NO_EVENTS  # the steps that come next
        # If the search begins later than the program: the steps before, of which it knows nothing,
        # and the first ones of `events` then, which no run makes: spawns of the threads there are.
        self.prefix: list[Event] = NO_EVENTS
        self.roots: list[Event] = NO_EVENTS
        self.sleep: list[Event] = (
            NO_EVENTS  # those in the sleep set, before the first step of these
        )

        # How the rest is to go.
        self.policy = GO_ON
        self.partners = NO_PARTNERS  # for each thread, one to run next to it; never changed
        self.first = NOBODY  # with LEFTMOST: who makes the first free step, if it can

        self.watcher: Watcher | None = None
        self.watched = NO_WATCHES
        self.watches_steps = False

        # What the search needs to know of every execution, or can take.
        self.all_stand = False  # all threads stand before each step, and events say who could go on
        self.lets_time_out = False  # where timeouts come last: the run goes on with one by itself
        self.takes_conditions = True  # on symbolic values; else a ConditionMet is raised
        self.orders_writes = True  # whether the order of writes that nobody reads counts


class Answer:
    """How an execution ended."""

    def __init__(self) -> None:
        self.status = COMPLETE
        self.failed = False
        # The operations that its blocked threads stand before, with the modes of enabled ones, and
        # those of threads that could go on but sleep, or were broken off.
        self.waiting: list[Event] = NO_EVENTS
        self.sleeping: list[Event] = NO_EVENTS
        # The threads of which one is to time out, as nobody can go on; the execution is not over.
        self.timing_out = NO_POLLS
        self.polled = NO_POLLS  # the locations that threads look at which wait in loops
        self.doubt = ""  # why something may be missed where the execution was left out
        self.bound = ""  # the bound that has cut it short, if one has
        self.race: str | None = None  # a data race in it; after `failure`, with both lines


@mypyc_attr(allow_interpreted_subclasses=True)
class Program:
    """A program that can be run again and again from its initial state, and steered."""

    def __init__(self, values: Values) -> None:
        self.values = values
        self.events: list[Event] = []  # of the latest run, from the start of the program on
        self.answer = Answer()  # and how it ended

    def run(self, request: Request) -> Answer:
        """Run the program once.

        The events of the request are repeated; then come the steps of its path; from there on the
        policy says who goes on, but for threads in the sleep set and those that the watcher keeps
        asleep. A step of the path is an event of which the operation is foretold, or a thread alone
        (its kind is UNKNOWN) with the name of an operation in `first`, or None, and a mode, or
        NONE. Values in events that are repeated are those of this run, since they may be objects
        that an execution makes.
        """
        raise NotImplementedError

    # Of the latest run

    def failure(self) -> Failure:
        """The account of what went wrong (only if it has failed). This may run the program."""
        raise NotImplementedError

    def tell_runs(self, wanted: bool) -> None:
        """Whether the runs that follow are to be told: an account then needs no other run."""

    def account(self) -> list[Step]:
        """Its steps, for people to read, whether it has failed or not. This may run the program."""
        return []

    def ending(self) -> str:
        """How it ended, in words that are the same if the program repeats itself."""
        return f"{self.answer.status}, {self.answer.failed}, {self.outcome()}"

    def changed(self, first: str, second: str) -> Failure:
        """The account of a program that ended in two ways under one schedule."""
        return Failure(NONDETERMINISM, f"first {first}, then {second}", Schedule(()))

    def be_remembered(self) -> None:
        """Its runs are to show what small containers hold, so that executions can be computed."""

    def outcome(self) -> object:
        """What the program returned."""
        raise NotImplementedError

    # While it runs, or at the end of the latest run

    def standing(self, thread: int) -> Event:
        """The operation that a thread stands before, as it is now."""
        raise NotImplementedError

    def footprint(self, thread: int) -> Footprint:
        """How that operation would access its location now."""
        return footprint_of(self.standing(thread))

    def unfinished(self) -> dict[int, int]:
        """The threads that have not ended, each with the one that it is to join, or NOBODY."""
        raise NotImplementedError

    def excludes(self, events: list[Event], choice: Event) -> bool:
        """Whether a choice is a condition on symbolic values that cannot be true, given what some
        events decided."""
        return False

    # Names that hold in every process: these do where the numbers do

    def thread_name(self, thread: int) -> str:
        """The name that steps have for a thread."""
        return f"0.{thread}" if thread else "0"

    def thread_called(self, name: str) -> int:
        """The thread with a name, which may be known before it is ever spawned."""
        return int(name.split(".")[-1])

    def precedes(self, thread: int, other: int) -> bool:
        """An order of the threads."""
        return thread < other

    def stable_names(self, event: Event) -> tuple[str, str]:
        """Names of an event's thread and location."""
        return self.thread_name(event.thread), str(event.location) if event.location >= 0 else ""

    def part_name(self, event: Event) -> str:
        """The part of its location that an event accesses."""
        return ""

    def operation_name(self, event: Event) -> str:
        """The name that steps have for an operation."""
        return f"{VERBS[event.kind]} {self.stable_names(event)[1]}".strip()

    def steps_of(self, events: list[Event]) -> list[NamedStep]:
        """Events as steps of a schedule."""
        return [
            (
                self.thread_name(event.thread),
                self.operation_name(event),
                event.choice if event.kind == CHOOSE else 0,
            )
            for event in events
        ]

    def path_of(self, steps: Sequence[NamedStep]) -> list[Event]:
        """The path that makes these steps."""
        threads = {name for name, _, _ in steps}
        numbers = {name: self.thread_called(name) for name in sorted(threads)}
        path = []
        for name, operation, choice in steps:
            step = Event(numbers[name], UNKNOWN, -1, NONE, operation or None, None)
            step.choice = choice
            path.append(step)
        return path

    # What lets executions be computed, not run (remembered.py)

    def unremembered(self) -> str:
        """Why executions must be run, as far as the latest one shows; empty if they need not."""
        return "its front end does not say what threads give"

    def sees_all(self) -> bool:
        """Whether threads can share nothing that is not seen."""
        return False

    def remembers(self, event: Event) -> bool:
        """Whether an operation is a function of itself and what is at its location, and does
        nothing else; where it is not, executions are run."""
        raise NotImplementedError

    def maker(self, location: int) -> int:
        """The thread whose history decides what is at a location at first. NOBODY: it is always the
        same; NOT_KNOWN: several threads may."""
        raise NotImplementedError

    def given_by(self, thread: int) -> object:
        """What a thread has given that has ended in the latest run; UNFINISHED if it has not, or
        has failed."""
        raise NotImplementedError

    # What was learnt

    def learnt(self) -> dict[str, list[str]]:
        """What the searches so far had to find out about the program before they could begin, in
        names that hold in every process: a task or a schedule says it to others."""
        return {}

    def learnt_for_schedules(self) -> dict[str, list[str]]:
        """What of that a schedule says, as it decides what the steps are, and their names."""
        return {word: names for word, names in self.learnt().items() if names}

    def learn(self, learnt: dict[str, list[str]]) -> None:
        """What others have found out."""

"""One table of options: calls from Python, the command line, pytest, pyproject.toml and saved
schedules all go by it. To add an option, add a row to `Options` and one to `GivenOptions`.

pytest reads this in every run, so nothing here imports the engine before it is needed.
"""

import dataclasses
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

if TYPE_CHECKING:
    from mazurka.engine.errors import MazurkaError
    from mazurka.engine.result import Result
    from mazurka.engine.schedule import Schedule

T = TypeVar("T")

GRANULARITIES = ("access", "sync")
EQUIVALENCES = ("mazurkiewicz", "reads-from")
TIMEOUTS = ("any", "last")
ASYNCIO_ORDERS = ("any", "fifo")

DEFAULT_MAX_EVENTS = 100_000
DEFAULT_REMEMBER_MB = 200
DEFAULT_STEP_LIMIT = 30.0
TEST_TIME_LIMIT = 60.0  # of tests under pytest


# Which values there are


class Kind(NamedTuple):
    """A kind of values: what to call them, which ones fit, and how a text becomes one."""

    what: str
    fits: Callable[[Any], bool]
    metavar: str = ""
    from_text: Callable[[str], Any] = str
    choices: Callable[[], Collection[str]] | None = None  # asked for when they are needed


def at_least_1(value: Any) -> bool:
    return type(value) is int and value >= 1


def bounds_preemptions(value: Any) -> bool:
    return type(value) in (int, str) and re.fullmatch(r"[0-9]+(\.\.)?", str(value)) is not None


def are_names(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(name, str) for name in value)


def number_or_word(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def counts_jobs(value: Any) -> bool:
    return value == "auto" or at_least_1(value)


SWITCH = Kind("true or false", lambda value: type(value) is bool)
WHOLE_NUMBER = Kind("a whole number", lambda value: type(value) is int, "N", int)
POSITIVE_NUMBER = Kind("a whole number, at least 1", at_least_1, "N", int)
SECONDS = Kind(
    "a number of seconds, more than 0",
    lambda value: type(value) in (int, float) and value > 0,
    "SECONDS",
    float,
)
CONFLICTS = Kind(
    "a whole number, at least 1, or 'optimal'",
    lambda value: value == "optimal" or at_least_1(value),
    "K",
    number_or_word,
)
FILE = Kind("the path of a file", lambda value: isinstance(value, str | os.PathLike), "FILE")
JOBS = Kind("a whole number, at least 1, or 'auto'", counts_jobs, "N", number_or_word)
ADDRESS = Kind(
    "'ray' or an address", lambda value: isinstance(value, str) and value != "", "ADDRESS"
)
BOUND = Kind("a whole number, or one with two dots like '0..'", bounds_preemptions, "K")
NAMES = Kind("a list of names", are_names, "PACKAGE")


def one_of(choices: Callable[[], Collection[str]]) -> Kind:
    def is_one(value: Any) -> bool:
        return isinstance(value, str) and value in choices()

    return Kind("a name", is_one, "NAME", choices=choices)


def algorithms() -> Collection[str]:
    from mazurka.explore.algorithms import ALGORITHMS

    return ALGORITHMS


# The table

PYTHON = "python"
SAMPLING = ("random", "pct", "pos")
ASSUMPTIONS = ("timeouts", "asyncio_order")


class Option(NamedTuple):
    """A row of the table."""

    name: str
    default: Any
    meaning: str  # of its flag, if it has one
    kind: Kind | None = None  # None: only Python code can give it
    of: tuple[str, ...] = ()  # the algorithms or the front end that go by it; none: all
    flag: str = ""  # on the command line: what turns the default round
    in_pytest: bool = False  # whether pytest's command line has it
    saved: bool = False  # whether schedules keep it, and replays go by it

    def read(self, text: str) -> Any:
        """The value that a text stands for; a ValueError says what is wrong with it."""
        assert self.kind is not None
        try:
            value = self.kind.from_text(text)
        except ValueError:
            value = None
        if not self.kind.fits(value):
            raise ValueError(self.refusal(text))
        return value

    def check(self, value: object) -> None:
        """Raise a ValueError if a configuration file must not give this value."""
        assert self.kind is not None
        if not self.kind.fits(value):
            raise ValueError(self.refusal(value))

    def refusal(self, value: object) -> str:
        assert self.kind is not None
        if self.kind.choices is not None:
            return no_such_name(self.name, value, self.kind.choices())
        return f"{value!r} is not {self.kind.what}"

    @property
    def help(self) -> str:
        explorers = [name for name in self.of if name != PYTHON]
        return f"{self.meaning} ({', '.join(explorers)})" if explorers else self.meaning


def row(default: T, meaning: str, **columns: Any) -> T:
    """A row of the table: the default of a field, and the columns of its Option."""
    metadata = {"meaning": meaning, **columns}
    field: T = dataclasses.field(default=default, metadata=metadata)
    return field


@dataclass(frozen=True)
class Options:
    """The options of a search. `mazurka.explore` says more of what they mean."""

    algorithm: str = row(
        "pop",
        "How to explore: one execution for each behaviour (pop, trust, and optimal, which takes "
        "more memory), the same with some redundant ones (source, and qpor, which has few), every "
        "interleaving (naive), or some at random (random, pct, pos).",
        kind=one_of(algorithms),
        in_pytest=True,
    )
    seed: int = row(
        0, "Which executions are taken at random.", kind=WHOLE_NUMBER, of=SAMPLING, in_pytest=True
    )
    depth: int = row(
        3,
        "How many orderings a failure may take that is to be found.",
        kind=POSITIVE_NUMBER,
        of=("pct",),
        in_pytest=True,
    )
    k: int | str = row(
        3,  # enough for nearly all programs of its paper
        "With how many events alternatives conflict, or 'optimal': all.",
        kind=CONFLICTS,
        of=("qpor",),
        in_pytest=True,
    )
    preemptions: int | str | None = row(
        None,
        "Leave out executions with more than K preemptions; with 0.. those with more than 0 at "
        "first, then those with more than 1, and so on.",
        kind=BOUND,
        of=("trust",),
        in_pytest=True,
    )
    strict_bound: bool = row(
        False,
        "Do not tell failures that take more preemptions than K, though some are met.",
        kind=SWITCH,
        of=("trust",),
        flag="strict-bound",
    )
    equivalence: str = row(
        "mazurkiewicz",
        "Which executions count as one: those that differ in the order of independent steps only, "
        "or all in which reads get their values from the same writes (reads-from, by trust).",
        kind=one_of(lambda: EQUIVALENCES),
        in_pytest=True,
        saved=True,
    )
    max_executions: int | None = row(
        None, "Stop after this many executions.", kind=POSITIVE_NUMBER, in_pytest=True
    )
    time_limit: float | None = row(
        None, "Stop after this many seconds.", kind=SECONDS, in_pytest=True
    )
    memory_limit: int | None = row(
        None,
        "Stop when the search takes this many megabytes, all its processes together.",
        kind=POSITIVE_NUMBER,
        in_pytest=True,
    )
    jobs: int | str = row(
        1,
        "Search in so many processes, or in as many as there are cores (auto).",
        kind=JOBS,
        of=("pop", "trust", "naive"),
        in_pytest=True,
    )
    cluster: str | None = row(
        None,
        "Search on a cluster, by Ray: its address, or 'ray' for one of this machine alone. It has "
        "as many workers as CPUs, or as --jobs says.",
        kind=ADDRESS,
        of=("pop", "trust", "naive"),
    )
    checkpoint: "str | os.PathLike[str] | None" = row(
        None, "Write what was found and what is left to a file, every minute.", kind=FILE
    )
    resume: "str | os.PathLike[str] | None" = row(
        None, "Go on with a search from its checkpoint.", kind=FILE
    )
    max_events: int = row(
        DEFAULT_MAX_EVENTS,
        "Steps after which an execution counts as endless, which is a failure.",
        kind=POSITIVE_NUMBER,
        saved=True,
    )
    step_limit: float = row(
        DEFAULT_STEP_LIMIT,
        "Seconds that a thread may take from one step to the next.",
        kind=SECONDS,
        of=(PYTHON,),
    )
    granularity: str | None = row(
        None,  # access for Python, sync for C
        "Where threads can be switched: at each access to what they share (the default for "
        "Python), or at synchronisation only (sync, the default for C), with data "
        "races as failures.",
        kind=one_of(lambda: GRANULARITIES),
        in_pytest=True,
        saved=True,
    )
    unroll: int | None = row(
        None,
        "Rounds that a loop with steps may have; executions with more are blocked. Loops that "
        "only wait need no bound.",
        kind=POSITIVE_NUMBER,
        saved=True,
    )
    loop_purity: bool = row(
        True,
        "Do not cut threads that go round in a loop and change nothing (but for loops that only "
        "poll one variable).",
        kind=SWITCH,
        flag="no-loop-purity",
        saved=True,
    )
    awaits: bool = row(
        True,
        "Do not let operations wait in place of the loops around them.",
        kind=SWITCH,
        of=(PYTHON,),
        flag="no-awaits",
        saved=True,
    )
    leaks: bool = row(
        False,
        "Memory that is never freed is a failure (for C programs).",
        kind=SWITCH,
        flag="leaks",
        saved=True,
    )
    timeouts: str = row(
        "any",
        "When waits time out: at any moment, or when no thread can go on (last).",
        kind=one_of(lambda: TIMEOUTS),
        of=(PYTHON,),
        in_pytest=True,
        saved=True,
    )
    asyncio_order: str = row(
        "any",
        "Which of the tasks of asyncio that are ready goes on: any, or the one that asyncio itself "
        "would take (fifo).",
        kind=one_of(lambda: ASYNCIO_ORDERS),
        of=(PYTHON,),
        in_pytest=True,
        saved=True,
    )
    stop_on_failure: bool = row(
        True,
        "Go on after the first failing execution, and show all.",
        kind=SWITCH,
        flag="all-failures",
        in_pytest=True,
    )
    independent_adds: bool = row(
        True,
        "Explore the orders of additions that give nothing, too, though they commute.",
        kind=SWITCH,
        flag="no-independent-adds",
        saved=True,
    )
    instrument: Sequence[str] | None = row(
        (),
        "See what the code of this module of the standard library does, too, though it has a model "
        "or is known to be harmless; may be given several times.",
        kind=NAMES,
        of=(PYTHON,),
        saved=True,
    )
    opaque: Sequence[str] = row(
        (),
        "Do not look at what the code of this package or module does, or this function that a C "
        "program calls: you know that it does no harm. May be given several times.",
        kind=NAMES,
        of=(PYTHON,),
        saved=True,
    )
    remember: bool = row(
        False,
        "Compute executions in which each thread only repeats what it was seen to do: the program "
        "is not run in these.",
        kind=SWITCH,
        flag="remember",
        in_pytest=True,
    )
    remember_mb: int = row(
        DEFAULT_REMEMBER_MB,
        "How many megabytes may be used to remember what threads do.",
        kind=POSITIVE_NUMBER,
    )
    keep_failures: bool = row(
        True,
        "Do not keep failing executions in the folder .mazurka, nor try first what is kept there.",
        kind=SWITCH,
        flag="no-keep-failures",
        in_pytest=True,
    )
    try_first: "Sequence[Schedule]" = row((), "Executions to be run before the search.")
    record: bool = row(False, "Keep what a report shows of the search itself.")
    setup: Callable[[], object] | None = row(None, "Called before each execution.", of=(PYTHON,))
    reset: Callable[[], object] | None = row(None, "Called after each execution.", of=(PYTHON,))
    progress: "Callable[[Result], None] | None" = row(
        None, "Called now and then, with what was found so far."
    )

    @property
    def needs_workers(self) -> bool:
        """Whether workers search, and not this process."""
        kept = (self.cluster, self.checkpoint, self.resume)
        return jobs_wanted(self.jobs) > 1 or any(given is not None for given in kept)

    @property
    def reads_from(self) -> bool:
        return self.equivalence == "reads-from"

    def with_granularity(self, is_c: bool) -> "Options":
        """The same, with the granularity that programs have if nothing is said."""
        if self.granularity is not None:
            return self
        return replace(self, granularity="sync" if is_c and not self.reads_from else "access")

    def assumptions(self) -> list[str]:
        """What leaves out executions that the defaults explore: verdicts hold without those."""
        names = [name for name in ASSUMPTIONS if getattr(self, name) != OPTIONS[name].default]
        return [f"{name}={getattr(self, name)!r}" for name in names]

    def limited_to(self, seconds: float) -> "Options":
        """The same with a limit on its time that nobody has asked for: it changes nothing else."""
        return replace(self.checked(), time_limit=seconds)

    def checked(self) -> "Options":
        """The options with the algorithm and the limit that they ask for. What cannot be done is
        refused, with a message that says what would work."""
        from mazurka.explore.algorithms import SAMPLERS, SAMPLES
        from mazurka.explore.trust.bounds import bounds_of

        check_name("algorithm", self.algorithm, algorithms())
        if self.granularity is not None:
            check_name("granularity", self.granularity, GRANULARITIES)
        check_name("equivalence", self.equivalence, EQUIVALENCES)
        check_name("timeouts", self.timeouts, TIMEOUTS)
        check_name("asyncio_order", self.asyncio_order, ASYNCIO_ORDERS)
        check_limits(self.max_executions, self.time_limit, self.max_events, self.step_limit)
        if self.memory_limit is not None and not at_least_1(self.memory_limit):
            raise wrong_use("memory_limit must be a whole number of megabytes, at least 1")
        if self.depth < 1:
            raise wrong_use("depth must be at least 1")
        conflicts_wanted(self.k)
        if not counts_jobs(self.jobs):
            raise wrong_use(f"jobs must be {JOBS.what}, not {self.jobs!r}")
        if self.cluster is not None and not ADDRESS.fits(self.cluster):
            raise wrong_use(f"cluster must be {ADDRESS.what}, not {self.cluster!r}")
        self.check_unroll()
        self.check_timeouts()
        algorithm = self.algorithm
        if bounds_of(self.preemptions) is not None:
            algorithm = only_trust(algorithm, "bound preemptions")
        if self.reads_from:
            self.check_reads_from()
            algorithm = only_trust(algorithm, "explore up to reads-from equivalence")
        most = self.max_executions
        time_limit = None if self.time_limit == math.inf else self.time_limit
        if algorithm in SAMPLERS and most is None and time_limit is None:
            most = SAMPLES
        return replace(self, algorithm=algorithm, max_executions=most, time_limit=time_limit)

    def check_unroll(self) -> None:
        if self.unroll is None:
            return
        if type(self.unroll) is not int or self.unroll < 1:
            raise wrong_use("unroll must be a whole number, at least 1")
        if self.instrument is None:
            raise wrong_use("unroll needs code that is rewritten: leave out instrument=None")

    def check_timeouts(self) -> None:
        if self.timeouts == "last" and (self.reads_from or self.preemptions is not None):
            other = "equivalence='reads-from'" if self.reads_from else "preemptions"
            raise wrong_use(f"timeouts='last' does not go with {other}: leave one of them out")

    def check_reads_from(self) -> None:
        if self.granularity == "sync" or self.preemptions is not None:
            other = "granularity='sync'" if self.granularity == "sync" else "preemptions"
            raise wrong_use(
                f"{other} asks for the order of writes, which equivalence='reads-from' leaves "
                "open: leave one of them out"
            )

    def saved(self) -> dict[str, Any]:
        """What schedules keep: they fit a program that is run in the same way only."""
        kept = {option.name: getattr(self, option.name) for option in SAVED}
        if self.instrument is not None:
            kept["instrument"] = list(self.instrument)
        kept["opaque"] = list(self.opaque)
        return kept

    @classmethod
    def of_schedule(cls, kept: Mapping[str, Any]) -> "Options":
        """The options that a replay goes by. A schedule that does not say what was rewritten is
        one of a program of which nothing was."""
        names = [option.name for option in SAVED if option.name in kept]
        switches = {name: bool(kept[name]) for name in names if OPTIONS[name].kind is SWITCH}
        return cls(**{"instrument": None, **{name: kept[name] for name in names}, **switches})


OPTIONS = {
    field.name: Option(field.name, field.default, **field.metadata)
    for field in dataclasses.fields(Options)
}
SAVED = [option for option in OPTIONS.values() if option.saved]


class GivenOptions(TypedDict, total=False):
    """The options for type checkers and editors, as a call or a decorator may give them."""

    algorithm: str
    seed: int
    depth: int
    k: int | str
    preemptions: int | str | None
    strict_bound: bool
    equivalence: str
    max_executions: int | None
    time_limit: float | None
    memory_limit: int | None
    jobs: int | str
    cluster: str | None
    checkpoint: "str | os.PathLike[str] | None"
    resume: "str | os.PathLike[str] | None"
    max_events: int
    step_limit: float
    granularity: str | None
    unroll: int | None
    loop_purity: bool
    awaits: bool
    leaks: bool
    timeouts: str
    asyncio_order: str
    stop_on_failure: bool
    independent_adds: bool
    instrument: Sequence[str] | None
    opaque: Sequence[str]
    remember: bool
    remember_mb: int
    keep_failures: bool
    try_first: "Sequence[Schedule]"
    record: bool
    setup: Callable[[], object] | None
    reset: Callable[[], object] | None
    progress: "Callable[[Result], None] | None"


# Refusals


def wrong_use(message: str) -> "MazurkaError":
    from mazurka.engine.errors import MazurkaError

    return MazurkaError(message)


def refuse_unknown(function: str, names: Iterable[str]) -> None:
    """A misspelt option of a decorator is better found when the module is imported."""
    for name in names:
        if name not in OPTIONS:
            raise wrong_use(no_such_option(function, name, OPTIONS))


def no_such_option(where: str, name: str, known: Iterable[str]) -> str:
    return f"{where} has no option {name!r}; it has {', '.join(known)}"


def no_such_name(what: str, name: object, known: Collection[str]) -> str:
    return f"there is no {what} {name!r}; choose one of {', '.join(known)}"


def check_name(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise wrong_use(no_such_name(what, name, known))


def check_limits(
    max_executions: int | None, time_limit: float | None, max_events: int, step_limit: float
) -> None:
    if max_executions is not None and not (isinstance(max_executions, int) and max_executions >= 1):
        raise wrong_use("max_executions must be a whole number, at least 1")
    if time_limit is not None and not time_limit > 0:
        raise wrong_use("time_limit must be more than 0 seconds")
    if max_events < 1:
        raise wrong_use("max_events must be at least 1")
    if not step_limit > 0:
        raise wrong_use("step_limit must be more than 0 seconds")


def jobs_wanted(jobs: int | str) -> int:
    """How many processes are to search. `auto` is all cores; each of the processes of pytest-xdist
    takes its share of them."""
    if isinstance(jobs, int):
        return jobs
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    sharing = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    return max(1, (cores or 1) // sharing)


def conflicts_wanted(k: int | str) -> int:
    """With how many events an alternative of `qpor` is to conflict, if there are so many."""
    from mazurka.engine.search import ALL_OF_THEM

    if k == "optimal":
        return ALL_OF_THEM
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise wrong_use(f"k must be a whole number, at least 1, or 'optimal', not {k!r}")
    return k


def only_trust(algorithm: str, task: str) -> str:
    """The algorithm for a task that no other one can do."""
    if algorithm not in ("pop", "trust"):  # "pop" is what nobody has chosen
        raise wrong_use(f"{algorithm} does not {task}: use trust")
    return "trust"

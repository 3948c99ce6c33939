"""The options of a search, and which of them go together."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace

from mazurka.engine.result import MazurkaError
from mazurka.engine.search import ALL_OF_THEM, Progress
from mazurka.explore.algorithms import ALGORITHMS, SAMPLERS, SAMPLES
from mazurka.explore.trust.bounds import bounds_of

GRANULARITIES = ("access", "sync")
EQUIVALENCES = ("mazurkiewicz", "reads-from")

DEFAULT_MAX_EVENTS = 100_000
DEFAULT_STEP_LIMIT = 30.0


@dataclass(frozen=True)
class Options:
    """What `mazurka.explore` was called with; it says what they mean."""

    algorithm: str
    max_executions: int | None
    time_limit: float | None
    stop_on_failure: bool
    independent_adds: bool
    max_events: int
    step_limit: float
    progress: Progress | None
    instrument: Sequence[str] | None
    setup: Callable[[], object] | None
    reset: Callable[[], object] | None
    granularity: str
    seed: int
    depth: int
    k: int | str
    preemptions: int | str | None
    strict_bound: bool
    equivalence: str
    loop_purity: bool
    awaits: bool
    unroll: int | None

    @property
    def reads_from(self) -> bool:
        return self.equivalence == "reads-from"

    def checked(self) -> "Options":
        """The options with the algorithm and the limit that they ask for. What cannot be done is
        refused, with a message that says what would work."""
        check_name("algorithm", self.algorithm, ALGORITHMS)
        check_name("granularity", self.granularity, GRANULARITIES)
        check_name("equivalence", self.equivalence, EQUIVALENCES)
        check_limits(self.max_executions, self.time_limit, self.max_events, self.step_limit)
        if self.depth < 1:
            raise MazurkaError("depth must be at least 1")
        conflicts_wanted(self.k)
        self.check_unroll()
        algorithm = self.algorithm
        if bounds_of(self.preemptions) is not None:
            algorithm = only_trust(algorithm, "bound preemptions")
        if self.reads_from:
            self.check_reads_from()
            algorithm = only_trust(algorithm, "explore up to reads-from equivalence")
        most = self.max_executions
        if algorithm in SAMPLERS and most is None and self.time_limit is None:
            most = SAMPLES
        return replace(self, algorithm=algorithm, max_executions=most)

    def check_unroll(self) -> None:
        if self.unroll is None:
            return
        if type(self.unroll) is not int or self.unroll < 1:
            raise MazurkaError("unroll must be a whole number, at least 1")
        if self.instrument is None:
            raise MazurkaError("unroll needs code that is rewritten: leave out instrument=None")

    def check_reads_from(self) -> None:
        if self.granularity == "sync" or self.preemptions is not None:
            other = "granularity='sync'" if self.granularity == "sync" else "preemptions"
            raise MazurkaError(
                f"{other} asks for the order of writes, which equivalence='reads-from' leaves "
                "open: leave one of them out"
            )


def check_name(what: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        raise MazurkaError(f"there is no {what} {name!r}; choose one of {', '.join(known)}")


def check_limits(
    max_executions: int | None, time_limit: float | None, max_events: int, step_limit: float
) -> None:
    if max_executions is not None and not (isinstance(max_executions, int) and max_executions >= 1):
        raise MazurkaError("max_executions must be a whole number, at least 1")
    if time_limit is not None and not time_limit > 0:
        raise MazurkaError("time_limit must be more than 0 seconds")
    if max_events < 1:
        raise MazurkaError("max_events must be at least 1")
    if not step_limit > 0:
        raise MazurkaError("step_limit must be more than 0 seconds")


def conflicts_wanted(k: int | str) -> int:
    """With how many events an alternative of `qpor` is to conflict, if there are so many."""
    if k == "optimal":
        return ALL_OF_THEM
    if isinstance(k, bool) or not isinstance(k, int) or k < 1:
        raise MazurkaError(f"k must be a whole number, at least 1, or 'optimal', not {k!r}")
    return k


def only_trust(algorithm: str, task: str) -> str:
    """The algorithm for a task that no other one can do."""
    if algorithm not in ("pop", "trust"):  # "pop" is what nobody has chosen
        raise MazurkaError(f"{algorithm} does not {task}: use trust")
    return "trust"

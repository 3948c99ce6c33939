"""The doors for Python code: explore a program, check it, replay a failure."""

import asyncio
import dis
import functools
import inspect
import os
import random
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from time import perf_counter
from types import MethodType
from typing import (
    TYPE_CHECKING,
    Any,
    NamedTuple,
    NoReturn,
    ParamSpec,
    TypeVar,
    Unpack,
    overload,
)

from mazurka.advice import advised
from mazurka.engine.errors import BeginsAnew, ConditionMet, MazurkaError
from mazurka.engine.event import Event
from mazurka.engine.following import follow, renamed
from mazurka.engine.memory_use import peak_memory_mb
from mazurka.engine.program import COMPLETE, Program, Request
from mazurka.engine.recording import Recorder, Samples, counted, schedule_of, text_of
from mazurka.engine.remembered import Mistaken, Remembered
from mazurka.engine.result import (
    DATA_RACE,
    EXCEPTION,
    NONDETERMINISM,
    OUTCOME,
    SHOWN_BY,
    STUCK,
    TOO_LONG,
    TRIED_FIRST,
    Failure,
    Recording,
    Result,
)
from mazurka.engine.schedule import Schedule
from mazurka.engine.search import Explorer, Search, explore_in_parts
from mazurka.engine.task import CannotSplit, Task
from mazurka.explore.algorithms import ALGORITHMS
from mazurka.explore.trust.bounds import Found, bounds_of, search_with_bounds
from mazurka.native.c_program import CProgram
from mazurka.options import (
    DEFAULT_STEP_LIMIT,
    OPTIONS,
    PYTHON,
    GivenOptions,
    Options,
    check_limits,
    check_name,
    conflicts_wanted,
    refuse_unknown,
)
from mazurka.python.check import RUNNING
from mazurka.python.debugging import Look, stop_at_failure
from mazurka.python.program import LEARNT, PythonProgram
from mazurka.python.scenario import Scenario
from mazurka.python.session import Session
from mazurka.python.source import COMPILED as COMPILED
from mazurka.python.source import users_traceback
from mazurka.report.explain import explained, replayed
from mazurka.report.shown import shown_as_html, shown_as_text
from mazurka.report.text import failure_groups, result_text

P = ParamSpec("P")

SHOWN_BY.update(text=shown_as_text, html=shown_as_html)


class NoLongerFails(MazurkaError):
    """A schedule fits its program, but does not lead to the failure any more."""


class DoesNotFit(NoLongerFails):
    """The same, of a program that has changed: its steps are other ones now."""


OUTDATED = "the execution of @mazurka.reproduce does not fail any more: take it away"
NOT_SEARCHED = "the failure was known from an earlier check: nothing else was explored"
NOT_IN_JOBS = "searches by workers keep no tree: leave out jobs, cluster, checkpoint and resume"
UNSEEN = "not everything was seen"
CALL_IT_OPAQUE = (
    "If you know that it does no harm, name its package: --opaque PACKAGE, or opaque=[...]."
)
MOST_EXPLAINED = 3  # ways to fail


class CheckFailed(AssertionError):
    """A check found a failing execution, or could not look at every execution."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckFailed, (str(self), self.result)


if TYPE_CHECKING:
    from mazurka.native.session import NativeSession
    from mazurka.report.progress import Progress
    from mazurka.scale.estimate import Estimator

    class ResultOrTest(Result):
        """What `check` makes of a function without parameters: called, it gives a Result; as a bare
        decorator it gives a test. A type checker cannot tell one from the other."""

        __name__: str
        __wrapped__: Callable[[], object]
        mazurka_options: dict[str, Any]

        def __call__(self) -> None: ...


class FreshFixture(NamedTuple):
    """What each execution makes for itself, by a function or a generator."""

    name: str
    function: Callable[..., Any]
    needs: tuple[str, ...]  # the names of its arguments


class Surroundings:
    """What a runner gives to a check, and executions may change though nobody sees it."""

    def put_back(self) -> None:
        """Called before each execution."""

    def undo_patches(self) -> None:
        """Called before what an execution has done to objects is put back."""

    def run_again(self) -> None:
        """Called before a failing execution is run once more, when the search is over."""

    def changed(self) -> str:
        """What was changed and is not put back, in words; "" if nothing is."""
        return ""

    def close(self) -> None:
        """Called when the check is over."""


Fixtures = tuple[list[FreshFixture], dict[str, Any]]


def no_fixtures(names: Sequence[str]) -> Fixtures:
    raise MazurkaError("fresh is for fixtures of pytest, which does not run this")


@dataclass
class Runner:
    """Whoever runs checks, as the pytest plugin does: it may know options, and hears of results."""

    defaults: dict[str, Any] = field(default_factory=dict)  # of checks that say nothing else
    overrides: dict[str, Any] = field(default_factory=dict)  # whatever the checks say
    time_limit: float | None = None  # seconds, if nobody says anything of a limit
    finished: Callable[[Result], object] = lambda result: None
    surroundings: Callable[[], Surroundings] = Surroundings  # made when a check begins
    # How executions make fixtures of these names for themselves, and the others that there are.
    fresh: Callable[[Sequence[str]], Fixtures] = no_fixtures
    # What a check is to try first, given its options and what is on it; what it is to run alone.
    known: Callable[[dict[str, Any], list[Schedule]], list[Schedule]] = lambda options, own: own
    replays: Callable[[], Schedule | None] = lambda: None
    watch: "Callable[[], Progress] | None" = None  # how far checks are
    interrupted: Callable[[Result], object] = lambda result: None  # if the user ends one
    needs: str = ""  # what tests get from it that they would not get in another process


@contextmanager
def checks_run_by(runner: Runner) -> Iterator[None]:
    RUNNING.runners.append(runner)
    try:
        yield
    finally:
        RUNNING.runners.pop()


def explore(program: Callable[[], object], **options: Unpack[GivenOptions]) -> Result:
    """Run a program once for every behaviour that differs.

    `algorithm`: "pop", "optimal" or "trust" (one execution for each trace), "source" (may meet
    redundant executions) or "naive" (every interleaving). `max_executions`, `time_limit`
    (seconds) and `memory_limit` (megabytes, all processes together) end the search early: the
    verdict is then "incomplete". `stop_on_failure=False` goes on and collects every failing
    execution. `independent_adds=False` explores the orders of `Atomic.add`s too.
    `jobs=4` searches in four processes, `jobs="auto"` in as many as there are cores.
    `cluster="ray"`, or the address of a cluster of Ray, searches there.
    `checkpoint="file"` writes what was found and what is left to a file, every minute and at the
    end; `resume="file"` goes on from there.
    `max_events` is the number of steps after which an execution counts as endless, `step_limit` the
    seconds that a thread may take from one step to the next. What threads do to ordinary objects is
    seen in all Python code that runs, but for the packages named in `opaque`, which you know to be
    harmless, and for parts of the standard library; those named in `instrument` are seen, too. With
    `instrument=None`, operations of `mazurka` and of the standard library are all that is seen. If
    other code may have mattered that was not seen, the verdict is "incomplete".
    `setup` is called before each execution and `reset` after it: they put back what Mazurka cannot.
    With `granularity="access"` each access to an ordinary object that threads share is a step. With
    "sync" only synchronisation is, and two such accesses that nothing orders are a data race, which
    is a failure: this is quicker, and as thorough for programs that are to have no data races.
    Python programs have "access" unless you say otherwise, C programs "sync".

    The algorithms "random", "pct" and "pos" run executions that are taken at random, 1,000 of them
    unless a limit says otherwise, for programs that have too many to run them all. `seed` says
    which; `depth` is how many orderings a failure may take that "pct" is to find. Their verdict is
    "incomplete", unless they meet a failure.

    The algorithm "qpor" has fewer redundant executions the larger `k` is, and none with
    `k="optimal"`; but each execution then takes longer to find.

    `preemptions=k` leaves out executions in which threads are preempted more than k times, by the
    algorithm "trust"; if some were left out, the verdict is "bounded". `preemptions="0.."` begins
    with none, and goes on with more until there is a failure, or nothing is left out, or a limit is
    reached. Some executions beyond the bound are met all the same: if they fail, that is told, or
    not with `strict_bound=True`.

    With `equivalence="reads-from"` executions count as one if each read gets its value from the
    same write, whatever the order of the writes, by the algorithm "trust": they may be fewer.

    With `leaks=True`, memory of a C program that is never freed is a failure.

    A thread that goes round in a loop and changes nothing is cut there, and loops that poll become
    awaits: `loop_purity=False` and `awaits=False` switch that off, but for loops which do nothing
    but poll. `unroll` bounds the rounds of all other loops that have steps: an execution that goes
    beyond is blocked, and the verdict is then "bounded".

    A wait with a timeout may time out at any moment; with `timeouts="last"` only when no thread can
    go on, and then the one whose time is up first. Tasks of asyncio that are ready go on in any
    order; with `asyncio_order="fifo"` in that of asyncio itself.

    With `remember=True`, executions in which each thread only repeats what it was seen to do are
    computed, not run. What is remembered takes up to `remember_mb` megabytes.

    `try_first` has schedules of failures: they are run before the search, as far as they fit. If
    one fails, that is the failure; if not, the search goes on as ever. The command line and pytest
    keep what fails in the folder `.mazurka`, and try it first, unless `keep_failures=False`.

    With `record=True`, the result keeps what `write_html` shows of the search itself: the tree of
    executions, an execution for each outcome, and how the figures grew.
    """
    refuse_unknown("explore", options)
    return explore_with(program, Options(**options))


def shown_signature() -> inspect.Signature:
    """What `help` and notebooks show of `explore`: all options, with their defaults."""
    shown = inspect.signature(explore)
    program, _ = shown.parameters.values()
    options = [
        inspect.Parameter(
            option.name, inspect.Parameter.KEYWORD_ONLY, default=option.default, annotation=kind
        )
        for option, kind in zip(OPTIONS.values(), Options.__annotations__.values(), strict=True)
    ]
    return shown.replace(parameters=[program, *options])


vars(explore)["__signature__"] = shown_signature()


def explore_with(program: Callable[[], object], options: Options) -> Result:
    return explore_all(program, None, options)[0]


def explore_tasks(
    program: Callable[[], object], tasks: Sequence[Task], **options: Unpack[GivenOptions]
) -> tuple[Result, list[Task]]:
    """Explore some tasks of a search, and give what is left of them. `Task(algorithm)` is all.

    The tasks that a search leaves, as a limit or a failure has ended it, can be taken up by others,
    in other processes and in any order, with the same options: no execution is explored twice, and
    results add up. Whoever adds them concludes the verdict (`Result.conclude`) in the end. A
    CannotSplit says that an algorithm cannot hand over work, an Outdated that the whole search
    must begin anew, as something about the program was not known.
    """
    refuse_unknown("explore_tasks", options)
    return explore_all(program, tasks, Options(**options))


def explore_all(
    program: Callable[[], object], tasks: Sequence[Task] | None, options: Options
) -> tuple[Result, list[Task]]:
    """The one way in: explore a whole program, or tasks."""
    begun = perf_counter()
    function = undecorated(program)
    program = runnable(function)
    check_program(program)
    options = options.checked().with_granularity(isinstance(program, CProgram))
    if isinstance(program, CProgram):
        refuse_for_c(options)
    else:
        refuse_for_python(options)
    if tasks is not None and options.needs_workers:
        raise MazurkaError(
            "jobs, cluster, checkpoint and resume are for whole searches, not for tasks"
        )
    first = Result(algorithm=options.algorithm, equivalence=options.equivalence)
    if tasks is None:
        try_schedules(program, options, first)
    if first.failures and options.stop_on_failure:
        if options.record:
            first.recording = Recording(cut=NOT_SEARCHED)
        first.seconds = max(perf_counter() - begun - first.explaining, 0.0)
        first.reason = TRIED_FIRST
        conclude(first, options, program, False)
        return first, []
    left: list[Task] = []
    if options.needs_workers:
        result = explored_in_jobs(function, program, options, begun)
    else:
        result, left = explore_here(program, tasks, options, begun)
    add_tried(result, first)
    return result, left


# Schedules that are tried first


def try_schedules(program: Callable[[], object], options: Options, found: Result) -> None:
    """Run the executions that are to be tried before the search; up to the first that fails, if
    that is enough. Those that were made with other options have to wait for these."""
    for schedule in options.try_first:
        if not may_try(schedule, program, options):
            continue
        session = session_of(program, options)
        begun = perf_counter()
        try:
            failure, runs = session.run(partial(tried, schedule, options), learnt_by(schedule))
        except MazurkaError:
            continue  # the search will say what is wrong with the program
        if failure is None:
            found.outdated.append(schedule)
            continue
        found.explaining += perf_counter() - begun
        found.again.append(schedule)
        add_failure(found, failure)
        found.complete += runs - 1  # it was not met at once
        found.threads = session.threads[-1]
        found.warnings = list(dict.fromkeys([*found.warnings, *session.warnings]))
        if options.stop_on_failure:
            return


def may_try(schedule: Schedule, program: Callable[[], object], options: Options) -> bool:
    """Whether a schedule is one of this search."""
    if schedule.failure == NONDETERMINISM or options.resume is not None:
        return False
    if options.strict_bound and options.preemptions is not None:
        return False  # it may take more
    wanted = {**options.saved(), **own_options(program)}
    return all(schedule.options.get(name, value) == value for name, value in wanted.items())


def learnt_by(schedule: Schedule) -> dict[str, list[str]]:
    """What the search had learnt that has found a schedule."""
    return {word: list(schedule.options.get(word, ())) for word in LEARNT}


def tried(schedule: Schedule, options: Options, program: Program) -> tuple[Failure | None, int]:
    """The failure that a schedule leads to, if it still does, and after how many executions."""
    runs = followed_again(schedule, program)
    if not runs:
        return None, 0
    return explained(program, program.failure(), not options.reads_from), runs


def followed_again(schedule: Schedule, program: Program) -> int:
    """Follow a schedule in a program that may have changed: in how many executions it has led to a
    failure; 0 if it does not."""
    program.run(Request([]))  # which shows the names that things have now
    now = renamed(schedule, program.steps_of(program.events))
    for runs, is_late in ((1, False), (2, True)):
        run = follow(program, now, is_late)
        if run.answer.failed:
            return runs
        if run.fits:
            break
    return 0


def add_tried(result: Result, first: Result) -> None:
    """Add what was tried before a search: failures that the search has not met, too."""
    result.again = first.again
    result.outdated = first.outdated
    for failure in first.failures:
        if not any(failure.schedule.is_same_failure(met.schedule) for met in result.failures):
            add_failure(result, failure)
            result.verdict = "failed"


def add_failure(result: Result, failure: Failure) -> None:
    """Add an execution that fails."""
    result.failures.append(failure)
    if failure.kind in (EXCEPTION, DATA_RACE) and not failure.waiting:
        result.complete += 1
    else:
        result.blocked += 1


def explore_here(
    program: Callable[[], object],
    tasks: Sequence[Task] | None,
    options: Options,
    begun: float,
    pause_after: float = -1.0,
) -> tuple[Result, list[Task]]:
    """Explore in this process (or, if it is a C program, in one for that)."""
    if options.progress is not None:
        # Code that comes while the program is run is taken for its own, and the search begins anew.
        import mazurka.scale.estimate  # noqa: F401
    learnt = {} if tasks is None else check_tasks(tasks, options)
    session = session_of(program, options)
    is_whole = tasks is None or all(task.is_whole for task in tasks)
    told = options
    if not isinstance(session, Session) and options.progress is not None:
        told = replace(options, progress=session.tell)  # who hears of it is in another process
    result, everything, left = session.run(
        lambda program: searched(program, tasks, told, begun, pause_after), learnt, is_whole
    )
    known = result.seconds + result.explaining
    result.preparation = max(perf_counter() - begun - known, 0.0)
    result.warnings.extend(session.warnings)
    result.threads = session.threads[-1]
    conclude(result, options, program, everything and is_whole)
    if everything and not is_whole:
        result.reason = "only some tasks were explored"
    return result, left


def interrupted(result: Result, options: Options) -> Result:
    """The result so far of a search that the user has ended."""
    result.algorithm = result.algorithm or options.algorithm
    result.reason = "interrupted"
    result.verdict = "failed" if result.failures else "incomplete"
    result.advice = advised(result, options)
    return result


def conclude(result: Result, options: Options, program: object, everything: bool) -> None:
    """Say what the verdict rests on, and give it."""
    result.opaque = list(options.opaque)
    result.assuming = options.assumptions()
    if isinstance(program, Scenario):
        result.assuming += program.assuming
    if result.warnings and not result.doubt:
        result.doubt = UNSEEN
    if not isinstance(program, CProgram):
        result.mending = CALL_IT_OPAQUE
    note_options(result, options, program)
    result.conclude(everything)
    result.advice = advised(result, options)


def explored_in_jobs(
    function: Callable[[], object], program: Callable[[], object], options: Options, begun: float
) -> Result:
    """Explore a whole program in several processes."""
    from mazurka.in_jobs import explored_by_workers  # these take long to import
    from mazurka.scale.programs import named

    def begin(
        options: Options, task: Task, begun: float, seconds: float
    ) -> tuple[Result, list[Task]]:
        return explore_here(program, [task], options, begun, seconds)

    kept = kept_options(options)
    samples = Samples()
    if options.record:
        options = replace(options, progress=sampled(options.progress, samples))
    result, everything = explored_by_workers(named(function), options, kept, begun, begin)
    if options.record:
        result.recording = Recording(samples=samples.close(result), cut=NOT_IN_JOBS)
    if result.failures:
        explain_elsewhere(program, result, options)
    conclude(result, options, program, everything)
    return result


def searched_once(
    program: Program,
    tasks: Sequence[Task] | None,
    options: Options,
    begun: float,
    pause_after: float = -1.0,
) -> Found:
    """Search a program as the options say, with one bound after the other if they say so. What has
    come before, since the check has begun, counts for its time limit."""
    late = perf_counter() - begun
    bounds = bounds_of(options.preemptions)

    def search_by(algorithm: str, bound: int, time_limit: float | None) -> Found:
        search = new_search(program, options, algorithm, time_limit)
        search.preemptions = bound
        search.late = late
        search.pause_after = pause_after
        return run_search(search, tasks, options)

    if bounds is not None:
        return search_with_bounds(bounds, options.time_limit, search_by)
    algorithm = tasks[0].algorithm if tasks else options.algorithm
    try:
        return search_by(algorithm, -1, options.time_limit)
    except ConditionMet:  # this one takes them, and is as thorough
        return search_by("trust", -1, options.time_limit)


def searched(
    program: Program,
    tasks: Sequence[Task] | None,
    options: Options,
    begun: float,
    pause_after: float = -1.0,
) -> Found:
    """Search a program as the options say; anew, with every execution run, if what was computed
    of one turns out to be wrong. Where that may be, tasks run all: what others have counted cannot
    be taken back."""
    if tasks is not None and not program.sees_all():
        options = replace(options, remember=False)
    try:
        return searched_once(program, tasks, options, begun, pause_after)
    except Mistaken as mistaken:
        forgetful = replace(options, remember=False)
        found = searched_once(program, tasks, forgetful, begun, pause_after)
        why = f"threads share what is not seen ({mistaken}): the search began anew"
        found[0].unremembered = why
        return found


def session_of(program: Callable[[], object], options: Options) -> "Session | NativeSession":
    """How the front end is to run a program: by those of the options that it has."""
    if isinstance(program, CProgram):
        from mazurka.native.program import Manner  # it takes a while to import
        from mazurka.native.session import NativeSession

        names = [part.name for part in fields(Manner)]
        manner = Manner(**{name: getattr(options, name) for name in names})
        return NativeSession(program, manner, options.step_limit, options.progress, options.opaque)
    names = [part.name for part in fields(Session) if part.name in OPTIONS]
    return Session(program, **{name: getattr(options, name) for name in names})


def refuse_for_python(options: Options) -> None:
    """Options that only C programs have."""
    if options.leaks:
        raise MazurkaError("leaks is there for C programs only: leave it out")


def refuse_for_c(options: Options) -> None:
    """Options that only Python programs have."""
    for option in OPTIONS.values():
        value = getattr(options, option.name)
        if PYTHON in option.of and option.name not in ("step_limit", "awaits", "opaque"):
            value = tuple(value) if isinstance(value, list) else value
            if value != option.default:
                raise MazurkaError(f"{option.name} is not there for C programs yet: leave it out")


def explorer_of(
    program: Program, options: Options, task: Task, first: list[Event] | None
) -> Explorer:
    """Who explores a task; the first execution of the program is run if it is not known."""
    search = new_search(program, replace(options, remember=False), task.algorithm, None)
    if options.preemptions is not None:
        search.preemptions = int(options.preemptions)
    if first is None:
        search.repeats_itself()
    else:
        search.first = first
    explorer = ALGORITHMS[task.algorithm](search)
    if not task.is_whole and not search.is_broken:
        explorer.take_up(task)
    return explorer


def remembering(program: Program, options: Options) -> Program:
    """A program as searches run it: by what its threads are known to do, if they are to remember
    that."""
    if not options.remember:
        return program
    return Remembered(program, options.max_events, options.remember_mb)


def new_search(
    program: Program, options: Options, algorithm: str, time_limit: float | None
) -> Search:
    search = Search(
        remembering(program, options),
        Result(algorithm=algorithm, equivalence=options.equivalence),
        options.stop_on_failure,
        options.max_executions,
        time_limit,
        options.progress,
    )
    search.seed = options.seed
    search.depth = options.depth
    search.k = conflicts_wanted(options.k)
    if options.memory_limit is not None:
        search.memory_limit = options.memory_limit
    search.strict_bound = options.strict_bound
    search.reads_from = options.reads_from
    return search


def run_search(search: Search, tasks: Sequence[Task] | None, options: Options) -> Found:
    """Run a search to its end."""
    result = search.result
    explorer = ALGORITHMS[result.algorithm](search)
    if tasks is not None and explorer.cannot_split:
        raise explorer.refusal()
    for task in tasks or ():
        if not task.is_whole:
            explorer.take_up(task)
    recorder = recorder_of(search) if options.record and tasks is None else None
    everything = search.repeats_itself() and explored(search, explorer, tasks, options)
    everything = everything and explore_in_parts(search, ALGORITHMS[result.algorithm])
    result.seconds = search.seconds()
    result.memory_mb = peak_memory_mb()
    result.outcomes.update(search.outcomes)
    program = search.program
    if isinstance(program, Remembered):
        result.computed = program.newly_computed()
        result.unremembered = program.why_not
        program = program.program  # explanations are of runs
    left: list[Task] = []
    if tasks is not None and search.is_broken:
        left = list(tasks)
    elif tasks is not None and not everything:
        kept, learnt = kept_options(options), search.program.learnt()
        left = [replace(task, options=kept, learnt=learnt) for task in explorer.split()]
    if recorder is not None:
        begun = perf_counter()
        result.recording = recorder.close(search.program)
        result.explaining = perf_counter() - begun
    if result.failures and tasks is None:  # else whoever adds results up does that
        result.failures, seconds = explained_failures(program, result, options)
        result.explaining += seconds
    return result, everything, left


def explored(
    search: Search, explorer: Explorer, tasks: Sequence[Task] | None, options: Options
) -> bool:
    """Explore; if somebody watches, with estimates of how much there is."""
    is_whole = tasks is None and options.timeouts != "last" and not options.remember
    if options.progress is None or not is_whole or explorer.cannot_split:
        return explorer.explore()
    from mazurka.scale.estimate import Looks  # which is there already: see `explore_here`

    looks = Looks(
        lambda: estimator_of(search.program, options, search.result.algorithm, search.preemptions)
    )
    return looks.explore(explorer, search)


def estimator_of(
    program: Program, options: Options, algorithm: str, preemptions: int
) -> "Estimator":
    """What looks at parts of the tree of a search."""
    from mazurka.scale.estimate import Estimator

    options = replace(options, stop_on_failure=False, remember=False, progress=None)
    options = replace(options, max_executions=None, memory_limit=None)
    search = new_search(program, options, algorithm, None)
    search.preemptions = preemptions
    search.repeats_itself()
    explorer = ALGORITHMS[algorithm](search)

    def below(branch: object) -> Any:
        found = explorer.below(branch)
        search.result.failures.clear()  # those are for the search to find
        return found

    return Estimator(below, random.Random(0))


def recorder_of(search: Search) -> Recorder:
    """Have a search tell of all that it does."""
    recorder = Recorder(search.result)
    search.observe = recorder.look
    search.progress = sampled(search.progress, recorder.samples)
    return recorder


def sampled(
    progress: Callable[[Result], None] | None, samples: Samples
) -> Callable[[Result], None]:
    def tell(result: Result) -> None:
        samples.take(result)
        if progress is not None:
            progress(result)

    return tell


def explained_failures(
    program: Program, result: Result, options: Options
) -> tuple[list[Failure], float]:
    """Explain the failures that people will see, and say how long it took. What is learnt about the
    program on the way is of no use any more: the search is over, and its counts stay as they are.
    """
    begun = perf_counter()
    failures = list(result.failures)
    for first, *_ in failure_groups(failures)[:MOST_EXPLAINED]:
        place = next(at for at, failure in enumerate(failures) if failure is first)
        try:
            failures[place] = explained(program, first, not options.reads_from)
        except (BeginsAnew, MazurkaError):
            break  # it turned out to be another program than the one that was searched
    return failures, perf_counter() - begun


def explain_elsewhere(program: Callable[[], object], result: Result, options: Options) -> None:
    """Explain failures that other processes have found."""

    def explain(program: Program) -> tuple[list[Failure], float]:
        for _ in range(2):  # so that it is known what is there before an execution
            program.run(Request([]))
        return explained_failures(program, result, options)

    session = session_of(program, options)
    learnt = learnt_by(result.failures[0].schedule)
    result.failures, result.explaining = session.run(explain, learnt)


def check_tasks(tasks: Sequence[Task], options: Options) -> dict[str, list[str]]:
    """Refuse tasks of other searches; gives what these had learnt."""
    learnt: dict[str, list[str]] = {}
    kept = kept_options(options)
    if isinstance(options.preemptions, str) and options.preemptions.endswith(".."):
        raise CannotSplit("a search with one bound after the other cannot hand over work: give one")
    if options.timeouts == "last":
        raise CannotSplit("a search with timeouts='last' cannot hand over work: leave it out")
    if not tasks:
        raise MazurkaError(f"no tasks were given: Task({options.algorithm!r}) is all of a search")
    if len({task.algorithm for task in tasks}) > 1:
        raise MazurkaError("the tasks were left by several algorithms")
    for task in tasks:
        check_name("algorithm", task.algorithm, ALGORITHMS)
        if task.is_whole and task.algorithm != options.algorithm:
            raise MazurkaError(
                f"the task is for {task.algorithm}, the search for {options.algorithm}"
            )
        differing = [
            name for name in kept if not task.is_whole and task.options.get(name) != kept[name]
        ]
        if differing:
            was = ", ".join(f"{name}={task.options.get(name)!r}" for name in differing)
            raise MazurkaError(f"the task was left by a search with {was}")
        for word, names in task.learnt.items():
            learnt[word] = sorted({*learnt.get(word, []), *names})
    return learnt


def kept_options(options: Options) -> dict[str, Any]:
    """What must be the same for all tasks of a search."""
    of_search = ("algorithm", "preemptions", "strict_bound")
    return {**options.saved(), **{name: getattr(options, name) for name in of_search}}


def note_options(result: Result, options: Options, program: object) -> None:
    """Say in the schedules how the program was run: they fit it only if it is run so again."""
    for failure in result.failures:
        kept = {**failure.schedule.options, **options.saved(), **own_options(program)}
        failure.schedule = replace(failure.schedule, options=kept)
    schedules = result.recording.schedules if result.recording is not None else {}
    for outcome, schedule in schedules.items():
        kept = {**schedule.options, **options.saved(), **own_options(program)}
        schedules[outcome] = replace(schedule, options=kept)


def own_options(program: object) -> dict[str, Any]:
    """What schedules keep of a C program; one with a specification has a name, which says it."""
    if not isinstance(program, CProgram) or program.specification is not None:
        return {}
    return {"flags": list(program.flags), "args": list(program.args)}


def check_program(program: object) -> None:
    """Refuse what cannot be explored, with a message that says what would work."""
    if isinstance(program, CProgram):
        return
    if not callable(program):
        raise MazurkaError(f"a program is a function, not {program!r}")
    refuse_unusual(program)
    try:
        inspect.signature(program).bind()
    except TypeError as error:
        raise MazurkaError(
            f"{name_of(program)} cannot be called without arguments ({error}): "
            "wrap it in a function that passes them"
        ) from error
    except ValueError:  # a built-in that does not tell its signature
        pass


def refuse_unusual(program: object) -> None:
    """Calling a generator function would run nothing of it."""
    if inspect.isgeneratorfunction(program) or inspect.isasyncgenfunction(program):
        raise MazurkaError(f"{name_of(program)} is a generator: give a plain function")


def runnable(program: Callable[P, object]) -> Callable[P, object]:
    """A plain function that does what a program does; a coroutine function needs an event loop."""
    if not inspect.iscoroutinefunction(program):
        return program

    @functools.wraps(program)
    def run(*arguments: P.args, **named: P.kwargs) -> object:
        return asyncio.run(program(*arguments, **named))

    return run


@overload
def check(
    program: None = None, *, fresh: Sequence[str] = (), **options: Unpack[GivenOptions]
) -> Callable[[Callable[P, object]], Callable[P, None]]: ...
@overload
def check(program: Callable[[], object]) -> "ResultOrTest": ...
@overload
def check(program: Callable[[], object], **options: Unpack[GivenOptions]) -> Result: ...
@overload
def check(  # type: ignore[overload-cannot-match]  # it can: by functions with parameters
    program: Callable[P, object],
) -> Callable[P, None]: ...
def check(
    program: Callable[..., object] | None = None,
    *,
    fresh: Sequence[str] = (),
    **options: Unpack[GivenOptions],
) -> Callable[..., Any] | Result:
    """Explore a program, and raise CheckFailed unless no execution fails.

    Either call it, `mazurka.check(program, time_limit=60)`, which gives the Result; or put it on a
    test, as `@mazurka.check` or `@mazurka.check(time_limit=60)`: the test then explores its own
    body. Takes the options of `explore`. Such a test has its body in `__wrapped__`, and the options
    in `mazurka_options`. Fixtures of pytest that `fresh` names are made anew for each execution.
    """
    __tracebackhide__ = True  # pytest leaves out frames with such a variable
    refuse_unknown("check", options)
    given = dict(options)
    if program is None:
        if isinstance(fresh, str):
            raise MazurkaError(f"fresh is a list of names, not {fresh!r}")
        return partial(checked, options=given, fresh=tuple(fresh))
    if fresh:
        raise MazurkaError("fresh is for tests: write @mazurka.check(fresh=[...]) above one")
    if not given and applied_as_decorator():
        return checked(program, given)
    return run_check(program, given)


def applied_as_decorator() -> bool:
    """Whether `check` was called by a bare `@mazurka.check` line.

    `check(test)` must explore at once and `@check` must not, though both pass one function. Python
    compiles the application of a decorator to a call instruction that counts no arguments.
    """
    frame = sys._getframe(2)
    code = frame.f_code.co_code
    instruction = frame.f_lasti
    while dis.opname[code[instruction]] == "CACHE":  # room that belongs to the call before it
        instruction -= 2
    return dis.opname[code[instruction]] == "CALL" and code[instruction + 1] == 0


def checked(
    function: Callable[..., Any], options: dict[str, Any], fresh: Sequence[str] = ()
) -> Callable[..., None]:
    """The function of a test that checks its own body."""
    refuse_undecoratable(function)
    call = runnable(function)

    @functools.wraps(function)
    def test(*arguments: Any, **named: Any) -> None:
        __tracebackhide__ = True
        if fresh:
            run_check(with_fresh_fixtures(function, arguments, named, fresh), options)
            return

        @functools.wraps(function)
        def program() -> Any:
            return call(*arguments, **named)

        del program.__wrapped__  # it takes no arguments any more
        vars(program)["mazurka_body"] = body_elsewhere(function, arguments, named)
        first = [*schedules_on(test), *options.get("try_first", ())]
        run_check(program, {**options, "try_first": first})

    vars(test)["mazurka_options"] = options
    return test


def body_elsewhere(
    function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]
) -> Callable[[], object] | str:
    """What other processes are to find of a test that is called: its body, or why they cannot."""
    needs = runner_now().needs
    if needs:
        return f"it needs {needs}, which is there in this process alone"
    if not arguments and not named:
        return function
    owner = type(arguments[0]) if len(arguments) == 1 and not named else object
    if inspect.unwrap(getattr(owner, function.__name__, type)) is inspect.unwrap(function):
        return MethodType(function, arguments[0])
    return "it is called with arguments"


def with_fresh_fixtures(
    function: Callable[..., Any],
    arguments: tuple[Any, ...],
    named: dict[str, Any],
    names: Sequence[str],
) -> Callable[[], Any]:
    """A program that makes some fixtures for itself, calls a function, and tears them down."""
    fixtures, others = runner_now().fresh(names)
    call = runnable(function)

    @functools.wraps(function)
    def program() -> Any:
        made = {**others, **named}
        endings = []
        try:
            for fixture in fixtures:
                value = fixture.function(**{need: made[need] for need in fixture.needs})
                if inspect.isgenerator(value):
                    endings.append(value)
                    value = next(value)
                made[fixture.name] = value
            return call(*arguments, **{name: made[name] for name in named})
        finally:
            for ending in reversed(endings):
                next(ending, None)

    del program.__wrapped__
    vars(program)["mazurka_body"] = f"it needs fixtures of pytest ({', '.join(names)})"
    return program


def refuse_undecoratable(function: object) -> None:
    """Refuse what `check` cannot decorate."""
    if isinstance(function, staticmethod | classmethod):
        kind = type(function).__name__
        raise MazurkaError(f"put @mazurka.check below @{kind}, right above the function")
    if inspect.isclass(function):
        raise MazurkaError(f"{name_of(function)} is a class: put @mazurka.check on its methods")
    if not callable(function):
        raise MazurkaError(f"@mazurka.check decorates functions, not {function!r}")
    if is_checked(function):
        raise MazurkaError(f"{name_of(function)} is decorated with @mazurka.check twice")
    refuse_unusual(function)


def is_checked(function: object) -> bool:
    """Whether a function is decorated with `check`, maybe below another decorator."""
    return "mazurka_options" in getattr(function, "__dict__", {})


def undecorated(program: Callable[[], object]) -> Callable[[], object]:
    """The body of a test that is decorated with `check`; any other program is given as it is."""
    function: Any = getattr(program, "__func__", program)  # of a method
    if not is_checked(function):
        return program
    if getattr(function, "__globals__", None) is not globals():
        raise MazurkaError(
            f"{name_of(function)} has another decorator on top of @mazurka.check, which would be "
            "left out: put @mazurka.check above it"
        )
    body: Callable[[], object] = function.__wrapped__
    return MethodType(body, program.__self__) if hasattr(program, "__self__") else body


def runner_now() -> Runner:
    return RUNNING.runners[-1] if RUNNING.runners else Runner()


def run_check(program: Callable[[], object], options: dict[str, Any]) -> Result:
    __tracebackhide__ = True
    runner = runner_now()
    given = {**runner.defaults, **options, **runner.overrides}
    try:
        schedule = runner.replays()
        if schedule is None:
            own = list(given.get("try_first", ()))
            wanted = Options(**{**given, "try_first": runner.known(given, own)})
            if runner.time_limit is not None and "time_limit" not in given:
                wanted = wanted.limited_to(runner.time_limit)
            result = watched(program, wanted, runner)
            warn_of_outdated(program, own, result)
        else:
            result = result_of_replay(program, schedule)
    except MazurkaError as error:
        error.__traceback__ = users_traceback(error)
        raise
    outcome = called_off(result)
    if outcome is not None:
        raise outcome
    runner.finished(result)
    if result.verdict not in ("verified", "bounded"):
        raise_failed(program, result)
    return result


def raise_failed(program: object, result: Result) -> NoReturn:
    """Raise a CheckFailed, from what a failing execution has raised."""
    __tracebackhide__ = True
    cause = result.failures[0].exception if result.failures else None
    if cause is not None:
        cause = cause.with_traceback(users_traceback(cause))
    raise CheckFailed(result_text(name_of(program), result), result) from cause


def warn_of_outdated(program: object, own: list[Schedule], result: Result) -> None:
    """Tell who has put `reproduce` on a test that there is nothing to reproduce."""
    if any(schedule in result.outdated for schedule in own):
        warnings.warn(f"{name_of(program)}: {OUTDATED}", stacklevel=5)


def explored_in(
    surroundings: Surroundings, program: Callable[[], object], options: Options
) -> Result:
    """Explore a program for which some things are put back before each execution."""
    outer = RUNNING.put_back, RUNNING.undo_patches
    RUNNING.put_back, RUNNING.undo_patches = surroundings.put_back, surroundings.undo_patches
    try:
        result = explore_with(program, options)
        if result.failures and called_off(result) is None:
            surroundings.run_again()
            leave_as_failed(program, result.failures[0].schedule, options)
        changed = surroundings.changed()
    finally:
        RUNNING.put_back, RUNNING.undo_patches = outer
        surroundings.close()
    if changed and result.verdict in ("verified", "bounded"):
        result.verdict = "incomplete"
        result.reason = result.doubt = changed
    return result


def leave_as_failed(program: Callable[[], object], schedule: Schedule, options: Options) -> None:
    """Run a failing execution once more: what a runner shows of output, logs and files is then that
    of this one, and not that of a neighbour which was run to explain it."""
    if schedule.failure in (STUCK, TOO_LONG) or options.needs_workers:
        return  # it takes long, or has left nothing here
    if isinstance(program, CProgram):
        return
    with suppress(MazurkaError):
        replay(
            program,
            schedule,
            step_limit=options.step_limit,
            setup=options.setup,
            reset=options.reset,
        )


def watched(program: Callable[[], object], options: Options, runner: Runner) -> Result:
    """Explore, and tell how far it is; what is known is kept if the user ends it."""
    surroundings = runner.surroundings()
    if runner.watch is None or options.progress is not None:
        return explored_in(surroundings, program, options)
    with runner.watch() as progress:
        try:
            return explored_in(surroundings, program, replace(options, progress=progress))
        except KeyboardInterrupt:
            runner.interrupted(interrupted(progress.result, options))
            raise


# How a test says that it is to be skipped, that it is known to fail, or that no test is to follow.
TEST_OUTCOMES = (
    ("_pytest.outcomes", "Skipped"),
    ("_pytest.outcomes", "XFailed"),
    ("_pytest.outcomes", "Exit"),
    ("unittest.case", "SkipTest"),
)


def called_off(result: Result) -> BaseException | None:
    """The `pytest.skip()` or the like by which a test has called itself off.

    Every execution must have said so (the search usually ends with the first): a test that is
    skipped under some schedules only has a mistake, and must not hide it.
    """
    modules = sys.modules
    kinds = tuple(getattr(modules[at], name) for at, name in TEST_OUTCOMES if at in modules)
    said = [failure.exception for failure in result.failures]
    if said and len(said) == result.executions and all(isinstance(one, kinds) for one in said):
        return said[0]
    return None


R = TypeVar("R", bound=Callable[..., object])


def reproduce(schedule: str) -> Callable[[R], R]:
    """Have the check of a test run a failing execution first, before all others: a decorator, for
    tests that are decorated with `check`, and for functions that `mazurka check` checks.

    The text is what reports give, in CI for example. If that execution does not fail any more, a
    warning says so, and everything is explored as ever.
    """
    known = Schedule.from_text(schedule)

    def mark(function: R) -> R:
        vars(function)["mazurka_schedules"] = [known, *schedules_on(function)]
        return function

    return mark


def schedules_on(function: object) -> list[Schedule]:
    """Those that `reproduce` has put on a function."""
    return list(getattr(function, "mazurka_schedules", ()))


def replay(
    program: Callable[[], object],
    schedule: Schedule | str,
    *,
    step_limit: float = DEFAULT_STEP_LIMIT,
    setup: Callable[[], object] | None = None,
    reset: Callable[[], object] | None = None,
    at_failure: Look | None = None,
) -> Failure:
    """Run the one execution that a schedule describes; gives the failure that it leads to. If the
    program has changed, the schedule is followed as far as it fits.

    `at_failure` is called where a Python program fails, for each thread that has an exception or
    that waits for ever: with some words, and a traceback or a frame, while it still stands there.

    Raises NoLongerFails when that execution does not fail any more; a DoesNotFit is one that says
    that the program has changed, so that the schedule does not fit all of it. What the schedule of
    an outcome leads to is given as if it were a failure, of the kind "outcome".
    """
    if isinstance(schedule, str):
        schedule = Schedule.from_text(schedule)
    program = runnable(undecorated(program))
    check_program(program)
    check_limits(None, None, 1, step_limit)
    if schedule.failure == NONDETERMINISM:
        raise MazurkaError(
            "nondeterminism is a difference between two runs and cannot be replayed: "
            "check the program again"
        )

    options = replace(
        Options.of_schedule(schedule.options), step_limit=step_limit, setup=setup, reset=reset
    ).with_granularity(isinstance(program, CProgram))
    session = session_of(program, options)

    def run(program: Program) -> Failure:
        if at_failure is not None:
            if not isinstance(program, PythonProgram):
                raise MazurkaError("there is no stopping at the failure of a C program")
            stop_at_failure(program, at_failure)
        return followed(program, schedule)

    return session.run(run, learnt_by(schedule))


def check_replay(program: Callable[[], object], schedule: Schedule | str) -> None:
    """Run the one execution that a schedule describes, as far as it fits, and raise CheckFailed if
    it fails. This is for tests that 'mazurka check --save-test' writes."""
    __tracebackhide__ = True
    result = result_of_replay(program, schedule)
    if result.failures:
        raise_failed(program, result)


def result_of_replay(program: Callable[[], object], schedule: Schedule | str) -> Result:
    """What comes of the one execution that a schedule describes: a search that found nothing else,
    and so can verify nothing."""
    result = Result("bounded", "replay", bound="one execution")
    try:
        add_failure(result, replay(program, schedule))
        result.verdict = "failed"
    except NoLongerFails:
        result.complete = 1
    return result


def followed(program: Program, schedule: Schedule) -> Failure:
    """Run the steps of a schedule once, and give the failure that they lead to."""
    run = follow(program, schedule)
    answer = run.answer
    if schedule.failure == OUTCOME and answer.status == COMPLETE and not answer.failed:
        outcome = text_of(counted(program.outcome()))
        length = len(program.events)
        steps = program.account()
        return Failure(OUTCOME, outcome, schedule_of(program, outcome, length), steps)
    if answer.failed:
        return replayed(program.failure(), schedule)
    if run.fits:
        raise NoLongerFails(
            f"the schedule fits the program, but there is no {schedule.failure} any more"
        )
    raise DoesNotFit(
        f"the program has changed since the schedule was recorded: {run.why}; it was followed as "
        "far as it fits, and does not lead to a failure"
    )


def write_html(result: Result, file: "str | os.PathLike[str]", title: str = "Mazurka") -> None:
    """Write a page on a result, to look at in a browser: executions step by step, and, if the
    result is that of a search with `record=True`, the search itself."""
    from mazurka.report.page import page_of  # few need it

    Path(file).write_text(page_of(title, result), encoding="utf-8")


def name_of(program: object) -> str:
    return getattr(program, "__qualname__", None) or repr(program)

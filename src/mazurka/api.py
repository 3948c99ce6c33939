"""The doors for Python code: explore a program, check it, replay a failure."""

import asyncio
import dis
import functools
import gc
import inspect
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MethodType
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, Unpack, overload

from mazurka.engine.memory_use import peak_memory_mb
from mazurka.engine.result import (
    NONDETERMINISM,
    ConditionMet,
    Failure,
    MazurkaError,
    Result,
    Schedule,
)
from mazurka.engine.search import Search
from mazurka.engine.task import Part
from mazurka.explore.algorithms import ALGORITHMS, SAMPLERS
from mazurka.explore.pop import Pop
from mazurka.explore.trust.bounds import bounds_of, search_with_bounds
from mazurka.options import (
    DEFAULT_MAX_EVENTS,
    DEFAULT_STEP_LIMIT,
    OPTIONS,
    GivenOptions,
    Options,
    check_limits,
    conflicts_wanted,
    refuse_unknown,
)
from mazurka.python.library import steered_standard_library
from mazurka.python.loops.rounds import SETTINGS
from mazurka.python.memory.objects import OBJECTS, Misjudged
from mazurka.python.program import PythonExecution
from mazurka.python.rewriting.rewritten_code import OrdinaryCode, ordinary_code
from mazurka.python.runtime.runtime import RUNTIME
from mazurka.python.runtime.watchdog import guarded
from mazurka.python.source import COMPILED as COMPILED
from mazurka.python.source import users_traceback
from mazurka.report.text import result_text, warnings_text

P = ParamSpec("P")
T = TypeVar("T")

MOST_SEARCHES = 100


class NoLongerFails(MazurkaError):
    """A schedule fits its program, but does not lead to the failure any more."""


class UnseenWarning(UserWarning):
    """A check passed, but not everything that its program did was seen."""


class CheckFailed(AssertionError):
    """A check found a failing execution, or could not look at every execution."""

    def __init__(self, message: str, result: Result) -> None:
        super().__init__(message)
        self.result = result

    def __reduce__(self) -> tuple[Any, ...]:
        return CheckFailed, (str(self), self.result)


if TYPE_CHECKING:

    class ResultOrTest(Result):
        """What `check` makes of a function without parameters: called, it gives a Result; as a bare
        decorator it gives a test. A type checker cannot tell one from the other."""

        __name__: str
        __wrapped__: Callable[[], object]
        mazurka_options: dict[str, Any]

        def __call__(self) -> None: ...


@dataclass
class Runner:
    """Whoever runs checks, as the pytest plugin does: it may know options, and hears of results."""

    defaults: dict[str, Any] = field(default_factory=dict)  # of checks that say nothing else
    overrides: dict[str, Any] = field(default_factory=dict)  # whatever the checks say
    finished: Callable[[Result], object] = lambda result: None


RUNNERS = [Runner()]  # the last one counts: a test runner may itself be under test


@contextmanager
def checks_run_by(runner: Runner) -> Iterator[None]:
    RUNNERS.append(runner)
    try:
        yield
    finally:
        RUNNERS.pop()


def explore(program: Callable[[], object], **options: Unpack[GivenOptions]) -> Result:
    """Run a program once for every behaviour that differs.

    `algorithm`: "pop", "optimal" or "trust" (one execution for each trace), "source" (may meet
    redundant executions) or "naive" (every interleaving). `max_executions` and `time_limit`
    (seconds) end the search early: the verdict is then "incomplete". `stop_on_failure=False` goes
    on and collects every failing execution. `independent_adds=False` explores the orders of
    `Atomic.add`s too.
    `max_events` is the number of steps after which an execution counts as endless, `step_limit` the
    seconds that a thread may take from one step to the next. What threads do to ordinary objects is
    seen in the code of your project, and in that of the packages named in `instrument`; with
    `instrument=None`, operations of `mazurka` and of the standard library are all that is seen.
    `setup` is called before each execution and `reset` after it: they put back what Mazurka cannot.
    With `granularity="access"` each access to an ordinary object that threads share is a step. With
    "sync" only synchronisation is, and two such accesses that nothing orders are a data race, which
    is a failure: this is quicker, and as thorough for programs that are to have no data races.

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

    A thread that goes round in a loop and changes nothing is cut there, and loops that poll become
    awaits: `loop_purity=False` and `awaits=False` switch that off, but for loops which do nothing
    but poll. `unroll` bounds the rounds of all other loops that have steps: an execution that goes
    beyond is blocked, and the verdict is then "bounded".
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
    program = runnable(undecorated(program))
    check_program(program)
    options = options.checked()
    bounds = bounds_of(options.preemptions)

    def search() -> tuple[Result, bool]:
        if bounds is not None:
            return search_with_bounds(bounds, options.time_limit, search_by)
        try:
            return search_by(options.algorithm, -1, options.time_limit)
        except ConditionMet:  # this one takes them, and is as thorough
            return search_by("trust", -1, options.time_limit)

    def search_by(algorithm: str, bound: int, time_limit: float | None) -> tuple[Result, bool]:
        search = new_search(program, options, algorithm, time_limit)
        search.preemptions = bound
        return search.result, run_search(search, ALGORITHMS[algorithm], options.step_limit)

    SETTINGS.begin(options.loop_purity, options.awaits, options.unroll, options.reads_from)
    if options.instrument is None:
        result, everything = search()
    else:
        with ordinary_code(program, options.instrument) as code:
            result, everything = search_until_judged(search, code)
            result.warnings.extend(code.warnings())
    note_options(result, options)
    if result.failures:
        result.verdict = "failed"
    elif everything:
        result.verdict = "bounded" if result.bound else "verified"
    return result


def new_search(
    program: Callable[[], object], options: Options, algorithm: str, time_limit: float | None
) -> Search:
    result = Result(algorithm=algorithm, equivalence=options.equivalence)
    # Searches that pick from all threads must have them stand before their next steps.
    all_stand = algorithm in SAMPLERS or algorithm == "naive"
    execution = PythonExecution(
        program,
        options.independent_adds,
        options.max_events,
        all_stand,
        options.granularity == "sync",
    )
    execution.setup = options.setup
    execution.reset = options.reset
    search = Search(
        execution,
        result,
        options.stop_on_failure,
        options.max_executions,
        time_limit,
        options.progress,
    )
    search.seed = options.seed
    search.depth = options.depth
    search.k = conflicts_wanted(options.k)
    search.strict_bound = options.strict_bound
    search.reads_from = options.reads_from
    return search


def note_options(result: Result, options: Options) -> None:
    """Say in the schedules how the program was run: they fit it only if it is run so again."""
    for failure in result.failures:
        kept = {**failure.schedule.options, **options.saved()}
        failure.schedule = replace(failure.schedule, options=kept)


def search_until_judged(search: Callable[[], T], code: OrdinaryCode) -> T:
    """Search anew whenever an object turns out to be another thing than it was taken for, or code
    is imported. What is learnt stays known, so this ends; most searches need no second time."""
    for _ in range(MOST_SEARCHES):
        modules = len(sys.modules)
        try:
            found = search()
        except Misjudged:
            continue
        if len(sys.modules) == modules or not code.look():
            return found
    raise MazurkaError(
        f"the program was begun anew {MOST_SEARCHES} times, and still something in it is not what "
        "it was: look for objects that it keeps from one execution to the next"
    )


def explore_parts(
    program: Callable[[], object],
    parts: Sequence[Part],
    *,
    max_executions: int | None = None,
    time_limit: float | None = None,
    stop_on_failure: bool = True,
    independent_adds: bool = True,
    max_events: int = DEFAULT_MAX_EVENTS,
    step_limit: float = DEFAULT_STEP_LIMIT,
) -> tuple[Result, list[Part]]:
    """Explore some parts of a program with POP, and give what is left of them.

    `[WHOLE]` is the whole program. The parts that one search leaves can be taken up by others, in
    other processes, in any order: no execution is explored by two of them. The verdict of a part is
    never "verified": the program is verified once nothing is left of any part, and none has failed.
    """
    check_program(program)
    check_limits(max_executions, time_limit, max_events, step_limit)
    for part in parts:
        if part.steps and part.independent_adds != independent_adds:
            raise MazurkaError(
                f"the parts were left by a search with independent_adds={part.independent_adds}"
            )
    result = Result(algorithm="pop")
    execution = PythonExecution(runnable(program), independent_adds, max_events, False)
    search = Search(execution, result, stop_on_failure, max_executions, time_limit, None)
    left = list(parts)

    def explore(search: Search) -> bool:
        pop = Pop(search, list(parts))
        everything = pop.explore()
        left[:] = [replace(part, independent_adds=independent_adds) for part in pop.remaining()]
        return everything

    if run_search(search, explore, step_limit):
        result.reason = "only parts of the program were explored"
    if result.failures:
        result.verdict = "failed"
    return result, left


def run_search(search: Search, explore: Callable[[Search], bool], step_limit: float) -> bool:
    """Run a search to its end; whether it has seen everything."""
    try:
        with guarded(step_limit), steered_standard_library(), rare_collections():
            everything = search.repeats_itself() and explore(search)
    finally:
        RUNTIME.close()
    search.result.seconds = search.seconds()
    search.result.memory_mb = peak_memory_mb()
    search.result.outcomes.update(search.outcomes)
    if everything and search.doubt:
        search.result.reason = search.doubt
        return False
    return everything


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the garbage collector run less often: a search keeps nearly all that it makes, and Python
    would look through it again and again."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def check_program(program: object) -> None:
    """Refuse what cannot be explored, with a message that says what would work."""
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
    program: None = None, **options: Unpack[GivenOptions]
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
    program: Callable[..., object] | None = None, **options: Unpack[GivenOptions]
) -> Callable[..., Any] | Result:
    """Explore a program, and raise CheckFailed unless no execution fails.

    Either call it, `mazurka.check(program, time_limit=60)`, which gives the Result; or put it on a
    test, as `@mazurka.check` or `@mazurka.check(time_limit=60)`: the test then explores its own
    body. Takes the options of `explore`. Such a test has its body in `__wrapped__`, and the options
    in `mazurka_options`.
    """
    __tracebackhide__ = True  # pytest leaves out frames with such a variable
    refuse_unknown("check", options)
    given = dict(options)
    if program is None:
        return functools.partial(checked, options=given)
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


def checked(function: Callable[..., Any], options: dict[str, Any]) -> Callable[..., None]:
    """The function of a test that checks its own body."""
    refuse_undecoratable(function)
    call = runnable(function)

    @functools.wraps(function)
    def test(*arguments: Any, **named: Any) -> None:
        __tracebackhide__ = True

        @functools.wraps(function)
        def program() -> Any:
            return call(*arguments, **named)

        del program.__wrapped__  # it takes no arguments any more
        run_check(program, options)

    vars(test)["mazurka_options"] = options
    return test


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


def run_check(program: Callable[[], object], options: dict[str, Any]) -> Result:
    __tracebackhide__ = True
    runner = RUNNERS[-1]
    try:
        result = explore(program, **{**runner.defaults, **options, **runner.overrides})
    except MazurkaError as error:
        error.__traceback__ = users_traceback(error)
        raise
    outcome = called_off(result)
    if outcome is not None:
        raise outcome
    runner.finished(result)
    if result.verdict in ("verified", "bounded"):
        if result.warnings:
            text = f"{name_of(program)}: {warnings_text(result.warnings)}"
            warnings.warn(text, UnseenWarning, stacklevel=2)
        return result
    cause = result.failures[0].exception if result.failures else None
    if cause is not None:
        cause = cause.with_traceback(users_traceback(cause))
    raise CheckFailed(result_text(name_of(program), result), result) from cause


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


def replay(
    program: Callable[[], object],
    schedule: Schedule | str,
    *,
    step_limit: float = DEFAULT_STEP_LIMIT,
    setup: Callable[[], object] | None = None,
    reset: Callable[[], object] | None = None,
) -> Failure:
    """Run the one execution that a schedule describes; gives the failure that it leads to.

    Raises MazurkaError when the program has changed so that the schedule does not fit it any more,
    and NoLongerFails when it fits but the execution does not fail.
    """
    if isinstance(schedule, str):
        schedule = Schedule.from_json(schedule)
    program = runnable(undecorated(program))
    check_program(program)
    check_limits(None, None, 1, step_limit)
    if schedule.failure == NONDETERMINISM:
        raise MazurkaError(
            "nondeterminism is a difference between two runs and cannot be replayed: "
            "check the program again"
        )

    options = Options.of_schedule(schedule.options)

    def follow() -> Failure:
        execution = PythonExecution(
            program,
            options.independent_adds,
            options.max_events,
            False,
            options.granularity == "sync",
        )
        execution.setup = setup
        execution.reset = reset
        return run_schedule(execution, schedule, step_limit)

    SETTINGS.begin(options.loop_purity, options.awaits, options.unroll, options.reads_from)
    if options.instrument is None:
        return follow()
    with ordinary_code(program, options.instrument) as code:
        # What the search had learnt decides which operations wait.
        SETTINGS.clock_readers = set(schedule.options.get("clocks", ()))
        OBJECTS.changed = set(schedule.options.get("changing", ()))
        return search_until_judged(follow, code)


def run_schedule(execution: PythonExecution, schedule: Schedule, step_limit: float) -> Failure:
    """Run the steps of a schedule once, and give the failure that they lead to."""
    try:
        with guarded(step_limit), steered_standard_library():
            if RUNTIME.memory is not None:
                for _ in range(2):  # so that it is known what is there before an execution
                    execution.run(0, [], [])
            RUNTIME.refreshing = True  # the schedule has the names that things had in its run
            execution.follow(schedule)
            if not execution.failed:
                raise NoLongerFails(
                    f"the schedule fits the program, but there is no {schedule.failure} any more"
                )
            return execution.failure()  # which runs the program once more
    finally:
        RUNTIME.refreshing = False
        RUNTIME.close()


def name_of(program: object) -> str:
    return getattr(program, "__qualname__", None) or repr(program)

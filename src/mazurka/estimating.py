"""How long a search will take, before it is made: `mazurka.estimate`."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from time import perf_counter
from typing import Any, Unpack

from mazurka.api import (
    check_program,
    estimator_of,
    name_of,
    new_search,
    refuse_for_c,
    refuse_for_python,
    runnable,
    session_of,
    undecorated,
)
from mazurka.engine.errors import ConditionMet, MazurkaError
from mazurka.engine.program import Program
from mazurka.engine.status import Estimate
from mazurka.explore.algorithms import ALGORITHMS, SAMPLERS
from mazurka.explore.trust.bounds import bounds_of
from mazurka.native.c_program import CProgram
from mazurka.options import GivenOptions, Options, jobs_wanted, refuse_unknown
from mazurka.scale.estimate import estimate_of

SECONDS = 5.0  # that all of it takes, but for what must come before any search
SEARCHED = 0.25  # of that, the search itself is begun: so its speed is known,
ALL = 0.65  # and then its tree is looked at, until this share is over
PATIENCE = 3.0  # times its share, if so much is needed to say anything
LONG = 10.0  # seconds of search without which no advice is needed
FEWER = 0.5  # what takes more than this part of the executions is no advice
SHARED = 0.92  # of a worker's time is its own work
BOUND = 2  # preemptions: most bugs need no more


@dataclass(frozen=True)
class Remedy:
    """Options with which a search takes less, and what is then different."""

    options: dict[str, Any]
    sentence: str
    executions: Estimate | None = None  # None: it was not tried
    seconds: Estimate | None = None


@dataclass
class Forecast:
    """What is to be expected of a search."""

    algorithm: str
    executions: Estimate | None  # None: nothing can be said
    seconds: Estimate | None  # with as many processes as were asked for
    jobs: int
    rate: float  # executions per second of one process
    runs: int = 0  # executions that were made to find that out
    searched: int = 0  # those with which the search itself has begun
    failure: str = ""  # how one of these fails: the search would end there
    threads: int = 0  # at the least: what an execution has
    notes: list[str] = field(default_factory=list)
    remedies: list[Remedy] = field(default_factory=list)


@dataclass
class Looked:
    """What was seen of one program with one set of options."""

    executions: Estimate | None
    rate: float
    runs: int
    searched: int
    failure: str
    threads: int
    algorithm: str


def estimate(
    program: Callable[[], object], *, seconds: float = SECONDS, **options: Unpack[GivenOptions]
) -> Forecast:
    """Say how many executions a search would have, how long it would take, how sure that is, and
    what would make it shorter. Takes the options of `explore`, and `seconds`: how long it may take
    to find that out."""
    refuse_unknown("estimate", options)
    program = runnable(undecorated(program))
    check_program(program)
    if not seconds > 0:
        raise MazurkaError("seconds must be more than 0")
    checked = Options(**options).checked().with_granularity(isinstance(program, CProgram))
    if isinstance(program, CProgram):
        refuse_for_c(checked)
    else:
        refuse_for_python(checked)
    wanted, notes = comparable(checked, name_of(program))
    looked = look(program, wanted, seconds * ALL)
    jobs = jobs_wanted(checked.jobs)
    found = Forecast(
        looked.algorithm,
        looked.executions,
        time_for(looked, jobs),
        jobs,
        looked.rate,
        looked.runs,
        looked.searched,
        looked.failure,
        looked.threads,
        notes,
    )
    if looked.executions is None or (found.seconds is not None and found.seconds.high > LONG):
        found.remedies = list(remedies(program, wanted, looked, jobs, seconds * (1 - ALL)))
    return found


def comparable(options: Options, name: str) -> tuple[Options, list[str]]:
    """The options of a search of which the tree is known, and what is different about it."""
    notes: list[str] = []
    if options.algorithm in SAMPLERS:
        raise MazurkaError(
            f"{options.algorithm} runs as many executions of {name} as you say, with "
            "max_executions or time_limit: there is nothing to estimate"
        )
    if options.algorithm in ("optimal", "source", "qpor"):
        more = "" if options.algorithm == "optimal" else " at least, and redundant ones beside"
        notes.append(f"{options.algorithm} has as many executions as pop{more}: these were counted")
        options = replace(options, algorithm="pop")
    if options.reads_from:
        notes.append("with equivalence='reads-from' there are at the most so many, maybe far fewer")
        options = replace(options, equivalence="mazurkiewicz")
    if isinstance(options.preemptions, str) and options.preemptions.endswith(".."):
        first = options.preemptions[:-2]
        notes.append(f"this is for preemptions={first} alone; each bound that follows takes more")
        options = replace(options, preemptions=int(first))
    if options.timeouts == "last":
        notes.append("what comes after timeouts is not counted")
    return replace(options, max_executions=None, time_limit=None, progress=None), notes


def time_for(looked: Looked, jobs: int) -> Estimate | None:
    if looked.executions is None or not looked.rate:
        return None
    cores = min(jobs, len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else jobs)
    rate = looked.rate * (1.0 if cores <= 1 else SHARED * cores)
    return Estimate(*[number / rate for number in looked.executions.numbers])


# Looking at a part of a search


def look(program: Callable[[], object], options: Options, seconds: float) -> Looked:
    session = session_of(program, options)
    looked = session.run(lambda running: look_at(running, options, seconds), {})
    looked.threads = session.threads[-1]
    return looked


def look_at(program: Program, options: Options, seconds: float) -> Looked:
    try:
        return look_with(options.algorithm, program, options, seconds)
    except ConditionMet:  # this one takes them
        return look_with("trust", program, options, seconds)


def look_with(algorithm: str, program: Program, options: Options, seconds: float) -> Looked:
    """Begin the search; then see how large the whole of it is."""
    search = new_search(program, options, algorithm, None)
    bounds = bounds_of(options.preemptions)
    search.preemptions = -1 if bounds is None else next(iter(bounds))
    search.pause_after = seconds * SEARCHED / ALL
    everything = search.repeats_itself() and ALGORITHMS[algorithm](search).explore()
    searched, failures = search.counted, search.result.failures
    looked = Looked(
        Estimate(searched, searched, searched) if everything else None,
        searched / max(search.seconds(), 1e-6),
        searched,
        searched,
        failures[0].message.split("\n")[0] if failures else "",
        0,
        algorithm,
    )
    if not everything and not search.is_broken:
        until = perf_counter() + seconds * (1 - SEARCHED / ALL)
        estimator = estimator_of(program, options, algorithm, search.preemptions)
        latest = perf_counter() + seconds * PATIENCE
        for _ in estimator.steps():
            now = perf_counter()
            if now > latest or (now > until and len(estimator.rounds) > 1):
                break
        looked.runs += estimator.runs
        found = estimate_of(estimator.rounds)
        looked.executions = None if found is None else found.at_least(searched)
    return looked


# What would help


def remedies(
    program: Callable[[], object], options: Options, looked: Looked, jobs: int, seconds: float
) -> Iterator[Remedy]:
    """Other options, which were tried, and what needs no trial."""
    others = list(variants(program, options))
    for given, sentence in others:
        tried = replace(options, **given).checked()
        try:
            other = look(program, tried, seconds / len(others))
        except MazurkaError:
            continue  # it is not for this program
        if other.failure and not looked.failure:
            yield Remedy(given, f"{sentence}: it fails at once ({other.failure})")
        elif is_better(other, looked):
            yield Remedy(given, sentence, other.executions, time_for(other, jobs))
    cores = jobs_wanted("auto")
    if cores > jobs and options.timeouts != "last":
        yield Remedy(
            {"jobs": "auto"},
            f"this machine has {cores} cores",
            looked.executions,
            time_for(looked, cores),
        )
    if looked.threads > 3:
        yield Remedy(
            {},
            f"Let the program have fewer threads: this one has {looked.threads}, and each takes "
            "many times more executions. Most bugs show with two or three.",
        )
    yield Remedy(
        {"algorithm": "pos", "time_limit": 60},
        "executions are taken at random: that finds failures, but verifies nothing",
    )


def variants(
    program: Callable[[], object], options: Options
) -> Iterator[tuple[dict[str, Any], str]]:
    """Options that leave out executions, if the search does not have them."""
    if options.granularity != "sync" and options.instrument is not None:
        yield (
            {"granularity": "sync"},
            "threads switch at synchronisation only; data races are failures then",
        )
    is_free = options.preemptions is None and options.timeouts != "last"
    if is_free and options.algorithm in ("pop", "trust"):
        yield (
            {"preemptions": BOUND},
            f"executions with more than {BOUND} preemptions are left out: the verdict is bounded",
        )


def is_better(other: Looked, looked: Looked) -> bool:
    if other.executions is None or looked.executions is None:
        return other.executions is not None
    return other.executions.executions < FEWER * looked.executions.executions

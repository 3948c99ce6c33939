"""A search in several processes, by options."""

import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from time import perf_counter
from typing import Any

from mazurka.engine.errors import MazurkaError
from mazurka.engine.result import Result
from mazurka.engine.task import Task
from mazurka.explore.trust.bounds import Found, bounds_of, note_bound, search_with_bounds
from mazurka.options import Options, jobs_wanted
from mazurka.scale.cluster import Cluster, connected
from mazurka.scale.driver import Crew
from mazurka.scale.processes import Processes
from mazurka.scale.programs import NamedProgram
from mazurka.scale.whole import Files, WholeSearch

EARLY = 0.04  # seconds of search until processes begin: there will be work for them

# Explores a task here, as some options say, of a search that has begun then, for some seconds.
Begin = Callable[[Options, Task, float, float], tuple[Result, list[Task]]]


@dataclass(frozen=True)
class Setup:
    """What a worker must know, besides the name of its program."""

    options: Options
    learnt: dict[str, list[str]]
    imports: list[str]


def explored_by_workers(
    name: NamedProgram, options: Options, kept: dict[str, Any], begun: float, begin: Begin
) -> tuple[Result, bool]:
    """What a search finds, and whether that is all: with one bound on preemptions after the other
    if the options say so."""
    files = files_of(name, options, kept)
    bounds = bounds_of(options.preemptions)
    jobs = jobs_wanted(options.jobs)
    if options.cluster is not None:
        jobs = connected(options.cluster, options.jobs, jobs_wanted("auto"))

    def search_by(algorithm: str, bound: int, time_limit: float | None) -> Found:
        within = replace(options, time_limit=time_limit, algorithm=algorithm)
        if bound >= 0:
            within = replace(within, preemptions=bound)
        since = begun if bounds is None else perf_counter()
        sent = sendable(within)

        def begin_here(task: Task, seconds: float) -> tuple[Result, list[Task]]:
            here = replace(within, algorithm=task.algorithm)
            if options.cluster is None:
                early = beginning_early(processes, jobs, options.progress)
                here = replace(here, progress=early)
            return begin(here, task, since, seconds)

        def crew_of(learnt: dict[str, list[str]], imports: list[str]) -> Crew:
            setup = Setup(sent, learnt, imports)
            if options.cluster is not None:
                return Cluster(name, setup)
            processes.setup = [name, setup]
            return processes

        result, everything = WholeSearch(
            algorithm,
            begin_here,
            crew_of,
            jobs,
            options.stop_on_failure,
            options.max_executions,
            time_limit,
            options.memory_limit,
            since,
            options.progress,
            files,
        ).explore()
        if bound >= 0:
            note_bound(result, bound)
        return result, everything, []

    processes = Processes()
    try:
        if bounds is None:
            result, everything, _ = search_by(options.algorithm, -1, options.time_limit)
        else:
            result, everything, _ = search_with_bounds(bounds, options.time_limit, search_by)
    finally:
        processes.end_early()
    return result, everything


def beginning_early(
    processes: Processes, jobs: int, progress: Callable[[Result], None] | None
) -> Callable[[Result], None]:
    """Begin processes while the search is still alone, if it seems to take longer: they need as
    long to begin as the search has them."""

    def look(result: Result) -> None:
        if result.seconds >= EARLY:
            processes.begin_early(jobs)
        if progress is not None:
            progress(result)

    return look


def files_of(name: NamedProgram, options: Options, kept: dict[str, Any]) -> Files:
    """Where the search is kept, and what tells it from others."""
    if options.checkpoint is None and options.resume is None:
        return Files()
    if isinstance(options.preemptions, str) and options.preemptions.endswith(".."):
        raise MazurkaError("bounds that go up cannot be kept in a checkpoint: give one bound")
    settings = {**kept, "stop_on_failure": options.stop_on_failure}
    return Files(
        None if options.checkpoint is None else Path(options.checkpoint),
        None if options.resume is None else Path(options.resume),
        {**settings, **name.document()},
    )


def sendable(options: Options) -> Options:
    """Options for workers: limits and progress are not their business."""
    options = replace(options, progress=None, time_limit=None, max_executions=None, jobs=1)
    options = replace(options, memory_limit=None)
    options = replace(options, checkpoint=None, resume=None, cluster=None)
    try:
        pickle.dumps(options)
    except Exception as error:
        raise MazurkaError(
            f"other processes cannot find setup or reset ({error}): make them functions of a "
            "module, or search with jobs=1"
        ) from error
    return options

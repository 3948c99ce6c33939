"""What would help a search that was stopped, from what was seen of it."""

from collections.abc import Iterator

from mazurka.engine.result import Result
from mazurka.engine.status import Advice
from mazurka.explore.algorithms import SAMPLERS
from mazurka.options import Options, jobs_wanted

SPLIT = ("pop", "trust", "naive")
OPTIMAL = ("pop", "optimal", "trust")
KEEP_MUCH = ("optimal", "qpor")
MANY_REDUNDANT = 0.2  # of all executions
BOUND = 2  # preemptions: most bugs need no more
MANY_THREADS = 4


def advised(result: Result, options: Options) -> list[Advice]:
    """What to try, what helps most first; nothing for a search that was not stopped."""
    if result.verdict == "failed" or not result.reason.startswith(("stopped after", "interrupted")):
        return []
    return list(advice(result, options))


def advice(result: Result, options: Options) -> Iterator[Advice]:
    if result.algorithm in SAMPLERS:  # they stop where they were told to
        return
    splits = result.algorithm in SPLIT and not options.reads_from and options.timeouts != "last"
    if result.redundant > MANY_REDUNDANT * result.executions and result.algorithm not in OPTIMAL:
        part = result.redundant / result.executions
        yield Advice({"algorithm": "pop"}, f"{part:.0%} of the executions were redundant")
    if options.memory_limit is not None and result.algorithm in KEEP_MUCH:
        yield Advice({"algorithm": "pop"}, "it explores the same, and keeps far less in memory")
    if options.memory_limit is not None and options.remember:
        yield Advice({"remember_mb": options.remember_mb // 2}, "less is remembered then")
    cores = jobs_wanted("auto")
    if splits and options.cluster is None and cores > jobs_wanted(options.jobs):
        yield Advice({"jobs": "auto"}, f"{cores} cores are there for it")
    if splits and options.checkpoint is None:
        yield Advice({"checkpoint": "FILE"}, "keep the search, to go on with it later")
    if (
        options.granularity == "access"
        and options.instrument is not None
        and not options.reads_from
    ):
        yield Advice(
            {"granularity": "sync"},
            "threads switch at synchronisation only, and data races are failures",
        )
    is_free = options.preemptions is None and options.timeouts != "last" and not options.reads_from
    if is_free and result.algorithm in ("pop", "trust"):
        sentence = (
            f"leave out executions with more than {BOUND} preemptions: most bugs need no more"
        )
        yield Advice({"preemptions": BOUND}, sentence)
    if (result.threads or 0) >= MANY_THREADS:
        sentence = f"fewer threads: {result.threads} were met, and each multiplies the executions"
        yield Advice({}, sentence)
    yield Advice({"algorithm": "pos"}, "executions at random: may find failures, verifies nothing")

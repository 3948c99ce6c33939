"""Run one program, in this process or in one of its own, and say what it took."""

import json
import os
import platform
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import mazurka
from benchmarks import in_c
from benchmarks.buster import violating
from benchmarks.paper import PaperRow, paper_executions
from benchmarks.registry import Instance
from mazurka.api import searched, session_of
from mazurka.native.session import NativeSession, compiled_in_a_folder
from mazurka.options import Options

CHECKOUT = Path(__file__).parents[1]

# How benchmarks name qpor with its option k.
QPOR: dict[str, int | str] = {
    "qpor-1": 1,
    "qpor-2": 2,
    "qpor-3": 3,
    "qpor-optimal": "optimal",
}
ALGORITHMS = ("pop", "optimal", *QPOR, "trust", "source", "naive")
OPTIMAL = ("pop", "optimal", "qpor-optimal", "trust")

# So many more executions than it should have may a search run that has redundant ones.
PATIENCE = 50

# For one execution. The longest of the papers, length-param(2,65536), has 262,148 events.
MAX_EVENTS = 1_000_000


@dataclass(frozen=True)
class Measurement:
    """What ``run --json`` prints, in this order."""

    benchmark: str
    parameter: str
    algorithm: str
    executions: int
    complete: int
    blocked: int
    redundant: int
    unfolding: int | None
    violating: int | None  # of the complete ones, if the program counts them
    verdict: str
    seconds: float
    cpu_seconds: float
    peak_rss_mb: float
    executions_per_cpu_second: float
    compiled: bool
    python: str
    paper_executions: int | None
    language: str = "Python"
    compiler_seconds: float = 0.0  # CPU time, not in the others

    def to_json(self) -> str:
        return json.dumps(asdict(self))


class RunFailed(Exception):
    """A run in a process of its own ended without a measurement; the message says how."""


def measure(
    instance: Instance,
    algorithm: str,
    max_executions: int | None,
    time_limit: float | None,
    independent_adds: bool,
    loop_purity: bool = True,
    awaits: bool = True,
    unroll: int | None = None,
    stop_on_failure: bool = False,
) -> Measurement:
    """Explore a program to the end (or a limit), whatever failures it has on the way."""
    wall_start = time.perf_counter()
    cpu_start = time.process_time()
    result = mazurka.explore(
        instance.program(),
        algorithm="qpor" if algorithm in QPOR else algorithm,
        k=QPOR.get(algorithm, "optimal"),
        max_executions=max_executions,
        time_limit=time_limit,
        stop_on_failure=stop_on_failure,
        independent_adds=independent_adds,
        max_events=MAX_EVENTS,
        # Most programs say all that they share; loops show in code that is rewritten only.
        instrument=() if instance.benchmark.loops else None,
        loop_purity=loop_purity,
        awaits=awaits,
        unroll=unroll,
    )
    cpu_seconds = time.process_time() - cpu_start
    assert result.memory_mb is not None, "benchmarks are for systems that say how much memory"
    return Measurement(
        benchmark=instance.benchmark.name,
        parameter=instance.parameter,
        # Another one may have taken over.
        algorithm=algorithm if result.algorithm == "qpor" else result.algorithm,
        executions=result.executions,
        complete=result.complete,
        blocked=result.blocked,
        redundant=result.redundant,
        unfolding=result.unfolding,
        violating=violating(result.outcomes) if instance.benchmark.counts_violations else None,
        verdict=result.verdict,
        seconds=round(time.perf_counter() - wall_start, 4),
        cpu_seconds=round(cpu_seconds, 4),
        peak_rss_mb=round(result.memory_mb, 1),
        executions_per_cpu_second=round(result.executions / cpu_seconds, 1),
        compiled=mazurka.COMPILED,
        python=platform.python_version(),
        paper_executions=paper_executions(instance, independent_adds),
    )


def most_executions(algorithm: str, max_executions: int) -> int:
    """When to end a search for a row that should have no more than `max_executions`."""
    return max_executions if algorithm in OPTIMAL else PATIENCE * max_executions


def measure_in_c(
    instance: Instance,
    algorithm: str,
    max_executions: int | None,
    time_limit: float | None,
    independent_adds: bool = True,
    loop_purity: bool = True,
    unroll: int | None = None,
    stop_on_failure: bool = False,
) -> Measurement:
    """The same for the C version, in this process: so its search and its compiler each have a time
    of their own."""
    wall_start = time.perf_counter()
    program = in_c.in_c(instance)
    options = Options(
        algorithm="qpor" if algorithm in QPOR else algorithm,
        k=QPOR.get(algorithm, "optimal"),
        max_executions=max_executions,
        time_limit=time_limit,
        stop_on_failure=stop_on_failure,
        # Where the Python version is not rewritten, its rounds are not cut either, and a
        # fetch_add always gives something.
        loop_purity=loop_purity and instance.benchmark.loops,
        independent_adds=independent_adds and instance.benchmark.loops,
        unroll=unroll,
        max_events=MAX_EVENTS,
        granularity="access",
    ).checked()
    session = session_of(program, options)
    assert isinstance(session, NativeSession)
    compiling = children_seconds()
    with compiled_in_a_folder(program) as made:
        compiling = children_seconds() - compiling
        cpu_start = time.process_time()
        (result, everything, _), _ = session.searched(
            made, lambda one: searched(one, None, options, time.perf_counter()), {}, True
        )
        cpu_seconds = time.process_time() - cpu_start
    result.conclude(everything)
    assert result.memory_mb is not None, "benchmarks are for systems that say how much memory"
    counts = instance.benchmark.counts_violations
    return Measurement(
        benchmark=instance.benchmark.name,
        parameter=instance.parameter,
        algorithm=algorithm if result.algorithm == "qpor" else result.algorithm,
        executions=result.executions,
        complete=result.complete,
        blocked=result.blocked,
        redundant=result.redundant,
        unfolding=result.unfolding,
        violating=in_c.violating(result.outcomes) if counts else None,
        verdict=result.verdict,
        seconds=round(time.perf_counter() - wall_start, 4),
        cpu_seconds=round(cpu_seconds, 4),
        peak_rss_mb=round(result.memory_mb, 1),
        executions_per_cpu_second=round(result.executions / cpu_seconds, 1),
        compiled=mazurka.COMPILED,
        python=platform.python_version(),
        paper_executions=paper_executions(instance, independent_adds),
        language="C",
        compiler_seconds=round(compiling, 4),
    )


def children_seconds() -> float:
    times = os.times()
    return times.children_user + times.children_system


def measure_apart(
    row: PaperRow, algorithm: str, max_executions: int, is_c: bool = False
) -> Measurement:
    """Measure a table's row in a process of its own, so that its peak of memory is its own."""
    command = [sys.executable, "-m", "benchmarks", "run", str(row), "--json"]
    most = most_executions(algorithm, max_executions)
    command += ["--algorithm", algorithm, "--max-executions", str(most)]
    if is_c:
        command.append("--c")
    if row.independent_adds is False:
        command.append("--no-independent-adds")
    command += [f"--no-{name.replace('_', '-')}" for name in row.loop_settings]
    if row.unroll is not None:
        command += ["--unroll", str(row.unroll)]
    finished = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        last_words = finished.stderr.strip().splitlines() or ["no message"]
        raise RunFailed(f"exit code {finished.returncode}: {last_words[-1]}")
    return Measurement(**json.loads(finished.stdout))

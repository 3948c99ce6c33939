"""One process against several, and searches that are killed."""

import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

import mazurka
from benchmarks.measure import CHECKOUT, MAX_EVENTS
from benchmarks.programs import findable
from benchmarks.registry import Instance, parse

# What is killed: a search that writes its checkpoint several times a second.
KILLED = """
import sys, os
from benchmarks.jobs import resumed
resumed(sys.argv[1], int(sys.argv[2]), sys.argv[3])
"""
SOONEST_KILL, LATEST_KILL = 1.0, 12.0  # seconds: workers must have time to report


@dataclass(frozen=True)
class Run:
    executions: int
    seconds: float
    cpu_seconds: float  # of all processes together


@dataclass(frozen=True)
class Pair:
    """The best of some alternating runs, by one process and by several."""

    name: str
    jobs: int
    one: Run
    several: Run

    @property
    def speedup(self) -> float:
        return self.one.seconds / self.several.seconds

    @property
    def efficiency(self) -> float:
        """Which part of all work is that of one process: what machines that are busy still show."""
        return self.one.cpu_seconds / self.several.cpu_seconds


def options_of(instance: Instance) -> dict[str, Any]:
    return {
        "stop_on_failure": False,
        "max_events": MAX_EVENTS,
        "instrument": () if instance.benchmark.loops else None,
    }


def run(instance: Instance, jobs: int) -> Run:
    before, begun = cpu_seconds(), time.perf_counter()
    result = mazurka.explore(findable(instance), jobs=jobs, **options_of(instance))
    assert result.verdict != "incomplete", result.reason
    seconds = time.perf_counter() - begun
    return Run(result.executions, seconds, cpu_seconds() - before)


def cpu_seconds() -> float:
    """Of this process, and of those that it has waited for."""
    times = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum([used.ru_utime + used.ru_stime for used in times])


def pair(instance: Instance, jobs: int, repeats: int) -> Pair:
    ones, others = [], []
    for _ in range(repeats):
        ones.append(run(instance, 1))
        others.append(run(instance, jobs))
    return Pair(str(instance), jobs, quickest(ones), quickest(others))


def quickest(runs: list[Run]) -> Run:
    assert len({run.executions for run in runs}) == 1
    return Run(
        runs[0].executions,
        min([run.seconds for run in runs]),
        min([run.cpu_seconds for run in runs]),
    )


def render(pairs: list[Pair]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("program", no_wrap=True)
    titles = "executions,the same,s alone,s together,speed-up,CPU alone,CPU together,efficiency"
    for title in titles.split(","):
        table.add_column(title, justify="right")
    for found in pairs:
        one, several = found.one, found.several
        table.add_row(
            found.name,
            f"{one.executions:,}",
            "yes" if one.executions == several.executions else "NO",
            f"{one.seconds:.1f}",
            f"{several.seconds:.1f}",
            f"{found.speedup:.2f}",
            f"{one.cpu_seconds:.1f}",
            f"{several.cpu_seconds:.1f}",
            f"{found.efficiency:.2f}",
        )
    return table


# Killed searches


def resumed(name: str, jobs: int, file: str) -> None:
    """Go on with a search from its checkpoint, if there is one."""
    from mazurka.scale import whole

    whole.SAVE_EVERY = 0.2
    resume = file if os.path.exists(file) else None
    instance = parse(name)
    result = mazurka.explore(
        findable(instance), jobs=jobs, checkpoint=file, resume=resume, **options_of(instance)
    )
    sys.stdout.write(f"{result.verdict} {result.executions}\n")


def killed(name: str, jobs: int, seed: int) -> tuple[int, str]:
    """Kill a search, with or without one of its workers, at random moments, until it comes to its
    end; how often, and what it then says."""
    chance = random.Random(seed)
    kills = 0
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-c", KILLED, name, str(jobs), str(Path(folder) / "search.json")]
        while True:
            process = subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
            try:
                said, _ = process.communicate(timeout=chance.uniform(SOONEST_KILL, LATEST_KILL))
                return kills, said.strip()
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
                kills += 1

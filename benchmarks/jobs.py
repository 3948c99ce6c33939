"""One process against several, and searches that are killed."""

import json
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.table import Table

import mazurka
from benchmarks.in_c import in_c
from benchmarks.measure import CHECKOUT, MAX_EVENTS
from benchmarks.programs import findable
from benchmarks.registry import Instance, parse
from mazurka.scale.cluster import Cluster
from mazurka.scale.processes import Processes

# What is killed: a search that writes its checkpoint several times a second.
KILLED = """
import sys, os
from benchmarks.jobs import resumed
resumed(*sys.argv[1:])
"""
FIRST_KILL = 4.0  # seconds that a search, or a worker of it, lives at the most,
LONGER = 1.5  # so many times as long if it has not got on, and as much less if it has


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


def options_of(instance: Instance, is_c: bool) -> dict[str, Any]:
    options: dict[str, Any] = {"stop_on_failure": False, "max_events": MAX_EVENTS}
    if is_c:
        return {**options, "granularity": "access"}
    return {**options, "instrument": () if instance.benchmark.loops else None}


def program_of(instance: Instance, is_c: bool) -> Callable[[], object]:
    return in_c(instance) if is_c else findable(instance)


def run(instance: Instance, jobs: int, is_c: bool = False, cluster: str | None = None) -> Run:
    before, begun = cpu_seconds(), time.perf_counter()
    program = program_of(instance, is_c)
    result = mazurka.explore(program, jobs=jobs, cluster=cluster, **options_of(instance, is_c))
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


def resumed(name: str, jobs: str, file: str, seed: str, language: str, cluster: str) -> None:
    """Go on with a search from its checkpoint, if there is one. Its workers die now and then."""
    from mazurka.scale import whole

    whole.SAVE_EVERY = whole.FIRST_SAVE = 0.2
    whole.ALONE = 0.05  # workers do nearly all of it
    instance, is_c = parse(name), language == "C"
    options = options_of(instance, is_c)
    result = mazurka.explore(
        program_of(instance, is_c),
        jobs=int(jobs),
        cluster=cluster or None,
        checkpoint=file,
        resume=file if os.path.exists(file) else None,
        progress=Reaper(random.Random(int(seed))).look,
        **options,
    )
    sys.stdout.write(f"{result.verdict} {result.executions}\n")


class Reaper:
    """Kills one of the workers of this process at random moments, now and then."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.longest = FIRST_KILL
        self.crews: list[Any] = []
        self.wait()
        for kind in (Processes, Cluster):
            self.note(kind)

    def wait(self) -> None:
        """Wait longer each time: workers must get on in the end."""
        self.next = time.monotonic() + self.chance.uniform(0.0, self.longest)
        self.longest *= LONGER

    def note(self, kind: Any) -> None:
        hire = kind.hire

        def noted(crew: Any) -> int:
            if crew not in self.crews:
                self.crews.append(crew)
            worker: int = hire(crew)
            return worker

        kind.hire = noted

    def look(self, result: mazurka.Result) -> None:
        if time.monotonic() < self.next or not self.crews:
            return
        self.wait()
        crew = self.crews[-1]
        if isinstance(crew, Cluster) and crew.relays:
            crew.ray.kill(crew.relays[self.chance.choice(list(crew.relays))])
        elif isinstance(crew, Processes) and crew.workers:
            begun = crew.workers[self.chance.choice(list(crew.workers))]
            os.killpg(begun.process.pid, signal.SIGKILL)


@dataclass
class Killed:
    """A search that was killed at random moments until it came to its end."""

    kills: int
    resumed: int  # how many of these left a checkpoint with more in it than the one before
    said: str  # by the last process


def killed(name: str, jobs: int, seed: int, language: str, cluster: str) -> Killed:
    """Kill a search at random moments, and one of its workers at others, until it is over. It lives
    longer if it does not get on: so it ends on machines of any speed."""
    chance = random.Random(seed)
    found = Killed(0, 0, "")
    longest = FIRST_KILL
    done = 0
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "search.json"
        while True:
            words = [name, str(jobs), str(file), str(chance.randrange(10**6)), language, cluster]
            command = [sys.executable, "-c", KILLED, *words]
            process = subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True)
            try:
                said, _ = process.communicate(timeout=chance.uniform(0.0, longest))
                found.said = said.strip()
                return found
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGKILL)
                process.communicate()
            found.kills += 1
            before, done = done, executions_in(file)
            found.resumed += done > before
            longest = max(FIRST_KILL, longest / LONGER) if done > before else longest * LONGER


def executions_in(checkpoint: Path) -> int:
    """How many a checkpoint has counted; one that is there must be whole."""
    if not checkpoint.exists():
        return 0
    return int(json.loads(checkpoint.read_text())["executions"])

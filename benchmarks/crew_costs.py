"""What workers cost whoever gives them tasks, measured with a real one."""

import time
from dataclasses import replace
from multiprocessing.connection import Pipe
from typing import Any

from benchmarks.programs import findable
from benchmarks.registry import parse
from benchmarks.simulation import CrewCosts
from mazurka.engine.task import Task
from mazurka.in_jobs import Setup, sendable
from mazurka.options import Options
from mazurka.scale.cluster import OWN, PATIENCE, Cluster, connected
from mazurka.scale.messages import Here, Report, Take
from mazurka.scale.processes import Begun, Processes
from mazurka.scale.programs import named

SMALL = "circular-buffer(1)"  # it has two executions: what is measured are the messages
ROUNDS = 300
MORE = 200  # workers that say nothing
WAITS = 20


def measured_costs(on_cluster: bool) -> CrewCosts:
    """What processes of this machine cost, or workers of a cluster of this machine alone."""
    name = named(findable(parse(SMALL)))
    setup = Setup(sendable(Options(stop_on_failure=False)), {}, [])
    if not on_cluster:
        return costs_of(Processes([name, setup]), add_pipes)
    connected(OWN, 2, 2)
    crew = Cluster(name, setup)
    try:
        return replace(costs_of(crew, add_answers), telling=PATIENCE)
    finally:
        crew.ray.shutdown()


def costs_of(crew: Any, add_silent: Any) -> CrewCosts:
    begun = time.perf_counter()
    worker = crew.hire()
    heard(crew, Here)
    start = time.perf_counter() - begun
    busy = time.thread_time()
    second = crew.hire()  # the first one has taken along what is done once
    hire = time.thread_time() - busy
    heard(crew, Here)
    messages = 0
    begun, busy = time.perf_counter(), time.thread_time()
    for _ in range(ROUNDS):
        crew.send(worker, Take([((0,), Task("pop"))]))
        messages += 1 + heard(crew, Report)
    busy, passed = time.thread_time() - busy, time.perf_counter() - begun
    crew_of_one = waiting(crew)
    add_silent(crew)
    listening = max(0.0, waiting(crew) - crew_of_one) / MORE
    for one in (worker, second):
        crew.dismiss(one)
    return CrewCosts(start, hire, busy / messages, listening, passed / ROUNDS / 2)


def heard(crew: Any, kind: type) -> int:
    """How many messages came until one of a kind did."""
    count = 0
    while True:
        for _, message in crew.receive(1.0):
            assert message is not None, "the worker has died"
            count += 1
            if isinstance(message, kind):
                return count


def waiting(crew: Any) -> float:
    before = time.thread_time()
    for _ in range(WAITS):
        crew.receive(0.001)
    return (time.thread_time() - before) / WAITS


def add_pipes(crew: Processes) -> None:
    process = next(iter(crew.workers.values())).process
    for place, (ours, theirs) in enumerate([Pipe() for _ in range(MORE)]):
        crew.workers[-1 - place] = Begun(process, ours, theirs)


def add_answers(crew: Cluster) -> None:
    """Answers that never come: no machine has what they need."""
    never = crew.ray.remote(num_cpus=0, resources={"nowhere": 1})(nothing)
    for _ in range(MORE):
        crew.heard[never.remote()] = -1


def nothing() -> None:
    pass

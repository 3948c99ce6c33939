"""Workers on a cluster, by Ray.

Ray starts an actor for each worker, somewhere; that starts the same process as on this machine, and
hands messages to and fro. So whatever Ray runs in its own processes is far from the program.
"""

import contextlib
import logging
import os
import platform
import socket
import sys
import time
from typing import Any

from mazurka.engine.errors import MazurkaError
from mazurka.scale.messages import Raised, Told
from mazurka.scale.processes import Home, Processes
from mazurka.scale.programs import NamedProgram, digest_of
from mazurka.version import VERSION

OWN = "ray"  # a cluster of this machine alone, for as long as this process runs
ALL = 1  # this many jobs, which nobody needs a cluster for, are as many as it has CPUs
PATIENCE = 1.0  # seconds after which an actor answers even if its worker has nothing to say
ANSWER = 10.0  # seconds to reach a cluster
OBJECT_STORE = 100 * 2**20  # bytes: messages are small
NEEDS_RAY = "a cluster needs Ray: pip install 'mazurka[cluster]'"
ELSEWHERE = (
    "all machines of a cluster must have the program at the same path: use a file system that they "
    "share, or let Ray bring it, with 'ray job submit --working-dir . -- mazurka check ...'"
)

Facts = dict[str, str]  # what must be the same wherever workers run


def facts_of(name: NamedProgram) -> Facts:
    """What a worker must have, as plain data: other versions must be able to read it."""
    return {
        "mazurka": VERSION,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "file": name.file,
        "sha256": digest_of(name.file),
        "folder": os.getcwd(),
    }


def refusal(wanted: Facts) -> str:
    """Why there cannot be a worker here; nothing if there can."""
    where = platform.node()
    python = f"{platform.python_implementation()} {platform.python_version()}"
    if wanted["mazurka"] != VERSION:
        return f"{where} has Mazurka {VERSION}, and the search is by {wanted['mazurka']}"
    if wanted["python"] != python:
        return f"{where} has {python}, and the search is by {wanted['python']}"
    try:
        digest = digest_of(wanted["file"])
    except MazurkaError:
        return f"{where} has no {wanted['file']}: {ELSEWHERE}"
    if digest != wanted["sha256"]:
        return f"{where} has another version of {wanted['file']}: {ELSEWHERE}"
    return ""


class Relay:
    """What runs on a machine of the cluster: a worker's process, and its messages to and fro."""

    def __init__(self) -> None:
        self.crew: Processes | None = None
        self.early: dict[int, object] = {}  # messages that have overtaken others
        self.told = 0

    def begin(self, wanted: Facts, path: list[str], flags: list[str]) -> str:
        """Why there cannot be a worker here; nothing if there can."""
        folder = wanted["folder"] if os.path.isdir(wanted["folder"]) else None
        home = Home(folder, list(dict.fromkeys([*path, *sys.path])), flags)
        found = refusal(wanted)
        if not found:
            self.crew = Processes([], home)
            self.worker = self.crew.hire()
        return found

    def tell(self, number: int, message: object) -> None:
        """Pass messages on in the order of their numbers."""
        assert self.crew is not None
        self.early[number] = message
        while self.told in self.early:
            self.crew.send(self.worker, self.early.pop(self.told))
            self.told += 1

    def listen(self) -> list[object]:
        """What the worker has said since the last time: waits for something that matters."""
        assert self.crew is not None
        until = time.monotonic() + PATIENCE
        found: list[object] = []
        told: list[object] = []  # only the last one matters, and that little
        while not found and time.monotonic() < until:
            for _, message in self.crew.receive(max(0.0, until - time.monotonic())):
                if isinstance(message, Told) and message.estimate is None:
                    told = [message]
                else:
                    found.append(message)
        return [*told, *found]

    def end(self) -> None:
        if self.crew is not None:
            self.crew.dismiss(self.worker)


class Cluster:
    """A crew of actors: Ray finds places for them. One that dies, or the machine that it is on, is
    a worker that has died."""

    def __init__(self, name: NamedProgram, setup: object) -> None:
        self.ray = ray_module()
        self.facts = facts_of(name)
        self.home = Home.here()
        self.setup = [name, setup]
        self.actor = self.ray.remote(num_cpus=1, concurrency_groups={"told": 1, "heard": 1})(Relay)
        self.next = 0
        self.relays: dict[int, Any] = {}
        self.told: dict[int, int] = {}  # how many messages each has got
        self.heard: dict[Any, int] = {}  # answers that are still to come
        self.new: set[int] = set()  # those that have not begun

    def hire(self) -> int:
        self.next += 1
        relay = self.actor.remote()
        self.relays[self.next] = relay
        self.told[self.next] = 0
        self.new.add(self.next)
        self.heard[relay.begin.remote(self.facts, self.home.path, self.home.flags)] = self.next
        return self.next

    def send(self, worker: int, message: object) -> None:
        tell = self.relays[worker].tell.options(concurrency_group="told")
        tell.remote(self.told[worker], message)
        self.told[worker] += 1

    def receive(self, timeout: float) -> list[tuple[int, object]]:
        if not self.heard:
            time.sleep(timeout)
            return []
        ready, _ = self.ray.wait(list(self.heard), num_returns=1, timeout=timeout)
        if ready:  # maybe others are, too
            ready, _ = self.ray.wait(list(self.heard), num_returns=len(self.heard), timeout=0)
        found: list[tuple[int, object]] = []
        for answer in ready:
            worker = self.heard.pop(answer)
            found += [(worker, message) for message in self.messages(worker, answer)]
        return found

    def messages(self, worker: int, answer: Any) -> list[object]:
        """What has come of a worker; and listen on."""
        errors = self.ray.exceptions
        try:
            said = self.ray.get(answer)
        except errors.RayTaskError as error:
            return [Raised(MazurkaError(f"a machine of the cluster cannot have workers: {error}"))]
        except (errors.RuntimeEnvSetupError, errors.ActorUnschedulableError) as error:
            return [Raised(MazurkaError(f"the cluster cannot have workers: {error}"))]
        except errors.RayError:
            return [None]
        if worker in self.new:
            self.new.remove(worker)
            if said:
                return [Raised(MazurkaError(said))]
            for message in self.setup:
                self.send(worker, message)
            said = []
        listen = self.relays[worker].listen.options(concurrency_group="heard")
        self.heard[listen.remote()] = worker
        return list(said)

    def dismiss(self, worker: int) -> None:
        """The actor ends when nobody knows it any more, after it has ended its worker."""
        relay = self.relays.pop(worker, None)
        if relay is None:
            return
        self.new.discard(worker)
        self.heard = {answer: other for answer, other in self.heard.items() if other != worker}
        relay.end.options(concurrency_group="told").remote()


def ray_module() -> Any:
    try:
        import ray
    except ImportError as error:
        raise MazurkaError(NEEDS_RAY) from error
    return ray


def require_answer(address: str) -> None:
    """Ray itself would try for many minutes to reach an address where nobody is."""
    host, colon, port = address.rpartition(":")
    if colon and port.isdecimal() and "//" not in host:
        socket.create_connection((host, int(port)), ANSWER).close()


def connected(address: str, jobs: int | str, cores: int) -> int:
    """Connect to a cluster, if this process is not; gives how many workers to have there."""
    ray = ray_module()
    wants_all = jobs in ("auto", ALL)
    if not ray.is_initialized():
        quiet: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}
        try:
            if address == OWN:
                os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
                ray.init(
                    "local",
                    num_cpus=cores if wants_all else jobs,
                    include_dashboard=False,
                    object_store_memory=OBJECT_STORE,
                    **quiet,
                )
            else:
                require_answer(address)
                ray.init(address, **quiet)
        except (OSError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            with contextlib.suppress(Exception):
                ray.shutdown()
            raise MazurkaError(f"there is no cluster at {address!r}: {error}") from error
    if not wants_all:
        return int(jobs)
    return max(1, int(ray.cluster_resources().get("CPU", 1)))

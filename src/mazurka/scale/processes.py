"""Workers that are processes of this machine."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, Pipe, wait
from typing import Any

ENTRY = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[2]); "
    "from mazurka.worker import main; main(int(sys.argv[1]))"
)
STDERR = 2  # what programs print goes there: the results have the standard output for themselves


class PipeChannel:
    """A channel to another process."""

    def __init__(self, connection: "Connection[Any, Any]") -> None:
        self.connection = connection

    def send(self, message: object) -> None:
        self.connection.send(message)

    def receive(self) -> Any:
        return self.connection.recv()

    def poll(self) -> bool:
        return self.connection.poll()


@dataclass(frozen=True)
class Home:
    """What Python is started with."""

    folder: str | None  # None: where this process is
    path: list[str]
    flags: list[str]

    @classmethod
    def here(cls) -> "Home":
        flags = subprocess._args_from_interpreter_flags()  # type: ignore[attr-defined]
        return cls(None, list(sys.path), flags)


@dataclass
class Begun:
    """A process, and the channel to it."""

    process: subprocess.Popen[bytes]
    channel: "Connection[Any, Any]"
    # It is closed here; but if it went while a program runs, that would be seen as the program's.
    other_end: "Connection[Any, Any]"

    def end(self) -> None:
        self.channel.close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()


class Processes:
    """A crew of processes. Each is new, not a copy of this one: so it is the same everywhere."""

    def __init__(self, setup: Sequence[object] = (), home: Home | None = None) -> None:
        self.setup = setup  # the messages that a worker gets first
        self.home = Home.here() if home is None else home
        self.environment = os.environ.copy()  # a program may change it, and where it is
        self.folder = folder_here() if self.home.folder is None else self.home.folder
        self.next = 0
        self.early: list[Begun] = []  # not hired
        self.workers: dict[int, Begun] = {}

    def begin_early(self, count: int) -> None:
        """Begin processes that may be hired later: by then they have imported what they need."""
        while len(self.early) < count:
            self.early.append(self.begun())

    def end_early(self) -> None:
        """End those that nobody has hired."""
        while self.early:
            self.early.pop().end()

    def begun(self) -> Begun:
        ours, theirs = Pipe()
        handle = theirs.fileno()
        arguments = ["-c", ENTRY, str(handle), json.dumps(self.home.path)]
        command = [sys.executable, *self.home.flags, *arguments]
        process = subprocess.Popen(
            command,
            pass_fds=[handle],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=STDERR,
            start_new_session=True,  # Ctrl-C is for us alone; and all its children end with it
        )
        theirs.close()
        return Begun(process, ours, theirs)

    def hire(self) -> int:
        self.next += 1
        self.workers[self.next] = self.early.pop(0) if self.early else self.begun()
        for message in self.setup:
            self.send(self.next, message)
        return self.next

    def send(self, worker: int, message: object) -> None:
        with contextlib.suppress(OSError):  # it has died: that is noticed by `receive`
            self.workers[worker].channel.send(message)

    def receive(self, timeout: float) -> list[tuple[int, object]]:
        found: list[tuple[int, object]] = []
        workers = {begun.channel: worker for worker, begun in self.workers.items()}
        for ready in wait(list(workers), timeout):
            assert isinstance(ready, Connection)
            worker = workers[ready]
            try:
                while ready.poll():
                    found.append((worker, ready.recv()))
            except (EOFError, OSError):
                found.append((worker, None))
        return found

    def dismiss(self, worker: int) -> None:
        begun = self.workers.pop(worker, None)
        if begun is not None:
            begun.end()


def folder_here() -> str | None:
    try:
        return os.getcwd()
    except FileNotFoundError:  # somebody has removed it
        return None

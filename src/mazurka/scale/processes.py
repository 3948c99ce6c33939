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


class Processes:
    """A crew of processes. Each is new, not a copy of this one: so it is the same everywhere."""

    def __init__(self, setup: Sequence[object], home: Home | None = None) -> None:
        self.setup = setup  # the messages that a worker gets first
        self.home = Home.here() if home is None else home
        self.next = 0
        self.processes: dict[int, subprocess.Popen[bytes]] = {}
        self.channels: dict[int, Connection[Any, Any]] = {}

    def hire(self) -> int:
        ours, theirs = Pipe()
        handle = theirs.fileno()
        arguments = ["-c", ENTRY, str(handle), json.dumps(self.home.path)]
        command = [sys.executable, *self.home.flags, *arguments]
        process = subprocess.Popen(
            command,
            pass_fds=[handle],
            cwd=self.home.folder,
            stdin=subprocess.DEVNULL,
            stdout=STDERR,
            start_new_session=True,  # Ctrl-C is for us alone; and all its children end with it
        )
        theirs.close()
        self.next += 1
        self.processes[self.next] = process
        self.channels[self.next] = ours
        for message in self.setup:
            self.send(self.next, message)
        return self.next

    def send(self, worker: int, message: object) -> None:
        with contextlib.suppress(OSError):  # it has died: that is noticed by `receive`
            self.channels[worker].send(message)

    def receive(self, timeout: float) -> list[tuple[int, object]]:
        found: list[tuple[int, object]] = []
        workers = {channel: worker for worker, channel in self.channels.items()}
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
        process = self.processes.pop(worker, None)
        if process is None:
            return
        self.channels.pop(worker).close()
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

"""What leads out of a program ends the check, with an error that says what to do."""

import contextlib
import multiprocessing
import multiprocessing.util
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from os import _exit as leave
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mazurka import MazurkaError, explore, spawn
from mazurka.cli.main import main


def work() -> None:
    pass


def start_forked() -> None:
    context: Any = multiprocessing.get_context("fork")
    context.Process(target=work).start()


def start_spawned() -> None:
    """What the method "spawn" of multiprocessing comes down to."""
    start: Any = vars(multiprocessing.util)["spawnv_passfds"]
    start(b"/bin/true", [b"true"], [])


ESCAPES: dict[str, tuple[Callable[[], object], str]] = {
    "exit": (lambda: os._exit(0), "ends the whole process"),
    "exit by name": (lambda: leave(0), "ends the whole process"),
    "fork": (lambda: os.fork(), "starts another process"),
    "system": (lambda: os.system("true"), "starts another process"),
    "run": (lambda: subprocess.run(["true"], check=False), "starts another process"),
    "forked": (start_forked, "starts another process"),
    "spawned": (start_spawned, "starts another process"),
    "socket": (lambda: socket.socket(), "opens a socket"),
    "connection": (lambda: socket.create_connection(("127.0.0.1", 9)), "opens a socket"),
}


@pytest.mark.parametrize("name", ESCAPES)
def test_escapes_end_the_check(name: str) -> None:
    escape, what = ESCAPES[name]

    def swallow() -> None:
        with contextlib.suppress(Exception):
            escape()

    def program() -> None:
        spawn(swallow)

    me = os.getpid()
    with pytest.raises(MazurkaError, match=what) as caught:
        explore(program)
    assert os.getpid() == me
    assert Path(__file__).name in str(caught.value)


def test_they_work_outside_of_checks() -> None:
    assert subprocess.run([sys.executable, "-c", ""], check=False).returncode == 0
    socket.socket().close()


def test_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "leaving.py"
    file.write_text("import os\ndef program():\n    os._exit(0)\n")
    result = CliRunner().invoke(main, ["check", f"{file}::program"])
    assert result.exit_code == 2
    assert "ends the whole process" in result.output

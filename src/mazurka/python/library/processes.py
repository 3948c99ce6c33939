"""What leads out of a program: other processes, the end of this one, the network.

None of it can be steered or undone: the copy of a process would go on with the search, and another
machine does not begin anew with each execution. So it ends the check, with an error.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import Patch
from mazurka.python.runtime.standard_thread import in_execution
from mazurka.python.source import place_of_user

ENDS = "ends the whole process"
STARTS = "starts another process"
TALKS = "opens a socket"

WHAT_TO_DO = {
    ENDS: "raise SystemExit instead",
    STARTS: "put a function in its place that does the same for a test",
    TALKS: "put an object in its place that gives the answers itself",
}

FUNCTIONS = {
    "_exit": ENDS,
    "abort": ENDS,
    "execv": STARTS,
    "execve": STARTS,
    "fork": STARTS,
    "forkpty": STARTS,
    "posix_spawn": STARTS,
    "posix_spawnp": STARTS,
    "startfile": STARTS,
    "system": STARTS,
}


def refusing(original: Callable[..., Any], what: str) -> Callable[..., Any]:
    def refused(*arguments: Any, **named: Any) -> Any:
        if not in_execution():
            return original(*arguments, **named)
        raise RUNNING.check.runtime.misused(
            f"the program {what}{place_of_user()}, which Mazurka cannot steer or undo; "
            f"{WHAT_TO_DO[what]}"
        )

    return refused


PATCHES = [
    *[
        Patch(os, name, refusing(getattr(os, name), what))
        for name, what in FUNCTIONS.items()
        if hasattr(os, name)
    ],
    Patch(subprocess.Popen, "__init__", refusing(subprocess.Popen.__init__, STARTS)),
    Patch(socket.socket, "__init__", refusing(socket.socket.__init__, TALKS)),
]
if "_posixsubprocess" in sys.modules:  # what multiprocessing starts processes with
    module: Any = sys.modules["_posixsubprocess"]
    PATCHES.append(Patch(module, "fork_exec", refusing(module.fork_exec, STARTS)))

"""`tempfile`: what an execution makes is removed after it, so that the next one finds the same.

Each thread draws names for itself, so none waits for another, or is told apart, because of them.
"""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.random_numbers import own_stream
from mazurka.python.library.steering import Patch
from mazurka.python.runtime.standard_thread import in_execution, own_state

MODULE = "tempfile"
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789_"  # as `tempfile` has them
LENGTH = 8


def patches() -> list[Patch]:
    """Those for the module, if it was imported. All that it makes it gives names by these two."""
    module: Any = sys.modules.get(MODULE)
    if module is None:
        return []
    original_parameters = module._sanitize_params
    original_names = module._get_candidate_names

    def parameters(*arguments: Any) -> Any:
        found = original_parameters(*arguments)
        if in_execution():
            own_state().temporary = found
        return found

    def names() -> Iterator[str]:
        return own_names() if in_execution() else original_names()

    return [
        Patch(module, "_sanitize_params", parameters),
        Patch(module, "_get_candidate_names", names),
    ]


def own_names() -> Iterator[str]:
    """Names for a file or folder, which is then the execution's own. Other processes may check the
    same program now, and draw the same letters."""
    stream, parameters = own_stream(), own_state().temporary
    own_state().temporary = None
    while True:
        name = "".join(stream.choices(LETTERS, k=LENGTH)) + f"{os.getpid():x}"
        if parameters is not None:
            prefix, suffix, folder, kind = parameters
            ending = os.fsencode(name) if kind is bytes else name
            path = os.path.abspath(os.path.join(folder, prefix + ending + suffix))
            if not os.path.lexists(path):
                RUNNING.check.models.temporary.append(path)
        yield name


def remove() -> None:
    """Remove what the latest execution has made, and has not removed itself."""
    paths = RUNNING.check.models.temporary
    for path in paths:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            with suppress(OSError):
                os.unlink(path)
    paths.clear()

"""pdb, where a program fails."""

import contextlib
import pdb
from types import FrameType, TracebackType

import click

# What a debugger imports when it stops, be it here or at a breakpoint: in an execution it would
# count as code that has come up, which makes it begin anew.
with contextlib.suppress(ImportError):  # on Windows
    import readline  # noqa: F401


class Debugger:
    """Looks at the threads of a failing execution, one after the other, until it is left."""

    def __init__(self) -> None:
        self.stops = 0
        self.is_left = False

    def look(self, words: str, where: TracebackType | FrameType) -> None:
        if self.is_left:
            return
        self.stops += 1
        click.echo(f"\n{words}")
        debugger = pdb.Pdb()
        debugger.reset()
        if isinstance(where, FrameType):
            debugger.interaction(where, None)
        else:
            debugger.interaction(None, where)
        self.is_left = debugger.quitting

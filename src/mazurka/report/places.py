"""Where in the source a failure is, for tools that put a mark there."""

import os
from pathlib import Path

from mazurka.engine.result import Failure, Step


def place_of(failure: Failure) -> tuple[str, int]:
    """The file and the line that stand for a failure: of the last step that decides, or else of one
    that is waited for, or else of the last one. The file is "" if no step has one."""
    deciding = [step for step in failure.steps if step.deciding]
    for steps in (deciding, failure.waiting, failure.steps):
        for step in reversed(steps):
            if step.file:
                return step.file, step.line
    return "", 0


def ways_there(failure: Failure) -> list[Step]:
    """The steps on the way to a failure that are in some file, with those that never happened."""
    return [step for step in [*failure.steps, *failure.waiting] if step.file]


def from_here(file: str, root: Path) -> str:
    """The path of a file within a folder; all of it if it is elsewhere."""
    path = Path(os.path.abspath(file))
    return (path.relative_to(root) if path.is_relative_to(root) else path).as_posix()

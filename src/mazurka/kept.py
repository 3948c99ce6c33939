"""Failing executions that are kept from one check to the next: in .mazurka/failures, beside the
pyproject.toml of the project.

Each is a file of its own, which is written under another name first: whoever reads meanwhile, in
another process of pytest-xdist, say, finds all of it or nothing. A file is data, and no more.
"""

import contextlib
import hashlib
import os
import re
import shlex
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from mazurka.engine.errors import MazurkaError
from mazurka.engine.result import NONDETERMINISM, Failure, Result
from mazurka.engine.schedule import Schedule, plain_message
from mazurka.pyproject import project_file
from mazurka.report.text import failure_groups

FOLDER: Final = Path(".mazurka", "failures")
MOST_KEPT: Final = 10  # ways to fail, of one check
LONGEST_NAME: Final = 60
IGNORED: Final = "# Mazurka keeps failing executions here.\n*\n"  # by git


class Kept(NamedTuple):
    """A failing execution that is kept."""

    file: Path
    schedule: Schedule


@dataclass
class Memory:
    """The failing executions of one check: of a program or test, with its parameters."""

    base: Path  # the folder of the project
    program: str  # a file of the project, and what is checked in it
    key: str  # the same, and what else it was made with
    runner: str = ""  # "pytest" if only that can run the program
    entries: Sequence[Kept] = ()
    remarks: Sequence[str] = ()  # on files that are of no use

    @property
    def schedules(self) -> list[Schedule]:
        return [entry.schedule for entry in self.entries]

    def take_over(self, result: Result) -> None:
        """Keep what has failed, and forget what does not any more. The result says how to run the
        first failure again."""
        first: Path | None = None
        failing = [self.own(failure.schedule) for failure in ways_to_fail(result)]
        try:
            files = [self.write(schedule) for schedule in failing]
            first = files[0] if files else None
            for entry in self.entries:
                over = entry.schedule in result.outdated or entry.schedule in result.again
                if over and entry.file not in files:
                    entry.file.unlink(missing_ok=True)
        except OSError as error:
            why = f"The failing execution could not be kept in {self.folder}: {error.strerror}"
            result.remarks += [f"{why}\n{elsewhere(failing[0])}"] if failing else []
            return
        if first is not None:
            command = f"To run it again: mazurka replay {shlex.quote(shown(first))}"
            in_ci = "CI" in os.environ
            result.remarks.append(f"{command}\n{elsewhere(failing[0])}" if in_ci else command)

    @property
    def folder(self) -> Path:
        return self.base / FOLDER

    def own(self, schedule: Schedule) -> Schedule:
        message = schedule.message if self.runner else plain_message(schedule.message)
        return replace(schedule, program=self.program, message=message, runner=self.runner)

    def write(self, schedule: Schedule) -> Path:
        """Keep one execution."""
        text = schedule.to_json() + "\n"
        way = digest(f"{schedule.failure} {schedule.steps}", 8)
        file = self.folder / f"{stem_of(self.program, self.key)}-{way}.json"
        self.folder.mkdir(parents=True, exist_ok=True)
        ignored = self.folder.parent / ".gitignore"
        if not ignored.exists():
            ignored.write_text(IGNORED, encoding="utf-8")
        descriptor, name = tempfile.mkstemp(dir=self.folder, suffix=".part")
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as part:
                part.write(text)
            os.replace(name, file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
        return file


def elsewhere(schedule: Schedule) -> str:
    """How to run an execution again on another machine."""
    text = schedule.to_text()
    if "flags" in schedule.options:  # a C program
        return f"On another machine: mazurka replay '{text}'"
    return f'On another machine, put this above the function: @mazurka.reproduce("{text}")'


def ways_to_fail(result: Result) -> list[Failure]:
    """A failure for each way, but for those that no schedule leads to."""
    found = [group[0] for group in failure_groups(result.failures)]
    return [failure for failure in found if failure.kind != NONDETERMINISM][:MOST_KEPT]


def base_of(start: Path) -> Path:
    """The folder of the project that a folder is in; without a pyproject.toml, that folder."""
    file = project_file(start)
    return start if file is None else file.parent


def memory_of(base: Path, program: str, key: str = "", runner: str = "") -> Memory:
    """What is kept of a check. A file that is no schedule is left alone, and told."""
    memory = Memory(base, program, key or program, runner)
    entries: list[Kept] = []
    remarks: list[str] = []
    for file in sorted(memory.folder.glob(f"{stem_of(program, memory.key)}-*.json")):
        try:
            schedule = Schedule.from_json(file.read_text(encoding="utf-8"))
        except FileNotFoundError:  # another process has just forgotten it
            continue
        except (MazurkaError, OSError, UnicodeDecodeError) as error:
            remarks.append(f"{shown(file)} is left out: {error}")
            continue
        if schedule.program == program:
            entries.append(Kept(file, schedule))
    return replace(memory, entries=entries, remarks=remarks)


def stem_of(program: str, key: str) -> str:
    """How the names of the files of a check begin."""
    last = re.split("::|/", program)[-1]
    last = re.sub(r"[^\w.]+", "-", last, flags=re.ASCII).strip("-.")
    return f"{last[:LONGEST_NAME]}-{digest(key, 10)}"


def digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


def shown(file: Path) -> str:
    """A path as people type it from here."""
    relative = os.path.relpath(file)
    return str(file) if relative.startswith(os.pardir) else relative


def base_of_kept(file: Path) -> Path | None:
    """The folder of the project if a file is one of those that are kept there."""
    folder = file.absolute().parent
    return folder.parent.parent if folder.parts[-2:] == FOLDER.parts else None

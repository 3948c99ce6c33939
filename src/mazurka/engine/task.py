"""Tasks: parts of a search, as values that another process or machine can take up.

A task is the executions that begin with some steps and are not explored elsewhere. Which of them
those are is known to the algorithm that left it: its notes are numbers and names, one list for each
word. Tasks are data, and the same in every process.
"""

import json
import re
from dataclasses import dataclass, field
from typing import Any

from mazurka.engine.errors import MazurkaError
from mazurka.engine.schedule import NamedStep

FORMAT = 4
THREAD = re.compile(r"0(\.[1-9][0-9]*)*")

Note = list[int] | list[str]


class CannotSplit(MazurkaError):
    """A search that cannot hand over work was asked to; the message says why."""


class Outdated(MazurkaError):
    """A task rests on something about the program that turns out not to be so: the whole search
    must begin anew, and `learnt` says what is known now."""

    def __init__(self, learnt: dict[str, list[str]]) -> None:
        super().__init__(
            "the program turned out to be another one than the task says: search the whole of it "
            "again, with what was learnt"
        )
        self.learnt = learnt

    def __reduce__(self) -> tuple[type["Outdated"], tuple[dict[str, list[str]]]]:
        """Processes tell each other, and exceptions are made anew from what they say."""
        return Outdated, (self.learnt,)


@dataclass(frozen=True)
class Task:
    """Some executions of a program, to be explored by the algorithm that left them: all of them, if
    there are no steps."""

    algorithm: str
    steps: tuple[NamedStep, ...] = ()
    notes: dict[str, Note] = field(default_factory=dict)  # the algorithm's own
    options: dict[str, Any] = field(default_factory=dict)  # that the search was made with
    learnt: dict[str, list[str]] = field(default_factory=dict)  # see Program.learnt

    @property
    def is_whole(self) -> bool:
        """Whether it is the whole search: nothing of it was explored yet."""
        return not self.steps and not self.notes

    def numbers(self, word: str) -> list[int]:
        """A note of numbers."""
        return [int(number) for number in self.notes[word]]

    def names(self, word: str) -> list[str]:
        """A note of names."""
        return [str(name) for name in self.notes[word]]

    def to_json(self) -> str:
        return json.dumps(
            {
                "mazurka-task": FORMAT,
                "algorithm": self.algorithm,
                "steps": self.steps,
                "notes": self.notes,
                "options": self.options,
                "learnt": self.learnt,
            }
        )

    @classmethod
    def from_json(cls, text: str) -> "Task":
        """Read a task; a MazurkaError says what is wrong with a text that is none."""
        try:
            document = json.loads(text)
            if document["mazurka-task"] != FORMAT:
                raise MazurkaError(
                    f"the task has format {document['mazurka-task']!r}; "
                    f"this version reads format {FORMAT}"
                )
            return cls(
                str(document["algorithm"]),
                tuple([read_step(step) for step in document["steps"]]),
                {str(word): read_note(note) for word, note in document["notes"].items()},
                {str(name): value for name, value in document["options"].items()},
                {
                    str(word): [str(name) for name in names]
                    for word, names in document["learnt"].items()
                },
            )
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise MazurkaError(f"not a task that Mazurka wrote: {error!r}") from error


def read_step(step: Any) -> NamedStep:
    thread, operation, choice = step
    return thread_name(thread), str(operation), int(choice)


def thread_name(name: Any) -> str:
    if not isinstance(name, str) or not THREAD.fullmatch(name):
        raise ValueError(f"there can be no thread {name!r}")
    return name


def read_note(note: Any) -> Note:
    if all(type(item) is int for item in note) or all(type(item) is str for item in note):
        return list(note)
    raise ValueError(f"a note of {note!r}")

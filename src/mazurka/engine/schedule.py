"""Schedules: the steps that lead to a failure, again and in every process."""

import base64
import json
import re
import zlib
from dataclasses import dataclass, field, fields
from typing import Any, Final

from mazurka.engine.errors import MazurkaError

FORMAT = 1
MOST_STEPS: Final = 10_000_000  # more than any execution has
LONGEST_TEXT: Final = 50_000_000
THREAD: Final = re.compile(r"0(\.[1-9][0-9]{0,5}){0,50}")
NUMBERS: Final = re.compile("[0-9]+")  # which may be other ones in the same failure

NamedStep = tuple[str, str, int]  # thread, operation, choice: names that hold in every process


@dataclass(frozen=True)
class Schedule:
    """The steps that lead to a failure, in names that hold in every run of the program."""

    steps: tuple[NamedStep, ...]
    program: str = ""
    failure: str = ""  # the kind
    message: str = ""
    options: dict[str, Any] = field(default_factory=dict)  # numbers, names, lists of names, or None
    # What was found out about the failure: a replay runs nothing else.
    bug: str = ""
    sentence: str = ""
    deciding: tuple[int, ...] = ()  # which of the steps
    runner: str = ""  # "pytest" if only that can run the program, as it takes fixtures, say

    def __reduce__(self) -> tuple[Any, ...]:
        return Schedule, field_values(self)

    def to_json(self) -> str:
        """A text that is small even for a thread that goes round in a loop: every distinct step
        is written once, and runs of equal steps are counted."""
        table: dict[NamedStep, int] = {}
        runs: list[list[int]] = []
        for step in self.steps:
            number = table.setdefault(step, len(table))
            if runs and runs[-1][0] == number:
                runs[-1][1] += 1
            else:
                runs.append([number, 1])
        document = {
            "mazurka-schedule": FORMAT,
            "program": self.program,
            "failure": self.failure,
            "message": self.message,
            "options": self.options,
            "bug": self.bug,
            "sentence": self.sentence,
            "deciding": list(self.deciding),
            "runner": self.runner,
            "table": [list(step) for step in table],
            "steps": runs,
        }
        return json.dumps(document)

    def to_text(self) -> str:
        """A short text, for a line of source."""
        return base64.b85encode(zlib.compress(self.to_json().encode(), 9)).decode()

    @classmethod
    def from_text(cls, text: str) -> "Schedule":
        """Read either of the two texts that a schedule has."""
        if text.lstrip().startswith(("{", "[")):
            return cls.from_json(text)
        try:
            unpacker = zlib.decompressobj()
            data = unpacker.decompress(base64.b85decode(text.strip()), LONGEST_TEXT)
            if not unpacker.eof:
                raise ValueError("it does not end")
            return cls.from_json(data.decode())
        except (ValueError, zlib.error) as error:
            raise MazurkaError(f"not a schedule that Mazurka wrote: {error}") from error

    def is_same_failure(self, other: "Schedule") -> bool:
        """Whether two schedules lead to the same failure, as far as they say: all but numbers, such
        as values and lines, is the same."""
        if self.failure != other.failure or (self.bug and other.bug and self.bug != other.bug):
            return False
        messages = [without_numbers(plain_message(one.message)) for one in (self, other)]
        return messages[0] == messages[1]

    @classmethod
    def from_json(cls, text: str) -> "Schedule":
        """Read a schedule; a MazurkaError says what is wrong with a text that is none."""
        try:
            document: dict[str, Any] = json.loads(text)
            if document["mazurka-schedule"] != FORMAT:
                raise MazurkaError(
                    f"the schedule has format {document['mazurka-schedule']!r}; "
                    f"this version reads format {FORMAT}"
                )
            table = [
                (thread_called(thread), str(operation), int(choice))
                for thread, operation, choice in document["table"]
            ]
            if sum(int(count) for _, count in document["steps"]) > MOST_STEPS:
                raise ValueError("more steps than an execution has")
            steps = [table[number] for number, count in document["steps"] for _ in range(count)]
            return cls(
                tuple(steps),
                str(document["program"]),
                str(document["failure"]),
                str(document["message"]),
                {str(key): option(value) for key, value in document["options"].items()},
                str(document.get("bug", "")),
                str(document.get("sentence", "")),
                tuple([int(place) for place in document.get("deciding", ())]),
                str(document.get("runner", "")),
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise MazurkaError(f"not a schedule that Mazurka wrote: {error!r}") from error


def thread_called(name: Any) -> str:
    if not isinstance(name, str) or not THREAD.fullmatch(name):
        raise ValueError(f"there can be no thread {name!r}")
    return name


def plain_message(message: str) -> str:
    """A message without what pytest adds to failing asserts: others that run a test do not."""
    if not message.startswith("AssertionError"):
        return message
    return re.sub(r"(: |\n)assert .*", "", message, flags=re.DOTALL)


def without_numbers(text: str) -> str:
    return NUMBERS.sub("0", text)


def option(value: Any) -> Any:
    """The value of an option that a document gives."""
    if value is None or isinstance(value, str):
        return value
    return [str(name) for name in value] if isinstance(value, list) else int(value)


def field_values(instance: Any) -> tuple[Any, ...]:
    return tuple([getattr(instance, part.name) for part in fields(instance)])

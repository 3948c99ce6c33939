"""Schedules: the steps that lead to a failure, again and in every process."""

import json
from dataclasses import dataclass, field, fields
from typing import Any

from mazurka.engine.errors import MazurkaError

FORMAT = 1

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
            "table": [list(step) for step in table],
            "steps": runs,
        }
        return json.dumps(document)

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
                (str(thread), str(operation), int(choice))
                for thread, operation, choice in document["table"]
            ]
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
            )
        except (ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
            raise MazurkaError(f"not a schedule that Mazurka wrote: {error!r}") from error


def option(value: Any) -> Any:
    """The value of an option that a document gives."""
    if value is None or isinstance(value, str):
        return value
    return [str(name) for name in value] if isinstance(value, list) else int(value)


def field_values(instance: Any) -> tuple[Any, ...]:
    return tuple([getattr(instance, part.name) for part in fields(instance)])

"""Parts of an exploration, as values that another process or machine can take up."""

import json
from dataclasses import dataclass

from mazurka.core.result import MazurkaError, NamedStep

FORMAT = 1


@dataclass(frozen=True)
class Part:
    """The executions that begin with some steps and have not been explored elsewhere.

    How far the steps are in schedules (the marks) is all that a search must know of the others.
    """

    steps: tuple[NamedStep, ...] = ()
    marks: tuple[int, ...] = ()

    def to_json(self) -> str:
        return json.dumps({"mazurka-part": FORMAT, "steps": self.steps, "marks": self.marks})

    @classmethod
    def from_json(cls, text: str) -> "Part":
        """Read a part; a MazurkaError says what is wrong with a text that is none."""
        try:
            document = json.loads(text)
            if document["mazurka-part"] != FORMAT:
                raise MazurkaError(
                    f"the part has format {document['mazurka-part']!r}; "
                    f"this version reads format {FORMAT}"
                )
            steps = [
                (str(thread), str(operation), int(choice))
                for thread, operation, choice in document["steps"]
            ]
            marks = [int(mark) for mark in document["marks"]]
            if len(marks) != len(steps):
                raise ValueError(f"{len(steps)} steps, but {len(marks)} marks")
            return cls(tuple(steps), tuple(marks))
        except (ValueError, KeyError, TypeError) as error:
            raise MazurkaError(f"not a part that Mazurka wrote: {error!r}") from error


WHOLE = Part()

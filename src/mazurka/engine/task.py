"""Parts of an exploration, as values that another process or machine can take up."""

import json
import re
from dataclasses import asdict, dataclass

from mazurka.engine.result import MazurkaError, NamedStep

FORMAT = 2
THREAD = re.compile(r"0(\.[1-9][0-9]*)*")
MARKS = range(3)


@dataclass(frozen=True)
class Part:
    """The executions that begin with some steps and have not been explored elsewhere.

    How far the steps are in schedules (the marks), and what the heads were reversed against (the
    rivals: the position of the head, where it branched off, and which thread was to step there) is
    all that a search must know of the others. How the steps access their locations (the modes)
    shows whether the program has changed.
    """

    steps: tuple[NamedStep, ...] = ()
    marks: tuple[int, ...] = ()
    modes: tuple[int, ...] = ()
    rivals: tuple[tuple[int, int, str], ...] = ()
    independent_adds: bool = True

    def to_json(self) -> str:
        return json.dumps({"mazurka-part": FORMAT, **asdict(self)})

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
            modes = [int(mode) for mode in document["modes"]]
            if not len(steps) == len(marks) == len(modes):
                raise ValueError(f"{len(steps)} steps, {len(marks)} marks, {len(modes)} modes")
            rivals = [
                (int(head), int(position), str(thread))
                for head, position, thread in document["rivals"]
            ]
            for thread in [*[step[0] for step in steps], *[rival[2] for rival in rivals]]:
                if not THREAD.fullmatch(thread):
                    raise ValueError(f"there can be no thread {thread!r}")
            if any(mark not in MARKS for mark in marks):
                raise ValueError(f"the marks are {sorted(set(marks))}")
            heads = {head for head, _, _ in rivals}
            if heads != {place for place, mark in enumerate(marks) if mark == MARKS[-1]}:
                raise ValueError(f"the heads are {sorted(heads)}")
            adds = bool(document["independent_adds"])
            return cls(tuple(steps), tuple(marks), tuple(modes), tuple(rivals), adds)
        except (ValueError, KeyError, TypeError) as error:
            raise MazurkaError(f"not a part that Mazurka wrote: {error!r}") from error


WHOLE = Part()

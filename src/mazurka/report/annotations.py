"""Results as workflow commands of GitHub Actions, which shows them beside the lines of a change."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from mazurka.engine.result import Failure, Result
from mazurka.report.places import from_here, place_of
from mazurka.report.text import failure_groups, headlines, summary

WIDTH: Final = 10_000  # no line is broken: GitHub does that
IN_TEXT: Final = {"%": "%25", "\r": "%0D", "\n": "%0A"}
IN_PROPERTY: Final = {**IN_TEXT, ":": "%3A", ",": "%2C"}


def wants_annotations() -> bool:
    return os.environ.get("GITHUB_ACTIONS") == "true"


def annotations(target: str, result: Result) -> list[str]:
    """A command for each way to fail, or for a search that did not look at everything."""
    root = Path(os.environ.get("GITHUB_WORKSPACE") or os.getcwd()).absolute()
    if result.verdict == "incomplete":
        file = target.partition("::")[0]
        here = from_here(file, root) if os.path.isfile(file) else ""
        return [command("warning", here, 0, target, summary(result))]
    ways = [group[0] for group in failure_groups(result.failures)]
    return [of_failure(target, failure, root) for failure in ways]


def of_failure(target: str, failure: Failure, root: Path) -> str:
    file, line = place_of(failure)
    told = failure.explanation
    bug = (told.bug if told is not None else "") or failure.kind
    text = "\n".join(headlines(failure, WIDTH))
    return command("error", from_here(file, root) if file else "", line, f"{bug} in {target}", text)


def command(level: str, file: str, line: int, title: str, text: str) -> str:
    properties = {"file": file, "line": str(line or ""), "title": title}
    given = [f"{name}={escaped(value, IN_PROPERTY)}" for name, value in properties.items() if value]
    return f"::{level} {','.join(given)}::{escaped(text, IN_TEXT)}"


def escaped(text: str, table: Mapping[str, str]) -> str:
    return "".join([table.get(character, character) for character in text])

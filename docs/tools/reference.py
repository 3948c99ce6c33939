"""Writes docs/reference.md: all options and verdicts, from the table that the doors go by.

python docs/tools/reference.py
"""

from pathlib import Path

from mazurka.cli.exits import EXIT_CODES
from mazurka.engine.result import (
    DATA_RACE,
    DEADLOCK,
    EXCEPTION,
    LIVELOCK,
    NONDETERMINISM,
    STUCK,
    TOO_LONG,
)
from mazurka.options import NAMES, OPTIONS, PYTHON, SWITCH, Option, Options
from mazurka.report.text import BY_WEIGHT, VERDICTS

PAGE = Path(__file__).parents[1] / "reference.md"
BEGIN = """# Reference: options and verdicts

This page is written by `docs/tools/reference.py`, from the table that calls, the command line,
pytest and `pyproject.toml` go by. What an option is good for is said on
[the page of the command line](command-line.md#mazurka-check).
"""
FAILURES = {
    EXCEPTION: "an exception left a thread, or the program; a failing `assert` is one",
    DEADLOCK: "threads wait, and nobody is left to wake them",
    LIVELOCK: "a thread waits in a loop, or for a value, and nothing that can happen ends that",
    DATA_RACE: 'two accesses that nothing orders, one a write (with `granularity="sync"`)',
    NONDETERMINISM: "the program does not repeat itself under the same schedule",
    TOO_LONG: "an execution has more steps than `max_events`",
    STUCK: "a thread runs longer than `step_limit` without coming to a step",
}
MEANINGS = {
    "verified": "every behaviour was looked at, and none fails",
    "bounded": "every one within the bound that was asked for; there may be failures beyond",
    "incomplete": "no failure so far, but a limit ended the search, or not everything was seen",
    "failed": "there is an execution that fails, and it can be replayed",
}


def page() -> str:
    return "\n".join([BEGIN, *verdicts(), "", *failures(), "", *options(), ""])


def verdicts() -> list[str]:
    rows = [
        f"| `{verdict}` | {MEANINGS[verdict]} | {VERDICTS[verdict]} | {EXIT_CODES[verdict]} | "
        f"{'passes' if EXIT_CODES[verdict] == 0 else 'fails'} |"
        for verdict in BY_WEIGHT
    ]
    head = ["## Verdicts", "", "| verdict | meaning | as it is printed | exit code | a test |"]
    return [*head, "|---|---|---|---|---|", *rows]


def failures() -> list[str]:
    rows = [f"| `{kind}` | {meaning} |" for kind, meaning in FAILURES.items()]
    head = ["## Kinds of failure", "", "| kind | what it is |", "|---|---|"]
    return [*head, *rows, "", "What kind of bug is behind a failure: [failures](failures.md)."]


def options() -> list[str]:
    lines = ["## Options"]
    for option in OPTIONS.values():
        lines += ["", f"### {option.name}", "", *account_of(option)]
    return lines


def account_of(option: Option) -> list[str]:
    facts = [
        f"Value: {values_of(option)}.",
        f"Default: `{option.default!r}`.",
        f"Command line: {flag_of(option, '--')}.",
    ]
    if option.in_pytest:
        facts.append(f"pytest: {flag_of(option, '--mazurka-')}.")
    if option.kind is not None:
        facts.append("`pyproject.toml`: yes.")
    goes_by = [name for name in option.of if name != PYTHON]
    if goes_by:
        facts.append(f"For the algorithms {', '.join(goes_by)}.")
    if PYTHON in option.of:
        facts.append("For Python programs.")
    meaning = option.meaning
    if option.flag and option.default:
        meaning = f"Turned off: {meaning[0].lower()}{meaning[1:]}"
    return [meaning, "", *(f"- {fact}" for fact in facts)]


def values_of(option: Option) -> str:
    if option.kind is None:
        return f"`{Options.__annotations__[option.name]}`, from Python only"
    if option.kind.choices is not None:
        return ", ".join(f"`{name}`" for name in option.kind.choices())
    return option.kind.what


def flag_of(option: Option, prefix: str) -> str:
    if option.kind is None:
        return "none"
    if option.kind is SWITCH:
        return f"`{prefix}{option.flag}`"
    often = ", once for each" if option.kind is NAMES else ""
    name = option.name.replace("_", "-")
    metavar = "NAME" if option.kind.choices else option.kind.metavar
    return f"`{prefix}{name} {metavar}`{often}"


if __name__ == "__main__":
    PAGE.write_text(page())

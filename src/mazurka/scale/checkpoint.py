"""A search as a file: what was found, and what is left. It is data, and nothing in it is run."""

import contextlib
import json
import os
import tempfile
from collections import Counter
from dataclasses import fields
from pathlib import Path
from typing import Any

from mazurka.engine.errors import MazurkaError
from mazurka.engine.result import Failure, Result, Step
from mazurka.engine.schedule import Schedule
from mazurka.engine.task import Task
from mazurka.scale.ledger import COUNTS, Ledger
from mazurka.scale.messages import Key
from mazurka.version import VERSION

FORMAT = 2
WORDS = ("algorithm", "equivalence", "reason", "doubt", "bound")
NUMBERS = ("threads", "memory_mb")
NO_STEP = Step("", "")

# What a search is of: a program, and how it is searched. All of it is JSON.
Identity = dict[str, Any]


def save(file: Path, ledger: Ledger, identity: Identity, seconds: float) -> None:
    """Write a file at once: whoever reads it finds the old one or the new one."""
    text = json.dumps(document(ledger, identity, seconds))
    folder = file.absolute().parent
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=folder)
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as written:
                written.write(text + "\n")
                written.flush()
                os.fsync(written.fileno())
            os.replace(name, file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise
    except OSError as error:
        raise MazurkaError(f"cannot write the checkpoint {file}: {error.strerror}") from error


def load(file: Path, identity: Identity, stops: bool) -> tuple[Ledger, float]:
    """The ledger of a search of the same program, and the seconds that it has taken; a MazurkaError
    says what differs, or what is wrong with a file that is no checkpoint."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise MazurkaError(f"cannot read the checkpoint {file}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise not_one(file, error) from error
    try:
        if found["mazurka-checkpoint"] != FORMAT or found["version"] != VERSION:
            raise MazurkaError(
                f"{file} was written by another version of Mazurka ({found['version']!r}, format "
                f"{found['mazurka-checkpoint']!r}); this is {VERSION}, format {FORMAT}"
            )
        refuse_differing(file, found["search"], identity)
        return read_ledger(found, stops), float(found["seconds"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise not_one(file, error) from error


def not_one(file: Path, error: Exception) -> MazurkaError:
    return MazurkaError(f"{file} is not a checkpoint that Mazurka wrote, or it is damaged: {error}")


def refuse_differing(file: Path, found: Identity, identity: Identity) -> None:
    here = json.loads(json.dumps(identity))
    differing = [name for name in sorted({*found, *here}) if found.get(name) != here.get(name)]
    if differing == ["sha256"]:
        raise MazurkaError(f"the program has changed since {file} was written: begin anew")
    told = [f"{name} is {found.get(name)!r} there, {here.get(name)!r} here" for name in differing]
    if told:
        raise MazurkaError(f"{file} is of another search: {'; '.join(told)}")


# Writing


def document(ledger: Ledger, identity: Identity, seconds: float) -> dict[str, Any]:
    return {
        "mazurka-checkpoint": FORMAT,
        "version": VERSION,
        "search": identity,
        "seconds": seconds,
        "executions": sum([result.executions for result in ledger.counted()]),  # for people
        "end": None if ledger.end is None else list(ledger.end),
        "end_reason": ledger.end_reason,
        "warnings": list(ledger.warnings),
        "results": [[list(key), result_out(result)] for key, result in ledger.results.items()],
        "tasks": [[list(key), task.to_json()] for key, task in ledger.entries()],
    }


def result_out(result: Result) -> dict[str, Any]:
    return {
        **{name: getattr(result, name) for name in (*COUNTS, *WORDS, *NUMBERS)},
        "warnings": result.warnings,
        "outcomes": [[value_out(value), count] for value, count in result.outcomes.items()],
        "failures": [failure_out(failure) for failure in result.failures],
    }


def failure_out(failure: Failure) -> dict[str, Any]:
    return {
        "kind": failure.kind,
        "message": failure.message,
        "schedule": failure.schedule.to_json(),
        "steps": [step_out(step) for step in failure.steps],
        "thread": failure.thread,
        "details": failure.details,
        "waiting": [step_out(step) for step in failure.waiting],
        "race": failure.race,
    }


def step_out(step: Step) -> dict[str, Any]:
    """What a step says, but for what most of them say alike."""
    values = {part.name: getattr(step, part.name) for part in fields(Step)}
    return {name: value for name, value in values.items() if value != getattr(NO_STEP, name)}


def value_out(value: object) -> Any:
    """A value as JSON. One that is no number, text, nothing, or tuple of these is kept as it
    prints."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if type(value) is tuple:
        return {"tuple": [value_out(part) for part in value]}
    return {"shown": repr(value)}


def plain_outcomes(outcomes: "Counter[Any]") -> "Counter[Any]":
    """Outcomes as they are when they were written to a file and read from it."""
    found: Counter[Any] = Counter()
    for outcome, count in outcomes.items():
        found[value_in(value_out(outcome))] += count
    return found


# Reading


def read_ledger(found: dict[str, Any], stops: bool) -> Ledger:
    ledger = Ledger(stops)
    ledger.results = {key_in(key): result_in(result) for key, result in found["results"]}
    if found["end"] is not None:
        ledger.end = key_in(found["end"])
        ledger.end_reason = text_in(found["end_reason"])
    ledger.warnings = dict.fromkeys([text_in(warning) for warning in found["warnings"]])
    entries = [(key_in(key), Task.from_json(text_in(task))) for key, task in found["tasks"]]
    if len({key for key, _ in entries}) < len(entries):
        raise ValueError("two tasks have one key")
    if not ledger.results:
        raise ValueError("there are no results")
    ledger.add(entries)
    return ledger


def key_in(key: Any) -> Key:
    if not isinstance(key, list) or not all(type(number) is int for number in key):
        raise ValueError(f"a key of {key!r}")
    return tuple(key)


def text_in(text: Any) -> str:
    if not isinstance(text, str):
        raise ValueError(f"a text of {text!r}")
    return text


def count_in(count: Any) -> int:
    if type(count) is not int or count < 0:
        raise ValueError(f"a count of {count!r}")
    return count


def result_in(found: dict[str, Any]) -> Result:
    result = Result()
    for name in COUNTS:
        setattr(result, name, count_in(found[name]))
    for name in WORDS:
        setattr(result, name, text_in(found[name]))
    result.threads = None if found["threads"] is None else count_in(found["threads"])
    result.memory_mb = None if found["memory_mb"] is None else float(found["memory_mb"])
    result.warnings = [text_in(warning) for warning in found["warnings"]]
    for value, count in found["outcomes"]:
        result.outcomes[value_in(value)] += count_in(count)
    result.failures = [failure_in(failure) for failure in found["failures"]]
    return result


def failure_in(found: dict[str, Any]) -> Failure:
    failure = Failure(
        text_in(found["kind"]), text_in(found["message"]), Schedule.from_json(found["schedule"])
    )
    failure.steps = [step_in(step) for step in found["steps"]]
    failure.thread = text_in(found["thread"])
    failure.details = [text_in(detail) for detail in found["details"]]
    failure.waiting = [step_in(step) for step in found["waiting"]]
    failure.race = text_in(found["race"])
    return failure


def step_in(found: dict[str, Any]) -> Step:
    """A step: each value is of the kind that it has in any step."""
    values: dict[str, Any] = {}
    for name, value in found.items():
        usual = getattr(NO_STEP, name)
        if isinstance(usual, tuple):
            values[name] = key_in(value)
        elif usual is None:
            values[name] = None if value is None else text_in(value)
        elif type(value) is type(usual):
            values[name] = value
        else:
            raise ValueError(f"a step with {name} {value!r}")
    return Step(**{"thread": "", "action": "", **values})


def value_in(found: Any) -> Any:
    if not isinstance(found, dict):
        if found is not None and type(found) not in (bool, int, float, str):
            raise ValueError(f"an outcome of {found!r}")
        return found
    if "tuple" in found:
        return tuple([value_in(part) for part in found["tuple"]])
    return text_in(found["shown"])

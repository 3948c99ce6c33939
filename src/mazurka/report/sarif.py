"""Results as a SARIF document (version 2.1.0), which tools that collect findings read."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from mazurka.engine.result import Failure, Result, Step
from mazurka.report.places import from_here, place_of, ways_there
from mazurka.report.text import failure_groups, headlines, summary
from mazurka.version import VERSION

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
WIDTH: Final = 10_000  # no line is broken


def sarif_document(
    results: Sequence[tuple[str, Result]], unchecked: Sequence[tuple[str, str]], root: Path
) -> dict[str, Any]:
    """What checks of some targets found. `unchecked` are targets, and why they were not checked."""
    found = [
        (target, group[0])
        for target, result in results
        for group in failure_groups(result.failures)
    ]
    bugs = sorted({bug_of(failure) for _, failure in found})
    driver = {
        "name": "Mazurka",
        "version": VERSION,
        "rules": [{"id": id_of(bug), "shortDescription": {"text": bug}} for bug in bugs],
    }
    notes = [
        note("warning", f"{target}: {summary(result)}")
        for target, result in results
        if result.verdict == "incomplete"
    ]
    notes += [note("error", f"{target} was not checked: {why}") for target, why in unchecked]
    run = {
        "tool": {"driver": driver},
        "invocations": [
            {"executionSuccessful": not unchecked, "toolExecutionNotifications": notes}
        ],
        "results": [finding(target, failure, bugs, root) for target, failure in found],
    }
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def bug_of(failure: Failure) -> str:
    told = failure.explanation
    return (told.bug if told is not None else "") or failure.kind


def id_of(bug: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", bug.lower()).strip("-")


def note(level: str, text: str) -> dict[str, Any]:
    return {"level": level, "message": {"text": text}}


def finding(target: str, failure: Failure, bugs: list[str], root: Path) -> dict[str, Any]:
    bug = bug_of(failure)
    file, line = place_of(failure)
    text = "\n".join([*headlines(failure, WIDTH), f"Found by a check of {target}."])
    told: dict[str, Any] = {
        "ruleId": id_of(bug),
        "ruleIndex": bugs.index(bug),
        "level": "error",
        "message": {"text": text},
        "locations": [location(file, line, root)] if file else [],
        # So that the same bug is the same finding when lines have moved.
        "partialFingerprints": {"mazurka/v1": f"{target}: {bug}"},
    }
    steps = ways_there(failure)
    if steps:
        told["codeFlows"] = [{"threadFlows": flows(steps, root)}]
    return told


def flows(steps: list[Step], root: Path) -> list[dict[str, Any]]:
    """The steps of each thread, numbered in the order of the execution."""
    threads: dict[str, list[dict[str, Any]]] = {}
    for number, step in enumerate(steps, 1):
        words = f"waits: {step.action}" if step.outcome == "waits" else step.action
        place = location(step.file, step.line, root, f"{step.thread}: {words}")
        importance = "essential" if step.deciding else "unimportant" if step.group else "important"
        shown = {"location": place, "executionOrder": number, "importance": importance}
        threads.setdefault(step.thread, []).append(shown)
    return [{"id": name or "?", "locations": locations} for name, locations in threads.items()]


def location(file: str, line: int, root: Path, words: str = "") -> dict[str, Any]:
    path = from_here(file, root)
    uri = Path(path).as_uri() if os.path.isabs(path) else quote(path)
    place: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if line:
        place["region"] = {"startLine": line}
    found: dict[str, Any] = {"physicalLocation": place}
    if words:
        found["message"] = {"text": words}
    return found

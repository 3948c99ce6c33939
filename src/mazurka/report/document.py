"""Results as JSON documents."""

import json
from dataclasses import asdict
from typing import Any

from mazurka.engine.result import Failure, Result
from mazurka.report.columns import table_of
from mazurka.report.text import sorted_outcomes


def result_document(program: str, result: Result) -> dict[str, Any]:
    return {
        "program": program,
        "verdict": result.verdict,
        "reason": result.reason,
        "bound": result.bound,
        "algorithm": result.algorithm,
        "equivalence": result.equivalence,
        "executions": result.executions,
        "complete": result.complete,
        "blocked": result.blocked,
        "redundant": result.redundant,
        "cut": result.cut,
        "beyond": result.beyond,
        "traces": result.traces,
        "unfolding": result.unfolding,
        "known": result.known,
        "seconds": round(result.seconds, 6),
        "memory_mb": None if result.memory_mb is None else round(result.memory_mb, 1),
        "preparation": round(result.preparation, 6),
        "explaining": round(result.explaining, 6),
        "warnings": result.warnings,
        "threads": result.threads,
        "opaque": result.opaque,
        "assuming": result.assuming,
        "advice": [asdict(advice) for advice in result.advice],
        "failures": [failure_document(failure) for failure in result.failures],
        "outcomes": [outcome_document(result, *each) for each in sorted_outcomes(result)],
    }


def outcome_document(result: Result, text: str, count: int) -> dict[str, Any]:
    """An outcome; with an execution that has it, if these are kept."""
    found: dict[str, Any] = {"outcome": text, "count": count}
    if result.recording is not None and text in result.recording.schedules:
        found["schedule"] = json.loads(result.recording.schedules[text].to_json())
    return found


def failure_document(failure: Failure) -> dict[str, Any]:
    return {
        "kind": failure.kind,
        "message": failure.message,
        "thread": failure.thread,
        "details": failure.details,
        "steps": [asdict(step) for step in failure.steps],
        "waiting": [asdict(step) for step in failure.waiting],
        "schedule": json.loads(failure.schedule.to_json()),
        "explanation": None if failure.explanation is None else asdict(failure.explanation),
        "columns": columns_document(failure),
    }


def columns_document(failure: Failure) -> dict[str, Any]:
    """The steps that decide, as the text shows them: a column a thread, a row a step."""
    table = table_of(failure)
    return {"threads": list(table.threads), "rows": [asdict(row) for row in table.rows]}

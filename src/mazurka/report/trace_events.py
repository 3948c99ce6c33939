"""A failing execution in the trace-event format of Chrome, which Perfetto reads: a track for each
thread, a slice for each step, arrows from a thread to another one that must come after it."""

from typing import Any, Final

from mazurka.engine.result import Failure, Step

STEP: Final = 10  # microseconds, as viewers have it: there is no time in an execution
PROCESS: Final = 1


def trace_document(title: str, failure: Failure) -> dict[str, Any]:
    told = failure.explanation
    steps = [*failure.steps, *failure.waiting]
    threads = {name: number for number, name in enumerate(dict.fromkeys(map(thread_of, steps)), 1)}
    events = [name_of_track("process_name", PROCESS, title)]
    for name, number in threads.items():
        events.append(name_of_track("thread_name", number, name))
        order = {"ph": "M", "pid": PROCESS, "tid": number, "args": {"sort_index": number}}
        events.append({"name": "thread_sort_index", **order})
    for place, step in enumerate(steps):
        events.append(slice_of(step, place, threads[thread_of(step)], len(steps)))
        for before in step.after:
            if thread_of(steps[before]) != thread_of(step):
                events += arrow(steps, before, place, threads)
    return {
        "traceEvents": events,
        "displayTimeUnit": "ms",
        "otherData": {
            "program": title,
            "failure": failure.message or failure.kind,
            "sentence": told.sentence if told is not None else "",
        },
    }


def thread_of(step: Step) -> str:
    return step.thread or "?"


def name_of_track(what: str, number: int, name: str) -> dict[str, Any]:
    return {"name": what, "ph": "M", "pid": PROCESS, "tid": number, "args": {"name": name}}


def slice_of(step: Step, place: int, thread: int, count: int) -> dict[str, Any]:
    """A step. One that never happened lasts to the end, as long as its thread waits for it."""
    is_waiting = step.outcome == "waits"
    details = {
        "step": place + 1,
        "line": f"{step.file}:{step.line}" if step.file else "",
        "source": step.source,
        "found": step.found,
        "left": step.left,
        "decides": step.deciding or None,
        "reads from step": step.reads_from + 1 if step.reads_from >= 0 else None,
    }
    return {
        "name": f"waits: {step.action}" if is_waiting else step.action,
        "cat": "deciding" if step.deciding else step.group or step.operation or "step",
        "ph": "X",
        "ts": place * STEP,
        "dur": (count - place) * STEP if is_waiting else STEP,
        "pid": PROCESS,
        "tid": thread,
        "args": {name: value for name, value in details.items() if value not in (None, "")},
    }


def arrow(
    steps: list[Step], first: int, second: int, threads: dict[str, int]
) -> list[dict[str, Any]]:
    """A flow from within a slice to within another one."""
    common = {"name": "happens before", "cat": "happens-before", "pid": PROCESS}
    common["id"] = f"{first}-{second}"
    start = {"ph": "s", "ts": first * STEP + STEP // 2, "tid": threads[thread_of(steps[first])]}
    end = {"ph": "f", "bp": "e", "ts": second * STEP + STEP // 2}
    return [{**common, **start}, {**common, **end, "tid": threads[thread_of(steps[second])]}]

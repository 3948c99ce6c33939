"""Turns a run that failed into a Failure: what went wrong, in words."""

from collections import Counter
from typing import cast

from mazurka.engine.event import Event
from mazurka.engine.history_table import complaint, history_lines
from mazurka.engine.linearizable import Judge
from mazurka.engine.operation import AWAIT, AWAIT_EXCHANGE, JOIN, UNKNOWN
from mazurka.engine.program import Program
from mazurka.engine.result import (
    DATA_RACE,
    DEADLOCK,
    EXCEPTION,
    LIVELOCK,
    NONDETERMINISM,
    NOT_LINEARIZABLE,
    STUCK,
    TOO_LONG,
    Failure,
)
from mazurka.engine.schedule import Schedule
from mazurka.python.check import RUNNING
from mazurka.python.early_timeouts import EARLY, times_out_early
from mazurka.python.loops.rounds import Loop, found_circle
from mazurka.python.primitives.loop_inbox import Inbox, Place
from mazurka.python.run_in_words import (
    RunInWords,
    family_order,
    is_write,
    thread_order,
)
from mazurka.python.runtime.race_detector import Race
from mazurka.python.runtime.runtime import (
    DIVERGED,
    IN_A_CIRCLE,
    INTERRUPTED,
    NOTHING,
    POLLING,
)
from mazurka.python.runtime.runtime import TOO_LONG as ENDLESS
from mazurka.python.runtime.thread import Thread
from mazurka.python.source import source_line
from mazurka.python.words import plain_text, show

WHERE_TO_LOOK = "look for clocks, random numbers, hashes, input, files, or state that is kept"


def account_of(program: Program, judge: Judge | None = None) -> Failure:
    """The failure of the latest run. The judge has looked at its calls, if it is a scenario."""
    runtime = RUNNING.check.runtime
    run = RunInWords(program)
    if program.answer.race is not None:
        failure = data_race(run)
    elif runtime.stopped == DIVERGED:
        failure = nondeterminism(run)
    elif runtime.stopped == ENDLESS:
        failure = too_long(run)
    elif runtime.stopped == INTERRUPTED:
        failure = stuck(run)
    elif runtime.stopped == POLLING:
        failure = polling(run)
    elif runtime.stopped == IN_A_CIRCLE:
        failure = in_a_circle(run)
    elif runtime.first_failed is not None:
        failure = raised(run, runtime.first_failed)
    elif judge is not None and judge.verdict is not None and judge.verdict.blamed >= 0:
        failure = new_failure(run, NOT_LINEARIZABLE, complaint(judge, run.thread), [])
    elif found_circle() is not None:
        failure = in_a_circle(run)
    else:
        failure = waiting_for_ever(run)
    if judge is not None and judge.verdict is not None:
        if judge.verdict.blamed < 0:
            failure.details.append(complaint(judge, run.thread))
        failure.details.extend(history_lines(judge, run.thread))
    length = len(failure.schedule.steps)
    if runtime.journal is not None:
        timeouts = [position for position in runtime.journal.timeouts if position < length]
        if not runtime.timeouts_last and times_out_early(program.events, timeouts):
            failure.details.append(EARLY)
        failure.details.extend(dict.fromkeys(runtime.journal.notes))
    return failure


def schedule_of(program: Program, kind: str, message: str, length: int) -> Schedule:
    """With what the search had learnt: it decides what the steps are, and their names."""
    steps = program.steps_of(program.events[:length])
    return Schedule(tuple(steps), "", kind, message, dict(program.learnt_for_schedules()))


def new_failure(
    run: RunInWords, kind: str, message: str, details: list[str], length: int | None = None
) -> Failure:
    events = run.program.events
    end = len(events) if length is None else length
    steps = run.steps(end)
    return Failure(
        kind,
        message,
        schedule_of(run.program, kind, message, end),
        steps,
        waiting=[run.waiting_step(event, steps) for event in run.program.answer.waiting],
        details=[*details, *RUNNING.check.runtime.inputs()],
    )


def raised(run: RunInWords, thread: Thread) -> Failure:
    """An exception left a thread."""
    runtime = RUNNING.check.runtime
    error = thread.exception
    assert error is not None
    text = plain_text(error, str)
    summary = f"{type(error).__name__}: {text}" if text else type(error).__name__
    details = [f"raised{run.where_raised(error)}"]
    # (That blocks are atomic may show only in what follows.)
    end = None if runtime.blocks else runtime.failed_position
    failure = new_failure(run, EXCEPTION, summary, details, end)
    failure.thread = run.thread(thread.id)
    failure.exception = error
    return failure


def waiting_for_ever(run: RunInWords) -> Failure:
    """No thread can go on: a livelock if one of them awaits a value or waits in a loop, else a
    deadlock."""
    runtime = RUNNING.check.runtime
    details = []
    message = "no thread can go on"
    for event in sorted(run.program.answer.waiting, key=thread_order):
        if runtime.names.threads[event.thread].spin is not None:
            continue
        if event.kind == AWAIT or event.kind == AWAIT_EXCHANGE:
            message = "a thread awaits a value that never comes"
        details.append(account_of_waiting(run, event))
        details.extend(waiting_tasks(run, event))
    for thread in sorted(runtime.live, key=family_order):
        if thread.spin is not None and not thread.finished:
            message = "a thread waits in a loop for what never comes"
            details.append(account_of_spinning(run, thread))
    kind = DEADLOCK if message == "no thread can go on" else LIVELOCK
    return new_failure(run, kind, message, details)


def account_of_spinning(run: RunInWords, thread: Thread) -> str:
    """Which loop a thread goes round for ever, and what it finds there in every round."""
    loop = cast(Loop, thread.spin)
    events = run.program.events[loop.begin :]
    found = [run.action(event) for event in events if event.thread == thread.id]
    if not thread.gave_up:
        name = run.objects[thread.cell.location]
        found.append(thread.cell.found_words(thread.first, name))
    return account_of_rounds(run, thread, loop, found)


def account_of_rounds(run: RunInWords, thread: Thread, loop: Loop, steps: list[str]) -> str:
    text = f"{run.thread(thread.id)} goes round for ever at {loop.file}:{loop.line}"
    source = source_line(loop.file, loop.line)
    if source:
        text += f": {source}"
    return f"{text} ({'; '.join(steps) or 'without any step'})"


def in_a_circle(run: RunInWords) -> Failure:
    """Threads do the same again and again, and keep each other from getting on with it."""
    details = []
    circle = found_circle()
    assert circle is not None
    events = run.program.events[circle.begin : circle.end]
    for thread in sorted(RUNNING.check.runtime.live, key=family_order):
        steps = [run.action(event) for event in events if event.thread == thread.id]
        if steps and thread.loop is not None:
            details.append(account_of_rounds(run, thread, cast(Loop, thread.loop), steps))
    message = "threads go round in loops for ever, and none gets anywhere"
    return new_failure(run, LIVELOCK, message, details)


def waiting_tasks(run: RunInWords, event: Event) -> list[str]:
    """Where the tasks of an event loop wait, in which nothing can go on."""
    cell = RUNNING.check.runtime.names.threads[event.thread].cell
    inbox = cell.part_of if isinstance(cell, Place) else cell
    if not isinstance(inbox, Inbox):
        return []
    return [
        f"{name} waits{run.where(code, instruction)}"
        for name, code, instruction in inbox.waiting_tasks()
    ]


def account_of_waiting(run: RunInWords, event: Event) -> str:
    """Who waits for what, who holds it, and where."""
    thread = RUNNING.check.runtime.names.threads[event.thread]
    text = f"{run.thread(event.thread)} waits "
    if event.kind == JOIN:
        text += f"to join {run.thread(event.choice)}"
    else:
        name = run.objects[event.location]
        text += thread.cell.waiting_words(event.kind, name, run.thread)
    return text + "," * (thread.code is not None) + run.where(thread.code, thread.instruction)


def nondeterminism(run: RunInWords) -> Failure:
    runtime = RUNNING.check.runtime
    divergence = runtime.divergence
    assert divergence is not None
    expected = divergence.expected
    thread = run.thread(divergence.thread)
    recorded = str(expected.first)
    if expected.kind != UNKNOWN:
        recorded = run.operation(expected.kind, expected.location, expected.choice)
    happened = run.operation(divergence.kind, divergence.location, divergence.thread)
    why = f", {divergence.why}" if divergence.why else ""
    details = [
        f"recorded: {recorded}{run.where(*runtime.names.places.at(expected.place))}",
        f"on the repeat: {happened}{why}" + run.where(divergence.code, divergence.instruction),
    ]
    message = (
        f"the program does not repeat itself: under the same schedule {thread} first did "
        f"'{recorded}', and then '{happened}'{why}; " + WHERE_TO_LOOK
    )
    failure = new_failure(run, NONDETERMINISM, message, details, runtime.position)
    failure.thread = thread
    return failure


def account_of_change(program: Program, first: str, second: str) -> Failure:
    message = (
        "the program does not repeat itself: two runs under the same schedule end in two ways; "
        + WHERE_TO_LOOK
    )
    details = [f"first: {first}", f"then: {second}"]
    return new_failure(RunInWords(program), NONDETERMINISM, message, details)


def too_long(run: RunInWords) -> Failure:
    recent = run.program.events[-1000:]
    places = Counter((event.thread, *run.place(event)) for event in recent)
    details = [
        f"{run.thread(thread)} was {count} times (of the last {len(recent)} steps) at "
        f"{file}:{line}: {source_line(file, line)}"
        for (thread, file, line), count in places.most_common(4)
    ]
    runtime = RUNNING.check.runtime
    threads = {event.thread for event in recent[len(recent) // 2 :]}
    kept_waiting = [
        run.thread(thread.id)
        for thread in runtime.live
        if thread.id not in threads and not thread.finished and runtime.enabled(thread)
    ]
    what_to_do = "wait with await_value instead of polling, bound the loop, or raise max_events"
    if kept_waiting:
        what_to_do = (
            f"{' and '.join(kept_waiting)} could go on meanwhile. If the loop ends once others "
            "have had their turn, this is no bug, but each of its rounds changes something, and so "
            "they are not left out: explore some of them with unroll=3 (--unroll 3), for which the "
            "result is `bounded`"
        )
    message = (
        f"an execution has more than max_events={runtime.max_events} steps: it seems stuck in a "
        f"loop; {what_to_do}"
    )
    return new_failure(run, TOO_LONG, message, details)


def stuck(run: RunInWords) -> Failure:
    runtime = RUNNING.check.runtime
    error = runtime.interrupt
    assert error is not None
    message = (
        "a thread ran for longer than step_limit without reaching an operation: look for an "
        "endless loop, for a real lock, sleep or input, or raise step_limit"
    )
    failure = new_failure(run, STUCK, message, [f"it was{run.where_raised(error)}"])
    if runtime.first_failed is not None:
        failure.thread = run.thread(runtime.first_failed.id)
    return failure


def polling(run: RunInWords) -> Failure:
    """A thread goes on and on between two steps, where no other thread runs."""
    runtime = RUNNING.check.runtime
    watcher = runtime.race_detector
    assert watcher is not None
    name = run.objects[watcher.latest]
    message = (
        f"a thread made more than max_events={runtime.max_events} accesses to shared variables "
        f"without coming to a step, the latest to {name}: if it waits for another thread to change "
        "that, wait with an Event or a Condition, or check with granularity='access'; if it does "
        "not, raise max_events"
    )
    thread = runtime.names.threads[watcher.running]
    details = [f"it was{run.where(thread.code, thread.instruction)}"]
    failure = new_failure(run, STUCK, message, details)
    failure.thread = run.thread(thread.id)
    return failure


# Data races


def race_to_tell() -> Race | None:
    """The data race of the latest run. It comes before all other failures, which may be due to it,
    but for those after which nothing more can be explored."""
    runtime = RUNNING.check.runtime
    stopped = runtime.stopped
    if runtime.race_detector is None or (stopped != NOTHING and stopped != ENDLESS):
        return None
    return runtime.race_detector.race


def data_race(run: RunInWords) -> Failure:
    race = race_to_tell()
    assert race is not None
    name = run.objects[race.location]
    part = race.first.part
    if part >= 0 and part == race.second.part:
        keys = RUNNING.check.runtime.names.locations[race.location].keys
        name += f"[{part if keys is None else show(keys[part])}]"
    accesses = (race.first, race.second)
    words = [
        f"{'written' if is_write(one) else 'read'} by {run.thread(one.thread)}" for one in accesses
    ]
    message = f"{name} is {words[0]} and {words[1]}, and nothing orders the two"
    details = [
        f"{run.thread(one.thread)} {'wrote' if is_write(one) else 'read'} it"
        + run.where(one.code, one.instruction)
        for one in accesses
    ]
    # The schedule is that of the whole run: so a replay does all that the run did, in its order.
    failure = new_failure(run, DATA_RACE, message, details)
    # The two accesses are told as if they were steps.
    others = [(one.position, run.step_of_access(one, name)) for one in accesses]
    failure.steps = run.steps(race.second.position, others)
    failure.thread = run.thread(race.second.thread)
    return failure

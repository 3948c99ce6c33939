"""Names for bugs in which threads wait for ever: who holds, who waits, and where."""

from mazurka.engine.operation import ACQUIRE, SEMAPHORE_ACQUIRE, SEMAPHORE_TRY_ACQUIRE
from mazurka.engine.result import Step
from mazurka.report.case import Case, Found, done, in_order, label_of, where

JOIN = "join"
MOST_ORDERS = 2  # that a sentence can have
ACQUISITIONS = ("acquire", "acquire to read", "acquire to write")


def name_deadlock(case: Case) -> Found:
    for find in (circle_of_locks, lost_wake_up, never_released, executor_in_itself, waits_for_ever):
        found = find(case)
        if found is not None:
            return found
    return Found("deadlock", "deadlock: no thread can go on", ())


def circle_of_locks(case: Case) -> Found | None:
    """Threads each of which holds what the next one waits for."""
    by_thread = {step.thread: step for step in case.failure.waiting}
    for start in case.failure.waiting:
        circle: list[Step] = []
        step: Step | None = start
        while step is not None and step not in circle:
            circle.append(step)
            step = by_thread.get(waited_for(case, step))
        if step is not None and any(each.operation in ACQUISITIONS for each in circle):
            return words_for_circle(case, circle[circle.index(step) :])
    return None


def waited_for(case: Case, step: Step) -> str:
    """The thread that another one waits for, if it is known."""
    if step.operation == JOIN:
        return step.name
    if step.operation in ACQUISITIONS and step.reads_from >= 0:
        return case.steps[step.reads_from].thread
    return ""


def words_for_circle(case: Case, circle: list[Step]) -> Found:
    holds = [step.reads_from for step in circle if step.operation in ACQUISITIONS]
    names = dict.fromkeys(label_of(step) for step in circle if step.operation in ACQUISITIONS)
    if len(circle) == 1:
        (step,) = circle
        sentence = (
            f"deadlock: {step.thread} waits for `{step.name}` {where(step)}, which it holds itself "
            f"{where(case.steps[step.reads_from])}"
        )
        return Found("deadlock", sentence, tuple(holds))
    first = min(range(len(circle)), key=lambda place: circle[place].thread)
    circle = [*circle[first:], *circle[:first]]
    named = [f"`{name}`" for name in sorted(names)]
    between = f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]
    parts = []
    for step in circle:
        if step.operation == JOIN:
            parts.append(f"{step.thread} waits for {step.name} to end {where(step)}")
        else:
            holder = case.steps[step.reads_from]
            parts.append(
                f"{step.thread} waits for `{label_of(step)}` {where(step)}, which {holder.thread} "
                f"holds {where(holder)}"
            )
    return Found(
        "deadlock", f"deadlock between {between}: {'; '.join(parts)}", tuple(sorted(holds))
    )


def lost_wake_up(case: Case) -> Found | None:
    """Somebody waits to be notified, and was notified too early, or somebody else in his place."""
    for waiting in case.failure.waiting:
        if waiting.operation != "wait":
            continue
        found = notified_too_early(case, waiting)
        if found is not None:
            return found
        in_vain = [
            place
            for place, step in enumerate(case.steps)
            if step.outcome == "fails" and step.operation == "notify" and step.name == waiting.name
        ]
        if in_vain:
            place = in_vain[-1]
            step = case.steps[place]
            sentence = (
                f"lost wake-up: {step.thread} notified `{step.name}` {where(step)} when nobody was "
                f"waiting, and {waiting.thread} waits for it {where(waiting)}"
            )
            return Found("lost wake-up", sentence, (place,))
        found = woke_another(case, waiting)
        if found is not None:
            return found
    return None


def notifications(case: Case, name: str) -> list[int]:
    return [
        place
        for place, step in enumerate(case.steps)
        if step.operation == "notify" and step.name == name
    ]


def notified_too_early(case: Case, waiting: Step) -> Found | None:
    """A thread was notified, found nothing, and waits again; what it looks at came later."""
    for place in reversed(notifications(case, waiting.name)):
        notifier = case.steps[place]
        for read, write in case.pairs:
            if (
                case.reads(read)
                and case.writes(write)
                and place < read < write
                and case.who(read) == waiting.thread
                and case.who(write) == notifier.thread
            ):
                sentence = (
                    f"notified too early: {notifier.thread} notified `{notifier.name}` "
                    f"{where(notifier)} before it wrote {case.what(write)} {case.where(write)}; "
                    f"{waiting.thread} looked at that before {case.where(read)} and waits for ever "
                    f"{where(waiting)}"
                )
                return Found("notified too early", sentence, (place, read, write), (read, write))
    return None


def woke_another(case: Case, waiting: Step) -> Found | None:
    """The last notification went to a thread that could not use it."""
    for place in reversed(notifications(case, waiting.name)):
        step = case.steps[place]
        woken = step.action.removeprefix("notify ").rpartition(" on ")[0]
        if woken and any(other.thread == woken for other in case.failure.waiting):
            sentence = (
                f"lost wake-up: {step.thread} notified `{step.name}` {where(step)}, which woke "
                f"{woken}; it went back to waiting, and nobody wakes "
                f"{others_than(case, woken, waiting.name)}"
            )
            return Found("lost wake-up", sentence, (place,))
    return None


def others_than(case: Case, thread: str, name: str) -> str:
    others = [
        f"{step.thread} {where(step)}"
        for step in case.failure.waiting
        if step.operation == "wait" and step.name == name and step.thread != thread
    ]
    return " and ".join(others) or f"{thread} again"


def never_released(case: Case) -> Found | None:
    """Somebody has acquired what others wait for, and ended without giving it back."""
    ended = {step.thread for step in case.steps} - {step.thread for step in case.failure.waiting}
    for waiting in case.failure.waiting:
        if waiting.operation not in ACQUISITIONS:
            continue
        taken: dict[str, list[int]] = {}
        for place, step in enumerate(case.steps):
            event = case.event(place)
            if event is None or step.name != waiting.name or step.outcome == "fails":
                continue
            if event.kind in (ACQUIRE, SEMAPHORE_ACQUIRE, SEMAPHORE_TRY_ACQUIRE):
                taken.setdefault(step.thread, []).append(place)
            elif step.operation == "release" and taken.get(step.thread):
                taken[step.thread].pop()
        for thread, places in taken.items():
            if places and thread in ended:
                place = places[-1]
                sentence = (
                    f"never released: {thread} acquired `{waiting.name}` {case.where(place)} and "
                    f"ended without releasing it; {waiting.thread} waits for it {where(waiting)}"
                )
                return Found("never released", sentence, (place,))
    return None


def executor_in_itself(case: Case) -> Found | None:
    """All workers of an executor wait for tasks that only they could run."""
    for waiting in case.failure.waiting:
        if waiting.operation == "wait" and "ThreadPoolExecutor" in waiting.thread:
            sentence = (
                f"deadlock: the executor waits for itself: {waiting.thread} waits for "
                f"`{waiting.name}` {where(waiting)}, and no worker is free to run that"
            )
            return Found("executor waits for itself", sentence, ())
    return None


def waits_for_ever(case: Case) -> Found | None:
    waiting = [step for step in case.failure.waiting if step.operation != JOIN]
    if not waiting:
        return None
    parts = [f"{step.thread} waits {what_for(step)} {where(step)}" for step in waiting]
    steps = [step.reads_from for step in waiting if step.reads_from >= 0]
    sentence = f"deadlock: {'; '.join(parts)}, and nobody ends that"
    for first, second in nearest_pairs(case):
        steps += [first, second]
        if case.accesses(first):
            sentence += f": {in_order(case, first, second)}"
    return Found("deadlock", sentence, tuple(sorted(set(steps))))


def nearest_pairs(case: Case) -> list[tuple[int, int]]:
    """The orders that decide most."""
    return sorted(case.pairs, key=lambda pair: (case.pairs[pair], pair))[:1]


def what_for(step: Step) -> str:
    if step.operation == "wait":
        return f"for `{step.name}`"
    return f"to {step.operation} `{label_of(step)}`"


def name_livelock(case: Case) -> Found:
    """Who has changed what a thread waits for before it came, or how it began."""
    sentence = f"livelock: {case.failure.message}"
    missed = [place for place in case.missed if case.writes(place)]
    if missed:
        place = missed[-1]
        step = case.steps[place]
        return Found(
            "livelock",
            f"{sentence}; {step.thread} had {done(step)} {case.what(place)} "
            f"{where(step)} before it came",
            (place,),
        )
    first = sorted(case.pairs)[:MOST_ORDERS]
    if first:
        sentence += ": " + "; ".join(in_order(case, *pair) for pair in first)
    return Found("livelock", sentence, tuple(sorted({place for pair in first for place in pair})))

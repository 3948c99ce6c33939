"""Names for bugs in which accesses come in the wrong order, from the races that decide."""

import re
from collections.abc import Callable, Iterator

from mazurka.engine.operation import COMPARE_EXCHANGE, WAIT
from mazurka.engine.result import (
    DATA_RACE,
    DEADLOCK,
    EXCEPTION,
    LIVELOCK,
    NOT_LINEARIZABLE,
)
from mazurka.report.case import DISTANT, Case, Found, done, in_order, label_of, past, where
from mazurka.report.waits import name_deadlock, name_livelock

CHANGED_SIZE = (
    "changed size during iteration",
    "mutated during iteration",
    "changed during iteration",
)
SHARED_ITERATOR = ("generator already executing", "iterator already")


def name_of(case: Case) -> Found | None:
    """What kind of bug it is, and which steps decide it."""
    kind = case.failure.kind
    if kind == DEADLOCK:
        return with_cause(case, name_deadlock(case))
    if kind == LIVELOCK:
        return name_livelock(case)
    if kind == DATA_RACE:
        return name_data_race(case)
    if kind not in (EXCEPTION, NOT_LINEARIZABLE):
        return None
    for find in FINDERS:
        found = find(case)
        if found is not None:
            return found
    return None


def with_cause(case: Case, found: Found) -> Found:
    """Why nobody has released something, if accesses in the wrong order are the reason."""
    cause = interrupted(case) if found.bug == "never released" else None
    if cause is None:
        return found
    effect = found.sentence.removeprefix("never released: ")
    steps = tuple(sorted({*cause.steps, *found.steps}))
    return Found(cause.bug, f"{cause.sentence}; {effect}", steps, cause.pair)


def name_data_race(case: Case) -> Found:
    steps = [place for place, step in enumerate(case.steps) if step.position < 0 and step.access]
    return Found("data race", f"data race: {case.failure.message}", tuple(steps))


# Three accesses: two of one thread, and one of another in between


def triples(case: Case) -> Iterator[tuple[int, int, int]]:
    """Two accesses of one thread to the same, and a conflicting one of another in between, such
    that it is decided by the search that this one comes after the first, or before the second."""
    decided = case.pairs
    for first, second in case.pairs:
        if not case.accesses(first) or not case.same(first, second):
            continue
        for last in range(second + 1, len(case.steps)):  # the first one comes before
            if case.who(last) == case.who(first) and case.same(last, second):
                yield first, second, last
        for earlier in range(first - 1, -1, -1):  # the second one comes after
            is_own = case.who(earlier) == case.who(second) and case.same(earlier, first)
            if is_own and (earlier, first) not in decided:
                yield earlier, first, second


def weight(case: Case, triple: tuple[int, int, int]) -> tuple[int, ...]:
    """The higher, the more it tells."""
    first, between, last = triple
    nearness = [case.pairs.get(pair, DISTANT) for pair in ((first, between), (between, last))]
    thread = case.failure.thread
    return (
        case.writes(between),
        case.reads(first),
        -min(nearness),
        sum(each < DISTANT for each in nearness),
        case.who(last) == thread,
        case.writes(last),
        case.is_check(first),
        -(last - first),
    )


def interrupted(case: Case) -> Found | None:
    """A thread relies on what it has found, and another one changes that in between."""
    found = [triple for triple in triples(case) if case.writes(triple[1])]
    if not found:
        return None
    best = max(found, key=lambda triple: weight(case, triple))
    first, between, last = best
    if case.reads(first) and case.is_check(first) and not case.writes(last):
        last = act_after(case, last)
    name = kind_of(case, first, between, last)
    if name == "if-instead-of-while":
        source = case.steps[last].reads_from  # what it should have looked at
        between = source if source > first and case.who(source) != case.who(first) else between
    pair = (first, best[1]) if (first, best[1]) in case.pairs else (best[1], best[2])
    steps = (first, between, last)
    wait = waits_between(case, first, last) if name == "if-instead-of-while" else []
    return Found(name, words_for(case, name, steps), tuple(sorted({*steps, *wait})), pair)


def act_after(case: Case, place: int) -> int:
    """The write that a statement makes which reads first: `x -= 1`."""
    step = case.steps[place]
    for later in range(place + 1, len(case.steps)):
        other = case.steps[later]
        if other.thread == step.thread:
            is_same = (other.file, other.line) == (step.file, step.line)
            return later if is_same and case.writes(later) and case.same(place, later) else place
    return place


def kind_of(case: Case, first: int, between: int, last: int) -> str:
    event = case.event(last)
    if is_aba(case, first, last):
        return "ABA"
    if case.reads(first):
        one, other = case.steps[first], case.steps[last]
        if waits_between(case, first, last):
            return "if-instead-of-while"
        if case.is_check(first) and (one.file, one.line) != (other.file, other.line):
            return "check-then-act"
        if other.outcome == "fails" or other.operation in ("delete", "take from", "get"):
            return "check-then-act"  # what it wants to take is gone
        if case.writes(last) and event is not None and event.kind != COMPARE_EXCHANGE:
            return "lost update"
        return "inconsistent reads"
    if case.reads(last):
        return "overwritten value"
    return "intermediate value"


def is_aba(case: Case, first: int, last: int) -> bool:
    event = case.event(last)
    if event is None or event.kind != COMPARE_EXCHANGE or not case.writes(last):
        return False
    return case.steps[first].found == case.steps[last].found


def waits_between(case: Case, first: int, last: int) -> list[int]:
    """Where a thread has waited between two of its steps."""
    between = [place for place in range(first + 1, last) if case.who(place) == case.who(first)]
    return [
        place
        for place in between
        if (event := case.event(place)) is not None and event.kind == WAIT
    ]


def words_for(case: Case, name: str, places: tuple[int, int, int]) -> str:
    first, between, last = places
    one, other, what = case.who(first), case.who(between), case.what(first)
    at_first, at_between, at_last = [case.where(place) for place in places]
    change = done(case.steps[between])
    if name == "lost update":
        return (
            f"lost update: {one} read {what} {at_first} and {past(case.steps[last])} it "
            f"{at_last} after {other} had {change} it {at_between}"
        )
    if name == "check-then-act":
        return (
            f"check-then-act: {one} looked at {what} {at_first} and acted on it {at_last}, but "
            f"{other} had {change} it in between {at_between}"
        )
    if name == "if-instead-of-while":
        return (
            f"if instead of while: {one} looked at {what} {at_first}, waited, and did not look "
            f"again before it went on {at_last}; {other} had {change} it meanwhile {at_between}"
        )
    if name == "ABA":
        return (
            f"ABA: {one} read {what} {at_first}, and its compare_exchange {at_last} found the same "
            f"value again, but {other} had {change} it in between {at_between}"
        )
    if name == "inconsistent reads":
        again = case.what(last)
        reads = f"{what} twice {at_first}" if again == what else f"{what} {at_first} and {again}"
        return (
            f"inconsistent reads: {one} read {reads} {at_last}, and {other} had "
            f"{change} {'it' if again == what else case.what(between)} in between {at_between}"
        )
    if name == "overwritten value":
        return (
            f"overwritten value: {one} {past(case.steps[first])} {what} {at_first} and read it "
            f"{at_last} after {other} had {change} it {at_between}"
        )
    return (
        f"intermediate value: {other} {past(case.steps[between])} {what} {at_between} between two "
        f"writes of {one} {at_first} {at_last}"
    )


# Two variables that belong together


def torn(case: Case) -> Found | None:
    """A thread sees one of two changes of another thread, and not the other one."""
    for early, late in sorted(case.pairs, reverse=True):
        if not (case.reads(early) and case.writes(late) and case.same(early, late)):
            continue
        if not case.accesses(early):
            continue
        found = published(case, early, late) or half_seen(case, early, late)
        if found is not None:
            return found
    return None


def published(case: Case, read: int, write: int) -> Found | None:
    """A thread has seen one change, and not yet the one that comes after it."""
    reader, writer = case.who(read), case.who(write)
    for seen in range(read - 1, -1, -1):
        source = case.steps[seen].reads_from
        if case.who(seen) != reader or source < 0 or case.who(source) != writer:
            continue
        if not case.accesses(seen) or case.same(seen, read) or case.is_lock(seen):
            continue
        steps = (source, seen, read, write)
        guards = case.is_check(seen) or case.event(seen).kind >= WAIT - 3  # type: ignore[union-attr]
        if guards or case.what(read).startswith(case.what(seen)[:-1]):
            sentence = (
                f"unsafe publication: {writer} {past(case.steps[source])} {case.what(source)} "
                f"{case.where(source)} before {case.what(write)} {case.where(write)}; {reader} "
                f"saw the first {case.where(seen)} and read the second too early "
                f"{case.where(read)}"
            )
            return Found("unsafe publication", sentence, steps, (read, write))
        return torn_read(case, (seen, read), (source, write), (read, write))
    return None


def half_seen(case: Case, read: int, write: int) -> Found | None:
    """A thread has missed one change, and then sees one that comes after it."""
    reader, writer = case.who(read), case.who(write)
    for later in range(write + 1, len(case.steps)):
        source = case.steps[later].reads_from
        if case.who(later) != reader or source < write or case.who(source) != writer:
            continue
        if case.accesses(later) and not case.same(later, read) and not case.is_lock(later):
            return torn_read(case, (read, later), (write, source), (read, write))
    return None


def torn_read(
    case: Case, reads: tuple[int, int], writes: tuple[int, int], pair: tuple[int, int]
) -> Found:
    """Two changes of one thread, and what another one found (maybe when it changed that, too)."""
    first, second = reads
    sentence = (
        f"torn read: {case.who(first)} read {case.what(first)} {case.where(first)} and "
        f"{case.what(second)} {case.where(second)}, and {case.who(writes[0])} wrote them in "
        f"between {case.where(writes[0])} {case.where(writes[1])}"
    )
    return Found("torn read", sentence, tuple(sorted([*reads, *writes])), pair)


# Exceptions that say themselves what has happened


def iterated(case: Case) -> Found | None:
    message = case.failure.message
    if any(text in message for text in SHARED_ITERATOR):
        return Found("iterator shared", f"iterator shared: {message}", ())
    if not any(text in message for text in CHANGED_SIZE):
        return None
    for first, second in sorted(case.pairs, reverse=True):
        reader, writer = (first, second) if case.reads(first) else (second, first)
        if case.reads(reader) and case.writes(writer) and case.same(first, second):
            sentence = (
                f"iteration while changed: {case.who(writer)} has {done(case.steps[writer])} "
                f"{case.what(writer)} {case.where(writer)} while {case.who(reader)} went through "
                f"it {case.where(reader)}"
            )
            return Found("iteration while changed", sentence, (first, second), (first, second))
    return None


# What is left


def in_wrong_order(case: Case) -> Found | None:
    """One access that comes too early, or too late."""
    pairs = [pair for pair in case.pairs if case.same(*pair)]
    thread = case.failure.thread
    if not pairs:
        return None

    def told(pair: tuple[int, int]) -> tuple[int, ...]:
        first, second = pair
        is_of_thread = thread in (case.who(first), case.who(second))
        has_read = case.reads(first) or case.reads(second)
        return case.accesses(first), is_of_thread, has_read, -case.pairs[pair], first

    first, second = max(pairs, key=told)
    sentence = f"order violation: {in_order(case, first, second)}"
    return Found("order violation", sentence, (first, second), (first, second))


def cancelled(case: Case) -> Found | None:
    """A task was cancelled at an await, and would not have been in another order of tasks."""
    for place, step in enumerate(case.steps):
        if step.operation == "cancel" and step.position < 0 and case.choices:
            turns = [
                turn
                for turn in range(place)
                if case.steps[turn].thread == step.name and case.steps[turn].position >= 0
            ]
            begun = [turn for turn in range(place) if case.steps[turn].action.startswith("run ")]
            at = re.search(r" \([^()]+:\d+\)$", step.action)
            sentence = (
                f"cancelled await: {step.thread} cancelled {step.name} {where(step)} while it was "
                f"at an await{at[0] if at else ''}"
            )
            return Found(
                "cancelled await", sentence, tuple(sorted({*turns[-1:], *begun[-1:], place}))
            )
    return None


def awaited(case: Case) -> Found | None:
    """Tasks of an event loop that ran in another order."""
    turns = [place for place, step in enumerate(case.steps) if step.action.startswith("run ")]
    if any(place in turns for place in case.choices):
        found = used_in_between(case, {case.who(place) for place in turns})
        if found is not None:
            return found
    return order_of_turns(case, turns)


def used_in_between(case: Case, tasks: set[str]) -> Found | None:
    """What a task has read before an await and uses after it, and another one has written in
    between. If it is written after the await, that tells more than if it is read again."""
    steps = case.steps
    uses = [
        place
        for place, step in enumerate(steps)
        if step.access and step.name and step.thread in tasks
    ]
    found: list[tuple[int, int, int]] = []
    for between in uses:
        step = steps[between]
        if step.access != "write":
            continue
        same = [use for use in uses if label_of(steps[use]) == label_of(step)]
        latest = {steps[use].thread: use for use in same if use < between}
        for first in latest.values():
            if steps[first].access == "read" and steps[first].thread != step.thread:
                later = [
                    use
                    for use in same
                    if use > between and steps[use].thread == steps[first].thread
                ]
                later.sort(key=lambda use: steps[use].access == "read")
                found += [(first, between, last) for last in later[:1]]
    if not found:
        return None
    first, between, last = max(found, key=lambda each: (steps[each[2]].access, -each[2]))
    acted = "wrote it" if steps[last].access == "write" else "read it again"
    sentence = (
        f"interleaved await: {case.who(first)} read {case.what(first)} {case.where(first)} and "
        f"{acted} after an await {case.where(last)}, but {case.who(between)} had written it in "
        f"between {case.where(between)}"
    )
    return Found("interleaved await", sentence, (first, between, last))


def order_of_turns(case: Case, turns: list[int]) -> Found | None:
    for place in case.choices:
        step = case.steps[place]
        if place not in turns:
            continue
        for later in turns[turns.index(place) + 1 :]:
            back = case.steps[later]
            before = [turn for turn in turns if turn < place and task_of(case, turn) == back.action]
            if before and back.action != step.action:
                sentence = (
                    f"interleaved await: {step.thread} ran {where(step)} while {back.thread} was "
                    f"at its await {where(back)}"
                )
                return Found("interleaved await", sentence, (before[-1], place, later))
    for place in sorted(set(case.choices) & set(turns), reverse=True):
        task = case.steps[place].action.removeprefix("run ")
        sentence = (
            f"order of tasks: {task} ran before others that could have gone on {case.where(place)}"
        )
        return Found("order of tasks", sentence, (place,))
    return None


def task_of(case: Case, place: int) -> str:
    return case.steps[place].action


FINDERS: tuple[Callable[[Case], Found | None], ...] = (
    iterated,
    interrupted,
    torn,
    in_wrong_order,
    cancelled,
    awaited,
)

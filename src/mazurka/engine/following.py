"""Runs the steps of a schedule, also in a program that has changed a little since: as far as they
fit, by the names of threads and operations.

A thread that stands before another operation than the schedule has for it either makes steps that
are new, or it leaves some out that the schedule has. Steps that are new are made at once, before
others go on; or late, when the next known step of their thread is due. Where the schedule is of no
help, threads go on as long as they can.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from mazurka.engine.operation import VERBS
from mazurka.engine.program import NOBODY, PICKED, Answer, Program, Request, Watcher
from mazurka.engine.schedule import NamedStep, Schedule

MOST_COMPARED: Final = 400_000  # pairs of operations, to find out what has another name now
SAME_NAME: Final = 5  # how much that counts
SAME_VERB: Final = 3
VERBS_KNOWN: Final = frozenset(VERBS.values())


class Followed(NamedTuple):
    """A run that has followed a schedule."""

    answer: Answer
    why: str  # the first step that is another one than in the schedule; "" if all are the same

    @property
    def fits(self) -> bool:
        return self.why == ""


class Follower(Watcher):
    """Lets threads make the steps of a schedule, as far as they can."""

    def __init__(self, program: Program, steps: Sequence[NamedStep], is_late: bool) -> None:
        self.program = program
        self.steps = steps
        self.is_late = is_late  # whether steps that are new are
        numbers = {
            name: program.thread_called(name) for name in sorted({one for one, _, _ in steps})
        }
        self.threads = [numbers[name] for name, _, _ in steps]
        self.due = 0  # all steps before this one are over: made, or left out
        self.over = [False] * len(steps)
        self.left: dict[int, Counter[str]] = {}  # what each thread is still to do
        for thread, (_, operation, _) in zip(self.threads, steps, strict=True):
            self.left.setdefault(thread, Counter())[operation] += 1
        self.choice = 0
        self.recent = NOBODY

    def keeps_asleep(self, thread: int, location: int) -> bool:
        return False

    def ends_run(self) -> bool:
        return False

    def pick(self, threads: list[int]) -> int:
        self.choice = 0
        picked = self.recent if self.has_more(threads) else self.wanted(threads)
        if picked == NOBODY:
            picked = self.recent if self.recent in threads else min(threads)
        self.recent = picked
        return picked

    def has_more(self, threads: list[int]) -> bool:
        """Whether the thread that stepped last has come to a step that is new, and is to make some
        that is known later on."""
        if self.is_late or self.recent not in threads:
            return False
        left = self.left.get(self.recent)
        return left is not None and len(left) > 0 and self.name_of_next(self.recent) not in left

    def name_of_next(self, thread: int) -> str:
        return self.program.operation_name(self.program.standing(thread))

    def wanted(self, threads: list[int]) -> int:
        """The thread of the first step that can be made now."""
        while self.due < len(self.steps) and self.over[self.due]:
            self.due += 1
        names: dict[int, str] = {}  # of what threads stand before
        for place in range(self.due, len(self.steps)):
            thread = self.threads[place]
            if self.over[place] or thread not in threads:
                continue
            if thread not in names:
                names[thread] = self.name_of_next(thread)
                self.leave_out(thread, place, names[thread])
            if self.over[place]:
                continue
            if self.steps[place][1] == names[thread]:
                self.end_with(place)
                self.choice = self.steps[place][2]
            return thread
        return NOBODY

    def leave_out(self, thread: int, begin: int, name: str) -> None:
        """A thread has come to an operation that it makes later in the schedule: what is in between
        does not come any more."""
        passed: list[int] = []
        for place in range(begin, len(self.steps)):
            if self.threads[place] == thread and not self.over[place]:
                if self.steps[place][1] == name:
                    for other in passed:
                        self.end_with(other)
                    return
                passed.append(place)

    def end_with(self, place: int) -> None:
        """A step is made, or left out."""
        self.over[place] = True
        left = self.left[self.threads[place]]
        left[self.steps[place][1]] -= 1
        if not left[self.steps[place][1]]:
            del left[self.steps[place][1]]

    def choose(self, alternatives: int) -> int:
        return self.choice if self.choice < alternatives else 0


def follow(program: Program, schedule: Schedule, is_late: bool = False) -> Followed:
    """Run a program once, along a schedule. An account of the run needs no other one."""
    steps = schedule.steps
    request = Request([])
    request.policy = PICKED
    request.watcher = Follower(program, steps, is_late)
    request.all_stand = True
    request.lets_time_out = True
    request.orders_writes = schedule.options.get("equivalence") != "reads-from"
    program.tell_runs(True)
    try:
        answer = program.run(request)
    finally:
        program.tell_runs(False)
    made = program.steps_of(program.events[: len(steps)])
    return Followed(answer, difference(steps, made, answer.failed))


def difference(
    steps: Sequence[NamedStep], made: Sequence[NamedStep], may_be_shorter: bool = True
) -> str:
    """The first step that was not made as it was to be, in words; "" if there is none. What fails
    may do so before the end of its schedule: that an execution goes in circles shows early."""
    for place, (thread, operation, choice) in enumerate(steps):
        if place == len(made):
            return "" if may_be_shorter else f"thread {thread} is not there in step {place + 1}"
        other, now, chosen = made[place]
        if other != thread:
            return f"thread {thread} cannot do '{operation}' in step {place + 1}"
        if now != operation:
            return f"in step {place + 1} thread {thread} now does '{now}', not '{operation}'"
        if chosen != choice:
            return f"in step {place + 1} there is no alternative {choice + 1}"
    return ""


# Names that have changed


def renamed(schedule: Schedule, made: Sequence[NamedStep]) -> Schedule:
    """A schedule by the names that things have now, as far as they can be told from some execution
    of the program: what threads do there, compared with what they do in the schedule."""
    votes: dict[str, Counter[str]] = {}
    for thread in sorted({name for name, _, _ in schedule.steps}):
        before = [parts_of(operation) for name, operation, _ in schedule.steps if name == thread]
        now = [parts_of(operation) for name, operation, _ in made if name == thread]
        for (_, old), (_, new) in aligned(before, now):
            votes.setdefault(old, Counter())[new] += 1
    names = {old: found.most_common(1)[0][0] for old, found in votes.items()}
    steps = []
    for thread, operation, choice in schedule.steps:
        verb, name = parts_of(operation)
        steps.append((thread, f"{verb} {names.get(name, name)}".strip(), choice))
    return replace(schedule, steps=tuple(steps))


Parts = tuple[str, str]  # of an operation: its verb, and the name of what it accesses


def parts_of(operation: str) -> Parts:
    """The verb of an operation, which may have several words, and what it accesses."""
    end = len(operation)
    while end > 0:
        if operation[:end] in VERBS_KNOWN:
            return operation[:end], operation[end + 1 :]
        end = operation.rfind(" ", 0, end)
    return operation, ""


def aligned(before: Sequence[Parts], now: Sequence[Parts]) -> list[tuple[Parts, Parts]]:
    """Pairs of operations in their order that are most likely the same: all that have the same
    name, or at least do the same."""
    if len(before) * len(now) > MOST_COMPARED:
        return []
    best = [[0] * (len(now) + 1) for _ in range(len(before) + 1)]
    for one in reversed(range(len(before))):
        for other in reversed(range(len(now))):
            apart = max(best[one + 1][other], best[one][other + 1])
            best[one][other] = max(
                apart, likeness(before[one], now[other], best[one + 1][other + 1])
            )
    pairs = []
    one = other = 0
    while one < len(before) and other < len(now):
        if best[one][other] == likeness(before[one], now[other], best[one + 1][other + 1]):
            pairs.append((before[one], now[other]))
            one += 1
            other += 1
        elif best[one][other] == best[one + 1][other]:
            one += 1
        else:
            other += 1
    return pairs


def likeness(one: Parts, other: Parts, rest: int) -> int:
    """How good it is to take two operations for the same, before a rest that is as good as this."""
    if one == other:
        return rest + SAME_NAME
    return rest + SAME_VERB if one[0] == other[0] else -1

"""Why an execution fails: which of its races decide it, and what such a bug is called.

The races are found by search. Each race of the failing execution is reversed, in a neighbour that
is the same but for that; if the neighbour passes, the race decides. Before that, the execution is
minimised, so that there is less to look at.
"""

from dataclasses import replace
from typing import Final

from mazurka.engine.event import Event, dependent
from mazurka.engine.following import difference
from mazurka.engine.operation import CHOOSE, NONE, READ, RELEASE, SPAWN
from mazurka.engine.order import HappensBefore
from mazurka.engine.program import Program
from mazurka.engine.races import Reversal, reversals, waiting_reversals
from mazurka.engine.result import (
    DATA_RACE,
    EXCEPTION,
    LIVELOCK,
    NONDETERMINISM,
    STUCK,
    Explanation,
    Failure,
    Step,
)
from mazurka.engine.schedule import Schedule, without_numbers
from mazurka.engine.trace import copied
from mazurka.report.case import DISTANT, Case, Found, acquires, held_before, without_gaps
from mazurka.report.kinds import name_of
from mazurka.report.minimise import minimised
from mazurka.report.neighbours import Neighbours, Run, Wish

LONGEST: Final = 2000  # steps of an execution of which neighbours are run
LONGEST_PASSING: Final = 500
MOST_DELAYED: Final = 40
MOST_EARLIER: Final = 50  # accesses to the same that one is compared with
AS_IT_IS: Final = (NONDETERMINISM, STUCK)

TOO_MANY: Final = "there may be other deciding steps: not all races were reversed"
TOO_LONG_TO_RUN: Final = "the execution is too long for others to be compared with it"


StepName = tuple[int, ...]  # of a step, in executions that differ little


class Decided:
    """What was found out by reversing races."""

    def __init__(self) -> None:
        self.pairs: set[tuple[int, int]] = set()  # positions; -1: what a thread waits for
        self.choices: list[int] = []
        self.apart: list[tuple[int, int]] = []  # the same, of steps with much between them
        self.passing: dict[tuple[int, int], Run] = {}  # the neighbours, by what is reversed
        self.cut = ""


def explained(program: Program, failure: Failure, orders_writes: bool = True) -> Failure:
    """The failure with an explanation, in the simplest execution that fails so."""
    if failure.kind in AS_IT_IS:
        return failure
    if events_in(failure) > LONGEST:
        return replace(failure, explanation=Explanation("", "", cut=TOO_LONG_TO_RUN))
    neighbours = Neighbours(program, orders_writes, events_in(failure))
    found = neighbours.run(
        [(step.thread, step.choice) for step in program.path_of(failure.schedule.steps)]
    )
    if not found.key:
        return failure
    best, cut = minimised(neighbours, found)
    told = failure
    run = found
    if best.wish != found.wish:
        again = neighbours.run(best.wish)
        simpler = program.failure() if again.key == found.key else failure
        if is_same(simpler, failure):
            told, run = simpler, again
    if told is failure:
        run = neighbours.run(found.wish)
        program.failure()  # whoever waits does so in this run
    waiting = list(program.answer.waiting)
    decided = what_decides(neighbours, run, waiting)
    before = Explanation(
        "",
        "",
        found_with=found.preemptions,
        found_steps=events_in(failure),
        cut=cut or decided.cut,
    )
    told = with_late_steps(neighbours, told, run, decided)
    return told_as(neighbours, told, run, decided, before)


def events_in(failure: Failure) -> int:
    return sum(step.position >= 0 for step in failure.steps)


def is_same(simpler: Failure, failure: Failure) -> bool:
    """Whether two executions fail in the same way, in the same place."""
    if (simpler.kind, simpler.thread) != (failure.kind, failure.thread):
        return False
    messages = [without_numbers(each.message) for each in (simpler, failure)]
    if failure.kind == EXCEPTION:
        return messages[0] == messages[1] and simpler.details[:1] == failure.details[:1]
    if failure.kind == LIVELOCK:  # in the midst of whatever round they are, and others wait
        return messages[0] == messages[1]
    return len(simpler.waiting) == len(failure.waiting)


def what_decides(neighbours: Neighbours, run: Run, waiting: list[Event]) -> Decided:
    """Reverse every race, and take every choice otherwise."""
    order = HappensBefore(neighbours.program.values)
    ways: list[tuple[tuple[int, int], Reversal]] = []
    for event in run.events:
        copy = copied(event)
        order.extend(copy)
        for way in reversals(order, copy, copy.position):
            ways.append(((way.position, copy.position), way))
    for event in waiting:
        for way in waiting_reversals(order, copied(event)):
            ways.append(((way.position, -1), way))
    decided = Decided()
    for pair, way in reversed(ways):
        if neighbours.is_spent():
            decided.cut = TOO_MANY
            return decided
        neighbour = neighbours.run(reversed_wish(order, way, run.wish))
        if neighbour.passes:
            decided.pairs.add(pair)
            decided.passing.setdefault(pair, neighbour)
    delay(neighbours, run, decided)
    for position, event in enumerate(run.events):
        if event.kind == CHOOSE and decides(neighbours, event, position, run.wish, decided):
            decided.choices.append(position)
    return decided


def delay(neighbours: Neighbours, run: Run, decided: Decided) -> None:
    """Accesses that conflict, and yet are in no race, as others order them: let the second thread
    come first with all that it does up to there. Those of what has decided already come first, as
    it takes several accesses to get something wrong."""
    events = run.events
    pairs = [pair for pair in conflicting(events) if pair not in decided.pairs]
    pairs = [(one, two) for one, two in pairs if READ in (events[one].mode, events[two].mode)]
    known = {events[one].location for one, _ in decided.pairs}
    for _ in range(min(MOST_DELAYED, len(pairs))):
        if neighbours.is_spent():
            decided.cut = decided.cut or TOO_MANY
            return
        nearest = min(
            pairs, key=lambda pair: (events[pair[0]].location not in known, pair[1] - pair[0], pair)
        )
        pairs.remove(nearest)
        one, two = nearest
        begin = begin_of_section(events, one)
        neighbour = neighbours.run(earlier_wish(run, begin, two))
        if not is_reversed(run, neighbour, nearest):  # it has to do what the other one did before
            more = sum(events[at].thread == events[one].thread for at in range(begin, two))
            neighbour = neighbours.run(earlier_wish(run, begin, two, more))
            if neighbour.passes and is_reversed(run, neighbour, nearest):
                decided.apart.append(nearest)
        if neighbour.passes:
            known.add(events[one].location)
            decided.passing.setdefault(nearest, neighbour)


def earlier_wish(run: Run, begin: int, end: int, more: int = 0) -> Wish:
    """All that a thread does from one step to another, and maybe more steps, done at once; before
    that it is spawned."""
    threads = {run.events[end].thread}
    ahead: list[int] = []
    for at in range(end, begin - 1, -1):
        event = run.events[at]
        if event.kind == SPAWN and event.choice in threads:
            threads.add(event.thread)
        if event.thread in threads:
            ahead.append(at)
    ahead.reverse()
    rest = [at for at in range(begin, len(run.wish)) if at not in ahead]
    others = [(run.events[end].thread, 0)] * more
    first = [run.wish[at] for at in ahead]
    return [*run.wish[:begin], *first, *others, *[run.wish[at] for at in rest]]


def begin_of_section(events: list[Event], place: int) -> int:
    """Where a thread has taken the first of the locks that it holds at a step: whoever is to come
    before that step may need them."""
    taken: dict[int, int] = {}
    for at in range(place):
        event = events[at]
        if event.thread == events[place].thread:
            if acquires(event):
                taken.setdefault(event.location, at)
            elif event.kind == RELEASE:
                taken.pop(event.location, None)
    return min(taken.values(), default=place)


def reversed_wish(order: HappensBefore, way: Reversal, wish: Wish) -> Wish:
    """The steps up to a race, then what does not depend on its first event, then the second one;
    and after that everything as it was."""
    moved = way.backwards(order)
    moved.reverse()
    taken = {event.position for event in moved if event is not way.event}
    if way.event.index <= len(order.of_thread[way.event.thread]):
        taken.add(order.of_thread[way.event.thread][way.event.index - 1].position)
    rest = [wish[place] for place in range(way.position, len(wish)) if place not in taken]
    return [*wish[: way.position], *[(event.thread, event.choice) for event in moved], *rest]


def decides(
    neighbours: Neighbours,
    event: Event,
    position: int,
    wish: Wish,
    decided: Decided,
) -> bool:
    """Whether the execution passes with another choice."""
    for choice in range(event.alternatives):
        if choice != event.choice and not neighbours.is_spent():
            other = [*wish[:position], (event.thread, choice), *wish[position + 1 :]]
            run = neighbours.run(other)
            if run.passes:
                decided.passing[position, position] = run
                return True
    return False


# The account


def with_late_steps(
    neighbours: Neighbours, failure: Failure, run: Run, decided: Decided
) -> Failure:
    """The failure with steps that come after it, and might have prevented it had they not."""
    end = len(failure.schedule.steps)
    late = sorted({second for _, second in decided.pairs if second >= end})
    if not late:
        return failure
    neighbours.run(run.wish)
    steps = {step.position: step for step in neighbours.program.account()}
    added = [replace(steps[at], outcome="too late", after=()) for at in late if at in steps]
    return replace(failure, steps=[*failure.steps, *added])


def told_as(
    neighbours: Neighbours, failure: Failure, run: Run, decided: Decided, before: Explanation
) -> Failure:
    """The failure with all that was found out."""
    places = {step.position: at for at, step in enumerate(failure.steps) if step.position >= 0}
    pairs = changed_orders(run, decided)
    told = {
        (places[first], places[second]): distance
        for (first, second), distance in pairs.items()
        if first in places and second in places
    }
    choices = [places[position] for position in decided.choices if position in places]
    missed = sorted(places[at] for at, waits in decided.pairs if waits < 0 and at in places)
    case = Case(failure, run.events, told, choices, missed)
    found = name_of(case) or Found("", "", tuple(sorted({at for pair in told for at in pair})))
    sentence = without_gaps(found.sentence)
    explanation = replace(
        before,
        bug=found.bug,
        sentence=sentence,
        deciding=tuple(
            sorted(pair for pair in told if pair[0] in found.steps and pair[1] in found.steps)
        ),
        choices=tuple(choices),
        passing=tuple(passing_steps(neighbours, failure, decided, found)),
        locks=lock_words(case, found),
        preemptions=run.preemptions,
        runs=neighbours.runs,
    )
    steps = [
        replace(step, deciding=True) if place in found.steps else step
        for place, step in enumerate(failure.steps)
        if step.outcome != "too late" or place in found.steps
    ]
    schedule = replace(
        failure.schedule,
        bug=found.bug,
        sentence=sentence,
        deciding=tuple([step.position for step in steps if step.deciding and is_kept(step)]),
    )
    return replace(failure, steps=steps, schedule=schedule, explanation=explanation)


def is_kept(step: Step) -> bool:
    """Whether a schedule has this step."""
    return step.position >= 0 and step.outcome != "too late"


def replayed(failure: Failure, schedule: Schedule) -> Failure:
    """The failure of a replay, with what was found out when it was met first."""
    if not schedule.sentence or schedule.failure != failure.kind:
        return failure
    if difference(schedule.steps, failure.schedule.steps):
        return failure  # the program has changed: what is known may not be so any more
    deciding = set(schedule.deciding)
    if failure.kind == DATA_RACE:  # of which the accesses are no steps of a schedule
        deciding.add(-1)
    steps = [
        replace(step, deciding=True) if step.position in deciding else step
        for step in failure.steps
    ]
    explanation = Explanation(schedule.bug, schedule.sentence)
    return replace(failure, steps=steps, explanation=explanation)


def changed_orders(run: Run, decided: Decided) -> dict[tuple[int, int], int]:
    """The conflicting accesses, by position, of which the order is another one in a neighbour that
    passes, each with how much else is in another order there: the less, the more it decides. (Two
    critical sections that change places change the order of all that is in them.)"""
    conflicts = conflicting(run.events)
    found: dict[tuple[int, int], int] = {}
    for neighbour in decided.passing.values():
        at = places_in(neighbour.events)
        own = names_in(run.events)
        changed = [pair for pair in conflicts if comes_otherwise(own, at, pair)]
        for pair in changed:
            found[pair] = min(found.get(pair, len(changed)), len(changed))
    for pair in decided.pairs:
        found.setdefault(pair, 1)
    for pair in decided.apart:
        found.setdefault(pair, DISTANT)
    return found


def is_reversed(run: Run, neighbour: Run, pair: tuple[int, int]) -> bool:
    """Whether two accesses come in another order in a neighbour, whatever else its threads do."""
    at = {name: place for place, name in enumerate(accesses_in(neighbour.events))}
    return comes_otherwise(accesses_in(run.events), at, pair)


def comes_otherwise(own: list[StepName], at: dict[StepName, int], pair: tuple[int, int]) -> bool:
    """Whether two steps come in another order elsewhere."""
    first, second = own[pair[0]], own[pair[1]]
    return at.get(second, len(at)) < at.get(first, -1)


def conflicting(events: list[Event]) -> list[tuple[int, int]]:
    """All pairs of accesses that conflict."""
    accesses: dict[int, list[int]] = {}
    pairs = []
    for position, event in enumerate(events):
        if event.location < 0 or event.mode == NONE:
            continue
        earlier = accesses.setdefault(event.location, [])
        for other in earlier[-MOST_EARLIER:]:
            if events[other].thread != event.thread and dependent(events[other], event):
                pairs.append((other, position))
        earlier.append(position)
    return pairs


def names_in(events: list[Event]) -> list[StepName]:
    """Steps by their threads, and how many these have made before."""
    counts: dict[int, int] = {}
    names: list[StepName] = []
    for event in events:
        count = counts.get(event.thread, 0)
        counts[event.thread] = count + 1
        names.append((event.thread, count, event.kind, event.location))
    return names


def accesses_in(events: list[Event]) -> list[StepName]:
    """Steps by their threads, and how many of the same sort these have made before."""
    counts: dict[StepName, int] = {}
    names: list[StepName] = []
    for event in events:
        what = event.thread, event.kind, event.location
        count = counts.get(what, 0)
        counts[what] = count + 1
        names.append((*what, count))
    return names


def places_in(events: list[Event]) -> dict[StepName, int]:
    return {name: position for position, name in enumerate(names_in(events))}


def passing_steps(
    neighbours: Neighbours, failure: Failure, decided: Decided, found: Found
) -> list[Step]:
    """The execution that passes and differs least from the failing one."""
    runs = decided.passing
    if not runs:
        return []
    best = min(runs, key=lambda pair: (pair[1] < 0, pair[1] - pair[0]))
    if found.pair is not None:
        first, second = [failure.steps[place].position for place in found.pair]
        best = (first, second) if (first, second) in runs else best
    run = neighbours.run(runs[best].wish)
    if not run.passes or len(run.events) > LONGEST_PASSING:
        return []
    return neighbours.program.account()


def lock_words(case: Case, found: Found) -> str:
    """Which lock some accesses to the same hold, and others do not."""
    if not found.steps or case.failure.kind != EXCEPTION:
        return ""
    held = held_before(case)
    first = found.steps[0]
    same = [place for place in range(len(case.steps)) if case.same(first, place)]
    locks = sorted({lock for place in same for lock in held[place]})
    for lock in locks:
        holding = [place for place in same if lock in held[place]]
        without = [place for place in found.steps if place in same and lock not in held[place]]
        if without:
            one, other = case.who(holding[0]), case.who(without[0])
            return (
                f"{one} holds `{lock}` when it accesses {case.what(first)} "
                f"{case.where(holding[0])}, and {'it' if other == one else other} does not "
                f"{case.where(without[0])}"
            )
    return ""

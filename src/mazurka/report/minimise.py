"""Finds the execution that fails in the same way and is the easiest to read: with the fewest
preemptions, and of these the one with the fewest steps.

First switches are taken out of the execution that the search has found, one after the other, as
long as it fails. Then all executions with fewer preemptions are looked through, from those with
none on (as in *Iterative Context Bounding for Systematic Testing of Multithreaded Programs*). A
preemption is only tried before a step that matters to others, as far as that is known.
"""

from collections import deque
from typing import Final

from mazurka.engine.event import Event
from mazurka.engine.operation import CHOOSE, READ
from mazurka.report.neighbours import Neighbours, Run, Wish, is_preemption

SHARE: Final = 0.6  # of the effort: the rest is for what decides
MOST_AFTER: Final = 60  # runs that may be spent on fewer steps alone


def minimised(neighbours: Neighbours, found: Run) -> tuple[Run, str]:
    """The simplest execution that fails as the given one does, and why there may be a simpler one
    if the effort was cut short."""
    best = without_switches(neighbours, found)
    return with_fewest_preemptions(neighbours, best)


def without_switches(neighbours: Neighbours, found: Run) -> Run:
    """Take switches out as long as it fails all the same."""
    best = found
    improved = True
    while improved and not neighbours.is_spent():
        improved = False
        for wish in simpler_wishes(best):
            if neighbours.is_spent():
                break
            run = neighbours.run(wish)
            if run.key == found.key and run.cost < best.cost:
                best = run
                improved = True
                break
    return best


def simpler_wishes(run: Run) -> list[Wish]:
    """What a thread does next after it was preempted, done before others step in."""
    wishes = []
    for place in range(len(run.points)):
        if is_preemption(run.points, place):
            thread = run.points[place - 1].picked
            rest = run.wish[place:]
            end = next((at for at, step in enumerate(rest) if step[0] == thread), len(rest))
            block = end
            while block < len(rest) and rest[block][0] == thread:
                block += 1
            wishes.append([*run.wish[:place], *rest[end:block], *rest[:end], *rest[block:]])
    return wishes


class Shared:
    """What is known to matter to others: the locations that several threads access, one of them to
    change it, in some execution so far."""

    def __init__(self) -> None:
        self.threads: dict[int, set[int]] = {}
        self.changed: set[int] = set()

    def learn(self, events: list[Event]) -> None:
        for event in events:
            if event.location >= 0:
                self.threads.setdefault(event.location, set()).add(event.thread)
                if event.mode != READ:
                    self.changed.add(event.location)

    def matters(self, event: Event) -> bool:
        location = event.location
        return location in self.changed and len(self.threads[location]) > 1


def with_fewest_preemptions(neighbours: Neighbours, best: Run) -> tuple[Run, str]:
    """Look through the executions with no preemption, then with one, and so on, up to as many as
    are known to do."""
    shared = Shared()
    shared.learn(best.events)
    level: deque[Wish] = deque([[]])
    seen: set[tuple[tuple[int, int], ...]] = {()}
    failing = best
    preemptions = 0
    most_runs = neighbours.runs + int((neighbours.most_runs - neighbours.runs) * SHARE)
    most_steps = neighbours.steps + int((neighbours.most_steps - neighbours.steps) * SHARE)
    while level:
        after = most_runs if preemptions < best.preemptions else neighbours.runs + MOST_AFTER
        following: deque[Wish] = deque()
        while level:
            if neighbours.runs >= min(after, most_runs) or neighbours.steps >= most_steps:
                break
            if neighbours.is_spent():
                break
            wish = level.popleft()
            run = neighbours.run(wish)
            shared.learn(run.events)
            if run.key == best.key and run.cost < failing.cost:
                failing = run
            branch(run, len(wish), shared, seen, level, following)
        if failing.preemptions <= preemptions:
            return failing, ""
        if level:
            return failing, "there may be one with fewer preemptions: not all were looked at"
        level = following
        preemptions += 1
    return failing, ""


def branch(
    run: Run,
    begin: int,
    shared: Shared,
    seen: set[tuple[tuple[int, int], ...]],
    level: deque[Wish],
    following: deque[Wish],
) -> None:
    """What else could be done in a run from some step on, with as many preemptions, and with one
    more."""
    for place in range(begin, len(run.events)):
        event = run.events[place]
        able, picked = run.points[place]
        before = run.points[place - 1].picked if place else picked
        others = [(thread, 0) for thread in able if thread != picked]
        is_cheap = before not in able or place == 0
        if not is_cheap and not shared.matters(event):
            others = []
        if event.kind == CHOOSE:
            choices = [(picked, choice) for choice in range(event.alternatives)]
            add(run, place, [step for step in choices if step[1] != event.choice], seen, level)
        add(run, place, others, seen, level if is_cheap else following)


def add(
    run: Run,
    place: int,
    steps: list[tuple[int, int]],
    seen: set[tuple[tuple[int, int], ...]],
    wishes: deque[Wish],
) -> None:
    for step in steps:
        wish = [*run.wish[:place], step]
        key = tuple(wish)
        if key not in seen:
            seen.add(key)
            wishes.append(wish)

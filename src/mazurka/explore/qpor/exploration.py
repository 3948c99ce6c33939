"""QPOR: exploration of the unfolding of a program, with k-partial alternatives.

Algorithm 1 of "Quasi-Optimal Partial Order Reduction". Explore(C, D, A) is a loop here: the events
of the current execution are the configuration C, and each prefix of it is a node that knows which
events have been explored from there. Those are the set D (for disabled), as far as nothing in C is
in conflict with them: the sleep set. When all that begins with C and an event e has been explored,
an alternative to D and e is looked for: events that are known, can come after C, and are in
conflict with those of D, so that an execution that has them explores nothing again. If it conflicts
with the latest k events of D only, a run may find that all it can do is in D: it is redundant
("sleep-set blocked"). With all of D, no execution is redundant.

Every execution adds its conflicting extensions to the unfolding, one race at a time: the later
event of a race as it is without the earlier one. That is fewer than the paper's function cexp gives
but enough, for all operations; docs/proofs/qpor.md has the proof.
"""

from typing import Final

from mazurka.engine.event import Event, dependent
from mazurka.engine.operation import ALL, CHOOSE, JOIN, WRITE
from mazurka.engine.order import HappensBefore, is_or_happens_before
from mazurka.engine.program import REDUNDANT
from mazurka.engine.races import (
    Reversal,
    before_any,
    chosen_otherwise,
    reversals,
    waiting_reversals,
)
from mazurka.engine.search import ALL_OF_THEM, Explorer, Search
from mazurka.explore.qpor.unfolding import (
    NOWHERE,
    Canonical,
    Configuration,
    Latest,
    Unfolding,
    accessed,
    in_conflict,
    rival,
)

COVERED: Final = -1  # by the events that are chosen for other goals


class Prefix:
    """A node of the exploration: the configuration of the events before a position."""

    def __init__(self) -> None:
        self.disabled = NO_DISABLED  # D, less those that something in C conflicts with
        self.explored: list[Canonical] = []  # what has been added to D here
        self.known: list[Canonical] = []  # events that are kept for what stands here
        self.top: Canonical | None = None  # what the event that stands here comes after: in its
        self.latest: Latest | None = None  # thread, and at its place
        # Events that cannot be in a spike: as long as that event stands here,
        self.aside: dict[int, Canonical] = {}
        self.barred: dict[int, Canonical] = {}  # or what has been explored here is in D.


NO_DISABLED: Final[list[Canonical]] = []


class Qpor(Explorer):
    cannot_split = (
        "alternatives are found when all below an event is explored, in the unfolding that all of "
        "it has added to; use pop or trust"
    )

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.request.takes_conditions = False
        self.k = search.k
        self.order = HappensBefore(self.program.values)
        self.unfolding = Unfolding()
        self.current: list[Canonical] = []  # C, in the order of the current execution
        self.configuration = Configuration([], {})  # the same
        self.prefixes = [Prefix()]  # one more than C is or has been long

    def explore(self) -> bool:
        """Explore the whole program; False when the search was ended before."""
        if not self.run(0, [], []):
            return False
        while self.current:
            event = self.take_off()
            position = len(self.current)
            if event.place != NOWHERE and len(event.beside.known) > 1:  # there are others beside it
                prefix = self.prefixes[position]
                disabled = [*prefix.disabled, *prefix.explored, event]
                alternative = self.alternative(disabled)
                if alternative:
                    prefix.explored.append(event)
                    if not self.run(position, alternative, disabled):
                        return False
                    continue
            self.leave(position, event)
        return True

    def run(self, keep: int, path: list[Canonical], disabled: list[Canonical]) -> bool:
        """Explore(C, D, A) down to a maximal configuration, or one that goes on in D only."""
        search = self.search
        del self.events[keep:]
        self.request.path = [event.label for event in path]
        self.request.sleep = [event.label for event in disabled]
        if not search.run(self.request):
            return False
        if self.program.answer.status == REDUNDANT and self.k == ALL_OF_THEM and not search.races:
            raise RuntimeError("a redundant execution in an optimal search: a bug in Mazurka")
        for position in range(keep, len(self.events)):
            self.put_on(self.events[position])
        for waiting in self.program.answer.waiting:
            for reversal in waiting_reversals(self.order, waiting):
                latest = self.order.last_access[waiting.location]
                self.add_reversal(reversal, None, self.order.latest_of(waiting.thread), latest)
        search.result.unfolding = self.unfolding.created
        search.result.known = self.unfolding.most
        return True

    # The configuration C

    def put_on(self, step: Event) -> None:
        """Add the next event of the execution to C, and the conflicting extensions that come from
        it to the unfolding."""
        order = self.order
        order.extend(step)
        event = self.unfolding.event(
            step, None, self.canonical(step.previous), self.causes_of(step)
        )
        self.keep_for(event, step.position)
        for reversal in reversals(order, step, step.position):
            label = event.label if reversal.event is step else None
            self.add_reversal(reversal, label, step.previous, step.previous_access)
        if step.alternatives > 1:
            self.add_choices(step)
        self.extend(event)

    def canonical(self, step: Event | None) -> Canonical | None:
        return None if step is None else self.current[step.position]

    def causes_of(self, step: Event) -> list[Canonical]:
        """The maximal events of a history, apart from the previous one of the thread."""
        if step.kind == JOIN:
            return [self.current[self.order.latest_of(step.choice).position]]
        return [self.current[race.position] for race in step.races]

    def extend(self, event: Canonical) -> None:
        """Add an event to C."""
        position = len(self.current)
        prefix = self.prefixes[position]
        self.current.append(event)
        thread = event.label.thread
        tops = self.configuration.tops
        while len(tops) <= thread:
            tops.append(None)
        prefix.top = tops[thread]
        tops[thread] = event
        event.position = position
        if event.place != NOWHERE:
            event.beside.standing.append(event)
            latest = self.configuration.latest
            prefix.latest = latest.get(event.place)
            if event.change is not None:
                event.change.position = position
                latest[event.place] = event.local.latest[event.place]
            else:
                latest[event.place] = accessed(prefix.latest, event)
        if len(self.prefixes) == position + 1:
            self.prefixes.append(Prefix())
        self.prefixes[position + 1].disabled = still_disabled(prefix, event)

    def take_off(self) -> Canonical:
        """Take the last event off C."""
        event = self.current.pop()
        position = len(self.current)
        self.order.cut(position)
        prefix = self.prefixes[position]
        self.configuration.tops[event.label.thread] = prefix.top
        if event.place != NOWHERE:
            if prefix.latest is None:
                del self.configuration.latest[event.place]
            else:
                self.configuration.latest[event.place] = prefix.latest
        put_back(prefix.aside)
        return event

    # The unfolding

    def add_reversal(
        self,
        reversal: Reversal,
        label: Event | None,
        previous: Event | None,
        latest: Event | None,
    ) -> None:
        """Add the conflicting extension that a reversal ends with: an operation of a thread that
        comes from `previous`, at a location that was last accessed by `latest`, as it is without
        what the reversal leaves out; its label, if there is one already."""
        step = reversal.event
        found: list[Event] = []
        other = latest
        while other is not None:
            if other.position < reversal.position or (
                other.position > reversal.position and reversal.takes(other)
            ):
                if (
                    dependent(step, other)
                    and (previous is None or not is_or_happens_before(other, previous))
                    and not before_any(other, found)
                ):
                    found.append(other)
                if other.mode == WRITE and other.part == ALL:
                    break
            other = other.previous_access
        causes = [self.current[cause.position] for cause in found]
        event = self.unfolding.event(step, label, self.canonical(previous), causes)
        self.keep_for(event, reversal.position)

    def add_choices(self, step: Event) -> None:
        """Add the other values of a data choice: they conflict with it and with one another."""
        for choice in range(step.alternatives):
            if choice != step.choice:
                other = chosen_otherwise(step, choice)
                event = self.unfolding.event(other, None, self.canonical(step.previous), [])
                self.keep_for(event, step.position)

    def keep_for(self, event: Canonical, position: int) -> None:
        """Keep an event as long as what stands at a position is in C or D."""
        if event.home == NOWHERE or position < event.home:
            event.home = position
            self.prefixes[position].known.append(event)

    def leave(self, position: int, left: Canonical) -> None:
        """Explore(C, D, A) returns: keep what may be wanted for C and D (line 13)."""
        prefix = self.prefixes[position]
        if left.place != NOWHERE:
            left.beside.standing.pop()  # the last to come
        if prefix.explored:
            for explored in prefix.explored:
                explored.beside.standing.pop()
            prefix.explored.clear()
        put_back(prefix.barred)
        for event in prefix.known:
            if event.home == position:
                event.home = NOWHERE
                wanted = wanted_for(event)
                if wanted == NOWHERE:
                    self.unfolding.remove(event)
                else:
                    self.keep_for(event, wanted)
        prefix.known.clear()

    # Alternatives

    def alternative(self, disabled: list[Canonical]) -> list[Canonical]:
        """The events of a k-partial alternative to D after C (Definition 5) that are not in C, each
        after its causes; none if there is no such alternative.

        Combinations over a comb, whose spikes are made when they are needed.
        """
        goals = disabled[-self.k :]  # all of them if k is ALL_OF_THEM
        goals.reverse()
        comb = {0: self.spike(goals[0], disabled)}
        if not comb[0]:
            return []  # as most often
        choices: list[int] = []  # for each goal that is met: which event of its spike, or COVERED
        chosen: list[Canonical] = []
        start = 0
        while len(choices) < len(goals):
            level = len(choices)
            if start == 0 and conflicts_with_any(goals[level], chosen):
                choices.append(COVERED)
                continue
            if level not in comb:
                comb[level] = self.spike(goals[level], disabled)
            spike = comb[level]
            place = fitting(spike, start, chosen)
            if place < len(spike):
                choices.append(place)
                chosen.append(spike[place])
                start = 0
                continue
            while choices and choices[-1] == COVERED:
                choices.pop()
            if not choices:
                return []
            chosen.pop()
            start = choices.pop() + 1
        return self.still_to_come(chosen)

    def spike(self, goal: Canonical, disabled: list[Canonical]) -> list[Canonical]:
        """Events in conflict with one of D that can come after C without any of D.

        An event after C conflicts with the goal if a cause of it does that accesses the same place.
        The first of these follow the latest change of that place in C: no others are needed.
        """
        if goal.place == NOWHERE:
            return []
        found: list[Canonical] = []
        known = goal.beside.known
        for event in list(known.values()):
            if event is not goal:
                held = self.place_for(event, disabled)
                if held is not known:
                    del known[event.number]
                    event.hold_in(held)
                elif can_replace(event, goal):
                    found.append(event)
        if len(found) > 1:
            found.sort(key=number_of)  # whatever was set aside and put back
        return found

    def place_for(self, event: Canonical, disabled: list[Canonical]) -> dict[int, Canonical]:
        """Where an event belongs: among those that can come after C without any of D, or aside
        until what is in its way is gone, so that nobody looks at it again before."""
        local = event.local
        for other in disabled:
            if local.has(other):
                return self.prefixes[other.position].barred
        if self.configuration.has(event):
            return self.prefixes[event.position].aside
        obstacle = rival(local, self.configuration)
        if obstacle is not None:
            return self.prefixes[obstacle.position].aside
        return event.held

    def still_to_come(self, chosen: list[Canonical]) -> list[Canonical]:
        """What the local configurations of some events have and C has not."""
        found: dict[int, Canonical] = {}
        unseen = chosen.copy()
        while unseen:
            event = unseen.pop()
            if event.number not in found and not self.configuration.has(event):
                found[event.number] = event
                unseen.extend(event.causes)
                if event.previous is not None:
                    unseen.append(event.previous)
        return [found[number] for number in sorted(found)]


def put_back(aside: dict[int, Canonical]) -> None:
    """What was in the way of some events is gone."""
    if aside:
        for event in aside.values():
            event.hold_in(event.beside.known)
        aside.clear()


def still_disabled(prefix: Prefix, event: Canonical) -> list[Canonical]:
    """D after one more event."""
    if not prefix.disabled and not prefix.explored:
        return NO_DISABLED
    return [
        other
        for other in [*prefix.disabled, *prefix.explored]
        if not dependent(other.label, event.label)
    ]


def wanted_for(event: Canonical) -> int:
    """The first position of an event in C or D for whose spike another one may be wanted."""
    if event.place != NOWHERE:
        for other in event.beside.standing:
            if can_replace(event, other):
                return other.position
    return NOWHERE


def number_of(event: Canonical) -> int:
    return event.number


def can_replace(event: Canonical, goal: Canonical) -> bool:
    """Whether an access of the same place conflicts with another one, unless it comes after it. Of
    the same thread, it comes after something that does so too, or is another choice."""
    if event.label.thread == goal.label.thread:
        return goal.label.kind == CHOOSE
    return dependent(event.label, goal.label)


def conflicts_with_any(goal: Canonical, chosen: list[Canonical]) -> bool:
    return any(in_conflict(event.local, goal.local) for event in chosen)


def fitting(spike: list[Canonical], start: int, chosen: list[Canonical]) -> int:
    """The place of the first event of a spike, from one on, that conflicts with none that is
    chosen; the length of the spike if there is none."""
    place = start
    while place < len(spike) and conflicts_with_any(spike[place], chosen):
        place += 1
    return place

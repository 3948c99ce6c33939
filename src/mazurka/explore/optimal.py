"""Optimal-DPOR-Await: one execution for each trace, with wakeup trees.

Algorithm 1 of "Awaiting for Godot: Stateless Model Checking that Avoids Executions where Nothing
Happens". The recursion Explore(E) is a loop here: `execution.events` is E, `wakeup[i]` holds what
is left of wut(E') for its prefix E' of length i, and sleep(E') is kept with the event after E'.
"""

from mazurka.core.event import Event, weak_initial
from mazurka.core.happens_before import HappensBefore
from mazurka.core.operation import CHOOSE
from mazurka.core.races import (
    NO_ADDS,
    NOT_FIRST,
    Reversal,
    chosen_otherwise,
    reversals,
    waiting_reversals,
)
from mazurka.explore.search import Search


class Branch:
    """A node of a wakeup tree: the step that leads to it, and its children in their order."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.children: list[Branch] = []


class OptimalDpor:
    def __init__(self, search: Search) -> None:
        self.search = search
        self.execution = search.execution
        self.order = HappensBefore()
        self.wakeup: list[list[Branch]] = []
        self.open_choices: list[Event] = []  # alternatives in E that no wut has yet

    def explore(self) -> bool:
        """Explore the whole program; False when the search was ended before."""
        keep = 0
        path: list[Event] = []
        sleep: list[Event] = []
        while True:
            going_on = self.search.run(keep, path, sleep)
            if not going_on:
                return False
            self.reverse_races(keep)
            keep = self.deepest_branch()
            if keep < 0:
                return True
            # Explore(E.p) has returned: p goes to sleep, and the next child of E gets its turn.
            finished = self.execution.events[keep]
            sleep = [*finished.sleep, finished]
            path = self.descend(keep)
            self.order.cut(keep)

    def reverse_races(self, keep: int) -> None:
        """The race detection phase (lines 3-22) for the events from position `keep` on.

        Races between earlier events were reversed when those were new.
        """
        events = self.execution.events
        order = self.order
        while len(self.wakeup) < len(events):
            self.wakeup.append([])
        for position in range(keep, len(events)):
            order.extend(events[position])
        end = len(events)
        for position in range(keep, end):
            event = events[position]
            if event.kind == CHOOSE:
                self.add_alternatives(event)
            for reversal in reversals(order, event, end):
                self.consider(reversal)
        for waiting in self.execution.waiting:
            for reversal in waiting_reversals(order, waiting):
                self.consider(reversal)
        if self.open_choices:
            self.try_alternatives()

    def consider(self, reversal: Reversal) -> bool:
        """Lines 6 and 21: insert a sequence unless a sleeping thread makes it redundant."""
        order = self.order
        for asleep in self.execution.events[reversal.position].sleep:
            if reversal.relation(order, asleep) != NOT_FIRST:
                return False
        children = self.wakeup[reversal.position]
        for branch in children:
            if reversal.relation(order, branch.event) != NOT_FIRST:
                return insert(children, reversal.backwards(order))
        append(children, reversal.backwards(order))
        return True

    def deepest_branch(self) -> int:
        """The longest prefix of E with something left in its wakeup tree; -1 if there is none."""
        position = len(self.wakeup) - 1
        while position >= 0 and not self.wakeup[position]:
            self.wakeup.pop()
            position -= 1
        return position

    def descend(self, position: int) -> list[Event]:
        """Take the leftmost unexplored leaf below a prefix (lines 28-30): the steps to it."""
        self.open_choices = [other for other in self.open_choices if other.position < position]
        path: list[Event] = []
        children = self.wakeup[position]
        while children:
            branch = children.pop(0)
            path.append(branch.event)
            children = branch.children
            self.wakeup.append(children)
        self.wakeup.pop()  # below the leaf there is nothing yet
        return path

    # A data choice is a race of a step with the same step that chooses otherwise.

    def add_alternatives(self, event: Event) -> None:
        for choice in range(event.alternatives):
            if choice != event.choice:
                self.open_choices.append(chosen_otherwise(event, choice))

    def try_alternatives(self) -> None:
        """An alternative that a sleeping thread makes redundant now may be wanted later."""
        events = self.execution.events
        self.open_choices = [
            other
            for other in self.open_choices
            if not self.consider(Reversal(events[other.position], other, NO_ADDS, len(events)))
        ]


def insert(children: list[Branch], backwards: list[Event]) -> bool:
    """insert(v, E') of lines 34-44: add v to a wakeup tree unless it is redundant there."""
    descending = True
    while descending:
        descending = False
        for branch in children:
            place = weak_initial(branch.event, backwards)
            if place < 0:
                continue
            if place == len(backwards):
                return False
            del backwards[place]
            if not backwards or not branch.children:
                return False
            children = branch.children
            descending = True
            break
    append(children, backwards)
    return True


def append(children: list[Branch], backwards: list[Event]) -> None:
    """Add a sequence to a wakeup tree as a new rightmost branch (line 43)."""
    while backwards:
        branch = Branch(backwards.pop())
        children.append(branch)
        children = branch.children

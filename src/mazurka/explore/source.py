"""Source-DPOR: backtrack sets that are source sets, with sleep sets.

The baseline that the papers compare with ("Optimal Dynamic Partial Order Reduction", and the
Awaiting paper for blocking operations). It reaches every trace, but may run into executions in
which only sleeping threads can go on: those are counted as redundant.
"""

from mazurka.engine.event import Event
from mazurka.engine.order import HappensBefore
from mazurka.engine.races import (
    FIRST,
    Reversal,
    chosen_otherwise,
    reversals,
    waiting_reversals,
)
from mazurka.engine.search import Explorer, Search


class SourceDpor(Explorer):
    cannot_split = (
        "a race that is found below a step may add another step before it, where others explore; "
        "use pop or trust"
    )

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.order = HappensBefore(self.program.values)
        self.backtrack: list[list[Event]] = []  # for each prefix of E, the steps still to take

    def explore(self) -> bool:
        """Explore the whole program; False when the search was ended before."""
        keep = 0
        while True:
            if not self.search.run(self.request):
                return False
            self.reverse_races(keep)
            while True:
                keep = self.deepest_step()
                if keep < 0:
                    return True
                finished = self.events[keep]
                step = self.backtrack[keep].pop(0)
                # A step that sleeps already has been explored from an earlier prefix.
                if not includes(finished.sleep, step):
                    break
            del self.events[keep:]
            self.request.path = [step]
            self.request.sleep = [*finished.sleep, finished]
            self.order.cut(keep)

    def reverse_races(self, keep: int) -> None:
        """Make sure that each new race will be reversed by some step from before it."""
        events = self.events
        while len(self.backtrack) < len(events):
            self.backtrack.append([])
        for position in range(keep, len(events)):
            event = events[position]
            self.order.extend(event)
            if event.alternatives > 1:
                self.add_alternatives(event)
            for reversal in reversals(self.order, event, position):
                self.add_source(reversal)
        for waiting in self.program.answer.waiting:
            for reversal in waiting_reversals(self.order, waiting):
                self.add_source(reversal)

    def add_source(self, reversal: Reversal) -> None:
        """Unless an initial of the sequence is, or was, explored there: add one."""
        steps = self.backtrack[reversal.position]
        for step in self.events[reversal.position].sleep:
            if reversal.relation(self.order, step) == FIRST:
                return
        for step in steps:
            if reversal.relation(self.order, step) == FIRST:
                return
        steps.append(reversal.backwards(self.order)[-1])

    def add_alternatives(self, event: Event) -> None:
        """The other values of a data choice."""
        for choice in range(event.alternatives):
            if choice != event.choice:
                other = chosen_otherwise(event, choice)
                if not includes(self.backtrack[event.position], other):
                    self.backtrack[event.position].append(other)

    def deepest_step(self) -> int:
        """The longest prefix of E with a step left to take; -1 if there is none."""
        position = len(self.backtrack) - 1
        while position >= 0 and not self.backtrack[position]:
            self.backtrack.pop()
            position -= 1
        return position


def includes(steps: list[Event], step: Event) -> bool:
    return any(other.thread == step.thread and other.choice == step.choice for other in steps)

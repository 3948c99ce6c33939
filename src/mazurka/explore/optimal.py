"""Optimal-DPOR-Await: one execution for each trace, with wakeup trees.

Algorithm 1 of "Awaiting for Godot: Stateless Model Checking that Avoids Executions where Nothing
Happens". The recursion Explore(E) is a loop here: `events` is E, `wakeup[i]` holds what
is left of wut(E') for its prefix E' of length i, and sleep(E') is kept with the event after E'.

The paper looks at all races of E whenever E is maximal, with all of E as the context in which a
race is reversed. Here a race is looked at when its second event e' is new, with the context up to
e'. If the sequence v is inserted then, or leads down to a leaf, that is final: no thread sleeps
after v, so all that can follow v will be explored. It is final, too, if a sleeping thread is in v
and could come first. What is left is a *doubt*: v is redundant because of a step (its witness, a
sleeping thread or a branch of the tree) that is not in v but independent of it. Then v must be
looked at again, with more context, once an event comes up that would be in v and depends on the
witness, or is the witness. So every new event is looked at once, and old races only when they
matter. docs/proofs/optimal.md has the proof.
"""

from typing import Final

from mazurka.engine.event import Event, dependent, weak_initial
from mazurka.engine.order import HappensBefore
from mazurka.engine.program import REDUNDANT
from mazurka.engine.races import (
    BESIDE,
    FIRST,
    NO_ADDS,
    NOT_FIRST,
    Reversal,
    chosen_otherwise,
    reversals,
    waiting_reversals,
)
from mazurka.engine.search import Explorer, Search


class Branch:
    """A node of a wakeup tree: the step that leads to it, and its children in their order."""

    def __init__(self, event: Event) -> None:
        self.event = event
        self.children: list[Branch] = []


NO_BRANCHES: Final[list[Branch]] = []  # most prefixes have none


class Doubt:
    """A reversal that is redundant as far as can be seen: its witness is independent of it."""

    def __init__(self, reversal: Reversal, witness: Event, since: int) -> None:
        self.reversal = reversal
        self.witness = witness
        self.since = since  # it stands as long as E keeps this length
        self.standing = True


class OptimalDpor(Explorer):
    cannot_split = (
        "a race that is found below a branch may add another one to the wakeup tree above it, "
        "where others explore; use pop or trust"
    )

    def __init__(self, search: Search) -> None:
        super().__init__(search)
        self.request.takes_conditions = False
        self.order = HappensBefore(self.program.values)
        self.wakeup: list[list[Branch]] = []
        self.doubts: list[Doubt] = []
        self.doubts_by_thread: list[list[Doubt]] = []  # of the witness
        self.doubts_by_location: list[list[Doubt]] = []
        self.resolved: list[tuple[int, Doubt]] = []  # with the position of the event that did it

    def explore(self) -> bool:
        """Explore the whole program; False when the search was ended before."""
        keep = 0
        while self.search.run(self.request):
            if self.program.answer.status == REDUNDANT and not self.search.races:
                raise RuntimeError("a redundant execution in an optimal search: a bug in Mazurka")
            self.reverse_races(keep)
            keep = self.deepest_branch()
            if keep < 0:
                return True
            # Explore(E.p) has returned: p goes to sleep, and the next child of E gets its turn.
            finished = self.events[keep]
            del self.events[keep:]
            self.request.path = self.descend(keep)
            self.request.sleep = [*finished.sleep, finished]
            self.order.cut(keep)
            self.cut_doubts(keep)
        return False

    def deepest_branch(self) -> int:
        """The longest prefix of E with something left in its wakeup tree; -1 if there is none."""
        position = len(self.wakeup) - 1
        while position >= 0 and not self.wakeup[position]:
            self.wakeup.pop()
            position -= 1
        return position

    def descend(self, position: int) -> list[Event]:
        """Take the leftmost unexplored leaf below a prefix (lines 28-30): the steps to it."""
        path: list[Event] = []
        children = self.wakeup[position]
        while children:
            branch = children.pop(0)
            path.append(branch.event)
            children = branch.children
            self.wakeup.append(children)
        self.wakeup.pop()  # below the leaf there is nothing yet
        return path

    # The race detection phase (lines 3-22)

    def reverse_races(self, keep: int) -> None:
        """Look at the races whose second event is at position `keep` or later."""
        events = self.events
        order = self.order
        for position in range(keep, len(events)):
            event = events[position]
            order.extend(event)
            if position == len(self.wakeup):
                self.wakeup.append(NO_BRANCHES)
            if self.doubts:
                self.reconsider(event)
            for reversal in reversals(order, event, position):
                self.consider(reversal, position)
            if event.alternatives > 1:
                self.consider_alternatives(event)
        for waiting in self.program.answer.waiting:
            for reversal in waiting_reversals(order, waiting):
                self.consider(reversal, len(events))

    def consider_alternatives(self, event: Event) -> None:
        """A data choice is in a race with the same step that takes another value."""
        thread = event.thread
        settled = {event.choice}
        settled.update([asleep.choice for asleep in event.sleep if asleep.thread == thread])
        for branch in self.wakeup[event.position]:
            if branch.event.thread == thread:
                settled.add(branch.event.choice)
        for choice in range(event.alternatives):
            if choice not in settled:
                other = chosen_otherwise(event, choice)
                end = event.position + 1
                self.consider(Reversal(event, other, NO_ADDS, end), event.position)

    def consider(self, reversal: Reversal, position: int) -> None:
        """Insert a sequence unless it is redundant (lines 6, 21 and 34-44); `position` is that of
        the event that brought it up."""
        order = self.order
        for asleep in self.events[reversal.position].sleep:
            relation = reversal.relation(order, asleep)
            if relation != NOT_FIRST:
                if relation == BESIDE:
                    self.doubt(reversal, asleep, position)
                return
        children = self.wakeup[reversal.position]
        for branch in children:
            relation = reversal.relation(order, branch.event)
            if relation != NOT_FIRST:
                witness: Event | None = branch.event
                if relation == FIRST:
                    witness = insert(children, reversal.backwards(order))
                if witness is not None:
                    self.doubt(reversal, witness, position)
                return
        if children is NO_BRANCHES:
            children = []
            self.wakeup[reversal.position] = children
        append(children, reversal.backwards(order))

    # Doubts

    def doubt(self, reversal: Reversal, witness: Event, position: int) -> None:
        doubt = Doubt(reversal, witness, position + 1)
        self.doubts.append(doubt)
        file_under(self.doubts_by_thread, witness.thread, doubt)
        if witness.location >= 0:
            file_under(self.doubts_by_location, witness.location, doubt)

    def reconsider(self, event: Event) -> None:
        """Look again at the reversals whose witness a new event is, or depends on."""
        if event.thread < len(self.doubts_by_thread):
            doubts = self.doubts_by_thread[event.thread]
            for place in range(len(doubts)):  # those that come up meanwhile know the event
                if doubts[place].standing and doubts[place].witness.index == event.index:
                    self.resolve(doubts[place], event)
        if 0 <= event.location < len(self.doubts_by_location):
            doubts = self.doubts_by_location[event.location]
            for place in range(len(doubts)):
                witness = doubts[place].witness
                if (
                    doubts[place].standing
                    and witness.thread != event.thread
                    and dependent(witness, event)
                ):
                    self.resolve(doubts[place], event)

    def resolve(self, doubt: Doubt, event: Event) -> None:
        if doubt.reversal.takes(event):
            doubt.standing = False
            self.resolved.append((event.position, doubt))
            self.consider(doubt.reversal.up_to(event.position + 1), event.position)

    def cut_doubts(self, length: int) -> None:
        """Go back to the doubts of a prefix of E."""
        doubts = self.doubts
        while doubts and doubts[-1].since > length:
            witness = doubts.pop().witness
            self.doubts_by_thread[witness.thread].pop()
            if witness.location >= 0:
                self.doubts_by_location[witness.location].pop()
        while self.resolved and self.resolved[-1][0] >= length:
            self.resolved.pop()[1].standing = True


def file_under(index: list[list[Doubt]], key: int, doubt: Doubt) -> None:
    while len(index) <= key:
        index.append([])
    index[key].append(doubt)


def insert(children: list[Branch], backwards: list[Event]) -> Event | None:
    """insert(v, E') of lines 34-44, for a sequence that is given last event first: add it to a
    wakeup tree unless it is redundant there. Gives the witness if that is independent of it."""
    descending = True
    while descending:
        descending = False
        for branch in children:
            place = weak_initial(branch.event, backwards)
            if place < 0:
                continue
            if place == len(backwards):
                return branch.event
            del backwards[place]
            if not backwards or not branch.children:
                return None
            children = branch.children
            descending = True
            break
    append(children, backwards)
    return None


def append(children: list[Branch], backwards: list[Event]) -> None:
    """Add a sequence to a wakeup tree as a new rightmost branch (line 43)."""
    while backwards:
        branch = Branch(backwards.pop())
        children.append(branch)
        children = branch.children

"""The unfolding of a program: a prime event structure of canonical events.

Definition 1 of "Quasi-Optimal Partial Order Reduction": an event is an action and its history, that
is all events that must happen before it. Executions that belong to one trace have the same events,
and events of different executions can be asked whether one causes the other, or whether they are in
conflict, so that no execution has both.

Both questions are answered by trees (sections 5.1 and 5.2). The events of one thread form a tree,
in which the ancestors of an event are its causes and branches are in conflict. So do the events
that change one location as a whole, as all that is done to a lock does. An event keeps, for every
thread and every location, the latest event of its history (Definition 7). A location may also be
read, added to, or changed in parts: such accesses hang below the change before them, and are only
told from one another by what their threads know. docs/proofs/qpor.md says why that is enough.
"""

from typing import Final

from mazurka.engine.event import Event, changes_all, dependent
from mazurka.engine.operation import CHOOSE

NOWHERE: Final = -1

SKIP_STEP: Final = 2  # each skip pointer goes so many times as far as the one before


class Node:
    """A node of a tree that finds its ancestors quickly: beside its parent it knows those at
    distances that are powers of two, as long as they divide its depth."""

    def __init__(self, number: int, parent: "Node | None") -> None:
        self.number = number  # of the event that it stands for
        self.depth: int = 1 if parent is None else parent.depth + 1
        self.position = NOWHERE  # where the event stands in C, or has stood last
        self.parent = parent
        self.skips: list[Node] = []
        distance = SKIP_STEP
        while parent is not None and self.depth % distance == 0 and self.depth > distance:
            self.skips.append(ancestor(parent, self.depth - distance))
            distance *= SKIP_STEP


def ancestor(node: Node, depth: int) -> Node:
    """The ancestor of a node at a depth that is at least 1 and at most its own."""
    while node.depth > depth:
        following = node.parent
        assert following is not None
        for skip in node.skips:
            if skip.depth < depth:
                break
            following = skip
        node = following
    return node


def is_on_path(node: Node, lower: Node) -> bool:
    """Whether a node is another one, or one of its ancestors."""
    return node.depth <= lower.depth and ancestor(lower, node.depth) is node


def fork(node: Node, other: Node) -> Node:
    """The highest of a node and its ancestors that is not on the path to another one; neither of
    the two is above the other."""
    depth = min(node.depth, other.depth)
    node = ancestor(node, depth)
    other = ancestor(other, depth)
    while node.parent is not other.parent:
        assert node.parent is not None and other.parent is not None
        following, facing = node.parent, other.parent
        for place in range(len(node.skips)):
            if node.skips[place] is other.skips[place]:
                break
            following, facing = node.skips[place], other.skips[place]
        node, other = following, facing
    return node


class Change(Node):
    """A node of the tree of a place: an event that changes all of it."""

    def __init__(self, number: int, parent: "Change | None") -> None:
        super().__init__(number, parent)
        self.below: Accesses | None = None  # what follows it, with no other change between


class Latest:
    """The latest accesses to one location in a configuration: its last change as a whole, and of
    the other accesses since, the last of each kind by each thread."""

    def __init__(self, change: Change | None, others: "list[Canonical]") -> None:
        self.change = change
        self.others = others


class Configuration:
    """A set of events that is closed under causes and free of conflicts, by its latest events."""

    def __init__(self, tops: "list[Canonical | None]", latest: dict[int, Latest]) -> None:
        self.tops = tops  # of the threads: tmax of Definition 7
        self.latest = latest  # by place: lmax

    def has(self, event: "Canonical") -> bool:
        thread = event.label.thread
        if thread >= len(self.tops):
            return False
        top = self.tops[thread]
        return top is not None and is_on_path(event, top)

    def has_all(self, events: "list[Canonical]") -> bool:
        return all(self.has(event) for event in events)

    def take_in(self, other: "Configuration") -> None:
        """Become the union with another configuration that there is no conflict with."""
        tops = self.tops
        while len(tops) < len(other.tops):
            tops.append(None)
        for thread in range(len(other.tops)):
            top = other.tops[thread]
            mine = tops[thread]
            if top is not None and (mine is None or mine.depth < top.depth):
                tops[thread] = top
        latest = self.latest
        for place, theirs in other.latest.items():
            ours = latest.get(place)
            if ours is not theirs:
                latest[place] = theirs if ours is None else later(ours, theirs)


NO_EVENTS: Final = Configuration([], {})


class Canonical(Node):
    """An event of the unfolding, and a node of the tree of its thread."""

    def __init__(
        self, number: int, label: Event, previous: "Canonical | None", causes: "list[Canonical]"
    ) -> None:
        same_thread = previous is not None and previous.label.thread == label.thread
        super().__init__(number, previous if same_thread else None)  # causes have lower numbers
        self.label: Event = label  # the action
        self.previous = previous  # of the same thread, else the event that spawned it
        self.causes = causes  # the other maximal events of its history
        self.key: tuple[int, ...] = ()  # what the unfolding knows it by
        self.place = place_of(label)
        self.change: Change | None = None  # its node in the tree of its place, if it changes that
        self.beside = NO_ACCESSES  # of the same place, after the same latest change of it
        self.held = NO_ACCESSES.known  # where among those it is now, unless it is set aside
        self.local = NO_EVENTS  # the local configuration, [e], once it is complete
        self.uses = 0  # how many events have it as a cause
        self.home = NOWHERE  # the position of what it is kept for

    def complete(self, first: "dict[int, Accesses]") -> None:
        """Make the local configuration: the history, and the event itself. The first accesses of
        places follow no change."""
        before = NO_EVENTS if self.previous is None else self.previous.local
        latest = before.latest
        if self.causes or self.place != NOWHERE:
            latest = latest.copy()
        local = Configuration(before.tops.copy(), latest)
        for cause in self.causes:
            local.take_in(cause.local)
        thread = self.label.thread
        while len(local.tops) <= thread:
            local.tops.append(None)
        local.tops[thread] = self
        if self.place != NOWHERE:
            here = latest.get(self.place)
            self.beside = accesses_after(here, self.place, first)
            self.hold_in(self.beside.known)
            if changes_all(self.label) or self.label.kind == CHOOSE:
                self.change = Change(self.number, None if here is None else here.change)
            latest[self.place] = accessed(here, self)
        self.local = local

    def is_let_go(self) -> bool:
        """One event less has it as a cause: whether it is not needed any more."""
        self.uses -= 1
        return self.uses == 0 and self.home == NOWHERE

    def hold_in(self, known: "dict[int, Canonical]") -> None:
        known[self.number] = self
        self.held = known


class Accesses:
    """The known accesses of a place that follow the same latest change of it."""

    def __init__(self) -> None:
        # Those that can come after C without any of D, as far as has been found.
        self.known: dict[int, Canonical] = {}
        self.standing: list[Canonical] = []  # those in C or D, in the order of their positions


NO_ACCESSES: Final = Accesses()


def accesses_after(here: Latest | None, place: int, first: dict[int, Accesses]) -> Accesses:
    """Where the next access of a place belongs, given the latest ones."""
    change = None if here is None else here.change
    below = first.get(place) if change is None else change.below
    if below is None:
        below = Accesses()
        if change is None:
            first[place] = below
        else:
            change.below = below
    return below


def place_of(label: Event) -> int:
    """What an event changes or looks at: a location; for a data choice, the choices of its thread,
    since two values of one choice are in conflict as two changes of a location are."""
    if label.kind == CHOOSE:
        return NOWHERE - 1 - label.thread
    return label.location


def accessed(before: Latest | None, event: Canonical) -> Latest:
    """The latest accesses of a place once an event has accessed it, too."""
    if event.change is not None:
        return Latest(event.change, [])
    if before is None:
        return Latest(None, [event])
    others = [other for other in before.others if not same_kind(other.label, event.label)]
    others.append(event)
    return Latest(before.change, others)


def same_kind(one: Event, other: Event) -> bool:
    """Whether two accesses of a place by one thread depend on the same accesses by others."""
    return (
        one.thread == other.thread
        and one.mode == other.mode
        and one.part == other.part
        and one.structure == other.structure
    )


def later(one: Latest, other: Latest) -> Latest:
    """The latest accesses in the union of two configurations."""
    if one.change is not other.change:
        if one.change is None or (
            other.change is not None and one.change.depth < other.change.depth
        ):
            return other
        return one
    others = one.others.copy()
    for event in other.others:
        place = 0
        while place < len(others) and not same_kind(others[place].label, event.label):
            place += 1
        if place == len(others):
            others.append(event)
        elif others[place].depth < event.depth:
            others[place] = event
    return Latest(one.change, others)


def in_conflict(one: Configuration, other: Configuration) -> bool:
    """Whether the union of two configurations is none."""
    if len(one.latest) > len(other.latest):
        one, other = other, one
    return rival(one, other) is not None


def rival(one: Configuration, other: Configuration) -> Node | None:
    """An event of the other configuration that is in conflict with the one; None if their union is
    a configuration (Theorem 6)."""
    theirs = other.latest
    for place, mine in one.latest.items():
        latest = theirs.get(place)
        if latest is not None and latest is not mine:
            found = clash(one, mine, other, latest)
            if found is not None:
                return found
    return None


def clash(one: Configuration, mine: Latest, other: Configuration, theirs: Latest) -> Node | None:
    """The same at a place, given its latest accesses in both; the first event, if easily found."""
    change = mine.change
    their_change = theirs.change
    if change is their_change:
        return unordered(one, mine.others, other, theirs.others)
    if change is None or (their_change is not None and change.depth <= their_change.depth):
        assert their_change is not None
        if change is not None and not is_on_path(change, their_change):
            return fork(their_change, change)
        if other.has_all(mine.others):
            return None
        return ancestor(their_change, 1 if change is None else change.depth + 1)
    if their_change is not None and not is_on_path(their_change, change):
        return fork(their_change, change)
    for their_event in theirs.others:
        if not one.has(their_event):
            return their_event
    return None


def unordered(
    one: Configuration, mine: list[Canonical], other: Configuration, theirs: list[Canonical]
) -> Node | None:
    """An access of the other configuration that the one has not, and that depends on one of which
    the reverse is true; None if there is no such pair."""
    ours = [event for event in mine if not other.has(event)]
    if not ours:
        return None
    for their_event in theirs:
        if depends_on_any(their_event, ours) and not one.has(their_event):
            return their_event
    return None


def depends_on_any(event: Canonical, others: list[Canonical]) -> bool:
    return any(dependent(event.label, other.label) for other in others)


class Unfolding:
    """The events that are known (the set U of Algorithm 1)."""

    def __init__(self) -> None:
        self.events: dict[tuple[int, ...], Canonical] = {}
        self.first_accesses: dict[int, Accesses] = {}  # by place
        self.created = 0
        self.most = 0  # at a time

    def event(
        self,
        step: Event,
        label: Event | None,
        previous: Canonical | None,
        causes: list[Canonical],
    ) -> Canonical:
        """The event that a step of an execution is, which may be known, by its history; with a
        label that another event has, too, or its own."""
        key = key_of(step, previous, causes)
        known = self.events.get(key)
        if known is not None:
            return known
        self.created += 1
        event = Canonical(
            self.created, label_of(step) if label is None else label, previous, causes
        )
        event.key = key
        event.complete(self.first_accesses)
        self.events[key] = event
        if len(self.events) > self.most:
            self.most = len(self.events)
        if previous is not None:
            previous.uses += 1
        for cause in causes:
            cause.uses += 1
        return event

    def remove(self, event: Canonical) -> None:
        """Forget an event that is not needed any more, with the causes that only it needed."""
        unused = [] if event.uses else [event]
        while unused:
            event = unused.pop()
            del self.events[event.key]
            if event.place != NOWHERE:
                del event.held[event.number]
            for cause in event.causes:
                if cause.is_let_go():
                    unused.append(cause)
            if event.previous is not None and event.previous.is_let_go():
                unused.append(event.previous)
            event.local = NO_EVENTS  # which refers to the event


def label_of(step: Event) -> Event:
    """The action of an event: what its name says, and how it accesses its location."""
    label = Event(step.thread, step.kind, step.location, step.mode, None, None)
    label.structure = step.structure
    label.part = step.part
    label.choice = step.choice
    label.place = step.place
    return label


def key_of(label: Event, previous: Canonical | None, causes: list[Canonical]) -> tuple[int, ...]:
    """What tells events apart. A thread's history decides on its next operation, and what comes
    before that at its location on what it does: these need not be in the key."""
    choice = label.choice if label.kind == CHOOSE else 0
    before = 0 if previous is None else previous.number
    if not causes:
        return (label.thread, before, choice)
    if len(causes) == 1:
        return (label.thread, before, choice, causes[0].number)
    return (label.thread, before, choice, *sorted([cause.number for cause in causes]))

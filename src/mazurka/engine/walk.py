"""An execution that is computed: where each thread stands in its histories, and what locations
hold. It can go back to any of its prefixes."""

from typing import Final, cast

from mazurka.engine.event import Event
from mazurka.engine.histories import (
    NOT_KEPT,
    SPAWNED,
    Histories,
    Node,
    key_of,
    unseen,
)
from mazurka.engine.operation import (
    ADD,
    CHOOSE,
    DISABLED,
    JOIN,
    LOAD,
    NONE,
    NOTIFY,
    SPAWN,
    STORE,
    is_steady,
    may_block,
    mode_when_enabled,
)
from mazurka.engine.program import NOBODY, Program
from mazurka.engine.turns import Stepper, Steppers

UNTOUCHED: Final = object()  # at a location that was not accessed yet


class Walker(Stepper):
    """A thread, and the history that it has."""

    def __init__(self, id: int, node: Node) -> None:
        super().__init__(id)
        self.node = node
        # If what it does now is not known: the history before, and what its operation gave there;
        # NOT_KEPT if that is not known either.
        self.behind: Node | None = None
        self.key: object = None

    def location(self) -> int:
        return self.node.location

    def stand(self, node: Node) -> None:
        self.node = node
        self.kind = node.kind
        self.finished = node.kind == NONE


class Walk(Steppers):
    """The threads of an execution that is computed."""

    def __init__(self, program: Program, histories: Histories) -> None:
        super().__init__()
        self.program = program
        self.values = program.values
        self.histories = histories
        self.unseen = unseen()  # of all histories that are not known
        self.walkers: list[Walker] = []
        self.live: list[Stepper] = []  # the walkers of this execution, in the order of spawns
        self.memory: list[object] = []  # by location
        self.makers: list[int] = []  # by location: who decides its first value
        self.events: list[Event] = []
        # For each event: where its thread stood before, and what its location held.
        self.nodes_before: list[Node] = []
        self.values_before: list[object] = []
        self.recent: Walker | None = None
        self.is_blind = False  # whether something had to be known that is not
        self.now = 0  # the number of the execution
        self.epoch = 1  # of all threads that live; the others have 0
        self.spawn(0, self.histories.root, None, None)

    def known(self) -> int:
        return len(self.walkers)

    def at(self, number: int) -> Walker:
        while len(self.walkers) <= number:
            self.walkers.append(Walker(len(self.walkers), self.unseen))
        return self.walkers[number]

    def latest(self) -> Stepper | None:
        return self.recent

    def cut(self, length: int) -> None:
        """Go back to a prefix."""
        events = self.events
        while len(events) > length:
            event = events.pop()
            self.walkers[event.thread].stand(self.nodes_before.pop())
            value = self.values_before.pop()
            if event.location >= 0:
                self.memory[event.location] = value
            elif event.kind == SPAWN:
                child = cast(Walker, self.live.pop())
                child.epoch = 0
        self.recent = self.walkers[events[-1].thread] if events else self.walkers[0]

    def begin(self) -> None:
        """Go back to the start, where what the first thread does may have been forgotten."""
        self.cut(0)
        self.live.clear()
        self.spawn(0, self.histories.root, None, None)
        self.recent = self.walkers[0]

    def spawn(self, thread: int, node: Node | None, behind: Node | None, key: object) -> None:
        walker = self.at(thread)
        walker.epoch = self.epoch
        walker.behind = behind
        walker.key = key
        walker.stand(self.unseen if node is None else node)
        self.live.append(walker)

    # What threads could do

    def enabled(self, thread: Stepper) -> bool:
        walker = cast(Walker, thread)
        node = walker.node
        kind = node.kind
        if kind <= NONE:
            self.is_blind = self.is_blind or kind != NONE
            return False
        if kind == JOIN:
            joined = self.at(node.operation.choice)
            self.is_blind = self.is_blind or joined.node is self.unseen
            return joined.finished and joined.epoch == self.epoch
        if not may_block(kind):
            return True
        value = self.value_at(node.location)
        if value is NOT_KEPT:
            self.is_blind = True
            return False
        return self.values.mode(node.operation, value) != DISABLED

    def sees_all(self) -> bool:
        """Whether it is known of all threads what they do next."""
        return all(cast(Walker, stepper).node is not self.unseen for stepper in self.live)

    def choices(self, thread: Stepper) -> list[int]:
        return list(range(cast(Walker, thread).node.operation.alternatives))

    def mode_of(self, node: Node) -> int:
        """How the operation that comes after a history would access its location now."""
        operation = node.operation
        if node.location < 0:
            return NONE
        if is_steady(node.kind):
            return operation.mode
        value = self.value_at(node.location)
        if value is NOT_KEPT:
            self.is_blind = True
            return DISABLED
        return self.values.mode(operation, value)

    def standing(self, walker: Walker) -> Event:
        """The operation that a thread stands before, as the event that it would be now."""
        operation = walker.node.operation
        event = Event(
            walker.id, operation.kind, operation.location, self.mode_of(walker.node),
            operation.first, operation.second,
        )  # fmt: skip
        event.choice = operation.choice
        event.alternatives = operation.alternatives
        event.place = operation.place
        return event

    def left_standing(self, walker: Walker) -> Event:
        """The same at the end of an execution that the thread does not end in."""
        operation = walker.node.operation
        kind = operation.kind
        mode = mode_when_enabled(kind) if may_block(kind) else NONE
        event = Event(walker.id, kind, operation.location, mode, operation.first, operation.second)
        event.choice = operation.choice if kind == JOIN else 0
        event.alternatives = operation.alternatives
        return event

    def unfinished(self) -> dict[int, int]:
        """The threads that have not ended, each with the one that it is to join, or NOBODY."""
        found: dict[int, int] = {}
        for stepper in self.live:
            if not stepper.finished:
                operation = cast(Walker, stepper).node.operation
                found[stepper.id] = operation.choice if operation.kind == JOIN else NOBODY
        return found

    # What locations hold

    def value_at(self, location: int) -> object:
        """What a location holds; NOT_KEPT if that is not known."""
        memory = self.memory
        while len(memory) <= location:
            memory.append(UNTOUCHED)
        value = memory[location]
        return self.first_value(location) if value is UNTOUCHED else value

    def first_value(self, location: int) -> object:
        """What a location held at first: whoever made it has decided that before now."""
        maker = self.maker(location)
        if maker == NOBODY:
            return self.histories.constants.get(location, NOT_KEPT)
        if maker < 0 or self.at(maker).epoch != self.epoch:
            return NOT_KEPT
        return self.history_of(self.walkers[maker]).first_value(location)

    def history_of(self, walker: Walker) -> Node:
        if walker.node is self.unseen and walker.behind is not None and walker.key is not SPAWNED:
            return walker.behind
        return walker.node

    def note_first_value(self, location: int, value: object) -> bool:
        """An execution shows what a location held at first; False if it was something else."""
        known = self.first_value(location)
        maker = self.maker(location)
        if known is not NOT_KEPT:
            return key_of(known) == key_of(value)
        if maker == NOBODY:
            self.histories.constants[location] = value
        elif maker >= 0:
            node = self.history_of(self.at(maker))
            if node is not self.unseen:
                node.note_first_value(location, value)
        return True

    def maker(self, location: int) -> int:
        while len(self.makers) <= location:
            self.makers.append(self.program.maker(len(self.makers)))
        return self.makers[location]

    # One step

    def perform(self, walker: Walker, event: Event) -> bool:
        """Let a thread perform the operation that it stands before, as an event; False, and nothing
        is changed, if what comes of that cannot be computed."""
        node = walker.node
        kind = node.kind
        location = node.location
        key: object = None
        value: object = None
        if location >= 0:
            value = self.value_at(location)
            if value is NOT_KEPT:
                return False
            after = value
            if kind == LOAD:
                key = key_of(value)
            elif kind == STORE or kind == NOTIFY:
                after = self.values.apply(event, value)[1]
            else:
                result, after = self.values.apply(event, value)
                if isinstance(result, Exception):
                    return False
                if event.mode != ADD:
                    key = key_of(result)
            if key is NOT_KEPT or key_of(after) is NOT_KEPT:
                return False
            event.before = value
            event.after = after
            self.values_before.append(self.memory[location])
            self.memory[location] = after
        else:
            if kind == CHOOSE:
                key = event.choice
            elif kind == JOIN:
                key = key_of(self.at(event.choice).node.result)
                if key is NOT_KEPT:
                    return False
            self.values_before.append(None)
        self.nodes_before.append(node)
        self.events.append(event)
        node.used = self.now
        following = node.after(key)
        if following is None:
            walker.behind = node
            walker.key = key
            following = self.unseen
        walker.stand(following)
        if kind == SPAWN:
            self.spawn(event.choice, node.child, node, SPAWNED)
        self.recent = walker
        return True

    def lose(self, walker: Walker, event: Event) -> None:
        """A thread performs an operation, and what comes of that is not known from here on."""
        self.nodes_before.append(walker.node)
        self.values_before.append(None)
        location = event.location
        if location >= 0:
            self.value_at(location)
            self.values_before[-1] = self.memory[location]
            self.memory[location] = NOT_KEPT
        self.events.append(event)
        walker.behind = None
        walker.key = NOT_KEPT
        walker.stand(self.unseen)
        if event.kind == SPAWN:
            self.spawn(event.choice, None, None, NOT_KEPT)
        self.recent = walker

"""An execution that is computed: where each thread stands in its histories, and what locations
hold. It can go back to any of its prefixes."""

from typing import Final, cast

from mazurka.engine.event import Event
from mazurka.engine.histories import (
    NOT_KEPT,
    SPAWNED,
    Histories,
    Node,
    Opaque,
    key_of,
    unseen,
)
from mazurka.engine.operation import (
    ACQUIRE,
    ADD,
    APPEND,
    CHOOSE,
    DISABLED,
    FIRST_ON_PARTS,
    INDEX_READ,
    JOIN,
    LOAD,
    NONE,
    NOTIFY,
    READ_WHOLE,
    RELEASE,
    SPAWN,
    STORE,
    TRY_ACQUIRE,
    is_on_item,
    is_steady,
    may_block,
    mode_when_enabled,
)
from mazurka.engine.parts import ABSENT, LENGTH_NOT_KNOWN, Base, Change, Contents, Undo
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


class UndoRelease(Undo):
    """How a lock goes back to what it was before it was released."""

    def __init__(
        self, handed: dict[int, object], location: int, what: object, before: object
    ) -> None:
        self.handed = handed
        self.location = location
        self.what = what
        self.before = before

    def undo(self) -> object:
        self.handed[self.location] = self.what
        return self.before


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
        self.handed: dict[int, object] = {}  # what holders of locks leave to the next ones
        self.makers: list[int] = []  # by location: who decides its first value
        self.bases: list[Base] = []  # of containers, of which something is known
        self.changes: dict[object, Change] = {}  # by what there was before, and by a history
        self.vague: set[int] = set()  # locations that had a value which cannot be looked into
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
            if isinstance(value, Undo):
                value = value.undo()
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
        if value is NOT_KEPT or (node.judges and node.location in self.vague):
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
        if value is NOT_KEPT or (node.judges and node.location in self.vague):
            self.is_blind = True
            return DISABLED
        return self.values.mode(operation, value)

    def standing(self, walker: Walker) -> Event:
        """The operation that a thread stands before, as the event that it would be now."""
        operation = walker.node.operation
        event = Event(
            walker.id, operation.kind, operation.location, NONE, operation.first, operation.second
        )
        event.is_vague = isinstance(operation.first, Opaque)
        if event.kind >= FIRST_ON_PARTS:
            self.set_footprint(event, walker.node)
        else:
            event.mode = self.mode_of(walker.node)
        event.choice = operation.choice
        event.alternatives = operation.alternatives
        event.place = operation.place
        return event

    def set_footprint(self, event: Event, node: Node) -> None:
        view = self.view_of(node)
        if view is None:
            self.is_blind = True
            event.mode = DISABLED
            return
        event.view = view
        event.mode, event.structure, event.part = self.values.footprint_by(event, view)
        event.is_vague = True  # its values may be placeholders

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
        if key_of(value) is NOT_KEPT and not isinstance(value, Base):
            if known is NOT_KEPT and not self.may_be_vague(location):
                return True
            value = Opaque()
        if known is not NOT_KEPT:
            if isinstance(known, Opaque):
                return isinstance(value, Opaque)
            return key_of(known) == key_of(value)
        if maker == NOBODY:
            self.histories.constants[location] = value
        elif maker >= 0:
            node = self.history_of(self.at(maker))
            if node is not self.unseen:
                node.note_first_value(location, value)
        return True

    def memory_is_untouched(self, location: int) -> bool:
        return self.value_at(location) is NOT_KEPT and self.memory[location] is UNTOUCHED

    # What containers hold

    def contents_at(self, location: int) -> Contents | None:
        """The contents of a container; None if nothing is known of them."""
        value = self.value_at(location)
        if isinstance(value, Base):
            return Contents(value)
        return value if isinstance(value, Contents) else None

    def view_of(self, node: Node) -> object:
        """What the operation after a history would find in its container; None if that is not
        known."""
        contents = self.contents_at(node.location)
        if contents is None:
            return None
        length = contents.length()
        if node.kind == READ_WHOLE:
            return self.values.view(max(length, 0), False, None)
        if node.kind > READ_WHOLE:
            change = self.changes.get((contents.key(), node))
            return None if change is None else change.view
        if not is_on_item(node.kind):
            return None if length == LENGTH_NOT_KNOWN else self.values.view(length, False, None)
        if node.kind < INDEX_READ:
            value = contents.value(node.item)
            if value is NOT_KEPT:
                return None
            return self.values.view(max(length, 0), value is not ABSENT, value)
        if length == LENGTH_NOT_KNOWN:
            return None
        value = contents.value(node.item) if node.kind == INDEX_READ else None
        return None if value is NOT_KEPT else self.values.view(length, False, value)

    def note_found(self, contents: Contents, node: Node, event: Event) -> bool:
        """An execution shows what an operation finds in a container; False if that was known to be
        something else."""
        base = contents.base
        if base.is_unknown():
            self.bases.append(base)
        kind = node.kind
        if kind >= READ_WHOLE:
            whole = self.values.all_seen_in(event.view)
            if (
                whole is not None
                and all(key_of(value) is not NOT_KEPT for _, value in whole)
                and not contents.note_whole(whole)
            ):
                return False
            if kind != READ_WHOLE:
                self.note_change(contents, node, event)
            return True
        length, is_there, value = self.values.seen_in(event.view)
        if kind >= INDEX_READ:
            if contents.length() == LENGTH_NOT_KNOWN:
                base.length = length - contents.more
            elif contents.length() != length:
                return False
            if kind != INDEX_READ or node.item >= length:
                return True
            is_there = True
        return self.note_item(contents, node.item, value if is_there else ABSENT)

    def note_change(self, contents: Contents, node: Node, event: Event) -> None:
        key = (contents.key(), node)
        if key not in self.changes:
            self.changes[key] = Change(event)
            self.histories.count += 1

    def note_item(self, contents: Contents, item: int, seen: object) -> bool:
        """An execution shows the value of an item; False if another one was known."""
        known = contents.value(item)
        is_kept = seen is ABSENT or key_of(seen) is not NOT_KEPT
        if known is NOT_KEPT:
            contents.base.values[item] = seen if is_kept else Opaque()
            self.histories.count += 1
            return True
        if known is ABSENT or seen is ABSENT:
            return known is seen
        return isinstance(known, Opaque) or (is_kept and key_of(known) == key_of(seen))

    def forget_contents(self) -> None:
        for base in self.bases:
            base.forget()
        self.bases = []
        self.changes = {}

    def perform_on_parts(self, walker: Walker, event: Event) -> object:
        """The same as `perform` for an operation on a container: gives what it finds, as a key."""
        node = walker.node
        location = node.location
        contents = self.contents_at(location)
        key = NOT_KEPT if contents is None else contents.result(node)
        if contents is None or key is NOT_KEPT:
            return NOT_KEPT
        before = self.memory[location]
        if node.kind > READ_WHOLE:
            change = self.changes.get((key, node))
            if change is None:
                return NOT_KEPT
            self.values_before.append(before)
            if not change.is_read:
                self.memory[location] = Contents(change.base)
            return key
        if node.kind == APPEND and contents.length() == LENGTH_NOT_KNOWN:
            return NOT_KEPT
        if node.kind < INDEX_READ and contents.value(node.item) is NOT_KEPT:
            return NOT_KEPT
        undo = contents.put(node)
        if undo is None or before is not contents:
            self.values_before.append(before)
            if undo is not None:
                self.memory[location] = contents
        else:
            self.values_before.append(undo)
        event.after = node.left
        return key

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
            if kind >= FIRST_ON_PARTS:
                key = self.perform_on_parts(walker, event)
                if key is NOT_KEPT:
                    return False
                self.come_to(walker, event, key)
                return True
            if kind == LOAD:
                key = key_of(value)
            elif kind == STORE:
                after = node.left
                if isinstance(after, Opaque) and not self.may_be_vague(location):
                    return False
            elif node.judges and location in self.vague:
                return False
            elif kind == NOTIFY:
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
            before = self.memory[location]
            if kind == RELEASE and after is not value:
                before = self.hand_on(location, node.handed)
            elif (kind == ACQUIRE or kind == TRY_ACQUIRE) and after is not value:
                key = key, self.handed.get(location)
            self.values_before.append(before)
            self.memory[location] = after
        else:
            if kind == CHOOSE:
                key = event.choice
            elif kind == JOIN:
                key = key_of(self.at(event.choice).node.result)
                if key is NOT_KEPT:
                    return False
            self.values_before.append(None)
        self.come_to(walker, event, key)
        return True

    def may_be_vague(self, location: int) -> bool:
        """A location gets a value that cannot be looked into; False if some operation has to."""
        if location in self.histories.judged:
            return False
        self.vague.add(location)
        return True

    def hand_on(self, location: int, what: object) -> object:
        """A lock is released: what its holder leaves to the next one. Gives how to undo that, or
        what the location held if there is nothing to undo."""
        before = self.memory[location]
        handed = self.handed.get(location)
        if handed == what:
            return before
        self.handed[location] = what
        return UndoRelease(self.handed, location, handed, before)

    def come_to(self, walker: Walker, event: Event, key: object) -> None:
        """A thread has performed its operation, and got something."""
        node = walker.node
        self.nodes_before.append(node)
        self.events.append(event)
        node.used = self.now
        following = node.after(key)
        if following is None:
            walker.behind = node
            walker.key = key
            following = self.unseen
        walker.stand(following)
        if event.kind == SPAWN:
            self.spawn(event.choice, node.child, node, SPAWNED)
        self.recent = walker

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

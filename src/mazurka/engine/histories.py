"""What threads are known to do: for each thread, a tree of its histories.

A thread is deterministic: what it does next is a function of what its operations so far gave. A
node of the tree is one history. It says what the thread does next, and leads on to a node for each
thing that this may give.
"""

import sys
from typing import Final

from mazurka.engine.event import NO_PLACE, Event
from mazurka.engine.operation import (
    APPEND,
    FIRST_ON_PARTS,
    INDEX_SET,
    ITEM_INSERT,
    ITEM_SET,
    NONE,
    RELEASE,
    STORE,
    UNKNOWN,
)
from mazurka.engine.values import Values

NOT_KEPT: Final = object()  # in place of a value that cannot be compared from run to run
SPAWNED: Final = object()  # in place of what an operation gives: the history of a child that begins

# Values that are equal to others of another type, so their keys say what they are.
FALSE: Final = ("bool", "False")
TRUE: Final = ("bool", "True")


class Opaque:
    """In place of a value that cannot be compared, where it was stored or first found. The same one
    stands there whenever the thread that stored it had the same history."""


SOMETHING: Final = Opaque()  # in place of such a value that is about to be stored

NODE_BYTES: Final = 400  # about what a history takes


def key_of(value: object) -> object:
    """What stands for a value when histories are compared: the same for values that no program can
    tell apart, NOT_KEPT for those that are not numbers, texts, None, or tuples of them, with names
    or without."""
    kind = type(value)
    if kind is int or kind is str or value is None or kind is Opaque:
        return value
    if kind is bool:
        return TRUE if value else FALSE
    if kind is float or kind is bytes or kind is complex:
        return kind.__name__, repr(value)
    if isinstance(value, tuple):
        name = "tuple" if kind is tuple else name_of_record(kind)
        if not name:
            return NOT_KEPT
        keys: list[object] = [name]
        for part in value:
            key = key_of(part)
            if key is NOT_KEPT:
                return NOT_KEPT
            keys.append(key)
        return tuple(keys)
    return NOT_KEPT


def name_of_record(kind: type) -> str:
    """The name of a class of named tuples, which are their parts and nothing else; empty for other
    classes. It must be the same class in every execution."""
    equality: object = kind.__eq__
    if not hasattr(kind, "_fields") or kind.__dictoffset__ or equality is not tuple.__eq__:
        return ""
    module = sys.modules.get(kind.__module__)
    is_there = getattr(module, kind.__qualname__, None) is kind
    return f"{kind.__module__}.{kind.__qualname__}" if is_there else ""


class Node:
    """A history of a thread, by what the thread does then."""

    def __init__(self, operation: Event, is_known: bool) -> None:
        self.operation = operation  # as the event that it would become; its mode if that is steady
        self.kind = operation.kind  # NONE: the thread has ended; UNKNOWN: what it does is not known
        self.location = operation.location
        self.judges = False  # whether it matters which value the operation finds
        self.item = -1  # of a container
        self.left: object = None  # what it stores in a location, or as an item
        self.handed: object = None  # a key of what it leaves to the next holder of a lock
        self.is_known = is_known  # whether that is all of it; else its place is not known yet
        self.key: object = NOT_KEPT  # what the operation may give, and the history after that,
        self.following: Node | None = None
        self.others: dict[object, Node] | None = None  # and what else it may give
        self.child: Node | None = None  # of a spawn: where the child's histories begin
        self.parent: Node | None = None
        self.result: object = None  # of a thread that has ended
        # The first values of locations that were accessed when the thread had come so far.
        self.initial: dict[int, object] | None = None
        self.used = 0  # the latest execution that it was part of

    def know(self, other: "Node") -> None:
        """It was seen what the thread does then."""
        self.operation = other.operation
        self.judges = other.judges
        self.left = other.left
        self.handed = other.handed
        self.is_known = True

    def after(self, key: object) -> "Node | None":
        """The history after the operation has given something."""
        if key is self.key or (self.following is not None and key == self.key):
            return self.following
        return None if self.others is None else self.others.get(key)

    def add(self, key: object, node: "Node") -> None:
        """Let a history be the one after the operation has given something."""
        if key is SPAWNED:
            self.child = node
            return
        node.parent = self
        if self.following is None or key == self.key:
            self.key = key
            self.following = node
        else:
            if self.others is None:
                self.others = {}
            self.others[key] = node

    def first_value(self, location: int) -> object:
        """The first value of a location, as far as the thread's history decides it."""
        node: Node | None = self
        while node is not None:
            if node.initial is not None and location in node.initial:
                return node.initial[location]
            node = node.parent
        return NOT_KEPT

    def note_first_value(self, location: int, value: object) -> None:
        if self.initial is None:
            self.initial = {}
        self.initial[location] = value

    def leads_to(self) -> "list[Node]":
        found = [] if self.following is None else [self.following]
        if self.others is not None:
            found.extend(self.others.values())
        if self.child is not None:
            found.append(self.child)
        return found

    def forget_unused(self, since: int) -> None:
        """Forget what comes after this and was in no execution since one."""
        if self.following is not None and self.following.used < since:
            self.following = None
            self.key = NOT_KEPT
        if self.others is not None:
            self.others = {key: node for key, node in self.others.items() if node.used >= since}
        if self.child is not None and self.child.used < since:
            self.child = None


def unseen() -> Node:
    """A history of which it is not known what comes then."""
    return Node(Event(-1, UNKNOWN, -1, NONE, None, None), False)


def end_of(thread: int, result: object) -> Node:
    """A history that has come to its end."""
    node = Node(Event(thread, NONE, -1, NONE, None, None), True)
    node.result = result
    return node


class Histories:
    """The histories of all threads: those of a child begin where it is spawned."""

    def __init__(self, values: Values, megabytes: float) -> None:
        self.values = values
        self.root: Node | None = None  # of the first thread
        self.most = int(megabytes * 1e6 / NODE_BYTES)
        self.count = 0
        self.operations: dict[object, Event] = {}  # that some history leads to
        self.constants: dict[int, object] = {}  # first values that no thread decides
        self.judged: set[int] = set()  # locations where it matters what an operation finds

    def node_for(self, event: Event, is_known: bool) -> Node:
        """A history by the operation that comes then."""
        kind = event.kind
        left = self.left_by(event)
        first = SOMETHING if kind == STORE and isinstance(left, Opaque) else event.first
        key = (
            event.thread, kind, event.location, event.mode, event.choice, event.alternatives,
            event.place if is_known else NO_PLACE, handle(first), handle(event.second),
        )  # fmt: skip
        operation = self.operations.get(key)
        if operation is None:
            operation = operation_of(event, first)
            self.operations[key] = operation
        node = Node(operation, is_known)
        node.left = left
        if kind == RELEASE and key_of(event.first) is not NOT_KEPT:
            node.handed = key_of(event.first)
        if event.location >= 0 and kind < FIRST_ON_PARTS and self.values.judges(event):
            node.judges = True
            self.judged.add(event.location)
        if kind >= FIRST_ON_PARTS and isinstance(operation.first, int):
            node.item = operation.first
        return node

    def left_by(self, event: Event) -> object:
        """What an event stores."""
        kind = event.kind
        if kind == STORE:
            left = self.values.apply(event, None)[1]
        elif kind == ITEM_SET or kind == INDEX_SET or kind == APPEND:
            left = event.after
        else:
            return Opaque() if kind == ITEM_INSERT else None
        return left if key_of(left) is not NOT_KEPT else Opaque()

    def add(self, behind: Node | None, key: object, node: Node, now: int) -> None:
        """A history that was not known, after another one, or at the start of all."""
        node.used = now
        self.count += 1
        if behind is None:
            self.root = node
        else:
            behind.add(key, node)

    def make_room(self) -> None:
        """Forget the histories that were not part of an execution for longest."""
        nodes = self.all_nodes()
        for node in reversed(nodes):
            for later in node.leads_to():
                node.used = max(node.used, later.used)
        uses = sorted([node.used for node in nodes])
        since = uses[len(uses) // 2] + 1
        if self.root is not None and self.root.used < since:
            self.root = None
        for node in nodes:
            node.forget_unused(since)
        self.operations = {}
        self.count = len(self.all_nodes())

    def all_nodes(self) -> list[Node]:
        """Each after the one that leads to it."""
        nodes = [] if self.root is None else [self.root]
        place = 0
        while place < len(nodes):
            nodes.extend(nodes[place].leads_to())
            place += 1
        return nodes


def handle(value: object) -> object:
    """What is the same for values that an operation takes in the same way."""
    key = key_of(value)
    return key if key is not NOT_KEPT else ("object", id(value))  # kept by the operation


def operation_of(event: Event, first: object) -> Event:
    """What an event was, without anything of its execution."""
    operation = Event(event.thread, event.kind, event.location, event.mode, first, event.second)
    operation.choice = event.choice
    operation.alternatives = event.alternatives
    operation.place = event.place
    return operation

"""What a container holds in an execution that is computed, part by part.

Not all of it has to be known. A container is what it was at some point, its base, and what was
done to its items since. What a base holds is noted when an execution shows it. An operation on all
of the container leads to another base: always to the same one from the same contents, as a thread
that has the same history does the same.
"""

from typing import Final

from mazurka.engine.event import Event
from mazurka.engine.histories import NOT_KEPT, Node, key_of
from mazurka.engine.operation import (
    APPEND,
    INDEX_READ,
    INDEX_SET,
    ITEM_DELETE,
    ITEM_INSERT,
    ITEM_SET,
    LENGTH,
    READ,
    READ_WHOLE,
)

ABSENT: Final = object()  # in place of an item that is not there
BEYOND: Final = object()  # what an index gives that is too large
LENGTH_NOT_KNOWN: Final = -1


class Base:
    """A container as it was at some point, in every execution that comes there."""

    def __init__(self) -> None:
        self.length = LENGTH_NOT_KNOWN
        self.values: dict[int, object] = {}  # of its items, as far as they were seen
        self.changes: dict[object, Change] = {}

    def is_unknown(self) -> bool:
        return self.length == LENGTH_NOT_KNOWN and not self.values and not self.changes

    def forget(self) -> None:
        self.length = LENGTH_NOT_KNOWN
        self.values = {}
        self.changes = {}


class Change:
    """What an operation on all of a container found, and left."""

    def __init__(self, event: Event) -> None:
        self.view = event.view
        self.is_read = event.mode == READ  # of nothing: an item was to be taken
        self.base = Base()


class Contents:
    """What a container holds now."""

    def __init__(self, base: Base) -> None:
        self.base = base
        self.values: dict[int, object] = {}  # what was done to items since
        self.more = 0  # how many items more there are than at first
        self.order: list[int] = []  # which came and went, one after the other

    def length(self) -> int:
        base = self.base.length
        return base if base == LENGTH_NOT_KNOWN else base + self.more

    def value(self, item: int) -> object:
        """The value of an item, ABSENT, or NOT_KEPT if it is not known."""
        value = self.values.get(item, NOT_KEPT)
        return self.base.values.get(item, NOT_KEPT) if value is NOT_KEPT else value

    def key(self) -> object:
        """What stands for all that it holds: the same for the same contents."""
        items = [(item, key_of_part(value)) for item, value in self.values.items()]
        return self.base, self.more, tuple(self.order), frozenset(items)

    def change_by(self, node: Node) -> Change | None:
        return self.base.changes.get((self.key(), node))

    # What an operation gives

    def result(self, node: Node) -> object:
        """What the operation after a history finds, as a key; NOT_KEPT if that is not known."""
        kind = node.kind
        item = node.item
        if kind == LENGTH:
            length = self.length()
            return NOT_KEPT if length == LENGTH_NOT_KNOWN else length
        if kind >= READ_WHOLE:
            return self.key()
        if kind == APPEND or kind == ITEM_SET:
            return None
        if kind == INDEX_READ or kind == INDEX_SET:
            length = self.length()
            if length == LENGTH_NOT_KNOWN:
                return NOT_KEPT
            if item >= length:
                return key_of_part(BEYOND)
            if kind == INDEX_SET:
                return None
        return key_of_part(self.value(item))

    # What it changes

    def put(self, node: Node) -> "Undo | None":
        """Let the operation after a history change its item; gives how to undo that."""
        kind = node.kind
        if kind == APPEND:
            return self.put_item(self.length(), node.left, 1)
        item = node.item
        if kind == ITEM_DELETE:
            if self.value(item) is not ABSENT:
                return self.put_item(item, ABSENT, -1)
        elif kind == ITEM_INSERT:
            if self.value(item) is ABSENT:
                return self.put_item(item, node.left, 1)
        elif kind == ITEM_SET:
            return self.put_item(item, node.left, int(self.value(item) is ABSENT))
        elif kind == INDEX_SET and item < self.length():
            return self.put_item(item, node.left, 0)
        return None

    def put_item(self, item: int, value: object, more: int) -> "Undo":
        undo = Undo(self, item, self.values.get(item, NOT_KEPT), self.more, len(self.order))
        self.values[item] = value
        if more:
            self.more += more
            self.order.append(item)
        return undo


class Undo:
    """How a container goes back to what it was before a change of an item."""

    def __init__(self, contents: Contents, item: int, value: object, more: int, order: int) -> None:
        self.contents = contents
        self.item = item
        self.value = value
        self.more = more
        self.order = order

    def undo(self) -> Contents:
        contents = self.contents
        if self.value is NOT_KEPT:
            del contents.values[self.item]
        else:
            contents.values[self.item] = self.value
        contents.more = self.more
        del contents.order[self.order :]
        return contents


def key_of_part(value: object) -> object:
    return value if value is ABSENT or value is BEYOND else key_of(value)

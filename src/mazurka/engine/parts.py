"""What a container holds in an execution that is computed, part by part.

Not all of it has to be known. A container is what it was at some point, its base, and what was
done to its items since. What a base holds is noted when an execution shows it. An operation on all
of the container leads to another base: always to the same one from the same contents, as a thread
that has the same history does the same. Small contents that are values only are told by these:
then it makes no difference how they came about.
"""

from typing import Final

from mazurka.engine.event import Event
from mazurka.engine.histories import NOT_KEPT, Node, Opaque, key_of
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
MOST_ITEMS: Final = 32  # of contents that are told by their values


class Base:
    """A container as it was at some point, in every execution that comes there."""

    def __init__(self) -> None:
        self.length = LENGTH_NOT_KNOWN
        self.values: dict[int, object] = {}  # of its items, as far as they were seen
        self.order: list[int] | None = None  # the items, if they are all known
        self.told: dict[object, object] = {}  # what else was there after changes: a key for a key

    def is_unknown(self) -> bool:
        return self.length == LENGTH_NOT_KNOWN and not self.values and not self.told

    def forget(self) -> None:
        self.length = LENGTH_NOT_KNOWN
        self.values = {}
        self.order = None
        self.told = {}


class Change:
    """What an operation on all of a container found, and left."""

    def __init__(self, event: Event) -> None:
        self.view = event.view
        self.is_read = event.mode == READ  # of nothing: an item was to be taken
        self.base = Base()


class Undo:
    """What a location held before an event, if it has to be put together again."""

    def undo(self) -> object:
        raise NotImplementedError


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
        if self.base.order is not None and self.length() <= MOST_ITEMS:
            return tuple([(item, key_of(self.value(item))) for item in self.items(self.base.order)])
        changes = self.key_of_changes()
        return self.base.told.get(changes, (self.base, changes))

    def key_of_changes(self) -> object:
        items = [(item, key_of_part(value)) for item, value in self.values.items()]
        return self.more, tuple(self.order), frozenset(items)

    def items(self, first: list[int]) -> list[int]:
        """The items in their order, if those of the base are known."""
        if not self.order:
            return first
        items = first.copy()
        for item in self.order:
            if item in items:
                items.remove(item)
            else:
                items.append(item)
        return items

    def note_whole(self, contents: list[tuple[int, object]]) -> bool:
        """An execution shows all that it holds; False if that was known to be something else."""
        if self.base.order is not None:
            items = self.items(self.base.order)
            return len(items) == len(contents) and all(
                item == items[place] and self.has_there(item, value)
                for place, (item, value) in enumerate(contents)
            )
        if self.values:
            key = tuple([(item, key_of(value)) for item, value in contents])
            return self.base.told.setdefault(self.key_of_changes(), key) == key
        if self.base.length == LENGTH_NOT_KNOWN or self.base.length == len(contents):
            self.base.length = len(contents)
            self.base.values = dict(contents)
            self.base.order = [item for item, _ in contents]
            return True
        return False

    def has_there(self, item: int, value: object) -> bool:
        known = self.value(item)
        return isinstance(known, Opaque) or key_of(known) == key_of(value)

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

    def put(self, node: Node) -> Undo | None:
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

    def put_item(self, item: int, value: object, more: int) -> Undo:
        undo = UndoItem(self, item, self.values.get(item, NOT_KEPT), self.more, len(self.order))
        self.values[item] = value
        if more:
            self.more += more
            self.order.append(item)
        return undo


class UndoItem(Undo):
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

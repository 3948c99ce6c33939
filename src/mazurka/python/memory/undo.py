"""What executions change of objects that outlive them is put back."""

from array import array
from collections import OrderedDict, deque
from gc import is_tracked
from types import CellType
from typing import Any, cast

from mazurka.python.memory.shapes import (
    ELEMENTS,
    KEYED,
    MISSING,
    NO_CONTAINER,
    plain_items,
    plain_length,
    present_value,
    shape_of,
)
from mazurka.python.memory.states import put_back_state, state_of


class SavedItems:
    """Some items of a list or dict as they were, while the others are what they are: a container
    may be large."""

    def __init__(self, container: object) -> None:
        self.length = plain_length(container)
        self.items: dict[object, object] = {}

    def save(self, container: Any, key: object) -> None:
        """An item is about to be set; there may be none yet."""
        if key in self.items:
            return
        if isinstance(container, dict):
            self.items[key] = dict.get(container, key, MISSING)
        elif type(key) is int and key < self.length:
            self.items[key] = plain_type(container).__getitem__(container, key)

    def put_back(self, container: Any) -> None:
        kind = plain_type(container)
        for key, value in self.items.items():
            if value is not MISSING:
                kind.__setitem__(container, key, value)
            elif dict.__contains__(container, key):
                kind.__delitem__(container, key)
        if plain_length(container) > self.length and kind is not dict and kind is not OrderedDict:
            kind.__delitem__(container, slice(self.length, None))

    def whole(self, container: Any) -> object:
        """All items as they were."""
        copy: Any = whole_of(container)
        if isinstance(container, dict):
            copy = dict(copy)
        self.put_back(copy)
        return list(copy.items()) if isinstance(container, dict) else copy


class Undo:
    """What objects were before the running execution changed them."""

    def __init__(self) -> None:
        # By address and attribute, "" for the items, or for the state of an object of C.
        self.changes: dict[tuple[int, str], tuple[object, object]] = {}
        self.natives: dict[tuple[int, str], tuple[object, object]] = {}  # what C keeps for them
        self.lost: list[object] = []  # what could not be put back

    def save_field(self, thing: object, name: str) -> None:
        """An attribute is about to be changed."""
        key = (id(thing), name)
        if key not in self.changes:
            self.changes[key] = (thing, present_value(thing, name))

    def save_native(self, thing: object, name: str) -> None:
        """The same for what C keeps for an object."""
        key = (id(thing), name)
        if key not in self.natives:
            self.natives[key] = (thing, getattr(thing, name, MISSING))

    def save_contents(self, container: object) -> None:
        """The items of a container are about to be changed, or the state of an object of C."""
        key = (id(container), "")
        saved = self.changes.get(key)
        if saved is None:
            is_container = shape_of(type(container)) != NO_CONTAINER
            items = whole_of(container) if is_container else state_of(container)
            self.changes[key] = (container, items)
        elif isinstance(saved[1], SavedItems):
            self.changes[key] = (container, saved[1].whole(container))

    def save_item(self, container: object, key: object) -> None:
        """An item of a list or dict is about to be set."""
        place = (id(container), "")
        saved = self.changes.get(place)
        if saved is None:
            saved = self.changes[place] = (container, SavedItems(container))
        if isinstance(saved[1], SavedItems):
            saved[1].save(container, key)

    def keep_untracked(self) -> None:
        """Forget all but the objects of which the garbage collector does not know."""
        self.changes = {
            key: saved for key, saved in self.changes.items() if not is_tracked(saved[0])
        }
        self.natives = {
            key: saved for key, saved in self.natives.items() if not is_tracked(saved[0])
        }

    def put_back_one(self, thing: object) -> None:
        """One object as it was; the others are forgotten when this is."""
        one = Undo()
        for saved, those in ((self.changes, one.changes), (self.natives, one.natives)):
            those.update({key: value for key, value in saved.items() if value[0] is thing})
        one.put_back()

    def put_back(self) -> None:
        """All objects as they were before the execution."""
        for (_, name), (thing, value) in self.natives.items():
            if value is not MISSING:
                setattr(thing, name, value)
        changes = self.changes
        self.changes, self.natives = {}, {}
        for (_, name), (thing, value) in changes.items():
            if name:
                put_back_field(thing, name, value)
            elif isinstance(value, SavedItems):
                value.put_back(thing)
            elif shape_of(type(thing)) != NO_CONTAINER:
                put_back_contents(thing, value)
            elif not put_back_state(thing, value):
                self.lost.append(thing)


def put_back_field(thing: object, name: str, value: object) -> None:
    if type(thing) is CellType:
        if value is MISSING:
            del thing.cell_contents
        else:
            thing.cell_contents = value
    elif type(thing) is dict:
        namespace = cast(dict[str, object], thing)
        if value is MISSING:
            namespace.pop(name, None)
        else:
            namespace[name] = value
    else:
        base: Any = type if issubclass(type(thing), type) else object
        if value is not MISSING:
            base.__setattr__(thing, name, value)
        elif present_value(thing, name) is not MISSING:
            base.__delattr__(thing, name)


def put_back_contents(container: Any, items: Any) -> None:
    kind = type(container)
    shape = shape_of(kind)
    if shape == KEYED:
        base: Any = OrderedDict if isinstance(container, OrderedDict) else dict
        base.clear(container)
        for key, value in items:
            base.__setitem__(container, key, value)
    elif shape == ELEMENTS:
        fill_set(container, items)
    elif isinstance(container, list):
        list.__setitem__(container, slice(None), items)
    elif isinstance(container, deque):
        deque.clear(container)
        deque.extend(container, items)
    else:
        plain_type(container).__setitem__(container, slice(None), items)


def fill_set(elements: set[Any], items: list[Any]) -> None:
    """Fill a set so that it always gives its items in the same order. `pop` goes on where it left
    off, even in a set that was emptied: here it begins with the last place of an empty set."""
    set.clear(elements)
    set.add(elements, 7)
    set.pop(elements)
    set.update(elements, items)


def plain_type(container: object) -> Any:
    """The type whose methods work on the items of a container, and run no code of its class."""
    for kind in (OrderedDict, dict, list, bytearray, array):
        if isinstance(container, kind):
            return kind
    return type(container)


def whole_of(container: Any) -> object:
    """A copy of all items. Numbers stay as small as they are."""
    if isinstance(container, dict):
        return list(dict.items(container))
    if isinstance(container, (bytearray, array)):
        return plain_type(container).__getitem__(container, slice(None))
    return plain_items(container)

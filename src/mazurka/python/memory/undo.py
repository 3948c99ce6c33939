"""What executions change of objects that outlive them is put back."""

from array import array
from collections import OrderedDict, deque
from types import CellType
from typing import Any, cast

from mazurka.python.memory.shapes import (
    ELEMENTS,
    INDEXED,
    KEYED,
    MISSING,
    plain_items,
    present_value,
    shape_of,
)


class Undo:
    """What objects were before the running execution changed them."""

    def __init__(self) -> None:
        # By address and attribute, "" for the items.
        self.changes: dict[tuple[int, str], tuple[object, object]] = {}

    def save_field(self, thing: object, name: str) -> None:
        """An attribute is about to be changed."""
        key = (id(thing), name)
        if key not in self.changes:
            self.changes[key] = (thing, present_value(thing, name))

    def save_contents(self, container: object) -> None:
        """The items of a container are about to be changed."""
        key = (id(container), "")
        if key in self.changes:
            return
        if shape_of(type(container)) == KEYED:
            items: object = list(dict.items(cast(dict[object, object], container)))
        else:
            items = plain_items(container)
        self.changes[key] = (container, items)

    def put_back(self) -> None:
        """All objects as they were before the execution."""
        changes = self.changes
        self.changes = {}
        for (_, name), (thing, value) in changes.items():
            if name:
                put_back_field(thing, name, value)
            else:
                put_back_contents(cast(Any, thing), cast(list[Any], value))


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


def put_back_contents(container: Any, items: list[Any]) -> None:
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
        container[:] = type(container)(items) if shape != INDEXED else rebuilt(container, items)


def fill_set(elements: set[Any], items: list[Any]) -> None:
    """Fill a set so that it always gives its items in the same order. `pop` goes on where it left
    off, even in a set that was emptied: here it begins with the last place of an empty set."""
    set.clear(elements)
    set.add(elements, 7)
    set.pop(elements)
    set.update(elements, items)


def rebuilt(container: Any, items: list[Any]) -> Any:
    if isinstance(container, array):
        return array(container.typecode, items)
    return bytearray(items)

"""Accesses to the items of lists, dicts, sets and the like, as rewritten code makes them.

Each of these waits for its turn, then does what Python would do, all in one step. Classes of the
user's that implement the same protocols, or override them, run their own rewritten code.
"""

import gc
import operator
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from types import GeneratorType
from typing import Any, Final, cast

from mazurka.engine.operation import (
    APPEND,
    CHANGE_WHOLE,
    INDEX_READ,
    INDEX_SET,
    ITEM_DELETE,
    ITEM_INSERT,
    ITEM_READ,
    ITEM_SET,
    LENGTH,
    READ_WHOLE,
    TAKE,
)
from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import read, write
from mazurka.python.memory.cells import Contents
from mazurka.python.memory.identities import ABSTRACT
from mazurka.python.memory.shapes import (
    ATOMS,
    ELEMENTS,
    INDEXED,
    KEYED,
    MISSING,
    NO_CONTAINER,
    WHOLE,
    shape_of,
)
from mazurka.python.operations import NO_VIEW, footprint

VIEWS: Final[dict[type, str]] = {  # and what gives them
    type(getattr(kind(), name)()): name
    for kind in (dict, OrderedDict)
    for name in ("keys", "values", "items")
}
INSTANT: Final = {list, set, dict, int, float, str, tuple, bytes, bool, deque}  # made in no time
LIBRARY: Final = ("builtins", "collections", "array")
SHOWN_BY: Final = ("__iter__", "__repr__", "__str__", "__format__", "__eq__", "__lt__")


def is_own(kind: type, name: str) -> bool:
    """Whether a user's class overrides a method of a container."""
    known = RUNNING.check.types.own
    names = known.get(kind)
    if names is None:
        names = {}
        known[kind] = names
    own = names.get(name)
    if own is None:
        own = False
        for base in kind.__mro__:
            if name in base.__dict__:
                own = base.__module__ not in LIBRARY
                break
        names[name] = own
    return own


def is_symbolic(value: object) -> bool:
    return type(value).__module__ == "mazurka.python.symbolic.values"


def is_modelled(kind: type, name: str) -> bool:
    """Whether a method works on the items of a container as the built-in one does."""
    return shape_of(kind) != NO_CONTAINER and not is_own(kind, name)


def use_opaque(thing: object, name: str) -> None:
    """An operator is applied to an object whose class is neither rewritten nor modelled: it may
    change all of the object."""
    objects = RUNNING.check.objects
    kind = type(thing)
    if kind in ATOMS or kind in VIEWS or not objects.is_opaque(thing):
        return
    for base in kind.__mro__:
        if name in base.__dict__:
            is_abstract = base.__module__ in ABSTRACT and base is not memoryview
            if not objects.is_seen(base) and not is_abstract:
                objects.note_opaque(f"{base.__module__}.{base.__qualname__}.{name}", thing)
                change_all(thing)
            return


def note_generator(thing: object) -> None:
    """Two threads that take from one generator may get in each other's way; this is not seen."""
    objects = RUNNING.check.objects
    if type(thing) is GeneratorType and objects.is_shared(thing):
        objects.note_opaque("taking from a generator", thing)


def note_taking(kind: type) -> None:
    """What is taken from an iterator is gone from it."""
    if hasattr(kind, "__next__"):
        RUNNING.check.runtime.note_change()


# One step on a container


def announce(kind: int, contents: Contents, item: int, key: object) -> None:
    runtime = RUNNING.check.runtime
    watcher = runtime.race_detector
    if watcher is not None:
        depends = kind < READ_WHOLE or kind == TAKE
        view = contents.look(kind, item, key) if depends else NO_VIEW
        runtime.watch(watcher, contents, footprint(kind, item, view))
    elif not runtime.repeats_on(kind, contents, item):
        runtime.perform(kind, contents, item, key)


def read_all(container: object) -> None:
    note_whole(container)
    contents = RUNNING.check.objects.contents_of(container)
    if contents is not None:
        announce(READ_WHOLE, contents, -1, None)


def note_whole(container: object) -> None:
    """What is done to all attributes of an object at once cannot be told for each of them."""
    objects = RUNNING.check.objects
    instance = objects.instance_with(container) if objects.dicts else None
    if instance is not None:
        objects.note_opaque("the use of __dict__ as a whole", instance)


def change_all(container: object) -> None:
    check = RUNNING.check
    objects = check.objects
    note_whole(container)
    contents = objects.contents_of(container)
    if contents is None:
        check.runtime.note_change()
    else:
        announce(CHANGE_WHOLE, contents, -1, None)
        objects.save_contents(container)


def read_length(container: object) -> None:
    contents = RUNNING.check.objects.contents_of(container)
    if contents is not None:
        announce(LENGTH, contents, -1, None)


def read_item(container: object, key: object) -> None:
    objects = RUNNING.check.objects
    if objects.dicts and type(key) is str:
        instance = objects.instance_with(container)
        if instance is not None:
            read(instance, key)
            return
    contents = objects.contents_of(container)
    if contents is None:
        return
    if contents.shape == INDEXED:
        if type(key) is int and key >= 0:
            announce(INDEX_READ, contents, key, key)
        else:
            announce(READ_WHOLE, contents, -1, None)
        return
    number = -1 if contents.shape == WHOLE else contents.number_of(key)
    announce(ITEM_READ if number >= 0 else READ_WHOLE, contents, number, key)


def change_item(kind: int, container: object, key: object, value: object) -> None:
    """Set, insert or delete an item by its key."""
    check = RUNNING.check
    objects = check.objects
    runtime = check.runtime
    if objects.dicts and type(key) is str:
        instance = objects.instance_with(container)
        if instance is not None:
            write(instance, key, MISSING if kind == ITEM_DELETE else value)
            return
    contents = objects.contents_of(container)
    if contents is None:
        runtime.note_change()
        return
    objects.share(key, "")
    objects.share(value, label_of(contents))
    if contents.shape == INDEXED:
        if kind == ITEM_SET and type(key) is int and key >= 0:
            announce(INDEX_SET, contents, key, key)
            runtime.note_stored(value)
        else:
            announce(CHANGE_WHOLE, contents, -1, None)
    else:
        number = -1 if contents.shape == WHOLE else contents.number_of(key)
        announce(kind if number >= 0 else CHANGE_WHOLE, contents, number, key)
        runtime.note_stored(value)
    objects.save_contents(container)


def label_of(contents: Contents) -> str:
    """What people call a container, and hence what is in it."""
    return "" if contents.known is None else contents.known.label or ""


# Items


def certain(key: Any) -> Any:
    """A key or index before anything is done with it: one that is symbolic gets a certain value,
    which takes steps of its own."""
    return key.certain() if is_symbolic(key) else key


def load_item(container: Any, key: object) -> object:
    if RUNNING.check.runtime.is_elsewhere():
        return container[key]
    key = certain(key)
    if not is_modelled(type(container), "__getitem__"):
        use_opaque(container, "__getitem__")
        return container[key]
    if isinstance(container, defaultdict):
        return load_default(container, key)
    read_item(container, key)
    return container[key]


def load_default(container: "defaultdict[object, object]", key: object) -> object:
    if container.default_factory in INSTANT:  # what Python does without letting go of its lock
        change_item(ITEM_INSERT, container, key, None)
        value = container[key]
        give(container, (value,))
        return value
    read_item(container, key)
    return container[key] if dict.__contains__(container, key) else missing_item(container, key)


def missing_item(container: "defaultdict[object, object]", key: object) -> object:
    """A defaultdict calls its factory, which may take its time, and then stores the item."""
    if container.default_factory is None or is_own(type(container), "__missing__"):
        return container[key]
    value = container.default_factory()
    store_item(container, key, value)
    return value


def store_item(container: Any, key: object, value: object) -> None:
    runtime = RUNNING.check.runtime
    if not runtime.is_elsewhere():
        key = certain(key)
        if is_modelled(type(container), "__setitem__"):
            if type(key) is slice:
                value = items_of(value)
            change_item(ITEM_SET, container, key, value)
        else:
            runtime.note_change()
            use_opaque(container, "__setitem__")
    container[key] = value


def delete_item(container: Any, key: object) -> None:
    runtime = RUNNING.check.runtime
    if not runtime.is_elsewhere():
        key = certain(key)
        if is_modelled(type(container), "__delitem__"):
            change_item(ITEM_DELETE, container, key, None)
        else:
            runtime.note_change()
            use_opaque(container, "__delitem__")
    del container[key]


def contains(item: object, container: Any) -> bool:
    runtime = RUNNING.check.runtime
    if not runtime.is_elsewhere():
        kind = type(container)
        if is_modelled(kind, "__contains__"):
            shape = shape_of(kind)
            if shape == KEYED or shape == ELEMENTS:
                item = certain(item)
                read_item(container, item)
            else:
                container = stable(container)
                item = stable(item)
        elif kind in VIEWS:
            owner = owner_of(container)
            if VIEWS[kind] == "keys":
                item = certain(item)
                read_item(owner, item)
            else:
                read_all(owner)
        else:
            if hasattr(kind, "__next__"):  # it is looked through, up to the item
                runtime.note_change()
            use_opaque(container, "__contains__")
    return item in container


def owner_of(view: object) -> object:
    """The dict that a view of keys, values or items shows."""
    return gc.get_referents(view)[0]


# The whole


def length(container: Any) -> int:
    if not RUNNING.check.runtime.is_elsewhere():
        if is_modelled(type(container), "__len__"):
            read_length(container)
        elif type(container) in VIEWS:
            read_length(owner_of(container))
        else:
            use_opaque(container, "__len__")
    return len(container)


def truth(value: Any) -> bool:
    if value is True or value is False:
        return value is True
    return bool(operand(value))


def operand(value: Any) -> Any:
    """What is asked next whether it is true."""
    if not RUNNING.check.runtime.is_elsewhere() and type(value) not in ATOMS:
        kind = type(value)
        if is_modelled(kind, "__len__") and not is_own(kind, "__bool__"):
            read_length(value)
        elif kind in VIEWS:
            read_length(owner_of(value))
    return value


def stable(value: Any) -> Any:
    """A value that nobody changes from now on: containers are read and copied, with all in them."""
    return copied(value, stable)


def shown(value: Any) -> Any:
    """The same for a value whose text is asked for. The text of the user's own objects in it is
    made by their code, in turn with the reading of the rest."""
    return copied(value, shown_part)


def shown_part(value: Any) -> Any:
    copy = shown(value)
    return (
        Text(repr(value)) if copy is value and RUNNING.check.objects.is_seen(type(value)) else copy
    )


class Text:
    """Stands for an object that was shown already."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def copied(value: Any, part_of: Callable[[Any], Any]) -> Any:
    """A copy of a container, with something else for each of its parts."""
    kind = type(value)
    if kind in ATOMS:
        return value
    if kind is tuple:
        parts = [part_of(part) for part in value]
        same = all(part is old for part, old in zip(parts, value, strict=True))
        return value if same else tuple(parts)
    if kind in VIEWS:
        return getattr(copied(owner_of(value), part_of), VIEWS[kind])()
    shape = shape_of(kind)
    if shape == NO_CONTAINER or any(is_own(kind, name) for name in SHOWN_BY):
        return value
    read_all(value)
    return copy_of(value, shape, part_of)


def copy_of(value: Any, shape: int, part_of: Callable[[Any], Any]) -> Any:
    """A copy of a container that was just read; what is in it is read next."""
    if type(value) is deque:
        return deque([part_of(part) for part in list(value)], value.maxlen)
    copy = shallow_copy(value)
    if shape == KEYED:
        for key, part in list(dict.items(copy)):
            dict.__setitem__(copy, key, part_of(part))
    elif isinstance(copy, list):
        copy[:] = [part_of(part) for part in list(copy)]
    return copy


def shallow_copy(value: Any) -> Any:
    return value.__copy__() if hasattr(value, "__copy__") else value.copy()


def items_of(value: Any) -> Any:
    """What is put into a container together: items that are read or made now, one after the other,
    and then put in at once."""
    kind = type(value)
    if kind in VIEWS:
        read_all(owner_of(value))
        return list(value)
    if shape_of(kind) != NO_CONTAINER and not is_own(kind, "__iter__"):
        read_all(value)
        return shallow_copy(value)
    if not isinstance(value, Iterator):
        return value
    RUNNING.check.runtime.note_change()
    return list(value)


def pairs_of(value: Any) -> Any:
    """What a dict is made from or updated with: another one, or pairs, which may be lists."""
    items = items_of(value)
    if type(value) in VIEWS or shape_of(type(value)) in (INDEXED, WHOLE):
        return [items_of(pair) for pair in items]
    return items


def text(value: object) -> object:
    """What is to be formatted."""
    if RUNNING.check.runtime.is_elsewhere() or type(value) in ATOMS:
        return value
    return shown(value)


def unpack(value: object) -> object:
    """What is to be unpacked: the items as they are now."""
    if RUNNING.check.runtime.is_elsewhere():
        return value
    kind = type(value)
    if kind in VIEWS:
        read_all(owner_of(value))
        return tuple(cast(Any, value))
    shape = shape_of(kind)
    if shape == NO_CONTAINER or is_own(kind, "__iter__"):
        note_taking(kind)
        return value
    read_all(value)
    return dict(cast(Any, value)) if shape == KEYED else tuple(cast(Any, value))


def compare(function: Callable[[Any, Any], object], one: object, other: object) -> object:
    if RUNNING.check.runtime.is_elsewhere() or type(one) in ATOMS or type(other) in ATOMS:
        return function(one, other)
    return function(stable(one), stable(other))


IN_PLACE: Final = {
    operator.iadd, operator.isub, operator.imul, operator.ior, operator.iand, operator.ixor,
}  # fmt: skip


def operate(function: Callable[[Any, Any], object], one: object, other: object) -> object:
    runtime = RUNNING.check.runtime
    if runtime.is_elsewhere() or (type(one) in ATOMS and type(other) in ATOMS):
        return function(one, other)
    kind = type(one)
    if kind is str or kind is bytes:
        return function(one, stable(other))
    if shape_of(kind) == NO_CONTAINER:
        if function.__name__.startswith("i"):  # an object of C may change in place
            runtime.note_change()
        return function(one, items_of(other) if shape_of(type(other)) != NO_CONTAINER else other)
    if is_own(kind, f"__{function.__name__}__"):
        return function(one, other)
    other = items_of(other)
    if function not in IN_PLACE:
        return function(items_of(one), other)
    give(one, (other,))
    change_all(one)
    return function(one, other)


def give(container: object, things: tuple[object, ...]) -> None:
    """What is put into a container is shared if that is."""
    objects = RUNNING.check.objects
    contents = objects.contents_of(container)
    if contents is not None:
        objects.share(things, label_of(contents))


# Iteration


class IndexIterator:
    """Goes through a list, one step for each item; it sees what is appended meanwhile."""

    def __init__(self, container: Any) -> None:
        self.container = container
        self.index = 0

    def __iter__(self) -> "IndexIterator":
        return self

    def __next__(self) -> object:
        container = self.container
        if container is None:
            raise StopIteration
        if not RUNNING.check.runtime.is_elsewhere():
            read_item(container, self.index)
        if self.index >= len(container):
            self.container = None
            raise StopIteration
        item = container[self.index]
        self.index += 1
        return item


class ReverseIterator:
    """Goes through a list backwards from what is its end at the beginning."""

    def __init__(self, container: Any) -> None:
        self.container = container
        self.index = length(container) - 1

    def __iter__(self) -> "ReverseIterator":
        return self

    def __next__(self) -> object:
        container = self.container
        if self.index < 0:
            raise StopIteration
        if not RUNNING.check.runtime.is_elsewhere():
            read_item(container, self.index)
        if self.index >= len(container):
            self.index = -1
            raise StopIteration
        item = container[self.index]
        self.index -= 1
        return item


class StepwiseIterator:
    """Goes through a dict, set, deque or view; each step looks at it before it takes the next, and
    so does the beginning: from then on Python minds what is put in or taken out."""

    def __init__(self, owner: object, look: Callable[[object], None], items: Any) -> None:
        self.owner = owner
        self.look = look
        look(owner)
        self.items: Iterator[Any] = iter(items)

    def __iter__(self) -> "StepwiseIterator":
        return self

    def __next__(self) -> object:
        if not RUNNING.check.runtime.is_elsewhere():
            self.look(self.owner)
        return next(self.items)


def iterate(value: Any) -> Any:
    """What a loop goes through."""
    if RUNNING.check.runtime.is_elsewhere():
        return value
    kind = type(value)
    if kind in VIEWS:
        look = read_length if VIEWS[kind] == "keys" else read_all
        return StepwiseIterator(owner_of(value), look, value)
    shape = shape_of(kind)
    if shape == NO_CONTAINER or is_own(kind, "__iter__"):
        use_opaque(value, "__iter__")
        note_generator(value)
        note_taking(kind)
        return value
    if shape == INDEXED:
        return IndexIterator(value)
    return StepwiseIterator(value, read_all if shape == WHOLE else read_length, value)


# Methods

READING: Final = {
    "copy", "count", "index", "union", "intersection", "difference", "symmetric_difference",
    "issubset", "issuperset", "isdisjoint", "most_common", "elements", "total", "tobytes", "tolist",
    "decode", "hex", "find", "rfind", "startswith", "endswith", "split", "buffer_info",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__str__", "__or__",
    "__and__", "__sub__", "__xor__", "__add__", "__mul__", "__ror__", "__copy__", "__reversed__",
    "__format__", "__contains__",
}  # fmt: skip
UNSEEN: Final = {"keys", "values", "items", "__class__", "__sizeof__", "__hash__"}
BY_KEY: Final = {
    "get": ITEM_READ, "__contains__": ITEM_READ, "setdefault": ITEM_INSERT, "pop": ITEM_DELETE,
    "add": ITEM_INSERT, "discard": ITEM_DELETE, "remove": ITEM_DELETE,
}  # fmt: skip
SPECIAL: Final[dict[str, Callable[..., object]]] = {
    "__getitem__": load_item,
    "__setitem__": store_item,
    "__delitem__": delete_item,
    "__len__": length,
    "__iter__": iterate,
}


TAKING: Final = {"pop", "popleft"}
FINDING: Final = {"count", "index", "remove"}
TAKING_ITEMS: Final = {
    "extend", "extendleft", "update", "intersection_update", "difference_update", "subtract",
    "symmetric_difference_update", "union", "intersection", "difference", "symmetric_difference",
    "issubset", "issuperset", "isdisjoint", "__eq__", "__ne__", "__add__", "__or__", "__iadd__",
    "__ior__", "__and__", "__sub__", "__xor__", "fromlist",
}  # fmt: skip


def call_method(function: Callable[..., Any], *arguments: Any, **named: Any) -> object:
    """Call a bound method of a container."""
    objects = RUNNING.check.objects
    container = cast(Any, function).__self__
    name = cast(Any, function).__name__
    if name in SPECIAL:
        if is_own(type(container), name):
            announce_special(container, name, arguments)
            return function(*arguments)
        return SPECIAL[name](container, *arguments)
    shape = shape_of(type(container))
    is_sequence = shape == INDEXED or shape == WHOLE
    if is_sequence and name in FINDING and arguments:
        if type(arguments[0]) not in ATOMS or has_symbolic(container):
            return find(container, name, arguments)
    elif RUNNING.check.path is not None and not is_sequence:
        arguments = tuple([certain(argument) for argument in arguments[:1]]) + arguments[1:]
    if name == "update" and shape == KEYED:
        arguments = tuple([pairs_of(argument) for argument in arguments])
        if objects.dicts and objects.instance_with(container) is not None:
            update_attributes(container, dict(*arguments, **named))
            return None
    elif name in TAKING_ITEMS:
        arguments = tuple([items_of(argument) for argument in arguments])
    give(container, arguments)
    give(container, tuple(named.values()))
    announce_method(container, name, arguments)
    return function(*arguments, **named)


def update_attributes(own: dict[object, object], new: dict[object, object]) -> None:
    """`thing.__dict__.update(...)`: one attribute after the other."""
    for key, value in new.items():
        change_item(ITEM_SET, own, key, value)
        own[key] = value


def has_symbolic(container: Any) -> bool:
    return RUNNING.check.path is not None and any(is_symbolic(item) for item in list(container))


def announce_special(container: object, name: str, arguments: tuple[object, ...]) -> None:
    """A class that overrides a special method calls the one that it has overridden."""
    if name == "__getitem__":
        read_item(container, arguments[0])
    elif name == "__setitem__":
        change_item(ITEM_SET, container, arguments[0], arguments[1])
    elif name == "__delitem__":
        change_item(ITEM_DELETE, container, arguments[0], None)
    elif name == "__len__":
        read_length(container)
    else:
        read_all(container)


def find(container: Any, name: str, arguments: tuple[Any, ...]) -> object:
    """Look for something with parts, which is compared with the items of a list or deque."""
    read_all(container)
    items = list(container)
    sought, *bounds = arguments
    known = [sought if item is sought else stable(item) for item in items]
    if name != "remove":
        return getattr(known, name)(stable(sought), *bounds)
    place = known.index(stable(sought))
    change_all(container)
    if place < len(container) and container[place] is items[place]:
        del container[place]
    else:
        container.remove(sought)
    return None


def announce_method(container: object, name: str, arguments: tuple[object, ...]) -> None:
    check = RUNNING.check
    objects = check.objects
    contents = objects.contents_of(container)
    if contents is None:
        if name not in READING and name not in UNSEEN and BY_KEY.get(name, 0) != ITEM_READ:
            check.runtime.note_change()
        return
    shape = contents.shape
    by_key = BY_KEY.get(name, 0) if shape == KEYED or shape == ELEMENTS else 0
    if by_key and arguments:
        if by_key == ITEM_READ:
            read_item(container, arguments[0])
        else:
            change_item(by_key, container, arguments[0], None)
    elif name == "append" and shape == INDEXED:
        announce(APPEND, contents, -1, None)
        objects.save_contents(container)
    elif name in TAKING and (shape == INDEXED or shape == WHOLE):
        announce(TAKE, contents, -1, None)
        objects.save_contents(container)
    elif name in READING:
        read_all(container)
    elif name not in UNSEEN:
        change_all(container)

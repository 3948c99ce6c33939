"""Accesses to the items of lists, dicts, sets and the like, as rewritten code makes them.

Each of these waits for its turn, then does what Python would do, all in one step. Classes of the
user's that implement the same protocols, or override them, run their own rewritten code.
"""

import csv
import gc
import itertools
import operator
import sys
from array import array
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType, GeneratorType, MappingProxyType, MethodType, SimpleNamespace
from typing import Any, Final, cast

from mazurka.engine.operation import (
    APPEND,
    AWAIT_EXCHANGE,
    CHANGE_WHOLE,
    INDEX_READ,
    INDEX_SET,
    ITEM_DELETE,
    ITEM_INSERT,
    ITEM_READ,
    ITEM_SET,
    LENGTH,
    READ_WHOLE,
    STORE,
    TAKE,
)
from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import read, write
from mazurka.python.memory.cells import Contents, Turn
from mazurka.python.memory.file_system import KINDS, use_file
from mazurka.python.memory.identities import all_of
from mazurka.python.memory.quiet import are_coded, at_once, is_coded, quietly
from mazurka.python.memory.shapes import (
    ATOMS,
    ELEMENTS,
    FACTORY,
    INDEXED,
    KEYED,
    MISSING,
    NO_CONTAINER,
    NUMBERS,
    WHOLE,
    is_coarse,
    is_known,
    module_of,
    own_dict,
    plain_item,
    plain_items,
    plain_length,
    shape_of,
)
from mazurka.python.memory.uses import note_use
from mazurka.python.operations import NO_VIEW, footprint
from mazurka.python.primitives.counters import Count
from mazurka.python.words import show_found

VIEWS: Final[dict[type, str]] = {  # and what gives them
    type(getattr(kind(), name)()): name
    for kind in (dict, OrderedDict)
    for name in ("keys", "values", "items")
}
INSTANT: Final = {list, set, dict, int, float, str, tuple, bytes, bool, deque}  # made in no time
LIBRARY: Final = ("builtins", "collections", "array", "types")
CODED_BY: Final = (
    "__repr__", "__str__", "__format__", "__eq__", "__lt__", "__gt__", "__bool__", "__add__",
)  # fmt: skip
# Methods by which a class itself says how it is shown, compared, or made JSON from.
SHOWN_BY: Final = ("__iter__", "__repr__", "__str__", "__format__")
COMPARED_BY: Final = ("__iter__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
ENCODED_BY: Final = ("__iter__", "items")


def is_own(kind: type, name: str) -> bool:
    """Whether a class overrides a method of a container, in Python."""
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
                method = base.__dict__[name]
                own = type(method) is FunctionType or module_of(base) not in LIBRARY
                break
        names[name] = own
    return own


def is_symbolic(value: object) -> bool:
    return module_of(type(value)) == "mazurka.python.symbolic.values"


def is_modelled(kind: type, name: str) -> bool:
    """Whether a method works on the items of a container as the built-in one does."""
    return shape_of(kind) != NO_CONTAINER and not is_own(kind, name)


def use_opaque(thing: object, name: str) -> None:
    """An operator is applied to an object whose class is neither rewritten nor modelled: it may
    change all of the object, and what else it does is not seen."""
    objects = RUNNING.check.objects
    kind = type(thing)
    if kind is memoryview:
        use_memory(thing, name)
    if kind in ATOMS or not objects.is_opaque(thing) or is_known(kind):
        return
    for base in kind.__mro__:
        if name in base.__dict__:
            if base is not object and not objects.is_seen(base):
                objects.note_opaque(f"{base.__qualname__}.{name}", thing)
                change_all(thing)
            return


def memory_of(view: Any) -> Any:
    """The object whose memory a memoryview shows; None if it was released."""
    try:
        return view.obj
    except ValueError:
        return None


def use_memory(view: object, name: str) -> None:
    """An operator is applied to a memoryview: what it shows is read or changed, in one step."""
    owner = memory_of(view)
    if shape_of(type(owner)) == NO_CONTAINER:
        use_opaque(owner, "__init__")
    elif name == "__setitem__":
        change_all(owner)
    else:
        read_all(owner)


# What is taken from iterators


def take_from(iterator: object) -> None:
    """What is taken from an iterator is gone from it. Those that are modelled say so themselves,
    those of classes that are rewritten run their own code; what others do is not seen."""
    check = RUNNING.check
    objects = check.objects
    kind = type(iterator)
    check.runtime.note_change()
    if isinstance(iterator, ItemIterator) or kind in ATOMS or objects.is_seen(kind):
        return
    if kind in KINDS:
        use_file(iterator)
    is_silent = False  # if other threads take from it, too, they notice by its record
    if kind is not GeneratorType:
        is_silent = objects.record_of(iterator).sources is None and not is_coarse(kind)
    if objects.is_shared(iterator):
        if not is_coarse(kind):
            objects.note_opaque(f"taking from a {kind.__name__}", iterator)
        change_all(iterator)
    elif is_silent:
        tell_of_held(iterator)


def tell_of_held(iterator: object) -> None:
    """An iterator of C that nobody else has goes without a word through what threads may share."""
    objects = RUNNING.check.objects
    waiting: list[Any] = [iterator]
    for each in waiting:  # which grows
        kind = type(each)
        is_container = shape_of(kind) != NO_CONTAINER
        if is_container and objects.contents_of(each) is not None:
            objects.note_opaque(f"taking from a {type(iterator).__name__}", each)
            read_all(each)
        elif len(waiting) < MOST_HELD and (hasattr(kind, "__next__") or kind in HOLDING):
            waiting.extend(gc.get_referents(each))


HOLDING: Final[set[type]] = {tuple, vars(itertools)["_tee_dataobject"]}
MOST_HELD: Final = 50


def turn_for(iterator: object) -> Turn | None:
    """The same for an iterator that takes its items from others, which are steps of their own, but
    lets one thread at a time do so: gives what it has waited for, and is to give back then."""
    check = RUNNING.check
    is_shared_mover = type(iterator) in MOVERS and check.objects.is_shared(iterator)
    if is_shared_mover and is_closed(iterator):
        return own_turn(iterator)
    take_from(iterator)
    return None


def own_turn(iterator: object) -> Turn | None:
    """Wait until this thread may take from an iterator; None if nobody else does."""
    check = RUNNING.check
    objects = check.objects
    runtime = check.runtime
    runtime.note_change()
    turn = objects.turn_of(iterator)
    thread = runtime.current
    if turn is None or thread is None:
        note_use_of_items("write", iterator)
        return None
    is_watched = runtime.race_detector is not None  # there are no steps then
    if is_watched:
        contents = objects.contents_of(iterator)
        if contents is not None:
            announce(CHANGE_WHOLE, contents, -1, None)
    else:
        runtime.perform(AWAIT_EXCHANGE, turn, is_free, thread.id)
    if not isinstance(iterator, ItemIterator):  # which is never there before the execution
        objects.save_contents(iterator)
    return None if is_watched else turn


def is_free(holder: object) -> bool:
    return holder is None


def give_back(turn: Turn | None) -> None:
    if turn is not None:
        RUNNING.check.runtime.perform(STORE, turn, None, None)


def next_of(iterator: Any, *default: Any) -> object:
    """The next item of an iterator that threads may share."""
    turn = turn_for(iterator)
    try:
        return next(iterator, *default)
    finally:
        give_back(turn)


# Iterators of C that only hand items on: they do not look at them, and call nothing but the
# iterators from which they take them.
MOVERS: Final[set[type]] = {
    enumerate, zip, itertools.chain, itertools.islice, itertools.cycle, itertools.repeat,
    itertools.pairwise, itertools.product, itertools.permutations, itertools.combinations,
    itertools.combinations_with_replacement, itertools.zip_longest, type(csv.reader([])),
    vars(itertools).get("batched", enumerate),
}  # fmt: skip


def is_closed(iterator: object) -> bool:
    """Whether nobody's code runs when something is taken from an iterator, or from those from which
    it takes."""
    sources = RUNNING.check.objects.record_of(iterator).sources
    return sources is not None and all(is_closed_source(each) for each in sources)


def is_closed_source(source: Any) -> bool:
    kind = type(source)
    if kind is Taking:
        return is_closed_source(source.items)
    if kind in MOVERS:
        return is_closed(source)
    is_modelled_source = isinstance(source, ItemIterator | Count)
    return is_modelled_source or is_coarse(kind) or kind in SEQUENCES


SEQUENCES: Final = {str, bytes, tuple, range}  # an iterator of C goes through one on its own


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


# Said with a read by an iterator: what it gives next depends on more than on what is there.
BY_AN_ITERATOR: Final = object()


def read_all(container: object, how: object = None) -> None:
    if note_whole(container):
        return
    contents = RUNNING.check.objects.contents_of(container)
    if contents is not None:
        announce(READ_WHOLE, contents, -1, how)
    else:
        note_use_of_items("read", container)


def note_use_of_items(verb: str, container: object, key: object = MISSING) -> None:
    """A thread reads or writes what is in a container of its own: all of it, or what a key has."""
    if RUNNING.check.runtime.journal is not None:
        is_keyed = key is not MISSING and shape_of(type(container)) == KEYED
        note_use(verb, container, f"[{show_found(key)}]" if is_keyed else "", None, "")


def note_whole(container: object) -> bool:
    """Whether what is done to a container is done to all attributes of an object at once, which
    cannot be told for each of them. (Who wraps a function copies all of its attributes, which
    hardly anybody changes.)"""
    objects = RUNNING.check.objects
    instance = objects.instance_with(container) if objects.dicts else None
    if instance is None:
        return False
    if issubclass(type(instance), type):  # many look at all of a class, but who changes one?
        is_news = objects.is_changed_in_classes(all_of(cast(type, instance)))
    else:
        is_news = type(instance) is not FunctionType and not is_model(type(instance))
    if is_news:
        objects.note_opaque("the use of __dict__ as a whole", instance)
    return True


def is_model(kind: type) -> bool:
    """Whether a class is one of ours: that of `threading.local` for example, whose attributes
    belong to one thread each."""
    return any(module_of(base).startswith("mazurka.") for base in kind.__mro__)


def change_all(container: object) -> None:
    check = RUNNING.check
    objects = check.objects
    contents = None if note_whole(container) else objects.contents_of(container)
    if contents is None:
        check.runtime.note_change()
        objects.save_own_contents(container)
        note_use_of_items("write", container)
    else:
        announce(CHANGE_WHOLE, contents, -1, None)
        objects.save_contents(container)


def read_length(container: object, how: object = None) -> None:
    if note_whole(container):
        return
    contents = RUNNING.check.objects.contents_of(container)
    if contents is not None:
        announce(LENGTH, contents, -1, how)
    else:
        note_use_of_items("read", container)


def read_item(container: object, key: object) -> None:
    objects = RUNNING.check.objects
    if objects.dicts and type(key) is str:
        instance = objects.instance_with(container)
        if instance is not None:
            read(instance, key)
            return
    contents = objects.contents_of(container)
    if contents is None:
        note_use_of_items("read", container, key)
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
        save_changed(container, kind, key)
        note_use_of_items("write", container, key)
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
    save_changed(container, kind, key)


def save_changed(container: object, kind: int, key: object) -> None:
    """An item is about to be set, inserted or deleted: save it, or all if their order changes."""
    objects = RUNNING.check.objects
    shape = shape_of(type(container))
    by_index = shape == INDEXED and type(key) is int and key >= 0
    if kind != ITEM_DELETE and (by_index or (shape == KEYED and type(key) in ATOMS)):
        objects.save_item(container, key)
    else:
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
        if type(container) is MappingProxyType:
            return load_item(owner_of(container), key)
        use_opaque(container, "__getitem__")
        return container[key]
    if isinstance(container, defaultdict):
        return load_default(container, key)
    read_item(container, key)
    return at_once(operator.getitem, container, key)


def load_default(container: "defaultdict[object, object]", key: object) -> object:
    factory = container.default_factory
    # What Python does without letting go of its lock. (Other things may have hashes of their own.)
    if type(factory) is type and factory in INSTANT:
        change_item(ITEM_INSERT, container, key, None)
        value = at_once(operator.getitem, container, key)
        give(container, (value,))
        return value
    read_item(container, key)
    is_there = at_once(dict.__contains__, container, key)
    return at_once(operator.getitem, container, key) if is_there else missing_item(container, key)


def missing_item(container: "defaultdict[object, object]", key: object) -> object:
    """A defaultdict calls its factory, which may take its time, and then stores the item."""
    if container.default_factory is None or is_own(type(container), "__missing__"):
        return container[key]
    value = RUNNING.check.runtime.callee(container.default_factory)()
    store_item(container, key, value)
    return value


def store_item(container: Any, key: object, value: object) -> None:
    runtime = RUNNING.check.runtime
    if not runtime.is_elsewhere():
        key = certain(key)
        if is_modelled(type(container), "__setitem__"):
            if type(key) is slice:
                value = in_order(value)
            change_item(ITEM_SET, container, key, value)
        else:
            runtime.note_change()
            use_opaque(container, "__setitem__")
        if is_coded(key) and is_modelled(type(container), "__setitem__"):
            quietly(operator.setitem, container, key, value)
            return
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
        if is_coded(key) and is_modelled(type(container), "__delitem__"):
            quietly(operator.delitem, container, key)
            return
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
                return at_once(operator.contains, container, item) is True
            return any_equal(container, item)
        if kind in VIEWS:
            owner = owner_of(container)
            if VIEWS[kind] == "keys":
                item = certain(item)
                read_item(owner, item)
                return at_once(operator.contains, container, item) is True
            read_all(owner)
            container = view_of(shallow_copy(owner), kind)
        elif kind is MappingProxyType:
            return contains(item, owner_of(container))
        elif hasattr(kind, "__next__"):  # it is looked through, up to the item
            container = taking(container)
        elif issubclass(kind, tuple) and not is_own(kind, "__contains__"):
            return in_tuple(item, container)
        else:
            use_opaque(container, "__contains__")
    return item in container


def in_tuple(item: object, items: Any) -> bool:
    """It stays the same, but what is in it may change."""
    if all(type(each) in ATOMS for each in parts_of(items)):
        return item in items
    return any_equal(items, item)


def any_equal(container: Any, item: object) -> bool:
    """Look for an item in a list, deque or tuple. If nothing but C code has a say in what is equal,
    this is one step."""
    if not runs_code(item) and not any(runs_code(each) for each in parts_of(container)):
        return stable(item) in stable(container)
    return any(are_equal(each, item) for each in iterate(container))


def are_equal(one: object, other: object) -> bool:
    return one is other or truth(compare(operator.eq, one, other))


def runs_code(item: object) -> bool:
    """Whether to compare or show an item may take steps of its own."""
    kind = type(item)
    if kind in ATOMS or not RUNNING.check.objects.is_seen(kind):
        return False
    return any(is_own(kind, name) for name in CODED_BY)


def owner_of(view: object) -> Any:
    """The dict that a view of keys, values or items shows, or what is behind a mapping proxy."""
    return gc.get_referents(view)[0]


def view_of(owner: Any, kind: type) -> Any:
    """A view of another dict, of the same kind."""
    return getattr(owner, VIEWS[kind])()


# The whole


def length(container: Any) -> int:
    if not RUNNING.check.runtime.is_elsewhere():
        if is_modelled(type(container), "__len__"):
            read_length(container)
        elif type(container) in VIEWS:
            read_length(owner_of(container))
        elif type(container) is MappingProxyType:
            return length(owner_of(container))
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
        elif kind is MappingProxyType:
            return operand(owner_of(value))
        else:
            use_opaque(value, "__bool__" if hasattr(kind, "__bool__") else "__len__")
    return value


class Use:
    """One use of a value, and of all that is in it."""

    def __init__(self, by: tuple[str, ...]) -> None:
        self.by = by  # methods of a class's own by which it is used
        # Not by identity: compiled, a constant tuple is another object wherever it is used.
        self.shows = by == SHOWN_BY
        self.compares = by == COMPARED_BY
        self.copies: dict[int, Any] = {}  # of containers, by the ids of what they are copies of
        self.coded: list[tuple[Any, list[Any]]] = []  # those for whose items Python code is run

    def note_code(self, container: Any) -> None:
        """Such code may see a container change while that is compared or shown."""
        if RUNNING.check.objects.is_shared(container) and has_code(container):
            self.coded.append((container, parts_of(container)))

    def end(self) -> None:
        """What would have been seen if others have changed such a container meanwhile is told."""
        for container, parts in self.coded:
            read_all(container)
            now = parts_of(container)
            if len(now) != len(parts) or any(map(operator.is_not, now, parts)):
                self.tell(container)

    def tell(self, container: Any) -> None:
        RUNNING.check.objects.note_opaque("code that is run for the items", container)


def stable(value: Any) -> Any:
    """A value that nobody changes from now on: containers are read and copied, with all in them."""
    use = Use(COMPARED_BY)
    copy = copied(value, use)
    for container, _ in use.coded:  # when the code is run, and what others do then, is not known
        use.tell(container)
    return copy


def encodable(value: Any) -> Any:
    """The same for what JSON is made from."""
    return copied(value, Use(ENCODED_BY))


def shown(value: Any) -> Any:
    """The same for a value whose text is asked for. The text of the user's own objects in it is
    made by their code, in turn with the reading of the rest."""
    return copied(value, Use(SHOWN_BY))


class Text:
    """Stands for an object that was shown already."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def copied(value: Any, use: Use) -> Any:
    """A copy of a container and of those in it, which may be that same one. What is shown is looked
    at wherever it is met."""
    kind = type(value)
    if kind in ATOMS:
        return value
    if kind is tuple:
        parts = [copied_part(part, use) for part in value]
        same = all(part is old for part, old in zip(parts, value, strict=True))
        return value if same else tuple(parts)
    if kind in VIEWS:
        return view_of(copied(owner_of(value), use), kind)
    if kind is MappingProxyType:
        return MappingProxyType(copied(owner_of(value), use))
    if kind is partial and use.shows:  # C shows what it holds
        parts = [copied_part(part, use) for part in value.args]
        named = {name: copied_part(part, use) for name, part in value.keywords.items()}
        return partial(value.func, *parts, **named)
    if id(value) in use.copies:
        return use.copies[id(value)]
    shape = shape_of(kind)
    if shape == NO_CONTAINER:
        use_opaque(value, "__repr__")
        if kind is memoryview and value.format == "B" and use.compares:
            return memoryview(value.tobytes())  # as it is now
        if issubclass(kind, HOLDERS) and not any(is_own(kind, name) for name in use.by):
            return copied_holder(value, use)
        return count_now(value) if kind is itertools.count else value
    if any(is_own(kind, name) for name in use.by):
        return value
    if use.shows:
        return shown_copy(value, shape, use)
    read_all(value)
    if use.compares:
        use.note_code(value)
    use.copies[id(value)] = copy = shallow_copy(value)
    copy_parts(copy, shape, use)
    return copy


# Objects of C that hold others, by which they are compared, or which are shown with them.
HOLDERS: Final = (tuple, SimpleNamespace, BaseException)
SHOWN_BY_ITEMS: Final[tuple[Any, ...]] = (BaseException.__str__, KeyError.__str__)


def copied_holder(value: Any, use: Use) -> Any:
    """The same with copies of what it holds."""
    kind = type(value)
    if issubclass(kind, tuple):
        parts = [copied_part(part, use) for part in value]
        same = all(part is old for part, old in zip(parts, value, strict=True))
        return value if same else tuple.__new__(kind, parts)
    if issubclass(kind, SimpleNamespace):
        objects = RUNNING.check.objects
        if objects.is_shared(value):
            objects.note_opaque("the use of __dict__ as a whole", value)
        use.copies[id(value)] = copy = SimpleNamespace.__new__(kind)
        held = {name: copied_part(part, use) for name, part in vars(value).items()}
        vars(copy).update(held)
        return copy
    return copied_exception(value, use) if use.shows else value


def copied_exception(error: Any, use: Use) -> Any:
    """Only what its arguments are shown by: others are compared by identity."""
    kind = type(error)
    parts = tuple([copied_part(part, use) for part in error.args])
    same = all(part is old for part, old in zip(parts, error.args, strict=True))
    if same or kind.__str__ not in SHOWN_BY_ITEMS:
        return error
    base = next(each for each in kind.__mro__ if module_of(each) == "builtins")
    copy = base.__new__(kind, *parts)
    copy.args = parts
    return copy


def shown_copy(value: Any, shape: int, use: Use) -> Any:
    """The code of something in a container may show the container again."""
    check = RUNNING.check
    thread = check.runtime.current
    key = (-1 if thread is None else thread.id, id(value))
    showing = check.objects.showing
    if key in showing:
        of_set = f"{type(value).__name__}(...)"
        return Text({KEYED: "{...}", ELEMENTS: of_set}.get(shape, "[...]"))
    showing.add(key)
    try:
        if shape == INDEXED and has_code(value):
            return [copied_part(part, use) for part in iterate(value)]
        read_all(value)
        if shape == ELEMENTS and has_code(value):
            return Text(text_of_set(value, use))
        here = Use(SHOWN_BY)
        if shape == KEYED:
            here.note_code(value)
        use.copies[id(value)] = copy = shallow_copy(value)
        copy_parts(copy, shape, use)
        del use.copies[id(value)]
        here.end()
    finally:
        showing.discard(key)
    return copy


def text_of_set(elements: Any, use: Use) -> str:
    text = repr([copied_part(part, use) for part in plain_items(elements)])[1:-1]
    kind = type(elements)
    return f"{{{text}}}" if kind is set else f"{kind.__name__}({{{text}}})"


def has_code(container: Any, depth: int = 3) -> bool:
    """Whether Python code runs for what is in a container, when that is compared or shown."""
    for part in parts_of(container):
        if runs_code(part):
            return True
        is_container = shape_of(type(part)) != NO_CONTAINER or type(part) is tuple
        if is_container and depth and has_code(part, depth - 1):
            return True
    return False


def parts_of(container: Any) -> list[Any]:
    if isinstance(container, NUMBERS):
        return []
    if shape_of(type(container)) == KEYED:
        return [*dict.keys(container), *dict.values(container)]
    return (
        list(tuple.__iter__(container)) if isinstance(container, tuple) else plain_items(container)
    )


def copied_part(part: Any, use: Use) -> Any:
    copy = copied(part, use)
    is_plain = not use.shows or copy is not part or not RUNNING.check.objects.is_seen(type(part))
    return copy if is_plain else Text(repr(part))


def copy_parts(copy: Any, shape: int, use: Use) -> None:
    """Put copies in the place of what is in a container that was just read: that is read next."""
    if shape == KEYED:
        for key, part in list(dict.items(copy)):
            new = copied_part(part, use)
            if new is not part:
                dict.__setitem__(copy, key, new)
    elif isinstance(copy, list):
        parts = [copied_part(part, use) for part in list.copy(copy)]
        list.__setitem__(copy, slice(None), parts)
    elif type(copy) is deque:
        parts = [copied_part(part, use) for part in list(copy)]
        copy.clear()
        copy.extend(parts)


def shallow_copy(value: Any) -> Any:
    """A copy without running any code of its class."""
    for base in BASES:
        if isinstance(value, base):
            break
    if type(value) is base:
        return value.__copy__() if hasattr(value, "__copy__") else value.copy()
    copy: Any = new_like(base, value)
    if isinstance(value, dict):
        for key, item in list(cast(Any, base).items(value)):
            cast(Any, base).__setitem__(copy, key, item)
    elif isinstance(value, set):
        set.update(copy, set.copy(value))
    else:
        cast(Any, base).extend(copy, plain_items(value))
    own, new = own_dict(value), own_dict(copy)
    if own and new is not None:
        new.update(own)
    return copy


BASES: Final = (defaultdict, OrderedDict, dict, list, set, deque, bytearray, array)


def new_like(base: Any, value: Any) -> Any:
    """An empty container of the class of another one."""
    if base is array:
        return array.__new__(type(value), value.typecode)
    copy = base.__new__(type(value))
    if base is deque:
        deque.__init__(copy, (), value.maxlen)
    elif base is defaultdict:
        FACTORY.__set__(copy, FACTORY.__get__(value))
    return copy


def items_of(value: Any) -> Any:
    """What is put into a container together: items that are read or made now, one after the other,
    and then put in at once."""
    kind = type(value)
    if kind in ATOMS or kind is tuple:
        return value
    if kind in VIEWS:
        read_all(owner_of(value))
        return list(value)
    if kind is MappingProxyType:
        return items_of(owner_of(value))
    if shape_of(kind) != NO_CONTAINER and not is_own(kind, "__iter__"):
        read_all(value)
        return shallow_copy(value)
    if not issubclass(kind, Iterator):
        use_opaque(value, "__iter__")
        return value
    items = taking(value)
    operator.length_hint(value)
    return [item for item in items]  # noqa: C416  (`list` would believe what was hinted at)


def in_order(value: Any) -> Any:
    """The same in the order in which a loop finds them: that of a copy of a set may be another."""
    kind = type(value)
    if shape_of(kind) != ELEMENTS or is_own(kind, "__iter__"):
        return items_of(value)
    read_all(value)
    return plain_items(value)


def pairs_of(value: Any) -> Any:
    """What a dict is made from or updated with: another one, or pairs, which may be lists."""
    kind = type(value)
    if are_hashed(value):
        return map(items_of, pairs_in(value))  # one by one
    if issubclass(kind, Iterator) and not RUNNING.check.objects.is_seen(kind):
        return pairs_taken(value)
    items = items_of(value)
    if kind in VIEWS or shape_of(kind) in (INDEXED, WHOLE):
        return [items_of(pair) for pair in items]
    return items


def pairs_taken(iterator: Any) -> list[Any]:
    """Pairs that are taken from an iterator, up to the first item that is none."""
    pairs: list[Any] = []
    for pair in taking(iterator):
        pairs.append(items_of(pair))
        if is_no_pair(pair):
            break
    return pairs


def is_no_pair(thing: Any) -> bool:
    kind = type(thing)
    if kind is tuple or kind is list or kind is str or kind is bytes:
        return len(thing) != 2
    return kind in ATOMS


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
    if kind is MappingProxyType:
        return unpack(owner_of(value))
    shape = shape_of(kind)
    if shape == NO_CONTAINER or is_own(kind, "__iter__"):
        if issubclass(type(value), Iterator):
            return taking(value)
        use_opaque(value, "__iter__")
        return value
    read_all(value)
    return dict(cast(Any, value)) if shape == KEYED else tuple(cast(Any, value))


def are_hashed(value: Any, by_number: bool = True) -> bool:
    """Whether Python code hashes the items of a container, one by one, as they are put into a set
    or dict. Sets and dicts know the numbers of theirs, unless these are of no use."""
    kind = type(value)
    if kind in VIEWS:
        return any(is_coded(item) for item in list(value))
    shape = shape_of(kind)
    if shape == NO_CONTAINER or is_own(kind, "__iter__"):
        return False
    known = shape == ELEMENTS or (shape == KEYED and kind is dict)
    return not (known and by_number) and are_coded((value,))


def hashed(value: Any) -> Any:
    """What a set is to be made from."""
    if RUNNING.check.runtime.is_elsewhere():
        return value
    return iterate(value) if are_hashed(value) else items_of(value)


def unpack_hashed(value: object) -> object:
    """The same for what is to be unpacked there."""
    if RUNNING.check.runtime.is_elsewhere():
        return value
    return iterate(value) if are_hashed(value) else unpack(value)


class Late:
    """What is unpacked when somebody asks for what is in it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __iter__(self) -> Any:
        return iter(cast(Any, unpack(self.value)))


def unpack_late(value: object) -> object:
    """The arguments of `f(*value, **named)`: Python takes them when it has those with names."""
    kind = type(value)
    if RUNNING.check.runtime.is_elsewhere() or kind in ATOMS or not hasattr(kind, "__iter__"):
        return value
    return Late(value)


LIKE_BYTES: Final = (bytearray, memoryview)  # and may change


def compare(function: Callable[[Any, Any], object], one: object, other: object) -> object:
    if RUNNING.check.runtime.is_elsewhere():
        return function(one, other)
    kind, other_kind = type(one), type(other)
    if (kind in ATOMS and other_kind not in LIKE_BYTES) or (
        other_kind in ATOMS and kind not in LIKE_BYTES
    ):
        return function(one, other)
    name = f"__{function.__name__}__"
    use_opaque(one, name)
    use_opaque(other, name)
    use = Use(COMPARED_BY)  # of both: what is the same stays the same
    result = function(copied(one, use), copied(other, use))
    use.end()
    return result


def read_if_container(one: object, other: object) -> None:
    """The method of a container may leave an operation to that of another one, of C, which reads
    both: Counter's `|` does, if that is a dict."""
    if shape_of(type(other)) != NO_CONTAINER:
        read_all(one)
        read_all(other)


class Fields:
    """What `"%(name)s" % mapping` looks up, if a mapping says itself what is missing."""

    def __init__(self, mapping: object) -> None:
        self.mapping = mapping

    def __getitem__(self, key: object) -> object:
        return shown(load_item(self.mapping, key))


def formatted(template: Any, values: Any) -> object:
    """What is put into a template. The text of the user's own objects is made there: it depends on
    the template which of their methods that is."""
    kind = type(values)
    if issubclass(kind, tuple):
        return tuple([shown(value) for value in tuple.__iter__(values)])
    has_names = ("%(" if type(template) is str else b"%(") in template
    if not has_names or shape_of(kind) != KEYED:
        return shown(values)
    if hasattr(kind, "__missing__") or is_own(kind, "__getitem__"):
        return Fields(values)
    read_all(values)
    return {key: shown(value) for key, value in dict.items(shallow_copy(values))}


IN_PLACE: Final = {
    operator.iadd, operator.isub, operator.imul, operator.ior, operator.iand, operator.ixor,
}  # fmt: skip


def operate(function: Callable[[Any, Any], object], one: object, other: object) -> object:
    runtime = RUNNING.check.runtime
    if runtime.is_elsewhere() or (type(one) in ATOMS and type(other) in ATOMS):
        return function(one, other)
    kind = type(one)
    if kind is str or kind is bytes:
        return function(one, formatted(one, other) if function is operator.mod else stable(other))
    if kind is MappingProxyType:
        in_place = function in IN_PLACE  # which it does not take
        return function(one, other) if in_place else operate(function, owner_of(one), other)
    name = function.__name__.strip("_")
    is_others = is_own(type(other), f"__r{name}__")  # what is done is the other operand's matter
    if shape_of(kind) == NO_CONTAINER:
        if name.startswith("i"):  # an object of C may change in place
            runtime.note_change()
        if RUNNING.check.objects.is_seen(kind):
            return function(one, other)
        if not is_others:
            other = operand_now(other)
        use_opaque(one, f"__{name}__")
        return function(operand_now(one), other)
    if is_own(kind, f"__{name}__") or is_others:
        if not (is_others or function in IN_PLACE or isinstance(other, kind)):
            read_if_container(one, other)
        return function(one, other)
    if function not in IN_PLACE:
        use = use_of_keys(one, (other,))
        other = operand_now(other)
        read_all(one)
        result = function(one, other)
        use.end()
        return result
    if is_done_by_keys(one, (other,)):
        change_by_keys(one, METHODS_IN_PLACE[function], (other,))
        return one
    fills = function is (operator.ior if shape_of(kind) == KEYED else operator.iadd)
    if fills and is_filled_stepwise(kind) and takes_steps(other):
        put_in_stepwise(one, other)
        return one
    other = operand_now(other) if function is not operator.iadd else in_order(other)
    give(one, (other,))
    change_all(one)
    return quietly(function, one, other)


def operand_now(value: Any) -> Any:
    """The right side of an operator, as it is now."""
    kind = type(value)
    if kind in VIEWS:
        owner = owner_of(value)
        read_all(owner)
        return view_of(shallow_copy(owner), kind)
    if kind is MappingProxyType or shape_of(kind) != NO_CONTAINER:
        return items_of(value)
    use_opaque(value, "__add__")
    return value


def give(container: object, things: tuple[object, ...]) -> None:
    """What is put into a container is shared if that is."""
    objects = RUNNING.check.objects
    contents = objects.contents_of(container)
    if contents is not None:
        objects.share(things, label_of(contents))


# Iteration


def now_in(container: object) -> int:
    """How many items are in a list, whatever its class says."""
    if not RUNNING.check.runtime.is_elsewhere():
        read_length(container)
    return plain_length(container)


class ItemIterator:
    """Goes through a container step by step. One that the user has made may be shared: then who
    takes from it changes it."""

    def __init__(self, is_users: bool) -> None:
        self.is_users = is_users  # not of a loop, which nobody else gets hold of

    def __iter__(self) -> "ItemIterator":
        return self

    def __next__(self) -> object:
        if RUNNING.check.runtime.is_elsewhere():
            return self.take(False)
        if not self.is_users:
            return self.take(True)
        turn = own_turn(self)
        try:
            return self.take(True)
        finally:
            give_back(turn)

    def take(self, is_seen: bool) -> object:
        """The next item. It is taken in steps, unless nobody sees them."""
        raise NotImplementedError

    def __reduce_ex__(self, protocol: Any) -> Any:
        """How it is copied: by C, which does not say what it looks at."""
        if not RUNNING.check.runtime.is_elsewhere():
            RUNNING.check.objects.note_opaque("a copy of an iterator", self)
        return self.__reduce__()


class IndexIterator(ItemIterator):
    """Goes through a list, one step for each item; it sees what is appended meanwhile."""

    def __init__(self, container: Any, is_users: bool = False) -> None:
        super().__init__(is_users)
        self.container = container
        self.index = 0

    def take(self, is_seen: bool) -> object:
        container = self.container
        if container is None:
            raise StopIteration
        index = self.index
        self.index = index + 1
        if is_seen:
            read_item(container, index)
        if index >= plain_length(container):
            self.container = None
            raise StopIteration
        return plain_item(container, index)

    def __repr__(self) -> str:
        return shown_as(type(iter(self.container or [])), self)

    def __length_hint__(self) -> int:
        return 0 if self.container is None else max(now_in(self.container) - self.index, 0)

    def __reduce__(self) -> tuple[Any, ...]:
        return (iter, ([],)) if self.container is None else (iter, (self.container,), self.index)

    def __setstate__(self, index: int) -> None:
        self.index = max(index, 0)


class ReverseIterator(ItemIterator):
    """Goes through a list backwards from what is its end at the beginning."""

    def __init__(self, container: Any) -> None:
        super().__init__(True)
        self.container = container
        self.index = now_in(container) - 1

    def take(self, is_seen: bool) -> object:
        index = self.index
        if index < 0:
            raise StopIteration
        self.index = index - 1
        if is_seen:
            read_item(self.container, index)
        if index >= plain_length(self.container):
            self.index = -1
            raise StopIteration
        return plain_item(self.container, index)

    def __repr__(self) -> str:
        return shown_as(type(reversed(self.container)), self)

    def __length_hint__(self) -> int:
        return self.index + 1 if self.index < now_in(self.container) else 0

    def __reduce__(self) -> tuple[Any, ...]:
        return (iter, ([],)) if self.index < 0 else (reversed, (self.container,), self.index)

    def __setstate__(self, index: int) -> None:
        self.index = min(max(index, -1), now_in(self.container) - 1)


class StepwiseIterator(ItemIterator):
    """Goes through a dict, set, deque or view; each step looks at it before it takes the next, and
    so does the beginning: from then on Python minds what is put in or taken out."""

    def __init__(self, owner: Any, items: Any, is_users: bool, is_reversed: bool = False) -> None:
        super().__init__(is_users)
        self.owner = owner
        self.look = look_for(type(items))
        self.look(owner, BY_AN_ITERATOR)
        self.items: Iterator[Any] = reversed(items) if is_reversed else iter(items)

    def take(self, is_seen: bool) -> object:
        if is_seen:
            self.look(self.owner, BY_AN_ITERATOR)
        return next(self.items)

    def __length_hint__(self) -> int:
        return operator.length_hint(self.items)

    def __reduce__(self) -> tuple[Any, ...]:
        read_all(self.owner)
        return cast(tuple[Any, ...], self.items.__reduce__())

    def __repr__(self) -> str:
        return shown_as(type(self.items), self)


def shown_as(kind: type, iterator: object) -> str:
    """The text of an iterator that stands for one of Python's."""
    module = module_of(kind)
    name = kind.__name__ if module == "builtins" else f"{module}.{kind.__name__}"
    return f"<{name} object at {id(iterator):#x}>"


def iterate(value: Any, is_users: bool = False) -> Any:
    """What a loop goes through, or the user by an iterator."""
    if RUNNING.check.runtime.is_elsewhere():
        return value
    kind = type(value)
    if kind in VIEWS:
        return StepwiseIterator(owner_of(value), value, is_users)
    if kind is MappingProxyType:
        return iterate(owner_of(value), is_users)
    shape = shape_of(kind)
    if shape == NO_CONTAINER or is_own(kind, "__iter__"):
        if hasattr(kind, "__next__"):
            return taking(value)
        if kind is memoryview and shape_of(type(memory_of(value))) != NO_CONTAINER:
            return StepwiseIterator(memory_of(value), value, is_users)
        use_opaque(value, "__iter__")
        return value
    if shape == INDEXED:
        return IndexIterator(value, is_users)
    return StepwiseIterator(value, value, is_users)


def users_iterator(value: Any) -> Any:
    """What `iter` gives."""
    return value if hasattr(type(value), "__next__") else iterate(value, True)


def users_reversed(value: Any) -> Any:
    """What `reversed` gives."""
    kind = type(value)
    if kind is MappingProxyType:
        return users_reversed(owner_of(value))
    if kind in VIEWS:
        return StepwiseIterator(owner_of(value), value, True, True)
    shape = shape_of(kind)
    if shape == INDEXED and not is_own(kind, "__reversed__"):
        return ReverseIterator(value)
    if shape == NO_CONTAINER or shape == ELEMENTS or is_own(kind, "__reversed__"):
        use_opaque(value, "__getitem__")
        return reversed(value)
    return StepwiseIterator(value, value, True, True)


def look_for(kind: type) -> Callable[[object, object], None]:
    """How an iterator looks at a dict, set or deque, or at that of a view."""
    if kind in VIEWS:
        return read_length if VIEWS[kind] == "keys" else read_all
    if kind is memoryview:
        return read_all
    return read_all if shape_of(kind) == WHOLE else read_length


def taking(iterator: Any) -> Any:
    """An iterator that is gone through. If threads share it, each item is a step; if they do only
    later, that is noticed then, and the search begins anew."""
    kind = type(iterator)
    check = RUNNING.check
    objects = check.objects
    if isinstance(iterator, ItemIterator) or not hasattr(kind, "__iter__"):  # Python says so
        take_from(iterator)
        return iterator
    if kind is itertools.count:
        return check.standard.steered(iterator)
    if kind is GeneratorType:
        take_from(iterator)
        return TakingFromGenerator(iterator) if objects.is_shared(iterator) else iterator
    if objects.is_seen(kind):
        take_from(iterator)
        return Taking(iterator) if objects.is_shared(iterator) else iterator
    if objects.is_shared(iterator) or objects.may_share_later():
        return Taking(iterator)
    take_from(iterator)
    objects.record_of(iterator).is_taken_from = True
    return iterator


def count_now(count: Any) -> Any:
    """A new `itertools.count` that begins with the number that another one would give next."""
    model = RUNNING.check.standard.steered(count)
    return itertools.count(*cast(Any, model.now())) if type(model) is Count else count


class Taking:
    """Goes through an iterator that threads share."""

    def __init__(self, items: Iterator[Any]) -> None:
        self.items = items

    def __iter__(self) -> "Taking":
        return self

    def __next__(self) -> object:
        return next_of(self.items)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return iter, (self.items,)  # which is that one


class TakingFromGenerator(Taking):
    """The same for a generator, to which `yield from` hands on what it is sent."""

    def send(self, value: object) -> object:
        take_from(self.items)
        return cast(Any, self.items).send(value)

    def throw(self, *error: Any) -> object:
        take_from(self.items)
        return cast(Any, self.items).throw(*error)

    def close(self) -> None:
        take_from(self.items)
        cast(Any, self.items).close()


# Methods

READING: Final = {
    "copy", "count", "index", "union", "intersection", "difference", "symmetric_difference",
    "issubset", "issuperset", "isdisjoint", "most_common", "elements", "total", "tobytes", "tolist",
    "decode", "hex", "find", "rfind", "startswith", "endswith", "split", "buffer_info",
    "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__repr__", "__str__", "__or__",
    "__and__", "__sub__", "__xor__", "__add__", "__mul__", "__ror__", "__rand__", "__rsub__",
    "__rxor__", "__rmul__", "__mod__", "__rmod__", "__copy__", "__format__", "__contains__",
    "__alloc__", "tounicode", "__reduce__", "__reduce_ex__",
    *[name for name in dir(bytes) if not name.startswith("_")],  # give new text, or look for some
}  # fmt: skip
# Methods that look at nothing that is in a container: they give views of it, or are its class's.
UNSEEN: Final = {
    "keys", "values", "items", "__class__", "__sizeof__", "__hash__", "__class_getitem__",
    "fromkeys", "fromhex", "maketrans", "__buffer__", "__release_buffer__",
}  # fmt: skip
BY_KEY: Final = {
    "get": ITEM_READ, "__contains__": ITEM_READ, "setdefault": ITEM_INSERT, "pop": ITEM_DELETE,
    "add": ITEM_INSERT, "discard": ITEM_DELETE, "remove": ITEM_DELETE,
}  # fmt: skip
SPECIAL: Final[dict[str, Callable[..., object]]] = {
    "__getitem__": load_item,
    "__setitem__": store_item,
    "__delitem__": delete_item,
    "__len__": length,
    "__iter__": users_iterator,
    "__reversed__": users_reversed,
}


COMPARING: Final = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
TAKING: Final = {"pop", "popleft"}
# Methods that may change all of a container; one that is not listed anywhere counts as one, too.
CHANGING: Final = {
    "clear", "update", "extend", "extendleft", "appendleft", "append", "insert", "reverse", "sort",
    "rotate", "popitem", "pop", "popleft", "remove", "move_to_end", "subtract", "byteswap",
    "intersection_update", "difference_update", "symmetric_difference_update", "fromlist",
    "fromfile", "frombytes", "fromunicode", "fromstring", "__iadd__", "__imul__", "__ior__",
    "__iand__", "__isub__", "__ixor__", "__init__", "__setstate__", "__missing__", "__deepcopy__",
    "tofile", "resize",
}  # fmt: skip
FINDING: Final = {"count", "index", "remove"}
STEPWISE: Final = {"extend", "update"}  # what puts items in one by one, as they come
TAKING_ITEMS: Final = {
    "extend", "extendleft", "update", "intersection_update", "difference_update", "subtract",
    "symmetric_difference_update", "union", "intersection", "difference", "symmetric_difference",
    "issubset", "issuperset", "isdisjoint", "__eq__", "__ne__", "__add__", "__or__", "__iadd__",
    "__ior__", "__and__", "__sub__", "__xor__", "fromlist",
}  # fmt: skip


def call_method(our_function: Callable[..., Any], /, *arguments: Any, **named: Any) -> object:
    """Call a bound method of a container."""
    objects = RUNNING.check.objects
    container = cast(Any, our_function).__self__
    name = cast(Any, our_function).__name__
    if name in SPECIAL:
        if is_own(type(container), name):
            announce_special(container, name, arguments)
            return our_function(*arguments)
        return SPECIAL[name](container, *arguments)
    shape = shape_of(type(container))
    is_sequence = shape == INDEXED or shape == WHOLE
    if is_sequence and name in FINDING and arguments:
        if type(arguments[0]) not in ATOMS or has_symbolic(container):
            return find(container, name, arguments)
    elif RUNNING.check.path is not None and not is_sequence:
        arguments = tuple([certain(argument) for argument in arguments[:1]]) + arguments[1:]
    if name in ("__repr__", "__str__", "__format__"):
        container = shown(container)
        return getattr(container, name)(*arguments)
    if name in CHANGED_BY_KEYS and is_done_by_keys(container, arguments):
        change_by_keys(
            container, CHANGED_BY_KEYS[name], (*arguments, named) if named else arguments
        )
        return container if name.startswith("__i") else None
    fills = name in STEPWISE and not named and is_filled_stepwise(type(container))
    if fills and any(takes_steps(argument) for argument in arguments):
        for argument in arguments:
            put_in_stepwise(container, argument)
        return None
    if name == "update" and shape == KEYED:
        arguments = tuple([pairs_of(argument) for argument in arguments])
        if objects.dicts and objects.instance_with(container) is not None:
            update_attributes(container, dict(*arguments, **named))
            return None
    elif name in TAKING_ITEMS:
        given = in_order if is_sequence else items_of
        arguments = tuple([given(argument) for argument in arguments])
    give(container, arguments)
    give(container, tuple(named.values()))
    use = use_of_keys(container, arguments)
    announce_method(container, name, arguments)
    if not is_sequence and are_coded(arguments):
        result = quietly(partial(our_function, **named), *arguments)
        use.end()
        return result
    if name in REDUCING:
        return with_our_iterators(container, our_function(*arguments))
    return our_function(*arguments, **named)


REDUCING: Final = {"__reduce__", "__reduce_ex__"}


def with_our_iterators(container: Any, reduced: Any) -> Any:
    """What a copy of a container is made from. Whoever makes it takes item after item, of a list or
    deque, or of a dict."""
    if type(reduced) is not tuple or len(reduced) < 4:
        return reduced
    function, arguments, state, *iterators = reduced
    if iterators[0] is not None:
        iterators[0] = iterate(container, True)
    if len(iterators) > 1 and iterators[1] is not None:
        iterators[1] = iterate(container.items(), True)
    return function, arguments, state, *iterators


def takes_steps(items: Any) -> bool:
    """Whether Python code runs between one item and the next, when they are put in one by one."""
    kind = type(items)
    if kind is GeneratorType:
        return True
    if kind is map or kind is filter:
        return type(items.__reduce__()[1][0]) in (FunctionType, MethodType)
    if kind in ATOMS or is_modelled(kind, "__iter__"):
        return False
    return RUNNING.check.objects.is_seen(kind) and hasattr(kind, "__iter__")


def is_filled_stepwise(kind: type) -> bool:
    return not issubclass(kind, bytearray)  # that takes all items before it puts them in


def put_in_stepwise(container: Any, items: Any) -> None:
    """Put items into a container one by one, as Python does if its code makes them."""
    for item in pairs_in(items) if shape_of(type(container)) == KEYED else iterate(items):
        put_in(container, item)


def pairs_in(items: Any) -> Any:
    """The items of a mapping, or pairs."""
    if shape_of(type(items)) == KEYED and not is_own(type(items), "items"):
        return iterate(items.items())
    if not hasattr(items, "keys"):
        return iterate(items)
    return [(key, items[key]) for key in iterate(items.keys())]


# What is done to a set or dict key by key, because code of the keys' compares them


METHODS_IN_PLACE: Final[dict[Any, str]] = {
    operator.ior: "update",
    operator.iand: "intersection_update",
    operator.isub: "difference_update",
    operator.ixor: "symmetric_difference_update",
}
CHANGED_BY_KEYS: Final = {
    **{name: name for name in METHODS_IN_PLACE.values()},
    **{f"__{function.__name__}__": name for function, name in METHODS_IN_PLACE.items()},
}


def are_compared(container: Any, items: Any) -> bool:
    """Whether Python code compares the keys of a set or dict with those of another one: some have
    the same number, and are not the same."""
    if shape_of(type(items)) not in (ELEMENTS, KEYED) and type(items) is not frozenset:
        return False
    coded = [
        key for key in (items if type(items) is frozenset else plain_items(items)) if is_coded(key)
    ]
    if not coded:
        return False
    known = {quietly(hash, key): key for key in plain_items(container)}
    return any(known.get(quietly(hash, key), key) is not key for key in coded)


def is_done_by_keys(container: Any, others: tuple[Any, ...]) -> bool:
    """Whether other threads may see a part of what is done with the keys of some containers."""
    shape = shape_of(type(container))
    if shape not in (ELEMENTS, KEYED) or not RUNNING.check.objects.is_shared(container):
        return False
    return any(are_hashed(other) or are_compared(container, other) for other in others)


def use_of_keys(container: Any, others: tuple[Any, ...]) -> Use:
    """One use of the keys of some containers."""
    use = Use(COMPARED_BY)
    if is_done_by_keys(container, others):
        for each in (container, *others):
            use.note_code(each)
    return use


def change_by_keys(container: Any, name: str, others: tuple[Any, ...]) -> None:
    """Change a set or dict as a method of this name does."""
    if name == "intersection_update":  # this one changes it at the end
        read_all(container)
        left = shallow_copy(container)
        for other in others:
            left = quietly(set.intersection, left, items_of(other))
        change_all(container)
        set.clear(container)
        set.update(container, left)
        return
    for other in others:
        if name == "update":
            put_in_stepwise(container, other)
            continue
        for key in hashed(other):
            if name == "difference_update":
                call_method(container.discard, key)
            else:
                exchange_key(container, key)


def exchange_key(container: Any, key: object) -> None:
    """Take an element out of a set, or put it in if it is not there."""
    try:
        call_method(container.remove, key)
    except KeyError:
        call_method(container.add, key)


def put_in(container: Any, item: Any) -> None:
    shape = shape_of(type(container))
    if shape == KEYED:
        key, value = item
        store_item(container, key, value)
    else:
        call_method(container.add if shape == ELEMENTS else container.append, item)


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
    sought, *bounds = arguments
    is_coded_list = runs_code(sought) or any(runs_code(each) for each in plain_items(container))
    if is_coded_list and not bounds:
        return find_stepwise(container, name, sought)
    if is_coded_list and isinstance(container, list):
        return index_stepwise(container, sought, *bounds)
    read_all(container)
    items = list(container)
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


def find_stepwise(container: Any, name: str, sought: object) -> object:
    """The same if comparing takes steps, between which the container may change. What is removed
    then is whatever has come to the place."""
    count = 0
    for place, item in enumerate(iterate(container)):
        if not are_equal(item, sought):
            continue
        if name == "index":
            return place
        if name == "remove":
            change_all(container)
            if place < len(container) or not isinstance(container, list):
                del container[place]
            return None
        count += 1
    if name == "count":
        return count
    raise ValueError(f"{type(container).__name__}.{name}(x): x not in it")


def index_stepwise(container: Any, sought: object, start: int, stop: int = sys.maxsize) -> int:
    """The same for a part of a list, whose bounds are made out at the beginning."""
    size = now_in(container)
    first, last = [max(bound + size, 0) if bound < 0 else bound for bound in (start, stop)]
    items = IndexIterator(container)
    items.index = first
    while items.index < last:
        try:
            item = next(items)
        except StopIteration:
            break
        if are_equal(item, sought):
            return items.index - 1
    raise ValueError(f"{sought!r} is not in list")


def view_method(function: Any) -> Any:
    """A method of a view of a dict, or of a mapping proxy."""
    view = function.__self__
    name = function.__name__
    if type(view) is MappingProxyType and name in COMPARING:
        return partial(compare_proxy, getattr(operator, name), view)
    if type(view) is MappingProxyType and name != "__repr__":
        return partial(call_method, getattr(owner_of(view), name))
    if name in SPECIAL:
        return partial(SPECIAL[name], view)
    if name == "__contains__":
        return partial(holds, view)
    return partial(call_on_view, function)


def compare_proxy(function: Any, proxy: Any, other: object) -> object:
    return compare(function, owner_of(proxy), other)


def holds(container: Any, item: object) -> bool:
    return contains(item, container)


def call_on_view(function: Any, *arguments: Any) -> object:
    given = [operand_now(argument) for argument in arguments]
    return getattr(stable(function.__self__), function.__name__)(*given)


def announce_on_attributes(container: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """A method of a dict whose items are the attributes of an object."""
    kind = BY_KEY.get(name, 0)
    if not kind or not arguments or type(arguments[0]) is not str:
        if name not in UNSEEN:
            change_all(container)
    elif kind == ITEM_READ or (kind == ITEM_INSERT) == (arguments[0] in container):
        read_item(container, arguments[0])
    else:
        change_item(kind, container, arguments[0], arguments[-1])


def announce_method(container: object, name: str, arguments: tuple[object, ...]) -> None:
    check = RUNNING.check
    objects = check.objects
    if objects.dicts and objects.instance_with(container) is not None:
        announce_on_attributes(container, name, arguments)
        return
    contents = objects.contents_of(container)
    if contents is None:
        reads = name in READING or name in UNSEEN or BY_KEY.get(name, 0) == ITEM_READ
        if not reads:
            check.runtime.note_change()
            objects.save_own_contents(container)
        if check.runtime.journal is not None:
            key = arguments[0] if name in BY_KEY and arguments else MISSING
            note_use_of_items("read" if reads else "write", container, key)
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
        objects.save_item(container, None)
        if arguments:
            check.runtime.note_stored(arguments[0])
    elif name in TAKING and (shape == INDEXED or shape == WHOLE):
        announce(TAKE, contents, -1, None)
        objects.save_contents(container)
    elif name in READING:
        read_all(container)
    elif name not in UNSEEN:
        change_all(container)

"""Where ordinary objects are accessed: their attributes, and the items of containers."""

from typing import Any, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    APPEND,
    AWAIT,
    AWAIT_EXCHANGE,
    AWAIT_PART,
    CHANGE_WHOLE,
    FIRST_ON_PARTS,
    INDEX_READ,
    INDEX_SET,
    ITEM_INSERT,
    ITEM_READ,
    ITEM_SET,
    LENGTH,
    LOAD,
    READ,
    READ_WHOLE,
    TAKE,
    VERBS,
    WRITE,
)
from mazurka.engine.parts import MOST_ITEMS
from mazurka.python.check import RUNNING
from mazurka.python.memory.shapes import (
    ATOMS,
    ELEMENTS,
    INDEXED,
    KEYED,
    MISSING,
    NO_CONTAINER,
    WHOLE,
    module_of,
    plain_items,
    plain_length,
)
from mazurka.python.operations import NO_VIEW, PartAwaited, View
from mazurka.python.runtime.thread import Cell, ThreadNames
from mazurka.python.words import show, show_found


class Variable(Cell):
    """An attribute, or a global or closure variable."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        if event.kind == LOAD or event.kind == AWAIT:
            return f"read {name}: {show_found(event.before)}"
        if event.first is MISSING:
            return f"delete {name}"
        return f"write {show_found(event.first)} to {name}"


class Turn(Cell):
    """Which thread takes from an iterator now; None: nobody does."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"take from {name}" if event.kind == AWAIT_EXCHANGE else f"have taken from {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return event.kind == AWAIT_EXCHANGE

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"to take from {name}"


class Contents(Cell):
    """The items of a container."""

    def __init__(self, container: object, shape: int) -> None:
        super().__init__(container, None)
        self.shape = shape

    def look(self, kind: int, item: int, key: object) -> View:
        view = self.look_at(kind, item, key)
        if kind >= READ_WHOLE and RUNNING.check.runtime.is_remembered:
            view.contents = self.all_items()
        return view

    def all_items(self) -> list[tuple[int, object]] | None:
        """All items by their numbers, in the order that Python has them in, if they are few. (That
        of a set depends on more than what is in it.)"""
        if self.shape == NO_CONTAINER or self.shape == ELEMENTS:
            return None
        if plain_length(self.value) > MOST_ITEMS:
            return None
        items = plain_items(self.value)
        if self.shape != KEYED:
            return list(enumerate(items))
        values = cast(dict[object, object], self.value)
        numbers = [self.number_of(key) for key in items]
        if min(numbers, default=0) < 0:
            return None
        return [(number, dict.get(values, key)) for number, key in zip(numbers, items, strict=True)]

    def look_at(self, kind: int, item: int, key: object) -> View:
        if kind < FIRST_ON_PARTS:
            return NO_VIEW
        shape = self.shape
        if shape == NO_CONTAINER:  # an object of which nothing is known
            return View(0, False, None)
        length = plain_length(self.value)
        if shape == INDEXED or shape == WHOLE or kind == LENGTH:
            view = View(length, False, None)
            if 0 <= item < length:
                view.value = cast(Any, self.value)[item]
            return view
        if item < 0 and kind != CHANGE_WHOLE:  # no code of a key's runs here
            return View(length, False, None)
        if kind == CHANGE_WHOLE:
            return View(length, False, {self.number_of(each) for each in plain_items(self.value)})
        if item < 0:  # to look for a key may run code of its class
            return View(length, False, None)
        if shape == KEYED:
            value = dict.get(cast(dict[object, object], self.value), key, MISSING)
            view = View(length, value is not MISSING, None)
            view.value = value
            return view
        return View(length, set.__contains__(cast(set[object], self.value), key), None)

    def snapshot(self, mode: int) -> object:
        """A copy, if loops wait for what is in containers and it is about to be changed."""
        if mode != WRITE or not RUNNING.check.runtime.copies or self.shape == NO_CONTAINER:
            return None
        if self.shape == KEYED:
            return dict(cast(dict[object, object], self.value))
        items = plain_items(self.value)
        return set(items) if self.shape == ELEMENTS else items

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        if event.kind == AWAIT_PART:
            return cast(PartAwaited, event.first).step_words(event, name)
        return item_words(event, name)

    def found_words(self, awaited: object, name: str) -> str:
        return cast(PartAwaited, awaited).found_words(name, self.value)

    def number_of(self, key: object) -> int:
        """The number of an item by its key; -1 for a key that cannot be told from others, as its
        class says itself what is equal."""
        name = name_of_key(key)
        if name is None:
            return -1
        assert self.known is not None
        number = self.known.numbers.get(name, -1)
        if number < 0:
            if self.known.keys is None:
                self.known.keys = []
            number = len(self.known.keys)
            self.known.keys.append(name)
            self.known.numbers[name] = number
        return number


def item_words(event: Event, name: str) -> str:
    """What an event did to a container with this name."""
    kind = event.kind
    view = cast(View, event.view)
    if kind == LENGTH:
        return f"length of {name}: {view.length}"
    if kind >= APPEND:
        ending = ": empty" if kind == TAKE and event.mode == READ else ""
        return f"{VERBS[kind]} {'to ' if kind == APPEND else ''}{name}{ending}"
    item = f"{name}[{show(event.second)}]"
    by_index = kind == INDEX_READ or kind == INDEX_SET
    there = event.part >= 0 if by_index else view.present
    if kind == ITEM_SET or (there and kind == INDEX_SET):
        return f"{VERBS[kind]} {item} to {show_found(event.after)}"
    if there and (kind == INDEX_READ or (kind == ITEM_READ and view.value is not None)):
        return f"{VERBS[kind]} {item}: {show_found(view.value)}"
    if there and kind != ITEM_INSERT:
        return f"{VERBS[kind]} {item}"
    return f"{VERBS[kind]} {item}: {'already there' if there else 'not there'}"


def name_of_key(key: object) -> object:
    """What stands for a key in every execution. (Each of them makes its own classes, which are
    known by their names.)"""
    kind = type(key)
    if kind is type:
        return ("class", module_of(cast(type, key)), cast(type, key).__qualname__)
    if kind in ATOMS:
        return key
    if kind is tuple:
        parts = [name_of_key(part) for part in cast(Any, key)]
        return None if any(part is None for part in parts) else tuple(parts)
    if kind.__hash__ is object.__hash__ and kind.__eq__ is object.__eq__:
        return ("object", RUNNING.check.objects.record_of(key).identity.name)
    return None

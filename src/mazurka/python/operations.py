"""What the operations of Python programs do to values.

A value is any Python object; that of a container, in `Event.before`, is a copy of what an operation
may have changed. `first` and `second` are an operation's own data: the new value, the predicate...
"""

from collections.abc import Callable
from typing import Any, Final, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    ACQUIRE,
    ADD,
    ADD_TO,
    ADD_UNUSED,
    ALL,
    APPEND,
    AWAIT,
    AWAIT_EXCHANGE,
    AWAIT_PART,
    COMPARE_EXCHANGE,
    DISABLED,
    EXCHANGE,
    FETCH_ADD,
    FIRST_TRY_UPDATE,
    FIRST_UPDATE,
    INDEX_READ,
    INDEX_SET,
    ITEM_DELETE,
    ITEM_INSERT,
    ITEM_READ,
    ITEM_SET,
    LENGTH,
    LOAD,
    NONE,
    NOTHING,
    NOTIFY,
    READ,
    READ_WHOLE,
    RELEASE,
    SEMAPHORE_RELEASE,
    STORE,
    TAKE,
    TIMED_WAIT,
    TRY_ACQUIRE,
    WAIT,
    WRITE,
    Footprint,
)
from mazurka.engine.values import Values

Predicate = Callable[[Any], object]
Update = Callable[[object], tuple[object, object]]  # gives the new value, and a result

# What the try operations give when they do not succeed.
FAILED: Final = object()


def access_mode(kind: int, value: object, first: object, second: object) -> int:
    """How an operation of this kind accesses a location that holds `value`: a mode, or DISABLED."""
    if kind == LOAD or kind == TIMED_WAIT:
        return READ
    if kind == ADD_TO or kind == SEMAPHORE_RELEASE:
        return ADD
    if kind == ADD_UNUSED:
        return ADD if type(value) is int and isinstance(first, int) else WRITE
    if kind == COMPARE_EXCHANGE:
        return WRITE if same(value, first) else READ
    if kind == ACQUIRE:
        return WRITE if value is None else DISABLED
    if kind == TRY_ACQUIRE:
        return WRITE if value is None else READ
    if kind == RELEASE:
        return READ if value is None else WRITE
    if kind == AWAIT or kind == WAIT or kind == AWAIT_PART:
        return READ if holds(first, value) else DISABLED
    if kind == AWAIT_EXCHANGE or (FIRST_UPDATE <= kind < FIRST_TRY_UPDATE):
        return WRITE if holds(first, value) else DISABLED
    if kind >= FIRST_TRY_UPDATE:
        return WRITE if holds(first, value) else READ
    return WRITE if kind >= STORE else NONE


class View:
    """What an operation on a container finds: is its item there, and how many are there?"""

    def __init__(self, length: int, present: bool, numbers: set[int] | None) -> None:
        self.length = length
        self.present = present
        self.numbers = numbers  # of all items, if it changes all and they are not simply counted
        self.value: object = None  # of its item, if that is there and has one
        self.contents: list[tuple[int, object]] | None = None  # all items by number, if asked for


NO_VIEW: Final = View(0, False, None)


def footprint(kind: int, item: int, view: View) -> Footprint:
    """Which parts of a container an operation on one of its items accesses, and how.

    An operation always accesses what this depends on. So where another one changes its footprint,
    the two conflict; and each operation that conflicts with one of its footprints only, conflicts
    with that other one as well (docs/proofs/pop.md says what for).
    """
    if kind == ITEM_READ:
        return READ, NONE, item
    if kind == ITEM_SET:
        return WRITE, NONE if view.present else WRITE, item
    if kind == ITEM_DELETE:
        return (WRITE, WRITE, item) if view.present else (READ, NONE, item)
    if kind == ITEM_INSERT:
        return (READ, NONE, item) if view.present else (WRITE, WRITE, item)
    if kind == INDEX_READ:
        return (READ, NONE, item) if item < view.length else (READ, READ, NOTHING)
    if kind == INDEX_SET:
        return (WRITE, NONE, item) if item < view.length else (READ, READ, NOTHING)
    if kind == APPEND:
        return WRITE, WRITE, view.length
    if kind == LENGTH or (kind == TAKE and view.length == 0):
        return READ, READ, NOTHING
    return (READ, READ, ALL) if kind == READ_WHOLE else (WRITE, WRITE, ALL)


class ValueAwaited:
    """What a read in a loop waits for: a predicate over constants, and the value that it finds. It
    holds for all that is no constant."""

    def __call__(self, found: object) -> bool:
        raise NotImplementedError


class PartAwaited:
    """What a read of a container waits for: a predicate over the container, or a copy of it.

    It looks at those parts only that the read accesses. The changes of these are ordered among each
    other: no other reads wait.
    """

    def __init__(self, kind: int, item: int) -> None:
        self.kind = kind  # of the read
        self.item = item

    def __call__(self, contents: object) -> bool:
        raise NotImplementedError

    def look(self, contents: object) -> View:
        raise NotImplementedError

    def step_words(self, event: Event, name: str) -> str:
        """What the read found in a container with this name, once it had waited."""
        raise NotImplementedError

    def found_words(self, name: str, contents: object) -> str:
        """What it finds as long as it waits."""
        raise NotImplementedError

    def footprint(self, contents: object) -> Footprint:
        return footprint(self.kind, self.item, self.look(contents))


def same(value: object, expected: object) -> bool:
    """Whether a compare-exchange finds what it expects. (If comparing raises, the thread that
    performs it gets that exception; asked beforehand, it is a no.)"""
    try:
        return value is expected or bool(value == expected)
    except Exception:
        return False


def holds(predicate: object, value: object) -> bool:
    """Whether a predicate holds; one that raises lets its thread go on, and raise for itself."""
    try:
        return bool(cast(Predicate, predicate)(value))
    except Exception:
        return True


def apply(
    kind: int, thread: int, value: object, first: object, second: object
) -> tuple[object, object]:
    """What an operation on a location gives its thread, and what it leaves there."""
    if kind == LOAD or kind == TIMED_WAIT:
        return value, value
    if kind == STORE or kind == NOTIFY:
        return None, first
    if kind == ADD_TO and not isinstance(value, int):
        raise TypeError(f"add works on integers, not on {value!r}: use fetch_add")
    if kind == ADD_TO or kind == FETCH_ADD or kind == SEMAPHORE_RELEASE:
        return value, value + first  # type: ignore[operator]
    if kind == ADD_UNUSED:
        return None, value + first  # type: ignore[operator]
    if kind == EXCHANGE:
        return value, first
    if kind == COMPARE_EXCHANGE:
        found = value is first or value == first
        return (True, second) if found else (False, value)
    if kind == ACQUIRE or kind == TRY_ACQUIRE:
        return (True, thread) if value is None else (False, value)
    if kind == RELEASE:
        return value is not None, None
    return apply_guarded(kind, value, cast(Predicate, first)(value), second)


def apply_guarded(kind: int, value: object, holds: object, second: object) -> tuple[object, object]:
    """The same for an operation with a predicate, which holds or not."""
    if kind == AWAIT or kind == WAIT:
        return value, value
    if kind == AWAIT_EXCHANGE:
        return value, second
    assert kind >= FIRST_UPDATE
    if not holds:
        return FAILED, value
    after, result = cast(Update, second)(value)
    return result, after


def always(_: object) -> bool:
    """A guard that holds for every value."""
    return True


class PythonValues(Values):
    """The values of Python programs, for searches."""

    def mode(self, operation: Event, value: object) -> int:
        return access_mode(operation.kind, value, operation.first, operation.second)

    def apply(self, operation: Event, value: object) -> tuple[object, object]:
        try:
            return apply(operation.kind, operation.thread, value, operation.first, operation.second)
        except Exception as error:  # its thread will meet it, too
            return error, value

    def footprint_without(self, operation: Event, changes: list[Event]) -> Footprint:
        if operation.kind == AWAIT_PART:
            awaited = cast(PartAwaited, operation.first)
            _, structure, part = awaited.footprint(changes[-1].before)
            return READ, structure, part
        item = cast(int, operation.first)
        return footprint(operation.kind, item, view_without(item, operation, changes))

    def judges(self, operation: Event) -> bool:
        if operation.kind == AWAIT and isinstance(operation.first, ValueAwaited):
            return False
        return super().judges(operation)

    def view(self, length: int, is_there: bool, value: object) -> object:
        view = View(length, is_there, None)
        view.value = value
        return view

    def seen_in(self, view: object) -> tuple[int, bool, object]:
        seen = cast(View, view)
        return seen.length, seen.present, seen.value

    def all_seen_in(self, view: object) -> list[tuple[int, object]] | None:
        return cast(View, view).contents

    def footprint_by(self, operation: Event, view: object) -> Footprint:
        return footprint(operation.kind, cast(int, operation.first), cast(View, view))

    def plus(self, value: object, adds: list[Event]) -> object:
        for add in adds:
            if isinstance(value, int) and isinstance(add.first, int):  # else the add raises
                value += add.first
        return value

    def sums(self, adds: list[Event]) -> object:
        sums = {0}
        for add in adds:
            if isinstance(add.first, int):
                sums |= {total + add.first for total in sums}
        return sums

    def some_sum_enables(self, operation: Event, value: object, sums: object) -> bool:
        if not isinstance(value, int):  # adds raise, and change nothing
            return self.mode(operation, value) != DISABLED
        return any(
            self.mode(operation, value + total) != DISABLED for total in cast(set[int], sums)
        )


def view_without(item: int, operation: Event, changes: list[Event]) -> View:
    """What an operation on an item of a container finds without some changes, the latest first:
    nothing else has changed those parts in between."""
    found = cast(View, operation.view)
    length = found.length
    present = found.present
    for change in changes:
        seen = cast(View, change.view)
        if change.structure == WRITE:
            length = seen.length
        if change.part == item:
            present = seen.present
        elif change.part == ALL and seen.numbers is not None:
            present = item in seen.numbers
    return View(length, present, None)

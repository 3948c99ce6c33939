"""What the operations of C programs do to values: runtime/run.c says the same.

A value is the bytes of a location as an integer of 64 bits, with a sign. An operation accesses some
of its bits, and does something to them: `view` has both, in one number.
"""

from typing import Final, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    ACQUIRE,
    ADD,
    ADD_TO,
    AWAIT,
    AWAIT_EXCHANGE,
    COMPARE_EXCHANGE,
    DISABLED,
    FETCH_ADD,
    LOAD,
    READ,
    READ_ACQUIRE,
    READ_TRY_ACQUIRE,
    RELEASE,
    SEMAPHORE_ACQUIRE,
    SEMAPHORE_RELEASE,
    SEMAPHORE_TRY_ACQUIRE,
    TAKE_WAITER,
    TRY_ACQUIRE,
    WAIT,
    WRITE,
    WRITE_ACQUIRE,
    WRITE_TRY_ACQUIRE,
)
from mazurka.engine.values import Values

# What a FETCH_ADD does; and a store of which the value is known only once it is made.
FORM_ADD: Final = 0
FORM_AND: Final = 1
FORM_OR: Final = 2
FORM_XOR: Final = 3
FORM_NAND: Final = 4
FORM_PLAIN: Final = 5

ALL_BITS: Final = (1 << 64) - 1


def view_of(shift: int, width: int, form: int) -> int:
    return form << 16 | width << 8 | shift


def part_of(value: int, view: int) -> int:
    """The bits of a value that an operation accesses."""
    return ((value & ALL_BITS) >> (view & 0xFF)) & mask_of(view)


def mask_of(view: int) -> int:
    width = (view >> 8) & 0xFF
    return (1 << width) - 1


def signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value


def access_mode(kind: int, part: int, first: int) -> int:
    """How an operation accesses its location if its bits are these: a mode, or DISABLED."""
    if kind == LOAD:
        return READ
    if kind == ADD_TO or kind == SEMAPHORE_RELEASE:
        return ADD
    if kind == COMPARE_EXCHANGE:
        return WRITE if part == first else READ
    if kind == AWAIT:
        return READ if part == first else DISABLED
    if kind == AWAIT_EXCHANGE:
        return WRITE if part == first else DISABLED
    if kind == WAIT:
        return READ if part >= first else DISABLED
    if kind == ACQUIRE or kind == WRITE_ACQUIRE:
        return DISABLED if part else WRITE
    if kind == TRY_ACQUIRE or kind == WRITE_TRY_ACQUIRE:
        return READ if part else WRITE
    if kind == RELEASE or kind == SEMAPHORE_TRY_ACQUIRE:
        return WRITE if part else READ
    if kind == SEMAPHORE_ACQUIRE:
        return WRITE if part else DISABLED
    if kind == READ_ACQUIRE:
        return DISABLED if part >> 32 else WRITE
    if kind == READ_TRY_ACQUIRE:
        return READ if part >> 32 else WRITE
    if kind == TAKE_WAITER:
        return WRITE if part >> first & 1 else READ
    return WRITE


def changed(operation: Event, part: int, first: int) -> int:
    """What a change leaves of the bits that it accesses."""
    kind = operation.kind
    if kind == COMPARE_EXCHANGE or kind == AWAIT_EXCHANGE:
        return cast(int, operation.second)
    if kind == ACQUIRE or kind == TRY_ACQUIRE:
        return operation.thread + 1
    if kind == WRITE_ACQUIRE or kind == WRITE_TRY_ACQUIRE:
        return (operation.thread + 1) << 32
    if kind == RELEASE:
        return 0
    if kind == SEMAPHORE_ACQUIRE or kind == SEMAPHORE_TRY_ACQUIRE:
        return part - 1
    if kind == READ_ACQUIRE or kind == READ_TRY_ACQUIRE:
        return part + 1
    if kind == TAKE_WAITER:
        return part & ~(1 << first)
    if kind == ADD_TO or kind == SEMAPHORE_RELEASE:
        return part + first
    if kind == FETCH_ADD:
        return fetched_and_changed(cast(int, operation.view) >> 16, part, first)
    return first


def fetched_and_changed(form: int, part: int, first: int) -> int:
    if form == FORM_AND:
        return part & first
    if form == FORM_OR:
        return part | first
    if form == FORM_XOR:
        return part ^ first
    if form == FORM_NAND:
        return ~(part & first)
    return part + first


class NativeValues(Values):
    """The values of C programs, for searches."""

    def mode(self, operation: Event, value: object) -> int:
        view = cast(int, operation.view)
        first = cast(int, operation.first) & mask_of(view)
        return access_mode(operation.kind, part_of(cast(int, value), view), first)

    def apply(self, operation: Event, value: object) -> tuple[object, object]:
        view = cast(int, operation.view)
        mask = mask_of(view)
        whole = cast(int, value) & ALL_BITS
        part = part_of(whole, view)
        first = cast(int, operation.first) & mask
        mode = access_mode(operation.kind, part, first)
        if mode == READ or mode == DISABLED:
            return part, value
        shift = view & 0xFF
        left = changed(operation, part, first) & mask
        return part, signed((whole & ~(mask << shift)) | (left << shift))

"""What a thread can do to shared state: the kinds of operations, and how they access locations.

Every visible operation works on one location, and is a function of the value found there alone: it
is disabled, or it reads, writes or adds. What it would do to a given value is the front end's to
say (values.py); here is what a search knows without any value. A container is one location with
many parts: an access has a *footprint* there.
"""

from typing import Final

# How an operation accesses its location. DISABLED is no access: it must wait.
NONE: Final = 0
READ: Final = 1
WRITE: Final = 2
ADD: Final = 3
DISABLED: Final = 4

# A step of which only the thread is known, and perhaps the name that schedules give it.
UNKNOWN: Final = -1

# Threads and data choices: these access no location.
SPAWN: Final = 1
JOIN: Final = 2
CHOOSE: Final = 3

# Operations that are always enabled.
LOAD: Final = 10
STORE: Final = 11
EXCHANGE: Final = 12
COMPARE_EXCHANGE: Final = 13
FETCH_ADD: Final = 14
ADD_TO: Final = 15
TRY_ACQUIRE: Final = 16
RELEASE: Final = 17
SEMAPHORE_RELEASE: Final = 18  # an add
NOTIFY: Final = 19  # a store that ends a wait
TIMED_WAIT: Final = 20  # a load: taken before the wait can succeed, it has timed out
ADD_UNUSED: Final = 21  # a fetch_add that gives nothing: an add, if a number is found

# Operations that other threads can enable and disable.
AWAIT: Final = 30
AWAIT_EXCHANGE: Final = 31
ACQUIRE: Final = 32
WAIT: Final = 33  # an await of a synchronisation object: stuck for ever is a deadlock, no livelock
AWAIT_PART: Final = 34  # a read of part of a container, as below, that waits

# A guard and an update, both functions of the value: blocked until the guard holds.
FIRST_UPDATE: Final = 40
SEMAPHORE_ACQUIRE: Final = 40
QUEUE_PUT: Final = 41
QUEUE_GET: Final = 42
BARRIER_ENTER: Final = 43
BARRIER_CHANGE: Final = 44
READ_ACQUIRE: Final = 45  # a lock for readers and writers
WRITE_ACQUIRE: Final = 46

# The same, always enabled: when the guard does not hold, it is a read that gives FAILED.
FIRST_TRY_UPDATE: Final = 60
SEMAPHORE_TRY_ACQUIRE: Final = 60
SEMAPHORE_BOUNDED_RELEASE: Final = 61
QUEUE_TRY_PUT: Final = 62
QUEUE_TRY_GET: Final = 63
QUEUE_TASK_DONE: Final = 64
QUEUE_SHUTDOWN: Final = 65
BARRIER_TIME_OUT: Final = 66
FUTURE_CHANGE: Final = 67
POOL_CHANGE: Final = 68
READ_TRY_ACQUIRE: Final = 69
WRITE_TRY_ACQUIRE: Final = 70
TAKE_WAITER: Final = 71  # from a condition's set of waiting threads

# Operations on a container, which has parts: its items, by key or index, and its structure, that is
# which items there are, and in which order. Always enabled.
FIRST_ON_PARTS: Final = 80
ITEM_READ: Final = 80
ITEM_SET: Final = 81
ITEM_DELETE: Final = 82  # absent: a read
ITEM_INSERT: Final = 83  # unless it is there
INDEX_READ: Final = 84  # beyond the end: a read of the structure
INDEX_SET: Final = 85  # the same
APPEND: Final = 86
LENGTH: Final = 87
READ_WHOLE: Final = 88
CHANGE_WHOLE: Final = 89
TAKE: Final = 90  # an item from an end; empty: a read

# Parts of a location: an item's number, or one of these.
ALL: Final = -1
NOTHING: Final = -2  # the structure alone

# As a choice: whichever alternative comes first.
ANY: Final = -1

VERBS: Final[dict[int, str]] = {
    SPAWN: "spawn",
    JOIN: "join",
    CHOOSE: "choose",
    LOAD: "load",
    STORE: "store",
    EXCHANGE: "exchange",
    COMPARE_EXCHANGE: "compare_exchange",
    FETCH_ADD: "fetch_add",
    ADD_TO: "add",
    ADD_UNUSED: "fetch_add",
    TRY_ACQUIRE: "try acquire",
    RELEASE: "release",
    SEMAPHORE_RELEASE: "release",
    NOTIFY: "notify",
    TIMED_WAIT: "timed wait",
    AWAIT: "await",
    AWAIT_EXCHANGE: "await_exchange",
    AWAIT_PART: "await",
    ACQUIRE: "acquire",
    WAIT: "wait",
    SEMAPHORE_ACQUIRE: "acquire",
    QUEUE_PUT: "put",
    QUEUE_GET: "get",
    BARRIER_ENTER: "enter",
    BARRIER_CHANGE: "change",
    READ_ACQUIRE: "acquire to read",
    WRITE_ACQUIRE: "acquire to write",
    SEMAPHORE_TRY_ACQUIRE: "try acquire",
    SEMAPHORE_BOUNDED_RELEASE: "release",
    QUEUE_TRY_PUT: "try put",
    QUEUE_TRY_GET: "try get",
    QUEUE_TASK_DONE: "task_done",
    QUEUE_SHUTDOWN: "shutdown",
    BARRIER_TIME_OUT: "timed wait",
    FUTURE_CHANGE: "change",
    POOL_CHANGE: "change",
    READ_TRY_ACQUIRE: "try acquire to read",
    WRITE_TRY_ACQUIRE: "try acquire to write",
    TAKE_WAITER: "take a waiter from",
    ITEM_READ: "read",
    ITEM_SET: "set",
    ITEM_DELETE: "delete",
    ITEM_INSERT: "insert",
    INDEX_READ: "read",
    INDEX_SET: "set",
    APPEND: "append",
    LENGTH: "length of",
    READ_WHOLE: "read all of",
    CHANGE_WHOLE: "change",
    TAKE: "take from",
}

Footprint = tuple[int, int, int]  # the mode, how the structure is accessed, and the part


def may_block(kind: int) -> bool:
    """Whether other threads can enable or disable an operation of this kind on a location."""
    return AWAIT <= kind < FIRST_TRY_UPDATE


def depends_on_value(kind: int) -> bool:
    """Whether the value found decides if an always enabled operation reads or writes."""
    return (
        kind == COMPARE_EXCHANGE
        or kind == TRY_ACQUIRE
        or kind == RELEASE
        or kind == ADD_UNUSED
        or FIRST_TRY_UPDATE <= kind < FIRST_ON_PARTS
    )


def is_steady(kind: int) -> bool:
    """Whether an operation accesses its location in the same way whatever it finds there."""
    return not (may_block(kind) or depends_on_value(kind) or kind >= FIRST_ON_PARTS)


def mode_when_enabled(kind: int) -> int:
    """How an operation that may block accesses its location once it is enabled."""
    return READ if kind == AWAIT or kind == WAIT or kind == AWAIT_PART else WRITE


def has_parts(kind: int) -> bool:
    """Whether an operation works on a container: what it finds there is more than one value."""
    return kind >= FIRST_ON_PARTS or kind == AWAIT_PART


def is_on_item(kind: int) -> bool:
    """Whether an operation on a container accesses one item, whatever it finds there: with the
    structure, or without; or the structure alone, if there is no such item."""
    return ITEM_READ <= kind <= INDEX_SET


def is_memory_access(kind: int) -> bool:
    """Whether an operation is a load, a store or a read-modify-write of a plain variable."""
    return LOAD <= kind <= FETCH_ADD


def is_blind(kind: int) -> bool:
    """Whether an operation on a plain variable does not look at what it finds there."""
    return kind == STORE

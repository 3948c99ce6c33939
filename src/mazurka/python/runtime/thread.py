"""Threads and shared objects, as the runtime sees them."""

from collections.abc import Callable
from contextvars import Context
from typing import Any, Final

from mazurka.engine.event import Event
from mazurka.engine.operation import AWAIT, LOAD, NONE, READ, STORE, VERBS, WAIT
from mazurka.engine.turns import Stepper
from mazurka.python.memory.shapes import MISSING
from mazurka.python.operations import NO_VIEW, View
from mazurka.python.words import show, show_found

ThreadNames = Callable[[int], str]  # what people call a thread, by its number


class Identity:
    """An ordinary object, the same in every execution: which one of which thread it is."""

    def __init__(self, name: str, label: str) -> None:
        self.name = name
        self.label = label  # what people call it
        self.fields: dict[str, int] = {}  # the locations of its attributes
        self.contents = -1  # and of its items, if it is a container


class Location:
    """What is known of a shared object in every execution."""

    def __init__(self, name: str, label: str | None, cell_type: "type[Cell]", part_of: int) -> None:
        self.name = name  # the thread that made it, and its count there
        self.label = label  # the name that the user gave
        self.cell_type = cell_type
        self.part_of = part_of  # the location of the user's object that this is part of; -1: none
        self.code: object = None  # where it was made
        self.instruction = 0
        self.owner: Identity | None = None  # if it is part of an ordinary object,
        self.field = ""  # which attribute; none: its items
        self.holds: type | None = None  # of the items of a container: its class, if always the same
        self.keys: list[object] | None = None  # of a container whose items have keys, by number
        self.numbers: dict[object, int] = {}  # and the other way round
        self.is_changed = False  # of an attribute: whether some step has changed it
        self.is_relied_on = False  # whether it was read in the midst of a step, unannounced


class Cell:
    """Anything with a location: a value that operations read and change."""

    def __init__(self, value: object, name: str | None, part_of: "Cell | None" = None) -> None:
        self.value = value
        self.initial = value
        self.name = name
        self.part_of = part_of
        self.location = -1
        self.known: Location | None = None
        self.epoch = 0  # of the execution that the value belongs to
        self.serial = 0  # made outside executions: every one begins with the initial value
        self.made_at: tuple[object, int] = (None, 0)  # if so, the code object and instruction

    def look(self, kind: int, item: int, key: object) -> View:
        """What an operation finds, if this is a container."""
        return NO_VIEW

    def snapshot(self, mode: int) -> object:
        """What a container is before an operation that accesses it in this way."""
        return None

    def given(self, method: str, found: object) -> object:
        """What a method gives that finds this value and does nothing else; MISSING if it does."""
        return MISSING

    # In words. Of an event only its location is known, and so the class of the cell, not the cell.

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        """What an event did to such an object, which has this name."""
        kind = event.kind
        if kind == LOAD or kind == AWAIT:
            return f"{VERBS[kind]} {name}: {show(event.before)}"
        if kind == STORE:
            return f"store {show(event.first)} to {name}"
        return f"{VERBS[kind]} {name}" + (": no change" if event.mode == READ else "")

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        """Whether an event is worth telling, given whether some event only looks at the object."""
        return True

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        """What a thread waits for that cannot perform an operation on this."""
        waits = "for" if kind == WAIT else f"to {VERBS[kind]}"
        return f"{waits} {name}, which is {show(self.value)}"

    def found_words(self, awaited: object, name: str) -> str:
        """What a thread finds here as long as it waits in a loop."""
        return f"{name} is {show_found(self.value)}"

    def __repr__(self) -> str:
        """The same in every execution: messages that show an object can be compared."""
        name = self.name or (self.known.name if self.known is not None else "")
        return f"<{type(self).__name__} {name}>"


NOWHERE: Final = Cell(None, None)  # the place of operations that access no location


class Until:
    """What an operation in a loop is to wait for, though it would not by itself."""

    def __init__(self, loop: object) -> None:
        self.loop = loop

    def strengthen(self, thread: "Thread") -> bool:
        """Make the operation that a thread stands before wait; False if that cannot be."""
        raise NotImplementedError

    def result(self, kind: int, result: object) -> object:
        """What an operation gives that was of this kind before."""
        raise NotImplementedError


class Operation:
    """What a thread may stand before."""

    def __init__(self, kind: int, cell: Cell, first: object, second: object) -> None:
        self.kind = kind
        self.cell = cell
        self.first = first
        self.second = second


class Timeout:
    """How long a thread waits, where timeouts come last, and what it does in the end."""

    def __init__(self, wait: Operation, in_the_end: Operation, deadline: float) -> None:
        self.wait = wait
        self.in_the_end = in_the_end
        self.deadline = deadline


class Thread(Stepper):
    """A thread of the program. The object and its greenlet serve the same thread (its parent, and
    which child of it) in every execution."""

    def __init__(self, id: int, name: str) -> None:
        super().__init__(id)
        self.name = name  # which child of which: "0.2.1"
        self.lineage = [int(order) for order in name.split(".")]
        self.rank = 0  # by its lineage, among all; the registry says when it is known
        self.child_ids: list[int] = []  # of the children ever seen, in order
        self.object_ids: list[int] = []  # the locations of the objects it ever made
        self.identities: list[Identity] = []  # of the ordinary objects it was the first to use
        self.greenlet: Any = None
        self.resume: Any = None  # the greenlet's switch method: looking it up takes time
        self.context = Context()  # of the greenlet
        self.users_code: object = None  # a code object that is known to be the user's,
        self.first_place = 0  # and the number of the first place in it
        self.reset(do_nothing, (), 0)

    def reset(
        self, function: Callable[..., object], arguments: tuple[object, ...], epoch: int
    ) -> None:
        """Begin a new execution."""
        self.epoch = epoch  # the execution that it lives in
        self.function = function
        self.arguments = arguments
        self.children = 0
        self.objects = 0
        self.named = 0  # so many of its identities are given
        self.numbered = 0  # and so many objects of its own have got an id
        self.finished = False
        self.gave_up = False  # an assumption failed: blocked for good
        self.spin: object = None  # the loop that it waits in, if it gave up or awaits for that
        self.latest = 0  # the position after its latest step, or after the one that spawned it
        self.has_left = False  # the user's code: what it does now has no place in the source
        self.loop: object = None  # the one whose head it came to last
        self.until: Until | None = None  # what its next operation is to wait for
        self.timeout: Timeout | None = None  # if its next operation may time out, at last
        self.calling: object = None  # a call that may wait, until the function has begun
        self.changes = 0  # what it did to objects of its own, and more that is no step
        self.result: object = None
        self.exception: BaseException | None = None
        self.cancellations = 0
        self.code: object = None  # where it stood when the execution ended before it
        self.instruction = 0
        self.kind = NONE  # the operation that it stands before
        self.cell: Cell = NOWHERE
        self.first: object = None
        self.second: object = None
        self.choice = 0  # which alternative; the other thread of a join
        self.alternatives = 1  # 0: a condition that is to be decided
        self.daemon = False  # whether it may wait for ever
        self.clock = 0.0  # for how many seconds it has slept or waited
        self.looks = 0  # how often it has looked at a clock
        self.state: object = None  # what the standard library keeps for it

    def location(self) -> int:
        return self.cell.location

    def stand_before(self, operation: Operation) -> None:
        self.kind = operation.kind
        self.cell = operation.cell
        self.first = operation.first
        self.second = operation.second


def none_known(*_: object) -> list[Any]:
    return []


def never(*_: object) -> bool:
    return False


def do_nothing(*_: object) -> None:
    return None

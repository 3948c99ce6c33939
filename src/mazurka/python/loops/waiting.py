"""Operations that wait until a round of their loop would not be in vain.

The rewrite to awaits of "Awaiting for Godot": a read, exchange, compare-exchange or try does not
happen where its result would make the round pure. Rewritten code says when that is the case (see
python/loops/forward_conditions.py); here the operation is told to wait.
"""

from collections.abc import Callable
from types import CodeType
from typing import Any, Final, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    ACQUIRE,
    AWAIT,
    AWAIT_EXCHANGE,
    AWAIT_PART,
    COMPARE_EXCHANGE,
    EXCHANGE,
    INDEX_READ,
    ITEM_READ,
    LENGTH,
    LOAD,
    QUEUE_GET,
    QUEUE_PUT,
    QUEUE_TRY_GET,
    QUEUE_TRY_PUT,
    READ_WHOLE,
    SEMAPHORE_ACQUIRE,
    SEMAPHORE_TRY_ACQUIRE,
    TIMED_WAIT,
    TRY_ACQUIRE,
    VERBS,
)
from mazurka.python.check import RUNNING
from mazurka.python.loops.constants import constant_at, is_readable
from mazurka.python.loops.rounds import (
    SUSPENDS,
    Loop,
    ignores_time,
    is_constant,
    is_pure,
    leaves_no_trace,
    same,
    time_does_not_matter,
)
from mazurka.python.loops.sleeping import is_standard, is_standard_exception
from mazurka.python.memory.cells import Contents
from mazurka.python.memory.shapes import MISSING, WHOLE, plain_length
from mazurka.python.operations import PartAwaited, ValueAwaited, View
from mazurka.python.operations import same as equals
from mazurka.python.runtime.thread import Cell, Thread, Until
from mazurka.python.source import callers_frame, variables_of
from mazurka.python.words import show, show_found

PurityCondition = Callable[[object, dict[str, Any]], object]

# Names among the variables of a condition that stand for something else.
AT_HEAD: Final = "head of loop: "  # begins that of a variable as it was there
RETURNS: Final = "return"  # whether the round is in vain if the function gives a value
RAISES: Final = "raise"  # the condition also says what if the operation fails
MODEL: Final = "model: "  # begins that of a method, and of an object that it must only read
CONSTANT: Final = "constant: "  # begins that of an attribute which must not change
CALL: Final = "call: "  # begins that of a function which must be the standard one
CATCHES: Final = "catches: "  # begins that of an exception which must be the standard one
ARE_CONSTANT: Final = "constant?"  # whether none of these does

# What waits until an operation that only tries would succeed.
WAITING: Final = {
    TRY_ACQUIRE: ACQUIRE,
    SEMAPHORE_TRY_ACQUIRE: SEMAPHORE_ACQUIRE,
    QUEUE_TRY_GET: QUEUE_GET,
    QUEUE_TRY_PUT: QUEUE_PUT,
}
# The operations of methods. One that begins with another operation has more of them.
OPERATIONS: Final = {
    "exchange": (EXCHANGE,),
    "compare_exchange": (COMPARE_EXCHANGE,),
    "acquire": (TRY_ACQUIRE, SEMAPHORE_TRY_ACQUIRE),
    "wait": (TIMED_WAIT,),
    "get": (QUEUE_TRY_GET,),
    "get_nowait": (QUEUE_TRY_GET,),
    "put": (QUEUE_TRY_PUT,),
    "put_nowait": (QUEUE_TRY_PUT,),
}
READS: Final = (LOAD,)

# What is looked for in a container.
ITEM: Final = 0
ITEM_OR_DEFAULT: Final = 1
CONTAINS: Final = 2
LENGTH_OF: Final = 3
TRUTH: Final = 4


class Fails:
    """In place of what an operation gives: it raises an exception."""

    def __init__(self, exception: str) -> None:
        self.exception = exception


NO_KEY: Final = Fails("KeyError")
NO_INDEX: Final = Fails("IndexError")
IS_EMPTY: Final = Fails("Empty")
IS_FULL: Final = Fails("Full")
FAILING: Final = Fails("")  # one that no loop waits with


class Sought:
    """What an operation looks for in a container, and finds there or in a copy of it."""

    def __init__(self, sort: int, key: object, default: object) -> None:
        self.sort = sort
        self.key = key
        self.default = default

    def find(self, contents: Any) -> object:
        """If there is no such item: the failure."""
        if self.sort == LENGTH_OF:
            return plain_length(contents)
        if self.sort == TRUTH:
            return plain_length(contents) > 0
        if isinstance(contents, dict):
            found = dict.get(contents, self.key, MISSING)
            if self.sort == CONTAINS:
                return found is not MISSING
            missing: object = NO_KEY if self.sort == ITEM else self.default
            return missing if found is MISSING else found
        if isinstance(contents, set):
            return set.__contains__(contents, self.key)
        assert self.sort == ITEM
        try:
            return contents[self.key]
        except IndexError:
            return NO_INDEX
        except Exception:
            return FAILING


class Unless(Until):
    """Wait unless the round goes on as a condition of the loop says."""

    def __init__(
        self,
        thread: Thread,
        loop: Loop,
        condition: PurityCondition,
        variables: dict[str, Any],
        method: str,
        sought: Sought | None,
    ) -> None:
        super().__init__(loop)
        self.condition = condition
        self.variables = variables
        self.method = method  # that performs the operation; none: the read of a variable
        self.sought = sought
        # The round had no effect up to here, from where on arguments may be evaluated.
        self.latest = thread.latest
        self.changes = thread.changes

    def is_still_pure(self, thread: Thread) -> bool:
        visit = cast(Loop, self.loop).visits[-1]
        if thread.changes != self.changes or not time_does_not_matter(thread, visit):
            return False
        return thread.latest == self.latest or leaves_no_trace(thread, visit.position)

    def strengthen(self, thread: Thread) -> bool:
        """Make the operation that a thread stands before wait; False if it is another sort."""
        kind = thread.kind
        if not self.is_still_pure(thread):
            return False
        if self.sought is not None:
            return self.strengthen_look(thread, self.sought)
        if kind not in OPERATIONS.get(self.method, READS):
            return False
        if kind == LOAD or kind == TIMED_WAIT:
            thread.kind = AWAIT
            thread.first = AwaitedRead(self, thread.cell)
            return True
        if kind == EXCHANGE:
            thread.second = thread.first
            thread.kind = AWAIT_EXCHANGE
            thread.first = AwaitedExchange(self, thread.second)
            return True
        if not self.is_pure_if_it_fails(kind):
            return False
        if kind == COMPARE_EXCHANGE:
            thread.kind = AWAIT_EXCHANGE
            thread.first = AwaitedCompareExchange(thread.first)
            return True
        thread.kind = WAITING[kind]
        return True

    def strengthen_look(self, thread: Thread, sought: Sought) -> bool:
        """Let a thread wait for what it looks for in a container. Where the search may want to know
        what it found before some change, copies are needed: it begins anew, and makes them."""
        check = RUNNING.check
        runtime = check.runtime
        kind = thread.kind
        contents = thread.cell
        if not isinstance(contents, Contents):
            return False  # the attribute of an object, found in its __dict__
        if kind == READ_WHOLE:
            if contents.shape != WHOLE:
                return False  # its parts are changed in any order
        elif kind != ITEM_READ and kind != INDEX_READ and kind != LENGTH:
            return False
        if not runtime.copies:
            runtime.copies = True
            check.objects.stop_search()
        thread.second = sought.key
        thread.first = AwaitedLook(self, sought, kind, cast(int, thread.first))
        thread.kind = AWAIT_PART
        return True

    def result(self, kind: int, result: object) -> object:
        """What the operation gives, now that it has waited."""
        return True if kind == COMPARE_EXCHANGE else result

    def is_pure(self, value: object) -> bool:
        """Whether the round comes to nothing if the operation gives this value."""
        try:
            return bool(self.condition(value, self.variables))
        except Exception:  # the code that follows raises it, too
            return False

    def is_pure_if_it_fails(self, kind: int) -> bool:
        """The same for an operation that only tries."""
        if kind == QUEUE_TRY_GET or kind == QUEUE_TRY_PUT:
            failure = IS_EMPTY if kind == QUEUE_TRY_GET else IS_FULL
            return RAISES in self.variables and self.is_pure(failure)
        return self.is_pure(False)

    def is_pure_if_returned(self, value: object) -> bool:
        """The same for a value that a function gives which the loop calls."""
        return is_constant(value) and self.is_pure(value)


class AwaitedLook(PartAwaited):
    """What a look into a container waits for."""

    def __init__(self, until: Unless, sought: Sought, kind: int, item: int) -> None:
        super().__init__(kind, item)
        self.until = until
        self.sought = sought

    def __call__(self, contents: object) -> bool:
        value = self.sought.find(contents)
        if isinstance(value, Fails):
            return RAISES not in self.until.variables or not self.until.is_pure(value)
        return not is_constant(value) or not self.until.is_pure(value)

    def look(self, contents: object) -> View:
        view = View(plain_length(contents), False, None)
        view.value = self.sought.find(contents)
        if self.kind == ITEM_READ:
            view.present = view.value is not NO_KEY and view.value is not False
        return view

    def step_words(self, event: Event, name: str) -> str:
        view = cast(View, event.view)
        if self.kind == LENGTH:
            return f"length of {name}: {view.length}"
        if self.kind == READ_WHOLE:
            return f"{VERBS[self.kind]} {name}"
        found = "not there" if isinstance(view.value, Fails) else show_found(view.value)
        return f"{VERBS[self.kind]} {name}[{show(event.second)}]: {found}"

    def found_words(self, name: str, contents: object) -> str:
        sort = self.sought.sort
        if sort == LENGTH_OF or sort == TRUTH:
            return f"length of {name}: {plain_length(contents)}"
        found = self.sought.find(contents)
        key = show(self.sought.key)
        if sort == CONTAINS:
            return f"{key} is {'' if found else 'not '}in {name}"
        return f"{name}[{key}] is {'not there' if isinstance(found, Fails) else show(found)}"


class AwaitedRead(ValueAwaited):
    """What a read waits for, as a function of what it finds."""

    def __init__(self, until: Unless, cell: Cell) -> None:
        self.until = until
        self.cell = cell

    def __call__(self, found: object) -> bool:
        method = self.until.method
        value = self.cell.given(method, found) if method and method != "load" else found
        return value is MISSING or not is_constant(value) or not self.until.is_pure(value)


class AwaitedExchange:
    """What an exchange waits for: if it finds what it stores, it changes nothing."""

    def __init__(self, until: Unless, new: object) -> None:
        self.until = until
        self.new = new

    def __call__(self, found: object) -> bool:
        return not same(found, self.new) or not self.until.is_pure(found)


class AwaitedCompareExchange:
    """What a compare-exchange waits for."""

    def __init__(self, expected: object) -> None:
        self.expected = expected

    def __call__(self, found: object) -> bool:
        return equals(found, self.expected)


class Calling:
    """A call of a function of the user's that a loop makes: what the function gives decides whether
    the round is in vain."""

    def __init__(self, until: Unless, code: CodeType) -> None:
        self.until = until
        self.code = code


Place = Loop | Calling


class Waiting:
    """Where rewritten code may be waiting with an operation, and for what."""

    def __init__(
        self, place: Place, condition: PurityCondition, names: tuple[str, ...], takes_time: bool
    ) -> None:
        self.place = place  # the loop, or the call of a function that a loop has made
        self.condition = condition  # with which values the round will be in vain
        self.names = names  # the variables that this depends on
        self.takes_time = takes_time  # whether time passes in such a round


def until_for(waiting: Waiting, method: str, sought: Sought | None = None) -> Unless | None:
    """What an operation is to wait for; None if the round has had effects already, or if what the
    condition depends on may change."""
    check = RUNNING.check
    settings = check.loop_settings
    thread = check.runtime.current
    if thread is None or not settings.awaits or not settings.purity:
        return None
    place = waiting.place
    if isinstance(place, Calling):
        loop = cast(Loop, place.until.loop)
        if not place.until.is_still_pure(thread):
            return None
    else:
        loop = place
        if loop.sort == SUSPENDS or loop.begin < 0 or not is_pure(thread, loop):
            return None
    if waiting.takes_time and not ignores_time(thread):
        return None
    variables = variables_at(loop, waiting.names)
    if not all(is_constant(value) and value is not MISSING for value in variables.values()):
        return None
    if isinstance(place, Calling):
        variables[RETURNS] = place.until.is_pure_if_returned
    return Unless(thread, loop, waiting.condition, variables, method, sought)


def variables_at(loop: Loop, names: tuple[str, ...]) -> dict[str, Any]:
    """What a condition depends on; MISSING for what is not known."""
    variables: dict[str, Any] = variables_of(names)
    if ARE_CONSTANT in names:
        variables[ARE_CONSTANT] = True
    for name in names:
        sort, colon, rest = name.partition(": ")
        if name == RAISES:
            variables[RAISES] = True
        elif sort + colon == AT_HEAD:
            variables[name] = loop.visits[-1].values[loop.names.index(rest)]
        elif sort + colon == CONSTANT:
            value = constant_at(rest)
            if value is MISSING or not is_constant(value):
                variables[ARE_CONSTANT] = False
            else:
                variables[name] = value
        elif sort + colon == MODEL:
            method, _, variable = rest.partition(" ")
            variables[name] = True if is_readable(method, variable) else MISSING
        elif sort + colon == CALL:
            variables[name] = True if is_standard(rest) else MISSING
        elif sort + colon == CATCHES:
            variables[name] = True if is_standard_exception(rest) else MISSING
    return variables


def awaiting(
    until: Until, function: Callable[..., object], *arguments: Any, **named: Any
) -> object:
    """Call a method that performs one operation, which is to wait."""
    thread = RUNNING.check.runtime.current
    assert thread is not None
    thread.until = until
    try:
        return function(*arguments, **named)
    finally:
        thread.until = None


def awaiting_call(
    until: Unless, code: CodeType, function: Callable[..., object], *arguments: Any, **named: Any
) -> object:
    """Call a function of the user's, which has this code: one of its operations may wait."""
    thread = RUNNING.check.runtime.current
    assert thread is not None
    thread.calling = Calling(until, code)
    try:
        return function(*arguments, **named)
    finally:
        thread.calling = None


# What rewritten code calls


def may_be_waiting(
    place: Place | None, condition: PurityCondition, names: tuple[str, ...], takes_time: bool
) -> Waiting | None:
    """What is told to the hook of an operation; None if no loop is waiting."""
    if place is None or RUNNING.check.runtime.is_elsewhere():
        return None
    return Waiting(place, condition, names, takes_time)


def called() -> Calling | None:
    """A function is called: by a loop that waits for what it gives?"""
    thread = RUNNING.check.runtime.current
    if thread is None or thread.calling is None:
        return None
    calling = cast(Calling, thread.calling)
    thread.calling = None
    return calling if callers_frame().f_code is calling.code else None


def same_constants(one: object, other: object) -> bool:
    return is_constant(one) and same(one, other)


def would_raise(value: object, exceptions: tuple[str, ...]) -> bool:
    """Whether an operation fails, and a handler of some exceptions catches that."""
    return isinstance(value, Fails) and value.exception in exceptions


def evaluates(value: object) -> bool:
    """That something can be evaluated."""
    return True

"""Loops that only wait: what a thread does in a round, and when there is no use in another one.

Partial Loop Purity elimination ("Awaiting for Godot: Stateless Model Checking that Avoids
Executions where Nothing Happens"), done while the program runs: rewritten code says when a thread
comes to the head of a loop. A round is pure if it changed nothing that the thread or another one
could ever see; a thread that has made one is cut there. docs/proofs/loops.md says why nothing is
missed.
"""

from enum import EnumMeta
from typing import Any, Final, cast

from mazurka.engine.event import Event, dependent
from mazurka.engine.operation import (
    ACQUIRE,
    ADD_TO,
    AWAIT,
    AWAIT_EXCHANGE,
    AWAIT_PART,
    EXCHANGE,
    FETCH_ADD,
    FIRST_ON_PARTS,
    FIRST_TRY_UPDATE,
    INDEX_READ,
    INDEX_SET,
    ITEM_READ,
    ITEM_SET,
    LENGTH,
    NONE,
    READ,
    RELEASE,
    STORE,
    TRY_ACQUIRE,
    WRITE,
)
from mazurka.python.check import RUNNING
from mazurka.python.loops.sleeping import are_counters, are_standard
from mazurka.python.memory.containers import iterate
from mazurka.python.memory.shapes import ATOMS, MISSING, is_machinery, shape_of
from mazurka.python.operations import View
from mazurka.python.runtime.runtime import IN_A_CIRCLE
from mazurka.python.runtime.thread import Thread
from mazurka.python.source import callers_frame, variables_of


class LoopSettings:
    """What is done about loops, and what was learnt in the searches of one check."""

    def __init__(self, purity: bool = True, awaits: bool = True, unroll: int | None = None) -> None:
        self.purity = purity
        self.awaits = awaits
        self.unroll = unroll or 0  # how many rounds a loop may have; 0: as many as it likes
        # Threads, by their names: those that were cut though time had passed for them, and those
        # that have looked at a clock.
        self.timeless: set[str] = set()
        self.clock_readers: set[str] = set()
        self.circle: Circle | None = None  # the latest that an execution was in


# What rounds take that only look at a clock, in seconds: the first, and the last there may be.
SHORTEST_PAUSE: Final = 1e-3
LONGEST_PAUSE: Final = 1e9
REGULAR_ROUNDS: Final = 16

MOST_VISITS: Final = 8  # that are kept of a loop
MOST_ROUNDS: Final = 4  # of one thread, in a circle that is looked for

# What is known of a loop from its source.
SUSPENDS: Final = 0  # there is an `await` or `yield` in it: other code runs meanwhile
ANY_LOOP: Final = 1
POLLS: Final = 2  # it is nothing but a read and a test


class Visit:
    """A thread at the head of a loop: what counts of its state there."""

    def __init__(self, thread: Thread, loop: "Loop") -> None:
        self.position = thread.latest  # its steps before were made before this one
        self.values = values_of(loop.names)
        self.counters = values_of(loop.counters)
        self.changes = thread.changes
        self.looks = thread.looks
        self.clock = thread.clock
        self.watched_writes = RUNNING.check.runtime.watched_writes


class Loop:
    """A loop from when a thread enters it until it leaves."""

    def __init__(self, line: int, names: tuple[str, ...], sort: int, file: str) -> None:
        self.file = file
        self.line = line
        self.names = names  # the variables that rounds assign, and later ones may use
        self.counters: tuple[str, ...] = ()  # more of these, which are faint
        self.operands: tuple[str, ...] = ()  # if these are numbers that they are computed from,
        self.calls: tuple[str, ...] = ()  # and these functions the standard ones
        self.sort = sort
        self.rounds = 0
        self.regular_rounds = 0
        self.pause = SHORTEST_PAUSE
        self.entered = 0.0  # when, by the thread's clock
        self.visits: list[Visit] = []  # the latest ones
        self.begin = -1  # the position of the latest

    def begin_round(self, thread: Thread) -> None:
        visit = Visit(thread, self)
        self.visits.append(visit)
        self.begin = visit.position
        if len(self.visits) > MOST_VISITS:
            del self.visits[0]
        thread.loop = self


def values_of(names: tuple[str, ...]) -> list[object]:
    """Local variables of the function that is running."""
    if not names:
        return []
    frame: Any = callers_frame()  # of which local variables are no dict from Python 3.13 on
    return [frame.f_locals.get(name, MISSING) for name in names]


# What rewritten code calls


def enter_loop(
    line: int,
    names: tuple[str, ...],
    sort: int,
    counters: tuple[str, ...] = (),
    operands: tuple[str, ...] = (),
    calls: tuple[str, ...] = (),
) -> Loop:
    runtime = RUNNING.check.runtime
    loop = Loop(line, names, sort, callers_frame().f_code.co_filename)
    if runtime.current is not None:
        loop.entered = runtime.current.clock
    loop.counters = counters
    loop.operands = operands
    loop.calls = calls
    return loop


def again(loop: Loop) -> bool:
    """A thread comes to the head of a loop: there it may be cut."""
    check = RUNNING.check
    runtime = check.runtime
    thread = runtime.current
    if thread is None or runtime.is_elsewhere() or runtime.cancelling:
        return True
    if loop.begin < 0:
        loop.begin_round(thread)
    elif loop.begin == thread.latest:
        if not loop.names and is_endless(thread, loop):
            cut(thread, loop)
        let_time_pass(thread, loop)
    else:
        if is_cut(loop) and is_pure(thread, loop):
            cut(thread, loop)
        let_time_pass(thread, loop)
        count_round(loop)
        loop.begin_round(thread)
        if check.loop_settings.purity and loop.sort != SUSPENDS:
            look_for_circle(thread, loop)
    return True


def cut(thread: Thread, loop: Loop) -> None:
    thread.spin = loop
    RUNNING.check.runtime.give_up()


def is_endless(thread: Thread, loop: Loop) -> bool:
    """Whether a thread will go round for ever, with no step and no change of its own."""
    visit = loop.visits[-1]
    return (
        is_cut(loop)
        and thread.changes == visit.changes
        and (not loop.counters or are_faint(loop, visit))
        and RUNNING.check.runtime.race_detector is None  # else it may look at what others change
        and time_does_not_matter(thread, visit)
    )


def is_cut(loop: Loop) -> bool:
    """Whether pure rounds of a loop end it. (Every model checker cuts loops that only poll.)"""
    return loop.sort == POLLS or (loop.sort == ANY_LOOP and RUNNING.check.loop_settings.purity)


def count_round(loop: Loop) -> None:
    check = RUNNING.check
    runtime = check.runtime
    loop.rounds += 1
    if loop.rounds == check.loop_settings.unroll:
        runtime.out_of_rounds = True
        runtime.give_up()


def iterate_in_loop(value: Any) -> Any:
    """What a `for` statement goes through. What has a length has an end."""
    check = RUNNING.check
    items = iterate(value)
    if (
        not check.loop_settings.unroll
        or check.runtime.is_elsewhere()
        or hasattr(type(value), "__len__")
    ):
        return items
    return Rounds(items)


class Rounds:
    """Gives the items of an iterator to a loop, as long as that has rounds left."""

    def __init__(self, items: Any) -> None:
        self.items: Any = iter(items)
        self.loop = Loop(0, (), SUSPENDS, "")

    def __iter__(self) -> "Rounds":
        return self

    def __next__(self) -> object:
        runtime = RUNNING.check.runtime
        thread = runtime.current
        if thread is not None and not runtime.is_elsewhere() and not runtime.cancelling:
            loop = self.loop
            if 0 <= loop.begin < thread.latest:
                count_round(loop)
            loop.begin_round(thread)
        return next(self.items)


# Purity


def is_pure(thread: Thread, loop: Loop) -> bool:
    """Whether the round up to now has had no effect: on what threads share, on the variables of its
    own that may be used later, on anything else of the thread's."""
    visit = loop.visits[-1]
    return (
        thread.changes == visit.changes
        and leaves_all_as_it_was(thread, loop, visit)
        and time_does_not_matter(thread, visit)
    )


def leaves_all_as_it_was(thread: Thread, loop: Loop, visit: Visit) -> bool:
    return (
        leaves_no_trace(thread, visit.position)
        and are_same(visit.values, values_of(loop.names))
        and (not loop.counters or are_faint(loop, visit))
    )


def are_faint(loop: Loop, visit: Visit) -> bool:
    """Whether the counters of a loop are of no consequence, or what they were."""
    if are_same(visit.counters, values_of(loop.counters)):
        return True
    operands = variables_of(loop.operands)
    return (
        len(operands) == len(loop.operands)
        and are_counters(list(operands.values()))
        and are_standard(loop.calls)
    )


def time_does_not_matter(thread: Thread, visit: Visit) -> bool:
    """That time has passed is no matter, unless the thread ever looks at a clock."""
    return thread.clock == visit.clock or ignores_time(thread)


def ignores_time(thread: Thread) -> bool:
    settings = RUNNING.check.loop_settings
    if thread.name in settings.clock_readers:
        return False
    settings.timeless.add(thread.name)
    return True


def note_clock() -> None:
    """The running thread looks at a clock. If it was thought not to, the search begins anew."""
    check = RUNNING.check
    settings = check.loop_settings
    thread = check.runtime.current
    assert thread is not None
    thread.changes += 1
    thread.looks += 1
    settings.clock_readers.add(thread.name)
    if thread.name in settings.timeless:
        settings.timeless = set()
        check.objects.stop_search()


def let_time_pass(thread: Thread, loop: Loop) -> None:
    """A round in which a thread did nothing but look at a clock, or wait, may have taken any time:
    each takes twice as long as the one before. So a deadline is reached soon, if there is one.
    (After some rounds that take the time that they say.)"""
    visit = loop.visits[-1]
    looks = thread.looks - visit.looks
    moved = thread.clock != visit.clock
    if (looks == 0 and not moved) or thread.changes - visit.changes != looks or not is_cut(loop):
        return
    if leaves_all_as_it_was(thread, loop, visit):
        if moved and loop.regular_rounds < REGULAR_ROUNDS:
            loop.regular_rounds += 1
            return
        RUNNING.check.runtime.let_time_pass(thread, loop.pause)
        visit.clock = thread.clock
        loop.pause *= 2
        if loop.pause > LONGEST_PAUSE:
            cut(thread, loop)
    elif thread.clock - loop.entered > LONGEST_PAUSE and leaves_no_trace(thread, visit.position):
        cut(thread, loop)  # nobody waits for so long


def leaves_no_trace(thread: Thread, begin: int) -> bool:
    """Whether the steps of a thread since then have changed nothing that others could see."""
    runtime = RUNNING.check.runtime
    events = runtime.events
    places: dict[tuple[int, int], list[int]] = {}  # by location and part: where it wrote
    for position in range(begin, runtime.position):
        event = events[position]
        if event.thread != thread.id or event.mode == READ or changes_nothing(event):
            continue
        if not can_be_undone(event):
            return False
        places.setdefault((event.location, event.part), []).append(position)
    return all(is_undone(positions) for positions in places.values())


def can_be_undone(event: Event) -> bool:
    """Whether the same thread may put back what a step has changed. A loop that does so with
    anything but a lock is left to `unroll`, if there is a bound, as it is in the paper. If the
    order of writes is left open, it is not known whether another one came in between."""
    kind = event.kind
    if kind == ACQUIRE or kind == TRY_ACQUIRE or kind == RELEASE:
        return True
    check = RUNNING.check
    if check.loop_settings.unroll or not check.runtime.orders_writes or event.mode != WRITE:
        return False
    return STORE <= kind <= FETCH_ADD or replaces_item(event)


def replaces_item(event: Event) -> bool:
    """Whether a step gives an item of a container, which was there, another value."""
    return (event.kind == ITEM_SET or event.kind == INDEX_SET) and event.structure == NONE


def changes_nothing(event: Event) -> bool:
    """Whether a step that writes has written what was there: the paper's conditions for exchanges
    and additions. (A compare-exchange that fails is a read.)"""
    if event.kind == EXCHANGE:
        return same(event.before, event.first)
    if event.kind == FETCH_ADD or event.kind == ADD_TO:
        return type(event.first) is int and event.first == 0
    return False


def is_undone(positions: list[int]) -> bool:
    """Whether a location, or an item, is as it was before the steps at these places of the
    execution, and no other thread came in between: then nobody can tell that it was changed."""
    events = RUNNING.check.runtime.events
    first, last = events[positions[0]], events[positions[-1]]
    if not same(value_before(first), value_after(last)):
        return False
    return not any(
        events[position].thread != first.thread and dependent(events[position], first)
        for position in range(positions[0], positions[-1])
    )


def value_before(event: Event) -> object:
    """What a step has found in its location, or as its item."""
    return cast(View, event.view).value if event.kind >= FIRST_ON_PARTS else event.before


def value_after(event: Event) -> object:
    """What a step has left there. (Stores that are repeated do not note it.)"""
    return event.first if event.kind == STORE else event.after


def are_same(some: list[object], others: list[object]) -> bool:
    return all(same(*pair) for pair in zip(some, others, strict=True))


def same(one: object, other: object) -> bool:
    """Whether nobody can tell two values of a variable apart. An object of which it is not seen
    what is done to it may have changed."""
    if is_constant(one):
        return one is other or (type(one) is type(other) and are_equal_constants(one, other))
    return one is other and is_seen(one)


def are_equal_constants(one: Any, other: Any) -> bool:
    """The same for two constants of one type: 0.0 == -0.0, and (0,) == (False,)."""
    kind = type(one)
    if kind is tuple:
        return len(one) == len(other) and are_same(list(one), list(other))
    if kind is float or kind is complex or kind is range:
        return repr(one) == repr(other)
    return bool(is_constant(other) and one == other)


def is_constant(value: object) -> bool:
    kind = type(value)
    if kind is tuple:
        return all(is_constant(part) for part in cast(tuple[object, ...], value))
    return kind in ATOMS or value is MISSING or (isinstance(kind, EnumMeta) and is_plain_enum(kind))


COMPARING: Final = ("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__")


def is_plain_enum(kind: Any) -> bool:
    """Whether members of an enum are compared and tested without any code of the user's."""
    bases = [base for base in kind.__mro__ if base.__module__ not in ("enum", "builtins")]
    return not any(
        name in SPECIAL_METHODS and getattr(method, "__module__", "") != "enum"
        for base in bases
        for name, method in vars(base).items()
    )


# What comparing, testing and computing with a value may call.
SPECIAL_METHODS: Final = {
    name
    for kind in (int, str, list, float)
    for name in dir(kind)
    if name.startswith("__") and (name not in dir(object) or name in COMPARING)
}


def is_seen(value: object) -> bool:
    kind = type(value)
    return bool(shape_of(kind)) or RUNNING.check.objects.is_all_seen(kind) or is_machinery(kind)


# Livelocks


def is_stuck(thread: Thread) -> bool:
    """Whether a thread that waits in a loop would wait on, were it to go round again: nobody has
    changed what it looked at since it did.

    It may be stuck though somebody has, if what is there now is as bad. But then there is another
    execution in which it looked later: that one tells. What others change in their rounds, and
    change back, does not get it on: it may look at the heads of their loops every time.
    """
    runtime = RUNNING.check.runtime
    visit = cast(Loop, thread.spin).visits[-1]
    if visit.watched_writes != runtime.watched_writes or tries_what_is_let_go(thread):
        return False
    events = runtime.events
    reads: list[Event] = []
    for position in range(visit.position, runtime.position):
        event = events[position]
        if event.thread == thread.id:
            reads.append(event)
        elif event.mode == READ or event.mode == NONE or is_in_last_round(event, position):
            continue
        elif any(dependent(read, event) for read in reads):
            return False
    return True


def last_round(thread: Thread) -> list[Event]:
    return steps_of(thread, cast(Loop, thread.spin).begin, RUNNING.check.runtime.position)


def tries_what_is_let_go(thread: Thread) -> bool:
    """Whether a thread tries in vain to take a lock, or the like, that others have at the heads of
    their loops and release in every round. It is taken to get it some time, as with `lets_go`."""
    tried = [event.location for event in last_round(thread) if is_try(event.kind)]
    return any(
        event.location in tried and event.mode != READ
        for other in RUNNING.check.runtime.live
        if other is not thread and other.spin is not None
        for event in last_round(other)
    )


def is_try(kind: int) -> bool:
    return kind == TRY_ACQUIRE or FIRST_TRY_UPDATE <= kind < FIRST_ON_PARTS


def lets_go(spinning: list[Thread], waiting: Event) -> bool:
    """Whether a thread that waits would find what it waits for in the midst of a round of others:
    a lock, say, that they have at the heads of their loops and release in between. Whoever waits
    for a value may look at the heads of their loops every time."""
    if waiting.kind == AWAIT or waiting.kind == AWAIT_EXCHANGE or waiting.kind == AWAIT_PART:
        return False
    return any(
        event.location == waiting.location and event.mode != READ
        for thread in spinning
        for event in last_round(thread)
    )


def is_in_last_round(event: Event, position: int) -> bool:
    """Whether a step belongs to the round in which its thread is cut: that changes nothing."""
    loop = RUNNING.check.runtime.names.threads[event.thread].spin
    return loop is not None and position >= cast(Loop, loop).begin


# Circles: threads that have effects, but get nowhere


def look_for_circle(thread: Thread, loop: Loop) -> None:
    """Find out if all that has happened since the thread was here some rounds ago may happen again
    and again, though every thread has its turns: a livelock. The execution ends there, unless the
    search has asked for more steps."""
    check = RUNNING.check
    runtime = check.runtime
    if found_circle() is not None:
        return
    for visit in loop.visits[-1 - MOST_ROUNDS : -1]:
        if has_the_same_values(visit, loop.visits[-1]) and is_circle(thread, visit, loop):
            check.loop_settings.circle = Circle(visit.position, runtime.position)
            if runtime.position >= runtime.path_end:
                runtime.stop(IN_A_CIRCLE)
            return


class Circle:
    """Steps of an execution after which everything is as it was before."""

    def __init__(self, begin: int, end: int) -> None:
        self.begin = begin
        self.end = end
        self.epoch = RUNNING.check.runtime.epoch  # the execution


def has_the_same_values(one: Visit, other: Visit) -> bool:
    return are_same(one.values, other.values) and are_same(one.counters, other.counters)


def found_circle() -> Circle | None:
    """The circle in this execution."""
    check = RUNNING.check
    circle = check.loop_settings.circle
    return circle if circle is not None and circle.epoch == check.runtime.epoch else None


def is_circle(thread: Thread, visit: Visit, loop: Loop) -> bool:
    runtime = RUNNING.check.runtime
    latest = loop.visits[-1]
    if visit.changes != latest.changes or visit.clock != latest.clock:
        return False
    if runtime.race_detector is not None or not is_memory_the_same(visit.position):
        return False
    return all(other is thread or goes_in_circle(other, visit.position) for other in runtime.live)


def is_memory_the_same(begin: int) -> bool:
    """Whether everything that threads share is as it was then."""
    runtime = RUNNING.check.runtime
    events = runtime.events
    before: dict[tuple[int, int], object] = {}
    after: dict[tuple[int, int], object] = {}
    for position in range(begin, runtime.position):
        event = events[position]
        if event.mode == READ:
            continue
        if event.location < 0 or (event.kind >= FIRST_ON_PARTS and not replaces_item(event)):
            return False
        place = event.location, event.part
        before.setdefault(place, value_before(event))
        after[place] = value_after(event)
    return all(same(before[place], after[place]) for place in before)


def goes_in_circle(thread: Thread, begin: int) -> bool:
    """Whether a thread is in the state that it was in then, and has made steps, or could make none
    all the time."""
    runtime = RUNNING.check.runtime
    if thread.gave_up:
        return False
    if thread.latest <= begin:
        if thread.finished:
            return True
        return not runtime.enabled(thread) and not is_accessed(thread.cell.location, begin)
    if thread.finished:
        return False
    loop = cast(Loop | None, thread.loop)
    if loop is None:
        return False
    earlier = [visit for visit in loop.visits if visit.position <= begin]
    if not earlier:
        return False
    then, now = earlier[-1], loop.visits[-1]
    return (
        then.changes == now.changes == thread.changes
        and then.clock == now.clock == thread.clock
        and has_the_same_values(then, now)
        and are_alike(
            steps_of(thread, then.position, begin), steps_of(thread, now.position, runtime.position)
        )
    )


def is_accessed(location: int, begin: int) -> bool:
    runtime = RUNNING.check.runtime
    events = runtime.events
    return any(events[position].location == location for position in range(begin, runtime.position))


def steps_of(thread: Thread, begin: int, end: int) -> list[Event]:
    return [event for event in RUNNING.check.runtime.events[begin:end] if event.thread == thread.id]


def are_alike(some: list[Event], others: list[Event]) -> bool:
    """Whether the same steps have found the same: then the thread is where it was."""
    return len(some) == len(others) and all(
        one.kind == other.kind
        and one.location == other.location
        and one.mode == other.mode
        and one.part == other.part
        and found_the_same(one, other)
        for one, other in zip(some, others, strict=True)
    )


def found_the_same(one: Event, other: Event) -> bool:
    """Whether two steps of one kind did. (What they found of a whole container is not kept.)"""
    if one.kind in OF_PARTS:
        some, others = cast(View, one.view), cast(View, other.view)
        return (
            some.length == others.length
            and some.present == others.present
            and same(some.value, others.value)
        )
    return one.kind < FIRST_ON_PARTS and same(one.before, other.before)


OF_PARTS: Final = (ITEM_READ, ITEM_SET, INDEX_READ, INDEX_SET, LENGTH, AWAIT_PART)

"""Futures, as in `concurrent.futures`, and those who wait for several of them.

A future has two locations. Its *beginning* decides between a worker that sets it running and those
who cancel it. Its *end* is set once, and most who look at a future wait for that alone: so nobody
can tell when it began to run. A thread that has seen the end need not look again.
"""

from collections.abc import Callable
from typing import Any, Final, cast

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    ADD_TO,
    FUTURE_CHANGE,
    LOAD,
    TIMED_WAIT,
    WAIT,
    WRITE,
)
from mazurka.python.check import RUNNING
from mazurka.python.operations import FAILED, always
from mazurka.python.primitives.slots import Slots, is_filled
from mazurka.python.primitives.timeouts import in_time
from mazurka.python.runtime.runtime import SharedObject
from mazurka.python.runtime.thread import Cell, Operation, ThreadNames

# How a future begins.
PENDING: Final = 0
RUNS: Final = 1
CANCELS: Final = 2
TELLS: Final = 3  # it was cancelled, and those are told who wait for several futures
ENDS: Final = 4  # somebody gives it a result, and nobody has set it running

# How it ends.
OPEN: Final = 0
CANCELLED: Final = 1
NOTIFIED: Final = 2  # cancelled, and also for those who wait for several futures
FINISHED: Final = 3


class End:
    """How a future has ended, or who is to be told then; never changed, only replaced."""

    def __init__(
        self,
        state: int,
        result: object,
        error: BaseException | None,
        callbacks: tuple[object, ...],
        waiters: "tuple[Waiter, ...]",
    ) -> None:
        self.state = state
        self.result = result
        self.error = error
        self.callbacks = callbacks
        self.waiters = waiters


Guard = Callable[[End], bool]
Change = Callable[[End], tuple[object, object]]  # to an end, or a Forward; and a result


class Forward:
    """In the place of an end: it is kept in a log, with those of other futures."""

    def __init__(self, log: "Log", end: End) -> None:
        self.log = log
        self.end = end  # what it was before


class Part(SharedObject):
    """One of the two locations of a future."""

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        after = event.after
        if event.kind == LOAD or event.kind == TIMED_WAIT:
            return f"look at {name}"
        if event.kind == WAIT:
            return f"wait for {name}"
        if event.mode != WRITE:
            return f"try to change {name}: no change"
        if not isinstance(after, End):
            return f"{BEGINNINGS.get(after, 'change')} {name}"
        return f"finish {name}" if after.state == FINISHED else f"change {name}"

    @staticmethod
    def is_told(event: Event, is_looked_at: bool) -> bool:
        return event.after != RUNS or is_looked_at

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"for {name}, which is not done"


BEGINNINGS: Final[dict[object, str]] = {
    RUNS: "begin to run",
    CANCELS: "cancel",
    TELLS: "tell that it was cancelled:",
    ENDS: "begin to finish",
}


class Future:
    """The model of a future."""

    def __init__(
        self, name: str | None = None, begun: int = PENDING, end: End | None = None
    ) -> None:
        self.beginning = Part(begun, name)
        self.end = Part(end or End(OPEN, None, None, (), ()), name, self.beginning)
        self.epoch = 0
        self.seen_by: set[int] = set()  # the threads that know the end
        self.runner = -1  # the thread that has set it running
        self.of: object = None  # what it is the model of

    # Its end

    def change(self, guard: Guard, update: Change) -> object:
        """Change the end, if the guard holds; else FAILED. If it completes the future, those who
        wait for it among others get to know it."""
        result, log, index, others = self.change_where_it_is(guard, update)
        if index >= 0:
            cast(Log, log).slots.at(index).store(self)
            for other in others:  # which have handed it on, and may be read all the same
                index = cast(int, perform(FUTURE_CHANGE, other, always, appending(self)))
                other.slots.at(index).store(self)
        return result

    def change_where_it_is(
        self, guard: Guard, update: Change
    ) -> "tuple[object, Log | None, int, list[Log]]":
        here = perform(FUTURE_CHANGE, self.end, guarding(guard), updating(update))
        if here is not FAILED:
            return here, None, -1, []
        found = self.end.value
        others: list[Log] = []
        while isinstance(found, Forward):
            log, before = found.log, found.end
            logged = perform(
                FUTURE_CHANGE, log, logged_guard(self, guard, before), logging(self, update, before)
            )
            if logged is not FAILED:
                result, index = cast(tuple[object, int], logged)
                return result, log, index, others
            found = cast(Logged, log.value).ends.get(self, before)
            others.append(log)
        return FAILED, None, -1, others

    def look(self) -> End:
        """What is known of the end now."""
        return self.known_end() or self.found(None, None)

    def wait(self, guard: Guard) -> End:
        """Wait until the end is as wanted; it stays so."""
        known = self.known_end()
        return known if known is not None and guard(known) else self.found(guard, None)

    def wait_timed(self, timeout: float) -> End:
        known = self.known_end()
        if known is None:
            known = self.found(is_done, timeout)
            in_time(known.state != OPEN, timeout)
        return known

    def found(self, guard: Guard | None, timeout: float | None) -> End:
        waits = None if guard is None else going_on(guard)
        found: object = look_or_wait(self.end, waits, timeout)
        while isinstance(found, Forward):
            log, before = found.log, found.end
            waits_there = None if guard is None else logged_going_on(self, guard, before)
            logged = cast(Logged, look_or_wait(log, waits_there, timeout))
            found = logged.ends.get(self, before)
        end = cast(End, found)
        if end.state == FINISHED or end.state == NOTIFIED:
            self.note_seen()
        return end

    def note_seen(self) -> None:
        """The running thread knows the end, which does not change any more."""
        self.own_seen_by().add(running_thread())

    def own_seen_by(self) -> set[int]:
        epoch = RUNNING.check.runtime.epoch
        if self.epoch != epoch:
            self.epoch = epoch
            self.seen_by = set()
            self.runner = -1
        return self.seen_by

    def known_end(self) -> End | None:
        """The end, if the running thread knows it."""
        if running_thread() not in self.own_seen_by():
            return None
        found = self.end.value
        while isinstance(found, Forward):
            found = cast(Logged, found.log.value).ends.get(self, found.end)
        return cast(End, found)

    # What is done with it

    def finish(self, result: object, error: BaseException | None) -> tuple[object, ...] | None:
        """Give it a result; the callbacks that are to be called, or None if it had ended."""
        runtime = RUNNING.check.runtime
        runtime.give_away(result if error is None else error)
        self.own_seen_by()
        if self.runner != running_thread() and not self.ends():
            self.wait(is_done)
            return None

        def finished(end: End) -> tuple[object, object]:
            return End(FINISHED, result, error, (), ()), (end.callbacks, end.waiters)

        found = self.change(is_open, finished)
        if found is FAILED:
            return None
        self.note_seen()
        callbacks, waiters = cast(tuple[tuple[object, ...], tuple[Waiter, ...]], found)
        for waiter in waiters:
            waiter.count(error is not None)
        return callbacks

    def ends(self) -> bool:
        """Somebody who has not set it running gives it a result: may he?"""
        if perform(FUTURE_CHANGE, self.beginning, is_pending, to_ends) is not FAILED:
            return True
        return self.beginning.value == RUNS

    def begin(self) -> bool | None:
        """Set it running, unless it was cancelled; None if neither can be."""
        begun = perform(FUTURE_CHANGE, self.beginning, may_begin, beginning)
        if begun is FAILED:
            return None
        if begun:
            self.own_seen_by()
            self.runner = running_thread()
            return True
        self.wait(is_done)  # whoever has cancelled it may still be about to say so

        def told(end: End) -> tuple[object, object]:
            return End(NOTIFIED, None, None, (), ()), end.waiters

        for waiter in cast("tuple[Waiter, ...]", self.change(is_cancelled, told)):
            waiter.count(False)
        return False

    def cancel(self) -> tuple[object, ...] | None:
        """Cancel it; the callbacks that are to be called, or None if it cannot be cancelled."""
        if perform(FUTURE_CHANGE, self.beginning, is_pending, to_cancels) is FAILED:
            if self.beginning.value == RUNS:
                return None
            return () if self.wait(is_done).state != FINISHED else None

        def cancelled(end: End) -> tuple[object, object]:
            return End(CANCELLED, None, None, (), end.waiters), end.callbacks

        return cast(tuple[object, ...], self.change(is_open, cancelled))

    def is_running(self) -> bool:
        return perform(LOAD, self.beginning, None, None) == RUNS and self.look().state == OPEN

    def add_callback(self, callback: object) -> bool:
        """Whether it is to be called later."""
        RUNNING.check.runtime.give_away(callback)

        def added(end: End) -> tuple[object, object]:
            return End(OPEN, None, None, (*end.callbacks, callback), end.waiters), None

        return self.known_end() is None and self.change(is_open, added) is not FAILED

    def add_waiter(self, waiter: "Waiter") -> bool:
        """Whether it will be told."""

        def added(end: End) -> tuple[object, object]:
            return End(end.state, None, None, end.callbacks, (*end.waiters, waiter)), None

        return self.known_end() is None and self.change(is_incomplete, added) is not FAILED

    def forward_to(self, log: "Log") -> bool:
        """Let its end be kept in a log; False if it is complete."""
        if self.known_end() is not None:
            return False

        def forwarded(end: End) -> tuple[object, object]:
            return Forward(log, end), None

        return self.change(is_incomplete, forwarded) is not FAILED


class Waiter(SharedObject):
    """Somebody who waits for several futures: counts those that are complete. Their order does not
    matter, and is not explored."""

    def __init__(self, futures: int, fails: bool) -> None:
        super().__init__(0, "futures")
        self.futures = futures
        self.fails = fails  # whether one that fails ends the wait

    def count(self, failed: bool) -> None:
        amount = self.futures if failed and self.fails else 1
        perform(ADD_TO, self, amount, None)

    def wait(self, number: int, timeout: float | None) -> None:
        found = cast(int, look_or_wait(self, at_least(number), timeout))
        in_time(found >= number, timeout)

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return "tell who waits" if event.kind == ADD_TO else f"wait for {name}"


class FirstError(SharedObject):
    """Which of the parts of a job has failed first."""

    def __init__(self) -> None:
        super().__init__(None, "ThreadPool")

    def note(self, error: BaseException) -> None:
        perform(FUTURE_CHANGE, self, is_none, lambda _: (error, None))

    def found(self) -> BaseException:
        """The error, for somebody who knows that all parts have ended."""
        return cast(BaseException, self.value)

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"fail in {name}"


class Logged:
    """The value of a log; never changed, only replaced."""

    def __init__(self, order: tuple[Future, ...], ends: dict[Future, object]) -> None:
        self.order = order
        self.ends = ends


class Log(SharedObject):
    """Futures in the order in which they are completed. Its reader waits for one place after the
    other: what comes later does not concern him."""

    def __init__(self) -> None:
        super().__init__(Logged((), {}), "futures")
        self.slots = Slots(self)

    def wait_for(self, place: int) -> Future:
        found = perform(WAIT, self.slots.at(place), is_filled, None)
        return cast(Future, found)

    def news(self, seen: int, timeout: float | None) -> tuple[Future, ...]:
        """Those that are complete now, but for the first."""
        waits = None if timeout is None else has_more_than(seen)
        order = cast(Logged, look_or_wait(self, waits, timeout)).order
        in_time(len(order) > seen, timeout)
        return order[seen:]

    @staticmethod
    def step_words(event: Event, name: str, threads: ThreadNames) -> str:
        return f"look at {name}" if event.kind != FUTURE_CHANGE else f"change one of {name}"

    def waiting_words(self, kind: int, name: str, threads: ThreadNames) -> str:
        return f"for {name} to be done"


def perform(kind: int, cell: Cell, first: object, second: object) -> Any:
    return RUNNING.check.runtime.perform(kind, cell, first, second)


def look_or_wait(cell: Cell, waits: Any, timeout: float | None) -> Any:
    """Look, if there is nothing to wait for; else wait, maybe for so many seconds at the most."""
    runtime = RUNNING.check.runtime
    if waits is None:
        return runtime.perform(LOAD, cell, None, None)
    if timeout is None:
        return runtime.perform(WAIT, cell, waits, None)
    look = Operation(TIMED_WAIT, cell, None, None)
    if not runtime.timeouts_last or timeout <= 0:
        return runtime.perform(look.kind, look.cell, look.first, look.second)
    return runtime.perform_in_time(Operation(WAIT, cell, waits, None), look, timeout)


def running_thread() -> int:
    thread = RUNNING.check.runtime.current
    return -1 if thread is None else thread.id


# Guards and updates


def is_none(value: object) -> bool:
    return value is None


def is_open(end: End) -> bool:
    return end.state == OPEN


def is_done(end: End) -> bool:
    return end.state != OPEN


def is_cancelled(end: End) -> bool:
    return end.state == CANCELLED


def is_complete(end: End) -> bool:
    """Whether it is done for those who wait for several futures."""
    return end.state == FINISHED or end.state == NOTIFIED


def is_incomplete(end: End) -> bool:
    return not is_complete(end)


def guarding(guard: Guard) -> Callable[[object], bool]:
    return lambda found: isinstance(found, End) and guard(found)


def going_on(guard: Guard) -> Callable[[object], bool]:
    """To wait for an end here, or for being sent elsewhere."""
    return lambda found: isinstance(found, Forward) or guard(cast(End, found))


def updating(update: Change) -> Callable[[object], tuple[object, object]]:
    return lambda found: update(cast(End, found))


def logged_guard(future: Future, guard: Guard, before: End) -> Callable[[Logged], bool]:
    def holds(logged: Logged) -> bool:
        found = logged.ends.get(future, before)
        return isinstance(found, End) and guard(found)

    return holds


def logged_going_on(future: Future, guard: Guard, before: End) -> Callable[[Logged], bool]:
    def holds(logged: Logged) -> bool:
        found = logged.ends.get(future, before)
        return isinstance(found, Forward) or guard(cast(End, found))

    return holds


def logging(
    future: Future, update: Change, before: End
) -> Callable[[Logged], tuple[Logged, tuple[object, int]]]:
    """Change an end in a log; gives also the place that the future has got there, or -1."""

    def change(logged: Logged) -> tuple[Logged, tuple[object, int]]:
        after, result = update(cast(End, logged.ends.get(future, before)))
        ends = {**logged.ends, future: after}
        if not isinstance(after, End) or not is_complete(after):
            return Logged(logged.order, ends), (result, -1)
        return Logged((*logged.order, future), ends), (result, len(logged.order))

    return change


def appending(future: Future) -> Callable[[Logged], tuple[Logged, int]]:
    return lambda logged: (Logged((*logged.order, future), logged.ends), len(logged.order))


def is_pending(begun: int) -> bool:
    return begun == PENDING


def may_begin(begun: int) -> bool:
    return begun == PENDING or begun == CANCELS


def beginning(begun: int) -> tuple[int, bool]:
    return (RUNS, True) if begun == PENDING else (TELLS, False)


def to_cancels(_: int) -> tuple[int, None]:
    return CANCELS, None


def to_ends(_: int) -> tuple[int, None]:
    return ENDS, None


def has_more_than(seen: int) -> Callable[[Logged], bool]:
    return lambda logged: len(logged.order) > seen


def at_least(number: int) -> Callable[[int], bool]:
    return lambda counted: counted >= number

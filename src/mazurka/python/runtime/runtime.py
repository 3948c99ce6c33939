"""The runtime: runs the threads of a program as greenlets, one step at a time.

A thread always stands before its next visible operation. When it reaches one, it asks whose turn it
is and switches straight to that thread's greenlet; it comes back when its own turn has come, and
performs the operation. There is one runtime in a check, and one execution at a time.
"""

import sys
from _thread import get_ident
from collections.abc import Callable
from contextvars import Context, copy_context
from typing import Any, Final, cast

from greenlet import getcurrent, greenlet

from mazurka.engine.errors import MazurkaError
from mazurka.engine.event import NO_EVENTS, Event, footprint_of
from mazurka.engine.operation import (
    ACQUIRE,
    ANY,
    AWAIT,
    CHOOSE,
    FIRST_ON_PARTS,
    JOIN,
    LOAD,
    NONE,
    SPAWN,
    UNKNOWN,
    VERBS,
    WRITE,
    Footprint,
    depends_on_value,
    has_parts,
    may_block,
)
from mazurka.engine.program import Request
from mazurka.engine.turns import Stepper, Turns, is_await
from mazurka.python.check import RUNNING
from mazurka.python.operations import Predicate, access_mode, apply, apply_guarded
from mazurka.python.runtime.journal import Journal, Remark, Turn
from mazurka.python.runtime.names import Names, where_now
from mazurka.python.runtime.race_detector import RaceDetector
from mazurka.python.runtime.standing import Standing
from mazurka.python.runtime.thread import (
    NOWHERE,
    Cell,
    Operation,
    Thread,
    Timeout,
    Until,
    do_nothing,
    never,
    none_known,
)
from mazurka.python.runtime.virtual_time import VirtualTime
from mazurka.python.source import here, running_frame, users_frame

# What stopped a run before its threads did.
NOTHING: Final = 0
DIVERGED: Final = 1
TOO_LONG: Final = 2
INTERRUPTED: Final = 3
POLLING: Final = 4
IN_A_CIRCLE: Final = 5

# A cancelled thread that goes on all the same is left alone after so many operations.
PATIENCE: Final = 1000


class Cancelled(BaseException):
    """Unwinds a thread of an execution that is over."""


class Stuck(BaseException):
    """Raised from outside in a thread that runs on and on without reaching an operation."""


class Divergence:
    """The program did not repeat itself: what was recorded, and what happened instead."""

    def __init__(self, expected: Event, thread: int, kind: int, location: int, why: str) -> None:
        self.expected = expected
        self.thread = thread
        self.kind = kind  # NONE: the thread has no operation to perform
        self.location = location
        self.why = why
        self.code: object = None
        self.instruction = 0


class Block:
    """Part of a thread that nothing may come between: its steps among those from `begin` on, up to
    `end`."""

    def __init__(self, thread: int, begin: int) -> None:
        self.thread = thread
        self.begin = begin
        self.end = sys.maxsize  # it has not ended yet
        self.waited = False  # whether it came to an operation that was not enabled


class Memory:
    """What is known of the ordinary objects of a program."""

    def forget(self) -> None:
        """A search begins or ends: put things back, and number them afresh."""
        raise NotImplementedError

    def begin(self) -> None:
        """An execution begins."""
        raise NotImplementedError

    def share(self, thing: object, label: str) -> None:
        """An object is put where other threads may find it."""
        raise NotImplementedError


class Runtime(Standing):
    """Runs one execution after the other of one program."""

    def __init__(self) -> None:
        super().__init__()
        self.names = Names()
        self.threads = self.names.threads  # the same list, at hand
        self.turns = Turns(self)
        self.explorer = 0  # the OS thread that runs all executions
        self.crowded = False  # whether there are others that may run the same code
        self.at_begin: Callable[..., object] = do_nothing  # called before each execution
        # Where an execution fails, and where it ends, while its threads still stand there.
        self.at_exception: Callable[[Thread, BaseException], object] | None = None
        self.at_end: Callable[[], object] | None = None
        # What to call in place of a thread's function, if not that itself.
        self.in_place_of: Callable[..., Any] | None = None
        self.takes_conditions = True
        self.orders_writes = True
        # Of symbolic values: whether a condition could not be true after other decisions, and an
        # example of inputs.
        self.excludes: Callable[[list[Event], Event], bool] = never
        self.inputs: Callable[[], list[str]] = none_known
        self.hub: Any = None  # the greenlet of the search; None when nothing is explored
        self.resume_hub: Any = None
        self.program: Callable[..., object] = do_nothing
        self.context = Context()  # of whoever explores it
        self.has_context = False  # whether that has any variables
        self.max_events = 0
        self.record_enabled = False
        self.starts_at_once = False  # whether children run before their parents go on
        self.is_remembered = False  # whether what is seen of containers is to be whole
        self.copies = False  # whether containers are copied before they are changed
        self.events: list[Event] = []
        self.path: list[Event] = NO_EVENTS
        self.memory: Memory | None = None  # if the program's own objects are seen
        self.race_detector: RaceDetector | None = None  # if accesses to these are no steps
        self.is_comparing = False  # whether a step compares items, which must perform no others
        self.time = VirtualTime()
        self.timeouts_last = False  # whether waits time out when nobody can go on, and not before
        self.lets_time_out = False
        self.journal: Journal | None = None  # of a run that is to be told
        self.timing_out: list[int] = []  # those of which one times out in the next step
        self.new_events: list[Event] = NO_EVENTS  # where those of the search are, if not in events
        self.has_looked = False  # whether some thread has looked at a clock, in this execution
        self.calls_threads = False  # whether an event loop has, as library/thread_calls.py tells
        self.hidden = ""  # what threads share that is in no location, if they ever did
        self.keep = 0
        self.path_end = 0
        self.position = 0
        self.pending: list[Thread] = []  # spawned by the thread that steps, but not yet started
        self.blocks: list[Block] = []  # those that must be atomic, in this execution
        self.out_of_rounds = False  # whether a thread came to the bound of a loop
        self.watched_writes = 0  # to ordinary objects, where these are no steps
        self.running = False  # in the program, or in what it made the runtime call
        self.is_collecting = False  # garbage
        self.cancelling = False
        self.stopped = NOTHING
        self.divergence: Divergence | None = None
        self.interrupt: BaseException | None = None
        self.misuse: MazurkaError | None = None
        self.first_failed: Thread | None = None
        self.failed_position = 0

    def prepare(
        self,
        program: Callable[..., object],
        independent_adds: bool,
        max_events: int,
        watches_races: bool,
    ) -> None:
        """Get ready to explore a program: forget all names of the one before."""
        self.program = program
        self.independent_adds = independent_adds
        self.max_events = max_events
        self.race_detector = RaceDetector() if watches_races else None
        self.names.forget()
        if self.memory is not None:
            self.memory.forget()
        self.events = []
        self.context = copy_context()
        self.has_context = len(self.context) > 0
        self.hub = getcurrent()
        self.resume_hub = self.hub.switch

    def close(self) -> None:
        """The exploration is over: let go of its threads and objects."""
        if self.hub is getcurrent():
            for thread in self.threads:
                end_greenlet(thread)
        self.hub = None
        self.running = False
        self.resume_hub = None
        self.current = None
        self.program = do_nothing
        self.names.forget()
        self.live = []
        self.turns.live = []
        self.events = []
        self.path = NO_EVENTS
        self.recent = None
        self.first_failed = None
        self.divergence = None
        self.race_detector = None
        self.turns.watcher = None
        if self.memory is not None:
            self.memory.forget()

    # One execution

    def run(self, request: Request) -> None:
        """Run the program: repeat the events, then the steps of the path, then go on freely."""
        self.begin(request)
        self.running = True
        self.start(self.threads[0])
        self.running = False
        if self.at_end is not None:
            self.at_end()
        self.cancel()
        if self.misuse is not None:
            raise self.misuse

    def begin(self, request: Request) -> None:
        """Put everything back to the start of an execution."""
        self.at_begin()  # while what the one before has left still belongs to it
        self.turns.take(request)
        self.events = request.events
        self.path = request.path
        self.new_events = NO_EVENTS
        self.timing_out = []
        self.journal = Journal() if self.names.refreshing else None
        if request.prefix:
            self.begin_after(request)
        self.keep = len(self.events)
        self.path_end = self.keep + len(self.path)
        self.record_enabled = request.all_stand
        self.lets_time_out = request.lets_time_out
        self.starts_at_once = request.all_stand or self.race_detector is not None
        self.takes_conditions = request.takes_conditions
        self.orders_writes = request.orders_writes
        self.position = 0
        RUNNING.executions += 1
        self.epoch = RUNNING.executions
        self.stopped = NOTHING
        self.divergence = None
        self.interrupt = None
        self.misuse = None
        self.first_failed = None
        self.pending = []
        self.out_of_rounds = False
        self.watched_writes = 0
        self.has_looked = False
        self.calls_threads = False
        if self.time.is_used:
            self.time.begin()
        if self.blocks:
            self.blocks = []
        if self.memory is not None:
            self.memory.begin()
        if self.race_detector is not None:
            self.race_detector.begin(self.names.refreshing)
        main = self.threads[0]
        self.live = [main]
        self.turns.live = [main]
        self.recent = main
        main.reset(self.program, (), self.epoch)

    def begin_after(self, request: Request) -> None:
        """The request is of a search that begins after some steps."""
        roots = request.roots
        missing = roots[len(request.events) :]
        request.events.extend(missing)
        self.path = request.path[len(missing) :]
        self.events = [*request.prefix, *request.events[len(roots) :]]
        self.new_events = request.events

    def start(self, thread: Thread) -> None:
        """Let a thread run up to its first operation."""
        if thread.greenlet is None:
            thread.greenlet = greenlet(self.work, self.hub)
            thread.context = Context()
            thread.greenlet.gr_context = thread.context
            thread.resume = thread.greenlet.switch
            self.current = thread
            thread.greenlet.switch(thread)
        else:
            self.go_on_with(thread)

    def work(self, thread: Thread) -> None:
        """The life of a greenlet: runs its thread's function, once for each execution."""
        while True:
            try:
                result = self.call(thread)
            except Cancelled:
                self.resume_hub()
            except BaseException as error:
                self.failed(thread, error)
            else:
                if self.cancelling:  # it swallowed the cancellation: it did not end by itself
                    self.resume_hub()
                else:
                    thread.result = result
                    self.finish(thread)

    def call(self, thread: Thread) -> object:
        """Call the thread's function. As in threading, main has the context variables of whoever
        runs it, and a new thread has none, whatever an earlier execution left in its greenlet."""
        function = self.callee(thread.function)
        if thread.id == 0 and self.has_context:
            return self.context.copy().run(function, *thread.arguments)
        if len(thread.context):
            return Context().run(function, *thread.arguments)
        return function(*thread.arguments)

    def callee(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What to call in place of a function of the program."""
        return function if self.in_place_of is None else self.in_place_of(function)

    def failed(self, thread: Thread, error: BaseException) -> None:
        """An exception left the thread's function."""
        if isinstance(error, (KeyboardInterrupt, Stuck)) or leaves_debugger(error):
            self.interrupt = KeyboardInterrupt() if is_quit_of_pdb(error) else error
            self.stopped = INTERRUPTED
            self.first_failed = thread
            thread.finished = True
            self.go_on_with(None)
        elif self.cancelling:  # raised by the thread's clean-up: the execution is over
            self.resume_hub()
        else:
            thread.exception = error
            if self.first_failed is None:
                self.first_failed = thread
                self.failed_position = self.position
                if self.at_exception is not None:
                    self.stop_for(thread, error, self.at_exception)
            self.finish(thread)

    def stop_for(
        self, thread: Thread, error: BaseException, look: Callable[[Thread, BaseException], object]
    ) -> None:
        """Let somebody look at a thread that fails: nothing of that is part of the execution."""
        self.current = None
        self.running = False
        try:
            look(thread, error)
        finally:
            self.current = thread
            self.running = True

    def finish(self, thread: Thread) -> None:
        """The thread's function is over: let another thread go on; return in the next execution."""
        thread.finished = True
        try:
            if self.pending:
                self.start(self.pending.pop(0))
            else:
                self.go_on_with(self.next_thread())
        except Cancelled:  # the execution was broken off here, and another one has begun
            pass

    def go_on_with(self, thread: Thread | None) -> None:
        """Switch to a thread, or to the search; return when somebody switches back."""
        self.current = thread
        resume = self.resume_hub if thread is None else thread.resume
        resume()  # a call of the attribute itself would look for a method first

    def cancel(self) -> None:
        """Unwind the threads that the execution left standing."""
        self.cancelling = True
        self.keep = 0  # nothing is repeated any more
        for thread in self.live:
            if not thread.finished and thread not in self.pending:
                frame = users_frame(thread.greenlet.gr_frame)
                if frame is not None:
                    thread.code = frame.f_code
                    thread.instruction = frame.f_lasti
                self.go_on_with(thread)
                if thread.cancellations > PATIENCE:
                    thread.greenlet = None  # it does not let itself be unwound: start afresh
        self.cancelling = False
        self.current = None

    def stop(self, why: int) -> None:
        """Break the execution off, from inside one of its threads."""
        if self.cancelling and self.current is not None:
            self.keep_cancelling(self.current)
        self.stopped = why
        self.go_on_with(None)
        raise Cancelled

    def remark(self, verb: str, cell: Cell | None, ending: str, name: str = "") -> None:
        """Write down what the running thread does to an object, or to something with a name, though
        it is no event."""
        thread = self.current
        if self.journal is not None and thread is not None:
            location = -1 if cell is None else cell.location
            remark = Remark(self.position, thread.id, verb, location, ending, *where_now())
            remark.name = name
            remark.task = self.journal.task_in(thread.id)
            self.journal.remarks.append(remark)

    def note_turn(self, task: str) -> None:
        """A task of asyncio, or none, begins to run in this thread."""
        thread = self.current
        if self.journal is not None and thread is not None:
            self.journal.turns.append(Turn(self.position, thread.id, task))

    def is_elsewhere(self) -> bool:
        """Whether the code that runs now is not the program's: nothing is explored, or this is
        another OS thread."""
        return self.current is None or (self.crowded and get_ident() != self.explorer)

    # One operation

    def repeats(self, kind: int, cell: Cell) -> bool:
        """Whether this operation is the very next one to repeat; then the caller performs it.

        This is all that most operations of an execution cost.
        """
        event = self.repeated_event(kind, cell)
        if event is None:
            return False
        event.before = cell.value
        return True

    def repeats_on(self, kind: int, cell: Cell, item: int) -> bool:
        """The same for an operation on an item of a container."""
        event = self.repeated_event(kind, cell)
        if event is None:
            return False
        if event.first != item:
            self.diverge(event, self.threads[event.thread], kind, cell.location, "on other items")
        if self.copies:
            event.before = cell.snapshot(event.mode)
        return True

    def repeated_event(self, kind: int, cell: Cell) -> Event | None:
        thread = self.current
        if thread is None or self.position >= self.keep:
            return None
        if thread.until is not None:  # it is another operation then
            return None
        if self.journal is not None:  # there is more to do than to repeat it
            return None
        if self.pending and (thread is not self.recent or self.starts_at_once):
            return None
        event = self.events[self.position]
        if event.thread != thread.id or event.is_vague:
            return None
        if cell.epoch != self.epoch:
            self.adopt(cell)
        if event.kind != kind or event.location != cell.location:
            self.diverge(event, thread, kind, cell.location, "")
        self.position += 1
        thread.latest = self.position
        self.recent = thread
        if self.race_detector is not None:
            self.race_detector.stepped(event)
        return event

    def perform(self, kind: int, cell: Cell, first: object, second: object) -> object:
        """Stand before an operation until it is this thread's turn, then perform it."""
        thread = self.current
        if thread is None:
            raise self.outside_error(kind)
        if self.is_comparing:
            raise self.misused("the program uses a lock or the like to compare items of a queue")
        if self.cancelling:
            self.keep_cancelling(thread)
        if cell.epoch != self.epoch:
            self.adopt(cell)
        thread.kind = kind
        thread.cell = cell
        thread.first = first
        thread.second = second
        if thread.until is not None:
            return self.perform_awaiting(thread, thread.until)
        if self.blocks and not self.enabled(thread):
            self.note_waiting(thread)
        self.stand(thread)
        return self.step(thread)

    def perform_awaiting(self, thread: Thread, until: Until) -> object:
        """Perform an operation in a loop, but wait for what makes the loop end or go on."""
        kind = thread.kind
        thread.until = None
        waits = until.strengthen(thread)
        if thread.timeout is not None:
            if waits:
                thread.timeout = None  # to time out would come to nothing
            else:
                thread.stand_before(thread.timeout.wait)
        if self.blocks and not self.enabled(thread):
            self.note_waiting(thread)
        if not waits:
            self.stand(thread)
            return self.step(thread)
        thread.spin = until.loop
        self.stand(thread)
        result = self.step(thread)
        thread.spin = None
        return until.result(kind, result)

    def perform_timed(
        self, trying: int, waiting: int, cell: Cell, first: object, second: object, timeout: float
    ) -> object:
        """Perform an operation that waits for so many seconds: try it at any time; or, where
        timeouts come last, wait for it, and try it in the end."""
        if not self.timeouts_last or timeout <= 0:
            return self.perform(trying, cell, first, second)
        wait = Operation(waiting, cell, bool if first is None else first, second)
        return self.perform_in_time(wait, Operation(trying, cell, first, second), timeout)

    def perform_in_time(self, wait: Operation, in_the_end: Operation, timeout: float) -> object:
        """Wait for an operation; perform another one if nobody can go on, and time is up."""
        thread = self.current
        if thread is None:
            raise self.outside_error(wait.kind)
        if self.cancelling:
            self.keep_cancelling(thread)
        thread.timeout = Timeout(wait, in_the_end, self.time_of(thread) + timeout)
        now = wait if thread.until is None else in_the_end  # which the loop may let wait
        result = self.perform(now.kind, now.cell, now.first, now.second)
        thread.timeout = None
        return result

    def note_waiting(self, thread: Thread) -> None:
        for block in self.blocks:
            if block.thread == thread.id and block.end == sys.maxsize:
                block.waited = True

    def stand(self, thread: Thread) -> None:
        """Wait for this thread's turn."""
        if self.pending and not self.goes_on(thread):
            self.start(self.pending.pop(0))
        else:
            following = self.next_thread()
            if following is thread:
                return
            self.go_on_with(following)
        if self.cancelling:
            raise Cancelled

    def step(self, thread: Thread) -> object:
        """Perform the operation that the thread stands before, and record it if it is new."""
        position = self.position
        cell = thread.cell
        kind = thread.kind
        self.recent = thread
        thread.latest = position + 1
        if self.journal is not None and not thread.has_left:
            self.journal.note_caller(position)
        if position < self.keep:
            event = self.events[position]
            if event.kind != kind or event.location != cell.location:
                self.diverge(event, thread, kind, cell.location, "")
            if depends_on_value(kind) and event.mode != access_mode(
                kind, cell.value, thread.first, thread.second
            ):
                self.diverge(event, thread, kind, cell.location, "with another outcome")
            if kind >= FIRST_ON_PARTS and self.footprint_of(thread) != footprint_of(event):
                self.diverge(event, thread, kind, cell.location, "on other items")
            if kind == JOIN and event.choice != thread.choice:
                self.diverge(event, thread, kind, -1, "of another thread")
            if kind == CHOOSE and thread.alternatives and event.alternatives != thread.alternatives:
                self.diverge(event, thread, kind, -1, "from other values")
            thread.choice = event.choice
            if event.is_vague:
                event.is_vague = False
                if kind >= FIRST_ON_PARTS:
                    event.view = cell.look(kind, cast(int, thread.first), thread.second)
            # Values may be objects of this very execution: searches compare them with each other.
            event.before = cell.value if kind < FIRST_ON_PARTS else cell.snapshot(event.mode)
            event.first = thread.first
            event.second = thread.second
            self.position = position + 1
            if self.race_detector is not None:
                self.race_detector.stepped(event)
            result = self.apply(thread)
            event.after = cell.value
            return result
        if position >= self.max_events:
            self.stop(TOO_LONG)
        event = self.new_event(thread)
        self.events.append(event)
        if self.new_events is not NO_EVENTS:
            self.new_events.append(event)
        self.position = position + 1
        if position < self.path_end:
            self.check_path(event, self.path[position - self.keep], thread)
        if self.turns.sleep:
            self.turns.wake(event)
        if self.race_detector is not None:
            self.race_detector.stepped(event)
        result = self.apply(thread)
        event.after = cell.value
        return result

    def watch(self, watcher: RaceDetector, cell: Cell, accessed: Footprint) -> None:
        """An access to an ordinary object that is no step."""
        thread = self.current
        assert thread is not None
        if self.cancelling:
            self.keep_cancelling(thread)
        if accessed[0] == WRITE:
            self.watched_writes += 1
            thread.changes += 1
        watcher.accessed(thread.id, cell, accessed, self.position)
        if watcher.accesses > self.max_events:
            self.stop(POLLING)

    def new_event(self, thread: Thread) -> Event:
        kind = thread.kind
        cell = thread.cell
        event = self.standing(thread)
        event.before = cell.value if kind < FIRST_ON_PARTS else cell.snapshot(event.mode)
        event.alternatives = len(self.choices(thread)) if kind == CHOOSE else 1
        event.sleep = self.turns.sleep
        self.note_place(event, thread)
        if self.record_enabled:
            event.enabled = self.timing_out or [
                other.id for other in self.live if self.enabled(other)
            ]
        if kind == CHOOSE and self.position < self.path_end:
            expected = self.path[self.position - self.keep].choice
            thread.choice = self.choices(thread)[0] if expected == ANY else expected
        if kind == SPAWN:
            event.choice = self.names.next_child(thread)
        elif kind == CHOOSE or kind == JOIN:
            event.choice = thread.choice
        return event

    def note_place(self, event: Event, thread: Thread) -> None:
        """Where in the source a step is made. It is mostly in the code where the thread made one
        before: to look whose code it is takes time."""
        if thread.has_left:
            return
        frame = running_frame()
        if frame is not None:
            code = frame.f_code
            if code is not thread.users_code:
                frame = users_frame(frame)
                if frame is None:
                    return
                code = frame.f_code
                thread.users_code = code
                thread.first_place = self.names.places.first_in(code)
            event.place = thread.first_place + frame.f_lasti

    def check_path(self, event: Event, expected: Event, thread: Thread) -> None:
        """A step of the path must be the operation that the search predicted."""
        if expected.kind == UNKNOWN:
            operation = self.names.operation_name(event)
            if expected.first is not None and operation != expected.first:
                why = (
                    f"in step {self.position} thread {thread.name} now does '{operation}', not "
                    f"'{expected.first}'"
                )
                self.diverge(expected, thread, event.kind, event.location, why)
            if event.kind == CHOOSE and event.choice not in self.choices(thread):
                why = f"in step {self.position} there is no alternative {event.choice + 1}"
                self.diverge(expected, thread, event.kind, event.location, why)
            if expected.mode != NONE and event.mode != expected.mode:
                why = f"in step {self.position} '{operation}' has another outcome"
                self.diverge(expected, thread, event.kind, event.location, why)
            return
        if event.kind != expected.kind or event.location != expected.location:
            self.diverge(expected, thread, event.kind, event.location, "")
        if footprint_of(event) != footprint_of(expected):
            self.diverge(expected, thread, event.kind, event.location, "with another outcome")

    def apply(self, thread: Thread) -> object:
        """The effect of the operation on its location, and what it gives."""
        kind = thread.kind
        cell = thread.cell
        if kind == LOAD:  # as most are
            return cell.value
        if LOAD < kind < AWAIT:
            result, cell.value = apply(kind, thread.id, cell.value, thread.first, thread.second)
            return result
        if kind == SPAWN:
            # In quotes: plain Python would make the type each time, by code that is rewritten.
            function = cast("Callable[..., object]", thread.first)
            return self.spawn(thread, function, cast("tuple[object, ...]", thread.second))
        if kind == JOIN:
            return cast(Thread, thread.first).result
        if kind == CHOOSE:
            return thread.choice
        if has_parts(kind):
            return None  # the thread itself goes on to do it
        if kind == ACQUIRE:
            result, cell.value = apply(kind, thread.id, cell.value, thread.first, thread.second)
            return result
        holds = self.test(cast(Predicate, thread.first), cell.value)
        result, cell.value = apply_guarded(kind, cell.value, holds, thread.second)
        return result

    def test(self, predicate: Predicate, value: object) -> object:
        """Evaluate a predicate; it must not perform operations of its own."""
        thread = self.current
        self.current = None
        try:
            return predicate(value)
        finally:
            self.current = thread

    def spawn(
        self, parent: Thread, function: Callable[..., object], arguments: tuple[object, ...]
    ) -> Thread:
        """Make a child. It runs up to its first operation as soon as its parent's turn is over:
        when that depends on nothing but the steps, every repetition does the same."""
        child = self.threads[self.names.next_child(parent)]
        parent.children += 1
        child.reset(function, arguments, self.epoch)
        child.latest = self.position
        self.live.append(child)
        self.turns.live.append(child)
        self.pending.append(child)
        return child

    def give_up(self) -> None:
        """An assumption does not hold: this thread never goes on."""
        thread = self.current
        if thread is None:
            raise MazurkaError("assume works only in a program that Mazurka runs")
        thread.gave_up = True
        self.stand(thread)

    def note_stored(self, value: object) -> None:
        """The step that was just made gives an item of a container this value."""
        if self.race_detector is None and self.current is not None:
            self.events[self.position - 1].after = value

    def note_change(self) -> None:
        """The running thread changes something of its own, which is no step."""
        if self.current is not None:
            self.current.changes += 1

    # Time

    def let_time_pass(self, thread: Thread, seconds: float) -> None:
        thread.clock += seconds
        self.time.let_pass(thread.id, self.position, seconds)

    def let_time_pass_until(self, thread: Thread, moment: float) -> None:
        """So that no clock of the thread shows an earlier one."""
        thread.clock += max(0.0, moment - self.time_of(thread))
        self.time.let_pass_until(thread.id, self.position, moment)

    def time_of(self, thread: Thread) -> float:
        """How much time has passed for a thread since the execution began."""
        self.has_looked = True
        return self.time.now(thread.id, self.events, self.position)

    def look_at_clock(self, thread: Thread) -> float:
        """The same, for a thread that looks at a clock."""
        self.has_looked = True
        return self.time.look(thread.id, self.events, self.position)

    # Whose turn it is

    def known(self) -> int:
        return len(self.threads)

    def at(self, number: int) -> Stepper:
        return self.threads[number]

    def next_thread(self) -> Thread | None:
        """The thread that makes the next step; None at the end of the execution."""
        if self.timing_out:
            self.timing_out = []
        if self.position >= self.path_end:
            chosen = self.turns.free_choice()
            if chosen is None and self.lets_time_out:
                return self.first_to_time_out()
            return cast(Thread | None, chosen)
        expected = self.expected_step()
        thread = self.threads[expected.thread]
        if thread.epoch != self.epoch or thread.finished or thread.gave_up:
            self.diverge(expected, thread, NONE, -1, "")
        if (may_block(thread.kind) or thread.kind == JOIN) and not self.enabled(thread):
            if thread.timeout is not None:
                thread.stand_before(thread.timeout.in_the_end)
                return thread
            self.diverge(expected, thread, thread.kind, thread.cell.location, "which is blocked")
        return thread

    def first_to_time_out(self) -> Thread | None:
        """Nobody can go on: who times out."""
        first = self.threads_to_time_out()
        if not first:
            return None
        steppers: list[Stepper] = []
        steppers.extend(first)
        thread = cast(Thread, self.turns.pick_of(steppers))
        self.timing_out = [each.id for each in first]
        assert thread.timeout is not None
        thread.stand_before(thread.timeout.in_the_end)
        return thread

    def threads_to_time_out(self) -> list[Thread]:
        """Those whose time is up first, if there are some and nobody can go on. (An execution
        that has failed need not.)"""
        if not self.timeouts_last or self.stopped != NOTHING or self.first_failed is not None:
            return []
        first: list[Thread] = []
        for thread in self.live:
            if thread.gave_up or self.enabled(thread):
                return []
            timeout = thread.timeout
            if thread.finished or timeout is None:
                continue
            earliest = first[0].timeout if first else None
            if earliest is None or timeout.deadline < earliest.deadline:
                first = [thread]
            elif timeout.deadline == earliest.deadline:
                first.append(thread)
        return first

    def expected_step(self) -> Event:
        """The next step to repeat, or of the path."""
        if self.position < self.keep:
            return self.events[self.position]
        return self.path[self.position - self.keep]

    def goes_on(self, thread: Thread) -> bool:
        """Whether it is still the turn of the thread that stepped last."""
        if thread is not self.recent or self.starts_at_once or is_await(thread.kind):
            return False
        if self.position >= self.path_end:
            return self.turns.goes_on(thread)
        return self.expected_step().thread == thread.id and self.enabled(thread)

    # Shared objects

    def make(self, cell: Cell) -> None:
        """Make a new object known."""
        if self.current is None:
            self.names.register_outside(cell)
            return
        if cell.part_of is not None and cell.part_of.epoch != self.epoch:
            self.adopt(cell.part_of)
        self.names.register(cell, self.current)

    def give_away(self, thing: object) -> None:
        """An ordinary object is put where other threads may find it."""
        if self.memory is not None:
            self.memory.share(thing, "")

    def adopt(self, cell: Cell) -> None:
        """First use of an object in this execution that was not made in it."""
        if cell is NOWHERE:
            return
        if not cell.serial:
            raise self.misused(
                f"an object ({type(cell).__name__}) made in one execution is used in another: the "
                "program keeps it between executions (in a global, say); make it anew in every "
                "execution, or once, outside the program"
            )
        self.names.adopt_from_outside(cell, self.epoch)

    # What goes wrong

    def diverge(self, expected: Event, thread: Thread, kind: int, location: int, why: str) -> None:
        """The program does not repeat what it did before: break off."""
        divergence = Divergence(expected, thread.id, kind, location, why)
        if kind != NONE and thread is self.current:
            frame = here()
            if frame is not None:
                divergence.code = frame.f_code
                divergence.instruction = frame.f_lasti
        self.divergence = divergence
        self.stop(DIVERGED)

    def keep_cancelling(self, thread: Thread) -> None:
        """The execution is over, but the thread's own clean-up performs an operation."""
        thread.cancellations += 1
        if thread.cancellations > PATIENCE:
            RUNNING.abandoned.append(thread.greenlet)
            self.resume_hub()
        raise Cancelled

    def misused(self, message: str) -> MazurkaError:
        """A mistake that ends the check, even if the program swallows the exception."""
        self.misuse = MazurkaError(message)
        return self.misuse

    def outside_error(self, kind: int) -> MazurkaError:
        if self.hub is None:
            return MazurkaError(
                f"'{VERBS[kind]}' works only in a program that Mazurka runs: "
                "put it into the function that is checked"
            )
        if not self.running:
            return MazurkaError(f"'{VERBS[kind]}' was called after the execution was over")
        return self.misused(
            f"'{VERBS[kind]}' was called from a predicate or from another OS thread: a predicate "
            "must be a function of the value alone, and threads are made with mazurka.spawn"
        )


def leaves_debugger(error: BaseException) -> bool:
    """Whether an exception says that somebody has left pdb, by itself or under pytest."""
    is_of_pytest = type(error).__name__ == "Exit" and "Quitting debugger" in str(error)
    return is_of_pytest or is_quit_of_pdb(error)


def is_quit_of_pdb(error: BaseException) -> bool:
    return (type(error).__module__, type(error).__name__) == ("bdb", "BdbQuit")


def end_greenlet(thread: Thread) -> None:
    """End the greenlet of a thread, which waits for a next execution: it would never be collected,
    with all that its stack holds."""
    greenlet = thread.greenlet
    if greenlet is not None and greenlet not in RUNNING.abandoned:
        greenlet.throw()
    thread.greenlet = None
    thread.resume = None


class SharedObject(Cell):
    """The base of all objects that programs share."""

    def __init__(self, value: object, name: str | None, part_of: Cell | None = None) -> None:
        super().__init__(value, name, part_of)
        RUNNING.check.runtime.make(self)

"""Turns a run of a C program that failed into a Failure: what went wrong, in words and lines."""

import ctypes
import linecache
import re
import signal
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final, cast

from mazurka.engine.event import Event
from mazurka.engine.history_table import complaint, history_lines
from mazurka.engine.linearizable import Judge
from mazurka.engine.operation import (
    ACQUIRE,
    ADD_TO,
    AWAIT,
    AWAIT_EXCHANGE,
    CHOOSE,
    COMPARE_EXCHANGE,
    FETCH_ADD,
    JOIN,
    LOAD,
    NOTIFY,
    READ,
    SPAWN,
    STORE,
    TAKE_WAITER,
    VERBS,
    WAIT,
    depends_on_value,
    is_blind,
    is_memory_access,
)
from mazurka.engine.program import COMPLETE
from mazurka.engine.result import (
    DATA_RACE,
    DEADLOCK,
    EXCEPTION,
    LIVELOCK,
    NONDETERMINISM,
    NOT_LINEARIZABLE,
    STUCK,
    TOO_LONG,
    Failure,
    Step,
)
from mazurka.engine.schedule import Schedule
from mazurka.engine.trace import ACCESSES, groups_of, last_change, links_of
from mazurka.native.debug_information import plus
from mazurka.native.operations import part_of
from mazurka.native.runtime_library import (
    FIRST_FAILED,
    OUTPUT_SIZE,
    POSITION,
    PRINTED_ADDRESS,
    STOPPED,
)

if TYPE_CHECKING:
    from mazurka.native.program import NativeProgram

# How threads fail: runtime/state.h.
FAILURES: Final = (
    *("", "assertion", "aborted", "exited", "signalled", "stack_overflow", "use_after_free"),
    *("out_of_block", "double_free", "invalid_free", "not_held", "bad_join"),
    *("held_destroyed", "endless", "error_called", "no_value", "stack_of_ended", "relocked"),
    "uninitialised",
)
SENTENCES: Final = {
    "aborted": "the program calls abort",
    "stack_overflow": "stack overflow",
    "use_after_free": "use after free",
    "out_of_block": "access outside of a block of the heap",
    "double_free": "double free",
    "invalid_free": "free of what is no block of the heap",
    "not_held": "unlock of a lock that the thread does not hold",
    "stack_of_ended": "access to the stack of a thread that has ended",
    "relocked": "lock of what the thread holds already: it would wait for itself",
    "held_destroyed": "destruction of a lock that is held, or of a condition that threads wait for",
}
# The accesses of a data race: runtime/state.h.
RACING: Final = ("read", "written", "freed", "read atomically", "changed atomically")
SIGNALS: Final = re.compile(r"\b(pthread_cond|cnd)_(signal|broadcast)\b")
WAITS: Final = re.compile(r"\b(pthread_cond|cnd)_(wait|timedwait|clockwait)\b")
INSIDE: Final = "pthread"  # of interest to nobody
WAIT_OF: Final = "the wait of "  # what a thread waits at, in our own memory
FORMS: Final = ("fetch_add", "fetch_and", "fetch_or", "fetch_xor", "fetch_nand")

# Of a thread's status.
FAILURE, SIGNAL, FAILED_AT, FAULT, CODE, EXIT_CODE, SPINS = 3, 4, 5, 6, 7, 8, 9

UNWRITTEN = (
    "what the program does depends on memory that it reads before it writes it: with other values "
    "there, the same schedule goes another way"
)
ADDRESS = "the program makes a text of an address, which is another one each time that it runs"
WHERE_TO_LOOK = "look for clocks, addresses, input, or memory that is read before it is written"


class RunInWords:
    """The steps of a run, with names for its threads and locations."""

    def __init__(self, program: "NativeProgram") -> None:
        self.program = program
        self.library = program.library
        self.debug = program.names.debug
        self.threads = self.thread_words()

    def thread_words(self) -> dict[int, str]:
        """A thread is called like its function, numbered where several threads share it."""
        live = sorted(self.program.live(), key=self.program.names.lineage)
        functions = {number: self.function_of(number) for number in live}
        totals = Counter(functions.values())
        seen: Counter[str] = Counter()
        words = {}
        for number, function in functions.items():
            seen[function] += 1
            words[number] = function if totals[function] == 1 else f"{function}-{seen[function]}"
        return words

    def function_of(self, number: int) -> str:
        if number == 0:
            return "main"
        return self.debug.functions.get(self.library.function_of(number), "thread")

    def thread(self, number: int) -> str:
        return self.threads.get(number, "a thread that does not exist")

    def steps(self) -> list[Step]:
        """All steps of the run."""
        events = self.program.events
        groups = groups_of(events)
        steps = [
            replace(
                self.step(event),
                reads_from=source,
                after=tuple(after),
                position=position,
                group=groups[position],
            )
            for position, (event, (source, after)) in enumerate(
                zip(events, links_of(events, self.program.values), strict=True)
            )
        ]
        return self.with_conditions(steps)

    def step(self, event: Event) -> Step:
        """An event by itself, or an operation that a thread waits for."""
        file, line = self.debug.line_at(event.place - 1)
        found, left = values_of(event)
        return Step(
            self.thread(event.thread),
            self.action(event),
            file,
            line,
            source_line(file, line),
            VERBS[event.kind],
            ACCESSES.get(event.mode, ""),
            self.object_of(event),
            "",
            found,
            left,
            "fails" if depends_on_value(event.kind) and event.mode == READ else "",
        )

    def step_of_access(self, name: str, thread: int, kind: int, place: int) -> Step:
        """An access that is no event."""
        file, line = self.debug.line_at(place - 1) if place > 0 else ("", 0)
        mode = "read" if RACING[kind].startswith("read") else "write"
        action = f"{name} is {RACING[kind]}"
        return Step(
            self.thread(thread), action, file, line, source_line(file, line), mode, mode, name
        )

    def with_conditions(self, steps: list[Step]) -> list[Step]:
        """What threads do to the words of a condition variable, as users see it."""
        conditions: dict[str, str] = {}  # for each thread, the last one that it has used
        told = []
        for step in steps:
            is_call = SIGNALS.search(step.source) or WAITS.search(step.source)
            is_use = step.operation in ("load", *FORMS) and not step.name.startswith(WAIT_OF)
            if is_call and is_use:
                conditions[step.thread] = step.name
            told.append(in_words_of_condition(step, conditions.get(step.thread, step.name)))
        return told

    def condition_of(self, event: Event) -> str:
        """The condition that a thread waits on: the last that it has put itself down for."""
        for other in reversed(self.program.events):
            if other.thread == event.thread and other.kind == FETCH_ADD:
                return self.location(other.location)
        return ""

    def waiting_step(self, event: Event, steps: list[Step]) -> Step:
        """An operation that a thread can never perform."""
        file, line = self.debug.line_at(event.place - 1)
        name = self.object_of(event)
        if event.kind == WAIT and WAITS.search(source_line(file, line)):
            name = self.condition_of(event) or name
        return Step(
            self.thread(event.thread),
            f"{VERBS[event.kind]} {name}",
            file,
            line,
            source_line(file, line),
            VERBS[event.kind],
            name=name,
            outcome="waits",
            reads_from=last_change(steps, self.program.events, event.location),
        )

    def object_of(self, event: Event) -> str:
        """What an event works on: a location, or a thread."""
        if event.location >= 0:
            return self.location(event.location)
        return "" if event.kind == CHOOSE else self.thread(event.choice)

    def where(self, place: int) -> str:
        """A place in the code, in words; it is the one that a call returns to."""
        file, line = self.debug.line_at(place - 1) if place > 0 else ("", 0)
        if not file:
            return ""
        text = source_line(file, line)
        return f" at {file}:{line}" + (f": {text}" if text else "")

    def is_in_runtime(self, place: int) -> bool:
        """Whether a place is in our own code, which has no lines, or in none that is known."""
        return place <= 0 or not self.debug.line_at(place - 1)[0]

    def location(self, number: int) -> str:
        """What people call a location."""
        return self.address(self.library.locations[number * 3])

    def address(self, address: int) -> str:
        variable = self.debug.variable_at(address - self.library.base)
        if variable is not None:
            offset = address - self.library.base - variable.address
            return variable.name + self.debug.part_name(variable, offset)
        block = self.library.block_at(address)
        if block is not None:
            file, line = self.debug.line_at(block[2] - 1)
            return f"block{plus(address - block[0])} (allocated at {file}:{line})"
        name = self.program.names.address(address)
        area, _, rest = name.partition(" of ")
        if area == "stack":
            number = self.program.thread_called(rest.partition("+")[0])
            return f"a local variable of {self.thread(number)}"
        if area.startswith("waiter "):
            number = self.program.thread_called(area[7:].partition("+")[0])
            return f"{WAIT_OF}{self.thread(number)}"
        return name

    def action(self, event: Event) -> str:
        """What an event did, in words."""
        kind = event.kind
        if kind == SPAWN or kind == JOIN:
            return f"{VERBS[kind]} {self.thread(event.choice)}"
        if kind == CHOOSE:
            return f"choose alternative {event.choice + 1} of {event.alternatives}"
        name = self.location(event.location)
        view = cast(int, event.view)
        found = part_of(cast(int, event.before), view)
        if kind == LOAD:
            return f"read {name}: {found}"
        if kind == STORE:
            return f"write {part_of(cast(int, event.after), view)} to {name}"
        if kind == COMPARE_EXCHANGE:
            outcome = f"finds {found}" if event.mode == READ else f"writes {event.second}"
            return f"compare_exchange {name} with {event.first}: {outcome}"
        if kind == FETCH_ADD or kind == ADD_TO:
            return f"{FORMS[view >> 16]} {event.first} to {name}: was {found}"
        if kind == NOTIFY:
            return f"end {name}"
        if kind == TAKE_WAITER:
            return f"take a waiting thread from {name}"
        return f"{VERBS[kind]} {name}"

    def waiting(self, event: Event) -> str:
        """Who waits for what, and where."""
        text = f"{self.thread(event.thread)} waits "
        if event.kind == JOIN:
            text += f"to join {self.thread(event.choice)}"
        elif event.kind == ACQUIRE:
            thread = self.holder(event.location)
            holder = "itself" if thread == event.thread else self.thread(thread)
            text += f"to acquire {self.location(event.location)}, held by {holder}"
        elif event.kind == WAIT:
            text += "for a condition, or at a barrier"
        else:
            text += f"to {VERBS[event.kind]} {self.location(event.location)}"
        return text + "," * bool(self.where(event.place)) + self.where(event.place)

    def spinning(self, thread: int) -> str:
        """Which loop a thread goes round for ever, and what it finds there in every round."""
        events = self.program.round_of(thread)
        steps = ", ".join(self.action(event) for event in events[:5])
        return f"{self.thread(thread)} goes round for ever{self.where(events[-1].place)} ({steps})"

    def holder(self, location: int) -> int:
        """The thread that holds a lock now."""
        return ctypes.c_uint32.from_address(self.library.locations[location * 3]).value - 1


def in_words_of_condition(step: Step, condition: str) -> Step:
    """A step in a call that waits for a condition, or signals it."""
    is_own = step.name.startswith(WAIT_OF)
    if WAITS.search(step.source):
        if is_own:
            waits = f"{step.operation} on {condition}"
            return replace(step, action=waits if step.outcome else f"{waits}: notified")
        if step.operation in FORMS:
            return replace(step, action=f"begin to wait on {condition}")
    elif SIGNALS.search(step.source):
        if is_own:
            woken = f"notify {step.name.removeprefix(WAIT_OF)} on {condition}"
            return replace(step, action=woken, operation="notify", name=condition)
        if step.operation == "load" and step.found == "0":
            action = f"notify {condition}: nobody waits"
            return replace(step, action=action, operation="notify", outcome="fails")
        if step.name == condition:
            return replace(step, group=INSIDE)
    return step


def values_of(event: Event) -> tuple[str | None, str | None]:
    """What an event read and what it wrote, if these are values that people know."""
    if not is_memory_access(event.kind):
        return None, None
    view = cast(int, event.view)
    found = None if is_blind(event.kind) else str(part_of(cast(int, event.before), view))
    return found, None if event.mode == READ else str(part_of(cast(int, event.after), view))


def source_line(file: str, line: int) -> str:
    return linecache.getline(file, line).strip() if file else ""


def account_of(program: "NativeProgram", judge: Judge | None = None) -> Failure:
    """The failure of the latest run. The judge has looked at the calls that it tells of."""
    run = RunInWords(program)
    if judge is None or judge.verdict is None:
        return failure_of(run)
    told, lines = complaint(judge, run.thread), history_lines(judge, run.thread)
    if judge.verdict.blamed >= 0 or program.answer.status == COMPLETE:
        return new_failure(run, NOT_LINEARIZABLE, told, lines)
    failure = waiting_for_ever(run)
    failure.details += [told, *lines]
    return failure


def failure_of(run: RunInWords) -> Failure:
    program = run.program
    library = program.library
    stopped = library.state[STOPPED]
    if stopped == 1 or program.diverged_at >= 0:
        return nondeterminism(run)
    if stopped == 2:
        return too_long(run)
    if program.answer.race is not None:
        return data_race(run)
    failed = library.state[FIRST_FAILED]
    if failed >= 0:
        return thread_failed(run, failed)
    if program.answer.status == COMPLETE:
        return leak(run)
    return waiting_for_ever(run)


def new_failure(run: RunInWords, kind: str, message: str, details: list[str]) -> Failure:
    program = run.program
    learnt = program.learnt()
    steps = tuple(program.steps_of(program.events))
    schedule = Schedule(steps, "", kind, message, dict(learnt))
    output = program.library.state[OUTPUT_SIZE]
    if output:
        printed = program.library.output(output).rstrip("\n").splitlines()
        details = [*details, *[f"printed: {line}" for line in printed[-10:]]]
    told = run.steps()
    waiting = [run.waiting_step(event, told) for event in program.answer.waiting]
    return Failure(kind, message, schedule, told, details=details, waiting=waiting)


def thread_failed(run: RunInWords, thread: int) -> Failure:
    """A thread has met an assertion that does not hold, a signal, an exit, or the like."""
    program = run.program
    what = FAILURES[program.status(thread, FAILURE)]
    place = program.status(thread, FAILED_AT)
    message = run.library.text("mz_message")
    sentence = SENTENCES.get(what, message)
    if what == "assertion":
        sentence = f"assertion failed: {message}"
    elif what == "exited":
        sentence = f"the program exits with code {program.status(thread, EXIT_CODE)}"
    elif what == "signalled":
        sentence = signal_words(program, thread)
    elif what == "uninitialised":
        sentence = f"use of {message} that is not initialised, or was destroyed"
    elif what in ("use_after_free", "out_of_block", "double_free", "stack_of_ended"):
        sentence += f": {run.address(program.status(thread, FAULT))}"
    kind = {"endless": STUCK, "relocked": DEADLOCK}.get(what, EXCEPTION)
    if what == "endless":
        sentence = (
            "a thread ran for longer than step_limit without coming to a step: look for an endless "
            "loop, or raise step_limit"
        )
    if run.is_in_runtime(place):
        place = program.status(thread, CODE)
    if what == "exited" and place <= 0:  # main has returned
        place = run.debug.begin_of("main") + 1
    where = run.where(place)
    failure = new_failure(run, kind, sentence, [f"it was{where}"] if where else [])
    failure.thread = run.thread(thread)
    return failure


def race_in_words(program: "NativeProgram") -> str:
    """The data race of the latest run, in words the same for all races of the same lines."""
    run = RunInWords(program)
    address, _, _, one, _, _, other, _ = program.library.race
    lines = sorted("{}:{}".format(*run.debug.line_at(place - 1)) for place in (one, other))
    return f"{run.address(address)}, {lines[0]} and {lines[1]}"


def data_race(run: RunInWords) -> Failure:
    address, first, first_kind, first_place, second, second_kind, second_place, position = (
        run.library.race
    )
    name = run.address(address)
    accesses = ((first, first_kind, first_place), (second, second_kind, second_place))
    words = [f"{RACING[kind]} by {run.thread(thread)}" for thread, kind, _ in accesses]
    message = f"{name} is {words[0]} and {words[1]}, and nothing orders the two"
    details = [f"{run.thread(thread)}{run.where(place)}" for thread, _, place in accesses]
    failure = new_failure(run, DATA_RACE, message, details)
    # The two accesses are told as if they were steps; only where the second one came is known.
    told = [run.step_of_access(name, thread, kind, place) for thread, kind, place in accesses]
    failure.steps = [*failure.steps[:position], *told]
    failure.thread = run.thread(second)
    return failure


def leak(run: RunInWords) -> Failure:
    """Blocks of the heap that are never freed, by the lines that allocate them."""
    blocks = run.library.unfreed()
    sizes: Counter[int] = Counter()
    for place, size in blocks:
        sizes[place] += size
    counts = Counter(place for place, _ in blocks)
    details = [f"{counts[place]} of {sizes[place]} bytes{run.where(place)}" for place in sizes]
    return new_failure(run, EXCEPTION, "memory is allocated and never freed", details)


def signal_words(program: "NativeProgram", thread: int) -> str:
    number = program.status(thread, SIGNAL)
    fault = program.status(thread, FAULT)
    if number == signal.SIGSEGV:
        wild = f"a wild pointer, {fault & (2**64 - 1):#x}"
        pointer = "a null pointer" if 0 <= fault < 4096 else wild
        return f"segmentation fault: {pointer}"
    if number == signal.SIGFPE:
        return "arithmetic error (a division by zero, say)"
    return signal.strsignal(number) or f"signal {number}"


def waiting_for_ever(run: RunInWords) -> Failure:
    """No thread can go on."""
    waiting = sorted(
        run.program.answer.waiting, key=lambda event: run.program.names.lineage(event.thread)
    )
    awaits = any(event.kind == AWAIT or event.kind == AWAIT_EXCHANGE for event in waiting)
    message = "a thread awaits a value that never comes" if awaits else "no thread can go on"
    details = [run.waiting(event) for event in waiting]
    for thread in sorted(run.program.live(), key=run.program.names.lineage):
        if run.program.status(thread, SPINS):
            awaits = True
            message = "a thread waits in a loop for what never comes"
            details.append(run.spinning(thread))
    return new_failure(run, LIVELOCK if awaits else DEADLOCK, message, details)


def too_long(run: RunInWords) -> Failure:
    recent = run.program.events[-1000:]
    places = Counter((event.thread, *run.debug.line_at(event.place - 1)) for event in recent)
    details = [
        f"{run.thread(thread)} was {count} times (of the last {len(recent)} steps) at "
        f"{file}:{line}: {source_line(file, line)}"
        for (thread, file, line), count in places.most_common(4)
    ]
    message = (
        f"an execution has more than max_events={run.program.max_events} steps: it seems stuck in "
        "a loop; bound it, or raise max_events"
    )
    return new_failure(run, TOO_LONG, message, details)


def nondeterminism(run: RunInWords) -> Failure:
    program = run.program
    made = program.library.state[POSITION]
    position = program.diverged_at if program.diverged_at >= 0 else made
    program.events = program.events[:made]  # the others were asked for
    message = (
        f"the program does not repeat itself: under the same schedule, step {position + 1} is "
        f"another one; {WHERE_TO_LOOK}"
    )
    return new_failure(run, NONDETERMINISM, message, [])


def address_line(program: "NativeProgram") -> list[str]:
    """Where an address became a text."""
    return [f"it was{RunInWords(program).where(program.library.state[PRINTED_ADDRESS])}"]


def account_of_change(program: "NativeProgram", first: str, second: str) -> Failure:
    message = (
        "the program does not repeat itself: two runs under the same schedule end in two ways; "
        + WHERE_TO_LOOK
    )
    return new_failure(
        RunInWords(program), NONDETERMINISM, message, [f"first: {first}", f"then: {second}"]
    )

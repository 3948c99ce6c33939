"""A whole front end, to show how one is written on the contract of mazurka/engine/program.py.

A toy program is a list of threads, a thread a list of instructions: ("store", 2, 5) stores 5 in
location 2. The operations are in the table below; spawn, join and choose have a number in place of
a location, and give one. ("if", n) skips n instructions if the operation before gave 0, and
("fail",) ends the thread, as a failure. Values have 8 bits, and wrap."""

from typing import Any, Final

from mazurka.engine import operation as op
from mazurka.engine.event import Event, dependent
from mazurka.engine.operation import ADD, CHOOSE, DISABLED, JOIN, NONE, READ, SPAWN, WRITE
from mazurka.engine.program import (
    BLOCKED,
    GO_ON,
    NOBODY,
    PICKED,
    REDUNDANT,
    UNFINISHED,
    Answer,
    Program,
)
from mazurka.engine.result import DEADLOCK, EXCEPTION, NONDETERMINISM, Failure
from mazurka.engine.schedule import Schedule
from mazurka.engine.values import Values

# If its location holds v: how an operation accesses it, what it gives, and what it leaves there.
EFFECTS: Final[dict[int, Any]] = {
    op.LOAD: lambda v: (READ, v, v),
    op.STORE: lambda v, new: (WRITE, 0, new),
    op.EXCHANGE: lambda v, new: (WRITE, v, new),
    op.COMPARE_EXCHANGE: lambda v, old, new: (WRITE, 1, new) if v == old else (READ, 0, v),
    op.FETCH_ADD: lambda v, n: (WRITE, v, (v + n) % 256),
    op.ADD_TO: lambda v, n: (ADD, 0, (v + n) % 256),  # gives nothing, so that adds commute
    op.AWAIT: lambda v, old: (READ if v == old else DISABLED, v, v),
    op.AWAIT_EXCHANGE: lambda v, old, new: (WRITE if v == old else DISABLED, v, new),
    op.ACQUIRE: lambda v: (DISABLED if v else WRITE, 1, 1),
    op.TRY_ACQUIRE: lambda v: (READ, 0, v) if v else (WRITE, 1, 1),
    op.RELEASE: lambda v: (WRITE, 1, 0) if v else (READ, 0, v),
}
KINDS: Final = {op.VERBS[kind]: kind for kind in [*EFFECTS, SPAWN, JOIN, CHOOSE]}  # by name


class ToyValues(Values):
    def mode(self, operation: Any, value: object) -> Any:
        return EFFECTS[operation.kind](value, *operation.first)[0]

    def apply(self, operation: Any, value: object) -> Any:
        return EFFECTS[operation.kind](value, *operation.first)[1:]


class ToyProgram(Program):
    def __init__(self, threads: Any) -> None:
        super().__init__(ToyValues())
        self.threads = threads

    def run(self, request: Any) -> Answer:
        self.request, self.events, self.sleep = request, request.events, request.sleep
        self.memory: dict[int, Any] = {}  # by location; 0 where nothing is
        self.left: dict[int, Any] = {}  # by thread: the instructions that are left of it
        self.failure_kind = DEADLOCK  # if it fails, and in no other way
        self.go_on(0, self.threads[0], 0)
        self.asked, place = [*self.events, *request.path], 0
        while step := self.next_step(place):
            if place == len(self.events):  # it is new
                step.sleep, step.enabled = self.sleep, list(self.enabled())
                self.sleep = [asleep for asleep in self.sleep if not dependent(asleep, step)]
                self.events.append(step)
            self.perform(self.events[place])
            place += 1
        self.answer, enabled = Answer(), self.enabled()
        self.answer.sleeping = list(enabled.values())
        self.answer.waiting = [self.standing(t) for t in self.unfinished() if t not in enabled]
        for step in self.answer.waiting:
            step.mode = NONE if step.kind == JOIN else op.mode_when_enabled(step.kind)
        if self.unfinished():
            self.answer.status = REDUNDANT if enabled else BLOCKED
        self.answer.failed = self.answer.status == BLOCKED or self.failure_kind != DEADLOCK
        return self.answer

    def next_step(self, place: int) -> Event | None:
        """The step that is asked for, or else the one that the policy says, if it can come."""
        request, steps = self.request, self.enabled()
        if place < len(self.asked):
            return self.met(self.asked[place], steps.get(self.asked[place].thread))
        if request.watches_steps and request.watcher.ends_run():
            return None
        steps = {thread: step for thread, step in steps.items() if self.is_awake(step)}
        first = request.first if place == len(self.asked) else NOBODY
        if request.policy == GO_ON and place > 0:
            first = self.events[-1].thread
        elif request.policy == PICKED and steps:
            first = request.watcher.pick(list(steps))
            if steps[first].kind == CHOOSE:
                steps[first].choice = request.watcher.choose(steps[first].alternatives)
        return steps.get(first) or steps.get(min(steps, default=NOBODY))

    def met(self, asked: Event, step: Event | None) -> Event | None:
        """The step, if it is the one that is asked for."""
        name = asked.first if asked.kind == op.UNKNOWN else self.operation_name(asked)
        if step and name in (None, self.operation_name(step)) and asked.mode in (NONE, step.mode):
            step.choice = max(step.choice, asked.choice)  # which may be ANY
            return step
        self.failure_kind = NONDETERMINISM
        return None

    def is_awake(self, step: Event) -> bool:
        """Whether a step may come now. A choice takes the first alternative that may."""
        request, asleep = self.request, [e.choice for e in self.sleep if e.thread == step.thread]
        watched = [watch.location for watch in request.watched]
        kept = step.location in watched and request.watcher.keeps_asleep(step.thread, step.location)
        while step.choice in asleep and step.choice + 1 < step.alternatives:
            step.choice += 1
        return not kept and step.choice not in asleep

    def standing(self, thread: int) -> Event:
        name, number, *operands = self.left[thread][0]
        kind = KINDS[name]
        step = Event(thread, kind, number if kind in EFFECTS else -1, NONE, operands, None)
        if kind in EFFECTS:
            step.mode = self.values.mode(step, self.memory.get(number, 0))
        elif kind == CHOOSE:
            step.alternatives = number
        else:
            step.choice = number
            step.mode = DISABLED if kind == JOIN and self.left[number] else NONE
        return step

    def enabled(self) -> dict[int, Event]:
        steps = [self.standing(thread) for thread in self.unfinished()]
        return {step.thread: step for step in steps if step.mode != DISABLED}

    def perform(self, event: Event) -> None:
        given: Any = event.choice
        if event.kind == SPAWN:
            self.go_on(event.choice, self.threads[event.choice], 0)
        elif event.location >= 0:
            event.before = self.memory.get(event.location, 0)
            given, event.after = self.values.apply(event, event.before)
            self.memory[event.location] = event.after
        self.go_on(event.thread, self.left[event.thread][1:], given)

    def go_on(self, thread: int, left: Any, given: int) -> None:
        """A thread was given a number, and goes on to its next operation, or its end."""
        while left and left[0][0] == "if":
            left = left[1:] if given else left[1 + left[0][1] :]
        if left and left[0][0] == "fail":
            left, self.failure_kind = (), EXCEPTION
        self.left[thread] = left

    def failure(self) -> Failure:
        return Failure(self.failure_kind, "", Schedule(tuple(self.steps_of(self.events))))

    def outcome(self) -> object:
        return tuple(sorted(self.memory.items()))

    def unremembered(self) -> str:
        return ""

    def remembers(self, event: Event) -> bool:
        return True

    def maker(self, location: int) -> int:
        return NOBODY

    def given_by(self, thread: int) -> object:
        return UNFINISHED if self.left[thread] or self.answer.failed else 0

    def unfinished(self) -> dict[int, int]:
        left = {thread: left[0] for thread, left in self.left.items() if left}
        return {t: number if name == "join" else NOBODY for t, (name, number, *_) in left.items()}

"""A Python program as something that a search can steer."""

from collections.abc import Callable, Sequence

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    AWAIT_PART,
    CHOOSE,
    JOIN,
    NONE,
    UNKNOWN,
    may_block,
    mode_when_enabled,
)
from mazurka.engine.program import BLOCKED, COMPLETE, REDUNDANT, Execution
from mazurka.engine.result import Failure, MazurkaError, NamedStep, Schedule
from mazurka.python.check import RUNNING
from mazurka.python.failures import account_of, account_of_change, race_to_tell
from mazurka.python.loops.rounds import found_circle, is_stuck, last_round, lets_go
from mazurka.python.primitives.undivided import are_atomic
from mazurka.python.runtime.race_detector import Race
from mazurka.python.runtime.runtime import INTERRUPTED, NOTHING, Stuck
from mazurka.python.runtime.thread import Thread
from mazurka.python.source import place

WAITED = (
    "an atomic block had to wait, and for what comes after its own first steps: whether it can be "
    "undivided is not known; wait before the block"
)

ORDER_IS_OPEN = (
    "whether atomic blocks are undivided depends on the order of writes, which "
    "equivalence='reads-from' leaves open: leave it out"
)


class PythonExecution(Execution):
    """Runs a Python function on the runtime, and says how each run ended."""

    def __init__(
        self,
        program: Callable[[], object],
        independent_adds: bool,
        max_events: int,
        record_enabled: bool,
        watches_races: bool = False,
    ) -> None:
        runtime = RUNNING.check.runtime
        super().__init__()
        runtime.prepare(program, independent_adds, max_events, record_enabled, watches_races)
        self.events = runtime.events
        self.setup: Callable[[], object] | None = None  # called before each run
        self.reset: Callable[[], object] | None = None  # and after it

    def run(self, keep: int, path: list[Event], sleep: list[Event]) -> None:
        runtime = RUNNING.check.runtime
        runtime.guide = self.guide
        runtime.takes_conditions = self.takes_conditions
        if self.setup is not None:
            self.setup()
        try:
            runtime.run(keep, path, sleep)
        finally:
            if self.reset is not None:
                self.reset()
        self.conclude()

    def follow(self, schedule: Schedule) -> None:
        """Run the steps of a schedule, which names threads and objects as people do."""
        runtime = RUNNING.check.runtime
        self.run(0, self.path_of(schedule.steps), [])
        divergence = runtime.divergence
        if divergence is not None:
            name = runtime.threads[divergence.thread].name
            why = divergence.why or f"thread {name} is not there in step {runtime.position + 1}"
            raise MazurkaError(f"the program has changed since the schedule was recorded: {why}")

    def conclude(self) -> None:
        """Say how the run ended."""
        check = RUNNING.check
        runtime = check.runtime
        if runtime.stopped == INTERRUPTED and not isinstance(runtime.interrupt, Stuck):
            assert runtime.interrupt is not None
            raise runtime.interrupt
        self.waiting = []
        self.sleeping = []
        self.polled = []
        self.status = COMPLETE
        self.doubt = ""
        self.bound = ""
        self.race = race_in_words(race_to_tell())
        if runtime.stopped != NOTHING:
            self.status = BLOCKED
            self.failed = True
            return
        if runtime.out_of_rounds:
            self.bound = f"unroll={check.settings.unroll}"
        assumed = False
        asleep = False
        stuck = False
        spinning: list[Thread] = []
        for thread in runtime.live:
            if thread.finished:
                continue
            if thread.spin is not None:
                spinning.append(thread)
                assumed = assumed or not is_stuck(thread)  # else what it waits for may have come
            if thread.gave_up:
                assumed = assumed or thread.spin is None
                stuck = stuck or not thread.daemon
            elif runtime.enabled(thread):
                asleep = True
                self.sleeping.append(operation_before(thread))
            else:
                self.waiting.append(operation_before(thread))
                stuck = stuck or not thread.daemon
        for thread in spinning:
            self.polled += [event.location for event in last_round(thread) if event.location >= 0]
        if spinning and not assumed:
            waiting = [runtime.threads[event.thread] for event in self.waiting]
            assumed = any(lets_go(spinning, thread) for thread in waiting)
        self.failed = runtime.first_failed is not None
        if asleep:
            self.status = REDUNDANT
            self.race = None  # another execution has it, too
        elif assumed:
            self.status = BLOCKED
        elif stuck:
            self.status = BLOCKED
            self.failed = True
        if self.race is not None or (found_circle() is not None and not asleep):
            self.failed = True
        if runtime.blocks and not asleep:
            self.look_at_blocks()

    def look_at_blocks(self) -> None:
        """Leave the run out unless its atomic blocks are undivided."""
        check = RUNNING.check
        runtime = check.runtime
        if check.settings.reads_from:
            raise MazurkaError(ORDER_IS_OPEN)
        if not are_atomic(runtime.blocks, self.events):
            self.status = BLOCKED
            self.failed = False
            self.race = None
            if any(block.waited for block in runtime.blocks):
                self.doubt = WAITED

    def failure(self) -> Failure:
        """What went wrong. The run is repeated first: the names of objects are those of the run in
        which they were first met, and this may be another one; and the lines of a data race are
        not known yet."""
        runtime = RUNNING.check.runtime
        if self.race is not None or (runtime.stopped == NOTHING and self.status != REDUNDANT):
            runtime.refreshing = True
            first = self.ending()
            try:
                self.run(len(self.events), [], [])
            finally:
                runtime.refreshing = False
            second = self.ending()
            if runtime.stopped == NOTHING and first != second:
                return self.changed(first, second)
        return account_of(self)

    def ending(self) -> str:
        runtime = RUNNING.check.runtime
        if self.race is not None:
            return "a data race"
        failed = runtime.first_failed
        if failed is not None and failed.exception is not None:
            return f"{type(failed.exception).__name__} in thread {failed.name}"
        if self.status == BLOCKED:
            threads = [runtime.threads[event.thread].name for event in self.waiting]
            return "blocked" + "".join([f", thread {name} waiting" for name in threads])
        if runtime.stopped != NOTHING:
            return "broken off"
        return f"complete, with {plain(self.outcome())}"

    def changed(self, first: str, second: str) -> Failure:
        return account_of_change(self, first, second)

    def outcome(self) -> object:
        return RUNNING.check.runtime.threads[0].result

    def steps_of(self, events: list[Event]) -> list[NamedStep]:
        runtime = RUNNING.check.runtime
        return [
            (
                runtime.threads[event.thread].name,
                runtime.operation_name(event),
                event.choice if event.kind == CHOOSE else 0,
            )
            for event in events
        ]

    def path_of(self, steps: Sequence[NamedStep]) -> list[Event]:
        threads = {name for name, _, _ in steps}
        ids = {name: RUNNING.check.runtime.thread_called(name) for name in sorted(threads)}
        path = []
        for name, operation, choice in steps:
            step = Event(ids[name], UNKNOWN, -1, NONE, operation, None)
            step.choice = choice
            path.append(step)
        return path

    def standing(self, thread: int) -> Event:
        runtime = RUNNING.check.runtime
        return runtime.standing(runtime.threads[thread])

    def unfinished(self) -> dict[int, int]:
        return {
            thread.id: thread.choice if thread.kind == JOIN else -1
            for thread in RUNNING.check.runtime.live
            if not (thread.finished or thread.gave_up)
        }

    def excludes(self, events: list[Event], condition: Event) -> bool:
        return RUNNING.check.runtime.excludes(events, condition)

    def precedes(self, thread: int, other: int) -> bool:
        return RUNNING.check.runtime.precedes(thread, other)

    def bring_together(self, thread: int, other: int) -> None:
        runtime = RUNNING.check.runtime
        one = runtime.threads[thread]
        another = runtime.threads[other]
        if one is another:  # a data choice
            return
        if one.partner is None:
            one.partner = another
        if another.partner is None:
            another.partner = one

    def stable_names(self, event: Event) -> tuple[str, str]:
        runtime = RUNNING.check.runtime
        return runtime.threads[event.thread].name, runtime.place_name(event)

    def part_name(self, event: Event) -> str:
        return RUNNING.check.runtime.part_name(event)


def plain(outcome: object) -> str:
    """An outcome as far as it can be compared from run to run."""
    if outcome is None or isinstance(outcome, (bool, int, float, str, bytes)):
        return repr(outcome)
    if isinstance(outcome, (tuple, list)):
        return "(" + ", ".join([plain(part) for part in outcome]) + ")"
    return f"an object ({type(outcome).__name__})"


def race_in_words(race: Race | None) -> str | None:
    """A data race in words that are the same for all races of the same lines."""
    if race is None:
        return None
    places = [place(access.code, access.instruction) for access in (race.first, race.second)]
    lines = sorted([f"{file}:{line}" for file, line in places])
    return f"{RUNNING.check.runtime.locations[race.location].label}, {lines[0]} and {lines[1]}"


def operation_before(thread: Thread) -> Event:
    """The operation that a thread stands before, as the event that it may become."""
    kind = thread.kind
    mode = mode_when_enabled(kind) if may_block(kind) else NONE
    event = Event(thread.id, kind, thread.cell.location, mode, thread.first, thread.second)
    if kind == AWAIT_PART:
        _, event.structure, event.part = RUNNING.check.runtime.footprint_of(thread)
    if kind == JOIN:
        event.choice = thread.choice
    return event

"""A Python program as something that a search can steer."""

from collections.abc import Callable
from typing import Final

from mazurka.engine.errors import MazurkaError
from mazurka.engine.event import NO_EVENTS, Event
from mazurka.engine.linearizable import NOT_ALL_ORDERS, Judge
from mazurka.engine.operation import (
    AWAIT_PART,
    JOIN,
    NONE,
    Footprint,
    may_block,
    mode_when_enabled,
)
from mazurka.engine.program import (
    BLOCKED,
    COMPLETE,
    NOBODY,
    REDUNDANT,
    UNFINISHED,
    Answer,
    Program,
    Request,
)
from mazurka.engine.result import Failure, Step
from mazurka.engine.trace import copied
from mazurka.python.check import RUNNING, Check
from mazurka.python.failures import account_of, account_of_change, race_to_tell
from mazurka.python.loops.rounds import found_circle, is_stuck, last_round, lets_go
from mazurka.python.memory.identities import Misjudged
from mazurka.python.operations import PythonValues
from mazurka.python.primitives.undivided import are_atomic
from mazurka.python.remembering import (
    has_plain_data,
    is_seen_wholly,
    maker_of,
    why_unremembered,
)
from mazurka.python.run_in_words import RunInWords
from mazurka.python.runtime.race_detector import Race
from mazurka.python.runtime.runtime import INTERRUPTED, NOTHING, Runtime, Stuck
from mazurka.python.runtime.thread import Thread
from mazurka.python.source import place

WAITED = (
    "an atomic block had to wait, and for what comes after its own first steps: whether it can be "
    "undivided is not known; wait before the block"
)

SPINS = (
    "a thread goes round in a loop while others wait with timeouts, which with timeouts='last' "
    "never end: leave it out, or let the thread wait"
)

ORDER_IS_OPEN = (
    "whether atomic blocks are undivided depends on the order of writes, which "
    "equivalence='reads-from' leaves open: leave it out"
)


class PythonProgram(Program):
    """Runs a Python function on the runtime of a check, and says how each run ended."""

    def __init__(
        self,
        check: Check,
        function: Callable[[], object],
        independent_adds: bool = True,
        max_events: int = 1000,
        watches_races: bool = False,
    ) -> None:
        super().__init__(PythonValues())
        self.check = check
        self.runtime: Runtime = check.runtime
        self.runtime.prepare(function, independent_adds, max_events, watches_races)
        self.request = Request(self.events)  # the latest
        self.setup: Callable[[], object] | None = None  # called before each run
        self.reset: Callable[[], object] | None = None  # and after it
        self.judge: Judge | None = None  # of the calls of a scenario

    def run(self, request: Request) -> Answer:
        self.request = request
        if RUNNING.put_back is not None:
            RUNNING.put_back()
        if self.setup is not None:
            self.setup()
        try:
            self.runtime.run(request)
        finally:
            if self.reset is not None:
                self.reset()
            self.events = self.runtime.events
        self.answer = self.conclude()
        return self.answer

    def repeat(self) -> None:
        """Run the latest execution once more."""
        request = self.request
        path, sleep = request.path, request.sleep
        request.path = request.sleep = NO_EVENTS
        try:
            self.run(request)
        finally:
            request.path = path
            request.sleep = sleep

    # How a run ended

    def conclude(self) -> Answer:
        """Say how the run ended."""
        runtime = self.runtime
        if runtime.stopped == INTERRUPTED and not isinstance(runtime.interrupt, Stuck):
            assert runtime.interrupt is not None
            raise runtime.interrupt
        if self.check.objects.has_news:
            raise Misjudged
        if runtime.calls_threads and self.check.event_loops.tell_calls_apart():
            raise Misjudged
        answer = Answer()
        answer.race = race_in_words(runtime, race_to_tell())
        if runtime.stopped != NOTHING:
            answer.status = BLOCKED
            answer.failed = True
            return answer
        if runtime.out_of_rounds:
            answer.bound = f"unroll={self.check.loop_settings.unroll}"
        answer.failed = runtime.first_failed is not None
        if not all_finished(runtime):
            self.look_at_threads(answer)
        if runtime.has_looked and not runtime.orders_writes:  # time goes by the order of all steps
            answer.polled = [event.location for event in self.events if event.location >= 0]
        if answer.race is not None or (found_circle() is not None and answer.status != REDUNDANT):
            answer.failed = True
        if runtime.blocks and answer.status != REDUNDANT:
            self.look_at_blocks(answer)
        if self.judge is not None:
            self.judge.verdict = None
            if self.has_history(answer):
                self.look_at_calls(answer, self.judge)
        return answer

    def look_at_threads(self, answer: Answer) -> None:
        """Who has not finished, and why."""
        runtime = self.runtime
        assumed = False
        stuck = False
        spinning: list[Thread] = []
        waiting: list[Event] = []
        sleeping: list[Event] = []
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
                sleeping.append(operation_before(runtime, thread))
            else:
                waiting.append(operation_before(runtime, thread))
                stuck = stuck or not thread.daemon
        if spinning:
            rounds = [last_round(thread) for thread in spinning]
            answer.polled = [
                event.location for events in rounds for event in events if event.location >= 0
            ]
        if spinning and not assumed:
            assumed = any(lets_go(spinning, event) for event in waiting)
        answer.waiting = waiting
        answer.sleeping = sleeping
        if not sleeping:
            answer.timing_out = [thread.id for thread in runtime.threads_to_time_out()]
            if keeps_others_waiting(spinning, runtime.live):
                answer.doubt = SPINS
                assumed = True
        if answer.timing_out:
            answer.status = BLOCKED
        elif sleeping:
            answer.status = REDUNDANT
            answer.race = None  # another execution has it, too
        elif assumed:
            answer.status = BLOCKED
        elif stuck:
            answer.status = BLOCKED
            answer.failed = True

    def look_at_blocks(self, answer: Answer) -> None:
        """Leave the run out unless its atomic blocks are undivided."""
        if not self.request.orders_writes:
            raise MazurkaError(ORDER_IS_OPEN)
        blocks = self.runtime.blocks
        if not are_atomic(blocks, self.events):
            answer.status = BLOCKED
            answer.failed = False
            answer.race = None
            if any(block.waited for block in blocks):
                answer.doubt = WAITED

    def has_history(self, answer: Answer) -> bool:
        """Whether all calls have come as far as they ever will, and nothing else has failed."""
        if answer.race is not None or self.runtime.first_failed is not None:
            return False
        return answer.status == COMPLETE or (answer.status == BLOCKED and answer.failed)

    def look_at_calls(self, answer: Answer, judge: Judge) -> None:
        """Whether the calls are linearizable; calls that wait for ever may be as they should."""
        runtime = self.runtime
        if not self.request.orders_writes:
            raise MazurkaError(NOT_ALL_ORDERS.format("equivalence='reads-from'"))
        if runtime.timeouts_last:
            raise MazurkaError(NOT_ALL_ORDERS.format("timeouts='last'"))
        if runtime.blocks:
            raise MazurkaError(NOT_ALL_ORDERS.format("atomic blocks"))
        verdict = judge.look(self.check.history, self.events)
        if verdict is not None:
            answer.failed = True
        elif answer.status == BLOCKED:
            calling = {call.thread for call in judge.waiting}
            answer.failed = not all(
                thread.id in calling or thread.id == 0 or thread.finished or thread.daemon
                for thread in runtime.live
            )

    def in_order_of_witness(self) -> None:
        """Run the execution in the order in which its calls are not linearizable."""
        judge = self.judge
        if judge is not None and judge.verdict is not None and not judge.verdict.is_own:
            events = self.events
            self.run(Request([copied(events[position]) for position in judge.witness()]))

    def failure(self) -> Failure:
        """What went wrong. The run is repeated first: the names of objects are those of the run in
        which they were first met, and this may be another one; and the lines of a data race are
        not known yet."""
        runtime = self.runtime
        self.in_order_of_witness()
        answer = self.answer
        if runtime.journal is not None:  # it was told already
            return account_of(self, self.judge)
        if answer.race is not None or (runtime.stopped == NOTHING and answer.status != REDUNDANT):
            runtime.names.refreshing = True
            first = self.ending()
            try:
                self.repeat()
            finally:
                runtime.names.refreshing = False
            second = self.ending()
            if runtime.stopped == NOTHING and first != second:
                return self.changed(first, second)
        return account_of(self, self.judge)

    def tell_runs(self, wanted: bool) -> None:
        self.runtime.names.refreshing = wanted  # names are those of the run that is told

    def account(self) -> list[Step]:
        self.runtime.names.refreshing = True
        try:
            self.repeat()
        finally:
            self.runtime.names.refreshing = False
        return RunInWords(self).steps(len(self.events))

    def ending(self) -> str:
        runtime = self.runtime
        if self.answer.race is not None:
            return "a data race"
        if self.judge is not None and self.judge.verdict is not None:
            return self.judge.ending()
        failed = runtime.first_failed
        if failed is not None and failed.exception is not None:
            return f"{type(failed.exception).__name__} in thread {failed.name}"
        if self.answer.status == BLOCKED:
            threads = [runtime.names.threads[event.thread].name for event in self.answer.waiting]
            return "blocked" + "".join([f", thread {name} waiting" for name in threads])
        if runtime.stopped != NOTHING:
            return "broken off"
        return f"complete, with {plain(self.outcome())}"

    def changed(self, first: str, second: str) -> Failure:
        return account_of_change(self, first, second)

    def outcome(self) -> object:
        return self.runtime.names.threads[0].result

    # What threads stand before

    def standing(self, thread: int) -> Event:
        return self.runtime.standing(self.runtime.names.threads[thread])

    def footprint(self, thread: int) -> Footprint:
        return self.runtime.footprint_of(self.runtime.names.threads[thread])

    def unfinished(self) -> dict[int, int]:
        return {
            thread.id: thread.choice if thread.kind == JOIN else NOBODY
            for thread in self.runtime.live
            if not (thread.finished or thread.gave_up)
        }

    def excludes(self, events: list[Event], choice: Event) -> bool:
        decided = [*self.request.prefix, *events] if self.request.prefix else events
        return not isinstance(choice.first, int) and self.runtime.excludes(decided, choice)

    # Names that hold in every process

    def thread_name(self, thread: int) -> str:
        return self.runtime.names.threads[thread].name

    def thread_called(self, name: str) -> int:
        return self.runtime.names.thread_called(name)

    def precedes(self, thread: int, other: int) -> bool:
        return self.runtime.names.precedes(thread, other)

    def stable_names(self, event: Event) -> tuple[str, str]:
        return self.runtime.names.threads[event.thread].name, self.runtime.names.place_name(event)

    def part_name(self, event: Event) -> str:
        return self.runtime.names.part_name(event)

    def operation_name(self, event: Event) -> str:
        return self.runtime.names.operation_name(event)

    # What lets executions be computed

    def unremembered(self) -> str:
        if self.judge is not None:
            return "the calls of each execution are looked at"
        return why_unremembered(self.check, self.setup is not None or self.reset is not None)

    def be_remembered(self) -> None:
        self.runtime.is_remembered = True

    def sees_all(self) -> bool:
        return self.runtime.memory is not None

    def remembers(self, event: Event) -> bool:
        locations = self.runtime.names.locations
        return has_plain_data(event) and (
            event.location < 0 or is_seen_wholly(self.check, locations[event.location])
        )

    def maker(self, location: int) -> int:
        return maker_of(self.runtime.names, location)

    def given_by(self, thread: int) -> object:
        ended = self.runtime.names.threads[thread]
        if not ended.finished or ended.exception is not None:
            return UNFINISHED
        return ended.result

    # What decides which operations wait

    def learnt(self) -> dict[str, list[str]]:
        return learnt_in(self.check)

    def learnt_for_schedules(self) -> dict[str, list[str]]:
        found = {word: names for word, names in self.learnt().items() if names}
        if not self.check.objects.trusted:
            found.pop("changing", None)
        return found

    def learn(self, learnt: dict[str, list[str]]) -> None:
        self.check.loop_settings.clock_readers.update(learnt.get("clocks", ()))
        self.check.calls.full_caches.update(learnt.get("caches", ()))
        self.check.objects.changed.update(learnt.get("changing", ()))
        self.check.objects.learnt_sites.update(learnt.get("shared", ()))
        self.check.models.learn(learnt.get("apart", ()))
        self.runtime.copies = self.runtime.copies or "containers" in learnt.get("copied", ())


# What a search may have to find out: tasks and schedules carry it.
LEARNT: Final = (
    "clocks", "caches", "changing", "shared", "copied", "apart", "attributes", "modules", "globals",
)  # fmt: skip


def learnt_in(check: Check) -> dict[str, list[str]]:
    return {
        "clocks": sorted(check.loop_settings.clock_readers),
        "caches": sorted(check.calls.full_caches),
        "changing": sorted(check.objects.changed),
        "shared": sorted(check.objects.learnt_sites),
        "copied": ["containers"] if check.runtime.copies else [],
        "apart": check.models.learnt(),
        "attributes": sorted(check.changeable.learnt),
        "modules": sorted(check.objects.named_modules()),
        "globals": sorted(check.code.stored_elsewhere) if check.code is not None else [],
    }


def keeps_others_waiting(spinning: list[Thread], threads: list[Thread]) -> bool:
    """Whether a thread that was cut in a loop would keep the timeouts of others from coming."""
    return any(thread.gave_up for thread in spinning) and any(
        thread.timeout is not None and not thread.finished for thread in threads
    )


def all_finished(runtime: Runtime) -> bool:
    return all(thread.finished for thread in runtime.live)


def plain(outcome: object) -> str:
    """An outcome as far as it can be compared from run to run."""
    if outcome is None or isinstance(outcome, (bool, int, float, str, bytes)):
        return repr(outcome)
    if isinstance(outcome, (tuple, list)):
        return "(" + ", ".join([plain(part) for part in outcome]) + ")"
    return f"an object ({type(outcome).__name__})"


def race_in_words(runtime: Runtime, race: Race | None) -> str | None:
    """A data race in words that are the same for all races of the same lines."""
    if race is None:
        return None
    places = [place(access.code, access.instruction) for access in (race.first, race.second)]
    lines = sorted([f"{file}:{line}" for file, line in places])
    return f"{runtime.names.locations[race.location].label}, {lines[0]} and {lines[1]}"


def operation_before(runtime: Runtime, thread: Thread) -> Event:
    """The operation that a thread stands before, as the event that it may become."""
    kind = thread.kind
    mode = mode_when_enabled(kind) if may_block(kind) else NONE
    event = Event(thread.id, kind, thread.cell.location, mode, thread.first, thread.second)
    if kind == AWAIT_PART:
        _, event.structure, event.part = runtime.footprint_of(thread)
    if kind == JOIN:
        event.choice = thread.choice
    return event

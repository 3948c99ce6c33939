"""A C program as something that a search can steer."""

from dataclasses import dataclass
from typing import Final

from mazurka.engine.errors import BeginsAnew, MazurkaError
from mazurka.engine.event import Event, dependent
from mazurka.engine.linearizable import NOT_ALL_ORDERS, Judge
from mazurka.engine.operation import (
    ALL,
    CHOOSE,
    JOIN,
    NONE,
    STORE,
    UNKNOWN,
    VERBS,
    WRITE,
    Footprint,
    may_block,
    mode_when_enabled,
)
from mazurka.engine.program import (
    BLOCKED,
    COMPLETE,
    NOBODY,
    REDUNDANT,
    Answer,
    Program,
    Request,
    Watch,
)
from mazurka.engine.result import NONDETERMINISM, Failure, Step
from mazurka.engine.trace import copied
from mazurka.native.accounts import (
    ADDRESS,
    UNWRITTEN,
    RunInWords,
    account_of,
    account_of_change,
    address_line,
    race_in_words,
)
from mazurka.native.calls import calls_told
from mazurka.native.naming import Names
from mazurka.native.operations import FORM_PLAIN, NativeValues, part_of, view_of
from mazurka.native.runtime_library import (
    ALL_STAND,
    ANSWER,
    EXIT_CODE,
    EXITED,
    FEW_VALUES,
    FILLED,
    FILLING,
    FIRST,
    FIRST_FAILED,
    HAS_NEWS,
    INDEPENDENT_ADDS,
    KEEP,
    KEEPS_ROUNDS,
    MAX_EVENTS,
    MOST_SLEEPERS,
    MOST_STEPS,
    MOST_THREADS,
    ONLY_SYNC,
    OUT_OF_ROUNDS,
    OUTPUT_SIZE,
    PLAN_END,
    POLICY,
    PRINTED_ADDRESS,
    REPEATS_CHOICES,
    SAME,
    SLEEPER_SIZE,
    SLEEPERS,
    STEP_SIZE,
    STOPPED,
    THREADS_KNOWN,
    UNROLL,
    WATCHED,
    WATCHES_STEPS,
    Library,
)

# What the runtime asks, and what broke a run off: runtime/state.h.
ENDED: Final = 0
ASKS_ENDS: Final = 1
ASKS_ASLEEP: Final = 2
NOT_STOPPED: Final = 0
DIVERGED: Final = 1

# What the runtime says when it comes back, in one number: runtime/tell.c.
IS_OF_NO_USE: Final = 1 << 3
WAS_STOPPED: Final = 1 << 4
HAS_FAILED: Final = 1 << 5
IS_UNFINISHED: Final = 1 << 6
MET_RACE: Final = 1 << 7
MOST_STEPS_MASK: Final = (1 << 23) - 1
RECORDS: Final = 1 << 14
ENABLED: Final = 14  # where a step has it

# Of a thread's status.
IS_LIVE: Final = 0
IS_FINISHED: Final = 1
GAVE_UP: Final = 2
SPINS: Final = 9


# What fresh memory is filled with: in the first run, and in all others.
FILLINGS: Final = (0x35, 0xCB)


class Anew(BeginsAnew):
    """Threads share something that they were not known to share: the search must begin anew."""


@dataclass(frozen=True)
class Manner:
    """How a program is run: options of `mazurka.explore`."""

    max_events: int = 1000
    granularity: str = "access"
    leaks: bool = False
    unroll: int | None = None
    loop_purity: bool = True
    independent_adds: bool = True


class NativeProgram(Program):
    """Runs a C program that is loaded, and says how each run ended."""

    def __init__(
        self,
        library: Library,
        names: Names,
        manner: Manner = Manner(),
    ) -> None:
        super().__init__(NativeValues())
        self.library = library
        self.names = names
        self.state = library.state
        self.steps = library.steps
        self.threads = library.threads
        self.asked = library.asked
        self.told = library.told
        self.watches = library.watches
        self.run_once = library.functions.mz_run
        self.go_on = library.functions.mz_go_on
        self.look = library.functions.mz_look
        self.mode_now = library.functions.mz_mode
        self.first_standing = library.standing_at
        self.thread_size = library.thread_size
        self.settings = manner
        self.max_events = min(manner.max_events, MOST_STEPS - 1000)
        self.request = Request(self.events)
        self.logged: list[Event] = []  # the events that the runtime's own log has
        self.records: list[Event | None] = [None] * RECORDS  # of steps, by number: tell.c
        self.ranks: list[int] = []  # of threads, in their order
        self.keep = 0  # so many events are repeated
        self.taken = 0  # so many steps of the run were taken over
        self.diverged_at = -1  # the step that was another one than its name, or -1
        self.had_first = True  # whether the runtime was told who is first, or who sleeps
        self.had_sleepers = True
        self.watched: list[Watch] = []  # that the runtime was told about
        self.manner = (-1, False, False)  # how it was told to go on
        self.runs = 0
        self.judge: Judge | None = None  # of the calls that the program tells of
        self.state[WATCHED] = 0
        self.state[ONLY_SYNC] = manner.granularity == "sync"
        self.state[UNROLL] = manner.unroll or 0
        self.state[KEEPS_ROUNDS] = not manner.loop_purity
        self.state[INDEPENDENT_ADDS] = manner.independent_adds
        library.functions.mz_begin_search()

    # One execution

    def run(self, request: Request) -> Answer:
        self.request = request
        events = request.events
        self.events = events
        self.diverged_at = -1
        keep = len(events)
        logged = self.logged
        same = keep if events == logged[:keep] else self.begin_of_difference(events)
        if same < len(logged):
            del logged[same:]
        self.keep = keep
        self.taken = same
        self.plan(request, same)
        if self.runs < 3:
            self.fill_memory()
        told: int = self.run_once()
        while told & 7 != ENDED:
            self.state[ANSWER] = self.answer_to(told)
            told = self.go_on()
        if told & IS_OF_NO_USE:
            if self.state[HAS_NEWS]:
                raise Anew
            raise MazurkaError(self.library.text("mz_refusal"))
        position = (told >> 8) & MOST_STEPS_MASK
        self.take_in(position)
        logged.extend(events[same:position])
        self.answer = self.conclude(told)
        if self.runs == 1:
            self.logged = []  # the values of the next run are others, if they depend on its memory
        return self.answer

    def fill_memory(self) -> None:
        """The first two runs have other values in memory that was never written: if that shows, the
        program depends on it."""
        self.runs += 1
        self.state[FILLING] = FILLINGS[0] if self.runs == 1 else FILLINGS[1]
        self.state[FILLED] = 256 << 10 if self.runs < 3 else 2 << 10

    def begin_of_difference(self, events: list[Event]) -> int:
        """How many events are those that the runtime has still in its log."""
        logged = self.logged
        place = 0
        while place < len(events) and place < len(logged) and events[place] is logged[place]:
            place += 1
        return place

    def plan(self, request: Request, same: int) -> None:
        """Tell the runtime what is asked for."""
        state = self.state
        events = request.events
        keep = len(events)
        path = request.path
        end = keep + len(path)
        if end > self.max_events:
            end = min(end, MOST_STEPS - 1000)
        for place in range(same, keep):
            self.ask(place, events[place])
        for place in range(keep, end):
            self.ask(place, path[place - keep])
        state[KEEP] = keep
        state[SAME] = same
        state[PLAN_END] = end
        if request.first != NOBODY or self.had_first:
            self.had_first = request.first != NOBODY
            state[FIRST] = request.first  # which the runtime changes, as it does with the sleepers
        if request.sleep or self.had_sleepers:
            self.had_sleepers = bool(request.sleep)
            state[SLEEPERS] = len(request.sleep)
            self.put_to_sleep(request.sleep)
        if request.watched or self.watched:
            self.watch(request.watched)
        manner = (request.policy, request.watches_steps, request.all_stand)
        if manner != self.manner:
            self.manner = manner
            state[POLICY] = request.policy
            state[WATCHES_STEPS] = request.watches_steps
            state[ALL_STAND] = request.all_stand
            state[MAX_EVENTS] = self.max_events

    def ask(self, place: int, step: Event) -> None:
        """Ask for a step, in its place: one number, since each that is written takes its time."""
        operation = step.mode << 15 | (step.kind + 1) << 8 | step.thread
        self.asked[place] = (step.choice + 1) << 41 | (step.location + 1) << 18 | operation

    def watch(self, watched: list[Watch]) -> None:
        """Say where the watcher is to be asked: most are the same as for the run before."""
        told = self.watched
        before = len(told)
        del told[len(watched) :]
        for place in range(len(watched)):
            watch = watched[place]
            if place == len(told):
                told.append(watch)
            elif told[place] is watch:
                continue
            else:
                told[place] = watch
            self.watches[place] = watch.location << 8 | watch.thread
        if before != len(watched):
            self.state[WATCHED] = len(watched)

    def put_to_sleep(self, sleepers: list[Event]) -> None:
        if len(sleepers) > MOST_SLEEPERS:
            raise MazurkaError("more threads sleep than the runtime can keep")
        table = self.library.sleep
        at = 0
        for event in sleepers:
            table[at] = event.thread
            table[at + 1] = event.location
            table[at + 2] = event.mode
            table[at + 3] = event.choice
            at += SLEEPER_SIZE

    def answer_to(self, told: int) -> int:
        """What the search decides."""
        watcher = self.request.watcher
        assert watcher is not None
        self.take_in((told >> 8) & MOST_STEPS_MASK)  # the watcher may look at it
        question = told & 7
        if question == ASKS_ENDS:
            return int(watcher.ends_run())
        if question == ASKS_ASLEEP:
            return int(watcher.keeps_asleep((told >> 31) & 0xFF, told >> 39))
        enabled = [thread for thread in self.live() if self.look(thread)]
        picked = watcher.pick(enabled)
        standing = self.standing(picked)
        choice = watcher.choose(standing.alternatives) if standing.kind == CHOOSE else 0
        return choice << 16 | picked

    # What happened

    def take_in(self, end: int) -> None:
        """Take over what is new from the runtime's log, up to some step; and the values of what was
        asked for again."""
        begin = self.taken
        if begin >= end:
            return
        self.taken = end
        events = self.events
        keep = self.keep
        records = self.records
        place = begin
        for told in self.told[begin:end].tolist():
            if told < 0:
                told = -1 - told
                records[told] = self.event_at(place)
            record = records[told]
            assert record is not None
            if place < keep:
                event = events[place]
                event.before = record.before
                event.after = record.after
            elif self.diverged_at < 0:
                self.add(record, place)
            place += 1

    def add(self, record: Event, place: int) -> None:
        """Add an event that is new."""
        event = made_again(record)
        request = self.request
        events = self.events
        if place == self.keep:
            event.sleep = request.sleep
        else:
            previous = events[place - 1]
            sleep = previous.sleep
            if sleep:
                sleep = [asleep for asleep in sleep if not dependent(asleep, previous)]
            event.sleep = sleep
        if request.all_stand:
            event.enabled = self.enabled_at(self.steps[place * STEP_SIZE + ENABLED])
        of_path = place - self.keep
        if of_path < len(request.path):
            asked = request.path[of_path]
            if asked.kind == UNKNOWN and not self.is_called(event, asked):
                self.diverged_at = place
                return
        events.append(event)

    def event_at(self, place: int) -> Event:
        """The event of a step in the runtime's log."""
        at = place * STEP_SIZE
        return event_of(self.steps[at : at + STEP_SIZE].tolist(), 0)

    def enabled_at(self, place: int) -> list[int]:
        table = self.library.enabled
        return table[place + 1 : place + 1 + table[place]].tolist()

    def is_called(self, event: Event, asked: Event) -> bool:
        """Whether a step that was asked for by its name is that one."""
        is_named = asked.first is None or asked.first == self.operation_name(event)
        return is_named and (asked.mode == NONE or asked.mode == event.mode)

    # How a run ended

    def conclude(self, told: int) -> Answer:
        answer = Answer()
        if told & WAS_STOPPED or self.diverged_at >= 0:
            answer.status = BLOCKED
            answer.failed = True
            return answer
        answer.failed = told & HAS_FAILED != 0
        if told & MET_RACE:
            answer.race = race_in_words(self)
        if told & IS_UNFINISHED:
            self.look_at_threads(answer)
        if answer.race is not None:
            answer.failed = True
        if self.settings.leaks and answer.status == COMPLETE and not answer.failed:
            answer.failed = bool(self.library.unfreed(1))
        if self.judge is not None:
            self.judge.verdict = None
            if self.has_history(answer):
                self.look_at_calls(answer, self.judge)
        return answer

    def has_history(self, answer: Answer) -> bool:
        """Whether all calls have come as far as they ever will, and nothing else has failed."""
        if answer.race is not None or self.state[FIRST_FAILED] >= 0:
            return False
        return answer.failed == (answer.status == BLOCKED) and answer.status != REDUNDANT

    def look_at_calls(self, answer: Answer, judge: Judge) -> None:
        """Whether the calls are linearizable; calls that wait for ever may be as they should."""
        if not self.request.orders_writes:
            raise MazurkaError(NOT_ALL_ORDERS.format("equivalence='reads-from'"))
        if self.library.number("mz_has_sections"):
            raise MazurkaError(NOT_ALL_ORDERS.format("atomic sections"))
        if judge.look(calls_told(self.library), self.events) is not None:
            answer.failed = True
        elif answer.status == BLOCKED:
            calling = {call.thread for call in judge.waiting}
            answer.failed = not all(
                thread in calling or thread == 0 or self.status(thread, IS_FINISHED)
                for thread in self.live()
            )

    def in_order_of_witness(self) -> None:
        """Run the execution in the order in which its calls are not linearizable."""
        judge = self.judge
        if judge is not None and judge.verdict is not None and not judge.verdict.is_own:
            events = self.events
            self.run(Request([copied(events[position]) for position in judge.witness()]))

    def look_at_threads(self, answer: Answer) -> None:
        """Who has not finished, and why."""
        assumed = False
        stuck = False
        waiting: list[Event] = []
        sleeping: list[Event] = []
        for thread in self.live():
            if self.status(thread, IS_FINISHED):
                continue
            if self.status(thread, SPINS):
                answer.polled = [*answer.polled, *self.polled_by(thread)]
                if self.library.functions.mz_is_stuck(thread):
                    stuck = True
                else:  # what it waits for may have come
                    assumed = True
            elif self.status(thread, GAVE_UP):
                assumed = True
            elif self.look(thread):
                sleeping.append(self.operation_before(thread))
            else:
                waiting.append(self.operation_before(thread))
        if stuck and not assumed:
            assumed = any(event.location in self.changed_in_rounds() for event in waiting)
        answer.waiting = waiting
        answer.sleeping = sleeping
        if self.state[OUT_OF_ROUNDS]:
            answer.bound = f"unroll={self.settings.unroll}"
        elif self.state[FEW_VALUES]:
            answer.bound = "a few values of __VERIFIER_nondet"
        elif self.state[REPEATS_CHOICES]:
            answer.bound = "each choice of a loop is made once"
        if sleeping:
            answer.status = REDUNDANT
            answer.race = None  # another execution has it, too
        elif assumed:
            answer.status = BLOCKED
        elif (waiting or stuck) and not self.state[EXITED]:  # an exit ends those that wait
            answer.status = BLOCKED
            answer.failed = True

    def round_of(self, thread: int) -> list[Event]:
        """The last round of a thread that goes round in a loop."""
        begin = self.status(thread, SPINS) - 1
        return [event for event in self.events[begin:] if event.thread == thread]

    def changed_in_rounds(self) -> set[int]:
        """What threads that go round in loops change for a while: who waits for it may get it."""
        spinning = [thread for thread in self.live() if self.status(thread, SPINS)]
        events = [event for thread in spinning for event in self.round_of(thread)]
        return {event.location for event in events if event.mode == WRITE}

    def polled_by(self, thread: int) -> list[int]:
        return [event.location for event in self.round_of(thread) if event.location >= 0]

    def operation_before(self, thread: int) -> Event:
        """The operation that a thread stands before, as the event that it may become."""
        event = self.standing(thread)
        event.mode = mode_when_enabled(event.kind) if may_block(event.kind) else NONE
        return event

    def live(self) -> list[int]:
        """The threads of this execution."""
        known = self.state[THREADS_KNOWN]
        return [thread for thread in range(known) if self.status(thread, IS_LIVE)]

    def status(self, thread: int, what: int) -> int:
        library = self.library
        return self.threads[thread * library.thread_size + library.status_at + what]

    def failure(self) -> Failure:
        self.in_order_of_witness()
        failure = account_of(self, self.judge)
        if failure.kind == NONDETERMINISM and self.runs == 2 and self.repeats_with_same_memory():
            failure.message = UNWRITTEN
        return failure

    def repeats_with_same_memory(self) -> bool:
        """Whether the second run is as the first one was, if its memory is."""
        del self.request.events[:]
        self.logged = []
        self.runs = 0
        self.run(self.request)
        events = [self.stable_names(event) for event in self.events]
        del self.request.events[:]
        self.runs = 0
        self.run(self.request)
        self.runs = 2
        return events == [self.stable_names(event) for event in self.events]

    def account(self) -> list[Step]:
        return RunInWords(self).steps()

    def ending(self) -> str:
        if self.state[STOPPED] != NOT_STOPPED or self.diverged_at >= 0:
            return "broken off"
        if self.answer.race is not None:
            return "a data race"
        if self.runs == 1 and self.state[PRINTED_ADDRESS]:
            return ADDRESS  # which is the same in all runs here, but nowhere else
        if self.judge is not None and self.judge.verdict is not None:
            return self.judge.ending()
        failed = self.state[FIRST_FAILED]
        if failed >= 0:
            return f"a failure in thread {self.thread_name(failed)}"
        if self.answer.status == BLOCKED:
            threads = [self.thread_name(event.thread) for event in self.answer.waiting]
            return "blocked" + "".join([f", thread {name} waiting" for name in threads])
        return f"complete, with {self.outcome()!r}"

    def changed(self, first: str, second: str) -> Failure:
        failure = account_of_change(self, first, second)
        if first == ADDRESS:
            failure.message = ADDRESS
            failure.details = address_line(self)
        elif self.runs == 2:
            self.runs = 0
            self.run(self.request)
            if self.ending() == first:
                failure.message = UNWRITTEN
        return failure

    def outcome(self) -> object:
        """What was printed; if nothing was, the exit code."""
        size = self.state[OUTPUT_SIZE]
        return self.library.output(size) if size else self.state[EXIT_CODE]

    # What threads stand before

    def standing(self, thread: int) -> Event:
        self.look(thread)
        at = thread * self.thread_size + self.first_standing
        return event_of(self.threads[at : at + STEP_SIZE].tolist(), 0)

    def footprint(self, thread: int) -> Footprint:
        mode: int = self.mode_now(thread)
        return mode, NONE, ALL

    def unfinished(self) -> dict[int, int]:
        found = {}
        for thread in self.live():
            if not (self.status(thread, IS_FINISHED) or self.status(thread, GAVE_UP)):
                event = self.standing(thread)
                found[thread] = event.choice if event.kind == JOIN else NOBODY
        return found

    # Names that hold in every process

    def thread_name(self, thread: int) -> str:
        return self.names.thread(thread)

    def thread_called(self, name: str) -> int:
        return self.names.thread_called(name)

    def precedes(self, thread: int, other: int) -> bool:
        ranks = self.ranks
        most = max(thread, other)
        if most >= len(ranks):
            ranks = self.rank(most + 1)
        return ranks[thread] < ranks[other]

    def rank(self, count: int) -> list[int]:
        """Find out the order of the first threads."""
        lineages = [self.names.lineage(thread) for thread in range(count)]
        ordered = sorted(lineages)
        self.ranks = [ordered.index(lineage) for lineage in lineages]
        for thread in range(min(count, MOST_THREADS)):
            self.library.ranks[thread] = self.ranks[thread] + 1
        return self.ranks

    def stable_names(self, event: Event) -> tuple[str, str]:
        location = self.names.location(event.location) if event.location >= 0 else ""
        return self.thread_name(event.thread), location

    def operation_name(self, event: Event) -> str:
        if event.kind == JOIN:
            return f"join {self.thread_name(event.choice)}"
        return f"{VERBS[event.kind]} {self.stable_names(event)[1]}".strip()

    # What was learnt

    def learnt(self) -> dict[str, list[str]]:
        return {"shared": self.names.shared()}

    def learn(self, learnt: dict[str, list[str]]) -> None:
        for name in learnt.get("shared", ()):
            self.names.know(name)
        self.library.functions.mz_begin_search()


def made_again(record: Event) -> Event:
    """A step that is the same as one before."""
    event = Event(
        record.thread, record.kind, record.location, record.mode, record.first, record.second
    )
    event.view = record.view
    event.choice = record.choice
    event.alternatives = record.alternatives
    event.before = record.before
    event.after = record.after
    event.place = record.place
    return event


def event_of(data: list[int], at: int) -> Event:
    """The event of a step that the runtime tells of."""
    kind = data[at + 1]
    event = Event(data[at], kind, data[at + 2], data[at + 3], data[at + 4], data[at + 5])
    event.view = view_of(data[at + 7], data[at + 8], data[at + 6])
    event.choice = data[at + 9]
    event.alternatives = data[at + 10]
    event.before = data[at + 11]
    event.after = data[at + 12]
    event.place = data[at + 13]
    if kind == STORE and data[at + 6] == FORM_PLAIN:  # known now that it was made
        event.first = part_of(data[at + 12], view_of(data[at + 7], data[at + 8], data[at + 6]))
    return event

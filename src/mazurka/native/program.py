"""A C program as something that a search can steer."""

from typing import Final

from mazurka.engine.errors import MazurkaError
from mazurka.engine.event import Event, dependent
from mazurka.engine.operation import (
    ALL,
    CHOOSE,
    JOIN,
    NONE,
    STORE,
    UNKNOWN,
    VERBS,
    Footprint,
    may_block,
    mode_when_enabled,
)
from mazurka.engine.program import BLOCKED, NOBODY, REDUNDANT, Answer, Program, Request
from mazurka.engine.result import Failure
from mazurka.engine.schedule import Schedule
from mazurka.native.accounts import account_of, account_of_change, race_in_words
from mazurka.native.naming import Names
from mazurka.native.operations import FORM_PLAIN, NativeValues, part_of, view_of
from mazurka.native.runtime_library import (
    ALL_STAND,
    ANSWER,
    ASKED_THREAD,
    EXIT_CODE,
    EXITED,
    FIRST,
    FIRST_FAILED,
    HAS_NEWS,
    HAS_RACE,
    IS_REFUSED,
    KEEP,
    MAX_EVENTS,
    MOST_SLEEPERS,
    MOST_STEPS,
    ONLY_SYNC,
    OUTPUT_SIZE,
    PLAN_END,
    POLICY,
    POSITION,
    SLEEPER_SIZE,
    SLEEPERS,
    STEP_SIZE,
    STOPPED,
    THREADS_KNOWN,
    UNFINISHED,
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

# Of a thread's status.
IS_LIVE: Final = 0
IS_FINISHED: Final = 1
GAVE_UP: Final = 2
SPINS: Final = 9


class Anew(Exception):
    """Threads share something that they were not known to share: the search must begin anew."""


class NativeProgram(Program):
    """Runs a C program that is loaded, and says how each run ended."""

    def __init__(
        self,
        library: Library,
        names: Names,
        max_events: int = 1000,
        only_sync: bool = False,
    ) -> None:
        super().__init__(NativeValues())
        self.library = library
        self.names = names
        self.state = library.state
        self.steps = library.steps
        self.threads = library.threads
        self.run_once = library.functions.mz_run
        self.go_on = library.functions.mz_go_on
        self.look = library.functions.mz_look
        self.first_standing = library.standing_at
        self.thread_size = library.thread_size
        self.max_events = min(max_events, MOST_STEPS - 1000)
        self.request = Request(self.events)
        self.logged: list[Event] = []  # the events that the runtime's own log has
        self.diverged_at = -1  # the step that was another one than its name, or -1
        self.watched = 0  # how many locations the runtime was told about
        self.manner = (-1, False, False)  # how it was told to go on
        self.state[WATCHED] = 0
        self.state[ONLY_SYNC] = only_sync
        library.functions.mz_begin_search()

    # One execution

    def run(self, request: Request) -> Answer:
        self.request = request
        events = request.events
        self.events = events
        self.diverged_at = -1
        keep = len(events)
        same = keep if events == self.logged[:keep] else self.begin_of_difference(events)
        self.plan(request, same)
        state = self.state
        question: int = self.run_once()
        while question != ENDED:
            state[ANSWER] = self.answer_to(question)
            question = self.go_on()
        if state[HAS_NEWS]:
            raise Anew
        if state[IS_REFUSED]:
            raise MazurkaError(self.library.text("mz_refusal"))
        self.take_in(same, keep)
        self.answer = self.conclude()
        return self.answer

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
        keep = len(request.events)
        end = keep + len(request.path)
        if end > self.max_events:
            end = min(end, MOST_STEPS - 1000)
        for place in range(same, keep):
            self.ask(place, request.events[place])
        for place in range(keep, end):
            self.ask(place, request.path[place - keep])
        state[KEEP] = keep
        state[PLAN_END] = end
        state[FIRST] = request.first  # which the runtime changes, as it does with the sleepers
        state[SLEEPERS] = len(request.sleep)
        if request.sleep:
            self.put_to_sleep(request.sleep)
        watched = len(request.watched)
        if watched or self.watched:
            self.watched = watched
            state[WATCHED] = watched
            self.library.watched[:watched] = bytes(request.watched)
        manner = (request.policy, request.watches_steps, request.all_stand)
        if manner != self.manner:
            self.manner = manner
            state[POLICY] = request.policy
            state[WATCHES_STEPS] = request.watches_steps
            state[ALL_STAND] = request.all_stand
            state[MAX_EVENTS] = self.max_events

    def ask(self, place: int, step: Event) -> None:
        """Ask for a step, in its place."""
        steps = self.steps
        at = place * STEP_SIZE
        steps[at] = step.thread
        steps[at + 1] = step.kind
        steps[at + 2] = step.location
        steps[at + 3] = step.mode
        steps[at + 9] = step.choice

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

    def answer_to(self, question: int) -> int:
        """What the search decides."""
        watcher = self.request.watcher
        assert watcher is not None
        if self.state[POSITION] > len(self.events):  # the watcher may look at them
            self.take_in(len(self.events), len(self.events))
        if question == ASKS_ENDS:
            return int(watcher.ends_run())
        if question == ASKS_ASLEEP:
            thread = self.state[ASKED_THREAD]
            location = self.threads[thread * self.thread_size + self.first_standing + 2]
            return int(watcher.keeps_asleep(thread, location))
        enabled = [thread for thread in self.live() if self.look(thread)]
        picked = watcher.pick(enabled)
        standing = self.standing(picked)
        choice = watcher.choose(standing.alternatives) if standing.kind == CHOOSE else 0
        return choice << 16 | picked

    # What happened

    def take_in(self, same: int, keep: int) -> None:
        """Take over what is new from the runtime's log; and values of what was asked for again."""
        events = self.events
        position = self.state[POSITION]
        logged = self.logged
        if same < len(logged):
            del logged[same:]
        if same < keep:
            self.fill_in(same, min(keep, position))
            logged.extend(events[same:position])
        begin = len(events)
        if position <= begin:
            if position < len(logged):
                del logged[position:]
            return
        data = self.steps[begin * STEP_SIZE : position * STEP_SIZE].tolist()
        records_enabled = self.request.all_stand
        sleep = events[-1].sleep if begin > self.state[KEEP] else self.request.sleep
        if begin > self.state[KEEP] and sleep:
            sleep = [asleep for asleep in sleep if not dependent(asleep, events[-1])]
        path = self.request.path
        first_of_path = self.state[KEEP]
        at = 0
        for place in range(begin, position):
            event = event_of(data, at)
            event.sleep = sleep
            if records_enabled:
                event.enabled = self.enabled_at(data[at + 14])
            events.append(event)
            logged.append(event)
            if sleep:
                sleep = [asleep for asleep in sleep if not dependent(asleep, event)]
            if place - first_of_path < len(path) and self.diverged_at < 0:
                self.compare(event, path[place - first_of_path], place)
            at += STEP_SIZE
        if self.diverged_at >= 0:
            del events[self.diverged_at :]
            del logged[self.diverged_at :]

    def fill_in(self, begin: int, end: int) -> None:
        """The values of events that were asked for again."""
        data = self.steps[begin * STEP_SIZE : end * STEP_SIZE].tolist()
        at = 0
        for place in range(begin, end):
            event = self.events[place]
            event.before = data[at + 11]
            event.after = data[at + 12]
            at += STEP_SIZE

    def enabled_at(self, place: int) -> list[int]:
        table = self.library.enabled
        return table[place + 1 : place + 1 + table[place]].tolist()

    def compare(self, event: Event, asked: Event, place: int) -> None:
        """A step that was asked for by its name must be that one."""
        if asked.kind == UNKNOWN:
            is_named = asked.first is None or asked.first == self.operation_name(event)
            if not is_named or (asked.mode != NONE and asked.mode != event.mode):
                self.diverged_at = place

    # How a run ended

    def conclude(self) -> Answer:
        state = self.state
        answer = Answer()
        if state[STOPPED] != NOT_STOPPED or self.diverged_at >= 0:
            answer.status = BLOCKED
            answer.failed = True
            return answer
        answer.failed = state[FIRST_FAILED] >= 0
        if state[HAS_RACE]:
            answer.race = race_in_words(self)
        if state[UNFINISHED]:
            self.look_at_threads(answer)
        if answer.race is not None:
            answer.failed = True
        return answer

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
        answer.waiting = waiting
        answer.sleeping = sleeping
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
        return account_of(self)

    def ending(self) -> str:
        if self.state[STOPPED] != NOT_STOPPED or self.diverged_at >= 0:
            return "broken off"
        if self.answer.race is not None:
            return "a data race"
        failed = self.state[FIRST_FAILED]
        if failed >= 0:
            return f"a failure in thread {self.thread_name(failed)}"
        if self.answer.status == BLOCKED:
            threads = [self.thread_name(event.thread) for event in self.answer.waiting]
            return "blocked" + "".join([f", thread {name} waiting" for name in threads])
        return f"complete, with {self.outcome()!r}"

    def changed(self, first: str, second: str) -> Failure:
        return account_of_change(self, first, second)

    def outcome(self) -> object:
        """What was printed; if nothing was, the exit code."""
        size = self.state[OUTPUT_SIZE]
        return self.library.output(size) if size else self.state[EXIT_CODE]

    def follow(self, schedule: Schedule) -> None:
        """Run the steps of a schedule."""
        request = Request([])
        request.path = self.path_of(schedule.steps)
        self.run(request)
        if self.state[STOPPED] == DIVERGED or self.diverged_at >= 0:
            step = self.state[POSITION] if self.diverged_at < 0 else self.diverged_at
            raise MazurkaError(
                f"the program has changed since the schedule was recorded: step {step + 1} is "
                "another one"
            )

    # What threads stand before

    def standing(self, thread: int) -> Event:
        self.look(thread)
        at = thread * self.thread_size + self.first_standing
        return event_of(self.threads[at : at + STEP_SIZE].tolist(), 0)

    def footprint(self, thread: int) -> Footprint:
        self.look(thread)
        mode: int = self.threads[thread * self.thread_size + self.first_standing + 3]
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
        return self.names.lineage(thread) < self.names.lineage(other)

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

"""Executions that are computed, not run: a Program between a search and a front end.

Most executions of a search are made of what each of their threads was seen to do before. Such an
execution is computed: each operation is applied to the value at its location, and what it gives
leads the thread on in the tree of its histories (histories.py). The first steps are mostly those of
the execution before, and cost nothing. Where a thread comes to a history that is not known, the
program is run: it repeats what was computed so far, and goes on from there.

This holds as long as threads are deterministic, and all that they share is seen. So a sample of the
computed executions is run, too, the first ones all; and where an execution fails, or waits for
ever, it is always run. If a run shows anything else than what was computed, the program does not
repeat itself; or, where not all is seen that threads do, the search begins anew and remembers
nothing. docs/remembering.md says more.
"""

from typing import Final

from mazurka.engine.event import NO_EVENTS, Event, footprint_of
from mazurka.engine.histories import NOT_KEPT, Histories, Node, Opaque, end_of, key_of
from mazurka.engine.operation import (
    ANY,
    CHOOSE,
    FIRST_ON_PARTS,
    INDEX_READ,
    JOIN,
    NONE,
    READ_WHOLE,
    RELEASE,
    SPAWN,
    UNKNOWN,
    Footprint,
)
from mazurka.engine.parts import Base
from mazurka.engine.program import (
    BLOCKED,
    COMPLETE,
    GO_ON,
    REDUNDANT,
    UNFINISHED,
    Answer,
    Program,
    Request,
)
from mazurka.engine.result import Failure, Step
from mazurka.engine.schedule import NamedStep
from mazurka.engine.turns import Stepper, Turns
from mazurka.engine.values import Values
from mazurka.engine.walk import UNTOUCHED, Walk, Walker

FIRST_ONES: Final = 100  # so many computed executions are run, too,
EVERY: Final = 64  # and then one of so many

# After so many executions at least one of so many must have been computed: else it is not worth it.
TRIAL: Final = 2000
WORTH: Final = 20

NOT_WORTH_IT: Final = "hardly any execution is made of what threads did before"


class Mistaken(Exception):
    """A run has shown something else than what was computed, or than a run before."""

    def __init__(self, first: str, then: str) -> None:
        super().__init__(f"first {first}, then {then}")
        self.first = first
        self.then = then


class Remembered(Program):
    """A program of which most executions are computed."""

    def __init__(self, program: Program, max_events: int, megabytes: float) -> None:
        super().__init__(program.values)
        self.program = program
        self.max_events = max_events
        self.request = Request(self.events)  # the latest
        self.histories = Histories(program.values, megabytes)
        self.walk = Walk(program, self.histories)
        self.turns = Turns(self.walk)
        self.why_not = ""  # why nothing is remembered
        self.is_real = True  # whether the latest execution was run
        self.is_computing = False  # whether one is being computed
        self.all_stand = False
        self.taken = 0  # steps of the path
        self.chosen: list[Event] = []  # a step that was decided on, and could not be computed
        self.runs = 0
        self.computed = 0
        self.told_of = 0  # of these
        self.difference: Failure | None = None  # of a program that does not repeat itself
        self.first_ones = FIRST_ONES
        self.every = EVERY
        program.be_remembered()

    def run(self, request: Request) -> Answer:
        if self.why_not or request.prefix:
            return self.run_all(request)
        self.runs += 1
        self.request = request
        self.events = request.events
        self.begin(request)
        try:
            self.answer = self.run_or_compute(request)
        except Mistaken as mistaken:
            self.answer = self.told(mistaken)
        if self.histories.count > self.histories.most:
            self.histories.make_room()
            self.walk.forget_contents()
            self.walk.begin()
        if self.runs == TRIAL and self.computed * WORTH < TRIAL:
            self.stop_remembering(NOT_WORTH_IT)
        return self.answer

    def run_or_compute(self, request: Request) -> Answer:
        answer = self.compute(request)
        if answer is None:
            return self.run_rest(request)
        self.answer = answer
        self.computed += 1
        self.is_real = False
        if self.computed <= self.first_ones or self.computed % self.every == 0:
            return self.verified(request, answer)
        return answer

    def told(self, mistaken: Mistaken) -> Answer:
        """A thread did two things though its operations gave it the same. Where all is seen that
        threads do, the program does not repeat itself; else they may share what is not seen."""
        if not self.program.sees_all():
            raise mistaken
        self.difference = self.program.changed(mistaken.first, mistaken.then)
        answer = Answer()
        answer.status = BLOCKED
        answer.failed = True
        return answer

    def run_all(self, request: Request) -> Answer:
        self.is_real = True
        try:
            self.answer = self.program.run(request)
        finally:
            self.events = self.program.events
        return self.answer

    def stop_remembering(self, why: str) -> None:
        self.why_not = why
        self.walk.begin()
        self.histories.root = None

    def newly_computed(self) -> int:
        """How many executions were computed since this was last asked."""
        new = self.computed - self.told_of
        self.told_of = self.computed
        return new

    # Computing

    def begin(self, request: Request) -> None:
        """Go back to what the execution before has in common with the one that is wanted."""
        walk = self.walk
        walk.now = self.runs
        walk.is_blind = False
        wanted = request.events
        known = walk.events
        most = min(len(wanted), len(known))
        common = 0
        while common < most and wanted[common] is known[common]:
            common += 1
        walk.cut(common)
        self.turns.live = walk.live
        self.turns.take(request)
        self.all_stand = request.all_stand
        self.taken = 0
        self.chosen = []

    def compute(self, request: Request) -> Answer | None:
        """Compute an execution as far as it goes; gives how it ended if it is known to its end."""
        self.is_computing = True
        try:
            return self.conclude() if self.goes_to_its_end(request) else None
        finally:
            self.is_computing = False

    def goes_to_its_end(self, request: Request) -> bool:
        events = request.events
        walk = self.walk
        for position in range(len(walk.events), len(events)):
            if not self.repeat(events[position]):
                return False
        for expected in request.path:
            if not self.follow(expected):
                return False
            self.taken += 1
        while True:
            walker = self.next_walker(request)
            if walk.is_blind:
                return False
            if walker is None:
                return True
            if not self.step(walker, walker.choice, None):
                if len(self.events) < self.max_events:
                    self.chosen = [step_of(walker)]
                return False

    def repeat(self, event: Event) -> bool:
        """Make a step that the search knows; False if it cannot be computed."""
        walk = self.walk
        walker = walk.at(event.thread)
        return (
            self.can_step(walker)
            and fits(walker.node, event)
            and self.accesses_alike(walker.node, event)
            and walk.perform(walker, event)
        )

    def accesses_alike(self, node: Node, event: Event) -> bool:
        """Whether the operation after a history would access its location as an event did."""
        walk = self.walk
        if node.kind < FIRST_ON_PARTS:
            return walk.mode_of(node) == event.mode
        view = walk.view_of(node)
        if view is None:
            return False
        event.view = view
        event.is_vague = True
        return walk.values.footprint_by(node.operation, view) == footprint_of(event)

    def follow(self, expected: Event) -> bool:
        """Make a step of the path."""
        walker = self.walk.at(expected.thread)
        if not self.can_step(walker) or (
            expected.kind == UNKNOWN and (expected.first is not None or expected.mode != NONE)
        ):
            return False
        choice = 0 if expected.choice == ANY else expected.choice
        return self.step(walker, choice, expected)

    def can_step(self, walker: Walker) -> bool:
        return walker.epoch == self.walk.epoch and self.walk.enabled(walker)

    def step(self, walker: Walker, choice: int, expected: Event | None) -> bool:
        """Make a step that is new."""
        walk = self.walk
        if not walker.node.is_known or len(self.events) >= self.max_events:
            return False
        event = walk.standing(walker)
        if event.kind == CHOOSE:
            event.choice = choice
        if (
            expected is not None
            and expected.kind != UNKNOWN
            and (not fits(walker.node, expected) or footprint_of(event) != footprint_of(expected))
        ):
            return False
        event.sleep = self.turns.sleep
        if self.all_stand:
            if not walk.sees_all():
                return False
            event.enabled = [thread.id for thread in walk.live if walk.enabled(thread)]
        if walk.is_blind or not walk.perform(walker, event):
            return False
        self.events.append(event)
        if self.turns.sleep:
            self.turns.wake(event)
        return True

    def next_walker(self, request: Request) -> Walker | None:
        """Who makes the next step; None if nobody can, or, blindly, if that is not known."""
        walk = self.walk
        turns = self.turns
        if (request.policy != GO_ON or request.watches_steps) and not walk.sees_all():
            walk.is_blind = True
            return None
        first = turns.first
        chosen: Stepper | None = turns.free_choice()
        if walk.is_blind:
            turns.first = first
        return None if chosen is None else walk.at(chosen.id)

    def conclude(self) -> Answer | None:
        """How the execution ended, unless somebody waits for ever: then it is run."""
        walk = self.walk
        answer = Answer()
        waiting: list[Event] = []
        sleeping: list[Event] = []
        for stepper in walk.live:
            if not stepper.finished:
                standing = walk.left_standing(walk.at(stepper.id))
                (sleeping if walk.enabled(stepper) else waiting).append(standing)
        if walk.is_blind or (waiting and not sleeping):
            return None
        answer.status = REDUNDANT if sleeping else COMPLETE
        answer.waiting = waiting
        answer.sleeping = sleeping
        return answer

    # Running

    def run_rest(self, request: Request) -> Answer:
        """Run what was computed so far, and then the rest; and learn from it."""
        begin, repeated = len(self.walk.events), len(self.events)
        for position in range(begin, repeated):
            look_again(self.events[position])
        answer = self.run_on(request)
        why_not = self.program.unremembered()
        if why_not and answer.failed and begin > 0 and not self.program.sees_all():
            raise Mistaken("an execution that was computed", "one that was broken off")
        if why_not:
            self.stop_remembering(why_not)
        elif answer.failed:
            self.walk.begin()  # not all that was to happen has
        else:
            Lesson(self.program, self.walk, self.events, begin, repeated).learn()
        return answer

    def run_on(self, request: Request) -> Answer:
        path, sleep, first = request.path, request.sleep, request.first
        request.path = [*path[self.taken :], *self.chosen] if path or self.chosen else NO_EVENTS
        request.sleep = self.turns.sleep
        request.first = self.turns.first
        try:
            return self.run_all(request)
        finally:
            request.path = path
            request.sleep = sleep
            request.first = first

    def verified(self, request: Request, computed: Answer) -> Answer:
        """Run an execution that was computed, too."""
        events = request.events
        outcome = key_of(self.outcome())
        values = [key_of_found(self.values, event) for event in events]
        first = f"{computed.status}, with {self.outcome()!r}"
        answer = self.run_on(request)
        if answer.failed and self.program.sees_all():
            return answer  # it was broken off, and can tell why
        if (
            answer.failed
            or answer.status != computed.status
            or len(events) != len(values)
            or threads_of(answer) != threads_of(computed)
            or (answer.status == COMPLETE and key_of(self.outcome()) != outcome)
        ):
            raise Mistaken(first, self.program.ending())
        for position, event in enumerate(events):
            part, value = key_of_found(self.values, event)
            known_part, known = values[position]
            if part != known_part or (value != known and known is not NOT_KEPT):
                raise Mistaken(f"{known!r}", f"{value!r} in '{self.program.operation_name(event)}'")
        return answer

    # What the search asks

    def failure(self) -> Failure:
        if self.difference is not None:
            return self.difference
        self.make_real()
        return self.program.failure()

    def account(self) -> list[Step]:
        self.make_real()
        return self.program.account()

    def ending(self) -> str:
        self.make_real()
        return self.program.ending()

    def make_real(self) -> None:
        """Run the latest execution, if it was computed."""
        if not self.is_real:
            self.run_on(self.request)

    def changed(self, first: str, second: str) -> Failure:
        return self.program.changed(first, second)

    def outcome(self) -> object:
        return self.program.outcome() if self.is_real else self.walk.at(0).node.result

    def standing(self, thread: int) -> Event:
        if self.is_computing or not self.is_real:
            return self.walk.standing(self.walk.at(thread))
        return self.program.standing(thread)

    def footprint(self, thread: int) -> Footprint:
        if self.is_computing or not self.is_real:
            return super().footprint(thread)
        return self.program.footprint(thread)

    def unfinished(self) -> dict[int, int]:
        if self.is_computing or not self.is_real:
            return self.walk.unfinished()
        return self.program.unfinished()

    def excludes(self, events: list[Event], choice: Event) -> bool:
        return self.program.excludes(events, choice)

    def thread_name(self, thread: int) -> str:
        return self.program.thread_name(thread)

    def thread_called(self, name: str) -> int:
        return self.program.thread_called(name)

    def precedes(self, thread: int, other: int) -> bool:
        return self.program.precedes(thread, other)

    def stable_names(self, event: Event) -> tuple[str, str]:
        return self.program.stable_names(event)

    def part_name(self, event: Event) -> str:
        return self.program.part_name(event)

    def operation_name(self, event: Event) -> str:
        return self.program.operation_name(event)

    def steps_of(self, events: list[Event]) -> list[NamedStep]:
        return self.program.steps_of(events)

    def learnt(self) -> dict[str, list[str]]:
        return self.program.learnt()

    def learn(self, learnt: dict[str, list[str]]) -> None:
        self.program.learn(learnt)


class Lesson:
    """What a run shows of the threads, from a position on."""

    def __init__(
        self, program: Program, walk: Walk, events: list[Event], begin: int, repeated: int
    ) -> None:
        self.program = program
        self.walk = walk
        self.events = events
        self.begin = begin
        self.repeated = repeated  # so many of the events were known before the run
        self.upcoming: dict[int, list[Event]] = {}  # of each thread, the last one first
        for position in range(len(events) - 1, begin - 1, -1):
            event = events[position]
            self.upcoming.setdefault(event.thread, []).append(event)
        self.left = program.unfinished()

    def learn(self) -> None:
        walk = self.walk
        for stepper in walk.live:
            self.look_ahead(walk.at(stepper.id))
        for position in range(self.begin, len(self.events)):
            event = self.events[position]
            walker = walk.at(event.thread)
            self.upcoming[event.thread].pop()
            if not self.follows(walker, event):
                walk.lose(walker, event)
            self.look_ahead(walker)
            if event.kind == SPAWN:
                self.look_ahead(walk.at(event.choice))

    def follows(self, walker: Walker, event: Event) -> bool:
        """Whether the histories know what comes of an event now."""
        walk = self.walk
        node = walker.node
        if node is walk.unseen:
            return False
        if not fits(node, event):
            known = self.program.operation_name(node.operation)
            raise Mistaken(*self.words(event, known, self.program.operation_name(event)))
        location = event.location
        if event.kind >= FIRST_ON_PARTS:
            if not self.check_contents(walker, event):
                return False
        elif location >= 0 and (
            walk.value_at(location) is not NOT_KEPT or walk.memory[location] is UNTOUCHED
        ):
            self.check_value(location, event)
        if event.kind == RELEASE and key_of(event.first) not in (NOT_KEPT, node.handed):
            raise Mistaken(*self.words(event, node.handed, event.first))
        before, after = event.before, event.after
        if not walk.perform(walker, event):
            return False
        left = event.after
        event.before, event.after = before, after  # which may be objects of the execution
        is_new = len(walk.events) > self.repeated and event.kind < FIRST_ON_PARTS
        if is_new and comparable(left) != comparable(after):
            raise Mistaken(*self.words(event, left, after))
        return True

    def check_contents(self, walker: Walker, event: Event) -> bool:
        """Note or check what an operation finds in a container; False if nothing is known of it."""
        walk = self.walk
        if walk.memory_is_untouched(event.location):
            walk.note_first_value(event.location, Base())
        contents = walk.contents_at(event.location)
        if contents is None:
            return False
        if not walk.note_found(contents, walker.node, event):
            raise Mistaken(*self.words(event, "something else", event.view))
        return True

    def check_value(self, location: int, event: Event) -> None:
        walk = self.walk
        if walk.memory[location] is UNTOUCHED:
            same = walk.note_first_value(location, event.before)
        else:
            same = comparable(walk.memory[location]) == comparable(event.before)
        if not same:
            raise Mistaken(*self.words(event, walk.value_at(location), event.before))

    def words(self, event: Event, first: object, then: object) -> tuple[str, str]:
        """What a thread did, and what it does now that its operations have given it the same."""
        step = f"'{self.program.operation_name(event)}' by {self.program.thread_name(event.thread)}"
        return f"{first!r} in {step}", f"{then!r} though it had met the same"

    def look_ahead(self, walker: Walker) -> None:
        """Let a thread stand before what it is seen to do next."""
        node = walker.node
        upcoming = self.upcoming.get(walker.id)
        if node is not self.walk.unseen:
            if not node.is_known and upcoming:
                node.know(self.walk.histories.node_for(upcoming[-1], True))
            return
        if walker.key is NOT_KEPT:
            return
        following = self.following(walker, upcoming[-1] if upcoming else None)
        if following is not None:
            self.walk.histories.add(walker.behind, walker.key, following, self.walk.now)
            walker.stand(following)

    def following(self, walker: Walker, event: Event | None) -> Node | None:
        histories = self.walk.histories
        if event is None and walker.id not in self.left:
            result = self.program.given_by(walker.id)
            if result is UNFINISHED:
                return None
            if key_of(result) is NOT_KEPT:
                if walker.id == 0:  # whose result is the outcome
                    return None
                result = Opaque()
            return end_of(walker.id, result)
        standing = self.program.standing(walker.id) if event is None else event
        if event is None and standing.kind == JOIN:
            standing.choice = self.left[walker.id]  # which is known of steps that were made
        if standing.kind <= NONE:
            return None
        if not self.program.remembers(standing):
            walker.key = NOT_KEPT
            return None
        return histories.node_for(standing, event is not None)


def step_of(walker: Walker) -> Event:
    """The step that a thread is to make: nobody is asked twice who comes next, or what it takes."""
    step = Event(walker.id, UNKNOWN, -1, NONE, None, None)
    step.choice = walker.choice if walker.kind == CHOOSE else ANY
    return step


def fits(node: Node, event: Event) -> bool:
    """Whether an event is what comes after a history."""
    operation = node.operation
    kind = node.kind
    return (
        kind == event.kind
        and node.location == event.location
        and ((kind != SPAWN and kind != JOIN) or operation.choice == event.choice)
        and (kind != CHOOSE or event.choice < operation.alternatives)
    )


def comparable(value: object) -> object:
    """What is compared of values: those that are not kept may be any."""
    key = key_of(value)
    return NOT_KEPT if isinstance(key, Opaque) else key


def look_again(event: Event) -> None:
    """An event is to be repeated that may find something else in a container than it did, or hand
    something else on."""
    if event.kind >= FIRST_ON_PARTS or event.kind == RELEASE:
        event.is_vague = True


def key_of_found(values: Values, event: Event) -> tuple[object, object]:
    """What an event found, to compare: of a container, and as a value."""
    kind = event.kind
    if kind < FIRST_ON_PARTS:
        return None, comparable(event.before)
    look_again(event)
    length, is_there, value = values.seen_in(event.view)
    if kind < INDEX_READ:
        return is_there, comparable(value) if is_there else None
    if kind == INDEX_READ and event.part >= 0:
        return length, comparable(value)
    return None if kind == READ_WHOLE else length, None


def threads_of(answer: Answer) -> list[list[int]]:
    """Who was left at the end of an execution."""
    return [[event.thread for event in events] for events in (answer.waiting, answer.sleeping)]

"""What a front end owes the searches, on generated programs: the contract of engine/program.py."""

from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mazurka.engine.event import Event, changes_all, copy_of, dependent
from mazurka.engine.operation import CHOOSE, JOIN, UNKNOWN, may_block, mode_when_enabled
from mazurka.engine.program import (
    BLOCKED,
    COMPLETE,
    LEFTMOST,
    NOBODY,
    PICKED,
    REDUNDANT,
    Answer,
    Request,
    Watch,
    Watcher,
)
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import NONDETERMINISM
from mazurka.engine.schedule import Schedule
from tests.conformance import oracle
from tests.conformance.front_ends import FRONT_ENDS, FrontEnd
from tests.conformance.oracle import Program, State, Trace
from tests.conformance.programs import any_program
from tests.conformance.searches import NAMES, trace_of
from tests.oracles.generated import PROGRAMS, generated

on_programs = generated(PROGRAMS // 10)
every_front_end = pytest.mark.parametrize("name", FRONT_ENDS)
chance = st.integers(0, 2**16).map(Random)


class Picker(Watcher):
    """Picks threads by chance, and notes whom it could have picked."""

    def __init__(self, chance: Random) -> None:
        self.chance = chance
        self.asked: list[list[int]] = []
        self.picked: list[int] = []
        self.alternatives: list[int] = []

    def pick(self, threads: list[int]) -> int:
        self.asked.append(list(threads))
        self.picked.append(self.chance.choice(threads))
        return self.picked[-1]

    def choose(self, alternatives: int) -> int:
        self.alternatives.append(alternatives)
        return self.chance.randrange(alternatives)


class Stopper(Watcher):
    """Ends a run after some free steps."""

    def __init__(self, steps: int) -> None:
        self.steps = steps
        self.asked = 0

    def ends_run(self) -> bool:
        self.asked += 1
        return self.asked > self.steps


class Sleeper(Watcher):
    """Keeps some threads asleep, by chance but always the same ones at a location."""

    def __init__(self, subject: EngineProgram, chance: Random) -> None:
        self.subject = subject
        self.chance = chance
        self.asleep: dict[tuple[int, int], bool] = {}

    def keeps_asleep(self, thread: int, location: int) -> bool:
        standing = self.subject.standing(thread)
        assert (standing.thread, standing.location) == (thread, location)
        mode = standing.mode
        assert self.subject.footprint(thread) == (mode, standing.structure, standing.part)
        return self.asleep.setdefault((thread, location), self.chance.random() < 0.5)


def random_run(subject: EngineProgram, chance: Random) -> list[Event]:
    """The events of an execution by chance."""
    request = Request([])
    request.policy = PICKED
    request.all_stand = True
    request.watcher = Picker(chance)
    subject.run(request)
    return request.events


def copies(events: list[Event]) -> list[Event]:
    return [copy_of(event) for event in events]


def run_after(subject: EngineProgram, steps: list[Event], chance: Random) -> Request:
    """A request that begins with the steps of another execution: some are repeated, the others are
    taken, as they are or by their names."""
    repeated = chance.randint(0, len(steps))
    request = Request(copies(steps[:repeated]))
    request.path = copies(steps[repeated:])
    if chance.random() < 0.5:
        request.path = subject.path_of(subject.steps_of(steps[repeated:]))
    return request


def signature(events: list[Event]) -> list[tuple[object, ...]]:
    return [
        (event.thread, event.kind, event.location, event.mode, event.choice, event.alternatives)
        for event in events
    ]


def states_along(program: Program, events: list[Event], front_end: FrontEnd) -> list[State]:
    """The states that an execution goes through, by the oracle, and the last one."""
    start: tuple[Trace, State] = oracle.start_of(program)
    trace, state = start
    states = [state]
    for place in range(len(events)):
        wanted = trace_of(events[: place + 1], len(program))
        following = dict(oracle.successors(program, trace, state, front_end.wraps))
        assert wanted in following, "the program cannot do that"
        trace, state = wanted, following[wanted]
        states.append(state)
    return states


def able(program: Program, state: State) -> list[int]:
    """Who can go on."""
    return [thread for thread in range(len(program)) if oracle.can_go_on(state, thread)]


# Repeating


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_what_is_repeated_comes_out_the_same(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        first = random_run(subject, chance)
        random_run(subject, chance)  # the events belong to an earlier execution now
        events = copies(first)
        request = Request(events[: chance.randint(0, len(events))])
        repeated = request.events.copy()
        answer = subject.run(request)
        assert subject.events is request.events
        assert subject.answer is answer
        assert request.events[: len(repeated)] == repeated
        assert signature(repeated) == signature(first[: len(repeated)])
        for event, before in zip(repeated, first, strict=False):
            if event.location >= 0:
                assert event.before == before.before
                assert event.after in (None, before.after)  # a quick front end need not note it
        length = len(request.events)
        ending = subject.ending()
        subject.run(request)  # all of it is repeated
        assert len(request.events) == length
        assert subject.ending() == ending
        states_along(program, request.events, FRONT_ENDS[name])


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_the_steps_of_a_path_are_taken(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        steps = random_run(subject, chance)
    with FRONT_ENDS[name].make(program) as subject:
        subject.run(Request([]))  # so that it knows its threads and locations
        steps = steps[: chance.randint(0, len(steps))]
        request = run_after(subject, steps, chance)
        subject.run(request)
        assert signature(request.events[: len(steps)]) == signature(steps)


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_names_lead_to_the_same_execution(name: str, program: Program, chance: Random) -> None:
    """Also in another process, and if only the threads and choices are named."""
    with FRONT_ENDS[name].make(program) as subject:
        steps = random_run(subject, chance)
        ending = subject.ending()
        schedule = Schedule(tuple(subject.steps_of(steps))).to_json()
    names = Schedule.from_json(schedule).steps
    for named in (names, [(thread, "", choice) for thread, _, choice in names]):
        with FRONT_ENDS[name].make(program) as subject:
            request = Request([])
            request.path = subject.path_of(named)
            assert all(step.kind == UNKNOWN for step in request.path)
            subject.run(request)
            assert subject.steps_of(request.events) == list(names)
            assert trace_of(request.events, len(program)) == trace_of(steps, len(program))
            # Which of two threads fails first is not a matter of steps.
            assert subject.ending().partition(" in thread")[0] == ending.partition(" in thread")[0]
            for event in request.events:
                assert subject.thread_name(event.thread) == subject.stable_names(event)[0]


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_a_step_that_cannot_come_is_a_failure(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        events = random_run(subject, chance)
        assume(events)
        names = subject.steps_of(events)
        place = chance.randrange(len(names))
        names[place] = (names[place][0], "another operation", 0)
        request = Request([])
        request.path = subject.path_of(names)
        answer = subject.run(request)
        assert answer.failed
        assert subject.failure().kind == NONDETERMINISM
        request = Request([])
        request.path = [*copies(events), copy_of(events[-1])]  # there is no such step left
        if subject.run(Request(copies(events))).status == COMPLETE:
            assert subject.run(request).failed
            assert subject.failure().kind == NONDETERMINISM


# Who goes on


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_events_say_who_could_go_on(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        events = random_run(subject, chance)
        states = states_along(program, events, FRONT_ENDS[name])
        for event, state in zip(events, states, strict=False):
            assert sorted(event.enabled or []) == able(program, state)
        assert able(program, states[-1]) == []


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_the_watcher_picks(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        steps = random_run(subject, chance)
        steps = steps[: chance.randint(0, len(steps))]
        request = run_after(subject, steps, chance)
        picker = Picker(chance)
        request.policy, request.all_stand, request.watcher = PICKED, True, picker
        subject.run(request)
        free = request.events[len(steps) :]
        assert [event.enabled for event in free] == picker.asked
        assert [event.thread for event in free] == picker.picked
        choices = [event.alternatives for event in free if event.kind == CHOOSE]
        assert choices == picker.alternatives


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_the_leftmost_goes_on(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        steps = random_run(subject, chance)
        steps = steps[: chance.randint(0, len(steps))]
        for first in [NOBODY, *range(len(program))]:
            request = run_after(subject, steps, chance)
            request.policy, request.first, request.all_stand = LEFTMOST, first, True
            subject.run(request)
            for place, event in enumerate(request.events[len(steps) :]):
                enabled = event.enabled or []
                expected = first if place == 0 and first in enabled else min(enabled)
                assert event.thread == expected
                assert event.choice == 0 or event.kind != CHOOSE


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_a_run_is_broken_off(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        steps = random_run(subject, chance)
        steps = steps[: chance.randint(0, len(steps))]
        request = run_after(subject, steps, chance)
        stopper = Stopper(chance.randint(0, 3))
        request.policy, request.watcher, request.watches_steps = LEFTMOST, stopper, True
        answer = subject.run(request)
        free = len(request.events) - len(steps)
        assert free <= stopper.steps
        assert stopper.asked == free + 1  # also where nobody can go on
        state = states_along(program, request.events, FRONT_ENDS[name])[-1]
        assert (answer.status == REDUNDANT) == bool(able(program, state))


# Who sleeps


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_who_sleeps_does_not_go_on(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        steps = random_run(subject, chance)
        steps = steps[: chance.randint(0, len(steps))]
        possible = standing_after(subject, steps)
        sleep = [step for step in possible if chance.random() < 0.6]
        awake = [step for step in possible if step not in sleep]
        request = Request(copies(steps))
        request.sleep = sleep
        request.path = awake[: chance.randint(0, 1)]
        answer = subject.run(request)
        for event in request.events[len(steps) :]:
            assert event.sleep == sleep
            own = [asleep.choice for asleep in sleep if asleep.thread == event.thread]
            assert event.choice not in own
            sleep = [asleep for asleep in sleep if not dependent(asleep, event)]
        check_end(subject, program, answer, FRONT_ENDS[name])
        for step in answer.sleeping:
            own = [asleep.choice for asleep in sleep if asleep.thread == step.thread]
            assert len(own) == step.alternatives


def standing_after(subject: EngineProgram, steps: list[Event]) -> list[Event]:
    """The steps that can come after others, with each of their choices."""
    request = Request([])
    request.path = copies(steps)
    request.policy = LEFTMOST
    request.all_stand = True  # also a thread that has just been spawned
    request.watcher, request.watches_steps = Stopper(0), True
    answer = subject.run(request)
    found = []
    for step in answer.sleeping:
        standing = subject.standing(step.thread)
        for choice in range(standing.alternatives):
            found.append(copy_of(standing))
            if standing.kind == CHOOSE:
                found[-1].choice = choice
    return found


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_who_is_kept_asleep_does_not_go_on(name: str, program: Program, chance: Random) -> None:
    """The watcher is asked where a watch says so, and nowhere but at locations that have one."""
    with FRONT_ENDS[name].make(program) as subject:
        steps = random_run(subject, chance)
        steps = steps[: chance.randint(0, len(steps))]
        request = run_after(subject, steps, chance)
        places = [at for at in (0, 1) if chance.random() < 0.5]
        watched = [Watch(at, chance.randrange(len(program))) for at in places]
        request.watched = watched
        sleeper = Sleeper(subject, chance)
        request.watcher = sleeper
        answer = subject.run(request)
        assert {location for _, location in sleeper.asleep} <= {watch.location for watch in watched}
        latest: dict[int, Event] = {}
        for place, event in enumerate(request.events):
            former = latest.get(event.location)
            latest[event.location] = event
            if place < len(steps) or former is None or changes_all(former):
                continue
            threads = [watch.thread for watch in watched if watch.location == event.location]
            if any(subject.precedes(event.thread, thread) for thread in threads):
                assert sleeper.asleep[event.thread, event.location] is False
        for step in answer.sleeping:
            assert sleeper.asleep[step.thread, step.location]
        check_end(subject, program, answer, FRONT_ENDS[name])


# How a run ends


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_the_answer_says_how_it_ended(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        random_run(subject, chance)
        check_end(subject, program, subject.answer, FRONT_ENDS[name])
        subject.run(Request([]))
        check_end(subject, program, subject.answer, FRONT_ENDS[name])


def check_end(
    subject: EngineProgram, program: Program, answer: Answer, front_end: FrontEnd
) -> None:
    """An answer against what the oracle knows of the execution."""
    state = states_along(program, subject.events, front_end)[-1]
    enabled = able(program, state)
    left = [
        number for number, thread in enumerate(state.threads) if thread is not None and thread.left
    ]
    assert sorted([step.thread for step in answer.sleeping]) == enabled
    assert sorted([step.thread for step in answer.waiting]) == sorted(set(left) - set(enabled))
    expected = REDUNDANT if enabled else BLOCKED if left else COMPLETE
    assert answer.status == expected
    assert answer.failed == (state.failed or expected == BLOCKED)
    for step in [*answer.waiting, *answer.sleeping]:
        thread = state.threads[step.thread]
        assert thread is not None
        operation, place, *_ = thread.left[0]
        assert NAMES[step.kind] == operation
        if step.kind == JOIN:
            assert step.choice == place
        elif step.location >= 0:
            assert step.location == place
        if may_block(step.kind):
            assert step.mode == mode_when_enabled(step.kind)
    unfinished = subject.unfinished()
    assert sorted(unfinished) == left
    for step in answer.waiting:
        assert unfinished[step.thread] == (step.choice if step.kind == JOIN else NOBODY)


# Values


@every_front_end
@given(program=any_program, chance=chance)
@on_programs
def test_values_say_what_the_run_did(name: str, program: Program, chance: Random) -> None:
    with FRONT_ENDS[name].make(program) as subject:
        for event in random_run(subject, chance):
            if event.location >= 0:
                assert subject.values.mode(event, event.before) == event.mode
                assert subject.values.apply(event, event.before)[1] == event.after

"""A front end, to show how one is written: it runs the programs of toy_language.py.

toy_state.py has the threads and the memory. Here is what every front end has to do with those, in
the simplest way.
"""

from typing import Any

from mazurka.engine import operation as op
from mazurka.engine.event import Event, dependent, footprint_of
from mazurka.engine.operation import CHOOSE, JOIN, NONE, UNKNOWN
from mazurka.engine.program import BLOCKED, LEFTMOST, NOBODY, PICKED, REDUNDANT, Answer, Request
from mazurka.engine.result import DEADLOCK, EXCEPTION, NONDETERMINISM, Failure, Schedule
from tests.conformance.toy_language import Program, ToyValues
from tests.conformance.toy_names import NamingProgram
from tests.conformance.toy_state import State


class Diverged(Exception):
    """A step that was asked for is not there."""


class ToyProgram(NamingProgram):
    def __init__(self, program: Program) -> None:
        super().__init__(ToyValues())
        self.program = program

    def run(self, request: Request) -> Answer:
        self.request = request
        self.events = request.events
        self.sleep = request.sleep
        self.first = request.first
        self.state = State(self.program, self.values)
        self.answer = Answer()
        self.diverged = False
        try:
            for event in self.events:
                event.before = self.asked_for(event).before
                self.state.perform(event)
            for step in request.path:
                self.add(self.asked_for(step))
            while (following := self.next_step()) is not None:
                self.add(following)
        except Diverged:
            self.diverged = True
        self.conclude()
        return self.answer

    # Which step comes

    def asked_for(self, asked: Event) -> Event:
        """The step that is to be repeated, or taken, as it is now."""
        step = self.state.enabled().get(asked.thread)
        if step is None:
            raise Diverged
        if step.kind == CHOOSE:
            step.choice = 0 if asked.choice == op.ANY else asked.choice
        if asked.kind == UNKNOWN:
            fits = not asked.first or asked.first == self.operation_name(step)
            fits = fits and (asked.mode == NONE or asked.mode == step.mode)
        else:
            fits = asked.kind == step.kind and asked.location == step.location
            fits = fits and footprint_of(asked) == footprint_of(step)
        if not fits or (step.kind == CHOOSE and step.choice >= step.alternatives):
            raise Diverged
        return step

    def next_step(self) -> Event | None:
        """The step that the policy says; None at the end of the run."""
        watcher: Any = self.request.watcher
        if self.request.watches_steps and watcher.ends_run():
            return None
        steps = {step.thread: step for step in self.state.enabled().values() if self.is_awake(step)}
        if not steps:
            return None
        if self.request.policy == PICKED:
            step = steps[watcher.pick(list(steps))]
            if step.kind == CHOOSE:
                step.choice = watcher.choose(step.alternatives)
            return step
        step = min(steps.values(), key=self.rank)
        self.first = NOBODY
        return step

    def rank(self, step: Event) -> tuple[int, bool, int]:
        if self.request.policy == LEFTMOST:
            return 0, step.thread != self.first, step.thread
        late = {op.AWAIT: 1, op.AWAIT_EXCHANGE: 2}.get(step.kind, 0)
        return late, step.thread != self.state.latest, step.thread

    def is_awake(self, step: Event) -> bool:
        """Whether a step may come now; a choice is the first one that may."""
        watched = self.request.watched
        if 0 <= step.location < len(watched) and watched[step.location]:
            watcher: Any = self.request.watcher
            if watcher.keeps_asleep(step.thread, step.location):
                return False
        asleep = [event.choice for event in self.sleep if event.thread == step.thread]
        if step.kind != CHOOSE:
            return not asleep
        awake = [choice for choice in range(step.alternatives) if choice not in asleep]
        step.choice = min(awake, default=0)
        return bool(awake)

    def add(self, event: Event) -> None:
        """Make a step that is new."""
        event.sleep = self.sleep
        if self.request.all_stand:
            event.enabled = list(self.state.enabled())
        self.events.append(event)
        self.sleep = [asleep for asleep in self.sleep if not dependent(asleep, event)]
        self.state.perform(event)

    # While it runs, or at its end

    def standing(self, thread: int) -> Event:
        return self.state.standing(thread)

    def footprint(self, thread: int) -> op.Footprint:
        return footprint_of(self.standing(thread))

    def unfinished(self) -> dict[int, int]:
        steps = self.state.all_standing()
        return {step.thread: step.choice if step.kind == JOIN else NOBODY for step in steps}

    def excludes(self, events: list[Event], choice: Event) -> bool:
        return False  # no choice is a condition on symbolic values

    # How the run ended

    def conclude(self) -> None:
        answer = self.answer
        if self.diverged:
            answer.status, answer.failed = BLOCKED, True
            return
        enabled = self.state.enabled()
        answer.sleeping = list(enabled.values())
        answer.waiting = [step for step in self.state.all_standing() if step.thread not in enabled]
        for step in answer.waiting:
            step.mode = op.mode_when_enabled(step.kind) if op.may_block(step.kind) else NONE
        if answer.sleeping:
            answer.status = REDUNDANT
        elif answer.waiting:
            answer.status = BLOCKED
        answer.failed = answer.status == BLOCKED or self.state.has_failed()

    def failure(self) -> Failure:
        kind = EXCEPTION if self.state.has_failed() else DEADLOCK
        if self.diverged:
            kind = NONDETERMINISM
        steps = tuple(self.steps_of(self.events))
        return Failure(kind, f"after {len(steps)} steps", Schedule(steps, failure=kind))

    def ending(self) -> str:
        return f"{self.answer.status}, {self.answer.failed}, {self.outcome()}"

    def changed(self, first: str, second: str) -> Failure:
        return Failure(NONDETERMINISM, f"{first}, then {second}", Schedule(()))

    def outcome(self) -> object:
        return tuple(sorted(self.state.memory.items()))

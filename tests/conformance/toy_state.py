"""The state of a toy program that runs: the memory, and what its threads stand before.

Threads are generators, which make it easy that they always stand before their next operation.
"""

from collections.abc import Generator, Sequence
from typing import Any

from mazurka.engine.event import Event
from mazurka.engine.operation import CHOOSE, DISABLED, JOIN, NONE, SPAWN
from mazurka.engine.values import Values
from tests.conformance.toy_language import KINDS, Instruction, Program


class State:
    def __init__(self, program: Program, values: Values) -> None:
        self.program = program
        self.values = values
        self.memory: dict[int, Any] = {}
        self.threads = {0: Thread(program[0])}
        self.latest = 0  # the thread that stepped last

    def standing(self, thread: int) -> Event:
        """The operation that a thread stands before, as the event that it would be now."""
        name, *numbers = self.threads[thread].next
        kind = KINDS[name]
        if kind == CHOOSE:
            event = Event(thread, kind, -1, NONE, None, None)
            event.alternatives = numbers[0]
        elif kind == SPAWN or kind == JOIN:
            event = Event(thread, kind, -1, NONE, None, None)
            event.choice = numbers[0]
        else:
            location, first, second = [*numbers, 0, 0][:3]
            event = Event(thread, kind, location, NONE, first, second)
            event.before = self.memory.get(location, 0)
            event.mode = self.values.mode(event, event.before)
        return event

    def all_standing(self) -> list[Event]:
        return [self.standing(number) for number, thread in self.threads.items() if thread.next]

    def enabled(self) -> dict[int, Event]:
        """The steps that can come next, by their threads."""
        return {step.thread: step for step in self.all_standing() if self.is_enabled(step)}

    def is_enabled(self, step: Event) -> bool:
        if step.kind == JOIN:
            return step.choice in self.threads and not self.threads[step.choice].next
        return step.mode != DISABLED

    def perform(self, event: Event) -> None:
        """What a step does; its thread goes on to stand before the next one."""
        given: Any = event.choice if event.kind == CHOOSE else 0
        if event.kind == SPAWN:
            self.threads[event.choice] = Thread(self.program[event.choice])
        elif event.location >= 0:
            given, event.after = self.values.apply(event, event.before)
            self.memory[event.location] = event.after
        self.latest = event.thread
        self.threads[event.thread].go_on(given)

    def has_failed(self) -> bool:
        return any(thread.failed for thread in self.threads.values())


class Thread:
    """A thread of a run, and the instruction that it stands before."""

    def __init__(self, instructions: Sequence[Instruction]) -> None:
        self.instructions = in_turn(instructions, 0)
        self.failed = False
        self.next: Instruction = ()  # no more: the thread has ended
        self.go_on(None)

    def go_on(self, given: int | None) -> None:
        """The instruction has come, and has given something."""
        try:
            self.next = self.instructions.send(given)
        except (StopIteration, AssertionError) as end:
            self.next = ()
            self.failed = isinstance(end, AssertionError)


def in_turn(block: Sequence[Instruction], register: int) -> Generator[Instruction, Any, int]:
    """The operations that a thread performs. It is sent what each of them gives."""
    for instruction in block:
        if instruction[0] == "if":
            if register:
                register = yield from in_turn(instruction[1], register)
        elif instruction[0] == "fail unless":
            assert register == instruction[1]
        else:
            register = yield instruction
    return register

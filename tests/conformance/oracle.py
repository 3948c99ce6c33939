"""Every trace of a toy program, by brute force. This shares nothing with Mazurka.

All interleavings are followed at once, step by step. Two of them are one as soon as they have the
same trace so far: the same steps, and those that depend on one another in the same order. Steps do
if they access one location, and not both read or both add.
"""

from dataclasses import dataclass, replace
from typing import Any

READ, WRITE, ADD, NONE = "read", "write", "add", "none"
NOBODY = -1

Instruction = tuple[Any, ...]
Program = tuple[tuple[Instruction, ...], ...]
Step = tuple[Any, ...]  # its name, location, mode and choice, and what it depends on
Trace = tuple[tuple[Step, ...], ...]  # the steps of each thread


@dataclass(frozen=True)
class Thread:
    """What is left of a thread, and what its last step gave."""

    left: tuple[Instruction, ...]
    register: int = 0
    failed: bool = False


@dataclass(frozen=True)
class State:
    threads: tuple[Thread | None, ...]  # None: not spawned
    memory: tuple[tuple[int, int], ...]  # locations that were accessed, and their values

    @property
    def blocked(self) -> bool:
        """Whether some thread never ends."""
        return any(thread is not None and thread.left for thread in self.threads)

    @property
    def failed(self) -> bool:
        return any(thread is not None and thread.failed for thread in self.threads)


@dataclass
class Ending:
    """How the interleavings of a trace end, and how many there are."""

    state: State
    interleavings: int
    preemptions: dict[int, int]  # the fewest that it takes to end with a step of each thread

    def preemptions_before(self, thread: int) -> int:
        """The fewest if a thread goes on: a switch from one that could go on is a preemption."""
        return min(
            [
                count + (last not in (thread, NOBODY) and can_go_on(self.state, last))
                for last, count in self.preemptions.items()
            ]
        )


class TooLarge(Exception):
    """The oracle has given up."""


def traces_of(program: Program, wraps: bool = True, most: int = 1_000_000) -> dict[Trace, Ending]:
    """All traces; more than `most` of them at a time, or on the way to them, are too many."""
    trace, state = start_of(program)
    begun = {trace: Ending(state, 1, {NOBODY: 0})}
    ended: dict[Trace, Ending] = {}
    while begun:
        longer: dict[Trace, Ending] = {}
        for trace, ending in begun.items():
            following = successors(program, trace, ending.state, wraps)
            if not following:
                ended[trace] = ending
            for after, state in following:
                known = longer.setdefault(after, Ending(state, 0, {}))
                assert known.state == state, "equivalent interleavings end in the same way"
                known.interleavings += ending.interleavings
                thread = stepped(trace, after)
                preemptions = ending.preemptions_before(thread)
                known.preemptions[thread] = min(
                    preemptions, known.preemptions.get(thread, preemptions)
                )
        begun = longer
        if len(begun) + len(ended) > most:
            raise TooLarge
    return ended


def stepped(trace: Trace, after: Trace) -> int:
    """The thread that has made one more step."""
    return next(thread for thread in range(len(trace)) if after[thread] != trace[thread])


def start_of(program: Program) -> tuple[Trace, State]:
    threads = (settled(Thread(program[0])), *[None for _ in program[1:]])
    return tuple([() for _ in program]), State(threads, ())


def successors(
    program: Program, trace: Trace, state: State, wraps: bool
) -> list[tuple[Trace, State]]:
    """What one more step of any thread makes of an interleaving."""
    found = []
    for number, thread in enumerate(state.threads):
        if thread is None or not can_go_on(state, number):
            continue
        name, *numbers = thread.left[0]
        threads = list(state.threads)
        memory = dict(state.memory)
        location, choices = -1, [0]
        gives: list[int] = [numbers[0]]
        mode = NONE
        if name == "choose":
            gives = choices = list(range(numbers[0]))
        elif name == "spawn":
            threads[numbers[0]] = settled(Thread(program[numbers[0]]))
        elif name != "join":
            location, first, second = [*numbers, 0, 0][:3]
            effect = effect_of(name, memory.get(location, 0), first, second)
            assert effect is not None
            mode, given, after = effect
            gives = [given]
            memory[location] = after % 256 if wraps else after
        for choice, given in zip(choices, gives, strict=True):
            step = (name, location, mode, choice, depended_on(trace, location, mode, number))
            steps = (*trace[number], step)
            threads[number] = settled(replace(thread, left=thread.left[1:], register=given))
            found.append(
                (
                    (*trace[:number], steps, *trace[number + 1 :]),
                    State(tuple(threads), tuple(sorted(memory.items()))),
                )
            )
    return found


def can_go_on(state: State, number: int) -> bool:
    thread = state.threads[number]
    if thread is None or not thread.left:
        return False
    name, *numbers = thread.left[0]
    if name == "join":
        joined = state.threads[numbers[0]]
        return joined is not None and not joined.left
    if name in ("spawn", "choose"):
        return True
    location, first, second = [*numbers, 0, 0][:3]
    return effect_of(name, dict(state.memory).get(location, 0), first, second) is not None


def settled(thread: Thread) -> Thread:
    """A thread that stands before an operation, or has ended."""
    while thread.left:
        name, *operands = thread.left[0]
        rest = thread.left[1:]
        if name == "if":
            thread = replace(thread, left=rest if thread.register else rest[operands[0] :])
        elif name == "fail":
            thread = replace(thread, left=(), failed=True)
        else:
            break
    return thread


def effect_of(name: str, value: int, first: int, second: int) -> tuple[str, int, int] | None:
    """How an operation accesses its location, what it gives and what it leaves; None: it waits."""
    if name == "load":
        return READ, value, value
    if name == "store":
        return WRITE, 0, first
    if name == "exchange":
        return WRITE, value, first
    if name == "compare_exchange":
        return (WRITE, 1, second) if value == first else (READ, 0, value)
    if name == "fetch_add":
        return WRITE, value, value + first
    if name == "add":
        return ADD, 0, value + first
    if name == "await":
        return (READ, value, value) if value == first else None
    if name == "await_exchange":
        return (WRITE, value, second) if value == first else None
    if name == "acquire":
        return (WRITE, 1, 1) if value == 0 else None
    if name == "try acquire":
        return (WRITE, 1, 1) if value == 0 else (READ, 0, value)
    assert name == "release"
    return (WRITE, 1, 0) if value else (READ, 0, value)


def depended_on(trace: Trace, location: int, mode: str, thread: int) -> tuple[tuple[int, int], ...]:
    """The steps so far that an access to a location depends on: the threads, and which steps."""
    return tuple(
        [
            (number, place)
            for number, steps in enumerate(trace)
            for place, step in enumerate(steps)
            if number != thread and step[1] == location >= 0 and (mode != step[2] or mode == WRITE)
        ]
    )

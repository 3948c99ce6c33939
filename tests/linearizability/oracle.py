"""Small random objects, and whether they are linearizable, by brute force: every interleaving of
begins, steps and ends of calls, and for each history every order of its calls. It shares nothing
with what it checks."""

import random
from collections.abc import Iterator, Sequence
from itertools import combinations, permutations
from typing import Any, NamedTuple

import mazurka


class Instruction(NamedTuple):
    """What an operation does to one of two variables; the operation gives what it found last."""

    kind: str
    variable: int
    value: int


Body = tuple[Instruction, ...]
Bodies = dict[str, Body]

STEPS = ("load", "load", "store", "add", "exchange", "compare", "copy")


def random_bodies(drawing: random.Random, waits: bool) -> Bodies:
    """Two operations, each of up to three steps."""
    bodies: Bodies = {}
    for name in ("one", "two"):
        body = [
            Instruction(drawing.choice(STEPS), drawing.randrange(2), drawing.randrange(3))
            for _ in range(drawing.choice((0, 1, 1, 2, 2, 3)))
        ]
        if waits and drawing.random() < 0.5:
            body[:1] = [Instruction("await", drawing.randrange(2), drawing.randrange(2))]
        bodies[name] = tuple(body)
    return bodies


def with_other_variable(drawing: random.Random, bodies: Bodies) -> Bodies:
    """The same operations, but that one step accesses the other variable: if others see that late,
    whether it matters is a question of who was first, and not of what happens before what."""
    steps = [(name, at) for name, body in bodies.items() for at in range(len(body))]
    if not steps:
        return bodies
    name, at = drawing.choice(steps)
    body = list(bodies[name])
    body[at] = body[at]._replace(variable=1 - body[at].variable)
    return {**bodies, name: tuple(body)}


# What is checked


class Checked:
    """Performs the operations on atomics, one step after the other."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.variables: list[Any] = [mazurka.Atomic(0, "x"), mazurka.Atomic(0, "y")]

    def one(self) -> int:
        return self.perform(self.bodies["one"])

    def two(self) -> int:
        return self.perform(self.bodies["two"])

    def perform(self, body: Body) -> int:
        found = 0
        for kind, variable, value in body:
            atomic = self.variables[variable]
            if kind == "load":
                found = atomic.load()
            elif kind == "store":
                atomic.store(value)
            elif kind == "add":
                found = atomic.fetch_add(value)
            elif kind == "exchange":
                found = atomic.exchange(value)
            elif kind == "compare":
                found = int(atomic.compare_exchange(0, value))
            elif kind == "copy":
                atomic.store(found + 1)
            else:
                found = atomic.await_value(lambda held, value=value: held == value)
        return found


class Specified:
    """Performs them at once."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self.values = [0, 0]

    def one(self) -> int:
        return self.perform(self.bodies["one"])

    def two(self) -> int:
        return self.perform(self.bodies["two"])

    def perform(self, body: Body) -> int:
        found = 0
        for instruction in body:
            step = performed(instruction, self.values, found)
            if step is None:
                raise mazurka.MustWait
            found = step
        return found


def performed(instruction: Instruction, values: list[int], found: int) -> int | None:
    """Make a step; gives what was found, or None if it has to wait."""
    kind, variable, value = instruction
    held = values[variable]
    if kind == "load":
        return held
    if kind == "store":
        values[variable] = value
    elif kind == "add":
        values[variable] += value
        return held
    elif kind == "exchange":
        values[variable] = value
        return held
    elif kind == "compare":
        if held != 0:
            return 0
        values[variable] = value
        return 1
    elif kind == "copy":
        values[variable] = found + 1
    else:
        return held if held == value else None
    return found


# Brute force


class Progress(NamedTuple):
    """How far a thread is: its call, its step in that (-1: not begun), what it has found."""

    call: int
    step: int
    found: int


History = tuple[
    tuple[int, int, int | None], ...
]  # thread, call, and what it gives; None: it begins


def histories(bodies: Bodies, threads: Sequence[Sequence[str]]) -> Iterator[History]:
    """What can be seen from outside, in every interleaving that goes on as long as it can."""
    start = (tuple([Progress(0, -1, 0)] * len(threads)), (0, 0), ())
    left: list[tuple[tuple[Progress, ...], tuple[int, int], History]] = [start]
    met = {left[0]}
    while left:
        progress, values, history = left.pop()
        goes_on = False
        for thread, calls in enumerate(threads):
            following = step_of(bodies, calls, progress[thread], list(values))
            if following is None:
                continue
            goes_on = True
            own, changed, seen = following
            state = (
                (*progress[:thread], own, *progress[thread + 1 :]),
                (changed[0], changed[1]),
                (*history, (thread, progress[thread].call, seen[0])) if seen else history,
            )
            if state not in met:
                met.add(state)
                left.append(state)
        if not goes_on:
            yield history


def step_of(
    bodies: Bodies, calls: Sequence[str], own: Progress, values: list[int]
) -> tuple[Progress, list[int], tuple[int | None, ...]] | None:
    """One step of a thread: its progress, the values, and what is seen of it from outside."""
    if own.call == len(calls):
        return None
    body = bodies[calls[own.call]]
    if own.step == -1:
        return Progress(own.call, 0, 0), values, (None,)
    if own.step == len(body):
        return Progress(own.call + 1, -1, 0), values, (own.found,)
    found = performed(body[own.step], values, own.found)
    if found is None:
        return None
    return Progress(own.call, own.step + 1, found), values, ()


def is_linearizable(specified: Bodies, threads: Sequence[Sequence[str]], history: History) -> bool:
    """Whether some order of the calls that are over explains it, in the end of which those that are
    not over have to wait."""
    begun = {
        (thread, call): at for at, (thread, call, gives) in enumerate(history) if gives is None
    }
    over = {
        (thread, call): at for at, (thread, call, gives) in enumerate(history) if gives is not None
    }
    given = {(thread, call): gives for thread, call, gives in history if gives is not None}
    waiting = [threads[thread][call] for thread, call in begun if (thread, call) not in over]
    for order in permutations(over):
        if any(over[later] < begun[earlier] for earlier, later in combinations(order, 2)):
            continue
        instance = Specified(specified)
        try:
            gives = [getattr(instance, threads[thread][call])() for thread, call in order]
        except mazurka.MustWait:
            continue
        if gives == [given[call] for call in order] and all_wait(
            specified, instance.values, waiting
        ):
            return True
    return False


def all_wait(bodies: Bodies, values: list[int], waiting: list[str]) -> bool:
    for name in waiting:
        instance = Specified(bodies)
        instance.values = list(values)
        try:
            getattr(instance, name)()
        except mazurka.MustWait:
            continue
        return False
    return True


def all_linearizable(bodies: Bodies, specified: Bodies, threads: Sequence[Sequence[str]]) -> bool:
    return all(
        is_linearizable(specified, threads, history) for history in set(histories(bodies, threads))
    )

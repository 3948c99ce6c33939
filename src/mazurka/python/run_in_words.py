"""The steps of a run in words, with the names that people have for its threads and objects.

What an operation did to an object, the object itself says (`step_words`).
"""

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from mazurka.engine.event import Event
from mazurka.engine.operation import (
    CHOOSE,
    INDEX_READ,
    INDEX_SET,
    ITEM_READ,
    ITEM_SET,
    JOIN,
    NONE,
    READ,
    SPAWN,
    TIMED_WAIT,
    VERBS,
    WRITE,
    depends_on_value,
    has_parts,
    is_blind,
)
from mazurka.engine.program import Program
from mazurka.engine.result import Step
from mazurka.engine.trace import ACCESSES, groups_of, last_change, links_of
from mazurka.python.check import RUNNING
from mazurka.python.memory.cells import Variable
from mazurka.python.operations import View
from mazurka.python.primitives.atomic import Atomic
from mazurka.python.primitives.counters import Count
from mazurka.python.runtime.journal import Journal, Remark, Use
from mazurka.python.runtime.race_detector import Access
from mazurka.python.runtime.standard_thread import ThreadRun
from mazurka.python.runtime.thread import Identity, Location, Thread
from mazurka.python.source import LIBRARY, assigned_name, place, raised_at, source_line
from mazurka.python.words import show_found

MADE_BY = re.compile(r"([0-9.]+)[#@]([0-9]+)")  # a thread, and its count


class RunInWords:
    """The steps of one run, with names for its threads and objects."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = thread_names()
        self.objects = object_names(program)
        self.journal = RUNNING.check.runtime.journal or Journal()

    def thread(self, id: int) -> str:
        return self.names.get(id, "a thread that does not exist")

    def steps(self, length: int, others: Sequence[tuple[int, Step]] = ()) -> list[Step]:
        """The first steps of the run, and between them remarks and others that are no events: each
        with the position of the event that it comes before."""
        events = self.program.events[:length]
        tasks = self.journal.tasks_at(length)
        remarks = [(each.position, self.step_of_remark(each)) for each in self.journal.told()]
        between = sorted([*remarks, *others], key=lambda other: other[0])
        links = links_of(events, self.program.values)
        groups = groups_of(events)
        told = worth_telling(events)
        steps: list[Step] = []
        places: list[int] = []  # of the events, among the steps
        for position, event in enumerate(events):
            while between and between[0][0] <= position:
                steps.append(between.pop(0)[1])
            places.append(len(steps))
            step = self.step(event, position)
            source, after = links[position]
            steps.append(
                replace(
                    step,
                    thread=task_begun(event) or tasks[position].get(event.thread) or step.thread,
                    reads_from=places[source] if source >= 0 else -1,
                    after=tuple([places[other] for other in after]),
                    position=position,
                    group=groups[position] if told[position] else self.group_of(event),
                )
            )
        return [*steps, *[step for position, step in between if position <= length]]

    def step(self, event: Event, position: int) -> Step:
        """An event by itself. For the standard library it is the line that calls it."""
        file, line = inner = self.place(event)
        action = self.action(event)
        if position in self.journal.callers:
            file, line = place(*self.journal.callers[position])
            action += f" (in {inner[0].removeprefix(LIBRARY)}:{inner[1]})"
        found, left = values_of(event)
        return Step(
            self.thread(event.thread),
            action,
            file,
            line,
            source_line(file, line) if file else "",
            VERBS[event.kind],
            ACCESSES.get(event.mode, ""),
            self.object_of(event),
            self.program.part_name(event),
            found,
            left,
            "fails" if fails(event) else "",
        )

    def group_of(self, event: Event) -> str:
        """What an event is part of that is of interest to nobody."""
        cell_type = RUNNING.check.runtime.names.locations[event.location].cell_type
        return INSIDES.get(cell_type.__module__.rpartition(".")[2], "queue")

    def object_of(self, event: Event) -> str:
        """What an event works on: an object, or a thread."""
        if event.location >= 0:
            return self.objects[event.location]
        return "" if event.kind == CHOOSE else self.thread(event.choice)

    def step_of_remark(self, remark: Remark) -> Step:
        file, line = place(remark.code, remark.instruction)
        name = remark.name or self.objects.get(remark.location, "")
        action = f"{remark.verb} {name}: {remark.ending}"
        if isinstance(remark, Use):
            action = words_of_use(remark)
        return Step(
            remark.task or self.thread(remark.thread),
            action,
            file,
            line,
            source_line(file, line) if file else "",
            remark.verb,
            access=remark.verb if isinstance(remark, Use) else "",
            name=name,
            outcome="" if remark.name else "fails",
        )

    def waiting_step(self, event: Event, steps: list[Step]) -> Step:
        """An operation that a thread can never perform."""
        thread = RUNNING.check.runtime.names.threads[event.thread]
        file, line = place(thread.code, thread.instruction)
        return Step(
            self.thread(event.thread),
            f"{VERBS[event.kind]} {self.object_of(event)}",
            file,
            line,
            source_line(file, line) if file else "",
            VERBS[event.kind],
            name=self.object_of(event),
            outcome="waits",
            reads_from=last_change(steps, self.program.events, event.location),
        )

    def place(self, event: Event) -> tuple[str, int]:
        """The file and line of an event."""
        return place(*RUNNING.check.runtime.names.places.at(event.place))

    def step_of_access(self, access: Access, name: str) -> Step:
        """An access that is no event."""
        file, line = place(access.code, access.instruction)
        source = source_line(file, line) if file else ""
        action = f"{'write' if is_write(access) else 'read'} {name}"
        mode = ACCESSES[access.mode]
        thread = self.thread(access.thread)
        return Step(thread, action, file, line, source, mode, mode, name)

    def action(self, event: Event) -> str:
        """What an event did, in words."""
        runtime = RUNNING.check.runtime
        kind = event.kind
        if kind == SPAWN or kind == JOIN:
            return f"{VERBS[kind]} {self.thread(event.choice)}"
        if kind == CHOOSE and isinstance(event.second, tuple):  # of an event loop: what it may do
            return str(event.second[event.choice])
        if kind == CHOOSE:
            if not isinstance(event.first, int):
                return f"{event.first} is {'false' if event.choice else 'true'}"
            return f"choose alternative {event.choice + 1} of {event.alternatives}"
        cell_type = runtime.names.locations[event.location].cell_type
        return cell_type.step_words(event, self.objects[event.location], self.thread)

    def operation(self, kind: int, location: int, thread: int) -> str:
        """An operation that did not happen."""
        if kind == NONE:
            return "nothing (the thread has ended)"
        if kind == CHOOSE:
            return "choose"
        other = self.thread(thread) if location < 0 else self.objects[location]
        return f"{VERBS[kind]} {other}"

    def where(self, code: object, instruction: int) -> str:
        if code is None:
            return ""
        file, line = place(code, instruction)
        text = source_line(file, line)
        return f" at {file}:{line}" + (f": {text}" if text else "")

    def where_raised(self, error: BaseException) -> str:
        found = raised_at(error)
        return self.where(*found) if found else ""


def worth_telling(events: list[Event]) -> list[bool]:
    """Which events are of interest to somebody, as the objects say."""
    locations = RUNNING.check.runtime.names.locations
    looked_at = {event.location for event in events if event.mode == READ}
    return [
        event.location < 0
        or locations[event.location].cell_type.is_told(event, event.location in looked_at)
        for event in events
    ]


def words_of_use(use: Use) -> str:
    if not use.ending:
        return f"{use.verb} {use.name}"
    is_read = use.verb == "read"
    return f"read {use.name}: {use.ending}" if is_read else f"write {use.ending} to {use.name}"


def values_of(event: Event) -> tuple[str | None, str | None]:
    """What an event read and what it wrote, if these are values that people know."""
    if event.location < 0:
        return None, None
    kind = event.kind
    cell_type = RUNNING.check.runtime.names.locations[event.location].cell_type
    if has_parts(kind):
        view = event.view
        present = isinstance(view, View) and event.part >= 0 and kind in (ITEM_READ, INDEX_READ)
        found = show_found(view.value) if isinstance(view, View) and present else None
        return found, show_found(event.after) if kind in (ITEM_SET, INDEX_SET) else None
    if not issubclass(cell_type, Variable | Atomic | Count):
        return None, None
    return (
        None if is_blind(kind) else show_found(event.before),
        None if event.mode == READ else show_found(event.after),
    )


def task_begun(event: Event) -> str:
    """The task that an event loop lets go on."""
    if event.kind != CHOOSE or not isinstance(event.second, tuple):
        return ""
    verb, _, task = str(event.second[event.choice]).partition(" ")
    return task if verb == "run" else ""


def fails(event: Event) -> bool:
    """Whether an event was an attempt that had no effect."""
    kind = event.kind
    return (depends_on_value(kind) and event.mode == READ) or (
        kind == TIMED_WAIT and not event.before
    )


# Files of models, and what their insides are called.
INSIDES = {
    "futures": "ThreadPoolExecutor",
    "pools": "ThreadPoolExecutor",
    "loop_inbox": "event loop",
    "standard_thread": "threading",
    "cells": "iterator",
}


def is_write(access: Access) -> bool:
    return access.mode == WRITE


# Names of threads


def family_order(thread: Thread) -> list[int]:
    """Sorts a thread before its children, and the first child before the second."""
    return [int(order) for order in thread.name.split(".")]


def thread_order(event: Event) -> list[int]:
    return family_order(RUNNING.check.runtime.names.threads[event.thread])


def function_name(thread: Thread) -> str:
    function = thread.function
    if isinstance(function, ThreadRun):
        return str(function.thread.name)
    return getattr(function, "__name__", "thread")


def thread_names() -> dict[int, str]:
    """A thread is called like its function, numbered where several threads share it."""
    threads = sorted(RUNNING.check.runtime.live, key=family_order)
    functions = [function_name(thread) for thread in threads]
    totals = Counter(functions)
    seen: Counter[str] = Counter()
    names = {}
    for thread, function in zip(threads, functions, strict=True):
        seen[function] += 1
        names[thread.id] = function if totals[function] == 1 else f"{function}-{seen[function]}"
    return names


# Names of objects


def object_names(program: Program) -> dict[int, str]:
    """An object is called as the user named it, else like the variable it was assigned to, and
    numbered where several objects of the run share that name."""
    runtime = RUNNING.check.runtime
    used = {event.location for event in [*program.events, *program.answer.waiting]}
    if runtime.divergence is not None:
        used |= {runtime.divergence.location, runtime.divergence.expected.location}
    if runtime.race_detector is not None:
        race = runtime.race_detector.race
        used |= {runtime.race_detector.latest, -1 if race is None else race.location}
    used |= {runtime.names.locations[id].part_of for id in used if id >= 0}
    used.discard(-1)
    guesses: dict[int, str] = {}
    parts = {id for id in used if runtime.names.locations[id].part_of >= 0}
    ordinary = {id for id in used if runtime.names.locations[id].owner is not None}
    for id in sorted(used - parts - ordinary, key=making_order):
        location = runtime.names.locations[id]
        assigned = location.label or assigned_name(location.code, location.instruction)
        guesses[id] = assigned or made_name(location)
    totals = Counter(guesses.values())
    seen: Counter[str] = Counter()
    names = ordinary_names(sorted(ordinary, key=making_order))
    for id, guess in guesses.items():
        names[id] = guess if totals[guess] == 1 else f"{guess}[{seen[guess]}]"
        seen[guess] += 1
    for id in parts:
        names[id] = names[runtime.names.locations[id].part_of]
    return names


def made_name(location: Location) -> str:
    """What to call an object that nobody has named: by the line that made it."""
    kind = location.cell_type.__name__
    file, line = place(location.code, location.instruction)
    if not file:
        return f"{kind} {location.name}"
    return f"{KINDS.get(kind, kind)} of {os.path.basename(file)}:{line}"


# What people call objects of models.
KINDS = {"Part": "future", "Pool": "executor", "Place": "item"}


def ordinary_names(ids: list[int]) -> dict[int, str]:
    """Attributes and items are called like the object that they belong to, which is numbered where
    several are called alike."""
    runtime = RUNNING.check.runtime
    journal = runtime.journal or Journal()
    alike: dict[str, list[Identity]] = {}
    containers: set[str] = set()
    for id in ids:
        location = runtime.names.locations[id]
        owner = owner_of(location)
        others = alike.setdefault(journal.called(owner.name, owner.label), [])
        if owner not in others:
            others.append(owner)
        if not location.field:
            containers.add(owner.name)
    called = {
        owner.name: f"{name}{number}"
        for name, owners in alike.items()
        for owner, number in numbered(owners, containers)
    }
    return {
        id: f"{called[owner_of(location).name]}.{location.field}".strip(".")
        for id in ids
        for location in [runtime.names.locations[id]]
    }


def owner_of(location: Location) -> Identity:
    assert location.owner is not None
    return location.owner


def numbered(owners: list[Identity], containers: set[str]) -> list[tuple[Identity, str]]:
    """Objects that are called alike, with a number for each that needs one: what is in a container
    is called like that, which needs none."""
    if len(owners) == 1:
        return [(owners[0], "")]
    holding = [owner for owner in owners if owner.name in containers]
    rest = [owner for owner in owners if len(holding) != 1 or owner is not holding[0]]
    bare = [(owner, "") for owner in holding if owner not in rest]
    return bare + [(owner, f"-{number}") for number, owner in enumerate(rest, 1)]


def making_order(location: int) -> tuple[list[int], int]:
    """Sorts the objects of one thread in the order in which it made them."""
    found = MADE_BY.match(RUNNING.check.runtime.names.locations[location].name)
    if found is None:  # made outside
        return [], location
    return [int(part) for part in found[1].split(".")], int(found[2])

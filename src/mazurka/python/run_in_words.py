"""The steps of a run in words, with the names that people have for its threads and objects.

What an operation did to an object, the object itself says (`step_words`).
"""

import re
from collections import Counter

from mazurka.engine.event import Event
from mazurka.engine.operation import CHOOSE, JOIN, NONE, READ, SPAWN, VERBS, WRITE
from mazurka.engine.program import Program
from mazurka.engine.result import Step
from mazurka.python.check import RUNNING
from mazurka.python.runtime.race_detector import Access
from mazurka.python.runtime.standard_thread import ThreadRun
from mazurka.python.runtime.thread import Identity, Thread
from mazurka.python.source import assigned_name, place, raised_at, source_line

MADE_BY = re.compile(r"([0-9.]+)[#@]([0-9]+)")  # a thread, and its count


class RunInWords:
    """The steps of one run, with names for its threads and objects."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.names = thread_names()
        self.objects = object_names(program)

    def thread(self, id: int) -> str:
        return self.names.get(id, "a thread that does not exist")

    def step(self, event: Event) -> Step:
        file, line = self.place(event)
        source = source_line(file, line) if file else ""
        return Step(self.thread(event.thread), self.action(event), file, line, source)

    def place(self, event: Event) -> tuple[str, int]:
        """The file and line of an event."""
        return place(*RUNNING.check.runtime.names.places.at(event.place))

    def step_of_access(self, access: Access, name: str) -> Step:
        """An access that is no event."""
        file, line = place(access.code, access.instruction)
        source = source_line(file, line) if file else ""
        action = f"{'write' if is_write(access) else 'read'} {name}"
        return Step(self.thread(access.thread), action, file, line, source)

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


def worth_telling(events: list[Event]) -> list[Event]:
    """Without what is of interest to nobody, as the objects say."""
    locations = RUNNING.check.runtime.names.locations
    looked_at = {event.location for event in events if event.mode == READ}
    return [
        event
        for event in events
        if event.location < 0
        or locations[event.location].cell_type.is_told(event, event.location in looked_at)
    ]


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
    guesses: dict[int, str | None] = {}
    parts = {id for id in used if runtime.names.locations[id].part_of >= 0}
    ordinary = {id for id in used if runtime.names.locations[id].owner is not None}
    for id in sorted(used - parts - ordinary, key=making_order):
        location = runtime.names.locations[id]
        guesses[id] = location.label or assigned_name(location.code, location.instruction)
    totals = Counter(guesses.values())
    seen: Counter[str] = Counter()
    names = ordinary_names(sorted(ordinary, key=making_order))
    for id, guess in guesses.items():
        if guess is None:
            location = runtime.names.locations[id]
            names[id] = f"{location.cell_type.__name__} {location.name}"
        else:
            names[id] = guess if totals[guess] == 1 else f"{guess}[{seen[guess]}]"
            seen[guess] += 1
    for id in parts:
        names[id] = names[runtime.names.locations[id].part_of]
    return names


def ordinary_names(locations: list[int]) -> dict[int, str]:
    """Attributes and items are called like the object that they belong to, which is numbered where
    several are called alike."""
    runtime = RUNNING.check.runtime
    owners: dict[str, list[Identity]] = {}
    for id in locations:
        owner = runtime.names.locations[id].owner
        assert owner is not None
        alike = owners.setdefault(owner.label, [])
        if owner not in alike:
            alike.append(owner)
    names = {}
    for id in locations:
        location = runtime.names.locations[id]
        assert location.owner is not None
        alike = owners[location.owner.label]
        number = f"-{alike.index(location.owner) + 1}" if len(alike) > 1 else ""
        names[id] = f"{location.owner.label}{number}.{location.field}".strip(".")
    return names


def making_order(location: int) -> tuple[list[int], int]:
    """Sorts the objects of one thread in the order in which it made them."""
    found = MADE_BY.match(RUNNING.check.runtime.names.locations[location].name)
    if found is None:  # made outside
        return [], location
    return [int(part) for part in found[1].split(".")], int(found[2])

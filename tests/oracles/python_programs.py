"""Ordinary Python programs as text, and the comparison of the searches on them.

A program is a few blocks of statements, which use the names of `STATE`; `source_of` writes a module
around them. The statements are templates: `$items` stands for however the module names the state.
"""

import linecache
import random
import re
import textwrap
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from string import Template
from types import ModuleType
from typing import Any

from mazurka.engine.program import REDUNDANT
from mazurka.engine.program import Program as EngineProgram
from mazurka.engine.result import EXCEPTION, NONDETERMINISM, Result
from mazurka.engine.search import Search
from mazurka.explore.naive import Trace, trace_of
from mazurka.python.check import RUNNING
from mazurka.python.new_check import new_check
from mazurka.python.rewriting.rewritten_code import OrdinaryCode, ordinary_code
from tests.oracles.checks import explored, explorer_name, remembered
from tests.oracles.interleavings import EXPLORERS
from tests.oracles.preemptive import FILENAME, preempted

MODULE = "generated"

HEADER = """
import copy
import functools
import itertools
import operator
import queue
import threading
from collections import Counter, OrderedDict, defaultdict, deque


class Plain:
    level = 0

    def __init__(self):
        self.x = 0
        self.items = [0]
        self.link = None

    @property
    def double(self):
        return 2 * self.x

    @double.setter
    def double(self, value):
        self.x = value // 2

    def increase(self, by=1):
        self.x += by
        return self.x

    def __repr__(self):
        return f"Plain({self.x}, {self.level}, {self.items}, {self.link})"


class Slotted:
    __slots__ = ("link", "x")

    def __init__(self, x=0):
        self.x = x
        self.link = None

    def __repr__(self):
        return f"Slotted({self.x}, {self.link})"


class Key:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Key({self.name})"


class Stack(list):
    def push(self, value):
        self.append(value)
        return len(self)
"""

# What threads share: how it is made, by its name.
STATE = {
    "count": "0",
    "flag": "False",
    "ref": "None",
    "call": "None",
    "box": "Plain()",
    "slot": "Slotted()",
    "items": "[0, 1]",
    "other": "[2]",
    "lists": "[[0], [0, 1]]",
    "table": '{"a": 0}',
    "nested": '{"a": [0], "b": {}}',
    "bag": "{0, 1}",
    "line": "deque([0, 1])",
    "spare": "defaultdict(list)",
    "ranked": "OrderedDict(a=0, b=1)",
    "tally": "Counter(a=1)",
    "stack": "Stack([0])",
    "keys": '[Key("k"), Key("l")]',
    "by_key": "{}",
    "lock": "threading.Lock()",
    "again": "threading.RLock()",
    "condition": "threading.Condition()",
    "semaphore": "threading.Semaphore(1)",
    "event": "threading.Event()",
    "jobs": "queue.Queue()",
    "local": "threading.local()",
}
HIDDEN = {
    "call",
    "lock",
    "again",
    "condition",
    "semaphore",
    "event",
    "jobs",
    "local",
}  # from outcomes

# Where the state is, and so how it is named: in globals, in closure variables of main, in
# attributes of an object whose methods are the threads.
PLACES = ("globals", "closure", "attributes")


@dataclass(frozen=True)
class Program:
    place: str
    blocks: tuple[tuple[str, ...], ...]  # of main, of the threads that it starts, ...
    extra: tuple[str, ...]  # of a thread that others may start
    joined: bool

    def __str__(self) -> str:
        return source_of(self)


def names_in(program: Program) -> list[str]:
    text = "\n".join([line for block in (*program.blocks, program.extra) for line in block])
    used = set(re.findall(r"\$(\w+)", text))
    return [name for name in STATE if name in used]


def rebound(program: Program, names: list[str]) -> list[str]:
    """The variables that functions assign to."""
    text = "\n".join([line for block in (*program.blocks, program.extra) for line in block])
    stores = r"\$%s(, \$\w+)* [-+|]?= |del \$%s\n"
    return [name for name in names if re.search(stores % (name, name), text)]


def declared(keyword: str, program: Program, names: list[str]) -> str:
    variables = rebound(program, names)
    return f"{keyword} {', '.join(variables)}" if variables else ""


def source_of(program: Program) -> str:
    """The module of a program: its main function is called `main`."""
    names = names_in(program)
    writers = {"globals": in_globals, "closure": in_closure, "attributes": in_attributes}
    return HEADER + writers[program.place](program, names)


def in_globals(program: Program, names: list[str]) -> str:
    state = made(names, "")
    threads = functions(program, names, "", declared("global", program, names))
    return f"\n{state}\n{threads}\ndef main():\n{indented(body_of_main(program, names, ''))}"


def in_closure(program: Program, names: list[str]) -> str:
    threads = functions(program, names, "", declared("nonlocal", program, names))
    body = f"{made(names, '')}\n{threads}\n{body_of_main(program, names, '')}"
    return f"\ndef main():\n{indented(body)}"


def in_attributes(program: Program, names: list[str]) -> str:
    state = f"def __init__(self):\n{indented(made(names, 'self.'))}\n"
    threads = functions(program, names, "self.", "")
    return (
        f"\nclass State:\n{indented(state + threads)}\n"
        f"\ndef main():\n    state = State()\n{indented(body_of_main(program, names, 'state.'))}"
    )


def made(names: list[str], prefix: str) -> str:
    lines = [f"{prefix}seen = [None] * 4"]
    return "\n".join(lines + [f"{prefix}{name} = {STATE[name]}" for name in names]) + "\n"


def functions(program: Program, names: list[str], prefix: str, declaration: str) -> str:
    """The functions that the threads run."""
    named = {name: prefix + name for name in [*STATE, "extra"]}
    text = ""
    for number, block in enumerate([*program.blocks, program.extra]):
        name = "extra" if block is program.extra else f"work{number}"
        lines = [declaration] if declaration else []
        lines.append("got = []")
        lines += [Template(statement).substitute(named) for statement in block]
        if any("got." in statement for statement in block):
            lines.append(f"{prefix}seen[{min(number, 3)}] = got")
        text += f"\ndef {name}({prefix.rstrip('.')}):\n{indented(chr(10).join(lines))}"
    return text


def body_of_main(program: Program, names: list[str], prefix: str) -> str:
    count = len(program.blocks)
    lines = [
        f"thread{number} = threading.Thread(target={prefix}work{number})"
        for number in range(1, count)
    ]
    lines += [f"thread{number}.start()" for number in range(1, count)]
    lines.append(f"{prefix}work0()")
    if program.joined:
        lines += [f"thread{number}.join()" for number in range(1, count)]
    shown = [f"{prefix}{name}" for name in ["seen", *names] if name not in HIDDEN]
    # One after the other, and no dict with objects of the program's own as keys: a check takes
    # the text of a container for one step, even if it calls code for the text of an item.
    values = [f"{name}.values()" if name.endswith("by_key") else name for name in shown]
    lines.append(f"return ({', '.join([f'repr({value})' for value in values])},)")
    return "\n".join(lines)


def indented(text: str) -> str:
    return textwrap.indent(text, "    ") + "\n"


def load(source: str, **replaced: object) -> ModuleType:
    """Run the source of a module; some of what it imports may be replaced."""
    linecache.cache[FILENAME] = len(source), None, source.splitlines(True), FILENAME
    module = ModuleType(MODULE)
    exec(compile(source, FILENAME, "exec", dont_inherit=True), module.__dict__)
    vars(module).update(replaced)
    return module


@contextmanager
def rewritten(module: ModuleType) -> Iterator[OrdinaryCode]:
    """While the body runs, a module is made ready to be explored."""
    with ordinary_code(module.main, ()) as code:
        yield code


class Exploration:
    """What a search met: how often each trace, which outcomes, which failures."""

    def __init__(
        self, name: str, main: Callable[[], object], code: OrdinaryCode, most: int
    ) -> None:
        self.name = name
        self.most = most
        self.traces: Counter[Trace] = Counter()
        self.result = Result(algorithm=name)
        explorer = EXPLORERS[explorer_name(name)]
        self.finished = explored(
            main, 1000, code, self.new_search, lambda search: bool(explorer(search).explore())
        )

    def new_search(self, program: EngineProgram) -> Search:
        self.traces.clear()
        self.result = Result(algorithm=self.name)
        program = remembered(program, self.name)
        return Search(program, self.result, False, self.most, None, None, self.observe)

    def observe(self, program: EngineProgram) -> None:
        if program.answer.status != REDUNDANT:
            self.traces[renamed(trace_of(program))] += 1

    @property
    def outcomes(self) -> set[object]:
        return set(self.result.outcomes)

    @property
    def failures(self) -> set[str]:
        """The kinds of failure; which of two exceptions comes first is not a trace's to say."""
        return {failure.kind for failure in self.result.failures}

    @property
    def exceptions(self) -> set[str]:
        return {
            type(failure.exception).__name__
            for failure in self.result.failures
            if failure.kind == EXCEPTION
        }


def renamed(trace: Trace) -> Trace:
    """A trace with other names for synchronisation objects that are global: theirs depend on which
    of them an exploration meets first."""
    locations = RUNNING.check.runtime.names.locations
    if not any(location.name.startswith("outside#") for location in locations):
        return trace
    places = {location.name: location for location in locations}

    def renamed_entry(entry: Any) -> object:
        thread, index, kind, (place, *access), *rest = entry
        if place.startswith("outside#"):
            location = places[place]
            whole = locations[location.part_of].label if location.part_of >= 0 else ""
            place = f"outside {whole} {location.label}"
        return thread, index, kind, (place, *access), *rest

    return tuple([renamed_entry(entry) for entry in trace])


def disagreement(program: Program, most: int = 120) -> str | None:
    """What is wrong with the searches on a program; None if nothing is, "" if it is too large.

    A program with more than `most` interleavings is too large for the oracle; Source-DPOR, which
    the papers prove to miss nothing, stands in for it.
    """
    module = load(source_of(program))
    with new_check(), rewritten(module) as code:
        alone = Exploration("pop", module.main, code, 5 * most)  # with all to learn
        oracle = Exploration("naive", module.main, code, most)
        others = [
            Exploration(name, module.main, code, 5 * most)
            for name in (
                "source",
                "optimal",
                "pop",
                "qpor optimal",
                "trust",
                "source remembered",
                "pop remembered",
                "pop forgetful",
                "trust remembered",
            )
        ]
        reads_from = Exploration("reads-from", module.main, code, 5 * most)
    if NONDETERMINISM in oracle.failures | alone.failures:
        return "the program does not repeat itself"
    if not oracle.finished:
        oracle = others[0]
    if not oracle.finished or not others[1].finished:
        return ""
    if alone.outcomes != oracle.outcomes:
        return f"pop finds {alone.outcomes}, the oracle {oracle.outcomes}"
    for search in others:
        problem = differences(search, oracle)
        if problem is not None:
            return f"{search.name} {problem}"
    problem = other_behaviour(reads_from, oracle)
    return None if problem is None else f"reads-from {problem}"


def differences(search: Exploration, oracle: Exploration) -> str | None:
    if not search.finished:
        return "does not end"
    missed = len(set(oracle.traces) - set(search.traces))
    if missed:
        return f"misses {missed} of {len(oracle.traces)} traces"
    if set(search.traces) - set(oracle.traces):
        return "invents traces"
    problem = other_behaviour(search, oracle)
    if problem is not None or "source" in search.name:
        return problem
    if search.result.redundant:
        return f"has {search.result.redundant} redundant executions"
    if max(search.traces.values()) > 1:
        return "explores a trace twice"
    return None


def other_behaviour(search: Exploration, oracle: Exploration) -> str | None:
    if not search.finished:
        return "does not end"
    if search.outcomes != oracle.outcomes:
        return f"finds {search.outcomes}, the oracle {oracle.outcomes}"
    if search.failures != oracle.failures:
        return f"finds {search.failures}, the oracle {oracle.failures}"
    return None


def unseen(program: Program, runs: int, seed: int, most: int = 1000) -> str | None:
    """An outcome of Python's own that a check does not find: threads are preempted at arbitrary
    bytecode instructions, and run no hooks. None if there is none, "" if the check is too large."""
    source = source_of(program)
    module = load(source)
    with new_check(), rewritten(module) as code:
        check = Exploration("pop", module.main, code, most)
    if not check.finished:
        return ""
    known: set[Any] = check.outcomes | check.exceptions
    chance = random.Random(seed)
    for _ in range(runs):
        outcomes = preempted(lambda threading: load(source, threading=threading).main, chance)
        if known.isdisjoint(outcomes):
            return f"{outcomes} is not in {known}"
    return None

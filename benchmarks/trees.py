"""The trees of the unfolding, and where the time of a search goes: sections 6.2 and 6.4 of
"Quasi-Optimal Partial Order Reduction".

Functions of the search are wrapped to see what they are asked, so this needs plain Python.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

from rich import box
from rich.table import Table

import mazurka
from benchmarks.registry import parse
from mazurka.explore.qpor import exploration, unfolding
from mazurka.python.program import PythonProgram

# Fifteen programs of Table 1, from 4 threads to 13, and with up to 15,282 traces.
PROGRAMS = (
    "Disp(5,2)", "Disp(5,3)", "Disp(5,4)", "Mpat(4)", "Mpat(5)", "MPC(2,5)", "MPC(3,5)", "Pi(5)",
    "Pi(6)", "Pi(7)", "Pol(7,3)", "Pol(8,3)", "Pol(9,3)", "Pol(4,5)", "Pol(6,4)",
)  # fmt: skip
SKIP_STEPS = (2, 4, 8, 1_000_000)  # with the last one nothing is skipped
COSTS = {
    "running the program": ((PythonProgram, "run"),),
    "adding events": ((unfolding.Unfolding, "event"), (unfolding.Unfolding, "remove")),
    "building spikes": ((exploration.Qpor, "spike"),),
    "searching the comb": ((exploration.Qpor, "alternative"),),
    "conflicting extensions": (
        (exploration.Qpor, "add_reversal"),
        (exploration.Qpor, "add_choices"),
        (exploration, "reversals"),
        (exploration, "waiting_reversals"),
    ),
}


@dataclass
class Trees:
    """What was seen of the trees of some searches."""

    depths: dict[tuple[str, str, int], list[int]] = field(default_factory=dict)  # of all nodes
    causality: Counter[int] = field(default_factory=Counter)  # queries, by distance
    conflicts: Counter[int] = field(default_factory=Counter)
    hops: Counter[int] = field(default_factory=Counter)  # pointers followed, by skip step
    pointers: Counter[int] = field(default_factory=Counter)  # kept
    shares: list[dict[str, float]] = field(default_factory=list)  # of the time of each search


def look_at(programs: tuple[str, ...]) -> Trees:
    found = Trees()
    for name in programs:
        with watching(found, name):
            search(name)
        for step in SKIP_STEPS:
            with counting_hops(found, step):
                search(name)
        found.shares.append(profile(name))
    return found


def search(name: str) -> None:
    mazurka.explore(parse(name).program(), algorithm="qpor", k="optimal", instrument=None)


@contextmanager
def replaced(owner: Any, name: str, wrap: Callable[[Any], Any]) -> Iterator[None]:
    original = getattr(owner, name)
    setattr(owner, name, wrap(original))
    try:
        yield
    finally:
        setattr(owner, name, original)


@contextmanager
def watching(found: Trees, program: str) -> Iterator[None]:
    """Note the depths of nodes, and how far apart those are that are asked for."""

    def complete(original: Any) -> Any:
        def completed(event: Any, first: Any) -> None:
            original(event, first)
            thread = (program, "thread", event.label.thread)
            found.depths.setdefault(thread, []).append(event.depth)
            if event.change is not None:
                place = (program, "place", event.place)
                found.depths.setdefault(place, []).append(event.change.depth)

        return completed

    def has(original: Any) -> Any:
        def asked(configuration: Any, event: Any) -> Any:
            tops, thread = configuration.tops, event.label.thread
            if thread < len(tops) and tops[thread] is not None:
                found.causality[abs(tops[thread].depth - event.depth)] += 1
            return original(configuration, event)

        return asked

    def clash(original: Any) -> Any:
        def asked(one: Any, mine: Any, other: Any, theirs: Any) -> Any:
            depths = [0 if side.change is None else side.change.depth for side in (mine, theirs)]
            found.conflicts[abs(depths[0] - depths[1])] += 1
            return original(one, mine, other, theirs)

        return asked

    with (
        replaced(unfolding.Canonical, "complete", complete),
        replaced(unfolding.Configuration, "has", has),
        replaced(unfolding, "clash", clash),
    ):
        yield


@contextmanager
def counting_hops(found: Trees, step: int) -> Iterator[None]:
    def counted(_: Any) -> Any:
        def ancestor(node: Any, depth: int) -> Any:
            while node.depth > depth:
                following = node.parent
                for skip in node.skips:
                    if skip.depth < depth:
                        break
                    following = skip
                node = following
                found.hops[step] += 1
            return node

        return ancestor

    def made(original: Any) -> Any:
        def make(node: Any, number: int, parent: Any) -> None:
            original(node, number, parent)
            found.pointers[step] += 1 + len(node.skips)

        return make

    with (
        replaced(unfolding, "SKIP_STEP", lambda _: step),
        replaced(unfolding, "ancestor", counted),
        replaced(unfolding.Node, "__init__", made),
    ):
        yield


class Stopwatch:
    """Gives each second to the innermost part that runs."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.seconds: defaultdict[str, float] = defaultdict(float)
        self.since = time.process_time()

    def wrap(self, part: str) -> Callable[[Any], Any]:
        def wrapped(original: Any) -> Any:
            def call(*arguments: Any) -> Any:
                self.turn_to(part)
                try:
                    return original(*arguments)
                finally:
                    self.turn_back()

            return call

        return wrapped

    def turn_to(self, part: str) -> None:
        self.note()
        self.parts.append(part)

    def turn_back(self) -> None:
        self.note()
        self.parts.pop()

    def note(self) -> None:
        now = time.process_time()
        self.seconds[self.parts[-1] if self.parts else "the rest"] += now - self.since
        self.since = now


def profile(name: str) -> dict[str, float]:
    """Which share of the time of a search goes where."""
    watch = Stopwatch()
    with ExitStack() as stack:
        for part, wrapped in COSTS.items():
            for owner, method in wrapped:
                stack.enter_context(replaced(owner, method, watch.wrap(part)))
        search(name)
        watch.note()
    total = sum(watch.seconds.values())
    return {part: watch.seconds[part] / total for part in [*COSTS, "the rest"]}


# Tables


def share(counter: Counter[int], most: int) -> str:
    """Which part of the queries is about nodes that are at most so far apart."""
    near = sum(count for distance, count in counter.items() if distance <= most)
    return f"{near / counter.total():.0%}"


def render(found: Trees) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for column in ("", "here", "paper"):
        table.add_column(column)
    depths = found.depths.values()
    nodes = sum(map(len, depths))
    deepest = [max(tree) for tree in depths]
    trees = len(deepest)
    threads = sum(kind == "thread" for _, kind, _ in found.depths)
    rows = [
        ("trees", f"{trees}, {threads} of threads", "246, 150 of threads"),
        ("nodes", f"{nodes:,}", "5.2 million"),
        ("average depth of a node", f"{sum(map(sum, depths)) / nodes:.1f}", "22.7"),
        ("trees less than 8 deep", f"{sum(one < 8 for one in deepest) / trees:.0%}", "80%"),
        ("trees less than 16 deep", f"{sum(one < 16 for one in deepest) / trees:.0%}", "90%"),
        ("depths of trees", f"{min(deepest)} to {max(deepest)}", "3 to 77"),
        ("causality queries, distance up to 2", share(found.causality, 2), "70%"),
        ("causality queries, distance up to 4", share(found.causality, 4), "92%"),
        ("conflict queries, distance up to 4", share(found.conflicts, 4), "82%"),
    ]  # fmt: skip
    for step in SKIP_STEPS:
        name = f"skip step {step}" if step < max(SKIP_STEPS) else "no skips"
        kept = found.pointers[step] / nodes
        rows.append(
            (f"pointers followed, {name}", f"{found.hops[step]:,} ({kept:.2f} kept a node)", "")
        )
    papers = ("30-90%", "15-30%", "1-50%", "less than 5%", "less than 5%", "")
    for part, paper in zip([*COSTS, "the rest"], papers, strict=True):
        shares = [one[part] for one in found.shares]
        rows.append((f"time: {part}", f"{min(shares):.0%} to {max(shares):.0%}", paper))
    for row in rows:
        table.add_row(*row)
    return table

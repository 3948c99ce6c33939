"""Two calls on an object that two threads share: what CPython can do against what a check finds.

    python -m tests.oracles.pairs             # all types, a process for each; takes long
    python -m tests.oracles.pairs dict_keys   # one

CPython's side are real threads, switched before every instruction: see preemptive.py. It knows
nothing of rewriting.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from mazurka import explore
from tests.oracles.preemptive import run_together, schedules
from tests.oracles.shared_types import TYPES, Pair, SharedType, pairs_on, source_of

MODULE = "generated"
# Calls whose answers differ for a known reason.
EXPLAINED = (
    "result = '{a}'.format(**x)",  # for keywords that are no text, we raise TypeError
    "result = x.__length_hint__()",  # every use of an iterator asks for it: not worth a step
    "result = copy.deepcopy(Rank(0), x)",  # leaves addresses in its memo
    "result = copy.deepcopy(Point(0), x)",
    "result = copy.deepcopy(Plain(0), x)",
    "result = x.__weakref__()",  # of a thread: there is one, as the standard library lists threads
)
MOST_SCHEDULES = 100  # with two preemptions


@dataclass
class Comparison:
    """What both sides say of a program."""

    kind: str
    one: str
    other: str
    python: set[str]
    found: set[str]
    verdict: str
    schedules: int
    note: str = ""

    @property
    def answer(self) -> str:
        if self.verdict == "incomplete":
            return "incomplete"
        if self.one in EXPLAINED:
            return "explained"
        if self.verdict != "verified":
            return "failed"
        if self.python - self.found:
            return "missed"
        return "finer" if self.found - self.python else "same"

    def __str__(self) -> str:
        lines = [f"{self.answer}: {self.kind}: {self.one!r} / {self.other!r}"]
        lines += [f"    only in Python: {each}" for each in sorted(self.python - self.found)[:3]]
        lines += [f"    only in Mazurka: {each}" for each in sorted(self.found - self.python)[:3]]
        if self.note:
            lines.append(f"    {self.note}")
        return "\n".join(lines)


class Programs:
    """The programs of a type: a module with functions for all calls."""

    def __init__(self, kind: SharedType, pairs: list[Pair], most: int = MOST_SCHEDULES) -> None:
        self.kind = kind
        self.most = most
        self.pairs = pairs
        calls = list(dict.fromkeys([call for pair in pairs for call in pair]))
        source = source_of(kind, calls)
        filename = str(Path(tempfile.mkdtemp()) / f"{MODULE}.py")
        Path(filename).write_text(source)
        sys.modules[MODULE] = module = ModuleType(MODULE)
        module.__file__ = filename
        self.module: dict[str, Any] = vars(module)
        exec(compile(source, filename, "exec", dont_inherit=True), self.module)
        self.functions = {call: self.module[f"call{n}"] for n, call in enumerate(calls)}

    def compare_all(self) -> list[Comparison]:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return [self.compare(pair) for pair in self.pairs]

    def compare(self, pair: Pair) -> Comparison:
        functions = [self.functions[call] for call in pair]
        python, count = self.outcomes_of_python(functions)
        verdict, found, note = self.outcomes_found(functions)
        return Comparison(self.kind.name, *pair, python, found, verdict, count, note)

    def outcomes_of_python(self, functions: list[Any]) -> tuple[set[str], int]:
        """What CPython's threads give, and in how many schedules."""
        found: set[str] = set()

        def run(swapped: bool, switches: Sequence[int]) -> int:
            x, d = self.module["make"]()
            got = [None, None]
            targets = [partial(call, x, d, got, place) for place, call in enumerate(functions)]
            steps = run_together(targets[::-1] if swapped else targets, switches)
            found.add(self.module["shown"](x, d, got))
            return steps

        return found, sum(1 for _ in schedules(run, self.most))

    def outcomes_found(self, functions: list[Any]) -> tuple[str, set[str], str]:
        """What a check finds: its verdict, the outcomes, what else it says."""
        try:
            result = explore(partial(self.module["main"], *functions), max_executions=2000)
        except Exception as error:
            return "error", set(), f"{type(error).__name__}: {error}"
        note = "; ".join(result.warnings)
        for failure in result.failures[:1]:
            note = f"{failure.kind}: {failure.exception!r} {failure.message}"
        return result.verdict, {str(each) for each in result.outcomes}, note


def report_on(kind: SharedType) -> Counter[str]:
    """Compare all programs of a type, and print what is to be known of them."""
    compared = Programs(kind, pairs_on(kind)).compare_all()
    total = Counter(each.answer for each in compared)
    total["programs"] = len(compared)
    total["schedules"] = sum(each.schedules for each in compared)
    for each in compared:
        if each.answer in ("missed", "failed", "finer"):
            print(each)
    return total


def report_apart(kind: SharedType) -> tuple[str, Counter[str]]:
    """The same in a process of its own: what two threads do to a type may end Python itself."""
    command = [sys.executable, "-W", "ignore", "-m", "tests.oracles.pairs", kind.name]
    output = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    *_, last = output.splitlines() or [""]
    totals = json.loads(last) if last.startswith("{") else {"crashed": 1}
    return output, Counter(totals)


def main(chosen: list[str]) -> int:
    """Report on all types, or on the one that is named."""
    if chosen:
        (kind,) = [each for each in TYPES if each.name == chosen[0]]
        total = report_on(kind)
    else:
        total = Counter()
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            reports = pool.map(report_apart, TYPES)
            for kind, (output, counted) in zip(TYPES, reports, strict=True):
                print(f"{kind.name}:\n{output}", flush=True)
                total += counted
    print(json.dumps(total))
    return 1 if total["missed"] or total["failed"] or total["crashed"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

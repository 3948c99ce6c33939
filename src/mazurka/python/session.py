"""A Python program while it is checked: everything is set up for its searches, and taken down."""

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from mazurka.engine.result import MazurkaError
from mazurka.engine.task import Outdated
from mazurka.python.check import Check
from mazurka.python.library import steered_standard_library
from mazurka.python.loops.rounds import LoopSettings
from mazurka.python.memory.identities import Misjudged
from mazurka.python.new_check import new_check
from mazurka.python.program import PythonProgram, learnt_in
from mazurka.python.rewriting.rewritten_code import OrdinaryCode, ordinary_code
from mazurka.python.runtime.watchdog import guarded

T = TypeVar("T")

MOST_SEARCHES = 100


@dataclass(frozen=True)
class Session:
    """How a Python function is to be run: `mazurka.explore` says what the options mean."""

    function: Callable[[], object]
    independent_adds: bool
    max_events: int
    step_limit: float
    granularity: str
    instrument: Sequence[str] | None
    loop_purity: bool
    awaits: bool
    unroll: int | None
    setup: Callable[[], object] | None
    reset: Callable[[], object] | None
    warnings: list[str] = field(default_factory=list)  # what was not seen

    def run(
        self,
        search: Callable[[PythonProgram], T],
        learnt: dict[str, list[str]],
        begins_anew: bool = True,
    ) -> T:
        """Run a search of the program, again if something turns out to be another thing than it was
        taken for; or say that, if the search is not to begin anew."""
        with new_check(LoopSettings(self.loop_purity, self.awaits, self.unroll)) as check:

            def attempt() -> T:
                return self.attempt(check, search, learnt)

            if self.instrument is None:
                return attempt()
            with ordinary_code(self.function, self.instrument) as code:
                found = run_until_judged(attempt, code, check, None if begins_anew else learnt)
                self.warnings.extend(code.warnings())
                return found

    def attempt(
        self, check: Check, search: Callable[[PythonProgram], T], learnt: dict[str, list[str]]
    ) -> T:
        try:
            program = PythonProgram(
                check,
                self.function,
                self.independent_adds,
                self.max_events,
                self.granularity == "sync",
            )
            program.setup = self.setup
            program.reset = self.reset
            program.learn(learnt)
            with guarded(self.step_limit), steered_standard_library(), rare_collections():
                return search(program)
        finally:
            check.runtime.close()


def run_until_judged(
    attempt: Callable[[], T],
    code: OrdinaryCode,
    check: Check,
    known: dict[str, list[str]] | None = None,
) -> T:
    """Search anew whenever an object turns out to be another thing than it was taken for, or code
    is imported. What is learnt stays known, so this ends; most searches need no second time.

    A search that others have begun must not find out more than was known to them.
    """
    for _ in range(MOST_SEARCHES):
        modules = len(sys.modules)
        try:
            found = attempt()
        except Misjudged:
            if known is not None and has_more(learnt_in(check), known):
                raise Outdated(learnt_in(check)) from None
        else:
            if len(sys.modules) == modules or not code.look():
                return found
    raise MazurkaError(
        f"the program was begun anew {MOST_SEARCHES} times, and still something in it is not what "
        "it was: look for objects that it keeps from one execution to the next"
    )


def has_more(learnt: dict[str, list[str]], known: dict[str, list[str]]) -> bool:
    return any(set(names) - set(known.get(word, ())) for word, names in learnt.items())


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the garbage collector run less often: a search keeps nearly all that it makes, and Python
    would look through it again and again."""
    thresholds = gc.get_threshold()
    gc.set_threshold(100_000, 50, 100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)

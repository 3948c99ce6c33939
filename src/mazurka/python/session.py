"""A Python program while it is checked: everything is set up for its searches, and taken down."""

import gc
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from mazurka.engine.errors import MazurkaError
from mazurka.engine.linearizable import Judge
from mazurka.engine.memory_use import rare_collections
from mazurka.engine.task import Outdated
from mazurka.python.check import Check
from mazurka.python.library import steered_standard_library
from mazurka.python.library.finalizers import late_words_noted
from mazurka.python.library.kept_clocks import virtual_clocks_everywhere
from mazurka.python.loops.rounds import LoopSettings
from mazurka.python.memory.identities import Misjudged
from mazurka.python.new_check import new_check
from mazurka.python.program import PythonProgram, learnt_in
from mazurka.python.rewriting.rewritten_code import OrdinaryCode, ordinary_code
from mazurka.python.runtime.watchdog import guarded
from mazurka.python.scenario import Scenario

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
    opaque: Sequence[str]
    loop_purity: bool
    awaits: bool
    unroll: int | None
    timeouts: str
    asyncio_order: str
    setup: Callable[[], object] | None
    reset: Callable[[], object] | None
    warnings: list[str] = field(default_factory=list)  # what was not seen
    threads: list[int] = field(default_factory=list)  # how many each search has met
    code: list[OrdinaryCode] = field(default_factory=list)  # that is rewritten now

    def run(
        self,
        search: Callable[[PythonProgram], T],
        learnt: dict[str, list[str]],
        begins_anew: bool = True,
    ) -> T:
        """Run a search of the program, again if something turns out to be another thing than it was
        taken for; or say that, if the search is not to begin anew."""
        settings = LoopSettings(self.loop_purity, self.awaits, self.unroll)
        with new_check(settings) as check, virtual_clocks_everywhere(), late_words_noted():

            def attempt() -> T:
                return self.attempt(check, search, learnt)

            if self.instrument is None:
                return run_until_apart(attempt, check, None if begins_anew else learnt)
            with ordinary_code(self.function, self.instrument, self.opaque) as code:
                code.learn(learnt)
                self.code.append(code)
                found = run_until_judged(attempt, code, check, None if begins_anew else learnt)
                self.warnings.extend(code.warnings())
                return found

    def warned(self) -> list[str]:
        """What was not seen until now."""
        return [*self.warnings, *(warning for code in self.code for warning in code.warnings())]

    def look(self, modules: int) -> None:
        """Raise a Misjudged if code has come up since there were so many modules."""
        if len(sys.modules) > modules and any(code.look() for code in self.code):
            raise Misjudged

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
            if isinstance(self.function, Scenario):
                program.judge = Judge(self.function.specification, program.values)
            program.learn(learnt)
            check.runtime.timeouts_last = self.timeouts == "last"
            check.event_loops.are_fifo = self.asyncio_order == "fifo"
            with guarded(self.step_limit), steered_standard_library(), collections_noted(check):
                return search(program)
        finally:
            self.threads.append(len(check.runtime.names.threads))
            check.runtime.close()


def run_until_apart(
    attempt: Callable[[], T], check: Check, known: dict[str, list[str]] | None
) -> T:
    """Search anew when workers or parts of queues turn out to be told apart (see below)."""
    while True:
        try:
            return attempt()
        except Misjudged:
            refuse_news(check, known)


def run_until_judged(
    attempt: Callable[[], T],
    code: OrdinaryCode,
    check: Check,
    known: dict[str, list[str]] | None = None,
) -> T:
    """Search anew whenever an object turns out to be another thing than it was taken for, or code
    is imported. What is learnt stays known, so this ends; most searches need no second time.
    """
    modules = len(sys.modules)
    for _ in range(MOST_SEARCHES):
        code.begin()
        found: list[T] = []
        try:
            found.append(attempt())
        except Misjudged:
            refuse_news(check, known)
        gc.collect()  # while finalizers are rewritten
        is_new = len(sys.modules) > modules and code.look()
        modules = len(sys.modules)
        if found and not is_new:
            return found[0]
    raise MazurkaError(
        f"the program was begun anew {MOST_SEARCHES} times, and still something in it is not what "
        "it was: look for objects that it keeps from one execution to the next"
    )


def refuse_news(check: Check, known: dict[str, list[str]] | None) -> None:
    """Whoever takes part in a search that others have begun must not know more than they did."""
    if known is not None and has_more(learnt_in(check), known):
        raise Outdated(learnt_in(check)) from None


def has_more(learnt: dict[str, list[str]], known: dict[str, list[str]]) -> bool:
    return any(set(names) - set(known.get(word, ())) for word, names in learnt.items())


@contextmanager
def collections_noted(check: Check) -> Iterator[None]:
    """The garbage collector runs less often, and calls no finalizers that are rewritten."""

    def note(phase: str, _: object) -> None:
        check.runtime.is_collecting = phase == "start"

    gc.callbacks.append(note)
    try:
        with rare_collections():
            yield
    finally:
        gc.callbacks.remove(note)

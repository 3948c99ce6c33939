"""Checks that are run by hand, by a search alone."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mazurka.engine.histories import NODE_BYTES
from mazurka.engine.program import Program
from mazurka.engine.remembered import Remembered
from mazurka.engine.search import Search
from mazurka.python.check import RUNNING, Check
from mazurka.python.new_check import new_check
from mazurka.python.program import PythonProgram
from mazurka.python.rewriting.rewritten_code import OrdinaryCode
from mazurka.python.session import Session, run_until_judged


@contextmanager
def check_by_hand() -> Iterator[Check]:
    """While the body runs, so does a check; what is left of its program is unwound then."""
    with new_check() as check:
        try:
            yield check
        finally:
            check.runtime.close()


@contextmanager
def check_of_objects() -> Iterator[Check]:
    """The same for a program whose ordinary objects are seen."""
    with check_by_hand() as check:
        check.runtime.memory = check.objects
        yield check


def explored(
    function: Callable[[], object],
    max_events: int,
    code: OrdinaryCode,
    search_of: Callable[[PythonProgram], Search],
    explore: Callable[[Search], bool],
) -> bool:
    """Explore a function whose code is rewritten, in the check that runs: whether all was seen."""
    session = Session(
        function, True, max_events, 30, "access", (), (), True, True, None, "any", "any", None, None
    )
    check = RUNNING.check

    def search(program: PythonProgram) -> bool:
        search = search_of(program)
        everything = search.repeats_itself() and explore(search)
        search.result.outcomes.update(search.outcomes)
        return everything and not search.result.doubt

    return run_until_judged(lambda: session.attempt(check, search, {}), code, check)


# How a program is remembered by the searches that have one of these words in their name.
MEGABYTES = {"remembered": 200.0, "forgetful": 5 * NODE_BYTES / 1e6}


def remembered(program: Program, name: str) -> Program:
    """The program as a search of this name is to have it. What is computed is not run, too: the
    oracle alone says whether it is right."""
    word = name.rpartition(" ")[2]
    if word not in MEGABYTES:
        return program
    made = Remembered(program, 1000, MEGABYTES[word])
    made.first_ones = 0
    made.every = sys.maxsize
    return made


def explorer_name(name: str) -> str:
    """The name of a search without that word."""
    first, _, last = name.rpartition(" ")
    return first if last in MEGABYTES else name


def is_computed(program: Program) -> bool:
    """Whether the latest execution was not run."""
    return isinstance(program, Remembered) and not program.is_real

"""Searches of a C program that is compiled once, and given other arguments: no process is made."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from mazurka.engine.result import Result
from mazurka.engine.search import ALL_OF_THEM, Search
from mazurka.explore.algorithms import ALGORITHMS
from mazurka.native.c_program import c_program
from mazurka.native.compiling import Compiled, compiled
from mazurka.native.program import Manner, NativeProgram
from mazurka.native.session import NativeSession

MANNER = Manner(10_000)


@contextmanager
def compiled_text(text: str, *flags: str) -> Iterator[Compiled]:
    """A program, from its source."""
    with TemporaryDirectory() as folder:
        source = Path(folder) / "program.c"
        source.write_text(text)
        yield compiled(c_program(source, flags), Path(folder))


def explored(
    made: Compiled,
    arguments: list[str],
    algorithm: str,
    manner: Manner = MANNER,
    **settings: Any,
) -> Result:
    """All executions, by an algorithm."""

    def search(program: NativeProgram) -> Result:
        result = Result(algorithm=algorithm)
        one = Search(program, result, False, None, None, None)
        one.k = ALL_OF_THEM
        for name, value in settings.items():
            setattr(one, name, value)
        result.conclude(one.repeats_itself() and ALGORITHMS[algorithm](one).explore())
        result.outcomes.update(one.outcomes)
        return result

    program = c_program(made.sources[0], args=arguments)
    session = NativeSession(program, manner, 30.0, None)
    return session.searched(made, search, {}, True)[0]

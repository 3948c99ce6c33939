"""The front ends that the suite checks: each makes a program of the engine from a toy program."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from platform import machine
from shutil import which
from tempfile import mkdtemp
from typing import Any, NamedTuple

import mazurka
from mazurka.engine.program import Program as EngineProgram
from mazurka.native.c_program import c_program
from mazurka.native.compiling import RUNTIME, Compiled, compiled
from mazurka.native.debug_information import DebugInformation
from mazurka.native.naming import Names
from mazurka.native.program import NativeProgram
from mazurka.native.runtime_library import Library
from mazurka.python.program import PythonProgram
from tests.conformance.oracle import Program
from tests.conformance.programs import LOCK
from tests.conformance.toy import KINDS, ToyProgram
from tests.oracles.checks import check_by_hand, remembered


class FrontEnd(NamedTuple):
    make: Callable[[Program], AbstractContextManager[EngineProgram]]
    wraps: bool  # whether values have 8 bits


@contextmanager
def toy_front_end(program: Program) -> Iterator[EngineProgram]:
    yield ToyProgram(program)


@contextmanager
def python_front_end(program: Program) -> Iterator[EngineProgram]:
    """The same program, in Python."""
    with check_by_hand() as check:
        yield PythonProgram(check, as_function(program))


def as_function(program: Program) -> Callable[[], None]:
    """A Python function that does what a toy program does."""

    def main() -> None:
        shared: list[Any] = [mazurka.Atomic(0) for _ in range(LOCK)]
        shared.append(mazurka.Lock())
        handles: dict[int, Any] = {}

        def run(number: int) -> None:
            left, given = program[number], 0
            while left:
                if left[0][0] == "fail":
                    raise AssertionError
                (name, place, *operands), left = left[0], left[1:]
                if name == "if":
                    left = left if given else left[place:]
                elif name == "spawn":
                    handles[place] = mazurka.spawn(run, place)
                    given = place
                elif name == "join":
                    with suppress(AssertionError):  # of the thread, if it has failed
                        handles[place].join()
                    given = place
                elif name == "choose":
                    given = mazurka.choose(range(place))
                else:
                    given = perform(shared[place], name, operands)

        run(0)

    return main


def perform(place: Any, name: str, operands: list[int]) -> int:
    """An operation on an Atomic or a Lock, and what it gives."""
    if name == "acquire":
        place.acquire()
        return 1
    if name == "try acquire":
        return int(place.acquire(blocking=False))
    if name == "release":
        try:
            place.release()
        except RuntimeError:  # it was free
            return 0
        return 1
    if name == "await":
        return int(place.await_value(lambda value: value == operands[0]))
    if name == "await_exchange":
        return int(place.await_exchange(lambda value: value == operands[0], operands[1]))
    return int(getattr(place, name)(*operands) or 0)


# The same in C: one program, which is compiled once, and given toy programs.

TOY = Path(__file__).with_name("toy.c")
MADE: list[tuple[Compiled, DebugInformation]] = []


@contextmanager
def native_front_end(program: Program) -> Iterator[EngineProgram]:
    if not MADE:
        made = compiled(c_program(TOY, [f"-I{RUNTIME}"]), Path(mkdtemp()))
        MADE.append((made, DebugInformation(made.library)))
    made, debug = MADE[0]
    library = Library(made.library, as_numbers(program))
    try:
        subject = NativeProgram(library, Names(library, debug))
        subject.learn({"shared": ["v0+0:1", "v1+0:1", "lock+0:1"]})
        yield subject
    finally:
        library.close()


def as_numbers(program: Program) -> list[str]:
    """A toy program as toy.c reads it."""
    numbers = []
    for thread in program:
        numbers.append(3 * len(thread))
        for name, *operands in thread:
            first, second, third = [*operands, 0, 0, 0][:3]
            if name in ("if", "fail"):
                numbers += [100 if name == "if" else 101, first, 0]
            elif name in ("spawn", "join", "choose"):
                numbers += [KINDS[name], first, 0]
            else:
                numbers += [KINDS[name], first << 16 | second, third]
    return [str(number) for number in numbers]


# The same with executions that are computed where that can be: none of them is run, too, so that
# the oracle alone says whether they are right.


@contextmanager
def remembered_toy(program: Program) -> Iterator[EngineProgram]:
    yield remembered(ToyProgram(program), "remembered")


@contextmanager
def remembered_python(program: Program) -> Iterator[EngineProgram]:
    with python_front_end(program) as subject:
        yield remembered(subject, "remembered")


@contextmanager
def forgetful_python(program: Program) -> Iterator[EngineProgram]:
    """With room for so little that histories are dropped all the time."""
    with python_front_end(program) as subject:
        yield remembered(subject, "forgetful")


FRONT_ENDS = {
    "toy": FrontEnd(toy_front_end, wraps=True),
    "python": FrontEnd(python_front_end, wraps=False),
    "toy remembered": FrontEnd(remembered_toy, wraps=True),
    "python remembered": FrontEnd(remembered_python, wraps=False),
    "python forgetful": FrontEnd(forgetful_python, wraps=False),
}
HAS_C = find_spec("elftools") is not None and which("cc") is not None and machine() == "x86_64"
if HAS_C:
    FRONT_ENDS["native"] = FrontEnd(native_front_end, wraps=True)

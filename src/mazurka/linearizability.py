"""`linearizable`: is an object as a sequential specification says, whatever threads do to it?"""

import importlib
import inspect
import random
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, islice, product
from math import prod
from typing import Any, Unpack

from mazurka.api import run_check
from mazurka.engine.calls import Specification
from mazurka.engine.errors import MazurkaError
from mazurka.engine.result import Result
from mazurka.native.c_program import CProgram
from mazurka.options import GivenOptions, refuse_unknown
from mazurka.python.scenario import Operation, Scenario, Threads

DEFAULT_SCENARIOS = 100
MOST_VALUES = 20  # that are taken of a strategy
MOST_TRIES = 20  # to draw a scenario that was not drawn before

Shape = tuple[int, ...]  # how many operations each thread calls
GivenThreads = int | Sequence[Sequence[str | tuple[Any, ...]]]


def linearizable(
    specification: Callable[[], object],
    make: Callable[[], object] | CProgram,
    threads: GivenThreads | None = None,
    operations: int | None = None,
    arguments: Mapping[str, Any] | None = None,
    scenarios: int = DEFAULT_SCENARIOS,
    **options: Unpack[GivenOptions],
) -> Result:
    """Check that what threads get from an object is what a specification gives to one thread.

    `specification` is a plain class, without threads or locks. It has a method for each operation;
    one that raises `MustWait` says that a caller has to wait. `make` makes the object to check.
    `threads=[[("push", 1), "pop"], ["pop"]]` says what each thread calls. Or `threads=2,
    operations=3` tries all that two threads can do which call up to three operations each, or
    `scenarios` of these, if there are more; `arguments={"push": [1, 2]}` says which arguments there
    are: a list, or a Hypothesis strategy; a tuple of these for an operation with several.
    `make=mazurka.c_program(...)` checks a C program, which says itself what it calls.

    Raises CheckFailed, as `mazurka.check` does, and takes its options.
    """
    __tracebackhide__ = True
    refuse_unknown("linearizable", options)
    seed = options.get("seed", 0)
    program = new_scenario(specification, make, threads, operations, arguments, scenarios, seed)
    return run_check(program, dict(options))


def scenario(
    specification: Callable[[], object],
    make: Callable[[], object] | CProgram,
    threads: GivenThreads | None = None,
    operations: int | None = None,
    arguments: Mapping[str, Any] | None = None,
    scenarios: int = DEFAULT_SCENARIOS,
    seed: int = 0,
) -> Scenario | CProgram:
    """The program that `linearizable` checks: for `explore`, `replay`, and the command line. `seed`
    says which scenarios are taken if there are too many."""
    made = new_scenario(specification, make, threads, operations, arguments, scenarios, seed)
    made.__module__ = sys._getframe(1).f_globals.get("__name__", "")
    return made


def new_scenario(
    specification: Callable[[], object],
    make: Callable[[], object] | CProgram,
    threads: GivenThreads | None,
    operations: int | None,
    arguments: Mapping[str, Any] | None,
    scenarios: int,
    seed: int,
) -> Scenario | CProgram:
    if not callable(specification):
        raise MazurkaError(f"a specification is a class, not {specification!r}")
    if isinstance(make, CProgram):
        if not (threads is None and operations is None and arguments is None):
            raise MazurkaError("a C program says itself what its threads call: leave out threads")
        return CProgram(make.file, make.flags, make.args, Specification(specification))
    if not callable(make):
        raise MazurkaError(f"make is a function or a class that makes the object, not {make!r}")
    title = f"{title_of(make)} as {title_of(specification)}"
    if isinstance(threads, int):
        counts = checked_counts(threads, operations, scenarios)
        found, total = generated(operations_of(specification, arguments or {}), *counts, seed)
        assuming = [f"{len(found):,} of {total:,} scenarios"] if len(found) < total else []
    elif threads is None:
        raise MazurkaError("say what threads call: threads=[[('push', 1)], ['pop']], or threads=2")
    elif operations is not None or arguments is not None:
        raise MazurkaError("operations and arguments are for threads=2: these threads have theirs")
    else:
        found, assuming = [given_threads(threads, specification)], []
    return Scenario(Specification(specification), make, found, title, assuming)


def title_of(make: Callable[[], object]) -> str:
    return getattr(make, "__name__", type(make).__name__)


# What threads are given


def given_threads(
    threads: Sequence[Sequence[str | tuple[Any, ...]]], specification: Callable[[], object]
) -> Threads:
    known = methods_of(specification)
    found = tuple([tuple([operation_of(each) for each in calls]) for calls in threads])
    names = {operation.name for calls in found for operation in calls}
    for name in sorted(names - set(known)):
        raise MazurkaError(no_such(name, known))
    return found


def operation_of(given: str | tuple[Any, ...]) -> Operation:
    if isinstance(given, str):
        return Operation(given, ())
    if not (isinstance(given, tuple | list) and given and isinstance(given[0], str)):
        raise MazurkaError(f"an operation is its name, or ('push', 1), and not {given!r}")
    return Operation(given[0], unchanging(given[0], tuple(given[1:])))


def unchanging(name: str, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments are there for all executions."""
    try:
        hash(arguments)
    except TypeError:
        raise MazurkaError(
            f"an argument of {name} can be changed, and would not be the same in all executions: "
            f"{arguments!r}; take a tuple instead of a list"
        ) from None
    return arguments


def methods_of(specification: Callable[[], object]) -> dict[str, Any]:
    """The operations that a specification has."""
    instance = specification()
    names = [name for name in dir(instance) if not name.startswith("_")]
    found = {name: getattr(instance, name) for name in names}
    return {name: method for name, method in found.items() if callable(method)}


def no_such(name: str, known: Mapping[str, Any]) -> str:
    return f"the specification has no method {name}: it has {', '.join(known) or 'none'}"


# Scenarios that are generated


def checked_counts(threads: int, operations: int | None, scenarios: int) -> tuple[int, int, int]:
    if operations is None:
        raise MazurkaError("say how many operations each thread calls at the most: operations=3")
    counts = {"threads": threads, "operations": operations, "scenarios": scenarios}
    for name, count in counts.items():
        if type(count) is not int or count < 1:
            raise MazurkaError(f"{name} must be a whole number, at least 1, and not {count!r}")
    return threads, operations, scenarios


def operations_of(
    specification: Callable[[], object], arguments: Mapping[str, Any]
) -> list[Operation]:
    """All operations that may be called, each with all arguments that it may get."""
    known = methods_of(specification)
    for name in arguments:
        if name not in known:
            raise MazurkaError(no_such(name, known))
    found = []
    for name, method in known.items():
        for values in argument_lists(name, method, arguments.get(name)):
            found.append(Operation(name, unchanging(name, values)))
    if not found:
        raise MazurkaError("the specification has no methods: there is nothing to call")
    return found


def argument_lists(name: str, method: Any, given: Any) -> list[tuple[Any, ...]]:
    parameters = inspect.signature(method).parameters.values()
    needed = [
        one for one in parameters if one.default is one.empty and one.kind < one.VAR_POSITIONAL
    ]
    if given is None:
        if needed:
            raise MazurkaError(
                f"{name} takes {', '.join([one.name for one in needed])}: say which values there "
                f"are, as in arguments={{{name!r}: [1, 2]}}"
            )
        return [()]
    each = given if isinstance(given, tuple) else (given,)
    if len(each) < len(needed):
        raise MazurkaError(
            f"{name} takes {len(needed)} arguments: give a tuple, with values for each"
        )
    return list(product(*[values_of(name, one) for one in each]))


def values_of(name: str, given: Any) -> list[Any]:
    """The values of a list, or some of a Hypothesis strategy: always the same."""
    if not hasattr(given, "example"):
        try:
            return list(given)
        except TypeError:
            raise MazurkaError(
                f"the arguments of {name} are a list of values, or a Hypothesis strategy, and not "
                f"{given!r}"
            ) from None
    hypothesis: Any = importlib.import_module("hypothesis")  # it need not be installed

    found: dict[str, Any] = {}

    def collect(value: Any) -> None:
        if len(found) < MOST_VALUES:
            found.setdefault(repr(value), value)

    settings = hypothesis.settings(
        max_examples=5 * MOST_VALUES,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[hypothesis.Phase.generate],
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    settings(hypothesis.given(given)(collect))()
    return list(found.values())


def generated(
    operations: Sequence[Operation], threads: int, most: int, scenarios: int, seed: int
) -> tuple[list[Threads], int]:
    """Scenarios, the small ones first, and how many there are in all. Threads that change places
    make no other scenario."""
    shapes = list(combinations_with_replacement(range(1, most + 1), threads))
    shapes.sort(key=lambda shape: (sum(shape), shape))
    counts = [count_of(len(operations), shape) for shape in shapes]
    drawing = random.Random(seed)
    found: list[Threads] = []
    for place, shape in enumerate(shapes):
        room = max(1, (scenarios - len(found)) // (len(shapes) - place))
        if len(found) < scenarios:
            found += of_shape(operations, shape, counts[place], room, drawing)
    return found, sum(counts)


def count_of(operations: int, shape: Shape) -> int:
    """How many scenarios have threads of these lengths."""
    total = 1
    for length in set(shape):
        total *= multisets(operations**length, shape.count(length))
    return total


def multisets(kinds: int, size: int) -> int:
    return prod(range(kinds, kinds + size)) // prod(range(1, size + 1))


def of_shape(
    operations: Sequence[Operation],
    shape: Shape,
    count: int,
    room: int,
    drawing: random.Random,
) -> list[Threads]:
    if count <= room:
        return list(islice(all_of_shape(operations, shape), count))
    found: dict[str, Threads] = {}
    for _ in range(room * MOST_TRIES):
        if len(found) < room:
            drawn = [tuple(drawing.choices(operations, k=length)) for length in shape]
            threads = tuple(sorted(drawn, key=lambda calls: (len(calls), repr(calls))))
            found.setdefault(repr(threads), threads)
    return list(found.values())


def all_of_shape(operations: Sequence[Operation], shape: Shape) -> Iterator[Threads]:
    lengths = sorted(set(shape))
    choices = [
        list(combinations_with_replacement(product(operations, repeat=length), shape.count(length)))
        for length in lengths
    ]
    for parts in product(*choices):
        yield tuple([calls for part in parts for calls in part])

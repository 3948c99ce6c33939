"""Threads that call the operations of one object: a program, of which the calls are kept."""

from collections import deque
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from mazurka.engine.calls import GIVES, Call, Given, Specification, raised
from mazurka.engine.errors import MazurkaError
from mazurka.python.check import RUNNING
from mazurka.python.primitives.threads import choose, spawn

ATOMS: Final = (type(None), bool, int, float, complex, str, bytes, Enum)


class Operation(NamedTuple):
    """What a thread is to call."""

    name: str
    arguments: tuple[Any, ...]


Threads = tuple[tuple[Operation, ...], ...]  # what each of them calls, one after the other


class Scenario:
    """A program: makes an object, and has threads call its operations, as one of some scenarios
    says. The search tries them all."""

    def __init__(
        self,
        specification: Specification,
        make: Callable[[], object],
        scenarios: Sequence[Threads],
        title: str,
        assuming: Sequence[str] = (),
    ) -> None:
        self.specification = specification
        self.make = make
        self.scenarios = scenarios
        self.__qualname__ = title
        self.assuming = assuming  # which scenarios are left out
        self.__name__ = "main"  # of its first thread
        self.__module__ = ""  # where it was made, if others are to find it there

    def __call__(self) -> object:
        RUNNING.check.history = []
        threads = self.scenarios[0] if len(self.scenarios) == 1 else choose(self.scenarios)
        instance = self.make()
        handles = [spawn(thread, instance, operations) for operations in threads]
        for handle in handles:
            handle.wait()
        return tuple([handle.thread.result for handle in handles])


def thread(instance: object, operations: Sequence[Operation]) -> str:
    """The life of one thread; gives its calls in words."""
    return ", ".join([performed(instance, operation).text for operation in operations])


def performed(instance: object, operation: Operation) -> Call:
    """Make one call, and keep when it began, how it ended, and when. Neither is a step."""
    check = RUNNING.check
    runtime = check.runtime
    assert runtime.current is not None
    call = Call(runtime.current.id, operation.name, operation.arguments, runtime.position)
    check.history.append(call)
    method = getattr(instance, operation.name, None)
    if not callable(method):
        raise runtime.misused(f"{type(instance).__name__} has no method {operation.name}")
    try:
        given = Given(GIVES, method(*operation.arguments))
    except MazurkaError:
        raise
    except Exception as error:
        given = raised(error)
    if runtime.cancelling:  # the execution is over: nobody hears of this any more
        return call
    if given.how == GIVES:
        given = Given(GIVES, kept(given.value, operation.name))
    call.ends(runtime.position, given)
    return call


def kept(value: Any, name: str) -> Any:
    """What a call gives, as it is now, and so that it can be compared."""
    if isinstance(value, ATOMS):
        return value
    if isinstance(value, tuple | list | set | frozenset | deque | dict | bytearray):
        if not isinstance(value, tuple | frozenset) and RUNNING.check.objects.is_shared(value):
            raise RUNNING.check.runtime.misused(
                f"{name} gives a {type(value).__name__} that other threads may change: what is in "
                "it is no result, so let it give a copy"
            )
        if isinstance(value, dict):
            return {key: kept(part, name) for key, part in value.items()}
        if type(value) in (tuple, list, set, frozenset):
            return type(value)([kept(part, name) for part in value])
        return type(value)(value) if isinstance(value, deque | bytearray) else value
    kind: Any = type(value)
    own = vars(object)
    is_plain = kind.__eq__ is not own["__eq__"] and kind.__repr__ is not own["__repr__"]
    if is_plain and kind.__hash__ is not None:
        return value
    raise RUNNING.check.runtime.misused(
        f"{name} gives a {kind.__name__}, which cannot be compared with what the specification "
        "gives: return plain data, such as numbers, texts, tuples and lists"
    )

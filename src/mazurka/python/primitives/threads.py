"""What a program is written with: threads, assumptions and choices."""

from collections.abc import Callable, Iterable
from typing import Any, Final, TypeVar, cast

from mazurka.engine.errors import MazurkaError
from mazurka.engine.operation import CHOOSE, JOIN, SPAWN
from mazurka.python.check import RUNNING
from mazurka.python.runtime.thread import NOWHERE, Thread

T = TypeVar("T")

is_callable: Final = callable  # compiled code would look for it by name


class Handle:
    """A thread of the program, as the thread that spawned it sees it."""

    def __init__(self, thread: Thread) -> None:
        self.thread = thread
        self.epoch = RUNNING.check.runtime.epoch

    def join(self) -> Any:
        """Wait until the thread has ended; gives what its function returned, or raises what it
        raised."""
        self.wait()
        if self.thread.exception is not None:
            raise self.thread.exception
        return self.thread.result

    def wait(self) -> None:
        """Wait until the thread has ended, whatever its end was."""
        runtime = RUNNING.check.runtime
        thread = self.thread
        if self.epoch != runtime.epoch:
            raise runtime.misused("a thread of an earlier execution is joined: the program kept it")
        waiter = runtime.current
        if waiter is not None:
            waiter.choice = thread.id
        runtime.perform(JOIN, NOWHERE, thread, None)


def spawn(function: Callable[..., object], *arguments: object) -> Handle:
    """Start a thread that calls `function(*arguments)`."""
    runtime = RUNNING.check.runtime
    runtime.give_away(function)
    runtime.give_away(arguments)
    if not is_callable(function):
        raise TypeError(f"spawn needs a function, not {function!r}")
    return started(function, arguments)


def started(function: Callable[..., object], arguments: tuple[object, ...]) -> Handle:
    """A new thread, of a function that was given away before."""
    runtime = RUNNING.check.runtime
    parent = runtime.current
    if parent is not None and runtime.repeats(SPAWN, NOWHERE):
        return Handle(runtime.spawn(parent, function, arguments))
    return Handle(cast(Thread, runtime.perform(SPAWN, NOWHERE, function, arguments)))


def assume(condition: object) -> None:
    """Go on only if the condition holds; otherwise this execution is blocked here."""
    if not condition:
        RUNNING.check.runtime.give_up()


def choose(values: Iterable[T]) -> T:
    """One of the values: an execution for each."""
    runtime = RUNNING.check.runtime
    alternatives = list(values)
    if not alternatives:
        raise ValueError("choose needs at least one value")
    thread = runtime.current
    if thread is None:
        raise MazurkaError("choose works only in a program that Mazurka runs")
    thread.alternatives = len(alternatives)
    return alternatives[cast(int, runtime.perform(CHOOSE, NOWHERE, len(alternatives), None))]

"""What every steered part of the standard library needs: whether this is an execution, and models.

The methods of the standard classes are replaced while a check runs. Called in an execution they
work on a model, one of Mazurka's own primitives; called anywhere else, also by other OS threads,
they do what they always did.
"""

import functools
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from operator import attrgetter
from random import Random
from typing import Any, NamedTuple

from mazurka.python.check import RUNNING
from mazurka.python.memory.older_objects import newer_objects
from mazurka.python.runtime.standard_thread import in_execution
from mazurka.python.source import here

MODEL = "_mazurka_model"  # where instances that were made in an execution keep theirs
OWN_CODE = False  # in the place of a model: the standard library's code runs, on modelled locks
MISSING = object()
WORKERS = "workers"  # what searches learn: they are told apart,
THREAD_CALLS = "thread calls"  # and so are these


class Patch(NamedTuple):
    """Something to be replaced while a check runs."""

    owner: Any  # a module or a class
    name: str
    replacement: Any


@contextmanager
def patched(patches: list[Patch]) -> Iterator[None]:
    saved = [vars(owner).get(name, MISSING) for owner, name, _ in patches]
    for owner, name, replacement in patches:
        setattr(owner, name, replacement)
    try:
        yield
    finally:
        for (owner, name, _), original in zip(patches, saved, strict=True):
            if original is MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, original)


class Models:
    """What is known during one check of the objects that were not made in the running execution."""

    def __init__(self) -> None:
        self.kept: dict[int, tuple[object, Any]] = {}  # of objects made outside, by identity
        self.fresh: dict[int, tuple[object, Any]] = {}  # of real locks made in this execution
        self.signals: dict[int, Any] = {}  # the handlers that this execution has replaced
        self.temporary: list[Any] = []  # paths of files that this execution has made
        self.log: Any = None  # what was captured of it before the check (logging_handlers.py)
        self.finalizers: list[Any] = []  # of weakref, that it has made
        self.undo: list[Callable[[], None]] = []  # what puts instances back
        self.queues: dict[str, int] = {}  # how much of them is one thing, by where they are made
        self.seeded: Random | None = None  # what all draw from, if this execution has seeded it
        self.workers = False  # whether it matters which worker of an executor does what
        self.thread_calls = False  # whether it matters when a call of `to_thread` goes on

    def learnt(self) -> list[str]:
        """What must be told apart, as tasks and schedules carry it."""
        queues = [f"{level} {site}" for site, level in self.queues.items()]
        flags = [WORKERS] * self.workers + [THREAD_CALLS] * self.thread_calls
        return [*sorted(queues), *flags]

    def learn(self, learnt: Iterable[str]) -> None:
        for name in learnt:
            if name == WORKERS:
                self.workers = True
            elif name == THREAD_CALLS:
                self.thread_calls = True
            else:
                level, _, site = name.partition(" ")
                self.queues[site] = max(int(level), self.queues.get(site, 0))

    def close(self) -> None:
        """The check is over."""
        for undo in self.undo:
            undo()
        self.undo.clear()
        self.kept.clear()
        self.fresh.clear()


@contextmanager
def not_in_execution() -> Iterator[None]:
    """What is done here is none of the program's business: it uses the real things."""
    runtime = RUNNING.check.runtime
    thread = runtime.current
    runtime.current = None
    try:
        yield
    finally:
        runtime.current = thread


# Models

Maker = Callable[[Any, str | None], Any]  # from an instance, and a name for reports, to its model


def outside_model(instance: Any, make: Maker) -> Any:
    """In an execution, the model of an instance that was made outside executions; else OWN_CODE."""
    return kept_model(instance, make) if in_execution() else OWN_CODE


def kept_model(instance: Any, make: Maker) -> Any:
    """The one model of an instance in this check. It begins every execution with the state that the
    instance has when it is first used."""
    models = RUNNING.check.models
    found = models.kept.get(id(instance))
    if found is None:
        name = global_name(instance)
        with not_in_execution():
            found = instance, make(instance, name)
        models.kept[id(instance)] = found
    return found[1]


def real_model(instance: Any, make: Maker) -> Any:
    """The model of an object of C, of which nobody knows whether an execution made it."""
    models = RUNNING.check.models
    found = models.kept.get(id(instance)) or models.fresh.get(id(instance))
    if found is not None:
        return found[1]
    if was_made_outside(instance):
        return kept_model(instance, make)
    model = make(instance, None)
    models.fresh[id(instance)] = instance, model
    return model


def global_name(instance: object) -> str | None:
    """The global variable of the running code that holds an object."""
    frame = here()
    if frame is not None:
        for name, value in frame.f_globals.items():
            if value is instance:
                return name
    return None


def was_made_outside(instance: object) -> bool:
    """Whether an object is older than the check, or belongs to a module that it has imported."""
    return all(found is not instance for found in newer_objects())


def delegating(
    original: Callable[..., Any], method: Callable[..., Any], make: Maker
) -> Callable[..., Any]:
    """A method that calls one of the instance's model in an execution, else the original."""

    @functools.wraps(original)
    def steered_method(self: Any, *arguments: Any, **options: Any) -> Any:
        model = self.__dict__.get(MODEL)
        if model is None:
            model = outside_model(self, make)
        if model is OWN_CODE:
            if in_execution():
                RUNNING.check.runtime.hidden = (
                    f"code of the standard library runs unseen ({type(self).__qualname__})"
                )
            return original(self, *arguments, **options)
        return method(model, *arguments, **options)

    return steered_method


def making(original: Callable[..., Any], make: Callable[..., Any]) -> Callable[..., Any]:
    """An `__init__` that makes nothing but a model in an execution."""

    @functools.wraps(original)
    def initialise(self: Any, *arguments: Any, **options: Any) -> None:
        if in_execution():
            self.__dict__[MODEL] = make(self, *arguments, **options)
        else:
            original(self, *arguments, **options)

    return initialise


def delegations(owner: Any, model_type: Any, names: list[str], make: Maker) -> list[Patch]:
    """Patches for the methods and properties that a class and its model have in common."""
    patches = []
    for name in names:
        original: Any = getattr(owner, name)
        if isinstance(original, property):
            getter: Any = original.fget
            replacement: Any = property(delegating(getter, attrgetter(name), make))
        else:
            replacement = delegating(original, getattr(model_type, name), make)
        patches.append(Patch(owner, name, replacement))
    return patches


def showing(owner: Any, state: Callable[[Any], str], make: Maker) -> Patch:
    """A `__repr__` like those of threading, which performs no operation."""

    def show(self: Any) -> str:
        model = self.__dict__.get(MODEL)
        if model is None:
            model = outside_model(self, make)
        if model is OWN_CODE:
            return original(self)  # type: ignore[no-any-return]
        kind = type(self)
        return f"<{kind.__module__}.{kind.__qualname__} at {id(self):#x}: {state(model)}>"

    original: Any = owner.__repr__
    return Patch(owner, "__repr__", show)


def value_of(model: Any) -> Any:
    """The value of a model now, without an operation."""
    return model.value if model.epoch == RUNNING.check.runtime.epoch else model.initial

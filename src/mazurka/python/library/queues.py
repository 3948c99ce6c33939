"""The queues of `queue`."""

import queue
from collections.abc import Callable
from types import GenericAlias
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.locks import StandIn
from mazurka.python.library.steering import (
    MODEL,
    OWN_CODE,
    Patch,
    delegating,
    delegations,
)
from mazurka.python.primitives import queues
from mazurka.python.primitives.queues import QueueState
from mazurka.python.primitives.standard_queues import ITEMS, WHOLE, StandardQueue
from mazurka.python.primitives.standard_queues import SimpleQueue as SimpleModel
from mazurka.python.runtime.standard_thread import in_execution

REAL_SIMPLE_QUEUE: Any = queue.SimpleQueue
HOOKS = ("_init", "_qsize", "_put", "_get")
METHODS = ["put", "get", "task_done", "join", "qsize", "empty", "full"]
if hasattr(queue.Queue, "shutdown"):
    METHODS.append("shutdown")


class SimpleQueue(metaclass=StandIn):
    real_type = REAL_SIMPLE_QUEUE
    make_real = REAL_SIMPLE_QUEUE
    model = SimpleModel

    __class_getitem__: Any = classmethod(GenericAlias)


def simple_queue_from(real: Any, name: str | None) -> SimpleModel:
    """The model of a real SimpleQueue, whose items can only be seen by taking them out."""
    items = [real.get() for _ in range(real.qsize())]
    for item in items:
        real.put(item)
    return SimpleModel(queues.Queue, 0, name, QueueState(tuple(items), 0, False))


def model_type(kind: type) -> type[queues.Queue] | None:
    """How the queues of a class are modelled; not at all if it overrides the documented hooks."""
    for standard, model in (
        (queue.PriorityQueue, queues.PriorityQueue),
        (queue.LifoQueue, queues.LifoQueue),
        (queue.Queue, queues.Queue),
    ):
        if issubclass(kind, standard):
            same = all(getattr(kind, hook) is getattr(standard, hook) for hook in HOOKS)
            return model if same else None
    return None


def initialise(self: Any, maxsize: int = 0) -> None:
    if not in_execution():
        original_init(self, maxsize)
        return
    model = model_type(type(self))
    if model is None:
        self.__dict__[MODEL] = OWN_CODE
        original_init(self, maxsize)
    else:
        self.__dict__[MODEL] = StandardQueue(model, maxsize)
        self.maxsize = maxsize


original_init: Callable[..., None] = queue.Queue.__init__


def queue_from(instance: Any, name: str | None) -> StandardQueue:
    """The model of a queue that was made outside."""
    model = model_type(type(instance))
    if model is None:
        raise RUNNING.check.runtime.misused(
            f"a {type(instance).__name__} that was made outside the program is used in it, and "
            f"overrides {', '.join(HOOKS)}: make it in the program"
        )
    state = instance.__dict__
    items = tuple(state["queue"])
    begin = QueueState(items, state["unfinished_tasks"], state.get("is_shutdown", False))
    return StandardQueue(model, instance.maxsize, name, begin)


# The attributes of a queue that people look at. They must not change them: a model has no such
# parts.


def attribute(name: str, level: int, of_state: Callable[[QueueState], Any]) -> Patch:
    """An attribute of queues that is part of the model's value."""

    def plain(self: Any) -> Any:
        return self.__dict__[name]

    def read(model: Any) -> Any:
        return of_state(model.state(level))

    def write(self: Any, value: Any) -> None:
        self.__dict__[name] = value

    return Patch(queue.Queue, name, property(delegating(plain, read, queue_from), write))


def internal(name: str) -> Patch:
    """A lock or condition that models of queues do not have."""

    def plain(self: Any) -> Any:
        return self.__dict__[name]

    def refuse(_: Any) -> Any:
        raise RUNNING.check.runtime.misused(
            f"the program uses the {name} of a queue: Mazurka models queues as a whole, and they "
            "have none; use a lock of your own"
        )

    def write(self: Any, value: Any) -> None:
        self.__dict__[name] = value

    return Patch(queue.Queue, name, property(delegating(plain, refuse, queue_from), write))


PATCHES = [
    Patch(queue, "SimpleQueue", SimpleQueue),
    Patch(queue.Queue, "__init__", initialise),
    *delegations(queue.Queue, StandardQueue, METHODS, queue_from),
    attribute("queue", ITEMS, lambda state: state.items),
    attribute("unfinished_tasks", WHOLE, lambda state: state.unfinished),
    attribute("is_shutdown", WHOLE, lambda state: state.shut_down),
    *[internal(name) for name in ("mutex", "not_empty", "not_full", "all_tasks_done")],
]

"""`threading`'s locks, conditions, semaphores, events and barriers."""

import _thread
import sys
import threading
from collections.abc import Callable
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import (
    MODEL,
    OWN_CODE,
    Patch,
    delegations,
    kept_model,
    making,
    real_model,
    showing,
    value_of,
)
from mazurka.python.primitives import barriers, conditions, events, locks, semaphores
from mazurka.python.runtime.standard_thread import in_execution

REAL_LOCK: Any = type(_thread.allocate_lock())
REAL_RLOCK: Any = _thread.RLock


# Locks are objects of C, whose methods cannot be replaced. So their names are, by classes.


class StandIn(type):
    """The type of classes that stand for a type of C: they give models in an execution, and have
    both for instances."""

    real_type: Any
    make_real: Any
    model: Any

    def __call__(cls) -> Any:
        is_model = in_execution() and sys._getframe(1).f_globals.get("__name__") != "logging"
        return cls.model() if is_model else cls.make_real()  # handlers live on after a check

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, cls.real_type) or type(instance) is cls.model


class Lock(metaclass=StandIn):
    real_type = REAL_LOCK
    make_real = staticmethod(_thread.allocate_lock)
    model = locks.Lock


class RLock(metaclass=StandIn):
    real_type = REAL_RLOCK
    make_real = REAL_RLOCK
    model = locks.RLock


def lock_from(real: Any, name: str | None) -> locks.Lock:
    lock = locks.Lock(name)
    if real.locked():
        lock.value = lock.initial = 0  # who holds it is not known: say, the main thread
    return lock


def rlock_from(_: object, name: str | None) -> locks.RLock:
    return locks.RLock(name)


def modelled_lock(lock: Any) -> locks.Lock | None:
    """The model of a lock that a condition is given; None for a class of the user's."""
    if type(lock) is REAL_LOCK:
        return real_model(lock, lock_from)  # type: ignore[no-any-return]
    if type(lock) is REAL_RLOCK:
        return real_model(lock, rlock_from)  # type: ignore[no-any-return]
    return lock if isinstance(lock, locks.Lock) else None


# Conditions


def condition_from(condition: Any, name: str | None) -> Any:
    """The model of a condition that was made outside."""
    real = condition._lock
    if type(real) is REAL_LOCK:
        lock = kept_model(real, lambda lock, _: lock_from(lock, name))
    elif type(real) is REAL_RLOCK:
        lock = kept_model(real, lambda lock, _: rlock_from(lock, name))
    else:
        return OWN_CODE

    def acquire(*arguments: Any, **options: Any) -> bool:
        taken = (lock if in_execution() else real).acquire(*arguments, **options)
        return bool(taken)

    def release() -> None:
        (lock if in_execution() else real).release()

    # A condition keeps its lock's methods as attributes of its own.
    condition.acquire, condition.release = acquire, release

    def put_back() -> None:
        condition.acquire, condition.release = real.acquire, real.release

    RUNNING.check.models.undo.append(put_back)
    return conditions.Condition(lock)


def initialise_condition(self: Any, lock: Any = None) -> None:
    if not in_execution():
        original_condition_init(self, lock)
        return
    modelled = locks.RLock() if lock is None else modelled_lock(lock)
    if modelled is None:
        self.__dict__[MODEL] = OWN_CODE
        original_condition_init(self, lock)
    else:
        self.__dict__[MODEL] = conditions.Condition(modelled)
        self._lock = modelled
        self.acquire = modelled.acquire
        self.release = modelled.release


original_condition_init: Callable[..., None] = threading.Condition.__init__


# Semaphores, events and barriers


def new_semaphore(self: Any, value: int = 1) -> semaphores.Semaphore:
    bounded = isinstance(self, threading.BoundedSemaphore)
    return semaphores.BoundedSemaphore(value) if bounded else semaphores.Semaphore(value)


def semaphore_from(semaphore: Any, name: str | None) -> semaphores.Semaphore:
    if not isinstance(semaphore, threading.BoundedSemaphore):
        return semaphores.Semaphore(semaphore._value, name)
    model = semaphores.BoundedSemaphore(semaphore._value, name)
    bound: Any = semaphore
    model.bound = bound._initial_value
    return model


def event_from(event: Any, name: str | None) -> events.Event:
    model = events.Event(name)
    model.value = model.initial = event.is_set()
    return model


def new_barrier(
    _: object,
    parties: int,
    action: Callable[[], object] | None = None,
    timeout: float | None = None,
) -> barriers.Barrier:
    return barriers.Barrier(parties, action, timeout)


def barrier_from(barrier: Any, name: str | None) -> barriers.Barrier:
    model = barriers.Barrier(barrier.parties, barrier._action, barrier._timeout, name)
    if barrier.broken:
        model.value = model.initial = barriers.FRESH._replace(phase=barriers.BROKEN)
    return model


def barrier_state(model: Any) -> str:
    state = value_of(model)
    return (
        "broken" if state.phase == barriers.BROKEN else f"waiters={state.arrived}/{model.parties}"
    )


CONDITION_METHODS = ["wait", "wait_for", "notify", "notify_all", "__enter__", "__exit__"]
BARRIER_METHODS = ["wait", "reset", "abort", "parties", "n_waiting", "broken"]

PATCHES = [
    Patch(threading, "Lock", Lock),
    Patch(threading, "RLock", RLock),
    Patch(threading, "_allocate_lock", Lock),
    Patch(_thread, "allocate_lock", Lock),
    Patch(_thread, "allocate", Lock),
    Patch(_thread, "RLock", RLock),
    Patch(threading.Condition, "__init__", initialise_condition),
    *delegations(threading.Condition, conditions.Condition, CONDITION_METHODS, condition_from),
    showing(threading.Condition, lambda model: repr(model.lock), condition_from),
    Patch(threading.Semaphore, "__init__", making(threading.Semaphore.__init__, new_semaphore)),
    *delegations(
        threading.Semaphore,
        semaphores.Semaphore,
        ["acquire", "release", "__enter__"],
        semaphore_from,
    ),
    *delegations(
        threading.BoundedSemaphore, semaphores.BoundedSemaphore, ["release"], semaphore_from
    ),
    showing(
        threading.BoundedSemaphore,
        lambda model: f"value={value_of(model)}/{model.bound}",
        semaphore_from,
    ),
    showing(threading.Semaphore, lambda model: f"value={value_of(model)}", semaphore_from),
    Patch(threading.Event, "__init__", making(threading.Event.__init__, lambda _: events.Event())),
    *delegations(threading.Event, events.Event, ["is_set", "set", "clear", "wait"], event_from),
    showing(threading.Event, lambda model: "set" if value_of(model) else "unset", event_from),
    Patch(threading.Barrier, "__init__", making(threading.Barrier.__init__, new_barrier)),
    *delegations(threading.Barrier, barriers.Barrier, BARRIER_METHODS, barrier_from),
    showing(threading.Barrier, barrier_state, barrier_from),
]

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
from mazurka.python.primitives import sync
from mazurka.python.runtime.standard_thread import in_execution

REAL_LOCK: Any = type(_thread.allocate_lock())
REAL_RLOCK: Any = _thread.RLock


# Locks are objects of C, whose methods cannot be replaced. So their names are, by classes.


class Stand(type):
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


class Lock(metaclass=Stand):
    real_type = REAL_LOCK
    make_real = staticmethod(_thread.allocate_lock)
    model = sync.Lock


class RLock(metaclass=Stand):
    real_type = REAL_RLOCK
    make_real = REAL_RLOCK
    model = sync.RLock


def lock_from(real: Any, name: str | None) -> sync.Lock:
    lock = sync.Lock(name)
    if real.locked():
        lock.value = lock.initial = 0  # who holds it is not known: say, the main thread
    return lock


def rlock_from(_: object, name: str | None) -> sync.RLock:
    return sync.RLock(name)


def modelled_lock(lock: Any) -> sync.Lock | None:
    """The model of a lock that a condition is given; None for a class of the user's."""
    if type(lock) is REAL_LOCK:
        return real_model(lock, lock_from)  # type: ignore[no-any-return]
    if type(lock) is REAL_RLOCK:
        return real_model(lock, rlock_from)  # type: ignore[no-any-return]
    return lock if isinstance(lock, sync.Lock) else None


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
    return sync.Condition(lock)


def initialise_condition(self: Any, lock: Any = None) -> None:
    if not in_execution():
        original_condition_init(self, lock)
        return
    modelled = sync.RLock() if lock is None else modelled_lock(lock)
    if modelled is None:
        self.__dict__[MODEL] = OWN_CODE
        original_condition_init(self, lock)
    else:
        self.__dict__[MODEL] = sync.Condition(modelled)
        self._lock = modelled
        self.acquire = modelled.acquire
        self.release = modelled.release


original_condition_init: Callable[..., None] = threading.Condition.__init__


# Semaphores, events and barriers


def new_semaphore(self: Any, value: int = 1) -> sync.Semaphore:
    bounded = isinstance(self, threading.BoundedSemaphore)
    return sync.BoundedSemaphore(value) if bounded else sync.Semaphore(value)


def semaphore_from(semaphore: Any, name: str | None) -> sync.Semaphore:
    if not isinstance(semaphore, threading.BoundedSemaphore):
        return sync.Semaphore(semaphore._value, name)
    model = sync.BoundedSemaphore(semaphore._value, name)
    bound: Any = semaphore
    model.bound = bound._initial_value
    return model


def event_from(event: Any, name: str | None) -> sync.Event:
    model = sync.Event(name)
    model.value = model.initial = event.is_set()
    return model


def new_barrier(
    _: object,
    parties: int,
    action: Callable[[], object] | None = None,
    timeout: float | None = None,
) -> sync.Barrier:
    return sync.Barrier(parties, action, timeout)


def barrier_from(barrier: Any, name: str | None) -> sync.Barrier:
    model = sync.Barrier(barrier.parties, barrier._action, barrier._timeout, name)
    if barrier.broken:
        gate: Any = model.value
        model.value = model.initial = sync.BarrierState(0, sync.BROKEN, gate.gate, None)
    return model


def barrier_state(model: Any) -> str:
    state = value_of(model)
    return "broken" if state.phase == sync.BROKEN else f"waiters={state.count}/{model.parties}"


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
    *delegations(threading.Condition, sync.Condition, CONDITION_METHODS, condition_from),
    showing(threading.Condition, lambda model: repr(model.lock), condition_from),
    Patch(threading.Semaphore, "__init__", making(threading.Semaphore.__init__, new_semaphore)),
    *delegations(
        threading.Semaphore,
        sync.Semaphore,
        ["acquire", "release", "__enter__"],
        semaphore_from,
    ),
    *delegations(threading.BoundedSemaphore, sync.BoundedSemaphore, ["release"], semaphore_from),
    showing(
        threading.BoundedSemaphore,
        lambda model: f"value={value_of(model)}/{model.bound}",
        semaphore_from,
    ),
    showing(threading.Semaphore, lambda model: f"value={value_of(model)}", semaphore_from),
    Patch(threading.Event, "__init__", making(threading.Event.__init__, lambda _: sync.Event())),
    *delegations(threading.Event, sync.Event, ["is_set", "set", "clear", "wait"], event_from),
    showing(threading.Event, lambda model: "set" if value_of(model) else "unset", event_from),
    Patch(threading.Barrier, "__init__", making(threading.Barrier.__init__, new_barrier)),
    *delegations(threading.Barrier, sync.Barrier, BARRIER_METHODS, barrier_from),
    showing(threading.Barrier, barrier_state, barrier_from),
]

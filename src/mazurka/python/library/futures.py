"""The futures of `concurrent.futures`, and those who wait for several of them."""

import functools
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import _base
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import MISSING, MODEL, Patch, outside_model
from mazurka.python.primitives.futures import (
    CANCELLED,
    CANCELS,
    ENDS,
    FINISHED,
    NOTIFIED,
    OPEN,
    PENDING,
    TELLS,
    End,
    Future,
    Log,
    Waiter,
    is_complete,
    is_done,
)
from mazurka.python.runtime.standard_thread import in_execution, new_hash

HASH = "_mazurka_hash"

original_init = _base.Future.__init__
original_hash: Any = _base.Future.__hash__
original_wait: Callable[..., Any] = futures.wait
original_as_completed: Callable[..., Any] = futures.as_completed

# What the standard library calls the states of a future.
NAMES = {CANCELLED: "CANCELLED", NOTIFIED: "CANCELLED_AND_NOTIFIED", FINISHED: "FINISHED"}
BEGUN = {
    "PENDING": (PENDING, OPEN),
    "CANCELLED": (CANCELS, CANCELLED),
    "CANCELLED_AND_NOTIFIED": (TELLS, NOTIFIED),
    "FINISHED": (ENDS, FINISHED),
}


def model_of(future: Any) -> Future:
    found = future.__dict__.get(MODEL)
    return found if found is not None else outside_model(future, future_from)  # type: ignore[no-any-return]


def future_from(future: Any, name: str | None) -> Future:
    """The model of a future that was made outside."""
    state = future.__dict__
    if state["_state"] == "RUNNING" or state["_waiters"]:
        raise RUNNING.check.runtime.misused(
            "the program uses a future that belongs to a thread outside of it: submit the task in "
            "the program"
        )
    begun, ended = BEGUN[state["_state"]]
    callbacks = tuple(state["_done_callbacks"]) if ended == OPEN else ()
    end = End(ended, state["_result"], state["_exception"], callbacks, ())
    model = Future(name, begun, end)
    model.of = future
    return model


def steered(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method of futures that does what it always did outside executions."""
    original: Any = getattr(_base.Future, method.__name__)

    @functools.wraps(original)
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        if not in_execution():
            return original(self, *arguments, **options)
        return method(self, *arguments, **options)

    return call


def initialise(self: Any) -> None:
    if in_execution():
        self.__dict__[HASH] = new_hash()
        model = self.__dict__[MODEL] = Future()
        model.of = self
    else:
        original_init(self)


def stable_hash(self: Any) -> int:
    found = self.__dict__.get(HASH, MISSING)
    return original_hash(self) if found is MISSING else found  # type: ignore[no-any-return]


def cancel(self: Any) -> bool:
    callbacks = model_of(self).cancel()
    if callbacks is None:
        return False
    invoke(self, callbacks)
    return True


def cancelled(self: Any) -> bool:
    return model_of(self).look().state in (CANCELLED, NOTIFIED)


def running(self: Any) -> bool:
    return model_of(self).is_running()


def done(self: Any) -> bool:
    return model_of(self).look().state != OPEN


def add_done_callback(self: Any, fn: Callable[[Any], object]) -> None:
    if not model_of(self).add_callback(fn):
        invoke(self, (fn,))


def invoke(future: Any, callbacks: tuple[Any, ...]) -> None:
    for callback in callbacks:
        try:
            RUNNING.check.runtime.callee(callback)(future)
        except Exception:
            _base.LOGGER.exception("exception calling callback for %r", future)


def result(self: Any, timeout: float | None = None) -> Any:
    end = awaited(self, timeout)
    if end.error is not None:
        raise end.error
    return end.result


def exception(self: Any, timeout: float | None = None) -> BaseException | None:
    return awaited(self, timeout).error


def awaited(future: Any, timeout: float | None) -> End:
    model = model_of(future)
    end = model.wait(is_done) if timeout is None else model.wait_timed(timeout)
    if end.state == OPEN:
        raise futures.TimeoutError()
    if end.state != FINISHED:
        raise futures.CancelledError()
    return end


def set_running_or_notify_cancel(self: Any) -> bool:
    begun = model_of(self).begin()
    if begun is None:
        _base.LOGGER.critical("Future %s in unexpected state", id(self))
        raise RuntimeError("Future in unexpected state")
    return begun


def set_result(self: Any, result: Any) -> None:
    finish(self, result, None)


def set_exception(self: Any, exception: Any) -> None:
    finish(self, None, exception)


def finish(future: Any, result: Any, error: Any) -> None:
    callbacks = model_of(future).finish(result, error)
    if callbacks is None:
        raise futures.InvalidStateError(f"{get_state(future)}: {future!r}")
    invoke(future, callbacks)


def get_state(self: Any) -> Any:
    if not in_execution():
        return self.__dict__["_state"]
    model = model_of(self)
    if model.is_running():
        return "RUNNING"
    return NAMES.get(model.look().state, "PENDING")


def set_state(self: Any, state: str) -> None:
    self.__dict__["_state"] = state


def show(self: Any) -> str:
    """As the original does, but without a step."""
    if not in_execution():
        return original_show(self)
    return f"<{type(self).__name__} at {id(self):#x}>"


original_show: Callable[[Any], str] = _base.Future.__repr__


def internal(name: str) -> Patch:
    """A part of futures that their models do not have."""

    def get(self: Any) -> Any:
        if in_execution():
            raise RUNNING.check.runtime.misused(
                f"the program uses the {name} of a future: Mazurka models futures as a whole, and "
                "they have none"
            )
        return self.__dict__[name]

    def put(self: Any, value: Any) -> None:
        self.__dict__[name] = value

    return Patch(_base.Future, name, property(get, put))


# Several futures


def wait(
    fs: Iterable[Any], timeout: float | None = None, return_when: str = "ALL_COMPLETED"
) -> Any:
    if not in_execution():
        return original_wait(fs, timeout, return_when)
    everything = set(fs)
    if return_when == futures.ALL_COMPLETED and timeout is None:
        for future in everything:
            model_of(future).wait(is_complete)
        return _base.DoneAndNotDoneFutures(everything, set())
    waiter = Waiter(len(everything), return_when == futures.FIRST_EXCEPTION)
    done = set()
    for future in everything:
        if not model_of(future).add_waiter(waiter):
            done.add(future)
            if return_when == futures.FIRST_COMPLETED:
                break
    if len(done) == len(everything) or suffices(done, return_when):
        done = all_done_now(done, everything)
        return _base.DoneAndNotDoneFutures(done, everything - done)
    waiter.wait(needed(return_when, len(everything) - len(done)), timeout)
    done |= {future for future in everything - done if is_complete(model_of(future).look())}
    return _base.DoneAndNotDoneFutures(done, everything - done)


def suffices(done: set[Any], return_when: str) -> bool:
    """Whether there is nothing to wait for."""
    if return_when == futures.FIRST_COMPLETED:
        return bool(done)
    if return_when == futures.FIRST_EXCEPTION:
        return any(model_of(future).look().error is not None for future in done)
    return False


def needed(return_when: str, left: int) -> int:
    if return_when not in (
        futures.FIRST_COMPLETED,
        futures.FIRST_EXCEPTION,
        futures.ALL_COMPLETED,
    ):
        raise ValueError(f"Invalid return condition: {return_when!r}")
    return 1 if return_when == futures.FIRST_COMPLETED else left


def all_done_now(done: set[Any], everything: set[Any]) -> set[Any]:
    """The futures that are complete at one moment: look again until nothing is new."""
    found = done
    while found:
        found = {future for future in everything - done if is_complete(model_of(future).look())}
        done = done | found
    return done


def as_completed(fs: Iterable[Any], timeout: float | None = None) -> Iterator[Any]:
    if not in_execution():
        return original_as_completed(fs, timeout)  # type: ignore[no-any-return]
    return completing(fs, timeout)


def completing(fs: Iterable[Any], timeout: float | None) -> Iterator[Any]:
    end = None if timeout is None else timeout + time.monotonic()
    everything = set(fs)
    log = Log()
    complete = {future for future in everything if not model_of(future).forward_to(log)}
    for future in reversed(list(complete)):
        model_of(future).look()
        yield future
    left = len(everything) - len(complete)
    if end is None:
        for place in range(left):
            yield logged(log.wait_for(place))
        return
    seen = 0
    while seen < left:
        remaining = end - time.monotonic()
        if remaining < 0:
            raise futures.TimeoutError(f"{left - seen} (of {len(everything)}) futures unfinished")
        news = log.news(seen, remaining) or log.news(seen, None)
        for model in news:
            yield logged(model)
        seen += len(news)


def logged(model: Future) -> Any:
    model.note_seen()
    return model.of


METHODS: list[Callable[..., Any]] = [
    cancel,
    cancelled,
    running,
    done,
    add_done_callback,
    result,
    exception,
    set_running_or_notify_cancel,
    set_result,
    set_exception,
]

PATCHES = [
    Patch(_base.Future, "__init__", initialise),
    Patch(_base.Future, "__hash__", stable_hash),
    Patch(_base.Future, "__repr__", show),
    Patch(_base.Future, "_state", property(get_state, set_state)),
    *[Patch(_base.Future, method.__name__, steered(method)) for method in METHODS],
    *[internal(name) for name in ("_condition", "_waiters", "_done_callbacks", "_result")],
    internal("_exception"),
    *[
        Patch(owner, name, replacement)
        for owner in (futures, _base)
        for name, replacement in (("wait", wait), ("as_completed", as_completed))
    ],
]

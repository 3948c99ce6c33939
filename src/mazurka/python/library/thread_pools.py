"""`multiprocessing.pool.ThreadPool`, which `multiprocessing.dummy` also gives: threads that talk
through pipes. In an execution, what it is to do is done by an executor.

Only programs that have imported it pay for it.
"""

import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent import futures
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.executors import DAEMONS
from mazurka.python.library.steering import MODEL, Patch
from mazurka.python.primitives.futures import FirstError
from mazurka.python.runtime.standard_thread import in_execution

MODULE = "multiprocessing.pool"
RUNS = "INIT"  # what it calls a pool that is not to be ended when it is collected
ITERABLES = (list, tuple, range, set, frozenset, dict, str)


class Result:
    """What `apply_async` and `map_async` give."""

    def __init__(self, pool: Any, parts: list[Any], first_error: FirstError | None) -> None:
        self.pool = pool
        self.parts = parts  # futures
        self.first_error = first_error  # of a job with several parts

    def get(self, timeout: float | None = None) -> Any:
        self.wait(timeout)
        if not self.ready():
            raise module().TimeoutError
        if self.first_error is None:
            return self.parts[0].result()
        if any(part.exception() is not None for part in self.parts):
            raise self.first_error.found()
        return [item for part in self.parts for item in part.result()]

    def wait(self, timeout: float | None = None) -> None:
        if self.pool._state == "TERMINATE" and not self.ready():
            raise RUNNING.check.runtime.misused(
                "the program waits for a task of a ThreadPool that it has terminated: this is not "
                "modelled; close and join the pool"
            )
        futures.wait(self.parts, timeout)

    def ready(self) -> bool:
        return all(part.done() and not part.cancelled() for part in self.parts)

    def successful(self) -> bool:
        if not self.ready():
            raise ValueError(f"{self!r} not ready")
        return all(part.exception() is None for part in self.parts)


class Results(Iterator[Any]):
    """What `imap` and `imap_unordered` give."""

    def __init__(self, found: Iterator[Any]) -> None:
        self.found = found

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        return next(self.found).result()

    def next(self, timeout: float | None = None) -> Any:
        if timeout is not None:
            raise RUNNING.check.runtime.misused(
                "the program calls next(timeout) of what imap gives: this is not modelled"
            )
        return next(self)


def initialise(
    self: Any, processes: int | None = None, initializer: Any = None, initargs: Any = ()
) -> None:
    executor = ThreadPoolExecutor(processes, "", initializer, initargs)
    executor.__dict__[DAEMONS] = True
    self.__dict__.update({MODEL: executor, "_state": RUNS, "_submitted": []})
    self._pool = [None] * executor._max_workers


def submit(self: Any, function: Any, *arguments: Any, **options: Any) -> Any:
    future = self.__dict__[MODEL].submit(function, *arguments, **options)
    self._submitted.append(future)
    return future


def check_running(self: Any) -> None:
    if self._state != RUNS:
        raise ValueError("Pool not running")


def apply_async(
    self: Any,
    func: Any,
    args: Any = (),
    kwds: Any = None,
    callback: Any = None,
    error_callback: Any = None,
) -> Result:
    self._check_running()
    refuse_callbacks(callback, error_callback)
    return Result(self, [submit(self, func, *args, **(kwds or {}))], None)


def map_async(
    self: Any,
    func: Any,
    iterable: Any,
    mapper: Any,
    chunksize: int | None = None,
    callback: Any = None,
    error_callback: Any = None,
) -> Result:
    self._check_running()
    refuse_callbacks(callback, error_callback)
    items = list(iterable)
    if chunksize is None:
        chunksize = -(-len(items) // (len(self._pool) * 4))
    first_error = FirstError()
    chunks = [items[begin : begin + chunksize] for begin in range(0, len(items), chunksize or 1)]
    parts = [submit(self, run_part, mapper, (func, chunk), first_error) for chunk in chunks]
    return Result(self, parts, first_error)


def run_part(mapper: Callable[..., Any], chunk: Any, first_error: FirstError) -> Any:
    try:
        return mapper(chunk)
    except Exception as error:
        first_error.note(error)
        raise


def imap(self: Any, func: Any, iterable: Iterable[Any], chunksize: int = 1) -> Results:
    return Results(iter(begun(self, func, iterable, chunksize)))


def imap_unordered(self: Any, func: Any, iterable: Iterable[Any], chunksize: int = 1) -> Results:
    return Results(futures.as_completed(begun(self, func, iterable, chunksize)))


def begun(pool: Any, function: Any, iterable: Iterable[Any], chunksize: int) -> list[Any]:
    pool._check_running()
    if chunksize != 1 or not isinstance(iterable, ITERABLES):
        raise RUNNING.check.runtime.misused(
            "the program calls imap with chunks, or with an iterator, which another thread would "
            "go through: this is not modelled; give it a list"
        )
    return [submit(pool, function, item) for item in iterable]


def refuse_callbacks(*callbacks: object) -> None:
    if any(callback is not None for callback in callbacks):
        raise RUNNING.check.runtime.misused(
            "the program gives a callback to a ThreadPool, which yet another thread would call: "
            "this is not modelled; use concurrent.futures.ThreadPoolExecutor"
        )


def close(self: Any) -> None:
    if self._state == RUNS:
        self._state = "CLOSE"
        self.__dict__[MODEL].shutdown(wait=False)


def terminate(self: Any) -> None:
    """Tasks that are left are dropped, unless a worker has begun with them."""
    self._state = "TERMINATE"
    is_idle = all(future_is_known(future) for future in self._submitted)
    self.__dict__[MODEL].shutdown(wait=False, cancel_futures=not is_idle)


def future_is_known(future: Any) -> bool:
    return future.__dict__[MODEL].known_end() is not None


def join(self: Any) -> None:
    if self._state == RUNS:
        raise ValueError("Pool is still running")
    self.__dict__[MODEL].shutdown(wait=True)


def forget(self: Any) -> None:
    """Nobody is told of a pool that is still running: the execution may have been cut short."""


def show(self: Any) -> str:
    return f"<ThreadPool state={self._state} pool_size={len(self._pool)}>"


METHODS: dict[str, Callable[..., Any]] = {
    "apply_async": apply_async,
    "_map_async": map_async,
    "imap": imap,
    "imap_unordered": imap_unordered,
    "close": close,
    "terminate": terminate,
    "join": join,
    "_check_running": check_running,
    "__del__": forget,
    "__repr__": show,
}


def module() -> Any:
    import multiprocessing.context

    return multiprocessing.context


def steered(name: str, original: Callable[..., Any]) -> Callable[..., Any]:
    def call(self: Any, *arguments: Any, **options: Any) -> Any:
        if MODEL in self.__dict__:
            return METHODS[name](self, *arguments, **options)
        if in_execution() and name != "__del__":
            raise RUNNING.check.runtime.misused(
                "the program uses a ThreadPool that was made outside of it: make it in the program"
            )
        return original(self, *arguments, **options)

    return call


def pool_patches() -> list[Patch]:
    """Those for the module, if it was imported."""
    pools: Any = sys.modules.get(MODULE)
    if pools is None:
        return []
    kind = pools.ThreadPool
    original_init = kind.__init__

    modelled = type(kind.__name__, (kind,), {"__del__": forget})  # also when this is over

    def begin(self: Any, *arguments: Any, **options: Any) -> None:
        if not in_execution():
            original_init(self, *arguments, **options)
            return
        initialise(self, *arguments, **options)
        if type(self) is kind:
            self.__class__ = modelled

    patches = [Patch(kind, name, steered(name, getattr(kind, name))) for name in METHODS]
    return [*patches, Patch(kind, "__init__", begin)]

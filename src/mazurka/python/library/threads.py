"""`threading.Thread` and the functions about threads, and `_thread.start_new_thread`."""

import _thread
import functools
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import MISSING, Patch
from mazurka.python.memory.attributes import load_attribute, store_attribute
from mazurka.python.primitives.threads import Handle, spawn
from mazurka.python.runtime.standard_thread import (
    HASH,
    ThreadRun,
    ThreadState,
    begin_run,
    handle_of,
    in_execution,
    is_plain_new_thread,
    look_at_own_thread,
    make_thread,
    own_state,
    run_of,
    tell_workers_apart,
)
from mazurka.python.runtime.thread import Thread

original_init: Callable[..., None] = threading.Thread.__init__
original_start = threading.Thread.start
original_join = threading.Thread.join
original_is_alive = threading.Thread.is_alive
original_repr: Callable[[Any], str] = threading.Thread.__repr__
original_hash: Callable[[Any], int] = threading.Thread.__hash__
original_properties: Any = {
    name: vars(threading.Thread)[name] for name in ("ident", "native_id", "daemon")
}
real_main_thread = threading.main_thread()


def hook_takes(error: BaseException, thread: Any) -> bool:
    """Give an exception to the user's `threading.excepthook`, if there is one."""
    hook = threading.excepthook
    function = getattr(hook, "func", hook)  # pytest's own hook, which only warns, is a partial
    module = getattr(function, "__module__", None) or ""
    if hook is threading.__excepthook__ or module.startswith("_pytest."):
        return False
    hook(threading.ExceptHookArgs((type(error), error, error.__traceback__, thread)))
    return True


def identity(thread: Thread) -> int:
    """What get_ident gives in a thread."""
    return thread.id + 1


# The methods of threads


def initialise(
    self: Any,
    group: None = None,
    target: Callable[..., object] | None = None,
    name: str | None = None,
    args: Any = (),
    kwargs: Mapping[str, Any] | None = None,
    *,
    daemon: bool | None = None,
) -> None:
    if not in_execution():
        original_init(self, group, target, name, args, kwargs, daemon=daemon)
        return
    assert group is None, "group argument must be None for now"
    make_thread(self, target, name, args, kwargs, daemon)


def start(self: Any) -> None:
    runtime = RUNNING.check.runtime
    read_daemon(self)
    if is_plain_new_thread(self):
        begin_run(self, hook_takes)
        return
    if not in_execution():
        original_start(self)
        return
    refuse_uninitialised(self)
    if run_of(self) is not None:
        raise RuntimeError("threads can only be started once")
    if HASH not in self.__dict__:
        begin_afresh(self)
    if type(self) is not threading.Thread:  # it may have attributes of its own
        runtime.give_away(self)
    if isinstance(self, threading.Timer):
        self.function = runtime.callee(self.function)
    begin_run(self, hook_takes)


def read_daemon(thread: Any) -> None:
    """Before anything else is looked at, as this may be a step."""
    may_change = "daemon" in RUNNING.check.changeable.names and in_execution()
    if may_change and "_daemonic" in thread.__dict__:  # otherwise it was not initialised
        load_attribute(thread, "daemon")


def begin_afresh(thread: Any) -> None:
    """A thread that was made outside is run in many executions, and `run` lets go of its target."""
    models = RUNNING.check.models

    def put_back() -> None:
        thread.__dict__.clear()
        thread.__dict__.update(before)

    if id(thread) not in models.kept:
        models.kept[id(thread)] = thread, dict(thread.__dict__)
        models.undo.append(put_back)
    before = models.kept[id(thread)][1]
    put_back()


def join(self: Any, timeout: float | None = None) -> None:
    if not in_execution():
        original_join(self, timeout)
        return
    refuse_uninitialised(self)
    if self is current_thread():
        raise RuntimeError("cannot join current thread")
    run = run_of(self)
    if run is not None and timeout is not None:
        run.wait(timeout)
        return
    handle = handle_of(self)
    if handle is None and self is real_main_thread:
        handle = Handle(RUNNING.check.runtime.names.threads[0])
    if handle is None:
        raise RuntimeError("cannot join thread before it is started")
    if timeout is None:
        handle.wait()


def refuse_uninitialised(thread: Any) -> None:
    if not thread._initialized:
        raise RuntimeError("thread.__init__() not called")


def is_alive(self: Any) -> bool:
    if not in_execution():
        return original_is_alive(self)
    refuse_uninitialised(self)
    run = run_of(self)
    if run is None:
        return self is real_main_thread or isinstance(self, ForeignThread)
    return not run.is_over()


def runner_of(thread: Any) -> Thread | None:
    """The runtime's thread, once it was started."""
    if thread is real_main_thread:
        return RUNNING.check.runtime.names.threads[0]
    if isinstance(thread, ForeignThread):
        return thread.runner
    handle = handle_of(thread)
    return None if handle is None else handle.thread


def steered_identity(name: str) -> property:
    def get(self: Any) -> int | None:
        if not in_execution():
            return original_properties[name].fget(self)  # type: ignore[no-any-return]
        runner = runner_of(self)
        return None if runner is None else identity(runner)

    return property(get)


def set_daemon(self: Any, daemonic: bool) -> None:
    if not in_execution():
        original_properties["daemon"].fset(self, daemonic)
    elif runner_of(self) is not None:
        raise RuntimeError("cannot set daemon status of active thread")
    else:
        refuse_uninitialised(self)
        self._daemonic = daemonic


def show(self: Any) -> str:
    if not in_execution():
        return original_repr(self)
    runner = runner_of(self)
    status = "initial"
    if runner is not None:
        status = "stopped" if runner.finished else "started"
    daemon = " daemon" if load_attribute(self, "daemon") else ""
    number = "" if runner is None else f" {identity(runner)}"
    return f"<{type(self).__name__}({load_attribute(self, 'name')}, {status}{daemon}{number})>"


def reading(name: str, attribute: str) -> Patch:
    """A method that gives an attribute, which threads may set."""
    original = vars(threading.Thread)[name]

    def get(self: Any) -> Any:
        if in_execution():
            load_attribute(self, attribute)
        return original(self)

    return Patch(threading.Thread, name, functools.wraps(original)(get))


def storing(name: str, attribute: str) -> Patch:
    original = vars(threading.Thread)[name]

    def store(self: Any, value: Any) -> None:
        if in_execution():
            store_attribute(self, attribute, value)
        original(self, value)

    return Patch(threading.Thread, name, functools.wraps(original)(store))


def stable_hash(self: Any) -> int:
    found = self.__dict__.get(HASH, MISSING)
    return original_hash(self) if found is MISSING else found


# Functions about threads

INDIFFERENT = ("asyncio.", "logging", "mazurka.python.library.event_loop")


class ForeignThread(threading.Thread):
    """What `current_thread` gives in a thread that was not started by `threading`."""

    def __init__(self, runner: Thread) -> None:
        super().__init__(name=f"Dummy-{runner.name}", daemon=True)
        self.runner = runner


def note_look() -> None:
    """A task of an executor asks which thread it is. Event loops do not care, and logs tell it to
    nobody but people."""
    if own_state().task_of is not None:
        asking = sys._getframe(2).f_globals.get("__name__", "")
        if not asking.startswith(INDIFFERENT):
            look_at_own_thread()


def current_thread() -> Any:
    runtime = RUNNING.check.runtime
    if not in_execution():
        return original_functions["current_thread"]()
    state = own_state()
    note_look()
    if state.thread is None:
        assert runtime.current is not None
        main = runtime.current.id == 0
        state.thread = real_main_thread if main else ForeignThread(runtime.current)
    return state.thread


def get_ident() -> int:
    runtime = RUNNING.check.runtime
    if not in_execution():
        return original_functions["get_ident"]()  # type: ignore[no-any-return]
    assert runtime.current is not None
    note_look()
    return identity(runtime.current)


def get_native_id() -> int:
    if not in_execution():
        return original_functions["get_native_id"]()  # type: ignore[no-any-return]
    look_at_own_thread()
    return get_ident()


def enumerate_threads() -> list[Any]:
    if not in_execution():
        return original_functions["enumerate"]()  # type: ignore[no-any-return]
    live = RUNNING.check.runtime.live
    if any(isinstance(runner.state, ThreadState) and runner.state.task_of for runner in live):
        tell_workers_apart()
    runs = [runner.function for runner in live if isinstance(runner.function, ThreadRun)]
    return [real_main_thread, *[run.thread for run in runs if not run.is_over()]]


def active_count() -> int:
    return len(enumerate_threads())


def start_new_thread(
    function: Callable[..., object],
    arguments: tuple[Any, ...],
    options: dict[str, Any] | None = None,
    /,
) -> int:
    options = {} if options is None else options
    if not in_execution():
        return original_functions["start_new_thread"](function, arguments, options)  # type: ignore[no-any-return]
    if not callable(function):
        raise TypeError("first arg must be callable")
    if not isinstance(arguments, tuple):
        raise TypeError("2nd arg must be a tuple")
    if not isinstance(options, dict):
        raise TypeError("optional 3rd arg must be a dictionary")
    return identity(spawn(silent_at_exit(function, options), *arguments).thread)


def silent_at_exit(function: Callable[..., object], options: dict[str, Any]) -> Callable[..., None]:
    @functools.wraps(function)
    def run(*arguments: object) -> None:
        with suppress(SystemExit):
            function(*arguments, **options)

    return run


original_functions: dict[str, Any] = {
    "current_thread": threading.current_thread,
    "get_ident": threading.get_ident,
    "get_native_id": getattr(threading, "get_native_id", threading.get_ident),
    "enumerate": threading.enumerate,
    "start_new_thread": _thread.start_new_thread,
}

PATCHES = [
    Patch(threading.Thread, "__init__", functools.wraps(original_init)(initialise)),
    Patch(threading.Thread, "start", start),
    Patch(threading.Thread, "join", join),
    Patch(threading.Thread, "is_alive", is_alive),
    Patch(threading.Thread, "ident", steered_identity("ident")),
    Patch(threading.Thread, "native_id", steered_identity("native_id")),
    Patch(threading.Thread, "daemon", property(original_properties["daemon"].fget, set_daemon)),
    Patch(threading.Thread, "__repr__", show),
    reading("getName", "name"),
    reading("isDaemon", "daemon"),
    storing("setName", "name"),
    storing("setDaemon", "daemon"),
    Patch(threading.Thread, "__hash__", stable_hash),
    Patch(threading, "current_thread", current_thread),
    Patch(threading, "get_ident", get_ident),
    Patch(threading, "get_native_id", get_native_id),
    Patch(threading, "enumerate", enumerate_threads),
    Patch(threading, "active_count", active_count),
    Patch(_thread, "get_ident", get_ident),
    Patch(_thread, "get_native_id", get_native_id),
    Patch(_thread, "start_new_thread", start_new_thread),
    Patch(_thread, "start_new", start_new_thread),
]

"""`threading.local`: values for each thread of the program."""

import _thread
import gc
import threading
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.library.steering import Patch, not_in_execution
from mazurka.python.runtime.standard_thread import in_execution, own_locals

REAL_LOCAL: Any = _thread._local


class Local:
    """What `threading.local` is while a check runs. Outside executions it gives the real thing."""

    __slots__ = ("__dict__", "_mazurka_arguments")
    _mazurka_arguments: tuple[tuple[Any, ...], dict[str, Any]]

    def __new__(cls, /, *arguments: Any, **options: Any) -> Any:
        if cls is Local and not in_execution():
            return REAL_LOCAL(*arguments, **options)
        if (arguments or options) and cls.__init__ is object.__init__:
            raise TypeError("Initialization arguments are not supported")
        self = object.__new__(cls)
        object.__setattr__(self, "_mazurka_arguments", (arguments, options))
        own_locals()[id(self)] = self, {}  # of its maker, for whom Python calls __init__
        return self

    def __getattribute__(self, name: str) -> Any:
        enter_namespace(self)
        return object.__getattribute__(self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "__dict__":
            raise AttributeError("'__dict__' of a threading.local is read-only")
        enter_namespace(self)
        object.__setattr__(self, name, value)

    def __delattr__(self, name: str) -> None:
        if name == "__dict__":
            raise AttributeError("'__dict__' of a threading.local is read-only")
        enter_namespace(self)
        object.__delattr__(self, name)


def enter_namespace(local: Local) -> None:
    """Make the values of the running thread the attributes of a local. No other thread can come
    between this and their use."""
    if RUNNING.check.runtime.current is None:
        return
    found = own_locals().get(id(local))
    if found is None:
        found = own_locals()[id(local)] = local, {}
        object.__setattr__(local, "__dict__", found[1])
        arguments, options = object.__getattribute__(local, "_mazurka_arguments")
        type(local).__init__(local, *arguments, **options)  # as for every thread
    object.__setattr__(local, "__dict__", found[1])


LOCALS = (REAL_LOCAL, Local)

# Objects of the real type, which modules make when they are imported.


def local_namespace(local: object) -> dict[str, Any] | None:
    """The values that the running thread has in a `threading.local`; None if it is none."""
    runtime = RUNNING.check.runtime
    if not isinstance(local, LOCALS) or not in_execution():
        return None
    if isinstance(local, Local):
        enter_namespace(local)
        return own_locals()[id(local)][1]
    found = own_locals().get(id(local))
    if found is None:
        namespace: dict[str, Any] = {}
        own_locals()[id(local)] = local, namespace
        assert runtime.current is not None
        if runtime.current.id == 0:
            namespace.update(local.__dict__)  # what was set outside, by the same thread
        else:
            initialise(local, namespace)
        return namespace
    return found[1]


def initialise(local: Any, namespace: dict[str, Any]) -> None:
    """Call `__init__` for a thread that uses a local for the first time. Code that is not rewritten
    puts its values into the real namespace: take them from there."""
    arguments, options = arguments_of(local)
    real = local.__dict__
    before = dict(real)
    real.clear()
    try:
        type(local).__init__(local, *arguments, **options)
        namespace.update(real)
    finally:
        real.clear()
        real.update(before)


def arguments_of(local: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What a local was made with. Only the garbage collector can be asked."""
    with not_in_execution():
        referents = gc.get_referents(local)
    arguments = next((found for found in referents if isinstance(found, tuple)), ())
    options: dict[str, Any] = {}
    for found in referents:
        if isinstance(found, dict) and found and all(isinstance(key, str) for key in found):
            options = found
    return arguments, options


PATCHES = [Patch(threading, "local", Local), Patch(_thread, "_local", Local)]

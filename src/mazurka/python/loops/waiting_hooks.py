"""Operations of rewritten code that a loop may be waiting with: hooks that make them wait.

Each does what the hook of the same operation does that never waits.
"""

import _thread
import queue
import threading
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from mazurka.python.check import RUNNING
from mazurka.python.loops.rounds import is_constant
from mazurka.python.loops.waiting import (
    CONTAINS,
    ITEM,
    ITEM_OR_DEFAULT,
    LENGTH_OF,
    TRUTH,
    Sought,
    Waiting,
    awaiting,
    awaiting_call,
    until_for,
)
from mazurka.python.memory.attributes import (
    FIELD,
    NATIVE,
    OF_CLASS,
    OF_MODULE,
    ClosureVariable,
    GlobalVariable,
    class_attribute,
    load_attribute,
    load_closure,
    load_global,
    way_to,
)
from mazurka.python.memory.calls import callee, method
from mazurka.python.memory.containers import contains, is_modelled, is_own, length, load_item, truth
from mazurka.python.memory.shapes import ATOMS, ELEMENTS, KEYED, shape_of
from mazurka.python.primitives import (
    atomic,
    barriers,
    conditions,
    counters,
    events,
    locks,
    queues,
    semaphores,
)

# Modules of objects whose methods perform one operation.
PRIMITIVES: Final = (atomic, barriers, conditions, counters, events, locks, queues, semaphores)
MODELS: Final = [module.__name__ for module in (*PRIMITIVES, threading, queue, _thread)]


def are_steps() -> bool:
    """Whether accesses to ordinary objects are steps, which can wait."""
    return RUNNING.check.runtime.race_detector is None


# Variables


def awaited_attribute(thing: object, name: str, waiting: Waiting | None) -> object:
    """The value of an attribute, once it is one with which the round is not in vain."""
    if waiting is not None and are_steps():
        way = way_to(type(thing), name)
        is_variable = is_single(thing, name, way)
        code = None if is_variable or way != NATIVE else code_of_property(type(thing), name)
        if is_variable or code is not None:
            until = until_for(waiting, "")
            if until is not None and code is not None:
                return awaiting_call(until, code, load_attribute, thing, name)
            if until is not None:
                return awaiting(until, load_attribute, thing, name)
    return load_attribute(thing, name)


def is_single(thing: Any, name: str, way: int) -> bool:
    """Whether an attribute is found by one read, of a variable that threads share."""
    objects = RUNNING.check.objects
    if way == FIELD:
        return objects.field_of(thing, name) is not None
    if way == OF_CLASS:
        return name in thing.__dict__ and objects.field_of(thing, name) is not None
    return way == OF_MODULE and name in thing.__dict__ and objects.is_namespace(thing.__dict__)


def code_of_property(kind: type, name: str) -> CodeType | None:
    found = class_attribute(kind, name)
    if type(found) is not property or type(found.fget) is not FunctionType:
        return None
    return code_run_by(found.fget)


def code_run_by(function: FunctionType) -> CodeType:
    code = RUNNING.check.code
    if code is not None:
        code.make_ready(function)
    found: CodeType = function.__code__
    return found


def awaited_global(variable: GlobalVariable, waiting: Waiting | None) -> object:
    if waiting is not None and are_steps():
        until = until_for(waiting, "")
        if until is not None:
            return awaiting(until, load_global, variable)
    return load_global(variable)


def awaited_closure(variable: ClosureVariable, waiting: Waiting | None) -> object:
    if waiting is not None and are_steps():
        until = until_for(waiting, "")
        if until is not None:
            return awaiting(until, load_closure, variable)
    return load_closure(variable)


# Containers


def is_shared_container(container: object, name: str, key: object) -> bool:
    """Whether a method looks at a container that threads share, by a key that is the same in every
    execution. (With `__missing__` it may give what is not there, and change it.)"""
    return (
        is_modelled(type(container), name)
        and not (name == "__getitem__" and hasattr(type(container), "__missing__"))
        and is_constant(key)
        and RUNNING.check.objects.contents_of(container) is not None
    )


def awaited_item(container: Any, key: object, waiting: Waiting | None) -> object:
    if waiting is not None and are_steps() and is_shared_container(container, "__getitem__", key):
        sought = Sought(ITEM, key, None)
        until = until_for(waiting, "", sought)
        if until is not None:
            return awaiting(until, load_item, container, key)
    return load_item(container, key)


def awaited_contains(item: object, container: Any, waiting: Waiting | None) -> bool:
    if waiting is not None and are_steps() and is_shared_container(container, "__contains__", item):
        shape = shape_of(type(container))
        if shape == KEYED or shape == ELEMENTS:
            sought = Sought(CONTAINS, item, None)
            until = until_for(waiting, "", sought)
            if until is not None:
                return bool(awaiting(until, contains, item, container))
    return contains(item, container)


def awaited_length(container: Any, waiting: Waiting | None) -> object:
    if waiting is not None and are_steps() and is_shared_container(container, "__len__", None):
        sought = Sought(LENGTH_OF, None, None)
        until = until_for(waiting, "", sought)
        if until is not None:
            return awaiting(until, length, container)
    return length(container)


def awaited_truth(value: Any, waiting: Waiting | None) -> bool:
    """Whether a value is true: for a container, whether there is something in it."""
    if type(value) not in ATOMS and waiting is not None and are_steps():
        is_plain = not is_own(type(value), "__bool__")
        if is_plain and is_shared_container(value, "__len__", None):
            sought = Sought(TRUTH, None, None)
            until = until_for(waiting, "", sought)
            if until is not None:
                return bool(awaiting(until, truth, value))
    return truth(value)


# Calls


def awaited_method(thing: Any, name: str, waiting: Waiting | None) -> Any:
    """What `thing.name` is to be called as: what it gives may be what the loop waits for."""
    called = method(thing, name)
    if waiting is None:
        return called
    if type(thing).__module__ in MODELS and name not in getattr(thing, "__dict__", ()):
        until = until_for(waiting, name)
        return called if until is None else partial(awaiting, until, called)
    if name == "get" and are_steps() and is_shared_container(thing, "get", None):
        return partial(awaited_get, thing, called, waiting)
    return awaited_function(called, waiting)


def awaited_get(
    container: Any, called: Any, waiting: Waiting, *arguments: Any, **named: Any
) -> object:
    """`get` of a dict."""
    is_plain = not named and 1 <= len(arguments) <= 2 and is_constant(arguments[0])
    if is_plain and shape_of(type(container)) == KEYED:
        default = arguments[1] if len(arguments) > 1 else None
        until = until_for(waiting, "", Sought(ITEM_OR_DEFAULT, arguments[0], default))
        if until is not None:
            return awaiting(until, called, *arguments)
    return called(*arguments, **named)


def awaited_callee(function: Any, waiting: Waiting | None) -> Any:
    called = callee(function)
    if waiting is None:
        return called
    return awaited_function(called, waiting)


def awaited_function(called: Any, waiting: Waiting) -> Any:
    """A function of the user's, some operation of which may wait for what makes it give another
    value."""
    inner = called.__func__ if type(called) is MethodType else called
    if type(inner) is not FunctionType:
        return called
    until = until_for(waiting, "")
    return called if until is None else partial(awaiting_call, until, code_run_by(inner), called)

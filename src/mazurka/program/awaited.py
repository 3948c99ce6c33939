"""Operations of rewritten code that a loop may be waiting with: hooks that make them wait.

Each does what the hook of the same operation does that never waits. What it is told besides is the
loop, or the call of a function that a loop has made; with which values the round will be in vain;
which variables that depends on; and whether time passes in such a round.
"""

from collections import defaultdict
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, Final

from mazurka.program.awaits import (
    CONTAINS,
    ITEM,
    ITEM_OR_DEFAULT,
    LENGTH_OF,
    TRUTH,
    Condition,
    Place,
    Sought,
    awaiting,
    awaiting_call,
    until_for,
)
from mazurka.program.calls import callee, method
from mazurka.program.containers import (
    contains,
    is_modelled,
    is_own,
    length,
    load_item,
    truth,
)
from mazurka.program.fields import (
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
from mazurka.program.loops import is_constant
from mazurka.program.objects import ATOMS, ELEMENTS, KEYED, OBJECTS, shape_of
from mazurka.program.runtime import RUNTIME

# Modules of objects whose methods perform one operation.
MODELS: Final = ("mazurka.program.atomic", "mazurka.program.sync", "threading", "queue", "_thread")


def may_wait(place: Place | None) -> bool:
    return place is not None and not RUNTIME.is_elsewhere() and RUNTIME.watcher is None


# Variables


def awaited_attribute(
    thing: object,
    name: str,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> object:
    """The value of an attribute, once it is one with which the round is not in vain."""
    if may_wait(place):
        way = way_to(type(thing), name)
        is_variable = is_single(thing, name, way)
        code = None if is_variable or way != NATIVE else code_of_property(type(thing), name)
        if is_variable or code is not None:
            until = until_for(place, condition, names, "", takes_time)
            if until is not None and code is not None:
                return awaiting_call(until, code, load_attribute, thing, name)
            if until is not None:
                return awaiting(until, load_attribute, thing, name)
    return load_attribute(thing, name)


def is_single(thing: Any, name: str, way: int) -> bool:
    """Whether an attribute is found by one read, of a variable that threads share."""
    if way == FIELD:
        return OBJECTS.field_of(thing, name) is not None
    if way == OF_CLASS:
        return name in thing.__dict__ and OBJECTS.field_of(thing, name) is not None
    return way == OF_MODULE and name in thing.__dict__ and OBJECTS.is_shared(thing.__dict__)


def code_of_property(kind: type, name: str) -> CodeType | None:
    found = class_attribute(kind, name)
    if type(found) is not property or type(found.fget) is not FunctionType:
        return None
    code: CodeType = found.fget.__code__
    return code


def awaited_global(
    variable: GlobalVariable,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> object:
    if may_wait(place):
        until = until_for(place, condition, names, "", takes_time)
        if until is not None:
            return awaiting(until, load_global, variable)
    return load_global(variable)


def awaited_closure(
    variable: ClosureVariable,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> object:
    if may_wait(place):
        until = until_for(place, condition, names, "", takes_time)
        if until is not None:
            return awaiting(until, load_closure, variable)
    return load_closure(variable)


# Containers


def is_shared_container(container: object, name: str, key: object) -> bool:
    """Whether a method looks at a container that threads share, by a key that is the same in every
    execution. (A defaultdict may be changed by looking.)"""
    return (
        is_modelled(type(container), name)
        and not isinstance(container, defaultdict)
        and is_constant(key)
        and OBJECTS.contents_of(container) is not None
    )


def awaited_item(
    container: Any,
    key: object,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> object:
    if may_wait(place) and is_shared_container(container, "__getitem__", key):
        sought = Sought(ITEM, key, None)
        until = until_for(place, condition, names, "", takes_time, sought)
        if until is not None:
            return awaiting(until, load_item, container, key)
    return load_item(container, key)


def awaited_contains(
    item: object,
    container: Any,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> bool:
    if may_wait(place) and is_shared_container(container, "__contains__", item):
        shape = shape_of(type(container))
        if shape == KEYED or shape == ELEMENTS:
            sought = Sought(CONTAINS, item, None)
            until = until_for(place, condition, names, "", takes_time, sought)
            if until is not None:
                return bool(awaiting(until, contains, item, container))
    return contains(item, container)


def awaited_length(
    container: Any,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> object:
    if may_wait(place) and is_shared_container(container, "__len__", None):
        sought = Sought(LENGTH_OF, None, None)
        until = until_for(place, condition, names, "", takes_time, sought)
        if until is not None:
            return awaiting(until, length, container)
    return length(container)


def awaited_truth(
    value: Any,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> bool:
    """Whether a value is true: for a container, whether there is something in it."""
    if type(value) not in ATOMS and may_wait(place):
        is_plain = not is_own(type(value), "__bool__")
        if is_plain and is_shared_container(value, "__len__", None):
            sought = Sought(TRUTH, None, None)
            until = until_for(place, condition, names, "", takes_time, sought)
            if until is not None:
                return bool(awaiting(until, truth, value))
    return truth(value)


# Calls


def awaited_method(
    thing: Any,
    name: str,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> Any:
    """What `thing.name` is to be called as: what it gives may be what the loop waits for."""
    called = method(thing, name)
    if place is None or RUNTIME.is_elsewhere():
        return called
    if type(thing).__module__ in MODELS:
        until = until_for(place, condition, names, name, takes_time)
        return called if until is None else partial(awaiting, until, called)
    if name == "get" and may_wait(place) and is_shared_container(thing, "get", None):
        return partial(awaited_get, thing, called, place, condition, names, takes_time)
    return awaited_function(called, place, condition, names, takes_time)


def awaited_get(
    container: Any,
    called: Any,
    place: Place,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
    key: object,
    default: object = None,
) -> object:
    """`get` of a dict."""
    if is_constant(key) and shape_of(type(container)) == KEYED:
        sought = Sought(ITEM_OR_DEFAULT, key, default)
        until = until_for(place, condition, names, "", takes_time, sought)
        if until is not None:
            return awaiting(until, called, key, default)
    return called(key, default)


def awaited_callee(
    function: Any,
    place: Place | None,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> Any:
    called = callee(function)
    if place is None or RUNTIME.is_elsewhere():
        return called
    return awaited_function(called, place, condition, names, takes_time)


def awaited_function(
    called: Any,
    place: Place,
    condition: Condition,
    names: tuple[str, ...],
    takes_time: bool,
) -> Any:
    """A function of the user's, some operation of which may wait for what makes it give another
    value."""
    inner = called.__func__ if type(called) is MethodType else called
    if type(inner) is not FunctionType:
        return called
    until = until_for(place, condition, names, "", takes_time)
    return called if until is None else partial(awaiting_call, until, inner.__code__, called)

"""Calls in rewritten code: what works on containers is announced, what is not rewritten is noted.

A function that is not rewritten runs as one local step. A container that it is given counts as
changed by it; other objects that it is given, and that threads share, are reported.
"""

import copy
import functools
import itertools
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final

from mazurka.program.containers import (
    ReverseIterator,
    call_method,
    change_all,
    compare,
    contains,
    delete_item,
    is_own,
    items_of,
    iterate,
    length,
    load_item,
    operand,
    operate,
    read_all,
    shown,
    stable,
    store_item,
    text,
    truth,
    unpack,
)
from mazurka.program.fields import (
    closure_cell,
    delete_attribute,
    delete_closure,
    delete_global,
    delete_plainly,
    global_cell,
    load_attribute,
    load_closure,
    load_global,
    load_plainly,
    store_attribute,
    store_closure,
    store_global,
    store_plainly,
)
from mazurka.program.objects import ATOMS, INDEXED, MISSING, NO_CONTAINER, OBJECTS, shape_of
from mazurka.program.runtime import RUNTIME

LruCache: Final = type(functools.lru_cache(lambda: None))


class Calls:
    """What the calls of a check need to know, and what they noted."""

    def __init__(self) -> None:
        self.files: set[str] = set()  # of rewritten code
        self.opaque: dict[str, set[str]] = {}  # calls of what is not, and what they were given
        self.replacements: dict[int, Any] = {}  # by the identity of what is replaced
        self.steered: Callable[[Any], Any] = itself


def itself(thing: Any) -> Any:
    return thing


CALLS: Final = Calls()


def callee(function: Any) -> Any:
    """What to call in place of a function."""
    if RUNTIME.current is None:
        return function
    kind = type(function)
    if kind is FunctionType:
        if function.__code__.co_filename in CALLS.files or is_ours(function):
            return function
        if function in BUILTINS:
            return BUILTINS[function]
    elif kind is MethodType:
        return callee_for_method(function)
    elif kind is BuiltinFunctionType:
        return callee_for_builtin(function)
    elif kind is partial:
        return partial(callee(function.func), *function.args, **function.keywords)
    elif isinstance(function, type):
        return callee_for_class(function)
    elif kind is MethodWrapperType or kind is WrapperDescriptorType:
        return callee_for_wrapper(function)
    elif kind is LruCache:
        return partial(call_cached, function)
    elif kind in GETTERS:
        return partial(GETTERS[kind], *function.__reduce__()[1:])
    replacement = replacement_for(function)
    if replacement is not None:
        return replacement
    if kind is FunctionType:
        return partial(call_opaque, function)
    return function  # an object with a __call__ of its own


def replacement_for(function: object) -> Callable[..., object] | None:
    found: Callable[..., object] | None = CALLS.replacements.get(id(function))
    return found


def callee_for_method(function: Any) -> Any:
    inner = function.__func__
    if type(inner) is not FunctionType or inner.__code__.co_filename in CALLS.files:
        return function
    if is_known(function.__self__):
        return function
    if shape_of(type(function.__self__)) != NO_CONTAINER:
        return container_method(function)
    replacement = replacement_for(function)
    return partial(call_opaque, function) if replacement is None else replacement


def is_known(thing: object) -> bool:
    """Whether an object is a model of something, which announces what it does by itself."""
    kind = thing if isinstance(thing, type) else type(thing)
    return any(
        base.__module__ in ("threading", "queue") or base.__module__.startswith("mazurka.")
        for base in kind.__mro__
    )


def is_ours(function: Any) -> bool:
    return str(function.__module__).startswith("mazurka.")


def callee_for_builtin(function: Any) -> Any:
    if is_ours(function):  # compiled
        return function
    owner = function.__self__
    if owner is None or type(owner) is ModuleType or isinstance(owner, type):
        replacement = BUILTINS.get(function) or replacement_for(function)
        if replacement is not None:
            return replacement
        return function if function in HARMLESS else partial(call_opaque, function)
    kind = type(owner)
    if shape_of(kind) != NO_CONTAINER:
        return container_method(function)
    if kind is str or kind is bytes:
        return string_method(function)
    replacement = replacement_for(function)
    return partial(call_opaque, function) if replacement is None else replacement


def string_method(function: Any) -> Any:
    shows = function.__name__ in ("format", "format_map")
    return partial(call_showing if shows else call_reading, function)


def container_method(function: Any) -> Any:
    if function.__name__ == "sort":
        return partial(sort_list, function.__self__)
    return partial(call_method, function)


def callee_for_class(kind: Any) -> Any:
    replacement = BUILTINS.get(kind) or replacement_for(kind)
    if replacement is not None:
        return replacement
    if getattr(kind, "__module__", "") == "itertools":
        return partial(call_lazily, kind)
    if getattr(kind, "__module__", "") in ("builtins", "collections", "array", "types"):
        return partial(call_reading, kind)
    return kind if OBJECTS.is_seen(kind) else partial(construct, kind)


def construct(kind: Any, *arguments: Any, **named: Any) -> object:
    """Make an instance: what it is given may be given away."""
    OBJECTS.share(arguments, "")
    if named:
        OBJECTS.share(tuple(named.values()), "")
    return kind(*arguments, **named)


def callee_for_wrapper(function: Any) -> Any:
    """Special methods of built-in classes, as `super()` and `object` give them."""
    plain = PLAIN.get(function.__name__)
    if type(function) is WrapperDescriptorType:
        return plain if plain is not None else function
    owner = function.__self__
    if shape_of(type(owner)) != NO_CONTAINER:
        return container_method(function)
    return partial(plain, owner) if plain is not None and not isinstance(owner, type) else function


PLAIN: Final[dict[str, Callable[..., object]]] = {
    "__setattr__": store_plainly,
    "__delattr__": delete_plainly,
    "__getattribute__": load_plainly,
}


def method(thing: Any, name: str) -> Any:
    """What `thing.name` is to be called as."""
    if RUNTIME.current is None:
        return getattr(thing, name)
    kind = type(thing)
    if shape_of(kind) != NO_CONTAINER and not is_own(kind, name):
        return container_method(getattr(thing, name))
    if kind is str:
        return string_method(getattr(thing, name))
    return callee(load_attribute(CALLS.steered(thing), name))


# Calls of what is not rewritten


def call_reading(function: Callable[..., Any], *arguments: Any, **named: Any) -> object:
    """Call something that only reads the containers that it is given."""
    return function(*[items_of(argument) for argument in arguments], **named)


def call_ordering(
    function: Callable[..., Any], *arguments: Any, key: Any = None, **named: Any
) -> object:
    """Call something that compares what it is given."""
    if len(arguments) == 1:
        items = list(items_of(arguments[0]))
        arguments = (items,)
    else:
        items = list(arguments)
    if key is None and not has_parts(items):
        return function(*arguments, **named)
    return function(*arguments, key=compared_by(key), **named)


def has_parts(items: list[Any]) -> bool:
    return any(type(item) not in ATOMS for item in items)


def compared_by(key: Any) -> Callable[[Any], Any]:
    """What stands for an item when items are compared: nobody changes it meanwhile."""
    if key is None:
        return stable
    asked = callee(key)
    return lambda item: stable(asked(item))


def sort_list(container: Any, *, key: Any = None, reverse: bool = False) -> None:
    """Sort a list, which is empty meanwhile, as it is in Python: if there is more to its items than
    a step, other threads may see that."""
    change_all(container)
    items = list(container)
    if key is None and not has_parts(items):
        container.sort(reverse=reverse)
        return
    container[:] = []
    try:
        items.sort(key=compared_by(key), reverse=reverse)
    finally:
        change_all(container)
        is_changed = len(container) > 0
        container[:] = items
    if is_changed:
        raise ValueError("list modified during sort")


def call_lazily(kind: Any, *arguments: Any, **named: Any) -> object:
    """Make one of the iterators of itertools."""
    if kind is itertools.repeat:
        return kind(*arguments, **named)
    given = [callee(each) if callable(each) else iterate(each) for each in arguments]
    return kind(*given, **{name: callee(each) for name, each in named.items()})


def chain_all(items: Any) -> object:
    return itertools.chain.from_iterable(map(iterate, iterate(items)))


def get_items(arguments: tuple[Any, ...], thing: Any) -> object:
    """What operator.itemgetter does."""
    found = tuple([load_item(thing, key) for key in arguments])
    return found if len(found) > 1 else found[0]


def get_attributes(arguments: tuple[str, ...], thing: Any) -> object:
    """What operator.attrgetter does."""
    found = tuple([functools.reduce(load_attribute, name.split("."), thing) for name in arguments])
    return found if len(found) > 1 else found[0]


GETTERS: Final[dict[type, Callable[..., object]]] = {
    operator.itemgetter: get_items,
    operator.attrgetter: get_attributes,
}


def any_true(items: Any) -> bool:
    return any(truth(item) for item in one_by_one(items))


def all_true(items: Any) -> bool:
    return all(truth(item) for item in one_by_one(items))


def one_by_one(items: Any) -> Any:
    """What is in a container now; but nothing is taken from an iterator before it is needed."""
    return items if isinstance(items, Iterator) else items_of(items)


def add_all(items: Any, *start: Any, **named: Any) -> object:
    given = items_of(items)
    return sum([items_of(item) for item in given], *start, **named)


def call_showing(function: Callable[..., Any], *arguments: Any, **named: Any) -> object:
    """Call something that reads all that is in what it is given."""
    options = {name: shown(argument) for name, argument in named.items()}
    return function(*[shown(argument) for argument in arguments], **options)


def call_opaque(function: Callable[..., Any], *arguments: Any, **named: Any) -> object:
    """Call something of which nothing is known."""
    given = [*arguments, *named.values()]
    owner = getattr(function, "__self__", None)
    if owner is not None and OBJECTS.is_seen(type(owner)):
        given.append(owner)
    for argument in given:
        kind = type(argument)
        if kind in ATOMS:
            continue
        if shape_of(kind) != NO_CONTAINER:
            OBJECTS.share(argument, "")
            change_all(argument)
        elif OBJECTS.is_shared(argument) and not is_known(argument):
            label = OBJECTS.record_of(argument).identity.label
            CALLS.opaque.setdefault(full_name_of(function), set()).add(label)
        OBJECTS.share(argument, "")
    return function(*arguments, **named)


def full_name_of(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or repr(function)
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else name


def call_cached(function: Any, *arguments: Any, **named: Any) -> object:
    """Call a function with functools.lru_cache: a look at the cache, and a note in it."""
    return function(*arguments, **named)


# Built-in functions that look into containers


def load_by_name(thing: object, name: str, *default: object) -> object:
    try:
        return load_attribute(thing, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def has_attribute(thing: object, name: str) -> bool:
    return load_by_name(thing, name, MISSING) is not MISSING


def make_enumerate(items: Any, start: int = 0) -> object:
    return enumerate(iterate(items), start)


def make_zip(*items: Any, **named: Any) -> object:
    return zip(*[iterate(each) for each in items], **named)  # noqa: B905


def make_map(function: Any, *items: Any) -> object:
    return map(callee(function), *[iterate(each) for each in items])


def make_filter(function: Any, items: Any) -> object:
    return filter(callee(function) if function is not None else truth, iterate(items))


def make_iterator(items: Any, *sentinel: Any) -> object:
    if sentinel:
        return iter(callee(items), *sentinel)
    return iter(iterate(items))


def reduce(function: Any, items: Any, *initial: Any) -> object:
    return functools.reduce(callee(function), items_of(items), *initial)


def make_copy(thing: Any) -> object:
    if shape_of(type(thing)) != NO_CONTAINER:
        read_all(thing)
    return copy.copy(thing)


def make_deep_copy(thing: Any, *memo: Any) -> object:
    return copy.deepcopy(stable(thing), *memo)


def make_reversed(items: Any) -> object:
    kind = type(items)
    if shape_of(kind) == INDEXED and not is_own(kind, "__reversed__"):
        return ReverseIterator(items)
    return reversed(items_of(items))


READERS: Final = (
    list, tuple, set, frozenset, dict, bytes, bytearray,
    OrderedDict, Counter, deque, defaultdict,
)  # fmt: skip
ORDERERS: Final = (sorted, min, max)
SHOWERS: Final = (str, repr, print, format, ascii)
HARMLESS: Final = {
    isinstance, issubclass, id, hash, callable, next, abs, round, divmod, pow, chr, ord, bin, hex,
    oct, globals, locals, open, input, __import__,
}  # fmt: skip

BUILTINS: Final[dict[object, Callable[..., object]]] = {
    **{function: partial(call_reading, function) for function in READERS},
    **{function: partial(call_ordering, function) for function in ORDERERS},
    **{function: partial(call_showing, function) for function in SHOWERS},
    len: length,
    enumerate: make_enumerate,
    zip: make_zip,
    map: make_map,
    filter: make_filter,
    iter: make_iterator,
    any: any_true,
    all: all_true,
    sum: add_all,
    itertools.chain.from_iterable: chain_all,
    functools.reduce: reduce,
    copy.copy: make_copy,
    copy.deepcopy: make_deep_copy,
    reversed: make_reversed,
    getattr: load_by_name,
    hasattr: has_attribute,
    setattr: store_attribute,
    delattr: delete_attribute,
}


def entered(manager: Any) -> Any:
    """What a `with` statement enters."""
    return manager if RUNTIME.current is None else CALLS.steered(manager)


def matched(subject: Any) -> Any:
    """What a `match` statement looks at."""
    return subject if RUNTIME.current is None else stable(subject)


HOOKS: Final[dict[str, Callable[..., object]]] = {
    "load_attribute": load_attribute,
    "store_attribute": store_attribute,
    "delete_attribute": delete_attribute,
    "load_item": load_item,
    "store_item": store_item,
    "delete_item": delete_item,
    "global_cell": global_cell,
    "load_global": load_global,
    "store_global": store_global,
    "delete_global": delete_global,
    "closure_cell": closure_cell,
    "load_closure": load_closure,
    "store_closure": store_closure,
    "delete_closure": delete_closure,
    "callee": callee,
    "method": method,
    "iterate": iterate,
    "unpack": unpack,
    "contains": contains,
    "compare": compare,
    "operate": operate,
    "truth": truth,
    "operand": operand,
    "text": text,
    "entered": entered,
    "matched": matched,
}

"""Calls in rewritten code: what works on containers is announced, what is not rewritten is noted.

A function that is not rewritten runs as one local step. A container that it is given counts as
changed by it; other objects that it is given, and that threads share, are reported.
"""

import bisect
import contextlib
import copy
import functools
import inspect
import itertools
import operator
import sys
import typing
from abc import ABCMeta
from array import array
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any, Final, cast

from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import (
    delete_attribute,
    delete_plainly,
    load_attribute,
    load_plainly,
    store_attribute,
    store_plainly,
)
from mazurka.python.memory.cached_functions import cache_method, call_cached
from mazurka.python.memory.containers import (
    ReverseIterator,
    call_method,
    change_all,
    is_own,
    items_of,
    iterate,
    length,
    load_item,
    note_generator,
    pairs_of,
    read_all,
    shown,
    stable,
    truth,
)
from mazurka.python.memory.shapes import (
    ATOMS,
    INDEXED,
    KEYED,
    MISSING,
    NO_CONTAINER,
    LruCache,
    shape_of,
)
from mazurka.python.source import PACKAGE


class Calls:
    """What the calls of a check need to know, and what they noted."""

    def __init__(self, replacements: dict[int, Any]) -> None:
        self.files: set[str] = set()  # of rewritten code
        self.skipped: dict[int, str] = {}  # functions there that are not, by the id of their code
        self.skipped_calls: set[str] = set()  # those that were called
        self.replacements = replacements  # by the identity of what is replaced
        self.stdout = sys.stdout  # what the user sees


MIXINS: Final = Mapping.get.__code__.co_filename

# Parts of the standard library that keep nothing to themselves: they work on what they are given,
# through its methods.
GLUE: Final = {
    function.__code__.co_filename
    for function in (
        ABCMeta.register, Mapping.get, contextlib.contextmanager, functools.wraps, inspect.isclass,
        typing.cast,
    )
}  # fmt: skip


def callee(function: Any) -> Any:
    """What to call in place of a function."""
    check = RUNNING.check
    runtime = check.runtime
    if runtime.is_elsewhere():
        return function
    kind = type(function)
    if kind is FunctionType:
        if is_transparent(function):
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
        return callee_for_cached(function)
    elif kind in GETTERS:
        return partial(GETTERS[kind], *function.__reduce__()[1])
    replacement = replacement_for(function)
    if replacement is not None:
        return replacement
    if kind is FunctionType and is_of_asyncio(cast(Any, function).__module__):
        return function
    if kind is FunctionType:
        return partial(call_showing if is_logging(function) else call_opaque, function)
    if not check.objects.is_seen(kind) and not is_known(kind):
        runtime.note_change()
    return function  # an object with a __call__ of its own


def is_rewritten(function: Any) -> bool:
    calls = RUNNING.check.calls
    code = function.__code__
    if code.co_filename not in calls.files:
        return False
    if calls.skipped and id(code) in calls.skipped:
        calls.skipped_calls.add(calls.skipped[id(code)])
        return False
    return True


def replacement_for(function: object) -> Callable[..., object] | None:
    found: Callable[..., object] | None = RUNNING.check.calls.replacements.get(id(function))
    return found


def callee_for_cached(function: Any) -> Any:
    """A function with a cache; one that is not rewritten always gives the same, one would hope."""
    inner = function.__wrapped__
    if type(inner) is FunctionType and is_transparent(inner):
        return partial(call_cached, inner, function)
    return function


def callee_for_method(function: Any) -> Any:
    inner = function.__func__
    if type(inner) is LruCache:
        return partial(callee_for_cached(inner), function.__self__)
    if type(inner) is not FunctionType:
        return function
    if is_transparent(inner) and not is_mixed_in(inner, type(function.__self__)):
        return function
    replacement = replacement_for(inner)  # of a method that was taken before the check
    if replacement is not None:
        return partial(replacement, function.__self__)
    if is_known(type(function.__self__)):
        return function
    if shape_of(type(function.__self__)) != NO_CONTAINER:
        return container_method(function)
    return partial(call_showing if is_logging(inner) else call_opaque, function)


def is_logging(function: Any) -> bool:
    """Whether a function writes to the log: as with `print`, it is no matter how often."""
    return function.__module__ == "logging" and function.__name__ in LOGGING


LOGGING: Final = {
    "debug", "info", "warning", "error", "exception", "critical", "log",
}  # fmt: skip


def is_known(kind: type) -> bool:
    """Whether objects of a class are models of something, and announce by themselves what they do
    and what they are given."""
    models = RUNNING.check.types.models
    known = models.get(kind)
    if known is None:
        known = any(
            base.__module__ in ("threading", "queue")
            or base.__module__.startswith(("mazurka.", "concurrent.futures."))
            or is_of_asyncio(base.__module__)
            for base in kind.__mro__
        )
        models[kind] = known
    return known


def is_of_asyncio(module: str | None) -> bool:
    """Its objects belong to one thread. The event loop announces what it gives to others."""
    return module is not None and module.partition(".")[0] in ("asyncio", "_asyncio")


def is_transparent(function: FunctionType) -> bool:
    """Whether all that a function does is seen: it is rewritten, or only calls what is."""
    return is_rewritten(function) or function.__code__.co_filename in GLUE or is_ours(function)


def is_mixed_in(function: FunctionType, kind: type) -> bool:
    """Whether a method of an abstract class calls methods that are not rewritten themselves."""
    return function.__code__.co_filename == MIXINS and not RUNNING.check.objects.is_all_seen(kind)


def is_ours(function: Any) -> bool:
    """Whether a function is one of Mazurka's own, maybe a wrapper that goes by another name."""
    if str(function.__module__).startswith("mazurka."):
        return True
    return type(function) is FunctionType and function.__code__.co_filename.startswith(PACKAGE)


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
    if kind is LruCache:
        return cache_method(owner, function.__name__) or function
    if kind is str or kind is bytes:
        return string_method(function)
    if is_known(kind):
        return function
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
        return partial(make_lazily, kind)
    return (
        kind if RUNNING.check.objects.is_seen(kind) or is_known(kind) else partial(construct, kind)
    )


def construct(kind: Any, *arguments: Any, **named: Any) -> object:
    """Make an instance: what it is given may be given away."""
    objects = RUNNING.check.objects
    objects.share(arguments, "")
    if named:
        objects.share(tuple(named.values()), "")
    return kind(*arguments, **named)


def callee_for_wrapper(function: Any) -> Any:
    """Special methods of built-in classes, as `super()` and `object` give them."""
    RUNNING.check.runtime.note_change()
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
    check = RUNNING.check
    standard = check.standard
    if check.runtime.is_elsewhere():
        return getattr(thing, name)
    kind = type(thing)
    if shape_of(kind) != NO_CONTAINER and not is_own(kind, name):
        return container_method(getattr(thing, name))
    if kind is str:
        return string_method(getattr(thing, name))
    if kind in standard.steered_types:
        thing = standard.steered(thing)
    if name in TAKING_CALLBACKS:
        return partial(call_with_callback, callee(load_attribute(thing, name)))
    return callee(load_attribute(thing, name))


TAKING_CALLBACKS: Final = {"add_done_callback", "callback", "finalize", "push"}


def call_with_callback(function: Any, *arguments: Any, **named: Any) -> object:
    """Call something that keeps functions, to call them later: methods of containers, say."""
    check = RUNNING.check
    check.runtime.note_change()
    check.objects.share(arguments, "")
    return function(*[callback(argument) for argument in arguments], **named)


def callback(argument: Any) -> Any:
    return callee(argument) if type(argument) is BuiltinFunctionType else argument


# Calls of what is not rewritten


def call_reading(function: Callable[..., Any], *arguments: Any, **named: Any) -> object:
    """Call something that only reads the containers that it is given."""
    if "key" in named:
        named["key"] = callee(named["key"])
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


def any_true(items: Any) -> bool:
    return any(truth(item) for item in one_by_one(items))


def all_true(items: Any) -> bool:
    return all(truth(item) for item in one_by_one(items))


def any_of_new(items: Any) -> bool:
    """The same for a generator expression that nobody else has."""
    return any(truth(item) for item in items)


def all_of_new(items: Any) -> bool:
    return all(truth(item) for item in items)


def one_by_one(items: Any) -> Any:
    """What is in a container now; but nothing is taken from an iterator before it is needed."""
    if not isinstance(items, Iterator):
        return items_of(items)
    RUNNING.check.runtime.note_change()
    return items


def add_all(items: Any, *start: Any, **named: Any) -> object:
    given = items_of(items)
    return sum([items_of(item) for item in given], *start, **named)


def call_showing(function: Callable[..., Any], *arguments: Any, **named: Any) -> object:
    """Call something that reads all that is in what it is given. How often it was shown to the user
    is no matter."""
    check = RUNNING.check
    if "file" in named or sys.stdout is not check.calls.stdout:
        check.runtime.note_change()
    options = {name: shown(argument) for name, argument in named.items()}
    return function(*[shown(argument) for argument in arguments], **options)


def open_file(file: Any, mode: str = "r", *arguments: Any, **named: Any) -> object:
    """A file that is not opened for reading may be changed by that."""
    if mode not in ("r", "rb", "rt"):
        RUNNING.check.runtime.note_change()
    return open(file, mode, *arguments, **named)


def call_opaque(function: Callable[..., Any], *arguments: Any, **named: Any) -> object:
    """Call something of which nothing is known."""
    check = RUNNING.check
    objects = check.objects
    check.runtime.note_change()
    owner = getattr(function, "__self__", None)
    if owner is not None and objects.is_opaque(owner):
        if type(function) is MethodType:
            objects.note_opaque(full_name_of(function), owner)
        change_all(owner)
    for argument in [*arguments, *named.values()]:
        kind = type(argument)
        if kind in ATOMS:
            continue
        if objects.is_opaque(argument) and not is_known(kind):
            objects.note_opaque(full_name_of(function), argument)
        objects.share(argument, "")
        if shape_of(kind) != NO_CONTAINER:
            change_all(argument)
            if any(objects.is_shared(part) for part in parts_of(argument)):
                objects.note_opaque(full_name_of(function), argument)
    return function(*arguments, **named)


def parts_of(container: Any) -> list[Any]:
    return list(dict.values(container)) if shape_of(type(container)) == KEYED else list(container)


def full_name_of(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or repr(function)
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else name


# Built-in functions that look into containers


def load_by_name(thing: object, name: str, *default: object) -> object:
    try:
        return load_attribute(thing, name)
    except AttributeError:
        if default:
            return default[0]
        raise


def identify(thing: object) -> int:
    check = RUNNING.check
    if check.runtime.is_elsewhere() or type(thing) in ATOMS:
        return id(thing)
    return check.objects.number_of(thing)


def has_attribute(thing: object, name: str) -> bool:
    return load_by_name(thing, name, MISSING) is not MISSING


def own(iterator: object) -> object:
    """A new iterator: if other threads take from it, too, they change it."""
    RUNNING.check.objects.record_of(iterator)
    return iterator


def make_lazily(kind: Any, *items: Any, **named: Any) -> object:
    """Make an iterator of itertools, which looks at what it is given when it is asked."""
    if kind is itertools.repeat:
        return own(kind(*items, **named))
    given = [callee(each) if callable(each) else iterate(each) for each in items]
    return own(kind(*given, **{name: callee(each) for name, each in named.items()}))


def make_chain(items: Any) -> object:
    return own(itertools.chain.from_iterable(map(iterate, iterate(items))))


def make_enumerate(items: Any, start: int = 0) -> object:
    return own(enumerate(iterate(items), start))


def make_zip(*items: Any, **named: Any) -> object:
    return own(zip(*[iterate(each) for each in items], **named))  # noqa: B905


def make_map(function: Any, *items: Any) -> object:
    return own(map(callee(function), *[iterate(each) for each in items]))


def make_filter(function: Any, items: Any) -> object:
    return own(filter(callee(function) if function is not None else truth, iterate(items)))


def make_iterator(items: Any, *sentinel: Any) -> object:
    if sentinel:
        return own(iter(callee(items), *sentinel))
    found = iter(iterate(items))
    return found if found is items else own(found)


def take_next(items: Any, *default: Any) -> object:
    check = RUNNING.check
    runtime = check.runtime
    if not runtime.is_elsewhere():
        runtime.note_change()
        model = check.standard.steered(items)
        if model is not items:  # to take a number is a step of its own
            return next(model, *default)
        if check.objects.is_known(items):
            note_generator(items)
            change_all(items)
    return next(items, *default)


def reduce(function: Any, items: Any, *initial: Any) -> object:
    return functools.reduce(callee(function), items_of(items), *initial)


def make_copy(thing: Any) -> object:
    if shape_of(type(thing)) != NO_CONTAINER:
        read_all(thing)
    else:
        note_instances(thing, "copy.copy")
    return copy.copy(thing)


def make_deep_copy(thing: Any, *memo: Any) -> object:
    stable_thing = stable(thing)
    note_instances(stable_thing, "copy.deepcopy")
    return copy.deepcopy(stable_thing, *memo)


def note_instances(thing: Any, name: str) -> None:
    """A function looks at the attributes of all objects in something, which is not seen."""
    objects = RUNNING.check.objects
    kind = type(thing)
    if kind in ATOMS:
        return
    if kind is tuple or shape_of(kind) != NO_CONTAINER:
        for part in parts_of(thing):
            note_instances(part, name)
    elif objects.is_shared(thing) and not is_known(kind):
        objects.note_opaque(name, thing)


def make_dict(kind: Any, *given: Any, **named: Any) -> object:
    return kind(*[pairs_of(each) for each in given], **named)


def make_reversed(items: Any) -> object:
    kind = type(items)
    if shape_of(kind) == INDEXED and not is_own(kind, "__reversed__"):
        return own(ReverseIterator(items))
    return own(reversed(items_of(items)))


# What operator.attrgetter and the like do


def get_attributes(first: str, *others_and_thing: Any) -> object:
    *others, thing = others_and_thing
    found = [load_path(thing, path) for path in (first, *others)]
    return tuple(found) if others else found[0]


def load_path(thing: object, path: str) -> object:
    for name in path.split("."):
        thing = load_attribute(thing, name)
    return thing


def get_items(first: object, *others_and_thing: Any) -> object:
    *others, container = others_and_thing
    found = [load_item(container, key) for key in (first, *others)]
    return tuple(found) if others else found[0]


GETTERS: Final[dict[type, Callable[..., object]]] = {
    operator.attrgetter: get_attributes,
    operator.itemgetter: get_items,
}


READERS: Final = (
    list, tuple, set, frozenset, bytes, bytearray, array, Counter, deque, defaultdict,
    bisect.bisect_left, bisect.bisect_right,
)  # fmt: skip
ORDERERS: Final = (sorted, min, max)
SHOWERS: Final = (str, repr, print, format, ascii)
HARMLESS: Final = {
    isinstance, issubclass, hash, callable, abs, round, divmod, pow, chr, ord, bin, hex,
    oct, globals, locals, __import__,
}  # fmt: skip

BUILTINS: Final[dict[object, Callable[..., object]]] = {
    **{function: partial(call_reading, function) for function in READERS},
    **{function: partial(call_ordering, function) for function in ORDERERS},
    **{function: partial(call_showing, function) for function in SHOWERS},
    dict: partial(make_dict, dict),
    OrderedDict: partial(make_dict, OrderedDict),
    len: length,
    open: open_file,
    id: identify,
    enumerate: make_enumerate,
    zip: make_zip,
    map: make_map,
    filter: make_filter,
    iter: make_iterator,
    any: any_true,
    all: all_true,
    sum: add_all,
    functools.reduce: reduce,
    copy.copy: make_copy,
    copy.deepcopy: make_deep_copy,
    reversed: make_reversed,
    next: take_next,
    itertools.chain.from_iterable: make_chain,
    getattr: load_by_name,
    hasattr: has_attribute,
    setattr: store_attribute,
    delattr: delete_attribute,
}


def entered(manager: Any) -> Any:
    """What a `with` statement enters."""
    check = RUNNING.check
    standard = check.standard
    if check.runtime.is_elsewhere() or type(manager) not in standard.steered_types:
        return manager
    return standard.steered(manager)

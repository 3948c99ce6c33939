"""Calls in rewritten code: what works on containers is announced, what is not rewritten is noted.

A function that is not rewritten runs as one local step. A container that it is given counts as
changed by it; other objects that it is given, and that threads share, are reported.
"""

import bisect
import collections
import contextlib
import csv
import functools
import gc
import inspect
import io
import itertools
import json.encoder
import operator
import string
import sys
import typing
import warnings
from _string import formatter_field_name_split  # type: ignore[import-not-found]
from _thread import _local
from abc import ABCMeta
from array import array
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import Context, ContextVar
from enum import EnumMeta
from functools import partial
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    GenericAlias,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    WrapperDescriptorType,
)
from typing import Any, Final, NewType, TypeVar, cast
from weakref import ref

from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import (
    class_attribute,
    delete_attribute,
    delete_by_descriptor,
    delete_in_class,
    delete_local,
    delete_plainly,
    load_attribute,
    load_by_descriptor,
    load_in_class,
    load_own_of_local,
    load_plainly,
    note_module,
    store_attribute,
    store_by_descriptor,
    store_in_class,
    store_local,
    store_plainly,
)
from mazurka.python.memory.cached_functions import cache_method, call_cached
from mazurka.python.memory.containers import (
    COMPARED_BY,
    HOLDERS,
    MOVERS,
    SHOWN_BY,
    VIEWS,
    ItemIterator,
    Use,
    are_hashed,
    call_method,
    change_all,
    copied,
    copied_holder,
    count_now,
    encodable,
    give,
    has_code,
    hashed,
    in_order,
    is_modelled,
    is_own,
    items_of,
    iterate,
    length,
    load_item,
    memory_of,
    next_of,
    owner_of,
    pairs_of,
    parts_of,
    read_all,
    read_length,
    runs_code,
    shown,
    stable,
    store_item,
    takes_steps,
    taking,
    truth,
    use_opaque,
    users_iterator,
    users_reversed,
    view_method,
)
from mazurka.python.memory.file_system import KINDS, OpenFile, use_files, use_opened
from mazurka.python.memory.identities import OUTSIDE
from mazurka.python.memory.process_state import (
    ProcessState,
    is_of_ctypes,
    look_at_settings,
    use_process,
)
from mazurka.python.memory.quiet import are_coded
from mazurka.python.memory.shapes import (
    ATOMS,
    BUILTIN_FUNCTION,
    FUNCTION,
    INDEXED,
    KEYED,
    METHOD,
    METHODS_OF_C,
    MISSING,
    MODULE,
    NO_CONTAINER,
    PARTIAL,
    CMethodType,
    LruCache,
    contents_of_cell,
    is_coarse,
    is_known,
    is_of_asyncio,
    own_dict,
    shape_of,
    slots_of,
)
from mazurka.python.memory.sorted_lists import STEPWISE
from mazurka.python.rewriting.generated import is_generated
from mazurka.python.rewriting.whose_code import is_known_code
from mazurka.python.source import PACKAGE


class Calls:
    """What the calls of a check need to know, and what they noted."""

    def __init__(
        self, replacements: dict[int, Any], of_classes: dict[tuple[type, str], Any]
    ) -> None:
        self.files: set[str] = set()  # of rewritten code
        self.entrances: dict[int, CodeType] = {}  # of functions there that were not called so far
        self.skipped: set[int] = set()  # functions there that cannot be, by the id of their code
        # The code of functions of which all is seen, whatever they work on; by its id.
        self.transparent: dict[int, CodeType] = {}
        # Other functions of Python that are not, and were called: their code, if they have some.
        self.unseen: dict[str, CodeType | None] = {}
        self.replacements = replacements  # by the identity of what is replaced
        self.of_classes = of_classes  # of methods of classes of C, by class and name
        self.full_caches: set[str] = set()  # cached functions whose caches were full once
        self.late: set[str] = set()  # finalizers of objects that an execution has left
        self.stdout = sys.stdout  # what the user sees
        self.process = ProcessState()

    def note_finalizer(self, name: str, thing: Any) -> None:
        """It is called for an object that an execution has left."""
        if name != FILE_CLOSER or not thing.__dict__.get("close_called"):
            self.late.add(name)

    def skip(self, codes: Iterable[int]) -> None:
        """These are the functions that cannot be rewritten."""
        self.skipped = set(codes)
        self.transparent = {}


# It has nothing to do once the temporary file is closed.
FILE_CLOSER: Final = "tempfile._TemporaryFileCloser.__del__"
REGISTER: Final = ABCMeta.register
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
    if kind is FUNCTION:
        if is_transparent(function):
            return function
        if function in BUILTINS:
            return BUILTINS[function]
    elif kind is METHOD:
        return callee_for_method(function)
    elif kind is BUILTIN_FUNCTION or kind is CMethodType:
        return callee_for_builtin(function)
    elif kind is PARTIAL:
        return partial(callee(function.func), *function.args, **function.keywords)
    elif kind is type or issubclass(kind, type):
        return callee_for_class(function)
    elif kind is MethodWrapperType or kind is WrapperDescriptorType:
        return callee_for_wrapper(function)
    elif kind is MethodDescriptorType:
        return partial(call_unbound, function)
    elif kind is LruCache:
        return callee_for_cached(function)
    elif kind is GenericAlias and shape_of(function.__origin__) != NO_CONTAINER:
        return callee(function.__origin__)  # dict[str, int]()
    elif kind in GETTERS:
        return GETTERS[kind](function)
    replacement = replacement_for(function)
    if replacement is not None:
        return replacement
    if kind is FunctionType and is_of_asyncio(cast(Any, function).__module__):
        return function
    if kind is FunctionType:
        return partial(call_logging if is_logging(function) else call_opaque, function)
    if (check.objects.is_seen(kind) and not is_of_ctypes(kind)) or is_known(kind):
        return function
    if kind is JSON_ENCODER:
        return partial(encode, function)
    runtime.note_change()
    if type(kind.__call__) is WrapperDescriptorType:  # of C
        return partial(call_opaque, function)
    return function  # an object with a __call__ of its own


def callee_of_library(function: Any) -> Any:
    """What a modelled part of the standard library is to call in place of a function. Such a call
    is none of the program's, for which code gets ready: so it must be now."""
    if not RUNNING.check.runtime.is_elsewhere():
        make_ready(function)
    return callee(function)


def make_ready(function: Any) -> None:
    """See to it that methods by which an object or class is called are rewritten."""
    kind = type(function)
    if kind is FUNCTION or kind is METHOD:  # as nearly always: these are made ready anyway
        return
    if kind is PARTIAL:
        make_ready(function.func)
    is_class = issubclass(kind, type)
    owner = function if is_class else kind
    for name in ("__new__", "__init__") if is_class else ("__call__",):
        found = class_attribute(owner, name)
        found = found.__func__ if type(found) is staticmethod else found
        if type(found) is FUNCTION:
            is_rewritten(found)


def is_rewritten(function: Any) -> bool:
    calls = RUNNING.check.calls
    code = function.__code__
    if id(code) in calls.entrances:
        cast(Any, RUNNING.check.code).make_ready(function)
        code = function.__code__
    if code.co_filename not in calls.files:
        return False
    return id(code) not in calls.skipped


def replacement_for(function: object) -> Callable[..., object] | None:
    found: Callable[..., object] | None = RUNNING.check.calls.replacements.get(id(function))
    return found


def replacement_for_class_method(kind: type, name: str) -> Callable[..., object] | None:
    methods = RUNNING.check.calls.of_classes
    for base in kind.__mro__ or ():  # it is None while it is being made
        if (base, name) in methods:
            return partial(methods[base, name], kind)
    return None


def callee_for_cached(function: Any) -> Any:
    """A function with a cache; one that is not rewritten always gives the same, one would hope."""
    return partial(call_cached, function.__wrapped__, function) if has_model(function) else function


def has_model(function: Any) -> bool:
    """Whether a dict stands for the cache of a function."""
    inner = function.__wrapped__
    return type(inner) is FunctionType and is_transparent(inner)


def callee_for_method(function: Any) -> Any:
    inner = function.__func__
    if inner is REGISTER:
        return partial(register, function)
    if type(inner) is LruCache:
        return partial(callee_for_cached(inner), function.__self__)
    if type(inner) is not FUNCTION:
        return partial(callee(inner), function.__self__)
    if id(inner.__code__) in RUNNING.check.calls.transparent:  # as nearly always
        return function
    if is_transparent(inner) and not is_mixed_in(inner, type(function.__self__)):
        return function
    replacement = replacement_for(function)  # of `random.choice`, say: it was imported before
    if replacement is not None:
        return replacement
    replacement = replacement_for(inner)  # of a method that was taken before the check
    if replacement is not None:
        return partial(replacement, function.__self__)
    if is_known(type(function.__self__)):
        return function
    if shape_of(type(function.__self__)) != NO_CONTAINER:
        return container_method(function)
    return partial(call_logging if is_logging(inner) else call_opaque, function)


def is_logging(function: Any) -> bool:
    """Whether a function writes to the log: as with `print`, it is no matter how often."""
    return function.__module__ == "logging" and function.__name__ in LOGGING


LOGGING: Final = {
    "debug", "info", "warning", "error", "exception", "critical", "log",
}  # fmt: skip


def is_transparent(function: FunctionType) -> bool:
    """Whether all that a function does is seen: it is rewritten, or only calls what is."""
    calls = RUNNING.check.calls
    if id(function.__code__) in calls.transparent:  # as nearly always
        return True
    is_seen = is_rewritten(function)
    code = function.__code__
    if not (is_seen or is_glue(code) or code.co_filename.startswith(PACKAGE)):
        return is_ours(function)
    if code.co_filename != MIXINS and id(code) not in calls.entrances:
        calls.transparent[id(code)] = code
    return True


def is_glue(code: CodeType) -> bool:
    return code.co_filename in GLUE and code.co_name not in LOOKING


# Functions of inspect that look at the attributes of what they are given, past its methods.
LOOKING: Final = {"getattr_static", "getmembers", "getmembers_static"}


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
    if owner is None or type(owner) is MODULE or issubclass(type(owner), type):
        replacement = BUILTINS.get(function) or replacement_for(function)
        if replacement is None and isinstance(owner, type):
            replacement = replacement_for_class_method(owner, function.__name__)
        if replacement is not None:
            return replacement
        return function if function in HARMLESS else partial(call_opaque, function)
    kind = type(owner)
    if shape_of(kind) != NO_CONTAINER:
        return container_method(function)
    if kind in VIEWS or kind is MappingProxyType:
        return view_method(function)
    if kind is LruCache:
        return (cache_method(owner, function.__name__) if has_model(owner) else None) or function
    if kind is str or kind is bytes:
        return string_method(function)
    if kind is ContextVar:  # its values are those of the context that the thread runs in
        return partial(set_variable, function) if function.__name__ == "set" else function
    if function.__name__ == "__reduce_ex__" or (
        function.__name__ == "__reduce__" and kind in MOVERS
    ):
        return partial(call_reducing, function)
    if is_known(kind):
        return function
    if kind is Context and function.__name__ == "run":
        return partial(run_in_context, owner)
    replacement = replacement_for(function)
    return partial(call_opaque, function) if replacement is None else replacement


def set_variable(function: Any, value: object) -> object:
    """Others may find the value, in a copy of the context."""
    RUNNING.check.objects.share(value, "")
    return function(value)


def run_in_context(
    our_context: Context, our_function: Any, /, *arguments: Any, **named: Any
) -> object:
    """`context.run(function)`: two threads cannot be in one context, so both ends are steps."""
    change_all(our_context)
    return our_context.run(call_and_leave, our_context, callee(our_function), arguments, named)


def call_and_leave(
    context: Context, function: Any, arguments: tuple[Any, ...], named: dict[str, Any]
) -> object:
    try:
        return function(*arguments, **named)
    finally:
        change_all(context)


def string_method(function: Any) -> Any:
    name = function.__name__
    if name == "format":
        return partial(format_fields, function.__self__)
    if name == "format_map":
        return partial(FieldReader().vformat, function.__self__, ())
    return partial(join_bytes if is_join_of_bytes(function) else call_reading, function)


def is_join_of_bytes(function: Any) -> bool:
    return function.__name__ == "join" and isinstance(function.__self__, bytes | bytearray)


def join_bytes(function: Any, parts: Any) -> object:
    """What `bytes.join` does: the parts may be bytearrays, each of which is read once."""
    given = list(in_order(parts))
    copies = {id(part): items_of(part) for part in given}
    return function([copies[id(part)] for part in given])


def format_fields(template: Any, *arguments: Any, **named: Any) -> str:
    """What `str.format` does. A field may be an attribute or an item of an argument."""
    if "." in template or "[" in template:
        return FieldReader().vformat(template, arguments, named)
    return cast(str, call_showing(template.format, *arguments, **named))


class FieldReader(string.Formatter):
    """Formats text as `str.format` does; what it looks at takes steps."""

    def get_value(self, key: Any, arguments: Any, named: Any) -> Any:
        return arguments[key] if isinstance(key, int) else load_item(named, key)

    def get_field(self, field_name: str, arguments: Any, named: Any) -> Any:
        first, rest = formatter_field_name_split(field_name)
        found = self.get_value(first, arguments, named)
        for is_attribute, name in rest:
            found = load_attribute(found, name) if is_attribute else load_item(found, name)
        return found, first

    def format_field(self, value: Any, format_spec: str) -> str:
        return format(shown(value), format_spec)


def container_method(function: Any) -> Any:
    if function.__name__ == "sort":
        return partial(sort_list, function.__self__)
    if is_join_of_bytes(function):
        read_all(function.__self__)
        return partial(join_bytes, function)
    return partial(call_method, function)


def callee_for_class(kind: Any) -> Any:
    replacement = BUILTINS.get(kind) or replacement_for(kind)
    if replacement is not None:
        return replacement
    if getattr(kind, "__module__", "") == "itertools":
        return partial(make_lazily, kind)
    if shape_of(kind) != NO_CONTAINER and not (is_own(kind, "__init__") or is_own(kind, "__new__")):
        return partial(make_dict if shape_of(kind) == KEYED else call_reading, kind)
    if makes_classes(kind):
        return kind
    if hasattr(kind, "__dataclass_fields__"):
        see_factories(kind)
    return (
        kind if RUNNING.check.objects.is_seen(kind) or is_known(kind) else partial(construct, kind)
    )


def see_factories(kind: type) -> None:
    """The method that makes an instance of a dataclass is not rewritten. It calls what makes the
    values of fields; that may be a method of an object of C, like a count."""
    check = RUNNING.check
    for base in kind.__mro__:
        make = vars(base).get("__init__")
        if type(make) is FUNCTION and is_generated(make.__code__):
            for cell in make.__closure__ or ():
                factory = contents_of_cell(cell)
                if type(factory) in METHODS_OF_C:
                    check.objects.record_of(kind)  # it is shared, and so is what it holds
                    cell.cell_contents = partial(call_factory, factory)
                    check.models.undo.append(partial(setattr, cell, "cell_contents", factory))


def call_factory(factory: Any) -> object:
    return callee(factory)()


def makes_classes(kind: Any) -> bool:
    """Whether a class makes other classes, or types: it looks at its caller, whose they are."""
    return (
        issubclass(kind, type)
        or issubclass(type(kind), EnumMeta)
        or (kind is NewType or kind is TypeVar)
    )


def construct(our_kind: Any, /, *arguments: Any, **named: Any) -> object:
    """Make an instance: what it is given may be given away."""
    objects = RUNNING.check.objects
    objects.share(arguments, "")
    if named:
        objects.share(tuple(named.values()), "")
    return our_kind(*arguments, **named)


def callee_for_wrapper(function: Any) -> Any:
    """Special methods of built-in classes, as `super()` and `object` give them."""
    RUNNING.check.runtime.note_change()
    plain = PLAIN.get(function.__objclass__, {}).get(function.__name__)
    if type(function) is WrapperDescriptorType:
        return plain if plain is not None else partial(call_unbound, function)
    owner = function.__self__
    kind = type(owner)
    if shape_of(kind) != NO_CONTAINER:
        return container_method(function)
    if kind in VIEWS or kind is MappingProxyType:
        return view_method(function)
    if function.__name__ == "__next__":
        return partial(take_next, owner)
    if kind in DESCRIPTORS and function.__name__ in BY_DESCRIPTOR:
        return partial(BY_DESCRIPTOR[function.__name__], owner)
    if plain is not None:
        return partial(plain, owner)
    if (issubclass(kind, HOLDERS) or kind is PARTIAL) and function.__name__ in USING_PARTS:
        return partial(call_on_copy, function)
    if function.__objclass__ in (object, type) or issubclass(kind, BaseException):
        return function
    return partial(call_opaque, function) if RUNNING.check.objects.is_opaque(owner) else function


USING_PARTS: Final = {"__contains__", *SHOWN_BY, *COMPARED_BY} - {"__iter__"}


def call_on_copy(function: Any, *arguments: Any) -> object:
    """Show or compare an object of C, by a method of its class: what it holds is read."""
    use = Use(SHOWN_BY if function.__name__ in SHOWN_BY else COMPARED_BY)
    owner = function.__self__
    if isinstance(owner, HOLDERS):  # a method of the user's may have called this one
        use_opaque(owner, function.__name__)
        copy = copied_holder(owner, use)
    else:
        copy = copied(owner, use)
    plain = getattr(function.__objclass__, function.__name__)
    result: object = plain(copy, *[copied(argument, use) for argument in arguments])
    use.end()
    return result


def call_unbound(our_function: Any, /, *arguments: Any, **named: Any) -> object:
    """`dict.get(table, key)` does what `table.get(key)` does, if that is not overridden."""
    if not arguments:
        return our_function(**named)
    owner = arguments[0]
    return callee(our_function.__get__(owner, type(owner)))(*arguments[1:], **named)


def show_plainly(thing: object) -> object:
    """What object.__str__ does: a class of C may have a text of its own."""
    return call_showing(repr, thing)


PLAIN: Final[dict[type, dict[str, Callable[..., object]]]] = {
    object: {
        "__setattr__": store_plainly,
        "__delattr__": delete_plainly,
        "__getattribute__": load_plainly,
        "__str__": show_plainly,
    },
    type: {
        "__setattr__": store_in_class,
        "__delattr__": delete_in_class,
        "__getattribute__": load_in_class,
    },
    _local: {
        "__setattr__": store_local,
        "__delattr__": delete_local,
        "__getattribute__": load_own_of_local,
    },
}


DESCRIPTORS: Final = (MemberDescriptorType, GetSetDescriptorType)
BY_DESCRIPTOR: Final[dict[str, Callable[..., object]]] = {
    "__get__": load_by_descriptor,
    "__set__": store_by_descriptor,
    "__delete__": delete_by_descriptor,
}


def method(thing: Any, name: str) -> Any:
    """What `thing.name` is to be called as."""
    check = RUNNING.check
    standard = check.standard
    if check.runtime.is_elsewhere():
        return getattr(thing, name)
    kind = type(thing)
    if shape_of(kind) != NO_CONTAINER and not is_own(kind, name):
        found = getattr(thing, name)
        if type(found) in METHODS_OF_C:
            return container_method(found)
    if kind is str:
        return string_method(getattr(thing, name))
    if kind in standard.steered_types:
        thing = standard.steered(thing)
    if name in TAKING_CALLBACKS:
        return partial(call_with_callback, callee(load_attribute(thing, name)))
    return callee(load_attribute(thing, name))


TAKING_CALLBACKS: Final = {"add_done_callback", "callback", "finalize", "push"}


def call_with_callback(our_function: Any, /, *arguments: Any, **named: Any) -> object:
    """Call something that keeps functions, to call them later: methods of containers, say."""
    check = RUNNING.check
    check.runtime.note_change()
    check.objects.share(arguments, "")
    return our_function(*[callback(argument) for argument in arguments], **named)


def callback(argument: Any) -> Any:
    return callee(argument) if type(argument) is BuiltinFunctionType else argument


# Calls of what is not rewritten. (Compiled, a parameter that is given by its position alone cannot
# have the name of one of the user's.)


def call_reducing(function: Any, /, *arguments: Any) -> object:
    """What copies are made from: the attributes of an object, as they are in its `__dict__`."""
    objects = RUNNING.check.objects
    thing = function.__self__
    if type(thing) is itertools.count:
        return count_now(thing).__reduce_ex__(*arguments)
    if type(thing) in MOVERS:  # the copy takes from the same ones
        objects.note_opaque("a copy of an iterator", thing)
    own = own_dict(thing)
    if own is not None:
        objects.dict_of(thing)
        if not own:  # it is left out, so that nobody looks at it later
            read_length(own)
    if is_coarse(type(thing)):  # a file in memory, say
        change_all(thing)
    if slots_of(type(thing)) and objects.is_shared(thing):
        objects.note_opaque("copying", thing)
    return function(*arguments)


def call_reading(our_function: Callable[..., Any], /, *arguments: Any, **named: Any) -> object:
    """Call something that only reads the containers that it is given."""
    if "key" in named:
        named["key"] = callee(named["key"])
    makes_set = isinstance(our_function, type) and issubclass(our_function, (set, frozenset))
    given = hashed if makes_set else in_order
    return our_function(*[given(argument) for argument in arguments], **named)


def call_ordering(
    our_function: Callable[..., Any], /, *arguments: Any, key: Any = None, **named: Any
) -> object:
    """Call something that compares what it is given."""
    if len(arguments) == 1:
        if our_function is not sorted and (type(key) in CODE or is_code_run_for(arguments[0])):
            return our_function(iterate(arguments[0]), key=compared_by(key), **named)
        items = in_list(in_order(arguments[0]), our_function is sorted)
        arguments = (items,)
    else:
        items = list(arguments)
    if key is None and not has_parts(items):
        return our_function(*arguments, **named)
    return our_function(*arguments, key=compared_by(key), **named)


def in_list(items: Any, asks_for_length: bool) -> list[Any]:
    """Items of which there may be code that says how many there are: `sorted` asks for that."""
    return list(items) if asks_for_length else [item for item in items]  # noqa: C416


def call_sorting(function: Any, items: Any, *arguments: Any, **named: Any) -> object:
    """Call something of heapq or bisect, which compares the items of a list, and may move them.
    This is one step, unless code of Python does a part of it."""
    has_key = named.get("key") is not None
    if shape_of(type(items)) == INDEXED and is_modelled(type(items), "__getitem__"):
        parts = [*items, *arguments, *named.values()]
        if has_key or any(runs_code(part) for part in parts) or has_code(parts):
            if has_key:
                named["key"] = callee(named["key"])
            return STEPWISE[function](items, *arguments, **named)
        if function in FINDERS:
            return function(stable(items), *[stable(each) for each in arguments], **named)
    return call_opaque(function, items, *arguments, **named)


def count_elements(mapping: Any, items: Any) -> None:
    """How a Counter counts what it is given: in one step, unless Python code does a part of it."""
    kind = type(mapping)
    is_plain = is_modelled(kind, "get") and is_modelled(kind, "__setitem__")
    is_stepwise = takes_steps(items) or are_hashed(items, False)
    given = iterate(items) if is_stepwise else in_order(items)
    if is_plain and not is_stepwise and not any(runs_code(item) for item in given):
        count_at_once(mapping, given)
        return
    for item in given:
        if is_plain and not runs_code(item):
            count_at_once(mapping, (item,))
        else:
            store_item(mapping, item, method(mapping, "get")(item, 0) + 1)


def count_at_once(mapping: Any, items: Any) -> None:
    give(mapping, (items,))
    change_all(mapping)
    COUNT(mapping, items)


COUNT: Final[Any] = vars(collections)["_count_elements"]


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
    if is_code_run_for(items):
        return iterate(items)
    return taking(items) if issubclass(type(items), Iterator) else in_order(items)


def is_code_run_for(items: Any) -> bool:
    """Whether Python code runs between one item of a container and the next."""
    return shape_of(type(items)) != NO_CONTAINER and has_code(items)


def add_all(items: Any, *start: Any, **named: Any) -> object:
    if is_code_run_for(items):
        return sum(iterate(items), *start, **named)
    given = in_order(items)
    return sum([items_of(item) for item in given], *start, **named)


def call_showing(our_function: Callable[..., Any], /, *arguments: Any, **named: Any) -> object:
    """Call something that reads all that is in what it is given. How often it was shown to the user
    is no matter."""
    options = {name: shown(argument) for name, argument in named.items()}
    return our_function(*[shown(argument) for argument in arguments], **options)


def call_logging(our_function: Callable[..., Any], /, *arguments: Any, **named: Any) -> object:
    """The same for the log, whose settings say whether anything is shown."""
    if RUNNING.check.changeable.learnt:
        look_at_settings()
    return call_showing(our_function, *arguments, **named)


JSON_ENCODER: Final[Any] = vars(json.encoder)["c_make_encoder"]


def encode(encoder: Callable[..., Any], thing: object, level: int) -> object:
    """Call json's encoder of C, which reads all that is in what it is given."""
    return encoder(encodable(thing), level)


def print_shown(*arguments: Any, file: Any = None, **named: Any) -> None:
    """What `print` does. What the user sees is no matter; other files are changed by it."""
    texts = [shown(argument) for argument in arguments]
    file = sys.stdout if file is None else file
    if file is not RUNNING.check.calls.stdout and file is not None:
        RUNNING.check.runtime.note_change()
        if not RUNNING.check.objects.is_seen(type(file)):
            use_files(print, (file,), {})
            touch(print, [file, *held_by(file)], [])
    print(*texts, file=file, **named)


def open_file(file: Any, mode: str = "r", *arguments: Any, **named: Any) -> object:
    """A file that is not opened for reading may be changed by that."""
    if RUNNING.check.changeable.learnt:
        look_at_settings()
    if mode not in ("r", "rb", "rt"):
        RUNNING.check.runtime.note_change()
    use_opened(file, mode)
    return open(file, mode, *arguments, **named)


def call_opaque(our_function: Callable[..., Any], /, *arguments: Any, **named: Any) -> object:
    """Call something of which nothing is known. It counts as a change of what it is given, and of
    what the object holds that it is a method of. If that is one object, of a kind that is known to
    keep to itself, this is one step; else the result says what was not seen."""
    check = RUNNING.check
    objects = check.objects
    check.runtime.note_change()
    owner = getattr(our_function, "__self__", None)
    inner = getattr(our_function, "__func__", our_function)
    use_process(inner, arguments)
    if type(inner) is FunctionType and id(inner.__code__) not in check.calls.skipped:
        check.calls.unseen[full_name_of(our_function)] = inner.__code__
    given = [*arguments, *named.values()]
    use_files(our_function, arguments, named)
    touch(our_function, [owner, *held_by(owner), *given], given)
    for argument in given:
        if type(argument) not in ATOMS:
            objects.share(argument, "")
    return our_function(*arguments, **named)


def touch(function: Any, things: list[Any], given: list[Any]) -> None:
    """C code is about to do something to those of some things that threads share."""
    touched = shared_among(things)
    name = full_name_of(function)
    for thing in told_of(name, touched, given):
        if len(touched) > 1 or not is_one_step(function, thing, given):
            RUNNING.check.objects.note_opaque(name_to_tell(function, name), thing)
    for thing in touched:
        change_all(thing)


def told_of(name: str, touched: list[Any], given: list[Any]) -> list[Any]:
    """What there is to tell of: all that is touched. With a harmless module or a tool, what is its
    own is no matter, nor what it does while there is one thread, to set the scene."""
    if not is_known_code(name):
        return touched
    return shared_among(given) if len(RUNNING.check.runtime.live) > 1 else []


def held_by(owner: Any) -> list[Any]:
    """What an object of C holds: the file that a csv.writer writes to, say."""
    kind = type(owner)
    if kind in ATOMS or issubclass(type(owner), type) or RUNNING.check.objects.is_seen(kind):
        return []
    held = [
        each.__self__ if type(each) in BOUND else each  # others may run code when they are asked
        for each in gc.get_referents(owner)
    ]
    return [each for each in held if not issubclass(type(each), (type, dict))]


BOUND: Final = (BuiltinFunctionType, MethodType, MethodWrapperType)


# Files that write to another one, which they hold.
LAYERS: Final = (
    io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.BufferedRWPair,
)  # fmt: skip


def shared_among(things: list[Any]) -> list[Any]:
    """The containers and the objects of unknown kinds among some things that threads share."""
    objects = RUNNING.check.objects
    found: dict[int, Any] = {}
    looked: set[int] = set()
    waiting = list(things)
    for thing in waiting:  # which grows
        if id(thing) in looked:
            continue
        looked.add(id(thing))
        kind = type(thing)
        if kind in VIEWS or kind is MappingProxyType:
            thing = owner_of(thing)
            kind = type(thing)
        if kind is memoryview:
            waiting.append(memory_of(thing))
        if issubclass(kind, LAYERS):
            waiting.extend(held_by(thing))
        if kind in ATOMS:
            continue
        is_container = shape_of(kind) != NO_CONTAINER
        if is_container and objects.contents_of(thing) is not None:
            found[id(thing)] = thing
        elif is_container or issubclass(kind, tuple):  # of the thread's own
            waiting.extend(parts_of(thing))
        elif issubclass(kind, ItemIterator):
            if objects.is_shared(thing):
                found[id(thing)] = thing
        elif objects.is_opaque(thing) and not is_known(kind):
            found[id(thing)] = thing
    return list(found.values())


def is_one_step(function: Any, thing: Any, given: list[Any]) -> bool:
    """Whether C code does what it does to an object in one go, and to nothing else."""
    objects = RUNNING.check.objects
    if any(
        type(each) in CODE or takes_steps(each) or objects.is_seen(type(each)) for each in given
    ):
        return False
    if shape_of(type(thing)) != NO_CONTAINER:
        return not (are_coded((thing,)) or any(objects.is_shared(part) for part in parts_of(thing)))
    return type(function) is not MethodType and is_coarse(type(thing))


CODE: Final = (FunctionType, MethodType)


def full_name_of(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or type(function).__qualname__
    module = getattr(function, "__module__", None)
    return f"{module}.{name}" if module else name


def name_to_tell(function: Any, name: str) -> str:
    """The same for a method of C with the module of its class, by which users know it: such methods
    have none of their own."""
    if getattr(function, "__module__", None) is None:
        owner = getattr(function, "__objclass__", None) or type(getattr(function, "__self__", None))
        longer = f"{owner.__module__}.{name}"
        if owner.__module__ != "builtins" and not is_known_code(longer):
            return longer
    return name


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


def truth_of(*values: Any) -> bool:
    """What `bool` does."""
    return truth(values[0]) if len(values) == 1 else bool(*values)


def names_of(*things: Any) -> list[str]:
    """What `dir` does, which looks at all attributes of an object."""
    check = RUNNING.check
    if things and not check.runtime.is_elsewhere() and own_dict(things[0]) is not None:
        read_all(check.objects.dict_of(things[0]))
    return dir(*things)


def check_instance(thing: object, kinds: Any) -> bool:
    """What `isinstance` does. Protocols ask for attributes, which may be those of the object."""
    if type(kinds) is type or type(thing) in ATOMS or RUNNING.check.runtime.is_elsewhere():
        return isinstance(thing, kinds)
    if type(kinds) is tuple:
        return any(check_instance(thing, kind) for kind in kinds)
    kind = type(thing)
    if not getattr(kinds, "_is_runtime_protocol", False) or kinds in kind.__mro__:
        return isinstance(thing, kinds)
    names = sorted(vars(typing)["_get_protocol_attrs"](kinds))
    in_classes = {name: class_attribute(kind, name) for name in names}
    if MISSING not in in_classes.values():
        return isinstance(thing, kinds)
    return all(fits(thing, name, kinds, found) for name, found in in_classes.items())


def fits(thing: object, name: str, protocol: Any, in_class: object) -> bool:
    """Whether an object has an attribute of a protocol. None is no method."""
    found = load_by_name(thing, name, MISSING) if in_class is MISSING else in_class
    if found is None:
        return not callable(getattr(protocol, name, None))
    return found is not MISSING


def register(function: Any, kind: type) -> object:
    """What `ABCMeta.register` does. Nobody sees what `isinstance` and `issubclass` find then, nor
    can it be put back."""
    objects = RUNNING.check.objects
    abstract = function.__self__
    if len(RUNNING.check.runtime.live) > 1 or objects.record_of(abstract).owner == OUTSIDE:
        objects.note_opaque("registering a class", abstract)
    return function(kind)


def own(iterator: object, *sources: object) -> object:
    """A new iterator: if other threads take from it, too, they change it. It takes from others."""
    RUNNING.check.objects.record_of(iterator).sources = sources
    return iterator


def make_lazily(our_kind: Any, /, *items: Any, **named: Any) -> object:
    """Make an iterator of itertools, which looks at what it is given when it is asked."""
    if our_kind is itertools.repeat:
        return own(our_kind(*items, **named))
    given = [callee(each) if callable(each) else iterate(each) for each in items]
    made = our_kind(*given, **{name: callee(each) for name, each in named.items()})
    own(made, *[each for each in given if not isinstance(each, int | None)])
    RUNNING.check.standard.steered(made)  # a count has a model, which is its maker's
    return made


def make_chain(items: Any) -> object:
    found = map(iterate, iterate(items))
    return own(itertools.chain.from_iterable(found), found)


def make_enumerate(iterable: Any, start: int = 0) -> object:
    source = iterate(iterable)
    return own(enumerate(source, start), source)


def make_zip(*items: Any, **named: Any) -> object:
    sources = [iterate(each) for each in items]
    return own(zip(*sources, **named), *sources)  # noqa: B905


def make_reader(lines: Any, *dialect: Any, **named: Any) -> object:
    source = iterate(lines)
    return own(csv.reader(source, *dialect, **named), source)


def make_map(function: Any, *items: Any) -> object:
    return own(map(callee(function), *[iterate(each) for each in items]))


def make_filter(function: Any, items: Any) -> object:
    return own(filter(callee(function) if function is not None else truth, iterate(items)))


def make_iterator(items: Any, *sentinel: Any) -> object:
    if sentinel:
        return own(iter(callee(items), *sentinel))
    found = iter(users_iterator(items))
    return found if found is items else own(found)


def take_next(items: Any, *default: Any) -> object:
    check = RUNNING.check
    runtime = check.runtime
    if not runtime.is_elsewhere():
        runtime.note_change()
        model = check.standard.steered(items)
        if model is not items:  # to take a number is a step of its own
            return next(model, *default)
        return next_of(items, *default)
    return next(items, *default)


def reduce(function: Any, items: Any, *initial: Any) -> object:
    is_stepwise = type(function) in CODE or is_code_run_for(items)
    given = iterate(items) if is_stepwise else in_order(items)
    return functools.reduce(callee(function), given, *initial)


def make_dict(our_kind: Any, /, *given: Any, **named: Any) -> object:
    return our_kind(*[pairs_of(each) for each in given], **named)


def make_from_keys(items: Any, *value: Any) -> object:
    if are_hashed(items):
        return dict.fromkeys(iterate(items), *value)
    return dict.fromkeys(items_of(items) if are_coded((items,)) else in_order(items), *value)


def make_reversed(items: Any) -> object:
    return own(users_reversed(items))


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


def call_named(making: Any, thing: object) -> object:
    """What an operator.methodcaller does. `making` is how it was made: with named arguments, by a
    partial."""
    named = making[0].keywords if type(making[0]) is partial else {}
    name, *arguments = making[0].args + making[1] if named else making[1]
    return method(thing, name)(*arguments, **named)


GETTERS: Final[dict[type, Callable[[Any], Callable[..., object]]]] = {
    operator.attrgetter: lambda getter: partial(get_attributes, *getter.__reduce__()[1]),
    operator.itemgetter: lambda getter: partial(get_items, *getter.__reduce__()[1]),
    operator.methodcaller: lambda caller: partial(call_named, caller.__reduce__()),
}


READERS: Final = (
    list, tuple, set, frozenset, bytes, bytearray, array, deque,
)  # fmt: skip
FINDERS: Final = (bisect.bisect_left, bisect.bisect_right)
ORDERERS: Final = (sorted, min, max)
SHOWERS: Final = (str, repr, format, ascii)
HARMLESS: Final = {
    issubclass, hash, callable, abs, round, divmod, pow, chr, ord, bin, hex,
    oct, globals, locals, __import__, ref.__new__,
    # These look at their caller.
    sys._getframe, getattr(sys, "_getframemodulename", sys._getframe), sys.exc_info, warnings.warn,
}  # fmt: skip

BUILTINS: Final[dict[object, Callable[..., object]]] = {
    **{function: partial(call_reading, function) for function in READERS},
    **{function: partial(call_ordering, function) for function in ORDERERS},
    **{function: partial(call_sorting, function) for function in STEPWISE},
    **{function: partial(call_showing, function) for function in SHOWERS},
    dict: partial(make_dict, dict),
    OrderedDict: partial(make_dict, OrderedDict),
    defaultdict: partial(make_dict, defaultdict),
    dict.fromkeys: make_from_keys,
    COUNT: count_elements,
    print: print_shown,
    namedtuple: namedtuple,  # it looks at its caller
    len: length,
    bool: truth_of,
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
    reversed: make_reversed,
    next: take_next,
    itertools.chain.from_iterable: make_chain,
    csv.reader: make_reader,
    getattr: load_by_name,
    hasattr: has_attribute,
    setattr: store_attribute,
    delattr: delete_attribute,
    isinstance: check_instance,
    dir: names_of,
}


def entered(manager: Any) -> Any:
    """What a `with` statement enters."""
    check = RUNNING.check
    standard = check.standard
    if check.runtime.is_elsewhere():
        return manager
    if type(manager) is warnings.catch_warnings:  # for all threads, before Python 3.14
        note_module(warnings, "filters")
    if type(manager) in KINDS:
        return OpenFile(manager)
    if type(manager) not in standard.steered_types:
        return manager
    return standard.steered(manager)

"""The types whose objects two threads share in generated programs, and what can be done to them.

Calls are found by introspection: every method that `dir` gives, every operator, every function of
`builtins` and of some standard modules that takes an object of the type.
"""

import builtins
import importlib
import itertools
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any

HEADER = """
import array, ast, bisect, collections, contextlib, contextvars, copy, csv, dataclasses, functools
import heapq, io, itertools, json, operator, os, pickle, pprint, random, re, statistics, string
import textwrap, threading, types, weakref
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, UserString
from collections import defaultdict, deque


class Plain:
    level = 0

    def __init__(self, v=0):
        self.v = v
        self.w = 0

    @property
    def both(self):
        return self.v, self.w

    @both.setter
    def both(self, value):
        self.v = value
        self.w = value

    def add(self, by=1):
        self.v += by
        return self.v


class Slots:
    __slots__ = ("v", "w", "__weakref__")

    def __init__(self, v=0):
        self.v = v
        self.w = 0


@dataclasses.dataclass
class Data:
    v: object = 0
    w: object = 0


@dataclasses.dataclass(frozen=True)
class Point:
    v: object = 0
    w: object = 0


class Rank:
    \"\"\"Compared by code of its own.\"\"\"

    def __init__(self, v=0):
        self.v = v

    def __eq__(self, other):
        return isinstance(other, Rank) and self.v == other.v

    def __lt__(self, other):
        return self.v < other.v

    def __hash__(self):
        return hash(self.v)

    def __repr__(self):
        return f"Rank({self.v})"


class Table(dict):
    \"\"\"A dict with methods of its own.\"\"\"

    def __setitem__(self, key, value):
        dict.__setitem__(self, key, value)

    def update(self, *others, **named):
        for key, value in dict(*others, **named).items():
            self[key] = value

    def setdefault(self, key, value=None):
        if key not in self:
            self[key] = value
        return self[key]

    def copy(self):
        return Table(self)


class Stack(list):
    def append(self, value):
        list.append(self, value)


class Once:
    \"\"\"A descriptor that keeps its value in the dict of the instance.\"\"\"

    def __init__(self, function):
        self.function = function
        self.name = function.__name__

    def __get__(self, thing, kind=None):
        if thing is None:
            return self
        value = thing.__dict__[self.name] = self.function(thing)
        return value


class Lazy:
    made = 0

    @Once
    def v(self):
        self.made += 1
        return self.made


class Held:
    def __init__(self):
        self.v = 0
        self.call = self.add

    def add(self):
        self.v += 1
        return self.v


class Box:
    def __init__(self):
        self.a, self.b, self.c, self.d = 1, [1, 2], {"m": 3}, 4

    def given(self, *args, **named):
        return given(*args, **named)


class Kept:
    def __init__(self, box):
        self.box = box

    def __enter__(self):
        return self.box.a

    def __exit__(self, *error):
        self.box.a += 1


def given(*args, **named):
    return args, named


def decorator(value):
    return lambda function: lambda: (value, function())


def counting(n=3):
    for each in range(n):
        yield each


def items_of(*items):
    for each in items:
        yield each


def view_of(thing):
    \"\"\"A value as text, whatever it is.\"\"\"
    if isinstance(thing, (str, bytes, int, float, type(None))):
        return re.sub("0x[0-9a-f]+", "0x", str(thing))
    if isinstance(thing, type(os.environ)):
        return f"{thing.get('MAZURKA_A')} {thing.get('MAZURKA_C')}"
    if isinstance(thing, Box):
        return " ".join([view_of(each) for each in (thing.a, thing.b, thing.c, thing.d)])
    if isinstance(thing, threading.Thread):
        return f"{thing.name} {thing.daemon}"
    if isinstance(thing, contextvars.ContextVar):
        return f"variable {thing.get()}"
    if isinstance(thing, contextvars.Context):
        return f"context {[str(value) for name, value in thing.items() if name.name == 'v']}"
    if isinstance(thing, types.SimpleNamespace):  # its own text is made by code that is not seen
        return f"namespace {view_of(getattr(thing, 'v', '-'))} {view_of(getattr(thing, 'w', '-'))}"
    if isinstance(thing, WITH_ATTRIBUTES) or getattr(thing, "__name__", "") == "Kind":
        values = view_of(getattr(thing, "v", "-")), view_of(getattr(thing, "w", "-"))
        return f"{type(thing).__name__}({', '.join(values)})"
    if isinstance(thing, io.TextIOWrapper):
        return view_of(thing.buffer) if not thing.closed else "closed"
    if isinstance(thing, (io.StringIO, io.BytesIO)):
        return f"{thing.getvalue()!r}@{thing.tell()}" if not thing.closed else "closed"
    if isinstance(thing, SEQUENCES):
        return f"{type(thing).__name__}[{', '.join([view_of(each) for each in thing])}]"
    if isinstance(thing, (set, frozenset)):
        return f"{type(thing).__name__}[{', '.join(sorted([view_of(each) for each in thing]))}]"
    if isinstance(thing, MAPPINGS):
        pairs = [f"{view_of(key)}: {view_of(thing[key])}" for key in list(thing)]
        return f"{type(thing).__name__}[{', '.join(pairs)}]"
    if hasattr(thing, "__next__"):
        return f"iterator[{', '.join([view_of(each) for each in itertools.islice(thing, 5)])}]"
    if callable(thing):
        return "callable"
    text = repr(thing)
    return type(thing).__name__ if " at 0x" in text else text


WITH_ATTRIBUTES = (Plain, Slots, Held, Lazy, types.FunctionType, types.ModuleType)
SEQUENCES = (tuple, list, deque, UserList, array.array,
             *map(type, ({}.keys(), {}.values(), {}.items())))
MAPPINGS = (dict, UserDict, ChainMap, types.MappingProxyType, weakref.WeakKeyDictionary,
            weakref.WeakValueDictionary)


def environment():
    real = os.environ
    names = real.encodekey, real.decodekey, real.encodevalue, real.decodevalue
    return type(real)({b"MAZURKA_A": b"0"}, *names)


def module_with(**names):
    module = types.ModuleType("made")
    vars(module).update(names)
    return module


def function_with(**names):
    def made():
        return made.v

    vars(made).update(names)
    return made
"""

# How a call is done by syntax: `x` is what threads share, `$` an argument.
OPERATORS = [
    "x + $", "x - $", "x * $", "x | $", "x & $", "x ^ $", "x @ $", "x % $", "$ + x", "$ - x",
    "$ | x", "$ & x", "$ ^ x", "$ * x", "$ % x", "x == $", "x != $", "x < $", "x <= $", "x > $",
    "x >= $", "x[$]", "$ in x", "not x", "bool(x)", "len(x)", "[*x]", "(*x,)", "{*x}", "{**x}",
    "[each for each in x]", "[each for each in x if each]", "{each for each in x}", "f'{x}'",
    "'%s' % (x,)", "'{}'.format(x)", "sum(each for each in x)", "x is $", "-x", "~x", "x()",
    "'{0[0]}'.format(x)", "'{0[a]}'.format(x)", "'{0.v}'.format(x)", "x.v", "x.both", "x.w",
    "getattr(x, 'v', None)", "hasattr(x, 'w')", "vars(x)", "x.__dict__", "str.format('{0.v}', x)",
    "dict(a=x)", "next(x)", "next(x, None)", "list(zip(x, x))", "list(zip(x, 'ab'))",
    "list(enumerate(x))", "dict(zip('ab', x))", "tuple(reversed(x))", "list(map(str, x))",
    "list(filter(None, x))", "list(itertools.islice(x, 2))", "[*map(view_of, x)]",
    "dict.fromkeys(x)", "dict.fromkeys(x, 0)", "'-'.join(x)", "any(x)", "all(x)",
    "x.call()", "x.add()", "operator.attrgetter('v')(x)", "operator.attrgetter('v', 'w')(x)",
    "operator.itemgetter(0)(x)", "operator.itemgetter('a')(x)", "operator.methodcaller('copy')(x)",
    "operator.methodcaller('add')(x)", "max(x, default=None)", "sorted(x, key=view_of)",
    "functools.reduce(operator.add, x)", "functools.partial(view_of, x)()",
    "print('p', file=x)", "csv.writer(x).writerow([1, 'a'])", "string.Template('$v').substitute(x)",
    "dataclasses.asdict(x)", "dataclasses.astuple(x)", "dataclasses.replace(x, v=5)",
    "{x: 1}[x]", "x in {x: 1}", "json.dumps(x)", "pickle.loads(pickle.dumps(x))",
    "str(x)", "repr(x)", "print(x, file=io.StringIO())", "'%(a)s' % x", "'{a}'.format_map(x)",
    "'{a}'.format(**x)", "collections.Counter(x)", "isinstance(x, collections.abc.Mapping)",
    "[each async for each in x]",
    "copy.copy(x)", "copy.deepcopy(x)", "pprint.pformat(x)", "heapq.heapify(x)",
    "heapq.heappush(x, 1)", "heapq.heappop(x)", "heapq.nsmallest(1, x)", "heapq.merge(x, [1])",
    "bisect.bisect(x, 1)", "bisect.insort(x, 1)", "bisect.insort(x, 1, key=lambda each: each)",
    "x.sort(key=lambda each: each)", "x.extend(each for each in [7, 8])",
    "x.extend(items_of(7, 8))", "x.update((each, 7) for each in 'bc')", "x.update(items_of(7, 8))",
    "x.join(['a', 'b'])", "id(x) == id(x)", "hash(x) == hash(x)",
]  # fmt: skip
STATEMENTS = [
    "x += $", "x -= $", "x |= $", "x &= $", "x ^= $", "x *= $", "x[$] = $", "del x[$]",
    "x[$] += 1", "x.v = 5", "x.v += 1", "x.w = x.v", "x.both = 5", "del x.v", "setattr(x, 'v', 5)",
    "delattr(x, 'v')", "x.__dict__ = {'v': 5, 'w': 5}", "x.__class__ = Slots",
    "x.__dict__['v'] = 5", "x.__dict__.update(v=5, w=5)", "object.__setattr__(x, 'v', 5)",
    "a, *b = x\nresult = (a, b)", "first, second = x\nresult = (first, second)",
    "for each in x:\n    result = each",
    "result = []\nfor each in x:\n    result.append(each)",
    "with contextlib.redirect_stdout(x):\n    print('r')",
    "match x:\n    case [one, *rest]:\n        result = one, rest\n"
    "    case {'a': one}:\n        result = one",
]  # fmt: skip

# Functions of these modules are tried with the object as one of their arguments.
MODULES = (
    "builtins", "bisect", "collections", "copy", "functools", "heapq", "itertools", "json",
    "operator", "pickle", "pprint", "statistics",
)  # fmt: skip
LEFT_OUT = {
    "breakpoint", "compile", "copyright", "credits", "eval", "exec", "exit", "help", "input",
    "license", "open", "print", "quit", "super", "__import__", "__build_class__", "globals",
    "locals", "vars", "dir", "memoryview", "id", "hash", "object", "type", "namedtuple",
    "count", "cycle", "repeat", "load", "dump", "Pickler", "PickleBuffer", "Unpickler",
    "pprint", "pp",
    "singledispatch", "singledispatchmethod", "cache", "lru_cache", "wraps", "update_wrapper",
    "total_ordering", "cached_property", "partialmethod", "property", "staticmethod",
    "classmethod", "__class__", "__init_subclass__", "__subclasshook__", "__new__", "__init__",
    "__dir__", "__doc__", "__sizeof__", "__reduce__", "__reduce_ex__", "__getattribute__",
    "__setattr__", "__delattr__", "__class_getitem__", "__getstate__", "__setstate__",
    "__getnewargs__", "__del__", "__hash__", "__release_buffer__", "__buffer__", "detach",
    "buffer_info", "fileno", "NormalDist", "JSONDecoder", "PrettyPrinter", "_CData",
}  # fmt: skip


@dataclass(frozen=True)
class SharedType:
    """A type, and what the thread beside does to its objects: its probes."""

    name: str
    make: str  # an object
    arguments: tuple[str, ...]
    probes: tuple[str, ...]
    data: str  # what the object is made from, `d`: a dict for its view, say


def shared(name: str, make: str, arguments: str, *probes: str, d: str = "None") -> SharedType:
    """`arguments` are separated by semicolons."""
    return SharedType(name, make, tuple(arguments.split(";")), probes, d)


LIST_PROBES = (
    "x.append(7)",
    "x[0] = 9",
    "x.pop(0)",
    "x.append(5)\nx.append(6)",
    "result = len(x), list(x)",
)
DICT_PROBES = (
    "x['a'] = 9",
    "x['c'] = 7",
    "x.pop('a', None)",
    "x['c'] = 5\nx['d'] = 6",
    "result = len(x), list(x.items())",
    "x.clear()",
)
SET_PROBES = ("x.add(7)", "x.discard(0)", "x.add(5)\nx.add(6)", "result = len(x), sorted(x)")
OBJECT_PROBES = ("x.v = 9", "x.v = 8\nx.w = 8", "result = x.v, x.w", "x.v += 1")
ITERATOR_PROBES = (
    "result = next(x, None)",
    "result = next(x, None), next(x, None)",
    "result = list(x)",
)
FILE_PROBES = ("x.write('zz')", "x.seek(0)\nx.write('q')", "result = x.read()", "x.truncate(0)")

TYPES = [
    shared("list", "[0, 1]", "0;1;7;[7, 8];[0];slice(0, 1);2", *LIST_PROBES),
    shared("list of lists", "[[0], [1]]", "0;[0];[7]", "x[0].append(7)", "x.pop(0)", "x[0] = [9]"),
    shared("list of objects", "[Rank(1), Rank(0)]", "0;Rank(0);[Rank(2)]", "x.append(Rank(7))",
           "x[0].v = 9", "x.pop(0)", "result = len(x), view_of(x)"),
    shared("list subclass", "Stack([0, 1])", "0;1;7;[7, 8]", *LIST_PROBES),
    shared("dict", "{'a': 0, 'b': 1}", "'a';'c';{'c': 7};0;[('c', 7)]", *DICT_PROBES),
    shared("dict of objects", "{Point(0): Plain(0)}", "Point(0);Point(1);{Point(2): 3};0",
           "x[Point(0)] = 9", "x[Point(1)] = 7", "x.pop(Point(0), None)", "result = len(x)",
           "result = x.get(Point(0)) is None, Point(1) in x"),
    shared("dict by rank", "{Rank(0): 0}", "Rank(0);Rank(1);{Rank(2): 3};0", "x[Rank(0)] = 9",
           "x[Rank(1)] = 7", "x.pop(Rank(0), None)", "result = len(x), Rank(1) in x"),
    shared("dict subclass", "Table(a=0, b=1)", "'a';'c';{'c': 7};0", *DICT_PROBES),
    shared("dict_keys", "d.keys()", "'a';'c';{'a', 'c'};['a'];{'a': 1}.keys()", "d.update(c=7)",
           "d.pop('a', None)", "d.clear()", "d['c'] = 5\nd.pop('a', None)", d="{'a': 0, 'b': 1}"),
    shared("keys of OrderedDict", "d.keys()", "'a';{'a', 'c'}", "d.update(c=7)",
           "d.move_to_end('a')", d="OrderedDict(a=0, b=1)"),
    shared("dict_items", "d.items()", "('a', 0);('c', 7);{('a', 0)};[('a', 0)]", "d.update(c=7)",
           "d['a'] = 9", "d.clear()", d="{'a': 0, 'b': 1}"),
    shared("dict_values", "d.values()", "0;7;[0, 1]", "d.update(c=7)", "d['a'] = 9", "d.clear()",
           d="{'a': 0, 'b': 1}"),
    shared("set", "{0, 1}", "0;7;{0, 7};[0, 7];frozenset([0])", *SET_PROBES),
    shared("set of objects", "{Point(0), Point(1)}", "Point(0);Point(7);{Point(0)}",
           "x.add(Point(7))", "x.discard(Point(0))", "result = len(x)"),
    shared("bytearray", "bytearray(b'ab')", "0;97;b'ab';b'c';slice(0, 1);'ascii'", "x.append(99)",
           "x[0] = 120", "x.clear()", "x.extend(b'yz')\nx.pop(0)", "result = len(x), bytes(x)"),
    shared("memoryview", "memoryview(d)", "0;97;b'ab';slice(0, 1);b'c'", "x[0] = 99",
           "x[0] = 98\nx[1] = 98", "result = bytes(x), x[0]", "d[0] = 97", "result = bytes(d)",
           d="bytearray(b'ab')"),
    shared("array", "array.array('i', [0, 1])", "0;7;[7, 8];array.array('i', [7]);slice(0, 1)",
           *LIST_PROBES),
    shared("deque", "deque([0, 1])", "0;1;7;[7, 8];deque([7])", "x.append(7)", "x.popleft()",
           "x[0] = 9", "x.append(5)\nx.popleft()", "result = len(x), list(x)"),
    shared("bounded deque", "deque([0, 1], 2)", "0;7;[7, 8]", "x.append(7)", "x.popleft()",
           "result = len(x), list(x)"),
    shared("defaultdict", "defaultdict(list, a=[0])", "'a';'c';{'c': 7}", "x['a'] = 9", "x['c']",
           "x.pop('a', None)", "result = len(x), list(x)"),
    shared("defaultdict with function", "defaultdict(lambda: 3, a=0)", "'a';'c'", "x['a'] = 9",
           "x['c']", "x['c'] = 4", "result = len(x), list(x)"),
    shared("OrderedDict", "OrderedDict(a=0, b=1)", "'a';'c';{'c': 7};0", *DICT_PROBES,
           "x.move_to_end('a')"),
    shared("Counter", "Counter(a=1, b=2)", "'a';'c';{'a': 1};'ab';0", "x['a'] += 1",
           "x.update('ac')", "result = x['a'], sum(x.values())", "x.pop('a', None)"),
    shared("ChainMap", "ChainMap({'a': 0}, {'b': 1})", "'a';'c';{'c': 7};0", "x['a'] = 9",
           "x['c'] = 7", "x.pop('a', None)", "x.maps[1]['b'] = 5", "result = len(x), list(x)"),
    shared("UserDict", "UserDict(a=0, b=1)", "'a';'c';{'c': 7}", "x['a'] = 9", "x['c'] = 7",
           "x.pop('a', None)", "result = len(x), list(x.items())"),
    shared("UserList", "UserList([0, 1])", "0;1;7;[7, 8]", *LIST_PROBES),
    shared("list iterator", "iter(d)", "0;1", *ITERATOR_PROBES, "d.append(7)", d="[0, 1, 2]"),
    shared("dict iterator", "iter(d)", "0;'a'", *ITERATOR_PROBES, "d['a'] = 9", "d['c'] = 7",
           d="{'a': 0, 'b': 1}"),
    shared("set iterator", "iter(d)", "0;1", *ITERATOR_PROBES, "d.add(7)", d="{0, 1}"),
    shared("deque iterator", "iter(d)", "0;1", *ITERATOR_PROBES, "d.append(7)", d="deque([0, 1])"),
    shared("range iterator", "iter(range(3))", "0;1", *ITERATOR_PROBES),
    shared("enumerate", "enumerate('abc')", "0;'a'", *ITERATOR_PROBES),
    shared("zip", "zip(d, 'abc')", "0", *ITERATOR_PROBES, "d.append(7)", d="[0, 1]"),
    shared("map", "map(str, d)", "'0'", *ITERATOR_PROBES, "d.append(7)", d="[0, 1]"),
    shared("map of function", "map(lambda each: each, [0, 1, 2])", "0", *ITERATOR_PROBES),
    shared("filter", "filter(None, [1, 0, 2])", "1", *ITERATOR_PROBES),
    shared("reversed", "reversed(d)", "1", *ITERATOR_PROBES, "d.append(7)", "d.pop()",
           d="[0, 1, 2]"),
    shared("generator", "counting()", "0", *ITERATOR_PROBES),
    shared("generator expression", "(each for each in [0, 1])", "0", *ITERATOR_PROBES),
    shared("chain", "itertools.chain(d, [2])", "0", *ITERATOR_PROBES, "d.append(7)", d="[0, 1]"),
    shared("islice", "itertools.islice([0, 1, 2], 3)", "0", *ITERATOR_PROBES),
    shared("accumulate", "itertools.accumulate([0, 1, 2])", "0", *ITERATOR_PROBES),
    shared("count", "itertools.islice(itertools.count(), 3)", "0", *ITERATOR_PROBES),
    shared("cycle", "itertools.islice(itertools.cycle([0, 1]), 3)", "0", *ITERATOR_PROBES),
    shared("product", "itertools.product([0, 1], repeat=1)", "(0,)", *ITERATOR_PROBES),
    shared("groupby", "itertools.groupby([0, 0, 1])", "0", "result = next(x, (None,))[0]"),
    shared("tee", "itertools.tee([0, 1, 2])[0]", "0", *ITERATOR_PROBES),
    shared("pairwise", "itertools.pairwise([0, 1, 2])", "0", *ITERATOR_PROBES),
    shared("StringIO", "io.StringIO('ab\\ncd')", "'q';0;['q', 'r'];1", *FILE_PROBES),
    shared("BytesIO", "io.BytesIO(b'ab\\ncd')", "b'q';0;[b'q'];1;bytearray(2)", "x.write(b'zz')",
           "x.seek(0)\nx.write(b'q')", "result = x.read()", "x.truncate(0)"),
    shared("TextIOWrapper", "io.TextIOWrapper(d, write_through=True)", "'q';0;1", "x.write('zz')",
           "x.seek(0)", "result = x.read()", "result = d.getvalue()", d="io.BytesIO(b'ab')"),
    shared("csv writer", "csv.writer(d)", "[1, 2];[[1, 2]]", "x.writerow('ab')", "d.write('q')",
           "result = d.getvalue()", "x.writerows(['ab', 'cd'])", d="io.StringIO()"),
    shared("ContextVar", "contextvars.ContextVar('v', default=0)", "7", "x.set(5)",
           "result = x.get()"),
    shared("Context", "contextvars.Context()", "d;d.get", "x.run(d.set, 5)",
           "result = list(x.values())[-1:]", "result = x.run(d.get)",
           d="contextvars.ContextVar('v', default=0)"),
    shared("SimpleNamespace", "types.SimpleNamespace(v=0, w=0)", "types.SimpleNamespace(v=0, w=0)",
           *OBJECT_PROBES),
    shared("mappingproxy", "types.MappingProxyType(d)", "'a';'c';{'c': 7};{'a': 0, 'b': 1}",
           "d.update(c=7)", "d['a'] = 9", "d.clear()", d="{'a': 0, 'b': 1}"),
    shared("WeakValueDictionary", "weakref.WeakValueDictionary({'a': d[0]})",
           "'a';'c';d[1];{'c': d[1]}",
           "x['c'] = d[1]", "x.pop('a', None)", "result = len(x), list(x)",
           d="[Plain(0), Plain(1)]"),
    shared("WeakKeyDictionary", "weakref.WeakKeyDictionary({d[0]: 0})", "d[0];d[1];{d[1]: 7}",
           "x[d[1]] = 7", "x.pop(d[0], None)", "result = len(x), list(x.values())",
           d="[Plain(0), Plain(1)]"),
    shared("proxy", "weakref.proxy(d)", "0;Plain(0)", *OBJECT_PROBES, d="Plain(0)"),
    shared("weak reference", "weakref.ref(d)", "0", "x().v = 9", "result = x().v, x().w",
           d="Plain(0)"),
    shared("plain object", "Plain(0)", "0;7;Plain(0)", *OBJECT_PROBES),
    shared("slots", "Slots(0)", "0;Slots(0)", *OBJECT_PROBES),
    shared("dataclass", "Data(0, 0)", "0;Data(0, 0);Data(9, 0)", *OBJECT_PROBES),
    shared("dataclass of lists", "Data([0], {'a': 0})", "0;Data([0], {'a': 0})", "x.v.append(7)",
           "x.w['c'] = 7", "x.v = 5", "x.v.append(5)\nx.w['c'] = 5"),
    shared("ranked object", "Rank(0)", "Rank(0);Rank(9);0", "x.v = 9", "result = x.v"),
    shared("lazy object", "Lazy()", "0", "result = x.v", "x.v = 9", "x.__dict__.pop('v', None)"),
    shared("held call", "Held()", "0", "x.call()", "x.call = None", "x.v = 9"),
    shared("exception", "ValueError(0)", "0;None;(5,);ValueError(1)", "x.args = (5,)",
           "result = x.args",
           "x.v = 5"),
    shared("thread", "threading.Thread(name='t')", "0", "x.name = 'u'", "result = x.name",
           "x.daemon = True"),
    shared("environ", "environment()", "'MAZURKA_A';'MAZURKA_C';{'MAZURKA_C': '7'}",
           "x['MAZURKA_A'] = '9'",
           "x['MAZURKA_C'] = '7'", "x.pop('MAZURKA_A', None)",
           "result = x.get('MAZURKA_A'), 'MAZURKA_C' in x"),
    shared("partial", "functools.partial(view_of, d)", "0", "d.append(7)", d="[0]"),
    shared("class", "type('Kind', (), {'v': 0, 'w': 0})", "0", *OBJECT_PROBES),
    shared("module", "module_with(v=0, w=0)", "0", *OBJECT_PROBES),
    shared("function", "function_with(v=0, w=0)", "0", *OBJECT_PROBES),
    shared("ExitStack", "contextlib.ExitStack()", "print;view_of", "x.callback(view_of, 0)",
           "x.close()"),
    shared("Random", "random.Random(0)", "0;1;[0, 1]", "result = x.random()", "x.seed(1)"),
]  # fmt: skip


Pair = tuple[str, str]  # what two threads do: statements, which leave something in `result`


@cache
def names() -> dict[str, Any]:
    """What the header defines."""
    found: dict[str, Any] = {}
    exec(HEADER, found)
    return found


def pairs_on(kind: SharedType) -> list[Pair]:
    """All that can be done to an object of a type, each with one way to call it for each number of
    arguments: operators and methods beside every probe, functions beside the first."""
    found: dict[str, tuple[str, ...]] = {}
    for call in itertools.chain(by_syntax(kind), methods(kind)):
        found[call] = kind.probes
    for call in functions(kind):
        found.setdefault(call, kind.probes[:1])
    return [(call, probe) for call, probes in found.items() for probe in probes]


def by_syntax(kind: SharedType) -> Iterator[str]:
    for template in [*map("result = {}".format, OPERATORS), *STATEMENTS]:
        yield from tried(kind, list(fill(template, kind.arguments)))


def fill(template: str, arguments: tuple[str, ...]) -> Iterator[str]:
    holes = template.count("$") if "$v" not in template else 0
    for chosen in itertools.product(arguments, repeat=holes):
        text = template
        for argument in chosen:
            text = text.replace("$", f"({argument})" if argument[:1] not in "[{(" else argument, 1)
        yield text


def methods(kind: SharedType) -> Iterator[str]:
    names_of = run(kind, "result = dir(x)")[1]
    for name in names_of:
        is_private = name.startswith("_") and not name.endswith("__")
        if name in LEFT_OUT or is_private:
            continue
        if run(kind, f"result = callable(x.{name})")[1] is True:
            yield from with_arguments(kind, f"x.{name}", [])


def functions(kind: SharedType) -> Iterator[str]:
    for module_name in MODULES:
        module = importlib.import_module(module_name)
        prefix = "" if module is builtins else f"{module_name}."
        for name, function in sorted(vars(module).items()):
            if is_tried(module, name, function):
                yield from with_arguments(kind, prefix + name, ["x"])
                yield from tried(kind, [f"result = {prefix}{name}(view_of, x)"])


def is_tried(module: ModuleType, name: str, function: object) -> bool:
    if name.startswith("_") or name in LEFT_OUT or not callable(function):
        return False
    if isinstance(function, type) and issubclass(function, BaseException):
        return False
    public = getattr(module, "__all__", None)
    return public is None or name in public


def with_arguments(kind: SharedType, function: str, first: list[str]) -> Iterator[str]:
    for count in range(3):
        more = itertools.product(kind.arguments, repeat=count)
        yield from tried(
            kind, [f"result = {function}({', '.join([*first, *each])})" for each in more]
        )
    if first:
        yield from tried(kind, [f"result = {function}({each}, x)" for each in kind.arguments])


def tried(kind: SharedType, texts: list[str]) -> Iterator[str]:
    """The first of some calls that works; if none does, the first that fails as Python code may."""
    failing: dict[type[BaseException], str] = {}
    for text in texts:
        error, _ = run(kind, text)
        if error is None:
            yield text
            return
        failing.setdefault(error, text)
    for error, text in failing.items():
        if issubclass(error, LookupError | ValueError | RuntimeError):
            yield text
            return


def run(kind: SharedType, text: str) -> tuple[type[BaseException] | None, Any]:
    """Try statements on a new object: how they fail, and their result."""
    variables: dict[str, Any] = dict(names())
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(f"d = {kind.data}\nx = {kind.make}\nresult = None\n{text}", variables)
    except BaseException as error:
        return type(error), None
    return None, variables["result"]


def source_of(kind: SharedType, calls: list[str]) -> str:
    """A module with a function for each call; its `main` runs two of them in two threads."""
    functions = "\n\n".join([function_of(f"call{n}", call) for n, call in enumerate(calls)])
    make = f"def make():\n    d = {kind.data}\n    x = {kind.make}\n    return x, d\n"
    return f"{HEADER}\n\n{make}\n\n{functions}\n{MAIN}"


def function_of(name: str, call: str) -> str:
    body = textwrap.indent(call, " " * 8)
    return (
        f"def {name}(x, d, got, place):\n    result = None\n    try:\n{body}\n"
        f"        got[place] = result\n"
        f"    except Exception as error:\n        got[place] = type(error).__name__\n"
    )


MAIN = """
def shown(x, d, got):
    return " | ".join([tried_view(x), tried_view(d), tried_view(got[0]), tried_view(got[1])])


def tried_view(thing):
    try:
        return view_of(thing)
    except Exception as error:
        return type(error).__name__


def main(one, other):
    x, d = make()
    got = [None, None]
    threads = [
        threading.Thread(target=one, args=(x, d, got, 0)),
        threading.Thread(target=other, args=(x, d, got, 1)),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return shown(x, d, got)
"""

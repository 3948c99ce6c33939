"""Rewritten code does what the original does, and announces every access."""

import ast
import importlib
import inspect
import sys
import textwrap
import types
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mazurka.python.rewriting.rewrite import (
    bind,
    is_helper,
    parsed,
    rewritten,
    stored_names,
)
from tests.python.rewriting.recording_hooks import PLAIN, recording

# Every snippet gives its result as `run()`. `log(x)` records that it was evaluated, and gives x.
SNIPPETS: dict[str, str] = {}


def snippet(name: str, source: str, since: tuple[int, int] = (3, 11)) -> None:
    if sys.version_info >= since:
        SNIPPETS[name] = textwrap.dedent(source)


snippet(
    "attributes and items",
    """
    class Box: pass
    def run():
        box = Box()
        box.x = box.y = log(1)
        box.items = {"a": [1, 2, 3]}
        box.items["a"][0] = box.x + box.y
        box.items["a"][1:] = [7, 8, 9]
        del box.x, (box.y)
        del box.items["a"][::2]
        return vars(box), hasattr(box, "x"), box.items["a"][-1:]
    """,
)
snippet(
    "order of evaluation in assignments",
    """
    class Box: pass
    def run():
        box, items = Box(), {}
        log(box).x = log(1)
        log(items)[log("k")] = log(2)
        log(box).y, log(items)[log("j")] = log(3), log(4)
        log(items)[log("k")] += log(5)
        log(box).x -= log(6)
        log(box).z = log(items)[log("i")] = log(7)
        items[log("h")] = log(8)
        return vars(box), items
    """,
)
snippet(
    "order of evaluation in expressions",
    """
    def f(*args, **kwargs): return args, kwargs
    def run():
        return (
            log(f)(log(1), *log([2]), log(3), a=log(4), **log({"b": 5})),
            log(1) in log([1, 2]), log(3) not in log([3]),
            log(1) + log(2) * log(3) ** log(2) - log(4) // log(3) % log(2),
            [log(1), *log((2, 3))], {log(1), *log({2})}, {log("k"): log("v"), **log({"w": 1})},
            log([1, 2, 3])[log(0):log(3):log(2)],
        )
    """,
)
snippet(
    "chained comparisons",
    """
    def run():
        a, b, c = log(1), 2, 3
        return [
            log(1) < log(2) < log(3), log(3) < log(2) < log(1), log(1) < b <= c != log(4),
            log(1) < (x := log(2)) < log(3), x, log(0) < log(a) == log(1) in log([1]),
            a < b < c, log(1) < 2 < log(3), log(a) is log(a) is not log(None) == log(None),
            [log(y) < log(y + 1) < log(5) < log(9) for y in (1, 5)],
            [log(y) < (z := log(y + 1)) < log(5) for y in (1, 5)], z,
            [y for y in ([1] if log(1) < log(2) < log(3) else [2])],
            list(log(y) < log(2) < log(3) for y in (1, 2)),
            [y for y in (lambda: [log(0) < log(a) < log(9)])()],
        ]
    """,
)
snippet(
    "conditions",
    """
    class Falsy:
        def __init__(self, name): self.name = name
        def __bool__(self): log(self.name); return False
        def __repr__(self): return self.name
    def run():
        f, empty, full = Falsy("f"), [], [1]
        result = [f or empty, f and full, empty or full or f, full and f, not f, not full]
        result += [1 if f else 2, (f or full) and empty, f is None or full]
        if f or not empty and full: result.append("if")
        while full and not (empty and f): full = full[1:]
        assert not empty, log("message")
        try:
            assert empty or f, log("failed")
        except AssertionError as error:
            result.append(str(error))
        return result + [x for x in [0, 1, [], [2]] if x if not isinstance(x, int) or x]
    """,
)
snippet(
    "unpacking",
    """
    class Box: pass
    def run():
        box, items = Box(), [0, 0]
        a, (b, *c), d = 1, iter([2, 3, 4]), 5
        (box.x, items[0]), [e, *box.rest] = [(1, 2), (3, 4, 5)]
        for i, (j, k) in enumerate([(1, 2), (3, 4)]): log((i, j, k))
        for box.y in [1, 2]: pass
        for items[1], f in {1: 2}.items(): pass
        *g, h = "abc"
        try:
            a, b = log([1, 2, 3])
        except ValueError as error:
            log(str(error))
        try:
            a, (b, d) = 10, log(5)
        except TypeError as error:
            log(str(error))
        return a, b, c, d, e, f, g, h, i, j, k, vars(box), items
    """,
)
snippet(
    "comprehensions",
    """
    class Box: pass
    def run():
        box = Box()
        pairs = [(1, (2, 3)), (4, (5, 6))]
        return (
            [a + b * c for a, (b, c) in pairs if a if b],
            {a: c for a, (_, c) in pairs}, {a for a, *_ in pairs},
            list(x * y for x in log([1, 2]) for y in log([3, 4]) if x != y),
            [[y for y in range(x)] for x in range(4)], [0 for box.x in [1, 2]], box.x,
            [f() for f in [lambda: i for i in range(3)]], [last := x for x in (1, 2, 3)], last,
            sum(x for x in range(5) if (lambda y: y % 2)(x)), bool(*[pairs]), bool(pairs),
            [(e, f) for (e, box.y), *f in [([1, 2], 3, 4)] if box.y == 2],
        )
    """,
)
snippet(
    "augmented assignment",
    """
    class Box: pass
    def run():
        box = Box()
        box.n, box.l, t = 1, [1], {"x": [1], (0, 1): 2}
        alias = box.l
        box.n += 1; box.n *= 3; box.n **= 2; box.n -= -1
        box.l += (2,); box.l *= 2
        t["x"] += [2]; t[0, 1] <<= 1; t["x"][0:1] += [8, 9]
        n, s = 1, {1, 2}
        n += 2; n |= 8; n //= 2; s |= {3}; s -= {1}; s &= {2, 3}; s ^= {4}
        m = [1]; m *= 2; k = m; k += [3]
        return box.n, box.l, alias is box.l, t, n, s, m
    """,
)
snippet(
    "closures",
    """
    def counter(start, step=1):
        count = start
        def up():
            nonlocal count
            count += step
            return count
        def reset():
            nonlocal count
            del count
        return up, reset, lambda: count
    def late():
        def even(n): return n == 0 or odd(n - 1)
        def odd(n): return n != 0 and even(n - 1)
        return even(10), odd(7)
    def loops():
        made = []
        for i in range(3):
            made.append(lambda: i)
            def made_here(): return i
        total = 0
        for total, other in [(1, 2)]: pass
        return [f() for f in made], made_here(), made_here.__name__, (lambda: (total, other))()
    def bound_oddly():
        def show(): return log([json, path, sep, x, y, error_seen, Inner.__qualname__, z, rest])
        import json, os.path as path
        from os import sep
        with open(__import__("os").devnull) as x: x = "x"
        error_seen = None
        try:
            raise KeyError(1)
        except KeyError as y:
            def grab(): return repr(y)
            error_seen = grab()
        try:
            grab()
        except NameError:
            log("gone")
        y = 2
        class Inner:
            seen = y
            def method(self): return Inner, y
        Inner = log(Inner)
        (z := 5)
        match [1, 2, 3]:
            case [first, *rest] if (lambda: first)() == 1: pass
        match {"k": 1}:
            case {**more}: show_more = lambda: more
        show()
        return show_more(), Inner().method()[1], [e for e in [1] if (lambda: e + y)()]
    def recursive():
        def fact(n): return 1 if n <= 1 else n * fact(n - 1)
        if True:
            def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
        return fact(5), fib(10), fib.__qualname__
    def unbound():
        def show(): return value
        try:
            show()
        except NameError:
            log("unbound")
        value: int = 3
        value += 1
        return show()
    def run():
        up, reset, look = counter(5, 2)
        result = [up(), up(), look()]
        reset()
        try:
            look()
        except NameError:
            log("deleted")
        return result, late(), loops(), bound_oddly(), recursive(), unbound()
    """,
)
snippet(
    "globals",
    """
    total = 1
    items = []
    def add(n):
        global total, made, Made, json
        total += n
        made = total
        import json
        class Made: pass
        for total in [total + 1]: pass
        return total, (total := total * 2), json.__name__, Made.__qualname__
    def define():
        global defined
        def defined(): return total
    def remove():
        global made
        del made
    def run():
        result = add(4), total, made
        define()
        remove()
        try:
            return result, defined(), made
        except NameError as error:
            return result, str(error)
    """,
)
snippet(
    "classes",
    """
    def deco(f): log(f.__name__); return f
    class Base:
        def __init__(self, x): self.__x = x
        def get(self): return self.__x
        def __secret(self): return "secret"
        def call(self): return self.__secret(), getattr(self, "_Base__x")
        @property
        def doubled(self): return self.__x * 2
        @doubled.setter
        def doubled(self, value): self.__x = value / 2
        @staticmethod
        def static(x): return [x]
        @classmethod
        def make(cls, *a): return cls(*a)
    class Derived(Base):
        def __init__(self, x):
            super().__init__(x)
            self.me = __class__
        def get(self): return super().get() + 1
    def run():
        d = Derived.make(3)
        d.doubled = 10
        shared = 1
        @deco
        class Local(*[Base], **{}):
            "doc"
            x: int = shared
            y, z = log((1, 2))
            x += y
            w = [x for x in (1, 2, 3) if shared < x]
            v = 0 < log(1) < 2
            t = {}
            t["k"] = log(5)
            t["k"] += 1
            @deco
            def method(self, default=[shared]): return __class__.__name__, shared, default
        shared = 2
        return (d.get(), d.call(), d.doubled, d.static(1), d.me.__name__, Local(1).method(),
                Local.__doc__, Local.__qualname__, Local.x, Local.w, Local.v, Local.t,
                sorted(k for k in vars(Local) if not k.startswith("__")))
    """,
)
snippet(
    "generators",
    """
    def numbers(n):
        for i in range(n):
            got = yield i
            if got: log(got)
        return "end"
    def outer():
        result = yield from numbers(3)
        log(result)
        yield from [7, 8]
        x = (yield 9) or "default"
        log(x)
    def shared():
        count = 0
        def bump():
            nonlocal count
            count += 1
        while count < 3:
            yield count
            bump()
    def run():
        g = outer()
        first = next(g), g.send("sent")
        return first, list(g), list(shared()), list(zip(*[iter("abcd")] * 2))
    """,
)
snippet(
    "async",
    """
    import asyncio
    class Manager:
        async def __aenter__(self): log("in"); return 1, 2
        async def __aexit__(self, *error): log("out")
    async def ticks(n):
        for i in range(n):
            await asyncio.sleep(0)
            yield i, i * 2
    async def main():
        async with Manager() as (a, b): log((a, b))
        async for i, j in ticks(2): log((i, j))
        value = 1
        async def inner():
            nonlocal value
            value += 1
            return value
        return (
            [i + j async for i, j in ticks(3) if i], await inner(), value,
            {i: j async for i, j in ticks(2)}, [await inner() for _ in range(2)],
            [x async for x in (i async for i, _ in ticks(2))],
            [0 < (await inner()) < await inner() for _ in range(2)],
        )
    def run(): return asyncio.run(main())
    """,
)
snippet(
    "with and try",
    """
    class Manager:
        def __init__(self, name): self.name = name
        def __enter__(self): log("enter " + self.name); return self.name, [self.name]
        def __exit__(self, kind, *rest): log(("exit", self.name, kind)); return kind is KeyError
    class Box: pass
    def run():
        box = Box()
        with Manager("a") as box.x, Manager("b") as (n, [m]), Manager("c"), Manager("d") as whole:
            log((box.x, n, m, whole))
            raise KeyError
        def f():
            for i in range(3):
                try:
                    if i == 1: continue
                    return log(i)
                finally:
                    log("finally")
        try:
            try:
                raise ValueError("x")
            except (KeyError, TypeError): log("no")
            except ValueError as error:
                log(str(error))
                raise RuntimeError("y") from error
            else: log("no")
        except RuntimeError as error:
            cause = repr(error.__cause__)
        try:
            error
        except NameError:
            log("unbound")
        try:
            raise ExceptionGroup("g", [ValueError(1), TypeError(2)])
        except* ValueError as group:
            def show(): return len(group.exceptions)
            log(show())
        except* TypeError: log("type")
        return f(), cause
    """,
)
snippet(
    "functions",
    """
    def deco(*a):
        log(a)
        return lambda f: f
    def run():
        n = log(1)
        @deco(log(1))
        @deco(log(2))
        def f(a, b=log(3), /, c: "x" = log(4), *d, e=n, **g) -> int:
            "doc"
            return a, b, c, d, e, g
        n = 2
        plain = lambda x, y=n, *z, **w: (x, y, z, w, n)
        def documented():
            "a docstring"
            nonlocal n
            n += 1
            return n
        return (f(0), f(0, 1, 2, 3, e=5, z=6), f.__doc__, f.__name__, plain(1, q=2),
                documented(), documented.__doc__, f.__qualname__, (lambda: (lambda: n)())(),
                sorted([3, 1, 2], key=lambda v: -v), max(*[1, 2], **{"default": 0}, key=abs)
                if False else None)
    """,
)
snippet(
    "f-strings",
    """
    def run():
        x, width, items = 3.14159, 8, [1, 2]
        return (f"{x}", f"{x:.2f}|{x:>{width}.{2}f}", f"{items!r:>{width}}", f"{x=} {items = !s}",
                f"{'a' if items else 'b'}{{}}", f"{log(1)}{log(2)!a}", "%s %s" % (items, x),
                f"{(lambda: x)()}", "ab" * width)
    """,
)
snippet(
    "match",
    """
    class Color: RED = 1
    def kind(x):
        match log(x):
            case 0 | Color.RED: return "number"
            case [] | {}: return "empty" if not x else "full"
            case [a, (b, *c)] if a and c: return a, b, c
            case str() as s: return "str", s
            case {"k": v, **rest} if rest: return v, rest
            case [_, *_]: return "some"
        return "other"
    def run():
        return [kind(x) for x in (0, 1, [], [1, [2, 3]], "s", {"k": 1, "l": 2}, [4], 5.5)]
    """,
)
POINTS = """
    class Point:
        __match_args__ = ("x", "y")
        def __init__(self, x, y): self.x, self.y = x, y
        def __repr__(self): return f"Point({self.x}, {self.y})"
    class Loud:
        __match_args__ = ("a", "b", "c")
        def __getattr__(self, name):
            log(name)
            if name in ("a", "b"): return name
            raise AttributeError(name)
    def attempt(f, *arguments):
        try:
            return f(*arguments)
        except Exception as error:
            return type(error).__name__, str(error)
"""
snippet(
    "match with class patterns",
    POINTS
    + """
    def kind(p):
        match log(p):
            case Point(x=0, y=0): return "origin"
            case Point(0, y) | Point(y, 0) if log(y) != 5: return "axis", y
            case Point(x=Point(a, Point() as b) as c, y=d): return a, b, c, d
            case Point([first, *rest], {"k": k, **others}): return first, rest, k, others
            case Point(None | True as x, y=-1 | "s"): return "odd", x
            case Point(x=_, y=[*_, Point(z, _)]) | [Point(z), *_]: return z
            case [_, (Point(u) | {"p": Point(u)}), *v]: return u, v
            case {"p": Point(w, 1) as q, **r} if r: return w, q, r
            case int(n) | str(n) | float(real=n): return "plain", n
            case list(m): return m
            case Loud(a="a", b="x") | Loud("b") | Loud(a=_, c=_): return "never"
            case Loud(_, b) as loud: return b, type(loud)
            case object(missing=_): return "never"
            case other: return "other", other
    def run():
        P, p = Point, Point(1, 2)
        subjects = [
            P(0, 0), P(0, 1), P(1, 0), P(0, 5), P(p, 3), P(P(p, p), 3), P([1, 2], {"k": 3, "l": 4}),
            P([], {}), P(None, -1), P(True, "s"), P(1, [2, p]), [p], [p, p], [1, p, 3, 4],
            [1, {"p": p}], {"p": P(3, 1), "o": 1}, {"p": P(3, 1)}, 7, True, "text", 1.5, [1],
            Loud(), b"bytes", None, p,
        ]
        return [kind(subject) for subject in subjects]
    """,
)
snippet(
    "match with wrong class patterns",
    POINTS
    + """
    class Tuples(list): __match_args__ = ()
    class Lists: __match_args__ = ["x"]
    class Numbers: __match_args__ = ("x", 1); x = 0
    class Twice: __match_args__ = ("x", "x"); x = 0
    class Lost: __match_args__ = ("lost", 1)
    class Sub(int): pass
    class Failing:
        @property
        def x(self): raise KeyError("x")
    def no_class(p):
        match p:
            case log(x=1): pass
    def too_many(p):
        match p:
            case Point(1, _, _): return "point"
            case int(_, _): pass
            case Tuples(_) | Loud(_, _, _, _): pass
    def wrong(p):
        match p:
            case Lists(_) | Numbers(_, _) | Twice(_, _): pass
            case Point(_, x=_): pass
            case Lost(_, _): pass
            case Failing(x=_): pass
            case Sub(s): return "sub", s
            case {Point.__name__: 1, "Point": 2}: pass
    def run():
        points = [Point(1, 2), 1, Tuples(), Loud(), None]
        others = [Lists(), Numbers(), Twice(), Point(1, 2), Lost(), Failing(), Sub(3), {"Point": 1}]
        others.append({"Point": 1, "q": 2})
        return (attempt(no_class, 1)[0], [attempt(too_many, p) for p in points],
                [attempt(wrong, p) for p in others])
    """,
)
snippet(
    "what match asks its subject",
    """
    from collections.abc import Mapping, Sequence
    from collections import deque
    class Items(Sequence):
        def __init__(self, *items): self.items = items
        def __len__(self): log("len"); return len(self.items)
        def __getitem__(self, i): log(i); return self.items[i]
        def __iter__(self): log("iter"); return iter(self.items[:2])
    class Table(Mapping):
        def __init__(self, **items): self.items_ = items
        def __len__(self): log("len"); return len(self.items_)
        def __getitem__(self, key): log(key); return self.items_[key]
        def __iter__(self): log("iter"); return iter(self.items_)
    class Equal:
        def __init__(self, name): self.name = name
        def __eq__(self, other): log((self.name, "eq", other)); return Truth(self.name == other)
    class Truth:
        def __init__(self, value): self.value = value
        def __bool__(self): log("bool"); return self.value
    class Names:
        def __getattr__(self, name): log(name); return name
    names = Names()
    def look(x):
        match x:
            case [*_] if log("any"): log("sequence")
        match x:
            case {} if log("any"): log("mapping")
        match x:
            case [1, _, *_, 8, 9] | [_, _, *_]: log("long")
        match x:
            case []: return "empty"
            case [1, 2, a, b]: return a, b
            case [1, *rest, 4]: return rest
            case [*rest, (3 | 4) as end]: return rest, end
            case {"a": 1, names.b: b, **rest}: return b, rest
            case {names.c: 3, names.d: _}: return "c"
            case {**rest}: return rest
            case names.e | names.f: return "equal"
            case (names.g | "h") as h: return h.name
            case _: return "nothing"
    def attempt(x):
        try:
            return look(x)
        except ValueError as error:
            return str(error)
    def run():
        return [attempt(x) for x in (
            [], Items(), Items(1, 2, 3), Items(1, 3), Items(1, 2, 3, 4), Items(1, 2, 8, 9),
            (1, 2, 3, 4), [1, 2, 4], deque([2, 4]), range(1, 4), Table(), Table(a=1, b=2, z=3),
            Table(c=3, d=4), Table(c=3), {"a": 1, "b": 2}, {1: 2}, Equal("e"), Equal("f"),
            Equal("g"), Equal("h"), Equal("i"), "ab", b"ab", bytearray(2), {1, 2}, None,
        )]
    """,
)
snippet(
    "where match binds names",
    POINTS
    + """
    a = b = rest = None
    def to_globals(p):
        global a, b, rest
        match p:
            case Point(a, [b, *rest]) if log((a, b, rest)) and a: return "first"
            case Point(x=b, y=1) as a: return "second"
            case Point(y={"k": 1, **rest}): return "third"
    def to_closure(p):
        def show(): return attempt(lambda: x), attempt(lambda: y)
        match p:
            case Point(0 | 1, 1) if False: pass
            case Point(Point(x, y), 1): log("not bound")
            case Point(x, y) if log(show()): pass
        return show()
    class Private:
        def find(self, p):
            match p:
                case Private(__x=__x): return __x
                case Private(_Private__x=__x): return "mangled", __x
    def in_class(p):
        class Local:
            match p:
                case Point(x, y=[y, *_]) if log(x): z = y
                case _: z = None
        return {name: value for name, value in vars(Local).items() if len(name) == 1 or "@" in name}
    def loop(points):
        found = []
        for p in points:
            match p:
                case Point(x=0): continue
                case Point(x=9): break
                case Point(x=x): pass
                case _: return found, sorted(locals())
            found.append((yield x))
        return found, sorted(locals())
    def run():
        P, private = Point, Private()
        private._Private__x = 4
        result = [(to_globals(p), a, b, rest) for p in (
            P(1, [2, 3]), P(0, [4]), P(5, 1), P(6, {"k": 1, "l": 2}), P(7, 8))]
        result += [to_closure(P(0, 2)), to_closure(P(P(1, 2), 2)), private.find(private)]
        result += [in_class(P(1, [2, 3])), in_class(P(0, [2])), in_class(3)]
        steps = loop([P(0, 0), P(1, 1), P(9, 9)])
        next(steps)
        for steps in (steps, loop([3])):
            try:
                steps.send("sent")
            except (StopIteration, TypeError) as stop:
                result.append(str(stop))
        return result
    """,
)
snippet(
    "exceptions in the middle",
    """
    class Box: pass
    def attempt(f):
        try:
            return f()
        except Exception as error:
            return type(error).__name__, str(error)
    def run():
        box, items = Box(), []
        def first(): box.missing += log(1)
        def then(): items[log(0)] = log(box).missing
        def after(): box.a = box.b = items[3]
        def delete(): del items[0], box.a
        def called(): return log(None)(log(1))
        def compared(): return log(1) < log("a") < log(2)
        def local():
            print(unbound)
            unbound = 1
        return [attempt(f) for f in (first, then, after, delete, called, compared, local)]
    """,
)
snippet(
    "names of builtins",
    """
    def range(n): return [n, n]
    def run():
        isinstance = lambda x, y: "shadowed"
        def super(): return 5
        here, unseen = 1, lambda: here
        here = 2
        return (list(range(3)), isinstance(1, 2), int("3"), type(3) is int, eval("here + 1"),
                sorted(locals()), super())
    """,
)
snippet(
    "lambdas at module level",
    """
    class Box: n = 1
    getters = [lambda b: b.n, lambda b: b.n + 1, *(lambda b: b.n + i for i in (5,))]
    table = {"x": lambda a, b=(lambda: 7): a[0] if a else b()}
    def run():
        return ([g(Box) for g in getters], table["x"]([1]), table["x"]([]),
                (lambda y: (z := y) + z)(2))
    """,
)
snippet(
    "type parameters",
    """
    def run():
        shared = 1
        class Pair[T](list[T]):
            def first(self) -> T: return self[0], shared
        def same[U: int](x: U, y=log(shared)) -> U:
            return x, y, shared
        type Alias[V] = dict[V, Pair]
        shared = 2
        return Pair([1]).first(), same(3), Alias.__name__, same.__type_params__[0].__name__
    """,
    (3, 12),
)
snippet(
    "lifetimes",
    """
    import weakref
    class Box: pass
    def run():
        box, seen = Box(), []
        box.held = box.other = Box()
        watch = weakref.ref(box.held)
        box.held = box.other = None
        seen.append(watch() is None)
        for box.a, box.b in [(Box(), Box())]: pass
        watch = weakref.ref(box.a)
        del box.a
        seen.append(watch() is None)
        match [Box()]:
            case [Box(missing=_), *_]: pass
            case [x, *_] if (watch := weakref.ref(x)):
                del x
                seen.append(watch() is None)
        match [Box()]:
            case [x] if (watch := weakref.ref(x)) and False: pass
        del x
        return seen, watch() is None
    """,
)


def outcome(code: types.CodeType) -> tuple[str, list[str]]:
    logged: list[str] = []

    def log(value: Any) -> Any:
        logged.append(str(value) if not hasattr(value, "__dict__") else type(value).__name__)
        return value

    namespace: dict[str, Any] = {"__name__": "snippet", "log": log}
    exec(bind(code, PLAIN, namespace), namespace)
    try:
        result = repr(namespace["run"]())
    except Exception as error:
        result = repr(error)
    return result, logged


def plain_code(source: str, filename: str = "snippet.py") -> types.CodeType:
    return compile(source, filename, "exec", dont_inherit=True)


@pytest.mark.parametrize("name", SNIPPETS)
def test_rewritten_code_does_the_same(name: str) -> None:
    source = SNIPPETS[name]
    expected = outcome(plain_code(source))
    assert not expected[0].startswith(("NameError", "TypeError", "AttributeError")), expected
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree = parsed(source, "snippet.py")
        code = rewritten(tree, "snippet.py", stored_names(tree))
    assert outcome(code) == expected


def inner_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from inner_codes(constant)


def identities(code: types.CodeType) -> list[tuple[str, int, tuple[str, ...]]]:
    return [
        (inner.co_qualname, inner.co_firstlineno, inner.co_freevars)
        for inner in inner_codes(code)
        if not is_helper(inner) and (inner.co_name.isidentifier() or inner.co_name == "<lambda>")
    ]


@pytest.mark.parametrize("name", SNIPPETS)
def test_functions_stay_who_they_are(name: str) -> None:
    source = SNIPPETS[name]
    code = rewritten(parsed(source, "snippet.py"), "snippet.py", set())
    assert identities(code) == identities(plain_code(source))


def calls_of(source: str, tracked: frozenset[str] = frozenset()) -> list[str]:
    """The hooks that `run()` calls."""
    calls: list[str] = []
    code = rewritten(parsed(textwrap.dedent(source), "snippet.py"), "snippet.py", tracked)
    namespace: dict[str, Any] = {}
    exec(bind(code, recording(calls), namespace), namespace)
    namespace["run"]()
    return calls


BOX = """
class Box: pass
box = Box()
box.n, box.items, box.other = 1, [1, 2], box
"""


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("box.n", "load_attribute n"),
        ("box.n = 2", "store_attribute n"),
        ("del box.n", "delete_attribute n"),
        ("box.n += 1", "load_attribute n, store_attribute n"),
        ("box.n *= 2", "load_attribute n, operate, store_attribute n"),
        ("box.n += box.n", "load_attribute n, load_attribute n, operate, store_attribute n"),
        ("box.other.n = box.n", "load_attribute n, load_attribute other, store_attribute n"),
        ("box.items[0]", "load_attribute items, load_item"),
        ("box.items[0] += 1", "load_attribute items, load_item, store_item"),
        ("del box.items[:1]", "load_attribute items, delete_item"),
        ("box.items.append(3)", "load_attribute items, method append"),
        ("len(box.items)", "callee, load_attribute items"),
        ("isinstance(box, Box)", "check_instance"),
        ("isinstance(box, (int, str))", ""),
        ("raise_ = ValueError(1)", ""),
        ("a, b = box.items", "load_attribute items, unpack"),
        ("a, b = 1, 2", ""),
        ("for x in box.items: pass", "load_attribute items, iterate_in_loop"),
        ("while box.n < 0: pass", "enter_loop, again, load_attribute n"),
        ("while box.n < 0: box.n = 1", "enter_loop, again, load_attribute n"),
        ("for x, in [[1]]: pass", "unpack"),
        ("for x in range(3): pass", ""),
        ("[x for x in box.items if x]", "load_attribute items, iterate, truth, truth"),
        ("[*box.items]", "load_attribute items, unpack"),
        ("print(*box.items, **{}, file=box) if 0 else 1", ""),
        ("1 in box.items", "load_attribute items, contains"),
        ("box.n in (1, 2)", "load_attribute n"),
        ("box.n == 1", "load_attribute n"),
        ("box.n == box.n", "load_attribute n, load_attribute n, compare"),
        ("box.n is box.n", "load_attribute n, load_attribute n"),
        ("box.n + 1", "load_attribute n"),
        ("box.items + box.items", "load_attribute items, load_attribute items, operate"),
        ("'%s' % box.items", "load_attribute items, operate"),
        ("if box.items: pass", "load_attribute items, truth"),
        ("if not box.items and box.n: pass", "load_attribute items, truth"),
        ("bool(box.items)", "load_attribute items, truth"),
        ("box.items or 1", "load_attribute items, operand"),
        ("f'{box.items!r}'", "load_attribute items, text"),
        ("match box.items:\n  case [a, b]: pass", "load_attribute items, match_sequence, unpack"),
        (
            "match box:\n  case Box(items=[1, *_]): pass",
            "match_class, match_sequence, match_item",
        ),
        ("match box:\n  case {**a}: pass\n  case Box(): pass", "match_mapping, match_class"),
        (
            "def g(): yield from box.items\n list(g())",
            "callee, callee, load_attribute items, iterate",
        ),
    ],
)
def test_accesses_are_announced_in_order(body: str, expected: str) -> None:
    source = BOX + "def run():\n " + body
    assert calls_of(source) == (expected.split(", ") if expected else [])


def test_contexts_are_announced() -> None:
    source = "import io\ndef run():\n with io.StringIO() as x: x"
    assert calls_of(source) == ["method StringIO", "entered"]


def test_tracked_globals_are_announced() -> None:
    source = """
        limit = other = 1
        def run():
            global counter
            counter = limit
            counter += other
            del counter
    """
    assert calls_of(source, frozenset({"limit"})) == [
        "load_global limit",
        "store_global counter",
        "load_global counter",
        "operate",
        "store_global counter",
        "delete_global counter",
    ]


def closure_calls(body: str) -> list[str]:
    calls = calls_of("def run(parameter=1):\n" + textwrap.indent(textwrap.dedent(body), "  "))
    return [call for call in calls if "closure" in call]


def test_shared_closure_variables_are_announced() -> None:
    assert closure_calls(
        """
        count = 0
        def up():
            nonlocal count
            count += 1
        up()
        [count for _ in range(2)]
        """
    ) == [
        "closure_cell count",
        "store_closure",
        "closure_cell count",
        "load_closure",
        "store_closure",
        "load_closure",
        "load_closure",
    ]
    assert closure_calls("f = lambda: x\nx = 1\nf()") == [
        "closure_cell x",
        "store_closure",
        "closure_cell x",
        "load_closure",
    ]


@pytest.mark.parametrize(
    "body",
    [
        "(lambda: parameter)()",
        "x = 1\n(lambda: x)()",
        "x, y = 1, 2\ndef g(): return x + y\ng()",
        "def g(n): return n and g(n - 1)\ng(2)",
        "g = lambda n: n and g(n - 1)\ng(2)",
        "import os\n(lambda: os)()",
        "class A:\n  def m(self): return A\nA().m()",
        "x = 0\nfor x in [1]: [x for _ in [1]]",
        "[(lambda: i)() for i in range(2)]",
        "x: int = 1\nlist(x for _ in [1])",
    ],
)
def test_variables_that_cannot_change_any_more_are_not(body: str) -> None:
    assert closure_calls(body) == []


@pytest.mark.parametrize(
    "body",
    [
        "g = lambda: parameter\nparameter = 2\ng()",
        "x = 1\ng = lambda: x\nx = 2",
        "x = 1\nx += 1\ng = lambda: x",
        "for x in [1]: (lambda: x)",
        "if parameter: x = 1\n(lambda: x)",
        "g = (x for _ in [1])\nx = 1",
        "def g(): return h\ndef h(): pass",
        "def g():\n  nonlocal x\n  x = 1\nx = 0",
    ],
)
def test_variables_that_may_change_are(body: str) -> None:
    assert closure_calls(body)


def test_positions_point_at_the_source() -> None:
    source = "def run(box):\n    x = 1\n    return (x +\n            box.missing)\n"
    code = rewritten(parsed(source, "snippet.py"), "snippet.py", set())
    namespace: dict[str, Any] = {}
    exec(bind(code, PLAIN, namespace), namespace)
    with pytest.raises(AttributeError) as caught:
        namespace["run"](3)
    frame = caught.traceback[1]
    assert frame.lineno == 3  # counted from 0
    positions = list(caught.tb.tb_next.tb_frame.f_code.co_positions())  # type: ignore[union-attr]
    assert (4, 4, 12, 23) in positions


def test_positions_of_patterns_point_at_the_case() -> None:
    source = "def run(p):\n  match p:\n    case 1: pass\n    case [\n      str(x=1)]: pass\n"
    code = rewritten(parsed(source, "snippet.py"), "snippet.py", set())
    namespace: dict[str, Any] = {"str": 5}
    exec(bind(code, PLAIN, namespace), namespace)
    with pytest.raises(TypeError) as caught:
        namespace["run"]([3])
    assert caught.traceback[1].lineno == 4  # counted from 0


def test_stored_names() -> None:
    source = """
        class A:
            count = 0
            def f(self):
                global total, never
                self.x = self.__private = total = 1
                self.y += 1
                del self.z
                for self.w in never: pass
                self.read
                local = 1
        A.limit = 3
    """
    tree = ast.parse(textwrap.dedent(source))
    assert stored_names(tree) == {"x", "_A__private", "total", "y", "z", "w", "limit"}


def test_assertions_keep_what_pytest_tells_of_them() -> None:
    source = "def run():\n    items = [1, 2]\n    assert items == [1, 3], 'why'\n"
    code = rewritten(parsed(source, "snippet.py", True), "snippet.py", set())
    namespace: dict[str, Any] = {}
    exec(bind(code, PLAIN, namespace), namespace)
    with pytest.raises(AssertionError, match="assert \\[1, 2\\] == \\[1, 3\\]"):
        namespace["run"]()


def fresh_module(name: str) -> Any:
    """A module of the standard library, from rewritten code."""
    original = importlib.import_module(name)
    source = inspect.getsource(original)
    module = types.ModuleType(name)
    vars(module).update(
        {key: getattr(original, key) for key in ("__file__", "__package__", "__spec__")}
    )
    if hasattr(original, "__path__"):
        module.__path__ = original.__path__
    filename = str(original.__file__)
    tree = parsed(source, filename)
    code = rewritten(tree, filename, stored_names(tree))
    exec(bind(code, PLAIN, vars(module)), vars(module))
    return module


def tried_argparse(argparse: Any) -> object:
    parser = argparse.ArgumentParser(prog="p", description="what it does")
    parser.add_argument("files", nargs="*", default=[])
    parser.add_argument("-n", "--number", type=int, choices=[1, 2], help="a number")
    return vars(parser.parse_args(["-n2", "a", "b"])), parser.format_help()


def tried_configparser(configparser: Any) -> object:
    parser = configparser.ConfigParser()
    parser.read_string("[a]\nx = 1\ny: %(x)s2\n[b]\nz =\n  long\n  text\n")
    return {name: dict(section) for name, section in parser.items()}


TRIED: dict[str, Callable[[Any], object]] = {
    "argparse": tried_argparse,
    "ast": lambda m: m.unparse(m.parse(inspect.getsource(textwrap))),
    "collections": lambda m: (
        m.Counter("abracadabra").most_common(2),
        m.OrderedDict(a=1, b=2).popitem(),
        m.namedtuple("P", "x y")(1, 2)._replace(x=5),
        m.ChainMap({"a": 1}, {"b": 2})["b"],
    ),
    "configparser": tried_configparser,
    "csv": lambda m: m.Sniffer().sniff("a;b\n1;2\n").delimiter,
    "difflib": lambda m: (
        list(m.unified_diff(["a", "b", "c"], ["a", "c", "d"])),
        list(m.ndiff(["one\n", "two\n"], ["ore\n", "two\n"])),
        m.get_close_matches("appel", ["ape", "apple", "peach"]),
    ),
    "fractions": lambda m: m.Fraction(3, 4) ** 2 + m.Fraction("1.5"),
    "heapq": lambda m: (m.nlargest(2, [3, 1, 2], key=abs), list(m.merge([1, 4], [2, 3]))),
    "html.parser": lambda m: m.HTMLParser().feed("<a b=c>d</a>"),
    "json.decoder": lambda m: m.JSONDecoder().decode('{"a": [1, 2.5, "x", null]}'),
    "json.encoder": lambda m: m.JSONEncoder(indent=2).encode([1, {"a": [True, None, "x"]}]),
    "pprint": lambda m: m.pformat({"a": list(range(30)), "b": {"c": "d" * 90}}, width=40),
    "shlex": lambda m: m.split('a \'b c\' "d\\"e" # f', comments=True),
    "statistics": lambda m: (m.mean([1, 2, 4]), m.quantiles([1, 5, 2, 8]), m.NormalDist(1, 2) + 3),
    "string": lambda m: m.Template("$a ${b}").substitute(a=1, b=2) + m.capwords("x y"),
    "textwrap": lambda m: m.fill(m.dedent("  some text\n    that goes on and on"), 12),
    "tokenize": lambda m: list(m.generate_tokens(iter(["a = 'b'\n", "c += 1\n"]).__next__)),
}


@pytest.mark.parametrize("name", TRIED)
def test_the_standard_library_works_rewritten(name: str) -> None:
    expected = repr(TRIED[name](importlib.import_module(name)))
    assert repr(TRIED[name](fresh_module(name))) == expected

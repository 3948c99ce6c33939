"""In which order Python evaluates the parts of expressions and statements: programs in which one
thread does so, and another one changes what the parts are."""

from tests.oracles.shared_types import Pair, SharedType

EXPRESSIONS = [
    "given(*x.b, **x.c)", "given(x.a, *x.b, **x.c)", "given(*x.b, x.a, **x.c)",
    "given(*x.b, k=x.a, **x.c)", "given(*x.b, k=x.a)", "given(k=x.a, **x.c)", "given(*x.b, *x.b)",
    "x.given(*x.b, **x.c)", "[*x.b, x.a]", "[x.a, *x.b]", "(*x.b, x.a)", "{**x.c, 'k': x.a}",
    "{'k': x.a, **x.c}", "{x.a: len(x.b)}", "{*x.b, x.a}", "x.a < len(x.b) < x.d", "x.a in x.b",
    "x.b[x.a]", "x.b[x.a:x.d]", "x.c['m'] if x.a else x.d", "x.a + x.d", "x.a and x.d",
    "x.a or x.d", "f'{x.a}{x.d}'", "f'{x.b}{x.a}'", "[e + x.a for e in x.b]",
    "[e for e in x.b if x.a]", "{k: x.a for k in x.c}", "(y := x.a) + x.d + y",
    "(lambda q=x.a: q + x.d)()", "x.b + [x.a]", "[x.a] + x.b", "'%s %s' % (x.a, x.d)",
    "'{} {}'.format(x.a, x.b)", "dict(x.c, k=x.a)", "list(zip(x.b, x.c))", "x.b == [x.a]",
    "[x.a] == x.b", "x.b * x.a", "(x.a, x.d) < (x.d, x.a)", "x.b[-1]", "x.b[x.a - 1:]",
    "sum(x.b, x.a)", "min(*x.b, x.a)", "x.c | {'z': x.a}", "x.c.get('m', x.a)",
    "x.c.setdefault('q', x.a)", "x.b.index(x.a) if x.a in x.b else -1", "[*(x.a for e in x.b)]",
]  # fmt: skip
STATEMENTS = [
    "x.b[0] = x.a", "x.b[0] += x.a", "x.a += x.d", "x.b += [x.a]", "x.b[x.a] = x.d",
    "x.b[x.a - 1] += x.d", "del x.b[x.a - 1]", "x.c['m'] += x.a", "x.a, x.d = x.d, x.a",
    "x.b[0], x.a = x.a, x.b[0]", "x.a = x.d = len(x.b)", "for x.a in x.b:\n    pass",
    "first, *rest = x.b\nresult = first, rest", "assert x.a, x.d", "x.b[x.a - 1:] = [x.d]",
    "del x.b[0], x.c['m']", "x.c[x.a] = x.b[0]", "result = [x.a for x.d in x.b]",
    "match x.b:\n    case [p, q]:\n        result = p, q, x.a\n    case [p]:\n        result = p",
    "match x:\n    case Box(a=1, d=e):\n        result = e\n"
    "    case Box(a=e):\n        result = e, e",
    "match x.c:\n    case {'m': p, **rest}:\n        result = p, rest",
    "with Kept(x) as x.d:\n    result = x.a",
    "@decorator(x.a)\ndef q(z=x.d):\n    return z\nresult = q()",
    "def some():\n    yield x.a\n    yield x.d\nresult = list(some())",
    "def some():\n    yield from x.b\n    yield x.a\nresult = list(some())",
    "try:\n    x.b[5]\nexcept IndexError:\n    result = x.a\nfinally:\n    x.d = 3",
    "while x.a < 2:\n    x.a += 1", "x.b.append(x.a)", "x.b.insert(x.a, x.d)",
    "x.c.update(k=x.a)", "setattr(x, 'a', x.d)", "x.__dict__['a'] = x.d",
    "x.b.sort(key=lambda e: x.a)", "x.b[:] = [x.a, *x.b]", "result = x.b.pop(x.a - 1)",
    "x.c |= {'r': x.a}", "raise ValueError(x.a, x.d)",
    "async def some():\n    return x.a + x.d\ntry:\n    some().send(None)\n"
    "except StopIteration as stop:\n    result = stop.value",
]  # fmt: skip
BOX = SharedType(
    "box",
    "Box()",
    (),
    (
        "x.a = 2\nx.d = 7", "x.d = 7\nx.a = 2", "x.b.append(9)\nx.c['n'] = 9",
        "x.c['n'] = 9\nx.b.append(9)", "x.b = [5]\nx.a = 0", "x.a = 0\nx.b = [5, 6]",
        "x.b.pop()\nx.a = 0\nx.c.pop('m')",
    ),
    "None",
)  # fmt: skip


def all_pairs() -> list[Pair]:
    calls = [*map("result = {}".format, EXPRESSIONS), *STATEMENTS]
    return [(call, probe) for call in calls for probe in BOX.probes]

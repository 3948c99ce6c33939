"""Turns the patterns of `match` statements into conditions."""

import ast

from mazurka.python.rewriting.expressions import ExpressionRewriter
from mazurka.python.rewriting.nodes import (
    at,
    compare,
    compares_plainly,
    hook,
    load,
    once,
    placed,
    walrus,
)


class Patterns:
    """Makes conditions of the cases of a `match` statement.

    Subjects are expressions that can be evaluated more than once: temporaries, and parts of these.
    """

    def __init__(self, rewriter: ExpressionRewriter) -> None:
        self.rewriter = rewriter
        self.temporaries: list[str] = []  # all cases share them
        self.used = 0  # of these, in the case at hand
        self.captures: dict[str, str] = {}  # the temporaries for the names that it binds

    def temporary(self) -> str:
        if self.used == len(self.temporaries):
            self.temporaries.append(self.rewriter.temporary())
        self.used += 1
        return self.temporaries[self.used - 1]

    def condition(self, case: ast.match_case, subject: ast.expr) -> ast.expr:
        """Whether a case is the one; if so, its names are bound when the guard is evaluated."""
        self.used = 0
        self.captures = {}
        tests = self.tests(case.pattern, subject)
        if self.captures:
            stores = [self.stored(name, load(held)) for name, held in self.captures.items()]
            tests.append(always(*stores))
        if case.guard is not None:
            tests.append(self.rewriter.condition(case.guard))
        return at(case.pattern, every(placed(case.pattern, tests)))

    def stored(self, name: str, value: ast.expr) -> ast.expr:
        variable = self.rewriter.shared(name)
        if variable is None:
            return walrus(name, value)
        return hook("store_" + variable[0], variable[1], value)

    def captured(self, name: str | None, subject: ast.expr) -> list[ast.expr]:
        """Alternatives bind the same names: whichever matches fills their temporaries."""
        if name is None:
            return []
        if name not in self.captures:
            self.captures[name] = self.temporary()
        return [always(walrus(self.captures[name], subject))]

    def tests(self, node: ast.pattern, subject: ast.expr) -> list[ast.expr]:
        """What must be true, one after the other, for a pattern to match."""
        return placed(node, self.tests_of(node, subject))

    def tests_of(self, node: ast.pattern, subject: ast.expr) -> list[ast.expr]:
        if isinstance(node, ast.MatchValue):
            return [self.equals(node.value, subject)]
        if isinstance(node, ast.MatchSingleton):
            return [ast.Compare(subject, [ast.Is()], [ast.Constant(node.value)])]
        if isinstance(node, ast.MatchSequence):
            return self.sequence(node, subject)
        if isinstance(node, ast.MatchMapping):
            return self.mapping(node, subject)
        if isinstance(node, ast.MatchClass):
            return self.instance(node, subject)
        if isinstance(node, ast.MatchStar):
            return self.captured(node.name, subject)
        if isinstance(node, ast.MatchOr):
            alternatives = [every(self.tests(part, subject)) for part in node.patterns]
            return [ast.BoolOp(ast.Or(), alternatives)]
        assert isinstance(node, ast.MatchAs)
        inner = [] if node.pattern is None else self.tests(node.pattern, subject)
        return inner + self.captured(node.name, subject)

    def equals(self, value: ast.expr, subject: ast.expr) -> ast.expr:
        if compares_plainly(subject, ast.Eq(), value):
            return ast.Compare(subject, [ast.Eq()], [value])
        return compare(subject, ast.Eq(), self.rewriter.visit(value))

    def parts(self, patterns: list[ast.pattern], values: str) -> list[ast.expr]:
        """The tests of patterns for what is in a list or tuple of ours."""
        return [
            test
            for index, pattern in enumerate(patterns)
            for test in self.tests(pattern, item(values, ast.Constant(index)))
        ]

    def instance(self, node: ast.MatchClass, subject: ast.expr) -> list[ast.expr]:
        values = self.temporary()
        names = ast.Tuple([ast.Constant(name) for name in node.kwd_attrs], ast.Load())
        count = ast.Constant(len(node.patterns))
        kind = self.rewriter.visit(node.cls)
        match = found(values, hook("match_class", subject, kind, count, names))
        return [match, *self.parts(node.patterns + node.kwd_patterns, values)]

    def mapping(self, node: ast.MatchMapping, subject: ast.expr) -> list[ast.expr]:
        mapping, keys, values = self.temporary(), self.temporary(), self.temporary()
        size = ast.Constant(len(node.keys))
        match = found(mapping, hook("match_mapping", subject, size))
        if not node.keys and node.rest is None:
            return [match]
        wanted = ast.Tuple([self.rewriter.visit(key) for key in node.keys], ast.Load())
        evaluated = always(walrus(keys, wanted))
        match_keys = found(values, hook("match_keys", load(mapping), load(keys)))
        rest = hook("match_rest", load(mapping), load(keys))
        parts = self.parts(node.patterns, values)
        return [match, evaluated, match_keys, *parts, *self.captured(node.rest, rest)]

    def sequence(self, node: ast.MatchSequence, subject: ast.expr) -> list[ast.expr]:
        stars = [part for part in node.patterns if isinstance(part, ast.MatchStar)]
        size = ast.Constant(len(node.patterns) - len(stars))
        items = self.temporary()
        has_star = ast.Constant(bool(stars))
        match = found(items, hook("match_sequence", subject, size, has_star))
        if all(map(is_wildcard, node.patterns)):
            return [match]
        if any(map(is_wildcard, stars)):
            return [match, *self.picked(node.patterns, items)]
        return [match, *self.unpacked(node.patterns, items)]

    def picked(self, patterns: list[ast.pattern], items: str) -> list[ast.expr]:
        """With `*_`, items are taken one by one, from both ends."""
        tests: list[ast.expr] = []
        is_after = False
        for position, pattern in enumerate(patterns):
            is_after = is_after or isinstance(pattern, ast.MatchStar)
            if is_wildcard(pattern):
                continue
            index = ast.Constant(position - len(patterns) if is_after else position)
            part = self.temporary()
            taken = hook("match_item", load(items), index)
            tests.append(at(pattern, always(walrus(part, taken))))
            tests += self.tests(pattern, load(part))
        return tests

    def unpacked(self, patterns: list[ast.pattern], items: str) -> list[ast.expr]:
        """Without, they are all unpacked first: `[(a, b) for a, *b in (items,)][0]`."""
        names = [self.rewriter.temporary() for _ in patterns]
        targets: list[ast.expr] = [ast.Name(name, ast.Store()) for name in names]
        for position, pattern in enumerate(patterns):
            if isinstance(pattern, ast.MatchStar):
                targets[position] = ast.Starred(targets[position], ast.Store())
        unpacking = once(ast.Tuple(targets, ast.Store()), hook("unpack", load(items)))
        together = ast.Tuple([load(name) for name in names], ast.Load())
        unpacked = ast.Subscript(ast.ListComp(together, [unpacking]), ast.Constant(0), ast.Load())
        values = self.temporary()
        return [always(walrus(values, unpacked)), *self.parts(patterns, values)]


def always(*values: ast.expr) -> ast.expr:
    """Evaluates expressions, and is true, as a tuple is that has something in it."""
    return ast.Tuple(list(values), ast.Load())


def found(name: str, value: ast.expr) -> ast.expr:
    """Whether a value, which is held, is not None."""
    return ast.Compare(walrus(name, value), [ast.IsNot()], [ast.Constant(None)])


def every(tests: list[ast.expr]) -> ast.expr:
    if len(tests) > 1:
        return ast.BoolOp(ast.And(), tests)
    return tests[0] if tests else ast.Constant(True)


def item(name: str, index: ast.expr) -> ast.expr:
    return ast.Subscript(load(name), index, ast.Load())


def is_wildcard(node: ast.pattern) -> bool:
    return isinstance(node, ast.MatchAs | ast.MatchStar) and node.name is None

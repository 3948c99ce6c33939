"""Ordinary Python code, made ready to be explored."""

import functools
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

from mazurka.python.check import RUNNING
from mazurka.python.memory.calls import callee_of_library
from mazurka.python.memory.identities import name_of_module
from mazurka.python.rewriting.generated import is_generated
from mazurka.python.rewriting.hooks import HOOKS
from mazurka.python.rewriting.instrument import (
    Instrumentation,
    Namespace,
    instrumented,
)
from mazurka.python.rewriting.whose_code import is_known_code, is_modelled, is_within


class OrdinaryCode:
    """The rewritten code of one check."""

    def __init__(self, program: Callable[..., object], code: Instrumentation) -> None:
        self.program = program
        self.code = code
        self.check = RUNNING.check
        self.named: dict[int, Namespace] = {}  # modules, of which all is named that is in them
        code.is_running = self.is_running
        code.on_module = self.take_in
        code.on_skip = self.take_in_skipped
        self.check.calls.files = code.files
        self.check.calls.entrances = code.known.entrances
        for function in functions_in(program):
            code.make_ready(function)
        self.check.objects.has_news = True

    def is_running(self) -> bool:
        return not self.check.runtime.is_elsewhere()

    def learn(self, learnt: Mapping[str, Iterable[str]]) -> None:
        """What others have found out: the modules that are used, globals that other files store to,
        and attributes whose names do not show in the source."""
        self.code.stored_elsewhere.update(learnt.get("globals", ()))
        self.check.changeable.learnt.update(learnt.get("attributes", ()))
        self.check.changeable.add(self.check.changeable.learnt)
        for name in learnt.get("modules", ()):
            if self.check.objects.is_seen_module(name) and name in sys.modules:
                self.code.meet_module(vars(sys.modules[name]))

    def look(self) -> bool:
        """Look for code that came up since the last time; whether there was some."""
        self.check.objects.has_news = self.code.look() or self.check.objects.has_news
        self.check.objects.foreign = {}
        return self.check.objects.has_news

    def take_in(self, namespace: Namespace) -> None:
        """The program has come to a module: name what it can find there. What it did before was
        done without these names, so it has to begin anew."""
        self.check.changeable.add(self.code.stored)
        self.check.objects.has_news = True
        self.check.objects.modules[name_of_module(namespace)] = True
        if id(namespace) not in self.named:
            self.named[id(namespace)] = namespace
            self.check.objects.add_namespace(namespace)
            self.name_closures(namespace)

    def take_in_skipped(self) -> None:
        self.check.calls.skip(self.code.skipped_codes)
        self.check.objects.has_news = True

    def begin(self) -> None:
        """A search begins: names must not depend on the way on which modules were found."""
        objects = self.check.objects
        objects.opaque = {}  # what was not seen then may be seen now
        self.check.calls.unseen = {}
        if not objects.has_news:
            return
        objects.has_news = False
        objects.forget_outside()
        namespaces = sorted(self.named.values(), key=name_of_module)
        for namespace in namespaces:
            objects.add_namespace(namespace)
        objects.add_outside(self.check.calls.process, "process")
        objects.add_root(self.program, "")
        for namespace in namespaces:
            self.name_closures(namespace)
        objects.add_lasting()
        self.code.rewrite_anew()

    def name_closures(self, namespace: Namespace) -> None:
        """What the functions of a module have in their closures. Some may be left behind by earlier
        checks, so this comes last: what has another name keeps that."""
        for function in sorted(self.code.functions_of(namespace), key=place_of):
            self.check.objects.add_root(function, "")

    def is_harmless(self, name: str) -> bool:
        """Whether we know, or the user has said, that a function does no harm."""
        return is_within(name, self.code.opaque) or is_known_code(name)

    def warnings(self) -> list[str]:
        """What was not seen."""
        objects = self.check.objects
        found = [f"what {name} does is not seen: {reason}" for name, reason in self.code.skipped]
        for name in sorted(self.check.calls.unseen):
            code = self.check.calls.unseen[name]
            if name in objects.opaque or self.is_harmless(name):
                continue
            if code is None or not is_generated(code):
                found.append(f"what {name} does is not seen: its source is not available")
        for name in sorted(self.check.calls.late):
            if not self.is_harmless(name):
                found.append(f"what {name} does is not seen: it comes after the execution is over")
        for name in sorted(objects.opaque):
            if is_within(name, self.code.opaque) or is_modelled(name):
                continue
            labels = ", ".join(sorted(objects.opaque[name]))
            found.append(f"what {name} does to {labels} is not seen: it is not rewritten")
        for label in sorted(objects.late):
            found.append(
                f"an execution has changed {label}, before it was known that it outlives it: "
                "the others begin with what it left"
            )
        return found


def functions_in(program: Any) -> list[FunctionType]:
    """The functions that are called when a program begins."""
    found: list[FunctionType] = []
    while program is not None:
        if isinstance(program, FunctionType):
            found.append(program)
            program = getattr(program, "__wrapped__", None)
        elif isinstance(program, MethodType):
            program = program.__func__
        elif isinstance(program, functools.partial):
            program = program.func
        else:
            program = None
    return found


def place_of(function: FunctionType) -> tuple[str, int, str]:
    code = function.__code__
    return code.co_filename, code.co_firstlineno, code.co_qualname


@contextmanager
def ordinary_code(
    program: Callable[..., object], instrument: Sequence[str], opaque: Sequence[str] = ()
) -> Iterator[OrdinaryCode]:
    """While the body runs, the user's code announces what it does."""
    check = RUNNING.check
    check.runtime.memory = check.objects
    check.runtime.in_place_of = callee_of_library
    try:
        with instrumented(HOOKS, instrument, opaque) as code:
            yield OrdinaryCode(program, code)
    finally:
        check.objects.let_go()

"""Ordinary Python code, made ready to be explored."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mazurka.python.library import REPLACEMENTS, STEERED_TYPES, local_namespace, steered
from mazurka.python.memory.attributes import CHANGEABLE, STANDARD
from mazurka.python.memory.calls import CALLS, callee
from mazurka.python.memory.objects import OBJECTS
from mazurka.python.rewriting.hooks import HOOKS
from mazurka.python.rewriting.instrument import Instrumentation, instrumented
from mazurka.python.runtime.runtime import RUNTIME


class OrdinaryCode:
    """The rewritten code of one check."""

    def __init__(self, program: Callable[..., object], code: Instrumentation) -> None:
        self.program = program
        self.code = code
        self.functions = 0
        self.take_in()

    def look(self) -> bool:
        """Look for code that came up since the last time; whether there was some."""
        self.code.again()
        if len(self.code.codes) == self.functions:
            return False
        self.take_in()
        return True

    def take_in(self) -> None:
        """Tell the hooks what was found."""
        self.functions = len(self.code.codes)
        CALLS.files = {code.co_filename for code in self.code.codes}
        CALLS.skipped = {id: text for id, (_, text) in self.code.skipped_codes.items()}
        CHANGEABLE.set_names(self.code.stored, self.code.is_dynamic)
        self.name_what_is_there()

    def name_what_is_there(self) -> None:
        """All that the program can find when it begins: globals, classes, closures."""
        namespaces = sorted(self.code.namespaces.values(), key=module_name)
        OBJECTS.modules |= {module_name(namespace) for namespace in namespaces}
        for namespace in namespaces:
            OBJECTS.add_namespace(namespace)
        for function in self.code.functions:
            OBJECTS.add_root(function, "")
        OBJECTS.add_root(self.program, "")

    def warnings(self) -> list[str]:
        """What was not seen."""
        found = [f"what {text} does is not seen" for text in sorted(CALLS.skipped_calls)]
        for name in sorted(OBJECTS.opaque):
            labels = ", ".join(sorted(OBJECTS.opaque[name]))
            found.append(f"what {name} does to {labels} is not seen: it is not rewritten")
        return found


def module_name(namespace: dict[str, object]) -> str:
    return str(namespace.get("__name__"))


@contextmanager
def ordinary_code(
    program: Callable[..., object], instrument: Sequence[str]
) -> Iterator[OrdinaryCode]:
    """While the body runs, the user's code announces what it does."""
    RUNTIME.memory = OBJECTS
    RUNTIME.in_place_of = callee
    OBJECTS.opaque = {}
    CALLS.skipped_calls = set()
    CALLS.replacements = REPLACEMENTS
    CALLS.stdout = sys.stdout
    STANDARD.steered = steered
    STANDARD.steered_types = STEERED_TYPES
    STANDARD.namespace_of = local_namespace
    try:
        with instrumented(HOOKS, instrument) as code:
            yield OrdinaryCode(program, code)
    finally:
        RUNTIME.memory = None
        RUNTIME.in_place_of = None
        OBJECTS.let_go()

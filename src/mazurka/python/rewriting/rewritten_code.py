"""Ordinary Python code, made ready to be explored."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from mazurka.python.check import RUNNING
from mazurka.python.memory.calls import callee
from mazurka.python.rewriting.hooks import HOOKS
from mazurka.python.rewriting.instrument import Instrumentation, instrumented


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
        check = RUNNING.check
        calls = check.calls
        self.functions = len(self.code.codes)
        calls.files = {code.co_filename for code in self.code.codes}
        calls.skipped = {id: text for id, (_, text) in self.code.skipped_codes.items()}
        check.changeable.set_names(self.code.stored, self.code.is_dynamic)
        self.name_what_is_there()

    def name_what_is_there(self) -> None:
        """All that the program can find when it begins: globals, classes, closures."""
        objects = RUNNING.check.objects
        namespaces = sorted(self.code.namespaces.values(), key=module_name)
        objects.modules |= {module_name(namespace) for namespace in namespaces}
        for namespace in namespaces:
            objects.add_namespace(namespace)
        for function in self.code.functions:
            objects.add_root(function, "")
        objects.add_root(self.program, "")

    def warnings(self) -> list[str]:
        """What was not seen."""
        check = RUNNING.check
        objects = check.objects
        found = [f"what {text} does is not seen" for text in sorted(check.calls.skipped_calls)]
        for name in sorted(objects.opaque):
            labels = ", ".join(sorted(objects.opaque[name]))
            found.append(f"what {name} does to {labels} is not seen: it is not rewritten")
        return found


def module_name(namespace: dict[str, object]) -> str:
    return str(namespace.get("__name__"))


@contextmanager
def ordinary_code(
    program: Callable[..., object], instrument: Sequence[str]
) -> Iterator[OrdinaryCode]:
    """While the body runs, the user's code announces what it does."""
    check = RUNNING.check
    check.runtime.memory = check.objects
    check.runtime.in_place_of = callee
    try:
        with instrumented(HOOKS, instrument) as code:
            yield OrdinaryCode(program, code)
    finally:
        check.objects.let_go()

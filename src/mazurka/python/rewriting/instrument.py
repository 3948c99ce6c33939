"""Swaps the code of the user's functions for code that calls hooks, when they are first called; and
back."""

import dataclasses
import linecache
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from reprlib import recursive_repr
from threading import get_ident
from types import CodeType, FrameType, FunctionType
from typing import Any, TypeAlias, cast
from weakref import ref

from mazurka.engine.errors import MazurkaError
from mazurka.python.check import RUNNING
from mazurka.python.memory.identities import name_of_module
from mazurka.python.memory.older_objects import (
    newer_objects,
    older_objects_set_apart,
    set_apart,
)
from mazurka.python.rewriting.entrances import Closure
from mazurka.python.rewriting.generated import (
    FILENAME,
    file_for,
    is_generated,
    source_of,
)
from mazurka.python.rewriting.known_functions import (
    Group,
    KnownFunctions,
    functions_and_classes,
)
from mazurka.python.rewriting.nodes import FINALIZER
from mazurka.python.rewriting.rewrite import bind, parsed, rewritten
from mazurka.python.rewriting.source_file import (
    Part,
    SourceFile,
    Twins,
    functions_of,
    source_file,
)
from mazurka.python.rewriting.whose_code import is_made_up, is_seen, is_standard, is_within
from mazurka.python.source import PACKAGE, callers_frame

Namespace: TypeAlias = dict[str, Any]

PYTEST = "@pytest_ar"  # in every module whose assertions pytest has rewritten

# Files whose functions do nothing but call others: those of Mazurka, and reprlib's decorator.
BETWEEN = (PACKAGE, recursive_repr.__code__.co_filename)

MOST_TREES = 3  # that are kept from one check to the next


@contextmanager
def instrumented(
    hooks: Mapping[str, Any], extra_packages: Sequence[str] = (), opaque: Sequence[str] = ()
) -> "Iterator[Instrumentation]":
    """While the body runs, all functions call hooks that are seen, and those of some packages."""
    check = RUNNING.check
    instrumentation = Instrumentation(hooks, extra_packages, opaque)
    known = instrumentation.known
    make: Any = vars(dataclasses)["_process_class"]

    def make_and_expect(*arguments: Any) -> Any:
        kind = make(*arguments)
        for group in known.note_dataclass(kind):
            instrumentation.expect(group)
        return kind

    known.look()
    with older_objects_set_apart():
        setattr(dataclasses, "_process_class", make_and_expect)  # noqa: B010
        check.code = instrumentation
        try:
            instrumentation.last_look = set_apart()
            instrumentation.expect_all()
            yield instrumentation
        finally:
            check.code = None
            setattr(dataclasses, "_process_class", make)  # noqa: B010
            instrumentation.undo()
            known.all_are_noted()


def enter(original: CodeType, closure: Closure) -> FunctionType:
    """What entrances call: a function is called whose code has not been needed so far."""
    frame = callers_frame()
    code = original
    instrumentation = RUNNING.check.code
    if instrumentation is None:
        pass
    elif instrumentation.is_called_by_program(original, frame.f_back):
        code = instrumentation.arrive(original, frame.f_globals)
    elif original.co_name == FINALIZER and instrumentation.thread == get_ident():
        name = f"{name_of_module(frame.f_globals)}.{original.co_qualname}"
        RUNNING.check.calls.note_finalizer(name, next(iter(frame.f_locals.values()), None))
        return NOTHING  # for an object that an execution has left
    return FunctionType(code, frame.f_globals, original.co_name, None, closure)


ORDERING = {"__lt__", "__le__", "__gt__", "__ge__"}
NOTHING = cast(FunctionType, lambda _: None)


class Instrumentation:
    """The functions whose code is swapped at the moment."""

    def __init__(
        self, hooks: Mapping[str, Any], extra_packages: Sequence[str], opaque: Sequence[str]
    ) -> None:
        self.thread = get_ident()  # the program's; others, beside it, run their code as it is
        self.is_rewriting = False
        self.is_running: Callable[[], bool] = lambda: True  # whether the program is
        self.hooks = hooks
        self.extra_packages = extra_packages
        self.opaque = opaque  # packages that are not looked at
        self.skipped: list[tuple[str, str]] = []  # functions that do not call hooks, and why
        self.skipped_codes: dict[int, CodeType] = {}  # the same, by the id of their code
        self.stored: set[str] = set()  # the attributes and globals that can change
        # Globals that other files than their own store to, as "module:name".
        self.stored_elsewhere: set[str] = set()
        self.is_outdated = False  # whether some were found since code was rewritten
        self.known = RUNNING.kept.known
        self.files: set[str] = set()  # of functions that are rewritten when they are called
        self.expected: dict[int, Group] = {}  # the same, by the ids of their code
        self.last_look = 0
        # The files of modules that were used, by the ids of their globals and their names; and
        # these globals, so that their ids stay their own.
        self.met: dict[tuple[int, str], SourceFile | None] = {}
        self.namespaces: dict[int, Namespace] = {}
        self.twins: dict[tuple[int, Part], Twins] = {}
        self.generated = RUNNING.kept.generated_by(hooks)  # the same for dataclasses
        # By the id of code that calls hooks: that code, and the original.
        self.originals: dict[int, tuple[CodeType, CodeType]] = {}
        # What else is to be done when the first function of a module is called; or when a function
        # turns out to be one that cannot be rewritten.
        self.on_module: Callable[[Namespace], object] = lambda namespace: None
        self.on_skip: Callable[[], object] = lambda: None

    # Who gets an entrance

    def look(self) -> bool:
        """Look for functions that came into being since the check began; whether there are some
        that the program may call."""
        functions, classes = functions_and_classes(newer_objects(self.last_look))
        self.last_look = set_apart()
        plain = list(filter(self.is_plain, functions))
        self.known.note([*plain, *classes])
        is_new = False
        for function in plain:
            group = self.known.group_of(function)
            if self.is_expected(group, is_seen(group.original.co_filename)):
                is_new = self.expect(group) or is_new
        return is_new

    def expect_all(self) -> None:
        """Wait for the first calls of all functions that the program may call."""
        for file, groups in list(self.known.files.items()):
            is_wanted = is_seen(file)
            if is_wanted or self.extra_packages or is_made_up(file):
                for group in list(groups.values()):
                    if self.is_expected(group, is_wanted):
                        self.expect(group)

    def expect(self, group: Group) -> bool:
        """Give functions an entrance, unless their code is swapped already; whether some got it."""
        if id(group.original) in self.skipped_codes or not group.is_rewritable:
            return False
        is_new = False
        self.expected[id(group.original)] = group
        if not is_made_up(group.original.co_filename):
            self.files.add(group.original.co_filename)
        for function in group.functions():
            if function.__code__ is group.original:
                function.__code__ = self.known.entrance_of(group, enter)
                is_new = True
            elif self.is_plain(function):  # somebody has given it other code
                group.references.discard(ref(function))
                self.known.note([function])
                is_new = self.expect(self.known.group_of(function)) or is_new
        return is_new

    def is_plain(self, function: FunctionType) -> bool:
        """Whether the code of a function is not ours."""
        code = id(function.__code__)
        return code not in self.originals and code not in self.known.entrances

    def was_there(self, function: FunctionType) -> bool:
        """Whether a function is older than the check, or belongs to a module that it imported."""
        code = function.__code__
        code = self.known.entrances.get(id(code), code)
        _, original = self.originals.get(id(code), (code, code))
        group = self.known.files.get(original.co_filename, {}).get(id(original))
        return group is not None and ref(function) in group.references

    def undo(self) -> None:
        """Put the original code back, also into functions that were made meanwhile."""
        functions, classes = functions_and_classes(newer_objects(self.last_look))
        for group in self.expected.values():
            for function in group.functions():
                if not self.is_plain(function):
                    function.__code__ = group.original
        for function in functions:
            pair = self.originals.get(id(function.__code__))
            if pair is not None:
                function.__code__ = pair[1]
        self.known.note([*functions, *classes])
        RUNNING.kept.keep(self)

    # The first call of a function

    def is_called_by_program(self, original: CodeType, caller: FrameType | None) -> bool:
        """Functions may also be called by others: those of the standard library by us, to rewrite
        code for example, and by its modelled parts. (What a hook calls is the program's, and so are
        the items that a queue compares.)"""
        if self.thread != get_ident() or self.is_rewriting or not self.is_running():
            return False
        if not is_standard(original.co_filename) or original.co_name in ORDERING:
            return True
        while caller is not None and caller.f_code.co_filename.startswith(BETWEEN):
            caller = caller.f_back
        return caller is not None and id(caller.f_code) in self.originals

    def arrive(self, original: CodeType, namespace: Namespace) -> CodeType:
        """A function is called for the first time: what it is to run, from now on."""
        runtime = RUNNING.check.runtime
        running = runtime.current
        self.is_rewriting = True
        runtime.current = None  # library functions that were rewritten may be called for it
        try:
            code = self.code_with_hooks(original, namespace)
        finally:
            self.is_rewriting = False
            runtime.current = running
        group = self.expected.get(id(original))
        for function in [] if group is None else group.functions():
            if function.__globals__ is namespace and id(function.__code__) in self.known.entrances:
                function.__code__ = code
        return code

    def make_ready(self, function: FunctionType) -> None:
        """The same, before a function is called."""
        original = self.known.entrances.get(id(function.__code__))
        if original is not None:
            self.arrive(original, function.__globals__)

    def code_with_hooks(self, original: CodeType, namespace: Namespace) -> CodeType:
        """The code that does the same as the original, but calls hooks; or the original, if there
        is none."""
        group = self.expected.get(id(original))
        kind = group.kind() if group is not None and group.kind is not None else None
        if kind is not None:
            return self.generated_code(kind, original, namespace)
        filename = original.co_filename
        if is_made_up(filename):
            return self.skip(original, "its source is not available")
        if (id(namespace), filename) not in self.met:
            linecache.checkcache(filename)
        file = source_file(filename, PYTEST in namespace)
        if not isinstance(file, SourceFile):
            return self.skip(original, file)
        self.meet(namespace, file.filename, file)
        try:
            twin = self.twins_for(file.part_with(original), namespace).twin(original)
        except MazurkaError as error:
            return self.skip(original, str(error))
        if twin is None:
            return self.skip(original, "its source has changed since it was imported")
        self.originals[id(twin)] = twin, original
        return twin

    def meet_module(self, namespace: Namespace) -> None:
        """The program has come to a module that belongs to it."""
        filename = str(namespace.get("__file__"))
        file = source_file(filename, PYTEST in namespace)
        self.meet(namespace, filename, file if isinstance(file, SourceFile) else None)

    def meet(self, namespace: Namespace, filename: str, file: SourceFile | None) -> None:
        place = id(namespace), filename
        if place in self.met:
            return
        self.met[place] = file
        self.namespaces[id(namespace)] = namespace
        if file is not None:
            self.stored |= file.stored
        self.on_module(namespace)

    def functions_of(self, namespace: Namespace) -> list[FunctionType]:
        """The functions of a module that was used."""
        files = [filename for address, filename in self.met if address == id(namespace)]
        return [
            function
            for filename in files
            for group in self.known.files.get(filename, {}).values()
            for function in group.functions()
            if function.__globals__ is namespace
        ]

    def twins_for(self, part: Part, namespace: Namespace) -> Twins:
        """The code with hooks for a part of a module."""
        place = id(namespace), part
        tracked = self.tracked(part.file, namespace)
        twins = self.twins.get(place)
        if twins is None or twins.tracked != tracked:
            twins = RUNNING.kept.find(self.hooks, place, tracked)
            if twins is None:
                twins = Twins(part, tracked, self.hooks, namespace)
            self.twins[place] = twins
            self.originals.update(twins.originals)
        return twins

    def generated_code(self, kind: type, original: CodeType, namespace: Namespace) -> CodeType:
        """The code with hooks of a method that a dataclass has got."""
        source = source_of(kind, original.co_name)
        name = file_for(kind, original.co_name, source)
        key = id(namespace), name, source
        if key not in self.generated:
            code = bind(rewritten(parsed(source, name), name, set()), self.hooks, namespace)
            (twin,) = next(iter(functions_of(code).values()))
            self.generated[key] = twin, namespace
        self.files.add(name)
        twin, _ = self.generated[key]
        self.originals[id(twin)] = twin, original
        return twin

    def skip(self, code: CodeType, reason: str) -> CodeType:
        entry = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})", reason
        self.skipped_codes[id(code)] = code
        if entry not in self.skipped:
            self.skipped.append(entry)
        self.on_skip()
        return code  # it runs, and is told of

    # Globals that other files store to

    def tracked(self, file: SourceFile, namespace: Namespace) -> frozenset[str]:
        if not self.stored_elsewhere:
            return frozenset()
        module = name_of_module(namespace)
        return frozenset(name for name in file.names if f"{module}:{name}" in self.stored_elsewhere)

    def note_stored(self, namespace: Namespace, name: str) -> bool:
        """Another file than its own may store to a global: whether code that is rewritten already
        does not expect this."""
        entry = f"{name_of_module(namespace)}:{name}"
        if entry in self.stored_elsewhere:
            return False
        self.stored_elsewhere.add(entry)
        self.is_outdated = True
        return any(
            file is not None and name in file.names
            for (address, _), file in self.met.items()
            if address == id(namespace)
        )

    def rewrite_anew(self) -> None:
        """Rewrite what has another set of tracked globals now."""
        if not self.is_outdated:
            return
        self.is_outdated = False
        for group in self.expected.values():
            for function in group.functions():
                if id(function.__code__) in self.originals:
                    function.__code__ = self.code_with_hooks(group.original, function.__globals__)

    # Whose code is rewritten

    def is_expected(self, group: Group, is_seen: bool) -> bool:
        """Whether the first call of functions is waited for. `is_seen` says whether their file is
        rewritten, unless the user has named their package. Functions without a file cannot be: but
        it is told if they are called."""
        if group.kind is not None:
            kind = group.kind()
            return kind is not None and self.is_wanted_module(kind.__module__)
        if is_made_up(group.original.co_filename):
            is_seen = not is_generated(group.original)
        if not self.extra_packages and not self.opaque:
            return is_seen
        modules = {name_of_module(function.__globals__) for function in group.functions()}
        return any(self.is_wanted(module, is_seen) for module in modules)

    def is_wanted(self, module: str, is_seen: bool) -> bool:
        if is_within(module, self.opaque):
            return False
        return is_seen or is_within(module, self.extra_packages)

    def is_wanted_module(self, name: str | None) -> bool:
        module = sys.modules.get(name or "")
        if module is None or name is None:
            return False
        filename = str(getattr(module, "__file__", None) or FILENAME)
        return self.is_wanted(name, is_seen(filename))


# For the methods of dataclasses, by module, name and source: the code with hooks; and the namespace
# of the module, so that its id stays its own.
Generated: TypeAlias = dict[tuple[int, str, str], tuple[CodeType, dict[str, Any]]]


class KeptCode:
    """What the latest check has made, for the next one: most of its modules will be there as they
    were."""

    def __init__(self) -> None:
        self.hooks: Mapping[str, Any] = {}
        self.twins: dict[tuple[int, Part], Twins] = {}
        self.generated: Generated = {}
        self.known = KnownFunctions()
        # By file name, and whether pytest has rewritten it: the source that Python has, and what is
        # known of it.
        self.files: dict[tuple[str, bool], tuple[list[str], SourceFile]] = {}

    def keep(self, code: Instrumentation) -> None:
        """Keep that of modules that are there anyway."""
        modules = tuple(sys.modules.values())
        namespaces = {id(getattr(module, "__dict__", None)) for module in modules}
        if code.hooks is not self.hooks:
            self.hooks = code.hooks
            self.twins = {}
        twins = {**self.twins, **code.twins}
        self.twins = {place: twins[place] for place in twins if place[0] in namespaces}
        self.generated = {
            key: code.generated[key] for key in code.generated if key[0] in namespaces
        }
        recent = list(code.met.values())[-MOST_TREES:]
        for _, file in self.files.values():
            if file not in recent:
                file.analysis = None

    def find(
        self, hooks: Mapping[str, Any], place: tuple[int, Part], tracked: frozenset[str]
    ) -> Twins | None:
        twins = self.twins.get(place) if hooks is self.hooks else None
        return twins if twins is not None and twins.tracked == tracked else None

    def generated_by(self, hooks: Mapping[str, Any]) -> Generated:
        return self.generated if hooks is self.hooks else {}

"""Finding and loading what is to be checked: a function that a target names."""

import contextlib
import importlib
import inspect
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType, TracebackType
from typing import Any

from mazurka import api
from mazurka.cli.exits import WrongUse
from mazurka.native.c_program import CProgram, c_program, is_built, is_source

Program = Callable[[], object]

TARGET_FORMS = "path/to/file.py::function or package.module:function, path/to/file.c, or "
TARGET_FORMS += "a program that 'mazurka cc' has built"


class NeedsRunner(WrongUse):
    """Only a test runner can run this."""


class Skipped(WrongUse):
    """The test itself says that it is not to be run here."""


# What a test runner calls before and after the methods of a class of tests.
SETUP_METHODS = ("setUp", "setUpClass", "tearDown", "setup_method", "setup_class")


@contextlib.contextmanager
def loaded(
    target: str, flags: Sequence[str] = (), args: Sequence[str] = ()
) -> Iterator[tuple[Program, Path]]:
    """The program that a target names, and the folder of its file. What lies beside a Python file,
    and in the current directory, can be imported until the end. `flags` and `args` are for C
    programs."""
    if is_source(target) or is_built(target):
        yield c_program(target, flags, args), Path(target).parent
        return
    if flags or args:
        raise WrongUse(f"flags for a compiler, and --args, are for C programs: {target} is none")
    file, colons, function = target.partition("::")
    if colons:
        folder = os.path.dirname(os.path.abspath(file))
    else:
        file, colons, function = target.rpartition(":")
        folder = os.getcwd()
        if file.endswith(".py"):
            raise WrongUse(f"{target}: a file takes two colons: {file}::{function}")
    if not file or not function:
        raise WrongUse(f"{target!r} does not name a function to check: write {TARGET_FORMS}")
    path = list(sys.path)
    sys.path[:] = importable_from(folder)
    try:
        module = module_of_file(file) if colons == "::" else module_called(file)
        own_folder = Path(module.__file__).parent if module.__file__ else Path(folder)
        yield program_of(module, file, function), own_folder
    finally:
        sys.path[:] = path


def importable_from(folder: str) -> list[str]:
    """Where modules are looked for: in a folder first, and last in the current directory, of which
    tests may want what lies in other folders."""
    return [folder, *sys.path, *([] if "" in sys.path else [os.getcwd()])]


def names_of_target(target: str, program: Program, base: Path) -> tuple[str, str]:
    """A target as it is called from the folder of its project, and that with what else it is
    checked with."""
    file, colons, function = target.partition("::")
    if not colons and not isinstance(program, CProgram):
        return target, target
    name = f"{os.path.relpath(file, base)}{colons}{function}"
    own = [*program.flags, "--", *program.args] if isinstance(program, CProgram) else []
    return name, " ".join([name, *own])


def target_from(base: Path, target: str) -> str:
    """A target as it is called from here, if it is called so from the folder of its project."""
    file, colons, function = target.partition("::")
    here = base / file
    return f"{os.path.relpath(here)}{colons}{function}" if here.exists() else target


def module_of_file(file: str) -> ModuleType:
    """Run a file as a module, like an import, but never from a cache that may be stale."""
    if not os.path.isfile(file):
        what = "is a directory" if os.path.isdir(file) else "does not exist"
        raise WrongUse(f"{file} {what}: give the path of a Python file")
    if not file.endswith(".py"):
        raise WrongUse(f"{file} is not a Python file: its name does not end in .py")
    name = os.path.basename(file).removesuffix(".py")
    if name in sys.modules:
        name = f"{name} (checked)"  # it must not take the place of a module of the same name
    module = ModuleType(name)
    module.__file__ = os.path.abspath(file)
    sys.modules[name] = module
    with importing(file):
        code = compile(Path(file).read_bytes(), module.__file__, "exec", dont_inherit=True)
        exec(code, module.__dict__)
    return module


@contextlib.contextmanager
def forgetting(folder: str) -> Iterator[None]:
    """Forgets in the end what was imported from a folder: the next file that is looked at may have
    neighbours of the same names, and each check is to begin with a program as it is in its file."""
    path, before = list(sys.path), set(sys.modules)
    sys.path[:] = importable_from(folder)
    try:
        yield
    finally:
        sys.path[:] = path
        for name in set(sys.modules) - before:
            file = getattr(sys.modules[name], "__file__", None)
            if file is not None and Path(file).is_relative_to(folder):
                del sys.modules[name]


def module_called(name: str) -> ModuleType:
    if not all(part.isidentifier() for part in name.split(".")):
        raise WrongUse(f"{name!r} is not the name of a module: write {TARGET_FORMS}")
    with importing(name):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not f"{name}.".startswith(f"{error.name}."):
                raise  # a module that it imports is missing
            raise WrongUse(
                f"there is no module {error.name}, neither in {os.getcwd()} nor where Python looks"
            ) from error


@contextlib.contextmanager
def importing(what: str) -> Iterator[None]:
    """Turns whatever goes wrong in the import of the user's code into a message."""
    try:
        yield
    except WrongUse:
        raise
    except SystemExit as error:
        own = own_part(error.__traceback__)
        line = f", from line {own.tb_lineno} on" if own else ""
        raise WrongUse(
            f"{what} exits when it is imported{line}: put that under if __name__ == '__main__'"
        ) from error
    except Exception as error:
        own = own_part(error.__traceback__)
        lines = traceback.TracebackException(type(error), error, own).format()
        hint = ""
        if isinstance(error, ImportError) and "relative import" in str(error):
            hint = "\nName a module of a package with its package: package.module:function"
        raise WrongUse(f"{what} cannot be imported:\n\n{''.join(lines)}{hint}".rstrip()) from error


def own_part(trace: TracebackType | None) -> TracebackType | None:
    """A traceback from the user's code on, without what led there."""
    ours = (__file__, importlib.__file__)
    while trace is not None:
        file = trace.tb_frame.f_code.co_filename
        if file not in ours and not file.startswith("<frozen importlib"):
            break
        trace = trace.tb_next
    return trace


def program_of(module: ModuleType, file: str, name: str) -> Program:
    """The function of a module, or the method of a class there."""
    class_name, colons, method = name.rpartition("::")
    if not colons:
        program = function_of(module, file, name)
    else:
        program = method_of(class_of(module, file, class_name), file, method)
    if api.is_checked(program) and not needs_nothing(program):
        parameters = ", ".join(inspect.signature(program).parameters)
        raise NeedsRunner(
            f"{name} in {file} takes {parameters}, which only pytest can give it: run it with "
            f"'pytest {file}::{name}'"
        )
    return program


def class_of(module: ModuleType, file: str, name: str) -> type:
    """The class of a module, or one in another class of it."""
    found: Any = module
    for part in name.split("::"):
        found = getattr(found, part, None)
        if not inspect.isclass(found):
            raise WrongUse(f"{file} has no class {name}")
    setup = setup_of(found)
    if setup:
        raise NeedsRunner(
            f"{name} in {file} has a {setup} method, which only a test runner calls: run it with "
            f"'pytest {file}::{name}'"
        )
    tests: type = found
    return tests


def method_of(tests: type, file: str, name: str) -> Program:
    """The method of a new instance, made as pytest makes it: once for all executions."""
    if not callable(getattr(tests, name, None)):
        raise WrongUse(f"{tests.__qualname__} in {file} has no method {name}")
    import unittest

    try:
        instance = tests(name) if issubclass(tests, unittest.TestCase) else tests()
    except Exception as error:
        raise WrongUse(f"{tests.__qualname__} in {file} cannot be made: {error!r}") from error
    program: Program = getattr(instance, name)
    return program


def setup_of(tests: type) -> str:
    """The method of a class of tests that must be called before or after each, if it has one."""
    import unittest

    own = [parent for parent in tests.__mro__ if parent.__module__ != unittest.TestCase.__module__]
    found = [name for name in SETUP_METHODS for parent in own if name in vars(parent)]
    return found[0] if found else ""


def function_of(module: ModuleType, file: str, name: str) -> Program:
    if name not in vars(module):
        programs = ", ".join(programs_of(module))
        others = f"it has: {programs}" if programs else "nor any other that takes no arguments"
        raise WrongUse(f"{file} has no function {name}; {others}")
    function: Any = vars(module)[name]
    if not callable(function):
        kind = type(function).__name__
        raise WrongUse(f"{name} in {file} is not a function, but an object of type {kind}")
    if inspect.isclass(function):
        raise WrongUse(
            f"{name} in {file} is a class: name a method of it, as {file}::{name}::method"
        )
    program: Program = function
    return program


def programs_of(module: ModuleType) -> list[str]:
    """The names of the functions of a module that can be checked."""
    return [
        name
        for name, value in vars(module).items()
        if inspect.isfunction(value)
        and value.__module__ == module.__name__
        and needs_nothing(value)
    ]


def needs_nothing(function: Callable[..., object]) -> bool:
    try:
        inspect.signature(function).bind()
    except TypeError:
        return False
    return True

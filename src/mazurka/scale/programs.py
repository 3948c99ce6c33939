"""Programs that other processes can find: by the names of their files and functions."""

import hashlib
import importlib
import inspect
import os
import sys
import unittest
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MethodType, ModuleType
from typing import Any

from mazurka.engine.errors import MazurkaError

Program = Callable[[], object]


@dataclass(frozen=True)
class NamedProgram:
    """A Python function, by its module and its name there; or a C program, by its file."""

    module: str
    name: str
    file: str
    flags: tuple[str, ...] = ()
    args: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """What tells it from other programs, and from other versions of it."""
        shown = {**asdict(self), "flags": list(self.flags), "args": list(self.args)}
        return {
            **shown,
            "file": os.path.basename(self.file),
            "sha256": digest_of(self.file),
        }


def digest_of(file: str) -> str:
    """What tells a version of a file from all others."""
    try:
        text = Path(file).read_bytes() if file else b""
    except OSError as error:
        raise MazurkaError(f"cannot read {file}: {error.strerror}") from error
    return hashlib.sha256(text).hexdigest()


def named(program: Any) -> NamedProgram:
    """The name of a Python function; a MazurkaError says why other processes would not find it."""
    if getattr(program, "specification", None) is not None:
        return named_variable(program)
    if hasattr(program, "flags"):  # a C program
        file = os.path.abspath(program.file)
        return NamedProgram("", str(program.file), file, tuple(program.flags), tuple(program.args))
    body = getattr(program, "mazurka_body", program)  # of a test that explores it
    if isinstance(body, str):
        raise not_found(program.__qualname__, body)
    program = body
    function = program.__func__ if isinstance(program, MethodType) else program
    module = getattr(function, "__module__", None) or ""
    name = getattr(function, "__qualname__", "")
    if module == "__main__":
        raise not_found(name, "it is in the script that runs, or in a notebook")
    if "<locals>" in name or "<lambda>" in name or not name:
        raise not_found(name, "it is made while other code runs")
    home = sys.modules.get(module)
    if home is None:
        raise not_found(name, f"there is no module {module!r}")
    found = NamedProgram(module, name, file_of(home))
    if isinstance(program, MethodType) and not is_made_anew(program.__self__):
        raise not_found(name, "it is a method of an object that has attributes")
    if code_of(looked_up(home, found)) is not code_of(function):
        raise not_found(name, f"that name has another function in the module {module}")
    return found


def named_variable(program: Any) -> NamedProgram:
    """The name of a scenario, which is a variable of its module."""
    home = sys.modules.get(program.__module__)
    names = [] if home is None else [name for name in vars(home) if vars(home)[name] is program]
    if home is None or home.__name__ == "__main__" or not names:
        raise MazurkaError(
            f"other processes cannot find {program.__qualname__}: make it a variable of a module, "
            "with mazurka.scenario; or search with jobs=1"
        )
    return NamedProgram(home.__name__, names[0], file_of(home))


def file_of(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    return os.path.abspath(file) if file else ""


def not_found(name: str, why: str) -> MazurkaError:
    return MazurkaError(
        f"other processes cannot find {name or 'the program'}: {why}. Make it a function of a "
        "module, by a name of its own, without arguments; or search with jobs=1"
    )


def is_made_anew(instance: object) -> bool:
    """Whether another instance is as good, as a runner of tests makes them."""
    return isinstance(instance, unittest.TestCase) or not getattr(instance, "__dict__", {})


def code_of(function: Any) -> object:
    function = inspect.unwrap(function)
    return getattr(function, "__code__", function)


def looked_up(module: ModuleType, program: NamedProgram) -> Any:
    """What has the name of a program; a test that is checked stands for its body."""
    found: Any = module
    owner: Any = None
    for part in program.name.split("."):
        owner, found = found, getattr(found, part, None)
    if inspect.isclass(owner) and inspect.isfunction(found):
        name = program.name.rpartition(".")[2]
        instance = owner(name) if issubclass(owner, unittest.TestCase) else owner()
        return getattr(instance, name)
    return found


def find(program: NamedProgram) -> Any:
    """The program, in a process that does not know it yet."""
    found = looked_up(module_of(program), program)
    if found is None:
        raise MazurkaError(f"there is no {program.name} in {program.module} any more")
    return found


def module_of(program: NamedProgram) -> ModuleType:
    """The module of a program: imported by its name, if that gives its file, else run from it."""
    name, file = program.module, program.file
    if not name.endswith(" (checked)"):
        try:
            module = importlib.import_module(name)
            if not file or file_of(module) == file:
                return module
        except ImportError:
            if not file:
                raise
    module = ModuleType(name)
    module.__file__ = file
    sys.modules[name] = module
    exec(compile(Path(file).read_bytes(), file, "exec", dont_inherit=True), module.__dict__)
    return module

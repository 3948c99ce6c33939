"""The methods that dataclasses have generated: Python keeps no source of them, so here it is."""

import dataclasses
import linecache
import sys
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

COMPARISONS = {"__eq__": "==", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">="}
METHODS = [*COMPARISONS, "__repr__", "__hash__"]
FILENAME = "<string>"  # of all code that has no file
FILES = "<dataclass "  # what the names of files that are made up here begin with


def is_generated(code: CodeType) -> bool:
    """Whether code is that of a method which the standard library has generated: for a dataclass,
    or to make a named tuple. All that it does is to take its arguments, or to give its fields."""
    return code.co_filename == FILENAME and (
        code.co_qualname.startswith("__create_fn__.") or code.co_names[:1] == ("_tuple_new",)
    )


def generated_methods(kind: type) -> Iterator[FunctionType]:
    """The methods of a dataclass that look at its fields."""
    for name in METHODS:
        function = vars(kind).get(name)
        while not (isinstance(function, FunctionType) and is_generated(function.__code__)):
            function = getattr(function, "__wrapped__", None)
            if function is None:
                break
        else:
            if function.__name__ == name and not function.__code__.co_freevars:
                yield function


def source_of(kind: Any, name: str) -> str:
    """What one of these methods does."""
    fields = dataclasses.fields(kind)
    if name == "__repr__":
        shown = ", ".join(f"{field.name}={{self.{field.name}!r}}" for field in fields if field.repr)
        return f'def __repr__(self):\n    return self.__class__.__qualname__ + f"({shown})"\n'
    if name == "__hash__":
        hashed = [
            each.name for each in fields if (each.compare if each.hash is None else each.hash)
        ]
        return f"def __hash__(self):\n    return hash({values('self', hashed)})\n"
    compared = [field.name for field in fields if field.compare]
    result = f"{values('self', compared)} {COMPARISONS[name]} {values('other', compared)}"
    lines = [f"def {name}(self, other):"]
    if name == "__eq__" and sys.version_info >= (3, 13):
        lines += ["    if self is other:", "        return True"]
        result = " and ".join(f"self.{each} == other.{each}" for each in compared) or "True"
    lines += [
        "    if other.__class__ is self.__class__:",
        f"        return {result}",
        "    return NotImplemented",
    ]
    return "\n".join(lines) + "\n"


def values(owner: str, names: list[str]) -> str:
    return "(" + "".join(f"{owner}.{name}, " for name in names) + ")"


def file_for(kind: type, name: str, source: str) -> str:
    """A file name for the source of a method, under which reports find it."""
    filename = f"{FILES}{kind.__module__}.{kind.__qualname__}.{name}>"
    linecache.cache[filename] = len(source), None, source.splitlines(keepends=True), filename
    return filename

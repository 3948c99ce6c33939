"""The benchmarks' programs by their names, so that other processes find them."""

from typing import Any

from benchmarks.registry import Instance, Program, parse


def findable(instance: Instance) -> Program:
    """A program that is an attribute of this module."""
    program: Any = instance.program()
    program.__module__ = __name__
    program.__qualname__ = str(instance)
    return program  # type: ignore[no-any-return]


def __getattr__(name: str) -> Program:
    try:
        return findable(parse(name))
    except ValueError as error:
        raise AttributeError(str(error)) from None

"""Entrances: what a function runs when it is called for the first time in a check.

Only code that runs is rewritten, and nobody knows beforehand which does. So every function of the
program gets an entrance in the place of its code. It takes the same parameters, asks for the
code that is to be run, and calls that with its own arguments and closure. Whoever has asked for the
code puts it into the function, too: an entrance is gone through once.

In the eyes of the `inspect` module an entrance is the function's own code: names, parameters, flags
and place are the same.
"""

import functools
import inspect
import warnings
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, TypeAlias

# Constants of a model that are replaced in entrances.
ENTER = "mazurka:enter"
CODE = "mazurka:code"

Closure: TypeAlias = tuple[Any, ...] | None
# Gives the function to be called in place of the one whose code and closure these are.
Enter: TypeAlias = Callable[[CodeType, Closure], FunctionType]


def entrance_to(code: CodeType, enter: Enter) -> CodeType:
    """The entrance of all functions that have this code."""
    names = parameters_of(code)
    takes_rest = bool(code.co_flags & inspect.CO_VARARGS)
    takes_named = bool(code.co_flags & inspect.CO_VARKEYWORDS)
    model = model_for(
        code.co_argcount, code.co_kwonlyargcount, takes_rest, takes_named, len(code.co_freevars)
    )
    replaced: dict[object, object] = {ENTER: enter, CODE: code}
    for number in range(code.co_kwonlyargcount):
        replaced[f"named_{number}"] = names[code.co_argcount + number]
    return code.replace(
        co_code=model.co_code,
        co_consts=tuple(constant(value, replaced) for value in model.co_consts),
        co_names=model.co_names,
        co_varnames=names,
        co_nlocals=len(names),
        co_cellvars=(),
        co_stacksize=model.co_stacksize,
        co_exceptiontable=model.co_exceptiontable,
        co_linetable=model.co_linetable,
    )


def parameters_of(code: CodeType) -> tuple[str, ...]:
    """In the order in which a frame has them."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return code.co_varnames[:count]


def constant(value: object, replaced: dict[object, object]) -> object:
    if isinstance(value, tuple):
        return tuple(constant(part, replaced) for part in value)
    return replaced.get(value, value) if isinstance(value, str) else value


@functools.cache
def model_for(
    positional: int, named: int, takes_rest: bool, takes_named: bool, free: int
) -> CodeType:
    """An entrance for functions with so many parameters, and so many variables in their closure."""
    given = [f"given_{number}" for number in range(positional)]
    by_name = [f"named_{number}" for number in range(named)]
    cells = [f"cell_{number:05}" for number in range(free)]  # closures are in the order of names
    rest = ["*rest"] if takes_rest else ["*"] if named else []
    others = ["**others"] if takes_named else []
    parameters = [*given, *rest, *by_name, *others]
    arguments = [
        *given,
        *(["*rest"] if takes_rest else []),
        *(f"{name}={name}" for name in by_name),
        *others,
    ]
    closure = f"(lambda: ({', '.join(cells)},)).__closure__" if cells else "None"
    source = (
        f"def maker({', '.join(cells)}):\n"
        f"    def entrance({', '.join(parameters)}):\n"
        f"        return {ENTER!r}({CODE!r}, {closure})({', '.join(arguments)})\n"
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)  # a text is called
        maker = inner_code(compile(source, "<entrance>", "exec", dont_inherit=True), "maker")
    return inner_code(maker, "entrance")


def inner_code(code: CodeType, name: str) -> CodeType:
    return next(
        value for value in code.co_consts if isinstance(value, CodeType) and value.co_name == name
    )

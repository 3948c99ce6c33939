"""The calls that a C program tells of: runtime/calls.c."""

import ast
import ctypes
import re
from functools import lru_cache
from typing import Any, Final

from mazurka.engine.calls import GIVES, Call, Given
from mazurka.engine.errors import MazurkaError
from mazurka.native.runtime_library import Library

MOST_TEXT: Final = 104
OPERATION: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*\((.*)\)\s*")


class CallTold(ctypes.Structure):
    """One of them: `struct call`."""

    _fields_ = (
        ("thread", ctypes.c_int64),
        ("begin", ctypes.c_int64),
        ("end", ctypes.c_int64),
        ("operation", ctypes.c_char * MOST_TEXT),
        ("result", ctypes.c_char * MOST_TEXT),
    )


def calls_told(library: Library) -> list[Call]:
    """The calls of the latest execution, in the order in which they began."""
    count = library.number("mz_calls_known")
    table = (CallTold * count).from_address(library.address("mz_calls"))
    history = []
    for told in table:
        name, arguments = operation_in(told.operation)
        call = Call(told.thread, name, arguments, told.begin)
        if told.end >= 0:
            call.ends(told.end, Given(GIVES, value_in(told.result)))
        history.append(call)
    return history


@lru_cache(maxsize=1000)
def operation_in(text: bytes) -> tuple[str, tuple[Any, ...]]:
    """The name and the arguments in a text like `push(1)`."""
    shown = text.decode(errors="replace")
    found = OPERATION.fullmatch(shown)
    if found is not None:
        try:
            inside = found[2].strip()
            return found[1], ast.literal_eval(f"({inside},)") if inside else ()
        except (ValueError, SyntaxError):
            pass
    raise MazurkaError(
        f"mazurka_call says {shown!r}, which is no operation with its arguments, such as push(1)"
    )


@lru_cache(maxsize=1000)
def value_in(text: bytes) -> Any:
    """What a call gives, in a text like `1`."""
    shown = text.decode(errors="replace")
    try:
        return ast.literal_eval(shown.strip())
    except (ValueError, SyntaxError):
        raise MazurkaError(
            f"mazurka_return says {shown!r}, which is no value as Python writes it, such as 1, "
            "None, True, 'text' or (1, 2)"
        ) from None

"""Values in words: short, and the same in every run."""

import re
from collections.abc import Callable

from mazurka.engine.event import Event
from mazurka.python.memory.shapes import MISSING, is_memory

LONGEST_VALUE = 60
ADDRESS = re.compile(" at 0x[0-9a-fA-F]+")  # which is another one in every run


def show(value: object) -> str:
    """A value, short."""
    text = plain_text(value, repr)
    return text if len(text) <= LONGEST_VALUE else text[: LONGEST_VALUE - 3] + "..."


def show_found(value: object) -> str:
    """A value that was found in memory. What is in it may have changed since."""
    if value is MISSING:
        return "not there"
    return f"a {type(value).__name__}" if is_memory(type(value)) else show(value)


def show_change(event: Event) -> str:
    """What a value was before an event, and what it was after it."""
    return f"{show(event.before)} -> {show(event.after)}"


def plain_text(value: object, how: Callable[[object], str]) -> str:
    """What `str` or `repr` gives, which for a user's class may be an exception."""
    try:
        return ADDRESS.sub("", how(value))
    except Exception as error:
        return f"<{type(value).__name__} that cannot be shown: {type(error).__name__}>"

"""The state of objects that are changed by code which nobody sees, as far as one can see it and set
it back."""

from random import Random, SystemRandom
from types import GeneratorType
from typing import Any

from mazurka.python.memory.shapes import FILES, MISSING, own_dict


def is_iterator(kind: type) -> bool:
    return hasattr(kind, "__next__")


def state_of(thing: Any) -> object:
    """What tells the states of an object apart, and sets it back; MISSING if there is no such."""
    if isinstance(thing, Random):
        return None if isinstance(thing, SystemRandom) else thing.getstate()
    if isinstance(thing, FILES):
        return None if thing.closed else thing.__getstate__()
    if isinstance(thing, GeneratorType):
        return None if thing.gi_frame is None else thing.gi_frame.f_lasti
    if is_iterator(type(thing)):
        return position_of(thing)
    own = own_dict(thing)
    return bytes_of(thing) if own is None else dict(own)


def has_state(thing: object) -> bool:
    return state_of(thing) is not MISSING


def position_of(iterator: Any) -> object:
    """How far an iterator over a sequence has come. (Since Python 3.12, one over a range does not
    say that.)"""
    try:
        _, arguments, *position = iterator.__reduce__()
    except (AttributeError, TypeError, ValueError):
        return MISSING
    is_known = len(arguments) == 1 and position and position[0] is not None
    return tuple(position) if is_known else MISSING


def bytes_of(thing: Any) -> object:
    """The memory that an object shows, like those of ctypes do."""
    try:
        with memoryview(thing) as view:
            return MISSING if view.readonly else view.tobytes()
    except (TypeError, ValueError, NotImplementedError, BufferError):
        return MISSING


def put_back_state(thing: Any, state: Any) -> bool:
    """Set an object back; whether that could be done."""
    if state is MISSING:
        return False
    kind = type(thing)
    if isinstance(state, dict):
        own = own_dict(thing)
        assert own is not None
        own.clear()
        own.update(state)
        return True
    if state_of(thing) == state:
        return True
    if issubclass(kind, Random):
        thing.setstate(state)
    elif issubclass(kind, FILES):
        if state is not None and not thing.closed:
            thing.__setstate__(state)
    elif isinstance(state, bytes):
        with memoryview(thing) as view, view.cast("B") as plain:
            plain[:] = state
    elif is_iterator(kind) and hasattr(kind, "__setstate__"):
        thing.__setstate__(*state)
    return bool(state_of(thing) == state)

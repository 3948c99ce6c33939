"""What the patterns of `match` statements look at, as rewritten code does it.

Each of these gives what sub-patterns are matched with, or None if there is no match. A container
may change on the way, as in Python: that asks for its length, then takes its items, all at once or
one by one, and copies what is left of a mapping when the rest of the pattern has matched.
"""

from types import MappingProxyType
from typing import Any, Final

from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import load_attribute
from mazurka.python.memory.containers import (
    is_own,
    length,
    load_item,
    owner_of,
    read_all,
    shallow_copy,
    use_opaque,
)
from mazurka.python.memory.shapes import MISSING, NO_CONTAINER, shape_of

# The flags of types that patterns take for sequences and mappings. (A `match` statement here would
# ask for lengths once too often when it is compiled.)
SEQUENCE: Final = 1 << 5
MAPPING: Final = 1 << 6
# By which patterns look into sequences and mappings.
LOOKED_AT_BY: Final = ("__iter__", "__len__", "__getitem__", "get", "keys")
# The one positional sub-pattern of these is for the object itself.
WHOLE_SUBJECTS: Final = (
    bool, bytearray, bytes, dict, float, frozenset, int, list, set, str, tuple,
)  # fmt: skip


def match_sequence(subject: Any, size: int, has_star: bool) -> Any:
    """A sequence of some length or, with a star, at least that."""
    if not type(subject).__flags__ & SEQUENCE:
        return None
    if has_star and size == 0:  # any length will do, and nobody asks for it
        return subject
    found = length(subject)
    return subject if found == size or (has_star and found > size) else None


def match_item(subject: Any, index: int) -> object:
    """An item of a sequence. If it comes after a star, its index is counted from the end."""
    return load_item(subject, index if index >= 0 else length(subject) + index)


def match_mapping(subject: Any, size: int) -> Any:
    """A mapping of at least some length."""
    if not type(subject).__flags__ & MAPPING:
        return None
    return subject if size == 0 or length(subject) >= size else None


def snapshot(container: Any) -> Any:
    """A container that nobody changes from now on; but one of a class of the user's runs its own
    code."""
    kind = type(container)
    if RUNNING.check.runtime.is_elsewhere():
        return container
    if kind is MappingProxyType:
        return snapshot(owner_of(container))
    if shape_of(kind) == NO_CONTAINER:
        use_opaque(container, "keys")
        return container
    read_all(container)
    own = any(is_own(kind, name) for name in LOOKED_AT_BY)
    return container if own else shallow_copy(container)


def match_keys(subject: Any, keys: tuple[object, ...]) -> list[object] | None:
    """The values of some keys, all as they are now."""
    mapping = snapshot(subject)
    values: list[object] = []
    seen: set[object] = set()
    for key in keys:
        if key in seen:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        seen.add(key)
        value = mapping.get(key, MISSING)
        if value is MISSING:
            return None
        values.append(value)
    return values


def match_rest(mapping: Any, keys: tuple[object, ...]) -> dict[object, object]:
    """What `**rest` is bound to."""
    rest: dict[object, object] = {}
    rest.update(snapshot(mapping))
    for key in keys:
        del rest[key]
    return rest


def match_class(
    subject: object, kind: Any, positional: int, keywords: tuple[str, ...]
) -> list[object] | None:
    """The attributes that a class pattern asks for. All are loaded before any is matched."""
    if not isinstance(kind, type):
        raise TypeError("called match pattern must be a class")
    if not isinstance(subject, kind):
        return None
    names = positional_names(kind, positional)
    parts: list[object] = [subject] if len(names) < positional else []
    seen: set[str] = set()
    for name in (*names, *keywords):
        if type(name) is not str:
            kind_of_name = type(name).__name__
            raise TypeError(f"__match_args__ elements must be strings (got {kind_of_name})")
        if name in seen:
            raise TypeError(f"{kind.__name__}() got multiple sub-patterns for attribute {name!r}")
        seen.add(name)
        try:
            parts.append(load_attribute(subject, name))
        except AttributeError:
            return None
    return parts


def positional_names(kind: type, count: int) -> tuple[Any, ...]:
    """The attributes that positional sub-patterns are for; none if there is one, for the subject
    itself."""
    if count == 0:
        return ()
    names: Any = getattr(kind, "__match_args__", MISSING)
    is_whole = names is MISSING and issubclass(kind, WHOLE_SUBJECTS)
    if names is MISSING:
        names = ()
    elif type(names) is not tuple:
        given = type(names).__name__
        raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {given})")
    allowed = 1 if is_whole else len(names)
    if allowed < count:
        plural = "" if allowed == 1 else "s"
        raise TypeError(
            f"{kind.__name__}() accepts {allowed} positional sub-pattern{plural} ({count} given)"
        )
    return tuple(names[:count])

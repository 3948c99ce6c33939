"""What cannot change while a loop waits, besides the variables of its function.

A condition of a loop may name attributes beside the value that it waits for: `len(self.items) <
self.size`. Whether somebody changes them shows in the search. As long as nobody has, they are taken
for constant; if it turns out that somebody does, the search begins anew. An execution in which such
an attribute is changed has a beginning in which it is not, so that the change is always met.
(Attributes of the same name are taken together: then few searches are begun in vain.)
"""

from enum import EnumMeta
from types import MemberDescriptorType, ModuleType
from typing import Any, Final

from mazurka.python.check import RUNNING
from mazurka.python.memory.attributes import (
    CLASS_LEVEL,
    FIELD,
    NATIVE,
    class_attribute,
    is_pythons_own,
    way_to,
)
from mazurka.python.memory.shapes import MISSING, present_value
from mazurka.python.primitives.atomic import Atomic
from mazurka.python.primitives.events import Event
from mazurka.python.primitives.locks import Lock
from mazurka.python.primitives.queues import Queue
from mazurka.python.source import variables_of

# The methods that read a model, and fail in no state of it.
READABLE: Final[dict[str, type]] = {
    "load": Atomic,
    "is_set": Event,
    "locked": Lock,
    "empty": Queue,
    "full": Queue,
    "qsize": Queue,
}


def is_readable(method: str, name: str) -> bool:
    """Whether a variable has an object of which a method gives what it is, and does nothing else.
    (Methods of the same name may do anything.)"""
    return type(variables_of((name,)).get(name)) is READABLE[method]


def constant_at(path: str) -> object:
    """The value of `name.attribute.attribute`; MISSING if it may change."""
    name, *attributes = path.split(".")
    thing = variables_of((name,)).get(name, MISSING)
    for attribute in attributes:
        thing = constant_attribute(thing, attribute)
    return thing


def constant_attribute(thing: Any, name: str) -> object:
    objects = RUNNING.check.objects
    if isinstance(thing, EnumMeta):
        return thing.__members__.get(name, MISSING)
    way = way_to(type(thing), name)
    if way == NATIVE:
        return unseen_attribute(thing, name)
    if way != FIELD and way != CLASS_LEVEL:
        return MISSING
    cell = objects.field_of(thing, name)
    if cell is not None or way == CLASS_LEVEL:  # others may change it, or that of the class
        if name in objects.changed:
            return MISSING
        objects.trusted.add(name)
    return plain_attribute(thing, name)


def unseen_attribute(thing: Any, name: str) -> object:
    """An attribute of which it is not seen who reads it: no code that is seen stores one of this
    name, unless it is a method or property of the class."""
    if type(thing) is type:
        found = class_attribute(thing, name)
        return MISSING if hasattr(type(found), "__get__") else found
    if type(thing) is ModuleType:
        return vars(thing).get(name, MISSING)
    if not is_pythons_own(type(thing).__getattribute__):
        return MISSING
    return plain_attribute(thing, name)


def plain_attribute(thing: Any, name: str) -> object:
    """An attribute of an object or its class, unless reading it runs code, as for a property."""
    found = class_attribute(type(thing), name)
    if hasattr(type(found), "__get__") and type(found) is not MemberDescriptorType:
        return MISSING
    value = present_value(thing, name)
    if value is not MISSING:
        return value
    return MISSING if type(found) is MemberDescriptorType else found

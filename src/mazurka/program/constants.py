"""What cannot change while a loop waits, besides the variables of its function.

A condition of a loop may name attributes beside the value that it waits for: `len(self.items) <
self.size`. Whether somebody changes them shows in the search. As long as nobody has, they are taken
for constant; if it turns out that somebody does, the search begins anew. An execution in which such
an attribute is changed has a beginning in which it is not, so that the change is always met.
(Attributes of the same name are taken together: then few searches are begun in vain.)
"""

from enum import EnumMeta
from types import ModuleType
from typing import Any, Final

from mazurka.program.atomic import Atomic
from mazurka.program.fields import FIELD, NATIVE, class_attribute, way_to
from mazurka.program.loops import variables_of
from mazurka.program.objects import MISSING, OBJECTS, present_value
from mazurka.program.sync import Event, Lock, Queue

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
    if isinstance(thing, EnumMeta):
        return thing.__members__.get(name, MISSING)
    way = way_to(type(thing), name)
    if way == NATIVE and type(thing) in (type, ModuleType):
        # No code that is seen stores an attribute of this name.
        return (
            class_attribute(thing, name) if type(thing) is type else vars(thing).get(name, MISSING)
        )
    if way != FIELD:
        return MISSING
    cell = OBJECTS.field_of(thing, name)
    if cell is None:
        return present_value(thing, name)
    if name in OBJECTS.changed:
        return MISSING
    OBJECTS.trusted.add(name)
    return cell.value

"""What operations would do to the values of locations: the front end's to say.

A value is a Python object, a wrapping C integer, the contents of a container: whatever the front
end keeps in `Event.before` and `Event.after`. A search never looks into one. It asks here what
would happen at a point of an execution that was never run: whether a lock could be taken there, or
whether a compare-exchange would fail. `apply` gives what an operation would leave, so that an
execution can be computed without running the program.
"""

from typing import cast

from mazurka.engine.event import Event
from mazurka.engine.operation import DISABLED, LOAD, STORE, Footprint
from mazurka.engine.subclassing import mypyc_attr


@mypyc_attr(allow_interpreted_subclasses=True)
class Values:
    """The answers must be functions of what is given, and nothing else."""

    def mode(self, operation: Event, value: object) -> int:
        """How an operation accesses its location if that holds a value: a mode, or DISABLED."""
        raise NotImplementedError

    def apply(self, operation: Event, value: object) -> tuple[object, object]:
        """What an operation gives, and what it leaves in its location, if that held a value."""
        raise NotImplementedError

    def footprint_without(self, operation: Event, changes: list[Event]) -> Footprint:
        """How an operation on a container accesses that without some changes which it has found,
        the latest first. One that may block accesses it in this way once it is enabled."""
        raise NotImplementedError

    def judges(self, operation: Event) -> bool:
        """Whether it matters which value an operation finds, beyond what it gives its thread."""
        return operation.kind != LOAD and operation.kind != STORE

    def view(self, length: int, is_there: bool, value: object) -> object:
        """What an operation on a container finds, as its event has it: how many items, and whether
        its own is one of them."""
        raise NotImplementedError

    def seen_in(self, view: object) -> tuple[int, bool, object]:
        """The other way round."""
        raise NotImplementedError

    def all_seen_in(self, view: object) -> list[tuple[int, object]] | None:
        """What an operation on all of a container has found there, as numbered items in their
        order; None if that was not kept."""
        raise NotImplementedError

    def footprint_by(self, operation: Event, view: object) -> Footprint:
        """How an operation on a container accesses it if it finds this."""
        raise NotImplementedError

    def plus(self, value: object, adds: list[Event]) -> object:
        """A value after some adds (which leave it alone if it is none that can be added to)."""
        for add in adds:
            value = self.apply(add, value)[1]
        return value

    def sums(self, adds: list[Event]) -> object:
        """What the selections of some adds come to, for `some_sum_enables`."""
        return adds

    def some_sum_enables(self, operation: Event, value: object, sums: object) -> bool:
        """Whether some selection of adds makes a value that enables an operation."""
        reached = {value}
        for add in cast(list[Event], sums):
            reached |= {self.apply(add, one)[1] for one in reached}
        return any(self.mode(operation, one) != DISABLED for one in reached)

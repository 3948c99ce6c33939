"""Checks that are run by hand, by a search alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from mazurka.python.check import Check
from mazurka.python.new_check import new_check


@contextmanager
def check_by_hand() -> Iterator[Check]:
    """While the body runs, so does a check; what is left of its program is unwound then."""
    with new_check() as check:
        try:
            yield check
        finally:
            check.runtime.close()


@contextmanager
def check_of_objects() -> Iterator[Check]:
    """The same for a program whose ordinary objects are seen."""
    with check_by_hand() as check:
        check.runtime.memory = check.objects
        yield check

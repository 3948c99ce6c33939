"""Errors that tell users what to do."""


class MazurkaError(Exception):
    """A mistake in how Mazurka is used; the message says what to do."""


class ConditionMet(MazurkaError):
    """A program decides a condition on symbolic values, and the search does not take these: it
    expects that the alternatives of a data choice are the same whatever other threads have chosen.
    """


class BeginsAnew(Exception):
    """The program turned out to be another one than it was taken for: what was found out of it by
    running it does not count, and the search begins anew."""

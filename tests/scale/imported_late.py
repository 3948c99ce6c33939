"""Imported while a program runs."""

from typing import Any


def increment(counter: Any) -> None:
    counter.increment()

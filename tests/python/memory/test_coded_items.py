"""Items whose classes hash, compare or show them in Python: that code runs in the midst of what is
done to a container, and other threads may run there."""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import pytest

from mazurka import explore
from tests.python.threads import both


@dataclass(frozen=True)
class Point:
    v: int = 0


Program = Callable[[], object]


def seen_beside(make: Callable[[], Any], act: Callable[[Any], object], look: Any) -> set[object]:
    """What a thread sees of a container on which another one acts."""

    def program() -> object:
        container = make()
        found: list[object] = []

        def see() -> None:
            try:
                found.append(look(container))
            except RuntimeError:
                found.append("changed size")

        both(lambda: act(container), see)
        return found[0]

    result = explore(program)
    assert result.verdict == "verified"
    return set(result.outcomes)


def points() -> list[Point]:
    return [Point(1), Point(2)]


def pop_first(items: list[Point]) -> None:
    items.pop(0)


@pytest.mark.parametrize(
    "taken", [lambda x: len({*x}), lambda x: len(set(x)), lambda x: len(Counter(x)),
              lambda x: len(dict.fromkeys(x)), lambda x: len(frozenset(x))],
)  # fmt: skip
def test_items_that_hash_themselves_are_taken_one_by_one(taken: Any) -> None:
    assert seen_beside(points, pop_first, lambda x: taken(x) + 10 * x.count(Point(1))) >= {1, 12}
    seen = seen_beside(points, pop_first, lambda x: sum(p.v for p in set(x)))
    assert seen == {1, 2, 3}  # 1: the second one was skipped


def test_counting_a_set_that_changes_fails() -> None:
    seen = seen_beside(lambda: {Point(1)}, lambda x: x.add(Point(2)), lambda x: len(Counter(x)))
    assert seen == {1, 2, "changed size"}


def test_an_intersection_may_lose_what_happens_meanwhile() -> None:
    def program() -> bool:
        shared = {Point(0), Point(1)}
        both(
            lambda: shared.intersection_update({Point(0)}, {Point(0)}),
            lambda: shared.discard(Point(0)),
        )
        return Point(0) in shared

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {True, False})


def test_updates_with_equal_keys_take_a_step_for_each() -> None:
    def update(x: set[Point]) -> None:
        x |= {Point(0), Point(1)}

    seen = seen_beside(lambda: {Point(0)}, update, lambda x: len(x))
    assert seen == {1, 2}


@pytest.mark.parametrize("expected", [[Point(0)], {Point(0)}, {Point(0): Point(0)}])
def test_what_threads_have_made_can_be_compared(expected: Any) -> None:
    def program() -> None:
        made = type(expected)()

        def add() -> None:
            if isinstance(made, dict):
                made[Point(0)] = Point(0)
            else:
                made.add(Point(0)) if isinstance(made, set) else made.append(Point(0))

        both(add, lambda: None)
        assert made == expected

    assert explore(program).verdict == "verified"


def test_a_change_while_items_are_compared_is_told() -> None:
    def program() -> None:
        made = [Point(0), Point(1)]
        both(lambda: made == [Point(0), Point(1)], lambda: made.append(Point(2)))

    result = explore(program)
    assert result.verdict == "incomplete"
    assert "code that is run for the items" in result.warnings[0]


def test_json_of_a_subclass_with_a_text_of_its_own() -> None:
    def add(counts: Counter[str]) -> None:
        counts["a"] = 2

    assert seen_beside(lambda: Counter(a=1), add, json.dumps) == {'{"a": 1}', '{"a": 2}'}


def test_a_list_with_a_text_of_its_own_is_compared_as_a_list() -> None:
    class Named(list[int]):
        def __repr__(self) -> str:
            return "named"

    assert seen_beside(Named, lambda x: x.append(1), lambda x: x == [1]) == {True, False}


def test_proxies_of_dicts_are_matched_and_compared() -> None:
    def match(shown: tuple[dict[str, int], Any]) -> object:
        match shown[1]:
            case {"a": value}:
                return value
        return None

    def change(shown: tuple[dict[str, int], Any]) -> None:
        shown[0]["a"] = 9

    def make() -> tuple[dict[str, int], Any]:
        table = {"a": 0}
        return table, MappingProxyType(table)

    assert seen_beside(make, change, match) == {0, 9}
    assert seen_beside(make, change, lambda x: x[1].__eq__({"a": 9})) == {True, False}
    assert seen_beside(make, change, lambda x: x[1].__eq__("a")) == {False}

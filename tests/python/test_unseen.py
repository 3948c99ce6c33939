"""Where not all can be seen, either it is found all the same, or the result warns of it."""

import array
import copy
import ctypes
import json
import sqlite3
import threading
from collections import ChainMap
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import IntEnum
from types import MappingProxyType
from typing import Any, TypeVar

import pytest

from mazurka import Result, explore


def beside(first: Callable[[], object], second: Callable[[], object]) -> None:
    thread = threading.Thread(target=first)
    thread.start()
    second()
    thread.join()


def is_honest(result: Result, expected: set[Any]) -> bool:
    """Nothing is called verified in silence that was not seen."""
    return set(result.outcomes) == expected or bool(result.warnings)


Numbers = ctypes.c_int * 1


class Point:
    def __init__(self) -> None:
        self.x = 0


def add_in_c_array() -> int:
    numbers = Numbers()

    def add() -> None:
        numbers[0] += 1

    beside(add, add)
    return int(numbers[0])


def add_in_memory_view() -> int:
    view = memoryview(bytearray(1))

    def add() -> None:
        view[0] += 1

    beside(add, add)
    return view[0]


@pytest.mark.parametrize("program", [add_in_c_array, add_in_memory_view])
def test_objects_of_c_are_one_thing_that_every_use_changes(program: Callable[[], int]) -> None:
    result = explore(program)
    assert set(result.outcomes) == {1, 2}
    assert result.warnings


def test_views_of_containers_stay_views() -> None:
    def program() -> tuple[int, int, int]:
        numbers = bytearray(1)
        view = memoryview(numbers)
        table: dict[str, int] = {}
        proxy = MappingProxyType(table)
        chain = ChainMap(table)
        numbers[0] = 7
        table["a"] = 8
        return view[0], proxy["a"], chain["a"]

    assert set(explore(program).outcomes) == {(7, 8, 8)}


def test_what_is_made_from_a_list_of_lists_reads_them() -> None:
    def program() -> tuple[int, int]:
        pairs: list[Any] = [["a", 1]]
        table: dict[Any, Any] = {}

        def change() -> None:
            pairs[0][1] = 5

        def look() -> None:
            table.update(pairs)
            table["b"] = dict(pairs)["a"]

        beside(change, look)
        return table["a"], table["b"]

    assert set(explore(program).outcomes) == {(1, 1), (1, 5), (5, 5)}


@pytest.mark.parametrize("copy_it", [copy.copy, copy.deepcopy])
def test_copies_of_objects(copy_it: Callable[[Any], Any]) -> None:
    def program() -> int:
        points = [Point()]
        found: list[int] = []

        def change() -> None:
            points[0].x = 7

        beside(change, lambda: found.append(copy_it(points[0]).x))
        return found[0]

    assert is_honest(explore(program), {0, 7})


def test_copies_of_what_has_objects_in_it() -> None:
    def program() -> int:
        points = [Point()]
        found: list[int] = []

        def change() -> None:
            points[0].x = 7

        beside(change, lambda: found.append(copy.deepcopy(points)[0].x))
        return found[0]

    assert is_honest(explore(program), {0, 7})


def count() -> Iterator[int]:
    number = 0
    while True:
        number += 1
        yield number


def test_a_generator_that_threads_share() -> None:
    """In Python, the second one may find it already executing."""

    def program() -> None:
        numbers = count()
        beside(lambda: next(numbers), lambda: next(numbers))

    assert explore(program).warnings


def test_functions_that_look_into_what_is_in_a_container() -> None:
    def program() -> str:
        inner = {"b": 1}
        outer = {"a": inner}
        found: list[str] = []

        def change() -> None:
            inner["b"] = 2

        beside(change, lambda: found.append(json.dumps(outer)))
        return found[0]

    assert is_honest(explore(program), {'{"a": {"b": 1}}', '{"a": {"b": 2}}'})


def test_arrays_are_seen() -> None:
    def program() -> int:
        numbers = array.array("i", [0])

        def add() -> None:
            numbers[0] += 1

        beside(add, add)
        return numbers[0]

    result = explore(program)
    assert set(result.outcomes) == {1, 2}
    assert not result.warnings


def test_exceptions_that_go_through_a_context_manager_are_seen() -> None:
    @contextmanager
    def manager() -> Iterator[None]:
        yield

    def program() -> None:
        def work() -> None:
            with suppress(KeyError), manager():
                raise KeyError

        beside(work, work)

    result = explore(program)
    assert (result.verdict, result.warnings) == ("verified", [])


T = TypeVar("T")
Made: Any = Callable[[], T]


def test_types_are_no_reason_for_doubt() -> None:
    def program() -> None:
        beside(lambda: Made[int], lambda: Made[str])

    assert explore(program).verdict == "verified"


class Level(IntEnum):
    LOW = 1
    HIGH = 2


def test_texts_and_comparisons_of_enums_are_no_reason_for_doubt() -> None:
    def program() -> None:
        def work() -> None:
            assert f"{Level.LOW!r} {Level.HIGH}" == "<Level.LOW: 1> 2"
            assert Level.LOW < Level.HIGH
            assert len([1, 2]) != Level.LOW

        beside(work, work)

    assert explore(program).verdict == "verified"


def test_methods_of_c_are_told_with_the_package_that_opaque_takes() -> None:
    def program() -> None:
        connection = sqlite3.connect(":memory:", check_same_thread=False)

        def work() -> None:
            connection.execute("select 1")

        beside(work, work)

    result = explore(program)
    assert any("what sqlite3.Connection.execute does to" in text for text in result.warnings)
    assert explore(program, opaque=["sqlite3"]).verdict == "verified"

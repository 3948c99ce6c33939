"""Iterators of C that threads share: whoever takes from one does so in turn."""

import copy
import csv
import itertools
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from mazurka import explore
from tests.python.threads import both


@pytest.mark.parametrize(
    "make",
    [
        iter,
        reversed,
        enumerate,
        lambda items: zip(items, "abc"),  # noqa: B905
        lambda items: zip(itertools.count(), items),
        lambda items: enumerate(zip(items, reversed(items))),  # noqa: B905
        lambda items: itertools.chain(items[:1], items[1:]),
        lambda items: itertools.islice(items, 3),
        lambda items: itertools.cycle(items),
        lambda items: itertools.zip_longest(items, "a"),
        itertools.pairwise,
        lambda items: itertools.product(items, repeat=2),
        lambda items: csv.reader([f"{item},x" for item in items]),
    ],
)
def test_each_item_goes_to_one_thread(make: Callable[[Any], Iterator[Any]]) -> None:
    def program() -> str:
        iterator = make([1, 2, 3])
        got: list[Any] = [None, None]

        def take(place: int) -> None:
            got[place] = next(iterator)

        both(lambda: take(0), lambda: take(1))
        return repr(got)

    first, second = itertools.islice(make([1, 2, 3]), 2)
    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {repr([first, second]), repr([second, first])}


def test_what_is_put_in_meanwhile_may_be_taken() -> None:
    def program() -> int:
        items = [1]
        numbered = enumerate(items)
        both(lambda: items.append(2), lambda: next(numbered))
        return len(list(numbered))

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {1}


def test_loops_share_what_there_is() -> None:
    def program() -> int:
        numbered = enumerate("ab")
        got: list[int] = []

        def take_all() -> None:
            for number, _ in numbered:
                got.append(number)

        both(take_all, take_all)
        return len(got)

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {2}


def test_an_iterator_that_is_shared_while_a_loop_goes_through_it() -> None:
    def program() -> str:
        letters, got = zip("abc", "xyz"), []  # noqa: B905
        other = threading.Thread(target=lambda: got.append(next(letters, None)))
        for pair in letters:
            got.append(pair)
            if len(got) == 1:
                other.start()
        other.join()
        return "".join("-" if pair is None else pair[0] for pair in got)

    outcomes = set(explore(program).outcomes)
    assert outcomes == {"abc", "acb", "abc-", "ab-c"}


def test_an_iterator_from_which_another_one_takes() -> None:
    def program() -> str:
        numbered, got = enumerate("ab"), [0, 0]
        pairs = zip(numbered, "xy")  # noqa: B905

        def take(place: int, items: Any) -> None:
            found = next(items)
            got[place] = found[0]

        both(lambda: take(0, numbered), lambda: take(1, pairs))
        return repr(got)

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {"[0, (1, 'b')]", "[1, (0, 'a')]"}


def test_c_code_that_goes_through_a_shared_container_is_seen() -> None:
    def rows() -> int:
        lines = ["a"]
        reader = csv.reader(lines)
        got: list[Any] = []
        both(lambda: got.extend(list(reader)), lambda: lines.append("b"))
        return len(got)

    result = explore(rows)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {1, 2}

    def copies() -> None:
        items = [1]
        first, _ = itertools.tee(items)
        both(lambda: list(first), lambda: items.append(2))

    assert explore(copies).verdict == "incomplete"


@pytest.mark.parametrize(
    "make",
    [
        lambda: map(str, [1, 2]),
        lambda: filter(None, [1, 2]),
        lambda: zip(item for item in [1, 2]),
        lambda: itertools.chain.from_iterable([[1], [2]]),
        lambda: copy.copy(enumerate([1, 2])),
    ],
)
def test_iterators_that_may_run_code_are_told(make: Callable[[], Iterator[Any]]) -> None:
    def program() -> None:
        iterator = make()
        both(lambda: next(iterator), lambda: next(iterator))

    assert explore(program).verdict == "incomplete"


def test_counts_are_where_they_are() -> None:
    def program() -> Any:
        numbers = itertools.count(5, 2)
        for _ in numbers:
            break
        pairs = list(zip(numbers, "ab"))  # noqa: B905
        return next(numbers), pairs, repr(numbers), next(copy.copy(numbers)), next(numbers)

    assert set(explore(lambda: repr(program())).outcomes) == {repr(program())}

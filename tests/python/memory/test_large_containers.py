"""Large containers: a step on one item has to do with that item alone."""

import array
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import pytest

from mazurka import explore
from mazurka.python.memory import undo
from mazurka.python.memory.undo import Undo

BYTES = bytearray(50_000_000)
NUMBERS = [0] * 100_000
TABLE: dict[int, int] = dict.fromkeys(range(100_000), 0)


def in_two_threads(change: Callable[[int], object]) -> None:
    threads = [threading.Thread(target=change, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("name", ["BYTES", "NUMBERS", "TABLE"])
def test_nothing_copies_them(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    large: Any = globals()[name]

    def refuse(*_: object) -> None:
        raise AssertionError("a whole container was copied")

    monkeypatch.setattr(undo, "whole_of", refuse)

    def change(number: int) -> None:
        large[number] = large[0] + number

    def program() -> None:
        assert large[1] == large[2] == 0
        in_two_threads(change)
        assert (large[1], large[2]) == (1, 2)

    assert explore(program).verdict == "verified"
    assert large[1] == large[2] == 0


def test_items_that_are_set_and_then_deleted() -> None:
    for large in (dict.fromkeys("abc", 1), OrderedDict.fromkeys("abc", 1)):
        saved = Undo()
        saved.save_item(large, "b")
        large["b"] = 2
        saved.save_item(large, "new")
        large["new"] = 3
        saved.save_contents(large)
        del large["a"]
        saved.put_back()
        assert list(large.items()) == [("a", 1), ("b", 1), ("c", 1)]


@pytest.mark.parametrize("make", [list, bytearray, lambda items: array.array("b", items)])
def test_items_that_are_set_and_appended(make: Callable[[Any], Any]) -> None:
    saved = Undo()
    large = make([1, 2, 3])
    saved.save_item(large, 0)
    large[0] = 5
    saved.save_item(large, None)
    large.append(6)
    saved.save_item(large, 3)
    large[3] = 7
    saved.put_back()
    assert list(large) == [1, 2, 3]
    saved.save_item(large, 0)
    large[0] = 5
    saved.save_contents(large)
    del large[:]
    saved.put_back()
    assert list(large) == [1, 2, 3]


def test_what_hangs_on_many_items_is_shared() -> None:
    class Account:
        balance = 0

    accounts: list[Any] = [*range(1000), Account()]

    def deposit(number: int) -> None:
        accounts[1000].balance += number

    def program() -> int:
        in_two_threads(deposit)
        return int(accounts[1000].balance)

    assert set(explore(program).outcomes) == {1, 2, 3}

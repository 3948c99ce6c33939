"""Methods of containers that are written in Python are not atomic; methods of a class that are
called with an instance are what they are on the instance."""

from collections import Counter, defaultdict
from typing import Any

import pytest

from mazurka import explore
from tests.python.threads import both


def add_counters() -> int:
    counts: Counter[str] = Counter()

    def add() -> None:
        nonlocal counts
        counts += Counter("a")

    both(add, add)
    return counts["a"]


def update_counter() -> int:
    counts: Counter[str] = Counter(a=1)
    both(lambda: counts.update({"a": 1}), lambda: counts.update({"a": 1}))
    return counts["a"] - 1


def unbound_items() -> int:
    table = {"n": 0}

    def add() -> None:
        dict.__setitem__(table, "n", dict.__getitem__(table, "n") + 1)

    both(add, add)
    return table["n"]


def unbound_append() -> int:
    items: list[int] = []

    def add() -> None:
        if not list.__len__(items):
            list.append(items, 1)

    both(add, add)
    return len(items)


class Table(dict[str, int]):
    def like_this(self) -> "Table":
        return self.__class__(self)


def copied() -> int:
    table = Table(n=0)

    def add() -> None:
        table["n"] = table.like_this()["n"] + 1

    both(add, add)
    return table["n"]


@pytest.mark.parametrize(
    "program", [add_counters, update_counter, unbound_items, unbound_append, copied]
)
def test_both_outcomes_are_found(program: Any) -> None:
    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {1, 2})


def test_attributes_of_classes_that_type_sets() -> None:
    class Meta(type):
        def __setattr__(cls, name: str, value: object) -> None:
            type.__setattr__(cls, name, value)

    def program() -> int:
        class Counted(metaclass=Meta):
            total = 0

        def add() -> None:
            Counted.total += 1

        both(add, add)
        return Counted.total

    assert set(explore(program).outcomes) == {1, 2}


def texts(make: Any, look: Any) -> set[Any]:
    """What a thread finds while another one removes an item, and what is there at the end."""

    def program() -> object:
        table = make()
        found: list[str] = []
        both(lambda: found.append(str(look(table))), lambda: table.pop("a", None))
        return found[0], len(table)

    result = explore(program)
    assert result.verdict == "verified"
    return set(result.outcomes)


def test_templates_look_up_what_is_missing() -> None:
    template = "%(a)s"
    assert texts(lambda: Counter(a=1), lambda table: template % table) == {("1", 0), ("0", 0)}
    assert texts(lambda: defaultdict(list, a=[1]), lambda table: template % table) == {
        ("[1]", 0),
        ("[]", 1),
    }


def test_a_counter_leaves_an_operation_to_a_dict() -> None:
    found = texts(lambda: Counter(a=1), lambda table: table | {"b": 1})
    assert found == {("{'a': 1, 'b': 1}", 0), ("{'b': 1}", 0)}

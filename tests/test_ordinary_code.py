"""Programs in ordinary Python: what they do to ordinary objects is seen, and explored."""

import itertools
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from typing import Any

import pytest

import mazurka
from mazurka.core.result import Result

NUMBERS = itertools.count(1)


def together(*functions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def outcomes(program: Callable[[], object]) -> set[object]:
    """All that a program can return; it must be explored without a failure or a warning."""
    result = mazurka.explore(program, stop_on_failure=False)
    assert result.verdict == "verified", result.failures and result.failures[0]
    assert not result.warnings
    return set(result.outcomes)


def failing(program: Callable[[], object]) -> Result:
    result = mazurka.explore(program)
    assert result.verdict == "failed"
    return result


# Threads


def test_a_thread_is_made_a_daemon_before_it_is_started() -> None:
    def program() -> bool:
        thread = threading.Thread(target=len, args=([],))
        thread.daemon = True
        thread.start()
        thread.join()
        return thread.daemon

    assert outcomes(program) == {True}


# The ids of objects


class Thing:
    pass


def test_ids_are_the_same_in_every_execution() -> None:
    def program() -> int:
        things = {}

        def add() -> None:
            thing = Thing()
            things[id(thing)] = thing

        together(add, add)
        return len(things)

    assert outcomes(program) == {2}


def test_all_threads_see_the_same_id() -> None:
    def program() -> int:
        thing = Thing()
        ids: list[int] = []
        together(lambda: ids.append(id(thing)), lambda: ids.append(id(thing)))
        return len({*ids, id(thing)})

    assert outcomes(program) == {1}


def test_ids_of_functions_and_of_what_was_there_before() -> None:
    def program() -> int:
        def local() -> None:
            pass

        ids: list[tuple[int, int, int]] = []

        def look() -> None:
            ids.append((id(local), id(together), id(NUMBERS)))

        together(look, look)
        return len(set(ids))

    assert outcomes(program) == {1}


# itertools.count


def test_numbers_are_taken_in_any_order() -> None:
    def program() -> tuple[int, ...]:
        taken: dict[str, int] = {}
        together(
            lambda: taken.update(a=next(NUMBERS)),
            lambda: taken.update(b=next(NUMBERS)),
        )
        return taken["a"], taken["b"]

    assert outcomes(program) == {(1, 2), (2, 1)}


def test_counts_that_an_execution_makes() -> None:
    def program() -> tuple[int, ...]:
        numbers = itertools.count(10, 5)
        taken: dict[str, int] = {}
        together(
            lambda: taken.update(a=next(numbers)),
            lambda: taken.update(b=next(numbers)),
        )
        return taken["a"], taken["b"], next(numbers)

    assert outcomes(program) == {(10, 15, 20), (15, 10, 20)}


# Defaults of dictionaries


def test_a_default_that_python_makes_at_once() -> None:
    def program() -> int:
        groups: defaultdict[str, list[int]] = defaultdict(list)
        together(lambda: groups["a"].append(1), lambda: groups["a"].append(2))
        return len(groups["a"])

    assert outcomes(program) == {2}


def test_a_default_that_takes_its_time() -> None:
    def program() -> int:
        groups: defaultdict[str, list[int]] = defaultdict(lambda: [0][:0])
        together(lambda: groups["a"].append(1), lambda: groups["a"].append(2))
        return len(groups["a"])

    assert outcomes(program) == {1, 2}


# The standard library's glue


class Table(MutableMapping[str, Any]):
    def __init__(self) -> None:
        self.items_of_table: dict[str, Any] = {}

    def __getitem__(self, key: str) -> Any:
        return self.items_of_table[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.items_of_table[key] = value

    def __delitem__(self, key: str) -> None:
        del self.items_of_table[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self.items_of_table)

    def __len__(self) -> int:
        return len(self.items_of_table)


def test_inherited_methods_of_mappings_are_not_atomic() -> None:
    def program() -> int:
        table = Table()
        found = []
        together(
            lambda: found.append(table.setdefault("key", 1)),
            lambda: found.append(table.setdefault("key", 2)),
        )
        return len(set(found))

    assert outcomes(program) == {1, 2}


class Resource:
    def __init__(self) -> None:
        self.users = 0

    @contextmanager
    def used(self) -> Iterator[None]:
        self.users += 1
        yield
        self.users -= 1


def test_context_managers_made_of_methods() -> None:
    def program() -> int:
        resource = Resource()

        def use() -> None:
            with resource.used():
                pass

        together(use, use)
        return resource.users

    assert outcomes(program) == {-1, 0, 1}


# Replays and reports


def test_a_replay_of_a_program_with_threads_of_the_standard_library() -> None:
    def program() -> None:
        thing = Table()
        thing["n"] = 0

        def add() -> None:
            thing["n"] += 1

        together(add, add)
        assert thing["n"] == 2

    schedule = failing(program).failures[0].schedule.to_json()
    failure = mazurka.replay(program, schedule)
    assert isinstance(failure.exception, AssertionError)


def test_objects_have_the_names_of_the_execution_that_is_shown() -> None:
    """The first object that a thread gives away is not the same in every execution."""

    def program() -> None:
        left: dict[str, list[int]] = {}
        right: dict[str, list[int]] = {}

        def fill() -> None:
            if "a" not in left:
                left["a"] = []
            left["a"].append(1)
            right["b"] = []

        together(fill, fill)
        assert len(left["a"]) == 2

    with pytest.raises(mazurka.CheckFailed) as caught:
        mazurka.check(program)
    assert "append to right" not in str(caught.value)

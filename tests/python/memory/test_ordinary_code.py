"""Programs in ordinary Python: what they do to ordinary objects is seen, and explored."""

import itertools
import threading
from collections import ChainMap, OrderedDict, UserDict, defaultdict
from collections.abc import Callable, Iterator, MutableMapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property, lru_cache, partial
from io import StringIO
from operator import attrgetter, itemgetter
from types import SimpleNamespace
from typing import Any
from weakref import WeakValueDictionary

import pytest

import mazurka
from mazurka.engine.result import Result

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
    assert not unseen(result)
    return set(result.outcomes)


def unseen(result: Result) -> list[str]:
    """The warnings of a program, not those about functions that other tests have left behind."""
    return [warning for warning in result.warnings if not warning.startswith("not rewritten")]


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


# Functions that are given to threads


@pytest.mark.parametrize("start", ["thread", "timer", "executor", "spawn", "partial"])
def test_methods_of_containers_are_run_by_threads(start: str) -> None:
    def program() -> tuple[int, ...]:
        done: list[int] = []
        if start == "executor":
            with ThreadPoolExecutor(2) as executor:
                executor.submit(done.append, 1)
                executor.submit(done.append, 2)
        elif start == "spawn":
            for handle in [mazurka.spawn(done.append, 1), mazurka.spawn(done.append, 2)]:
                handle.join()
        elif start == "timer":
            timer = threading.Timer(1, done.append, (1,))
            timer.start()
            done.append(2)
            timer.join()
        elif start == "partial":
            together(partial(done.append, 1), partial(done.append, 2))
        else:
            threads = [threading.Thread(target=done.append, args=(n,)) for n in (1, 2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return tuple(done)

    assert outcomes(program) == {(1, 2), (2, 1)}


def test_threads_take_from_a_generator() -> None:
    def program() -> set[int]:
        numbers = (number for number in range(3))
        lock = threading.Lock()
        taken = []

        def take() -> None:
            with lock:
                taken.append(next(numbers))

        together(take, take)
        assert taken == [0, 1]
        return set()

    result = mazurka.explore(program)
    assert (result.verdict, result.reason) == ("incomplete", "not everything was seen")
    assert not result.failures


# functools.lru_cache and functools.cached_property


@cache
def cached_thing(name: str) -> Thing:
    return Thing()


def test_threads_may_both_compute_what_is_cached() -> None:
    def program() -> bool:
        found: list[Thing] = []
        together(
            lambda: found.append(cached_thing("a")),
            lambda: found.append(cached_thing("a")),
        )
        return found[0] is found[1]

    cached_thing("a")  # it does not matter what was cached before
    assert outcomes(program) == {True, False}
    assert "(cache)" not in vars(cached_thing)


def test_caches_are_empty_in_every_execution() -> None:
    def program() -> tuple[int, int]:
        calls = []

        @lru_cache
        def double(number: int) -> int:
            calls.append(number)
            return 2 * number

        assert double(1) == double(1) == 2
        assert sorted([2, 1], key=cached_thing_name) == [1, 2]
        return len(calls), double.cache_info().hits

    assert outcomes(program) == {(1, 1)}


CALLS: list[int] = []


@lru_cache
def cached_thing_name(number: int) -> str:
    CALLS.append(number)
    return str(number)


def test_a_small_cache_drops_what_was_used_least_recently() -> None:
    def program() -> list[int]:
        calls: list[int] = []

        @lru_cache(maxsize=2)
        def same(number: int) -> int:
            calls.append(number)
            return number

        for number in (1, 2, 1, 3, 1, 2):
            same(number)
        assert calls == [1, 2, 3, 2]
        same.cache_clear()
        same(1)
        assert len(calls) == 5
        return []

    assert mazurka.explore(program).verdict == "verified"


class Numbered:
    def __init__(self) -> None:
        self.calls = 0

    @cache  # noqa: B019
    def squared(self, number: int) -> int:
        self.calls += 1
        return number * number

    @cached_property
    def number(self) -> int:
        self.calls += 1
        return self.calls


def test_methods_with_a_cache() -> None:
    def program() -> int:
        numbered = Numbered()
        together(lambda: numbered.squared(2), lambda: numbered.squared(2))
        assert numbered.squared(2) == 4
        return numbered.calls

    assert outcomes(program) == {1, 2}


def test_cached_properties() -> None:
    def program() -> int:
        numbered = Numbered()
        together(lambda: numbered.number, lambda: numbered.number)
        return numbered.calls

    # Python 3.11 has a lock there.
    assert outcomes(program) == ({1} if hasattr(cached_property(len), "lock") else {1, 2})


def test_a_cached_property_is_forgotten_while_another_thread_uses_it() -> None:
    def program() -> int:
        numbered = Numbered()
        assert numbered.number == 1

        def forget() -> None:
            del numbered.number

        together(forget, lambda: numbered.number)
        return numbered.calls

    assert outcomes(program) == {1, 2}


# Dataclasses


@dataclass(order=True)
class Point:
    x: int
    y: int
    name: str = field(default="", compare=False)

    def move(self) -> None:
        self.x = 1
        self.y = 1


@pytest.mark.parametrize("kind", ["module", "local"])
def test_comparisons_of_dataclasses(kind: str) -> None:
    def program() -> bool:
        @dataclass
        class LocalPoint:
            x: int
            y: int

        point: Any = Point(0, 0) if kind == "module" else LocalPoint(0, 0)
        between: Any = Point(1, 0) if kind == "module" else LocalPoint(1, 0)
        seen: list[bool] = []

        def move() -> None:
            point.x = 1
            point.y = 1

        together(move, lambda: seen.append(point == between))
        return seen[0]

    assert outcomes(program) == {True, False}


def test_dataclasses_are_shown_field_by_field() -> None:
    def program() -> str:
        point = Point(0, 0)
        seen: list[str] = []
        together(point.move, lambda: seen.append(f"{point}"))
        return seen[0]

    shown = {f"Point(x={x}, y={y}, name='')" for x in (0, 1) for y in (0, 1)}
    assert outcomes(program) == shown


def test_dataclasses_are_ordered_and_hashed_as_ever() -> None:
    def program() -> bool:
        @dataclass(frozen=True)
        class Empty:
            pass

        assert Point(0, 1) < Point(0, 2) <= Point(0, 2) != Point(1, 2)
        assert Point(0, 1) == Point(0, 1, "name")
        assert Point(0, 1).__eq__(1) is NotImplemented
        assert hash(Empty()) == hash(Empty())
        return Empty() == Empty()

    assert outcomes(program) == {True}
    assert Point.__eq__.__code__.co_filename == "<string>"


# Patterns


def test_class_patterns_load_attribute_by_attribute() -> None:
    def program() -> str:
        point = Point(0, 0)
        seen: list[str] = []

        def look() -> None:
            match point:
                case Point(x=0, y=1):
                    seen.append("moved after x was loaded")
                case Point(0, 0):
                    seen.append("origin")
                case Point(x=1, y=0):
                    seen.append("between")
                case Point(1, y):
                    seen.append(f"moved to {y}")

        together(point.move, look)
        return seen[0]

    expected = {"moved after x was loaded", "origin", "between", "moved to 1"}
    assert outcomes(program) == expected


def test_patterns_look_into_containers_in_attributes() -> None:
    def program() -> str:
        box = SimpleNamespace(items=[1], table={"k": [1]})
        seen: list[str] = []

        def change() -> None:
            box.items.append(2)
            box.table["k"].append(2)

        def look() -> None:
            try:
                match box:
                    case SimpleNamespace(items=[1, 2], table={"k": [1]}):
                        seen.append("between")
                    case SimpleNamespace(items=[1, *rest]):
                        seen.append(f"rest {rest}")
            except ValueError:  # a list is longer than it was when its length was asked for
                seen.append("changed")

        together(change, look)
        return seen[0]

    assert outcomes(program) == {"between", "rest []", "rest [2]", "changed"}


def test_patterns_bind_names_to_the_parts_themselves() -> None:
    def program() -> str:
        box = SimpleNamespace(items=[[0], [0]], table={"k": [0]})

        def change() -> None:
            match box.items:
                case [[_] as first, *_]:
                    first.append(1)
            match box:
                case SimpleNamespace(items=list(items), table={"k": inner}):
                    items.append([1])
                    inner.append(1)

        together(change)
        return f"{box.items} {box.table}"

    assert outcomes(program) == {"[[0, 1], [0], [1]] {'k': [0, 1]}"}


# Objects whose classes are not rewritten


def test_methods_of_c_objects_are_steps() -> None:
    def program() -> str:
        text = StringIO()
        together(lambda: text.write("a"), lambda: text.write("b"))
        return text.getvalue()

    assert outcomes(program) == {"ab", "ba"}


@pytest.mark.parametrize("make", [ChainMap, UserDict, WeakValueDictionary])
def test_classes_of_libraries_are_used_in_any_order(make: Callable[[], Any]) -> None:
    def program() -> bool:
        table = make()
        thing, other = Thing(), Thing()

        def put() -> None:
            table["key"] = thing

        def look() -> None:
            if table.setdefault("key", other) is other:
                seen.append(1)

        seen: list[int] = []
        together(put, look)
        return bool(seen)

    result = mazurka.explore(program)
    assert set(result.outcomes) == {True, False}
    assert not unseen(result)


# Iterators and getters


@pytest.mark.parametrize("items", [[1, 2], range(1, 3), {1: 1, 2: 2}])
def test_threads_take_from_an_iterator(items: Any) -> None:
    def program() -> tuple[int, int]:
        iterator = iter(items)
        taken: dict[str, int] = {}
        together(
            lambda: taken.update(a=next(iterator)),
            lambda: taken.update(b=next(iterator)),
        )
        return taken["a"], taken["b"]

    assert outcomes(program) == {(1, 2), (2, 1)}


def test_iterators_of_itertools_look_at_what_is_there() -> None:
    def program() -> tuple[int, ...]:
        first = [1]
        second: list[int] = []
        seen: list[int] = []
        together(lambda: second.append(2), lambda: seen.extend(itertools.chain(first, second)))
        return tuple(seen)

    assert outcomes(program) == {(1,), (1, 2)}


def test_lists_that_are_chained_are_read() -> None:
    def program() -> int:
        lists = [[1], [2]]
        seen: list[int] = []

        def change() -> None:
            lists[1] = [3]

        together(change, lambda: seen.extend(itertools.chain.from_iterable(lists)))
        return seen[1]

    assert outcomes(program) == {2, 3}


def test_getters_read_attributes_and_items() -> None:
    def program() -> tuple[int, int]:
        point = Point(0, 0)
        table = {"key": 0}
        seen: list[int] = []

        def change() -> None:
            point.x = 1
            table["key"] = 1

        def look() -> None:
            seen.append(attrgetter("x")(point))
            seen.append(itemgetter("key")(table))

        together(change, look)
        return seen[0], seen[1]

    assert outcomes(program) == {(0, 0), (0, 1), (1, 1), (1, 0)}


def test_getters_as_keys() -> None:
    def program() -> int:
        one, two = Point(0, 1), Point(1, 2)

        def change() -> None:
            one.x = 2

        seen: list[Point] = []
        together(change, lambda: seen.append(min([one, two], key=attrgetter("x"))))
        return seen[0].y

    assert outcomes(program) == {1, 2}


# Classes that inherit from C


class Bounded(OrderedDict[str, int]):
    def __init__(self) -> None:
        super().__init__()
        self.hits = 0

    def __getitem__(self, key: str) -> int:
        self.hits += 1
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: int) -> None:
        super().__setitem__(key, value)
        if len(self) > 1:
            del self[next(iter(self))]

    def __delitem__(self, key: str) -> None:
        super().__delitem__(key)

    def __len__(self) -> int:
        return super().__len__()

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()


def test_special_methods_that_call_those_of_a_dict() -> None:
    def program() -> tuple[int, int]:
        table = Bounded()
        errors: list[str] = []

        def put(key: str) -> None:
            try:
                table[key] = 1
            except KeyError:
                errors.append(key)

        together(lambda: put("a"), lambda: put("b"))
        return len(table), len(errors)

    assert outcomes(program) == {(1, 0), (1, 1), (0, 0)}


class Oops(Exception):
    hits = 0


@pytest.mark.parametrize("make", [Bounded, Oops, partial(SimpleNamespace, hits=0)])
def test_attributes_of_objects_of_c(make: Callable[[], Any]) -> None:
    def program() -> int:
        thing = make()

        def hit() -> None:
            thing.hits += 1

        together(hit, hit)
        return int(thing.hits)

    assert outcomes(program) == {1, 2}


@pytest.mark.parametrize("kind", ["future", "stack"])
def test_methods_of_containers_as_callbacks(kind: str) -> None:
    def program() -> int:
        done: list[Any] = []

        def close() -> None:
            with ExitStack() as stack:
                stack.callback(done.append, 1)

        if kind == "future":
            future: Future[int] = Future()
            future.add_done_callback(done.append)
            together(lambda: future.set_result(1), lambda: done.append(0))
        else:
            together(close, lambda: done.append(0))
        return done.index(0)

    assert outcomes(program) == {0, 1}


def test_what_an_earlier_check_left_behind_is_not_looked_at() -> None:
    def program() -> int:
        def count() -> None:
            count.calls += 1  # type: ignore[attr-defined]

        count.calls = 0  # type: ignore[attr-defined]
        together(count, count)
        kept.append(count)
        return int(count.calls)  # type: ignore[attr-defined]

    kept: list[Any] = []
    assert outcomes(program) == {1, 2}
    assert not [w for w in mazurka.explore(program).warnings if "test_what_an_earlier" in w]


# Attributes as items


def test_attributes_are_used_through_the_dict_of_an_object() -> None:
    def program() -> tuple[int, bool]:
        point = Point(0, 0)
        seen: list[Any] = []

        def change() -> None:
            point.x = 1
            point.__dict__["new"] = True

        def look() -> None:
            seen.append(point.__dict__["x"])
            seen.append(hasattr(point, "new"))

        together(change, look)
        return seen[0], seen[1]

    assert outcomes(program) == {(0, False), (0, True), (1, False), (1, True)}


def test_all_attributes_at_once_are_not_seen() -> None:
    def program() -> None:
        point = Point(0, 0)
        together(point.move, lambda: dict(point.__dict__))

    assert any("__dict__" in warning for warning in unseen(mazurka.explore(program)))


def test_functions_are_taken_for_shared_however_often_they_are_made() -> None:
    """Python 3.11 runs code in another way once it has run it a few times."""

    def program() -> int:
        def count() -> None:
            count.calls += 1  # type: ignore[attr-defined]

        count.calls = 0  # type: ignore[attr-defined]
        count.limit = 9  # type: ignore[attr-defined]
        together(count, count, count)
        return int(count.calls)  # type: ignore[attr-defined]

    assert outcomes(program) == {1, 2, 3}


def test_a_function_of_no_module() -> None:
    def program() -> int:
        def count() -> int:
            return len(things)

        things = [1]
        count.__module__ = None  # type: ignore[assignment]
        together(count)
        return count()

    assert outcomes(program) == {1}

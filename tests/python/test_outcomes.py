"""Ordinary Python programs, and all that they can come to."""

import copy
import itertools
import operator
import threading
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any

import mazurka


def outcomes(program: Callable[[], object]) -> set[Any]:
    """What a program can give; and the types of the exceptions that its threads may raise."""
    result = mazurka.explore(program, stop_on_failure=False)
    assert result.verdict in ("verified", "failed")
    raised = {type(failure.exception).__name__ for failure in result.failures}
    naive = mazurka.explore(program, algorithm="naive", stop_on_failure=False)
    assert set(naive.outcomes) == set(result.outcomes)
    return set(result.outcomes) | raised


def at_once(*functions: Callable[[], object]) -> None:
    """Run some functions in threads, the last one in this thread."""
    threads = [threading.Thread(target=function) for function in functions[:-1]]
    for thread in threads:
        thread.start()
    functions[-1]()
    for thread in threads:
        thread.join()


def test_sets_can_be_shown_and_compared() -> None:
    def program() -> object:
        numbers = {0}
        seen: list[object] = []

        def show() -> None:
            seen.append((repr(numbers), numbers == {0}))

        at_once(lambda: numbers.add(1), show)
        return repr(seen)

    assert outcomes(program) == {
        "[('{0}', True)]",
        "[('{0}', False)]",
        "[('{0, 1}', False)]",
    }


def test_a_loop_over_a_deque_minds_changes_from_its_beginning() -> None:
    """Also before it takes the first item."""

    def program() -> object:
        line = deque([0])
        seen: list[int] = []

        def go_through() -> None:
            for number in line:
                seen.append(number)

        at_once(lambda: line.append(1), go_through)
        return tuple(seen)

    assert outcomes(program) == {(0,), (0, 1), "RuntimeError"}


NUMBERS = {0, 1}


def test_a_set_that_outlives_executions_pops_the_same_in_each() -> None:
    def program() -> object:
        popped: list[int] = []
        at_once(lambda: popped.append(NUMBERS.pop()), lambda: NUMBERS.discard(9))
        return popped[0]

    assert outcomes(program) == {0}
    assert sorted(NUMBERS) == [0, 1]


def test_a_deleted_variable_is_missed_as_in_python() -> None:
    def program() -> object:
        variable = 1

        def delete() -> None:
            nonlocal variable
            del variable

        thread = threading.Thread(target=delete)
        thread.start()
        try:
            return variable
        except UnboundLocalError:
            return "unbound"

    assert outcomes(program) == {1, "unbound"}


def test_what_is_in_a_defaultdict_is_shown_as_it_changes() -> None:
    def program() -> object:
        groups: defaultdict[str, list[int]] = defaultdict(list)
        seen: list[str] = []
        at_once(lambda: groups["a"].append(1), lambda: seen.append(repr(groups)))
        return seen[0].removeprefix("defaultdict(<class 'list'>, ")

    assert outcomes(program) == {"{})", "{'a': []})", "{'a': [1]})"}


class Stack(list[int]):
    def __repr__(self) -> str:
        return f"Stack of {len(self)}"


def test_subclasses_of_containers_are_shown_and_copied_as_what_they_are() -> None:
    def program() -> object:
        stack = Stack([1])
        seen: list[str] = []
        at_once(lambda: stack.append(2), lambda: seen.append(f"{stack}, {copy.copy(stack)}"))
        return seen[0]

    assert outcomes(program) == {
        "Stack of 1, Stack of 1",
        "Stack of 1, Stack of 2",
        "Stack of 2, Stack of 2",
    }


def test_a_loop_backwards_reads_item_after_item() -> None:
    def program() -> object:
        items = [0, 0]
        seen: list[int] = []

        def change() -> None:
            items[1] = 1
            items[0] = 1

        def go_through() -> None:
            for item in reversed(items):
                seen.append(item)

        at_once(change, go_through)
        return tuple(seen)

    assert outcomes(program) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_a_list_is_empty_while_its_keys_are_asked_for() -> None:
    def program() -> object:
        items = [2, 1]
        sign = [1]
        at_once(lambda: items.append(sign[0]), lambda: items.sort(key=lambda item: sign[0] * item))
        return tuple(items)

    assert outcomes(program) == {(1, 1, 2), (1, 2, 1), "ValueError"}


def seen_while(change: Callable[[list[Any]], object], look: Callable[[list[Any]], object]) -> Any:
    """What can be seen of [[0], [0, 1]] while it changes."""

    def program() -> object:
        items = [[0], [0, 1]]
        seen: list[object] = []
        at_once(lambda: change(items), lambda: seen.append(look(items)))
        return repr(seen[0])

    return outcomes(program)


def test_functions_that_compare_look_into_lists() -> None:
    def change(items: list[list[int]]) -> None:
        items[0].append(2)

    assert seen_while(change, lambda items: max(items, key=len)[-1]) == {"1", "2"}
    assert seen_while(change, lambda items: min(items)[-1]) == {"0", "2", "1"}
    assert seen_while(change, lambda items: sorted(items)[0][-1]) == {"0", "2", "1"}
    assert seen_while(change, lambda items: [0, 2] in items) == {"False", "True"}
    sums = {"[0, 0, 1]", "[0, 2, 0, 1]"}
    assert seen_while(change, lambda items: sum(items, [])) == sums  # noqa: RUF017


def test_methods_that_compare_or_show_look_into_lists() -> None:
    def change(items: list[list[int]]) -> None:
        items[0].append(2)

    def remove(items: list[list[int]]) -> int:
        items.remove([0])
        return len(items)

    assert seen_while(change, lambda items: items.count([0])) == {"0", "1"}
    assert seen_while(change, lambda items: items.index([0])) == {"0", "ValueError"}
    assert seen_while(change, remove) == {"1", "ValueError"}
    shown = {"'[[0], [0, 1]]'", "'[[0, 2], [0, 1]]'"}
    assert seen_while(change, lambda items: "{}".format(items)) == shown  # noqa: UP032
    assert seen_while(change, lambda items: "{a}".format(a=items)) == shown  # noqa: UP032


def test_deep_copies_read_what_is_in_lists() -> None:
    def change(items: list[list[int]]) -> None:
        items[0].append(2)
        items[1].append(2)

    copies = {"[[0], [0, 1]]", "[[0, 2], [0, 1]]", "[[0], [0, 1, 2]]", "[[0, 2], [0, 1, 2]]"}
    assert seen_while(change, lambda items: copy.deepcopy(items)) == copies


def test_any_and_all_look_at_lists_one_by_one() -> None:
    def change(items: list[list[int]]) -> None:
        items[0].clear()

    assert seen_while(change, all) == {"False", "True"}
    assert seen_while(change, lambda items: any(items.pop() for _ in range(9))) == {"True"}


def test_itertools_and_getters_read_lists() -> None:
    def change(items: list[list[int]]) -> None:
        items.pop()
        items[0].append(2)

    chained = {"[0, 0, 1]", "[0]", "[0, 2]"}
    assert seen_while(change, lambda items: [*itertools.chain.from_iterable(items)]) == chained
    assert seen_while(change, lambda items: len(list(itertools.chain(items)))) == {"1", "2"}
    assert seen_while(change, lambda items: operator.itemgetter(-1)(items)[-1]) == {"0", "1", "2"}


class Box:
    def __init__(self) -> None:
        self.x = 0

    def __repr__(self) -> str:
        return f"Box({self.x})"


def test_what_is_shown_together_is_read_in_turn() -> None:
    def program() -> object:
        box = Box()
        items: list[int] = []
        seen: list[str] = []

        def change() -> None:
            box.x = 1
            items.append(1)

        at_once(change, lambda: seen.append(repr((box, items))))
        return seen[0]

    assert outcomes(program) == {"(Box(0), [])", "(Box(0), [1])", "(Box(1), [])", "(Box(1), [1])"}


def test_views_are_shown_and_compared_as_views() -> None:
    def program() -> object:
        table = {"a": 1}
        seen: list[object] = []

        def look() -> None:
            seen.append((table.keys() == {"a"}, repr(table.values())))

        at_once(lambda: table.update(a=2), look)
        return seen[0]

    assert outcomes(program) == {(True, "dict_values([1])"), (True, "dict_values([2])")}


def test_views_of_ordered_dicts_read_them() -> None:
    def program() -> object:
        table = OrderedDict(a=1)
        seen: list[object] = []
        at_once(lambda: table.update(b=2), lambda: seen.append(list(table.items())))
        return repr(seen[0])

    assert outcomes(program) == {"[('a', 1)]", "[('a', 1), ('b', 2)]"}

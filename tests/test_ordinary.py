"""Ordinary Python programs, and all that they can come to."""

import threading
from collections import deque
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
    assert NUMBERS == {0, 1}


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

"""mazurka.check: called, and as a decorator."""

import inspect
import sys
from typing import Any

import pytest

import mazurka
from mazurka import Atomic, CheckFailed, check, spawn


def passes() -> None:
    x = Atomic(0)
    spawn(x.store, 1)
    assert x.load() in (0, 1)


def fails() -> None:
    x = Atomic(0)
    spawn(x.store, 1)
    assert x.load() == 0


def test_a_call_explores_at_once() -> None:
    assert check(passes).verdict == "verified"
    assert check(passes, max_executions=10).executions == 2


def test_a_call_raises_with_a_readable_account() -> None:
    with pytest.raises(CheckFailed) as raised:
        check(fails)
    text = str(raised.value)
    assert text.startswith("fails: FAILED")
    assert "store 1 to x" in text
    assert "assert x.load() == 0" in text
    assert raised.value.result.verdict == "failed"
    assert isinstance(raised.value, AssertionError)
    assert isinstance(raised.value.__cause__, AssertionError)


def test_a_cut_search_is_not_a_pass() -> None:
    with pytest.raises(CheckFailed, match="INCOMPLETE"):
        check(passes, max_executions=1)


def test_a_decorated_function_runs() -> None:
    runs: list[str] = []

    @check(instrument=None)  # else the list would be put back after each execution
    def decorated() -> None:
        runs.append("run")
        passes()

    decorated()
    assert len(runs) >= 2


@check
def bare_decorator() -> None:
    passes()


@check(max_executions=100)
def decorator_with_options() -> None:
    fails()


def test_a_decorated_function_explores_when_it_is_called() -> None:
    bare_decorator()
    with pytest.raises(CheckFailed):
        decorator_with_options()


@check
def test_as_a_user_writes_it() -> None:
    passes()


@pytest.mark.parametrize("value", [1, 2])
@check
def test_with_arguments(value: int, tmp_path: Any) -> None:
    x = Atomic(0)
    spawn(x.store, value)
    assert x.load() in (0, value)
    assert tmp_path.exists()


def test_the_decorator_keeps_name_and_signature() -> None:
    assert test_with_arguments.__name__ == "test_with_arguments"
    assert list(inspect.signature(test_with_arguments).parameters) == ["value", "tmp_path"]


def test_a_call_within_an_expression_explores_at_once() -> None:
    def factory() -> Any:
        def program() -> None:
            fails()

        return program

    for make in (lambda: check(factory()), lambda: [check(factory())]):
        with pytest.raises(CheckFailed):
            make()


class TestMethod:
    @check
    def test_method(self) -> None:
        passes()
        assert isinstance(self, TestMethod)


def test_generators_are_refused() -> None:
    with pytest.raises(mazurka.MazurkaError, match="asynchronous is a generator"):

        @check
        async def asynchronous() -> Any:
            yield 1

    with pytest.raises(mazurka.MazurkaError, match="generator is a generator"):

        @check(max_executions=5)
        def generator() -> Any:
            yield 1


def test_what_cannot_be_decorated() -> None:
    with pytest.raises(mazurka.MazurkaError, match="below @staticmethod"):
        check()(staticmethod(passes))
    with pytest.raises(mazurka.MazurkaError, match="is a class: put"):
        check()(TestMethod)
    with pytest.raises(mazurka.MazurkaError, match="decorates functions, not 5"):
        check()(5)  # type: ignore[arg-type]
    with pytest.raises(mazurka.MazurkaError, match="twice"):
        check()(bare_decorator)
    with pytest.raises(mazurka.MazurkaError, match="check has no option 'max_execution'; it has"):
        check(max_execution=5)  # type: ignore[call-overload]


def test_a_decorated_function_can_be_explored_and_replayed() -> None:
    options: Any = decorator_with_options
    assert options.mazurka_options == {"max_executions": 100}
    result = mazurka.explore(decorator_with_options)
    assert result.verdict == "failed"
    failure = mazurka.replay(decorator_with_options, result.failures[0].schedule)
    assert failure.message == result.failures[0].message
    assert mazurka.explore(TestMethod().test_method).verdict == "verified"


@pytest.mark.parametrize("traced", [False, True])
def test_in_the_cell_of_a_notebook(traced: bool) -> None:
    """Cells are compiled and executed one by one; a debugger or coverage may watch them."""
    names: dict[str, Any] = {"mazurka": mazurka, "fails": fails, "runs": 0}
    function = "def test():\n    global runs\n    runs += 1\n    fails()\n"
    cells = [f"@mazurka.check\n{function}", f"@mazurka.check()\n{function}"]
    before = sys.gettrace()
    if traced:
        sys.settrace(lambda *_: None)
    try:
        for cell in cells:
            exec(compile(cell, "<cell>", "exec"), names)
    finally:
        sys.settrace(before)
    assert names["runs"] == 0
    for cell in ("test()", "mazurka.check(test.__wrapped__)", "mazurka.check(test)"):
        with pytest.raises(CheckFailed):
            exec(compile(cell, "<cell>", "single"), names)


def test_version() -> None:
    assert mazurka.__version__

"""`mazurka.linearizable`: what it checks, what it says, what it refuses."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies

import mazurka
from examples.linearizable import michael_scott, treiber
from mazurka.linearizability import generated
from mazurka.python.scenario import Operation, Scenario


class Register:
    def __init__(self) -> None:
        self.value = 0

    def set(self, value: int) -> None:
        self.value = value

    def get(self) -> int:
        return self.value


class Replicated:
    """A value that is written to one place and read from another one."""

    def __init__(self) -> None:
        self.written = mazurka.Atomic(0, "written")
        self.copy = mazurka.Atomic(0, "copy")

    def set(self, value: int) -> None:
        self.written.store(value)

    def get(self) -> int:
        return self.copy.load()


class Items:
    """A queue of which the getters wait."""

    def __init__(self) -> None:
        self.items: list[int] = []

    def put(self, item: int) -> None:
        self.items.append(item)

    def get(self) -> int:
        if not self.items:
            raise mazurka.MustWait
        return self.items.pop(0)


class BlockingQueue:
    def __init__(self) -> None:
        self.items: list[int] = []
        self.changed = threading.Condition()

    def put(self, item: int) -> None:
        with self.changed:
            self.items.append(item)
            self.changed.notify()

    def get(self) -> int:
        with self.changed:
            while not self.items:
                self.changed.wait()
            return self.items.pop(0)


class NotNotified(BlockingQueue):
    """Wakes a getter only if it was empty."""

    def put(self, item: int) -> None:
        with self.changed:
            self.items.append(item)
            if len(self.items) == 1:
                self.changed.notify()


def failure_of(*arguments: Any, **named: Any) -> mazurka.Failure:
    with pytest.raises(mazurka.CheckFailed) as caught:
        mazurka.linearizable(*arguments, **named)
    return caught.value.result.failures[0]


# What is found


@pytest.mark.parametrize("program", [treiber.right, michael_scott.right], ids=["stack", "queue"])
def test_objects_that_are_right_are_verified(program: Callable[[], object]) -> None:
    result = mazurka.explore(program, max_executions=400)
    assert not result.failures


def test_a_small_check_of_a_stack_is_verified() -> None:
    result = mazurka.linearizable(
        treiber.Stack, treiber.TreiberStack, [[("push", 1), "pop"], [("push", 2), "pop"]]
    )
    assert result.verdict == "verified"
    assert (result.complete, result.blocked) == (22, 8)


@pytest.mark.parametrize(
    ("program", "blamed"),
    [
        (treiber.broken, "pop() of thread-2 gives 1"),
        (michael_scott.broken, "get() of thread-2 gives None"),
    ],
    ids=["stack", "queue"],
)
def test_objects_that_are_broken_fail(program: Callable[[], object], blamed: str) -> None:
    failure = mazurka.explore(program).failures[0]
    assert failure.kind == "not linearizable"
    assert failure.message.startswith(blamed)
    assert mazurka.replay(program, failure.schedule.to_json()).details == failure.details


def test_calls_without_a_step_in_common_can_come_one_after_the_other() -> None:
    """The only execution runs the get first; it might as well come after the set is over."""
    failure = failure_of(Register, Replicated, [["get"], [("set", 1)]])
    assert [line.rstrip() for line in failure.details] == [
        "",
        "thread-1         thread-2",
        "                 set(1): None",
        "get(): 0   <--",
    ]
    atomics = [(step.thread, step.name) for step in failure.steps]
    assert atomics.index(("thread-2", "written")) < atomics.index(("thread-1", "copy"))


def test_calls_that_overlap_may_take_effect_in_any_order() -> None:
    class Slow(Replicated):
        def set(self, value: int) -> None:
            self.written.store(value)
            self.copy.store(value)

    assert mazurka.linearizable(Register, Slow, [["get", "get"], [("set", 1)]]).complete == 3


def test_exceptions_are_results() -> None:
    class Numbers:
        def __init__(self) -> None:
            self.items = [1]

        def take(self) -> int:
            return self.items.pop()

    assert mazurka.linearizable(Numbers, Numbers, [["take"], ["take"]]).complete == 2

    class Other(Numbers):
        def take(self) -> int:
            if not self.items:
                raise LookupError("empty")
            return self.items.pop()

    failure = failure_of(Numbers, Other, [["take"], ["take"]])
    assert "raises LookupError: empty" in failure.message


def test_calls_may_wait_if_the_specification_says_so() -> None:
    threads: list[list[Any]] = [["get"], ["get"], [("put", 1)]]
    result = mazurka.linearizable(Items, BlockingQueue, threads)
    assert result.verdict == "verified"
    assert result.blocked == result.executions


def test_calls_that_wait_and_need_not_fail() -> None:
    threads: list[list[Any]] = [["get"], ["get"], [("put", 1), ("put", 2)]]
    assert mazurka.linearizable(Items, BlockingQueue, threads).verdict == "verified"
    failure = failure_of(Items, NotNotified, threads)
    assert failure.kind == "deadlock"
    assert any("by the specification need not" in detail for detail in failure.details)
    assert failure.details[-1].strip().startswith("get() waits")


def test_a_thread_that_never_goes_on_outside_of_a_call_is_a_deadlock() -> None:
    class Forgetful(BlockingQueue):
        def put(self, item: int) -> None:
            threading.Thread(target=self.get, daemon=False).start()

    failure = failure_of(Items, Forgetful, [[("put", 1)]])
    assert failure.kind == "deadlock"


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "source", "trust", "qpor", "naive"])
def test_every_search_can_be_used(algorithm: str) -> None:
    threads: list[list[Any]] = [[("push", 1)], ["pop"]]
    result = mazurka.linearizable(treiber.Stack, treiber.TreiberStack, threads, algorithm=algorithm)
    assert result.verdict == "verified"
    failing: list[list[Any]] = [[("push", 1), "pop"], ["pop"]]
    failure_of(treiber.Stack, treiber.BrokenStack, failing, algorithm=algorithm)


@pytest.mark.parametrize("algorithm", ["random", "pct", "pos"])
def test_samples_find_failures(algorithm: str) -> None:
    failing: list[list[Any]] = [[("push", 1), "pop"], ["pop"]]
    failure_of(treiber.Stack, treiber.BrokenStack, failing, algorithm=algorithm)


def test_a_search_in_several_processes_finds_the_same() -> None:
    one = mazurka.explore(treiber.broken)
    two = mazurka.explore(treiber.broken, jobs=2)
    assert one.failures[0].details == two.failures[0].details
    assert one.executions == two.executions


def test_outcomes_are_what_calls_give() -> None:
    result = mazurka.linearizable(Register, Register, [["get"], [("set", 1)]])
    assert set(result.outcomes) == {("get(): 0", "set(1): None"), ("get(): 1", "set(1): None")}


# What is called


def test_small_scenarios_come_first_and_none_comes_twice() -> None:
    operations = [Operation("one", ()), Operation("two", ())]
    found, total = generated(operations, 2, 2, 100, 0)
    assert len(found) == total == 3 + 2 * 4 + 10
    assert len({tuple(sorted(threads)) for threads in found}) == total
    sizes = [sum(len(calls) for calls in threads) for threads in found]
    assert sizes == sorted(sizes)


def test_too_many_scenarios_are_drawn_and_that_is_said() -> None:
    result = mazurka.linearizable(Register, Register, 2, 2, {"set": range(3)}, scenarios=20)
    assert result.assuming == ["20 of 210 scenarios"]
    other = mazurka.linearizable(Register, Register, 2, 2, {"set": range(3)}, scenarios=20, seed=1)
    assert other.outcomes != result.outcomes


def test_arguments_can_be_strategies() -> None:
    arguments = {"set": strategies.integers(1, 2)}
    assert mazurka.linearizable(Register, Register, 2, 1, arguments).verdict == "verified"
    program = mazurka.scenario(Register, Register, 2, 1, arguments)
    assert isinstance(program, Scenario)
    called = {each for threads in program.scenarios for calls in threads for each in calls}
    assert {operation.arguments for operation in called} == {(), (1,), (2,)}


# What is refused


class Refused:
    def __init__(self) -> None:
        self.items: list[int] = []

    def live(self) -> list[int]:
        return self.items

    def thing(self) -> object:
        return object()

    def copied(self) -> list[int]:
        return self.items.copy()

    def set(self, value: int) -> None:
        with mazurka.atomic:
            self.items.append(value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([["pup"]],), "has no method pup: it has copied, live, set, thing"),
        (([[("set", [1])]],), "take a tuple instead of a list"),
        (([[1]],), "is its name, or"),
        ((2,), "operations=3"),
        ((2, 0), "operations must be"),
        ((2, 2), "set takes value: say which values there are"),
        ((2, 2, {"set": 3}), "a list of values, or a Hypothesis strategy"),
        ((2, 2, {"put": [3]}), "has no method put"),
        ((), "say what threads call"),
        (([["live"], ["live"]],), "let it give a copy"),
        (([["thing"]],), "cannot be compared"),
        (([[("set", 1)], [("set", 2)]],), "leave out atomic blocks"),
    ],
)
def test_what_cannot_be_checked_is_refused(arguments: tuple[Any, ...], message: str) -> None:
    with pytest.raises(mazurka.MazurkaError, match=message.replace("(", "\\(")):
        mazurka.linearizable(Refused, Refused, *arguments)


@pytest.mark.parametrize(
    "options", [{"equivalence": "reads-from", "algorithm": "trust"}, {"timeouts": "last"}]
)
def test_options_that_leave_orders_out_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(mazurka.MazurkaError, match="all orders of independent steps"):
        mazurka.linearizable(Register, Register, [["get"], [("set", 1)]], **options)


def test_copies_can_be_results() -> None:
    assert mazurka.linearizable(Refused, Refused, [["copied"], ["copied"]]).complete == 1


def test_calls_are_looked_at_in_each_execution_so_none_is_computed() -> None:
    result = mazurka.linearizable(Register, Register, [["get"], [("set", 1)]], remember=True)
    assert (result.computed, result.complete) == (0, 2)
    assert result.unremembered == "the calls of each execution are looked at"


# Under pytest


def test_failures_are_shown_under_pytest(pytester: pytest.Pytester) -> None:
    example = Path(treiber.__file__).read_text()
    pytester.makepyfile(
        treiber=example,
        test_stack="""
        import mazurka, treiber

        def test_broken():
            threads = [[("push", 1), "pop"], ["pop"]]
            mazurka.linearizable(treiber.Stack, treiber.BrokenStack, threads)

        def test_right():
            threads = [[("push", 1), "pop"], ["pop"]]
            mazurka.linearizable(treiber.Stack, treiber.TreiberStack, threads)
        """,
    )
    result = pytester.runpytest("-p", "no:cacheprovider")
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*not linearizable: pop() of thread-1 gives 1*"])

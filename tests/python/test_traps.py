"""Programs that look as if their loops did nothing but wait, and fail all the same: nothing that a
program can tell may be passed over."""

import enum
import io
import queue
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import ExitStack, redirect_stdout
from typing import Any

import pytest

from mazurka import explore

Program = Callable[[], object]
limit = 3


class Box:
    def __init__(self) -> None:
        self.ready = False
        self.value: Any = 0


def beside(work: Callable[[Box], object]) -> Box:
    """Run something in another thread, and get a box ready meanwhile."""
    box = Box()
    thread = threading.Thread(target=work, args=(box,))
    thread.start()
    box.ready = True
    thread.join()
    return box


# What fails though nobody looks at what it gives


def a_quotient() -> None:
    def work(box: Box, divisor: int = 0) -> None:
        while not box.ready:
            _ = 1 / divisor

    beside(work)


def a_number_that_is_none() -> None:
    def work(box: Box) -> None:
        while not box.ready:
            int(box.value or "none")

    beside(work)


def a_name_that_is_not_there() -> None:
    def work(box: Box) -> None:
        while not box.ready:
            undefined  # type: ignore[name-defined]  # noqa: B018, F821

    beside(work)


def a_function_that_divides() -> None:
    def work(box: Box) -> None:
        def check() -> bool:
            ready = box.ready
            _ = 10 // ready
            return ready

        while not check():
            pass

    beside(work)


def a_variable_that_comes_later() -> None:
    def work(box: Box) -> None:
        while not box.ready and limit:  # type: ignore[used-before-def]  # noqa: F823
            pass
        limit = 4  # noqa: F841

    beside(work)


def a_module_that_comes_later() -> None:
    def work(box: Box) -> None:
        while not box.ready:
            time.sleep(0.1)  # noqa: F823
        import time  # noqa: F401

    beside(work)


def a_call_that_is_made_if_need_be() -> None:
    def fail() -> None:
        raise RuntimeError

    def work(box: Box) -> None:
        while not box.ready:
            box.value < 2 or fail()  # type: ignore[func-returns-value]

    box = Box()
    threading.Thread(target=work, args=(box,)).start()
    box.value = 2
    box.ready = True


def a_function_that_sleeps_before_it_looks() -> None:
    def check(box: Box) -> bool:
        time.sleep(2)
        return box.ready

    def work(box: Box) -> None:
        start = time.monotonic()
        while not check(box):
            pass
        assert time.monotonic() - start < 3

    beside(work)


def a_variable_that_is_assigned_on_the_way() -> None:
    def work(box: Box) -> None:
        while True:
            number = 1
            if (number := number + 1) + box.value == 2:
                continue
            break
        assert box.value != -1

    box = Box()
    threading.Thread(target=work, args=(box,)).start()
    box.value = -1
    box.value = 5


def a_keyword_that_get_does_not_take() -> None:
    table: dict[str, int] = {}

    def work() -> None:
        while table.get("k", default=0) == 0:  # type: ignore[call-overload]
            pass

    threading.Thread(target=work).start()
    table["k"] = 1


def a_sleep_that_means_something_else_later() -> None:
    def work(box: Box) -> None:
        got: list[float] = []
        sleep: Callable[[float], None] = time.sleep
        rounds = 0
        while not box.ready:
            rounds += 1
        sleep = got.append
        sleep(rounds)
        assert got == [0]

    beside(work)


def a_sleep_that_is_too_long() -> None:
    def work(box: Box, delay: int = 100) -> None:
        while not box.ready:
            time.sleep(delay * 1e9)

    beside(work)


# What is no constant


class Door:
    __slots__ = ("opened", "unset")
    mode = 1

    def __init__(self) -> None:
        self.opened = False

    @property
    def is_open(self) -> bool:
        return self.opened


def a_property() -> None:
    def work(box: Box) -> None:
        door = Door()
        while not box.ready and door.is_open:
            time.sleep(0.1)
        assert box.ready

    beside(work)


def a_slot_that_is_not_set() -> None:
    def work(box: Box) -> None:
        door = Door()
        while not box.ready and not door.unset:  # type: ignore[attr-defined]
            pass

    beside(work)


def a_part_of_a_number() -> None:
    def work(box: Box, number: complex = 1j) -> None:
        while not box.ready and number.real:
            pass
        assert box.ready

    beside(work)


def a_variable_called_constant() -> None:
    box = Box()

    def work() -> None:
        constant = 0
        while (value := box.value) == constant:
            pass
        assert value == 2

    threading.Thread(target=work).start()
    box.value = 1
    box.value = 2


class Signal(enum.Enum):
    STOP = 1

    def __bool__(self) -> bool:
        return not BOX.value


BOX = Box()


def an_enum_with_a_truth_of_its_own() -> None:
    def work(box: Box) -> None:
        while not box.ready and Signal.STOP:
            pass
        assert box.ready

    BOX.value = 1
    beside(work)


class Level(enum.Enum):
    LOW = 1
    HIGH = 2

    def __lt__(self, other: object) -> bool:
        return not BOX.value


def an_enum_with_an_order_of_its_own() -> None:
    BOX.value = 0
    box = Box()
    box.value = Level.LOW

    def work() -> None:
        while box.value < Level.HIGH:
            pass
        assert box.value is Level.HIGH

    threading.Thread(target=work).start()
    BOX.value = 1
    box.value = Level.HIGH


class Careful:
    def __getattribute__(self, name: str) -> Any:
        return object.__getattribute__(self, name)


def a_store_that_its_class_reads() -> None:
    thing: Any = Careful()
    thing.value = 0

    def work() -> None:
        assert thing.value == 1

    threading.Thread(target=work).start()
    thing.value = 1


def a_moment_of_a_regular_wait() -> None:
    def work(box: Box) -> None:
        start = time.monotonic()
        while not box.ready:
            time.sleep(1)
            assert int(time.monotonic() - start) != 6

    beside(work)


# What is not what it seems to be


def an_exception_of_a_parameter() -> None:
    line: queue.Queue[int] = queue.Queue()

    def work(queue: Any) -> None:
        while True:
            try:
                queue.get_nowait()
            except queue.Empty:
                continue
            break

    threading.Thread(target=work, args=(line,)).start()
    line.put(1)


def an_exception_of_its_own() -> None:
    line: queue.Queue[int] = queue.Queue()

    class Empty(Exception):
        pass

    def work() -> None:
        while True:
            try:
                line.get_nowait()
            except Empty:
                continue
            break

    threading.Thread(target=work).start()
    line.put(1)


def an_item_that_is_never_missing() -> None:
    counts: Counter[str] = Counter()

    def work() -> None:
        while True:
            try:
                value = counts["k"]
            except KeyError:
                continue
            break
        assert value == 1

    threading.Thread(target=work).start()
    counts["k"] = 1


def an_index_that_is_none() -> None:
    items = deque([0])

    def work() -> None:
        while items["first"] == 0:  # type: ignore[index]
            pass

    threading.Thread(target=work).start()
    items[0] = 1


def a_lambda_that_is_called_later() -> None:
    table: dict[str, int] = {}

    def work() -> None:
        while True:
            try:
                look: Callable[[], int] = lambda: table["k"]  # noqa: E731
            except KeyError:
                continue
            print(look())
            break

    threading.Thread(target=work).start()
    table["k"] = 1


def a_number_with_another_sign() -> None:
    def work(box: Box) -> None:
        number = 0.0
        while not box.ready:
            number = -number
        assert str(number) == "0.0"

    beside(work)


def a_truth_value_in_a_tuple() -> None:
    def work(box: Box) -> None:
        pair: tuple[object] = (0,)
        while not box.ready:
            pair = (False,)
        assert pair[0] is not False

    beside(work)


class Base:
    ready = False


class Derived(Base):
    pass


def an_attribute_that_a_class_gets() -> None:
    def work() -> None:
        Derived.ready = True

    thread = threading.Thread(target=work)
    thread.start()
    found = Derived.ready
    thread.join()
    del Derived.ready
    assert not found


def attributes_as_items() -> None:
    def work(box: Box) -> None:
        vars(box)["value"] = 1

    box = Box()
    thread = threading.Thread(target=work, args=(box,))
    thread.start()
    found = box.value
    thread.join()
    assert not found


def attributes_all_at_once() -> None:
    def work(box: Box) -> None:
        box.__dict__.update(value=1)

    box = Box()
    thread = threading.Thread(target=work, args=(box,))
    thread.start()
    found = box.value
    thread.join()
    assert not found


flag = False
other_flag = False


def a_global_as_an_item() -> None:
    def work() -> None:
        globals()["flag"] = True

    thread = threading.Thread(target=work)
    thread.start()
    found = flag
    thread.join()
    assert not found


def a_global_as_an_attribute() -> None:
    def work() -> None:
        setattr(sys.modules[__name__], "other_flag", True)  # noqa: B010

    thread = threading.Thread(target=work)
    thread.start()
    found = other_flag
    thread.join()
    assert not found


# Numbers for sleeping that fail


def a_step_that_is_negative() -> None:
    def work(box: Box, step: int = -1) -> None:
        delay = 2
        while not box.ready:
            time.sleep(delay)
            delay = delay + step

    beside(work)


def a_pause_that_is_none() -> None:
    def work(box: Box, pause: Any = None) -> None:
        rounds = 0
        while not box.ready:
            if rounds > 1:
                time.sleep(pause)
            rounds += 1

    beside(work)


def a_pause_after_the_loop() -> None:
    def work(box: Box, pause: Any = None) -> None:
        rounds = 0
        while not box.ready:
            rounds += 1
        if rounds > 1:
            time.sleep(pause)

    beside(work)


def a_count_that_is_caught() -> None:
    def work(box: Box) -> None:
        table: dict[str, int] = {}
        delay = 1
        while not box.ready:
            time.sleep(delay)
            try:
                table["x"]
            except KeyError as delay:
                continue

    beside(work)


def a_power_that_is_too_large() -> None:
    def work(box: Box) -> None:
        rounds = 1021
        while not box.ready:
            time.sleep(min(0.1 * 2**rounds, 1))
            rounds += 1

    beside(work)


def a_time_that_is_no_number() -> None:
    def work(box: Box) -> None:
        delay = 1e200
        while not box.ready:
            time.sleep(delay % 1.0)
            delay = delay * delay

    beside(work)


# What rounds do besides


def a_file_in_memory() -> None:
    def work(box: Box) -> None:
        file = io.StringIO()
        while not box.ready:
            print("x", file=file)
        assert not file.getvalue()

    beside(work)


def an_output_that_is_redirected() -> None:
    def work(box: Box) -> None:
        file = io.StringIO()
        while not box.ready:
            with redirect_stdout(file):
                print("x")
        assert not file.getvalue()

    beside(work)


def an_iterator_that_is_searched() -> None:
    def work(box: Box) -> None:
        numbers = iter(range(100))
        while not box.ready:
            _ = 0 in numbers
        assert next(numbers) == 0

    beside(work)


def a_callback() -> None:
    def work(box: Box) -> None:
        stack = ExitStack()
        called: list[int] = []
        while not box.ready:
            stack.callback(called.append, 1)
        stack.close()
        assert not called

    beside(work)


def a_statement_in_a_string() -> None:
    def work(box: Box) -> None:
        done: list[int] = []
        while not box.ready:
            exec("done.append(1)", {"done": done})
        assert not done

    beside(work)


@pytest.mark.parametrize(
    ("program", "exception"),
    [
        (a_quotient, "ZeroDivisionError"),
        (a_number_that_is_none, "ValueError"),
        (a_name_that_is_not_there, "NameError"),
        (a_function_that_divides, "ZeroDivisionError"),
        (a_variable_that_comes_later, "UnboundLocalError"),
        (a_module_that_comes_later, "UnboundLocalError"),
        (a_call_that_is_made_if_need_be, "RuntimeError"),
        (a_function_that_sleeps_before_it_looks, "AssertionError"),
        (a_variable_that_is_assigned_on_the_way, "AssertionError"),
        (a_keyword_that_get_does_not_take, "TypeError"),
        (a_sleep_that_means_something_else_later, "AssertionError"),
        (a_sleep_that_is_too_long, "OverflowError"),
        (a_store_that_its_class_reads, "AssertionError"),
        (an_enum_with_an_order_of_its_own, "AssertionError"),
        (a_moment_of_a_regular_wait, "AssertionError"),
        (a_property, "AssertionError"),
        (a_slot_that_is_not_set, "AttributeError"),
        (a_part_of_a_number, "AssertionError"),
        (a_variable_called_constant, "AssertionError"),
        (an_enum_with_a_truth_of_its_own, "AssertionError"),
        (an_exception_of_a_parameter, "AttributeError"),
        (an_exception_of_its_own, "Empty"),
        (an_item_that_is_never_missing, "AssertionError"),
        (an_index_that_is_none, "TypeError"),
        (a_lambda_that_is_called_later, "KeyError"),
        (a_number_with_another_sign, "AssertionError"),
        (a_truth_value_in_a_tuple, "AssertionError"),
        (an_attribute_that_a_class_gets, "AssertionError"),
        (attributes_as_items, "AssertionError"),
        (attributes_all_at_once, "AssertionError"),
        (a_global_as_an_item, "AssertionError"),
        (a_global_as_an_attribute, "AssertionError"),
        (a_step_that_is_negative, "ValueError"),
        (a_pause_that_is_none, "TypeError"),
        (a_pause_after_the_loop, "TypeError"),
        (a_count_that_is_caught, "UnboundLocalError"),
        (a_power_that_is_too_large, "OverflowError"),
        (a_time_that_is_no_number, "ValueError"),
        (a_file_in_memory, "AssertionError"),
        (an_output_that_is_redirected, "AssertionError"),
        (an_iterator_that_is_searched, "StopIteration"),
        (a_callback, "AssertionError"),
        (a_statement_in_a_string, "AssertionError"),
    ],
)
def test_it_fails(program: Program, exception: str) -> None:
    result = explore(program, unroll=8)
    assert result.verdict == "failed"
    assert result.failures[0].message.startswith(exception)


def an_exception_as_a_value() -> None:
    table: dict[str, object] = {}

    def work() -> None:
        while True:
            try:
                table["error"]
            except KeyError:
                continue
            break

    threading.Thread(target=work).start()
    table["error"] = KeyError


def a_look_at_every_attribute() -> None:
    thing: Any = Careful()
    thing.value = 1
    threading.Thread(target=lambda: thing.value).start()
    assert thing.value == 1


def a_nap_for_ever() -> None:
    def work() -> None:
        delay = 1
        while True:
            time.sleep(delay)
            delay = min(2 * delay, 8)

    threading.Thread(target=work, daemon=True).start()


def a_wait_that_is_measured() -> None:
    def work(box: Box) -> None:
        start = time.monotonic()
        while not box.ready:
            time.sleep(0.1)
        print("took", time.monotonic() - start)

    beside(work)


def a_loop_after_a_long_sleep() -> None:
    def work(box: Box) -> None:
        time.sleep(2e9)
        rounds = 0
        while rounds < 3:
            box.value += 1
            rounds += 1

    beside(work)


def threads_that_are_alive() -> None:
    threads = [threading.Thread(target=lambda: None) for _ in range(2)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        time.sleep(0.1)


class Common:
    ready = False


def an_attribute_of_a_class() -> None:
    def work() -> None:
        while not Common.ready:
            pass

    thread = threading.Thread(target=work)
    thread.start()
    Common.ready = True
    thread.join()
    Common.ready = False


@pytest.mark.parametrize(
    "program",
    [
        an_exception_as_a_value,
        a_look_at_every_attribute,
        a_nap_for_ever,
        a_wait_that_is_measured,
        a_loop_after_a_long_sleep,
        threads_that_are_alive,
        an_attribute_of_a_class,
    ],
)
def test_it_does_not_fail(program: Program) -> None:
    assert explore(program).verdict == "verified"

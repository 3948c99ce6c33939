"""What goes wrong in programs, and how it is told; replaying it."""

import contextlib
import json
import os
import re
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka import Atomic, Failure, Lock, MazurkaError, Schedule, explore, replay, spawn
from mazurka.python.check import RUNNING


def lost_update() -> None:
    counter = Atomic(0)

    def increment() -> None:
        counter.store(counter.load() + 1)

    threads = [spawn(increment), spawn(increment)]
    for thread in threads:
        thread.join()
    assert counter.load() == 2


def two_locks() -> None:
    first, second = Lock(), Lock()

    def forwards() -> None:
        with first, second:
            pass

    def backwards() -> None:
        with second, first:
            pass

    spawn(forwards)
    spawn(backwards)


def never_signalled() -> None:
    flag = Atomic(0)
    spawn(lambda: flag.store(2))
    flag.await_value(lambda value: value == 1)


def only_failure(program: Any, **options: Any) -> Failure:
    result = explore(program, **options)
    assert result.verdict == "failed"
    return result.failures[0]


def executions_so_far() -> Callable[[], int]:
    """Something that is not the same in two executions, and that nobody can put back."""
    before = RUNNING.executions
    return lambda: RUNNING.executions - before - 1


def what(failure: Failure) -> list[str]:
    """The details without the places in this file."""
    return [detail.partition(", at ")[0] for detail in failure.details]


def test_exception() -> None:
    failure = only_failure(lost_update)
    assert failure.kind == "exception"
    assert failure.message.startswith("AssertionError")
    assert failure.thread == "lost_update"
    assert isinstance(failure.exception, AssertionError)
    assert "assert counter.load() == 2" in failure.details[0]
    actions = [(step.thread, step.action) for step in failure.steps]
    assert actions[:4] == [
        ("lost_update", "spawn increment-1"),
        ("lost_update", "spawn increment-2"),
        ("increment-1", "load counter: 0"),
        ("increment-2", "load counter: 0"),
    ]
    assert actions[-1] == ("lost_update", "load counter: 1")
    assert failure.steps[2].file == __file__


def test_deadlock_says_who_waits_and_who_holds() -> None:
    failure = only_failure(two_locks)
    assert failure.kind == "deadlock"
    assert what(failure) == [
        "forwards waits to acquire second, held by backwards",
        "backwards waits to acquire first, held by forwards",
    ]
    assert f"{__file__}:" in failure.details[0]
    assert failure.details[0].endswith("with first, second:")


def test_deadlock_of_a_join() -> None:
    def program() -> None:
        queue = mazurka.Queue()
        spawn(queue.get).join()

    failure = only_failure(program)
    assert failure.kind == "deadlock"
    assert what(failure) == ["program waits to join get", "get waits to get queue, which is []"]


def test_deadlock_with_oneself() -> None:
    def program() -> None:
        lock = Lock()
        lock.acquire()
        lock.acquire()

    assert what(only_failure(program)) == ["program waits to acquire lock, held by program"]


def test_livelock() -> None:
    failure = only_failure(never_signalled)
    assert failure.kind == "livelock"
    assert what(failure) == ["never_signalled waits to await flag, which is 2"]


def test_blocked_by_an_assumption_is_no_deadlock() -> None:
    def program() -> None:
        lock = Lock()
        lock.acquire()
        spawn(lock.acquire)
        mazurka.assume(False)

    result = explore(program)
    assert (result.verdict, result.blocked) == ("verified", 1)


def test_nondeterminism_shows_both_operations() -> None:
    count = executions_so_far()

    def program() -> None:
        x, y = Atomic(0), Atomic(0)
        spawn(lambda: x.store(1))
        if count() % 2:
            x.load()
        else:
            y.load()

    failure = only_failure(program)
    assert failure.kind == "nondeterminism"
    assert failure.details[0].startswith("recorded: load ")
    assert failure.details[1].startswith("on the repeat: load ")
    told = [detail.rpartition(": ")[2] for detail in failure.details]
    assert sorted(told) == ["x.load()", "y.load()"]


def test_nondeterminism_in_the_number_of_operations() -> None:
    count = executions_so_far()

    def program() -> None:
        x = Atomic(0)
        for _ in range(3 - count() % 2):
            x.load()

    assert only_failure(program).kind == "nondeterminism"


def test_nondeterminism_that_shows_late() -> None:
    """The first runs agree; a later one does something else in a step that it should repeat."""
    count = executions_so_far()

    def program() -> None:
        x, y = Atomic(0), Atomic(0)
        (x if count() < 4 else y).load()
        for value in range(3):
            spawn(x.store, value)

    result = explore(program, stop_on_failure=False)
    assert result.failures[0].kind == "nondeterminism"
    assert result.executions >= 2


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "source", "trust", "qpor", "naive"])
@pytest.mark.parametrize("late", range(4, 9))
def test_every_search_tells_of_nondeterminism(algorithm: str, late: int) -> None:
    count = executions_so_far()

    def program() -> None:
        x, y = Atomic(0), Atomic(0)

        def work() -> None:
            (x if count() < late else y).store(x.load() + 1)
            x.store(1)

        threads = [spawn(work) for _ in range(3)]
        for thread in threads:
            thread.join()

    assert only_failure(program, algorithm=algorithm).kind == "nondeterminism"


def test_nondeterminism_of_an_outcome() -> None:
    """The same operation, but it finds another value."""
    count = executions_so_far()

    def program() -> None:
        x = Atomic(0)
        x.compare_exchange(count() // 4, 1)
        for value in range(3):
            spawn(x.store, value)

    failure = only_failure(program, stop_on_failure=False)
    assert failure.kind == "nondeterminism"
    assert "with another outcome" in failure.message


@pytest.mark.parametrize("ending", ["failure", "outcome", "more steps", "alternatives", "join"])
def test_nondeterminism_of_the_ending(ending: str) -> None:
    """What differs only at the end of an execution, or in its values."""
    count = executions_so_far()

    def program() -> Any:
        number = count()
        x = Atomic(0)
        if ending == "failure":
            assert number > 0
        elif ending == "outcome":
            return number
        elif ending == "more steps":
            for _ in range(number):
                x.load()
        elif ending == "alternatives":
            mazurka.choose(range(2 + number))
        else:
            threads = [spawn(x.load), spawn(x.load)]
            threads[number % 2].join()
        return None

    result = explore(program, stop_on_failure=False)
    assert [failure.kind for failure in result.failures] == ["nondeterminism"]


def test_the_account_names_the_objects_of_the_failing_execution() -> None:
    """What a thread makes first is a lock in one execution, and a variable in another."""

    def program() -> None:
        if mazurka.choose([True, False]):
            lock = Lock()
            lock.acquire()
        else:
            mine = Atomic(7)
            assert mine.load() != 7

    failure = only_failure(program)
    assert failure.steps[-1].action == "load mine: 7"


def test_an_endless_predicate_is_stuck() -> None:
    def endless(_: object) -> bool:
        while True:
            pass

    def program() -> None:
        Atomic(0).await_value(endless)

    assert only_failure(program, step_limit=0.2).kind == "stuck"


def test_too_long_names_the_loop() -> None:
    def program() -> None:
        x = Atomic(0)
        while x.fetch_add(1) >= 0:
            pass

    failure = only_failure(program, max_events=100)
    assert failure.kind == "too long"
    assert "max_events=100" in failure.message
    assert "while x.fetch_add(1) >= 0:" in failure.details[0]
    assert len(failure.schedule.to_json()) < 1000


class Service:
    running = True
    rounds = 0

    def work(self) -> None:
        while self.running:
            self.rounds += 1
            time.sleep(0.1)


def a_loop_that_polls_and_counts() -> None:
    service = Service()
    worker = threading.Thread(target=service.work, name="worker")
    worker.start()
    service.running = False
    worker.join()


def test_too_long_says_what_to_do_about_a_loop_that_others_end() -> None:
    failure = only_failure(a_loop_that_polls_and_counts, max_events=50)
    assert failure.kind == "too long"
    assert "a_loop_that_polls_and_counts could go on meanwhile" in failure.message
    assert "unroll=3" in failure.message
    assert explore(a_loop_that_polls_and_counts, max_events=50, unroll=3).verdict == "bounded"


def test_what_the_standard_library_does_is_told_with_the_line_that_calls_it() -> None:
    def program() -> None:
        counts: Counter[str] = Counter()
        other = threading.Thread(target=lambda: counts.update(a=1))
        other.start()
        counts.update({"a": 1})
        other.join()
        assert counts["a"] == 2

    steps = [step for step in only_failure(program).steps if "counts" in step.name]
    assert {os.path.basename(step.file) for step in steps} == {"test_failures.py"}
    assert {step.source for step in steps} == {
        "other = threading.Thread(target=lambda: counts.update(a=1))",
        'counts.update({"a": 1})',
        'assert counts["a"] == 2',
    }
    assert any(re.search(r"\(in collections/__init__.py:\d+\)", step.action) for step in steps)


def test_stuck_between_two_operations() -> None:
    def program() -> None:
        Atomic(0).load()
        rounds = 0
        while True:
            rounds -= 1

    failure = only_failure(program, step_limit=0.2)
    assert failure.kind == "stuck"
    assert __file__ in failure.details[0]


def test_stuck_at_a_real_lock() -> None:
    lock = threading.Lock()

    def program() -> None:
        x = Atomic(0)

        def locked() -> None:
            with lock:
                x.store(1)

        spawn(locked)
        spawn(locked)

    failure = only_failure(program, step_limit=0.2, instrument=None)  # so it is not modelled
    assert failure.kind == "stuck"
    assert "with lock:" in failure.details[0]


# Under the public functions, which are steered: the one that really starts a thread.
STARTER = (
    "_start_new_thread" if hasattr(threading, "_start_new_thread") else "_start_joinable_thread"
)


def test_os_threads_are_refused() -> None:
    def program() -> None:
        getattr(threading, STARTER)(print, ())

    with pytest.raises(MazurkaError, match=r"starts an OS thread.*mazurka\.spawn"):
        explore(program)
    thread = threading.Thread(target=print)  # and work again afterwards
    thread.start()
    thread.join()


def test_a_program_cannot_hide_its_misuse() -> None:
    def program() -> None:
        with contextlib.suppress(Exception):
            getattr(threading, STARTER)(print, ())

    with pytest.raises(MazurkaError, match="starts an OS thread"):
        explore(program)


@pytest.mark.parametrize("program", [lost_update, two_locks, never_signalled])
def test_replay(program: Any) -> None:
    failure = only_failure(program)
    text = failure.schedule.to_json()
    again = replay(program, text)
    assert (again.kind, again.message) == (failure.kind, failure.message)
    assert again.steps == failure.steps
    assert again.explanation is not None and failure.explanation is not None
    assert again.explanation.sentence == failure.explanation.sentence
    assert Schedule.from_json(text) == failure.schedule


def test_replay_of_an_endless_execution() -> None:
    def program() -> None:
        x = Atomic(0)
        while True:
            x.load()
            x.add(1)

    failure = only_failure(program, max_events=50)
    assert replay(program, failure.schedule.to_json()).kind == "too long"


def test_nondeterminism_cannot_be_replayed() -> None:
    count = executions_so_far()
    failure = only_failure(lambda: count())
    with pytest.raises(MazurkaError, match="cannot be replayed"):
        replay(lambda: None, failure.schedule)


def test_replay_takes_choices_and_objects_from_outside() -> None:
    x = Atomic(0)

    def program() -> None:
        thread = spawn(lambda: x.store(mazurka.choose([1, 2])))
        thread.join()
        assert x.load() + mazurka.choose([1, 2]) != 4

    failure = only_failure(program)
    assert replay(program, failure.schedule).steps == failure.steps


def test_replay_says_when_the_program_has_changed() -> None:
    schedule = only_failure(lost_update).schedule

    def fixed() -> None:
        counter = Atomic(0)
        threads = [spawn(counter.fetch_add, 1), spawn(counter.fetch_add, 1)]
        for thread in threads:
            thread.join()
        assert counter.load() == 2

    with pytest.raises(MazurkaError, match=r"changed.*now does 'fetch_add 0#1', not 'load 0#1'"):
        replay(fixed, schedule)
    with pytest.raises(MazurkaError, match="has changed"):
        replay(lambda: None, schedule)


def test_replay_says_when_the_failure_is_gone() -> None:
    def program(expected: int) -> Any:
        def run() -> None:
            assert Atomic(expected).load() == 1

        return run

    schedule = only_failure(program(0)).schedule
    with pytest.raises(mazurka.NoLongerFails, match="there is no exception any more"):
        replay(program(1), schedule)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        '{"mazurka-schedule": 99}',
        json.dumps({"mazurka-schedule": 1, "table": [["0", "load", 0]], "steps": [[7, 1]]}),
    ],
)
def test_not_a_schedule(text: str) -> None:
    with pytest.raises(MazurkaError, match="schedule"):
        replay(lost_update, text)


def test_names_of_objects() -> None:
    def program() -> None:
        pair: tuple[Atomic[int], Atomic[int]] = Atomic(1), Atomic(2)
        one, two = Atomic(1), Atomic(2)
        many = [Atomic(n) for n in range(3)]
        named = Atomic(7, name="seven")
        for atomic in (*pair, one, two, *many, named):
            atomic.load()
        Atomic(0).load()
        raise ValueError

    line = program.__code__.co_firstlineno + 7
    actions = [step.action for step in only_failure(program).steps]
    assert actions == [
        "load pair[0]: 1",
        "load pair[1]: 2",
        "load one: 1",
        "load two: 2",
        "load many[0]: 0",
        "load many[1]: 1",
        "load many[2]: 2",
        "load seven: 7",
        f"load Atomic of test_failures.py:{line}: 0",
    ]


def test_values_that_cannot_be_shown() -> None:
    class Rude(Exception):
        def __str__(self) -> str:
            raise ValueError

        __repr__ = __str__
        __hash__ = None  # type: ignore[assignment]

    def program() -> None:
        Atomic(Rude()).load()
        raise Rude

    failure = only_failure(program)
    assert failure.message == "Rude: <Rude that cannot be shown: ValueError>"
    assert failure.steps[0].action.endswith("<Rude that cannot be shown: ValueError>")


def test_condition_and_barrier_in_words() -> None:
    def program() -> None:
        ready = mazurka.Condition()
        meeting = mazurka.Barrier(2)

        def waiter() -> None:
            with ready:
                ready.wait(1)
            meeting.wait()

        thread = spawn(waiter)
        with ready:
            ready.notify_all()
        meeting.wait()
        thread.join()
        raise ValueError

    failures = explore(program, stop_on_failure=False).failures
    actions = {step.action for failure in failures for step in failure.steps}
    assert actions >= {
        "notify waiter on ready",
        "wait on ready: notified",
        "wait on ready: timed out",
        "open meeting",
        "wait at meeting: open",
    }


def test_semaphores_in_words() -> None:
    def program() -> None:
        free = mazurka.Semaphore(0)
        spawn(free.release)
        spawn(free.release, 2)
        for _ in range(3):
            free.acquire()
        assert not free.acquire(blocking=False)
        raise ValueError

    actions = [step.action for step in only_failure(program).steps]
    assert actions.count("release free") == 2
    assert "acquire free" in actions
    assert "try acquire free: no change" in actions


def test_a_thread_whose_function_is_a_method_of_ours() -> None:
    """Compiled, such a thread has no Python frame at all."""

    def program() -> None:
        x = Atomic(0)
        spawn(x.store, 1)
        spawn(x.store, 2)
        x.await_value(lambda value: value == 3)

    failure = only_failure(program)
    assert failure.kind == "livelock"


def test_steps_are_data_too() -> None:
    failure = only_failure(lost_update)
    loads = [step for step in failure.steps if step.operation == "load"]
    stores = [step for step in failure.steps if step.operation == "store"]
    assert [step.position for step in failure.steps] == list(range(len(failure.steps)))
    assert {step.name for step in loads + stores} == {"counter"}
    assert [(step.access, step.found, step.left) for step in loads[:2]] == [("read", "0", None)] * 2
    assert [(step.access, step.found, step.left) for step in stores] == [("write", None, "1")] * 2
    assert loads[0].reads_from == -1
    assert failure.steps[loads[2].reads_from] == stores[1]
    assert stores[0].position in stores[1].after
    assert failure.steps[0].name == "increment-1"


def test_what_a_deadlock_waits_for_is_data_too() -> None:
    failure = only_failure(two_locks)
    for step in failure.waiting:
        holder = failure.steps[step.reads_from]
        assert (step.operation, step.outcome) == ("acquire", "waits")
        assert (holder.operation, holder.name) == ("acquire", step.name)
        assert holder.thread != step.thread


def test_a_notification_in_vain_is_a_step() -> None:
    def program() -> None:
        condition = threading.Condition()

        def wait() -> None:
            with condition:
                condition.wait()

        thread = threading.Thread(target=wait)
        thread.start()
        with condition:
            condition.notify()
        thread.join()

    failure = only_failure(program)
    [notify] = [step for step in failure.steps if step.operation == "notify"]
    assert notify.action == "notify condition: nobody waits"
    assert (notify.outcome, notify.position) == ("fails", -1)
    assert [step.position for step in failure.steps if step is not notify] == [
        number for number, _ in enumerate(failure.schedule.steps)
    ]


def test_a_traceback_has_each_function_once_also_where_it_is_called_for_the_first_time() -> None:
    def inner() -> None:
        raise ValueError("no")

    def program() -> None:
        inner()

    with pytest.raises(mazurka.CheckFailed) as caught:
        mazurka.check(program)
    assert caught.value.__cause__ is not None
    frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
    assert [frame.name for frame in frames] == ["program", "inner"]

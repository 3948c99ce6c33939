"""Executions that are computed: what the doors say of them. (That they are right is for the oracles
to say: tests/conformance, tests/oracles.)"""

import contextlib
import logging
import queue
import random
import sys
import threading
from collections import OrderedDict, deque
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

from benchmarks.ordinary import Buffer
from mazurka import Atomic, explore, spawn
from mazurka.api import explore_tasks
from mazurka.engine import remembered
from mazurka.engine.histories import NOT_KEPT, key_of
from mazurka.engine.parts import ABSENT, Base, Contents
from mazurka.engine.result import Result
from mazurka.engine.task import Task
from mazurka.python.check import RUNNING

ROUNDS = 3


class Box:
    def __init__(self) -> None:
        self.p = 1
        self.q = 1


def with_atomics() -> tuple[object, object]:
    p, q = Atomic(1), Atomic(1)

    def add(to: Any, other: Any) -> None:
        for _ in range(ROUNDS):
            to.store(to.load() + other.load())

    threads = [spawn(add, p, q), spawn(add, q, p)]
    for thread in threads:
        thread.join()
    return p.load(), q.load()


def with_attributes() -> tuple[int, int]:
    box = Box()

    def add_to_p() -> None:
        for _ in range(ROUNDS):
            box.p = box.p + box.q

    def add_to_q() -> None:
        for _ in range(ROUNDS):
            box.q = box.q + box.p

    threads = [threading.Thread(target=add_to_p), threading.Thread(target=add_to_q)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return box.p, box.q


def through_a_queue(maxsize: int) -> int:
    jobs: queue.Queue[int | None] = queue.Queue(maxsize)
    total = Atomic(0)

    def work() -> None:
        while (job := jobs.get()) is not None:
            total.fetch_add(job)
            jobs.task_done()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for job in (1, 2, 3, None, None):
        jobs.put(job)
    for worker in workers:
        worker.join()
    return total.load()


def with_lists() -> tuple[object, ...]:
    items = [0, 0]
    done: list[int] = []

    def work(number: int) -> None:
        for place in range(2):
            items[place] = items[place] + number
        done.append(number)

    in_threads(work)
    return tuple(items), len(done), tuple(done)


def with_dicts() -> tuple[object, ...]:
    counts: dict[object, int] = {}

    def work(number: int) -> None:
        for _ in range(2):
            if number not in counts:
                counts[number] = 0
            counts["all"] = counts.get("all", 0) + 1
            counts[number] += 1
        if number == 1:
            counts.pop("all")

    in_threads(work)
    return tuple(counts.items())


def with_sets() -> tuple[object, ...]:
    seen: set[int] = set()

    def work(number: int) -> bool:
        seen.add(number)
        seen.discard(3 - number)
        return number in seen

    in_threads(work)
    return tuple(sorted(seen))


class Link:
    def __init__(self, value: int, following: "Link | None") -> None:
        self.value = value
        self.following = following


def with_objects() -> tuple[int, ...]:
    """A stack whose push is no step: links are lost."""
    box = Box()
    top: Link | None = None

    def push(number: int) -> None:
        nonlocal top
        for turn in range(2):
            top = Link(10 * number + turn, top)
        box.p += number

    in_threads(push)
    values = [box.p]
    while top is not None:
        values.append(top.value)
        top = top.following
    return tuple(values)


def with_a_condition() -> tuple[int, ...]:
    condition = threading.Condition()
    ready = Atomic(0)
    taken: list[int] = []

    def work(number: int) -> None:
        with condition:
            if number == 1:
                ready.store(1)
                condition.notify_all()
            elif not ready.load():
                condition.wait()
            taken.append(number)

    in_threads(work, 3)
    return tuple(taken)


def with_a_monitor() -> tuple[int, ...]:
    buffer = Buffer(1)
    taken: list[int] = []

    def work(number: int) -> None:
        if number < 3:
            buffer.put(number)
        else:
            taken.append(buffer.get())
            taken.append(buffer.get())

    in_threads(work, 3)
    return tuple(taken)


def with_results() -> tuple[int, ...]:
    """Threads give objects."""
    total = Atomic(0)

    def work(number: int) -> list[int]:
        return [total.fetch_add(number), total.load()]

    handles = [spawn(work, number) for number in (1, 2, 3)]
    return tuple(sum(handle.join()) for handle in handles)


def in_threads(work: Callable[[int], object], count: int = 2) -> None:
    threads = [threading.Thread(target=work, args=(number + 1,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def found(result: Result) -> tuple[object, ...]:
    return result.verdict, result.complete, result.blocked, result.redundant, result.outcomes


@pytest.mark.parametrize(
    "program",
    [
        with_atomics,
        with_attributes,
        with_lists,
        with_dicts,
        with_sets,
        with_objects,
        with_a_condition,
        with_a_monitor,
        with_results,
        partial(through_a_queue, 0),
        partial(through_a_queue, 1),
    ],
)
@pytest.mark.parametrize("algorithm", ["pop", "optimal", "trust"])
def test_executions_are_computed(program: Callable[[], object], algorithm: Any) -> None:
    run = explore(program, algorithm=algorithm)
    computed = explore(program, algorithm=algorithm, remember=True)
    assert found(computed) == found(run)
    assert run.computed == 0
    assert computed.computed > 0
    assert computed.unremembered == ""


def test_tasks_are_computed() -> None:
    """A search in parts finds what it finds in one go."""
    total, left = explore_tasks(with_attributes, [Task("pop")], max_executions=20, remember=True)
    while left:
        more, new = explore_tasks(with_attributes, [left.pop()], max_executions=50, remember=True)
        total, left = total + more, left + new
    total.conclude(everything=True)
    assert found(total) == found(explore(with_attributes))
    assert total.computed > 0


def test_tasks_that_share_what_is_not_seen_are_run() -> None:
    """What others have counted could not be taken back."""
    result, left = explore_tasks(with_atomics, [Task("pop")], instrument=None, remember=True)
    assert not left
    assert result.computed == 0


class Pair(NamedTuple):
    one: object
    two: object


class Marked(Pair):
    """Has attributes of its own."""


def test_named_tuples_are_their_parts() -> None:
    assert key_of(Pair(1, "a")) == key_of(Pair(1, "a")) != key_of((1, "a"))
    assert key_of(Pair(1, True)) != key_of(Pair(1, 1))
    assert key_of(Pair(1, [])) is NOT_KEPT
    assert key_of(Marked(1, 2)) is NOT_KEPT

    class Local(NamedTuple):  # another class in every execution
        one: object

    assert key_of(Local(1)) is NOT_KEPT


def test_what_a_thread_makes_depends_on_what_it_met() -> None:
    """The first value of `made` is another one if the first thread has met another one."""

    def program() -> object:
        source, ready, box = Atomic(0), Atomic(0), []

        def maker() -> None:
            box.append(Atomic(source.load()))
            ready.store(1)

        def user() -> object:
            return box[0].load() if ready.load() else None

        threads = [spawn(source.store, 7), spawn(maker), spawn(user)]
        return [thread.join() for thread in threads][-1]

    run = explore(program, instrument=None)
    assert set(run.outcomes) == {None, 0, 7}
    assert found(explore(program, instrument=None, remember=True)) == found(run)


def test_a_program_that_changes_is_told() -> None:
    before = RUNNING.executions

    def program() -> object:
        x = Atomic(0)
        threads = [spawn(x.store, value) for value in range(3)]
        for thread in threads:
            thread.join()
        return x.load() if RUNNING.executions < before + 5 else -1

    result = explore(program, remember=True)
    assert [failure.kind for failure in result.failures] == ["nondeterminism"]


def misbehaving(seed: int) -> Callable[[], object]:
    """A program of which one thread does something else in one of so many runs."""
    chance = random.Random(seed)
    period = chance.randint(2, 30)
    how = chance.choice(["value", "location", "more", "less", "result", "thread"])
    who = chance.randrange(3)
    before = RUNNING.executions

    def program() -> object:
        x, y = Atomic(0), Atomic(0)
        is_other = (RUNNING.executions - before) % period == 0

        def work(number: int) -> int:
            differs = is_other and number == who
            for _ in range(2):
                (y if differs and how == "location" else x).store(
                    number + 10 * (differs and how == "value")
                )
            if not (differs and how == "less"):
                y.load()
            if differs and how == "more":
                y.load()
            return number + (differs and how == "result")

        handles = [spawn(work, number) for number in range(3 + (is_other and how == "thread"))]
        return sum(handle.join() for handle in handles), x.load()

    return program


@pytest.mark.parametrize("seed", range(200))
def test_programs_that_misbehave_now_and_then_are_told(seed: int) -> None:
    result = explore(misbehaving(seed), remember=True)
    assert result.verdict != "verified"
    assert [failure.kind for failure in result.failures] == ["nondeterminism"]


def test_what_is_shared_unseen_ends_it() -> None:
    def program() -> object:
        x = Atomic(0)
        log: list[int] = []

        def worker(number: int) -> None:
            x.store(number)
            log.append(number)

        threads = [spawn(worker, number) for number in (1, 2)]
        for thread in threads:
            thread.join()
        return tuple(log)

    run = explore(program, instrument=None)
    result = explore(program, instrument=None, remember=True)
    assert found(result) == found(run)
    assert result.computed == 0
    assert result.unremembered.startswith("threads share what is not seen")


def test_a_condition_used_without_its_lock_ends_it() -> None:
    """Somebody has the lock, so that the condition can be used; not the thread that uses it."""

    def program() -> None:
        lock = threading.Lock()
        condition = threading.Condition(lock)

        def other() -> None:
            with contextlib.suppress(RuntimeError):  # the lock is free
                condition.notify()

        with lock:
            thread = threading.Thread(target=other)
            thread.start()
        thread.join()

    result = explore(program, remember=True)
    assert found(result) == found(explore(program))
    assert "condition variable" in result.unremembered


def test_unseen_code_of_the_standard_library_ends_it() -> None:
    """A queue whose hooks are the user's has its items where nobody looks."""

    class Doubling(queue.Queue[int]):
        def _put(self, item: int) -> None:
            self.queue.append(2 * item)

    def program() -> int:
        jobs = Doubling()
        in_threads(jobs.put)
        return jobs.get()

    result = explore(program, remember=True)
    assert found(result) == found(explore(program))
    assert "Doubling" in result.unremembered


@pytest.mark.parametrize("program", [with_objects, with_dicts, with_a_monitor])
@pytest.mark.parametrize("algorithm", ["pop", "trust"])
def test_a_failure_shows_what_a_run_found(program: Callable[[], object], algorithm: Any) -> None:
    """None of what stands for values in executions that are computed."""
    last = list(explore(program, algorithm=algorithm).outcomes)[-1]

    def failing() -> None:
        assert program() != last

    run, computed = [
        explore(failing, algorithm=algorithm, remember=on).failures[0] for on in (False, True)
    ]
    assert [step.action for step in computed.steps] == [step.action for step in run.steps]


def with_random_numbers() -> object:
    """One stream for all threads: what one draws depends on how often others have."""
    random.seed(3)
    drawn: list[int] = []
    in_threads(lambda _: drawn.append(random.randint(0, 99)), 3)
    return tuple(drawn)


def with_an_ordered_dict() -> object:
    table = OrderedDict.fromkeys(range(3), 0)

    def work(number: int) -> None:
        if number < 3:
            with contextlib.suppress(KeyError):
                table.move_to_end(number - 1)
        else:
            table.popitem(last=False)

    in_threads(work, 3)
    return tuple(table)


def with_a_loop_over_a_dict() -> object:
    table = {1: 1, 2: 2}
    met: list[object] = []

    def work(number: int) -> None:
        if number == 1:
            try:
                met.extend([key for key in table])  # noqa: C416 (by steps)
            except RuntimeError:
                met.append("changed")
        elif number == 2:
            table.pop(1)
        else:
            table[3] = 3

    in_threads(work, 3)
    return tuple(met)


def with_a_loop_over_a_deque() -> object:
    """Python minds that something was put in and taken out, though the deque is as it was."""
    jobs = deque([0, 0])
    met: list[object] = []

    def work(number: int) -> None:
        if number == 1:
            try:
                for job in jobs:
                    met.append(job)
            except RuntimeError:
                met.append("changed")
        else:
            jobs.append(0)
            jobs.popleft()

    in_threads(work)
    return tuple(met)


def with_a_setting() -> object:
    logger = logging.getLogger("remembered")
    seen: list[bool] = []

    def work(number: int) -> None:
        if number < 3:
            logging.disable(number * 10)
        else:
            seen.append(logger.isEnabledFor(logging.INFO))

    in_threads(work, 3)
    logging.disable(0)
    return tuple(seen)


@pytest.mark.parametrize(
    "program",
    [
        with_random_numbers,
        with_an_ordered_dict,
        with_a_loop_over_a_dict,
        with_a_loop_over_a_deque,
        with_a_setting,
    ],
)
@pytest.mark.parametrize("algorithm", ["pop", "trust"])
def test_what_depends_on_more_than_values_is_run(
    program: Callable[[], object], algorithm: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembered, "FIRST_ONES", 0)  # nothing is found out by runs
    monkeypatch.setattr(remembered, "EVERY", sys.maxsize)
    run = explore(program, algorithm=algorithm)
    assert found(explore(program, algorithm=algorithm, remember=True)) == found(run)


def test_what_is_done_to_a_container_is_undone() -> None:
    """Also the order in which its items came and went."""
    contents = Contents(Base())
    before = contents.key()
    undos = [contents.put_item(1, "one", 1), contents.put_item(1, ABSENT, -1)]
    assert contents.key() != before
    for undo in reversed(undos):
        undo.undo()
    assert contents.key() == before


def test_keys_that_equal_others_are_not_computed() -> None:
    """A dict shows the key that came first: here True or 1."""

    def program() -> tuple[object, ...]:
        known: dict[object, int] = {}
        in_threads(lambda number: known.__setitem__(True if number == 1 else 1, 0))
        return tuple(known)

    assert found(explore(program, remember=True)) == found(explore(program))


def test_a_failure_is_explained() -> None:
    def program() -> None:
        locks = [threading.Lock() for _ in range(2)]

        def work(number: int) -> None:
            with locks[number - 1], locks[2 - number]:
                pass

        in_threads(work)

    explanations = [explore(program, remember=on).failures[0].explanation for on in (False, True)]
    assert explanations[0] is not None and explanations[1] is not None
    assert explanations[0].sentence == explanations[1].sentence != ""


def test_a_failure_is_that_of_a_run() -> None:
    def program() -> None:
        p, q = with_attributes()
        assert p + q < 30

    run = explore(program)
    computed = explore(program, remember=True)
    assert run.verdict == "failed"
    assert [failure.schedule for failure in computed.failures] == [
        failure.schedule for failure in run.failures
    ]

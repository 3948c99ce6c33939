"""The standard library's own tests of its primitives, each run in one Mazurka execution.

They are written for real time: a thread sleeps until the others have surely come to where they
block. Here a sleep gives way until nothing else can be done, in the order of the times at which the
sleepers wake up, and waits that the tests do not expect to time out have no timeout.
"""

import functools
import heapq
import inspect
import queue
import threading
import time
import unittest
from collections.abc import Callable
from typing import Any

import pytest

import mazurka
from mazurka.python.library import REPLACEMENTS

lock_tests: Any = pytest.importorskip("test.lock_tests", reason="Python came without its tests")
test_queue: Any = pytest.importorskip("test.test_queue", reason="Python came without its tests")

LONG = 1.0  # seconds; the tests do not expect such a wait to time out

POLLS = "thousands of operations that poll"
FORKS = "a private method, for processes that fork"
LOOKS = "a lock does not show whether it is held: looking would be an operation"
WEAK = "locks have no weak references when Mazurka is compiled"

NOT_OURS = {
    "LockTests.test_repr": LOOKS,
    "LockTests.test_locked_repr": LOOKS,
    "RLockTests.test_repr": LOOKS,
    "RLockTests.test_locked_repr": LOOKS,
    "LockTests.test_weakref_exists": WEAK,
    "LockTests.test_weakref_deleted": WEAK,
    "RLockTests.test_weakref_exists": WEAK,
    "RLockTests.test_weakref_deleted": WEAK,
    "LockTests.test_at_fork_reinit": FORKS,
    "EventTests.test_at_fork_reinit": FORKS,
    "RLockTests.test_recursion_count": "a private method, for Python's import lock",
    "EventTests.test_set_and_clear": "the wait succeeds between the two: in another execution",
    "BarrierTests.test_default_timeout": "about how long threads really wait",
    "BarrierTests.test_timeout": "a wait times out before all have left the round before",
    "CSimpleQueueTest.test_many_threads": POLLS,
    "CSimpleQueueTest.test_many_threads_nonblock": POLLS,
    "CSimpleQueueTest.test_many_threads_timeout": POLLS,
    "CSimpleQueueTest.test_references": "Mazurka remembers the values of an execution",
    "CSimpleQueueTest.test_reentrancy": "about garbage collection in the middle of C code",
}
for kind in ("CQueueTest", "CLifoQueueTest", "CPriorityQueueTest"):
    NOT_OURS[f"{kind}.test_shutdown_all_methods_in_many_threads"] = POLLS
    NOT_OURS[f"{kind}.test_shutdown_immediate_all_methods_in_many_threads"] = POLLS


class Sleepers:
    """Virtual time for all threads of an execution together, as these tests expect it."""

    def __init__(self, sleep: Callable[[float], None]) -> None:
        self.sleep = sleep
        self.now = 0.0
        self.waking: list[tuple[float, int]] = []
        self.tickets = 0

    def give_way(self, seconds: float) -> None:
        self.sleep(seconds)
        self.tickets += 1
        mine = self.now + seconds, self.tickets
        heapq.heappush(self.waking, mine)
        mazurka.Atomic(0).await_value(lambda _: self.waking[0] == mine)
        self.now, _ = heapq.heappop(self.waking)


def patient(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose timeout is left away if it is long."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def call(*arguments: Any, **options: Any) -> Any:
        bound = signature.bind(*arguments, **options)
        timeout = bound.arguments.get("timeout")
        if timeout is not None and timeout >= LONG:
            bound.arguments["timeout"] = None
        return method(*bound.args, **bound.kwargs)

    return call


PATIENT: list[tuple[Any, str]] = [
    (queue.Queue, "get"),
    (queue.Queue, "put"),
    (threading.Event, "wait"),
    (threading.Barrier, "wait"),
    (threading.Thread, "join"),
]


def run(case: unittest.TestCase) -> str:
    """Run one test as a program: it passes, or is skipped, or raises."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "sleep", Sleepers(time.sleep).give_way)
        patch.setattr(lock_tests, "start_new_thread", REPLACEMENTS[id(STARTER)])
        for owner, name in PATIENT:
            patch.setattr(owner, name, patient(getattr(owner, name)))
        try:
            case.debug()
        except unittest.SkipTest as reason:
            return f"skipped: {reason}"
        return "passed"


STARTER = lock_tests.start_new_thread


def suite(base: Any, **attributes: Any) -> Any:
    """A test case of the standard library for the things that are explored. (It is made here so
    that pytest does not find, and run, it as it is.)"""
    return type(base.__name__, (base,), attributes)


def set_up_simple_queue(self: Any) -> None:
    self.type2test = queue.SimpleQueue
    self.q = queue.SimpleQueue()


SUITES = [
    suite(lock_tests.LockTests, locktype=staticmethod(lambda: threading.Lock())),
    suite(lock_tests.RLockTests, locktype=staticmethod(lambda: threading.RLock())),
    suite(lock_tests.EventTests, eventtype=threading.Event),
    suite(lock_tests.ConditionTests, condtype=threading.Condition),
    suite(lock_tests.SemaphoreTests, semtype=threading.Semaphore),
    suite(lock_tests.BoundedSemaphoreTests, semtype=threading.BoundedSemaphore),
    suite(lock_tests.BarrierTests, barriertype=threading.Barrier, defaultTimeout=None),
    suite(test_queue.CQueueTest, queue=queue),
    suite(test_queue.CLifoQueueTest, queue=queue),
    suite(test_queue.CPriorityQueueTest, queue=queue),
    # A queue that overrides the hooks: the standard library's code, on modelled locks.
    suite(test_queue.CFailingQueueTest, queue=queue),
    suite(test_queue.CSimpleQueueTest, queue=queue, setUp=set_up_simple_queue),
]


def all_tests() -> list[Any]:
    return [
        pytest.param(cases, name, id=f"{cases.__name__}.{name}")
        for cases in SUITES
        for name in unittest.TestLoader().getTestCaseNames(cases)
    ]


@pytest.mark.parametrize(("cases", "name"), all_tests())
def test_of_the_standard_library(cases: Any, name: str) -> None:
    def program() -> str:
        return run(cases(name))

    reason = NOT_OURS.get(f"{cases.__name__}.{name}")
    if reason is not None:
        pytest.skip(reason)

    result = mazurka.explore(
        program, max_executions=1, max_events=20_000, step_limit=10, instrument=None
    )
    assert not result.failures, result.failures[0].message
    (outcome,) = result.outcomes
    if outcome != "passed":
        pytest.skip(str(outcome))

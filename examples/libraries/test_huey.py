"""huey: MemoryHuey's storage is shared by threads: a task is dequeued by one of them, and
put_if_empty stores for one only.
"""

import pytest

import mazurka
from examples.libraries.threads import together

storage = pytest.importorskip("huey.storage")


@mazurka.check
def test_a_task_is_taken_once() -> None:
    memory = storage.MemoryStorage()
    memory.enqueue(b"task")
    taken = []
    together(lambda: taken.append(memory.dequeue()), lambda: taken.append(memory.dequeue()))
    assert sorted(taken, key=str) == [None, b"task"] or sorted(taken, key=str) == [b"task", None]


@mazurka.check
def test_one_thread_gets_a_lock() -> None:
    memory = storage.MemoryStorage()
    stored = []
    together(
        lambda: stored.append(memory.put_if_empty("lock", b"1")),
        lambda: stored.append(memory.put_if_empty("lock", b"1")),
    )
    assert sorted(stored) == [False, True]


@mazurka.check
def test_a_result_is_read_once() -> None:
    memory = storage.MemoryStorage()
    memory.put_data("key", b"value")
    popped = []
    together(
        lambda: popped.append(memory.pop_data("key")),
        lambda: popped.append(memory.pop_data("key")),
    )
    assert popped.count(b"value") == 1

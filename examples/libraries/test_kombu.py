"""kombu: pools of connections: "limit" at most, each used by one thread at a time; a
LimitExceeded is raised if there are no more.
"""

from typing import Any

import pytest

import mazurka
from examples.libraries.threads import together

resource = pytest.importorskip("kombu.resource")
exceptions = pytest.importorskip("kombu.exceptions")


Resource: Any = resource.Resource


class Pool(Resource):
    def setup(self) -> None:
        for _ in range(self.limit):
            self._resource.put_nowait(self.new)

    def new(self) -> Any:
        return Thing()

    def prepare(self, thing: Any) -> Any:
        return thing() if callable(thing) else thing


class Thing:
    pass


@mazurka.check
def test_threads_have_different_resources() -> None:
    pool = Pool(limit=2)
    got = []
    together(lambda: got.append(pool.acquire()), lambda: got.append(pool.acquire()))
    assert got[0] is not got[1]
    with pytest.raises(exceptions.LimitExceeded):
        pool.acquire()


@mazurka.check
def test_a_resource_is_used_by_one_thread_at_a_time() -> None:
    pool = Pool(limit=1)
    users: list[Any] = []

    def work() -> None:
        thing = pool.acquire(block=True)
        users.append(thing)
        assert len(users) == 1
        users.remove(thing)
        thing.release()

    together(work, work)

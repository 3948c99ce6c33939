"""redis: a ConnectionPool's connections "can be shared by multiple redis clients (safely across
threads if required)"; "max_connections: if the pool is exhausted, raises" an error, and a
BlockingConnectionPool waits. The connections here talk to nobody, and the
pool's metrics, which every call looks up, are left out.
"""

from typing import Any

import pytest

import mazurka
from examples.libraries.threads import together

redis = pytest.importorskip("redis")


# What is done when an object is let go of is not explored.
FINALIZERS = [
    "redis.connection.ConnectionPool.__del__",
    "redis.connection.BlockingConnectionPool.__del__",
]


class Connection:
    """One that is never connected."""

    retry = None

    def __init__(self, **options: Any) -> None:
        self.pid = 0

    def connect(self) -> None:
        pass

    def disconnect(self, *reasons: Any) -> None:
        pass

    def can_read(self) -> bool:
        return False

    def should_reconnect(self) -> bool:
        return False

    def re_auth(self) -> None:
        pass


@mazurka.check(opaque=["redis.observability", *FINALIZERS])
def test_threads_have_different_connections() -> None:
    pool = redis.ConnectionPool(connection_class=Connection, max_connections=2)
    got = []
    together(
        lambda: got.append(pool.get_connection()),
        lambda: got.append(pool.get_connection()),
    )
    assert got[0] is not got[1]
    with pytest.raises(redis.ConnectionError):
        pool.get_connection()


@mazurka.check(opaque=["redis.observability", *FINALIZERS])
def test_a_connection_is_used_by_one_thread_at_a_time() -> None:
    pool = redis.BlockingConnectionPool(
        connection_class=Connection, max_connections=1, timeout=None
    )
    users = []

    def work() -> None:
        connection = pool.get_connection()
        users.append(connection)
        assert len(users) == 1
        users.remove(connection)
        pool.release(connection)

    together(work, work)

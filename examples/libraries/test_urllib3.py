"""urllib3: "thread safety": threads share a PoolManager and its pools. Two threads that ask for the
same host get the same pool, and a connection is used by one at a time.

Up to 2.0.0a1 (and 1.26.15), a pool that had to make room for another host was closed though a
thread was about to use it.
"""

import pytest

import mazurka
from examples.libraries.threads import together

urllib3 = pytest.importorskip("urllib3")


# What is done when an object is let go of is not explored.
FINALIZERS = ["urllib3.connectionpool._close_pool_connections"]


@mazurka.check(opaque=FINALIZERS)
def test_one_pool_for_a_host() -> None:
    manager = urllib3.PoolManager()
    pools = []
    together(
        lambda: pools.append(manager.connection_from_url("http://a.example/")),
        lambda: pools.append(manager.connection_from_url("http://a.example/")),
    )
    assert pools[0] is pools[1]


@mazurka.check(opaque=FINALIZERS)
def test_threads_have_different_connections() -> None:
    pool = urllib3.HTTPConnectionPool("a.example", maxsize=1, block=True)
    users = []

    def work() -> None:
        connection = pool._get_conn()
        users.append(connection)
        assert len(users) == 1
        users.remove(connection)
        pool._put_conn(connection)

    together(work, work)


@mazurka.check(opaque=FINALIZERS)
def test_a_pool_in_use_is_not_closed() -> None:
    manager = urllib3.PoolManager(num_pools=1)

    def ask(host: str) -> None:
        pool = manager.connection_from_host(host)
        pool._get_conn()  # raises an error if the pool is closed

    together(lambda: ask("a.example"), lambda: ask("b.example"))

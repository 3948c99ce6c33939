"""SQLAlchemy: a QueuePool gives a connection to one thread at a time; a StaticPool is "a Pool of
exactly one connection, used for all requests". The connections here talk to nobody.

A StaticPool may make two of them, if two threads are the first to ask. (With real threads and a
short switch interval, 400 of 3000 did.) One is lost: with SQLite in memory, a whole database.
"""

import logging
from pathlib import Path
from typing import Any

import pytest

import mazurka
from examples.libraries.threads import together

pool = pytest.importorskip("sqlalchemy.pool")

for name in ("QueuePool", "StaticPool"):
    logging.getLogger(f"sqlalchemy.pool.impl.{name}")  # made once for the process, not in a check

SCHEDULE = Path(__file__).with_name("sqlalchemy_static.json")


class Connection:
    def rollback(self) -> None:
        pass

    def close(self) -> None:
        pass


@mazurka.check
def test_a_connection_is_used_by_one_thread_at_a_time() -> None:
    queue = pool.QueuePool(Connection, pool_size=1, max_overflow=0, timeout=None)
    users: list[Any] = []

    def work() -> None:
        connection = queue.connect()
        users.append(connection)
        assert len(users) == 1
        users.remove(connection)
        connection.close()

    together(work, work)
    assert queue.checkedin() == 1


def first_requests() -> None:
    made = []

    def connect() -> Connection:
        made.append(1)
        return Connection()

    static = pool.StaticPool(connect)
    together(static.connect, static.connect)
    assert len(made) == 1


def test_a_static_pool_connects_once() -> None:
    with pytest.raises(mazurka.CheckFailed, match="made"):
        mazurka.check(first_requests)


def test_the_saved_execution() -> None:
    assert mazurka.replay(first_requests, SCHEDULE.read_text()).kind == "exception"

"""injector: "thread safety: ... Injector.get()... SingletonScope" give one instance to all threads.

Up to 0.20.1, a thread could get another instance than the rest.
"""

import pytest

import mazurka
from examples.libraries.threads import together

injector = pytest.importorskip("injector")


@injector.singleton
class Database:
    pass


class Service:
    @injector.inject
    def __init__(self, database: Database) -> None:
        self.database = database


@mazurka.check
def test_one_singleton_for_all_threads() -> None:
    container = injector.Injector()
    got = []
    together(
        lambda: got.append(container.get(Database)),
        lambda: got.append(container.get(Database)),
    )
    assert got[0] is got[1]


@mazurka.check
def test_threads_may_make_what_depends_on_it() -> None:
    container = injector.Injector()
    got = []
    together(
        lambda: got.append(container.get(Service)),
        lambda: got.append(container.get(Service)),
    )
    assert got[0].database is got[1].database

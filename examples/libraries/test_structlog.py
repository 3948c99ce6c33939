"""structlog: bind_contextvars puts "keys and values into the context-local context",
unbind_contextvars removes "keys from the context-local context if they are present"; threads may
share a logger.

The first two go wrong when two threads bind a key that was never bound before: each makes a
variable for it, and one of the variables is forgotten. Who set that cannot unbind the key: it stays
in the thread's context, and so in whatever the thread logs next. (reset_contextvars raises
ValueError then.)
"""

from pathlib import Path
from typing import Any

import pytest

import mazurka
from examples.libraries.threads import together

structlog = pytest.importorskip("structlog")
context = pytest.importorskip("structlog.contextvars")

SCHEDULE = Path(__file__).with_name("structlog_unbind.json")


def two_requests() -> None:
    def handle(user: str) -> None:
        context.bind_contextvars(user=user)
        context.unbind_contextvars("user")
        assert context.get_contextvars() == {}

    together(lambda: handle("ann"), lambda: handle("bob"))


def test_what_a_thread_binds_it_can_unbind() -> None:
    with pytest.raises(mazurka.CheckFailed, match="get_contextvars"):
        mazurka.check(two_requests)


def test_the_saved_execution() -> None:
    assert mazurka.replay(two_requests, SCHEDULE.read_text()).kind == "exception"


@mazurka.check
def test_a_key_that_was_bound_before() -> None:
    context.bind_contextvars(user=None)

    def handle(user: str) -> None:
        context.bind_contextvars(user=user)
        assert context.get_contextvars() == {"user": user}
        context.unbind_contextvars("user")
        assert context.get_contextvars() == {}

    together(lambda: handle("ann"), lambda: handle("bob"))


@mazurka.check
def test_threads_that_share_a_logger() -> None:
    entries: list[Any] = []

    def keep(logger: object, method: str, event: Any) -> str:
        entries.append((event["event"], event["user"]))
        raise structlog.DropEvent

    logger = structlog.wrap_logger(None, processors=[keep], cache_logger_on_first_use=True)
    together(
        lambda: logger.bind(user="first").info("hello"),
        lambda: logger.bind(user="second").info("hello"),
    )
    assert sorted(entries) == [("hello", "first"), ("hello", "second")]

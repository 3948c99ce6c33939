"""limits: a storage in memory that counts hits, with a lock for each counter.

Of two threads that hit a limit of one at the same time, both may be turned away: the counter is
read again after its lock was released. (With real threads, 256 of 20000 pairs of hits went wrong.)
"""

from pathlib import Path

import pytest

import mazurka
from examples.libraries.threads import together

limits = pytest.importorskip("limits")
storage = pytest.importorskip("limits.storage")
strategies = pytest.importorskip("limits.strategies")

SCHEDULE = Path(__file__).with_name("limits_memory.json")


def two_hits() -> None:
    limiter = strategies.FixedWindowRateLimiter(storage.MemoryStorage())
    once = limits.parse("1/hour")
    passed: list[bool] = []
    together(
        lambda: passed.append(limiter.hit(once, "user")),
        lambda: passed.append(limiter.hit(once, "user")),
    )
    assert sorted(passed) == [False, True]


def test_one_of_two_hits_passes() -> None:
    with pytest.raises(mazurka.CheckFailed, match="passed"):
        mazurka.check(two_hits)


def test_the_saved_execution() -> None:
    assert mazurka.replay(two_hits, SCHEDULE.read_text()).kind == "exception"

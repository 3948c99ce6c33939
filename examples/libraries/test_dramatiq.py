"""dramatiq: a ConcurrentRateLimiter lets "limit" holders in at a time, a BucketRateLimiter as many
in a period; both "distributed": threads that share a backend are as good as processes.
"""

import pytest

import mazurka
from examples.libraries.threads import together

rate_limits = pytest.importorskip("dramatiq.rate_limits")
backends = pytest.importorskip("dramatiq.rate_limits.backends")


@mazurka.check
def test_one_holder_at_a_time() -> None:
    limiter = rate_limits.ConcurrentRateLimiter(backends.StubBackend(), "mutex", limit=1)
    holders = []

    def work(name: str) -> None:
        with limiter.acquire(raise_on_failure=False) as acquired:
            if acquired:
                holders.append(name)
                assert holders == [name]
                holders.remove(name)

    together(lambda: work("first"), lambda: work("second"))


@mazurka.check
def test_one_of_two_in_a_period() -> None:
    limiter = rate_limits.BucketRateLimiter(backends.StubBackend(), "key", limit=1, bucket=10_000)
    passed = []

    def work() -> None:
        with limiter.acquire(raise_on_failure=False) as acquired:
            passed.append(acquired)

    together(work, work)
    assert sorted(passed) == [False, True]

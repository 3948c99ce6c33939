"""ratelimit: `limits(calls, period)` lets a function be called so often within a period, whichever
threads call it ("Add thread safety", says the code about its lock).
"""

import pytest

import mazurka
from examples.libraries.threads import together

ratelimit = pytest.importorskip("ratelimit")


@mazurka.check
def test_no_more_calls_than_allowed() -> None:
    calls = []

    @ratelimit.limits(calls=2, period=60)
    def call() -> None:
        calls.append(1)

    def use() -> None:
        try:
            call()
        except ratelimit.RateLimitException:
            refused.append(1)

    refused: list[int] = []
    together(use, use, use)
    assert (len(calls), len(refused)) == (2, 1)

"""pyrate-limiter: "thread-safe"; a limiter lets no more through than its rate allows."""

import pytest

import mazurka
from examples.libraries.threads import together

pyrate_limiter = pytest.importorskip("pyrate_limiter")


# What is done when an object is let go of is not explored.
FINALIZERS = ["pyrate_limiter.abstracts.bucket.BucketFactory.__del__"]


@mazurka.check(
    opaque=["_bisect", *FINALIZERS]
)  # it calls a function for each item, with a lock held
def test_one_of_two_threads_passes() -> None:
    rate = pyrate_limiter.Rate(1, pyrate_limiter.Duration.HOUR)
    bucket = pyrate_limiter.InMemoryBucket([rate])
    factory = pyrate_limiter.limiter.SingleBucketFactory(bucket, schedule_leak=False)
    limiter = pyrate_limiter.Limiter(factory)
    passed = []

    def work() -> None:
        passed.append(limiter.try_acquire("user", blocking=False))

    together(work, work)
    assert sorted(passed) == [False, True]

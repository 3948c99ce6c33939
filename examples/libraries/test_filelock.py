"""filelock: "is_singleton: if this is set to True then only one instance of this class will be
created per lock file".

Up to 3.29.4, two threads could make two instances.
"""

import pytest

import mazurka
from examples.libraries.threads import together

SoftFileLock = pytest.importorskip("filelock").SoftFileLock


# What is done when an object is let go of is not explored.
FINALIZERS = ["filelock._api.BaseFileLock.__del__"]


@mazurka.check(opaque=FINALIZERS)
def test_one_instance_for_a_file() -> None:
    made = []

    def make() -> None:
        made.append(SoftFileLock("of-no-one.lock", is_singleton=True))

    together(make, make)
    assert made[0] is made[1]

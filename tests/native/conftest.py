"""C programs need a compiler, and the extra `mazurka[c]`."""

import pytest

from tests.conformance.front_ends import HAS_C


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not HAS_C:
        for item in items:
            if "tests/native/" in item.path.as_posix():
                item.add_marker(pytest.mark.skip("there is no C compiler, or no pyelftools"))

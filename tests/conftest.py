"""The order in which tests run."""

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Those that take long go first: then no worker is left alone with one in the end."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)

"""Searches of tests are short: whatever waits for long ones is done at once."""

import pytest

from mazurka.scale import driver, whole


@pytest.fixture(autouse=True)
def workers_are_called_and_watched_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole, "ALONE", 0.0)
    monkeypatch.setattr(driver, "TURN", 0.001)

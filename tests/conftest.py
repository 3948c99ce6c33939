"""Tests leave nothing behind in the checkout: what one run keeps must not change the next one."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from mazurka.kept import FOLDER, Memory

ROOT = Path(__file__).parents[1]
KEPT = ROOT / FOLDER


@pytest.fixture(scope="session")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(autouse=True)
def nothing_is_kept_here(elsewhere: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Failures of what is in the checkout are kept in another folder. A test that starts a process
    has to see to it itself."""

    def folder(memory: Memory) -> Path:
        return (elsewhere if memory.base == ROOT else memory.base) / FOLDER

    monkeypatch.setattr(Memory, "folder", property(folder))
    before = kept()
    yield
    assert kept() == before, f"{KEPT} has other failures than before this test"


def kept() -> set[str]:
    return {file.name for file in KEPT.iterdir()} if KEPT.is_dir() else set()

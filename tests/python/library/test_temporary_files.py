"""What an execution makes with `tempfile` is gone before the next one."""

import os
import tempfile
from pathlib import Path
from tempfile import NamedTemporaryFile, mkdtemp, mkstemp

import pytest

from mazurka import explore
from tests.python.threads import in_threads


@pytest.fixture(autouse=True)
def own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def folders() -> object:
    first, second = mkdtemp(prefix="one-"), mkdtemp(suffix=b"two")
    assert os.listdir(first) == [] and os.listdir(second) == []
    Path(first, "inner").write_text("text")
    return os.path.basename(first)


def files() -> object:
    handle, path = mkstemp(".txt")
    os.close(handle)
    with NamedTemporaryFile("w+", delete=False) as kept, NamedTemporaryFile() as other:
        kept.write("text")
        other.write(b"bytes")
    return os.path.basename(path)


@pytest.mark.parametrize("makes", [folders, files])
def test_each_execution_begins_without(makes: object, own_folder: Path) -> None:
    def program() -> object:
        counter = [0]

        def work() -> None:
            counter[0] += 1

        assert callable(makes)
        name = makes()
        in_threads(work, work)
        return name

    result = explore(program, stop_on_failure=False)
    assert result.verdict == "verified", result
    assert result.executions > 1
    assert len(result.outcomes) == 1
    assert list(own_folder.iterdir()) == []


def test_threads_have_names_of_their_own(own_folder: Path) -> None:
    def program() -> int:
        found: list[str] = []
        in_threads(lambda: found.append(mkdtemp()), lambda: found.append(mkdtemp()))
        return len(set(found))

    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {2}
    assert list(own_folder.iterdir()) == []


def test_other_processes_have_other_names() -> None:
    """Several may check one program at a time, in one folder for temporary files."""
    result = explore(lambda: os.path.basename(mkdtemp()))
    assert [f"{os.getpid():x}" in name for name in result.outcomes] == [True]

"""Files that threads share: what one does to them, another one may see."""

import json
import os
import pathlib
import pickle
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mazurka import explore
from tests.python.threads import both


def outcomes(root: Path, one: Callable[[str], object], other: Callable[[str], object]) -> set[Any]:
    """What two threads find that work on the same path."""

    def program() -> object:
        found: list[object] = [None, None]
        both(lambda: attempt(found, 0, one), lambda: attempt(found, 1, other))
        return (*found, *sorted(os.listdir(root)))

    def attempt(found: list[object], place: int, work: Callable[[str], object]) -> None:
        try:
            found[place] = work(str(root / "a"))
        except (OSError, EOFError, ValueError) as error:
            found[place] = type(error).__name__

    result = explore(program, setup=lambda: empty(root))
    assert result.verdict == "verified", result.failures or result.reason
    return set(result.outcomes)


def empty(root: Path) -> None:
    shutil.rmtree(root)
    root.mkdir()


def make(path: str) -> str:
    if os.path.exists(path):
        return "there"
    os.mkdir(path)
    return "made"


def write_text(path: str) -> None:
    with open(path, "w") as file:
        file.write("[1]")


def test_a_directory_that_is_looked_for_and_made(tmp_path: Path) -> None:
    assert outcomes(tmp_path, make, make) == {
        ("made", "there", "a"), ("there", "made", "a"),
        ("made", "FileExistsError", "a"), ("FileExistsError", "made", "a"),
    }  # fmt: skip


LOOKS: list[tuple[Callable[[str], object], set[object]]] = [
    (lambda path: os.path.isfile(path), {False, True}),
    (lambda path: pathlib.Path(path).exists(), {False, True}),
    (lambda path: os.access(path, os.R_OK), {False, True}),
    (lambda path: len(os.listdir(os.path.dirname(path))), {0, 1}),
    (lambda path: len(list(pathlib.Path(path).parent.iterdir())), {0, 1}),
    (lambda path: os.path.getsize(path), {"FileNotFoundError", 0, 3}),
    (lambda path: pathlib.Path(path).read_text(), {"FileNotFoundError", "", "[1]"}),
    (lambda path: sum(len(line) for line in open(path)), {"FileNotFoundError", 0, 3}),  # noqa: SIM115
    (lambda path: os.remove(path), {"FileNotFoundError", None}),
    (lambda path: os.rename(path, f"{path}b"), {"FileNotFoundError", None}),
    (lambda path: open(path, "x").close(), {"FileExistsError", None}),
    (lambda path: os.open(path, os.O_RDONLY) > 0, {"FileNotFoundError", True}),
]


@pytest.mark.parametrize(("look", "expected"), LOOKS)
def test_one_thread_looks_while_another_one_writes(
    look: Callable[[str], object], expected: set[object], tmp_path: Path
) -> None:
    assert {each[0] for each in outcomes(tmp_path, look, write_text)} == expected


def dump(path: str) -> None:
    with open(path, "wb") as file:
        pickle.dump([1], file)


def load(path: str) -> object:
    with open(path, "rb") as file:
        return str(pickle.load(file))


def test_files_that_others_write_for_a_program(tmp_path: Path) -> None:
    found = {each[0] for each in outcomes(tmp_path, load, dump)}
    assert found == {"FileNotFoundError", "EOFError", "[1]"}


def read_json(path: str) -> object:
    return str(json.loads(pathlib.Path(path).read_text()))


def write_and_rename(path: str) -> None:
    write_text(f"{path}.new")
    os.replace(f"{path}.new", path)


def test_a_file_that_is_written_elsewhere_and_renamed(tmp_path: Path) -> None:
    found = {each[0] for each in outcomes(tmp_path, read_json, write_and_rename)}
    assert found == {"FileNotFoundError", "[1]"}


def test_files_of_one_thread_each_take_no_steps(tmp_path: Path) -> None:
    def program() -> int:
        def work(name: str) -> None:
            directory = tmp_path / name
            directory.mkdir(exist_ok=True)
            write_text(str(directory / "file"))
            shutil.rmtree(directory)

        both(lambda: work("a"), lambda: work("b"))
        return len(os.listdir(tmp_path))

    result = explore(program)
    assert result.verdict == "verified"
    assert result.executions == 1


def test_what_threads_that_are_joined_have_written(tmp_path: Path) -> None:
    def program() -> str:
        paths = [str(tmp_path / name) for name in "ab"]
        threads = [threading.Thread(target=write_text, args=(path,)) for path in paths]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return "".join(Path(path).read_text() for path in paths)

    result = explore(program)
    assert result.executions == 1
    assert set(result.outcomes) == {"[1][1]"}

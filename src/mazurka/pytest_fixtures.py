"""What pytest gives to a test, put back before each execution; and fixtures that are made anew.

What executions do to plain objects is put back by the front end, and so is what `caplog` shows.
Here is what nobody sees: captured output, files, patches, and what C code keeps.
"""

import array
import inspect
import io
import os
import shutil
import sqlite3
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path, PurePath
from types import MethodType
from typing import Any, Final, NamedTuple

import pytest
from _pytest.capture import TeeCaptureIO

from mazurka.api import Fixtures, FreshFixture, Surroundings
from mazurka.engine.errors import MazurkaError
from mazurka.python.library.logging_handlers import Captured

PutBack = Callable[[], object]

CAPTURING: Final = ("capsys", "capfd", "capsysbinary", "capfdbinary", "capteesys")
MOST_LOOKED_AT: Final = 2_000  # objects of a fixture
ATOMS: Final = (int, float, complex, str, bytes, bool, type(None), type, PurePath)


class PytestSurroundings(Surroundings):
    """What pytest gives to a test."""

    def __init__(self, item: pytest.Item, changes: list[str]) -> None:
        self.changes = changes  # what was changed by checks so far, in words
        self.fixtures: dict[str, Any] = dict(getattr(item, "funcargs", {}))
        self.own = [name for name in self.fixtures if is_looked_at(item, name, self.fixtures)]
        self.before = self.pictures()
        self.log = Captured()
        self.patches = self.fixtures.get("monkeypatch")
        self.kept = ExitStack()
        self.put_backs = [self.kept.enter_context(each) for each in self.helpers(item)]

    def helpers(self, item: pytest.Item) -> Iterator[Any]:
        fixtures = self.fixtures
        captured = [fixtures[name] for name in CAPTURING if name in fixtures]
        if captured:
            yield from [fixture_output_put_back(fixture) for fixture in captured]
        else:
            manager: Any = item.config.pluginmanager.getplugin("capturemanager")
            capture = getattr(manager, "_global_capturing", None)
            if capture is not None and not shows_at_once(capture):
                yield global_output_put_back(capture)
        if self.patches is not None:
            yield patches_put_back(self.patches)
        if "tmp_path" in fixtures:
            yield files_put_back(fixtures["tmp_path"])

    def run_again(self) -> None:
        self.log.put_back()

    def put_back(self) -> None:
        for each in self.put_backs:
            each()

    def undo_patches(self) -> None:
        if self.patches is not None:
            self.patches.undo()

    def close(self) -> None:
        self.kept.close()

    def pictures(self) -> dict[str, dict[str, object]]:
        return {name: picture_of(name, self.fixtures[name]) for name in self.own}

    def changed(self) -> str:
        """Which fixtures executions have changed, though they were put back as far as is known."""
        now = self.pictures()
        names = [name for name in self.own if now[name] != self.before[name]]
        self.changes += [told(name, self.before[name], now[name]) for name in names]
        return self.changes[-1] if names else ""


# Captured output


def shows_at_once(capture: Any) -> bool:
    """Whether nothing is captured, or it is shown all the same."""
    files = [getattr(part, "tmpfile", None) for part in (capture.out, capture.err)]
    return any(file is None or isinstance(file, TeeCaptureIO) for file in files)


@contextmanager
def fixture_output_put_back(fixture: Any) -> Iterator[PutBack]:
    """What the test has not read is dropped; what there was before the check is there again."""
    before = fixture.readouterr()

    def put_back() -> None:
        fixture.readouterr()
        fixture._captured_out, fixture._captured_err = before

    yield put_back


@contextmanager
def global_output_put_back(capture: Any) -> Iterator[PutBack]:
    """The same for what pytest captures of all tests. It is shown if a test fails: then it is that
    of one execution. Hardly any execution prints, so it is looked for in a quick way."""
    parts = [part for part in (capture.out, capture.err) if part is not None]
    before = [part.snap() for part in parts]
    written = [how_much_is_in(part.tmpfile) for part in parts]

    def put_back() -> None:
        for count in written:
            if count():
                capture.readouterr()
                return

    yield put_back
    for part, text in zip(parts, before, strict=True):
        last = part.snap()
        part.tmpfile.write(text + last)


def how_much_is_in(file: Any) -> Callable[[], int]:
    """Asks the system if it is a file of that: C code writes to it, too."""
    try:
        return partial(os.lseek, file.fileno(), 0, os.SEEK_CUR)
    except OSError:
        tell: Callable[[], int] = file.tell
        return tell


# Patches


@contextmanager
def patches_put_back(patches: Any) -> Iterator[PutBack]:
    """What an execution patches is undone before the next one; what was patched before is not."""
    outer = dict(vars(patches))
    vars(patches).update(_setattr=[], _setitem=[], _cwd=None, _savesyspath=None)
    folder = os.getcwd()

    def put_back() -> None:
        patches.undo()
        if os.getcwd() != folder:  # where it was is put back with the object itself
            os.chdir(folder)

    try:
        yield put_back
    finally:
        put_back()
        vars(patches).update(outer)


# Files


class Entry(NamedTuple):
    """A file, a folder, or something else in a folder."""

    kind: str
    mode: int
    content: bytes | str


@contextmanager
def files_put_back(folder: Path) -> Iterator[PutBack]:
    """The files that were there are there again, and no others. They are compared as a whole: a
    file that is written twice in a moment has the same size and time."""
    before = files_in(folder)

    def put_back() -> None:
        try:
            now = files_in(folder)
            if now != before:
                put_files_back(folder, before, now)
        except OSError as error:
            raise MazurkaError(
                f"what an execution has done to tmp_path cannot be put back: {error}"
            ) from error

    yield put_back


def files_in(folder: Path) -> dict[str, Entry]:
    """What is in a folder, by paths; folders come before what is in them."""
    found: dict[str, Entry] = {}
    pending = [str(folder)] if folder.is_dir() else []
    while pending:
        for entry in sorted(os.scandir(pending.pop()), key=lambda entry: entry.name):
            found[entry.path] = entry_of(entry)
            if found[entry.path].kind == "folder":
                pending.append(entry.path)
    return found


def entry_of(entry: "os.DirEntry[str]") -> Entry:
    if entry.is_symlink():
        return Entry("link", 0, os.readlink(entry.path))
    mode = entry.stat().st_mode
    if entry.is_dir():
        return Entry("folder", mode, "")
    if entry.is_file():
        return Entry("file", mode, Path(entry.path).read_bytes())
    return Entry("other", mode, "")


def put_files_back(folder: Path, before: dict[str, Entry], now: dict[str, Entry]) -> None:
    for path, entry in now.items():
        if path not in before or before[path].kind != entry.kind:
            if entry.kind == "folder":
                shutil.rmtree(path, ignore_errors=True)
            else:
                Path(path).unlink(missing_ok=True)  # maybe with its folder
    folder.mkdir(parents=True, exist_ok=True)
    for path, entry in before.items():
        if now.get(path) == entry:
            continue
        if entry.kind == "folder":
            os.makedirs(path, exist_ok=True)
        elif entry.kind == "file":
            assert isinstance(entry.content, bytes)
            Path(path).write_bytes(entry.content)
        elif entry.kind == "link" and not os.path.lexists(path):
            os.symlink(entry.content, path)
        if entry.kind in ("file", "folder"):
            os.chmod(path, entry.mode)


# Whether a fixture is as it was


def is_looked_at(item: pytest.Item, name: str, fixtures: Mapping[str, Any]) -> bool:
    """Whether a fixture of function scope is the user's own."""
    definitions = definitions_of(item).get(name)
    if not definitions or definitions[-1].scope != "function":
        return False
    module = getattr(definitions[-1].func, "__module__", None) or ""
    return module.partition(".")[0] not in ("_pytest", "pytest") and not isinstance(
        fixtures[name], ATOMS
    )


def definitions_of(item: pytest.Item) -> Mapping[str, Sequence[Any]]:
    info = getattr(item, "_fixtureinfo", None)
    return {} if info is None else info.name2fixturedefs


def picture_of(name: str, value: object) -> dict[str, object]:
    """What can be told of an object and those that it consists of, by their paths."""
    found: dict[str, object] = {}
    known: dict[int, str] = {}
    pending: list[tuple[str, Any]] = [(name, value)]
    while pending and len(found) < MOST_LOOKED_AT:
        path, thing = pending.pop()
        if isinstance(thing, ATOMS):
            found[path] = thing
        elif id(thing) in known:
            found[path] = known[id(thing)]
        else:
            known[id(thing)] = path
            found[path] = own_state(thing)
            pending += parts_of(path, thing)
    return found


def own_state(thing: Any) -> object:
    """What an object keeps that is no other object."""
    if isinstance(thing, (bytearray, array.array)):
        return bytes(thing)
    if isinstance(thing, (io.StringIO, io.BytesIO)):
        return "closed" if thing.closed else thing.getvalue()
    if isinstance(thing, sqlite3.Connection):
        return rows_changed(thing)
    if isinstance(thing, (set, frozenset)):
        return len(thing)
    return type(thing).__qualname__


def rows_changed(connection: sqlite3.Connection) -> str:
    try:
        return f"{connection.total_changes} rows changed"
    except sqlite3.ProgrammingError:  # it is closed, or belongs to another thread
        return "closed"


def parts_of(path: str, thing: Any) -> list[tuple[str, Any]]:
    if isinstance(thing, dict):
        return [(f"{path}[{key!r}]", each) for key, each in thing.items()]
    if isinstance(thing, (list, tuple, deque)):
        return [(f"{path}[{place}]", each) for place, each in enumerate(thing)]
    attributes = getattr(thing, "__dict__", None)
    if not isinstance(attributes, dict) or callable(thing):
        return []
    return [(f"{path}.{attribute}", each) for attribute, each in attributes.items()]


def told(name: str, before: Mapping[str, object], now: Mapping[str, object]) -> str:
    """What has changed of a fixture, by one example."""
    paths = [*before, *(path for path in now if path not in before)]
    path = next(path for path in paths if before.get(path, paths) != now.get(path, paths))
    was = repr(before[path]) if path in before else "not there"
    is_now = repr(now[path]) if path in now else "gone"
    return (
        f"executions change what the fixture {name} gives, and that is not put back "
        f"(`{path}` was {was}, and is {is_now}): make it in the body of the test, or anew for "
        f"each execution, by @mazurka.check(fresh=[{name!r}])"
    )


# Fixtures that are made anew


def fresh_fixtures(item: pytest.Item, names: Sequence[str]) -> Fixtures:
    """The fixtures of these names, and all that are made from them, what others need first; and
    what pytest has made."""
    definitions = definitions_of(item)
    for name in names:
        if name not in definitions:
            raise MazurkaError(f"fresh: {item.name} has no fixture {name!r}")
    wanted = set(names)
    order = sorted_by_needs(definitions)
    for name in order:
        if wanted.intersection(definitions[name][-1].argnames):
            wanted.add(name)
    found = [maker_of(item, name, definitions[name][-1]) for name in order if name in wanted]
    return found, dict(getattr(item, "funcargs", {}))


def sorted_by_needs(definitions: Mapping[str, Sequence[Any]]) -> list[str]:
    order: dict[str, None] = {}

    def visit(name: str) -> None:
        if name in definitions and name not in order:
            for need in definitions[name][-1].argnames:
                if need != name:
                    visit(need)
            order[name] = None

    for name in definitions:
        visit(name)
    return list(order)


def maker_of(item: pytest.Item, name: str, definition: Any) -> FreshFixture:
    if definition.scope != "function":
        raise MazurkaError(f"fresh: the fixture {name!r} is of scope {definition.scope}")
    if {"request", name} & set(definition.argnames):
        other = "request" if "request" in definition.argnames else "another fixture of its name"
        raise MazurkaError(f"fresh: the fixture {name!r} takes {other}, which pytest alone has")
    if inspect.iscoroutinefunction(definition.func) or inspect.isasyncgenfunction(definition.func):
        raise MazurkaError(f"fresh: the fixture {name!r} is asynchronous")
    function = definition.func
    instance = getattr(item, "instance", None)
    if instance is not None and isinstance(getattr(function, "__self__", None), type(instance)):
        function = MethodType(function.__func__, instance)  # pytest makes one for each test
    return FreshFixture(name, function, tuple(definition.argnames))

"""The code of the user's functions is swapped, all of it, and put back."""

import gc
import importlib
import linecache
import os
import queue
import subprocess
import sys
import textwrap
import weakref
from collections.abc import Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import pytest

import mazurka.api
from mazurka.python.rewriting.instrument import Instrumentation, instrumented
from mazurka.python.rewriting.whose_code import is_seen
from tests.python.rewriting.recording_hooks import PLAIN, recording


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.syspath_prepend(tmp_path)
    before = set(sys.modules)
    yield tmp_path
    for name in set(sys.modules) - before:
        del sys.modules[name]


def module(folder: Path, name: str, source: str) -> Any:
    (folder / f"{name}.py").write_text(textwrap.dedent(source))
    importlib.invalidate_caches()
    return importlib.import_module(name)


def calls_hooks(swapped: Instrumentation, function: Any) -> bool:
    code = id(function.__code__)
    return code in swapped.originals


SOURCE = """
    import functools

    class Box:
        def __init__(self, n): self.n = n
        @property
        def twice(self): return self.n * 2
        @staticmethod
        def static(box): return box.n
        @classmethod
        def made(cls, n): return cls(n)
        @functools.lru_cache
        def cached(self): return self.n

    def decorated(function):
        @functools.wraps(function)
        def wrapper(*arguments): return function(*arguments)
        return wrapper

    @decorated
    def read(box): return box.n

    first, second = lambda box: box.n, lambda box: box.n + 100
    adders = [(lambda n: lambda box: box.n + n)(n) for n in (1, 2)]
"""


def test_every_function_calls_hooks(folder: Path) -> None:
    m = module(folder, "every", SOURCE)
    calls: list[str] = []
    with instrumented(recording(calls)) as swapped:
        box = m.Box.made(3)
        assert "store_attribute n" in calls
        reads = [m.Box.twice.fget, m.Box.static, m.Box.cached, m.read, m.first, m.second, *m.adders]
        for read, expected in zip(reads, [6, 3, 3, 3, 3, 103, 4, 5], strict=True):
            calls.clear()
            assert read(box) == expected
            assert calls.count("load_attribute n") == 1, calls
        assert [entry for entry in swapped.skipped if "every.py" in entry[0]] == []
        assert calls_hooks(swapped, m.read.__wrapped__)
    calls.clear()
    assert m.read(box) == 3 and m.second(box) == 103 and calls == []
    assert not calls_hooks(swapped, m.read.__wrapped__)


def test_lambdas_in_one_line_without_columns(folder: Path) -> None:
    script = """
        import mazurka.api
        from mazurka.python.rewriting.instrument import instrumented
        from tests.python.rewriting.recording_hooks import PLAIN
        pair = lambda box: box.real, lambda box: box.imag
        with instrumented(PLAIN) as swapped:
            assert [f(2 + 3j) for f in pair] == [2, 3]
            assert all(id(f.__code__) in swapped.originals for f in pair), swapped.skipped
    """
    (folder / "script.py").write_text(textwrap.dedent(script))
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(["src", "."])}
    command = [sys.executable, "-X", "no_debug_ranges", str(folder / "script.py")]
    subprocess.run(command, cwd=Path(__file__).parents[3], env=environment, check=True)


WATCHED = """
    import mazurka
    from mazurka.python.session import Session

    attempts = []

    def noted(self, *arguments, attempt=Session.attempt):
        attempts.append(attempt(self, *arguments))
        return attempts[-1]

    Session.attempt = noted
    told = []
    mazurka.explore(lambda: mazurka.choose(range(3000)), progress=told.append)
    assert told and len(attempts) == 1, (told, attempts)
"""


def test_what_the_search_itself_imports_is_no_code_of_the_program() -> None:
    """In a new process, where nothing has been imported."""
    command = [sys.executable, "-c", textwrap.dedent(WATCHED)]
    subprocess.run(command, cwd=Path(__file__).parents[3], check=True)


def test_functions_made_meanwhile_are_put_back(folder: Path) -> None:
    m = module(folder, "meanwhile", "def make(box):\n  def get(): return box.n\n  return get\n")
    original = m.make.__code__
    calls: list[str] = []
    with instrumented(recording(calls)) as swapped:
        get = m.make(ValueError)
        assert calls_hooks(swapped, get)
    assert get.__code__ in original.co_consts
    assert m.make.__code__ is original


def test_code_is_put_back_after_an_error(folder: Path) -> None:
    m = module(folder, "failing", "def f(x): return x.y\n")
    original = m.f.__code__
    with pytest.raises(ZeroDivisionError), instrumented(PLAIN):
        assert m.f.__code__ is not original
        raise ZeroDivisionError
    assert m.f.__code__ is original


def test_modules_that_are_imported_later(folder: Path) -> None:
    reader = module(
        folder, "reader", "ceiling_of_reader = 1\ndef read(): return ceiling_of_reader\n"
    )
    calls: list[str] = []
    with instrumented(recording(calls)) as swapped:
        reader.read()
        assert calls == []
        writer = module(
            folder,
            "writer",
            "import reader\ndef write(n):\n  reader.ceiling_of_reader = n\n  return n.real\n",
        )
        calls.clear()
        writer.write(1)
        assert calls == []
        assert swapped.look() and not swapped.look()
        writer.write(2)
        assert calls == ["store_attribute ceiling_of_reader", "load_attribute real"]
        calls.clear()
        # Now that somebody stores to it, the global is shared.
        assert swapped.note_stored(vars(reader), "ceiling_of_reader")
        assert not swapped.note_stored(vars(reader), "ceiling_of_reader")
        swapped.rewrite_anew()
        assert reader.read() == 2
        assert calls == ["load_global ceiling_of_reader"]
    calls.clear()
    assert reader.read() == 2 and writer.write(3) == 3 and calls == []


def test_one_file_as_two_modules(folder: Path) -> None:
    source = "total = 0\ndef add(n):\n  global total\n  total += n\n  return total\n"
    one = module(folder, "one", source)
    other = ModuleType("other")
    exec(compile(source, one.__file__, "exec"), vars(other))
    with instrumented(PLAIN):
        assert (one.add(1), one.add(1), other.add(5)) == (1, 2, 5)
    assert (one.total, other.total) == (2, 5)


def reasons(skipped: list[tuple[str, str]], name: str) -> list[str]:
    return [reason for what, reason in skipped if name in what]


NESTED = "def f(x): return x" + " + x" * 400


def test_what_cannot_be_rewritten_is_told(folder: Path) -> None:
    changed = module(folder, "changed", "def f(x): return x.y\ndef g(x): return x\n")
    gone = module(folder, "gone", "def f(x): return x.y\n")
    nested = module(folder, "nested", NESTED)
    (folder / "changed.py").write_text("def f(x): return x.z\ndef g(x): return x\n")
    (folder / "gone.py").unlink()
    linecache.clearcache()
    with instrumented(PLAIN) as swapped:
        for function in (changed.f, changed.g, gone.f, nested.f):
            swapped.make_ready(function)
        assert reasons(swapped.skipped, "changed.py") == [
            "its source has changed since it was imported"
        ]
        assert reasons(swapped.skipped, "gone.py") == ["its source is not available"]
        assert reasons(swapped.skipped, "nested.py") == ["its source is nested too deeply"]
        assert not any(calls_hooks(swapped, each) for each in (changed.f, gone.f, nested.f))
        assert calls_hooks(swapped, changed.g)


def notebook_cell(number: int, source: str, shown: str) -> Any:
    name = f"<ipython-input-{number}-abc>"
    linecache.cache[name] = (len(shown), None, shown.splitlines(True), name)
    namespace: dict[str, Any] = {}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


def test_cells_of_a_notebook() -> None:
    source = "def f(x): return x.real\n"
    good = notebook_cell(1, source, source)
    bad = notebook_cell(2, source, source + "%magic\n")
    calls: list[str] = []
    with instrumented(recording(calls)) as swapped:
        assert good(3) == bad(3) == 3
    assert calls.count("load_attribute real") == 1
    assert "cannot be read" in reasons(swapped.skipped, "<ipython-input-2")[0]


def test_the_project_and_other_packages() -> None:
    import json

    assert is_seen(__file__)
    assert is_seen(json.__file__)
    assert is_seen(os.environ.__class__.__getitem__.__code__.co_filename)  # a frozen module
    assert not is_seen(queue.__file__)
    assert not is_seen(pytest.__file__)
    assert not is_seen(str(mazurka.api.__file__))
    assert not is_seen("<string>")
    get = queue.Queue.get
    assert isinstance(get, FunctionType)
    original = get.__code__
    with instrumented(PLAIN) as swapped:
        assert get.__code__ is original
    with instrumented(PLAIN, ["queue"]) as swapped:
        swapped.make_ready(get)
        things: queue.Queue[int] = queue.Queue()
        things.put(1)
        assert things.get() == 1
        assert calls_hooks(swapped, get)
    assert get.__code__ is original


def test_assertions_of_tests_keep_their_details() -> None:
    def compares(items: list[int]) -> None:
        assert items == [1, 3]

    calls: list[str] = []
    with instrumented(recording(calls)), pytest.raises(AssertionError) as caught:
        compares([1, 2])
    assert "compare" in calls
    assert "assert [1, 2] == [1, 3]" in str(caught.value)


def test_a_file_that_cannot_be_rewritten_keeps_nothing_of_the_checks(folder: Path) -> None:
    m = module(folder, "nested", NESTED)
    for _ in range(2):
        with instrumented(PLAIN) as swapped:
            swapped.make_ready(m.f)
            assert any("nested.py" in entry[0] for entry in swapped.skipped)
        left = weakref.ref(swapped)
        del swapped
        gc.collect()
        assert left() is None
    assert m.f(1) == 401

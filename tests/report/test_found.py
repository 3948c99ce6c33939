"""Bugs as packages have them: in small, and as docs/found.md tells them."""

import ast
import re
import textwrap
import threading
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from mazurka import explore
from mazurka.engine.result import Failure
from mazurka.report.text import LINE_WIDTH, failure_text, headlines
from tests.test_docs import tool

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "found.md").read_text()
SECTIONS = dict(re.findall(r"^## (\S+) .*\n((?:(?!## ).*\n)*)", PAGE, re.MULTILINE))


found = tool("found")


def told(program: Callable[[], object]) -> str:
    """What is said of the first failure: the sentence and the rows, without how it is laid out."""
    failure: Failure = explore(program).failures[0]
    return re.sub(r"\s+", " ", failure_text(failure, 200))


def together(*functions: Callable[[], object]) -> None:
    threads = [threading.Thread(target=function) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def test_steps_without_a_place_leave_no_gap() -> None:
    """The steps of a timer's thread are in the standard library."""

    def program() -> None:
        fired: list[int] = []
        timer = threading.Timer(1.0, fired.append, args=(1,))
        timer.start()
        timer.cancel()
        timer.join()
        assert not fired

    failure = explore(program).failures[0]
    assert failure.explanation is not None
    assert re.fullmatch(
        r"order violation: Thread-1 read `timer` before \S+ wrote it \(test_found.py:\d+\)",
        failure.explanation.sentence,
    )


# In small


class Cache:
    """Each method is atomic; two of them are not."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.kept = {"key": 1}

    def get(self) -> int | None:
        with self.lock:
            return self.kept.get("key")

    def delete(self) -> None:
        with self.lock:
            del self.kept["key"]

    def pop(self) -> None:
        if self.get() is not None:
            self.delete()


def test_what_was_looked_up_under_a_lock() -> None:
    def program() -> None:
        cache = Cache()
        together(cache.pop, cache.pop)

    text = told(program)
    assert text.startswith("check-then-act: Thread-1 (pop) looked at `cache.kept['key']`")
    assert "but Thread-2 (pop) had deleted it in between" in text


class Pool:
    """Makes one connection, after much that has nothing to do with it."""

    def __init__(self) -> None:
        self.steps = [0]
        self.connection: object = None

    def connect(self) -> None:
        if self.connection is None:
            if self.steps[0] == 0:
                for _ in range(30):
                    self.steps[0] += 1
            made.append(1)
            self.connection = object()


made: list[int] = []


def test_a_thread_that_has_to_do_what_another_one_did() -> None:
    def program() -> None:
        made.clear()
        pool = Pool()
        together(pool.connect, pool.connect)
        assert len(made) == 1

    text = told(program)
    assert text.startswith("check-then-act: Thread-1 (connect) looked at `pool.connection`")
    assert "Thread-2 (connect) had written it in between" in text


def test_two_parts_that_are_read_one_after_the_other() -> None:
    def program() -> None:
        figures = {"hits": 1, "misses": 0}

        def read() -> int:
            return figures["hits"] + figures["misses"]

        def reset() -> None:
            figures.clear()

        together(read, reset)

    text = told(program)
    assert "read `figures['hits']`" in text and "and `figures['misses']`" in text
    assert "had changed `figures` in between" in text


def test_a_deadlock_says_which_order_has_led_to_it() -> None:
    def program() -> None:
        stopped = threading.Event()
        inbox: list[threading.Event] = []

        def ask() -> None:
            if not stopped.is_set():
                reply = threading.Event()
                inbox.append(reply)
                reply.wait()

        def stop() -> None:
            stopped.set()
            for reply in list(inbox):
                reply.set()

        together(ask, stop)

    text = told(program)
    assert text.startswith("deadlock: Thread-1 (ask) waits for `reply`")
    assert re.search(r"and nobody ends that: Thread-\d \(\w+\) .* before Thread-\d \(\w+\)", text)


def test_what_is_in_a_container_is_numbered_and_the_container_is_not() -> None:
    class Signal:
        def __init__(self) -> None:
            self.name = "saved"

    def program() -> None:
        signals: dict[str, Signal] = {}
        given = []

        def get() -> None:
            if "saved" not in signals:
                signals["saved"] = Signal()
            signals["saved"].name = "x"
            given.append(signals["saved"])

        together(get, get)
        assert given[0] is given[1]

    assert told(program).count("`signals['saved']`") == 1


def test_the_variable_of_an_object_is_its_name() -> None:
    class Box:
        def __init__(self) -> None:
            self.count = 0

        def add(self) -> None:
            self.count += 1

    def one() -> None:
        tea = Box()
        together(tea.add, tea.add)
        assert tea.count == 2

    def two() -> None:
        tea, cake = Box(), Box()
        together(tea.add, cake.add, cake.add)
        assert tea.count + cake.count == 3

    assert "`tea.count`" in told(one)
    assert "`cake.count`" in told(two)


# As docs/found.md tells them


@pytest.mark.parametrize("bug", found.FOUND, ids=lambda bug: bug.package)
def test_the_page_has_each_of_them(bug: Any) -> None:
    section = SECTIONS[bug.package]
    file = ROOT / "examples" / "libraries" / f"{bug.module}.py"
    source = file.read_text()
    program = next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.FunctionDef) and node.name == bug.program
    )
    assert bug.promise in section
    assert (ast.get_source_segment(source, program) or "") in section
    account = section.partition("```text\n")[2]
    assert re.match(r"[a-z][\w -]*: Thread-\d", account), "no sentence"
    assert "not all" not in account


@pytest.mark.libraries
@pytest.mark.parametrize("bug", found.FOUND, ids=lambda bug: bug.package)
def test_the_page_says_what_is_found(bug: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    try:
        heading = f"## {bug.package} {version(bug.package)}\n"
    except PackageNotFoundError:
        pytest.skip(f"{bug.package} is not installed")
    if heading not in PAGE:
        pytest.skip("another version is installed: docs/tools/found.py makes the page anew")
    monkeypatch.chdir(ROOT)
    failure = found.result_of(bug).failures[0]
    sentence = "\n".join(headlines(failure, LINE_WIDTH)).partition("\n\n")[0]
    assert textwrap.dedent(sentence) in SECTIONS[bug.package]

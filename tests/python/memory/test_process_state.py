"""Settings of the whole process, which any thread may look at and change by functions of C, and
what C code of installed packages keeps to itself."""

import csv
import ctypes
import gc
import locale
import logging
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import threading
import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mazurka import explore
from mazurka.python.library.whole_process import WholeProcess
from tests.python.threads import both

SETTINGS: list[tuple[Callable[[], object], Callable[[], object]]] = [
    (sys.getrecursionlimit, lambda: sys.setrecursionlimit(1234)),
    (sys.getswitchinterval, lambda: sys.setswitchinterval(0.5)),
    (sys.get_int_max_str_digits, lambda: sys.set_int_max_str_digits(700)),
    (os.getcwd, lambda: os.chdir(os.sep)),
    (lambda: os.path.abspath("x"), lambda: os.chdir(os.sep)),
    (lambda: os.umask(0o1), lambda: os.umask(0o2)),
    (gc.isenabled, gc.disable),
    (gc.get_threshold, lambda: gc.set_threshold(5, 5, 5)),
    (socket.getdefaulttimeout, lambda: socket.setdefaulttimeout(5)),
    (lambda: threading.stack_size(1 << 17), lambda: threading.stack_size(1 << 16)),
    (csv.list_dialects, lambda: csv.register_dialect("tests")),
    (random.random, lambda: random.seed(3)),
    (random.random, lambda: random.setstate(random.Random(3).getstate())),
    (lambda: logging.getLevelName(7), lambda: logging.addLevelName(7, "seven")),
    (lambda: logging.getLogger("a.b").isEnabledFor(20), lambda: logging.getLogger("a").setLevel(1)),
    (lambda: logging.getLogger("a").isEnabledFor(40), lambda: logging.disable(50)),
    (
        lambda: logging.getLogger("a").isEnabledFor(40),
        lambda: setattr(logging.root.manager, "disable", 50),
    ),
    (lambda: logging.root.manager.disable, lambda: logging.disable(50)),
    (
        lambda: logging.getLogger("a").isEnabledFor(40),
        lambda: setattr(logging.getLogger("a"), "disabled", True),
    ),
    (
        lambda: logging.getLogger("a.b").hasHandlers(),
        lambda: setattr(logging.getLogger("a.b"), "propagate", False),
    ),
    (lambda: logging.getLogger("a").level, lambda: logging.getLogger("a").setLevel(1)),
    (tracemalloc.is_tracing, tracemalloc.start),
]


@pytest.mark.parametrize(("look", "change"), SETTINGS)
def test_a_thread_looks_at_a_setting_that_another_one_changes(
    look: Callable[[], object], change: Callable[[], object]
) -> None:
    process = WholeProcess()

    def program() -> str:
        found: list[object] = []
        both(lambda: found.append(look()), change)
        return repr(found)

    result = explore(program)
    assert (result.verdict, len(result.outcomes)) == ("verified", 2)
    assert set(explore(program, algorithm="naive").outcomes) == set(result.outcomes)
    assert process.is_as_it_was()


def test_signal_handlers() -> None:
    def program() -> bool:
        found: list[object] = []
        thread = threading.Thread(target=lambda: found.append(signal.getsignal(signal.SIGINT)))
        thread.start()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        thread.join()
        return found[0] == signal.SIG_IGN

    assert set(explore(program).outcomes) == {False, True}


class Records(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.found.append(record)


def test_the_log_goes_by_its_settings() -> None:
    def program() -> int:
        log = logging.getLogger("tests.settings")
        records = Records()
        log.addHandler(records)
        both(lambda: log.warning("seen"), lambda: log.setLevel(logging.ERROR))
        return len(records.found)

    assert set(explore(program).outcomes) == {0, 1}


TOLD: list[Callable[[], object]] = [
    lambda: locale.setlocale(locale.LC_ALL, "C"),
    time.tzset,
    lambda: csv.field_size_limit(5),
    lambda: warnings.simplefilter("error"),
]


@pytest.mark.parametrize("change", TOLD)
def test_a_change_whose_readers_are_not_seen_is_told(change: Callable[[], object]) -> None:
    assert explore(lambda: both(change, lambda: None)).verdict == "incomplete"
    assert explore(change).verdict == "verified"
    asking = explore(lambda: both(lambda: locale.setlocale(locale.LC_ALL), csv.field_size_limit))
    assert asking.verdict == "verified"


def test_threads_draw_from_one_stream_that_is_seeded() -> None:
    def program() -> float:
        random.seed(5)
        drawn: list[float] = []
        both(lambda: drawn.append(random.random()), random.random)
        return drawn[0]

    dice = random.Random(5)
    result = explore(program)
    assert result.verdict == "verified"
    assert set(result.outcomes) == {dice.random(), dice.random()}


# What C code keeps to itself


def test_functions_of_ctypes() -> None:
    library = ctypes.CDLL(None)

    def program() -> object:
        library.srand(1)
        drawn: list[int] = []
        both(lambda: drawn.append(library.rand()), lambda: library.rand())
        return drawn[0]

    result = explore(program)
    assert (result.verdict, len(result.outcomes)) == ("incomplete", 2)
    assert explore(program, opaque=["ctypes"]).verdict == "verified"


COUNTER_OF_C = """
#include <Python.h>
static long hits;
static PyObject *get(PyObject *m, PyObject *a) { return PyLong_FromLong(hits); }
static PyObject *set(PyObject *m, PyObject *a) { hits = PyLong_AsLong(a); Py_RETURN_NONE; }
static PyMethodDef methods[] = {{"get", get, METH_NOARGS, 0}, {"set", set, METH_O, 0}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_counter", 0, -1, methods};
PyMODINIT_FUNC PyInit__counter(void) { return PyModule_Create(&module); }
"""
COUNTER = """
hits = 0

def get():
    return hits

def set(value):
    global hits
    hits = value
"""
TEST = """
import threading
import mazurka

def hit():
    counter.set(counter.get() + 1)

@mazurka.check
def test_two_hits():
    counter.set(0)
    threads = [threading.Thread(target=hit) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The folder of an installed package."""
    folder = tmp_path / "lib" / "site-packages" / "installed"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    monkeypatch.syspath_prepend(folder.parent)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_plain_pytest_sees_an_installed_package(package: Path, pytester: pytest.Pytester) -> None:
    """The race of one in Python is found; that one in C was not seen is told."""
    (package / "counter.py").write_text(COUNTER)
    source = package / "counter.c"
    source.write_text(COUNTER_OF_C)
    target = package / f"_counter{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = sysconfig.get_path("include")
    subprocess.run(["gcc", "-shared", "-fPIC", f"-I{include}", source, "-o", target], check=True)
    pytester.makepyfile(
        test_python=f"from installed import counter\n{TEST}    assert counter.get() == 2\n",
        test_with_c=f"from installed import _counter as counter\n{TEST}",
    )
    result = pytester.runpytest_inprocess("-p", "no:cacheprovider")
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(
        ["*counter.get() == 2*", "*INCOMPLETE*", "*_counter.set does to the process*"]
    )

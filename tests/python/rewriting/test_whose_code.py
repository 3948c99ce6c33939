"""All Python code is seen, wherever it is installed; what cannot be seen is told."""

import gc
import importlib
import linecache
import pickle
import sys
import textwrap
import threading
import weakref
from collections import UserDict, UserList, namedtuple
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import PriorityQueue
from typing import Any

import pytest
from click.testing import CliRunner

from mazurka import Result, explore
from mazurka.cli.main import main
from mazurka.report.text import result_text
from tests.python.threads import both


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder for installed packages."""
    folder = tmp_path / "lib" / "site-packages"
    folder.mkdir(parents=True)
    monkeypatch.syspath_prepend(folder)
    before = set(sys.modules)
    yield folder
    for name in set(sys.modules) - before:
        del sys.modules[name]


def install(site: Path, name: str, source: str) -> Any:
    (site / f"{name}.py").write_text(source)
    importlib.invalidate_caches()
    return importlib.import_module(name)


COUNTER = "hits = 0\ndef hit():\n    global hits\n    hits += 1\n"


def test_installed_packages_are_seen(site: Path) -> None:
    counter = install(site, "installed_counter", COUNTER)

    def program() -> object:
        both(counter.hit, counter.hit)
        return counter.hits

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {1, 2})
    assert counter.hits == 0


def test_a_package_that_is_declared_harmless(site: Path) -> None:
    counter = install(site, "harmless_counter", COUNTER)

    def program() -> None:
        both(counter.hit, counter.hit)

    result = explore(program, opaque=["harmless_counter"])
    assert (result.verdict, result.executions) == ("verified", 1)
    assert result.opaque == ["harmless_counter"]
    assert "not looked at: harmless_counter" in result_text("program", result)


def test_objects_of_the_standard_library_that_it_calls_itself() -> None:
    """A thread calls its target, and an executor a class: neither is code of the program."""

    class Kept:
        pass

    def finalized() -> tuple[bool, int]:
        kept, calls, alive = Kept(), list[int](), list[bool]()
        finalizer = weakref.finalize(kept, calls.append, 1)
        threads = [
            threading.Thread(target=finalizer),
            threading.Thread(target=lambda: alive.append(finalizer.detach() is not None)),
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return alive[0], len(calls)

    def copied() -> int:
        table: UserDict[str, int] = UserDict(a=0)
        with ThreadPoolExecutor(1) as pool:
            copy: Future[UserDict[str, int]] = pool.submit(partial(UserDict, table))
            table["a"] = 1
            return copy.result()["a"]

    def ordered() -> bool:
        items, line = UserList([1]), PriorityQueue[UserList[int]]()
        line.put(UserList([2]))
        both(lambda: line.put(items), lambda: items.__setitem__(0, 3))
        return line.get() is items

    told = explore(ordered).warnings
    assert any("the comparison of keys does to UserList.data" in warning for warning in told)
    assert set(explore(finalized).outcomes) == {(True, 0), (False, 1)}
    assert set(explore(copied).outcomes) == {0, 1}


class Box:
    def __init__(self) -> None:
        self.value = 0


def shared_with_c(**options: Any) -> Result:
    def program() -> int:
        box = Box()
        kept: list[bytes] = []
        both(lambda: setattr(box, "value", 1), lambda: kept.append(pickle.dumps(box)))
        return len(kept)

    return explore(program, **options)


def test_what_c_code_does_to_a_shared_object() -> None:
    result = shared_with_c()
    assert (result.verdict, result.reason) == ("incomplete", "not everything was seen")
    assert any("dumps does to box" in warning for warning in result.warnings)
    assert shared_with_c(opaque=["_pickle"]).verdict == "verified"


def test_exit_codes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = """
        import pickle, threading

        class Box:
            value = 0

        def program():
            box = Box()
            thread = threading.Thread(target=setattr, args=(box, "value", 1))
            thread.start()
            pickle.dumps(box)
            thread.join()
    """
    monkeypatch.chdir(tmp_path)
    Path("unseen.py").write_text("\n".join(line[8:] for line in source.splitlines()))
    told = CliRunner().invoke(main, ["check", "unseen.py::program"])
    assert told.exit_code == 3
    assert "--opaque PACKAGE" in told.stdout
    command = ["check", "unseen.py::program", "--opaque", "_pickle"]
    assert CliRunner().invoke(main, command).exit_code == 0


def test_attributes_whose_names_do_not_show() -> None:
    def program() -> object:
        box = Box()

        def add() -> None:
            name = "".join(["secr", "et"])
            vars(box)[name] = getattr(box, name, 0) + 1

        both(add, add)
        return getattr(box, "".join(["secr", "et"]))

    assert set(explore(program).outcomes) == {1, 2}


# fmt: off
counted: Any = lambda box: setattr(box, "value", box.value + 1); twice: Any = lambda box: counted(box)  # noqa: E501, E702, E731
# fmt: on


def test_lambdas_of_a_module() -> None:
    def program() -> int:
        box = Box()
        both(lambda: counted(box), lambda: twice(box))
        return box.value

    result = explore(program)
    assert (result.verdict, set(result.outcomes)) == ("verified", {1, 2})


def increments() -> tuple[Box, Callable[[], None]]:
    box = Box()

    def increment() -> None:
        box.value += 1

    return box, increment


@pytest.mark.parametrize("generation", [None, 0, 1, 2])
def test_functions_that_came_between_two_checks(generation: int | None) -> None:
    explore(lambda: None)
    box, increment = increments()
    if generation is not None:
        gc.collect(generation)

    def program() -> int:
        both(increment, increment)
        return box.value

    assert set(explore(program).outcomes) == {1, 2}
    assert box.value == 0


def test_a_function_that_got_other_code() -> None:
    def program() -> int:
        box = Box()
        both(lambda: one(box), lambda: one(box))
        return box.value

    def one(box: Box) -> None:
        pass

    def other(box: Box) -> None:
        box.value += 1

    assert set(explore(program).outcomes) == {0}
    one.__code__ = other.__code__
    assert set(explore(program).outcomes) == {1, 2}


def test_classes_of_modules_that_are_not_called(site: Path) -> None:
    settings = install(site, "settings_alone", "class Settings:\n    level = 0\n")

    def program() -> int:
        def raise_level() -> None:
            settings.Settings.level += 1

        both(raise_level, raise_level)
        return int(settings.Settings.level)

    assert set(explore(program).outcomes) == {1, 2}
    assert settings.Settings.level == 0


def test_globals_of_modules_that_are_not_called(site: Path) -> None:
    settings = install(site, "settings_too", "level = 0\ndef unused(): return level\n")

    def program() -> int:
        def raise_level() -> None:
            settings.level += 1

        both(raise_level, raise_level)
        return int(settings.level)

    assert set(explore(program).outcomes) == {1, 2}
    assert settings.level == 0


def test_a_program_of_one_thread_is_told() -> None:
    result = explore(lambda: None)
    assert (result.verdict, result.threads) == ("verified", 1)
    assert "only one thread ever ran" in result_text("program", result)
    result = explore(lambda: both(lambda: None, lambda: None))
    assert result.threads == 3
    assert "only one thread" not in result_text("program", result)


def test_functions_without_source_are_told() -> None:
    namespace: dict[str, Any] = {"hits": 0}
    exec("def hit():\n    global hits\n    hits += 1\n", namespace)

    def program() -> None:
        both(lambda: namespace["hit"](), lambda: namespace["hit"]())

    result = explore(program)
    assert result.verdict == "incomplete"
    assert result.warnings == [
        "what hit (<string>:1) does is not seen: its source is not available"
    ]


def test_cells_of_notebooks_are_seen_as_files_are(monkeypatch: pytest.MonkeyPatch) -> None:
    """Their methods, too: a loop that asks one is an await."""
    name = "<a cell>"
    source = textwrap.dedent("""
        from mazurka import spawn
        class Flag:
            up = False
            def is_up(self):
                return self.up
        def program():
            flag = Flag()
            def wait():
                while not flag.is_up():
                    pass
            waiting = spawn(wait)
            flag.up = True
            waiting.join()
        """)
    monkeypatch.setitem(linecache.cache, name, (len(source), None, source.splitlines(True), name))
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), namespace)
    result = explore(namespace["program"])
    assert result.verdict == "verified"


def run_text(box: Box) -> None:
    exec("box.value += 1", {"box": box})


def give_a_dict(box: Box) -> None:
    box.__dict__ = {"value": box.value + 1}


def give_a_class(box: Box) -> None:
    class Other(Box):
        pass

    box.__class__ = Other


def test_objects_with_one_dict_are_told() -> None:
    attributes = {"value": 0}

    def add() -> None:
        box = Box()
        box.__dict__ = attributes
        box.value += 1

    result = explore(lambda: both(add, add))
    assert result.verdict == "incomplete"
    assert "the assignment of __dict__ does to Box" in result.warnings[0]


@pytest.mark.parametrize("change", [run_text, give_a_dict, give_a_class])
def test_changes_that_are_no_steps_are_told(change: Callable[[Box], None]) -> None:
    def program() -> None:
        box = Box()
        both(lambda: change(box), lambda: change(box))

    assert explore(program).verdict == "incomplete"


@dataclass
class Base:
    x: int


@dataclass
class Derived(Base):
    y: int

    def __init__(self, x: int, y: int) -> None:
        super().__init__(x)
        self.y = y


def test_generated_methods_are_harmless() -> None:
    def program() -> None:
        both(lambda: Derived(1, 2), lambda: Derived(3, 4))

    assert explore(program).verdict == "verified"


def test_first_uses_of_a_module_that_is_imported_late(site: Path) -> None:
    """What its functions do in the execution that imports it is put back, too."""
    lines = ["state = None", "def get():", "    global state", "    if state is None:"]
    lines += ["        state = object()", "    return state"]
    (site / "imported_late.py").write_text("\n".join(lines))
    importlib.invalidate_caches()

    def program() -> bool:
        found: list[object] = []

        def use() -> None:
            late = importlib.import_module("imported_late")
            found.append(late.get())

        both(use, use)
        return found[0] is found[1]

    assert set(explore(program).outcomes) == {True, False}


UNSEEN = """
class Counted:
    def __init__(self):
        self.value = 0
    @property
    def next(self):
        self.value += 1
        return self.value
    def __iadd__(self, other):
        self.value += other
        return self
"""


def add_by_operator(counted: Any) -> None:
    counted += 1


@pytest.mark.parametrize("use", [lambda counted: counted.next, add_by_operator])
def test_methods_without_source_that_python_calls(use: Callable[[Any], object]) -> None:
    namespace: dict[str, Any] = {"__name__": "unseen"}
    exec(UNSEEN, namespace)

    def program() -> None:
        counted = namespace["Counted"]()
        both(lambda: use(counted), lambda: use(counted))

    assert explore(program).verdict == "incomplete"
    assert explore(program, opaque=["unseen"]).verdict == "verified"


def test_a_module_with_the_name_of_a_standard_one(site: Path) -> None:
    hidden = "_space = {'__name__': __name__}\nexec('def hit(box): box.value += 1', _space)\n"
    (site / "cProfile.py").write_text(hidden + "hit = _space['hit']\n")
    standard = sys.modules.pop("cProfile", None)
    try:
        hit = importlib.import_module("cProfile").hit

        def program() -> None:
            box = Box()
            both(lambda: hit(box), lambda: hit(box))

        assert explore(program).verdict == "incomplete"
    finally:
        sys.modules.pop("cProfile", None)
        if standard is not None:
            sys.modules["cProfile"] = standard


Pair = namedtuple("Pair", ["left", "right"])


def test_named_tuples_are_seen() -> None:
    def program() -> object:
        made: list[Pair] = []
        both(lambda: made.append(Pair(1, 2)), lambda: made.append(Pair(1, 2)._replace(left=3)))
        return len(made)

    assert explore(program).verdict == "verified"

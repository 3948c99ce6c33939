"""The command line: what it prints, where, and the exit codes."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import mazurka
from mazurka.cli.main import main

EXAMPLES = Path(__file__).parents[2] / "examples"
SOURCES = Path(mazurka.__file__).parent.parent

RACE = """
    from mazurka import Atomic, spawn

    def increment(counter):
        counter.store(counter.load() + 1)

    def race():
        counter = Atomic(0)
        threads = [spawn(increment, counter), spawn(increment, counter)]
        for thread in threads:
            thread.join()
        assert counter.load() == 2, "lost"

    def fine():
        return Atomic(7).load()
"""
MANY = """
    from mazurka import choose

    def many():
        return choose(range(30))

    def some_fail():
        value = choose([3, 1, 2, 3])
        assert value < 3, "too big"
        assert value < 2, "big"
"""

Write = Callable[[str, str], str]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Write]:
    """Writes files into the directory that the test runs in."""

    def write_file(name: str, text: str) -> str:
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text), encoding="utf-8")
        return name

    monkeypatch.chdir(tmp_path)
    modules = set(sys.modules)
    yield write_file
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def refused(*arguments: str) -> str:
    """The message of a command that must be refused."""
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert "mazurka/cli" not in result.stderr
    return result.stderr


def test_a_file_imports_what_lies_beside_it_and_in_the_current_directory(write: Write) -> None:
    write("shop/__init__.py", "")
    write("shop/till.py", "PRICE = 3")
    write("tests/helpers.py", "TAX = 4")
    write("tests/test_till.py", """
        import mazurka
        from helpers import TAX
        from shop.till import PRICE

        @mazurka.check
        def test_price():
            assert PRICE + TAX == 7
    """)  # fmt: skip
    before = list(sys.path)
    assert run("check", "tests/test_till.py::test_price").exit_code == 0
    assert run("check", "tests").exit_code == 0
    assert sys.path == before


def start(*arguments: str) -> subprocess.Popen[str]:
    """The command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "mazurka", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(SOURCES)},
    )


# Verdicts


def test_verified(write: Write) -> None:
    write("race.py", RACE)
    result = run("check", "race.py::fine")
    assert result.exit_code == 0
    assert result.stdout.startswith("race.py::fine: verified: no execution fails")
    assert "only one thread ever ran; 1 execution in" in result.stdout
    assert result.stderr == ""


def test_failed(write: Write) -> None:
    write("race.py", RACE)
    result = run("check", "race.py::race")
    assert result.exit_code == 1
    assert result.stdout.startswith("race.py::race: FAILED")
    assert "AssertionError: lost\n  in thread race\n  raised at race.py:12: assert" in result.stdout
    assert "lost update: increment-1 read `counter` (race.py:5)" in result.stdout
    assert "To run it again: mazurka replay .mazurka/failures/race-" in result.stdout


def test_incomplete(write: Write) -> None:
    write("many.py", MANY)
    result = run("check", "many.py::many", "--max-executions", "10")
    assert result.exit_code == 3
    assert "INCOMPLETE" in result.stdout
    assert "max_executions=10" in result.stdout
    assert "10 executions" in result.stdout


def test_time_limit(write: Write) -> None:
    write("many.py", MANY)
    result = run("check", "many.py::many", "--time-limit", "0.000001")
    assert result.exit_code == 3
    assert "time_limit" in result.stdout


def test_max_events(write: Write) -> None:
    write(
        "endless.py", "from mazurka import Atomic\ndef f():\n  x = Atomic(0)\n  while 1: x.add(1)"
    )
    result = run("check", "endless.py::f", "--max-events", "100")
    assert result.exit_code == 1
    assert "max_events=100" in result.stdout
    assert "... 90 steps ..." in result.stdout


COUNTING = """
from mazurka import Atomic, spawn
def count():
    x = Atomic(0)
    while x.fetch_add(1) < 5:
        pass
def wait():
    x, y = Atomic(0), Atomic(0)
    spawn(x.store, 1)
    while True:
        while x.load() == 0:
            pass
        if y.load() == 0:
            break
"""


def test_unroll(write: Write) -> None:
    write("loops.py", COUNTING)
    result = run("check", "loops.py::count", "--unroll", "3")
    assert result.exit_code == 0
    assert "bounded: no execution within the bound fails (unroll=3); 1 execution" in result.stdout
    document = json.loads(run("check", "loops.py::count", "--unroll", "3", "--json").stdout)
    assert (document["verdict"], document["bound"]) == ("bounded", "unroll=3")
    assert "verified" in run("check", "loops.py::count", "--unroll", "6").stdout
    assert run("check", "loops.py::count", "--unroll", "0").exit_code == 2


def test_switches_for_loops(write: Write) -> None:
    write("loops.py", COUNTING)
    assert "; 1 execution in" in run("check", "loops.py::wait").stdout
    for switch in ("--no-awaits", "--no-loop-purity"):
        result = run("check", "loops.py::wait", switch)
        assert "2 executions (1 complete, 1 blocked)" in result.stdout


def test_step_limit(write: Write) -> None:
    write("hangs.py", "def f():\n  n = 0\n  while True: n -= 1")
    result = run("check", "hangs.py::f", "--step-limit", "0.1")
    assert result.exit_code == 1
    assert "stuck" in result.stdout
    assert "hangs.py:3: while True: n -= 1" in result.stdout


def test_all_failures(write: Write) -> None:
    write("many.py", MANY)
    result = run("check", "many.py::some_fail", "--all-failures")
    assert result.exit_code == 1
    assert "4 executions, 3 of which fail" in result.stdout
    assert result.stdout.count("AssertionError: too big\n") == 2  # as the headline, and at the end
    assert result.stdout.count("AssertionError: big\n") == 2
    assert "(2 executions fail like this; the first is shown.)" in result.stdout


def test_outcomes_can_be_run_again(write: Write) -> None:
    write(
        "outcomes.py",
        """
        from mazurka import Atomic, spawn
        def f():
            x = Atomic(0, "x")
            thread = spawn(x.store, 1)
            found = x.load()
            thread.join()
            return found
        """,
    )
    result = run("check", "outcomes.py::f", "--save-outcomes", "kept")
    assert "  1  1 x  0   f 2, store 1" in result.stdout
    assert "  2  1 x  1   f 1, store 1" in result.stdout
    assert "Executions for 2 of 2 outcomes are in kept" in result.stdout
    for number, outcome in ((1, 0), (2, 1)):
        again = run("replay", f"kept/{number}.json")
        assert again.exit_code == 0
        assert f"outcome: {outcome}" in again.stdout
    document = json.loads(run("check", "outcomes.py::f", "--outcomes", "--json").stdout)
    assert [each["schedule"]["message"] for each in document["outcomes"]] == ["0", "1"]

    file = Path("outcomes.py")
    file.write_text(file.read_text().replace("return found", "return 7"))
    other = run("replay", "kept/1.json")
    assert other.exit_code == 1
    assert "It ends in another way than recorded, which was: 0" in other.stdout
    file.write_text(file.read_text().replace("return 7", "assert found, 'none'"))
    failing = run("replay", "kept/1.json")
    assert failing.exit_code == 1
    assert "AssertionError: none" in failing.stdout

    write("failing.py", "def f(): assert False")
    nothing = run("check", "failing.py::f", "--save-outcomes", "nothing")
    assert "No outcomes: nothing was written to nothing." in nothing.stdout


def test_outcomes(write: Write) -> None:
    write("outcomes.py", "from mazurka import choose\ndef f(): return choose([10, 9, 9, 8])")
    result = run("check", "outcomes.py::f", "--outcomes")
    assert result.stdout.endswith("  1  1 x  8    f 1\n  2  2 x  9    f 1\n  3  1 x  10   f 1\n")
    write("race.py", RACE)
    assert "Outcomes" not in run("check", "race.py::fine").stdout


@pytest.mark.parametrize("algorithm", ["pop", "optimal", "qpor", "source", "naive"])
def test_algorithms(write: Write, algorithm: str) -> None:
    write("race.py", RACE)
    result = run("check", "race.py::race", "--algorithm", algorithm)
    assert result.exit_code == 1
    assert f"({algorithm})" in result.stdout


def test_dependent_adds(write: Write) -> None:
    write(
        "adds.py",
        """
        from mazurka import Atomic, spawn

        def f():
            x = Atomic(0)

            def add(amount):
                x.add(amount)

            spawn(add, 1)
            spawn(add, 2)
        """,
    )
    assert "verified: no execution fails; 1 execution " in run("check", "adds.py::f").stdout
    result = run("check", "adds.py::f", "--no-independent-adds")
    assert "verified: no execution fails; 2 executions " in result.stdout


@pytest.mark.parametrize("k", ["1", "2", "optimal"])
def test_k(write: Write, k: str) -> None:
    write("race.py", RACE)
    result = run("check", "race.py::race", "--algorithm", "qpor", "--k", k)
    assert result.exit_code == 1
    assert "(qpor)" in result.stdout


def test_the_events_of_an_unfolding_are_counted(write: Write) -> None:
    write("race.py", RACE)
    result = run("check", "race.py::race", "--algorithm", "qpor", "--json", "--all-failures")
    document = json.loads(result.stdout)
    assert document["unfolding"] > document["known"] > 5
    assert document["memory_mb"] > 1
    result = run("check", "race.py::race", "--algorithm", "qpor", "--all-failures")
    events = f"with {document['unfolding']} events (at most {document['known']} at a time)"
    assert events in result.stdout
    assert re.search(r"in \d+\.\d\d s(, of these .* it)?, \d+ MB \(qpor\)", result.stdout)


# JSON


def test_json(write: Write) -> None:
    write("race.py", RACE)
    result = run("check", "race.py::race", "--json", "--all-failures")
    assert result.exit_code == 1
    document = json.loads(result.stdout)
    assert document["verdict"] == "failed"
    assert document["algorithm"] == "pop"
    assert document["executions"] == document["complete"]
    assert document["blocked"] == document["redundant"] == 0
    assert document["seconds"] > 0
    assert document["outcomes"] == [{"outcome": "None", "count": 2}]
    failure = document["failures"][0]
    assert failure["kind"] == "exception"
    assert failure["message"] == "AssertionError: lost"
    assert failure["thread"] == "race"
    assert "race.py:12" in failure["details"][-1]
    assert failure["steps"][0]["thread"] == "race"
    assert failure["steps"][0]["action"] == "spawn increment-1"
    assert failure["steps"][0]["line"] == 9
    assert failure["schedule"]["program"] == "race.py::race"


def test_json_of_an_incomplete_search(write: Write) -> None:
    write("many.py", MANY)
    result = run("check", "many.py::many", "--json", "--max-executions", "2")
    assert result.exit_code == 3
    document = json.loads(result.stdout)
    assert document["verdict"] == "incomplete"
    assert "max_executions=2" in document["reason"]
    assert document["outcomes"] == [{"outcome": "0", "count": 1}, {"outcome": "1", "count": 1}]


def test_json_is_all_there_is_on_stdout(write: Write) -> None:
    write("chatty.py", "print('at import')\ndef f(): print('in the program')")
    result = run("check", "chatty.py::f", "--json", "--save", "failure.json")
    assert json.loads(result.stdout)["verdict"] == "verified"
    assert "at import" in result.stderr
    assert "in the program" in result.stderr
    assert "nothing was written" in result.stderr


# Targets


def test_module(write: Write) -> None:
    write("package_of_programs/__init__.py", "")
    write("package_of_programs/values.py", "VALUE = 7")
    write("package_of_programs/program.py", "from .values import VALUE\ndef f(): return VALUE")
    result = run("check", "package_of_programs.program:f", "--outcomes")
    assert result.exit_code == 0, result.output
    assert "1 x  7" in result.stdout


def test_file_imports_its_neighbours(write: Write) -> None:
    write("folder/neighbour.py", "def answer(): return 42")
    write("folder/program.py", "def f():\n    from neighbour import answer\n    return answer()")
    path = list(sys.path)
    assert "1 x  42" in run("check", "folder/program.py::f", "--outcomes").stdout
    assert sys.path == path


def test_file_named_like_a_module_in_use(write: Write) -> None:
    write("json.py", "import dataclasses\n@dataclasses.dataclass\nclass A: x: int\ndef f(): A(1)")
    result = run("check", "json.py::f", "--json")
    assert result.exit_code == 0, result.output
    assert sys.modules["json"] is json


def test_a_changed_file_is_read_again(write: Write) -> None:
    for value in "12":
        write("same_size.py", f"def f(): return {value}")
        assert f"1 x  {value}" in run("check", "same_size.py::f", "--outcomes").stdout


def test_decorated_with_check(write: Write) -> None:
    write(
        "decorated.py",
        """
        import functools
        import mazurka

        def doubled(function):
            @functools.wraps(function)
            def wrapper():
                return 2 * function()
            return wrapper

        @mazurka.check
        def bare(): return mazurka.choose([1, 2])

        @mazurka.check(max_executions=1)
        def with_options(): return mazurka.choose([1, 2])

        @mazurka.check
        @doubled
        def over_another(): return 4

        @doubled
        def another(): return 5
        """,
    )
    assert "2 executions" in run("check", "decorated.py::bare").stdout
    assert "INCOMPLETE" in run("check", "decorated.py::with_options").stdout
    overridden = run("check", "decorated.py::with_options", "--max-executions", "5")
    assert "2 executions" in overridden.stdout
    assert "1 x  8" in run("check", "decorated.py::over_another", "--outcomes").stdout
    assert "1 x  10" in run("check", "decorated.py::another", "--outcomes").stdout


def test_below_another_decorator(write: Write) -> None:
    write(
        "below.py",
        """
        import functools
        import mazurka

        def logged(function):
            return functools.wraps(function)(lambda: function())

        @logged
        @mazurka.check
        def test_it(): pass
        """,
    )
    message = refused("check", "below.py::test_it")
    assert "test_it has another decorator on top of @mazurka.check" in message


TESTS = """
    import unittest
    import mazurka
    import pytest
    from mazurka import choose

    class TestPlain:
        limit = 2

        @mazurka.check(stop_on_failure=False)
        def test_method(self):
            assert choose([1, 2, 3]) < self.limit

        @mazurka.check
        def test_fixture(self, tmp_path): pass

        class TestInner:
            def test_undecorated(self): pass

    class TestUnit(unittest.TestCase):
        @mazurka.check
        def test_method(self):
            self.assertEqual(choose([1, 2]), 1)

    class TestWithSetup(TestUnit):
        def setUp(self): pass

    class TestWithArguments:
        def __init__(self, value): pass
        def test_it(self): pass

    @mazurka.check
    def test_fixture(tmp_path): pass

    @mazurka.check
    def test_skipped():
        pytest.skip("not here")
"""


def test_methods(write: Write) -> None:
    write("tests.py", TESTS)
    checked = run("check", "tests.py::TestPlain::test_method", "--save", "failure.json")
    assert checked.exit_code == 1
    assert "3 executions, 2 of which fail" in checked.stdout  # the decorator's option
    replayed = run("replay", "failure.json")
    assert replayed.exit_code == 1
    assert "choose alternative 2 of 3" in replayed.stdout
    assert run("check", "tests.py::TestPlain::TestInner::test_undecorated").exit_code == 0
    result = run("check", "tests.py::TestUnit::test_method")
    assert result.exit_code == 1
    assert "raised at tests.py:23: self.assertEqual(choose([1, 2]), 1)" in result.stdout


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("TestPlain", "TestPlain in tests.py is a class: name a method of it"),
        ("TestNone::test_it", "tests.py has no class TestNone"),
        ("TestPlain::test_none", "TestPlain in tests.py has no method test_none"),
        ("TestWithSetup::test_method", "has a setUp method, which only a test runner calls"),
        ("TestWithArguments::test_it", "TestWithArguments in tests.py cannot be made"),
        ("test_fixture", "takes tmp_path, which only pytest can give it: run it with 'pytest"),
        ("TestPlain::test_fixture", "takes tmp_path, which only pytest can give it"),
        ("test_skipped", "tests.py::test_skipped cannot be checked here: Skipped: not here"),
    ],
)
def test_tests_that_cannot_be_checked(write: Write, name: str, message: str) -> None:
    write("tests.py", TESTS)
    assert message in refused("check", f"tests.py::{name}")


# Files and folders


SEVERAL = """
    import unittest
    import helper
    import mazurka
    import pytest
    from mazurka import choose
    from helper import imported

    def plain(): pass

    @mazurka.check
    def small(): assert choose([1, 2]) <= helper.MOST

    class Group:
        @mazurka.check(max_executions=1)
        def method(self): choose([1, 2])

        class Inner:
            @staticmethod
            @mazurka.check
            def static(): choose([1, 2])

    class Derived(Group): pass
"""
HELPER = """
    import mazurka

    MOST = {most}

    @mazurka.check
    def imported(): pass
"""


def test_a_file_with_several_checks(write: Write) -> None:
    write("helper.py", HELPER.format(most=2))
    result = run("check", write("several.py", SEVERAL))
    names = ["small", "Group::method", "Group::Inner::static", "Derived::method"]
    names.append("Derived::Inner::static")
    for name in names:
        assert f"several.py::{name}: " in result.stdout
    assert "5 checks, 8 executions in " in result.stdout
    assert " s: 2 incomplete, 3 verified\n" in result.stdout
    assert "  incomplete: several.py::Group::method: stopped after max_exec" in result.stdout
    assert result.exit_code == 3


def test_a_file_with_main(write: Write) -> None:
    """It counts if nothing is marked. With one check, all is as if it were named."""
    write("program.py", "import mazurka\ndef main(): assert mazurka.choose([1, 2]) == 1")
    result = run("check", "program.py", "--save", "failure.json")
    assert result.stdout.startswith("program.py::main: FAILED; 2 executions")
    assert run("replay", "failure.json").exit_code == 1


def test_a_folder(write: Write) -> None:
    """Neighbours of the same name are not mixed up; code of others is not imported."""
    for folder, most in (("a", 1), ("b", 2)):
        write(f"tests/{folder}/helper.py", HELPER.format(most=most))
        write(f"tests/{folder}/several.py", SEVERAL)
    write("tests/env/pyvenv.cfg", "")
    for folder in ("env", ".hidden", "node_modules"):
        write(f"tests/{folder}/x.py", "import mazurka\n@mazurka.check\ndef f(): pass")
    write("tests/script.py", "import mazurka\nraise SystemExit(3)")
    write("tests/other.py", "@print\ndef f(): pass\nraise SystemExit('not mazurka')")
    result = run("check", "tests")
    assert result.exit_code == 1
    assert "12 checks, " in result.stdout
    assert "failed: tests/a/several.py::small: AssertionError\n" in result.stdout
    assert "tests/b/several.py::small: verified" in result.stdout
    assert "not checked" not in result.stdout
    assert not {"helper", "several"} & sys.modules.keys()


@pytest.mark.parametrize(
    ("text", "code", "why"),
    [
        ("def f(tmp_path): pass", 3, "takes tmp_path, which only pytest can give it"),
        ("def f(): pytest.skip('not here')", 0, "cannot be checked here: Skipped: not here"),
        ("def f(): yield", 2, "cannot be imported:"),
        ("def f(): mazurka.check(f)", 2, "a check is under way already"),
    ],
)
def test_what_is_not_checked(write: Write, text: str, code: int, why: str) -> None:
    write("tests/fine.py", "import mazurka\n@mazurka.check\ndef f(): pass")
    write("tests/other.py", f"import mazurka, pytest\n@mazurka.check\n{text}")
    result = run("check", "tests")
    assert result.exit_code == code, result.stdout
    assert "\n2 checks, 1 execution in " in result.stdout
    assert " s: 1 verified, 1 not checked\n" in result.stdout
    assert "  not checked: tests/other.py" in result.stdout
    assert why in result.stdout


def test_several_checks_as_json(write: Write) -> None:
    write("helper.py", HELPER.format(most=1))
    write("several.py", SEVERAL)
    document = json.loads(run("check", ".", "--json").stdout)
    assert document["verdict"] == "failed"
    assert document["not_checked"] == []
    assert [check["program"] for check in document["checks"]][:2] == [
        "helper.py::imported",
        "several.py::small",
    ]


def test_what_several_checks_cannot_have(write: Write) -> None:
    write("helper.py", HELPER.format(most=1))
    write("several.py", SEVERAL)
    for option in ("--save", "--html", "--trace-json", "--checkpoint", "--resume"):
        message = refused("check", "several.py", option, "file")
        assert f"{option} is for one check, and several.py has 5: name one, such as sev" in message


def test_an_empty_folder(write: Write) -> None:
    write("tests/plain.py", "import mazurka\ndef main(): pass")
    assert "nothing in tests is marked with @mazurka.check" in refused("check", "tests")


# The file of the project


def test_profiles_of_a_project(write: Write) -> None:
    """They win over the other options of the project, and nothing else."""
    write(
        "pyproject.toml",
        """
        [tool.mazurka]
        max_executions = 3

        [tool.mazurka.profiles.ci]
        max_executions = 4

        [tool.mazurka.profiles.dev]
        """,
    )
    write(
        "programs.py",
        """
        import mazurka

        def plain(): mazurka.choose(range(9))

        @mazurka.check(max_executions=5)
        def decorated(): mazurka.choose(range(9))
        """,
    )
    for profile, expected in (("ci", 4), ("dev", 3)):
        result = run("check", "programs.py::plain", "--profile", profile)
        assert f"max_executions={expected}" in result.stdout
    assert "max_executions=5" in run("check", "programs.py", "--profile", "ci").stdout
    assert run("estimate", "programs.py::plain", "--profile", "ci").exit_code == 0
    message = refused("check", "programs.py::plain", "--profile", "cu")
    assert "there is no [tool.mazurka.profiles.cu] in the pyproject.toml of" in message
    assert "there are ci, dev" in message


def test_options_of_a_project(write: Write) -> None:
    """The decorator wins over it, and the command line over both."""
    write("pyproject.toml", "[tool.mazurka]\nmax_executions = 3\nstop_on_failure = false\n")
    write(
        "package_of_tests/programs.py",
        """
        import mazurka

        def plain(): mazurka.choose(range(5))

        @mazurka.check(max_executions=4)
        def decorated(): mazurka.choose(range(5))

        def fails(): assert mazurka.choose([1, 2, 2]) == 1
        """,
    )
    file = "package_of_tests/programs.py"
    assert "max_executions=3" in run("check", f"{file}::plain").stdout
    assert "max_executions=3" in run("check", "package_of_tests.programs:plain").stdout
    assert "max_executions=4" in run("check", f"{file}::decorated").stdout
    for name in ("plain", "decorated"):
        result = run("check", f"{file}::{name}", "--max-executions", "2")
        assert "max_executions=2" in result.stdout
    assert "3 executions, 2 of which fail" in run("check", f"{file}::fails").stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("sede = 1", "pyproject.toml: [tool.mazurka] has no option 'sede'; it has algorithm, seed"),
        ("seed = '1'", "pyproject.toml: [tool.mazurka] seed: '1' is not a whole number\n"),
        ("seed = ", "pyproject.toml is not TOML: "),
    ],
)
def test_mistakes_in_the_file_of_a_project(write: Write, line: str, message: str) -> None:
    write("race.py", RACE)
    write("pyproject.toml", f"[tool.mazurka]\n{line}\n")
    assert message in refused("check", "race.py::race")


def test_a_replay_needs_no_options(write: Write, tmp_path: Path) -> None:
    """Those that matter are in the schedule."""
    write("race.py", RACE)
    write("pyproject.toml", "[tool.mazurka]\nindependent_adds = false\nmax_events = 40\n")
    run("check", "race.py::race", "--save", "failure.json")
    options = json.loads((tmp_path / "failure.json").read_text())["options"]
    assert (options["independent_adds"], options["max_events"]) == (False, 40)
    write("pyproject.toml", "[tool.mazurka]\nsede = 1\n")
    assert run("replay", "failure.json").exit_code == 1


# Wrong use


@pytest.mark.parametrize("target", ["program.py", "f", "program.py::", "::f", ":f", "program:"])
def test_target_that_names_no_function(write: Write, target: str) -> None:
    write("program.py", "def f(): pass")
    message = refused("check", target)
    assert repr(target) in message
    assert "path/to/file.py::function or package.module:function" in message


def test_one_colon_too_few(write: Write) -> None:
    assert "program.py::f" in refused("check", "program.py:f")


def test_missing_file() -> None:
    assert "nowhere/program.py does not exist" in refused("check", "nowhere/program.py::f")


def test_directory(write: Write) -> None:
    write("folder/program.py", "")
    assert "folder is a directory" in refused("check", "folder::f")


def test_file_of_another_kind(write: Write) -> None:
    write("notes.txt", "def f(): pass")
    assert "notes.txt is not a Python file" in refused("check", "notes.txt::f")


def test_missing_function(write: Write) -> None:
    write("race.py", RACE)
    message = refused("check", "race.py::rase")
    assert "race.py has no function rase; it has: race, fine\n" in message
    write("empty.py", "import os")
    assert "nor any other" in refused("check", "empty.py::f")


def test_not_a_function(write: Write) -> None:
    write("limit.py", "LIMIT = 5")
    message = refused("check", "limit.py::LIMIT")
    assert "LIMIT in limit.py is not a function, but an object of type int" in message


def test_function_with_arguments(write: Write) -> None:
    write("race.py", RACE)
    message = refused("check", "race.py::increment")
    assert "increment cannot be called without arguments" in message
    assert "'counter'" in message


def test_coroutine(write: Write) -> None:
    write("coroutine.py", "async def f(): pass\nasync def g(): yield 1")
    assert run("check", "coroutine.py::f").exit_code == 0
    assert "g is a generator" in refused("check", "coroutine.py::g")


def test_raises_at_import(write: Write) -> None:
    write("raises.py", "def divide(): return 1 / 0\nVALUE = divide()\ndef f(): pass")
    message = refused("check", "raises.py::f")
    lines = message.splitlines()
    assert lines[0] == "Error: raises.py cannot be imported:"
    assert lines[2] == "Traceback (most recent call last):"
    assert lines[3].endswith('raises.py", line 2, in <module>')
    assert lines[-1] == "ZeroDivisionError: division by zero"


def test_module_that_raises_at_import(write: Write) -> None:
    write("module_that_raises.py", "1 / 0")
    message = refused("check", "module_that_raises:f")
    assert message.splitlines()[3].endswith('module_that_raises.py", line 1, in <module>')
    assert "importlib" not in message


def test_syntax_error(write: Write) -> None:
    write("syntax.py", "def f(): pass\ndef g(:\n")
    message = refused("check", "syntax.py::f")
    assert 'syntax.py", line 2' in message
    assert "SyntaxError" in message


def test_not_text(tmp_path: Path) -> None:
    file = tmp_path / "binary.py"
    file.write_bytes(b"\x00\xff\x01")
    assert "binary.py cannot be imported" in refused("check", f"{file}::f")


def test_exits_at_import(write: Write) -> None:
    write("exits.py", "import sys\nsys.exit(0)")
    assert "exits.py exits when it is imported, from line 2 on" in refused("check", "exits.py::f")


def test_interrupted_at_import(write: Write) -> None:
    write("interrupted.py", "raise KeyboardInterrupt")
    result = run("check", "interrupted.py::f")
    assert result.exit_code == 130
    assert result.stderr == "interrupted\n"


def test_missing_module(write: Write) -> None:
    write("package_with_holes/__init__.py", "")
    write("package_with_holes/needy.py", "import a_module_that_is_not_there")
    assert "there is no module no_such_module" in refused("check", "no_such_module:f")
    message = refused("check", "package_with_holes.missing:f")
    assert "there is no module package_with_holes.missing" in message
    message = refused("check", "package_with_holes.needy:f")
    assert 'needy.py", line 1' in message
    assert "No module named 'a_module_that_is_not_there'" in message


def test_module_name_that_is_none() -> None:
    assert "'..x' is not the name of a module" in refused("check", "..x:f")


def test_relative_import_in_a_file(write: Write) -> None:
    write("relative.py", "from . import values")
    assert "package.module:function" in refused("check", "relative.py::f")


def test_os_thread(write: Write) -> None:
    write(
        "os_thread.py",
        "import threading\n"
        "starter = next(name for name in dir(threading) if name.startswith('_start_'))\n"
        "def f(): getattr(threading, starter)(f, ())",
    )
    message = refused("check", "os_thread.py::f")
    assert "OS thread" in message
    assert "os_thread.py:3" in message
    assert "mazurka.spawn" in message


@pytest.mark.parametrize(
    "option",
    [
        ("--algorithm", "best"),
        ("--max-executions", "0"),
        ("--max-executions", "-1"),
        ("--max-executions", "many"),
        ("--time-limit", "0"),
        ("--time-limit", "-1"),
        ("--max-events", "0"),
        ("--granularity", "line"),
        ("--k", "0"),
        ("--k", "-1"),
        ("--k", "1.5"),
        ("--k", "²"),
        ("--k", "best"),
        ("--colour",),
    ],
)
def test_bad_options(write: Write, option: tuple[str, ...]) -> None:
    write("race.py", RACE)
    assert option[0] in refused("check", "race.py::race", *option)


def test_a_bug_of_our_own_is_no_verdict(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **options: object) -> None:
        raise IndexError("no such thing")

    monkeypatch.setattr("mazurka.api.explore", broken)
    write("race.py", RACE)
    result = run("check", "race.py::race")
    assert result.exit_code == 70
    assert "IndexError: no such thing" in result.stderr
    assert "bug in Mazurka" in result.stderr


# Saving and replaying


def test_save_and_replay(write: Write, tmp_path: Path) -> None:
    write("race.py", RACE)
    checked = run("check", "race.py::race", "--save", "failure.json")
    assert checked.exit_code == 1
    assert "mazurka replay failure.json" in checked.stdout
    assert json.loads((tmp_path / "failure.json").read_text())["program"] == "race.py::race"
    replayed = run("replay", "failure.json")
    assert replayed.exit_code == 1
    account = checked.stdout[checked.stdout.index("AssertionError") :]
    account = account[: account.index("To run it again")]
    assert account.strip() in replayed.stdout


def test_replay_of_another_target(write: Write) -> None:
    write("race.py", RACE)
    run("check", "race.py::race", "--save", "failure.json")
    write("moved.py", RACE.replace('"lost"', '"lost again"'))
    result = run("replay", "failure.json", "moved.py::race")
    assert result.exit_code == 1
    assert "It fails in another way than recorded, which was: AssertionError: lost" in result.stdout
    assert "AssertionError: lost again" in result.stdout


def test_nothing_to_save(write: Write, tmp_path: Path) -> None:
    write("race.py", RACE)
    result = run("check", "race.py::fine", "--save", "failure.json")
    assert result.exit_code == 0
    assert "No failure: nothing was written to failure.json" in result.stdout
    assert not (tmp_path / "failure.json").exists()


def test_nothing_to_save_leaves_what_was_there(write: Write, tmp_path: Path) -> None:
    write("race.py", RACE)
    write("failure.json", "an older one")
    run("check", "race.py::fine", "--save", "failure.json")
    assert (tmp_path / "failure.json").read_text() == "an older one"


def test_save_where_nothing_can_be_written(write: Write) -> None:
    write("program.py", "def f(): raise SystemExit('must not run')")
    assert "cannot write nowhere/x.json" in refused(
        "check", "program.py::f", "--save", "nowhere/x.json"
    )
    write("folder/x.py", "")
    assert "cannot write folder" in refused("check", "program.py::f", "--save", "folder")


def test_replay_of_a_changed_program(write: Write) -> None:
    write("race.py", RACE)
    run("check", "race.py::race", "--save", "failure.json")
    write("race.py", RACE.replace("counter.store(counter.load() + 1)", "counter.fetch_add(1)"))
    message = refused("replay", "failure.json")
    assert "race.py::race: the program has changed" in message


def test_replay_of_a_repaired_program(write: Write) -> None:
    write("race.py", RACE)
    run("check", "race.py::race", "--save", "failure.json")
    write("race.py", RACE.replace("== 2", "in (1, 2)"))
    result = run("replay", "failure.json")
    assert result.exit_code == 0
    assert "race.py::race: the schedule fits the program, but" in result.stdout


def test_replay_of_what_is_no_schedule(write: Write, tmp_path: Path) -> None:
    assert "cannot read nowhere.json" in refused("replay", "nowhere.json")
    write("list.json", "[1, 2]")
    assert "list.json is not a schedule" in refused("replay", "list.json")
    write("other.json", '{"a": 1}')
    assert "other.json is not a schedule" in refused("replay", "other.json")
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    assert "binary is not a schedule" in refused("replay", "binary")


def test_replay_without_a_program(write: Write) -> None:
    schedule = mazurka.Schedule((("0", "spawn", 0),), failure="exception")
    write("failure.json", schedule.to_json())
    assert "does not say which program" in refused("replay", "failure.json")


def test_replay_of_a_program_that_is_gone(write: Write, tmp_path: Path) -> None:
    write("race.py", RACE)
    run("check", "race.py::race", "--save", "failure.json")
    (tmp_path / "race.py").unlink()
    assert "race.py does not exist" in refused("replay", "failure.json")


# The command as a whole


def test_help_tells_the_exit_codes() -> None:
    for arguments in (["--help"], ["check", "--help"]):
        result = run(*arguments)
        assert result.exit_code == 0
        for code in ("0    verified", "1    failed", "2    wrong use", "3    incomplete"):
            assert code in result.stdout
    assert "1    it fails again" in run("replay", "--help").stdout


def test_version() -> None:
    how = "compiled by mypyc" if mazurka.COMPILED else "plain Python"
    python = ".".join(map(str, sys.version_info[:3]))
    assert run("--version").stdout.startswith(
        f"mazurka {mazurka.__version__} ({how}, Python {python}"
    )


def test_as_a_process(write: Write) -> None:
    write("race.py", RACE)
    process = start("check", "race.py::race")
    output, errors = process.communicate()
    assert process.returncode == 1
    assert "\x1b" not in output
    assert errors == ""


def test_output_that_nobody_reads(write: Write) -> None:
    write("race.py", RACE)
    process = start("check", "race.py::race")
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == ""
    assert process.wait() == 1
    process.stderr.close()


def test_characters_that_the_output_cannot_show(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONIOENCODING", "cp1252")
    write("snowman.py", "def f(): assert False, '\u2603'")
    process = start("check", "snowman.py::f")
    output, errors = process.communicate()
    assert process.returncode == 1, errors
    assert "AssertionError: \\u2603" in output


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to send")
@pytest.mark.parametrize("swallow", [False, True])
def test_interrupted(write: Write, swallow: bool) -> None:
    write(
        "long.py",
        f"""
        import sys
        from mazurka import choose

        def endless():
            for _ in range(10):
                choose(range(10))
                try:
                    print(flush=True, file=sys.stderr)
                except {"BaseException" if swallow else "ValueError"}:
                    pass
        """,
    )
    process = start("check", "long.py::endless", "--json")
    assert process.stderr is not None
    process.stderr.readline()  # the search is on
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate()
    assert process.returncode == 130, errors
    assert errors.strip() == ""
    document = json.loads(output)
    assert document["verdict"] == "incomplete"
    assert document["reason"] == "interrupted"


# Examples


@pytest.mark.parametrize(
    ("target", "code", "text"),
    [
        ("lost_update.py::read_then_write", 1, "AssertionError: 2 increments gave 1"),
        ("lost_update.py::fetch_and_add", 0, "1 execution "),
        ("bank_account.py::check_then_act", 1, "AssertionError: the account is overdrawn: -30"),
        ("bank_account.py::under_a_lock", 0, "2 executions "),
        (
            "philosophers.py::all_left_handed",
            1,
            "deadlock between `forks[0]`, `forks[1]` and `forks[2]`",
        ),
        ("philosophers.py::one_right_handed", 0, "verified"),
        ("message_passing.py::data_then_flag", 0, "1 execution "),
        ("message_passing.py::flag_then_data", 1, "AssertionError: received ''"),
        ("message_passing.py::flag_taken_back", 1, "livelock"),
        ("bounded_buffer.py::wait_in_a_loop", 0, "verified"),
        ("bounded_buffer.py::wait_once", 1, "ValueError: not enough values to unpack"),
        ("bounded_buffer.py::wake_any_one", 1, "deadlock"),
        ("test_transfer.py::test_transfer", 1, "write -40 to account.balance"),
        ("test_transfer.py::test_locked", 0, "2 executions "),
        ("store_buffering.py::store_buffering", 0, "  3  1 x  (1, 1)   "),
    ],
)
def test_examples(target: str, code: int, text: str) -> None:
    result = run("check", str(EXAMPLES / target), "--outcomes", "--no-keep-failures")
    assert result.exit_code == code
    assert text in result.stdout


def test_a_log_that_is_set_up_in_the_program(write: Write) -> None:
    """Its handlers live on until Python ends, and are closed then."""
    write("logs.py", "import logging\ndef f():\n  logging.warning('here')\n")
    process = start("check", "logs.py::f")
    _, errors = process.communicate()
    assert process.returncode == 0
    assert "Traceback" not in errors

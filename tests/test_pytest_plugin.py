"""The pytest plugin: tests that are decorated with @mazurka.check, under pytest."""

import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner

import mazurka
from mazurka.cli.main import main
from mazurka.report.progress import Progress

QUICK = ("-p", "no:hypothesispytest")  # which takes a second to import
BANK = """
    import pytest
    import mazurka
    from mazurka import Atomic, Lock, choose, spawn

    def add(account, amount):
        account.store(account.load() + amount)

    @mazurka.check
    def test_lost():
        account = Atomic(10)
        threads = [spawn(add, account, 10), spawn(add, account, 20)]
        for thread in threads:
            thread.join()
        assert account.load() == 40

    @mazurka.check
    def test_fine():
        account = Atomic(10)
        threads = [spawn(account.add, 10), spawn(account.add, 20)]
        for thread in threads:
            thread.join()
        assert account.load() == 40

    @mazurka.check
    def test_deadlock():
        locks = [Lock(), Lock()]

        def take(first, second):
            with locks[first], locks[second]:
                pass

        spawn(take, 0, 1)
        spawn(take, 1, 0)

    @mazurka.check
    def test_many():
        choose(range(5))
"""
PROGRAM = "import pytest\nimport unittest\nimport mazurka\nfrom mazurka import choose, spawn\n"


def output(result: pytest.RunResult) -> str:
    text: str = result.stdout.str()
    return text


def run(pytester: pytest.Pytester, source: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_bank=source)
    return again(pytester, *arguments)


def again(pytester: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return pytester.runpytest_inprocess(*QUICK, *arguments)


# Failures


def test_the_account_then_the_assertion(pytester: pytest.Pytester) -> None:
    result = run(pytester, BANK, "-k", "lost")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "test_bank.py::test_lost: FAILED; 2 executions in * (pop)",
            "lost update: add-1 read `account` (test_bank.py:6) and wrote it *",
            "AssertionError: assert [23]0 == 40",
            "  raised at test_bank.py:14: assert account.load() == 40",
            "The execution, 9 steps by 3 threads, in test_bank.py:",
            "[*]  6 * load account: 10 *",
            "What it raised:",
            ">       assert account.load() == 40",
            "E       assert [23]0 == 40",
            "test_bank.py:14: AssertionError",
            "FAILED test_bank.py::test_lost - lost update: assert [23]0 == 40",
        ]
    )
    text = output(result)
    assert "api.py" not in text
    assert "runtime.py" not in text
    assert "\x1b" not in text


def test_a_failure_without_an_exception(pytester: pytest.Pytester) -> None:
    result = run(pytester, BANK, "-k", "deadlock")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(
        [
            "deadlock between `locks[[]0]` and `locks[[]1]`: take-1 waits for `locks[[]1]` (*",
            "* waits to acquire locks[[]1]*",
            "FAILED test_bank.py::test_deadlock - deadlock: no thread can go on",
        ]
    )
    assert "What it raised" not in output(result)


def test_fixtures_and_parameters_have_their_names(pytester: pytest.Pytester) -> None:
    source = """
        import threading

        class Box:
            def __init__(self):
                self.value = 0

        @pytest.fixture
        def box():
            return Box()

        @pytest.mark.parametrize("sizes", [{"a": 0}])
        @mazurka.check
        def test_both(box, sizes):
            def count():
                box.value += 1
                sizes["a"] += 1

            threads = [threading.Thread(target=count) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert box.value == 2 and sizes["a"] == 2
    """
    text = output(run(pytester, PROGRAM + dedent(source), "--mazurka-full"))
    assert "read box.value: 0" in text
    assert "read sizes['a']: 0" in text


def test_a_failure_in_another_thread(pytester: pytest.Pytester) -> None:
    source = """
        @mazurka.check
        def test_thread():
            def thread():
                assert choose([1, 2]) == 1
            spawn(thread).join()
    """
    result = run(pytester, PROGRAM + dedent(source))
    result.stdout.fnmatch_lines([">       spawn(thread).join()", ">       assert choose*"])
    assert "primitives.py" not in output(result)


@pytest.mark.parametrize(
    ("style", "there", "not_there"),
    [
        ("short", "test_bank.py:14: in test_lost", "@mazurka.check"),
        ("native", "Traceback (most recent call last):", "/mazurka/"),
        ("line", "test_bank.py:14: lost update: assert", "The execution"),
        ("no", "FAILED test_bank.py::test_lost", "The execution"),
    ],
)
def test_traceback_styles(
    pytester: pytest.Pytester, style: str, there: str, not_there: str
) -> None:
    text = output(run(pytester, BANK, "-k", "lost", f"--tb={style}"))
    assert there in text
    assert not_there not in text


def test_colours_if_the_terminal_has_them(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", "xterm")
    text = output(run(pytester, BANK, "-k", "deadlock", "--color=yes"))
    assert "\x1b[1;31mdeadlock between `locks[0]` and `locks[1]`: " in text


def test_a_cut_search_is_not_a_pass(pytester: pytest.Pytester) -> None:
    result = run(pytester, BANK, "-k", "many", "--mazurka-max-executions=2")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["test_bank.py::test_many: INCOMPLETE: the search was cut short*"])


TOO_LONG = """
    @mazurka.check
    def test_long():
        for _ in range(9):
            choose(range(9))

    @mazurka.check(time_limit=None, max_executions=3)
    def test_without():
        choose(range(9))

    @mazurka.check(algorithm="random")
    def test_samples():
        choose(range(9))

    @mazurka.check
    def test_fixture(tmp_path):
        for _ in range(9):
            choose(range(9))
"""


def test_a_test_has_a_time_limit(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mazurka.pytest_plugin.TEST_TIME_LIMIT", 0.01)
    result = run(pytester, PROGRAM + dedent(TOO_LONG))
    text = output(result)
    assert text.count("(stopped after time_limit=0.01 seconds)") >= 2
    assert "(stopped after max_executions=3)" in text
    assert "Tests have 0.01 seconds if nothing else is said. For more: @mazurka.check(" in text
    assert text.count("what would help: mazurka estimate test_bank.py::test_long") == 1
    assert "estimate test_bank.py::test_fixture" not in text


def test_a_time_limit_that_is_given(pytester: pytest.Pytester) -> None:
    result = run(pytester, BANK, "-k", "many", "--mazurka-time-limit=inf")
    result.assert_outcomes(passed=1)


def test_misuse_is_shown_without_our_own_frames(pytester: pytest.Pytester) -> None:
    source = """
        @mazurka.check
        def test_thread():
            mazurka.explore(lambda: None)
    """
    result = run(pytester, PROGRAM + dedent(source))
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E *MazurkaError: a check is under way already*"])
    assert "runtime.py" not in output(result)


def test_debuggers_see_where_the_program_failed(pytester: pytest.Pytester) -> None:
    """As --pdb does: it looks at what this hook is given."""
    pytester.makeconftest(
        """
        def pytest_exception_interact(call):
            entry = call.excinfo.traceback[-1]
            print("stopped in", entry.name, entry.lineno + 1)
        """
    )
    result = run(pytester, BANK, "-k", "lost", "-s")
    result.stdout.fnmatch_lines(["*stopped in test_lost 14"])


# Other ends of a test


def test_skip_and_xfail(pytester: pytest.Pytester) -> None:
    source = """
        @mazurka.check
        def test_skip():
            pytest.skip("not today")

        @mazurka.check(stop_on_failure=False)
        def test_skip_after_a_step():
            spawn(choose, [1, 2])
            choose([1, 2])
            pytest.skip("not today")

        @mazurka.check
        def test_import():
            pytest.importorskip("a_module_that_is_not_there")

        @mazurka.check
        def test_unittest_skip():
            raise unittest.SkipTest("nor today")

        @mazurka.check
        def test_xfail():
            pytest.xfail("known")

        @pytest.mark.xfail
        @mazurka.check
        def test_marked():
            assert choose([True, False])

        @mazurka.check
        def test_fail():
            pytest.fail("no good")

        @mazurka.check
        def test_skipped_under_one_schedule():
            if choose([1, 2]) == 2:
                pytest.skip("half")
    """
    result = run(pytester, PROGRAM + dedent(source), "-rsf")
    result.assert_outcomes(skipped=4, xfailed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            '  raised at test_bank.py:*: pytest.fail("no good")',
            "SKIPPED * test_bank.py:*: not today",
            "FAILED test_bank.py::test_fail - Failed: no good",
            "FAILED test_bank.py::test_skipped_under_one_schedule - Skipped: half",
        ]
    )


# What tests are given


def test_fixtures_parameters_and_classes(pytester: pytest.Pytester) -> None:
    source = """
        made = []

        @pytest.fixture
        def resource():
            made.append(1)
            yield len(made)
            made.append("over")

        @mazurka.check
        def test_fixtures(resource, tmp_path, monkeypatch, capsys):
            monkeypatch.setenv("SOME_NAME", "x")
            print(choose([1, 2]))
            assert capsys.readouterr().out in ("1\\n", "2\\n")
            assert made == [1]
            assert tmp_path.exists()

        def test_the_fixture_was_made_once():
            assert made == [1, "over"]

        @mazurka.check
        @pytest.mark.parametrize("value", [1, 2])
        def test_below(value):
            assert choose([value]) == value

        @pytest.mark.parametrize("value", [1, 2])
        @mazurka.check(max_executions=3)
        def test_above(value):
            assert choose([value]) == value

        class TestClass:
            @mazurka.check
            def test_method(self, tmp_path):
                assert isinstance(self, TestClass)

        class TestUnit(unittest.TestCase):
            def setUp(self):
                self.value = 1

            @mazurka.check
            def test_passes(self):
                self.assertEqual(choose([1, 1]), self.value)

            @mazurka.check
            def test_fails(self):
                self.assertEqual(choose([1, 2]), self.value)

            @mazurka.check
            def test_skips(self):
                self.skipTest("no")
    """
    result = run(pytester, PROGRAM + dedent(source))
    result.assert_outcomes(passed=8, failed=1, skipped=1)
    result.stdout.fnmatch_lines(["  raised at test_bank.py:*: self.assertEqual(choose*"])


def test_coroutines_run_in_an_event_loop(pytester: pytest.Pytester) -> None:
    source = """
        import asyncio

        @mazurka.check
        async def test_coroutine():
            await asyncio.gather(asyncio.sleep(1), asyncio.sleep(2))

        class TestMore:
            @pytest.mark.parametrize("value", [1, 2])
            @mazurka.check
            async def test_method(self, value):
                await asyncio.sleep(1)
                assert value == 1
    """
    result = run(pytester, PROGRAM + dedent(source))
    result.assert_outcomes(passed=2, failed=1)


def test_generators_are_refused_at_collection(pytester: pytest.Pytester) -> None:
    source = "@mazurka.check\nasync def test_generator(): yield 1\n"
    result = run(pytester, PROGRAM + source)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["E *test_generator is a generator*"])


# The summary


def test_summary(pytester: pytest.Pytester) -> None:
    result = run(pytester, BANK)
    result.stdout.fnmatch_lines(
        ["mazurka: 4 tests checked, 10 executions in * s: 2 verified, 2 failed"]
    )
    assert "test_many: verified" not in output(result)


def test_summary_of_each_test(pytester: pytest.Pytester) -> None:
    result = run(pytester, BANK, "-v", "-k", "many or lost", "--tb=no")
    result.stdout.fnmatch_lines(
        [
            "mazurka: 2 tests checked, 7 executions in * s: 1 verified, 1 failed",
            "  test_bank.py::test_lost: failed; 2 executions in * s",
            "  test_bank.py::test_many: verified; 5 executions in * s",
        ]
    )


def test_checks_that_are_called_count_together(pytester: pytest.Pytester) -> None:
    source = """
        def program():
            choose([1, 2, 3])

        def test_calls():
            mazurka.check(program)
            mazurka.check(program)
    """
    result = run(pytester, PROGRAM + dedent(source))
    result.stdout.fnmatch_lines(["mazurka: 1 test checked, 6 executions in * s: 1 verified"])


def test_checks_of_a_module_that_is_not_used_before(pytester: pytest.Pytester) -> None:
    source = "import mazurka\ndef test_call(): mazurka.check(lambda: mazurka.choose([1, 2]))\n"
    pytester.makepyfile(source)
    result = pytester.runpytest_subprocess(*QUICK)
    result.stdout.fnmatch_lines(["mazurka: 1 test checked, 2 executions in * s: 1 verified"])


def test_nothing_is_said_without_checks(pytester: pytest.Pytester) -> None:
    assert "mazurka: " not in output(run(pytester, "def test_plain(): pass"))
    assert "mazurka: " not in output(run(pytester, BANK, "-q"))


def test_junit_xml(pytester: pytest.Pytester) -> None:
    run(pytester, BANK, "-k", "many or lost", "--junitxml=report.xml")
    text = (pytester.path / "report.xml").read_text()
    assert '<property name="mazurka_verdict" value="verified"' in text
    assert '<property name="mazurka_executions" value="5"' in text
    assert "The execution, 9 steps" in text


# Options


def test_the_command_line_wins_over_the_decorator_over_the_file(
    pytester: pytest.Pytester,
) -> None:
    source = """
        @mazurka.check
        def test_plain():
            choose(range(4))

        @mazurka.check(max_executions=3)
        def test_decorated():
            choose(range(4))
    """
    pytester.makeini("[pytest]\nmazurka_max_executions = 2\n")
    run(pytester, PROGRAM + dedent(source)).stdout.fnmatch_lines(
        ["*test_plain: INCOMPLETE*=2*", "*test_decorated: INCOMPLETE*=3*"]
    )
    result = again(pytester, "--mazurka-max-executions=4")
    result.assert_outcomes(passed=2)


def test_algorithm_and_all_failures(pytester: pytest.Pytester) -> None:
    source = """
        @mazurka.check
        def test_choices():
            assert choose([0, 1, 1]) == 0
    """
    arguments = ("--mazurka-algorithm=naive", "--mazurka-all-failures", "--mazurka-time-limit=60")
    result = run(pytester, PROGRAM + dedent(source), *arguments)
    result.stdout.fnmatch_lines(
        [
            "*test_choices: FAILED; 3 executions, 2 of which fail, in * (naive)",
            "(2 executions fail like this; the first is shown.)",
        ]
    )


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--mazurka-algorithm=best", "there is no algorithm 'best'; choose one of pop"),
        ("--mazurka-granularity=line", "there is no granularity 'line'; choose one of access"),
        ("--mazurka-k=0", "'0' is not a whole number, at least 1"),
        ("--mazurka-max-executions=0", "'0' is not a whole number, at least 1"),
        ("--mazurka-time-limit=soon", "'soon' is not a number of seconds"),
        ("--mazurka-save=test_bank.py/x", "cannot make test_bank.py/x"),
    ],
)
def test_bad_options(pytester: pytest.Pytester, option: str, message: str) -> None:
    result = run(pytester, BANK, option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert message in result.stderr.str()


def test_bad_settings(pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\nmazurka_time_limit = -1\n")
    result = run(pytester, BANK)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "mazurka_time_limit: '-1' is not a number of seconds" in result.stderr.str()


def test_the_file_of_the_project(pytester: pytest.Pytester) -> None:
    """Anything else wins over it."""
    source = """
        @mazurka.check
        def test_plain():
            choose(range(5))

        @mazurka.check(max_executions=3)
        def test_decorated():
            choose(range(5))
    """
    pytester.makefile(".toml", pyproject="[tool.mazurka]\nmax_executions = 2\nstep_limit = 9\n")
    run(pytester, PROGRAM + dedent(source)).stdout.fnmatch_lines(
        ["*test_plain: INCOMPLETE*=2*", "*test_decorated: INCOMPLETE*=3*"]
    )
    pytester.makeini("[pytest]\nmazurka_max_executions = 4\n")
    again(pytester).stdout.fnmatch_lines(
        ["*test_plain: INCOMPLETE*=4*", "*test_decorated: INCOMPLETE*=3*"]
    )
    again(pytester, "--mazurka-max-executions=5").assert_outcomes(passed=2)


def test_profiles(pytester: pytest.Pytester) -> None:
    """They win over the configuration files, decorators over them."""
    pytester.makepyprojecttoml(
        """
        [tool.mazurka]
        max_executions = 2

        [tool.mazurka.profiles.ci]
        max_executions = 4
        """
    )
    pytester.makeini("[pytest]\nmazurka_max_executions = 3")
    result = run(pytester, BANK, "-k", "many", "--mazurka-profile=ci")
    assert "max_executions=4" in output(result)
    result = again(pytester, "-k", "many")
    assert "max_executions=3" in output(result)
    result = again(pytester, "-k", "many", "--mazurka-profile=dev")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "there is no [tool.mazurka.profiles.dev]" in result.stderr.str()


def test_the_file_of_the_project_lies_above(pytester: pytest.Pytester) -> None:
    pytester.makefile(".toml", pyproject="[tool.mazurka]\nmax_executions = 2\n")
    (pytester.mkdir("tests") / "pytest.ini").write_text("[pytest]\n")
    source = "import mazurka\n@mazurka.check\ndef test_it(): mazurka.choose([1, 2, 3])\n"
    (pytester.path / "tests" / "test_it.py").write_text(source)
    result = again(pytester, "tests")
    result.stdout.fnmatch_lines(["rootdir: */tests", "*INCOMPLETE*=2*"])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("depht = 3", "[[]tool.mazurka] has no option 'depht'; it has algorithm, seed, depth, *"),
        ("depth = 0", "[[]tool.mazurka] depth: 0 is not a whole number, at least 1"),
        ("algorithm = 'best'", "[[]tool.mazurka] algorithm: there is no algorithm 'best'; *pop,*"),
    ],
)
def test_mistakes_in_the_file_of_the_project(
    pytester: pytest.Pytester, line: str, message: str
) -> None:
    pytester.makefile(".toml", pyproject=f"[tool.mazurka]\n{line}\n")
    result = run(pytester, BANK)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"ERROR: {pytester.path}/pyproject.toml: {message}"])


# Saved schedules


def test_saved_schedules_can_be_replayed(pytester: pytest.Pytester) -> None:
    result = run(pytester, BANK, "--mazurka-save=failures")
    files = sorted(file.name for file in (pytester.path / "failures").iterdir())
    assert files == ["test_bank.py-test_deadlock.json", "test_bank.py-test_lost.json"]
    file = os.path.join("failures", files[1])
    result.stdout.fnmatch_lines([f"*run it again with: mazurka replay {file}"])
    replayed = CliRunner().invoke(main, ["replay", file])
    assert replayed.exit_code == 1
    assert "another way" not in replayed.stdout
    assert "store 20 to account" in replayed.stdout


def test_saved_schedules_of_tests_with_parameters(pytester: pytest.Pytester) -> None:
    source = """
        @pytest.mark.parametrize("value", ["a/b", "a-b", "x" * 300])
        @mazurka.check
        def test_choice(value):
            assert choose([True, False])
    """
    result = run(pytester, PROGRAM + dedent(source), "--mazurka-save=failures")
    files = list((pytester.path / "failures").iterdir())
    assert len(files) == 3
    programs = {json.loads(file.read_text())["program"] for file in files}
    names = {"a/b", "a-b", "value2"}
    assert programs == {f"test_bank.py::test_choice[{name}]" for name in names}
    assert output(result).count("run it again with: mazurka replay failures/test_bank") == 3


# With other parts of pytest


def test_xdist(pytester: pytest.Pytester) -> None:
    pytest.importorskip("xdist")
    pytester.makepyfile(test_bank=BANK)
    result = pytester.runpytest_subprocess(*QUICK, "-n", "2", "-v", "--mazurka-save=failures")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines(
        [
            "mazurka: 4 tests checked, 10 executions in * s: 2 verified, 2 failed",
            "  test_bank.py::test_many: verified; 5 executions in * s",
            "FAILED test_bank.py::test_deadlock - deadlock: no thread can go on",
        ],
    )
    assert "The execution, 9 steps by 3 threads, in " in output(result)
    assert len(list((pytester.path / "failures").iterdir())) == 2


def test_without_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_bank=BANK)
    result = pytester.runpytest_subprocess(*QUICK, "-p", "no:mazurka")
    result.assert_outcomes(passed=2, failed=2)
    assert "mazurka: " not in output(result)
    assert "The execution, 9 steps by 3 threads, in " in output(result)


def test_suites_that_do_not_use_it_do_not_load_it(pytester: pytest.Pytester) -> None:
    source = """
        import sys

        def test_modules():
            assert "mazurka.pytest_plugin" in sys.modules
            assert "mazurka.api" not in sys.modules
            assert "mazurka.engine" not in sys.modules
            assert "greenlet" not in sys.modules
    """
    pytester.makepyfile(source)
    pytester.runpytest_subprocess(*QUICK).assert_outcomes(passed=1)


# Without pytest


def test_check_failed_can_be_pickled() -> None:
    def fails() -> None:
        assert mazurka.choose([True, False])

    with pytest.raises(mazurka.CheckFailed) as raised:
        mazurka.check(fails, keep_failures=False)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert str(copy) == str(raised.value)
    assert copy.result.executions == 2
    assert copy.result.failures[0].steps == raised.value.result.failures[0].steps
    assert copy.result.failures[0].schedule == raised.value.result.failures[0].schedule
    assert copy.result.failures[0].exception is None


def test_a_file_that_is_run(tmp_path: Path) -> None:
    file = tmp_path / "bank.py"
    source = "@mazurka.check\ndef test_it():\n    assert choose([1, 0])\n\ntest_it()\n"
    file.write_text(PROGRAM + source)
    ended = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "CheckFailed: test_it: FAILED; 2 executions" in ended.stderr


LONG = """
    import mazurka

    @mazurka.check
    def test_long():
        for _ in range(30):
            mazurka.choose(range(10))
"""


def test_long_checks_tell_how_far_they_are(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mazurka.report.progress.FIRST_LINE", 0.0)
    pytester.makepyfile(LONG)
    result = pytester.runpytest_inprocess("--mazurka-max-executions", "50")
    result.stdout.fnmatch_lines(["mazurka: * execution*/s * steps deep*"])
    result.stdout.fnmatch_lines(["*--mazurka-granularity sync: *"])
    result = pytester.runpytest_inprocess("--mazurka-max-executions", "50", "-q")
    result.stdout.no_fnmatch_line("mazurka: * steps deep*")


@pytest.mark.parametrize("flags", [[], ["-q"]])
def test_what_was_found_before_ctrl_c_is_kept(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, flags: list[str]
) -> None:
    class Interrupting(Progress):
        def __call__(self, result: mazurka.Result) -> None:
            if result.executions > 20:
                signal.raise_signal(signal.SIGINT)
            super().__call__(result)

    monkeypatch.setattr("mazurka.report.progress.Progress", Interrupting)
    pytester.makepyfile(LONG)
    result = pytester.runpytest_inprocess(*flags, no_reraise_ctrlc=True)
    result.stdout.fnmatch_lines(
        ["mazurka: *::test_long: INCOMPLETE*(interrupted); * executions in *", "What would help:"]
    )
    assert result.ret == pytest.ExitCode.INTERRUPTED


def test_jobs_are_for_tests_that_other_processes_find(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import unittest, mazurka, pytest

        @mazurka.check
        def test_function():
            mazurka.choose([1, 2])

        class TestMethods:
            @mazurka.check
            def test_method(self):
                mazurka.choose([1, 2])

        class TestCase(unittest.TestCase):
            @mazurka.check
            def test_of_a_case(self):
                mazurka.choose([1, 2])

        class TestSetup:
            def setup_method(self):
                self.choices = [1, 2]

            @mazurka.check
            def test_setup(self):
                mazurka.choose(self.choices)

        @pytest.mark.parametrize("choices", [[1, 2]])
        @mazurka.check
        def test_parameter(choices):
            mazurka.choose(choices)

        @pytest.fixture
        def made(): return 1

        @mazurka.check(fresh=["made"])
        def test_fresh(made):
            mazurka.choose([made, 2])

        @pytest.mark.usefixtures("made")
        @mazurka.check
        def test_fixture():
            mazurka.choose([1, 2])
        """,
        "--mazurka-jobs",
        "2",
    )
    result.assert_outcomes(passed=3, failed=4)
    result.stdout.fnmatch_lines(
        [
            "*cannot find TestSetup.test_setup: it needs setup_method, which *",
            "*cannot find test_parameter: it needs fixtures of pytest (choices), which *",
            "*cannot find test_fresh: it needs fixtures of pytest (made)*",
            "*cannot find test_fixture: it needs fixtures of pytest (made), which *",
        ]
    )

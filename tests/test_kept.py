"""Failing executions that are kept, tried first, replayed, and written as tests."""

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import pytest
from click.testing import CliRunner, Result

import mazurka
from mazurka import Atomic, Schedule, explore, spawn
from mazurka.cli.main import main
from mazurka.engine.following import aligned, difference, parts_of
from mazurka.kept import FOLDER, memory_of
from tests.report.test_bugs import BUGS, program_called

RACE = """
    from mazurka import Atomic, spawn

    def increment(counter):
        found = counter.load()
        counter.store(found + 1)

    def race():
        counter = Atomic(0)
        threads = [spawn(increment, counter), spawn(increment, counter)]
        for thread in threads:
            thread.join()
        assert counter.load() == 2, "lost"
"""
REPAIRED = RACE.replace("== 2", "in (1, 2)")
Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Write:
    """Writes files into a project, in which the test runs."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("CI", raising=False)
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'it'\n")

    def write_file(name: str, text: str) -> Path:
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(dedent(text))
        return file

    return write_file


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, list(arguments))


def kept() -> list[Path]:
    return sorted(Path(FOLDER).glob("*.json"))


def increments(counter: "Atomic[int]") -> None:
    counter.store(counter.load() + 1)


def lost_update() -> None:
    counter = Atomic(0)
    threads = [spawn(increments, counter), spawn(increments, counter)]
    for thread in threads:
        thread.join()
    assert counter.load() == 2


# Following


@pytest.mark.parametrize("name", BUGS)
def test_each_bug_is_found_again_in_its_first_execution(name: str) -> None:
    first = explore(program_called(name)).failures[0]
    schedule = Schedule.from_text(first.schedule.to_text())
    again = explore(program_called(name), try_first=[schedule])
    assert (again.verdict, again.executions) == ("failed", 1)
    assert again.again == [schedule] and again.outdated == []
    told = again.failures[0].explanation
    assert told is not None and first.explanation is not None
    assert told.bug == first.explanation.bug
    if name != "waits.livelock":  # which shows before the end of its schedule
        assert told.sentence == first.explanation.sentence


def test_an_execution_that_passes_costs_nothing() -> None:
    (failure,) = explore(lost_update).failures

    def repaired() -> None:
        counter = Atomic(0)
        threads = [spawn(counter.fetch_add, 1), spawn(counter.fetch_add, 1)]
        for thread in threads:
            thread.join()
        assert counter.load() == 2

    alone = explore(repaired)
    after = explore(repaired, try_first=[failure.schedule])
    assert after.outdated == [failure.schedule] and after.again == []
    assert after.verdict == "verified" and after.executions == alone.executions


def test_all_failures_are_counted_once() -> None:
    alone = explore(lost_update, stop_on_failure=False)
    after = explore(lost_update, stop_on_failure=False, try_first=[alone.failures[0].schedule])
    assert after.executions == alone.executions
    assert len(after.failures) == len(alone.failures)


def test_a_failure_that_the_search_does_not_meet_is_told() -> None:
    (failure,) = explore(lost_update).failures
    result = explore(
        lost_update,
        stop_on_failure=False,
        max_executions=1,
        try_first=[failure.schedule],
    )
    assert result.verdict == "failed"
    assert result.executions == 2


def test_other_options_leave_it_alone() -> None:
    (failure,) = explore(lost_update).failures
    result = explore(lost_update, granularity="sync", try_first=[failure.schedule])
    assert result.again == result.outdated == []
    strict: dict[str, object] = {"preemptions": 0, "strict_bound": True}
    result = explore(lost_update, try_first=[failure.schedule], **strict)  # type: ignore[arg-type]
    assert result.verdict == "bounded"


def test_steps_that_are_new_and_steps_that_are_gone() -> None:
    (failure,) = explore(lost_update).failures

    def changed() -> None:
        counter = Atomic(0)
        other = Atomic(3)

        def increment() -> None:
            other.load()
            counter.load()
            found = counter.load()
            other.load()
            counter.store(found + 1)

        threads = [spawn(increment), spawn(increment)]
        for thread in threads:
            thread.join()
        other.load()
        assert counter.load() == 2

    result = explore(changed, try_first=[failure.schedule])
    assert result.executions == 1
    assert result.failures[0].schedule.is_same_failure(failure.schedule)


def test_another_failure_is_not_called_the_same() -> None:
    (failure,) = explore(lost_update).failures

    def changed() -> None:
        counter = Atomic(0)
        threads = [spawn(increments, counter), spawn(increments, counter)]
        for thread in threads:
            thread.join()
        raise ValueError(counter.load())

    result = explore(changed, try_first=[failure.schedule])
    assert result.executions == 1
    assert not result.again[0].is_same_failure(result.failures[0].schedule)
    assert "It fails in another way than before, which was: AssertionError" in str(result)


def test_names_are_compared() -> None:
    assert parts_of("take from self.jobs") == ("take from", "self.jobs")
    assert parts_of("spawn") == ("spawn", "")
    before = [("load", "a"), ("store", "a")]
    now = [("load", "c"), ("load", "b"), ("store", "b"), ("load", "b")]
    assert aligned(before, [("load", "b"), ("load", "a"), ("store", "a")]) == [
        (before[0], before[0]),
        (before[1], before[1]),
    ]
    assert (before[1], ("store", "b")) in aligned(before, now)
    assert difference([("0", "spawn", 0)], [("0", "spawn", 1)]) == (
        "in step 1 there is no alternative 1"
    )


# Schedules as text


def test_a_schedule_as_a_text() -> None:
    schedule = explore(lost_update).failures[0].schedule
    text = schedule.to_text()
    assert Schedule.from_text(text) == Schedule.from_text(schedule.to_json()) == schedule
    assert not set(text) & set("\"'\\ \n")
    for damaged in (text[:-7], "c" + text, "", "not a schedule", text[:40] + "~" + text[40:]):
        with pytest.raises(mazurka.MazurkaError, match="not a schedule"):
            Schedule.from_text(damaged)


@pytest.mark.parametrize(
    "change",
    [
        {"steps": [[0, 10**12]]},
        {"table": [["0.1.x", "load", 0]]},
        {"table": [["0." + "9" * 30, "load", 0]]},
        {"table": [["0" + ".1" * 5000, "load", 0]]},
        {"steps": [["0", 1]]},
        {"options": []},
    ],
)
def test_a_schedule_that_nobody_wrote(change: dict[str, object]) -> None:
    document = json.loads(explore(lost_update).failures[0].schedule.to_json())
    with pytest.raises(mazurka.MazurkaError, match="not a schedule"):
        Schedule.from_json(json.dumps({**document, **change}))


# The command line


def test_what_fails_is_kept_and_tried_first(write: Write) -> None:
    write("race.py", RACE)
    first = run("check", "race.py::race")
    assert "FAILED; 2 executions" in first.stdout
    (file,) = kept()
    command = f"mazurka replay {file}"
    assert first.stdout.splitlines()[-1] == f"To run it again: {command}"
    again = run("check", "race.py::race")
    assert "FAILED; 1 execution" in again.stdout
    assert "(tried first, as it had failed before)" in again.stdout
    assert again.stdout.splitlines()[1:] == first.stdout.splitlines()[1:]
    assert kept() == [file]
    replayed = run(*command.split()[1:])
    assert replayed.exit_code == 1
    assert "race.py::race: FAILED; the execution of the schedule, run again" in replayed.stdout
    assert (Path(FOLDER).parent / ".gitignore").read_text().endswith("*\n")
    write("race.py", REPAIRED)
    repaired = run("check", "race.py::race")
    assert repaired.exit_code == 0
    assert kept() == []


def test_nothing_is_kept_if_that_is_wanted(write: Write, tmp_path: Path) -> None:
    write("race.py", RACE)
    output = run("check", "race.py::race", "--no-keep-failures").stdout
    assert "add --save FILE" in output
    (tmp_path / "pyproject.toml").write_text("[tool.mazurka]\nkeep_failures = false\n")
    run("check", "race.py::race")
    assert not FOLDER.exists()


def test_files_that_are_damaged_are_told(write: Write) -> None:
    write("race.py", RACE)
    run("check", "race.py::race")
    (file,) = kept()
    text = file.read_text()
    for damaged in (text[:50], "", "[]", text.replace('"0.1"', '"0.x"'), "\x00"):
        file.write_text(damaged)
        result = run("check", "race.py::race")
        assert "FAILED; 2 executions" in result.stdout
        assert f"{file} is left out: not a schedule" in result.stderr
    file.write_bytes(b"\xff")
    assert f"{file} is left out" in run("check", "race.py::race").stderr


def test_where_nothing_can_be_written(write: Write) -> None:
    write("race.py", RACE)
    Path(".mazurka").write_text("a file")
    output = run("check", "race.py::race").stdout
    assert "The failing execution could not be kept in" in output
    assert '@mazurka.reproduce("' in output


def test_a_line_for_another_machine(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    write("race.py", RACE)
    monkeypatch.setenv("CI", "true")
    last = run("check", "race.py::race").stdout.splitlines()[-1]
    decorator = last[last.index("@mazurka.reproduce") :]
    for file in kept():
        file.unlink()
    write(
        "race.py",
        RACE.replace("    def race", f"    import mazurka\n    {decorator}\n    def race"),
    )
    reproduced = run("check", "race.py::race")
    assert "FAILED; 1 execution" in reproduced.stdout
    text = decorator.split('"')[1]
    assert run("replay", text).exit_code == 1
    write(
        "race.py",
        REPAIRED.replace("    def race", f"    import mazurka\n    {decorator}\n    def race"),
    )
    outdated = run("check", "race.py::race")
    assert outdated.exit_code == 0
    assert "the execution of @mazurka.reproduce does not fail any more" in outdated.stdout


def test_a_folder_above_and_another_directory(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write("inner/race.py", RACE)
    monkeypatch.chdir(tmp_path / "inner")
    run("check", "race.py::race")
    monkeypatch.chdir(tmp_path)
    assert len(kept()) == 1
    assert "1 execution " in run("check", "inner/race.py::race").stdout
    monkeypatch.chdir("/")
    assert run("replay", str(tmp_path / kept_in(tmp_path)[0])).exit_code == 1


def kept_in(folder: Path) -> list[Path]:
    return sorted((folder / FOLDER).glob("*.json"))


def test_a_replay_of_a_program_that_has_changed(write: Write) -> None:
    write("race.py", RACE)
    run("check", "race.py::race")
    file = str(kept()[0])
    write("race.py", RACE.replace("        found =", "        counter.load()\n        found ="))
    again = run("replay", file)
    assert again.exit_code == 1
    assert "The program has changed since: thread 0.2 cannot do 'load" in again.stdout
    write("race.py", RACE.replace("found + 1)", "found + 1)\n        raise KeyError"))
    other = run("replay", file)
    assert other.exit_code == 1
    assert "It fails in another way than recorded, which was: AssertionError" in other.stdout


def test_writers_do_not_disturb_each_other(tmp_path: Path) -> None:
    """As processes of pytest-xdist are: each writes whole files."""
    result = explore(lost_update, stop_on_failure=False)
    memories = [memory_of(tmp_path, "a.py::lost") for _ in range(3)]
    for memory in memories:
        memory.take_over(result)
    (entry,) = memory_of(tmp_path, "a.py::lost").entries
    assert [path.suffix for path in (tmp_path / FOLDER).iterdir()] == [".json"]
    assert memory_of(tmp_path, "b.py::lost").entries == []
    result.failures.clear()
    result.outdated = [entry.schedule]
    for memory in [memory_of(tmp_path, "a.py::lost"), memory_of(tmp_path, "a.py::lost")]:
        memory.take_over(result)
    assert memory_of(tmp_path, "a.py::lost").entries == []


# As a test


def test_a_test_that_replays_it(write: Write) -> None:
    write("src/race.py", RACE)
    written = run("check", "src/race.py::race", "--save-test", "test_it.py", "--no-keep-failures")
    assert "A test that replays it is in test_it.py; run it with: pytest test_it.py" in (
        written.stdout
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and "1 failed in" in failed.stdout, failed.stdout
    assert "lost update: increment-1 read `counter`" in failed.stdout
    write("src/race.py", REPAIRED)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_test_of_what_passes(write: Write) -> None:
    write("race.py", REPAIRED)
    result = run("check", "race.py::race", "--save-test", "test_it.py")
    assert "No failure: nothing was written to test_it.py" in result.stdout
    assert not Path("test_it.py").exists()


# Debuggers


def in_debugger(commands: str, *arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "mazurka", *arguments],
        input=commands,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def test_stopping_at_an_exception(write: Write) -> None:
    write("race.py", RACE)
    run("check", "race.py::race")
    ended = in_debugger("p threads[0] is not None\nq\n", "replay", str(kept()[0]), "--pdb")
    assert ended.returncode == 1
    assert "AssertionError in thread race" in ended.stdout
    assert '-> assert counter.load() == 2, "lost"' in ended.stdout
    assert "(Pdb) True" in ended.stdout


def test_stopping_in_a_deadlock(write: Write) -> None:
    write(
        "locks.py",
        """
        from threading import Lock
        from mazurka import spawn

        def take(first, second):
            with first:
                with second:
                    pass

        def locks():
            a, b = Lock(), Lock()
            spawn(take, a, b)
            spawn(take, b, a)
        """,
    )
    run("check", "locks.py::locks")
    ended = in_debugger("p first is second\nc\np 6 * 7\nq\n", "replay", str(kept()[0]), "--pdb")
    assert ended.stdout.count("waits for ever") == 2
    assert "-> with second:" in ended.stdout
    assert "(Pdb) False" in ended.stdout and "(Pdb) 42" in ended.stdout


def test_a_breakpoint_stops_once(write: Write) -> None:
    write("race.py", RACE)
    run("check", "race.py::race")
    breaking = RACE.replace(
        "            thread.join()", "            thread.join()\n        breakpoint()"
    )
    write("race.py", breaking)
    ended = in_debugger("p 6 * 7\nc\n", "replay", str(kept()[0]))
    assert ended.returncode == 1, ended.stderr
    assert ended.stdout.count("(Pdb)") == 2 and "(Pdb) 42" in ended.stdout
    left = in_debugger("q\n", "replay", str(kept()[0]))
    assert left.returncode == 130
    assert left.stdout.count("(Pdb)") == 1
    assert "nondeterminism" not in left.stdout + left.stderr


def test_who_leaves_the_debugger_in_a_thread_meets_no_other_one(write: Write) -> None:
    text = """
        import threading

        class Counter:
            value = 0

        def race():
            counter = Counter()

            def add():
                found = counter.value
                counter.value = found + 1

            threads = [threading.Thread(target=add) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert counter.value == 2
    """
    write("race.py", text)
    run("check", "race.py::race")
    line = "                found = counter.value\n"
    write("race.py", text.replace(line, f"{line}                breakpoint()\n"))
    left = in_debugger("q\n", "replay", str(kept()[0]))
    assert left.returncode == 130 and left.stdout.count("(Pdb)") == 1


def test_a_replay_runs_the_program_once(write: Write) -> None:
    write(
        "race.py",
        RACE.replace(
            "        counter = Atomic(0)", "        print('once')\n        counter = Atomic(0)"
        ),
    )
    run("check", "race.py::race")
    assert run("replay", str(kept()[0])).stdout.count("once\n") == 1


# C programs

C_RACE = """
    #include <pthread.h>
    #include <stdatomic.h>
    #include <assert.h>
    atomic_int x;
    void *add(void *arg) { int found = x; x = found + 1; return 0; }
    int main(void) {
        pthread_t a, b;
        pthread_create(&a, 0, add, 0);
        pthread_create(&b, 0, add, 0);
        pthread_join(a, 0);
        pthread_join(b, 0);
        assert(x == N);
    }
"""


def test_c_programs(write: Write) -> None:
    pytest.importorskip("elftools")
    write("race.c", C_RACE)
    first = run("check", "race.c", "--", "-DN=2")
    assert first.exit_code == 1, first.output
    assert "tried first" not in first.stdout
    assert "FAILED; 1 execution" in run("check", "race.c", "--", "-DN=2").stdout
    other = run("check", "race.c", "--", "-DN=(x ? x : 0)")
    assert other.exit_code == 0  # with other flags it is another check
    (file,) = kept()
    assert run("replay", str(file)).exit_code == 1
    write("race.c", C_RACE.replace("int found", "\n int unused = 3; int found"))
    assert "(tried first, as it had failed before)" in run("check", "race.c", "--", "-DN=2").stdout
    refused = run("replay", str(file), "--pdb")
    assert refused.exit_code == 2


# pytest

TESTS = """
    import threading
    import mazurka
    import pytest

    class Counter:
        def __init__(self):
            self.n = 0

        def add(self):
            self.n += 1

    @pytest.fixture
    def counters():
        return Counter

    def increment_all(counter, times):
        threads = [threading.Thread(target=counter.add) for _ in range(times)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert counter.n == times

    @pytest.mark.parametrize("times", [1, 2])
    @mazurka.check
    def test_it(counters, times):
        increment_all(counters(), times)

    @mazurka.check
    def test_plain():
        increment_all(Counter(), 2)

    def test_two():
        mazurka.check(lambda: None)
        mazurka.check(lambda: increment_all(Counter(), 2))
"""
QUICK = ("-p", "no:hypothesispytest", "-p", "no:cacheprovider")


def test_pytest_keeps_what_fails(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(test_it=TESTS)
    first = pytester.runpytest_subprocess(*QUICK, "-v")
    first.assert_outcomes(passed=1, failed=3)
    assert len(kept()) == 3
    again = pytester.runpytest_subprocess(*QUICK, "-v")
    again.assert_outcomes(passed=1, failed=3)
    text = again.stdout.str()
    assert text.count("FAILED; 1 execution") == 3
    (with_parameters,) = [file for file in kept() if file.name.startswith("test_it-2-")]
    assert f"To run it again: mazurka replay {with_parameters}" in text
    replayed = in_debugger("", "replay", str(with_parameters))
    assert replayed.returncode == 1, replayed.stdout
    assert "test_it.py::test_it[2]: FAILED; 1 execution" in replayed.stdout
    assert "1 failed" in replayed.stdout
    (second,) = [file for file in kept() if file.name.startswith("test_two-2-")]
    assert in_debugger("", "replay", str(second)).returncode == 1
    pytester.makepyfile(test_it=TESTS.replace("self.n += 1", "vars(self).update(n=2)"))
    assert in_debugger("", "replay", str(with_parameters)).returncode == 0
    off = pytester.runpytest_subprocess(*QUICK, "--mazurka-no-keep-failures")
    assert "run it again" not in off.stdout.str()


def test_reproduce_in_pytest(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "1")
    pytester.makepyfile(test_it=TESTS)
    output = pytester.runpytest_subprocess(*QUICK, "-k", "plain").stdout.str()
    (line,) = [line for line in output.splitlines() if "@mazurka.reproduce" in line]
    decorator = line[line.index("@mazurka.reproduce") :]
    for file in kept():
        file.unlink()
    above = "    @mazurka.check\n    def test_plain"
    for text in (
        f"    {decorator}\n{above}",
        f"    @mazurka.check\n    {decorator}\n    def test_plain",
    ):
        pytester.makepyfile(test_it=TESTS.replace(above, text))
        found = pytester.runpytest_subprocess(*QUICK, "-k", "plain", "--mazurka-no-keep-failures")
        found.stdout.fnmatch_lines(["*FAILED; 1 execution *tried first*"])
    repaired = TESTS.replace("self.n += 1", "pass").replace("counter.n == times", "True")
    pytester.makepyfile(test_it=repaired.replace(above, f"    {decorator}\n{above}"))
    passed = pytester.runpytest_subprocess(*QUICK, "-k", "plain")
    passed.assert_outcomes(passed=1, warnings=1)
    passed.stdout.fnmatch_lines(["*test_plain: the execution of @mazurka.reproduce does not fail*"])


def test_a_replay_of_nothing(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(test_it="def test_it(): pass")
    result = pytester.runpytest_inprocess(*QUICK, "--mazurka-replay=nowhere.json")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["ERROR: --mazurka-replay: nowhere.json: not a schedule*"])


def test_a_check_that_calls_itself_off_is_not_kept(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(
        test_it="import mazurka, pytest\n@mazurka.check\ndef test_it(): pytest.skip('not here')\n"
    )
    pytester.runpytest_inprocess(*QUICK).assert_outcomes(skipped=1)
    assert kept() == []


def test_a_schedule_says_who_can_run_it() -> None:
    schedule = dataclasses.replace(explore(lost_update).failures[0].schedule, runner="pytest")
    assert Schedule.from_json(schedule.to_json()).runner == "pytest"

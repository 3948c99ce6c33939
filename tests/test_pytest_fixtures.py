"""Fixtures of pytest under many executions: each finds what the first one found."""

import os
import stat
from pathlib import Path
from textwrap import dedent

import pytest

from mazurka.pytest_fixtures import files_in, picture_of, put_files_back

PROGRAM = """
    import logging
    import os
    import sqlite3
    import pytest
    import mazurka
    from mazurka import Atomic, assume, choose, spawn

    log = logging.getLogger("app")

    def both(function):
        threads = [spawn(function, number) for number in range(2)]
        for thread in threads:
            thread.join()
"""


def output(result: pytest.RunResult) -> str:
    text: str = result.stdout.str()
    return text


def run(pytester: pytest.Pytester, source: str, *arguments: str) -> pytest.RunResult:
    pytester.makepyfile(test_it=dedent(PROGRAM) + source)
    return pytester.runpytest_inprocess("-p", "no:hypothesispytest", *arguments)


# Put back before each execution


def test_output(pytester: pytest.Pytester) -> None:
    """An execution that was broken off leaves nothing for the next one to read."""
    source = """
        import sys

        @pytest.fixture
        def greeting(capsys):
            print("hello")

        @mazurka.check
        @pytest.mark.parametrize("fixture", ["capsys", "capfd"])
        def test_output(fixture, request):
            pass

        @mazurka.check
        def test_capsys(capsys, greeting):
            last = Atomic(0)
            def work(number):
                print("thread", number)
                last.store(number)
            both(work)
            assume(last.load() == 1)
            print("end", file=sys.stderr)
            assert choose([1, 2]) > 0
            out, err = capsys.readouterr()
            assert out.startswith("hello\\n") and out.count("thread") == 2
            assert err == "end\\n"

        @mazurka.check
        def test_capfd(capfd):
            last = Atomic(0)
            def work(number):
                os.write(1, b"got\\n")
                last.store(number)
            both(work)
            assume(last.load() == 1)
            assert capfd.readouterr().out == "got\\n" * 2
    """
    run(pytester, dedent(source), "-k", "capsys or capfd").assert_outcomes(passed=4)


@pytest.mark.parametrize("capture", ["fd", "sys"])
def test_the_output_of_the_failing_execution_is_shown(
    pytester: pytest.Pytester, capture: str
) -> None:
    source = """
        @mazurka.check
        def test_decorated():
            counter = Atomic(0)
            def work(number):
                value = counter.load()
                print("read", value)
                log.warning("logged %s", value)
                counter.store(value + 1)
            both(work)
            print("found", counter.load())
            assert counter.load() == 2

        def test_called():
            print("before")
            def program():
                print("chose", choose([1, 2, 3]))
            mazurka.check(program)
            assert 0
    """
    text = output(run(pytester, dedent(source), f"--capture={capture}"))
    shown = text.split("Captured stdout call", 1)[1].split("\n", 1)[1]
    assert shown.startswith("read 0\nread 0\nfound 1\n---")
    assert text.split("Captured log call", 1)[1].count("logged 0") == 2
    last = text.rsplit("Captured stdout call", 1)[1].split("\n", 1)[1]
    assert last.startswith("before\nchose 3\n\nmazurka: ")


def test_nothing_is_captured_or_all_is_shown(pytester: pytest.Pytester) -> None:
    source = """
        @mazurka.check
        def test_it():
            print("chose", choose([1, 2]))
    """
    for option in ("-s", "--capture=tee-sys"):
        result = run(pytester, dedent(source), option)
        result.assert_outcomes(passed=1)
        assert "chose 2" in output(result)


def test_monkeypatch(pytester: pytest.Pytester) -> None:
    source = """
        class Settings:
            port = 80

        @pytest.fixture
        def patched(monkeypatch):
            monkeypatch.setenv("OUTER", "1")
            monkeypatch.setattr(Settings, "port", 443)

        @mazurka.check
        def test_patches(monkeypatch, patched, tmp_path):
            here = os.getcwd()
            assert "INNER" not in os.environ and os.environ["OUTER"] == "1"
            assert Settings.port == 443 and not hasattr(Settings, "host")
            assert here != str(tmp_path)
            monkeypatch.setenv("INNER", "1")
            monkeypatch.setenv("OUTER", "2")
            monkeypatch.setattr(Settings, "host", "x", raising=False)
            monkeypatch.chdir(tmp_path)
            monkeypatch.syspath_prepend(tmp_path)
            choose([1, 2, 3])

        def test_after():
            assert "INNER" not in os.environ and "OUTER" not in os.environ
            assert Settings.port == 80 and not hasattr(Settings, "host")
    """
    run(pytester, dedent(source)).assert_outcomes(passed=2)


def test_tmp_path(pytester: pytest.Pytester) -> None:
    source = """
        @pytest.fixture
        def config(tmp_path):
            (tmp_path / "etc").mkdir()
            (tmp_path / "etc" / "config").write_text("a=1")
            return tmp_path / "etc" / "config"

        @mazurka.check
        def test_files(tmp_path, config):
            assert [path.name for path in tmp_path.iterdir()] == ["etc"]
            assert config.read_text() == "a=1"
            config.write_text("a=2")
            (tmp_path / "new").mkdir()
            (tmp_path / "new" / "file").write_text(str(choose([1, 2, 3])))
            if choose([True, False]):
                config.unlink()

        @mazurka.check
        def test_fails(tmp_path):
            (tmp_path / "choice").write_text(str(choose([1, 2, 3])))
            assert choose([1, 2]) == 1
    """
    result = run(pytester, dedent(source), "--basetemp=made")
    result.assert_outcomes(passed=1, failed=1)
    # What the failing execution has left is there to be looked at.
    assert (pytester.path / "made" / "test_fails0" / "choice").read_text() == "1"


def test_caplog(pytester: pytest.Pytester) -> None:
    source = """
        @mazurka.check
        def test_records(caplog):
            caplog.set_level(logging.DEBUG, logger="app")
            last = Atomic(0)
            def work(number):
                log.debug("thread %s", number)
                last.store(number)
            both(work)
            assume(last.load() == 1)
            assert len(caplog.records) == len(caplog.messages) == 2
    """
    run(pytester, dedent(source)).assert_outcomes(passed=1)


# Files


def test_files_that_are_put_back(tmp_path: Path) -> None:
    kept, script = tmp_path / "a" / "kept", tmp_path / "script"
    kept.parent.mkdir()
    kept.write_text("1")
    script.write_text("#!")
    script.chmod(0o700)
    (tmp_path / "link").symlink_to("a/kept")
    (tmp_path / "empty").mkdir()
    before = files_in(tmp_path)
    kept.write_text("2")  # of the same size, in the same moment
    script.chmod(0o600)
    (tmp_path / "link").unlink()
    (tmp_path / "link").write_text("no link")
    (tmp_path / "empty").rmdir()
    (tmp_path / "new" / "deep").mkdir(parents=True)
    (tmp_path / "new" / "deep" / "file").write_text("x")
    os.mkfifo(tmp_path / "pipe")
    put_files_back(tmp_path, before, files_in(tmp_path))
    assert files_in(tmp_path) == before
    assert stat.S_IMODE(script.stat().st_mode) == 0o700
    assert os.readlink(tmp_path / "link") == "a/kept"


def test_a_folder_that_is_gone(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_text("1")
    before = files_in(folder)
    (folder / "file").unlink()
    folder.rmdir()
    put_files_back(folder, before, files_in(folder))
    assert files_in(folder) == before


# Fixtures that are not as they were

DATABASE = """
    @pytest.fixture
    def database():
        connection = sqlite3.connect(":memory:")
        connection.execute("create table names (name)")
        yield connection
        connection.close()

    @pytest.fixture
    def items():
        return [1, 2]
"""


def test_a_fixture_that_is_changed_is_named(pytester: pytest.Pytester) -> None:
    """Without that, this would be verified, though each execution begins with another state."""
    pytester.makepyfile(
        opaque_module="""
        class Names:
            def __init__(self):
                self.all = []

            def add(self, name):
                self.all.append(name)
        """
    )
    source = """
        import opaque_module

        @pytest.fixture
        def names():
            return opaque_module.Names()

        @mazurka.check(opaque=["opaque_module"])
        def test_names(names, items):
            items.append(choose([1, 2]))
            names.add("x")
            assert len(items) == 3
    """
    result = run(pytester, dedent(DATABASE) + dedent(source))
    result.assert_outcomes(failed=1)
    text = output(result)
    told = "executions change what the fixture names gives, and that is not put back (`names.all["
    assert f"test_names: INCOMPLETE: {told}" in text
    assert "@mazurka.check(fresh=['names'])" in text
    assert "fixture items" not in text


def test_it_is_named_in_failures_too(pytester: pytest.Pytester) -> None:
    source = """
        @mazurka.check(opaque=["sqlite3"])
        def test_database(database):
            database.execute("insert into names values ('x')")
            choose(range(1 + len(list(database.execute("select * from names")))))
    """
    text = output(run(pytester, dedent(DATABASE) + dedent(source)))
    assert "nondeterminism" in text
    assert "executions change what the fixture database gives" in text


def test_fresh_fixtures(pytester: pytest.Pytester) -> None:
    """What is made from a fresh one is fresh, too; each is torn down after its execution."""
    source = """
        log_of_fixtures = []

        @pytest.fixture
        def names(database):
            log_of_fixtures.append("made")
            yield lambda: list(database.execute("select * from names"))
            log_of_fixtures.append("torn down")

        @mazurka.check(opaque=["sqlite3"], fresh=["database"])
        @pytest.mark.parametrize("name", ["x"])
        def test_database(database, names, items, name):
            assert names() == []
            items.append(3)
            database.execute("insert into names values (?)", [name])
            assert len(names()) == 1
            assert choose([1, 2]) and len(items) == 3
            assert log_of_fixtures == ["made"] * 2  # pytest has made one, too

        class TestMethods:
            @pytest.fixture
            def own(self, items):
                self.made = True
                return [*items, 3]

            @mazurka.check(fresh=("own",))
            def test_method(self, own):
                own.append(choose([4, 5]))
                assert self.made and len(own) == 4

        @pytest.fixture
        def box():
            return [0]

        @mazurka.check(fresh=["box"])
        def test_fails(box):
            def work(number):
                box[0] += 1
            both(work)
            assert box[0] == 2
    """
    result = run(pytester, dedent(DATABASE) + dedent(source))
    result.assert_outcomes(passed=2, failed=1)
    assert "lost update: work-1 read `box[0]`" in output(result)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("fresh=['nothing']", "fresh: test_it has no fixture 'nothing'"),
        ("fresh=['shared']", "fresh: the fixture 'shared' is of scope session"),
        ("fresh=['asking']", "fresh: the fixture 'asking' takes request, which pytest alone has"),
        ("fresh='shared'", "fresh is a list of names, not 'shared'"),
    ],
)
def test_what_cannot_be_fresh(pytester: pytest.Pytester, options: str, message: str) -> None:
    source = f"""
        @pytest.fixture(scope="session")
        def shared():
            return 1

        @pytest.fixture
        def asking(request):
            return request

        @mazurka.check({options})
        def test_it(shared, asking):
            pass
    """
    result = run(pytester, dedent(source))
    assert message in output(result)
    assert result.ret != 0


def test_fresh_without_pytest() -> None:
    import mazurka

    @mazurka.check(fresh=["box"])
    def test(box: object) -> None:
        pass

    from mazurka.api import Runner, checks_run_by

    with checks_run_by(Runner()), pytest.raises(mazurka.MazurkaError, match="fixtures of pytest"):
        test(box=1)
    with pytest.raises(mazurka.MazurkaError, match=r"write @mazurka.check\(fresh=\[...\]\) above"):
        mazurka.check(lambda: None, fresh=["box"])  # type: ignore[call-overload]


# How an object is compared with what it was


def test_pictures() -> None:
    class Thing:
        def __init__(self) -> None:
            self.parts: list[object] = [1, {"a": (2, bytearray(b"x"))}]
            self.itself = self

    thing = Thing()
    before = picture_of("thing", thing)
    assert picture_of("thing", thing) == before
    part = thing.parts[1]
    assert isinstance(part, dict)
    part["a"][1][0] = 65
    assert picture_of("thing", thing) != before
    assert picture_of("thing", thing)["thing.parts[1]['a'][1]"] == b"A"

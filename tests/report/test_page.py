"""Pages as they are written: what is in them, and that nothing of a program gets out of its place.
What a browser makes of them is in test_browser.py."""

import base64
import hashlib
import json
import re
import shutil
import threading
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import mazurka
from mazurka.cli.main import main
from mazurka.engine.result import Branch, Failure, Result, Step
from mazurka.engine.schedule import Schedule
from mazurka.report.page import asset, page_of
from mazurka.report.trace_events import trace_document
from tests.report.test_bugs import program_called

ROOT = Path(__file__).parents[2]
EVIL = "</script><script>alert(1)</script><img src=x onerror=alert(2)> {{data}} &lt; \u2028"


class Page(HTMLParser):
    """The elements of a page, and what its scripts and styles say."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: dict[str, list[str]] = {}
        self.open = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        self.open = tag

    def handle_endtag(self, tag: str) -> None:
        self.open = ""

    def handle_data(self, data: str) -> None:
        self.texts.setdefault(self.open, []).append(data)

    @property
    def data(self) -> dict[str, Any]:
        data: dict[str, Any] = json.loads("".join(self.texts["script"][:-1]))
        return data


def hostile() -> object:
    box: dict[str, object] = {EVIL: 0, "\ud800 `x`": 1}

    def change() -> None:
        box[EVIL] = EVIL
        box["\ud800 `x`"] = f"<!-- {EVIL}"

    thread = threading.Thread(target=change, name=EVIL)
    thread.start()
    found = box[EVIL], box["\ud800 `x`"]
    thread.join()
    assert found[0] == 0 or found[1] != 1, f"</title>{EVIL}"
    return found


def test_nothing_of_a_program_gets_out_of_its_place() -> None:
    result = mazurka.explore(hostile, stop_on_failure=False, record=True)
    assert result.failures and len(result.outcomes) == 3
    text = page_of(f"<b>{EVIL}", result)
    page = Page(text)
    template = Page(asset("page.html"))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in template.tags]
    assert page.texts["title"] == [f"<b>{EVIL}"]
    assert page.data["failures"][0]["headline"].startswith(f"AssertionError: </title>{EVIL}")
    assert EVIL in page.data["strings"]
    text.encode("utf-8")  # which a half of a pair would not let it


def test_a_page_needs_nothing_and_runs_no_script_but_its_own() -> None:
    page = Page(page_of("a title", mazurka.explore(hostile)))
    policy = next(
        str(attributes["content"])
        for tag, attributes in page.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy.startswith("default-src 'none'; ")
    for tag in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(page.texts[tag][-1].encode()).digest())
        assert f"{tag}-src 'sha256-{digest.decode()}'" in policy
    for tag, attributes in page.tags:
        assert not {"src", "href", "onclick", "style"} & attributes.keys(), tag
    script = asset("page.js")
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", script)
    assert "url(" not in asset("page.css") and "@import" not in asset("page.css")


def check_executions(data: dict[str, Any]) -> None:
    """All numbers in the data mean something."""
    strings, executions = data["strings"], data["executions"]
    for execution in executions:
        for place, step in enumerate(execution["steps"]):
            thread, file, line, action, operation, access, label, found, left, outcome, *rest = step
            source, after, group, _ = rest
            for text in (thread, file, action, operation, access, label, outcome, group):
                assert strings[text] is not None
            assert max(found, left) < len(strings) and source < place and line >= 0
            assert all(0 <= before < place for before in after)
        assert all(0 <= at < len(execution["steps"]) for at in execution["shown"] or ())
    for failure in data["failures"]:
        assert failure["execution"] < len(executions) and failure["passing"] < len(executions)


@pytest.mark.parametrize("name", ["races.lost_update", "waits.abba", "tasks.cancelled_await"])
def test_what_is_in_a_page(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    result = mazurka.explore(program_called(name), record=True)
    data = Page(page_of(name, result)).data
    check_executions(data)
    (failure,) = data["failures"]
    told = result.failures[0].explanation
    assert told is not None and failure["sentence"] == told.sentence
    execution = data["executions"][failure["execution"]]
    assert len(execution["steps"]) == len(result.failures[0].steps)
    assert len(execution["waiting"]) == len(result.failures[0].waiting)
    ((path, short, ((first, lines),)),) = data["files"]
    assert data["strings"][path].endswith(short) and first == 1
    for row, step in zip(execution["steps"], result.failures[0].steps, strict=True):
        assert not step.file or lines[row[2] - 1].strip() == step.source


def test_the_tree_has_all_executions_and_each_outcome_has_one() -> None:
    def program() -> tuple[int, ...]:
        seen: list[int] = []
        threads = [threading.Thread(target=seen.append, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return tuple(seen)

    for algorithm in ("pop", "source", "trust", "qpor"):
        result = mazurka.explore(program, algorithm=algorithm, record=True)
        recording = result.recording
        assert recording is not None
        assert len(recording.leaves) == result.executions
        assert len({leaf.branch for leaf in recording.leaves}) == result.executions
        assert [leaf.how for leaf in recording.leaves].count("complete") == 6
        for leaf in recording.leaves:
            path: list[Branch] = []
            branch = leaf.branch
            while branch > 0:
                path.insert(0, recording.branches[branch])
                branch = recording.branches[branch].parent
            assert [(each.thread, each.words) for each in path] == [
                (step.thread, step.action) for step in leaf.steps if step.position >= 0
            ]
        assert set(recording.outcomes) == {repr(outcome) for outcome in result.outcomes}
        for outcome, steps in recording.outcomes.items():
            appended = [step.thread for step in steps if step.operation == "append"]
            assert repr(tuple(int(name.split("-")[1][0]) - 1 for name in appended)) == outcome
        assert recording.samples[-1].complete == 6
        check_executions(Page(page_of("all", result)).data)


def test_what_was_not_recorded_is_told() -> None:
    data = Page(page_of("all", mazurka.explore(hostile))).data
    assert data["tree"] is None and data["why"] == "The search was not recorded."
    data = Page(page_of("none", Result())).data
    assert data["executions"] == [] and data["verdict"] == "incomplete"


def long_failure(count: int) -> Failure:
    """An execution of so many steps by three threads that take turns."""
    steps = [
        Step(
            f"Thread-{place % 3}",
            f"write {place} to x",
            __file__,
            1 + place % 40,
            operation="store",
            access="write",
            name="x",
            left=str(place),
            reads_from=place - 1,
            after=(place - 1,) if place else (),
            position=place,
        )
        for place in range(count)
    ]
    return Failure("exception", "AssertionError", Schedule(()), steps, thread="Thread-0")


def test_a_page_of_a_long_execution_stays_small() -> None:
    result = Result("failed", failures=[long_failure(10_000)])
    assert len(page_of("long", result)) < 1_500_000


# Doors

PROGRAM = """
import threading
import mazurka

@mazurka.check
def test_count():
    counts = [0]
    def count():
        counts[0] += 1
    threads = [threading.Thread(target=count) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts[0] == 2
"""


def test_the_command_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("shown_on_a_page.py").write_text(PROGRAM)
    files = ["--html", "it.html", "--trace-json", "it.json", "--save", "it.schedule"]
    ended = CliRunner().invoke(main, ["check", "shown_on_a_page.py::test_count", *files])
    assert ended.exit_code == 1
    assert "The report is in it.html" in ended.stdout
    data = Page(Path("it.html").read_text(encoding="utf-8")).data
    assert data["title"] == "shown_on_a_page.py::test_count" and data["tree"]["leaves"]
    again = CliRunner().invoke(main, ["replay", "it.schedule", "--html", "again.html"])
    assert again.exit_code == 1
    replayed = Page(Path("again.html").read_text(encoding="utf-8")).data
    assert replayed["failures"][0]["sentence"] == data["failures"][0]["sentence"]
    refused = CliRunner().invoke(
        main, ["check", "shown_on_a_page.py::test_count", "--html", "no/it.html"]
    )
    assert refused.exit_code == 2 and "cannot write no/it.html" in refused.output


def test_pytest_writes_a_page_for_each_test_that_fails(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(PROGRAM + "\n\n@mazurka.check\ndef test_nothing():\n    pass\n")
    ended = pytester.runpytest_inprocess("--mazurka-html", "pages")
    ended.assert_outcomes(failed=1, passed=1)
    ended.stdout.fnmatch_lines(["A page to look at in a browser is in pages/*test_count.html"])
    (file,) = (pytester.path / "pages").iterdir()
    assert Page(file.read_text(encoding="utf-8")).data["tree"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_page_of_a_c_program(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("elftools")
    monkeypatch.chdir(ROOT)
    program = mazurka.c_program("tests/report/counter.c")
    result = mazurka.explore(program, record=True, granularity="access")
    assert result.failures and result.recording is not None
    assert len(result.recording.leaves) == result.executions
    data = Page(page_of("counter.c", result)).data
    check_executions(data)
    assert data["files"][0][1] == "counter.c"
    assert "lost update" in data["failures"][0]["sentence"]


# Traces


@pytest.mark.parametrize("name", ["races.lost_update", "waits.lost_wake_up", "waits.abba"])
def test_a_trace(name: str) -> None:
    (failure,) = mazurka.explore(program_called(name)).failures
    events = json.loads(json.dumps(trace_document(name, failure)))["traceEvents"]
    named = {each["tid"]: each["args"]["name"] for each in events if each["name"] == "thread_name"}
    slices = [each for each in events if each["ph"] == "X"]
    assert [named[each["tid"]] for each in slices] == [
        step.thread for step in [*failure.steps, *failure.waiting]
    ]
    for each in events:
        if each["ph"] in "sf":  # an arrow begins and ends within a slice of its thread
            around = [
                one
                for one in slices
                if one["tid"] == each["tid"] and one["ts"] < each["ts"] < one["ts"] + one["dur"]
            ]
            assert len(around) == 1
    starts = {each["id"]: each["ts"] for each in events if each["ph"] == "s"}
    ends = {each["id"]: each["ts"] for each in events if each["ph"] == "f"}
    assert starts.keys() == ends.keys() and starts
    assert all(starts[flow] < ends[flow] for flow in starts)
    arrows = {
        (before, place)
        for place, step in enumerate(failure.steps)
        for before in step.after
        if failure.steps[before].thread != step.thread
    }
    assert starts.keys() == {f"{before}-{place}" for before, place in arrows}

"""Results for other tools: SARIF, annotations of GitHub, notebooks."""

import json
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import mazurka
from mazurka.cli.main import main
from mazurka.engine.result import Failure, Result
from mazurka.engine.schedule import Schedule
from mazurka.report.annotations import annotations
from mazurka.report.sarif import sarif_document
from tests.report.test_bugs import BUGS, program_called

ROOT = Path(__file__).parents[2]
BANK = """
import mazurka
from mazurka import Atomic, choose, spawn

def add(account):
    account.store(account.load() + 1)

@mazurka.check
def test_lost():
    account = Atomic(0)
    threads = [spawn(add, account), spawn(add, account)]
    for thread in threads:
        thread.join()
    assert account.load() == 2

@mazurka.check(max_executions=1)
def test_cut():
    choose([1, 2])

@mazurka.check
def test_fine():
    choose([1, 2])
"""


@pytest.fixture
def bank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_bank.py").write_text(BANK)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    modules = set(sys.modules)
    yield "tests/test_bank.py"
    for name in set(sys.modules) - modules:
        del sys.modules[name]


def checked(*arguments: str, code: int) -> str:
    result = CliRunner().invoke(main, ["check", *arguments])
    assert result.exit_code == code, result.output
    return result.stdout


# Annotations


LOST = (
    r"::error file=tests/test_bank\.py,line=6,title=lost update in "
    r"tests/test_bank\.py%3A%3Atest_lost::lost update: add-1 read .*%0A%0AAssertionError.*"
)
CUT = r"::warning file=tests/test_bank\.py,title=tests/test_bank\.py%3A%3Atest_cut::INCOMPLETE: "


def test_annotations(bank: str) -> None:
    told = [line for line in checked(bank, code=1).splitlines() if line.startswith("::")]
    assert len(told) == 2
    assert re.fullmatch(LOST, told[0])
    assert re.match(CUT, told[1])
    for name, pattern, code in (("test_lost", LOST, 1), ("test_cut", CUT, 3)):
        output = checked(f"{bank}::{name}", code=code)
        assert re.search(f"^{pattern}", output, re.MULTILINE)
    assert "::" not in checked(f"{bank}::test_fine", code=0).partition("\n")[2]


def test_annotations_are_not_among_json(bank: str) -> None:
    json.loads(checked(bank, "--json", code=1))
    json.loads(checked(f"{bank}::test_lost", "--json", code=1))


def test_annotations_only_for_github(bank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert "::error" not in checked(bank, code=1)


@pytest.mark.parametrize("more", [(), ("-n", "1")])
def test_annotations_of_pytest(
    bank: str, pytester: pytest.Pytester, tmp_path: Path, more: tuple[str, ...]
) -> None:
    os.chdir(tmp_path)
    ended = pytester.runpytest_inprocess(tmp_path / bank, f"--rootdir={tmp_path}", *more)
    told = [line for line in ended.stdout.lines if line.startswith("::")]
    assert len(told) == 2
    assert any(re.fullmatch(LOST, line) for line in told)
    assert any(re.match(CUT, line) for line in told)


def test_no_text_ends_a_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    failure = Failure("exception", "a%\r\n::error::b", Schedule(()))
    (line,) = annotations("f,:g", Result("failed", failures=[failure]))
    assert line == "::error title=exception in f%2C%3Ag::a%25%0D%0A    ::error::b"
    assert "\n" not in line and "\r" not in line


# SARIF


def findings_of(document: dict[str, Any]) -> list[dict[str, Any]]:
    (run,) = document["runs"]
    findings: list[dict[str, Any]] = run["results"]
    return findings


def test_sarif(bank: str, tmp_path: Path) -> None:
    assert "The findings are in found.sarif, as SARIF." in checked(
        bank, "--sarif", "found.sarif", code=1
    )
    document = json.loads((tmp_path / "found.sarif").read_text())
    assert document["version"] == "2.1.0"
    (run,) = document["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["lost-update"]
    (invocation,) = run["invocations"]
    (note,) = invocation["toolExecutionNotifications"]
    assert note["level"] == "warning" and "test_cut: INCOMPLETE" in note["message"]["text"]
    (finding,) = run["results"]
    assert (finding["ruleId"], finding["ruleIndex"]) == ("lost-update", 0)
    place = finding["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "tests/test_bank.py"
    assert place["region"]["startLine"] == 6
    flows = finding["codeFlows"][0]["threadFlows"]
    assert [flow["id"] for flow in flows] == ["test_lost", "add-1", "add-2"]
    order = [place["executionOrder"] for flow in flows for place in flow["locations"]]
    assert sorted(order) == list(range(1, len(order) + 1))
    essential = [
        place["location"]["message"]["text"]
        for flow in flows
        for place in flow["locations"]
        if place["importance"] == "essential"
    ]
    assert essential == [
        "add-1: load account: 0",
        "add-1: store 1 to account",
        "add-2: store 1 to account",
    ]


def test_sarif_of_one_check(bank: str, tmp_path: Path) -> None:
    file = str(tmp_path / "found.sarif")
    checked(f"{bank}::test_fine", "--sarif", file, code=0)
    assert findings_of(json.loads(Path(file).read_text())) == []


def test_what_was_not_checked_is_in_the_sarif(bank: str, tmp_path: Path) -> None:
    (tmp_path / "tests" / "broken.py").write_text("import mazurka\n@mazurka.check\n1")
    checked("tests", "--sarif", "found.sarif", code=1)
    (run,) = json.loads((tmp_path / "found.sarif").read_text())["runs"]
    (invocation,) = run["invocations"]
    assert not invocation["executionSuccessful"]
    texts = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert any("tests/broken.py was not checked: " in text for text in texts)


@pytest.mark.parametrize("name", ["waits.abba", "races.torn_read", "tasks.interleaved_await"])
def test_bugs_have_places(name: str) -> None:
    result = mazurka.explore(program_called(name))
    (finding,) = findings_of(sarif_document([(name, result)], [], ROOT))
    assert finding["ruleId"] == BUGS[name][0].replace(" ", "-")
    place = finding["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].startswith("examples/bugs/")
    elsewhere = findings_of(sarif_document([(name, result)], [], ROOT / "docs"))[0]
    uri = elsewhere["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri.startswith("file:///")


# JUnit XML


def test_junit_xml(bank: str, pytester: pytest.Pytester, tmp_path: Path) -> None:
    pytester.runpytest_inprocess(tmp_path / bank, "--junitxml=report.xml")
    text = (pytester.path / "report.xml").read_text()
    assert '<property name="mazurka_bug" value="lost update"' in text
    assert '<property name="mazurka_sentence" value="lost update: add-1 read' in text
    assert '<property name="mazurka_reason" value="stopped after max_executions=1"' in text


# Results that are shown


def test_a_result_as_text() -> None:
    result = mazurka.explore(program_called("waits.abba"))
    assert str(result).startswith("FAILED; 2 executions")
    assert "\n\ndeadlock between `self.checking` and `self.savings`: " in str(result)
    assert str(mazurka.explore(lambda: None)).startswith("verified: no execution fails")
    assert repr(result).startswith("Result(")


def test_a_result_in_a_notebook() -> None:
    def program() -> None:
        raise ValueError("<script>alert(1)</script> & more")

    text = mazurka.explore(program)._repr_html_()
    assert text.startswith("<pre style=") and text.endswith("</pre>")
    assert "<script>" not in text
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more" in text

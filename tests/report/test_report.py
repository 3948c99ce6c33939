"""What a person reads: the text of results and failures, and the same in colour."""

import io
import json
import os
import signal
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from mazurka import Atomic, CheckFailed, Lock, check, explore, spawn
from mazurka.engine.result import Failure, Result, Step
from mazurka.engine.schedule import Schedule
from mazurka.engine.status import Estimate, Status
from mazurka.report.document import result_document
from mazurka.report.progress import (
    Lines,
    Progress,
    progress_lines,
    progress_text,
    view_for_stderr,
)
from mazurka.report.terminal import print_result
from mazurka.report.text import failure_text, outcomes_text, result_text, summary


def failure_of(steps: list[Step], kind: str = "exception") -> Failure:
    """A failure as the runtime would report it."""
    schedule = Schedule(tuple((step.thread, "load 0#1", 0) for step in steps))
    return Failure(kind, "ValueError: no", schedule, steps, "worker")


def loads(count: int) -> list[Step]:
    return [Step("worker", f"load x: {number}") for number in range(1, count + 1)]


def race() -> None:
    counter = Atomic(0)

    def increment() -> None:
        value = counter.load()
        counter.store(value + 1)

    threads = [spawn(increment), spawn(increment)]
    for thread in threads:
        thread.join()
    if counter.load() != 2:
        raise ValueError("an update is lost")


def deadlock() -> None:
    left, right = Lock(), Lock()

    def first() -> None:
        with left, right:
            pass

    def second() -> None:
        with right, left:
            pass

    spawn(first)
    spawn(second)


# Results


def test_summary_of_a_verified_program() -> None:
    result = Result("verified", "optimal", complete=1234, seconds=0.5)
    assert summary(result) == ("verified: no execution fails; 1,234 executions in 0.50 s (optimal)")


def test_summary_names_the_sorts_of_executions_if_there_are_several() -> None:
    result = Result("verified", "source", complete=3, blocked=2, redundant=1)
    assert "6 executions (3 complete, 2 blocked, 1 redundant) in" in summary(result)


def test_summary_of_an_incomplete_search() -> None:
    result = Result("incomplete", "optimal", complete=1, reason="stopped after max_executions=1")
    assert summary(result).startswith(
        "INCOMPLETE: the search was cut short (stopped after max_executions=1); 1 execution in"
    )


def test_what_was_not_seen_is_not_cut_short() -> None:
    result = Result(doubt="not everything was seen")
    result.conclude(True)
    assert summary(result).startswith("INCOMPLETE: not everything was seen; ")


def test_summary_of_a_search_in_vain() -> None:
    result = Result("verified", "optimal", blocked=2)
    assert "but none runs to its end" in summary(result)


def test_failures_that_say_the_same_are_shown_once() -> None:
    result = Result("failed", "optimal", complete=30)
    result.failures = [failure_of(loads(1)) for _ in range(20)]
    text = result_text("program", result)
    assert "30 executions, 20 of which fail, in" in text
    assert text.count("The execution") == 1
    assert text.endswith("(20 executions fail like this; the first is shown.)")


def test_only_so_many_ways_to_fail_are_shown() -> None:
    result = Result("failed", "optimal", complete=13)
    for number in range(13):
        failure = failure_of(loads(1))
        failure.message = f"ValueError: {number}"
        result.failures.append(failure)
    text = result_text("program", result)
    assert text.count("The execution") == 10
    assert text.endswith("(3 more ways to fail not shown.)")


# Failures


def test_account_of_an_exception() -> None:
    lines = failure_text(explore(race).failures[0], 120).splitlines()
    here = Path(__file__).name
    source = Path(__file__).read_text().splitlines()
    line = source.index('        raise ValueError("an update is lost")') + 1
    assert lines[0].startswith("lost update: increment-1 read `counter` (")
    begin = lines.index("ValueError: an update is lost")
    assert lines[begin + 1] == "  in thread race"
    assert lines[begin + 2].startswith("  raised at ")
    assert lines[begin + 2].endswith(f'{here}:{line}: raise ValueError("an update is lost")')
    title = lines[begin + 4]
    assert title.startswith("The execution, 9 steps by 3 threads, in ")
    assert lines[begin + 5].split() == ["race", "increment-1", "increment-2"]
    rows = [line.strip("* ") for line in lines[begin + 6 : begin + 16]]
    assert "spawn increment-1" in rows[0]
    assert rows[-1].startswith("raises ValueError")
    marked = [line for line in lines if line.startswith("* ") and "decides" not in line]
    assert len(marked) == 3


def test_columns_are_aligned() -> None:
    lines = failure_text(explore(race).failures[0], 120).splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("The execution"))
    heading = lines[begin + 1]
    for name, text in (("increment-1", "load counter: 0"), ("increment-2", "store 1 to counter")):
        column = heading.index(name)
        assert any(line[column:].startswith(text) for line in lines)


def test_account_of_a_deadlock() -> None:
    text = failure_text(explore(deadlock).failures[0], 500)
    assert text.startswith("deadlock between `left` and `right`: first waits for `right` (")
    assert "), which second holds (" in text
    assert text.count("waits to acquire right") == 1


def test_account_without_steps() -> None:
    def fails_at_once() -> None:
        raise ValueError("no")

    text = failure_text(explore(fails_at_once).failures[0])
    assert text.startswith("ValueError: no\n")
    assert "The execution" not in text


def test_long_executions_are_folded() -> None:
    lines = failure_text(failure_of(loads(5000))).splitlines()
    assert "The execution, 5,000 steps by 1 thread:" in lines
    assert any("... 4,990 steps ..." in line for line in lines)
    assert any("load x: 5000" in line for line in lines)
    assert len(lines) < 20
    assert "load x: 2500" in failure_text(failure_of(loads(5000)), full=True)


def test_what_decides_is_never_folded() -> None:
    steps = loads(5000)
    steps[2500] = replace(steps[2500], deciding=True)
    steps[1000] = replace(steps[1000], group="ThreadPoolExecutor")
    text = failure_text(failure_of(steps))
    assert "load x: 2501" in text
    assert "... ThreadPoolExecutor: " in text


def test_long_texts_take_several_lines(tmp_path: Path) -> None:
    file = tmp_path / "program.py"
    steps = [
        Step("worker", "store " + "9 " * 100 + " to x", str(file), 1, "1 + " * 50),
        Step("worker", "load y: 1", str(file), 1, "1 + " * 50),
    ]
    for width in (40, 80, 120):
        lines = failure_text(failure_of(steps), width).splitlines()
        begin = next(at for at, line in enumerate(lines) if line.startswith("The execution"))
        assert max(map(len, lines[begin + 1 :])) <= width


def test_threads_without_room_for_columns_are_listed() -> None:
    steps = [Step(f"worker-{number}", f"store {number} to x") for number in range(8)]
    lines = failure_text(failure_of(steps), 80).splitlines()
    assert any(line.strip() == "worker-3" for line in lines)
    assert max(map(len, lines)) <= 80


def test_files_of_one_name_are_told_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    steps = [
        Step("worker", "load x: 1", str(tmp_path / "a" / "program.py"), 1),
        Step("worker", "load x: 2", str(tmp_path / "b" / "program.py"), 2),
        Step("worker", "load x: 3", str(tmp_path / "b" / "other.py"), 3),
    ]
    text = failure_text(failure_of(steps))
    assert os.path.join("a", "program.py") + ":1" in text
    assert os.path.join("b", "program.py") + ":2" in text
    assert "other.py:3" in text


def test_a_message_of_several_lines() -> None:
    failure = failure_of(loads(1))
    failure.message = "AssertionError: one\ntwo\n  three"
    lines = failure_text(failure).splitlines()
    assert lines[:3] == ["AssertionError: one", "    two", "      three"]
    assert lines[-1].strip() == "raises AssertionError: one"


def test_check_failed_has_the_account() -> None:
    with pytest.raises(CheckFailed) as caught:
        check(race, max_events=1000)
    message = str(caught.value)
    assert message.startswith("race: FAILED")
    assert "raises ValueError: an update is lost" in " ".join(message.split())


# Outcomes


def test_outcomes_in_their_own_order() -> None:
    result = Result(outcomes=Counter({10: 1, 9: 1200}))
    assert outcomes_text(result) == "Outcomes:\n  1,200 x  9\n      1 x  10"


def test_outcomes_without_an_order() -> None:
    result = Result(outcomes=Counter({None: 1, "b": 2, (1, 2): 3}))
    assert outcomes_text(result) == "Outcomes:\n  2 x  'b'\n  3 x  (1, 2)\n  1 x  None"


def test_no_outcomes() -> None:
    assert outcomes_text(Result()).startswith("No outcomes")


def test_an_outcome_that_cannot_be_shown() -> None:
    class Shy:
        def __repr__(self) -> str:
            raise ValueError

    result = Result(outcomes=Counter({Shy(): 1}))
    assert "1 x  <Shy whose repr raises ValueError>" in outcomes_text(result)


# JSON


def test_document_can_be_written_and_holds_every_step() -> None:
    result = explore(race)
    result.outcomes[object()] += 1
    document = json.loads(json.dumps(result_document("program", result)))
    assert len(document["failures"][0]["steps"]) == 9
    assert document["failures"][0]["schedule"]["failure"] == "exception"


# Terminals


def on_terminal(result: Result, width: int, colour: bool) -> str:
    stream = io.StringIO()
    console = Console(
        file=stream,
        width=width,
        force_terminal=True,
        color_system="standard" if colour else None,
        highlight=False,
    )
    print_result(console, "program", result)
    return stream.getvalue()


@pytest.mark.parametrize("program", [race, deadlock])
def test_a_terminal_shows_the_same_as_the_text(program: object) -> None:
    result = explore(program)  # type: ignore[arg-type]
    assert on_terminal(result, 300, False) == result_text("program", result, 300) + "\n"


def test_threads_have_colours() -> None:
    text = on_terminal(explore(race), 300, True)
    assert "\x1b[1;36mrace " in text
    assert "\x1b[1;33mincrement-1 " in text
    assert "\x1b[1;35mincrement-2" in text


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_is_as_wide_as_the_terminal(width: int) -> None:
    lines = on_terminal(explore(race), width, False).splitlines()
    begin = next(at for at, line in enumerate(lines) if line.startswith("The execution"))
    assert max(map(len, lines[begin + 1 :])) <= width


def test_square_brackets_are_no_markup() -> None:
    result = Result("failed", failures=[failure_of([Step("worker", "acquire forks[red]")])])
    assert "acquire forks[red]" in on_terminal(result, 100, False)


# Progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_text() -> None:
    result = Result(complete=120_000, seconds=60.0)
    assert progress_text(result, 60.0) == "120,000 executions  2,000/s  1:00"
    result.failures.append(failure_of([]))
    assert progress_text(result, 61.0) == "120,000 executions  2,000/s  1:01  1 failure"
    assert progress_text(Result(), 0.0) == "0 executions  0/s  0:00"


def test_progress_tells_how_much_is_left_and_what_it_takes() -> None:
    result = Result(complete=900, redundant=100, seconds=10.0)
    result.status = Status(Estimate(4000, 2000, 9000), 34, 120.0, 3, [60.0, 40.0])
    assert progress_lines(result, 11.0) == [
        "1,000 executions  100/s  0:11",
        "about 4,000 executions (2,000 to 9,000): about 30 s (10 s to 80 s) left",
        "100 redundant, 34 steps deep, 120 MB, 3 tasks waiting",
        "2 workers: 60/s, 40/s",
    ]
    result.status = Status(Estimate(500, 100, 800), rates=[1.0] * 20)
    assert progress_lines(result, 11.0)[1] == "1,000 executions: 0.0 s left"
    assert progress_lines(result, 11.0)[3] == "20 workers: 1/s to 1/s"


def test_lines_come_less_and_less_often() -> None:
    lines: list[str] = []
    view = Lines(lines.append)
    for second in range(100):
        view(Result(complete=second, seconds=float(second)), float(second))
    assert [line.split()[0] for line in lines] == ["10", "20", "40", "80"]


def test_progress_line_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    view = view_for_stderr()
    with Progress(view):
        view(Result(complete=1, seconds=0.01), 0.01)
        assert stream.getvalue() == ""
        view(Result(complete=100, seconds=1.0), 1.0)
    assert "100 executions  100/s  0:01" in stream.getvalue()


def test_no_progress_line_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    view = view_for_stderr()
    with Progress(view) as progress:
        progress(Result(complete=100, seconds=1.0))
        assert stream.getvalue() == ""
        view(Result(complete=100, seconds=10.0), 10.0)
    assert stream.getvalue() == "100 executions  10/s  0:10\n"


def test_interrupt_waits_for_the_end_of_an_execution() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Progress() as progress:
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            progress(Result(complete=100))
        assert progress.result.executions == 100
    assert signal.getsignal(signal.SIGINT) is before


def test_second_interrupt_does_not_wait() -> None:
    with Progress():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)

"""The classic bugs of examples/bugs: what is said of each, and how it looks.

MAZURKA_SNAPSHOTS=write pytest tests/report/test_bugs.py    takes what is said now for right
"""

import importlib.util
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from mazurka import explore
from mazurka.engine.result import Failure
from mazurka.report.columns import MOST_ROWS, table_of
from mazurka.report.text import failure_text

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples" / "bugs"
SNAPSHOTS = Path(__file__).parent / "bugs"
COUNT = re.compile(r"[0-9,]+ steps?\b")  # which may be other ones in another version of Python

# The kind of each bug, and what the sentence must name.
BUGS = {
    "races.lost_update": ("lost update", "`stats['hits']`"),
    "races.check_then_act": ("check-then-act", "`account.balance`"),
    "races.lazy_init": ("check-then-act", "`lazy.connection`"),
    "races.double_checked_lock": ("unsafe publication", "`settings.values['port']`"),
    "races.unsafe_publication": ("unsafe publication", "`message.ready`"),
    "races.torn_read": ("torn read", "`span.begin`"),
    "races.changed_while_iterated": ("iteration while changed", "`sessions['eve']`"),
    "races.iterator_shared": ("lost update", "`numbers.next_number`"),
    "races.queue_wrapper": ("check-then-act", "`jobs.waiting`"),
    "races.aba": ("ABA", "`self.top`"),
    "races.read_write_lock": ("check-then-act", "`lock.readers`"),
    "waits.abba": ("deadlock", "between `self.checking` and `self.savings`"),
    "waits.lost_wake_up": ("lost wake-up", "`ready`"),
    "waits.if_instead_of_while": ("if-instead-of-while", "`box.items`"),
    "waits.notified_too_early": ("notified too early", "`door.is_open`"),
    "waits.semaphore_leaked": ("never released", "`self.slots`"),
    "waits.executor_waits_for_itself": ("executor waits for itself", "no worker is free"),
    "waits.livelock": ("livelock", "`self.spoon`"),
    "tasks.interleaved_await": ("interleaved await", "`account.balance`"),
    "tasks.cancelled_await": ("cancelled await", "cancelled Task-2 (consume)"),
}

by_bug = pytest.mark.parametrize("name", BUGS)


def program_called(name: str) -> Callable[[], object]:
    module_name, _, function = name.partition(".")
    spec = importlib.util.spec_from_file_location(
        f"bugs_{module_name}", EXAMPLES / f"{module_name}.py"
    )
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    program: Callable[[], object] = getattr(module, function)
    return program


def failure_of(name: str) -> Failure:
    return explore(program_called(name)).failures[0]


def test_all_bugs_are_there() -> None:
    functions = {
        f"{file.stem}.{name}"
        for file in EXAMPLES.glob("*.py")
        for name in re.findall(r"^mazurka check .*::(\w+)", file.read_text(), re.MULTILINE)
    }
    assert functions <= set(BUGS) and len(BUGS) == 20


@by_bug
def test_the_sentence_and_the_rows(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    failure = failure_of(name)
    bug, words = BUGS[name]
    assert failure.explanation is not None
    assert failure.explanation.bug == bug
    assert words in failure.explanation.sentence
    assert len(table_of(failure).rows) <= MOST_ROWS
    text = COUNT.sub("N steps", failure_text(failure, 100)) + "\n"
    snapshot = SNAPSHOTS / f"{name}.txt"
    if os.environ.get("MAZURKA_SNAPSHOTS") == "write":
        snapshot.write_text(text)
    assert text == snapshot.read_text()

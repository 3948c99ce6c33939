"""A failing execution beside one that passes; all steps of one; what replays and documents say."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import mazurka
from mazurka import explore, replay
from mazurka.engine.result import Step
from mazurka.native.accounts import in_words_of_condition
from mazurka.report.compare import NOTHING, comparison
from mazurka.report.document import result_document
from mazurka.report.text import failure_text
from tests.report.test_bugs import BUGS, failure_of, program_called


def test_both_executions() -> None:
    lines = comparison(failure_of("races.lost_update"), 100)
    assert lines[0] == "The failing execution, and one that passes:"
    assert any("Thread-1: read stats['hits']: 1" in line for line in lines[1:])
    assert max(map(len, lines)) <= 100


def test_no_execution_passes() -> None:
    def fails() -> None:
        raise ValueError

    assert comparison(explore(fails).failures[0], 100) == [NOTHING]


def test_all_steps() -> None:
    failure = failure_of("races.lost_update")
    assert "..." not in failure_text(failure, 200, full=True)
    assert "... threading: 1 step ..." in failure_text(failure, 200)


@pytest.mark.parametrize("name", ["races.torn_read", "waits.abba", "tasks.cancelled_await"])
def test_replays_say_the_same(name: str) -> None:
    program = program_called(name)
    failure = explore(program).failures[0]
    assert failure.explanation is not None
    again = replay(program, failure.schedule.to_json())
    assert again.explanation is not None
    assert again.explanation.sentence == failure.explanation.sentence


@pytest.mark.parametrize("name", BUGS)
def test_no_more_preemptions_than_the_least_bound_that_finds_it(name: str) -> None:
    program = program_called(name)
    explanation = explore(program).failures[0].explanation
    assert explanation is not None
    result = explore(program, preemptions="0..")
    assert result.failures[0].explanation is not None
    least = result.failures[0].explanation.found_with
    assert explanation.preemptions <= least


def test_documents_have_all_that_is_shown() -> None:
    result = explore(program_called("races.lost_update"))
    document = json.loads(json.dumps(result_document("program", result)))
    (failure,) = document["failures"]
    assert failure["explanation"]["bug"] == "lost update"
    first, second = failure["explanation"]["deciding"][0]
    assert failure["steps"][first]["deciding"] and failure["steps"][second]["deciding"]
    columns = failure["columns"]
    assert {row["thread"] for row in columns["rows"]} <= {"", *columns["threads"]}


LOST_IN_C = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
static atomic_int hits;
static void *hit(void *unused) {
    int found = atomic_load(&hits);
    atomic_store(&hits, found + 1);
    return NULL;
}
int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, hit, NULL);
    pthread_create(&two, NULL, hit, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    assert(hits == 2);
}
"""

LOST_SIGNAL_IN_C = """
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
static void *wait(void *unused) {
    pthread_mutex_lock(&lock);
    pthread_cond_wait(&ready, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&ready);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}
"""


@pytest.mark.parametrize(
    ("text", "begin"),
    [
        (LOST_IN_C, "lost update: hit-1 read `hits` (program.c:7) and wrote it (program.c:8)"),
        (LOST_SIGNAL_IN_C, "lost wake-up: main notified `ready` (program.c:15) when nobody"),
    ],
    ids=["lost update", "lost signal"],
)
def test_c_programs(text: str, begin: str, tmp_path: Path) -> None:
    file = tmp_path / "program.c"
    file.write_text(text)
    program = mazurka.c_program(str(file))
    explanation = explore(program).failures[0].explanation
    assert explanation is not None
    assert explanation.sentence.startswith(begin)


def test_conditions_of_c_are_told_as_users_know_them() -> None:
    def told(operation: str, name: str, source: str, **more: str) -> tuple[str, str]:
        step = Step("get", f"{operation} {name}", source=source, operation=operation, name=name)
        step = in_words_of_condition(replace(step, **more), "ready")  # type: ignore[arg-type]
        return step.action, step.group

    wait, signal = "pthread_cond_wait(&ready, &lock);", "pthread_cond_signal(&ready);"
    assert told("fetch_or", "ready", wait) == ("begin to wait on ready", "")
    assert told("wait", "the wait of get", wait) == ("wait on ready: notified", "")
    assert told("load", "ready", signal, found="0") == ("notify ready: nobody waits", "")
    assert told("load", "ready", signal, found="4") == ("load ready", "pthread")
    assert told("end", "the wait of get", signal) == ("notify get on ready", "")
    assert told("release", "lock", wait) == ("release lock", "")

"""C programs on the command line and in calls from Python."""

import json
import re
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import mazurka
from mazurka.api import explore_tasks
from mazurka.cli.main import main
from mazurka.engine.task import Task

LOST_UPDATE = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
atomic_int balance = 10;
void *deposit(void *unused) { int found = balance; balance = found + AMOUNT; return unused; }
int main(int count, char **arguments) {
    pthread_t one, other;
    pthread_create(&one, NULL, deposit, NULL);
    pthread_create(&other, NULL, deposit, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    assert(count > 1 || balance == 10 + 2 * AMOUNT);
    return 0;
}
"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def file_with(folder: Path, text: str) -> Path:
    file = folder / "program.c"
    file.write_text(text)
    return file


def test_a_failure_is_saved_and_replayed(tmp_path: Path) -> None:
    program, schedule = file_with(tmp_path, LOST_UPDATE), tmp_path / "schedule.json"
    found = run("check", program, "--save", schedule, "--", "-DAMOUNT=5")
    assert found.exit_code == 1, found.output
    assert "assertion failed: count > 1 || balance == 10 + 2 * AMOUNT" in found.output
    assert "deposit-2" in found.output
    assert "write 15 to balance" in found.output
    again = run("replay", schedule)
    assert again.exit_code == 1, again.output
    assert "write 15 to balance" in again.output
    program.write_text(LOST_UPDATE.replace("found + AMOUNT", "found + AMOUNT * 0"))
    assert run("replay", schedule).exit_code == 1
    program.write_text(LOST_UPDATE.replace("int found = balance;", "int found = 0;"))
    changed = run("replay", schedule)
    assert changed.exit_code == 1  # it was followed as far as it fits, and fails all the same
    assert "The program has changed since" in changed.output
    program.write_text(LOST_UPDATE.replace("balance = found + AMOUNT", "balance += AMOUNT"))
    repaired = run("replay", schedule)
    assert repaired.exit_code == 2
    assert "the program has changed" in repaired.output


def test_arguments_of_main(tmp_path: Path) -> None:
    program = file_with(tmp_path, LOST_UPDATE)
    found = run("check", program, "--json", "--args", "some 'more words'", "--", "-DAMOUNT=5")
    assert found.exit_code == 0, found.output
    document = json.loads(found.stdout)
    assert document["verdict"] == "verified"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("int main( {", "does not compile"),
        ("int other(void) { return 0; }", "has no function main"),
        ("#include <unistd.h>\nint main(void) { return fork(); }", "the program calls fork"),
        ("#include <sys/socket.h>\nint main(void) { return socket(1, 1, 0); }", "calls socket"),
        ("#include <sched.h>\nint main(void) { return unshare(0); }", "--opaque unshare"),
        ("__int128 a; int main(void) { return __sync_fetch_and_add(&a, 0); }", "8 bytes long"),
        (
            "#include <signal.h>\nint main(void) { sigset_t all; sigfillset(&all); "
            "pthread_sigmask(SIG_SETMASK, &all, 0); return raise(SIGUSR1); }",
            "a signal that it blocks",
        ),
        # The runtime calls this one itself.
        (
            "#include <signal.h>\nint main(void) { return sigaltstack(0, 0); }",
            "--opaque sigaltstack",
        ),
    ],
)
def test_what_cannot_be_checked_is_refused(tmp_path: Path, text: str, message: str) -> None:
    found = run("check", file_with(tmp_path, text))
    assert found.exit_code == 2, found.output
    assert message in found.output


def test_what_is_not_there_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = run("check", tmp_path / "nothing.c")
    assert found.exit_code == 2
    assert "does not exist" in found.output
    program = file_with(tmp_path, "int main(void) { return 0; }")
    found = run("check", program, "--timeouts", "last")
    assert found.exit_code == 2
    assert "timeouts is not there for C programs yet" in found.output
    monkeypatch.setenv("CC", "no-such-compiler")
    found = run("check", program)
    assert found.exit_code == 2
    assert "there is no C compiler" in found.output


def test_flags_are_for_c_programs() -> None:
    found = run("check", "module:function", "--", "-O1")
    assert found.exit_code == 2
    assert "for C programs" in found.output


def test_assembly_is_not_seen(tmp_path: Path) -> None:
    (tmp_path / "header.h").write_text('#define ADD(x) __asm__("incl %0" : "+m"(x))\n')
    text = '#include "header.h"\nint x;\nint main(void) { ADD(x); return x - 1; }'
    found = run("check", file_with(tmp_path, text))
    assert found.exit_code == 3, found.output
    assert "program.c:3" in found.output


def test_assembly_that_is_left_out_or_does_nothing_is_none(tmp_path: Path) -> None:
    text = """
        #if 0
        int left_out(int *x) { __asm__("incl %0" : "+m"(*x)); return 0; }
        #endif
        /* asm("comment") */
        int main(void) { __asm__ volatile("" : : : "memory"); asm("pause"); return 0; }
    """
    result = mazurka.explore(mazurka.c_program(file_with(tmp_path, text)))
    assert (result.verdict, result.warnings) == ("verified", [])


def test_an_endless_loop_is_told(tmp_path: Path) -> None:
    text = "int main(int count, char **unused) { for (;;) { if (!count) break; } return 0; }"
    program = mazurka.c_program(file_with(tmp_path, text))
    result = mazurka.explore(program, step_limit=0.3)
    assert [failure.kind for failure in result.failures] == ["stuck"]
    assert "endless" in result.failures[0].message


def test_an_execution_that_does_not_end_is_told(tmp_path: Path) -> None:
    text = """
        #include <stdatomic.h>
        atomic_int number;
        int main(void) { while (number < 1000) number++; return 0; }
    """
    program = mazurka.c_program(file_with(tmp_path, text))
    result = mazurka.explore(program, max_events=200)
    assert [failure.kind for failure in result.failures] == ["too long"]


def test_assumptions(tmp_path: Path) -> None:
    text = """
        #include <pthread.h>
        #include <stdatomic.h>
        void __VERIFIER_assume(int);
        atomic_int flag;
        void *set(void *unused) { flag = 1; return unused; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, set, 0);
            __VERIFIER_assume(flag);
            return 0;
        }
    """
    result = mazurka.explore(mazurka.c_program(file_with(tmp_path, text)))
    assert (result.verdict, result.complete, result.blocked) == ("verified", 1, 1)


def test_a_check_in_python(tmp_path: Path) -> None:
    program = mazurka.c_program(file_with(tmp_path, LOST_UPDATE), flags=["-DAMOUNT=1"])
    with pytest.raises(mazurka.CheckFailed, match="assertion failed"):
        mazurka.check(program, time_limit=60)
    told: list[mazurka.Result] = []
    result = mazurka.explore(program, stop_on_failure=False, progress=told.append)
    assert result.threads == 3
    assert told
    with pytest.raises(mazurka.MazurkaError, match="list of texts"):
        mazurka.c_program("program.c", flags="-O1")


def test_tasks_can_be_taken_up_elsewhere(tmp_path: Path) -> None:
    """Each part of the search is run by a process of its own."""
    program = mazurka.c_program(file_with(tmp_path, LOST_UPDATE), flags=["-DAMOUNT=1"], args=["x"])
    whole = mazurka.explore(program)
    first = mazurka.explore(program, max_executions=1)
    assert first.executions == 1
    result, left = explore_tasks(program, [Task("pop")], max_executions=1)
    while left:
        more, new = explore_tasks(program, [left.pop()], max_executions=1)
        result, left = result + more, left + new
    assert result.executions == whole.executions


def test_bit_fields_are_not_seen_as_steps(tmp_path: Path) -> None:
    text = """
        #include <pthread.h>
        struct { unsigned one : 3, other : 3; } bits;
        void *set(void *unused) { bits.one = 1; return unused; }
        int main(void) {
            pthread_t t;
            pthread_create(&t, 0, set, 0);
            bits.other = 1;
            return 0;
        }
    """
    program = mazurka.c_program(file_with(tmp_path, text))
    result = mazurka.explore(program, granularity="access")
    assert result.verdict == "incomplete"
    assert "program.c:3 has a bit-field" in result.warnings[0]
    assert [failure.kind for failure in mazurka.explore(program).failures] == ["data race"]


# Structures that are handed over. In comments: what of a line is told not to be seen.
BY_VALUE = r"""
#include <stdio.h>
struct pair { long a, b, c; };
struct box { struct pair inner; int number; } *box;
static struct pair all, several_1[3];
const struct pair origin;
struct pair made(long a) { struct pair one = {a, a, a}; return one; }
long sum(struct pair one, const char *text, ...) { (void)text; return one.a + one.b; }
struct pair same(struct pair one) { return one; }
struct pair of_all(void) { return all; }
void set(struct pair *one) { one->a = 1; }
struct pair (*through)(struct pair) = same;
struct pair far;
int main(int count, char **arguments) {
    struct pair own = made(1), lent, few[2] = {own};
    sum(few[count - 1], "");
    static struct pair kept;
    static const struct pair fixed;
    set(&lent);
    own = same(own);
    sum(made(2), "(,\",", 1);
    sum(same(origin), "", same(fixed), box ? own : all);
    sum((struct pair){1, 2, 3}, "");
    own = of_all();
    struct pair copy = several_1[count];
    if (count == 1) return sum(copy, "") < 0;
    sum(several_1[count], "");  // several_1[count]
    all = same(own);  // all
    own = through(box->inner);  // box->inner
    sum(own, "", *(struct pair *)arguments);  // *arguments
    sum(kept, "");  // kept
    extern struct pair far;
    sum(far, "");  // far
    static _Thread_local struct pair of_thread;
    sum(of_thread, "");  // of_thread
    sum(lent, "");  // lent
    return 0;
}
"""


def test_structures_that_are_passed_from_what_is_shared_are_not_seen(tmp_path: Path) -> None:
    lines = BY_VALUE.splitlines()
    told = [(place, line.split("// ")[1]) for place, line in enumerate(lines, 1) if "// " in line]
    source = file_with(tmp_path, BY_VALUE)
    for level in ("-O0", "-O1"):
        result = mazurka.explore(mazurka.c_program(source, flags=[level]))
        found = [
            re.search(r":(\d+) (?:hands|puts .*? into) (\S+)", line) for line in result.warnings
        ]
        assert [(int(one[1]), one[2].rstrip(":")) for one in found if one] == told
    assert result.verdict == "incomplete"
    assert "opaque" not in str(result)


def test_structures_that_are_passed_from_what_a_thread_has_are_seen(tmp_path: Path) -> None:
    text = "\n".join(line for line in BY_VALUE.splitlines() if "// " not in line)
    result = mazurka.explore(mazurka.c_program(file_with(tmp_path, text)))
    assert (result.verdict, result.warnings) == ("verified", [])


def test_memory_that_is_never_freed(tmp_path: Path) -> None:
    text = "#include <stdlib.h>\nint main(void) { return malloc(3) == NULL; }"
    program = file_with(tmp_path, text)
    assert run("check", program).exit_code == 0
    found = run("check", program, "--leaks")
    assert found.exit_code == 1, found.output
    assert "1 of 3 bytes at" in found.output
    with pytest.raises(mazurka.MazurkaError, match="for C programs only"):
        mazurka.explore(lambda: None, leaks=True)


def test_a_plain_flag_that_a_loop_waits_for(tmp_path: Path) -> None:
    text = """
        #include <pthread.h>
        volatile int stop;
        void *wait(void *unused) { while (!stop) {} return unused; }
        void *end(void *unused) { stop = 1; return unused; }
        int main(void) {
            pthread_t threads[2];
            pthread_create(&threads[0], 0, wait, 0);
            pthread_create(&threads[1], 0, end, 0);
            pthread_join(threads[0], 0);
            pthread_join(threads[1], 0);
            return 0;
        }
    """
    result = mazurka.explore(mazurka.c_program(file_with(tmp_path, text)))
    assert [failure.kind for failure in result.failures] == ["data race"]

"""The C library: files, clocks, texts, signals, what runs before and after main."""

import subprocess
from pathlib import Path

import pytest

import mazurka
from mazurka.engine.result import DATA_RACE
from mazurka.native.program import Manner
from tests.native.in_process import compiled_text
from tests.native.in_process import explored as explored_here

FILES = r"""
#include <assert.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
FILE *notes;
void *note(void *text) { fprintf(notes, "%s\n", (char *)text); return 0; }
int main(int count, char **arguments) {
    FILE *file = fopen(arguments[1], "r");
    char line[100], word[20];
    int one, other;
    assert(file && fgets(line, sizeof line, file) && !strcmp(line, "first line\n"));
    assert(fscanf(file, "%d %d", &one, &other) == 2 && one + other == 7);
    assert(fgetc(file) == '\n' && fgetc(file) == EOF && feof(file) && !fclose(file));
    assert(sscanf("12 hello", "%d %19s", &one, word) == 2 && one == 12 && !strcmp(word, "hello"));
    assert(access(arguments[2], F_OK) != 0);
    notes = fopen(arguments[2], "w+");
    pthread_t first, second;
    pthread_create(&first, 0, note, "one");
    pthread_create(&second, 0, note, "two");
    pthread_join(first, 0);
    pthread_join(second, 0);
    struct stat about;
    assert(stat(arguments[2], &about) == 0 && about.st_size == 8);
    rewind(notes);
    line[fread(line, 1, sizeof line - 1, notes)] = 0;
    fputs(line, stdout);
    fclose(notes);
    return 0;
}
"""

CLOCKS = """
#include <assert.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>
struct timespec begin, end;
void *work(void *unused) { sleep(3); clock_gettime(CLOCK_MONOTONIC, &end); return unused; }
int main(void) {
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    sleep(1);
    pthread_join(thread, 0);
    assert(end.tv_sec - begin.tv_sec == 3);
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    assert(now.tv_sec >= end.tv_sec);
    while (time(0) < begin.tv_sec + 4) usleep(100000);
    assert(nanosleep(&(struct timespec){-1, 5}, 0) == -1);
    assert(nanosleep(&(struct timespec){0, 5}, 0) == 0);
    return 0;
}
"""

BEFORE_AND_AFTER = """
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdatomic.h>
int *early; atomic_int number;
__attribute__((constructor)) void begin(void) { early = malloc(4); *early = 5; number++; }
void first(void) { printf("first\\n"); exit(0); }
void last(void) { printf("last\\n"); }
int main(void) {
    assert(*early == 5 && number == 1);
    free(early);
    atexit(last);
    atexit(first);
    return 3;
}
"""

SIGNALS = """
#include <assert.h>
#include <pthread.h>
#include <signal.h>
int got;
void take(int number) { got = number; }
void mend(void *given) { *(int *)given = 1; }
void *leave(void *given) {
    pthread_cleanup_push(mend, given);
    pthread_exit(0);
    pthread_cleanup_pop(0);
}
int main(void) {
    signal(SIGUSR1, take);
    raise(SIGUSR1);
    assert(got == SIGUSR1);
    int is_mended = 0;
    pthread_t thread;
    pthread_create(&thread, 0, leave, &is_mended);
    pthread_join(thread, 0);
    assert(is_mended);
    raise(SIGTERM);
}
"""

TEXTS = """
#define _GNU_SOURCE
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    char text[] = "a,b;c", *rest, *made;
    assert(!strcmp(strtok_r(text, ",;", &rest), "a") && !strcmp(strtok_r(0, ",;", &rest), "b"));
    assert(!strcmp(strtok_r(0, ",;", &rest), "c") && !strtok_r(0, ",;", &rest));
    assert(strtol("0x1fz", &rest, 16) == 31 && *rest == 'z' && atof("2.5e1") == 25);
    assert(!strcmp(strstr("needle in hay", "in"), "in hay") && !strcasecmp("ABC", "abc"));
    assert(asprintf(&made, "%.*s-%05.1f", 2, "xyz", 3.14159) == 8 && !strcmp(made, "xy-003.1"));
    free(made);
    return 0;
}
"""

TWICE = """
#define _GNU_SOURCE
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static struct tm date;
static const char *which;
#define IS(name) if (!strcmp(which, name))
void *call(void *unused) {
    time_t now = 0;
    IS("localtime") localtime(&now);
    IS("asctime") asctime(&date);
    IS("lgamma") lgamma(2);
    IS("setenv") setenv("A", "B", 1);
    IS("strtok") strtok((char[]){"a b"}, " ");
    return unused;
}
int main(int count, char **arguments) {
    pthread_t thread;
    which = arguments[count - 1];
    pthread_create(&thread, 0, call, 0);
    call(0);
    pthread_join(thread, 0);
    return 0;
}
"""

FUTEX = """
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>
atomic_int word;
void *set(void *unused) {
    word = 1;
    WAKE;
    return unused;
}
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, set, 0);
    while (word == 0) syscall(SYS_futex, &word, FUTEX_WAIT, 0, 0, 0, 0);
    pthread_join(thread, 0);
    return 0;
}
"""


def explored(folder: Path, text: str, *args: str, **options: object) -> mazurka.Result:
    file = folder / "program.c"
    file.write_text(text)
    return mazurka.explore(mazurka.c_program(file, args=args), **options)  # type: ignore[arg-type]


def test_each_execution_finds_the_same_files(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("first line\n3 4\n")
    notes = tmp_path / "notes"
    result = explored(tmp_path, FILES, str(tmp_path / "input"), str(notes))
    assert (result.verdict, result.executions) == ("verified", 2), result.failures
    assert sorted(result.outcomes) == ["one\ntwo\n", "two\none\n"]
    assert not notes.exists()


def test_time_is_not_waited_for(tmp_path: Path) -> None:
    assert explored(tmp_path, CLOCKS).verdict == "verified"


def test_before_and_after_main(tmp_path: Path) -> None:
    result = explored(tmp_path, BEFORE_AND_AFTER)
    assert (result.verdict, list(result.outcomes)) == ("verified", ["first\nlast\n"])


def test_signals_and_cleanups(tmp_path: Path) -> None:
    result = explored(tmp_path, SIGNALS)
    assert [failure.message for failure in result.failures] == ["Terminated"]


def test_texts_and_numbers(tmp_path: Path) -> None:
    assert explored(tmp_path, TEXTS).verdict == "verified"


def test_a_wake_that_is_missing(tmp_path: Path) -> None:
    wake = "syscall(SYS_futex, &word, FUTEX_WAKE, 1, 0, 0, 0)"
    assert explored(tmp_path, FUTEX.replace("WAKE;", wake + ";")).verdict == "verified"
    lost = explored(tmp_path, FUTEX.replace("WAKE;", ";"))
    assert lost.failures[0].kind == "deadlock"


def test_functions_that_are_known_to_be_harmless(tmp_path: Path) -> None:
    text = "#include <unistd.h>\nint main(void) { return gethostid() == 77; }"
    result = explored(tmp_path, text, opaque=["gethostid"])
    assert (result.verdict, result.opaque) == ("verified", ["gethostid"])


def test_choices(tmp_path: Path) -> None:
    text = "int mazurka_choose(int); int main(void) { return mazurka_choose(3) * 0; }"
    assert explored(tmp_path, text).executions == 3


def test_the_library_gives_what_it_gives_without_mazurka(tmp_path: Path) -> None:
    source, built = Path(__file__).with_name("library.c"), tmp_path / "library"
    subprocess.run(["cc", "-w", str(source), "-o", str(built), "-lm", "-pthread"], check=True)
    alone = subprocess.run([built], capture_output=True, env={"TZ": "UTC"}, check=True).stdout
    result = mazurka.explore(mazurka.c_program(source, flags=["-lm", "-w"]), stop_on_failure=False)
    assert result.verdict == "verified", result
    assert list(result.outcomes) == [alone.decode()]


# What the C library keeps for all threads, and what that is called.
SHARED = {
    "localtime": "what_localtime_gives is ",
    "asctime": "what_asctime_gives is ",
    "lgamma": "signgam is ",
    "setenv": "environment",
    "strtok": "where_strtok_is is ",
}


def test_what_all_threads_share_in_the_library() -> None:
    with compiled_text(TWICE) as made:
        for name, message in SHARED.items():
            failure = explored_here(made, [name], "pop", Manner(2000, "sync")).failures[0]
            assert (failure.kind, failure.message.startswith(message)) == (DATA_RACE, True), failure


def test_functions_of_the_library_that_are_not_known() -> None:
    """They are refused where they are called, and not before."""
    text = "#include <syslog.h>\nint main(int n, char **a) { if (n > 1) syslog(1, *a); return 0; }"
    with compiled_text(text) as made:
        assert explored_here(made, [], "pop").verdict == "verified"
        with pytest.raises(mazurka.MazurkaError, match="the program calls syslog"):
            explored_here(made, ["argument"], "pop")


def test_functions_that_are_called_like_those_of_the_library(tmp_path: Path) -> None:
    text = "int basename(int a) { return a; } int main(void) { return basename(0); }"
    assert explored(tmp_path, text).verdict == "verified"

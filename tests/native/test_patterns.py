"""Patterns, regular expressions, dates, streams in memory: the C library itself is the oracle."""

import subprocess
from pathlib import Path

import mazurka
from mazurka.native.compiling import compiler_here
from mazurka.native.program import Manner
from tests.native.in_process import compiled_text, explored

PROGRAM = r"""
#define _GNU_SOURCE
#include <fnmatch.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *patterns[] = {
    "*", "?", "*.c", "a*b*c", "[a-c]x", "[!a-c]x", "[^a]*", "\\*", "a/*", "*/b", "[[:digit:]]*",
    "[]x]", "[a", ".*", "*x", "a\\", "[[:upper:][:space:]]", "**/c", "[--0]", "A?", "[a-]",
    "[[.-.]a]", "",
};
static const char *names[] = {
    "", "a", "x.c", "abc", "aXbYc", "ax", "dx", "*", "a/b", "a/b/c", "7up", "]", "[a", ".hidden",
    "a\\", "Q", "-", "a/.x", "AB", " ",
};
static const int flags[] = {
    0, FNM_PATHNAME, FNM_PERIOD, FNM_PATHNAME | FNM_PERIOD, FNM_NOESCAPE, FNM_CASEFOLD,
    FNM_LEADING_DIR,
};

static void match_names(void) {
    for (int f = 0; f < sizeof flags / sizeof *flags; f++)
        for (int p = 0; p < sizeof patterns / sizeof *patterns; p++)
            for (int n = 0; n < sizeof names / sizeof *names; n++)
                printf("%d", fnmatch(patterns[p], names[n], flags[f]));
}

static void match_expressions(void) {
    const char *all[] = {"a(b+)c", "^x?y*$", "(a|ab)(c|bcd)(d*)", "[", "[[:alpha:]]+ [0-9]{2}"};
    const char *texts[] = {"xxabbbc", "", "abcd", "hello 42", "xyyy"};
    for (int e = 0; e < 5; e++) {
        regex_t made, copy;
        int failure = regcomp(&made, all[e], REG_EXTENDED);
        printf("%d:", failure);
        if (failure) continue;
        copy = made;
        for (int t = 0; t < 5; t++) {
            regmatch_t found[6] = {{9, 9}};
            int missed = regexec(&copy, texts[t], 6, found, 0);
            printf(" %d", missed);
            for (int n = 0; n < 6 && !missed; n++) printf(",%d-%d", found[n].rm_so, found[n].rm_eo);
        }
        regfree(&made);
    }
}

static void read_date(const char *text, const char *format) {
    struct tm date;
    memset(&date, 0, sizeof date);
    char *rest = strptime(text, format, &date);
    printf("%s|", rest ? rest : "none");
    if (rest) {
        printf("%d %d %d ", date.tm_year, date.tm_mon, date.tm_mday);
        printf("%d %d %d ", date.tm_hour, date.tm_min, date.tm_sec);
        printf("%d %d %ld\n", date.tm_wday, date.tm_yday, date.tm_gmtoff);
    }
}

static void read_dates(void) {
    read_date("2024-02-29 23:59:60 rest", "%Y-%m-%d %H:%M:%S");
    read_date("Thu, 1 Jan 1970", "%a, %d %b %Y");
    read_date("march 7 99 11:05 pm", "%B %d %y %I:%M %p");
    read_date("12:30:00 AM", "%r");
    read_date("2023 200", "%Y %j");
    read_date("Mon 60 2024", "%a %j %Y");
    read_date("200", "%j");
    read_date("21", "%C");
    read_date("7/4/76", "%D");
    read_date("20  68", "%C %y");
    read_date("+0530", "%z");
    read_date("1700000000", "%s");
    read_date("25:00", "%R");
    read_date("2024-13-01", "%F");
    read_date("100%x", "100%%x");
    read_date("Sat Nov  4 12:02:33 2023", "%c");
}

static void write_to_memory(void) {
    char *text;
    size_t size;
    FILE *stream = open_memstream(&text, &size);
    fprintf(stream, "hello %d", 3);
    fflush(stream);
    printf("%s %zu,", text, size);
    fputs(" more", stream);
    fclose(stream);
    printf("%s %zu,", text, size);
    free(text);
    FILE *one = tmpfile(), *other = tmpfile();
    fputs("one", one);
    fputs("other", other);
    rewind(one);
    char found[9] = {0};
    printf("%s\n", fgets(found, 9, one));
}

int main(void) {
    match_names();
    match_expressions();
    read_dates();
    write_to_memory();
    return 0;
}
"""


def test_the_c_library_gives_the_same(tmp_path: Path) -> None:
    source, program = tmp_path / "program.c", tmp_path / "program"
    source.write_text(PROGRAM)
    subprocess.run([*compiler_here(), "-w", str(source), "-o", str(program)], check=True)
    expected = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    result = mazurka.explore(mazurka.c_program(source))
    assert result.verdict == "verified", result.failures
    assert list(result.outcomes) == [expected]


MISUSED = """
#include <pthread.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
static regex_t shared;
static void *compile(void *unused) { regcomp(&shared, "a*", 0); return unused; }
int main(int count, char **arguments) {
    pthread_t thread;
    memset(&shared, 0, sizeof shared);
    if (count > 1) {
        pthread_create(&thread, NULL, compile, NULL);
        if (atoi(arguments[1])) pthread_join(thread, NULL);
    }
    regexec(&shared, "a", 0, NULL, 0);
    return 0;
}
"""


def test_what_is_no_regular_expression_is_told() -> None:
    with compiled_text(MISUSED) as made:
        message = explored(made, [], "pop", Manner(2000, "sync")).failures[0].message
        assert message.startswith("use of a regular expression that is not initialised")
        race = explored(made, ["0"], "pop", Manner(2000, "sync")).failures[0]
        assert race.kind == "data race"
        assert explored(made, ["1"], "pop", Manner(2000, "sync")).verdict == "verified"

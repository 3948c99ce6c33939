"""What SV-COMP's programs ask of a checker: atomic sections, values that are not determined."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

import mazurka
from mazurka.engine.result import DATA_RACE
from mazurka.native.program import Manner
from tests.native.in_process import compiled_text, explored
from tests.oracles.generated import PROGRAMS

SEED = int(os.environ.get("MAZURKA_ORACLE_SEED", "1"))
LOCATIONS = 3


class Do(NamedTuple):
    """A thing that a thread does to a variable: `load` shows what it finds, `check` fails at 2, and
    `assume` goes no further at 1."""

    kind: str  # load, store, add, check, assume
    place: int
    value: int


Section = list[Do]  # what happens at once; most are of one operation
Threads = list[list[Section]]


def random_threads(chance: Random) -> Threads:
    def operation() -> Do:
        kind = chance.choice(["load", "load", "store", "store", "add", "check", "assume"])
        return Do(kind, chance.randrange(LOCATIONS), chance.randint(1, 2))

    def section() -> Section:
        return [operation() for _ in range(chance.choice([1, 1, 2, 3]))]

    count, length = chance.choice([(2, 2), (2, 3), (3, 1), (3, 2)])
    return [[section() for _ in range(length)] for _ in range(count)]


# In C

IN_C = {
    "load": "seen[number] = seen[number] * 4 + a[{0}];",
    "store": "a[{0}] = {1};",
    "add": "a[{0}] = a[{0}] + 1;",
    "check": "assert(a[{0}] != 2);",
    "assume": "__VERIFIER_assume(a[{0}] != 1);",
}
FRAME = """
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
void __VERIFIER_atomic_begin(void);
void __VERIFIER_atomic_end(void);
void __VERIFIER_assume(int condition);
atomic_int a[3];
int seen[4];
%s
int main(int count, char **arguments) {
    pthread_t threads[4];
    int program = atoi(arguments[1]), number = 0;
    for (; programs[program][number]; number++)
        pthread_create(&threads[number], NULL, programs[program][number], NULL);
    for (int place = 0; place < number; place++) pthread_join(threads[place], NULL);
    for (int place = 0; place < number; place++) printf("%%d ", seen[place]);
    printf("%%d %%d %%d", a[0], a[1], a[2]);
    return 0;
}
"""


def source_of(programs: list[Threads]) -> str:
    functions, table = [], []
    for number, threads in enumerate(programs):
        for place, thread in enumerate(threads):
            name, body = f"f{number}_{place}", ""
            for at, section in enumerate(thread):
                text = " ".join(IN_C[do.kind].format(do.place, do.value) for do in section)
                if len(section) == 1 and section[0].kind != "add":
                    body += text
                elif at % 2:
                    called = f"__VERIFIER_atomic_{name}_{at}"
                    functions.append(f"void {called}(int number) {{ {text} }}")
                    body += f"{called}(number);"
                else:
                    body += f"__VERIFIER_atomic_begin(); {text} __VERIFIER_atomic_end();"
            functions.append(f"void *{name}(void *n) {{ int number = {place}; {body} return n; }}")
        names = ", ".join(f"f{number}_{place}" for place in range(len(threads)))
        table.append(f"{{{names}}}")
    functions.append(f"void *(*programs[][4])(void *) = {{{', '.join(table)}}};")
    return FRAME % "\n".join(functions)


# What is to come of it


class State(NamedTuple):
    places: tuple[int, ...]  # how many sections each thread has done
    values: tuple[int, ...]
    seen: tuple[int, ...]


def endings(threads: Threads) -> Iterator[str]:
    """What executions print, or "failed", where sections are done one after the other."""
    begin = State((0,) * len(threads), (0,) * LOCATIONS, (0,) * len(threads))
    known, left = {begin}, [begin]
    while left:
        state = left.pop()
        if all(place == len(each) for place, each in zip(state.places, threads, strict=True)):
            yield " ".join(str(number) for number in (*state.seen, *state.values))
        for thread, place in enumerate(state.places):
            if place == len(threads[thread]):
                continue
            next_one = after(state, thread, threads[thread][place])
            if isinstance(next_one, str):
                yield next_one
            elif next_one is not None and next_one not in known:
                known.add(next_one)
                left.append(next_one)


def after(state: State, thread: int, section: Section) -> State | str | None:
    """The state after a section; None if that is never done."""
    values, seen, places = list(state.values), list(state.seen), list(state.places)
    for do in section:
        if do.kind == "load":
            seen[thread] = seen[thread] * 4 + values[do.place]
        elif do.kind == "store":
            values[do.place] = do.value
        elif do.kind == "add":
            values[do.place] += 1
        elif do.kind == "check" and values[do.place] == 2:
            return "failed"
        elif do.kind == "assume" and values[do.place] == 1:
            return None
    places[thread] += 1
    return State(tuple(places), tuple(values), tuple(seen))


def test_sections_happen_at_once() -> None:
    chance = Random(SEED)
    programs = [random_threads(chance) for _ in range(PROGRAMS)]
    with compiled_text(source_of(programs)) as made:
        for number, threads in enumerate(programs):
            algorithm = ("pop", "optimal", "trust", "source", "qpor")[number % 5]
            granularity = ("access", "sync")[number % 2]
            result = explored(made, [str(number)], algorithm, Manner(10_000, granularity))
            expected = set(endings(threads))
            found = {str(outcome) for outcome in result.outcomes}
            if result.failures:
                found.add("failed")
            assert found == expected, (algorithm, threads)


FUNCTIONS = """
#include <pthread.h>
void reach_error(void);
int number;
static int KIND_add(int amount) { int found = number; number = found + amount; return found; }
static void *add(void *unused) { for (int i = 0; i < 2; i++) KIND_add(1); return unused; }
int main(void) {
    pthread_t one, other;
    pthread_create(&one, 0, add, 0);
    pthread_create(&other, 0, add, 0);
    pthread_join(one, 0);
    pthread_join(other, 0);
    if (number != 4) reach_error();
    return 0;
}
"""


def checked(folder: Path, text: str, *flags: str, **options: object) -> mazurka.Result:
    file = folder / "program.c"
    file.write_text(text)
    return mazurka.explore(mazurka.c_program(file, flags=flags), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_functions_of_that_name_are_sections(tmp_path: Path, level: str) -> None:
    for granularity in ("access", "sync"):
        atomic = FUNCTIONS.replace("KIND", "__VERIFIER_atomic")
        result = checked(tmp_path, atomic, level, granularity=granularity)
        assert (result.verdict, result.executions) == ("verified", 6)
    plain = FUNCTIONS.replace("KIND", "plain")
    result = checked(tmp_path, plain, level, granularity="access")
    assert result.failures[0].message == "reach_error was called"
    assert checked(tmp_path, plain, level).failures[0].kind == DATA_RACE


def test_a_section_that_nobody_began(tmp_path: Path) -> None:
    text = "void __VERIFIER_atomic_end(void); int main(void) { __VERIFIER_atomic_end(); }"
    assert "does not hold" in checked(tmp_path, text).failures[0].message


VALUES = """
#include <stdlib.h>
int __VERIFIER_nondet_int(void);
void reach_error(void);
void assume_abort_if_not(int condition) { if (!condition) abort(); }
int main(void) {
    int one = __VERIFIER_nondet_int(), other = __VERIFIER_nondet_int();
    assume_abort_if_not(one < 0);
    if (one + other == WRONG) reach_error();
    return 0;
}
"""


def test_a_few_values_bound_a_search(tmp_path: Path) -> None:
    result = checked(tmp_path, VALUES, "-DWRONG=1")
    assert [failure.message for failure in result.failures] == ["reach_error was called"]
    result = checked(tmp_path, VALUES, "-DWRONG=77")
    assert (result.verdict, result.complete, result.blocked) == ("bounded", 4, 12)
    assert result.bound == "a few values of __VERIFIER_nondet"
    own = (
        "int mazurka_choose(int); int __VERIFIER_nondet_int(void) { return mazurka_choose(2) - 1; }"
    )
    result = checked(tmp_path, own + VALUES, "-DWRONG=77")
    assert (result.verdict, result.complete, result.blocked) == ("verified", 2, 2)


DEFINED = """
#include <pthread.h>
int x;
void reach_error() {}
static void *read_it(void *unused) { if (x) reach_error(); return unused; }
int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, read_it, 0);
    x = 1;
    pthread_join(thread, 0);
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_what_the_program_says_that_an_error_does_is_not_asked(tmp_path: Path, level: str) -> None:
    result = checked(tmp_path, DEFINED, level, granularity="access")
    assert result.failures[0].message == "reach_error was called"


LOOPS = """
_Bool __VERIFIER_nondet_bool(void);
int main(void) {
    int rounds = 0;
    while (__VERIFIER_nondet_bool()) {}
    do { rounds = __VERIFIER_nondet_bool(); } while (!rounds);
    return FOUND;
}
"""


def test_a_loop_may_choose_again_and_again(tmp_path: Path) -> None:
    result = checked(tmp_path, LOOPS, "-DFOUND=0")
    assert (result.verdict, result.complete, result.blocked) == ("bounded", 1, 2)
    assert result.bound == "each choice of a loop is made once"
    assert checked(tmp_path, LOOPS, "-DFOUND=1").verdict == "failed"

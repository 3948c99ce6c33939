"""Additions of which nobody uses the result commute; the machine code shows whether one is used."""

import pytest

from mazurka.native.program import Manner
from tests.native.in_process import compiled_text, explored

PROGRAM = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
static atomic_int x;
static atomic_long l;
static atomic_uchar c;
static int y, no;
static volatile int sink;
#define THREAD(name, does) static void *name(void *unused) { does; return unused; }
THREAD(statement, atomic_fetch_add(&x, 1))
THREAD(loop, for (int i = 0; i < 1; i++) atomic_fetch_add(&x, 1))
THREAD(branches, if (no) atomic_fetch_add(&x, 1); else atomic_fetch_sub(&l, 1))
THREAD(builtin, __sync_fetch_and_add(&y, 1))
THREAD(relaxed, atomic_fetch_add_explicit(&l, 2, memory_order_relaxed))
THREAD(then_an_access, atomic_fetch_sub(&c, 2); sink = 0)
THREAD(taken, sink = atomic_fetch_add(&x, 1))
THREAD(tested, if (atomic_fetch_add(&x, 1) == 1) sink = 1)
THREAD(sum, sink = __atomic_add_fetch(&y, 1, 5))
THREAD(printed, printf("%d ", atomic_fetch_sub(&x, 1)))
THREAD(other, atomic_fetch_or(&x, 1))
static void *given(void *unused) { return (void *)(long)atomic_fetch_add(&l, 1); }
static struct { const char *name; void *(*function)(void *); } all[] = {
#define IS(name) {#name, name}
    IS(statement), IS(loop), IS(branches), IS(builtin), IS(relaxed), IS(then_an_access), IS(taken),
    IS(tested), IS(sum), IS(printed), IS(other), IS(given)
};
int main(int count, char **arguments) {
    pthread_t threads[2];
    for (int i = 0; i < sizeof all / sizeof *all; i++) {
        if (strcmp(arguments[1], all[i].name)) continue;
        for (int k = 0; k < 2; k++) pthread_create(&threads[k], NULL, all[i].function, NULL);
        for (int k = 0; k < 2; k++) pthread_join(threads[k], NULL);
    }
    return 0;
}
"""
UNUSED = {"statement": 1, "loop": 1, "branches": 1, "builtin": 1, "relaxed": 1, "then_an_access": 2}
USED = {"taken": 4, "tested": 2, "sum": 4, "printed": 2, "other": 2, "given": 2}


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_unused_additions_commute(level: str) -> None:
    in_order = Manner(10_000, independent_adds=False)
    with compiled_text(PROGRAM, level) as made:
        for name, expected in {**UNUSED, **USED}.items():
            assert explored(made, [name], "pop").complete == expected, name
        assert explored(made, ["statement"], "pop", in_order).complete == 2


RACE = """
#include <pthread.h>
#include <stdatomic.h>
static atomic_int turns;
static int data;
static void *before(void *unused) { data = 1; atomic_fetch_add(&turns, 1); return unused; }
static void *after(void *unused) { atomic_fetch_add(&turns, 1); data = 2; return unused; }
int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, before, NULL);
    pthread_create(&threads[1], NULL, after, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    return 0;
}
"""


def test_their_orders_count_for_data_races() -> None:
    with compiled_text(RACE) as made:
        result = explored(made, [], "pop", Manner(10_000, "sync"))
    assert [failure.kind for failure in result.failures] == ["data race"]

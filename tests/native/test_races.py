"""Data races in C with `granularity="sync"`, against what the standard says."""

import os
from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from mazurka.engine.result import DATA_RACE
from mazurka.native.program import Manner
from tests.native.in_process import compiled_text, explored
from tests.oracles.generated import PROGRAMS

ORDERS = ("relaxed", "acquire", "release", "acq_rel", "seq_cst")
SEED = int(os.environ.get("MAZURKA_ORACLE_SEED", "1"))


class Do(NamedTuple):
    """A thing that a thread does. `unless` skips the next one if the atomic is not 1; `peek` and
    `poke` are plain accesses to what others access atomically."""

    kind: str  # read, write, load, store, add, swap, fence, lock, unlock, unless, peek, poke
    place: int = 0
    order: str = ""


Threads = list[list[Do]]
SYNC = Manner(10_000, granularity="sync")
KINDS = ("read", "write", "load", "store", "add", "swap", "fence", "unless")
PLAIN = ("read", "write", "peek", "poke")


def random_thread(chance: Random, length: int) -> list[Do]:
    done: list[Do] = []
    while len(done) < length:
        kind = chance.choice([*KINDS, *KINDS, "peek", "poke"])
        if chance.random() < 0.25:
            inner = chance.choice(["read", "write"])
            done += [Do("lock"), Do(inner, chance.randrange(2)), Do("unlock")]
            continue
        orders = {
            "load": ("relaxed", "acquire", "seq_cst"),
            "unless": ("relaxed", "acquire", "seq_cst"),
            "store": ("relaxed", "release", "seq_cst"),
            "add": ORDERS,
            "swap": ORDERS,
            "fence": ORDERS[1:],
        }.get(kind, ("",))
        done.append(Do(kind, chance.randrange(2), chance.choice(orders)))
        if kind == "unless":
            done.append(Do(chance.choice(["read", "write"]), chance.randrange(2)))
    return done


def random_threads(chance: Random) -> Threads:
    count, length = chance.choice([(2, 3), (2, 4), (2, 4), (3, 2)])
    return [random_thread(chance, length) for _ in range(count)]


# In C

IN_C = {
    "read": "u = p[{0}];",
    "write": "p[{0}] = 1;",
    "peek": "u = *(int *)&a[{0}];",
    "poke": "*(int *)&a[{0}] = 1;",
    "load": "u = atomic_load_explicit(&a[{0}], memory_order_{1});",
    "store": "atomic_store_explicit(&a[{0}], 1, memory_order_{1});",
    "add": "atomic_fetch_add_explicit(&a[{0}], 1, memory_order_{1});",
    "swap": "{{ int old = 0; atomic_compare_exchange_strong_explicit(&a[{0}], &old, 1, "
    "memory_order_{1}, memory_order_relaxed); }}",
    "fence": "atomic_thread_fence(memory_order_{1});",
    "lock": "pthread_mutex_lock(&m);",
    "unlock": "pthread_mutex_unlock(&m);",
    "unless": "if (atomic_load_explicit(&a[{0}], memory_order_{1}) == 1)",
}
FRAME = """
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
atomic_int a[2];
int p[2];
pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
typedef void *(*function)(void *);
%s
int main(int count, char **arguments) {
    pthread_t threads[4];
    int program = atoi(arguments[1]), number = 0;
    for (; programs[program][number]; number++)
        pthread_create(&threads[number], NULL, programs[program][number], NULL);
    for (int place = 0; place < number; place++) pthread_join(threads[place], NULL);
    return 0;
}
"""


def source_of(programs: list[Threads]) -> str:
    functions, table = [], []
    for number, threads in enumerate(programs):
        for place, thread in enumerate(threads):
            body = " ".join(IN_C[kind].format(at, order) for kind, at, order in thread)
            functions.append(
                f"void *f{number}_{place}(void *n) {{ volatile int u; {body} return n; }}"
            )
        names = ", ".join(f"f{number}_{place}" for place in range(len(threads)))
        table.append(f"{{{names}}}")
    functions.append(f"function programs[][4] = {{{', '.join(table)}}};")
    return FRAME % "\n".join(functions)


# What the standard says


class Event(NamedTuple):
    thread: int
    do: Do
    source: int  # the event that a read of an atomic reads from, or -1
    writes: bool


def executions(threads: Threads) -> Iterator[list[Event]]:
    """All interleavings."""

    def go_on(
        places: tuple[int, ...], values: tuple[int, int], holder: int, done: list[Event]
    ) -> Iterator[list[Event]]:
        is_over = True
        for thread, place in enumerate(places):
            if place == len(threads[thread]):
                continue
            is_over = False
            do = threads[thread][place]
            after, now, held = place + 1, list(values), holder
            source = latest(done, do.place) if do.kind in ("load", "unless", "add", "swap") else -1
            writes = do.kind in ("write", "store", "add", "poke")
            if do.kind == "lock":
                if holder >= 0:
                    continue
                held = thread
            elif do.kind == "unlock":
                held = -1
            elif do.kind == "unless" and values[do.place] != 1:
                after += 1
            elif do.kind == "add":
                now[do.place] += 1
            elif do.kind in ("store", "poke"):
                now[do.place] = 1
            elif do.kind == "swap" and values[do.place] == 0:
                now[do.place], writes = 1, True
            more = (*places[:thread], after, *places[thread + 1 :])
            event = Event(thread, do, source, writes)
            yield from go_on(more, (now[0], now[1]), held, [*done, event])
        if is_over:
            yield done

    yield from go_on((0,) * len(threads), (0, 0), -1, [])


def latest(done: list[Event], place: int) -> int:
    """Who changed an atomic last."""
    for position in range(len(done) - 1, -1, -1):
        event = done[position]
        if event.writes and event.do.kind != "write" and event.do.place == place:
            return position
    return -1


def releases(event: Event) -> bool:
    is_one = event.do.order in ("release", "acq_rel", "seq_cst")
    return is_one and (event.writes or event.do.kind == "fence")


def acquires(event: Event) -> bool:
    if event.do.kind == "swap" and not event.writes:
        return False  # it fails, which is relaxed
    return event.do.order in ("acquire", "acq_rel", "seq_cst") and event.do.kind != "store"


def synchronising(done: list[Event]) -> set[tuple[int, int]]:
    """Which events synchronise with which: C11, 5.1.2.4 and 7.17.4."""
    found = set()
    for reader, event in enumerate(done):
        if event.do.kind == "lock":
            found |= {(other, reader) for other in range(reader) if done[other].do.kind == "unlock"}
        head = event.source
        while head >= 0:  # the head of a release sequence that the reader reads from
            froms = [head] if releases(done[head]) else []
            froms += fences(done, done[head].thread, range(head), releases)
            tos = [reader] if acquires(event) else []
            tos += fences(done, event.thread, range(reader + 1, len(done)), acquires)
            found |= {(one, other) for one in froms for other in tos}
            if done[head].do.kind in ("store", "poke"):
                break
            head = done[head].source
    return found


def fences(done: list[Event], thread: int, among: range, fits: object) -> list[int]:
    assert callable(fits)
    return [
        at
        for at in among
        if done[at].thread == thread and done[at].do.kind == "fence" and fits(done[at])
    ]


def location_of(event: Event) -> str:
    kind = event.do.kind
    if kind in ("lock", "unlock", "fence"):
        return ""
    return f"{'p' if kind in ('read', 'write') else 'a'}{event.do.place}"


def has_race(done: list[Event]) -> bool:
    known: list[set[int]] = []  # for each event, what happens before it
    edges = synchronising(done)
    for position, event in enumerate(done):
        before: set[int] = set()
        for other in range(position):
            if done[other].thread == event.thread or (other, position) in edges:
                before |= known[other] | {other}
        known.append(before)
        for other in range(position):
            one = done[other]
            is_plain = one.do.kind in PLAIN or event.do.kind in PLAIN
            is_conflict = is_plain and location_of(one) == location_of(event) != ""
            if is_conflict and (one.writes or event.writes) and other not in before:
                return True
    return False


def test_races_are_those_of_the_standard() -> None:
    chance = Random(SEED)
    programs = [random_threads(chance) for _ in range(PROGRAMS)]
    expected = [any(has_race(done) for done in executions(threads)) for threads in programs]
    assert PROGRAMS < 50 or 0.1 < sum(expected) / PROGRAMS < 0.9
    with compiled_text(source_of(programs)) as made:
        for number, is_racy in enumerate(expected):
            algorithm = ("pop", "optimal", "trust")[number % 3]
            result = explored(made, [str(number)], algorithm, SYNC)
            kinds = {failure.kind for failure in result.failures}
            assert (kinds == {DATA_RACE}) == is_racy, (algorithm, programs[number], kinds)
            assert is_racy or result.verdict == "verified"

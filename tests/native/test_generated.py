"""Generated programs in C and with Mazurka's own objects in Python: the same executions."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

import mazurka
from tests.native.in_process import compiled_text, explored
from tests.oracles.generated import PROGRAMS

Instruction = tuple[Any, ...]
Threads = list[list[Instruction]]

VARIABLES = 2  # atomic ones, and as many plain ones: each is of another size
# An algorithm, the options for Python, and the settings for C.
SEARCHES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("pop", {}, {}),
    ("optimal", {}, {}),
    ("trust", {}, {}),
    ("source", {}, {}),
    ("qpor", {"k": "optimal"}, {}),
    ("trust", {"preemptions": 0}, {"preemptions": 0}),
    ("trust", {"preemptions": 1}, {"preemptions": 1}),
    ("trust", {"equivalence": "reads-from"}, {"reads_from": True}),
]
MAY_BLOCK = ("wait", "read lock", "write lock", "spawn")


def random_program(chance: Random) -> Threads:
    """Some threads, which all do a few things to the same variables, locks and semaphore."""
    threads, longest = chance.choice([(2, 4), (2, 3), (2, 2), (3, 2), (4, 1), (5, 1)])
    return [
        [random_instruction(chance) for _ in range(chance.randint(1, longest))]
        for _ in range(threads)
    ]


def random_instruction(chance: Random) -> Instruction:
    variable = chance.randrange(VARIABLES)
    value = chance.randrange(3)
    simple = chance.choice(
        [
            ("load", variable),
            ("store", variable, value),
            ("store what was found", variable),
            ("exchange", variable, value),
            ("compare_exchange", variable, value, chance.randrange(3)),
            ("fetch_add", variable, chance.choice([1, 2, -1])),
            ("add", variable, chance.choice([1, 2, -1])),
            ("read", variable),
            ("write", variable, value),
            ("increment", variable),
            ("wait",),
            ("post",),
            ("try wait",),
            ("read lock", variable),
            ("write lock", variable, value),
            ("choose", variable),
        ]
    )
    kind = chance.random()
    if simple[0] in MAY_BLOCK or kind >= 0.45:
        return simple
    if kind < 0.2:
        return ("locked", chance.randrange(2), simple)
    if kind < 0.3:
        return ("try locked", chance.randrange(2), simple)
    if kind < 0.35:
        return ("locked twice", simple)
    if kind < 0.4:
        return ("spin locked", simple)
    return ("spawn", simple) if simple[0] != "choose" else simple


# In C

IN_C = {
    "load": "found = (int)atomic_load(&a{0});",
    "store": "atomic_store(&a{0}, {1});",
    "store what was found": "atomic_store(&a{0}, found);",
    "exchange": "found = (int)atomic_exchange(&a{0}, {1});",
    "compare_exchange": "{{ type{0} old = {1}; "
    "found = atomic_compare_exchange_strong(&a{0}, &old, {2}); }}",
    "fetch_add": "found = (int)atomic_fetch_add(&a{0}, {1});",
    "add": "atomic_fetch_add(&a{0}, {1});",
    "read": "found = (int)all.p{0};",
    "write": "all.p{0} = {1};",
    "increment": "all.p{0}++;",
    "choose": "atomic_store(&a{0}, __VERIFIER_nondet_bool());",
    "locked twice": "pthread_mutex_lock(&recursive); pthread_mutex_lock(&recursive); {0} "
    "pthread_mutex_unlock(&recursive); pthread_mutex_unlock(&recursive);",
    "spin locked": "pthread_spin_lock(&spin); {0} pthread_spin_unlock(&spin);",
    "spawn": "{{ pthread_t late; pthread_create(&late, NULL, SUBTHREAD, NULL); "
    "pthread_join(late, NULL); }}",
    "wait": "sem_wait(&semaphore);",
    "post": "sem_post(&semaphore);",
    "try wait": "found = sem_trywait(&semaphore) == 0;",
    "read lock": "pthread_rwlock_rdlock(&rw); found = (int)all.p{0}; pthread_rwlock_unlock(&rw);",
    "write lock": "pthread_rwlock_wrlock(&rw); all.p{0} = {1}; pthread_rwlock_unlock(&rw);",
    "locked": "pthread_mutex_lock(&m[{0}]); {1} pthread_mutex_unlock(&m[{0}]);",
    "try locked": "if (!pthread_mutex_trylock(&m[{0}])) {{ {1} pthread_mutex_unlock(&m[{0}]); }}",
}

FRAME = """
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef signed char type0;
typedef long type1;
_Atomic type0 a0;
_Atomic type1 a1;
struct { short p0; long long p1; } all;
int results[5];
_Bool __VERIFIER_nondet_bool(void);
pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
pthread_spinlock_t spin;
pthread_mutex_t m[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
sem_t semaphore;
typedef void *(*function)(void *);
%s
int main(int count, char **arguments) {
    pthread_t threads[5];
    int program = atoi(arguments[1]), number = 0;
    sem_init(&semaphore, 0, 1);
    pthread_spin_init(&spin, 0);
    for (; programs[program][number]; number++)
        pthread_create(&threads[number], NULL, programs[program][number], NULL);
    for (int place = 0; place < number; place++) pthread_join(threads[place], NULL);
    printf("%%d %%ld %%d %%lld", a0, a1, all.p0, all.p1);
    for (int place = 0; place < number; place++) printf(" %%d", results[place]);
    return 0;
}
"""


def in_c(instruction: Instruction, name_of_late: Callable[[Instruction], str]) -> str:
    """An instruction; what a late thread does becomes a function with a name."""
    name, *operands = instruction
    if name == "spawn":
        return IN_C[name].format().replace("SUBTHREAD", name_of_late(operands[0]))
    texts = [in_c(part, name_of_late) if isinstance(part, tuple) else part for part in operands]
    return IN_C[name].format(*texts)


def source_of(programs: list[Threads]) -> str:
    """All programs in one file: the argument says which one runs."""
    functions: list[str] = []
    table = []

    def late(instruction: Instruction) -> str:
        name = f"late{len(functions)}"
        body = in_c(instruction, late)
        functions.append(f"void *{name}(void *unused) {{ int found = 0; {body} return unused; }}")
        return name

    for number, threads in enumerate(programs):
        for place, thread in enumerate(threads):
            body = " ".join(in_c(instruction, late) for instruction in thread)
            functions.append(
                f"void *f{number}_{place}(void *unused) {{ int found = 0; {body} "
                f"results[{place}] = found; return unused; }}"
            )
        names = ", ".join(f"f{number}_{place}" for place in range(len(threads)))
        table.append(f"{{{names}}}")
    rows = ",\n".join(table)
    return FRAME % ("\n".join([*functions, f"function programs[][6] = {{{rows}}};"]))


# In Python


class Shared:
    """What the threads share."""

    def __init__(self) -> None:
        self.atomic = [mazurka.Atomic(0) for _ in range(VARIABLES)]
        self.plain = [mazurka.Atomic(0) for _ in range(VARIABLES)]
        self.locks = [mazurka.Lock() for _ in range(2)]
        self.recursive = mazurka.Lock()  # a thread that has it takes it without a step
        self.spin = mazurka.Lock()
        self.semaphore = mazurka.Semaphore(1)
        self.readers_and_writers = mazurka.Atomic(0)  # readers; -1: a writer


def performed(shared: Shared, instruction: Instruction, found: int) -> int:
    """Does what the instruction says; gives what the thread has found last."""
    name, *operands = instruction
    if name in ("locked", "try locked"):
        lock = shared.locks[operands[0]]
        if lock.acquire(blocking=name == "locked"):
            found = performed(shared, operands[1], found)
            lock.release()
        return found
    if name in ("locked twice", "spin locked"):
        with shared.recursive if name == "locked twice" else shared.spin:
            return performed(shared, operands[0], found)
    if name == "spawn":
        mazurka.spawn(performed, shared, operands[0], 0).join()
    elif name == "choose":
        shared.atomic[operands[0]].store(mazurka.choose([0, 1]))
    elif name == "wait":
        shared.semaphore.acquire()
    elif name == "post":
        shared.semaphore.release()
    elif name == "try wait":
        found = int(shared.semaphore.acquire(blocking=False))
    elif name in ("read lock", "write lock"):
        return under_lock(shared, name, operands, found)
    elif name in ("read", "write", "increment"):
        variable = shared.plain[operands[0]]
        if name == "write":
            variable.store(operands[1])
        elif name == "increment":
            variable.store(variable.load() + 1)
        else:
            found = variable.load()
    else:
        variable = shared.atomic[operands[0]]
        if name == "store what was found":
            variable.store(found)
        else:
            given = getattr(variable, name)(*operands[1:])
            found = found if name in ("store", "add") else int(given)
    return found


def under_lock(shared: Shared, name: str, operands: list[int], found: int) -> int:
    lock = shared.readers_and_writers
    variable = shared.plain[operands[0]]
    if name == "read lock":
        take_to_read(lock)
        found = variable.load()
        lock.fetch_add(-1)
    else:
        lock.await_exchange(lambda value: value == 0, -1)
        variable.store(operands[1])
        lock.exchange(0)
    return found


def take_to_read(lock: Any) -> None:
    """One step that waits for the writer and counts one reader more."""
    from mazurka.engine.operation import READ_ACQUIRE
    from mazurka.python.check import RUNNING

    RUNNING.check.runtime.perform(
        READ_ACQUIRE, lock, lambda value: value >= 0, lambda value: (value + 1, None)
    )


def in_python(threads: Threads) -> Callable[[], str]:
    def main() -> str:
        shared = Shared()
        results = [mazurka.Atomic(0) for _ in threads]

        def run(place: int) -> None:
            found = 0
            for instruction in threads[place]:
                found = performed(shared, instruction, found)
            results[place].store(found)

        handles = [mazurka.spawn(run, place) for place in range(len(threads))]
        for handle in handles:
            handle.join()
        values = [one.load() for one in [*shared.atomic, *shared.plain, *results]]
        return " ".join(str(value) for value in values)

    return main


def compare(seed: int, count: int) -> None:
    chance = Random(seed)
    programs = [random_program(chance) for _ in range(count)]
    with compiled_text(source_of(programs)) as made:
        for number, threads in enumerate(programs):
            for algorithm, options, settings in SEARCHES:
                expected = mazurka.explore(
                    in_python(threads),
                    algorithm=algorithm,
                    stop_on_failure=False,
                    instrument=None,
                    **options,
                )
                found = explored(made, [str(number)], algorithm, **settings)
                where = f"seed {seed}, program {number}, {algorithm} {options}: {threads}"
                is_cut = any(result.cut or result.beyond for result in (found, expected))
                assert counts(found, is_cut) == counts(expected, is_cut), where
                if not found.beyond:
                    assert set(found.outcomes) == set(expected.outcomes), where


def counts(result: mazurka.Result, is_cut: bool) -> tuple[int, ...]:
    """How many executions there are. Where a bound leaves some out, only those that do not go
    beyond it: of those that wait for ever, this is not told."""
    if is_cut:
        return (result.complete - result.beyond,)
    redundant = 0 if result.algorithm == "source" else result.redundant
    return bool(result.failures), result.complete, result.blocked, redundant


def test_generated_programs() -> None:
    compare(seed=0, count=10)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 10 + max(PROGRAMS // 100, 1)))
def test_many_generated_programs(seed: int) -> None:
    compare(seed, 50)

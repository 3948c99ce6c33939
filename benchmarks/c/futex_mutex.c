/* A mutex on a futex, whose sleepers wait for a signal; with MUSL as the musl library has it, with a
   count of those that wait. */
#include "common.h"

/* Of the lock: 0: free, 1: held, 2: held, with waiters. */
atomic_int word, waiters, signals, data;

static int change(int from, int to) { return atomic_compare_exchange_strong(&word, &from, to); }

static void sleep_while_held(void) {
    change(1, 2);
    int seen = signals;
    if (word == 2) {
        while (signals == seen) {}
    }
}

#ifdef MUSL

static void acquire(void) {
    if (change(0, 1)) return;
    while (!change(0, 1)) {
        atomic_fetch_add(&waiters, 1);
        sleep_while_held();
        atomic_fetch_add(&waiters, -1);
    }
}

static void release(void) {
    int old = atomic_exchange(&word, 0);
    if (waiters > 0 || old != 1) atomic_fetch_add(&signals, 1);
}

#else

static void acquire(void) {
    if (change(0, 1)) return;
    do sleep_while_held();
    while (!change(0, 2));
}

static void release(void) {
    if (change(1, 0)) return;
    word = 0;
    atomic_fetch_add(&signals, 1);
}

#endif

void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    acquire();
    data = me;
    assert(data == me);
    release();
    return NULL;
}

int main(void) { return run(worker, THREADS); }

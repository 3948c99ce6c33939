/* THREADS threads take a lock by an exchange ROUNDS times, or give up. With READING, they load first,
   and give up only if that finds the lock taken. */
#include "common.h"

atomic_int lock, shared = -1;

static void acquire(void) {
#ifdef READING
    do __VERIFIER_assume(!lock);
    while (atomic_exchange(&lock, 1));
#else
    __VERIFIER_assume(!atomic_exchange(&lock, 1));
#endif
}

void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        acquire();
        shared = me;
        assert(shared == me);
        lock = 0;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    for (int me = 0; me < THREADS; me++) threads[me] = start(worker, me);
    join_all(threads, THREADS);
    return 0;
}

/* Test and test-and-set: THREADS threads poll until the lock is free, and then try to take it. */
#include "common.h"

atomic_int lock, data;

void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    do {
        while (lock) {}
    } while (atomic_exchange(&lock, 1));
    data = me;
    assert(data == me);
    lock = 0;
    return NULL;
}

int main(void) { return run(worker, THREADS); }

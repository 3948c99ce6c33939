/* A queue of threads, each of which waits for its predecessor to hand the lock over. */
#include "common.h"

atomic_int tail, followers[THREADS + 1], turns[THREADS + 1];

void *worker(void *argument) {
    int me = (int)(intptr_t)argument + 1;
    turns[me] = 0;
    followers[me] = 0;
    int predecessor = atomic_exchange(&tail, me);
    if (predecessor) {
        followers[predecessor] = me;
        while (!turns[me]) {}
    }
    int successor = followers[me];
    if (!successor) {
        int last = me;
        if (atomic_compare_exchange_strong(&tail, &last, 0)) return NULL;
        do successor = followers[me];
        while (!successor);
    }
    turns[successor] = 1;
    return NULL;
}

int main(void) { return run(worker, THREADS); }

/* PUSHERS and POPPERS threads push one node each, or pop one; a node comes with a value. */
#define NODES PUSHERS
#include "treiber.h"

atomic_int values[NODES + 1];

void *push(void *argument) {
    int node = (int)(intptr_t)argument;
    values[node] = 42 + node;
    insert(node);
    return NULL;
}

void *pop(void *unused) {
    int node = take_out();
    if (node) (void)atomic_load(&values[node]);
    return unused;
}

int main(void) {
    pthread_t threads[PUSHERS + POPPERS];
    for (int me = 0; me < PUSHERS + POPPERS; me++)
        threads[me] = me < PUSHERS ? start(push, me + 1) : start(pop, 0);
    join_all(threads, PUSHERS + POPPERS);
    return 0;
}

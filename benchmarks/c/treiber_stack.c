/* A linked stack, whose nodes are numbers: four for each thread. Nothing counts the changes of the
   top. Who meets another thread tries again. */
#include "common.h"

atomic_int stack_top, below[4 * ALL_THREADS + 1], values[ALL_THREADS];

static void push(int me) {
    values[me] = me + 42;
    int node = 1 + 4 * me;
    for (;;) {
        int old = stack_top;
        below[node] = old;
        if (atomic_compare_exchange_strong(&stack_top, &old, node)) break;
    }
}

static void pop(void) {
    int node;
    for (;;) {
        node = stack_top;
        if (!node) return;
        int following = below[node], expected = node;
        if (atomic_compare_exchange_strong(&stack_top, &expected, following)) break;
    }
    int owner = (node - 1) / 4;
    if (owner) (void)atomic_load(&values[owner]);
}

void *pusher(void *argument) {
    push((int)(intptr_t)argument);
    return NULL;
}

void *popper(void *unused) {
    pop();
    return unused;
}

void *pusher_and_popper(void *argument) {
    push((int)(intptr_t)argument);
    pop();
    return NULL;
}

int main(void) { return run_kinds(pusher, popper, pusher_and_popper); }

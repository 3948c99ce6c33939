/* Treiber's stack of NODES nodes, which are numbered from 1. Nothing tells its top from an earlier
   one that was the same node. Who meets another thread gives up, or tries again with RETRYING. */
#include "common.h"

#ifdef RETRYING
#define MEETS_ANOTHER()
#else
#define MEETS_ANOTHER() __VERIFIER_assume(0)
#endif

atomic_int stack_top, links[NODES + 1];

static int try_push(int node) {
    int top = stack_top;
    links[node] = top;
    return atomic_compare_exchange_strong(&stack_top, &top, node);
}

static void insert(int node) {
    while (!try_push(node)) MEETS_ANOTHER();
}

/* The node that was on top; 0 if there was none. */
static int take_out(void) {
    for (;;) {
        int top = stack_top;
        if (!top) return 0;
        int node = top;
        if (atomic_compare_exchange_strong(&stack_top, &top, links[node])) return node;
        MEETS_ANOTHER();
    }
}

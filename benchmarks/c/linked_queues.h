/* The queue of Michael and Scott, or with DGLM that of Doherty, Groves, Luchangco and Moir, with NODES
   nodes from 1 on. Who meets another thread gives up, or tries again with RETRYING. */
#include "common.h"

#ifdef RETRYING
#define MEETS_ANOTHER()
#else
#define MEETS_ANOTHER() __VERIFIER_assume(0)
#endif

enum { NONE = -1 };

atomic_int head, tail, links[NODES + 1] = {[0 ... NODES] = NONE};

/* Help a thread whose node is linked, but not yet the tail. */
static void push_tail(int last, int following) {
    MEETS_ANOTHER();
    atomic_compare_exchange_strong(&tail, &last, following);
}

static int try_enqueue(int node) {
    int last = tail, following = links[last], none = NONE;
    if (tail != last) return 0;
    if (following != NONE) {
        push_tail(last, following);
        return 0;
    }
    if (!atomic_compare_exchange_strong(&links[last], &none, node)) return 0;
    atomic_compare_exchange_strong(&tail, &last, node);
    return 1;
}

static void insert(int node) {
    links[node] = NONE;
    while (!try_enqueue(node)) MEETS_ANOTHER();
}

/* Whether no other thread came between. */
static int try_dequeue(void) {
    int first = head;
#ifndef DGLM
    int last = tail;
#endif
    int following = links[first];
    if (head != first) return 0;
#ifdef DGLM
    if (following == NONE) return 1;
    int expected = first;
    if (!atomic_compare_exchange_strong(&head, &expected, following)) return 0;
#ifdef CHECKS_TAIL
    if (tail == first) atomic_compare_exchange_strong(&tail, &first, following);
#endif
    return 1;
#else
    if (first != last) {
        assert(following != NONE);
        return atomic_compare_exchange_strong(&head, &first, following);
    }
    if (following == NONE) return 1;
    push_tail(last, following);
    return 0;
#endif
}

static void take_out(void) {
    while (!try_dequeue()) MEETS_ANOTHER();
}

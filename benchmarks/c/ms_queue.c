/* The queue of Michael and Scott; a word is a node and a count. Who meets another thread goes round
   again, but a thread that fails to take out the first element gives up. */
#include "common.h"

enum { NODES = 4 * ALL_THREADS + 3, NO_NODE = -1 };
#define WORD(node, count) ((int64_t)(count) << 32 | (uint32_t)(node))

_Atomic int64_t head = WORD(1, 0), tail = WORD(1, 0);
_Atomic int64_t links[NODES] = {[0 ... NODES - 1] = WORD(NO_NODE, 0), [1] = WORD(0, 0)};

static int node_of(int64_t word) { return (int)word; }
static int64_t next_count(int64_t word) { return (word >> 32) + 1; }

static int change(_Atomic int64_t *at, int64_t from, int node) {
    return atomic_compare_exchange_strong(at, &from, WORD(node, next_count(from)));
}

static void enqueue(int me) {
    int node = 2 + 4 * me, done = 0;
    int64_t last;
    links[node] = WORD(0, links[node] >> 32);
    do {
        last = tail;
        _Atomic int64_t *link = &links[node_of(last)];
        int64_t behind = *link;
        if (tail != last) continue;
        if (!node_of(behind)) done = change(link, behind, node);
        if (!done) change(&tail, last, node_of(*link));
    } while (!done);
    change(&tail, last, node);
}

static void dequeue(void) {
    for (;;) {
        int64_t first = head, last = tail, behind = links[node_of(first)];
        if (head != first) continue;
        if (node_of(first) != node_of(last)) {
            __VERIFIER_assume(change(&head, first, node_of(behind)));
            return;
        }
        if (!node_of(behind)) return;
        change(&tail, last, node_of(behind));
    }
}

void *writer(void *argument) {
    enqueue((int)(intptr_t)argument);
    return NULL;
}

void *reader(void *unused) {
    dequeue();
    return unused;
}

void *writer_and_reader(void *argument) {
    enqueue((int)(intptr_t)argument);
    dequeue();
    return NULL;
}

int main(void) { return run_kinds(writer, reader, writer_and_reader); }

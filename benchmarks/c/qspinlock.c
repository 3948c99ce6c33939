/* The queued spinlock of Linux: one word for the lock, a waiter that is pending and a queue. */
#include "common.h"

enum { PENDING = 0x100, LOCKED_OR_PENDING = 0x1FF, TAIL_SHIFT = 11 };

atomic_int word, followers[THREADS + 1], turns[THREADS + 1];

/* What was there, whether it was exchanged or not. */
static int compare_swap(int expected, int new) {
    atomic_compare_exchange_strong(&word, &expected, new);
    return expected;
}

static void queue_up(int me) {
    int tail = me << TAIL_SHIFT;
    turns[me] = 0;
    followers[me] = 0;
    if (word == 0 && compare_swap(0, 1) == 0) return;
    int value = word, old;
    for (;;) {
        old = compare_swap(value, (value & LOCKED_OR_PENDING) | tail);
        if (old == value) break;
        value = old;
    }
    int successor = 0;
    if (old & ~LOCKED_OR_PENDING) {
        followers[old >> TAIL_SHIFT] = me;
        while (!turns[me]) {}
        successor = followers[me];
    }
    do value = word;
    while (value & LOCKED_OR_PENDING);
    for (;;) {
        if ((value & ~LOCKED_OR_PENDING) != tail) {
            int unlocked = atomic_fetch_add(&word, 1); /* nobody has it */
            assert(!(unlocked & 0xFF));
            break;
        }
        old = compare_swap(value, 1);
        if (old == value) return;
        value = old;
    }
    if (!successor) {
        do successor = followers[me];
        while (!successor);
    }
    turns[successor] = 1;
}

static void acquire(int me) {
    int value = compare_swap(0, 1);
    if (value == 0) return;
    if (value == PENDING) {
        do value = word;
        while (value == PENDING);
    }
    int new;
    for (;;) {
        if (value & ~0xFF) {
            queue_up(me);
            return;
        }
        new = value == 0 ? 1 : 1 | PENDING;
        int old = compare_swap(value, new);
        if (old == value) break;
        value = old;
    }
    if (new == 1) return;
    while (word & 0xFF) {}
    atomic_fetch_add(&word, 1 - PENDING);
}

void *worker(void *argument) {
    acquire((int)(intptr_t)argument + 1);
    atomic_fetch_add(&word, -1);
    return NULL;
}

int main(void) { return run(worker, THREADS); }

/* A ticket lock whose threads wait in an array as long as it is not nearly their turn. */
#include "common.h"

enum { SLOTS = THREADS + 2 };
atomic_int ticket, grant, slots[SLOTS], data;

static void wait_for_long(int mine) {
    atomic_int *slot = &slots[mine % SLOTS];
    int seen = *slot;
    while (mine - grant > 1) {
        int now;
        do now = *slot;
        while (now == seen);
        seen = now;
    }
}

void *worker(void *argument) {
    int me = (int)(intptr_t)argument, mine = atomic_fetch_add(&ticket, 1);
    int distance = mine - grant;
    if (distance) {
        if (distance > 1) wait_for_long(mine);
        while (grant != mine) {}
    }
    data = me;
    assert(data == me);
    int following = grant + 1;
    grant = following;
    atomic_fetch_add(&slots[(following + 1) % SLOTS], 1);
    return NULL;
}

int main(void) { return run(worker, THREADS); }

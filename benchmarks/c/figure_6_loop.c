/* A loop that is pure only for x > 4, beside a thread with three stores to x. */
#include "common.h"

atomic_int x, y, z;

void *looper(void *unused) {
    for (;;) {
        int a = x;
        (void)atomic_load(&y);
        if (a == 4) z = 42;
        if (a < 4) return unused;
    }
}

void *storer(void *unused) {
    x = FIRST;
    x = SECOND;
    x = THIRD;
    return unused;
}

int main(void) {
    run_both(looper, storer);
    return 0;
}

/* Two threads add two variables into each other, N times each, while main reads both. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>

atomic_int p = 1, q = 1;

void *add_to_p(void *unused) {
    for (int round = 0; round < N; round++) {
        int u = p, v = q;
        p = u + v;
    }
    return unused;
}

void *add_to_q(void *unused) {
    for (int round = 0; round < N; round++) {
        int u = q, v = p;
        q = u + v;
    }
    return unused;
}

static int fibonacci(int n) {
    int previous = 0, current = 1;
    while (--n > 0) {
        int sum = previous + current;
        previous = current;
        current = sum;
    }
    return current;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, add_to_p, NULL);
    pthread_create(&other, NULL, add_to_q, NULL);
    int u = p, v = q; /* no join: these two loads race with every store */
    int bound = fibonacci(2 * N + 2);
    assert(u <= bound && v <= bound);
    return 0;
}

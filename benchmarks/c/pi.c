/* N threads add their parts of a series, which are their own business, to one sum. */
#include "common.h"

int total;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *adder(void *part) {
    pthread_mutex_lock(&mutex);
    total += (int)(intptr_t)part;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int me = 0; me < N; me++) threads[me] = start(adder, me);
    join_all(threads, N);
    assert(total == N * (N - 1) / 2);
    return 0;
}

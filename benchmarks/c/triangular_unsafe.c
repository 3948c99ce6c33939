/* Two threads raise two variables above each other, N times: only if they take turns, and nobody
   else comes between, they get as high as main checks for. With JOINED, main waits for them. */
#include "common.h"

int low = 3, high = 6;
pthread_mutex_t block = PTHREAD_MUTEX_INITIALIZER;

static int load(int *variable) {
    pthread_mutex_lock(&block);
    int value = *variable;
    pthread_mutex_unlock(&block);
    return value;
}

void *raise_above(void *argument) {
    int *variable = argument ? &high : &low, *other = argument ? &low : &high;
    for (int round = 0; round < N; round++) {
        pthread_mutex_lock(&block);
        *variable = *other + 1;
        pthread_mutex_unlock(&block);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[] = {start(raise_above, 0), start(raise_above, 1)};
#ifdef JOINED
    join_all(threads, 2);
#endif
    (void)threads;
    int first = load(&low), second = load(&high);
    CHECK(first < 2 * N + 6 && second < 2 * N + 6);
    return 0;
}

/* N pairs of threads: one takes the pair's mutex, the other one the same inside a common one. */
#include "common.h"

pthread_mutex_t common = PTHREAD_MUTEX_INITIALIZER, own[N];

void *single(void *pair) {
    pthread_mutex_lock(&own[(intptr_t)pair]);
    pthread_mutex_unlock(&own[(intptr_t)pair]);
    return NULL;
}

void *both(void *pair) {
    pthread_mutex_lock(&common);
    single(pair);
    pthread_mutex_unlock(&common);
    return NULL;
}

int main(void) {
    for (int pair = 0; pair < N; pair++) pthread_mutex_init(&own[pair], NULL);
    for (int pair = 0; pair < N; pair++) {
        start(single, pair);
        start(both, pair);
    }
    return 0;
}

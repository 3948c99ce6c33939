/* Two threads store FIRST and SECOND times under a lock: each operation depends on all others. */
#include "common.h"

int x;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *worker(void *argument) {
    int rounds = argument ? SECOND : FIRST;
    for (int round = 0; round < rounds; round++) {
        pthread_mutex_lock(&mutex);
        x = 1;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

int main(void) {
    run_both(worker, worker);
    return 0;
}

/* N dining philosophers that count themselves when they are done; the last one sees it. With
   PROTECTED, the counter is in an atomic block. */
#include "common.h"

int done;
pthread_mutex_t forks[N], block = PTHREAD_MUTEX_INITIALIZER;

static void count(void) {
    done++;
    CHECK(done != N);
}

void *philosopher(void *argument) {
    int me = (int)(intptr_t)argument;
    pthread_mutex_lock(&block);
    pthread_mutex_lock(&forks[(me + 1) % N]);
    pthread_mutex_lock(&forks[me]);
    pthread_mutex_unlock(&forks[me]);
    pthread_mutex_unlock(&forks[(me + 1) % N]);
    pthread_mutex_unlock(&block);
#ifdef PROTECTED
    pthread_mutex_lock(&block);
    count();
    pthread_mutex_unlock(&block);
#else
    count();
#endif
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int me = 0; me < N; me++) pthread_mutex_init(&forks[me], NULL);
    for (int me = 0; me < N; me++) threads[me] = start(philosopher, me);
    join_all(threads, N);
    return 0;
}

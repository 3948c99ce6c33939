/* N threads take a mutex each; which of them main interferes with depends on when it looks. */
#include "common.h"

int selected;
pthread_mutex_t selected_lock = PTHREAD_MUTEX_INITIALIZER, cell_locks[N];

void *touch(void *cell) {
    pthread_mutex_lock(&cell_locks[(intptr_t)cell]);
    pthread_mutex_unlock(&cell_locks[(intptr_t)cell]);
    return NULL;
}

void *count(void *unused) {
    for (int value = 1; value < N; value++) {
        pthread_mutex_lock(&selected_lock);
        selected = value;
        pthread_mutex_unlock(&selected_lock);
    }
    return unused;
}

int main(void) {
    pthread_t threads[N + 1];
    for (int me = 0; me < N; me++) pthread_mutex_init(&cell_locks[me], NULL);
    for (int me = 0; me < N; me++) threads[me] = start(touch, me);
    threads[N] = start(count, 0);
    pthread_mutex_lock(&selected_lock);
    intptr_t cell = selected;
    pthread_mutex_unlock(&selected_lock);
    touch((void *)cell);
    join_all(threads, N + 1);
    return 0;
}

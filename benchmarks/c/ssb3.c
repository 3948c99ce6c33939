/* The program of Figure 1 behind a branch, whose other way has LENGTH conflicts on each side. */
#include "common.h"

int flag, counter, shared, cells[N];
pthread_mutex_t flag_lock = PTHREAD_MUTEX_INITIALIZER, counter_lock = PTHREAD_MUTEX_INITIALIZER,
                shared_lock = PTHREAD_MUTEX_INITIALIZER, cell_locks[N];

static void set(pthread_mutex_t *lock, int *variable, int value) {
    pthread_mutex_lock(lock);
    *variable = value;
    pthread_mutex_unlock(lock);
}

static int get(pthread_mutex_t *lock, int *variable) {
    pthread_mutex_lock(lock);
    int value = *variable;
    pthread_mutex_unlock(lock);
    return value;
}

void *writer(void *argument) {
    intptr_t me = (intptr_t)argument;
    set(&cell_locks[me], &cells[me], 123);
    return NULL;
}

void *count(void *unused) {
    set(&flag_lock, &flag, 1);
    for (int value = 1; value < N; value++) set(&counter_lock, &counter, value);
    return unused;
}

void *repeat(void *value) {
    for (int round = 0; round < LENGTH; round++) set(&shared_lock, &shared, (int)(intptr_t)value);
    return NULL;
}

void *branch(void *unused) {
    if (get(&flag_lock, &flag)) {
        int cell = get(&counter_lock, &counter);
        set(&cell_locks[cell], &cells[cell], 8899);
    } else {
        pthread_t helper = start(repeat, 10);
        repeat((void *)20);
        pthread_join(helper, NULL);
    }
    return unused;
}

int main(void) {
    pthread_t threads[N + 2];
    for (int me = 0; me < N; me++) pthread_mutex_init(&cell_locks[me], NULL);
    for (int me = 0; me < N; me++) threads[me] = start(writer, me);
    threads[N] = start(count, 0);
    threads[N + 1] = start(branch, 0);
    join_all(threads, N + 2);
    return 0;
}

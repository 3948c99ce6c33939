/* Which of N writers the master interferes with depends on when it reads the counter. With MUTEXES,
   each access is in a critical section of its variable. */
#include "common.h"

int counter, cells[N];
pthread_mutex_t counter_lock = PTHREAD_MUTEX_INITIALIZER, cell_locks[N];

static void enter(pthread_mutex_t *mutex) {
#ifdef MUTEXES
    pthread_mutex_lock(mutex);
#endif
    (void)mutex;
}

static void leave(pthread_mutex_t *mutex) {
#ifdef MUTEXES
    pthread_mutex_unlock(mutex);
#endif
    (void)mutex;
}

static void set(int cell, int value) {
    enter(&cell_locks[cell]);
    cells[cell] = value;
    leave(&cell_locks[cell]);
}

void *writer(void *argument) {
    int me = (int)(intptr_t)argument;
    set(me, 7 + me);
    return NULL;
}

void *count(void *unused) {
    for (int value = 1; value < N; value++) {
        enter(&counter_lock);
        counter = value;
        leave(&counter_lock);
    }
    return unused;
}

void *master(void *unused) {
    enter(&counter_lock);
    int cell = counter;
    leave(&counter_lock);
    set(cell, 0);
    return unused;
}

int main(void) {
    for (int me = 0; me < N; me++) pthread_mutex_init(&cell_locks[me], NULL);
    for (int me = 0; me < N; me++) start(writer, me);
    start(count, 0);
    start(master, 0);
    return 0;
}

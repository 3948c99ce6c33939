/* N producers append digits to a number; what it is then tells them to which worker to send. */
#include "common.h"

enum { ROUNDS = 2 };

int number, requests[WORKERS], done[WORKERS];
pthread_mutex_t number_lock = PTHREAD_MUTEX_INITIALIZER, worker_locks[WORKERS];

void *worker(void *argument) {
    intptr_t me = (intptr_t)argument;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&worker_locks[me]);
        int waiting = requests[me];
        if (waiting > 0) requests[me] = waiting - 1;
        pthread_mutex_unlock(&worker_locks[me]);
        if (waiting > 0) done[me]++;
    }
    return NULL;
}

void *producer(void *argument) {
    int me = (int)(intptr_t)argument, appended = 0;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&number_lock);
        appended = number * N + me;
        number = appended;
        pthread_mutex_unlock(&number_lock);
    }
    int destination = appended % WORKERS;
    pthread_mutex_lock(&worker_locks[destination]);
    requests[destination]++;
    pthread_mutex_unlock(&worker_locks[destination]);
    return NULL;
}

int main(void) {
    for (int me = 0; me < WORKERS; me++) pthread_mutex_init(&worker_locks[me], NULL);
    for (int me = 0; me < WORKERS; me++) start(worker, me);
    for (int me = 0; me < N; me++) start(producer, me);
    return 0;
}

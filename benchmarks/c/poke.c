/* Again and again one of N workers is chosen and poked; each worker counts once in the end. */
#include <assert.h>
#include <pthread.h>
#include <stdint.h>

#ifndef POKES
#define POKES 4
#endif

int is_free[N], chosen, counter;
pthread_mutex_t chosen_lock, worker_locks[N];

void *worker(void *argument) {
    intptr_t me = (intptr_t)argument;
    pthread_mutex_lock(&worker_locks[me]);
    is_free[me] = 1;
    pthread_mutex_unlock(&worker_locks[me]);
    return NULL;
}

void *chooser(void *unused) {
    for (int choice = 1; choice < N; choice++) {
        pthread_mutex_lock(&chosen_lock);
        chosen = choice;
        pthread_mutex_unlock(&chosen_lock);
    }
    return unused;
}

void *poker(void *unused) {
    pthread_mutex_lock(&chosen_lock);
    int target = chosen;
    pthread_mutex_unlock(&chosen_lock);
    pthread_mutex_lock(&worker_locks[target]);
    if (is_free[target] == 1) {
        counter++; /* no lock: two pokers never overlap */
        is_free[target] = 0;
    }
    pthread_mutex_unlock(&worker_locks[target]);
    return unused;
}

int main(void) {
    pthread_t workers[N], choosing, poking;
    pthread_mutex_init(&chosen_lock, NULL);
    for (int me = 0; me < N; me++) pthread_mutex_init(&worker_locks[me], NULL);
    for (intptr_t me = 0; me < N; me++) pthread_create(&workers[me], NULL, worker, (void *)me);
    for (int round = 0; round < POKES; round++) {
        pthread_create(&choosing, NULL, chooser, NULL);
        pthread_create(&poking, NULL, poker, NULL);
        pthread_join(choosing, NULL);
        pthread_join(poking, NULL);
    }
    assert(0 <= counter && counter <= N);
    for (int me = 0; me < N; me++) pthread_join(workers[me], NULL);
    for (int me = 0; me < N; me++) counter += is_free[me];
    assert(counter == N);
    return 0;
}

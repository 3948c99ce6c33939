/* main sends requests to N servers, each to the one that is picked just then. */
#include <pthread.h>
#include <stdint.h>

#ifndef REQUESTS
#define REQUESTS N
#endif

int picked, inboxes[N], outboxes[N];
pthread_mutex_t picked_lock, server_locks[N];

void *picker(void *unused) {
    for (int choice = 0; choice < N; choice++) {
        pthread_mutex_lock(&picked_lock);
        picked = choice;
        pthread_mutex_unlock(&picked_lock);
    }
    return unused;
}

void *server(void *argument) {
    intptr_t me = (intptr_t)argument;
    pthread_mutex_lock(&server_locks[me]);
    if (inboxes[me] > 0) outboxes[me] = inboxes[me];
    pthread_mutex_unlock(&server_locks[me]);
    return NULL;
}

int main(void) {
    pthread_t servers[N], picking;
    pthread_mutex_init(&picked_lock, NULL);
    for (int me = 0; me < N; me++) pthread_mutex_init(&server_locks[me], NULL);
    for (intptr_t me = 0; me < N; me++) pthread_create(&servers[me], NULL, server, (void *)me);
    for (int request = 0; request < REQUESTS; request++) {
        pthread_create(&picking, NULL, picker, NULL);
        pthread_mutex_lock(&picked_lock);
        int destination = picked;
        pthread_mutex_unlock(&picked_lock);
        pthread_mutex_lock(&server_locks[destination]);
        inboxes[destination]++;
        pthread_mutex_unlock(&server_locks[destination]);
        pthread_join(picking, NULL);
    }
    return 0;
}

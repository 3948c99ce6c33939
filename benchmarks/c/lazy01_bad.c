/* Two threads add to a variable, and a third one expects not to see both. */
#include "common.h"

int data;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *add(void *amount) {
    pthread_mutex_lock(&mutex);
    data += (int)(intptr_t)amount;
    pthread_mutex_unlock(&mutex);
    return NULL;
}

void *look(void *unused) {
    pthread_mutex_lock(&mutex);
    CHECK(data < 3);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t threads[] = {start(add, 1), start(add, 2), start(look, 0)};
    join_all(threads, 3);
    return 0;
}

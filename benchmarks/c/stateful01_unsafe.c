/* Two threads change two variables in turn: the sums are the same in any order. */
#include "common.h"

int first = 10, second = 10;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void change(int *variable, int amount) {
    pthread_mutex_lock(&mutex);
    *variable += amount;
    pthread_mutex_unlock(&mutex);
}

void *worker(void *argument) {
    intptr_t me = (intptr_t)argument;
    change(&first, me ? 5 : 1);
    change(&second, me ? -6 : 1);
    return NULL;
}

int main(void) {
    run_both(worker, worker);
    CHECK(!(first == 16 && second == 5));
    return 0;
}

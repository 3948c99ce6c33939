/* A driver is stopped while main goes in, which has seen before that it was not. */
#include "common.h"

int pending = 1, stopping, event, stopped;
pthread_mutex_t block = PTHREAD_MUTEX_INITIALIZER;

static int add_to_pending(int amount) {
    pthread_mutex_lock(&block);
    int count = pending + amount;
    pending = count;
    pthread_mutex_unlock(&block);
    return count;
}

static void leave(void) {
    if (add_to_pending(-1) == 0) event = 1;
}

void *stop(void *unused) {
    stopping = 1;
    leave();
    if (event) stopped = 1;
    return unused;
}

int main(void) {
    pthread_t stopper = start(stop, 0);
    if (!stopping) {
        add_to_pending(1);
        CHECK(!stopped);
    }
    leave(); /* also if it did not go in */
    pthread_join(stopper, NULL);
    return 0;
}

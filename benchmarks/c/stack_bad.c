/* N times a thread pops from a stack once it was not empty, whether or not it is empty now. */
#include "common.h"

int top, elements[N], was_filled;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *pusher(void *unused) {
    for (int value = 0; value < N; value++) {
        pthread_mutex_lock(&mutex);
        int position = top;
        CHECK(position != N);
        elements[position] = value;
        top = position + 1;
        was_filled = 1;
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

void *popper(void *unused) {
    for (int round = 0; round < N; round++) {
        pthread_mutex_lock(&mutex);
        if (was_filled) {
            int position = top;
            CHECK(position != 0);
            if (position != 0) {
                top = position - 1;
                volatile int popped = elements[position - 1];
                (void)popped;
            }
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    run_both(pusher, popper);
    return 0;
}

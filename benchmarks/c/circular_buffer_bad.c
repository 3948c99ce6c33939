/* As circular_buffer, but the consumer expects that it finds an item in each of N rounds. */
#include "common.h"

enum { SIZE = 10 };

int slots[SIZE], write_position, read_position, may_send = 1, may_receive;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void *producer(void *unused) {
    for (int item = 0; item < N; item++) {
        pthread_mutex_lock(&mutex);
        if (may_send) {
            slots[write_position] = item;
            write_position = (write_position + 1) % SIZE;
            may_send = 0;
            may_receive = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

void *consumer(void *unused) {
    for (int expected = 0; expected < N; expected++) {
        pthread_mutex_lock(&mutex);
        if (may_receive) {
            CHECK(slots[read_position++] == expected);
            may_receive = 0;
            may_send = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    run_both(producer, consumer);
    return 0;
}

/* A producer and a consumer try N times each to move one item through a buffer. */
#include <assert.h>
#include <pthread.h>

enum { SIZE = 10 };

int slots[SIZE], write_position, read_position, last_sent, may_send = 1, may_receive;
pthread_mutex_t mutex;

void *producer(void *unused) {
    for (int item = 0; item < N; item++) {
        pthread_mutex_lock(&mutex);
        if (may_send) {
            slots[write_position] = item;
            write_position = (write_position + 1) % SIZE;
            last_sent = item;
            may_send = 0;
            may_receive = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

void *consumer(void *unused) {
    for (int round = 0; round < N; round++) {
        pthread_mutex_lock(&mutex);
        if (may_receive) {
            int item = slots[read_position++]; /* never wrapped, which limits N to SIZE */
            assert(item == last_sent);
            may_receive = 0;
            may_send = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_mutex_init(&mutex, NULL);
    pthread_create(&one, NULL, producer, NULL);
    pthread_create(&other, NULL, consumer, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}

/* A producer and a consumer of a queue of N, which do not notice when they lose step. */
#include "common.h"

int elements[N + 1], copies[N], head, tail, amount, may_enqueue = 1, may_dequeue;
pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int after(int position) { return position == N ? 1 : position + 1; }

static void enqueue(int value) {
    int position = tail;
    elements[position] = value;
    amount++;
    tail = after(position);
}

static int dequeue(void) {
    int position = head, value = elements[position];
    amount--;
    head = after(position);
    return value;
}

void *producer(void *unused) {
    int value = 0;
    pthread_mutex_lock(&mutex);
    enqueue(value);
    copies[0] = value;
    CHECK(head != tail);
    pthread_mutex_unlock(&mutex);
    for (int place = 1; place < N; place++) {
        pthread_mutex_lock(&mutex);
        if (may_enqueue) {
            enqueue(++value);
            copies[place] = value;
            may_enqueue = 0;
            may_dequeue = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

void *consumer(void *unused) {
    for (int place = 0; place < N; place++) {
        pthread_mutex_lock(&mutex);
        if (may_dequeue) {
            int found = dequeue();
            CHECK(found == copies[place]);
            may_dequeue = 0;
            may_enqueue = 1;
        }
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

int main(void) {
    run_both(producer, consumer);
    return 0;
}

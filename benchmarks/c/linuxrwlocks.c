/* Two threads try N times each to take a lock, and do not insist when it is held. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

atomic_int lock, data;

void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int round = 0; round < N; round++) {
        int free = 0;
        if (atomic_compare_exchange_strong(&lock, &free, 1)) {
            data = me;
            int found = data;
            assert(found == me);
            lock = 0;
        }
    }
    return NULL;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, worker, (void *)1);
    pthread_create(&other, NULL, worker, (void *)2);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
    return 0;
}

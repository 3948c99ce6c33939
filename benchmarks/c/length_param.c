/* N threads. The length of the thread-local part makes executions longer, but not more of them. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

atomic_int shared, owned[N];

void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int i = 0; i < LENGTH; i++) {
        owned[me] = i;
        (void)atomic_load(&owned[me]);
    }
    shared = me;
    (void)atomic_load(&shared);
    return NULL;
}

int main(void) {
    pthread_t thread;
    for (intptr_t me = 0; me < N; me++) pthread_create(&thread, NULL, worker, (void *)me);
    return 0;
}

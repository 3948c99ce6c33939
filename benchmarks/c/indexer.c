/* Each of N threads inserts four keys into a hash table; thread t shares keys with thread t + 11. */
#include <pthread.h>
#include <stdint.h>

enum { SIZE = 128, INSERTIONS = 4 };

int cells[SIZE];
pthread_mutex_t locks[SIZE];

void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int insertion = 1; insertion <= INSERTIONS; insertion++) {
        int key = 11 * insertion + me, position = 7 * key % SIZE, is_inserted = 0;
        while (!is_inserted) {
            pthread_mutex_lock(&locks[position]);
            if (cells[position] == 0) {
                cells[position] = key;
                is_inserted = 1;
            }
            pthread_mutex_unlock(&locks[position]);
            position = (position + 1) % SIZE;
        }
    }
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int place = 0; place < SIZE; place++) pthread_mutex_init(&locks[place], NULL);
    for (intptr_t me = 0; me < N; me++) pthread_create(&threads[me], NULL, worker, (void *)me);
    for (int me = 0; me < N; me++) pthread_join(threads[me], NULL);
    return 0;
}

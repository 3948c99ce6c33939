/* Each of N threads allocates a disk block for its inode; thread t collides with thread t + 13. */
#include <pthread.h>
#include <stdint.h>

enum { INODES = 32, BLOCKS = 26, TRIES = 10 };

int inodes[INODES], busy[BLOCKS];
pthread_mutex_t inode_locks[INODES], block_locks[BLOCKS];

void *worker(void *argument) {
    int inode = (int)(intptr_t)argument % INODES;
    pthread_mutex_lock(&inode_locks[inode]);
    if (inodes[inode] == 0) {
        int block = 2 * inode % BLOCKS;
        for (int round = 0; round < TRIES; round++) {
            pthread_mutex_lock(&block_locks[block]);
            int is_free = busy[block] == 0;
            if (is_free) {
                busy[block] = 1;
                inodes[inode] = block + 1;
            }
            pthread_mutex_unlock(&block_locks[block]);
            if (is_free) break;
            block = (block + 1) % BLOCKS;
        }
    }
    pthread_mutex_unlock(&inode_locks[inode]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int place = 0; place < INODES; place++) pthread_mutex_init(&inode_locks[place], NULL);
    for (int place = 0; place < BLOCKS; place++) pthread_mutex_init(&block_locks[place], NULL);
    for (intptr_t me = 0; me < N; me++) pthread_create(&threads[me], NULL, worker, (void *)me);
    for (int me = 0; me < N; me++) pthread_join(threads[me], NULL);
    return 0;
}

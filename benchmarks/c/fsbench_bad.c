/* As filesystem with N threads, but with more inodes than locks for them: none for thread 26. */
#include "common.h"

enum { INODES = 32, BLOCKS = 26, TRIES = 13 };

int inodes[INODES], busy[BLOCKS];
pthread_mutex_t inode_locks[BLOCKS], block_locks[BLOCKS];

static void allocate(int inode) {
    int block = 2 * inode % BLOCKS;
    for (int round = 0; round < TRIES; round++) {
        pthread_mutex_lock(&block_locks[block]);
        int is_free = !busy[block];
        if (is_free) {
            busy[block] = 1;
            inodes[inode] = block + 1;
        }
        pthread_mutex_unlock(&block_locks[block]);
        if (is_free) return;
        block = (block + 1) % BLOCKS;
    }
}

void *worker(void *argument) {
    int inode = (int)(intptr_t)argument % INODES;
    CHECK(inode < BLOCKS);
    if (inode >= BLOCKS) return NULL; /* only noted: there is nothing that it could lock */
    pthread_mutex_lock(&inode_locks[inode]);
    if (inodes[inode] == 0) allocate(inode);
    pthread_mutex_unlock(&inode_locks[inode]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int place = 0; place < BLOCKS; place++) {
        pthread_mutex_init(&inode_locks[place], NULL);
        pthread_mutex_init(&block_locks[place], NULL);
    }
    for (int me = 0; me < N; me++) threads[me] = start(worker, me);
    join_all(threads, N);
    return 0;
}

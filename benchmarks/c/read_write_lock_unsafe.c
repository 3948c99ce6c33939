/* Two writers and two readers with a lock of their own; readers do not leave it atomically. With
   PROTECTED, writers leave it in an atomic block. Whoever gives up has the block for good. */
#include "common.h"

atomic_int writing, reading, value, copy;
pthread_mutex_t block = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *unused) {
    pthread_mutex_lock(&block);
    __VERIFIER_assume(!writing && reading == 0);
    writing = 1;
    pthread_mutex_unlock(&block);
    value = 3;
#ifdef PROTECTED
    pthread_mutex_lock(&block);
    writing = 0;
    pthread_mutex_unlock(&block);
#else
    writing = 0;
#endif
    return unused;
}

void *reader(void *unused) {
    pthread_mutex_lock(&block);
    __VERIFIER_assume(!writing);
    reading = reading + 1;
    pthread_mutex_unlock(&block);
    copy = value;
    int copied = copy;
    CHECK(copied == value);
    reading = reading - 1;
    return unused;
}

int main(void) {
    start(writer, 0);
    start(reader, 0);
    start(writer, 0);
    start(reader, 0);
    return 0;
}

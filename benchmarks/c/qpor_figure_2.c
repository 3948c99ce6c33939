/* Three executions; in one of them a thread waits for a mutex that is never released. */
#include "common.h"

int flag;
pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;

void *reader(void *unused) {
    pthread_mutex_lock(&first_lock);
    if (flag != 0) pthread_mutex_lock(&second_lock);
    pthread_mutex_unlock(&first_lock);
    return unused;
}

void *writer(void *unused) {
    pthread_mutex_lock(&first_lock);
    flag = 1;
    pthread_mutex_unlock(&first_lock);
    return unused;
}

void *other(void *unused) {
    pthread_mutex_lock(&second_lock);
    pthread_mutex_unlock(&second_lock);
    return unused;
}

int main(void) {
    pthread_t threads[] = {start(reader, 0), start(writer, 0), start(other, 0)};
    join_all(threads, 3); /* the end of main would end who waits */
    return 0;
}

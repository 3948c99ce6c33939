/* Three threads, for which source sets take one redundant execution. */
#include "common.h"

int flag;
pthread_mutex_t flag_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER,
                third_lock = PTHREAD_MUTEX_INITIALIZER;

void *setter(void *unused) {
    pthread_mutex_lock(&flag_lock);
    flag = 1;
    pthread_mutex_unlock(&flag_lock);
    pthread_mutex_lock(&third_lock);
    pthread_mutex_unlock(&third_lock);
    return unused;
}

void *reader(void *unused) {
    pthread_mutex_lock(&flag_lock);
    if (flag) {
        pthread_mutex_lock(&second_lock);
        pthread_mutex_unlock(&second_lock);
    }
    pthread_mutex_unlock(&flag_lock);
    return unused;
}

void *other(void *unused) {
    pthread_mutex_lock(&second_lock);
    pthread_mutex_lock(&third_lock);
    pthread_mutex_unlock(&third_lock);
    pthread_mutex_unlock(&second_lock);
    return unused;
}

int main(void) {
    start(other, 0);
    start(reader, 0);
    start(setter, 0);
    return 0;
}

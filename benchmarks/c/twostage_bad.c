/* WRITERS threads set two variables in two critical sections; one of READERS others may come
   between. In the second one a writer reads the first variable, whose lock it has not got. */
#include "common.h"

int first, second;
pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;

void *writer(void *unused) {
    pthread_mutex_lock(&first_lock);
    first = 1;
    pthread_mutex_unlock(&first_lock);
    pthread_mutex_lock(&second_lock);
    second = first + 1;
    pthread_mutex_unlock(&second_lock);
    return unused;
}

void *reader(void *unused) {
    int expected = 0;
    pthread_mutex_lock(&first_lock);
    if (first != 0) expected = first + 1;
    pthread_mutex_unlock(&first_lock);
    if (!expected) return unused;
    pthread_mutex_lock(&second_lock);
    int found = second;
    pthread_mutex_unlock(&second_lock);
    CHECK(found == expected);
    return unused;
}

int main(void) {
    pthread_t threads[WRITERS + READERS];
    for (int me = 0; me < WRITERS + READERS; me++)
        threads[me] = start(me < WRITERS ? writer : reader, 0);
    join_all(threads, WRITERS + READERS);
    return 0;
}

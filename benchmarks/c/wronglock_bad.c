/* FIRST and SECOND threads of two kinds add one to the same variable, under different locks. */
#include "common.h"

int variable;
pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER, second_lock = PTHREAD_MUTEX_INITIALIZER;

void *first(void *unused) {
    pthread_mutex_lock(&first_lock);
    int before = variable;
    variable++;
    CHECK(variable == before + 1);
    pthread_mutex_unlock(&first_lock);
    return unused;
}

void *second(void *unused) {
    pthread_mutex_lock(&second_lock);
    variable++;
    pthread_mutex_unlock(&second_lock);
    return unused;
}

int main(void) {
    pthread_t threads[FIRST + SECOND];
    for (int me = 0; me < FIRST + SECOND; me++) threads[me] = start(me < FIRST ? first : second, 0);
    join_all(threads, FIRST + SECOND);
    return 0;
}

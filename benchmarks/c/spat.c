/* Each of N threads takes up to three of the MUTEXES mutexes, one inside the other. */
#include "common.h"

pthread_mutex_t mutexes[MUTEXES];

void *climb(void *argument) {
    int me = (int)(intptr_t)argument, steps[] = {me, me + 1, me + 3}, held = 0;
    while (held < 3 && steps[held] < MUTEXES) pthread_mutex_lock(&mutexes[steps[held++]]);
    while (held-- > 0) pthread_mutex_unlock(&mutexes[steps[held]]);
    return NULL;
}

int main(void) {
    pthread_t threads[N];
    for (int place = 0; place < MUTEXES; place++) pthread_mutex_init(&mutexes[place], NULL);
    for (int me = 0; me < N; me++) threads[me] = start(climb, me);
    join_all(threads, N);
    return 0;
}

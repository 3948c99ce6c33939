/* Three threads copy a token from the one before, the first of them adds one. */
#include "common.h"

int tokens[] = {1, 2, 1}, done[3];
pthread_mutex_t block = PTHREAD_MUTEX_INITIALIZER;

void *copy(void *argument) {
    intptr_t me = (intptr_t)argument;
    pthread_mutex_lock(&block);
    int token = tokens[(me + 2) % 3];
    tokens[me] = me == 0 ? (token + 1) % 4 : token;
    done[me] = 1;
    pthread_mutex_unlock(&block);
    return NULL;
}

void *checker(void *unused) {
    pthread_mutex_lock(&block);
    if (done[0] && done[1] && done[2]) CHECK(tokens[0] == tokens[1] && tokens[1] == tokens[2]);
    pthread_mutex_unlock(&block);
    return unused;
}

int main(void) {
    for (int me = 0; me < 3; me++) start(copy, me);
    start(checker, 0);
    return 0;
}

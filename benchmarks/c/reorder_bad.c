/* CHECKERS threads expect to see both of two variables set by SETTERS others, or none. */
#include "common.h"

atomic_int first, second;

void *setter(void *unused) {
    first = 1;
    second = -1;
    return unused;
}

void *checker(void *unused) {
    /* How many loads there are depends on what they find. */
    int none_set = first == 0 && second == 0;
    CHECK(none_set || (first == 1 && second == -1));
    return unused;
}

int main(void) {
    pthread_t threads[SETTERS + CHECKERS];
    for (int me = 0; me < SETTERS + CHECKERS; me++)
        threads[me] = start(me < SETTERS ? setter : checker, 0);
    join_all(threads, SETTERS + CHECKERS);
    return 0;
}

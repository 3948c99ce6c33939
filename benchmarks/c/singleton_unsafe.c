/* Four threads store to a variable, one of them another value than the others. */
#include "common.h"

char cell;

void *store(void *letter) {
    cell = (char)(intptr_t)letter;
    return NULL;
}

void *boss(void *unused) {
    pthread_join(start(store, 0), NULL);
    pthread_t threads[] = {start(store, 'X'), start(store, 'Y'), start(store, 'X'), start(store, 'X')};
    join_all(threads, 4);
    return unused;
}

int main(void) {
    pthread_join(start(boss, 0), NULL);
    CHECK(cell == 'X');
    return 0;
}

/* main gives each of N workers an index in one variable, and does not wait until it is read. */
#include "common.h"

int position = -1, cells[N];

void *worker(void *unused) {
    cells[position] = 1;
    return unused;
}

int main(void) {
    pthread_t threads[N];
    for (int me = 0; me < N; me++) {
        position++;
        threads[me] = start(worker, 0);
    }
    join_all(threads, N);
    int sum = 0;
    for (int me = 0; me < N; me++) sum += cells[me];
    CHECK(sum == N);
    return 0;
}

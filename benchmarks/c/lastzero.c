/* N writers fill an array from the left, while a reader looks from the right for a zero. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

atomic_int cells[N + 1];

void *reader(void *unused) {
    int position = N;
    while (cells[position] != 0) position--; /* the first cell stays 0, so this ends */
    return unused;
}

void *writer(void *argument) {
    int position = (int)(intptr_t)argument;
    cells[position] = cells[position - 1] + 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    for (intptr_t position = 1; position <= N; position++)
        pthread_create(&thread, NULL, writer, (void *)position);
    return 0;
}

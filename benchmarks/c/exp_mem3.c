/* N leaves all store the same value: the order of the stores counts although nobody reads it. */
#include <pthread.h>
#include <stdatomic.h>

atomic_int once, many;

void *leaf(void *unused) {
    many = 1;
    return unused;
}

void *first(void *unused) {
    once = 1;
    return unused;
}

void *second(void *unused) {
    pthread_t leaves[N];
    for (int place = 0; place < N; place++) pthread_create(&leaves[place], NULL, leaf, NULL);
    for (int place = 0; place < N; place++) pthread_join(leaves[place], NULL);
    (void)atomic_load(&once);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, first, NULL);
    pthread_create(&thread, NULL, second, NULL);
    return 0;
}

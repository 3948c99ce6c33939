#include <assert.h>
#include <pthread.h>

static int hits;

static void *hit(void *argument) {
    int before = hits;
    hits = before + 1;
    return argument;
}

int main(void) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], 0, hit, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    assert(hits == 2);
    return 0;
}

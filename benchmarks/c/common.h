/* What the programs of the papers have in common. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

void __VERIFIER_assume(int condition);

/* What a program may violate. Where violations are counted, they are only noted. */
#ifdef COUNTED
#define CHECK(condition) do { if (!(condition)) printf("violated\n"); } while (0)
#else
#define CHECK(condition) assert(condition)
#endif

typedef void *thread_function(void *);

static inline pthread_t start(thread_function *function, intptr_t argument) {
    pthread_t thread;
    pthread_create(&thread, NULL, function, (void *)argument);
    return thread;
}

static inline void join_all(pthread_t *threads, int count) {
    for (int place = 0; place < count; place++) pthread_join(threads[place], NULL);
}

/* Run two functions as threads to their ends. */
static inline void run_both(thread_function *one, thread_function *other) {
    pthread_t threads[] = {start(one, 0), start(other, 1)};
    join_all(threads, 2);
}

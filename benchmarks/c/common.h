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

/* Run a function as so many threads to their ends, each with its number. */
static inline int run(thread_function *function, int count) {
    pthread_t threads[count];
    for (int me = 0; me < count; me++) threads[me] = start(function, me);
    join_all(threads, count);
    return 0;
}

/* Threads of two kinds, and such that are both. */
#ifdef FIRST_KIND
enum { FIRST_TWO = FIRST_KIND + SECOND_KIND, ALL_THREADS = FIRST_TWO + BOTH_KINDS };

static inline int run_kinds(thread_function *first, thread_function *second, thread_function *both) {
    pthread_t threads[ALL_THREADS];
    for (int me = 0; me < ALL_THREADS; me++)
        threads[me] = start(me < FIRST_KIND ? first : me < FIRST_TWO ? second : both, me);
    join_all(threads, ALL_THREADS);
    return 0;
}
#endif

/* Locks of "Awaiting for Godot: Stateless Model Checking that Avoids Executions where Nothing
   Happens". The arguments say which one, and how many threads take it. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static int data;

static void use(int me) {
    data = me;
    assert(data == me);
}

static atomic_int lock;

static void *ttaslock(void *me) {
    for (;;) {
        while (lock) {}
        if (!atomic_exchange(&lock, 1)) break;
    }
    use((int)(intptr_t)me);
    lock = 0;
    return NULL;
}

static atomic_int next_ticket, granted, slots[8];

static void *twalock(void *me) {
    int ticket = atomic_fetch_add(&next_ticket, 1), distance = ticket - granted;
    if (distance) {
        if (distance > 1) {
            int seen = slots[ticket];
            distance = ticket - granted;
            while (distance > 1) {
                int now;
                do now = slots[ticket]; while (now == seen);
                seen = now;
                distance = ticket - granted;
            }
        }
        while (granted != ticket) {}
    }
    use((int)(intptr_t)me);
    int next = granted + 1;
    granted = next;
    atomic_fetch_add(&slots[next + 1], 1);
    return NULL;
}

static atomic_int word, sleepers;

static int change(atomic_int *at, int from, int to) {
    return atomic_compare_exchange_strong(at, &from, to);
}

static void *mutex(void *me) {
    if (!change(&word, 0, 1)) {
        for (;;) {
            change(&word, 1, 2);
            int seen = sleepers;
            if (word == 2) while (sleepers == seen) {}
            if (change(&word, 0, 2)) break;
        }
    }
    use((int)(intptr_t)me);
    if (!change(&word, 1, 0)) {
        word = 0;
        atomic_fetch_add(&sleepers, 1);
    }
    return NULL;
}

enum { BIAS = 0x100000 };
static atomic_int readers = BIAS;

static void *writer(void *me) {
    while (atomic_fetch_sub(&readers, BIAS) != BIAS) {
        atomic_fetch_add(&readers, BIAS);
        while (readers != BIAS) {}
    }
    use((int)(intptr_t)me);
    atomic_fetch_add(&readers, BIAS);
    return NULL;
}

static pthread_mutex_t ordinary = PTHREAD_MUTEX_INITIALIZER;
static int turn;

static void *take_turns(void *me) {
    for (int is_over = 0; !is_over;) {
        pthread_mutex_lock(&ordinary);
        is_over = turn == (int)(intptr_t)me;
        if (is_over) turn++;
        pthread_mutex_unlock(&ordinary);
    }
    return NULL;
}

int main(int count, char **arguments) {
    const char *which = arguments[count - 2];
    int threads = atoi(arguments[count - 1]);
    void *(*function)(void *) = strcmp(which, "ttaslock") == 0  ? ttaslock
                                : strcmp(which, "twalock") == 0 ? twalock
                                : strcmp(which, "mutex") == 0   ? mutex
                                : strcmp(which, "rwlock") == 0  ? writer
                                                                : take_turns;
    pthread_t handles[8];
    for (int me = 0; me < threads; me++)
        pthread_create(&handles[me], NULL, function, (void *)(intptr_t)me);
    for (int me = 0; me < threads; me++) pthread_join(handles[me], NULL);
    return 0;
}

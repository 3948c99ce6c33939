/* Loops that wait: the argument says which one. */
#define _GNU_SOURCE
#include <assert.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IS(name) (strcmp(which, name) == 0)

static const char *which;
static atomic_int flag, lock, next_ticket, serving, flags[2];
static volatile int plain;
static int counter, tries;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void run(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, (void *)0);
    pthread_create(&threads[1], NULL, other, (void *)1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void *set_flag(void *unused) { flag = 1; return unused; }
static void *set_plain(void *unused) { plain = 1; return unused; }
static void *nothing(void *unused) { return unused; }
static void *wait_for_flag(void *unused) { while (!flag) {} return unused; }
static void *wait_for_plain(void *unused) { while (!plain) sched_yield(); return unused; }

static void *set_both(void *unused) { flags[0] = 1; flags[1] = 1; return unused; }
static void *poll_in_turn(void *unused) {
    int left[2] = {1, 1};
    for (int place = 0; left[0] || left[1]; place ^= 1)
        if (left[place] && flags[place]) left[place] = 0;
    return unused;
}

static void *test_and_set(void *unused) {
    while (atomic_exchange(&lock, 1)) {}
    int found = counter;
    counter = found + 1;
    lock = 0;
    return unused;
}

static void *look_then_set(void *unused) {
    do { while (lock) {} } while (atomic_exchange(&lock, 1));
    int found = counter;
    counter = found + 1;
    lock = 0;
    return unused;
}

static void *compare_and_set(void *unused) {
    for (int free = 0; !atomic_compare_exchange_weak(&lock, &free, 1); free = 0) {}
    int found = counter;
    counter = found + 1;
    lock = 0;
    return unused;
}

static void *take_ticket(void *unused) {
    int own = atomic_fetch_add(&next_ticket, 1);
    while (serving != own) {}
    int found = counter;
    counter = found + 1;
    serving = own + 1;
    return unused;
}

static void *try_mutex(void *unused) {
    while (pthread_mutex_trylock(&mutex)) {}
    int found = counter;
    counter = found + 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static int ready;
static void *set_locked(void *unused) {
    pthread_mutex_lock(&mutex);
    ready = 1;
    pthread_mutex_unlock(&mutex);
    return unused;
}
static void *look_locked(void *unused) {
    for (int is_ready = 0; !is_ready;) {
        pthread_mutex_lock(&mutex);
        is_ready = ready;
        pthread_mutex_unlock(&mutex); /* round */
    }
    return unused;
}

static int is_set(atomic_int *one) { return *one != 0; }
static void *poll_by_call(void *unused) { while (!is_set(&flag)) {} return unused; }

/* Not a loop that waits: it gives up after some tries. */
static void *try_thrice(void *unused) {
    for (int round = 0; round < 3; round++) { if (flag) break; tries++; }
    return unused;
}
static void *count_on_stack(void *unused) {
    int round = 0;
    while (!flag && round < 3) round++;
    counter = round;
    return unused;
}

int main(int count, char **arguments) {
    (void)count;
    which = arguments[1];
    if (IS("flag")) run(wait_for_flag, set_flag);
    if (IS("never")) run(wait_for_flag, nothing);
    if (IS("locked")) run(look_locked, set_locked);
    if (IS("locked, twice")) run(look_locked, look_locked);
    if (IS("plain")) run(wait_for_plain, set_plain);
    if (IS("in turn")) run(poll_in_turn, set_both);
    if (IS("by call")) run(poll_by_call, set_flag);
    if (IS("test and set")) { run(test_and_set, test_and_set); assert(counter == 2); }
    if (IS("look then set")) { run(look_then_set, look_then_set); assert(counter == 2); }
    if (IS("compare and set")) { run(compare_and_set, compare_and_set); assert(counter == 2); }
    if (IS("ticket")) { run(take_ticket, take_ticket); assert(counter == 2); }
    if (IS("trylock")) { run(try_mutex, try_mutex); assert(counter == 2); }
    if (IS("thrice")) { run(try_thrice, set_flag); printf("%d", tries); }
    if (IS("on stack")) { run(count_on_stack, set_flag); printf("%d", counter); }
    return 0;
}

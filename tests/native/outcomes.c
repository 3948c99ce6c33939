/* Programs of which all outcomes are known: the argument says which one. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define IS(name) (strcmp(which, name) == 0)

struct pair { int first, second; };
struct large { long words[4]; };

static const char *which;
static struct pair pair;
static struct large large, filled = {{1, 1, 1, 1}};
static union { uint32_t whole; uint16_t halves[2]; uint8_t bytes[4]; } parts;
static char bytes[16];
static int x, y, seen[4];
static volatile int turn;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int woken, waiting;
static sem_t semaphore;
static atomic_uint bits;
static pthread_key_t keys[2];

static void run(void *(*one)(void *), void *(*other)(void *)) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, one, (void *)0);
    pthread_create(&threads[1], NULL, other, (void *)1);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

/* Store buffering: under sequential consistency at least one sees the other. */
static void *store_x(void *unused) { x = 1; seen[0] = y; return unused; }
static void *store_y(void *unused) { y = 1; seen[1] = x; return unused; }

/* A whole is written, and a half, and a byte: all are one place. */
static void *write_whole(void *unused) { parts.whole = 0x01010101; return unused; }
static void *write_half(void *unused) { parts.halves[1] = 0x0202; return unused; }

/* A structure is copied at once, or not at all. */
static void *copy_all(void *unused) { large = filled; return unused; }
static void *read_ends(void *unused) {
    struct large copy = large;
    seen[0] = (int)copy.words[0];
    seen[1] = (int)copy.words[3];
    return unused;
}

/* Byte by byte: what is copied can be torn. */
static void *copy_bytes(void *unused) { memcpy(bytes, "ab", 2); return unused; }
static void *read_bytes(void *unused) { seen[0] = bytes[0] != 0; seen[1] = bytes[1] != 0; return unused; }

static void *change_fields(void *argument) {
    if (argument) pair.second = pair.first;
    else pair.first = 1;
    return NULL;
}

/* Two wait, one is woken: either of them. */
static void *wait_once(void *argument) {
    pthread_mutex_lock(&mutex);
    waiting++;
    pthread_cond_wait(&condition, &mutex);
    if (!woken) woken = 1 + (int)(intptr_t)argument;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
    return NULL;
}

static void *wake_one(void *unused) {
    for (int is_done = 0; !is_done;) {
        pthread_mutex_lock(&mutex);
        is_done = waiting == 2;
        if (is_done) pthread_cond_signal(&condition);
        else seen[0] = 1;
        pthread_mutex_unlock(&mutex);
        if (!is_done) { seen[1] = 1; return unused; }
    }
    return unused;
}

static void *wait_in_time(void *unused) {
    struct timespec until = {0, 0};
    pthread_mutex_lock(&mutex);
    seen[0] = pthread_cond_timedwait(&condition, &mutex, &until) == ETIMEDOUT;
    pthread_mutex_unlock(&mutex);
    return unused;
}

static void *wake_without_lock(void *unused) { pthread_cond_broadcast(&condition); return unused; }

static void *on_stack(void *argument) { (*(int *)argument)++; return NULL; }

static void *through_semaphore(void *argument) {
    if (argument) { sem_wait(&semaphore); seen[0] = x; }
    else { x = 1; sem_post(&semaphore); }
    return NULL;
}

static void *set_bits(void *argument) {
    if (argument) atomic_fetch_or(&bits, 2);
    else atomic_fetch_xor(&bits, 3);
    return NULL;
}

static void *make_key(void *argument) {
    pthread_key_create(&keys[(intptr_t)argument], NULL);
    return NULL;
}

static void *write_volatile(void *unused) { turn = 1; turn = 2; return unused; }
static void *read_volatile(void *unused) { seen[0] = turn; return unused; }

static void *static_local(void *unused) {
    static int count;
    count++;
    seen[0] = count;
    return unused;
}

static int *block;
static void *publish(void *unused) {
    int *made = malloc(sizeof *made);
    *made = 42;
    block = made;
    return unused;
}
static void *look(void *unused) {
    int *found = block;
    seen[0] = found ? *found : 0;
    return unused;
}

int main(int count, char **arguments) {
    (void)count;
    which = arguments[1];
    if (IS("store buffering")) { run(store_x, store_y); printf("%d%d", seen[0], seen[1]); }
    if (IS("parts")) { run(write_whole, write_half); printf("%08x", parts.whole); }
    if (IS("structures")) { run(copy_all, read_ends); printf("%d%d", seen[0], seen[1]); }
    if (IS("bytes")) { run(copy_bytes, read_bytes); printf("%d%d", seen[0], seen[1]); }
    if (IS("fields")) { run(change_fields, change_fields); printf("%d", pair.second); }
    if (IS("woken")) {
        pthread_t waker, threads[2];
        pthread_create(&threads[0], NULL, wait_once, (void *)0);
        pthread_create(&threads[1], NULL, wait_once, (void *)1);
        pthread_create(&waker, NULL, wake_one, NULL);
        pthread_join(waker, NULL);
        if (!seen[1]) { pthread_join(threads[0], NULL); pthread_join(threads[1], NULL); }
        printf("%d", seen[1] ? 0 : woken);
    }
    if (IS("in time")) { run(wait_in_time, wake_without_lock); printf("%d", seen[0]); }
    if (IS("stack")) {
        int own = 0;
        pthread_t threads[2];
        for (int place = 0; place < 2; place++) pthread_create(&threads[place], NULL, on_stack, &own);
        for (int place = 0; place < 2; place++) pthread_join(threads[place], NULL);
        printf("%d", own);
    }
    if (IS("semaphore")) { sem_init(&semaphore, 0, 0); run(through_semaphore, through_semaphore); printf("%d", seen[0]); }
    if (IS("bits")) { run(set_bits, set_bits); printf("%u", bits); }
    if (IS("keys")) { run(make_key, make_key); printf("%d", keys[0] < keys[1]); }
    if (IS("volatile")) { run(write_volatile, read_volatile); printf("%d", seen[0]); }
    if (IS("static")) { run(static_local, static_local); printf("%d", seen[0]); }
    if (IS("heap")) { run(publish, look); printf("%d", seen[0]); }
    if (IS("unjoined")) { pthread_t t; pthread_create(&t, NULL, store_x, NULL); printf("%d", x); }
    return 0;
}

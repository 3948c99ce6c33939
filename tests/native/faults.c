/* Programs that fail, each in its own way: the argument says which one. FAULTY is 0 for the same
   programs mended. The line that fails has the name of the failure in a comment. */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>

#define IS(name) (strcmp(which, name) == 0)

static const char *which;
static int counter, ready, *pointer;
static atomic_int flag;
static _Thread_local int own = 7;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinlock;
static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static sem_t semaphore;
static pthread_key_t key;
static jmp_buf place;
static struct { char text[8]; int number; } record;

static void both(void *(*function)(void *), void *(*second)(void *)) {
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, function, (void *)1);
    pthread_create(&threads[1], NULL, second, (void *)2);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
}

static void *increment(void *unused) {
    if (!FAULTY) pthread_mutex_lock(&one);
    int found = counter;
    counter = found + 1;
    if (!FAULTY) pthread_mutex_unlock(&one);
    return unused;
}

static void *lock_both(void *argument) {
    int is_turned = FAULTY && (intptr_t)argument == 2;
    pthread_mutex_lock(is_turned ? &other : &one); /* first */
    pthread_mutex_lock(is_turned ? &one : &other); /* deadlock */
    pthread_mutex_unlock(&one);
    pthread_mutex_unlock(&other);
    return NULL;
}

static void *wait_for_signal(void *unused) {
    pthread_mutex_lock(&one);
    if (FAULTY || !ready) pthread_cond_wait(&condition, &one); /* lost signal */
    pthread_mutex_unlock(&one);
    return unused;
}

static void *send_signal(void *unused) {
    pthread_mutex_lock(&one);
    ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&one);
    return unused;
}

static void *use_pointer(void *unused) {
    if (!FAULTY) pthread_mutex_lock(&one);
    if (pointer) *pointer = 5; /* use after free */
    if (!FAULTY) pthread_mutex_unlock(&one);
    return unused;
}

static void *free_pointer(void *unused) {
    if (!FAULTY) pthread_mutex_lock(&one);
    int *block = pointer;
    free(block); /* double free */
    if (!FAULTY) pointer = NULL;
    if (!FAULTY) pthread_mutex_unlock(&one);
    return unused;
}

static void *wait_at_barrier(void *unused) {
    atomic_fetch_add(&flag, 0);
    pthread_barrier_wait(&barrier); /* barrier */
    return unused;
}

static void initialise(void) { counter++; }

static void *begin_once(void *unused) {
    if (FAULTY) {
        if (!ready) { initialise(); ready = 1; }
    } else {
        pthread_once(&once, initialise);
    }
    return unused;
}

static void *keep_own(void *argument) {
    own += (int)(intptr_t)argument;
    pthread_setspecific(key, argument);
    atomic_fetch_add(&flag, 1);
    assert(own == 7 + (int)(intptr_t)argument + FAULTY); /* own */
    assert(pthread_getspecific(key) == argument);
    return NULL;
}

static void *read_and_write(void *argument) {
    if ((intptr_t)argument == 1) {
        pthread_rwlock_wrlock(&rwlock);
        counter = 1;
        counter = 2;
        pthread_rwlock_unlock(&rwlock);
    } else {
        if (!FAULTY) pthread_rwlock_rdlock(&rwlock);
        int found = counter;
        assert(found != 1); /* halfway */
        if (!FAULTY) pthread_rwlock_unlock(&rwlock);
    }
    return NULL;
}

static int c11_thread(void *unused) {
    (void)unused;
    if (!FAULTY) mtx_lock((mtx_t *)&one);
    int found = counter;
    counter = found + 1;
    if (!FAULTY) mtx_unlock((mtx_t *)&one);
    return 3;
}

static void *copy_text(void *argument) {
    if (!FAULTY) pthread_mutex_lock(&one);
    if ((intptr_t)argument == 1) strcpy(record.text, "full");
    else { size_t length = strlen(record.text); assert(length == 0 || length == 4); } /* torn */
    if (!FAULTY) pthread_mutex_unlock(&one);
    return NULL;
}

static void *take_semaphore(void *unused) {
    sem_wait(&semaphore); /* semaphore */
    if (!FAULTY) sem_post(&semaphore);
    return unused;
}

static void *exit_at_once(void *unused) {
    if (FAULTY) exit(3); /* exit */
    return unused;
}

static void *spin(void *unused) {
    pthread_spin_lock(&spinlock);
    int found = counter;
    counter = found + 1;
    if (!FAULTY || counter < 2) pthread_spin_unlock(&spinlock);
    return unused;
}

static int *_Atomic lent;
static void *lend(void *unused) {
    int local = 5;
    static int kept = 5;
    lent = FAULTY ? &local : &kept;
    return unused;
}

static void *count_plainly(void *unused) {
    if (FAULTY) counter++; /* data race */
    else atomic_fetch_add(&flag, 1);
    return unused;
}

static void *wait_for_flag(void *unused) {
    while (!atomic_load(&flag)) {} /* livelock */
    return unused;
}
static void *set_flag(void *unused) { if (!FAULTY) atomic_store(&flag, 1); return unused; }

/* Memory for an object, which has been initialised only if nothing is wrong. */
#define MADE(type, name, initialise) \
    type *name = malloc(sizeof *name); \
    if (!FAULTY) initialise

static int deep(int n) { volatile char room[4096]; room[n % 4096] = (char)n; return n ? deep(n - 1) + room[0] : 0; } /* stack overflow */

/* What no run has in common with another one. */
static unsigned long long real_clock(void) { return __builtin_ia32_rdtsc(); }

static void *nothing(void *unused) { return unused; }

int main(int count, char **arguments) { /* exit code */
    (void)count;
    which = arguments[1];
    if (IS("assertion")) { both(increment, increment); assert(counter == 2); } /* assertion */
    if (IS("abort")) { both(increment, increment); if (counter != 2) abort(); } /* abort */
    if (IS("exit code")) { both(increment, increment); return counter != 2; }
    if (IS("exit in a thread")) both(nothing, exit_at_once);
    if (IS("deadlock")) both(lock_both, lock_both);
    if (IS("lost signal")) both(wait_for_signal, send_signal);
    if (IS("use after free")) { pointer = malloc(4); *pointer = 1; both(use_pointer, free_pointer); }
    if (IS("double free")) { pointer = malloc(4); both(free_pointer, free_pointer); }
    if (IS("invalid free")) { char *block = malloc(20); free(block + (FAULTY ? 16 : 0)); } /* invalid free */
    if (IS("overflow")) { int *block = malloc(4 * sizeof *block); block[FAULTY ? 4 : 3] = 1; free(block); } /* overflow */
    if (IS("null")) { int *null = FAULTY ? NULL : &counter; *null = 1; } /* null */
    if (IS("null atomic")) { atomic_int *null = FAULTY ? NULL : &flag; int old = 1; atomic_compare_exchange_strong(null, &old, 2); } /* null atomic */
    if (IS("null lock")) { pthread_mutex_t *null = FAULTY ? NULL : &one; pthread_mutex_lock(null); pthread_mutex_unlock(null); } /* null lock */
    if (IS("wild")) { int *wild = FAULTY ? (int *)0x1234567890 : &counter; *wild = 1; } /* wild */
    if (IS("division")) { volatile int zero = !FAULTY; counter = 10 / zero; } /* division */
    if (IS("stack overflow")) deep(FAULTY ? 1000000 : 10);
    if (IS("not held")) { if (!FAULTY) pthread_mutex_lock(&one); pthread_mutex_unlock(&one); } /* not held */
    if (IS("destroyed")) { if (FAULTY) pthread_mutex_lock(&one); pthread_mutex_destroy(&one); } /* destroyed */
    if (IS("relocked")) { pthread_mutex_lock(&one); if (FAULTY) pthread_mutex_lock(&one); } /* relocked */
    if (IS("recursive")) { pthread_mutex_lock(&recursive); pthread_mutex_lock(&recursive); pthread_mutex_unlock(&recursive); pthread_mutex_unlock(&recursive); if (FAULTY) assert(pthread_mutex_unlock(&recursive) == 0); } /* recursive */
    if (IS("ended stack")) { pthread_t t; pthread_create(&t, NULL, lend, NULL); pthread_join(t, NULL); assert(*lent == 5); } /* ended stack */
    if (IS("unmade mutex")) { MADE(pthread_mutex_t, mutex, pthread_mutex_init(mutex, NULL)); pthread_mutex_lock(mutex); pthread_mutex_unlock(mutex); } /* unmade mutex */
    if (IS("unmade condition")) { MADE(pthread_cond_t, unmade, pthread_cond_init(unmade, NULL)); pthread_cond_signal(unmade); } /* unmade condition */
    if (IS("unmade semaphore")) { MADE(sem_t, unmade, sem_init(unmade, 0, 1)); sem_wait(unmade); } /* unmade semaphore */
    if (IS("unmade rwlock")) { MADE(pthread_rwlock_t, unmade, pthread_rwlock_init(unmade, NULL)); pthread_rwlock_rdlock(unmade); } /* unmade rwlock */
    if (IS("unmade spinlock")) { MADE(pthread_spinlock_t, unmade, pthread_spin_init(unmade, 0)); pthread_spin_lock(unmade); } /* unmade spinlock */
    if (IS("unmade barrier")) { MADE(pthread_barrier_t, unmade, pthread_barrier_init(unmade, NULL, 1)); pthread_barrier_wait(unmade); } /* unmade barrier */
    if (IS("unmade on the stack")) { pthread_mutex_t mutex; if (!FAULTY) pthread_mutex_init(&mutex, NULL); pthread_mutex_lock(&mutex); } /* unmade on the stack */
    if (IS("destroyed and used")) { if (FAULTY) pthread_mutex_destroy(&one); pthread_mutex_lock(&one); } /* destroyed and used */
    if (IS("unwritten")) { int *block = malloc(sizeof *block); if (!FAULTY) *block = 0; printf("%d", *block); }
    if (IS("unwritten branch")) { int block[10]; if (!FAULTY) block[9] = 0; if (block[9] & 2) atomic_store(&flag, 1); else atomic_store((atomic_int *)&counter, 1); }
    if (IS("leak")) { int *block = malloc(40); int *mine = malloc(2); free(mine); if (!FAULTY) free(block); } /* leak */
    if (IS("data race")) both(count_plainly, count_plainly);
    if (IS("livelock")) both(wait_for_flag, set_flag);
    if (IS("spinlock relocked")) { pthread_spin_init(&spinlock, 0); pthread_spin_lock(&spinlock); if (FAULTY) pthread_spin_lock(&spinlock); } /* spinlock relocked */
    if (IS("write lock relocked")) { pthread_rwlock_wrlock(&rwlock); if (FAULTY) pthread_rwlock_wrlock(&rwlock); } /* write lock relocked */
    if (IS("joins a detached one")) { pthread_t t; pthread_create(&t, NULL, nothing, NULL); if (FAULTY) pthread_detach(t); pthread_join(t, NULL); } /* joins a detached one */
    if (IS("joined twice")) { pthread_t t; pthread_create(&t, NULL, nothing, NULL); pthread_join(t, NULL); if (FAULTY) pthread_join(t, NULL); } /* joined twice */
    if (IS("joins itself")) { if (FAULTY) pthread_join(pthread_self(), NULL); } /* joins itself */
    if (IS("barrier")) { pthread_barrier_init(&barrier, NULL, FAULTY ? 3 : 2); both(wait_at_barrier, wait_at_barrier); }
    if (IS("once")) { both(begin_once, begin_once); assert(counter == 1); } /* once */
    if (IS("own")) { pthread_key_create(&key, NULL); both(keep_own, keep_own); }
    if (IS("halfway")) both(read_and_write, read_and_write);
    if (IS("c11")) { thrd_t t, u; int given; thrd_create(&t, c11_thread, NULL); thrd_create(&u, c11_thread, NULL); thrd_join(t, &given); thrd_join(u, NULL); assert(given == 3 && counter == 2); } /* c11 */
    if (IS("torn")) both(copy_text, copy_text);
    if (IS("semaphore")) { sem_init(&semaphore, 0, 1); both(take_semaphore, take_semaphore); }
    if (IS("spinlock")) { pthread_spin_init(&spinlock, 0); both(spin, spin); assert(pthread_spin_trylock(&spinlock) == 0); } /* spinlock */
    if (IS("longjmp")) { if (setjmp(place) == 0) longjmp(place, 1); assert(!FAULTY); } /* longjmp */
    if (IS("too much memory")) { void *block = malloc(1ul << 40); assert(block == NULL && errno == ENOMEM && !FAULTY); } /* too much memory */
    if (IS("arguments")) { arguments[1][0] = 'x'; arguments[1] = NULL; assert(!FAULTY); } /* arguments */
    if (IS("printed")) { both(increment, increment); char text[20]; snprintf(text, sizeof text, "%d!", counter); printf("%s %s\n", text, "done"); assert(strcmp(text, "2!") == 0); } /* printed */
    if (IS("signal")) { both(increment, increment); if (counter != 2) raise(SIGTERM); } /* signal */
    if (IS("unhandled")) { signal(SIGUSR1, FAULTY ? SIG_DFL : SIG_IGN); raise(SIGUSR1); } /* unhandled */
    if (IS("overflow by copying")) { char *block = malloc(8); memcpy(block, "12345678", FAULTY ? 9 : 8); free(block); } /* overflow by copying */
    if (IS("overflow by reading")) { char *block = malloc(4); memcpy(block, "1234", 4); counter = (int)strnlen(block, FAULTY ? 5 : 4); free(block); } /* overflow by reading */
    if (IS("rwlock destroyed")) { if (FAULTY) pthread_rwlock_rdlock(&rwlock); pthread_rwlock_destroy(&rwlock); } /* rwlock destroyed */
    if (IS("real clock")) printf("%llu", FAULTY ? real_clock() : 0);
    if (IS("printed address")) { char text[20]; sprintf(text, "%p", FAULTY ? (void *)&counter : NULL); if (text[3]) atomic_store(&flag, 1); } /* printed address */
    return 0;
}

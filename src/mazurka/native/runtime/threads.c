/* Threads and synchronisation: POSIX threads and semaphores, and threads.h.

   The state of a lock is in the program's own object, so that static initialisers work and nothing
   has to be put back: the first word has the holder's number and 1. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

#include "state.h"

static uint64_t step(int kind, volatile void *at, int size, uint64_t first, uintptr_t place) {
    return mz_step(kind, (uintptr_t)at, size, first, 0, 0, place);
}

/* An operation of which the kind does not say what it orders: see races.c. */
static uint64_t ordered(int order, int kind, volatile void *at, int size, uint64_t first,
                        uintptr_t place) {
    mz.current->ordering = IS_GIVEN | order;
    return step(kind, at, size, first, place);
}

/* What a lock, a condition or a semaphore has in its memory tells whether it was ever initialised:
   fresh memory has other values. (Memory of zeros is initialised, on Linux.) */
static void require_made(bool is_made, const char *what, uintptr_t place) {
    if (!is_made) mz_fail(UNINITIALISED, place, what);
}

/* Threads */

static struct thread *spawn(void *(*function)(void *), void *argument, uintptr_t place) {
    struct thread *parent = mz.current;
    struct thread *child = mz_child(parent, parent->children);
    if (!child) mz_give_up();
    mz_step_nowhere(SPAWN, child->number, 1, place);
    parent->children++;
    mz_reset_thread(child);
    child->function = function;
    child->argument = argument;
    mz.live[mz.live_known++] = child;
    mz_order_spawn(parent, child);
    mz_start_fiber(child);
    return child;
}

static struct thread *thread_of(pthread_t handle, uintptr_t place) {
    int64_t number = (int64_t)handle - 1;
    if (number < 0 || number >= mz.threads_known || !mz.threads[number].is_live)
        mz_fail(BAD_JOIN, place, "there is no such thread");
    return &mz.threads[number];
}

static void *join(pthread_t handle, uintptr_t place) {
    struct thread *thread = mz.current, *other = thread_of(handle, place);
    if (other == thread) mz_fail(BAD_JOIN, place, "a thread joins itself");
    if (other->is_detached) mz_fail(BAD_JOIN, place, "the thread is detached");
    if (other->is_joined) mz_fail(BAD_JOIN, place, "the thread was joined before");
    other->is_joined = true;
    mz_step_nowhere(JOIN, other->number, 1, place);
    mz_order_join(thread, other);
    return other->result;
}

int pthread_create(pthread_t *handle, const pthread_attr_t *attributes, void *(*function)(void *),
                   void *argument) {
    int detached = 0;
    if (attributes) pthread_attr_getdetachstate(attributes, &detached);
    mz_count_start(mz.current, handle);
    struct thread *child = spawn(function, argument, PLACE);
    child->is_detached = detached == PTHREAD_CREATE_DETACHED;
    mz_plain((uintptr_t)handle, sizeof *handle, true, PLACE);
    *handle = (pthread_t)child->number + 1;
    return 0;
}

int pthread_join(pthread_t handle, void **result) {
    void *given = join(handle, PLACE);
    if (result) {
        mz_plain((uintptr_t)result, sizeof *result, true, PLACE);
        *result = given;
    }
    return 0;
}

int pthread_detach(pthread_t handle) {
    thread_of(handle, PLACE)->is_detached = true;
    return 0;
}

void pthread_exit(void *result) {
    mz.current->result = result;
    mz_exit_thread();
    __builtin_unreachable();
}

pthread_t pthread_self(void) { return (pthread_t)mz.current->number + 1; }
int pthread_equal(pthread_t one, pthread_t other) { return one == other; }

/* Any thread may go on at any time, wherever it runs: there is nothing to do. */
int sched_yield(void) { return 0; }
int pthread_setname_np(pthread_t handle, const char *name) { (void)handle, (void)name; return 0; }
int pthread_setschedparam(pthread_t handle, int policy, const struct sched_param *given) {
    (void)handle, (void)policy, (void)given;
    return 0;
}
int pthread_setaffinity_np(pthread_t handle, size_t size, const cpu_set_t *set) {
    (void)handle, (void)size, (void)set;
    return 0;
}
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set);
int pthread_getaffinity_np(pthread_t handle, size_t size, cpu_set_t *set) {
    (void)handle;
    return sched_getaffinity(0, size, set);
}
int pthread_setconcurrency(int level) { (void)level; return 0; }

/* Mutexes */

struct mutex { uint32_t holder, unused, unused_too, depth; int kind; };

enum { DESTROYED = -1 };

static void require_mutex(const struct mutex *mutex, uintptr_t place) {
    bool is_made = mutex->holder <= MOST_THREADS && (unsigned)mutex->kind <= PTHREAD_MUTEX_ADAPTIVE_NP;
    require_made(is_made, "a mutex", place);
}

static bool holds(struct mutex *mutex) { return mutex->holder == mz.current->number + 1; }

static int lock(struct mutex *mutex, uintptr_t place) {
    mz_touch((uintptr_t)mutex, sizeof *mutex, place);
    require_mutex(mutex, place);
    if (holds(mutex) && mutex->kind == PTHREAD_MUTEX_RECURSIVE) {
        mutex->depth++;
        mz.current->changes++;
        return 0;
    }
    if (holds(mutex) && mutex->kind == PTHREAD_MUTEX_ERRORCHECK) return EDEADLK;
    if (holds(mutex)) mz_fail(RELOCKED, place, "");
    step(ACQUIRE, &mutex->holder, 4, 0, place);
    require_mutex(mutex, place);  /* it may have been destroyed meanwhile */
    mutex->depth = 1;
    return 0;
}

/* Also with a time limit: whether that has passed is as open as whether the mutex is free. */
static int try_lock(struct mutex *mutex, int failure, uintptr_t place) {
    mz_touch((uintptr_t)mutex, sizeof *mutex, place);
    require_mutex(mutex, place);
    if (holds(mutex) && mutex->kind == PTHREAD_MUTEX_RECURSIVE) {
        mutex->depth++;
        mz.current->changes++;
        return 0;
    }
    if (step(TRY_ACQUIRE, &mutex->holder, 4, 0, place)) return failure;
    mutex->depth = 1;
    return 0;
}

static int unlock(struct mutex *mutex, uintptr_t place) {
    mz_touch((uintptr_t)mutex, sizeof *mutex, place);
    require_mutex(mutex, place);
    if (!holds(mutex)) {
        if (mutex->kind == PTHREAD_MUTEX_RECURSIVE || mutex->kind == PTHREAD_MUTEX_ERRORCHECK)
            return EPERM;
        mz_fail(NOT_HELD, place, "");
    }
    if (mutex->kind == PTHREAD_MUTEX_RECURSIVE) {
        mz.current->changes++;
        if (--mutex->depth) return 0;
    }
    step(RELEASE, &mutex->holder, 4, 0, place);
    return 0;
}

static void init_mutex(struct mutex *mutex, int kind, uintptr_t place) {
    mz_plain((uintptr_t)&mutex->holder, 4, true, place);
    mutex->holder = 0;
    mutex->depth = 0;
    mutex->kind = kind;
}

static void destroy_mutex(struct mutex *mutex, uintptr_t place) {
    mz_touch((uintptr_t)mutex, sizeof *mutex, place);
    require_mutex(mutex, place);
    if (mz.only_sync) mz_watch(mz.current, (uintptr_t)mutex, 4, WRITES, place);
    if (step(LOAD, &mutex->holder, 4, 0, place)) mz_fail(HELD_DESTROYED, place, "");
    mutex->kind = DESTROYED;
    mz.current->changes++;
}

int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes) {
    int kind = PTHREAD_MUTEX_NORMAL;
    if (attributes) pthread_mutexattr_gettype(attributes, &kind);
    init_mutex((struct mutex *)mutex, kind, PLACE);
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *mutex) {
    destroy_mutex((struct mutex *)mutex, PLACE);
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *mutex) { return lock((struct mutex *)mutex, PLACE); }
int pthread_mutex_unlock(pthread_mutex_t *mutex) { return unlock((struct mutex *)mutex, PLACE); }
int pthread_mutex_trylock(pthread_mutex_t *mutex) {
    return try_lock((struct mutex *)mutex, EBUSY, PLACE);
}
int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *until) {
    (void)until;
    return try_lock((struct mutex *)mutex, ETIMEDOUT, PLACE);
}

int pthread_mutex_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *until) {
    (void)clock, (void)until;
    return try_lock((struct mutex *)mutex, ETIMEDOUT, PLACE);
}

/* Condition variables: the value is the set of the threads that wait. POSIX does not say which one
   a signal wakes, so any may be. A thread enters the set while it holds the mutex still: then it
   releases that, and waits until it is notified. */

static void require_waiters(const uint64_t *waiters, uintptr_t place) {
    mz_touch((uintptr_t)waiters, sizeof *waiters, place);
    uint64_t set = *(const volatile uint64_t *)waiters;
    bool is_made = mz.threads_known >= 64 || set >> mz.threads_known == 0;
    require_made(is_made, "a condition", place);
}

static int wait(uint64_t *waiters, struct mutex *mutex, bool is_timed, uintptr_t place) {
    struct thread *thread = mz.current;
    if (thread->number >= 64) {
        mz_refuse("more than 64 threads, of which some wait for conditions: too many to be checked");
        mz_give_up();
    }
    require_waiters(waiters, place);
    mz_touch((uintptr_t)mutex, sizeof *mutex, place);
    require_mutex(mutex, place);
    if (!holds(mutex)) mz_fail(NOT_HELD, place, "");
    uint32_t depth = mutex->depth;
    int result = 0;
    thread->waits++;
    mz_step(FETCH_ADD, (uintptr_t)waiters, 8, 1ull << thread->number, 0, FORM_OR, place);
    step(RELEASE, &mutex->holder, 4, 0, place);
    uint64_t number = (uint64_t)thread->number;
    if (is_timed && step(TAKE_WAITER, waiters, 8, number, place) >> number & 1) result = ETIMEDOUT;
    else step(WAIT, &thread->notified, 8, (uint64_t)thread->waits, place);
    step(ACQUIRE, &mutex->holder, 4, 0, place);
    mutex->depth = depth;
    return result;
}

static void notify(int number, uintptr_t place) {
    struct thread *thread = &mz.threads[number];
    step(NOTIFY, &thread->notified, 8, (uint64_t)thread->waits, place);
}

static int nth_member(uint64_t set, int64_t index) {
    while (index-- > 0) set &= set - 1;
    return __builtin_ctzll(set);
}

static void signal_one(uint64_t *waiters, uintptr_t place) {
    require_waiters(waiters, place);
    for (;;) {
        uint64_t set = step(LOAD, waiters, 8, 0, place);
        if (!set) return;
        int count = __builtin_popcountll(set);
        int number = nth_member(set, count > 1 ? mz_choose(count, place) : 0);
        if (step(TAKE_WAITER, waiters, 8, (uint64_t)number, place) >> number & 1) {
            notify(number, place);
            return;
        }
    }
}

static void signal_all(uint64_t *waiters, uintptr_t place) {
    require_waiters(waiters, place);
    if (!step(LOAD, waiters, 8, 0, place)) return;
    uint64_t set = step(EXCHANGE, waiters, 8, 0, place);
    for (; set; set &= set - 1) notify(__builtin_ctzll(set), place);
}

static void init_condition(uint64_t *waiters, uintptr_t place) {
    mz_plain((uintptr_t)waiters, 8, true, place);
    *waiters = 0;
}

static void destroy_condition(uint64_t *waiters, uintptr_t place) {
    if (step(LOAD, waiters, 8, 0, place)) mz_fail(HELD_DESTROYED, place, "");
}

int pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes) {
    (void)attributes;
    init_condition((uint64_t *)condition, PLACE);
    return 0;
}
int pthread_cond_destroy(pthread_cond_t *condition) {
    destroy_condition((uint64_t *)condition, PLACE);
    return 0;
}
int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex) {
    return wait((uint64_t *)condition, (struct mutex *)mutex, false, PLACE);
}
int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *until) {
    (void)until;
    return wait((uint64_t *)condition, (struct mutex *)mutex, true, PLACE);
}
int pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
                           const struct timespec *until) {
    (void)clock, (void)until;
    return wait((uint64_t *)condition, (struct mutex *)mutex, true, PLACE);
}
int pthread_cond_signal(pthread_cond_t *condition) {
    signal_one((uint64_t *)condition, PLACE);
    return 0;
}
int pthread_cond_broadcast(pthread_cond_t *condition) {
    signal_all((uint64_t *)condition, PLACE);
    return 0;
}

/* Locks for readers and writers: the value counts readers; a writer's number is in its upper half. */

int pthread_rwlock_init(pthread_rwlock_t *lock, const pthread_rwlockattr_t *attributes) {
    (void)attributes;
    init_condition((uint64_t *)lock, PLACE);
    return 0;
}
int pthread_rwlock_destroy(pthread_rwlock_t *lock) {
    destroy_condition((uint64_t *)lock, PLACE);
    return 0;
}
static void require_rwlock(const void *lock, bool locks, uintptr_t place) {
    mz_touch((uintptr_t)lock, 8, place);
    uint64_t value = *(const volatile uint64_t *)lock;
    bool is_made = value >> 32 <= MOST_THREADS && (value & 0xffffffff) <= MOST_THREADS * 16;
    require_made(is_made, "a lock for readers and writers", place);
    if (locks && value >> 32 == (uint64_t)mz.current->number + 1) mz_fail(RELOCKED, place, "");
}

int pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
    require_rwlock(lock, true, PLACE);
    step(READ_ACQUIRE, lock, 8, 0, PLACE);
    return 0;
}
int pthread_rwlock_wrlock(pthread_rwlock_t *lock) {
    require_rwlock(lock, true, PLACE);
    step(WRITE_ACQUIRE, lock, 8, 0, PLACE);
    return 0;
}
int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock) {
    require_rwlock(lock, false, PLACE);
    return step(READ_TRY_ACQUIRE, lock, 8, 0, PLACE) >> 32 ? EBUSY : 0;
}
int pthread_rwlock_trywrlock(pthread_rwlock_t *lock) {
    require_rwlock(lock, false, PLACE);
    return step(WRITE_TRY_ACQUIRE, lock, 8, 0, PLACE) ? EBUSY : 0;
}
int pthread_rwlock_timedrdlock(pthread_rwlock_t *lock, const struct timespec *until) {
    (void)until;
    return step(READ_TRY_ACQUIRE, lock, 8, 0, PLACE) >> 32 ? ETIMEDOUT : 0;
}
int pthread_rwlock_timedwrlock(pthread_rwlock_t *lock, const struct timespec *until) {
    (void)until;
    return step(WRITE_TRY_ACQUIRE, lock, 8, 0, PLACE) ? ETIMEDOUT : 0;
}
int pthread_rwlock_clockrdlock(pthread_rwlock_t *lock, clockid_t clock,
                               const struct timespec *until) {
    (void)clock, (void)until;
    return step(READ_TRY_ACQUIRE, lock, 8, 0, PLACE) >> 32 ? ETIMEDOUT : 0;
}
int pthread_rwlock_clockwrlock(pthread_rwlock_t *lock, clockid_t clock,
                               const struct timespec *until) {
    (void)clock, (void)until;
    return step(WRITE_TRY_ACQUIRE, lock, 8, 0, PLACE) ? ETIMEDOUT : 0;
}
int pthread_rwlock_unlock(pthread_rwlock_t *lock) {
    require_rwlock(lock, false, PLACE);
    uint64_t value = *(volatile uint64_t *)lock;  /* whether we write does not change meanwhile */
    if (value >> 32 == (uint64_t)mz.current->number + 1)
        ordered(RELEASES, EXCHANGE, lock, 8, 0, PLACE);
    else if (!(ordered(RELEASES, FETCH_ADD, lock, 8, -1ull, PLACE) & 0xffffffff))
        mz_fail(NOT_HELD, PLACE, "");
    return 0;
}

/* Spinlocks */

int pthread_spin_init(pthread_spinlock_t *lock, int shared) {
    (void)shared;
    mz_plain((uintptr_t)lock, 4, true, PLACE);
    *lock = 0;
    return 0;
}
int pthread_spin_destroy(pthread_spinlock_t *lock) {
    if (step(LOAD, lock, 4, 0, PLACE)) mz_fail(HELD_DESTROYED, PLACE, "");
    return 0;
}
static void require_spinlock(pthread_spinlock_t *lock, uintptr_t place) {
    mz_touch((uintptr_t)lock, 4, place);
    require_made((uint32_t)*lock <= MOST_THREADS, "a spinlock", place);
}

int pthread_spin_lock(pthread_spinlock_t *lock) {
    require_spinlock(lock, PLACE);
    if (*lock == mz.current->number + 1) mz_fail(RELOCKED, PLACE, "");
    step(ACQUIRE, lock, 4, 0, PLACE);
    return 0;
}
int pthread_spin_trylock(pthread_spinlock_t *lock) {
    require_spinlock(lock, PLACE);
    return step(TRY_ACQUIRE, lock, 4, 0, PLACE) ? EBUSY : 0;
}
int pthread_spin_unlock(pthread_spinlock_t *lock) {
    require_spinlock(lock, PLACE);
    if (*lock != mz.current->number + 1) mz_fail(NOT_HELD, PLACE, "");
    step(RELEASE, lock, 4, 0, PLACE);
    return 0;
}

/* Barriers: one word counts who has come, ever; the other one the rounds that were let through. */

struct barrier { uint64_t arrivals, rounds; uint32_t parties; };

int pthread_barrier_init(pthread_barrier_t *barrier, const pthread_barrierattr_t *attributes,
                         unsigned parties) {
    (void)attributes;
    if (!parties) return EINVAL;
    struct barrier *own = (struct barrier *)barrier;
    init_condition(&own->arrivals, PLACE);
    init_condition(&own->rounds, PLACE);
    own->parties = parties;
    return 0;
}
int pthread_barrier_destroy(pthread_barrier_t *barrier) {
    struct barrier *own = (struct barrier *)barrier;
    if (step(LOAD, &own->arrivals, 8, 0, PLACE) % own->parties) mz_fail(HELD_DESTROYED, PLACE, "");
    return 0;
}
int pthread_barrier_wait(pthread_barrier_t *barrier) {
    struct barrier *own = (struct barrier *)barrier;
    mz_touch((uintptr_t)own, sizeof *own, PLACE);
    bool is_made = own->parties && own->rounds <= own->arrivals / own->parties;
    require_made(is_made && own->arrivals >> 48 == 0, "a barrier", PLACE);
    uint64_t arrivals = ordered(ACQUIRES | RELEASES, FETCH_ADD, &own->arrivals, 8, 1, PLACE);
    uint64_t round = arrivals / own->parties + 1;
    if ((arrivals + 1) % own->parties) {
        ordered(ACQUIRES, WAIT, &own->rounds, 8, round, PLACE);
        return 0;
    }
    ordered(RELEASES, NOTIFY, &own->rounds, 8, round, PLACE);
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* Once: while the function runs, and after it. Before it has run: 0, or that a thread has ended in it,
   and another one shall run it. */
enum { RUNS = 1, HAS_RUN = 2, BROKEN_OFF = 3 };

/* Run the function; comes back if it does. */
static void run_once(int *flag, void (*function)(void), uintptr_t place) {
    __pthread_unwind_buf_t ending;
    if (__builtin_expect(_setjmp((struct __jmp_buf_tag *)(void *)ending.__cancel_jmp_buf), 0)) {
        ordered(RELEASES, NOTIFY, flag, 4, BROKEN_OFF, place);
        mz_exit_thread();
        __builtin_unreachable();
    }
    __pthread_register_cancel(&ending);
    function();
    __pthread_unregister_cancel(&ending);
    ordered(RELEASES, NOTIFY, flag, 4, HAS_RUN, place);
}

static void once(int *flag, void (*function)(void), uintptr_t place) {
    for (uint64_t before = 0, found;; before = found) {
        mz.current->ordering = mz.current->failing_ordering = IS_GIVEN | ACQUIRES;
        found = mz_step(COMPARE_EXCHANGE, (uintptr_t)flag, 4, before, RUNS, 0, place);
        if (found == before) {
            run_once(flag, function, place);
            return;
        }
        if (found == RUNS) found = ordered(ACQUIRES, WAIT, flag, 4, HAS_RUN, place);
        if (found == HAS_RUN) return;
    }
}

int pthread_once(pthread_once_t *flag, void (*function)(void)) {
    once((int *)flag, function, PLACE);
    return 0;
}

/* The guard of a static variable in a function of C++: its first byte says that the variable is
   there, its second word is a lock for making it. */
int mz_begin_once(char *guard, uintptr_t place) {
    step(ACQUIRE, guard + 4, 4, 0, place);
    if (!step(LOAD, guard, 1, 0, place)) return 1;
    step(RELEASE, guard + 4, 4, 0, place);
    return 0;
}

void mz_end_once(char *guard, int is_done, uintptr_t place) {
    if (is_done) step(STORE, guard, 1, 1, place);
    step(RELEASE, guard + 4, 4, 0, place);
}

/* Values of a thread's own. Which number a key gets depends on who made one before. */

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    uint64_t number = step(FETCH_ADD, &mz.keys_known, 8, 1, PLACE);
    if (number >= MOST_KEYS) return EAGAIN;
    mz.key_destructors[number] = destructor;
    mz_plain((uintptr_t)key, sizeof *key, true, PLACE);
    *key = (pthread_key_t)number;
    return 0;
}
int pthread_key_delete(pthread_key_t key) {
    if (key < MOST_KEYS) mz.key_destructors[key] = NULL;
    return 0;
}
void *pthread_getspecific(pthread_key_t key) { return key < MOST_KEYS ? mz.current->keys[key] : NULL; }
int pthread_setspecific(pthread_key_t key, const void *value) {
    if (key >= MOST_KEYS) return EINVAL;
    mz.current->keys[key] = (void *)value;
    mz.current->has_keys = true;
    mz.current->changes++;
    return 0;
}

/* Semaphores */

int sem_init(sem_t *semaphore, int shared, unsigned value) {
    (void)shared;
    mz_plain((uintptr_t)semaphore, 8, true, PLACE);
    *(uint64_t *)semaphore = value;
    return 0;
}
int sem_destroy(sem_t *semaphore) { (void)semaphore; return 0; }
static void require_semaphore(const sem_t *semaphore, uintptr_t place) {
    mz_touch((uintptr_t)semaphore, 8, place);
    uint64_t value = *(const volatile uint64_t *)semaphore;
    require_made(value <= SEM_VALUE_MAX, "a semaphore", place);
}

int sem_post(sem_t *semaphore) {
    require_semaphore(semaphore, PLACE);
    step(SEMAPHORE_RELEASE, semaphore, 8, 1, PLACE);
    return 0;
}
int sem_wait(sem_t *semaphore) {
    require_semaphore(semaphore, PLACE);
    step(SEMAPHORE_ACQUIRE, semaphore, 8, 0, PLACE);
    return 0;
}
static int try_semaphore(sem_t *semaphore, int failure, uintptr_t place) {
    require_semaphore(semaphore, place);
    if (step(SEMAPHORE_TRY_ACQUIRE, semaphore, 8, 0, place)) return 0;
    if (errno != failure) mz.current->changes++;  /* a loop may look at it */
    errno = failure;
    return -1;
}
int sem_trywait(sem_t *semaphore) { return try_semaphore(semaphore, EAGAIN, PLACE); }
int sem_timedwait(sem_t *semaphore, const struct timespec *until) {
    (void)until;
    return try_semaphore(semaphore, ETIMEDOUT, PLACE);
}
int sem_clockwait(sem_t *semaphore, clockid_t clock, const struct timespec *until) {
    (void)clock, (void)until;
    return try_semaphore(semaphore, ETIMEDOUT, PLACE);
}
int sem_getvalue(sem_t *semaphore, int *value) {
    uint64_t found = step(LOAD, semaphore, 8, 0, PLACE);
    mz_plain((uintptr_t)value, sizeof *value, true, PLACE);
    *value = (int)found;
    return 0;
}

/* threads.h */

int thrd_create(thrd_t *handle, thrd_start_t function, void *argument) {
    mz_count_start(mz.current, handle);
    /* What is returned as an int comes back as a pointer: thrd_join takes its lower half. */
    struct thread *child = spawn((void *(*)(void *))(void *)function, argument, PLACE);
    mz_plain((uintptr_t)handle, sizeof *handle, true, PLACE);
    *handle = (thrd_t)child->number + 1;
    return thrd_success;
}
int thrd_join(thrd_t handle, int *result) {
    int given = (int)(uintptr_t)join((pthread_t)handle, PLACE);
    if (result) {
        mz_plain((uintptr_t)result, sizeof *result, true, PLACE);
        *result = given;
    }
    return thrd_success;
}
int thrd_detach(thrd_t handle) {
    thread_of((pthread_t)handle, PLACE)->is_detached = true;
    return thrd_success;
}
void thrd_exit(int result) {
    mz.current->result = (void *)(uintptr_t)(unsigned)result;
    mz_finish(mz.current);
}
thrd_t thrd_current(void) { return (thrd_t)mz.current->number + 1; }
int thrd_equal(thrd_t one, thrd_t other) { return one == other; }
void thrd_yield(void) {}

int mtx_init(mtx_t *mutex, int type) {
    int kind = type & mtx_recursive ? PTHREAD_MUTEX_RECURSIVE : PTHREAD_MUTEX_NORMAL;
    init_mutex((struct mutex *)mutex, kind, PLACE);
    return thrd_success;
}
void mtx_destroy(mtx_t *mutex) { destroy_mutex((struct mutex *)mutex, PLACE); }
int mtx_lock(mtx_t *mutex) { return lock((struct mutex *)mutex, PLACE) ? thrd_error : thrd_success; }
int mtx_trylock(mtx_t *mutex) {
    return try_lock((struct mutex *)mutex, EBUSY, PLACE) ? thrd_busy : thrd_success;
}
int mtx_timedlock(mtx_t *mutex, const struct timespec *until) {
    (void)until;
    return try_lock((struct mutex *)mutex, ETIMEDOUT, PLACE) ? thrd_timedout : thrd_success;
}
int mtx_unlock(mtx_t *mutex) {
    return unlock((struct mutex *)mutex, PLACE) ? thrd_error : thrd_success;
}
int cnd_init(cnd_t *condition) {
    init_condition((uint64_t *)condition, PLACE);
    return thrd_success;
}
void cnd_destroy(cnd_t *condition) { destroy_condition((uint64_t *)condition, PLACE); }
int cnd_wait(cnd_t *condition, mtx_t *mutex) {
    wait((uint64_t *)condition, (struct mutex *)mutex, false, PLACE);
    return thrd_success;
}
int cnd_timedwait(cnd_t *condition, mtx_t *mutex, const struct timespec *until) {
    (void)until;
    int result = wait((uint64_t *)condition, (struct mutex *)mutex, true, PLACE);
    return result ? thrd_timedout : thrd_success;
}
int cnd_signal(cnd_t *condition) {
    signal_one((uint64_t *)condition, PLACE);
    return thrd_success;
}
int cnd_broadcast(cnd_t *condition) {
    signal_all((uint64_t *)condition, PLACE);
    return thrd_success;
}
void call_once(once_flag *flag, void (*function)(void)) { once((int *)flag, function, PLACE); }
int tss_create(tss_t *key, tss_dtor_t destructor) {
    return pthread_key_create(key, destructor) ? thrd_error : thrd_success;
}
void tss_delete(tss_t key) { pthread_key_delete(key); }
void *tss_get(tss_t key) { return pthread_getspecific(key); }
int tss_set(tss_t key, void *value) { return pthread_setspecific(key, value) ? thrd_error : thrd_success; }

/* Assumptions, as SV-COMP has them */

__attribute__((weak)) void __VERIFIER_assume(int condition) {
    if (!condition) mz_give_up();
}

/* What programs ask the system for: system calls by number, identities, the machine. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <locale.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/types.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "state.h"

enum { PROCESS = 1000, PROCESSORS = 4, MOST_FUTEXES = 4096 };

/* libstdc++ must not take the program for one without threads. */
char __libc_single_threaded = 0;

/* Futexes: each has a set of the threads that wait. A slot keeps its address for ever, and has the
   set of this execution. */
static struct { uintptr_t addresses[MOST_FUTEXES]; uint64_t waiters[MOST_FUTEXES]; int known; } futexes
    STATE = {0};

void mz_reset_futexes(void) {
    for (int place = 0; place < futexes.known; place++) futexes.waiters[place] = 0;
}

EXPORTED uint64_t *mz_futex_waiters(uintptr_t address) {
    for (int place = 0; place < futexes.known; place++)
        if (futexes.addresses[place] == address) return &futexes.waiters[place];
    if (futexes.known == MOST_FUTEXES) {
        mz_refuse("the program has more than %d futexes", MOST_FUTEXES);
        mz_give_up();
    }
    futexes.addresses[futexes.known] = address;
    return &futexes.waiters[futexes.known++];
}

/* For Python: what a set is for; 0 if an address is none. */
EXPORTED int64_t mz_futex_at(uintptr_t address) {
    uintptr_t place = (address - (uintptr_t)futexes.waiters) / sizeof *futexes.waiters;
    return place < (uintptr_t)futexes.known ? (int64_t)futexes.addresses[place] : 0;
}

static uint64_t step(int kind, void *at, int size, uint64_t first, int form, uintptr_t place) {
    return mz_step(kind, (uintptr_t)at, size, first, 0, form, place);
}

static int wake(uint64_t *waiters, int count, uintptr_t place) {
    int woken = 0;
    while (woken < count) {
        uint64_t set = step(LOAD, waiters, 8, 0, 0, place);
        if (!set) break;
        int members = __builtin_popcountll(set);
        int64_t index = members > 1 && count == 1 ? mz_choose(members, place) : 0;
        while (index-- > 0) set &= set - 1;
        int number = __builtin_ctzll(set);
        if (!(step(TAKE_WAITER, waiters, 8, (uint64_t)number, 0, place) >> number & 1)) continue;
        struct thread *thread = &mz.threads[number];
        step(NOTIFY, &thread->notified, 8, (uint64_t)thread->waits, 0, place);
        woken++;
    }
    return woken;
}

/* A thread enters the set before it looks at the value, so that no wake is lost between the two. */
static long wait(uint32_t *word, uint32_t value, bool is_timed, uintptr_t place) {
    struct thread *thread = mz.current;
    uint64_t number = (uint64_t)thread->number, *waiters = mz_futex_waiters((uintptr_t)word);
    if (number >= 64) {
        mz_refuse("more than 64 threads, of which some wait for a futex: too many to be checked");
        mz_give_up();
    }
    if (step(LOAD, word, 4, 0, 0, place) != value) {
        errno = EAGAIN;
        return -1;
    }
    thread->waits++;
    step(FETCH_ADD, waiters, 8, 1ull << number, FORM_OR, place);
    bool has_changed = step(LOAD, word, 4, 0, 0, place) != value;
    if (has_changed || is_timed) {
        if (step(TAKE_WAITER, waiters, 8, number, 0, place) >> number & 1) {
            errno = has_changed ? EAGAIN : ETIMEDOUT;
            return -1;
        }
        if (has_changed) wake(waiters, 1, place);  /* that was for somebody who waits */
        return 0;
    }
    step(WAIT, &thread->notified, 8, (uint64_t)thread->waits, 0, place);
    return 0;
}

static long futex(uint32_t *word, int operation, uint32_t value, const void *time, uintptr_t place) {
    switch (operation & FUTEX_CMD_MASK) {
        case FUTEX_WAIT: case FUTEX_WAIT_BITSET: return wait(word, value, time != NULL, place);
        case FUTEX_WAKE: case FUTEX_WAKE_BITSET:
            return wake(mz_futex_waiters((uintptr_t)word), (int)value, place);
        default:
            mz_refuse("operation %d on a futex cannot be checked", operation & FUTEX_CMD_MASK);
            mz_give_up();
    }
}

long syscall(long number, ...) {
    va_list arguments;
    va_start(arguments, number);
    uint32_t *word = va_arg(arguments, uint32_t *);
    int operation = va_arg(arguments, int);
    uint32_t value = va_arg(arguments, uint32_t);
    const void *time = va_arg(arguments, const void *);
    va_end(arguments);
    switch (number) {
        case SYS_futex: return futex(word, operation, value, time, PLACE);
        case SYS_gettid: return PROCESS + mz.current->number;
        case SYS_getpid: return PROCESS;
        case SYS_sched_yield: return 0;
        default:
            mz_refuse("the program makes system call %ld itself: this cannot be checked", number);
            mz_give_up();
    }
}

/* Identities are the same in every execution. */
pid_t getpid(void) { return PROCESS; }
pid_t getppid(void) { return 1; }
pid_t gettid(void) { return PROCESS + (pid_t)mz.current->number; }
uid_t getuid(void) { return PROCESS; }
uid_t geteuid(void) { return PROCESS; }
gid_t getgid(void) { return PROCESS; }
gid_t getegid(void) { return PROCESS; }
int getpagesize(void) { return 4096; }
int get_nprocs(void) { return PROCESSORS; }
int get_nprocs_conf(void) { return PROCESSORS; }

int sched_getcpu(void) { return 0; }
int __sched_cpucount(size_t size, const cpu_set_t *set) {
    int count = 0;
    mz_plain((uintptr_t)set, size, false, PLACE);
    for (size_t place = 0; place < size; place++) count += __builtin_popcount(((const unsigned char *)set)[place]);
    return count;
}
int sched_getaffinity(pid_t process, size_t size, cpu_set_t *set) {
    (void)process;
    mz_plain((uintptr_t)set, size, true, PLACE);
    mz_fill(set, 0, size);
    *(unsigned char *)set = (1 << PROCESSORS) - 1;
    return 0;
}
int sched_setaffinity(pid_t process, size_t size, const cpu_set_t *set) {
    (void)process, (void)size, (void)set;
    return 0;
}
int gethostname(char *to, size_t size) {
    static const char NAME[] = "machine";
    mz_plain((uintptr_t)to, size < sizeof NAME ? size : sizeof NAME, true, PLACE);
    mz_copy(to, NAME, size < sizeof NAME ? size : sizeof NAME);
    if (size >= sizeof NAME) return 0;
    errno = ENAMETOOLONG;
    return -1;
}
int uname(struct utsname *to) {
    mz_plain((uintptr_t)to, sizeof *to, true, PLACE);
    *to = (struct utsname){"Linux", "machine", "6.0.0", "#1", "x86_64", "(none)"};
    return 0;
}

/* There is one locale, that of C. */
char *setlocale(int category, const char *name) {
    (void)category;
    bool is_known = !name || !*name || !__builtin_strcmp(name, "C") || !__builtin_strcmp(name, "POSIX");
    return is_known ? (char *)"C" : NULL;
}

struct lconv *localeconv(void) {
    static char none[1] = "", point[2] = ".";
    enum { NO = 127 };
    static struct lconv of_c = {
        point, none, none, none, none, none, none, none, none, none, NO, NO, NO, NO, NO, NO, NO, NO,
        NO, NO, NO, NO, NO, NO};
    return &of_c;
}

/* Limits are none of the program's concern. */
int getrlimit(__rlimit_resource_t resource, struct rlimit *limit) {
    (void)resource;
    mz_plain((uintptr_t)limit, sizeof *limit, true, PLACE);
    *limit = (struct rlimit){STACK_SIZE, RLIM_INFINITY};
    return 0;
}
int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
    (void)resource, (void)limit;
    return 0;
}

long sysconf(int name) {
    switch (name) {
        case _SC_NPROCESSORS_ONLN: case _SC_NPROCESSORS_CONF: return PROCESSORS;
        case _SC_PAGESIZE: return 4096;
        case _SC_CLK_TCK: return 100;
        case _SC_OPEN_MAX: return 1024;
        case _SC_PHYS_PAGES: case _SC_AVPHYS_PAGES: return 1 << 20;
        case _SC_THREAD_STACK_MIN: return 16384;
        case _SC_NGROUPS_MAX: case _SC_IOV_MAX: return 1024;
        case _SC_ARG_MAX: return 1 << 21;
        default:
            mz_refuse("sysconf(%d) cannot be checked", name);
            mz_give_up();
    }
}

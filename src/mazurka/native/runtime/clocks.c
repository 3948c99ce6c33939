/* Clocks show a time of the runtime's own: nobody waits. Time passes where a thread sleeps, and a
   little where it looks at a clock; it is ordered as the steps are, along what happens before what.
   So a clock shows the same in all executions that differ in the order of independent steps alone. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "state.h"

enum { SECOND = 1000000000, MOST_PAUSES = 1 << 16, LOOK = 1000 };
static const int64_t EPOCH = 1700000000ll * SECOND;

struct pause { int64_t thread, position, duration; };

static struct {
    struct pause *pauses;
    int64_t known, *read, *written;  /* of locations: when threads were there */
} clocks STATE = {0};

void mz_begin_clocks(void) { clocks.known = 0; }

static void pass(int64_t duration) {
    if (!clocks.pauses) {
        clocks.pauses = mz_map(NULL, MOST_PAUSES * sizeof *clocks.pauses);
        clocks.read = mz_map(NULL, (size_t)MOST_LOCATIONS * sizeof *clocks.read);
        clocks.written = mz_map(NULL, (size_t)MOST_LOCATIONS * sizeof *clocks.written);
    }
    if (clocks.known == MOST_PAUSES) {
        mz_refuse("an execution looks at clocks, or sleeps, more than %d times", MOST_PAUSES);
        mz_give_up();
    }
    clocks.pauses[clocks.known++] = (struct pause){mz.current->number, mz.position, duration};
    mz.current->changes++;
}

static void later(int64_t *time, int64_t other) {
    if (other > *time) *time = other;
}

static void take_step(const struct step *step, int64_t *time) {
    int64_t *own = &time[step->thread];
    if (step->location >= 0) {
        int64_t *read = &clocks.read[step->location], *written = &clocks.written[step->location];
        later(own, *written);
        if (step->mode == MODE_READ) {
            later(read, *own);
        } else {
            later(own, *read);
            later(written, *own);
        }
    } else if (step->kind == SPAWN) {
        later(&time[step->choice], *own);
    } else if (step->kind == JOIN) {
        later(own, time[step->choice]);
    }
}

/* What time it is for the running thread, along the steps so far. */
static int64_t now(void) {
    int64_t time[MOST_THREADS] = {0}, pause = 0;
    pass(LOOK);
    mz_fill(clocks.read, 0, (size_t)mz.locations_known * sizeof *clocks.read);
    mz_fill(clocks.written, 0, (size_t)mz.locations_known * sizeof *clocks.written);
    for (int64_t place = 0; place <= mz.position; place++) {
        for (; pause < clocks.known && clocks.pauses[pause].position <= place; pause++)
            time[clocks.pauses[pause].thread] += clocks.pauses[pause].duration;
        if (place < mz.position) take_step(&mz.steps[place], time);
    }
    return EPOCH + time[mz.current->number];
}

static void put(void *to, const void *from, size_t size, uintptr_t place) {
    mz_plain((uintptr_t)to, size, true, place);
    mz_copy(to, from, size);
}

static struct timespec timespec_of(int64_t time) {
    return (struct timespec){time / SECOND, time % SECOND};
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    (void)clock;
    struct timespec found = timespec_of(now());
    put(time, &found, sizeof found, PLACE);
    return 0;
}
int timespec_get(struct timespec *time, int base) {
    struct timespec found = timespec_of(now());
    put(time, &found, sizeof found, PLACE);
    return base;
}
int clock_getres(clockid_t clock, struct timespec *time) {
    (void)clock;
    struct timespec found = {0, 1};
    if (time) put(time, &found, sizeof found, PLACE);
    return 0;
}
int gettimeofday(struct timeval *time, void *zone) {
    (void)zone;
    int64_t found = now();
    struct timeval value = {found / SECOND, found % SECOND / 1000};
    put(time, &value, sizeof value, PLACE);
    return 0;
}
time_t time(time_t *to) {
    time_t found = now() / SECOND;
    if (to) put(to, &found, sizeof found, PLACE);
    return found;
}
clock_t clock(void) { return (now() - EPOCH) / 1000; }
clock_t times(struct tms *to) {
    clock_t found = (now() - EPOCH) / (SECOND / 100);
    struct tms value = {found, 0, 0, 0};
    if (to) put(to, &value, sizeof value, PLACE);
    return found;
}

int getrusage(int who, struct rusage *to) {
    (void)who;
    int64_t found = now() - EPOCH;
    struct rusage value = {.ru_utime = {found / SECOND, found % SECOND / 1000}};
    put(to, &value, sizeof value, PLACE);
    return 0;
}

unsigned sleep(unsigned seconds) {
    pass((int64_t)seconds * SECOND);
    return 0;
}
int usleep(unsigned time) {
    pass((int64_t)time * 1000);
    return 0;
}

static bool is_time(const struct timespec *time) {
    if (time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < SECOND) return true;
    errno = EINVAL;
    return false;
}

static int sleep_for(const struct timespec *time, uintptr_t place) {
    mz_plain((uintptr_t)time, sizeof *time, false, place);
    if (!is_time(time)) return -1;
    pass((int64_t)time->tv_sec * SECOND + time->tv_nsec);
    return 0;
}
int nanosleep(const struct timespec *time, struct timespec *left) {
    (void)left;
    return sleep_for(time, PLACE);
}
int thrd_sleep(const struct timespec *time, struct timespec *left) {
    (void)left;
    return sleep_for(time, PLACE);
}
int clock_nanosleep(clockid_t clock, int flags, const struct timespec *time, struct timespec *left) {
    (void)clock, (void)left;
    if (!(flags & TIMER_ABSTIME)) return sleep_for(time, PLACE) ? EINVAL : 0;
    if (!is_time(time)) return EINVAL;
    int64_t until = (int64_t)time->tv_sec * SECOND + time->tv_nsec, found = now();
    if (until > found) pass(until - found);
    return 0;
}

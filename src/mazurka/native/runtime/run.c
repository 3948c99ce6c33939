/* One execution: steps are repeated, then taken as asked for, then the policy says who goes on.

   Python asks for an execution by mz_run. Where the search decides, that comes back with a
   question, and mz_go_on has the answer. */
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "state.h"

struct runtime mz STATE = {0};

/* What operations do to values: operations.py says the same for the searches. */

static uint64_t mask_of(int64_t width) { return width >= 64 ? ~0ull : (1ull << width) - 1; }

static int mode_of(const struct step *step, uint64_t value) {
    uint64_t part = (value >> step->shift) & mask_of(step->width);
    switch (step->kind) {
        case LOAD: return MODE_READ;
        case ADD_TO: case SEMAPHORE_RELEASE: return MODE_ADD;
        case COMPARE_EXCHANGE: return part == (uint64_t)step->first ? MODE_WRITE : MODE_READ;
        case AWAIT: return part == (uint64_t)step->first ? MODE_READ : MODE_DISABLED;
        case AWAIT_EXCHANGE: return part == (uint64_t)step->first ? MODE_WRITE : MODE_DISABLED;
        case WAIT: return part >= (uint64_t)step->first ? MODE_READ : MODE_DISABLED;
        case ACQUIRE: case WRITE_ACQUIRE: return part ? MODE_DISABLED : MODE_WRITE;
        case TRY_ACQUIRE: case WRITE_TRY_ACQUIRE: return part ? MODE_READ : MODE_WRITE;
        case RELEASE: return part ? MODE_WRITE : MODE_READ;
        case SEMAPHORE_ACQUIRE: return part ? MODE_WRITE : MODE_DISABLED;
        case SEMAPHORE_TRY_ACQUIRE: return part ? MODE_WRITE : MODE_READ;
        case READ_ACQUIRE: return part >> 32 ? MODE_DISABLED : MODE_WRITE;
        case READ_TRY_ACQUIRE: return part >> 32 ? MODE_READ : MODE_WRITE;
        case TAKE_WAITER: return part >> step->first & 1 ? MODE_WRITE : MODE_READ;
        default: return MODE_WRITE;
    }
}

/* What a change leaves of the part of its location that it accesses. */
static uint64_t changed(const struct step *step, uint64_t part) {
    uint64_t first = (uint64_t)step->first;
    switch (step->kind) {
        case COMPARE_EXCHANGE: case AWAIT_EXCHANGE: return (uint64_t)step->second;
        case ACQUIRE: case TRY_ACQUIRE: return (uint64_t)step->thread + 1;
        case RELEASE: return 0;
        case SEMAPHORE_ACQUIRE: case SEMAPHORE_TRY_ACQUIRE: return part - 1;
        case READ_ACQUIRE: case READ_TRY_ACQUIRE: return part + 1;
        case WRITE_ACQUIRE: case WRITE_TRY_ACQUIRE: return ((uint64_t)step->thread + 1) << 32;
        case TAKE_WAITER: return part & ~(1ull << first);
        case ADD_TO: case SEMAPHORE_RELEASE: return part + first;
        case FETCH_ADD:
            switch (step->form) {
                case FORM_AND: return part & first;
                case FORM_OR: return part | first;
                case FORM_XOR: return part ^ first;
                case FORM_NAND: return ~(part & first);
                default: return part + first;
            }
        default: return first;
    }
}

static int mode_now(const struct thread *thread) {
    const struct step *step = &thread->standing;
    if (step->location < 0)
        return step->kind == JOIN && !mz.threads[step->choice].is_finished ? MODE_DISABLED
                                                                          : MODE_NONE;
    if (step->kind == LOAD || step->kind == STORE) return step->kind == LOAD ? MODE_READ : MODE_WRITE;
    return mode_of(step, mz_value(step->location));
}

bool mz_is_enabled(struct thread *thread) {
    return !thread->is_finished && !thread->gave_up && mode_now(thread) != MODE_DISABLED;
}

/* Who goes on */

static bool is_await(const struct thread *thread) {
    return thread->standing.kind == AWAIT || thread->standing.kind == AWAIT_EXCHANGE;
}

/* Whether a thread can make the step that is asked for; settles its choice. */
static bool follows(const struct step *asked, struct thread *thread) {
    struct step *step = &thread->standing;
    if (thread->number != asked->thread || !thread->is_live || !mz_is_enabled(thread)) return false;
    if (asked->kind != UNKNOWN) {
        if (asked->kind != step->kind || asked->location != step->location) return false;
        if (asked->mode != mode_now(thread)) return false;
    }
    if (step->kind == CHOOSE) {
        step->choice = asked->choice == ANY ? 0 : asked->choice;
        if (step->choice >= step->alternatives) return false;
    }
    return true;
}

static bool sleeps(const struct thread *thread, int64_t choice) {
    for (int64_t place = 0; place < mz.sleepers; place++) {
        const struct sleeper *one = &mz.sleep[place];
        if (one->thread == thread->number
            && (thread->standing.kind != CHOOSE || one->choice == choice))
            return true;
    }
    return false;
}

enum { NO, YES, ASK };

/* Whether the watcher must be asked before a thread steps: see Watch in engine/program.py. */
static bool is_watched(const struct thread *thread) {
    int64_t location = thread->standing.location;
    if (location < 0) return false;
    int64_t latest = mz.latest[location];
    if (latest >> 3 != mz.runs || (latest & 7) == MODE_WRITE) return false;
    int64_t rank = mz.ranks[thread->number];
    for (int64_t place = 0; place < mz.watched; place++) {
        int64_t watch = mz.watches[place];
        if (watch >> 8 != location) continue;
        int64_t other = mz.ranks[watch & 0xff];
        if (!rank || !other || rank < other) return true;
    }
    return false;
}

/* Whether a thread may make the next free step. */
static int can_step(struct thread *thread) {
    struct step *step = &thread->standing;
    if (!mz_is_enabled(thread)) return NO;
    if (mz.watched && is_watched(thread)) {
        int verdict = mz.verdicts[thread->number];
        if (!verdict) return ASK;
        if (verdict == 1) return NO;
    }
    if (step->kind != CHOOSE) return sleeps(thread, 0) ? NO : YES;
    for (int64_t choice = 0; choice < step->alternatives; choice++) {
        if (!sleeps(thread, choice)) {
            step->choice = choice;
            return YES;
        }
    }
    return NO;
}

/* Whether the thread that runs makes the next step, too. If this is not easily told, it does not. */
static bool goes_on(struct thread *thread) {
    if (thread->is_starting) return false;
    if (mz.position < mz.plan_end) return follows(&mz.steps[mz.position], thread);
    if (thread->number != mz.recent || mz.policy != GO_ON || mz.watches_steps) return false;
    return mz.position < mz.max_events && !is_await(thread) && can_step(thread) == YES;
}

static int asks_asleep(struct thread *thread) {
    mz.asked_thread = thread->number;
    return mz.question = ASKS_ASLEEP;
}

static int leftmost(struct thread **chosen) {
    struct thread *best = NULL;
    for (int64_t place = 0; place < mz.live_known; place++) {
        struct thread *thread = mz.live[place];
        if (!mz_is_enabled(thread)) continue;
        if (thread->number == mz.first) {
            best = thread;
            break;
        }
        if (!best || thread->number < best->number) best = thread;
    }
    mz.first = NOBODY;
    if (best && best->standing.kind == CHOOSE) best->standing.choice = 0;
    *chosen = best;
    return ENDED;
}

/* The thread that stepped last as long as it can, then the first of the others: awaits come late. */
static int recent_or_other(struct thread **chosen) {
    struct thread *recent = &mz.threads[mz.recent];
    for (int round = 0; round < 3; round++) {
        for (int64_t place = 0; place < (round ? mz.live_known : 1); place++) {
            struct thread *thread = round ? mz.live[place] : recent;
            if (is_await(thread) != (round == 2)) continue;
            int can = can_step(thread);
            if (can == ASK) return asks_asleep(thread);
            if (can == YES) {
                *chosen = thread;
                return ENDED;
            }
        }
    }
    return ENDED;
}

static int picked(void) {
    for (int64_t place = 0; place < mz.live_known; place++)
        if (mz_is_enabled(mz.live[place])) return mz.question = ASKS_PICK;
    return ENDED;
}

/* Who makes the next step: a thread, or nobody; or a question. */
static int decide(struct thread **chosen) {
    *chosen = NULL;
    if (mz.position < mz.plan_end) {
        struct step *asked = &mz.steps[mz.position];
        struct thread *thread = &mz.threads[asked->thread];
        if (follows(asked, thread)) {
            *chosen = thread;
        } else {
            mz.stopped = DIVERGED;
        }
        return ENDED;
    }
    if (mz.watches_steps && !mz.goes_on_here) return mz.question = ASKS_ENDS;
    int answer = mz.policy == PICKED     ? picked()
                 : mz.policy == LEFTMOST ? leftmost(chosen)
                                         : recent_or_other(chosen);
    if (*chosen && mz.position >= mz.max_events) {
        *chosen = NULL;
        mz.stopped = TOO_LONG;
    }
    return answer;
}

static void resume(struct thread *thread) {
    mz.current = thread;
    mz_switch(&mz.host_stack_pointer, thread->stack_pointer);
    mz.current = NULL;
}

static int end(void) {
    mz.unfinished = 0;
    for (int64_t place = 0; place < mz.live_known; place++)
        if (!mz.live[place]->is_finished) mz.unfinished++;
    return mz.question = ENDED;
}

static int go_on(void) {
    struct thread *chosen;
    while (!mz.is_refused) {
        int question = decide(&chosen);
        if (question != ENDED) return question;
        if (!chosen) break;
        resume(chosen);
    }
    return end();
}

/* Steps */

static void wake(const struct step *step) {
    int64_t kept = 0;
    for (int64_t place = 0; place < mz.sleepers; place++) {
        const struct sleeper *one = &mz.sleep[place];
        bool conflicts = one->location == step->location && one->mode != MODE_NONE
                         && (one->mode != step->mode || one->mode == MODE_WRITE);
        if (one->thread != step->thread && !conflicts) mz.sleep[kept++] = *one;
    }
    mz.sleepers = kept;
}

static void note_enabled(struct step *step) {
    step->enabled = mz.enabled_known;
    int64_t *count = &mz.enabled[mz.enabled_known++];
    *count = 0;
    for (int64_t place = 0; place < mz.live_known; place++) {
        if (mz_is_enabled(mz.live[place])) {
            mz.enabled[mz.enabled_known++] = mz.live[place]->number;
            ++*count;
        }
    }
}

void mz_settle_store(struct thread *thread) {
    if (thread->writes_range) return;
    while (thread->stores) {
        struct step *stored = &mz.steps[thread->stored[--thread->stores]];
        stored->after = (int64_t)mz_value(stored->location);
        mz_note_change(thread, stored);
    }
}

static void note_store(struct thread *thread, int64_t position) {
    if (thread->stores == MOST_STORED) {
        mz_refuse("more than %d locks or atomic variables are written at once", MOST_STORED);
        mz_give_up();
    }
    thread->stored[thread->stores++] = position;
}

/* A thread has come to its next operation; comes back when that is to be performed. */
static void stand(struct thread *thread) {
    mz.ticks++;
    if (!goes_on(thread)) mz_to_host(thread);
}

/* The thread that runs makes the step that it stands before. Gives what it has found. */
static uint64_t perform(struct thread *thread) {
    struct step *step = &thread->standing;
    int64_t position = mz.position;
    struct step *log = &mz.steps[position];
    step->mode = mode_now(thread);
    step->before = step->location >= 0 ? (int64_t)mz_value(step->location) : 0;
    step->enabled = -1;
    if (position >= mz.keep) {
        if (mz.all_stand) note_enabled(step);
        if (mz.sleepers) wake(step);
    }
    uint64_t part = (uint64_t)step->before >> step->shift & mask_of(step->width);
    step->after = step->before;
    if (step->location >= 0 && step->mode != MODE_READ) {
        if (step->form == FORM_PLAIN) {
            note_store(thread, position);
        } else {
            uint64_t left = changed(step, part);
            mz_put(thread->address, step->width / 8, left);
            step->after = (int64_t)mz_value(step->location);
        }
    }
    *log = *step;
    if (step->location >= 0) mz.latest[step->location] = mz.runs << 3 | step->mode;
    thread->own_steps++;
    if (step->location < 0) thread->changes += step->kind != CHOOSE;
    else if (step->form != FORM_PLAIN) mz_note_change(thread, step);
    mz.position = position + 1;
    mz.recent = thread->number;
    mz.goes_on_here = false;
    if (mz.has_verdicts) {
        mz_fill(mz.verdicts, 0, (size_t)mz.threads_known);
        mz.has_verdicts = false;
    }
    return part;
}

/* Which part of its location a step accesses. */
static void find_part(struct step *step, uintptr_t address, int64_t width) {
    bool is_small = step->location >= 0 && mz.locations[step->location].size <= 8;
    step->shift = is_small ? (int64_t)(address - mz.locations[step->location].address) * 8 : 0;
    step->width = is_small ? width : 64;
}

/* Loops that wait for the ends of threads come to an end by themselves; for those that start
   threads, see mz_count_start. */
static bool is_of_a_bounded_round(const struct step *step) {
    return step->kind != SPAWN && step->kind != JOIN;
}

static void end_if_out_of_rounds(struct thread *thread) {
    if (mz_is_out_of_rounds(thread)) {
        mz.out_of_rounds = 1;
        mz_give_up();
    }
}

/* All of a step, on the thread's second stack. */
uint64_t mz_make_step(struct thread *thread) {
    if (thread->is_lookup) {  /* here, as a first one leaves other traces on a stack than later ones */
        struct step *step = &thread->standing;
        thread->is_lookup = false;
        step->location = mz_location(thread->address, (size_t)step->width / 8, true);
        find_part(step, thread->address, step->width);
    }
    if (thread->is_polling) {
        thread->is_polling = false;
        mz_note_poll(thread);
        return 0;
    }
    if (thread->handle) {
        end_if_out_of_rounds(thread);
        thread->handle = 0;
        return 0;
    }
    mz_settle_store(thread);
    if (mz.unroll && is_of_a_bounded_round(&thread->standing)) end_if_out_of_rounds(thread);
    if (thread->standing.location >= 0 || thread->standing.kind == CHOOSE) mz_note_read(thread);
    stand(thread);
    uint64_t found = perform(thread);
    if (mz.in_section && mz_breaks_section(&thread->standing)) mz_give_up();
    return found;
}

uint64_t mz_step_at(int kind, int64_t location, uintptr_t address, int width, uint64_t first,
                    uint64_t second, int form, uintptr_t place) {
    struct thread *thread = mz.current;
    struct step *step = &thread->standing;
    step->thread = thread->number;
    step->kind = kind;
    step->location = location;
    if (thread->is_lookup) step->width = width;
    else find_part(step, address, width);
    step->first = (int64_t)first;
    step->second = (int64_t)second;
    step->form = form;
    step->choice = 0;
    step->alternatives = 1;
    step->place = (int64_t)((thread->caller ? thread->caller : place) - mz_base());
    thread->address = address;
    int order = thread->ordering, failing_order = thread->failing_ordering;
    thread->ordering = thread->failing_ordering = 0;
    uint64_t found = mz_on_own_stack(thread);
    if (mz.only_sync && form != FORM_PLAIN) mz_order_step(thread, order, failing_order, place);
    if (!thread->is_freeing) mz_check_freed(address, place);
    return found;
}

/* A thread reads the same place again and again, which is no step: it may wait there for ever. */
void mz_poll(struct thread *thread, uintptr_t address) {
    thread->standing.kind = MODE_NONE;
    thread->standing.location = (int64_t)address;
    thread->is_polling = true;
    mz_on_own_stack(thread);
}

/* The running thread is about to start another one, whose name will be at an address. */
void mz_count_start(struct thread *thread, void *handle) {
    if (!mz.unroll) return;
    thread->handle = (uintptr_t)handle & ~7ul;
    mz_clean_below();
    mz_on_own_stack(thread);
}

/* The running thread is about to look at an object: a wild pointer must fail now, and here. */
void mz_touch(uintptr_t address, size_t size, uintptr_t place) {
    mz.current->standing.place = (int64_t)(place - mz_base());
    mz_check_bounds(address, size, place);
    (void)*(volatile char *)address;
}

/* An operation on an atomic variable, or on a synchronisation object. */
uint64_t mz_step(int kind, uintptr_t address, int size, uint64_t first, uint64_t second, int form,
                 uintptr_t place) {
    mz_touch(address, (size_t)size, place);
    mz.current->is_lookup = true;
    mz_clean_below();
    uint64_t found = mz_step_at(kind, NOWHERE, address, size * 8, first, second, form, place);
    mz_clean_below();
    return found;
}

/* A step without a location: a spawn or a join of another thread, or a choice. */
int64_t mz_step_nowhere(int kind, int64_t choice, int64_t alternatives, uintptr_t place) {
    struct thread *thread = mz.current;
    struct step *step = &thread->standing;
    *step = (struct step){.thread = thread->number, .kind = kind, .location = NOWHERE, .width = 64};
    step->choice = choice;
    step->alternatives = alternatives;
    step->place = (int64_t)(place - mz_base());
    mz_on_own_stack(thread);
    return step->choice;
}

int64_t mz_choose(int64_t alternatives, uintptr_t place) {
    if (alternatives > MOST_ALTERNATIVES) {
        mz_refuse("a choice has more than %d alternatives", MOST_ALTERNATIVES);
        mz_give_up();
    }
    return mz_step_nowhere(CHOOSE, 0, alternatives, place);
}

/* The running thread never goes on. */
void mz_give_up(void) {
    struct thread *thread = mz.current;
    mz_settle_store(thread);
    thread->gave_up = 1;
    for (;;) mz_to_host(thread);
}

/* The program does what cannot be checked: the execution is of no use. */
void mz_refuse(const char *format, ...) {
    if (mz.is_refused) return;
    va_list arguments;
    va_start(arguments, format);
    __vsnprintf(mz.refusal, sizeof mz.refusal, format, arguments);
    va_end(arguments);
    mz.is_refused = 1;
}

/* For Python */

extern int main(int, char **, char **);
extern char **environ;

static void *run_main(void *unused) {
    (void)unused;
    struct thread *thread = mz.current;
    mz_run_beginnings();
    int code = main(mz.argument_count, mz.arguments, environ);
    mz_run_exits();
    mz.exited = 1;
    mz.exit_code = thread->exit_code = code & 0xff;
    if (thread->exit_code) mz_fail(EXITED, 0, "");
    return NULL;
}

/* By a system call: the program's own mmap is not this. */
static void *map_by_system(void *address, size_t size, int flags) {
    long result;
    register long all_flags __asm__("r10") = flags;
    register long no_file __asm__("r8") = -1;
    register long from __asm__("r9") = 0;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(SYS_mmap), "D"(address), "S"(size), "d"(PROT_READ | PROT_WRITE),
                       "r"(all_flags), "r"(no_file), "r"(from)
                     : "rcx", "r11", "memory");
    return result < 0 && result > -4096 ? MAP_FAILED : (void *)result;
}

/* Memory for the runtime or the program, until it is closed: at an address, or anywhere. */
void *mz_map(void *address, size_t size) {
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    if (address) flags |= MAP_FIXED_NOREPLACE;
    if (mz.maps_known == MOST_MAPS) {
        mz_refuse("the program has more parts of memory than can be put back");
        return NULL;
    }
    void *memory = map_by_system(address, size, flags);
    if (memory == MAP_FAILED || (address && memory != address)) {
        mz_refuse(address ? "the addresses for the program are taken: check one C program at a time"
                          : "there is no memory for the program");
        return NULL;
    }
    mz.maps[mz.maps_known].address = memory;
    mz.maps[mz.maps_known++].size = size;
    return memory;
}

static void *mapped(size_t size) { return mz_map(NULL, size); }

/* The program may write to its arguments: it gets a copy in each execution. */
static void keep_arguments(int count, char **texts) {
    size_t size = (size_t)(count + 1) * sizeof *texts;
    for (int place = 0; place < count; place++) {
        size_t length = 0;
        while (texts[place][length++]) {}
        size += length;
    }
    char *own = mz_map((void *)0x618000000000, size), *copy = mz_map(NULL, size);
    if (!own || !copy) return;
    char *end = own + (size_t)(count + 1) * sizeof *texts;
    for (int place = 0; place < count; place++) {
        ((char **)own)[place] = end;
        for (const char *from = texts[place]; (*end++ = *from); from++) {}
    }
    mz_copy(copy, own, size);
    mz.argument_count = count;
    mz.arguments = (char **)own;
    mz.arguments_copy = copy;
    mz.arguments_size = size;
}

/* Get ready; gives a message if that cannot be done. */
EXPORTED const char *mz_open(int count, char **arguments) {
    mz.threads = mapped(MOST_THREADS * sizeof *mz.threads);
    mz.live = mapped(MOST_THREADS * sizeof *mz.live);
    mz.steps = mapped((size_t)MOST_STEPS * sizeof *mz.steps);
    mz.asked = mapped((size_t)MOST_STEPS * sizeof *mz.asked);
    mz.told = mapped((size_t)MOST_STEPS * sizeof *mz.told);
    mz_map_records();
    mz.locations = mapped((size_t)MOST_LOCATIONS * sizeof *mz.locations);
    mz.enabled = mapped((size_t)MOST_STEPS * 16 * sizeof *mz.enabled);
    mz.sleep = mapped((1 << 16) * sizeof *mz.sleep);
    mz.watches = mapped((size_t)MOST_STEPS * sizeof *mz.watches);
    mz.ranks = mapped(MOST_THREADS * sizeof *mz.ranks);
    mz.latest = mapped((size_t)MOST_LOCATIONS * sizeof *mz.latest);
    mz.verdicts = mapped(MOST_THREADS);
    mz.learnt = mapped((size_t)MOST_LOCATIONS * sizeof *mz.learnt);
    mz.output = mapped(1 << 16);
    if (!mz.is_refused) keep_arguments(count, arguments);
    if (!mz.is_refused) mz_map_threads();
    if (!mz.is_refused) mz_map_memory();
    if (!mz.is_refused) mz_map_heap();
    if (!mz.is_refused) mz_map_visits();
    if (!mz.is_refused) mz_map_races();
    if (!mz.is_refused) mz_map_sections();
    mz_keep_environment();
    if (!mz.is_refused) mz_find_globals();
    if (mz.is_refused) return mz.refusal;
    mz_install_handlers();
    return NULL;
}

EXPORTED void mz_close(void) {
    mz_set_limit(0);
    mz_remove_handlers();
    while (mz.maps_known--) {
        long address = (long)mz.maps[mz.maps_known].address;
        syscall_of(SYS_munmap, address, (long)mz.maps[mz.maps_known].size, 0);
    }
}

static void begin(void) {
    for (int64_t place = 0; place < mz.live_known; place++) mz.live[place]->is_live = 0;
    mz_restore_globals();
    mz_reset_futexes();
    mz_begin_files();
    mz_begin_streams();
    mz_begin_clocks();
    mz_begin_sections();
    mz_begin_calls();
    mz_begin_expressions();
    mz_copy(mz.arguments, mz.arguments_copy, mz.arguments_size);
    mz.position = mz.enabled_known = mz.output_size = mz.keys_known = 0;
    mz.runs++;
    mz.stopped = NOT_STOPPED;
    mz.out_of_rounds = mz.few_values = mz.printed_address = mz.repeats_choices = 0;
    mz.first_failed = NOBODY;
    mz.exited = mz.exit_code = 0;
    mz.recent = 0;
    mz.goes_on_here = false;
    mz.message[0] = 0;
    mz_fill(mz.verdicts, 0, (size_t)mz.threads_known);
    struct thread *first = &mz.threads[0];
    mz.live[0] = first;
    mz.live_known = 1;
    mz_reset_thread(first);
    mz_begin_races(first);
    first->function = run_main;
    mz_start_fiber(first);
}

EXPORTED int64_t mz_run(void) {
    mz_read_request();
    begin();
    return mz_tell(go_on());
}

EXPORTED int64_t mz_go_on(void) {
    struct thread *thread;
    switch (mz.question) {
        case ASKS_ENDS:
            if (mz.answer) return mz_tell(end());
            mz.goes_on_here = true;
            break;
        case ASKS_ASLEEP:
            mz.verdicts[mz.asked_thread] = mz.answer ? 1 : 2;
            mz.has_verdicts = true;
            break;
        default:
            thread = &mz.threads[mz.answer & 0xffff];
            if (thread->standing.kind == CHOOSE) thread->standing.choice = mz.answer >> 16;
            if (mz.position >= mz.max_events) {
                mz.stopped = TOO_LONG;
                return mz_tell(end());
            }
            resume(thread);
    }
    return mz_tell(go_on());
}

/* How the operation of a thread would access its location now; 0 if it has none, too. */
EXPORTED int mz_mode(int number) { return mode_now(&mz.threads[number]); }

/* What the operation of a thread would be now, and whether it can be performed. */
EXPORTED int mz_look(int number) {
    struct thread *thread = &mz.threads[number];
    thread->standing.mode = mode_now(thread);
    return mz_is_enabled(thread);
}

/* Whether a thread that goes round in a loop would do so for ever. */
EXPORTED int mz_is_stuck(int number) { return mz_spins_for_ever(&mz.threads[number]); }

EXPORTED int mz_thread_called(int parent, int order) {
    struct thread *child = mz_child(&mz.threads[parent], order);
    return child ? (int)child->number : NOBODY;
}

EXPORTED int64_t mz_function_of(int number) {
    return (int64_t)((uintptr_t)mz.threads[number].function - mz_base());
}

EXPORTED struct runtime *mz_runtime(void) { return &mz; }
EXPORTED struct thread *mz_threads(void) { return mz.threads; }
EXPORTED struct step *mz_steps(void) { return mz.steps; }
EXPORTED int64_t *mz_asked(void) { return mz.asked; }
EXPORTED int64_t *mz_told(void) { return mz.told; }
EXPORTED struct location *mz_locations(void) { return mz.locations; }
EXPORTED int64_t *mz_enabled(void) { return mz.enabled; }
EXPORTED struct sleeper *mz_sleep(void) { return mz.sleep; }
EXPORTED int64_t *mz_watches(void) { return mz.watches; }
EXPORTED int64_t *mz_ranks(void) { return mz.ranks; }
EXPORTED char *mz_output(void) { return mz.output; }
EXPORTED const char *mz_refusal(void) { return mz.refusal; }
EXPORTED const char *mz_message(void) { return mz.message; }
EXPORTED int64_t mz_size_of_thread(void) { return sizeof(struct thread); }
EXPORTED int64_t mz_standing_offset(void) { return offsetof(struct thread, standing); }
EXPORTED int64_t mz_failure_offset(void) { return offsetof(struct thread, is_live); }

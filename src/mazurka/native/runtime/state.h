/* The state of the runtime: one execution of a C program on fibers, and what is known of its memory.

   The runtime is linked into the program's own shared object, with hidden symbols: so its
   pthread_create and the like are the ones that the program calls, whatever else is loaded. All of
   its variables are in one section, since the rest of the object's data is put back before each
   execution. program.py reads and writes some of this: the layouts are told there. */
#ifndef MAZURKA_STATE_H
#define MAZURKA_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATE __attribute__((section("mz_state")))
#define EXPORTED __attribute__((visibility("default")))
#define PLACE ((uintptr_t)__builtin_return_address(0))

enum { MOST_THREADS = 256, MOST_KEYS = 64, MOST_LOCATIONS = 1 << 22, MOST_STEPS = 1 << 22,
       MOST_STORED = 64, MOST_VISITS = 64, MOST_MAPS = 128, MOST_ALTERNATIVES = 1 << 20, STACK_SIZE = 8 << 20 };

#define HEAP 0x620000000000ul
#define HEAP_SIZE (256ul << 20) /* of one thread */
#define ALL_HEAPS (MOST_THREADS * HEAP_SIZE)

/* Kinds of operations, modes and policies: mazurka/engine/operation.py and program.py. */
enum { MODE_NONE, MODE_READ, MODE_WRITE, MODE_ADD, MODE_DISABLED };
enum {
    UNKNOWN = -1,
    SPAWN = 1, JOIN = 2, CHOOSE = 3,
    LOAD = 10, STORE, EXCHANGE, COMPARE_EXCHANGE, FETCH_ADD, ADD_TO, TRY_ACQUIRE, RELEASE,
    SEMAPHORE_RELEASE, NOTIFY,
    AWAIT = 30, AWAIT_EXCHANGE, ACQUIRE, WAIT,
    SEMAPHORE_ACQUIRE = 40, READ_ACQUIRE = 45, WRITE_ACQUIRE = 46,
    SEMAPHORE_TRY_ACQUIRE = 60, READ_TRY_ACQUIRE = 69, WRITE_TRY_ACQUIRE = 70, TAKE_WAITER = 71,
};
enum { GO_ON, LEFTMOST, PICKED };
enum { NOBODY = -1, ANY = -1, NOWHERE = -1 };

/* What a FETCH_ADD does to a value; and a store that the program makes after it was announced. */
enum { FORM_ADD, FORM_AND, FORM_OR, FORM_XOR, FORM_NAND, FORM_PLAIN };

/* One step of a thread: one that it stands before, one that is asked for, or one that was made. */
struct step {
    int64_t thread, kind, location, mode, first, second, form, shift, width;
    int64_t choice, alternatives, before, after, place, enabled;  /* enabled: see mz.enabled */
};

/* What a thread has in common with itself in other executions, and what it is in this one. */
struct thread {
    int64_t number, parent, order, known_children;  /* the same in all executions */
    int64_t children_of[MOST_THREADS];
    int64_t is_live, is_finished, gave_up, failure, signal, failed_at, fault, code;  /* for Python */
    int64_t exit_code, spins;  /* spins: the step from which on it goes round in a loop, and 1 */
    struct step standing;
    uintptr_t address;  /* of the location that it stands before */
    int64_t children, waits;
    int64_t stored[MOST_STORED], stores;  /* steps of which the value is not known yet */
    uint64_t notified;  /* the latest of its waits that was ended */
    uintptr_t caller;  /* of a function of libc.c that it is in, or 0 */
    void *stack_pointer, *stack, *stack_top;
    void *programs_stack_pointer, *own_stack_top;  /* steps are made on a stack of their own */
    uint64_t changes;  /* that it has made to anything but its stack */
    uint64_t net;  /* what it has changed in its locations: 0 again if it has put all back */
    uint64_t visits_since;
    int64_t visits, own_steps, places;  /* see spins.c */
    struct { uintptr_t address; uint64_t count, reads, since; } polled;  /* see note_own_read */
    uintptr_t lent, lent_end;  /* of its stack, what others access */
    struct thread *starter;
    void *(*function)(void *);
    void *argument, *result;
    bool is_detached, is_joined, is_starting, is_freeing, has_keys;
    int error_number;
    uint64_t random, blocked;  /* blocked: signals, each a bit */
    char *locals;  /* its __thread variables */
    void *keys[MOST_KEYS];
    char *heap, *heap_end;  /* the next block, and the end */
    void *cleanups;  /* of pthread_cleanup_push */
    struct ending *endings;  /* destructors of its thread-local objects */
    uintptr_t handle;  /* where it is about to leave the name of a thread that it starts, or 0 */
    /* For data races: see races.c. */
    uint64_t stamp, known[MOST_THREADS], has_read[MOST_THREADS], had_known[MOST_THREADS];
    int fences;
    int ordering, failing_ordering;  /* of the operation that it stands before */
    bool is_lookup;  /* the location of its operation is still to be found */
    bool is_polling, writes_range;
    int sections;  /* how deep it is in atomic sections */
    const char *message;  /* of its failure */
};

/* What an operation orders: C11's memory orders; and of fences, what there was. */
enum { ACQUIRES = 1, RELEASES = 2, IS_ATOMIC = 4, IS_GIVEN = 8 };
enum { NO_FENCES = 0, HAS_READ = 1, HAS_RELEASED = 2 };

/* Two accesses that nothing orders. */
enum { READS, WRITES, FREES, READS_ATOMICALLY, CHANGES_ATOMICALLY };
struct race {
    int64_t address, first, first_kind, first_place, second, second_kind, second_place, position;
};

struct location {
    uintptr_t address;
    int64_t size, is_sync;
};

/* How a thread failed. */
enum {
    NOT_FAILED, ASSERTION, ABORTED, EXITED, SIGNALLED, STACK_OVERFLOW, USE_AFTER_FREE, OUT_OF_BLOCK,
    DOUBLE_FREE, INVALID_FREE, NOT_HELD, BAD_JOIN, HELD_DESTROYED, ENDLESS, ERROR_CALLED,
    NO_VALUE, STACK_OF_ENDED, RELOCKED, UNINITIALISED
};

/* Why a run came back to Python. */
enum { ENDED, ASKS_ENDS, ASKS_ASLEEP, ASKS_PICK };
/* What broke it off. */
enum { NOT_STOPPED, DIVERGED, TOO_LONG };

struct sleeper {
    int64_t thread, location, mode, choice, is_choice;
};

struct runtime {
    /* Of the request: written by Python. */
    int64_t keep, plan_end, policy, first, watches_steps, all_stand, max_events, sleepers, watched;
    int64_t answer;  /* to the latest question */
    /* Of the run: read by Python. */
    int64_t position, stopped, recent, has_news, is_refused, exited, exit_code, asked_thread;
    int64_t locations_known, threads_known, output_size, first_failed, unfinished;
    int64_t only_sync, has_race;  /* only_sync, of the request: plain accesses are no steps */
    int64_t same;  /* of the request: so many steps are those of the latest run, and not in `asked` */
    /* Of the request: the bytes that memory has before it is written, and so many of a stack. */
    int64_t filling, filled;
    /* Of the request: how many rounds loops may have, or 0; whether only loops that poll are cut. */
    int64_t unroll, keeps_rounds;
    int64_t out_of_rounds;  /* of the run */
    int64_t few_values;  /* of the run: not all values of a choice are tried */
    int64_t printed_address;  /* of the run: the line that made a text of an address */
    int64_t independent_adds;  /* of the request */
    int64_t repeats_choices;  /* of the run: a thread goes round in a loop, and chooses there */
    /* Not for Python. */
    int64_t learnt_known, enabled_known, ticks;
    struct thread *current;
    struct thread *threads;
    struct step *steps;
    int64_t *asked;  /* steps that are asked for, each in one number: see tell.c */
    int64_t *told;  /* what was told of each step */
    int64_t told_known;
    struct location *locations;
    int64_t *enabled;  /* who could go on at each step: the number of threads, and the threads */
    struct sleeper *sleep;
    int64_t *watches;  /* each a location, and a thread: see is_watched */
    int64_t *ranks;  /* of threads in their order, from 1 on; 0: not known */
    int64_t *latest;  /* how each location was accessed last: the run, and the mode */
    int64_t runs;
    unsigned char *verdicts;  /* of the watcher, in this decision, by thread */
    struct thread **live;
    int64_t live_known;
    struct { uintptr_t address; int64_t size; } *learnt;
    int64_t frozen;  /* how many locations there were when the search began */
    int question;
    bool goes_on_here;  /* the watcher has not ended the run */
    bool has_verdicts;
    void *host_stack_pointer;
    char *output;
    char refusal[256];
    char message[512];  /* of a failed assertion, or the like */
    char **arguments, *arguments_copy;
    size_t arguments_size;
    int argument_count;
    uint64_t keys_known;
    void (*key_destructors[MOST_KEYS])(void *);
    int64_t ticks_seen;
    struct { void *address; size_t size; } maps[MOST_MAPS];
    int maps_known;
    bool in_section;  /* see sections.c */
    struct functions { const int64_t *places; int64_t known; } functions[2];
};

extern struct runtime mz __attribute__((visibility("hidden")));

/* The C library's: vsnprintf is a function of libc.c, which is seen. */
int __vsnprintf(char *to, size_t size, const char *format, __builtin_va_list arguments);

/* run.c */
uint64_t mz_step(int kind, uintptr_t address, int size, uint64_t first, uint64_t second, int form,
                 uintptr_t place);
uint64_t mz_step_at(int kind, int64_t location, uintptr_t address, int width, uint64_t first,
                    uint64_t second, int form, uintptr_t place);
uint64_t mz_make_step(struct thread *thread);
void mz_poll(struct thread *thread, uintptr_t address);
void mz_count_start(struct thread *thread, void *handle);
void mz_touch(uintptr_t address, size_t size, uintptr_t place);
void mz_settle_store(struct thread *thread);
bool mz_is_enabled(struct thread *thread);
void mz_give_up(void) __attribute__((noreturn));
int64_t mz_step_nowhere(int kind, int64_t choice, int64_t alternatives, uintptr_t place);
int64_t mz_choose(int64_t alternatives, uintptr_t place);
void mz_refuse(const char *format, ...);
void *mz_map(void *address, size_t size);

/* fibers.c */
void mz_switch(void **save, void *load);
void mz_to_host(struct thread *thread);
uint64_t mz_on_own_stack(struct thread *thread);
struct thread *mz_owner_of_stack(uintptr_t address);
void mz_lend_stack(uintptr_t address, size_t size);
void mz_start_fiber(struct thread *thread);
void mz_finish(struct thread *thread) __attribute__((noreturn));
struct thread *mz_child(struct thread *parent, int64_t order);
void mz_reset_thread(struct thread *thread);
void mz_map_threads(void);
void mz_make_stacks_executable(void);

/* startup.c */
void mz_run_beginnings(void);
void mz_run_exits(void);
void mz_run_thread_endings(struct thread *thread);

/* signals.c */
void mz_exit_thread(void);  /* comes to what pthread_cleanup_push has pushed */

/* clocks.c */
void mz_begin_clocks(void);

/* environment.c */
void mz_keep_environment(void);

/* calls.c */
void mz_begin_calls(void);

/* regular.c */
void mz_begin_expressions(void);

/* kernel.c */
void mz_reset_futexes(void);

/* memory.c */
void mz_plain(uintptr_t address, size_t size, bool is_write, uintptr_t place);
int64_t mz_location(uintptr_t address, size_t size, bool is_sync);
uint64_t mz_value(int64_t location);
void mz_free_range(uintptr_t address, size_t size, uintptr_t place);
void mz_find_globals(void);
void mz_restore_globals(void);
void mz_map_memory(void);
void mz_new_locals(struct thread *thread);
uintptr_t mz_base(void);

void mz_guarded(uintptr_t address, bool is_write, uintptr_t place);
int64_t mz_location_at(uintptr_t address);

/* races.c */
void mz_map_races(void);
void mz_begin_races(struct thread *first);
void mz_settle_race(void);
bool mz_watch(struct thread *thread, uintptr_t address, size_t size, int kind, uintptr_t place);
bool mz_was_watched(const struct thread *thread, uintptr_t address, size_t size, bool is_write);
bool mz_watch_location(uintptr_t address, size_t size);
void mz_order_spawn(struct thread *parent, struct thread *child);
void mz_order_join(struct thread *thread, const struct thread *ended);
void mz_order_fence(struct thread *thread, int order);
void mz_order_step(struct thread *thread, int order, int failing_order, uintptr_t place);

/* heap.c */
void mz_map_heap(void);
void mz_reset_heap(struct thread *thread);
void mz_check_bounds(uintptr_t address, size_t size, uintptr_t place);
void mz_check_freed(uintptr_t address, uintptr_t place);
void mz_check_ended(uintptr_t address, uintptr_t place);
EXPORTED int64_t mz_unfreed(int64_t *places, int64_t *sizes, int64_t most);
void *mz_new(size_t size, size_t alignment, uintptr_t place);
void mz_delete(void *block, uintptr_t place);

/* spins.c */
void mz_note_read(struct thread *thread);
void mz_note_change(struct thread *thread, const struct step *step);
bool mz_is_out_of_rounds(struct thread *thread);
void mz_note_poll(struct thread *thread);
bool mz_spins_for_ever(struct thread *thread);
void mz_map_visits(void);

/* sections.c */
void mz_map_sections(void);
void mz_begin_sections(void);
bool mz_is_void(const struct thread *thread);
bool mz_breaks_section(const struct step *step);
bool mz_is_assumption(uintptr_t place);

/* hooks.c */
bool mz_is_hook(const void *function);
/* sections.c */
void __tsan_func_entry(void *caller);
void __tsan_func_exit(void);

/* unused.c */
bool mz_is_unused(uintptr_t place);

/* tell.c */
void mz_read_request(void);
int64_t mz_tell(int question);
void mz_forget_records(void);
void mz_map_records(void);

/* crashes.c */
void mz_fail(int failure, uintptr_t place, const char *message) __attribute__((noreturn));
void mz_settle_failures(void);
void mz_install_handlers(void);
void mz_remove_handlers(void);
void mz_set_limit(double seconds);

static inline bool mz_is_on_stack(const struct thread *thread, uintptr_t address) {
    return address - (uintptr_t)thread->stack < STACK_SIZE;
}

static inline bool mz_in_heap(uintptr_t address) { return address - HEAP < ALL_HEAPS; }

/* The program's memcpy and memset are functions of libc.c, which are seen. These are not. */
static inline void mz_copy(void *to, const void *from, size_t size) {
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(size) : : "memory");
}

static inline void mz_fill(void *to, int byte, size_t size) {
    __asm__ volatile("rep stosb" : "+D"(to), "+c"(size) : "a"(byte) : "memory");
}

/* What earlier calls have left below the stack pointer must not show in what is called now, where it
   would tell equal states of a loop apart: see spins.c. For functions that call others alone. */
#define CLEAN(blocks)                                                                             \
    __asm__ volatile("pxor %%xmm0, %%xmm0\n\t.set mz_clean, -16 * " #blocks "\n\t.rept " #blocks "\n\t" \
                     "movups %%xmm0, mz_clean(%%rsp)\n\t.set mz_clean, mz_clean + 16\n\t.endr"    \
                     : : : "xmm0", "memory")
static inline void mz_clean_below(void) { CLEAN(16); }
static inline void mz_clean_far_below(void) { CLEAN(32); }

/* The bytes of a small place as an integer. */
static inline uint64_t mz_get(uintptr_t address, int64_t size) {
    uint64_t value = 0;
    switch (size) {
        case 1: return *(volatile uint8_t *)address;
        case 2: return *(volatile uint16_t *)address;
        case 4: return *(volatile uint32_t *)address;
        case 8: return *(volatile uint64_t *)address;
        default: mz_copy(&value, (const void *)address, (size_t)size); return value;
    }
}

static inline void mz_put(uintptr_t address, int64_t size, uint64_t value) {
    switch (size) {
        case 1: *(volatile uint8_t *)address = (uint8_t)value; break;
        case 2: *(volatile uint16_t *)address = (uint16_t)value; break;
        case 4: *(volatile uint32_t *)address = (uint32_t)value; break;
        default: *(volatile uint64_t *)address = value;
    }
}

/* A system call that the program does not see. */
static inline long syscall_of(long number, long first, long second, long third) {
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "0"(number), "D"(first), "S"(second), "d"(third)
                     : "rcx", "r11", "memory");
    return result;
}

#endif

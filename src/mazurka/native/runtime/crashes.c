/* How threads fail: assertions, exits, signals. The thread ends there; the others go on, since its
   end could as well come late. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>
#include <ucontext.h>

#include "state.h"

extern int __sigaction(int, const struct sigaction *, struct sigaction *);  /* ours is the program's */

enum { HANDLER_STACK = 64 << 10 };
static const int SIGNALS[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGALRM};
enum { SIGNALS_KNOWN = sizeof SIGNALS / sizeof *SIGNALS };

static struct {
    struct sigaction before[SIGNALS_KNOWN];
    stack_t stack_before;
    void *stack;
} handlers STATE = {0};

/* The first failure of an execution is told. */
static void tell_failure(const struct thread *thread) {
    if (mz.first_failed != NOBODY) return;
    mz.first_failed = thread->number;
    size_t length = 0;
    while (thread->message[length] && length + 1 < sizeof mz.message) length++;
    mz_copy(mz.message, thread->message, length);
    mz.message[length] = 0;
}

static void note_failure(struct thread *thread, int failure, uintptr_t place, const char *message) {
    thread->failure = failure;
    if (thread->caller) place = thread->caller;
    thread->failed_at = place ? (int64_t)(place - mz_base()) : -1;
    thread->message = message;
    if (!mz_is_void(thread)) tell_failure(thread);
}

/* An atomic section has ended: failures of those that come after some of it count. */
void mz_settle_failures(void) {
    for (int64_t place = 0; place < mz.live_known; place++) {
        const struct thread *thread = mz.live[place];
        if (thread->failure && mz_is_void(thread)) tell_failure(thread);
    }
    mz_settle_race();
}

void mz_fail(int failure, uintptr_t place, const char *message) {
    struct thread *thread = mz.current;
    note_failure(thread, failure, place, message);
    mz_finish(thread);
}

static void after_signal(void) { mz_finish(mz.current); }

/* Leaves the thread where it is: it goes on at the top of its own stack, only to end. */
static void handle(int signal, siginfo_t *info, void *context) {
    struct thread *thread = mz.current;
    if (signal == SIGALRM) {
        bool is_same = mz.ticks == mz.ticks_seen;
        mz.ticks_seen = mz.ticks;
        if (!thread || !is_same) return;
    } else if (!thread) {  /* our own fault */
        __sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        return;
    }
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t fault = (uintptr_t)info->si_addr;
    bool is_overflow = signal == SIGSEGV && fault - (uintptr_t)thread->stack < 4096;
    note_failure(thread, signal == SIGALRM ? ENDLESS : is_overflow ? STACK_OVERFLOW : SIGNALLED,
                 (uintptr_t)registers[REG_RIP] + 1, "");
    thread->signal = signal;
    thread->fault = (int64_t)fault;
    thread->code = (int64_t)(thread->standing.place);
    registers[REG_RIP] = (greg_t)after_signal;
    registers[REG_RSP] = (greg_t)((char *)thread->stack_top - 8);
}

void mz_install_handlers(void) {
    handlers.stack = mz_map(NULL, HANDLER_STACK);
    stack_t stack = {.ss_sp = handlers.stack, .ss_size = HANDLER_STACK};
    sigaltstack(&stack, &handlers.stack_before);
    for (int place = 0; place < SIGNALS_KNOWN; place++) {
        struct sigaction action = {.sa_sigaction = handle};
        action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART;
        __sigaction(SIGNALS[place], &action, &handlers.before[place]);
    }
}

void mz_remove_handlers(void) {
    for (int place = 0; place < SIGNALS_KNOWN; place++)
        __sigaction(SIGNALS[place], &handlers.before[place], NULL);
    sigaltstack(&handlers.stack_before, NULL);
}

/* For Python: a thread that comes to no step for so long is taken to be in an endless loop. */
EXPORTED void mz_set_limit(double seconds) {
    struct itimerval timer = {0};
    timer.it_interval.tv_sec = timer.it_value.tv_sec = (time_t)seconds;
    timer.it_interval.tv_usec = timer.it_value.tv_usec =
        (suseconds_t)((seconds - (double)(time_t)seconds) * 1e6);
    setitimer(ITIMER_REAL, &timer, NULL);
}

/* What the program calls */

void __assert_fail(const char *text, const char *file, unsigned line, const char *function) {
    (void)file, (void)line, (void)function;
    if (!mz.current) _Exit(70);
    mz_fail(ASSERTION, PLACE, text);
}

void __assert(const char *text, const char *file, int line) {
    __assert_fail(text, file, (unsigned)line, "");
}

void abort(void) {
    if (!mz.current) _Exit(70);
    if (mz_is_assumption(PLACE)) mz_give_up();
    mz_fail(ABORTED, PLACE, "");
}

static void __attribute__((noreturn)) end_program(int code, uintptr_t place) {
    struct thread *thread = mz.current;
    mz.exited = 1;
    mz.exit_code = thread->exit_code = code & 0xff;
    if (thread->exit_code) mz_fail(EXITED, place, "");
    mz_finish(thread);
}

void exit(int code) {
    struct thread *thread = mz.current;
    if (!thread) _Exit(code);
    mz_run_exits();
    end_program(code, PLACE);
}

void _exit(int code) { end_program(code, PLACE); }
void _Exit(int code) { end_program(code, PLACE); }
void quick_exit(int code) { end_program(code, PLACE); }
void reach_error(void) { mz_fail(ERROR_CALLED, PLACE, "reach_error was called"); }
void __VERIFIER_error(void) { mz_fail(ERROR_CALLED, PLACE, "__VERIFIER_error was called"); }

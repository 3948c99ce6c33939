/* Signals that a program sends itself run its handler at once, in the thread that sends them. None
   comes from outside. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "state.h"

enum { MOST_SIGNALS = 65 };

static struct { struct sigaction actions[MOST_SIGNALS]; } signals;  /* put back with the program's */

static bool is_known(int number) { return number > 0 && number < MOST_SIGNALS; }

int sigaction(int number, const struct sigaction *new, struct sigaction *old) {
    if (!is_known(number)) {
        errno = EINVAL;
        return -1;
    }
    if (old) {
        mz_plain((uintptr_t)old, sizeof *old, true, PLACE);
        *old = signals.actions[number];
    }
    if (new) {
        mz_plain((uintptr_t)new, sizeof *new, false, PLACE);
        signals.actions[number] = *new;
        mz.current->changes++;
    }
    return 0;
}

void (*signal(int number, void (*handler)(int)))(int) {
    if (!is_known(number)) return SIG_ERR;
    void (*old)(int) = signals.actions[number].sa_handler;
    signals.actions[number] = (struct sigaction){.sa_handler = handler};
    mz.current->changes++;
    return old;
}

/* What signal is in strict X/Open mode: the handler is called once. */
void (*__sysv_signal(int number, void (*handler)(int)))(int) {
    void (*old)(int) = signal(number, handler);
    if (old != SIG_ERR) signals.actions[number].sa_flags = SA_RESETHAND;
    return old;
}

static bool is_ignored_by_default(int number) {
    return number == SIGCHLD || number == SIGURG || number == SIGWINCH || number == SIGCONT;
}

static int send_self(int number, uintptr_t place) {
    if (number == 0) return 0;
    if (mz.current->blocked >> (number - 1) & 1) {
        mz_refuse("a thread sends itself a signal that it blocks: this cannot be checked");
        mz_give_up();
    }
    struct sigaction action = signals.actions[number];
    if (action.sa_handler == SIG_IGN) return 0;
    if (action.sa_handler == SIG_DFL) {
        if (is_ignored_by_default(number)) return 0;
        mz.current->signal = number;
        mz_fail(number == SIGABRT ? ABORTED : SIGNALLED, place, "");
    }
    if (action.sa_flags & (int)SA_RESETHAND) signals.actions[number].sa_handler = SIG_DFL;
    siginfo_t about = {.si_signo = number};
    if (action.sa_flags & SA_SIGINFO) action.sa_sigaction(number, &about, NULL);
    else action.sa_handler(number);
    return 0;
}

int raise(int number) { return is_known(number) ? send_self(number, PLACE) : EINVAL; }

int pthread_kill(pthread_t handle, int number) {
    if (!is_known(number) && number) return EINVAL;
    if ((int64_t)handle - 1 == mz.current->number) return send_self(number, PLACE);
    mz_refuse("pthread_kill to another thread cannot be checked: signals come at any time");
    mz_give_up();
}

int kill(pid_t process, int number) {
    if (process == getpid() && is_known(number)) return send_self(number, PLACE);
    mz_refuse("kill of another process cannot be checked");
    mz_give_up();
}

/* Nothing comes from outside, so masks change nothing but signals to oneself. */
int pthread_sigmask(int how, const sigset_t *new, sigset_t *old) {
    uint64_t before = mz.current->blocked, given;
    if (old) {
        mz_plain((uintptr_t)old, sizeof *old, true, PLACE);
        sigemptyset(old);
        mz_copy(old, &before, sizeof before);
    }
    if (!new) return 0;
    mz_plain((uintptr_t)new, sizeof *new, false, PLACE);
    mz_copy(&given, new, sizeof given);
    mz.current->blocked = how == SIG_BLOCK     ? before | given
                          : how == SIG_UNBLOCK ? before & ~given
                                               : given;
    mz.current->changes++;
    return 0;
}
int sigprocmask(int how, const sigset_t *new, sigset_t *old) { return pthread_sigmask(how, new, old); }

/* What pthread_exit has to run: pthread_cleanup_push of C comes down to these. */
void __pthread_register_cancel(__pthread_unwind_buf_t *buffer) {
    buffer->__pad[0] = mz.current->cleanups;
    mz.current->cleanups = buffer;
}
void __pthread_unregister_cancel(__pthread_unwind_buf_t *buffer) {
    mz.current->cleanups = buffer->__pad[0];
}
void mz_exit_thread(void) {
    __pthread_unwind_buf_t *buffer = mz.current->cleanups;
    if (!buffer) mz_finish(mz.current);
    mz.current->cleanups = buffer->__pad[0];
    longjmp((struct __jmp_buf_tag *)(void *)buffer->__cancel_jmp_buf, 1);
}
void __pthread_unwind_next(__pthread_unwind_buf_t *buffer) {
    (void)buffer;
    mz_exit_thread();
    __builtin_unreachable();
}
int pthread_setcancelstate(int state, int *old) {
    (void)state;
    if (old) *old = PTHREAD_CANCEL_ENABLE;
    return 0;
}
int pthread_setcanceltype(int type, int *old) {
    (void)type;
    if (old) *old = PTHREAD_CANCEL_DEFERRED;
    return 0;
}
void pthread_testcancel(void) {}  /* nobody is cancelled: pthread_cancel is refused */

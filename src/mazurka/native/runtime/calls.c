/* Calls of an object's operations, as the program tells of them: mazurka.linearizable compares what
   they give with what a specification says. To tell is no step. */
#include <stdarg.h>
#include <stdio.h>

#include "state.h"

#define WEAK __attribute__((weak))

enum { MOST_CALLS = 1 << 12, MOST_TEXT = 104, NOT_OVER = -1 };

/* Read by Python: native/calls.py. */
struct call {
    int64_t thread, begin, end;  /* so many steps came before it, and before it was over */
    char operation[MOST_TEXT], result[MOST_TEXT];
};

static struct {
    int64_t known;
    struct call calls[MOST_CALLS];
} made STATE = {0};

EXPORTED int64_t mz_calls_known(void) { return made.known; }
EXPORTED struct call *mz_calls(void) { return made.calls; }

void mz_begin_calls(void) { made.known = 0; }

static struct call *latest_of(int64_t thread) {
    for (int64_t place = made.known - 1; place >= 0; place--)
        if (made.calls[place].thread == thread) return &made.calls[place];
    return NULL;
}

static void refuse(const char *why) {
    mz_refuse("%s", why);
    mz_give_up();
}

static void write(char *text, const char *format, va_list arguments) {
    int length = vsnprintf(text, MOST_TEXT, format, arguments);
    if (length < 0 || length >= MOST_TEXT) refuse("what mazurka_call or mazurka_return says is too long");
}

/* The running thread begins a call: mazurka_call("push(%d)", item). */
WEAK void mazurka_call(const char *format, ...) {
    int64_t thread = mz.current->number;
    struct call *before = latest_of(thread);
    if (before && before->end == NOT_OVER)
        refuse("mazurka_call within a call of the same thread: mazurka_return comes first");
    if (made.known == MOST_CALLS) refuse("an execution has more than 4096 calls of mazurka_call");
    struct call *call = &made.calls[made.known];
    *call = (struct call){.thread = thread, .begin = mz.position, .end = NOT_OVER};
    va_list arguments;
    va_start(arguments, format);
    write(call->operation, format, arguments);
    va_end(arguments);
    made.known++;
    mz.current->changes++;
}

/* It is over, and gives something: mazurka_return("%d", item), or mazurka_return("None"). */
WEAK void mazurka_return(const char *format, ...) {
    struct call *call = latest_of(mz.current->number);
    if (!call || call->end != NOT_OVER) refuse("mazurka_return without a mazurka_call before");
    va_list arguments;
    va_start(arguments, format);
    write(call->result, format, arguments);
    va_end(arguments);
    call->end = mz.position;
    mz.current->changes++;
}

/* What runs before main and after it: constructors, what atexit was told, and the destructors of
   thread-local objects. The loader does not call the constructors: compiling.py sees to that. So
   they run in each execution, in its first thread. */
#include <link.h>
#include <getopt.h>
#include <stdlib.h>

#include "state.h"

enum { BEGINNINGS = 0x60004D25, BEGINNINGS_SIZE = 0x60004D27, MOST_EXITS = 4096 };

struct ending {
    void (*function)(void *);
    void *argument;
    struct ending *next;
};

static struct { struct ending list[MOST_EXITS]; uint64_t known; } exits STATE = {0};

extern ElfW(Dyn) _DYNAMIC[] __attribute__((visibility("hidden")));
extern char **environ;  /* ours: environment.c */

void mz_run_beginnings(void) {
    void (**functions)(int, char **, char **) = NULL;
    size_t count = 0;
    exits.known = 0;
    optind = 0;  /* getopt begins anew */
    for (const ElfW(Dyn) *entry = _DYNAMIC; entry->d_tag != DT_NULL; entry++) {
        if (entry->d_tag == BEGINNINGS) functions = (void *)(mz_base() + entry->d_un.d_ptr);
        if (entry->d_tag == BEGINNINGS_SIZE) count = entry->d_un.d_val / sizeof *functions;
    }
    for (size_t place = 0; functions && place < count; place++)
        functions[place](mz.argument_count, mz.arguments, environ);
}

/* Who is told first is a matter of order between threads. */
int __cxa_atexit(void (*function)(void *), void *argument, void *object) {
    (void)object;
    uint64_t number = mz_step(FETCH_ADD, (uintptr_t)&exits.known, 8, 1, 0, FORM_ADD, PLACE);
    if (number >= MOST_EXITS) return -1;
    exits.list[number] = (struct ending){function, argument, NULL};
    return 0;
}

int atexit(void (*function)(void)) {
    return __cxa_atexit((void (*)(void *))(void *)function, NULL, NULL);
}

int on_exit(void (*function)(int, void *), void *argument) {
    (void)function, (void)argument;
    mz_refuse("on_exit cannot be checked: use atexit");
    mz_give_up();
}

/* The latest comes first; one that calls exit again is not called again. */
void mz_run_exits(void) {
    mz_run_thread_endings(mz.current);
    while (exits.known) {
        struct ending *last = &exits.list[--exits.known];
        last->function(last->argument);
    }
}

int __cxa_thread_atexit_impl(void (*function)(void *), void *argument, void *object) {
    (void)object;
    struct ending *ending = malloc(sizeof *ending);
    if (!ending) return -1;
    *ending = (struct ending){function, argument, mz.current->endings};
    mz.current->endings = ending;
    return 0;
}

void mz_run_thread_endings(struct thread *thread) {
    while (thread->endings) {
        struct ending *ending = thread->endings;
        thread->endings = ending->next;
        ending->function(ending->argument);
        free(ending);
    }
}

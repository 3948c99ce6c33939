/* Regular expressions are those of the C library, whose functions Python has looked up: here are these
   names. What they are made of lies in the C library's heap, and is freed before the next execution. */
#define _GNU_SOURCE
#include <regex.h>
#include <string.h>

#include "files.h"

enum { MOST_EXPRESSIONS = 256 };

static struct {
    int (*compile)(regex_t *, const char *, int);
    int (*execute)(const regex_t *, const char *, size_t, regmatch_t *, int);
    void (*release)(regex_t *);
    regex_t made[MOST_EXPRESSIONS];
    int known;
} expressions STATE = {0};

EXPORTED void mz_know_expressions(void *compile, void *execute, void *release) {
    expressions.compile = compile;
    expressions.execute = execute;
    expressions.release = release;
}

void mz_begin_expressions(void) {
    while (expressions.known) expressions.release(&expressions.made[--expressions.known]);
}

/* Which one it is; it may have been copied. The execution ends if there is none. */
static int number_of(const regex_t *expression, uintptr_t place) {
    mz_touch((uintptr_t)expression, sizeof *expression, place);
    mz_plain((uintptr_t)expression, sizeof *expression, false, place);
    for (int number = 0; number < expressions.known; number++)
        if (expressions.made[number].buffer == expression->buffer) return number;
    mz_fail(UNINITIALISED, place, "a regular expression");
}

int regcomp(regex_t *to, const char *text, int flags) {
    mz_touch((uintptr_t)to, sizeof *to, PLACE);
    mz_read_text(text, PLACE);
    if (expressions.known == MOST_EXPRESSIONS) {
        mz_refuse("the program has more than %d regular expressions", MOST_EXPRESSIONS);
        mz_give_up();
    }
    regex_t made;
    int failure = expressions.compile(&made, text, flags);
    mz_plain((uintptr_t)to, sizeof *to, true, PLACE);
    mz_copy(to, &made, sizeof made);
    if (!failure) expressions.made[expressions.known++] = made;
    return failure;
}

int regexec(const regex_t *expression, const char *text, size_t count, regmatch_t *found, int flags) {
    int number = number_of(expression, PLACE);
    if (flags & REG_STARTEND) {
        mz_plain((uintptr_t)found, sizeof *found, false, PLACE);
        mz_plain((uintptr_t)text + (uintptr_t)found->rm_so, (size_t)(found->rm_eo - found->rm_so), false, PLACE);
    } else {
        mz_read_text(text, PLACE);
    }
    size_t most = expressions.made[number].re_nsub + 1, known = count < most ? count : most;
    regmatch_t matched[known + 1];
    if (flags & REG_STARTEND) matched[0] = *found;
    int failure = expressions.execute(&expressions.made[number], text, known, matched, flags);
    if (failure || expression->no_sub || !count) return failure;
    mz_plain((uintptr_t)found, count * sizeof *found, true, PLACE);
    mz_copy(found, matched, known * sizeof *found);
    mz_fill(found + known, 0xff, (count - known) * sizeof *found);
    return 0;
}

void regfree(regex_t *expression) {
    int number = number_of(expression, PLACE);
    mz_plain((uintptr_t)expression, sizeof *expression, true, PLACE);
    expressions.release(&expressions.made[number]);
    expressions.made[number] = expressions.made[--expressions.known];
    expression->buffer = NULL;
}

/* More functions of the C library on texts and numbers, compiled as programs are: see libc.c. */
#define _GNU_SOURCE
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <wchar.h>

#include "files.h"

#define UNSEEN __attribute__((no_sanitize("thread")))
#define CALLED                                                                              \
    __attribute__((cleanup(leave_call))) void *noted_caller = mz_enter(PLACE);              \
    (void)noted_caller

void *mz_enter(uintptr_t caller);
void mz_leave(void *noted);
UNSEEN static void leave_call(void **noted) { mz_leave(*noted); }

char *stpcpy(char *to, const char *from) {
    CALLED;
    while ((*to = *from++)) to++;
    return to;
}

void *mempcpy(void *to, const void *from, size_t size) { return (char *)memcpy(to, from, size) + size; }
void bcopy(const void *from, void *to, size_t size) { memmove(to, from, size); }
char *index(const char *text, int wanted) { return strchr(text, wanted); }
char *rindex(const char *text, int wanted) { return strrchr(text, wanted); }

void *memrchr(const void *in, int byte, size_t size) {
    CALLED;
    for (const unsigned char *from = in; size--;)
        if (from[size] == (unsigned char)byte) return (void *)(from + size);
    return NULL;
}

void *memmem(const void *in, size_t size, const void *wanted, size_t length) {
    CALLED;
    for (const char *at = in; size >= length; at++, size--)
        if (!memcmp(at, wanted, length)) return (void *)at;
    return NULL;
}

char *strchrnul(const char *text, int wanted) {
    CALLED;
    while (*text && *text != (char)wanted) text++;
    return (char *)text;
}

static int lower(int one) { return one >= 'A' && one <= 'Z' ? one + 32 : one; }

int strncasecmp(const char *one, const char *other, size_t size) {
    CALLED;
    for (; size; size--, one++, other++) {
        int left = lower((unsigned char)*one), right = lower((unsigned char)*other);
        if (left != right || !left) return left - right;
    }
    return 0;
}

int strcasecmp(const char *one, const char *other) { return strncasecmp(one, other, SIZE_MAX); }
int strcoll(const char *one, const char *other) { return strcmp(one, other); }

char *strstr(const char *text, const char *wanted) {
    CALLED;
    size_t length = strlen(wanted);
    for (;; text++) {
        if (!strncmp(text, wanted, length)) return (char *)text;
        if (!*text) return NULL;
    }
}

static size_t span(const char *text, const char *set, int wanted) {
    size_t length = 0;
    while (text[length] && (strchr(set, text[length]) != NULL) == wanted) length++;
    return length;
}

size_t strspn(const char *text, const char *set) { CALLED; return span(text, set, 1); }
size_t strcspn(const char *text, const char *set) { CALLED; return span(text, set, 0); }

char *strpbrk(const char *text, const char *set) {
    CALLED;
    text += span(text, set, 0);
    return *text ? (char *)text : NULL;
}

char *strtok_r(char *text, const char *set, char **rest) {
    CALLED;
    if (!text) text = *rest;
    if (!text) return NULL;
    text += span(text, set, 1);
    if (!*text) {
        *rest = NULL;
        return NULL;
    }
    char *end = text + span(text, set, 0);
    *rest = *end ? end + 1 : NULL;
    *end = 0;
    return text;
}
char *__strtok_r(char *text, const char *set, char **rest) { return strtok_r(text, set, rest); }

char *strtok(char *text, const char *set) {
    static char *rest;  /* which threads share, as they do in the C library */
    CALLED;
    return strtok_r(text, set, &rest);
}

char *strsep(char **text, const char *set) {
    CALLED;
    char *begin = *text;
    if (!begin) return NULL;
    char *end = begin + span(begin, set, 0);
    *text = *end ? end + 1 : NULL;
    if (*end) *end = 0;
    return begin;
}

char *strndup(const char *text, size_t most) {
    CALLED;
    size_t length = strnlen(text, most);
    char *copy = malloc(length + 1);
    if (!copy) return NULL;
    memcpy(copy, text, length);
    copy[length] = 0;
    return copy;
}

/* Numbers in texts: the C library finds them, in what was read before. */

extern long __strtol_internal(const char *, char **, int, int);
extern unsigned long __strtoul_internal(const char *, char **, int, int);
extern double __strtod_internal(const char *, char **, int);
extern float __strtof_internal(const char *, char **, int);
extern long double __strtold_internal(const char *, char **, int);

/* What a number may be made of is read, and one character more. */
UNSEEN static void read_number(const char *text, uintptr_t place) {
    for (;; text++) {
        mz_plain((uintptr_t)text, 1, false, place);
        char one = *(volatile const char *)text;
        int is_part = (one >= '0' && one <= '9') || (one >= 'a' && one <= 'z')
                      || (one >= 'A' && one <= 'Z') || one == '.' || one == '+' || one == '-'
                      || one == ' ' || (one >= '\t' && one <= '\r');
        if (!one || !is_part) return;
    }
}

#define NUMBER(type, name, internal, ...)                                        \
    UNSEEN type name {                                                           \
        char *end_found;                                                         \
        read_number(text, PLACE);                                                \
        type value = internal(text, &end_found, ##__VA_ARGS__);                  \
        if (end) {                                                               \
            mz_plain((uintptr_t)end, sizeof *end, true, PLACE);                  \
            *end = end_found;                                                    \
        }                                                                        \
        return value;                                                            \
    }
NUMBER(long, strtol(const char *text, char **end, int base), __strtol_internal, base, 0)
NUMBER(long long, strtoll(const char *text, char **end, int base), __strtol_internal, base, 0)
NUMBER(intmax_t, strtoimax(const char *text, char **end, int base), __strtol_internal, base, 0)
NUMBER(unsigned long, strtoul(const char *text, char **end, int base), __strtoul_internal, base, 0)
NUMBER(unsigned long long, strtoull(const char *text, char **end, int base), __strtoul_internal, base, 0)
NUMBER(uintmax_t, strtoumax(const char *text, char **end, int base), __strtoul_internal, base, 0)
NUMBER(double, strtod(const char *text, char **end), __strtod_internal, 0)
NUMBER(float, strtof(const char *text, char **end), __strtof_internal, 0)
NUMBER(long double, strtold(const char *text, char **end), __strtold_internal, 0)

long atol(const char *text) { CALLED; return strtol(text, NULL, 10); }
long long atoll(const char *text) { CALLED; return strtoll(text, NULL, 10); }
double atof(const char *text) { CALLED; return strtod(text, NULL); }

void *bsearch(const void *key, const void *items, size_t count, size_t size,
              int (*compare)(const void *, const void *)) {
    CALLED;
    for (const char *begin = items; count;) {
        const char *middle = begin + count / 2 * size;
        int order = compare(key, middle);
        if (!order) return (void *)middle;
        if (order > 0) {
            begin = middle + size;
            count -= count / 2 + 1;
        } else {
            count /= 2;
        }
    }
    return NULL;
}

/* More random numbers: each thread has its own, see rand. */
UNSEEN int rand_r(unsigned *seed) {
    mz_plain((uintptr_t)seed, sizeof *seed, false, PLACE);
    unsigned next = *seed * 1103515245u + 12345u;
    mz_plain((uintptr_t)seed, sizeof *seed, true, PLACE);
    *seed = next;
    return (int)(next >> 1);
}
double drand48(void) { return rand() / ((double)INT_MAX + 1); }
long lrand48(void) { return rand(); }
void srand48(long seed) { srand((unsigned)seed); }

/* Printing into memory that is made for it. */
int vasprintf(char **to, const char *format, va_list arguments) {
    CALLED;
    va_list copy;
    va_copy(copy, arguments);
    int length = __vsnprintf(NULL, 0, format, copy);
    va_end(copy);
    char *text = malloc((size_t)length + 1);
    if (!text) return -1;
    *to = text;
    return vsprintf(text, format, arguments);
}

int asprintf(char **to, const char *format, ...) {
    CALLED;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(to, format, arguments);
    va_end(arguments);
    return length;
}

/* The environment is what it was when the check began. */
extern char **environ;

char *getenv(const char *name) {
    CALLED;
    size_t length = strlen(name);
    for (char **entry = environ; entry && *entry; entry++)
        if (!strncmp(*entry, name, length) && (*entry)[length] == '=') return *entry + length + 1;
    return NULL;
}
char *secure_getenv(const char *name) { return getenv(name); }

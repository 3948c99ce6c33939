/* More functions of the C library on texts and numbers, compiled as programs are: see libc.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/types.h>

#include "seen.h"

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

static char *where_strtok_is;  /* which threads share, as they do in the C library */

char *strtok(char *text, const char *set) {
    CALLED;
    return strtok_r(text, set, &where_strtok_is);
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

void *rawmemchr(const void *in, int byte) {
    CALLED;
    const unsigned char *at = in;
    while (*at != (unsigned char)byte) at++;
    return (void *)at;
}

void *memccpy(void *to, const void *from, int last, size_t size) {
    CALLED;
    char *left = to;
    for (const char *right = from; size--; right++)
        if ((*left++ = *right) == (char)last) return left;
    return NULL;
}

char *stpncpy(char *to, const char *from, size_t size) {
    CALLED;
    return strncpy(to, from, size) + strnlen(to, size);
}

char *strcasestr(const char *text, const char *wanted) {
    CALLED;
    size_t length = strlen(wanted);
    for (;; text++) {
        if (!strncasecmp(text, wanted, length)) return (char *)text;
        if (!*text) return NULL;
    }
}

size_t strxfrm(char *to, const char *from, size_t size) {
    CALLED;
    size_t length = strlen(from);
    if (size) strncpy(to, from, size);
    return length;
}

int bcmp(const void *one, const void *other, size_t size) { return memcmp(one, other, size); }
int __memcmpeq(const void *one, const void *other, size_t size) { return memcmp(one, other, size); }
void explicit_bzero(void *to, size_t size) { memset(to, 0, size); }
void *__mempcpy(void *to, const void *from, size_t size) { return mempcpy(to, from, size); }
char *__stpcpy(char *to, const char *from) { return stpcpy(to, from); }

void swab(const void *from, void *to, ssize_t size) {
    CALLED;
    for (ssize_t place = 1; place < size; place += 2) {
        char even = ((const char *)from)[place - 1];
        ((char *)to)[place - 1] = ((const char *)from)[place];
        ((char *)to)[place] = even;
    }
}

/* Paths. What string.h calls basename, and what libgen.h does. */
char *basename(const char *path) {
    CALLED;
    const char *last = strrchr(path, '/');
    return (char *)(last ? last + 1 : path);
}

/* Where a path ends, without the slashes that it ends with. */
static char *trimmed(char *path, char *end) {
    while (end > path + 1 && end[-1] == '/') end--;
    return end;
}

char *__xpg_basename(char *path) {
    CALLED;
    if (!path || !*path) return ".";
    char *end = trimmed(path, path + strlen(path)), *begin = end;
    if (*end) *end = 0;
    if (end == path + 1 && *path == '/') return path;
    while (begin > path && begin[-1] != '/') begin--;
    return begin;
}

char *dirname(char *path) {
    CALLED;
    if (!path || !*path) return ".";
    char *end = trimmed(path, path + strlen(path));
    while (end > path && end[-1] != '/') end--;
    if (end == path) return ".";
    *trimmed(path, end) = 0;
    return path;
}

/* Errors in words: these are constant, but what the number is put into may not be. */
char *strerror_r(int error, char *to, size_t size) {
    CALLED;
    (void)to, (void)size;
    return strerror(error);
}
int __xpg_strerror_r(int error, char *to, size_t size) {
    CALLED;
    const char *text = strerror(error);
    if (strlen(text) >= size) return ERANGE;
    strcpy(to, text);
    return 0;
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
int getentropy(void *to, size_t size) {
    CALLED;
    for (char *at = to; size--; at++) *at = (char)(rand() >> 8);
    return 0;
}
ssize_t getrandom(void *to, size_t size, unsigned flags) {
    CALLED;
    (void)flags;
    getentropy(to, size);
    return (ssize_t)size;
}
void arc4random_buf(void *to, size_t size) { getentropy(to, size); }
uint32_t arc4random(void) { return (uint32_t)rand() << 1 ^ (uint32_t)rand(); }
uint32_t arc4random_uniform(uint32_t bound) { return bound ? arc4random() % bound : 0; }
long mrand48(void) { return (int)arc4random(); }
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

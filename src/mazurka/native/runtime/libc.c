/* Functions of the C library that access what they are handed. They are compiled as the program is,
   so that each access is seen; a step of theirs is told at the line that calls them. */
#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "files.h"

/* Notes the caller while such a function runs. */
#define CALLED                                                                       \
    __attribute__((cleanup(leave))) uintptr_t *noted_caller = enter(PLACE);          \
    (void)noted_caller

__attribute__((no_sanitize("thread"))) static uintptr_t *enter(uintptr_t caller) {
    if (!mz.current || mz.current->caller) return NULL;
    mz.current->caller = caller;
    return &mz.current->caller;
}

__attribute__((no_sanitize("thread"))) static void leave(uintptr_t **noted) {
    if (*noted) **noted = 0;
}

/* For C++. */
__attribute__((no_sanitize("thread"))) void *mz_enter(uintptr_t caller) { return enter(caller); }
__attribute__((no_sanitize("thread"))) void mz_leave(uintptr_t *noted) { leave(&noted); }

void *memcpy(void *to, const void *from, size_t size) {
    CALLED;
    for (size_t place = 0; place < size; place++) ((char *)to)[place] = ((const char *)from)[place];
    return to;
}

void *memmove(void *to, const void *from, size_t size) {
    CALLED;
    char *left = to;
    const char *right = from;
    if (left <= right) return memcpy(to, from, size);
    while (size--) left[size] = right[size];
    return to;
}

void *memset(void *to, int byte, size_t size) {
    CALLED;
    for (size_t place = 0; place < size; place++) ((char *)to)[place] = (char)byte;
    return to;
}

int memcmp(const void *one, const void *other, size_t size) {
    CALLED;
    const unsigned char *left = one, *right = other;
    for (; size; size--, left++, right++)
        if (*left != *right) return *left - *right;
    return 0;
}

void *memchr(const void *in, int byte, size_t size) {
    CALLED;
    for (const unsigned char *at = in; size; size--, at++)
        if (*at == (unsigned char)byte) return (void *)at;
    return NULL;
}

void bzero(void *to, size_t size) { memset(to, 0, size); }

size_t strlen(const char *text) {
    CALLED;
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

size_t strnlen(const char *text, size_t most) {
    CALLED;
    size_t length = 0;
    while (length < most && text[length]) length++;
    return length;
}

char *strcpy(char *to, const char *from) {
    CALLED;
    for (char *at = to; (*at = *from); at++) from++;
    return to;
}

char *strncpy(char *to, const char *from, size_t size) {
    CALLED;
    size_t place = 0;
    while (place < size && (to[place] = from[place])) place++;
    while (place < size) to[place++] = 0;
    return to;
}

char *strcat(char *to, const char *from) {
    CALLED;
    strcpy(to + strlen(to), from);
    return to;
}

char *strncat(char *to, const char *from, size_t size) {
    CALLED;
    char *at = to + strlen(to);
    while (size-- && *from) *at++ = *from++;
    *at = 0;
    return to;
}

int strcmp(const char *one, const char *other) {
    CALLED;
    for (;; one++, other++) {
        unsigned char left = (unsigned char)*one, right = (unsigned char)*other;
        if (left != right || !left) return left - right;
    }
}

int strncmp(const char *one, const char *other, size_t size) {
    CALLED;
    for (; size; size--, one++, other++) {
        unsigned char left = (unsigned char)*one, right = (unsigned char)*other;
        if (left != right || !left) return left - right;
    }
    return 0;
}

char *strchr(const char *text, int wanted) {
    CALLED;
    for (;; text++) {
        char found = *text;
        if (found == (char)wanted) return (char *)text;
        if (!found) return NULL;
    }
}

char *strrchr(const char *text, int wanted) {
    CALLED;
    char *latest = NULL;
    for (;; text++) {
        char found = *text;
        if (found == (char)wanted) latest = (char *)text;
        if (!found) return latest;
    }
}

char *strdup(const char *text) {
    CALLED;
    char *copy = malloc(strlen(text) + 1);
    return copy ? strcpy(copy, text) : NULL;
}

int atoi(const char *text) {
    CALLED;
    int value = 0, sign = 1;
    while (*text == ' ' || (*text >= '\t' && *text <= '\r')) text++;
    if (*text == '-' || *text == '+') sign = *text++ == '-' ? -1 : 1;
    for (; *text >= '0' && *text <= '9'; text++) value = value * 10 + (*text - '0');
    return sign * value;
}

/* A heap sort: in place, and the same whatever the items are. */
static void swap(char *one, char *other, size_t size) {
    for (size_t place = 0; place < size; place++) {
        char byte = one[place];
        one[place] = other[place];
        other[place] = byte;
    }
}

/* How qsort and qsort_r compare. */
struct order {
    int (*compare)(const void *, const void *);
    int (*compare_with)(const void *, const void *, void *);
    void *with;
};

static int compared(const struct order *order, const void *one, const void *other) {
    return order->compare ? order->compare(one, other) : order->compare_with(one, other, order->with);
}

static void sift(char *items, size_t place, size_t count, size_t size, const struct order *order) {
    for (size_t child; (child = 2 * place + 1) < count; place = child) {
        if (child + 1 < count && compared(order, items + child * size, items + (child + 1) * size) < 0)
            child++;
        if (compared(order, items + place * size, items + child * size) >= 0) return;
        swap(items + place * size, items + child * size, size);
    }
}

static void sort(void *items, size_t count, size_t size, const struct order *order) {
    for (size_t place = count / 2; place-- > 0;) sift(items, place, count, size, order);
    for (size_t left = count; left-- > 1;) {
        swap(items, (char *)items + left * size, size);
        sift(items, 0, left, size, order);
    }
}

void qsort(void *items, size_t count, size_t size, int (*compare)(const void *, const void *)) {
    struct order order = {.compare = compare};
    sort(items, count, size, &order);
}

void qsort_r(void *items, size_t count, size_t size,
             int (*compare)(const void *, const void *, void *), void *with) {
    struct order order = {.compare_with = compare, .with = with};
    sort(items, count, size, &order);
}

/* Random numbers: each thread has its own, the same in every execution. */

__attribute__((no_sanitize("thread"))) int rand(void) {
    uint64_t *state = &mz.current->random;
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    mz.current->changes++;
    return (int)(*state >> 33);
}

__attribute__((no_sanitize("thread"))) void srand(unsigned seed) {
    mz.current->random = seed;
    mz.current->changes++;
}
long random(void) { return rand(); }
void srandom(unsigned seed) { srand(seed); }

/* Printing: what is printed is kept. Texts that are handed over are read as others see it. */

static void read_texts(const char *format, va_list arguments) {
    for (; *format; format++) {
        if (*format != '%') continue;
        int longs = 0;
        size_t most = SIZE_MAX;  /* how much of a text is printed */
        for (format++; *format && strchr("-+ #0123456789.*lhzjtL", *format); format++) {
            int width = *format == '*' ? va_arg(arguments, int) : 0;
            if (*format == '*' && format[-1] == '.' && width >= 0) most = (size_t)width;
            if (*format == '.' && format[1] != '*')
                for (most = 0; format[1] >= '0' && format[1] <= '9'; format++)
                    most = most * 10 + (size_t)(format[1] - '0');
            longs += *format == 'l' || *format == 'z' || *format == 'j' || *format == 't';
            if (*format == 'L') longs = 9;
        }
        switch (*format) {
            case 0: return;
            case '%': case 'm': break;
            case 's': {
                const char *text = va_arg(arguments, const char *);
                volatile size_t length = text ? strnlen(text, most) : 0;
                (void)length;
                break;
            }
            case 'p':
                if (va_arg(arguments, void *)) mz.printed_address = (int64_t)(mz.current->caller - mz_base());
                break;
            case 'f': case 'F': case 'e': case 'E': case 'g': case 'G': case 'a': case 'A':
                if (longs == 9) (void)va_arg(arguments, long double);
                else (void)va_arg(arguments, double);
                break;
            case 'd': case 'i': case 'u': case 'x': case 'X': case 'o': case 'c':
                if (longs) (void)va_arg(arguments, long);
                else (void)va_arg(arguments, int);
                break;
            default:
                mz_refuse("printf with %%%c cannot be checked yet", *format);
                mz_give_up();
        }
    }
}

enum { LINE = 4096, MOST_OUTPUT = 1 << 16 };

__attribute__((no_sanitize("thread"))) void mz_keep_output(const char *text, size_t size) {
    size_t left = MOST_OUTPUT - (size_t)mz.output_size;
    if (size > left) size = left;
    mz_copy(mz.output + mz.output_size, text, size);
    mz.output_size += (int64_t)size;
    mz.current->changes++;
}

/* A text that the runtime looks at itself; gives its length. */
__attribute__((no_sanitize("thread"))) size_t mz_read_text(const char *text, uintptr_t place) {
    size_t length = 0;
    do mz_plain((uintptr_t)(text + length), 1, false, place);
    while (((volatile const char *)text)[length++]);
    return length - 1;
}

extern void *__libc_malloc(size_t);
extern void __libc_free(void *);

/* To a stream, or to a descriptor. */
__attribute__((no_sanitize("thread"))) static int print_to(FILE *file, int number, const char *format,
                                                           va_list arguments) {
    char line[LINE], *text = line;
    va_list copy;
    va_copy(copy, arguments);
    read_texts(format, copy);
    va_end(copy);
    va_copy(copy, arguments);
    int size = __vsnprintf(line, sizeof line, format, arguments);
    if (size >= LINE) {
        text = __libc_malloc((size_t)size + 1);
        __vsnprintf(text, (size_t)size + 1, format, copy);
    }
    va_end(copy);
    if (size > 0 && file) mz_put_text(file, text, (size_t)size, PLACE);
    if (size > 0 && !file && mz_write_file(number, text, (size_t)size, false, PLACE) < 0) size = -1;
    if (text != line) __libc_free(text);
    return size;
}

static int print(FILE *file, const char *format, va_list arguments) {
    return print_to(file, 0, format, arguments);
}

#define PRINTED(file)                        \
    CALLED;                                  \
    va_list arguments;                       \
    va_start(arguments, format);             \
    int size = print(file, format, arguments); \
    va_end(arguments);                       \
    return size

int printf(const char *format, ...) { PRINTED(stdout); }
int fprintf(FILE *file, const char *format, ...) { PRINTED(file); }
int vprintf(const char *format, va_list arguments) {
    CALLED;
    return print(stdout, format, arguments);
}
int vfprintf(FILE *file, const char *format, va_list arguments) {
    CALLED;
    return print(file, format, arguments);
}
int vdprintf(int number, const char *format, va_list arguments) {
    CALLED;
    return print_to(NULL, number, format, arguments);
}
int dprintf(int number, const char *format, ...) {
    CALLED;
    va_list arguments;
    va_start(arguments, format);
    int size = print_to(NULL, number, format, arguments);
    va_end(arguments);
    return size;
}
void perror(const char *text) { fprintf(stderr, "%s: %s\n", text, strerror(errno)); }

static int print_into(char *to, size_t size, const char *format, va_list arguments) {
    char line[LINE];
    va_list copy;
    va_copy(copy, arguments);
    read_texts(format, copy);
    va_end(copy);
    int length = __vsnprintf(line, sizeof line, format, arguments);
    if (length >= LINE) {
        mz_refuse("sprintf of more than %d characters cannot be checked yet", LINE);
        mz_give_up();
    }
    if (length < 0 || !size) return length;
    size_t copied = (size_t)length < size ? (size_t)length : size - 1;
    memcpy(to, line, copied);
    to[copied] = 0;
    return length;
}

int vsprintf(char *to, const char *format, va_list arguments) {
    CALLED;
    return print_into(to, SIZE_MAX, format, arguments);
}
int sprintf(char *to, const char *format, ...) {
    CALLED;
    va_list arguments;
    va_start(arguments, format);
    int length = print_into(to, SIZE_MAX, format, arguments);
    va_end(arguments);
    return length;
}
int vsnprintf(char *to, size_t size, const char *format, va_list arguments) {
    CALLED;
    return print_into(to, size, format, arguments);
}
int snprintf(char *to, size_t size, const char *format, ...) {
    CALLED;
    va_list arguments;
    va_start(arguments, format);
    int length = print_into(to, size, format, arguments);
    va_end(arguments);
    return length;
}

/* Warnings, and ends with a message: err.h. */
static void warn_of(const char *format, va_list arguments, const char *error) {
    fputs("program: ", stderr);
    if (format) print(stderr, format, arguments);
    if (error) fprintf(stderr, "%s%s", format ? ": " : "", error);
    fputs("\n", stderr);
}

#define WARNING(name, parameters, error, then)  \
    void v##name(parameters const char *format, va_list arguments) { \
        CALLED;                                 \
        warn_of(format, arguments, error);      \
        then;                                   \
    }                                           \
    void name(parameters const char *format, ...) { \
        CALLED;                                 \
        va_list arguments;                      \
        va_start(arguments, format);            \
        warn_of(format, arguments, error);      \
        va_end(arguments);                      \
        then;                                   \
    }
#define WITH_CODE int code,
#define NO_CODE
WARNING(warn, NO_CODE, strerror(errno), (void)0)
WARNING(warnx, NO_CODE, NULL, (void)0)
WARNING(err, WITH_CODE, strerror(errno), exit(code))
WARNING(errx, WITH_CODE, NULL, exit(code))

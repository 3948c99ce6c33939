/* Patterns of file names, in the locale of C: fnmatch. Compiled as programs are: see libc.c. */
#define _GNU_SOURCE
#include <ctype.h>
#include <fnmatch.h>
#include <string.h>

#include "seen.h"

enum { MOST_NAME = 16 };

static int folded(int one, int flags) { return flags & FNM_CASEFOLD ? tolower(one) : one; }

static int is_of_class(const char *name, size_t length, int one) {
    static const struct { const char *name; int (*is)(int); } CLASSES[] = {
        {"alpha", isalpha}, {"digit", isdigit}, {"alnum", isalnum}, {"upper", isupper},
        {"lower", islower}, {"space", isspace}, {"blank", isblank}, {"punct", ispunct},
        {"print", isprint}, {"graph", isgraph}, {"cntrl", iscntrl}, {"xdigit", isxdigit},
    };
    for (size_t place = 0; place < sizeof CLASSES / sizeof *CLASSES; place++)
        if (strlen(CLASSES[place].name) == length && !strncmp(CLASSES[place].name, name, length))
            return CLASSES[place].is(one) != 0;
    return 0;
}

/* The end of a name such as [:alpha:], whose begin is given; or NULL. */
static const char *end_of_name(const char *at) {
    for (const char *end = at + 2; *end && end - at < MOST_NAME; end++)
        if (end[0] == at[1] && end[1] == ']') return end;
    return NULL;
}

/* One character of a set: gives what comes behind it, or NULL if the set has no end. */
static const char *member(const char *at, int flags, unsigned char *one) {
    if (*at == '\\' && !(flags & FNM_NOESCAPE)) at++;
    if (*at == '[' && (at[1] == '.' || at[1] == '=') && at[2] && at[3] == at[1] && at[4] == ']') {
        *one = (unsigned char)at[2];
        return at + 5;
    }
    *one = (unsigned char)*at;
    return *at ? at + 1 : NULL;
}

/* Whether a character is of the set behind a bracket. Gives what comes behind the set, or NULL if it has
   no end. */
static const char *set_at(const char *at, char wanted, int flags, int *is_in) {
    int is_negated = *at == '!' || *at == '^', found = 0;
    unsigned char one, first, last;
    one = (unsigned char)wanted;
    if (is_negated) at++;
    const char *begin = at;
    while (at == begin || *at != ']') {
        if (!*at || (*at == '/' && flags & FNM_PATHNAME)) return NULL;
        const char *end = *at == '[' && at[1] == ':' ? end_of_name(at) : NULL;
        if (end) {
            found |= is_of_class(at + 2, (size_t)(end - at - 2), one);
            at = end + 2;
            continue;
        }
        if (!(at = member(at, flags, &first))) return NULL;
        last = first;
        if (*at == '-' && at[1] && at[1] != ']' && !(at = member(at + 1, flags, &last))) return NULL;
        int wanted_here = folded(one, flags);
        found |= first == last ? wanted_here == folded(first, flags)
                               : folded(first, flags) <= wanted_here && wanted_here <= folded(last, flags);
    }
    *is_in = found != is_negated;
    return at + 1;
}

/* Whether a text begins with a period that only a period in the pattern matches. */
static int has_period(const char *text, const char *begin, int flags) {
    return *text == '.' && flags & FNM_PERIOD
           && (text == begin || (flags & FNM_PATHNAME && text[-1] == '/'));
}

static int matches(const char *pattern, const char *text, const char *begin, int flags);

static int matches_many(const char *pattern, const char *text, const char *begin, int flags) {
    if (has_period(text, begin, flags)) return 0;
    for (;; text++) {
        if (matches(pattern, text, begin, flags)) return 1;
        if (!*text || (*text == '/' && flags & FNM_PATHNAME)) return 0;
    }
}

static int is_any(char one) { return one && one != '/'; }

/* One character of the text, by what is not a star. Gives the rest of the pattern, or NULL. */
static const char *matched(const char *pattern, const char *text, const char *begin, int flags) {
    int is_in;
    if (*pattern == '?' || *pattern == '[') {
        int is_free = *text && !has_period(text, begin, flags);
        if (!(is_free && (is_any(*text) || !(flags & FNM_PATHNAME)))) is_free = 0;
        if (*pattern == '?') return is_free ? pattern + 1 : NULL;
        const char *rest = set_at(pattern + 1, *text, flags, &is_in);
        if (rest) return is_free && is_in ? rest : NULL;
    }
    if (*pattern == '\\' && !(flags & FNM_NOESCAPE)) pattern++;
    if (!*pattern || !*text) return NULL;
    return folded((unsigned char)*pattern, flags) == folded((unsigned char)*text, flags) ? pattern + 1 : NULL;
}

static int matches(const char *pattern, const char *text, const char *begin, int flags) {
    while (*pattern) {
        if (*pattern == '*') {
            while (*pattern == '*') pattern++;
            return matches_many(pattern, text, begin, flags);
        }
        if (!(pattern = matched(pattern, text, begin, flags))) return 0;
        text++;
    }
    return !*text || (flags & FNM_LEADING_DIR && *text == '/');
}

UNSEEN static void refuse_extended(void) {
    mz_refuse("fnmatch with FNM_EXTMATCH cannot be checked");
    mz_give_up();
}

int fnmatch(const char *pattern, const char *text, int flags) {
    CALLED;
    if (flags & FNM_EXTMATCH) refuse_extended();
    return matches(pattern, text, text, flags) ? 0 : FNM_NOMATCH;
}

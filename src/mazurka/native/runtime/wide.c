/* Wide characters, in the locale of C: one byte is one character, and what is above ASCII is no
   letter. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#include "seen.h"

size_t wcslen(const wchar_t *text) {
    CALLED;
    size_t length = 0;
    while (text[length]) length++;
    return length;
}

size_t wcsnlen(const wchar_t *text, size_t most) {
    CALLED;
    size_t length = 0;
    while (length < most && text[length]) length++;
    return length;
}

wchar_t *wmemcpy(wchar_t *to, const wchar_t *from, size_t size) {
    CALLED;
    for (size_t place = 0; place < size; place++) to[place] = from[place];
    return to;
}

wchar_t *wmemmove(wchar_t *to, const wchar_t *from, size_t size) {
    CALLED;
    if (to <= from) return wmemcpy(to, from, size);
    while (size--) to[size] = from[size];
    return to;
}

wchar_t *wmemset(wchar_t *to, wchar_t one, size_t size) {
    CALLED;
    for (size_t place = 0; place < size; place++) to[place] = one;
    return to;
}

int wmemcmp(const wchar_t *one, const wchar_t *other, size_t size) {
    CALLED;
    for (; size; size--, one++, other++)
        if (*one != *other) return *one < *other ? -1 : 1;
    return 0;
}

wchar_t *wmemchr(const wchar_t *in, wchar_t wanted, size_t size) {
    CALLED;
    for (; size; size--, in++)
        if (*in == wanted) return (wchar_t *)in;
    return NULL;
}

int wcsncmp(const wchar_t *one, const wchar_t *other, size_t size) {
    CALLED;
    for (; size; size--, one++, other++) {
        wchar_t left = *one, right = *other;
        if (left != right) return left < right ? -1 : 1;
        if (!left) break;
    }
    return 0;
}
int wcscmp(const wchar_t *one, const wchar_t *other) { return wcsncmp(one, other, SIZE_MAX); }
int wcscoll(const wchar_t *one, const wchar_t *other) { return wcsncmp(one, other, SIZE_MAX); }

wchar_t *wcsncpy(wchar_t *to, const wchar_t *from, size_t size) {
    CALLED;
    size_t place = 0;
    while (place < size && (to[place] = from[place])) place++;
    while (place < size) to[place++] = 0;
    return to;
}

wchar_t *wcscpy(wchar_t *to, const wchar_t *from) {
    CALLED;
    return wmemcpy(to, from, wcslen(from) + 1);
}

wchar_t *wcscat(wchar_t *to, const wchar_t *from) {
    CALLED;
    wcscpy(to + wcslen(to), from);
    return to;
}

wchar_t *wcsncat(wchar_t *to, const wchar_t *from, size_t size) {
    CALLED;
    size_t length = wcsnlen(from, size);
    wchar_t *end = wmemcpy(to + wcslen(to), from, length);
    end[length] = 0;
    return to;
}

wchar_t *wcschr(const wchar_t *text, wchar_t wanted) {
    CALLED;
    for (;; text++) {
        wchar_t found = *text;
        if (found == wanted) return (wchar_t *)text;
        if (!found) return NULL;
    }
}

wchar_t *wcsrchr(const wchar_t *text, wchar_t wanted) {
    CALLED;
    wchar_t *latest = NULL;
    for (;; text++) {
        wchar_t found = *text;
        if (found == wanted) latest = (wchar_t *)text;
        if (!found) return latest;
    }
}

wchar_t *wcsstr(const wchar_t *text, const wchar_t *wanted) {
    CALLED;
    size_t length = wcslen(wanted);
    for (;; text++) {
        if (!wcsncmp(text, wanted, length)) return (wchar_t *)text;
        if (!*text) return NULL;
    }
}

static size_t span(const wchar_t *text, const wchar_t *set, bool wanted) {
    size_t length = 0;
    while (text[length] && (wcschr(set, text[length]) != NULL) == wanted) length++;
    return length;
}
size_t wcsspn(const wchar_t *text, const wchar_t *set) { CALLED; return span(text, set, true); }
size_t wcscspn(const wchar_t *text, const wchar_t *set) { CALLED; return span(text, set, false); }

wchar_t *wcspbrk(const wchar_t *text, const wchar_t *set) {
    CALLED;
    text += span(text, set, false);
    return *text ? (wchar_t *)text : NULL;
}

wchar_t *wcstok(wchar_t *text, const wchar_t *set, wchar_t **rest) {
    CALLED;
    if (!text) text = *rest;
    if (!text) return NULL;
    text += span(text, set, true);
    wchar_t *end = text + span(text, set, false);
    *rest = *end ? end + 1 : NULL;
    if (!*text) return NULL;
    *end = 0;
    return text;
}

wchar_t *wcsdup(const wchar_t *text) {
    CALLED;
    wchar_t *copy = malloc((wcslen(text) + 1) * sizeof *copy);
    return copy ? wcscpy(copy, text) : NULL;
}

/* Kinds of characters */

static bool is_ascii(wint_t one) { return one < 128; }
#define KIND(name, of) int name(wint_t one) { return is_ascii(one) && of((int)one); }
extern int isalnum(int), isalpha(int), isblank(int), iscntrl(int), isdigit(int), isgraph(int);
extern int islower(int), isprint(int), ispunct(int), isspace(int), isupper(int), isxdigit(int);
extern int tolower(int), toupper(int);
KIND(iswalnum, isalnum) KIND(iswalpha, isalpha) KIND(iswblank, isblank) KIND(iswcntrl, iscntrl)
KIND(iswdigit, isdigit) KIND(iswgraph, isgraph) KIND(iswlower, islower) KIND(iswprint, isprint)
KIND(iswpunct, ispunct) KIND(iswspace, isspace) KIND(iswupper, isupper) KIND(iswxdigit, isxdigit)
wint_t towlower(wint_t one) { return is_ascii(one) ? (wint_t)tolower((int)one) : one; }
wint_t towupper(wint_t one) { return is_ascii(one) ? (wint_t)toupper((int)one) : one; }

/* To bytes and from bytes. Those above ASCII are no characters. */

static size_t no_character(void) {
    errno = EILSEQ;
    return (size_t)-1;
}

wint_t btowc(int one) { return one >= 0 && one < 128 ? (wint_t)one : WEOF; }
int wctob(wint_t one) { return is_ascii(one) ? (int)one : -1; }
int mbsinit(const mbstate_t *state) { (void)state; return 1; }
size_t __ctype_get_mb_cur_max(void) { return 1; }

size_t mbrtowc(wchar_t *to, const char *from, size_t size, mbstate_t *state) {
    CALLED;
    (void)state;
    if (!from) return 0;
    if (!size) return (size_t)-2;
    unsigned char one = (unsigned char)*from;
    if (one >= 128) return no_character();
    if (to) *to = one;
    return one != 0;
}
size_t mbrlen(const char *from, size_t size, mbstate_t *state) {
    CALLED;
    return mbrtowc(NULL, from, size, state);
}
int mbtowc(wchar_t *to, const char *from, size_t size) {
    CALLED;
    size_t found = mbrtowc(to, from, size, NULL);
    return found == (size_t)-2 ? -1 : (int)found;
}
int mblen(const char *from, size_t size) { CALLED; return mbtowc(NULL, from, size); }

size_t wcrtomb(char *to, wchar_t one, mbstate_t *state) {
    CALLED;
    (void)state;
    if (!to) return 1;
    if (!is_ascii((wint_t)one)) return no_character();
    *to = (char)one;
    return 1;
}
int wctomb(char *to, wchar_t one) { CALLED; return to ? (int)wcrtomb(to, one, NULL) : 0; }

size_t mbstowcs(wchar_t *to, const char *from, size_t size) {
    CALLED;
    for (size_t place = 0; !to || place < size; place++) {
        wchar_t one;
        size_t found = mbrtowc(&one, from + place, 1, NULL);
        if (found == (size_t)-1) return found;
        if (to) to[place] = one;
        if (!found) return place;
    }
    return size;
}

size_t wcstombs(char *to, const wchar_t *from, size_t size) {
    CALLED;
    for (size_t place = 0; !to || place < size; place++) {
        wchar_t one = from[place];
        if (!is_ascii((wint_t)one)) return no_character();
        if (to) to[place] = (char)one;
        if (!one) return place;
    }
    return size;
}

/* Mathematics that writes where it is told to. The C library has each under a second name, too. */
#include "seen.h"

/* name: of the function; with: of the same one, for the type; what: what it writes. */
#define WITH_RESULT(name, with, type, what)          \
    extern type with(type, what *);                  \
    type name(type value, what *to) {                \
        CALLED;                                      \
        what found;                                  \
        type result = with(value, &found);           \
        *to = found;                                 \
        return result;                               \
    }
WITH_RESULT(frexp, frexpf64, double, int)
WITH_RESULT(frexpf, frexpf32, float, int)
WITH_RESULT(frexpl, frexpf64x, long double, int)
WITH_RESULT(modf, modff64, double, double)
WITH_RESULT(modff, modff32, float, float)
WITH_RESULT(modfl, modff64x, long double, long double)
WITH_RESULT(lgamma_r, lgammaf64_r, double, int)
WITH_RESULT(lgammaf_r, lgammaf32_r, float, int)
WITH_RESULT(lgammal_r, lgammaf64x_r, long double, int)

int signgam;  /* which threads share */
double lgamma(double value) { CALLED; return lgamma_r(value, &signgam); }
float lgammaf(float value) { CALLED; return lgammaf_r(value, &signgam); }
long double lgammal(long double value) { CALLED; return lgammal_r(value, &signgam); }

#define BOTH(name, with, type)                        \
    extern void with(type, type *, type *);           \
    void name(type value, type *sine, type *cosine) { \
        CALLED;                                       \
        type one, other;                              \
        with(value, &one, &other);                    \
        *sine = one;                                  \
        *cosine = other;                              \
    }
BOTH(sincos, sincosf64, double)
BOTH(sincosf, sincosf32, float)
BOTH(sincosl, sincosf64x, long double)

#define QUOTIENT(name, with, type)                    \
    extern type with(type, type, int *);              \
    type name(type value, type by, int *quotient) {   \
        CALLED;                                       \
        int found;                                    \
        type rest = with(value, by, &found);          \
        *quotient = found;                            \
        return rest;                                  \
    }
QUOTIENT(remquo, remquof64, double)
QUOTIENT(remquof, remquof32, float)
QUOTIENT(remquol, remquof64x, long double)

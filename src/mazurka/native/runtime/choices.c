/* Choices, as SV-COMP has them. A program may define those that it wants otherwise. */
#include "state.h"

#define WEAK __attribute__((weak))

/* Any number from 0 to one less: for programs that say how many alternatives there are. */
WEAK int mazurka_choose(int alternatives) {
    if (alternatives < 1 || alternatives > 1 << 12) {
        mz_refuse("mazurka_choose(%d): from 1 to 4096 alternatives can be tried", alternatives);
        mz_give_up();
    }
    return (int)mz_choose(alternatives, PLACE);
}

WEAK _Bool __VERIFIER_nondet_bool(void) { return mz_choose(2, PLACE) != 0; }
WEAK _Bool __VERIFIER_nondet__Bool(void) { return mz_choose(2, PLACE) != 0; }
WEAK char __VERIFIER_nondet_char(void) { return (char)mz_choose(256, PLACE); }
WEAK signed char __VERIFIER_nondet_schar(void) { return (signed char)mz_choose(256, PLACE); }
WEAK unsigned char __VERIFIER_nondet_uchar(void) { return (unsigned char)mz_choose(256, PLACE); }

static void refuse(const char *type) {
    mz_refuse("__VERIFIER_nondet_%s has too many values to try each: define it in the program, with "
              "the values that matter, as in: return mazurka_choose(4);", type);
    mz_give_up();
}

#define TOO_MANY(type, name)                     \
    WEAK type __VERIFIER_nondet_##name(void) {   \
        refuse(#name);                           \
        return 0;                                \
    }
TOO_MANY(short, short)
TOO_MANY(unsigned short, ushort)
TOO_MANY(int, int)
TOO_MANY(unsigned, uint)
TOO_MANY(unsigned, unsigned)
TOO_MANY(unsigned, u32)
TOO_MANY(long, long)
TOO_MANY(unsigned long, ulong)
TOO_MANY(long long, longlong)
TOO_MANY(unsigned long long, ulonglong)
TOO_MANY(unsigned long, size_t)
TOO_MANY(float, float)
TOO_MANY(double, double)
TOO_MANY(void *, pointer)
TOO_MANY(char *, pchar)

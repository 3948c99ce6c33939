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

/* Of types with many values, a few are tried: what fails then does fail, but nothing is verified. */
static int64_t few(uintptr_t place) {
    mz.few_values = 1;
    int64_t choice = mz_choose(4, place);
    return choice == 3 ? -1 : choice;
}

#define A_FEW(type, name) \
    WEAK type __VERIFIER_nondet_##name(void) { return (type)few(PLACE); }
A_FEW(short, short)
A_FEW(unsigned short, ushort)
A_FEW(int, int)
A_FEW(unsigned, uint)
A_FEW(unsigned, unsigned)
A_FEW(unsigned, u32)
A_FEW(long, long)
A_FEW(unsigned long, ulong)
A_FEW(long long, longlong)
A_FEW(unsigned long long, ulonglong)
A_FEW(unsigned long, size_t)
A_FEW(float, float)
A_FEW(double, double)

static void refuse(const char *type) {
    mz_refuse("__VERIFIER_nondet_%s can be any pointer: define it in the program, with the values "
              "that matter", type);
    mz_give_up();
}

#define ANY_POINTER(type, name)                  \
    WEAK type __VERIFIER_nondet_##name(void) {   \
        refuse(#name);                           \
        return 0;                                \
    }
ANY_POINTER(void *, pointer)
ANY_POINTER(char *, pchar)

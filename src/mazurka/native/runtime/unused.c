/* Whether the program uses what a call gives. The compiler does not say, but the code behind the call
   shows it: a result that is overwritten before anything looks at it is not used. Only common
   instructions are known here; whatever else is met may use it. */
#include "state.h"

enum { MOST_INSTRUCTIONS = 64, KNOWN = 256 };

/* One instruction with operands: a register, and a register or memory. */
struct operands {
    bool looks, is_register;  /* looks: where the memory is depends on the result */
    int one, other, size;  /* the registers' numbers; bytes, without the code of the operation */
};

enum { RESULT = 0, TABLE = 4, NO_BASE = 5 };  /* RESULT: rax */

static int displacement_of(int form, const unsigned char *at) {
    bool is_absolute = form == 0 && (at[0] & 7) == NO_BASE;
    bool has_table = form != 3 && (at[0] & 7) == TABLE;
    if (form == 1) return 1;
    if (form == 2 || is_absolute) return 4;
    return form == 0 && has_table && (at[1] & 7) == NO_BASE ? 4 : 0;
}

static struct operands operands_at(const unsigned char *at, int rex) {
    int form = at[0] >> 6, base = (at[0] & 7) | (rex & 1) << 3;
    struct operands found = {.one = (at[0] >> 3 & 7) | (rex & 4) << 1, .other = base};
    found.is_register = form == 3;
    found.size = 1 + displacement_of(form, at);
    if (found.is_register) return found;
    if ((at[0] & 7) == TABLE) {
        int index = (at[1] >> 3 & 7) | (rex & 2) << 2;
        bool has_base = form != 0 || (at[1] & 7) != NO_BASE;
        found.looks = index == RESULT || (has_base && ((at[1] & 7) | (rex & 1) << 3) == RESULT);
        found.size++;
    } else {
        found.looks = base == RESULT;
    }
    return found;
}

static int32_t number_at(const unsigned char *at) {
    int32_t number;
    __builtin_memcpy(&number, at, sizeof number);
    return number;
}

static const unsigned char *target_of(const unsigned char *call) { return call + 5 + number_at(call + 1); }

enum verdict { USED, OVERWRITTEN, GOES_ON };

/* An operation that gives a register what it finds in another place. */
static enum verdict taken(struct operands operands) {
    if (operands.looks || (operands.is_register && operands.other == RESULT)) return USED;
    return operands.one == RESULT ? OVERWRITTEN : GOES_ON;
}

/* One that gives another place what is in a register. */
static enum verdict put(struct operands operands) {
    if (operands.looks || operands.one == RESULT) return USED;
    return operands.is_register && operands.other == RESULT ? OVERWRITTEN : GOES_ON;
}

/* One that works on both. */
static enum verdict combined(struct operands operands, bool is_exclusive_or) {
    bool is_result = operands.is_register && operands.other == RESULT;
    if (is_exclusive_or && is_result && operands.one == RESULT) return OVERWRITTEN;  /* with 0 */
    return operands.looks || is_result || operands.one == RESULT ? USED : GOES_ON;
}

/* What an instruction does to the result, if it has a register, and a register or memory; its size
   is set. */
static enum verdict of_two(const unsigned char *at, int rex, int *size) {
    bool is_long = at[0] == 0x0f;
    int operation = is_long ? 0x0f00 | at[1] : at[0];
    struct operands operands = operands_at(at + 1 + is_long, rex);
    *size = 1 + is_long + operands.size;
    bool is_result = operands.is_register && operands.other == RESULT;
    switch (operation) {
        case 0x8b: case 0x8d: case 0x63: case 0x0fb6: case 0x0fb7: case 0x0fbe: case 0x0fbf:
            return taken(operands);
        case 0x89: return put(operands);
        case 0x31: case 0x33: return combined(operands, true);
        case 0x01: case 0x03: case 0x21: case 0x23: case 0x29: case 0x2b: case 0x39: case 0x3b:
        case 0x85:
            return combined(operands, false);
        case 0x80: case 0x83: *size += 1; return operands.looks || is_result ? USED : GOES_ON;
        case 0x81: *size += 4; return operands.looks || is_result ? USED : GOES_ON;
        case 0xc7:
            *size += 4;
            if (operands.looks || operands.one) return USED;  /* others have numbers there */
            return is_result ? OVERWRITTEN : GOES_ON;
        case 0x0f1e: case 0x0f1f: return GOES_ON;  /* nothing is done */
        default: return USED;
    }
}

/* What an instruction does to the result; its size is set. */
static enum verdict of_one(const unsigned char *at, int rex, int *size) {
    bool is_of_result = !(at[0] & 7) && !(rex & 1);  /* if its last bits are a register */
    *size = 1;
    if (at[0] == 0x90 || at[0] == 0xc9) return rex ? USED : GOES_ON;  /* nothing is done; a frame is left */
    switch (at[0] & 0xf8) {
        case 0x50: return is_of_result ? USED : GOES_ON;
        case 0x58: return is_of_result ? OVERWRITTEN : GOES_ON;
        case 0xb8: *size = rex & 8 ? 9 : 5; return is_of_result ? OVERWRITTEN : GOES_ON;
        default: return of_two(at, rex, size);
    }
}

/* A call or a jump through a table leaves this object, and a hook is not of the program: no result is
   kept in a register across these. */
static bool leaves_program(const unsigned char *at) {
    if (at[0] == 0xf2) at++;
    if (at[0] == 0xff) return at[1] == 0x15 || at[1] == 0x25;
    return at[0] == 0xe8 && mz_is_hook(target_of(at));
}

/* Where a call or a jump leads to, or NULL. What is called may be known to leave the result alone. */
static const unsigned char *followed(const unsigned char *at) {
    if (at[0] == 0xe8 || at[0] == 0xe9) return target_of(at);
    return at[0] == 0xeb ? at + 2 + (signed char)at[1] : NULL;
}

static bool does_nothing(const unsigned char *at) {
    return at[0] == 0x90 || (at[0] == 0x0f && (at[1] == 0x1e || at[1] == 0x1f));
}

static bool is_overwritten(const unsigned char *at, int *left);

/* A jump on a condition: both ways count. */
static bool on_both_ways(const unsigned char *next, int64_t distance, int *left) {
    return is_overwritten(next + distance, left) && is_overwritten(next, left);
}

/* Whether the result of a call is overwritten before it is used, in the code from here on. */
static bool is_overwritten(const unsigned char *at, int *left) {
    while ((*left)-- > 0) {
        if (leaves_program(at)) return true;
        if (at[0] >> 4 == 7) return on_both_ways(at + 2, (signed char)at[1], left);
        if (at[0] == 0x0f && at[1] >> 4 == 8) return on_both_ways(at + 6, number_at(at + 2), left);
        const unsigned char *target = followed(at);
        if (target) {
            at = target;
            continue;
        }
        if ((at[0] == 0x66 || at[0] == 0xf3) && does_nothing(at + 1)) at++;
        int rex = at[0] >> 4 == 4 ? *at++ : 0, size;
        enum verdict verdict = of_one(at, rex, &size);
        if (verdict != GOES_ON) return verdict == OVERWRITTEN;
        at += size;
    }
    return false;
}

/* Whether the program does not use what the call gives that returns to a place. */
bool mz_is_unused(uintptr_t place) {
    static struct { uintptr_t place; bool is_unused; } known[KNOWN] STATE = {0};
    uintptr_t slot = (place ^ place >> 8) % KNOWN;
    if (known[slot].place != place) {
        int left = MOST_INSTRUCTIONS;
        known[slot].is_unused = is_overwritten((const unsigned char *)place, &left);
        known[slot].place = place;
    }
    return known[slot].is_unused;
}

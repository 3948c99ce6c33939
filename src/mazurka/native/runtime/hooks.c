/* What the compiler calls where the program accesses memory (-fsanitize=thread). */
#include "state.h"

#define PLAIN(size)                                                                        \
    void __tsan_read##size(void *at) { mz_plain((uintptr_t)at, size, false, PLACE); }      \
    void __tsan_write##size(void *at) { mz_plain((uintptr_t)at, size, true, PLACE); }      \
    void __tsan_volatile_read##size(void *at) { mz_plain((uintptr_t)at, size, false, PLACE); } \
    void __tsan_volatile_write##size(void *at) { mz_plain((uintptr_t)at, size, true, PLACE); } \
    void __tsan_read_write##size(void *at) {                                               \
        mz_plain((uintptr_t)at, size, false, PLACE);                                       \
        mz_plain((uintptr_t)at, size, true, PLACE);                                        \
    }
PLAIN(1)
PLAIN(2)
PLAIN(4)
PLAIN(8)
PLAIN(16)

#define UNALIGNED(size)                                                                      \
    void __tsan_unaligned_read##size(void *at) { mz_plain((uintptr_t)at, size, false, PLACE); } \
    void __tsan_unaligned_write##size(void *at) { mz_plain((uintptr_t)at, size, true, PLACE); } \
    void __tsan_unaligned_read_write##size(void *at) {                                       \
        mz_plain((uintptr_t)at, size, false, PLACE);                                         \
        mz_plain((uintptr_t)at, size, true, PLACE);                                          \
    }
UNALIGNED(2)
UNALIGNED(4)
UNALIGNED(8)
UNALIGNED(16)

void __tsan_read_range(void *at, size_t size) { if (size) mz_plain((uintptr_t)at, size, false, PLACE); }
void __tsan_write_range(void *at, size_t size) { if (size) mz_plain((uintptr_t)at, size, true, PLACE); }
void __tsan_vptr_read(void **at) { mz_plain((uintptr_t)at, sizeof *at, false, PLACE); }
void __tsan_vptr_update(void **at, void *value) {
    if (*at != value) mz_plain((uintptr_t)at, sizeof *at, true, PLACE);
}

void __tsan_init(void) {}

/* C11's memory orders, as the compiler numbers them. All is sequentially consistent here, but which
   accesses are data races goes by them. */
static int ordering_of(int order) {
    switch (order & 7) {  /* there may be more bits, for hardware */
        case 0: return IS_GIVEN | IS_ATOMIC;
        case 1: case 2: return IS_GIVEN | IS_ATOMIC | ACQUIRES;
        case 3: return IS_GIVEN | IS_ATOMIC | RELEASES;
        default: return IS_GIVEN | IS_ATOMIC | ACQUIRES | RELEASES;
    }
}

void __tsan_atomic_thread_fence(int order) {
    if (mz.only_sync && mz.current) mz_order_fence(mz.current, ordering_of(order));
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

static void refuse_early(void) {
    mz_refuse("an atomic variable is accessed before main: this cannot be checked yet");
}

static uint64_t atomic(int kind, volatile void *at, int size, uint64_t first, int form, int order,
                       uintptr_t place) {
    if (!mz.current) {
        refuse_early();
        return 0;
    }
    mz.current->ordering = ordering_of(order);
    return mz_step(kind, (uintptr_t)at, size, first, 0, form, place);
}

/* Additions of which nobody uses the result commute. But they order what their threads do before and
   after, and by that data races are told: where these are looked for, each order counts. */
static uint64_t added(volatile void *at, int size, uint64_t value, int order, uintptr_t place) {
    bool commutes = mz.independent_adds && !mz.only_sync && mz_is_unused(place);
    return atomic(commutes ? ADD_TO : FETCH_ADD, at, size, value, FORM_ADD, order, place);
}

static uint64_t compare_exchange(volatile void *at, int size, uint64_t expected, uint64_t value,
                                 int order, int failing, uintptr_t place) {
    if (!mz.current) {
        refuse_early();
        return 0;
    }
    mz.current->ordering = ordering_of(order);
    mz.current->failing_ordering = ordering_of(failing);
    return mz_step(COMPARE_EXCHANGE, (uintptr_t)at, size, expected, value, 0, place);
}

#define ATOMIC(bits, type)                                                                       \
    type __tsan_atomic##bits##_load(const volatile type *at, int order) {                        \
        return (type)atomic(LOAD, (volatile void *)at, sizeof *at, 0, 0, order, PLACE);          \
    }                                                                                            \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order) {                 \
        atomic(STORE, at, sizeof *at, value, 0, order, PLACE);                                   \
    }                                                                                            \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order) {              \
        return (type)atomic(EXCHANGE, at, sizeof *at, value, 0, order, PLACE);                   \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_add(volatile type *at, type value, int order) {             \
        return (type)added(at, sizeof *at, value, order, PLACE);                                 \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_sub(volatile type *at, type value, int order) {             \
        return (type)added(at, sizeof *at, (type)-value, order, PLACE);                          \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_and(volatile type *at, type value, int order) {             \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, FORM_AND, order, PLACE);           \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_or(volatile type *at, type value, int order) {              \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, FORM_OR, order, PLACE);            \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_xor(volatile type *at, type value, int order) {             \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, FORM_XOR, order, PLACE);           \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_nand(volatile type *at, type value, int order) {            \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, FORM_NAND, order, PLACE);          \
    }                                                                                            \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected,            \
                                                    type value, int order, int failing) {        \
        return (type)compare_exchange(at, sizeof *at, expected, value, order, failing, PLACE);   \
    }                                                                                            \
    static int exchanged##bits(volatile type *at, type *expected, type value,                    \
                               int order, int failing, uintptr_t place) {                        \
        mz_plain((uintptr_t)expected, sizeof *at, false, place);                                 \
        type wanted = *expected;                                                                 \
        type found =                                                                             \
            (type)compare_exchange(at, sizeof *at, wanted, value, order, failing, place);        \
        if (found == wanted) return 1;                                                           \
        mz_plain((uintptr_t)expected, sizeof *at, true, place);                                  \
        *expected = found;                                                                       \
        return 0;                                                                                \
    }                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,         \
                                                      type value, int order, int failing) {      \
        return exchanged##bits(at, expected, value, order, failing, PLACE);                      \
    }                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected,           \
                                                    type value, int order, int failing) {        \
        return exchanged##bits(at, expected, value, order, failing, PLACE);                      \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

#define PLAIN_ONES(size)                                                                         \
    __tsan_read##size, __tsan_write##size, __tsan_volatile_read##size, __tsan_volatile_write##size
#define ATOMIC_ONES(bits)                                                                        \
    __tsan_atomic##bits##_load, __tsan_atomic##bits##_store, __tsan_atomic##bits##_exchange,     \
        __tsan_atomic##bits##_fetch_add, __tsan_atomic##bits##_fetch_sub,                        \
        __tsan_atomic##bits##_compare_exchange_val, __tsan_atomic##bits##_compare_exchange_strong

/* Whether this is a function that compilers call by themselves; most of them. */
bool mz_is_hook(const void *function) {
    static void *const hooks[] = {
        __tsan_func_entry, __tsan_func_exit, PLAIN_ONES(1), PLAIN_ONES(2), PLAIN_ONES(4), PLAIN_ONES(8),
        ATOMIC_ONES(8), ATOMIC_ONES(16), ATOMIC_ONES(32), ATOMIC_ONES(64),
    };
    for (size_t place = 0; place < sizeof hooks / sizeof *hooks; place++)
        if (hooks[place] == function) return true;
    return false;
}

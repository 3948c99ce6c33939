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
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}
void __tsan_atomic_thread_fence(int order) { (void)order; }  /* all is sequentially consistent */
void __tsan_atomic_signal_fence(int order) { (void)order; }

/* Before main, or with a step. */
static uint64_t atomic(int kind, volatile void *at, int size, uint64_t first, uint64_t second,
                       int form, uintptr_t place) {
    if (mz.current) return mz_step(kind, (uintptr_t)at, size, first, second, form, place);
    mz_refuse("an atomic variable is accessed before main: this cannot be checked yet");
    return 0;
}

#define ATOMIC(bits, type)                                                                       \
    type __tsan_atomic##bits##_load(const volatile type *at, int order) {                        \
        (void)order;                                                                             \
        return (type)atomic(LOAD, (volatile void *)at, sizeof *at, 0, 0, 0, PLACE);              \
    }                                                                                            \
    void __tsan_atomic##bits##_store(volatile type *at, type value, int order) {                 \
        (void)order;                                                                             \
        atomic(STORE, at, sizeof *at, value, 0, 0, PLACE);                                       \
    }                                                                                            \
    type __tsan_atomic##bits##_exchange(volatile type *at, type value, int order) {              \
        (void)order;                                                                             \
        return (type)atomic(EXCHANGE, at, sizeof *at, value, 0, 0, PLACE);                       \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_add(volatile type *at, type value, int order) {             \
        (void)order;                                                                             \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, 0, FORM_ADD, PLACE);               \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_sub(volatile type *at, type value, int order) {             \
        (void)order;                                                                             \
        return (type)atomic(FETCH_ADD, at, sizeof *at, (type)-value, 0, FORM_ADD, PLACE);        \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_and(volatile type *at, type value, int order) {             \
        (void)order;                                                                             \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, 0, FORM_AND, PLACE);               \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_or(volatile type *at, type value, int order) {              \
        (void)order;                                                                             \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, 0, FORM_OR, PLACE);                \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_xor(volatile type *at, type value, int order) {             \
        (void)order;                                                                             \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, 0, FORM_XOR, PLACE);               \
    }                                                                                            \
    type __tsan_atomic##bits##_fetch_nand(volatile type *at, type value, int order) {            \
        (void)order;                                                                             \
        return (type)atomic(FETCH_ADD, at, sizeof *at, value, 0, FORM_NAND, PLACE);              \
    }                                                                                            \
    type __tsan_atomic##bits##_compare_exchange_val(volatile type *at, type expected,            \
                                                    type value, int order, int failing) {        \
        (void)order, (void)failing;                                                              \
        return (type)atomic(COMPARE_EXCHANGE, at, sizeof *at, expected, value, 0, PLACE);        \
    }                                                                                            \
    static int exchanged##bits(volatile type *at, type *expected, type value, uintptr_t place) { \
        mz_plain((uintptr_t)expected, sizeof *at, false, place);                                 \
        type wanted = *expected;                                                                 \
        type found = (type)atomic(COMPARE_EXCHANGE, at, sizeof *at, wanted, value, 0, place);    \
        if (found == wanted) return 1;                                                           \
        mz_plain((uintptr_t)expected, sizeof *at, true, place);                                  \
        *expected = found;                                                                       \
        return 0;                                                                                \
    }                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_strong(volatile type *at, type *expected,         \
                                                      type value, int order, int failing) {      \
        (void)order, (void)failing;                                                              \
        return exchanged##bits(at, expected, value, PLACE);                                      \
    }                                                                                            \
    int __tsan_atomic##bits##_compare_exchange_weak(volatile type *at, type *expected,           \
                                                    type value, int order, int failing) {        \
        (void)order, (void)failing;                                                              \
        return exchanged##bits(at, expected, value, PLACE);                                      \
    }
ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

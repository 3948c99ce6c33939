// The parts of the C++ library that must be seen: new and delete, and the guards of static variables
// in functions. All else of it comes down to the C library, or is compiled with the program.
#include <cstddef>
#include <cstdint>
#include <new>

#define HIDDEN extern "C" __attribute__((visibility("hidden")))
#define EXPORTED __attribute__((visibility("default")))
#define PLACE ((uintptr_t)__builtin_return_address(0))

HIDDEN void *mz_new(std::size_t size, std::size_t alignment, uintptr_t place);
HIDDEN void mz_delete(void *block, uintptr_t place);
HIDDEN int mz_begin_once(char *guard, uintptr_t place);
HIDDEN void mz_end_once(char *guard, int is_done, uintptr_t place);

static void *made(std::size_t size, std::size_t alignment, uintptr_t place) {
    void *block = mz_new(size, alignment, place);
    if (!block) throw std::bad_alloc();
    return block;
}

#define ALIGNMENT static_cast<std::size_t>(alignment)
EXPORTED void *operator new(std::size_t size) { return made(size, 0, PLACE); }
EXPORTED void *operator new[](std::size_t size) { return made(size, 0, PLACE); }
EXPORTED void *operator new(std::size_t size, std::align_val_t alignment) {
    return made(size, ALIGNMENT, PLACE);
}
EXPORTED void *operator new[](std::size_t size, std::align_val_t alignment) {
    return made(size, ALIGNMENT, PLACE);
}
EXPORTED void *operator new(std::size_t size, const std::nothrow_t &) noexcept {
    return mz_new(size, 0, PLACE);
}
EXPORTED void *operator new[](std::size_t size, const std::nothrow_t &) noexcept {
    return mz_new(size, 0, PLACE);
}
EXPORTED void operator delete(void *block) noexcept { mz_delete(block, PLACE); }
EXPORTED void operator delete[](void *block) noexcept { mz_delete(block, PLACE); }
EXPORTED void operator delete(void *block, std::size_t) noexcept { mz_delete(block, PLACE); }
EXPORTED void operator delete[](void *block, std::size_t) noexcept { mz_delete(block, PLACE); }
EXPORTED void operator delete(void *block, std::align_val_t) noexcept { mz_delete(block, PLACE); }
EXPORTED void operator delete[](void *block, std::align_val_t) noexcept { mz_delete(block, PLACE); }
EXPORTED void operator delete(void *block, std::size_t, std::align_val_t) noexcept {
    mz_delete(block, PLACE);
}
EXPORTED void operator delete[](void *block, std::size_t, std::align_val_t) noexcept {
    mz_delete(block, PLACE);
}
EXPORTED void operator delete(void *block, const std::nothrow_t &) noexcept {
    mz_delete(block, PLACE);
}
EXPORTED void operator delete[](void *block, const std::nothrow_t &) noexcept {
    mz_delete(block, PLACE);
}

extern "C" EXPORTED int __cxa_guard_acquire(char *guard) { return mz_begin_once(guard, PLACE); }
extern "C" EXPORTED void __cxa_guard_release(char *guard) { mz_end_once(guard, 1, PLACE); }
extern "C" EXPORTED void __cxa_guard_abort(char *guard) { mz_end_once(guard, 0, PLACE); }

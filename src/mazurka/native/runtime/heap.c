/* The heap: a block has the same address in every execution in which its thread did the same.

   Each thread has a heap of its own, from which blocks are taken one after the other. Nothing is
   used twice in an execution, and there is room between blocks: so use after free is seen. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/types.h>

#include "state.h"

enum { GRAIN = 16, GAP = 32, FREED = 255 };

/* For each grain, how many of its bytes can be used: 0 outside of blocks; or FREED. */
static struct { unsigned char *usable; } heap STATE = {0};

struct header { size_t size; uint64_t place; };  /* before each block, in the gap */

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void __libc_free(void *);

void mz_map_heap(void) {
    mz_map((void *)HEAP, ALL_HEAPS);
    heap.usable = mz_map(NULL, ALL_HEAPS / GRAIN);
}

static unsigned char *usable_at(uintptr_t address) {
    return heap.usable + (address - HEAP) / GRAIN;
}

void mz_reset_heap(struct thread *thread) {
    char *begin = (char *)HEAP + (size_t)thread->number * HEAP_SIZE;
    if (thread->heap == begin) return;
    if (thread->heap) mz_fill(usable_at((uintptr_t)begin), 0, (size_t)(thread->heap - begin) / GRAIN);
    thread->heap = begin;
    thread->heap_end = begin + HEAP_SIZE;
}

/* An access to the heap must be to a block. */
void mz_check_bounds(uintptr_t address, size_t size, uintptr_t place) {
    if (!mz_in_heap(address)) return;
    for (uintptr_t at = address; at < address + size;) {
        unsigned usable = *usable_at(at);
        uintptr_t grain = at / GRAIN * GRAIN;
        uintptr_t end = address + size < grain + GRAIN ? address + size : grain + GRAIN;
        if (usable != FREED && end - grain > usable) {
            mz.current->fault = (int64_t)at;
            mz_fail(OUT_OF_BLOCK, place, "");
        }
        at = grain + GRAIN;
    }
}

/* And the block must not be freed. Where others may free it, this is asked when the access is made:
   what a thread is about to do must not depend on what others have done without its knowledge. */
void mz_check_freed(uintptr_t address, uintptr_t place) {
    if (!mz_in_heap(address) || *usable_at(address) != FREED) {
        mz_check_ended(address, place);
        return;
    }
    mz.current->fault = (int64_t)address;
    mz_fail(USE_AFTER_FREE, place, "");
}

/* The stack of a thread is freed when that ends; that of main not, if it ends the program. */
void mz_check_ended(uintptr_t address, uintptr_t place) {
    struct thread *owner = mz_owner_of_stack(address);
    if (!owner || owner == mz.current || !owner->is_live || !owner->is_finished) return;
    if (owner->failure || (owner->number == 0 && mz.exited)) return;
    mz.current->fault = (int64_t)address;
    mz_fail(STACK_OF_ENDED, place, "");
}

static void *take(size_t size, size_t alignment, uintptr_t place) {
    struct thread *thread = mz.current;
    if (alignment < GRAIN) alignment = GRAIN;
    if (size > HEAP_SIZE || alignment > 1 << 20) return NULL;
    uintptr_t block = ((uintptr_t)thread->heap + GAP + alignment - 1) / alignment * alignment;
    uintptr_t end = (block + (size ? size : 1) + GRAIN - 1) / GRAIN * GRAIN;
    if (end + GAP > (uintptr_t)thread->heap_end) return NULL;
    thread->heap = (char *)end;
    unsigned char *usable = usable_at(block);
    mz_fill(usable, GRAIN, size / GRAIN);
    if (size % GRAIN) usable[size / GRAIN] = size % GRAIN;
    *((struct header *)block - 1) = (struct header){size, place};
    return (void *)block;
}

static void *filled(size_t size, size_t alignment, int filling, uintptr_t place) {
    void *block = take(size, alignment, place);
    if (block) mz_fill(block, filling, size);
    else errno = ENOMEM;
    mz.current->changes++;
    return block;
}

static void refuse_early(void) {
    mz_refuse("memory is allocated before main: this cannot be put back, and so not be checked yet");
}

void *malloc(size_t size) {
    if (mz.current) return filled(size, GRAIN, (int)mz.filling, PLACE);
    refuse_early();
    return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    if (!mz.current) {
        refuse_early();
        return __libc_calloc(count, size);
    }
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return filled(all, GRAIN, 0, PLACE);
}

static void release(void *block, uintptr_t place) {
    uintptr_t address = (uintptr_t)block;
    struct header *header = (struct header *)block - 1;
    mz.current->fault = (int64_t)address;
    bool is_block = address % GRAIN == 0 && *usable_at(address - GRAIN) == 0 &&
                    (header->size == 0 || *usable_at(address) != 0);
    if (!is_block) mz_fail(INVALID_FREE, place, "");
    mz_free_range(address, header->size, place);
    if (*usable_at(address) == FREED) mz_fail(DOUBLE_FREE, place, "");
    mz_fill(usable_at(address), FREED, (header->size + GRAIN - 1) / GRAIN);
    mz.current->changes++;
}

void free(void *block) {
    if (!block) return;
    if (mz_in_heap((uintptr_t)block) && mz.current) release(block, PLACE);
    else if (!mz.current) __libc_free(block);
    else {
        mz.current->fault = (int64_t)block;
        mz_fail(INVALID_FREE, PLACE, "");
    }
}

void *memcpy(void *, const void *, size_t);  /* ours: libc.c */

void *realloc(void *block, size_t size) {
    if (!mz.current) {
        refuse_early();
        return __libc_realloc(block, size);
    }
    if (!block) return filled(size, GRAIN, (int)mz.filling, PLACE);
    if (!mz_in_heap((uintptr_t)block)) mz_fail(INVALID_FREE, PLACE, "");
    mz_check_bounds((uintptr_t)block, 1, PLACE);
    size_t had = ((struct header *)block - 1)->size;
    void *other = filled(size, GRAIN, (int)mz.filling, PLACE);
    if (!other) return NULL;
    memcpy(other, block, had < size ? had : size);
    release(block, PLACE);
    return other;
}

void *reallocarray(void *block, size_t count, size_t size) {
    size_t all;
    if (!__builtin_mul_overflow(count, size, &all)) return realloc(block, all);
    errno = ENOMEM;
    return NULL;
}

void *aligned_alloc(size_t alignment, size_t size) {
    if (!mz.current) refuse_early();
    return mz.current ? filled(size, alignment, (int)mz.filling, PLACE) : NULL;
}

void *memalign(size_t alignment, size_t size) { return aligned_alloc(alignment, size); }

void *valloc(size_t size) { return aligned_alloc(4096, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
    void *block = aligned_alloc(alignment, size);
    if (!block) return ENOMEM;
    mz_plain((uintptr_t)result, sizeof *result, true, PLACE);
    *result = block;
    return 0;
}

/* Memory of the system, as a block of whole pages that is freed as a whole. */
static size_t whole_pages(size_t size) { return (size + 4095) / 4096 * 4096; }

void *mmap(void *wish, size_t size, int protection, int flags, int file, off_t from) {
    (void)wish, (void)file, (void)from;
    bool is_plain = flags & MAP_ANONYMOUS && !(flags & (MAP_FIXED | MAP_GROWSDOWN));
    if (!is_plain || protection != (PROT_READ | PROT_WRITE)) {
        mz_refuse("mmap of a file, at a fixed address, or not for reading and writing, cannot be checked");
        mz_give_up();
    }
    void *block = filled(whole_pages(size), 4096, 0, PLACE);
    return block ? block : MAP_FAILED;
}
void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

int munmap(void *block, size_t size) {
    uintptr_t address = (uintptr_t)block;
    bool is_block = mz_in_heap(address) && address % 4096 == 0 && *usable_at(address - GRAIN) == 0;
    if (!is_block || ((struct header *)block - 1)->size != whole_pages(size)) {
        mz_refuse("munmap of what is not a whole mapping cannot be checked");
        mz_give_up();
    }
    release(block, PLACE);
    return 0;
}

/* For Python: the blocks that were never freed: where they were made, and their sizes. */
EXPORTED int64_t mz_unfreed(int64_t *places, int64_t *sizes, int64_t most) {
    int64_t found = 0;
    for (int64_t number = 0; number < mz.live_known; number++) {
        const struct thread *thread = mz.live[number];
        uintptr_t begin = (uintptr_t)HEAP + (uintptr_t)thread->number * HEAP_SIZE;
        for (uintptr_t at = begin + GRAIN; at < (uintptr_t)thread->heap; at += GRAIN) {
            if (*usable_at(at) == 0 || *usable_at(at) == FREED || *usable_at(at - GRAIN) != 0) continue;
            const struct header *header = (const struct header *)at - 1;
            if (found < most) {
                places[found] = (int64_t)(header->place - mz_base());
                sizes[found] = (int64_t)header->size;
            }
            found++;
        }
    }
    return found;
}

/* For C++. */
void *mz_new(size_t size, size_t alignment, uintptr_t place) {
    return filled(size, alignment, (int)mz.filling, place);
}

void mz_delete(void *block, uintptr_t place) {
    if (!block) return;
    mz.current->fault = (int64_t)block;
    if (!mz_in_heap((uintptr_t)block)) mz_fail(INVALID_FREE, place, "");
    release(block, place);
}

/* For Python: the block that an address is in, as far as that can be told; 0 if in none. */
EXPORTED int64_t mz_block_at(uintptr_t address, int64_t *size, int64_t *place) {
    if (!mz_in_heap(address)) return 0;
    for (uintptr_t at = address / GRAIN * GRAIN; at >= HEAP + GAP; at -= GRAIN) {
        if (*usable_at(at) != 0 && *usable_at(at - GRAIN) == 0) {
            struct header *header = (struct header *)at - 1;
            *size = (int64_t)header->size;
            *place = (int64_t)(header->place - mz_base());
            return (int64_t)at;
        }
    }
    return 0;
}

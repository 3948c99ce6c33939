/* What is known of the program's memory: which bytes threads share, and what was there at first.

   Each byte has a note. It says which thread has accessed it so far, in any execution; or, if
   several have and one of them wrote, which location it belongs to. Only accesses to locations are
   steps. A byte that turns out to be shared is learnt: the search begins anew then, and knows it.
   So what is a step never changes during a search. docs/c-programs.md says why nothing is missed. */
#define _GNU_SOURCE
#include <link.h>

#include "state.h"

enum { PAGE = 4096, PAGES = 1 << 20, MOST_PAGES = 1 << 18, CACHED = 1024, MOST_POLLS = 5000, MOST_LEARNT = 1 << 16 };
/* Notes. */
enum { UNTOUCHED, READ_BY_MANY, FIRST_NOTE, FIRST_LOCATION = 0x10000 };

struct page { uintptr_t number; uint32_t *notes; };

static struct {
    struct page *pages;  /* a hash table */
    struct page cache[CACHED];
    uint32_t *free_notes;
    int64_t pages_known;
    struct { char *address, *copy; size_t size; } globals[8];
    int globals_known;
    uintptr_t base;
    char *locals, *locals_image;
    size_t locals_size, locals_filled, locals_module;
} memory STATE = {0};

uintptr_t mz_base(void) { return memory.base; }
EXPORTED int64_t mz_base_address(void) { return (int64_t)memory.base; }
EXPORTED int64_t mz_size_of_locals(void) { return (int64_t)memory.locals_size; }

/* Notes of bytes */

static uint32_t *find_notes(uintptr_t number) {
    uintptr_t slot = number * 0x9E3779B97F4A7C15ull >> 44;
    while (memory.pages[slot].notes && memory.pages[slot].number != number)
        slot = (slot + 1) & (PAGES - 1);
    struct page *page = &memory.pages[slot];
    if (!page->notes) {
        if (memory.pages_known == MOST_PAGES) {
            mz_refuse("the program touches more memory than can be watched");
            mz_give_up();
        }
        page->number = number;
        page->notes = memory.free_notes + memory.pages_known++ * (size_t)PAGE;
    }
    memory.cache[number & (CACHED - 1)] = *page;
    return page->notes;
}

static inline uint32_t *notes_of(uintptr_t address) {
    uintptr_t number = address / PAGE;
    struct page *cached = &memory.cache[number & (CACHED - 1)];
    uint32_t *notes = cached->number == number && cached->notes ? cached->notes : find_notes(number);
    return notes + address % PAGE;
}

/* Some bytes must be a location in the next search; a size below 0 is that of a lock or of an atomic
   variable. */
static void learn_place(uintptr_t address, int64_t size) {
    if (mz.learnt_known == MOST_LEARNT) mz_give_up();  /* the next search will learn more */
    mz.learnt[mz.learnt_known].address = address;
    mz.learnt[mz.learnt_known++].size = size;
    mz.has_news = 1;
}

static void learn(uintptr_t address, size_t size) { learn_place(address, (int64_t)size); }

static int64_t new_location(uintptr_t address, size_t size, bool is_sync) {
    if (mz.locations_known == MOST_LOCATIONS) {
        mz_refuse("threads share more than %d places", MOST_LOCATIONS);
        mz_give_up();
    }
    int64_t number = mz.locations_known++;
    mz.locations[number] = (struct location){address, (int64_t)size, is_sync};
    mz_lend_stack(address, size);
    for (size_t place = 0; place < size; place++)
        *notes_of(address + place) = FIRST_LOCATION + (uint32_t)number;
    if (mz_watch_location(address, size)) mz.has_news = 1;  /* that was no step */
    return number;
}

/* The location that a byte belongs to, or NOWHERE. */
int64_t mz_location_at(uintptr_t address) {
    uint32_t note = *notes_of(address);
    return note >= FIRST_LOCATION ? (int64_t)(note - FIRST_LOCATION) : NOWHERE;
}

/* The first location that has some of these bytes, or NOWHERE. */
static int64_t location_in(uintptr_t address, size_t size) {
    for (size_t place = 0; place < size; place++) {
        uint32_t note = *notes_of(address + place);
        if (note >= FIRST_LOCATION) return note - FIRST_LOCATION;
    }
    return NOWHERE;
}

static bool is_within(uintptr_t address, size_t size, int64_t location) {
    const struct location *one = &mz.locations[location];
    return address >= one->address && address + size <= one->address + (size_t)one->size;
}

/* The location of an access that is a step in any case. */
int64_t mz_location(uintptr_t address, size_t size, bool is_sync) {
    int64_t location = location_in(address, size);
    if (location >= 0) {
        if (!is_within(address, size, location)) {
            learn_place(address, -(int64_t)size);  /* the two will be one */
            mz_give_up();
        }
        if (mz.locations[location].size > 8) {  /* of something that is copied as a whole */
            learn_place(address, -(int64_t)size);
            mz_give_up();
        }
        mz.locations[location].is_sync |= is_sync;
        return location;
    }
    for (size_t place = 0; place < size; place++)
        if (*notes_of(address + place) != UNTOUCHED) mz.has_news = 1;  /* that was no step */
    return new_location(address, size, is_sync);
}

static bool conflicts(uint32_t note, struct thread *thread, bool is_write) {
    if (note == UNTOUCHED) return false;
    if (note == READ_BY_MANY) return is_write;
    if (note >= FIRST_LOCATION) return false;
    bool is_own = (int64_t)(note - FIRST_NOTE) / 2 == thread->number;
    bool was_written = (note - FIRST_NOTE) & 1;
    return !is_own && (is_write || was_written);
}

static uint32_t noted(uint32_t note, uint32_t own, bool is_write) {
    if (note == UNTOUCHED || note == own) return own | is_write;
    if (note == own + 1) return note;
    return is_write ? note : READ_BY_MANY;
}

/* A thread reads what is no step. Whether it does so again and again, and nothing else: then it may
   wait for another thread to write there. */
__attribute__((noinline)) static bool polls(struct thread *thread, uintptr_t address) {
    uint64_t now = thread->changes + (uint64_t)mz.position;
    if (thread->polled.since != now) {
        thread->polled.since = now;
        thread->polled.reads = thread->polled.count = 0;
        thread->polled.address = address;
    }
    if (address == thread->polled.address) return ++thread->polled.count >= MOST_POLLS;
    thread->polled.reads++;
    if ((thread->polled.reads & (thread->polled.reads - 1)) == 0) {  /* another one, now and then */
        thread->polled.address = address;
        thread->polled.count = 0;
    }
    return false;
}

static void note_own(struct thread *thread, uintptr_t address, size_t size, bool is_write,
                     uintptr_t place) {
    mz_check_freed(address, place);
    if (is_write) {
        if (!mz_is_on_stack(thread, address)) thread->changes++;
    } else if (polls(thread, address)) {  /* then this must be a step */
        learn(address, size);
        mz_give_up();
    }
}

/* The next lock or atomic variable from a place on that a larger access also covers; or the end. */
static uintptr_t next_lock(uintptr_t address, uintptr_t end) {
    for (; address < end; address++) {
        uint32_t note = *notes_of(address);
        if (note < FIRST_LOCATION) continue;
        const struct location *one = &mz.locations[note - FIRST_LOCATION];
        if (one->is_sync && one->size <= 8) return address;
    }
    return end;
}

static void access(struct thread *thread, uintptr_t address, size_t size, bool is_write,
                   uintptr_t place);

/* An access to a structure with locks in it: the locks are accessed one by one. All is written at
   once in the end, and then the values are known. */
static void access_in_parts(struct thread *thread, uintptr_t address, uintptr_t end, bool is_write,
                            uintptr_t place) {
    while (address < end) {
        uintptr_t lock = next_lock(address, end);
        if (lock > address) access(thread, address, lock - address, is_write, place);
        thread->writes_range = is_write;
        if (lock == end) break;
        const struct location *one = &mz.locations[mz_location_at(lock)];
        uintptr_t its_end = one->address + (uintptr_t)one->size;
        address = its_end < end ? its_end : end;
        mz_step_at(is_write ? STORE : LOAD, mz_location_at(lock), lock, (int)(address - lock) * 8, 0, 0,
                   FORM_PLAIN, place);
    }
    thread->writes_range = false;
}

/* The streams of C++ may be used by all threads, though part of their code is the program's. */
extern char _ZSt3cin[], _ZSt4cout[], _ZSt4cerr[], _ZSt4clog[];
#pragma weak _ZSt3cin
#pragma weak _ZSt4cout
#pragma weak _ZSt4cerr
#pragma weak _ZSt4clog

static bool is_standard_stream(uintptr_t address) {
    const char *streams[] = {_ZSt3cin, _ZSt4cout, _ZSt4cerr, _ZSt4clog};
    for (int place = 0; place < 4; place++)
        if (streams[place] && address - (uintptr_t)streams[place] < 280) return true;
    return false;
}

__attribute__((noinline)) static void access(struct thread *thread, uintptr_t address, size_t size,
                                             bool is_write, uintptr_t place) {
    if (is_standard_stream(address)) return;
    uintptr_t lock = next_lock(address, address + size);
    if (lock < address + size && !is_within(address, size, mz_location_at(lock))) {
        access_in_parts(thread, address, address + size, is_write, place);
        return;
    }
    uint32_t own = FIRST_NOTE + 2 * (uint32_t)thread->number;
    bool is_shared = false;
    for (size_t index = 0; index < size; index++) {
        uint32_t *note = notes_of(address + index);
        if (*note >= FIRST_LOCATION) continue;
        if (conflicts(*note, thread, is_write)) is_shared = true;
        else *note = noted(*note, own, is_write);
    }
    int64_t location = location_in(address, size);
    if (is_shared || (location >= 0 && !is_within(address, size, location))) learn(address, size);
    if (location < 0) {
        note_own(thread, address, size, is_write, place);
        return;
    }
    mz_clean_below();
    mz_step_at(is_write ? STORE : LOAD, location, address, (int)size * 8, 0, 0, FORM_PLAIN, place);
}

/* Where plain accesses are no steps, those to the locations of atomic operations and of locks still
   are, as searches must know the values of these. The values are known once all is written. */
static void announce_writes(struct thread *thread, uintptr_t address, size_t size, uintptr_t place) {
    thread->writes_range = false;
    for (size_t index = 0; index < size;) {
        int64_t location = mz_location_at(address + index);
        if (location < 0) {
            index++;
            continue;
        }
        const struct location *one = &mz.locations[location];
        size_t left = one->address + (size_t)one->size - (address + index);
        if (left > size - index) left = size - index;
        mz_step_at(STORE, location, address + index, (int)left * 8, 0, 0, FORM_PLAIN, place);
        thread->writes_range = true;
        index += left;
    }
    thread->writes_range = false;
}

/* A plain access that is no step is looked at for data races. */
__attribute__((noinline)) static void watch(struct thread *thread, uintptr_t address, size_t size, bool is_write,
                  uintptr_t place) {
    bool waits = !is_write && polls(thread, address);
    if (is_write && !mz_is_on_stack(thread, address)) thread->changes++;
    if (!mz_was_watched(thread, address, size, is_write)) {
        if (is_standard_stream(address)) return;
        mz_check_bounds(address, size, place);
        bool has_location = mz_watch(thread, address, size, is_write ? WRITES : READS, place);
        if (has_location && is_write) announce_writes(thread, address, size, place);
        mz_check_freed(address, place);
    }
    if (waits) mz_poll(thread, address);
}

/* Whether all of a few bytes are known to be written by one thread alone. */
static inline bool are_all(const uint32_t *notes, size_t size, uint32_t written) {
    uint64_t both = (uint64_t)written << 32 | written, differs = 0;
    if (size == 4 || size == 8) {
        for (size_t pair = 0; pair < size / 2; pair++) {
            uint64_t found;
            __builtin_memcpy(&found, notes + 2 * pair, sizeof found);
            differs |= found ^ both;
        }
        return !differs;
    }
    for (size_t index = 0; index < size; index++) differs |= notes[index] ^ written;
    return !differs;
}

/* A plain access, where it may be a step. */
__attribute__((noinline)) static void look_at(struct thread *thread, uintptr_t address, size_t size,
                                              bool is_write, uintptr_t place) {
    if (mz_in_heap(address)) mz_check_bounds(address, size, place);
    if (size <= 8 && address % PAGE <= PAGE - 8) {
        uint32_t written = FIRST_NOTE + 2 * (uint32_t)thread->number + 1;
        if (are_all(notes_of(address), size, written)) {
            if (is_write && mz_is_on_stack(thread, address)) return;
            note_own(thread, address, size, is_write, place);
            return;
        }
    }
    mz_clean_below();
    access(thread, address, size, is_write, place);
}

/* A plain access is announced. What is done then depends on what other threads have done before; the
   program's stack must not show it, as that would make states of loops differ. */
void mz_plain(uintptr_t address, size_t size, bool is_write, uintptr_t place) {
    struct thread *thread = mz.current;
    if (!thread) return;
    if (mz.only_sync) {
        watch(thread, address, size, is_write, place);
        return;
    }
    mz_clean_below();
    look_at(thread, address, size, is_write, place);
    mz_clean_far_below();
}

/* The library uses an object that it protects by itself, such as a file: a step if threads share
   it, and no data race. */
void mz_guarded(uintptr_t address, bool is_write, uintptr_t place) {
    struct thread *thread = mz.current;
    int64_t location = location_in(address, 8);
    if (location >= 0) {
        thread->ordering = IS_GIVEN | ACQUIRES | RELEASES;
        mz_step_at(is_write ? FETCH_ADD : LOAD, location, address, 64, 1, 0, FORM_ADD, place);
        return;
    }
    uint32_t own = FIRST_NOTE + 2 * (uint32_t)thread->number, *note = notes_of(address);
    if (conflicts(*note, thread, is_write)) learn(address, 8);
    else *note = noted(*note, own, is_write);
}

/* A block is freed: this writes to all of it that others may access. */
void mz_free_range(uintptr_t address, size_t size, uintptr_t place) {
    struct thread *thread = mz.current;
    if (mz.only_sync) {
        mz_watch(thread, address, size, FREES, place);
        return;
    }
    thread->is_freeing = true;
    for (size_t index = 0; index < size;) {
        uint32_t note = *notes_of(address + index);
        if (note < FIRST_LOCATION) {
            size_t run = 0;  /* bytes that another thread has accessed, up to the end of a word */
            while (index + run < size && (run == 0 || (address + index + run) % 8)
                   && conflicts(*notes_of(address + index + run), thread, true))
                run++;
            if (run) learn(address + index, run);
            index += run ? run : 1;
            continue;
        }
        int64_t location = note - FIRST_LOCATION;
        const struct location *one = &mz.locations[location];
        size_t left = one->address + (size_t)one->size - (address + index);
        if (location >= mz.frozen) mz.has_news = 1;  /* an earlier run knew nothing of it */
        else mz_step_at(STORE, location, one->address, (int)one->size * 8, 0, 0, FORM_PLAIN, place);
        index += left;
    }
    thread->is_freeing = false;
}

/* A location's value: its bytes, or what stands for them. */
uint64_t mz_value(int64_t location) {
    const struct location *one = &mz.locations[location];
    if (one->size <= 8) return mz_get(one->address, one->size);
    uint64_t value = 0;
    const unsigned char *bytes = (const unsigned char *)one->address;
    for (int64_t index = 0; index < one->size; index++) value = (value ^ bytes[index]) * 0x100000001b3;
    return value;
}

/* For Python: what was learnt becomes known, as a search begins. Overlapping places are one. */

static void forget(struct location *one) {
    for (int64_t byte = 0; byte < one->size; byte++)
        *notes_of(one->address + (uintptr_t)byte) = UNTOUCHED;
    one->size = 0;
}

/* A size below 0 is that of a lock or of an atomic variable, which stays apart from what it lies in. */
EXPORTED void mz_know(uintptr_t address, int64_t signed_size) {
    bool is_sync = signed_size < 0;
    uintptr_t end = address + (uintptr_t)(is_sync ? -signed_size : signed_size);
    for (int64_t number; (number = location_in(address, end - address)) >= 0;) {
        struct location *one = &mz.locations[number];
        uintptr_t its_begin = one->address, its_end = its_begin + (uintptr_t)one->size;
        bool is_larger = its_begin <= address && its_end >= end;
        if (is_larger && (one->is_sync || !is_sync || one->size <= 8)) {
            one->is_sync |= is_sync;
            return;
        }
        if (one->is_sync && !is_sync) {  /* what lies around it */
            if (address < its_begin) mz_know(address, (int64_t)(its_begin - address));
            if (its_end < end) mz_know(its_end, (int64_t)(end - its_end));
            return;
        }
        if (one->is_sync == is_sync) {
            if (its_begin < address) address = its_begin;
            if (its_end > end) end = its_end;
        }
        forget(one);
    }
    new_location(address, end - address, is_sync);
}

EXPORTED void mz_begin_search(void) {
    int64_t known = mz.learnt_known;
    mz.learnt_known = 0;
    for (int64_t place = 0; place < known; place++)
        mz_know(mz.learnt[place].address, mz.learnt[place].size);
    mz.frozen = mz.locations_known;
    mz.has_news = 0;
    mz_forget_records();
}

/* Globals and thread-local variables */

extern char __start_mz_state[], __stop_mz_state[];

static void keep_copy(uintptr_t begin, uintptr_t end) {
    if (begin >= end) return;
    size_t size = end - begin;
    char *copy = mz_map(NULL, size);
    if (!copy) return;
    mz_copy(copy, (void *)begin, size);
    int number = memory.globals_known++;
    memory.globals[number].address = (char *)begin;
    memory.globals[number].copy = copy;
    memory.globals[number].size = size;
}

static int look_at_object(struct dl_phdr_info *info, size_t size, void *unused) {
    (void)size;
    (void)unused;
    bool is_ours = false;
    uintptr_t constant_end = 0, constant_begin = 0;
    for (int place = 0; place < info->dlpi_phnum; place++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[place];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type == PT_LOAD && (uintptr_t)&mz >= begin && (uintptr_t)&mz < end)
            is_ours = true;
        if (part->p_type == PT_GNU_RELRO) {
            constant_begin = begin;
            constant_end = (end + PAGE - 1) / PAGE * PAGE;
        }
    }
    if (!is_ours) return 0;
    memory.base = info->dlpi_addr;
    uintptr_t own_begin = (uintptr_t)__start_mz_state, own_end = (uintptr_t)__stop_mz_state;
    for (int place = 0; place < info->dlpi_phnum; place++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[place];
        uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
        if (part->p_type == PT_LOAD && part->p_flags & PF_W) {
            if (constant_begin <= begin && begin < constant_end) begin = constant_end;
            if (own_begin >= begin && own_end <= end) {
                keep_copy(begin, own_begin);
                keep_copy(own_end, end);
            } else {
                keep_copy(begin, end);
            }
        } else if (part->p_type == PT_GNU_STACK && part->p_flags & PF_X) {
            mz_make_stacks_executable();
        } else if (part->p_type == PT_TLS) {
            memory.locals_image = (char *)begin;
            memory.locals_filled = part->p_filesz;
            memory.locals_size = (part->p_memsz + 63) / 64 * 64;
            memory.locals_module = info->dlpi_tls_modid;
        }
    }
    return 1;
}

void mz_map_memory(void) {
    memory.pages = mz_map(NULL, PAGES * sizeof(struct page));
    memory.free_notes = mz_map(NULL, (size_t)MOST_PAGES * PAGE * sizeof *memory.free_notes);
}

void mz_find_globals(void) {
    dl_iterate_phdr(look_at_object, NULL);
    if (memory.locals_size)
        memory.locals = mz_map((void *)0x610000000000, MOST_THREADS * memory.locals_size);
}

void mz_restore_globals(void) {
    for (int place = 0; place < memory.globals_known; place++)
        mz_copy(memory.globals[place].address, memory.globals[place].copy,
               memory.globals[place].size);
}

void mz_new_locals(struct thread *thread) {
    if (!memory.locals_size) return;
    thread->locals = memory.locals + (size_t)thread->number * memory.locals_size;
    mz_copy(thread->locals, memory.locals_image, memory.locals_filled);
    mz_fill(thread->locals + memory.locals_filled, 0, memory.locals_size - memory.locals_filled);
}

/* Called by code that accesses a thread-local variable of the program. */
struct index { unsigned long module, offset; };

void *__tls_get_addr(struct index *index) {
    if (mz.current && index->module == memory.locals_module) return mz.current->locals + index->offset;
    mz_refuse("a thread-local variable is used before main, or is not the program's own");
    if (mz.current) mz_give_up();
    static char nowhere[1 << 16] STATE;
    return nowhere + index->offset % sizeof nowhere;
}

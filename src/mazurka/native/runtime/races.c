/* Data races, when accesses are no steps: two accesses to the same bytes, of which one writes and one
   is not atomic, and nothing orders them, as C11 has it (5.1.2.4).

   What happens before what is known from vector clocks. Time is one number that only grows, over all
   executions: so what earlier executions have left here is known to everybody, and nothing has to
   be put back. A thread's time moves on when it releases something. For each four bytes is kept who
   wrote last, and who has read since; for each location of atomic operations, when each thread has
   read it and changed it. The first race of an execution is kept; then no more is looked for. */
#include "state.h"

enum { PAGE = 4096, PAGES = 1 << 20, MOST_PAGES = 1 << 18, CACHED = 4096 };
enum { UNIT = 4, UNITS = PAGE / UNIT, MOST_READS = 1 << 20, MOST_SPLIT = 1 << 22 };

/* What is known of some bytes. A stamp is a time and a thread: 0 if there was no access. */
struct cell {
    uint64_t write, read;
    uint32_t write_place, read_place;
    uint32_t more_reads;  /* reads by others that are not ordered: a list, or 0 */
    uint32_t split;  /* the cells of single bytes, as accesses overlap in part; or 0 */
    unsigned char mask;  /* the bytes that all accesses so far were to */
    bool has_location, was_freed;
};
struct read { uint64_t stamp; uint32_t place, next; };
struct shadow_page { uintptr_t number; struct cell *cells; };

/* What a location of atomic operations, or of a lock, has to do with a thread. */
struct part { uint64_t released, read, changed; uint32_t read_place, change_place; };
struct sync { uint64_t execution; struct part *parts; };

static struct {
    struct shadow_page *pages;  /* a hash table */
    struct shadow_page cache[CACHED];
    struct cell *free_cells, (*split)[UNIT];
    struct read *reads;
    struct sync *syncs;
    struct part (*free_parts)[MOST_THREADS];
    int64_t pages_known, splits_known, reads_known, parts_known;
    uint64_t now, begin;  /* begin: of this execution */
    struct race void_race;  /* which counts if an atomic section comes to its end: see sections.c */
    int64_t has_void;
} races STATE = {0};

struct race mz_race STATE = {0};

void mz_map_races(void) {
    races.pages = mz_map(NULL, PAGES * sizeof *races.pages);
    races.free_cells = mz_map(NULL, (size_t)MOST_PAGES * UNITS * sizeof *races.free_cells);
    races.split = mz_map(NULL, (size_t)MOST_SPLIT * sizeof *races.split);
    races.reads = mz_map(NULL, (size_t)MOST_READS * sizeof *races.reads);
    races.syncs = mz_map(NULL, (size_t)MOST_LOCATIONS * sizeof *races.syncs);
    races.free_parts = mz_map(NULL, (size_t)MOST_LOCATIONS * sizeof *races.free_parts);
}

/* Cells */

static struct cell *find_cells(uintptr_t number) {
    uintptr_t slot = number * 0x9E3779B97F4A7C15ull >> 44;
    while (races.pages[slot].cells && races.pages[slot].number != number)
        slot = (slot + 1) & (PAGES - 1);
    struct shadow_page *page = &races.pages[slot];
    if (!page->cells) {
        if (races.pages_known == MOST_PAGES) {
            mz_refuse("the program touches more memory than can be watched for data races");
            mz_give_up();
        }
        page->number = number;
        page->cells = races.free_cells + races.pages_known++ * (size_t)UNITS;
    }
    races.cache[number & (CACHED - 1)] = *page;
    return page->cells;
}

static inline struct cell *cell_at(uintptr_t address) {
    uintptr_t number = address / PAGE;
    const struct shadow_page *cached = &races.cache[number & (CACHED - 1)];
    struct cell *cells =
        cached->number == number && cached->cells ? cached->cells : find_cells(number);
    return cells + address % PAGE / UNIT;
}

/* Whether some of a page was accessed: what is not, need not be looked at. */
static bool has_cells(uintptr_t address) {
    uintptr_t number = address / PAGE, slot = number * 0x9E3779B97F4A7C15ull >> 44;
    while (races.pages[slot].cells && races.pages[slot].number != number)
        slot = (slot + 1) & (PAGES - 1);
    return races.pages[slot].cells != NULL;
}

/* The cells of the single bytes of a unit, from now on. */
static struct cell *split_cell(struct cell *cell) {
    if (!cell->split) {
        if (races.splits_known + 1 >= MOST_SPLIT) {
            mz_refuse("the program accesses too many bytes in different ways to be watched");
            mz_give_up();
        }
        cell->split = (uint32_t)++races.splits_known;
        struct cell *bytes = races.split[cell->split];
        for (int byte = 0; byte < UNIT; byte++) {
            bytes[byte] = (struct cell){0};
            if (cell->mask >> byte & 1) bytes[byte] = *cell;
            bytes[byte].split = 0;
            bytes[byte].mask = 1;
        }
        cell->mask = 0;  /* no access is like the earlier ones any more */
    }
    return races.split[cell->split];
}

/* Races */

static bool is_known(uint64_t stamp, const struct thread *thread) {
    int64_t other = (int64_t)(stamp & 0xff);
    return other == thread->number || stamp >> 8 <= thread->known[other];
}

/* A place in the code, or 0: where a thread ends, say. */
static uint32_t short_place(const struct thread *thread, uintptr_t place) {
    if (thread->caller) place = thread->caller;
    return place ? (uint32_t)(place - mz_base()) : 0;
}

static void note_race(struct thread *thread, uintptr_t address, uint64_t stamp, uint32_t place,
                      int first_kind, int second_kind, uintptr_t second_place) {
    bool is_void = mz_is_void(thread) || mz_is_void(&mz.threads[stamp & 0xff]);
    if (mz.has_race || (is_void && races.has_void)) return;
    struct race *race = is_void ? &races.void_race : &mz_race;
    *(is_void ? &races.has_void : &mz.has_race) = 1;
    *race = (struct race){
        .address = (int64_t)address,
        .first = (int64_t)(stamp & 0xff),
        .first_kind = first_kind,
        .first_place = place,
        .second = thread->number,
        .second_kind = second_kind,
        .second_place = short_place(thread, second_place),
        .position = mz.position,
    };
}

/* A race that was void counts. */
void mz_settle_race(void) {
    if (races.has_void && !mz.has_race) {
        mz_race = races.void_race;
        mz.has_race = 1;
    }
    races.has_void = 0;
}

/* Whether the reads of a cell are all of earlier executions, or known. */
static void compare_reads(struct thread *thread, const struct cell *cell, uintptr_t address,
                          int kind, uintptr_t place) {
    if (cell->read && !is_known(cell->read, thread))
        note_race(thread, address, cell->read, cell->read_place, READS, kind, place);
    if (cell->read >> 8 <= races.begin) return;
    for (uint32_t at = cell->more_reads; at; at = races.reads[at].next)
        if (!is_known(races.reads[at].stamp, thread))
            note_race(thread, address, races.reads[at].stamp, races.reads[at].place, READS, kind,
                      place);
}

static void compare_write(struct thread *thread, const struct cell *cell, uintptr_t address,
                          int kind, uintptr_t place) {
    if (cell->write && !is_known(cell->write, thread))
        note_race(thread, address, cell->write, cell->write_place,
                  cell->was_freed ? FREES : WRITES, kind, place);
}

static void add_read(struct thread *thread, struct cell *cell, uintptr_t place) {
    bool is_fresh = cell->read >> 8 > races.begin;
    for (uint32_t at = is_fresh ? cell->more_reads : 0; at; at = races.reads[at].next) {
        if ((int64_t)(races.reads[at].stamp & 0xff) == thread->number) {
            races.reads[at].stamp = thread->stamp;
            races.reads[at].place = short_place(thread, place);
            return;
        }
    }
    if (is_fresh && !is_known(cell->read, thread)) {  /* keep the other one, too */
        if (races.reads_known + 1 >= MOST_READS) {
            mz_refuse("too many threads read the same memory to be watched for data races");
            mz_give_up();
        }
        uint32_t at = (uint32_t)++races.reads_known;
        races.reads[at] = (struct read){cell->read, cell->read_place, cell->more_reads};
        cell->more_reads = at;
    } else if (!is_fresh) {
        cell->more_reads = 0;
    }
    cell->read = thread->stamp;
    cell->read_place = short_place(thread, place);
}

static void access_cell(struct thread *thread, struct cell *cell, uintptr_t address, int kind,
                        uintptr_t place) {
    bool is_repeated = cell->write == thread->stamp && !cell->was_freed;
    if (is_repeated && (kind == READS || (kind == WRITES && !cell->read))) return;
    compare_write(thread, cell, address, kind, place);
    if (kind == READS) {
        if (cell->read != thread->stamp) add_read(thread, cell, place);
        return;
    }
    compare_reads(thread, cell, address, kind, place);
    cell->write = thread->stamp;
    cell->write_place = short_place(thread, place);
    cell->was_freed = kind == FREES;
    cell->read = 0;
    cell->more_reads = 0;
}

/* Atomic operations on the same bytes are no races among each other, but with plain accesses. */
static void compare_atomics(struct thread *thread, int64_t location, int kind, uintptr_t place) {
    const struct sync *sync = &races.syncs[location];
    if (sync->execution != races.begin) return;
    for (int64_t other = 0; other < mz.threads_known; other++) {
        const struct part *part = &sync->parts[other];
        uintptr_t address = mz.locations[location].address;
        if (part->changed > thread->known[other] && other != thread->number)
            note_race(thread, address, part->changed << 8 | (uint64_t)other, part->change_place,
                      CHANGES_ATOMICALLY, kind, place);
        if (kind != READS && part->read > thread->known[other] && other != thread->number)
            note_race(thread, address, part->read << 8 | (uint64_t)other, part->read_place,
                      READS_ATOMICALLY, kind, place);
    }
}

/* An access to some bytes of one unit. */
static void access_unit(struct thread *thread, struct cell *cell, uintptr_t address, unsigned mask,
                        int kind, uintptr_t place) {
    if (cell->has_location) {
        int64_t latest = NOWHERE;
        for (int byte = 0; byte < UNIT; byte++) {
            int64_t location = mask >> byte & 1 ? mz_location_at(address / UNIT * UNIT + byte) : NOWHERE;
            if (location >= 0 && location != latest) compare_atomics(thread, location, kind, place);
            latest = location;
        }
    }
    if (!cell->mask && !cell->split) cell->mask = (unsigned char)mask;
    if (!cell->split && cell->mask == mask) {
        access_cell(thread, cell, address, kind, place);
        return;
    }
    struct cell *bytes = split_cell(cell);
    for (int byte = 0; byte < UNIT; byte++)
        if (mask >> byte & 1)
            access_cell(thread, &bytes[byte], address / UNIT * UNIT + (unsigned)byte, kind, place);
}

static unsigned mask_in(uintptr_t unit, uintptr_t address, uintptr_t end) {
    unsigned from = address > unit ? (unsigned)(address - unit) : 0;
    unsigned to = end < unit + UNIT ? (unsigned)(end - unit) : UNIT;
    return (1u << to) - (1u << from);
}

static inline bool is_repeated(const struct cell *cell, unsigned mask, bool is_write,
                               uint64_t stamp) {
    if (cell->mask != mask || cell->has_location || cell->was_freed) return false;
    return cell->write == stamp ? !is_write || !cell->read : !is_write && cell->read == stamp;
}

/* A plain access. Gives whether some of it belongs to a location of atomic operations. */
bool mz_watch(struct thread *thread, uintptr_t address, size_t size, int kind, uintptr_t place) {
    bool has_location = false;
    uintptr_t end = address + size;
    if (kind != FREES && !mz_is_on_stack(thread, address)) mz_lend_stack(address, size);
    for (uintptr_t unit = address / UNIT * UNIT; unit < end; unit += UNIT) {
        if (kind == FREES && !has_cells(unit)) continue;
        struct cell *cell = cell_at(unit);
        unsigned mask = mask_in(unit, address, end);
        if (kind != FREES && is_repeated(cell, mask, kind == WRITES, thread->stamp)) continue;
        access_unit(thread, cell, unit < address ? address : unit, mask, kind, place);
        has_location |= cell->has_location;
    }
    return has_location;
}

/* The most usual accesses: the thread has done the same before, since its time has moved on. */
bool mz_was_watched(const struct thread *thread, uintptr_t address, size_t size, bool is_write) {
    const struct cell *cell = cell_at(address);
    if (size < UNIT) {
        if (address % UNIT + size > UNIT) return false;
        unsigned mask = ((1u << size) - 1) << address % UNIT;
        return is_repeated(cell, mask, is_write, thread->stamp);
    }
    if (size > 8 || address % size) return false;
    return is_repeated(cell, 15, is_write, thread->stamp)
           && (size == UNIT || is_repeated(cell + 1, 15, is_write, thread->stamp));
}

/* Some bytes are a location from now on. Gives whether some were written in another way before. */
bool mz_watch_location(uintptr_t address, size_t size) {
    bool was_written = false;
    for (uintptr_t unit = address / UNIT * UNIT; unit < address + size; unit += UNIT) {
        struct cell *cell = cell_at(unit);
        cell->has_location = true;
        was_written |= cell->write != 0 || cell->split != 0;
    }
    return was_written;
}

/* What happens before what */

static void begin_time(struct thread *thread) {
    races.now++;
    thread->known[thread->number] = races.now;
    thread->stamp = races.now << 8 | (uint64_t)thread->number;
}

static void learn_all(uint64_t *known, const uint64_t *more) {
    for (int64_t other = 0; other < mz.threads_known; other++)
        if (more[other] > known[other]) known[other] = more[other];
}

void mz_begin_races(struct thread *first) {
    mz.has_race = races.has_void = 0;
    races.reads_known = 0;
    races.begin = ++races.now;
    for (int64_t other = 0; other < MOST_THREADS; other++) first->known[other] = races.begin;
    first->fences = NO_FENCES;
    begin_time(first);
}

/* A thread is made, and knows what its maker does. */
void mz_order_spawn(struct thread *parent, struct thread *child) {
    mz_copy(child->known, parent->known, sizeof child->known);
    child->fences = NO_FENCES;
    begin_time(child);
    begin_time(parent);
}

void mz_order_join(struct thread *thread, const struct thread *ended) {
    learn_all(thread->known, ended->known);
}

/* A fence: C11, 7.17.4. What atomic operations read before it is known from now on; what they write
   after it tells what is known now. */
void mz_order_fence(struct thread *thread, int order) {
    if ((order & ACQUIRES) && (thread->fences & HAS_READ)) learn_all(thread->known, thread->has_read);
    if (order & RELEASES) {
        mz_copy(thread->had_known, thread->known, sizeof thread->known);
        thread->fences |= HAS_RELEASED;
        begin_time(thread);
    }
}

static struct sync *sync_of(int64_t location) {
    struct sync *sync = &races.syncs[location];
    if (!sync->parts) sync->parts = races.free_parts[races.parts_known++];
    if (sync->execution != races.begin) {
        mz_fill(sync->parts, 0, (size_t)mz.threads_known * sizeof *sync->parts);
        sync->execution = races.begin;
    }
    return sync;
}

static void acquire(struct thread *thread, const struct sync *sync, bool is_relaxed) {
    if (is_relaxed && !(thread->fences & HAS_READ)) {
        mz_fill(thread->has_read, 0, sizeof thread->has_read);
        thread->fences |= HAS_READ;
    }
    uint64_t *known = is_relaxed ? thread->has_read : thread->known;
    for (int64_t other = 0; other < mz.threads_known; other++)
        if (sync->parts[other].released > known[other]) known[other] = sync->parts[other].released;
}

/* What whoever acquires from here will know. A store ends what earlier ones have begun (of the same
   thread, too, as C++20 has it), a read-modify-write goes on with it. */
static void release(struct thread *thread, struct sync *sync, bool is_relaxed, bool replaces) {
    const uint64_t *known = thread->known;
    if (is_relaxed) known = thread->fences & HAS_RELEASED ? thread->had_known : NULL;
    for (int64_t other = 0; other < mz.threads_known; other++) {
        struct part *part = &sync->parts[other];
        if (replaces) part->released = 0;
        if (known && known[other] > part->released) part->released = known[other];
    }
}

/* What operations on locks and the like order, by their kind; atomics say so themselves. */
static int usual_order(int64_t kind, int mode) {
    switch (kind) {
        case ACQUIRE: case TRY_ACQUIRE: case READ_ACQUIRE: case WRITE_ACQUIRE:
        case READ_TRY_ACQUIRE: case WRITE_TRY_ACQUIRE:
        case SEMAPHORE_ACQUIRE: case SEMAPHORE_TRY_ACQUIRE:
            return mode == MODE_READ ? 0 : ACQUIRES;
        case RELEASE: case SEMAPHORE_RELEASE: return RELEASES;
        default: return 0;
    }
}

/* A thread has made a step on a location of atomic operations. */
void mz_order_step(struct thread *thread, int order, int failing_order, uintptr_t place) {
    const struct step *step = &thread->standing;
    int mode = (int)step->mode;
    if (!(order & IS_GIVEN)) order = usual_order(step->kind, mode);
    else if (step->kind == COMPARE_EXCHANGE && mode == MODE_READ) order = failing_order;
    struct sync *sync = sync_of(step->location);
    bool is_atomic = order & IS_ATOMIC, reads = step->kind != STORE;
    if (reads && (is_atomic || order & ACQUIRES)) acquire(thread, sync, !(order & ACQUIRES));

    uintptr_t end = thread->address + (uintptr_t)step->width / 8;
    for (uintptr_t unit = thread->address / UNIT * UNIT; unit < end; unit += UNIT) {
        struct cell *cell = cell_at(unit), *bytes = cell->split ? races.split[cell->split] : NULL;
        unsigned mask = mask_in(unit, thread->address, end);
        int kind = mode == MODE_READ ? READS_ATOMICALLY : CHANGES_ATOMICALLY;
        for (int byte = 0; byte < (bytes ? UNIT : 1); byte++) {
            const struct cell *one = bytes ? &bytes[byte] : cell;
            if (!(bytes ? mask >> byte & 1 : cell->mask & mask)) continue;
            compare_write(thread, one, thread->address, kind, place);
            if (mode != MODE_READ) compare_reads(thread, one, thread->address, kind, place);
        }
    }
    struct part *own = &sync->parts[thread->number];
    uint64_t now = thread->stamp >> 8;
    if (mode == MODE_READ) own->read = now, own->read_place = short_place(thread, place);
    else own->changed = now, own->change_place = short_place(thread, place);
    if (mode == MODE_READ) return;
    release(thread, sync, !(order & RELEASES), step->kind == STORE && is_atomic);
    if (order & RELEASES) begin_time(thread);
}

EXPORTED struct race *mz_race_found(void) { return &mz_race; }

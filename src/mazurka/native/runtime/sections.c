/* Atomic sections, as SV-COMP has them: what a thread does between __VERIFIER_atomic_begin and
   __VERIFIER_atomic_end, or in a function whose name begins with __VERIFIER_atomic_, happens at once.

   A section is a lock that all sections take. What others do outside of sections may still come
   between. Such an execution counts if it is equivalent to one in which nothing does: if nothing that
   comes after a step of the section comes before a later one. Else the thread goes no further, and
   what others do after such a step is void: they cannot have seen half of a section. */
#include "state.h"

/* How a section, and what comes after a step of it, have accessed a location: a bit for each mode. */
struct mark { uint64_t section; unsigned char inside, after; };

static uint32_t atomic_section STATE = 0;  /* the lock */
static struct {
    uint64_t section;  /* the latest one, of all executions */
    int64_t holder;
    uint64_t after[MOST_THREADS];  /* for each thread, the section that it comes after a step of */
    struct mark *marks;  /* by location */
} sections STATE = {0};

/* Whether there was one so far, in any execution. */
EXPORTED int64_t mz_has_sections(void) { return sections.section != 0; }

void mz_map_sections(void) {
    sections.marks = mz_map(NULL, (size_t)MOST_LOCATIONS * sizeof *sections.marks);
}

void mz_begin_sections(void) {
    atomic_section = 0;
    mz.in_section = false;
}

static bool comes_after(int64_t thread) { return sections.after[thread] == sections.section; }

/* Whether what a thread does counts only if the section that is open comes to its end. */
bool mz_is_void(const struct thread *thread) { return mz.in_section && comes_after(thread->number); }

static bool conflicts(unsigned modes, int64_t mode) {
    unsigned others = modes & ~(1u << mode);
    return others || (modes && mode == MODE_WRITE);
}

static bool is_broken_by_thread(const struct step *step) {
    bool is_inside = step->thread == sections.holder;
    if (step->kind == SPAWN && (is_inside || comes_after(step->thread)))
        sections.after[step->choice] = sections.section;
    if (step->kind != JOIN || !comes_after(step->choice)) return false;
    if (!is_inside) sections.after[step->thread] = sections.section;
    return is_inside;
}

/* A step is made while a section is open; gives whether it cannot be, if that is to happen at once. */
bool mz_breaks_section(const struct step *step) {
    if (step->location < 0) return is_broken_by_thread(step);
    struct mark *mark = &sections.marks[step->location];
    if (mark->section != sections.section) *mark = (struct mark){.section = sections.section};
    unsigned char mode = (unsigned char)(1 << step->mode);
    bool is_after = conflicts(mark->after, step->mode);
    if (step->thread == sections.holder) {
        mark->inside |= mode;
        return is_after;
    }
    if (is_after || conflicts(mark->inside, step->mode)) sections.after[step->thread] = sections.section;
    if (comes_after(step->thread)) mark->after |= mode;
    return false;
}

static void enter(uintptr_t place) {
    struct thread *thread = mz.current;
    if (thread->sections++) return;
    mz_step(ACQUIRE, (uintptr_t)&atomic_section, 4, 0, 0, 0, place);
    sections.section++;
    sections.holder = thread->number;
    mz.in_section = true;
}

static void leave(uintptr_t place) {
    struct thread *thread = mz.current;
    if (!thread->sections) mz_fail(NOT_HELD, place, "");
    if (--thread->sections) return;
    mz_step(RELEASE, (uintptr_t)&atomic_section, 4, 0, 0, 0, place);
    mz_settle_failures();
    mz.in_section = false;
}

__attribute__((weak)) void __VERIFIER_atomic_begin(void) { enter(PLACE); }
__attribute__((weak)) void __VERIFIER_atomic_end(void) { leave(PLACE); }

/* Functions with such names. Python says where they are: pairs of places. */

enum { ATOMIC, ASSUMES };

static bool is_in(int kind, uintptr_t place) {
    const struct functions *functions = &mz.functions[kind];
    int64_t offset = (int64_t)(place - mz_base());
    for (int64_t at = 0; at < functions->known; at++)
        if (functions->places[2 * at] <= offset && offset <= functions->places[2 * at + 1]) return true;
    return false;
}

/* The table must stay where it is. */
EXPORTED void mz_know_functions(int kind, const int64_t *places, int64_t count) {
    mz.functions[kind] = (struct functions){places, count};
}

void __tsan_func_entry(void *caller) {
    (void)caller;
    if (mz.functions[ATOMIC].known && mz.current && is_in(ATOMIC, PLACE)) enter(PLACE);
}
void __tsan_func_exit(void) {
    if (mz.functions[ATOMIC].known && mz.current && is_in(ATOMIC, PLACE)) leave(PLACE);
}

/* SV-COMP's programs assume by a function that calls abort. */
bool mz_is_assumption(uintptr_t place) { return is_in(ASSUMES, place); }

/* Loops that wait: a thread that comes to the same place in the same state goes round in a loop, and
   does nothing there but look. It need not: that it looks when what it waits for has come is another
   execution. So it is left there.

   The state of a thread is its stack and the registers that calls preserve, as nothing else was
   changed by it in the meantime. Hooks are calls, so no other register holds anything. */
#include "state.h"

enum { MOST_STATE = 16 << 10 };

void mz_map_visits(void) {
    char *copies = mz_map(NULL, (size_t)MOST_THREADS * MOST_STATE);
    for (int number = 0; copies && number < MOST_THREADS; number++)
        mz.threads[number].visit.copy = copies + (size_t)number * MOST_STATE;
}

static bool may_only_look(int64_t kind) {
    return kind == LOAD || kind == EXCHANGE || kind == COMPARE_EXCHANGE || kind == TRY_ACQUIRE
           || kind == SEMAPHORE_TRY_ACQUIRE || kind == READ_TRY_ACQUIRE
           || kind == WRITE_TRY_ACQUIRE;
}

static bool are_equal(const char *one, const char *other, size_t size) {
    const uint64_t *left = (const uint64_t *)one, *right = (const uint64_t *)other;
    for (size_t place = 0; place < size / 8; place++)
        if (left[place] != right[place]) return false;
    return true;
}

static void copy_words(char *to, const char *from, size_t size) {  /* quicker for a few */
    uint64_t *left = (uint64_t *)to;
    const uint64_t *right = (const uint64_t *)from;
    for (size_t place = 0; place < size / 8; place++) left[place] = right[place];
}

/* The state of a thread is compared with that of an earlier visit; which one this is goes by powers
   of two, so that rounds of any length are found. */
static void compare_state(struct thread *thread) {
    struct visit *visit = &thread->visit;
    const struct step *step = &thread->standing;
    const char *state = thread->programs_stack_pointer;
    size_t size = (size_t)((char *)thread->stack_top - state);
    if (visit->changes != thread->changes || !visit->size) thread->reads = 0;
    else if (visit->size == size && visit->kind == step->kind && visit->location == step->location
             && are_equal(visit->copy, state, size)) {
        thread->spins = visit->step + 1;
        mz_give_up();
    }
    thread->reads++;
    if ((thread->reads & (thread->reads - 1)) || size > MOST_STATE) return;
    visit->changes = thread->changes;
    visit->step = mz.position;
    visit->kind = step->kind;
    visit->location = step->location;
    visit->size = size;
    copy_words(visit->copy, state, size);
}

/* A thread comes to an operation that may only look. */
void mz_note_read(struct thread *thread) {
    if (may_only_look(thread->standing.kind)) compare_state(thread);
}

/* A thread reads once more what is no step. */
void mz_note_poll(struct thread *thread) { compare_state(thread); }

/* Whether all that a thread has looked at in its round is still as it found it. */
bool mz_spins_for_ever(struct thread *thread) {
    for (int64_t place = thread->spins - 1; place < mz.position; place++) {
        const struct step *step = &mz.steps[place];
        if (step->thread == thread->number && step->location >= 0
            && (int64_t)mz_value(step->location) != step->before)
            return false;
    }
    return true;
}

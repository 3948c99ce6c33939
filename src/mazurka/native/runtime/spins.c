/* Loops that wait: a thread that comes to the same place in the same state goes round in a loop, and
   does nothing there but look. It need not: that it looks when what it waits for has come is another
   execution. So it is left there.

   The state of a thread is its stack and the registers that calls preserve, as nothing else was
   changed by it in the meantime, or was put back before anybody saw it (a lock, say). Hooks are calls, so no other register holds anything. */
#include "state.h"

enum { MOST_STATE = 16 << 10, MOST_ROUNDS = 256 };

/* Where a thread came by since its latest change that cannot be put back. */
struct visit { int64_t step, kind, location, own_steps; uint64_t net; size_t size; };

static struct {
    char *copies;  /* of stacks */
    struct visit (*visits)[MOST_VISITS];
    struct round { uint64_t place; int64_t rounds; } (*rounds)[MOST_ROUNDS];
} spins STATE = {0};

void mz_map_visits(void) {
    spins.copies = mz_map(NULL, (size_t)MOST_THREADS * MOST_VISITS * MOST_STATE);
    spins.visits = mz_map(NULL, (size_t)MOST_THREADS * sizeof *spins.visits);
    spins.rounds = mz_map(NULL, (size_t)MOST_THREADS * sizeof *spins.rounds);
}

static char *copy_of(const struct thread *thread, int64_t place) {
    return spins.copies + (size_t)(thread->number * MOST_VISITS + place) * MOST_STATE;
}

static bool may_only_look(const struct step *step) {
    int64_t kind = step->kind;
    return kind == CHOOSE || kind == LOAD || kind == EXCHANGE || kind == COMPARE_EXCHANGE || kind == TRY_ACQUIRE
           || kind == SEMAPHORE_TRY_ACQUIRE || kind == READ_TRY_ACQUIRE
           || kind == WRITE_TRY_ACQUIRE || kind == ACQUIRE || kind == SEMAPHORE_ACQUIRE
           || (kind == FETCH_ADD && !step->first);
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

/* What a thread changes in its locations adds up to 0 if it puts all of it back. */
static uint64_t mixed(int64_t location, int64_t value) {
    uint64_t mix = ((uint64_t)location + 1) * 0x9E3779B97F4A7C15ull ^ (uint64_t)value;
    mix = (mix ^ mix >> 32) * 0xD6E8FEB86659FD93ull;
    return mix ^ mix >> 29;
}

void mz_note_change(struct thread *thread, const struct step *step) {
    if (step->after != step->before)
        thread->net += mixed(step->location, step->after) - mixed(step->location, step->before);
}

static bool is_own_change(const struct thread *thread, int64_t place, int64_t location) {
    const struct step *step = &mz.steps[place];
    return step->thread == thread->number && step->after != step->before
           && step->location == location;
}

static bool is_of_a_lock(int64_t kind) {
    return kind == ACQUIRE || kind == TRY_ACQUIRE || kind == RELEASE;
}

/* Whether others have accessed what the thread has changed since a step, before it was put back. */
static bool was_seen(const struct thread *thread, int64_t begin) {
    for (int64_t first = begin; first < mz.position; first++) {
        int64_t location = mz.steps[first].location, last = mz.position - 1;
        if (!is_own_change(thread, first, location)) continue;
        while (!is_own_change(thread, last, location)) last--;
        if (mz.unroll && !is_of_a_lock(mz.steps[first].kind)) return true;  /* bounded, as it asks */
        for (int64_t place = first; place < last; place++)
            if (mz.steps[place].location == location && mz.steps[place].thread != thread->number)
                return true;
    }
    return false;
}

/* Every model checker cuts loops that do nothing but poll. */
static bool only_polls(const struct thread *thread, const struct visit *visit) {
    return visit->kind == MODE_NONE
           || (visit->kind == LOAD && thread->own_steps == visit->own_steps + 1);
}

/* Whether a thread has chosen something since a step. If it had chosen otherwise, it might have come out
   of the loop. */
static bool has_chosen(const struct thread *thread, int64_t begin) {
    for (int64_t place = begin; place < mz.position; place++)
        if (mz.steps[place].thread == thread->number && mz.steps[place].kind == CHOOSE) return true;
    return false;
}

/* The state of a thread is compared with those of its earlier visits. Of many visits, those are kept
   that came first; and one more, by powers of two, so that rounds of any length are found. Gives
   whether it goes round. */
static bool compare_state(struct thread *thread) {
    const struct step *step = &thread->standing;
    const char *state = thread->programs_stack_pointer;
    size_t size = (size_t)((char *)thread->stack_top - state);
    struct visit *visits = spins.visits[thread->number];
    if (thread->visits_since != thread->changes) thread->visits = 0;
    thread->visits_since = thread->changes;
    int64_t known = thread->visits < MOST_VISITS ? thread->visits : MOST_VISITS;
    for (int64_t place = 0; place < known; place++) {
        const struct visit *visit = &visits[place];
        if (visit->size == size && visit->kind == step->kind && visit->location == step->location
            && visit->net == thread->net && (!mz.keeps_rounds || only_polls(thread, visit))
            && are_equal(copy_of(thread, place), state, size) && !was_seen(thread, visit->step)) {
            thread->spins = visit->step + 1;
            if (has_chosen(thread, visit->step)) mz.repeats_choices = 1;
            return true;
        }
    }
    int64_t number = thread->visits++;
    if (size > MOST_STATE || (number >= MOST_VISITS && (number & (number - 1)))) return false;
    int64_t place = number < MOST_VISITS ? number : MOST_VISITS - 1;
    visits[place] = (struct visit){mz.position,       step->kind,  step->location,
                                   thread->own_steps, thread->net, size};
    copy_words(copy_of(thread, place), state, size);
    return false;
}

/* A thread comes to an operation that may only look. */
void mz_note_read(struct thread *thread) {
    if (may_only_look(&thread->standing) && compare_state(thread)) mz_give_up();
}

/* A thread reads once more what is no step. */
void mz_note_poll(struct thread *thread) {
    bool goes_round = compare_state(thread);
    thread->standing.location = NOWHERE;  /* it was an address */
    if (goes_round) mz_give_up();
}

/* Whether a step is in the last round of a thread that goes round in a loop. */
static bool is_of_a_round(const struct step *step, int64_t place) {
    const struct thread *thread = &mz.threads[step->thread];
    return thread->spins && place >= thread->spins - 1;
}

/* Whether nobody has changed what a thread has looked at in its round, but others in such rounds. */
bool mz_spins_for_ever(struct thread *thread) {
    if (has_chosen(thread, thread->spins - 1)) return false;
    for (int64_t place = thread->spins - 1; place < mz.position; place++) {
        const struct step *step = &mz.steps[place];
        if (step->thread != thread->number || step->location < 0) continue;
        for (int64_t other = place + 1; other < mz.position; other++) {
            const struct step *one = &mz.steps[other];
            if (one->location == step->location && one->thread != thread->number
                && one->mode != MODE_READ && !is_of_a_round(one, other))
                return false;
        }
    }
    return true;
}

/* Bounds on rounds: a thread that comes to the same place in the code again, in the same call, has
   gone round a loop. What it came by in between is another loop's, or of the round. */

static uint64_t place_in_code(const struct thread *thread) {
    uintptr_t *const *saved = (uintptr_t *const *)thread->programs_stack_pointer;
    const uintptr_t *frame = saved[5];  /* see mz_on_own_stack */
    uint64_t place = 0;
    while ((char *)frame > (char *)saved && (char *)frame < (char *)thread->stack_top - 64) {
        place = (place ^ frame[1] ^ (uintptr_t)frame << 20) * 0x9E3779B97F4A7C15ull;
        if (frame[0] <= (uintptr_t)frame) break;
        frame = (const uintptr_t *)frame[0];
    }
    return place;
}

/* A loop that starts a thread for each number up to some other one ends by itself. One that has
   the same on its stack whenever it starts a thread, but for that thread's name, does not count. */
static uint64_t state_of_stack(const struct thread *thread) {
    uint64_t state = 0;
    for (uintptr_t at = (uintptr_t)thread->programs_stack_pointer; at < (uintptr_t)thread->stack_top;
         at += 8)
        if (at != thread->handle) state = (state ^ *(uint64_t *)at) * 0x9E3779B97F4A7C15ull;
    return state;
}

bool mz_is_out_of_rounds(struct thread *thread) {
    uint64_t place = place_in_code(thread);
    if (thread->handle) place ^= state_of_stack(thread);
    struct round *rounds = spins.rounds[thread->number];
    for (int64_t at = 0; at < thread->places; at++) {
        if (rounds[at].place != place) continue;
        thread->places = at + 1;
        return ++rounds[at].rounds >= mz.unroll;
    }
    if (thread->places < MOST_ROUNDS) rounds[thread->places++] = (struct round){place, 0};
    return false;
}

/* What Python says and hears for an execution: as little as possible, as this is what costs most.

   A step that is asked for is one number. So is one that was made: of a step that is equal in all to
   one that was told of before, Python has a record, and hears its number. */
#include "state.h"

enum { RECORDS = 1 << 14, WORDS = 14 };  /* all words of a step but `enabled` */

static struct {
    struct { struct step step; uint64_t search; } *records;  /* a step has one place: others go */
    uint64_t search;
} tell STATE = {0};

void mz_map_records(void) { tell.records = mz_map(NULL, RECORDS * sizeof *tell.records); }
void mz_forget_records(void) { tell.search++; }

/* program.py has the layout, in `ask`. */
void mz_read_request(void) {
    for (int64_t place = mz.same; place < mz.plan_end; place++) {
        int64_t asked = mz.asked[place];
        struct step *step = &mz.steps[place];
        step->thread = asked & 0xff;
        step->kind = (asked >> 8 & 0x7f) - 1;
        step->mode = asked >> 15 & 7;
        step->location = (asked >> 18 & 0x7fffff) - 1;
        step->choice = (asked >> 41) - 1;
    }
    mz.told_known = mz.same;
}

static uint64_t place_of(const struct step *step) {
    uint64_t hash = ((uint64_t)step->thread << 48 ^ (uint64_t)step->kind << 40
                     ^ (uint64_t)step->location) * 0x9E3779B97F4A7C15ull;
    hash ^= (uint64_t)step->place * 0xC2B2AE3D27D4EB4Full;
    hash ^= (uint64_t)step->before * 0x165667B19E3779F9ull;
    hash ^= (uint64_t)step->after * 0x27D4EB2F165667C5ull;
    hash ^= (uint64_t)(step->first + step->choice) * 0x85EBCA77C2B2AE63ull;
    return (hash ^ hash >> 29) * 0x9E3779B97F4A7C15ull >> 50;
}

static bool is_same_step(const struct step *one, const struct step *other) {
    const uint64_t *left = (const uint64_t *)one, *right = (const uint64_t *)other;
    uint64_t differs = 0;
    for (int word = 0; word < WORDS; word++) differs |= left[word] ^ right[word];
    return !differs;
}

/* Where the record of a step is; -1 less that if it is new, and Python must look at the step. */
static int64_t record_of(const struct step *step) {
    uint64_t place = place_of(step);
    if (tell.records[place].search == tell.search && is_same_step(&tell.records[place].step, step))
        return (int64_t)place;
    tell.records[place].step = *step;
    tell.records[place].search = tell.search;
    return -1 - (int64_t)place;
}

/* A run comes back to Python with a question, or at its end: all that is always asked for then, in
   one number. program.py has the layout. */
int64_t mz_tell(int question) {
    for (; mz.told_known < mz.position; mz.told_known++)
        mz.told[mz.told_known] = record_of(&mz.steps[mz.told_known]);
    int64_t told = question | (mz.has_news || mz.is_refused) << 3 | (mz.stopped != NOT_STOPPED) << 4
                   | (mz.first_failed >= 0) << 5 | (mz.unfinished || mz.few_values) << 6
                   | (mz.has_race != 0) << 7 | mz.position << 8;
    if (question == ASKS_ASLEEP)
        told |= mz.asked_thread << 31 | mz.threads[mz.asked_thread].standing.location << 39;
    return told;
}

/* For the parts of the runtime that are functions of the C library: compiled as programs are, so that
   each access is seen; a step of theirs is told at the line that calls them. */
#ifndef MAZURKA_SEEN_H
#define MAZURKA_SEEN_H

#include "files.h"

#define UNSEEN __attribute__((no_sanitize("thread")))
#define CALLED                                                                              \
    __attribute__((cleanup(leave_call))) void *noted_caller = mz_enter(PLACE);              \
    (void)noted_caller

void *mz_enter(uintptr_t caller);
void mz_leave(void *noted);
UNSEEN static inline void leave_call(void **noted) { mz_leave(*noted); }

#endif

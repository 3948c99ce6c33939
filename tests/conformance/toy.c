/* Runs a toy program (oracle.py), which it is given as numbers: for each thread how many there are,
   then three for each instruction. What C has no function for is a step of the runtime. */
#include <pthread.h>
#include <stdlib.h>

#include "state.h"

enum { IF = 100, FAIL, MOST = 100, VARIABLES = 2 };

unsigned char v0, v1, lock;
static unsigned char *const places[] = {&v0, &v1, &lock};
static int program[10][MOST][3], lengths[10];
static pthread_t handles[10];

__attribute__((no_sanitize("thread"))) static int fetch(int thread, int place, int part) {
    return program[thread][place][part];
}

static int perform(int kind, int place, int first, int second) {
    uint64_t found = mz_step(kind, (uintptr_t)places[place], 1, (uint64_t)first, (uint64_t)second,
                             FORM_ADD, PLACE);
    switch (kind) {
        case STORE: case ADD_TO: return 0;
        case COMPARE_EXCHANGE: return found == (uint64_t)first;
        case TRY_ACQUIRE: return !found;
        case RELEASE: return found != 0;
        case ACQUIRE: return 1;
        default: return (int)found;
    }
}

__attribute__((no_sanitize("thread"))) static void *run(void *argument) {
    int thread = (int)(intptr_t)argument, given = 0;
    for (int at = 0; at < lengths[thread]; at++) {
        int kind = fetch(thread, at, 0), first = fetch(thread, at, 1), second = fetch(thread, at, 2);
        int place = first >> 16;
        first &= 0xffff;
        switch (kind) {
            case IF: if (!given) at += first; break;
            case FAIL: mz_fail(ASSERTION, PLACE, "fail");
            case SPAWN: {
                pthread_create(&handles[first], NULL, run, (void *)(intptr_t)first);
                given = first;
                break;
            }
            case JOIN: {
                mz_step_nowhere(JOIN, first, 1, PLACE);  /* more than once, if it is to be */
                given = first;
                break;
            }
            case CHOOSE: given = (int)mz_choose(first, PLACE); break;
            default: given = perform(kind, place, first, second);
        }
    }
    return NULL;
}

__attribute__((no_sanitize("thread"))) int main(int count, char **texts) {
    int thread = 0;
    for (int at = 1; at < count; thread++) {
        int numbers = atoi(texts[at++]);
        lengths[thread] = numbers / 3;
        for (int place = 0; place < numbers; place++)
            program[thread][place / 3][place % 3] = atoi(texts[at++]);
    }
    run(NULL);
    pthread_exit(NULL);
}

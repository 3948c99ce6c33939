/* A stack of three elements, with a mistake that three threads with seven operations show.
   OPERATIONS are how many each thread has: a pop, then a push of what it has got, then a pop, ...
   A thread that pops when one element is left waits for ever. */
#include "common.h"

enum { SIZE = 3, NOTHING = -1 };
const int operations[] = {OPERATIONS};

atomic_int head, count = SIZE, below[SIZE] = {1, 2, -1}, owners[SIZE] = {-1, -1, -1};

static int pop(void) {
    while (count > 1) {
        int top = head;
        int following = atomic_exchange(&below[top], -1);
        if (following >= 0) {
            int expected = top;
            if (atomic_compare_exchange_strong(&head, &expected, following)) {
                atomic_fetch_add(&count, -1);
                return top;
            }
            atomic_exchange(&below[top], following);
        }
    }
    return NOTHING;
}

static void push(int element) {
    int top;
    do {
        top = head;
        below[element] = top;
    } while (!atomic_compare_exchange_strong(&head, &top, element));
    atomic_fetch_add(&count, 1);
}

void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int left = operations[me]; left > 0;) {
        int element;
        left--;
        do element = pop();
        while (element == NOTHING);
        owners[element] = me;
        int owner = owners[element];
        assert(owner == me);
        if (left > 0) {
            left--;
            push(element);
        }
    }
    return NULL;
}

int main(void) { return run(worker, sizeof operations / sizeof *operations); }

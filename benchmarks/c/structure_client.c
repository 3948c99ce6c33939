/* Two threads and a stack or queue. The first one inserts COUNT nodes; what the second one does is
   said by CLIENT. With QUEUE, this is one of the linked queues, else Treiber's stack. */
enum { THEN_REMOVES = 1, INSERTS, ALTERNATES, REMOVES };

#if CLIENT == 4
#define NODES COUNT
#else
#define NODES (2 * COUNT)
#endif
#ifdef QUEUE
#include "linked_queues.h"
#else
#include "treiber.h"
#endif

static void insert_all(int first) {
    for (int place = 0; place < COUNT; place++) insert(first + place);
}

static void remove_all(void) {
    for (int place = 0; place < COUNT; place++) take_out();
}

void *inserter(void *unused) {
    insert_all(1);
    return unused;
}

void *second(void *unused) {
    if (CLIENT == THEN_REMOVES || CLIENT == INSERTS) insert_all(COUNT + 1);
    if (CLIENT == THEN_REMOVES || CLIENT == REMOVES) remove_all();
    for (int place = 0; CLIENT == ALTERNATES && place < COUNT; place++) {
        insert(COUNT + 1 + place);
        take_out();
    }
    return unused;
}

int main(void) {
    run_both(inserter, second);
    return 0;
}

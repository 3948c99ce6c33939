/* A bounded queue: places are given away first, and then filled or emptied in order. With RELOAD,
   whoever comes too late loads the word again, so that such a round is pure. */
#include "common.h"

enum { SIZE = 4, ONE_READ = 0x10000, NO_PLACE = -1 };
atomic_int begun; /* low half: writes, high half: reads */
atomic_int reads_done, writes_done;

/* A failed exchange has found another value already. */
#ifdef RELOAD
#define FIND_AGAIN(value) value = begun
#else
#define FIND_AGAIN(value)
#endif

static int write_begin(void) {
    int value = begun;
    for (;;) {
        int reads = value >> 16, writes = value & 0xFFFF;
        if (writes == reads + SIZE) return NO_PLACE;
        if (atomic_compare_exchange_strong(&begun, &value, value + 1)) {
            while ((reads_done & 0xFFFF) != reads) {}
            return writes % SIZE;
        }
        FIND_AGAIN(value);
    }
}

static int read_begin(void) {
    int value = begun;
    for (;;) {
        int reads = value >> 16, writes = value & 0xFFFF;
        if (writes == reads) return NO_PLACE;
        if (atomic_compare_exchange_strong(&begun, &value, value + ONE_READ)) {
            while ((writes_done & 0xFFFF) != writes) {}
            return reads % SIZE;
        }
        FIND_AGAIN(value);
    }
}

static void put(void) {
    write_begin();
    atomic_fetch_add(&writes_done, 1);
}

static void drain(void) {
    while (read_begin() != NO_PLACE) atomic_fetch_add(&reads_done, 1);
}

void *writer(void *unused) {
    put();
    return unused;
}

void *reader(void *unused) {
    drain();
    return unused;
}

void *writer_and_reader(void *unused) {
    put();
    drain();
    return unused;
}

int main(void) {
    put();
    return run_kinds(writer, reader, writer_and_reader);
}

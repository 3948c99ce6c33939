/* Readers take one from a number, writers all of it; they put it back if that was not there. */
#include "common.h"

enum { FREE = 0x100000 };
atomic_int lock = FREE, data;

void *reader(void *unused) {
    while (atomic_fetch_add(&lock, -1) <= 0) {
        atomic_fetch_add(&lock, 1);
        while (lock <= 0) {}
    }
    (void)atomic_load(&data);
    atomic_fetch_add(&lock, 1);
    return unused;
}

void *writer(void *unused) {
    while (atomic_fetch_add(&lock, -FREE) != FREE) {
        atomic_fetch_add(&lock, FREE);
        while (lock != FREE) {}
    }
    data = 42;
    atomic_fetch_add(&lock, FREE);
    return unused;
}

void *reader_and_writer(void *unused) {
    reader(NULL);
    writer(NULL);
    return unused;
}

int main(void) { return run_kinds(writer, reader, reader_and_writer); }

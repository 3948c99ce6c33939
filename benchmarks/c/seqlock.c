/* Readers look at a sequence number before and after, and try again if it has changed. */
#include "common.h"

pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
atomic_int sequence, data;

static int read_data(void) {
    int begin, value;
    do {
        do begin = sequence;
        while (begin % 2);
        value = data;
    } while (sequence != begin);
    return value;
}

static void write_data(int value) {
    pthread_mutex_lock(&mutex);
    sequence = sequence + 1;
    data = value;
    sequence = sequence + 1;
    pthread_mutex_unlock(&mutex);
}

void *reader(void *unused) {
    read_data();
    return unused;
}

void *writer(void *argument) {
    write_data(42 + (int)(intptr_t)argument);
    return NULL;
}

void *reader_and_writer(void *unused) {
    write_data(read_data() + 1);
    return unused;
}

int main(void) { return run_kinds(writer, reader, reader_and_writer); }

/* THREADS threads share the comparators of Batcher's odd-even merge sort of two elements for each.
   An element has a generation, the number of comparators that are done with it. A thread polls the
   generations that its comparator needs. */
#include "common.h"

enum { ELEMENTS = 2 * THREADS, MOST_COMPARATORS = ELEMENTS * ELEMENTS };

struct comparator { int left, right, left_generation, right_generation; };
struct comparator comparators[MOST_COMPARATORS];
int known;
atomic_int x[ELEMENTS], generations[ELEMENTS];

static void find_comparators(void) {
    int touched[ELEMENTS] = {0};
    for (int p = 1; p < ELEMENTS; p *= 2)
        for (int k = p; k >= 1; k /= 2)
            for (int j = k % p; j < ELEMENTS - k; j += 2 * k)
                for (int left = j; left < j + k && left < ELEMENTS - k; left++)
                    if (left / (2 * p) == (left + k) / (2 * p)) {
                        comparators[known++] = (struct comparator){
                            left, left + k, touched[left], touched[left + k]};
                        touched[left]++;
                        touched[left + k]++;
                    }
}

void *worker(void *argument) {
    int me = (int)(intptr_t)argument;
    for (int number = me; number < known; number += THREADS) {
        struct comparator one = comparators[number];
        while (generations[one.left] != one.left_generation) {}
        while (generations[one.right] != one.right_generation) {}
        int first = x[one.left], second = x[one.right];
        if (first > second) {
            x[one.left] = second;
            x[one.right] = first;
        }
        generations[one.left] = one.left_generation + 1;
        generations[one.right] = one.right_generation + 1;
    }
    return NULL;
}

int main(void) {
    find_comparators();
    for (int place = 0; place < ELEMENTS; place++) x[place] = ELEMENTS - place;
    run(worker, THREADS);
    for (int place = 1; place < ELEMENTS; place++) assert(x[place - 1] <= x[place]);
    return 0;
}
